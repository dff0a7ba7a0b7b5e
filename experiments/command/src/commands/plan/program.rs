//! Plans a graph with branches or loops as one program.

use super::alternatives::{Alternatives, Tried};
use super::args::{ControlArgs, PlanArgs};
use super::capacity::Planned;
use super::places::{Memory, Places, is_apart};
use super::write;
use crate::commands::choose;
use crate::commands::order::write_orders;
use crate::failure::Failure;
use crate::output;
use crate::report::{Report, bytes, noted, size};
use plimsoll::assumptions::assumptions;
use plimsoll::branches::{
    OrderedProgram, Planner, ProgramPlan, SchemeEntry, in_words, ordered_program, program_groups,
    program_in_order,
};
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, OrderedRegion, Placement};
use plimsoll::model::csv::{write_instance, write_layout};
use plimsoll::model::graph::{Graph, Member, Role};
use plimsoll::model::program::{Point, Program, ProgramBound};
use plimsoll::model::{
    Bytes, Claim, Entry, InstanceProblem, Joint, Offsets, OperatorId, Problem, load, written_and_read,
};
use plimsoll_lab::report::map::{Groups, Map};
use plimsoll_lab::report::{Basis, human};
use serde_json::{Value, json};
use std::io;
use std::ops::Range;

/// Orders the regions, plans the program and prints the report.
pub fn plan(asked: &Alternatives<'_>) -> Result<u8, Failure> {
    let Alternatives { args, import, run, scheme, .. } = *asked;
    let (solver, joint) = match asked.placement {
        Placement::After(solver) => (solver, None),
        Placement::Joint(joint) => {
            (choose::named(&asked.registry.offsets, &args.solver, "algorithm")?, Some(joint))
        }
    };
    let first = GraphRun { limits: asked.own_limits(), ..*run };
    let (ordered, found, bound) = planned(args.control, &import.graph, &first, scheme, (solver, joint))?;
    store(args, import, &ordered, scheme, solver.name, &found);
    let order = joint.map_or_else(|| run.order.name.to_owned(), |joint| format!("joint {}", joint.name));
    let names = (order.as_str(), scheme.name, solver.name);
    let (mut report, rows) = report(&ordered, names, &found, &bound, &Basis::of(import));
    report.assuming(&assumptions(&run.liveness, &import.graph));
    let micro = write::store(asked, &places(import, &ordered, &found), found.peak, &mut report)?;
    let instance = scheme.instance(&ordered.program);
    let planned = Planned {
        traffic: written_and_read(&instance),
        instance: &instance,
        arena: found.peak,
        bound: bound.value,
        reason: in_words(&bound, &import.graph),
        at: &|step| (ordered.program.operator_at(step), ordered.program.at(step)),
        micro,
        asked,
    };
    let code = planned.check(&mut report)?;
    report.table(&rows, "region, operators, file order = file_peak, peak = order_peak, claim = order_claim");
    if args.with_layout {
        report.layout(Some(|file: &mut dyn io::Write| write_layout(&instance, &found.layout, file)));
    }
    report.print(args.json)?;
    Ok(code)
}

/// Plans a graph and returns only the arena and the bound, for comparison with another plan.
pub(super) fn tried(
    control: ControlArgs,
    graph: &Graph,
    run: &GraphRun<'_>,
    scheme: &'static SchemeEntry,
    solvers: (&Entry<Offsets>, Option<&Entry<Joint>>),
) -> Result<Tried, Failure> {
    let (_, found, bound) = planned(control, graph, run, scheme, solvers)?;
    Ok(Tried { arena: found.peak, bound: bound.value, reason: in_words(&bound, graph) })
}

