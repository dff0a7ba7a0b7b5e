//! Plans with conflicts derived from the structure of the graph.

use super::args::PlanArgs;
use crate::commands::choose::{Choice, choose};
use crate::commands::order::write_orders;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use crate::report::{self, Printed, Text, WithLayout, bytes, noted, sized};
use plimsoll::Registry;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, OrderedRegion};
use plimsoll::model::InstanceProblem;
use plimsoll::model::csv::write_instance;
use plimsoll::model::graph::Role;
use plimsoll::model::structure::Relation;
use plimsoll::model::{Bytes, Claim, Entry, Offsets, Problem as _, SharedObjects};
use plimsoll::structure::{RelatedPlan, Safety};
use plimsoll_lab::report::{Basis, human, map::Map};
use serde::Serialize;

/// Orders every region, places it with the conflicts of one relation, and prints the report.
pub fn plan(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    relation: Relation,
    registry: &Registry,
) -> Result<u8, Failure> {
    let problem = args.problem.unwrap_or(Offsets::NAME);
    let orders = GraphRun { limits: run.limits.share(2), ..*run }.order(&import.graph)?;
    // `exact`, the default of --algorithm, is not an algorithm for shared objects.
    let named =
        Some(args.algorithm.as_str()).filter(|name| problem != SharedObjects::NAME || *name != "exact");
    match choose(registry, named, Some(problem))? {
        Choice::Offsets(entry) => place(args, import, run, &orders, relation, entry),
        Choice::SplitBuffers(entry) => place(args, import, run, &orders, relation, entry),
        Choice::SharedObjects(entry) => place(args, import, run, &orders, relation, entry),
    }
}

fn place<P: InstanceProblem>(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    orders: &[OrderedRegion],
    relation: Relation,
    entry: &Entry<P>,
) -> Result<u8, Failure> {
    let regions = run.plan_related(&import.graph, orders, relation, entry)?;
    let body = regions.last().ok_or_else(|| Failure::internal("the graph has no body"))?;
    store(args, import, orders, body, entry.name)?;
    let report = StructureReport::new(args, import, run.order.name, &regions, body, entry.name);
    report::print(&report, args.json)?;
    Ok(ANSWERED)
}

fn store<P: InstanceProblem>(
    args: &PlanArgs,
    import: &Import,
    orders: &[OrderedRegion],
    body: &RelatedPlan<P>,
    algorithm: &str,
) -> Result<(), Failure> {
    let instance = &body.related.instance;
    if let Some(path) = &args.instance {
        output::late(output::write_file(path, |file| write_instance(instance, file)));
    }
    if let Some(path) = &args.orders {
        output::late(output::write_file(path, |file| write_orders(import, orders.iter().rev(), file)));
    }
    let solution = body.outcome.solution.as_ref();
    let solution = solution.ok_or_else(|| Failure::internal("the plan has no layout"))?;
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| P::rows(instance, solution).write(file)));
    }
    if let Some(path) = &args.plot {
        let bound = body.outcome.lower_bound.value;
        let map = Map::new(instance, P::NAME, algorithm, &body.pieces, bound);
        output::late(output::write_picture(path, |file| map.write(file)));
    }
    Ok(())
}

/// The report on a plan. Its sizes refer to the body.
#[derive(Serialize)]
struct StructureReport<'a> {
    graph: &'a str,
    regions: usize,
    operators: usize,
    buffers: usize,
    order: &'static str,
    conflicts: String,
    /// False if every pair counts as a conflict.
    conflicts_known: bool,
    problem: &'static str,
    algorithm: &'static str,
    /// The claim about the arena, for these conflicts.
    claim: Claim,
    arena: Bytes,
    lower_bound: Option<Bytes>,
    witness: Option<String>,
    arithmetic: Arithmetic,
    /// Peak live bytes in the order.
    load: Bytes,
    pairs: u64,
    /// Pairs that are simultaneously live in the order, but do not conflict.
    overlooked: u64,
    /// Pairs that are simultaneously live in some execution, but do not conflict.
    exposed: u64,
    /// Pairs that collide in this plan when operators run one at a time.
    collide_in_order: usize,
    /// Pairs that collide when independent operators run concurrently.
    collide: usize,
    /// One of the pairs that collide, preferably one that collides when operators run one at a time.
    collision: Option<String>,
    naive: Bytes,
    weights: Bytes,
    seconds: f64,
    #[serde(flatten)]
    basis: Basis,
    #[serde(flatten)]
    layout: Option<WithLayout<'a>>,
}

