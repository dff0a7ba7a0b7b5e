//! A graph without regions inside operators: one order, one layout.

use super::args::PlanArgs;
use crate::commands::order::write_orders;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, Placement, PlannedRegion, reason};
use plimsoll::model::csv::{write_instance, write_layout};
use plimsoll::model::graph::Graph;
use plimsoll::model::{Offsets, Problem};
use plimsoll::plan::Plan;
use plimsoll_lab::report::Basis;
use plimsoll_lab::report::svg;
use serde::Serialize;
use std::fmt::Write as _;
use std::io;

/// Plans the body and reports.
pub fn plan(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    placement: Placement<'_>,
) -> Result<u8, Failure> {
    let graph = &import.graph;
    let regions = run.plan(graph, placement)?;
    let (order, solver) = match placement {
        Placement::After(solver) => (run.order.name.to_owned(), solver.name.to_owned()),
        Placement::Joint(solver) => (format!("joint {}", solver.name), format!("joint {}", solver.name)),
    };
    store(args, graph, &solver, &regions)?;
    let report = Report::new(args, graph, order, solver, &regions, Basis::of(import));
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(ANSWERED)
}

fn store(args: &PlanArgs, graph: &Graph, solver: &str, regions: &[PlannedRegion]) -> Result<(), Failure> {
    let body = regions.last().ok_or_else(|| Failure::internal("a graph without a body"))?;
    if let Some(path) = &args.instance {
        output::write_file(path, |file| write_instance(&body.instance, file))?;
    }
    if let Some(path) = &args.orders {
        output::write_file(path, |file| write_orders(graph, [&body.ordered], file))?;
    }
    if let Some(path) = &args.tensors {
        output::write_file(path, |file| write_places(graph, regions, file))?;
    }
    let layout = body.layout.solution.as_ref();
    let layout = layout.ok_or_else(|| Failure::internal("a plan without a layout"))?;
    if let Some(path) = &args.output {
        output::write_file(path, |file| write_layout(&body.instance, layout, file))?;
    }
    if let Some(path) = &args.plot {
        let pieces = Offsets::pieces(&body.instance, layout);
        let map = svg::Map {
            instance: &body.instance,
            problem: Offsets::NAME,
            algorithm: solver,
            pieces: &pieces,
            bound: body.layout.lower_bound.value,
            groups: None,
        };
        output::write_file(path, |file| map.write(file))?;
    }
    Ok(())
}

/// One row per tensor in the arena, regions in the order of the graph, the body first; then what operators need while they run,
/// then tensors of zero bytes, which lie nowhere.
fn write_places(graph: &Graph, regions: &[PlannedRegion], file: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(["region", "tensor", "bytes", "offset", "lower", "upper", "shares"])?;
    for one in regions.iter().rev() {
        let Some(layout) = &one.layout.solution else { continue };
        let region = format!("{}:{}", one.ordered.region, graph.region(one.ordered.region).name);
        for (at, (buffer, offset)) in one.instance.buffers().iter().zip(layout.offsets()).enumerate() {
            let hull = buffer.lifespan().hull();
            let [offset, lower, upper] =
                [offset.get(), hull.lower.get(), hull.upper.get()].map(|n| n.to_string());
            let own = [(buffer.name().to_owned(), buffer.size().get(), "")];
            let tensors = one.ordered.storages.tensors.get(at).map(Vec::as_slice).unwrap_or_default();
            let shared = tensors.iter().map(|&id| {
                let tensor = graph.tensor(id);
                let shares = if tensor.name == buffer.name() { "" } else { buffer.name() };
                (tensor.name.clone(), tensor.bytes.get(), shares)
            });
            let rows: Vec<_> = if tensors.is_empty() { own.into() } else { shared.collect() };
            for (name, bytes, shares) in rows {
                let bytes = bytes.to_string();
                writer.write_record([&region, &name, &bytes, &offset, &lower, &upper, &shares.to_owned()])?;
            }
        }
        let (problem, order) = (&one.ordered.storages.problem, &one.ordered.order);
        let steps = problem.steps(order);
        for (_, storage) in &one.ordered.storages.empty {
            let (lower, upper) = problem.held(storage, &steps);
            let [lower, upper] = [lower, upper].map(|step| step.to_string());
            writer.write_record([&region, storage.name.as_str(), "0", "0", &lower, &upper, ""])?;
        }
    }
    writer.flush()
}

/// What is printed of a plan. The members of the body stand at the top too.
#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    order: String,
    solver: String,
    /// What was asked for; without regions inside operators all of them allow the same.
    branches: String,
    /// What is proved of the arena, over all layouts under the order.
    claim: &'static str,
    /// What is proved of the arena, over all orders and layouts.
    joint_claim: &'static str,
    arena: u64,
    load: u64,
    lower_bound: u64,
    joint_bound: u64,
    file_peak: u64,
    /// Every tensor in memory of its own.
    naive: u64,
    weights: u64,
    seconds: f64,
    regions: Vec<RegionRow>,
    #[serde(flatten)]
    basis: Basis,
}

