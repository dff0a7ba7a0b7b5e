//! A plan by conflicts from the structure of the graph.

use super::args::PlanArgs;
use crate::commands::choose::{Choice, choose};
use crate::commands::order::write_orders;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::Registry;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, OrderedRegion};
use plimsoll::model::csv::write_instance;
use plimsoll::model::graph::{Graph, Role};
use plimsoll::model::structure::Relation;
use plimsoll::model::{Claim, Entry, Offsets, Pools, Problem};
use plimsoll::plan::Plan;
use plimsoll::structure::{RelatedPlan, Safety};
use plimsoll_lab::report::{Basis, svg};
use serde::Serialize;
use std::fmt::Write as _;

/// Orders and places every region by one relation, and reports.
pub fn plan(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    relation: Relation,
    registry: &Registry,
) -> Result<u8, Failure> {
    let problem = args.problem.as_deref().unwrap_or(Offsets::NAME);
    let orders = GraphRun { limits: run.limits.share(2), ..*run }.order(&import.graph)?;
    // What is the default of most problems is none of pools.
    let solver = Some(args.solver.as_str()).filter(|solver| problem != Pools::NAME || *solver != "exact");
    match choose(registry, solver, Some(problem))? {
        Choice::Offsets(entry) => place(args, import, run, &orders, relation, entry),
        Choice::Scattered(entry) => place(args, import, run, &orders, relation, entry),
        Choice::Pools(entry) => place(args, import, run, &orders, relation, entry),
    }
}

fn place<P: Plan>(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    orders: &[OrderedRegion],
    relation: Relation,
    entry: &Entry<P>,
) -> Result<u8, Failure> {
    let regions = run.plan_related(&import.graph, orders, relation, entry)?;
    let body = regions.last().ok_or_else(|| Failure::internal("a graph without a body"))?;
    store(args, &import.graph, orders, body, entry.name)?;
    let report = Report::new(&import.graph, run, &regions, body, entry.name, Basis::of(import));
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(ANSWERED)
}

fn store<P: Plan>(
    args: &PlanArgs,
    graph: &Graph,
    orders: &[OrderedRegion],
    body: &RelatedPlan<P>,
    solver: &str,
) -> Result<(), Failure> {
    let instance = &body.related.instance;
    if let Some(path) = &args.instance {
        output::write_file(path, |file| write_instance(instance, file))?;
    }
    if let Some(path) = &args.orders {
        output::write_file(path, |file| write_orders(graph, orders.iter().rev(), file))?;
    }
    let solution = body.outcome.solution.as_ref();
    let solution = solution.ok_or_else(|| Failure::internal("a plan without a layout"))?;
    if let Some(path) = &args.output {
        output::write_file(path, |file| P::write(instance, solution, file))?;
    }
    if let Some(path) = &args.plot {
        let bound = body.outcome.lower_bound.value;
        let (pieces, algorithm) = (&body.pieces, solver);
        let map = svg::Map { instance, problem: P::NAME, algorithm, pieces, bound, groups: None };
        output::write_file(path, |file| map.write(file))?;
    }
    Ok(())
}

/// What is printed of a plan; bytes, of the body.
#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    regions: usize,
    operators: usize,
    buffers: usize,
    order: &'static str,
    conflicts: String,
    problem: &'static str,
    solver: &'static str,
    /// What is proved of the arena, for these conflicts.
    claim: &'static str,
    arena: u64,
    lower_bound: u64,
    witness: String,
    arithmetic: Arithmetic,
    /// Most bytes alive at a step of the order.
    load: u64,
    pairs: u64,
    /// Pairs held together in the order that do not conflict.
    overlooked: u64,
    /// Pairs held together in some execution that do not conflict.
    exposed: u64,
    /// Pairs that collide in this plan, one operator after the other.
    collide_in_order: usize,
    /// The same where operators that do not wait for each other run at any time.
    collide: usize,
    /// One of those that collide, first of the one kind, then of the other.
    collision: Option<String>,
    naive: u64,
    weights: u64,
    seconds: f64,
    #[serde(flatten)]
    basis: Basis,
}

