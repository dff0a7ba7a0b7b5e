//! Plans with conflicts derived from the structure of the graph.

use super::args::PlanArgs;
use crate::commands::choose::{Choice, choose};
use crate::commands::order::write_orders;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use crate::report::{Report, bytes, noted};
use plimsoll::Registry;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, OrderedRegion};
use plimsoll::model::csv::write_instance;
use plimsoll::model::graph::{Graph, Role};
use plimsoll::model::structure::Relation;
use plimsoll::model::{Claim, Entry, InstanceProblem, Offsets, Problem as _, SharedObjects};
use plimsoll::structure::{RelatedPlan, Safety};
use plimsoll_lab::report::{Basis, human, map::Map};
use serde_json::json;
use std::io;

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
    let solver =
        Some(args.solver.as_str()).filter(|solver| problem != SharedObjects::NAME || *solver != "exact");
    match choose(registry, solver, Some(problem))? {
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
    let basis = Basis::of(import);
    let mut report = report(&import.graph, run.order.name, &regions, body, entry.name, &basis);
    if args.with_layout {
        let (instance, solution) = (&body.related.instance, body.outcome.solution.as_ref());
        report.layout(solution.map(|solution| |file: &mut dyn io::Write| P::write(instance, solution, file)));
    }
    report.print(args.json)?;
    Ok(ANSWERED)
}

fn store<P: InstanceProblem>(
    args: &PlanArgs,
    import: &Import,
    orders: &[OrderedRegion],
    body: &RelatedPlan<P>,
    solver: &str,
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
        output::late(output::write_file(path, |file| P::write(instance, solution, file)));
    }
    if let Some(path) = &args.plot {
        let bound = body.outcome.lower_bound.value;
        let (pieces, algorithm) = (&body.pieces, solver);
        let map = Map::new(instance, P::NAME, algorithm, pieces, bound);
        output::late(output::write_picture(path, |file| map.write(file)));
    }
    Ok(())
}

/// Returns the report. Its sizes refer to the body.
fn report<P: InstanceProblem>(
    graph: &Graph,
    order: &str,
    regions: &[RelatedPlan<P>],
    body: &RelatedPlan<P>,
    solver: &str,
    basis: &Basis,
) -> Report {
    let RelatedPlan { related, outcome, .. } = body;
    let (instance, arena, bound) = (&related.instance, body.arena(), &outcome.lower_bound);
    let arithmetic = Arithmetic::of(&bound.witness);
    let (in_order, concurrent, collision) = collisions(regions);
    // A bound for conflicts between all pairs says nothing about the relation.
    let known = related.complete;
    let claim = if known { outcome.claim } else { Claim::of_solution(false) };
    let object = json!({
        "graph": graph.name(),
        "regions": regions.len(),
        "operators": related.storages.problem.len(),
        "buffers": instance.len(),
        "order": order,
        "conflicts": related.relation.to_string(),
        // False if every pair counts as a conflict.
        "conflicts_known": known,
        "problem": P::NAME,
        "solver": solver,
        // The claim about the arena, for these conflicts.
        "claim": claim,
        "arena": arena,
        "lower_bound": known.then_some(bound.value),
        "witness": known.then(|| bound.witness.in_words(instance)),
        "arithmetic": arithmetic,
        // Peak live bytes in the order.
        "load": related.order.peak(&related.storages.problem),
        "pairs": related.pairs,
        // Pairs that are simultaneously live in the order, but do not conflict.
        "overlooked": related.overlooked,
        // Pairs that are simultaneously live in some execution, but do not conflict.
        "exposed": related.exposed,
        // Pairs that collide in this plan when operators run one at a time.
        "collide_in_order": in_order,
        // Pairs that collide when independent operators run concurrently.
        "collide": concurrent,
        // One of the pairs that collide, preferably one that collides when operators run one at a time.
        "collision": collision,
        "naive": instance.total_size(),
        "weights": graph.bytes(Role::Weight),
        "seconds": regions.iter().map(|one| one.outcome.stats.seconds).sum::<f64>(),
    });
    let mut report = Report::of_graph(object, basis);
    let inside = match regions.len() {
        1 => String::new(),
        regions => format!(" of the body, {}", human::count(regions, "region")),
    };
    let (operators, buffers) = (related.storages.problem.len(), instance.len() as u64);
    let sizes = format!("{}, {}", human::count(operators, "operator"), human::count(buffers, "buffer"));
    report.line("graph", format_args!("{}: {sizes}{inside}", graph.name()));
    report.show("order", "{order}: {load live bytes}");
    let all = buffers.saturating_mul(buffers.saturating_sub(1)) / 2;
    report.line("conflicts", format_args!("{}: {} of {all} pairs", related.relation, related.pairs));
    if !known {
        let why = "they are too many, or the time ran out, so every pair counts as a conflict";
        report.line("", why);
    }
    let shown = basis.claim(claim);
    report.line("arena", format_args!("{} by {solver}, {shown} for these conflicts", bytes(arena)));
    if known {
        let what = if P::NAME == SharedObjects::NAME { "plan" } else { "layout" };
        let above = match claim {
            Claim::Optimal => String::new(),
            _ => format!("; {} above that bound", output::gap(arena, bound.value)),
        };
        let why = bound.witness.in_words(instance) + arithmetic.remark();
        let least = noted(&bytes(bound.value), &why);
        report.line("", format_args!("no {what} needs less than {least}{above}"));
    }
    report.line("in order", safe(in_order, "when operators run one at a time"));
    report.line("concurrent", safe(concurrent, "when independent operators run concurrently"));
    if let Some(collision) = collision {
        report.line("", collision);
    }
    report.unshared(instance.total_size(), arena);
    report.lines(&["seconds"]);
    report
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