/// Orders the regions and plans the program. With `joint`, each region is ordered to minimise its own arena,
/// innermost first; the regions of an operator count as one block. The whole program is then planned in these
/// orders.
fn planned<'g>(
    control: ControlArgs,
    graph: &'g Graph,
    run: &GraphRun<'_>,
    scheme: &'static SchemeEntry,
    (solver, joint): (&Entry<Offsets>, Option<&Entry<Joint>>),
) -> Result<(OrderedProgram<'g>, ProgramPlan, ProgramBound), Failure> {
    let first = GraphRun { limits: run.limits.share(2), ..*run };
    let options = control.options(run.liveness);
    let ordered = match joint {
        None => ordered_program(graph, &first, options)?,
        Some(joint) => {
            let planned = first.plan(graph, Placement::Joint(joint))?;
            program_in_order(graph, planned.into_iter().map(|one| one.ordered).collect(), options)?
        }
    };
    let bound = ProgramBound::of(graph, &run.liveness).map_err(Failure::input)?;
    let (setup, limits, execution) = (run.setup, run.limits, control.execution(run.setup.seed));
    let found = Planner { scheme, solver, setup, limits, execution }.plan(&ordered.program)?;
    Ok((ordered, found, bound))
}

fn store(
    args: &PlanArgs,
    import: &Import,
    ordered: &OrderedProgram<'_>,
    scheme: &SchemeEntry,
    solver: &str,
    found: &ProgramPlan,
) {
    let program = &ordered.program;
    let instance = program.instance();
    let seen = scheme.instance(program);
    if let Some(path) = &args.instance {
        output::late(output::write_file(path, |file| write_instance(&seen, file)));
    }
    if let Some(path) = &args.orders {
        output::late(output::write_file(path, |file| {
            write_orders(import, ordered.regions.iter().rev(), file)
        }));
    }
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| write_layout(&seen, &found.layout, file)));
    }
    if let Some(path) = &args.plot {
        let algorithm = &format!("{} with {solver}", scheme.name);
        let pieces = Offsets::pieces(instance, &found.layout);
        let (problem, bound) = (Offsets::NAME, found.bound);
        let (names, of) = program_groups(program);
        let groups = Groups { names: &names, of: &of };
        let map = Map::new(instance, problem, algorithm, &pieces, bound).grouped(groups);
        output::late(output::write_picture(path, |file| map.write(file)));
    }
}

/// Returns, per operator, the points at which it runs, including those of its regions.
fn runs(program: &Program<'_>) -> Vec<Range<u64>> {
    let mut runs = vec![0..0; program.graph().operators().len()];
    for (step, point) in (0..).zip(program.points().iter()) {
        match point {
            Point::Run(id) | Point::Enter(id) => runs[id.index()] = step..step + 1,
            Point::Exit(id) => runs[id.index()].end = step + 1,
            Point::Begin(_) | Point::End(_) => {}
        }
    }
    runs
}

/// Returns one row per tensor in the arena and per scratch buffer, then one row per tensor of zero bytes.
fn places<'i>(import: &'i Import, ordered: &OrderedProgram<'_>, found: &ProgramPlan) -> Places<'i> {
    let program = &ordered.program;
    let graph = program.graph();
    let mut places = Places::new(import, &ordered.regions, runs(program));
    let buffers = program.buffers().iter().zip(program.instance().buffers());
    for ((held, buffer), &offset) in buffers.zip(found.layout.offsets()) {
        let hull = buffer.lifespan().hull();
        let (lower, upper) = (hull.lower.get(), hull.upper.get());
        let memory = Memory { name: buffer.name(), offset, lower, upper };
        if is_apart(graph, &held.tensors) {
            places.scratch(held.home, held.scratch, buffer.size(), &memory);
        }
        for member in &held.tensors {
            places.member(graph.place(member.tensor), *member, &memory);
        }
    }
    for (id, lifespan) in program.empty() {
        let (lower, upper) = (lifespan.hull().lower.get(), lifespan.hull().upper.get());
        let name = &graph.tensor(*id).name;
        let (member, offset) = (Member { tensor: *id, offset: Bytes::ZERO }, Bytes::ZERO);
        places.member(graph.place(*id), member, &Memory { name, offset, lower, upper });
    }
    places
}