#[derive(Debug, Serialize)]
struct RegionRow {
    region: u32,
    name: String,
    operators: usize,
    buffers: usize,
    /// What every buffer in memory of its own would take.
    naive: u64,
    /// Most bytes alive in the order of the file.
    file_peak: u64,
    /// Most bytes alive in the order found.
    load: u64,
    arena: u64,
    /// No layout under the order takes less.
    lower_bound: u64,
    witness: String,
    /// Of this bound.
    arithmetic: Arithmetic,
    /// No order has less alive, and none allows a smaller arena.
    joint_bound: u64,
    joint_witness: String,
    /// Of that bound.
    joint_arithmetic: Arithmetic,
    claim: &'static str,
    order_claim: &'static str,
    joint_claim: &'static str,
    seconds: f64,
}

impl RegionRow {
    fn new(graph: &Graph, one: &PlannedRegion) -> Self {
        let (bound, joint_bound) = (&one.layout.lower_bound, &one.joint_bound);
        let sizes = one.instance.buffers().iter().map(|buffer| buffer.size().get());
        Self {
            region: one.ordered.region.get(),
            name: graph.region(one.ordered.region).name.clone(),
            operators: one.ordered.storages.problem.len(),
            buffers: one.instance.len(),
            naive: sizes.sum(),
            file_peak: one.ordered.file_peak.get(),
            load: one.load().get(),
            arena: one.arena().get(),
            lower_bound: bound.value.get(),
            witness: bound.witness.in_words(&one.instance),
            arithmetic: Arithmetic::of(&bound.witness),
            joint_bound: joint_bound.value.get(),
            joint_witness: reason(&one.ordered.storages.problem, joint_bound),
            joint_arithmetic: Arithmetic::of(&joint_bound.witness),
            claim: one.layout.claim.as_str(),
            order_claim: one.ordered.outcome.claim.as_str(),
            joint_claim: if one.is_optimal_over_orders() { "optimal" } else { "feasible" },
            seconds: one.seconds + one.ordered.seconds,
        }
    }
}

impl Report {
    fn new(
        args: &PlanArgs,
        graph: &Graph,
        order: String,
        solver: String,
        regions: &[PlannedRegion],
        basis: Basis,
    ) -> Self {
        let rows: Vec<RegionRow> = regions.iter().rev().map(|one| RegionRow::new(graph, one)).collect();
        let body = &rows[0];
        Self {
            graph: graph.name().to_owned(),
            order,
            solver,
            branches: args.branches.clone(),
            claim: body.claim,
            joint_claim: body.joint_claim,
            arena: body.arena,
            load: body.load,
            lower_bound: body.lower_bound,
            joint_bound: body.joint_bound,
            file_peak: body.file_peak,
            naive: body.naive,
            weights: graph.bytes(plimsoll::model::graph::Role::Weight).get(),
            seconds: rows.iter().map(|row| row.seconds).sum(),
            regions: rows,
            basis,
        }
    }

    fn text(&self) -> String {
        let mut text = self.basis.text();
        let body = &self.regions[0];
        let rows = [
            ("graph", format!("{}: {} operators, {} buffers", self.graph, body.operators, body.buffers)),
            (
                "order",
                format!("{}: {} bytes alive, {}", self.order, body.load, self.basis.claim(body.order_claim)),
            ),
            (
                "",
                format!(
                    "no order takes less than {} ({}{})",
                    body.joint_bound,
                    body.joint_witness,
                    body.joint_arithmetic.remark()
                ),
            ),
            ("", format!("as in file: {}", body.file_peak)),
            (
                "arena",
                format!(
                    "{} bytes by {}, {} for this order",
                    body.arena,
                    self.solver,
                    self.basis.claim(body.claim)
                ),
            ),
            (
                "",
                format!(
                    "no layout below {} ({}{})",
                    body.lower_bound,
                    body.witness,
                    body.arithmetic.remark()
                ),
            ),
            (
                "joint",
                format!(
                    "{}: {} above the bound over all orders",
                    self.basis.claim(body.joint_claim),
                    output::gap(body.arena, body.joint_bound)
                ),
            ),
            (
                "naive",
                format!(
                    "{} bytes, {:.2} times the arena",
                    body.naive,
                    body.naive as f64 / body.arena.max(1) as f64
                ),
            ),
            ("weights", format!("{} bytes", self.weights)),
            ("time", format!("{:.3} s", self.seconds)),
        ];
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<12} {value}");
        }
        text
    }
}