impl Report {
    fn new<P: Plan>(
        graph: &Graph,
        run: &GraphRun<'_>,
        regions: &[RelatedPlan<P>],
        body: &RelatedPlan<P>,
        solver: &'static str,
        basis: Basis,
    ) -> Self {
        let RelatedPlan { related, outcome, .. } = body;
        // What lies inside an operator can collide too; the body is named first.
        let safeties: Vec<&Safety> = regions.iter().map(|one| &one.safety).collect();
        let collision = safeties.iter().rev().find_map(|s| s.in_order.first());
        let collision = collision.or_else(|| safeties.iter().rev().find_map(|s| s.concurrent.first()));
        Self {
            graph: graph.name().to_owned(),
            regions: regions.len(),
            operators: related.storages.problem.len(),
            buffers: related.instance.len(),
            order: run.order.name,
            conflicts: related.relation.to_string(),
            problem: P::NAME,
            solver,
            claim: outcome.claim.as_str(),
            arena: body.arena().get(),
            lower_bound: outcome.lower_bound.value.get(),
            witness: outcome.lower_bound.witness.in_words(&related.instance),
            arithmetic: Arithmetic::of(&outcome.lower_bound.witness),
            load: related.order.peak(&related.storages.problem).get(),
            pairs: related.pairs,
            overlooked: related.overlooked,
            exposed: related.exposed,
            collide_in_order: safeties.iter().map(|s| s.in_order.len()).sum(),
            collide: safeties.iter().map(|s| s.concurrent.len()).sum(),
            collision: collision.map(ToString::to_string),
            naive: related.instance.total_size().get(),
            weights: graph.bytes(Role::Weight).get(),
            seconds: regions.iter().map(|one| one.seconds).sum(),
            basis,
        }
    }

    fn text(&self) -> String {
        let mut text = self.basis.text();
        let gap = output::gap(self.arena, self.lower_bound);
        let inside = match self.regions {
            1 => String::new(),
            regions => format!(" of the body, {regions} regions"),
        };
        let all = (self.buffers as u64).saturating_mul((self.buffers as u64).saturating_sub(1)) / 2;
        let safe = |count: usize, when: &str| match count {
            0 => format!("safe {when}"),
            1 => format!("1 pair collides {when}"),
            count => format!("{count} pairs collide {when}"),
        };
        let bound = match self.claim {
            claim if claim == Claim::Optimal.as_str() => String::new(),
            _ => format!("; {gap} above that"),
        };
        let mut rows = vec![
            (
                "graph",
                format!("{}: {} operators, {} buffers{inside}", self.graph, self.operators, self.buffers),
            ),
            ("order", format!("{}: {} bytes alive", self.order, self.load)),
            ("conflicts", format!("{}: {} of {all} pairs", self.conflicts, self.pairs)),
            (
                "arena",
                format!(
                    "{} bytes by {}, {} for these conflicts",
                    self.arena,
                    self.solver,
                    self.basis.claim(self.claim)
                ),
            ),
            (
                "",
                format!(
                    "no {} below {} ({}{}){bound}",
                    self.what(),
                    self.lower_bound,
                    self.witness,
                    self.arithmetic.remark()
                ),
            ),
            ("in order", safe(self.collide_in_order, "with one operator after the other")),
            ("any time", safe(self.collide, "with operators that do not wait for each other at any time")),
        ];
        rows.extend(self.collision.iter().map(|collision| ("", collision.clone())));
        let times = self.naive as f64 / self.arena.max(1) as f64;
        rows.push(("naive", format!("{} bytes, {times:.2} times the arena", self.naive)));
        rows.push(("weights", format!("{} bytes", self.weights)));
        rows.push(("time", format!("{:.3} s", self.seconds)));
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<12} {value}");
        }
        text
    }

    fn what(&self) -> &'static str {
        if self.problem == Pools::NAME { "plan" } else { "layout" }
    }
}
