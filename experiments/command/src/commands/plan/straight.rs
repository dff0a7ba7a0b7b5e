//! Plans a graph without regions inside operators: one order and one layout.

use super::alternatives::{Alternatives, Tried};
use super::args::PlanArgs;
use super::capacity::Planned;
use super::places::{Memory, Places, is_apart};
use super::write;
use crate::commands::order::write_orders;
use crate::failure::Failure;
use crate::output;
use crate::report::{Report, bytes, noted, sized};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::assumptions::assumptions;
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, OrderedRegion, Placement, PlannedRegion, reason};
use plimsoll::model::csv::{write_instance, write_layout};
use plimsoll::model::graph::{Graph, Member, Role};
use plimsoll::model::{Bytes, Claim, InstanceProblem, Offsets, OperatorId, Problem as _};
use plimsoll::spilling::graph_traffic;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::report::{Basis, human};
use serde_json::{Value, json};
use std::io;

/// Plans the body and prints the report.
pub fn plan(asked: &Alternatives<'_>) -> Result<u8, Failure> {
    let Alternatives { args, import, run, placement, .. } = *asked;
    let graph = &import.graph;
    let regions = GraphRun { limits: asked.own_limits(), ..*run }.plan(graph, placement)?;
    let (order, solver) = match placement {
        Placement::After(solver) => (run.order.name.to_owned(), solver.name.to_owned()),
        Placement::Joint(solver) => (format!("joint {}", solver.name), format!("joint {}", solver.name)),
    };
    store(args, import, &solver, &regions)?;
    let mut report = report(args, graph, (&order, &solver), &regions, &Basis::of(import));
    report.assuming(&assumptions(&run.liveness, graph));
    let body = regions.last().ok_or_else(|| Failure::internal("the graph has no body"))?;
    let Tried { arena, bound, reason } = of(body);
    let micro = write::store(asked, &places(import, &regions), arena, &mut report)?;
    let planned = Planned {
        instance: &body.instance,
        traffic: graph_traffic(graph, &body.ordered, body.instance.len()),
        arena,
        bound,
        reason,
        at: &|step| (body.ordered.operator_at(step), body.ordered.at(graph, step)),
        micro,
        asked,
    };
    let code = planned.check(&mut report)?;
    if args.with_layout {
        let layout = body.layout.solution.as_ref();
        report.layout(
            layout.map(|layout| |file: &mut dyn io::Write| write_layout(&body.instance, layout, file)),
        );
    }
    report.print(args.json)?;
    Ok(code)
}

/// Plans a graph and returns only the arena and the bound, for comparison with another plan.
pub(super) fn tried(graph: &Graph, run: &GraphRun<'_>, placement: Placement<'_>) -> Result<Tried, Failure> {
    let regions = run.plan(graph, placement)?;
    regions.last().map(of).ok_or_else(|| Failure::internal("the graph has no body"))
}

fn of(body: &PlannedRegion) -> Tried {
    let reason = reason(&body.ordered.storages.problem, &body.joint_bound);
    Tried { arena: body.arena(), bound: body.joint_bound.value, reason }
}

fn store(args: &PlanArgs, import: &Import, solver: &str, regions: &[PlannedRegion]) -> Result<(), Failure> {
    let body = regions.last().ok_or_else(|| Failure::internal("the graph has no body"))?;
    if let Some(path) = &args.instance {
        output::late(output::write_file(path, |file| write_instance(&body.instance, file)));
    }
    if let Some(path) = &args.orders {
        output::late(output::write_file(path, |file| write_orders(import, [&body.ordered], file)));
    }
    let layout = body.layout.solution.as_ref();
    let layout = layout.ok_or_else(|| Failure::internal("the plan has no layout"))?;
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| write_layout(&body.instance, layout, file)));
    }
    if let Some(path) = &args.plot {
        let pieces = Offsets::pieces(&body.instance, layout);
        let (problem, order) = (&body.ordered.storages.problem, &body.ordered.order);
        let steps: Vec<String> =
            order.operators().iter().map(|&id| problem.operator(id).to_owned()).collect();
        let bound = body.layout.lower_bound.value;
        let map = Map::new(&body.instance, Offsets::NAME, solver, &pieces, bound).with_steps(&steps);
        output::late(output::write_picture(path, |file| map.write(file)));
    }
    Ok(())
}