impl<'a> StructureReport<'a> {
    fn new<P: InstanceProblem>(
        args: &PlanArgs,
        import: &'a Import,
        order: &'static str,
        regions: &[RelatedPlan<P>],
        body: &'a RelatedPlan<P>,
        algorithm: &'static str,
    ) -> Self {
        let (graph, RelatedPlan { related, outcome, .. }) = (&import.graph, body);
        let (instance, bound) = (&related.instance, &outcome.lower_bound);
        let (collide_in_order, collide, collision) = collisions(regions);
        // A bound for conflicts between all pairs is not a bound for the relation.
        let known = related.complete;
        let layout = outcome.solution.as_ref();
        Self {
            graph: graph.name(),
            regions: regions.len(),
            operators: related.storages.problem.len(),
            buffers: instance.len(),
            order,
            conflicts: related.relation.to_string(),
            conflicts_known: known,
            problem: P::NAME,
            algorithm,
            claim: if known { outcome.claim } else { Claim::of_solution(false) },
            arena: body.arena(),
            lower_bound: known.then_some(bound.value),
            witness: known.then(|| bound.witness.in_words(instance)),
            arithmetic: Arithmetic::of(&bound.witness),
            load: related.order.peak(&related.storages.problem),
            pairs: related.pairs,
            overlooked: related.overlooked,
            exposed: related.exposed,
            collide_in_order,
            collide,
            collision,
            naive: instance.total_size(),
            weights: graph.bytes(Role::Weight),
            seconds: regions.iter().map(|one| one.outcome.stats.seconds).sum(),
            basis: Basis::of(import),
            layout: args.with_layout.then(|| WithLayout { layout: layout.map(|one| P::rows(instance, one)) }),
        }
    }
}

impl Printed for StructureReport<'_> {
    fn print(&self, text: &mut Text) {
        let Self { basis, arena, algorithm, .. } = self;
        text.push(&basis.text());
        let inside = match self.regions {
            1 => String::new(),
            regions => format!(" of the body, {}", human::count(regions, "region")),
        };
        let (operators, buffers) = (human::count(self.operators, "operator"), self.buffers as u64);
        let sizes = format_args!("{operators}, {}{inside}", human::count(buffers, "buffer"));
        text.line("graph", format_args!("{}: {sizes}", self.graph));
        text.line("order", format_args!("{}: {}", self.order, sized(self.load, " live bytes")));
        let all = buffers.saturating_mul(buffers.saturating_sub(1)) / 2;
        text.line("conflicts", format_args!("{}: {} of {all} pairs", self.conflicts, self.pairs));
        if !self.conflicts_known {
            let why = "they are too many, or the time ran out, so every pair counts as a conflict";
            text.line("", why);
        }
        let claim = basis.claim(self.claim);
        text.line("arena", format_args!("{} by {algorithm}, {claim} for these conflicts", bytes(*arena)));
        if let (Some(bound), Some(witness)) = (self.lower_bound, &self.witness) {
            let what = if self.problem == SharedObjects::NAME { "plan" } else { "layout" };
            let above = match self.claim {
                Claim::Optimal => String::new(),
                _ => format!("; {} above that bound", output::gap(*arena, bound)),
            };
            let least = noted(&bytes(bound), &format!("{witness}{}", self.arithmetic.remark()));
            text.line("", format_args!("no {what} needs less than {least}{above}"));
        }
        text.line("in order", safe(self.collide_in_order, "when operators run one at a time"));
        text.line("concurrent", safe(self.collide, "when independent operators run concurrently"));
        if let Some(collision) = &self.collision {
            text.line("", collision);
        }
        text.unshared(self.naive, *arena, self.weights);
        text.time(self.seconds);
    }
}

/// Returns the number of pairs that collide when operators run one at a time, the number that collide when
/// they run concurrently, and one colliding pair. The pairs of all regions are counted. If possible,
/// the returned pair collides when operators run one at a time, and belongs to the body.
fn collisions<P: InstanceProblem>(regions: &[RelatedPlan<P>]) -> (usize, usize, Option<String>) {
    let safeties: Vec<&Safety> = regions.iter().rev().map(|one| &one.safety).collect();
    let in_order = safeties.iter().flat_map(|safety| &safety.in_order);
    let concurrent = safeties.iter().flat_map(|safety| &safety.concurrent);
    let first = in_order.clone().next().map(ToString::to_string);
    let first = first.or_else(|| concurrent.clone().next().map(ToString::to_string));
    (in_order.count(), concurrent.count(), first)
}

fn safe(count: usize, when: &str) -> String {
    match count {
        0 => format!("safe {when}"),
        1 => format!("1 pair collides {when}"),
        count => format!("{count} pairs collide {when}"),
    }
}