/// Returns the report, and the rows of its table of regions.
fn report(
    ordered: &OrderedProgram<'_>,
    (order, branches, solver): (&str, &str, &str),
    found: &ProgramPlan,
    bound: &ProgramBound,
    basis: &Basis,
) -> (Report, Vec<Value>) {
    let OrderedProgram { regions, program } = ordered;
    let (graph, arena) = (program.graph(), found.peak);
    let claim = Claim::of_solution(found.is_optimal());
    let joint_claim = Claim::of_solution(arena == bound.value);
    let rows: Vec<Value> = regions.iter().rev().map(|one| row(graph, one)).collect();
    let object = json!({
        "graph": graph.name(),
        "order": order,
        "branches": branches,
        "solver": solver,
        // The claim over all layouts that the scheme allows in these orders.
        "claim": claim,
        // The claim over all orders and layouts.
        "joint_claim": joint_claim,
        "arena": arena,
        "load": load(program.instance()).0,
        "lower_bound": found.bound,
        "witness": found.witness,
        "load_step": found.load_step,
        "joint_bound": bound.value,
        "joint_witness": in_words(bound, graph),
        "arithmetic": found.arithmetic,
        // The sum of the sizes of all buffers.
        "naive": program.naive(),
        "weights": graph.bytes(Role::Weight),
        "buffers": program.buffers().len(),
        "points": program.points().len(),
        // Number of simulated runs. In each of them, every read returned the value written.
        "runs": found.runs,
        // True if these are all possible runs in which no loop exceeds a fixed number of trips.
        "all_runs": found.all_runs,
        "seconds": found.seconds + regions.iter().map(|one| one.outcome.stats.seconds).sum::<f64>(),
        "regions": rows,
    });
    let mut report = Report::of_graph(object, basis);
    let operators: usize = regions.iter().map(|one| one.storages.problem.len()).sum();
    let (regions, buffers) = (rows.len(), program.buffers().len());
    let [operators, regions, buffers] = [(operators, "operator"), (regions, "region"), (buffers, "buffer")]
        .map(|(number, noun)| human::count(number, noun));
    report.line("graph", format_args!("{}: {operators} in {regions}, {buffers}", graph.name()));
    report.line("order", order);
    let claim = basis.claim(claim);
    let by = format!("{branches} with {solver}, {claim} for these orders");
    report.line("arena", format_args!("{} by {by}", bytes(arena)));
    let why = format!("{}{}", found.witness, found.arithmetic.remark());
    let least = noted(&bytes(found.bound), &why);
    report.line("", format_args!("no plan with {branches} needs less than {least}"));
    let (gap, load) = (output::gap(arena, found.bound), size(load(program.instance()).0));
    report.line("", format_args!("{gap} above that bound; peak live bytes: {load}"));
    let (claim, gap) = (basis.claim(joint_claim), output::gap(arena, bound.value));
    report.line("joint", format_args!("{claim}: {gap} above the bound over all orders"));
    let least = noted(&bytes(bound.value), &in_words(bound, graph));
    report.line("", format_args!("no orders need less than {least}"));
    report.unshared(program.naive(), arena);
    let all = if found.all_runs { "all possible ones" } else { "a sample" };
    let checked = "every read returned the value written";
    report.line(
        "checked",
        format_args!("{} of the program ({all}): {checked}", human::count(found.runs, "run")),
    );
    report.lines(&["seconds"]);
    (report, rows)
}

fn row(graph: &Graph, one: &OrderedRegion) -> Value {
    let region = graph.region(one.region);
    json!({
        "region": one.region,
        "name": region.name,
        // The operator that runs the region, or null for the body.
        "owner": region.owner.map(|id| owner(graph, id)),
        "operators": one.storages.problem.len(),
        // Peak live bytes in the file order and in the order found; the regions of an operator count as one
        // block.
        "file_peak": one.file_peak,
        "order_peak": one.peak,
        "order_claim": one.outcome.claim,
    })
}

/// Describes an operator that runs regions: its index in the graph, the region that it is in, and how it runs
/// its regions.
fn owner(graph: &Graph, id: OperatorId) -> Value {
    json!({
        "index": id,
        "operator": graph.called(id),
        "region": graph.home(id),
        "control": graph.flow(id).ok().flatten().map(|flow| flow.control),
    })
}