/// Returns the placement of every region, the body first: one row per tensor in the arena and per scratch
/// buffer, then one row per tensor of zero bytes.
fn places<'i>(import: &'i Import, regions: &[PlannedRegion]) -> Places<'i> {
    let mut runs = vec![0..0; import.graph.operators().len()];
    for OrderedRegion { storages, order, .. } in regions.iter().map(|one| &one.ordered) {
        for (id, step) in storages.operators.iter().zip(storages.problem.steps(order)) {
            runs[id.index()] = step..step + 1;
        }
    }
    let mut places = Places::new(import, regions.iter().map(|one| &one.ordered), runs);
    for one in regions.iter().rev() {
        let Some(layout) = &one.layout.solution else { continue };
        let (region, storages) = (one.ordered.region, &one.ordered.storages);
        // The scratch memory of operators follows the storages.
        let users = storages.problem.ids().filter(|&id| storages.problem.scratch(id) > Bytes::ZERO);
        let users: Vec<OperatorId> = users.map(|id| storages.operators[id.index()]).collect();
        for (at, (buffer, &offset)) in one.instance.buffers().iter().zip(layout.offsets()).enumerate() {
            let hull = buffer.lifespan().hull();
            let (lower, upper) = (hull.lower.get(), hull.upper.get());
            let memory = Memory { name: buffer.name(), offset, lower, upper };
            let tensors = one.ordered.storages.tensors.get(at).map(Vec::as_slice).unwrap_or_default();
            if is_apart(&import.graph, tensors) {
                let user = at.checked_sub(storages.tensors.len()).map(|at| users[at]);
                places.scratch(region, user, buffer.size(), &memory);
            }
            for member in tensors {
                places.member(region, *member, &memory);
            }
        }
        for outer in &one.ordered.storages.outer {
            places.outer(outer);
        }
        let (problem, order) = (&one.ordered.storages.problem, &one.ordered.order);
        let steps = problem.steps(order);
        for (id, storage) in &one.ordered.storages.empty {
            let (lower, upper) = problem.held(storage, &steps);
            let memory = Memory { name: &storage.name, offset: Bytes::ZERO, lower, upper };
            places.member(region, Member { tensor: *id, offset: Bytes::ZERO }, &memory);
        }
    }
    places
}

/// Returns the report. The numbers of the body are also members of the top-level object.
fn report(
    args: &PlanArgs,
    graph: &Graph,
    (order, solver): (&str, &str),
    regions: &[PlannedRegion],
    basis: &Basis,
) -> Report {
    let rows: Vec<Value> = regions.iter().rev().map(|one| row(graph, one)).collect();
    let body = &rows[0];
    let object = json!({
        "graph": graph.name(),
        "order": order,
        "solver": solver,
        // The value of the option. Without regions inside operators, all schemes but `naive` are equivalent.
        "branches": args.branches,
        "claim": body["claim"],
        "joint_claim": body["joint_claim"],
        "arena": body["arena"],
        "load": body["load"],
        "lower_bound": body["lower_bound"],
        "joint_bound": body["joint_bound"],
        "file_peak": body["file_peak"],
        "naive": body["naive"],
        "weights": graph.bytes(Role::Weight),
        "seconds": regions.iter().map(PlannedRegion::seconds).sum::<f64>(),
        "regions": rows,
    });
    let mut report = Report::of_graph(object, basis);
    let body = &regions[regions.len() - 1];
    let (ordered, problem) = (&body.ordered, &body.ordered.storages.problem);
    let (bound, joint) = (&body.layout.lower_bound, &body.joint_bound);
    let (arena, buffers) = (body.arena(), body.instance.len());
    let operators = human::count(problem.len(), "operator");
    let buffers = human::count(buffers, "buffer");
    report.line("graph", format_args!("{}: {operators}, {buffers}", graph.name()));
    let claim = basis.claim(ordered.outcome.claim);
    report.line("order", format_args!("{order}: {}, {claim}", sized(body.load(), " live bytes")));
    let why = reason(problem, joint) + Arithmetic::of(&joint.witness).remark();
    report.line("", format_args!("no order needs less than {}", noted(&bytes(joint.value), &why)));
    report.line("", format_args!("file order: {}", sized(ordered.file_peak, " live bytes")));
    let claim = basis.claim(body.layout.claim);
    report.line("arena", format_args!("{} by {solver}, {claim} for this order", bytes(arena)));
    let why = body.layout_reason(graph) + Arithmetic::of(&bound.witness).remark();
    report.line("", format_args!("no layout needs less than {}", noted(&bytes(bound.value), &why)));
    let (claim, gap) = (basis.claim(joint_claim(body)), output::gap(arena, joint.value));
    report.line("joint", format_args!("{claim}: {gap} above the bound over all orders"));
    report.unshared(body.instance.total_size(), arena);
    report.lines(&["seconds"]);
    report
}

fn row(graph: &Graph, one: &PlannedRegion) -> Value {
    let (ordered, layout, joint) = (&one.ordered, &one.layout, &one.joint_bound);
    let bound = &layout.lower_bound;
    json!({
        "region": ordered.region,
        "name": graph.region(ordered.region).name,
        "operators": ordered.storages.problem.len(),
        "buffers": one.instance.len(),
        // The sum of the sizes of all buffers.
        "naive": one.instance.total_size(),
        "file_peak": ordered.file_peak,
        "load": one.load(),
        "arena": one.arena(),
        // Lower bound over all layouts of the order.
        "lower_bound": bound.value,
        "witness": one.layout_reason(graph),
        "load_step": one.load_step(),
        "arithmetic": Arithmetic::of(&bound.witness),
        // Lower bound on the live bytes of all orders, and therefore on the arena.
        "joint_bound": joint.value,
        "joint_witness": reason(&ordered.storages.problem, joint),
        "joint_arithmetic": Arithmetic::of(&joint.witness),
        "claim": layout.claim,
        "order_claim": ordered.outcome.claim,
        "joint_claim": joint_claim(one),
        "seconds": one.seconds(),
    })
}

/// Returns the claim about the arena over all orders and layouts.
fn joint_claim(one: &PlannedRegion) -> Claim {
    Claim::of_solution(one.is_optimal_over_orders())
}
