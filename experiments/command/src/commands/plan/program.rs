//! A graph with branches or loops, as one program.

use super::args::PlanArgs;
use crate::commands::order::write_orders;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::branches::{
    OrderedProgram, Planner, ProgramPlan, SchemeEntry, ordered_program, program_groups, program_in_order,
};
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, OrderedRegion, Placement};
use plimsoll::model::csv::{write_instance, write_layout};
use plimsoll::model::graph::{Graph, Role};
use plimsoll::model::program::{Program, ProgramBound};
use plimsoll::model::{Entry, Joint, Offsets, Problem, load};
use plimsoll::plan::Plan;
use plimsoll_lab::report::Basis;
use plimsoll_lab::report::svg;
use plimsoll_lab::report::table::{Align, Table};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;

/// Orders the regions, plans the program and reports. With `joint`, every region is ordered for the smallest arena of its
/// own, innermost first, where what an operator owns is one block; the program is then planned whole under these orders.
pub fn plan(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    scheme: &'static SchemeEntry,
    solver: &Entry<Offsets>,
    joint: Option<&Entry<Joint>>,
) -> Result<u8, Failure> {
    let first = GraphRun { limits: run.limits.share(2), ..*run };
    let options = args.control.options(run.liveness);
    let ordered = match joint {
        None => ordered_program(&import.graph, &first, options)?,
        Some(joint) => {
            let planned = first.plan(&import.graph, Placement::Joint(joint))?;
            let regions =
                planned.into_iter().map(|one| OrderedRegion { seconds: one.seconds, ..one.ordered });
            program_in_order(&import.graph, regions.collect(), options)?
        }
    };
    let bound = ProgramBound::of(&import.graph, &run.liveness).map_err(Failure::input)?;
    let (setup, limits, execution) = (run.setup, run.limits, args.control.execution(run.setup.seed));
    let found = Planner { scheme, solver, setup, limits, execution }.plan(&ordered.program)?;
    store(args, &ordered, scheme, solver.name, &found)?;
    let order = joint.map_or_else(|| run.order.name.to_owned(), |joint| format!("joint {}", joint.name));
    let names = Names { order, branches: scheme.name, solver: solver.name };
    let report = Report::new(&ordered, names, &found, &bound, Basis::of(import));
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(ANSWERED)
}

fn store(
    args: &PlanArgs,
    ordered: &OrderedProgram<'_>,
    scheme: &SchemeEntry,
    solver: &str,
    found: &ProgramPlan,
) -> Result<(), Failure> {
    let program = &ordered.program;
    let instance = program.instance();
    let seen = scheme.instance(program);
    if let Some(path) = &args.instance {
        output::write_file(path, |file| write_instance(&seen, file))?;
    }
    if let Some(path) = &args.orders {
        output::write_file(path, |file| write_orders(program.graph(), ordered.regions.iter().rev(), file))?;
    }
    if let Some(path) = &args.tensors {
        output::write_file(path, |file| write_places(program, found, file))?;
    }
    if let Some(path) = &args.output {
        output::write_file(path, |file| write_layout(&seen, &found.layout, file))?;
    }
    if let Some(path) = &args.plot {
        let algorithm = &format!("{} with {solver}", scheme.name);
        let pieces = Offsets::pieces(instance, &found.layout);
        let (problem, bound) = (Offsets::NAME, found.bound);
        let (names, of) = program_groups(program);
        let groups = Some(svg::Groups { names: &names, of: &of });
        let map = svg::Map { instance, problem, algorithm, pieces: &pieces, bound, groups };
        output::write_file(path, |file| map.write(file))?;
    }
    Ok(())
}

/// One row per tensor in the arena and per scratch: where it lies, and the first and last point it is alive at; then tensors
/// of zero bytes, which lie nowhere.
fn write_places(program: &Program<'_>, found: &ProgramPlan, file: &mut dyn io::Write) -> io::Result<()> {
    let graph = program.graph();
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(["region", "tensor", "bytes", "offset", "lower", "upper", "shares"])?;
    let place = |region| format!("{}:{}", region, graph.region(region).name);
    let buffers = program.buffers().iter().zip(program.instance().buffers());
    for ((held, buffer), offset) in buffers.zip(found.layout.offsets()) {
        let hull = buffer.lifespan().hull();
        let numbers = [offset.get(), hull.lower.get(), hull.upper.get()].map(|number| number.to_string());
        let scratch = held.scratch.map(|_| (place(held.home), buffer.name(), buffer.size(), ""));
        let tensors = held.tensors.iter().map(|&id| {
            let tensor = graph.tensor(id);
            let shares = if tensor.name == buffer.name() { "" } else { buffer.name() };
            (place(graph.place(id)), tensor.name.as_str(), tensor.bytes, shares)
        });
        for (region, name, bytes, shares) in scratch.into_iter().chain(tensors) {
            let [offset, lower, upper] = &numbers;
            writer.write_record([&region, name, &bytes.to_string(), offset, lower, upper, shares])?;
        }
    }
    for (id, alive) in program.empty() {
        let [lower, upper] =
            [alive.hull().lower.get(), alive.hull().upper.get()].map(|point| point.to_string());
        let (region, name) = (place(graph.place(*id)), &graph.tensor(*id).name);
        writer.write_record([&region, name, "0", "0", &lower, &upper, ""])?;
    }
    writer.flush()
}

/// Who planned.
#[derive(Debug, Serialize)]
struct Names {
    order: String,
    branches: &'static str,
    solver: &'static str,
}

/// What is printed of a plan.
#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    #[serde(flatten)]
    names: Names,
    /// What is proved of the arena among all that the scheme allows, under these orders.
    claim: &'static str,
    /// What is proved of the arena over all orders and layouts.
    joint_claim: &'static str,
    arena: u64,
    /// Most bytes alive at a point.
    load: u64,
    lower_bound: u64,
    witness: String,
    /// No layout under any orders takes less.
    joint_bound: u64,
    joint_witness: String,
    arithmetic: Arithmetic,
    /// Every buffer in memory of its own.
    naive: u64,
    weights: u64,
    buffers: usize,
    points: usize,
    /// Runs of the program with tagged bytes that found no violation.
    runs: usize,
    /// True where no other runs are possible, up to the number of trips of a loop.
    all_runs: bool,
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
    /// Most bytes alive in the order of the file, with a block for what operators own.
    file_peak: u64,
    /// The same in the order found.
    order_peak: u64,
    order_claim: &'static str,
}

impl RegionRow {
    fn new(graph: &Graph, one: &OrderedRegion) -> Self {
        Self {
            region: one.region.get(),
            name: graph.region(one.region).name.clone(),
            operators: one.storages.problem.len(),
            file_peak: one.file_peak.get(),
            order_peak: one.peak.get(),
            order_claim: one.outcome.claim.as_str(),
        }
    }
}

impl Report {
    fn new(
        ordered: &OrderedProgram<'_>,
        names: Names,
        found: &ProgramPlan,
        bound: &ProgramBound,
        basis: Basis,
    ) -> Self {
        let OrderedProgram { regions, program } = ordered;
        let graph = program.graph();
        Self {
            graph: graph.name().to_owned(),
            names,
            claim: if found.is_optimal() { "optimal" } else { "feasible" },
            joint_claim: if found.peak == bound.value { "optimal" } else { "feasible" },
            arena: found.peak.get(),
            load: load(program.instance()).0.get(),
            lower_bound: found.bound.get(),
            witness: found.witness.clone(),
            arithmetic: found.arithmetic,
            joint_bound: bound.value.get(),
            joint_witness: bound.operator.map_or_else(
                || "held at the start or at the end".to_owned(),
                |id| format!("alive while '{}' runs", graph.called(id)),
            ),
            naive: program.naive().get(),
            weights: graph.bytes(Role::Weight).get(),
            buffers: program.buffers().len(),
            points: program.points().len(),
            runs: found.runs,
            all_runs: found.all_runs,
            seconds: found.seconds + regions.iter().map(|one| one.seconds).sum::<f64>(),
            regions: regions.iter().rev().map(|one| RegionRow::new(graph, one)).collect(),
            basis,
        }
    }

    fn text(&self) -> String {
        let mut text = self.basis.text();
        let operators: usize = self.regions.iter().map(|row| row.operators).sum();
        let gap = |bound| output::gap(self.arena, bound);
        let Names { order, branches, solver } = &self.names;
        let all = if self.all_runs { "all there are" } else { "not all there are" };
        let rows = [
            (
                "graph",
                format!(
                    "{}: {operators} operators in {} regions, {} buffers",
                    self.graph,
                    self.regions.len(),
                    self.buffers
                ),
            ),
            ("order", order.clone()),
            (
                "arena",
                format!(
                    "{} bytes by {branches} with {solver}, {} for these orders",
                    self.arena,
                    self.basis.claim(self.claim)
                ),
            ),
            (
                "",
                format!(
                    "nothing {branches} allows takes less than {} ({}{})",
                    self.lower_bound,
                    self.witness,
                    self.arithmetic.remark()
                ),
            ),
            (
                "",
                format!(
                    "{} above that bound; most bytes alive at a point: {}",
                    gap(self.lower_bound),
                    self.load
                ),
            ),
            (
                "joint",
                format!(
                    "{}: {} above the bound over all orders",
                    self.basis.claim(self.joint_claim),
                    gap(self.joint_bound)
                ),
            ),
            ("", format!("no orders take less than {} ({})", self.joint_bound, self.joint_witness)),
            (
                "naive",
                format!(
                    "{} bytes, {:.2} times the arena",
                    self.naive,
                    self.naive as f64 / self.arena.max(1) as f64
                ),
            ),
            ("weights", format!("{} bytes", self.weights)),
            (
                "checked",
                format!("{} runs of the program, {all}: every read found what was written", self.runs),
            ),
            ("time", format!("{:.3} s", self.seconds)),
        ];
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<12} {value}");
        }
        text.push('\n');
        text.push_str(&self.table());
        text
    }

    fn table(&self) -> String {
        let mut table = Table::new([
            ("region", Align::Left),
            ("operators", Align::Right),
            ("as in file", Align::Right),
            ("in order", Align::Right),
            ("order", Align::Left),
        ]);
        for row in &self.regions {
            let [operators, file, order] =
                [row.operators as u64, row.file_peak, row.order_peak].map(|number| number.to_string());
            let name = format!("{}:{}", row.region, row.name);
            table.row([name, operators, file, order, row.order_claim.to_owned()]);
        }
        table.text()
    }
}
