//! Plans a graph with branches or loops as one program.

use super::alternatives::{Alternatives, Tried};
use super::args::{ControlArgs, PlanArgs};
use super::capacity::Planned;
use super::places::{Memory, Places, is_apart};
use super::write::{self, Tail};
use crate::commands::choose;
use crate::commands::order::write_orders;
use crate::failure::Failure;
use crate::output;
use crate::report::{self, Cell, Printed, Text, bytes, cells, noted, size};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::branches::{
    OrderedProgram, Planner, ProgramPlan, SchemeEntry, in_words, ordered_program, program_groups,
    program_in_order,
};
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, OrderedRegion, Placement};
use plimsoll::model::InstanceProblem;
use plimsoll::model::csv::{write_instance, write_layout};
use plimsoll::model::graph::{Control, Graph, Member, Role};
use plimsoll::model::program::{Point, Program, ProgramBound};
use plimsoll::model::{
    Bytes, Claim, Entry, Joint, Offsets, OperatorId, Problem, RegionId, Step, load, written_and_read,
};
use plimsoll_lab::report::human;
use plimsoll_lab::report::map::{Groups, Map};
use serde::Serialize;
use std::ops::Range;

/// Orders the regions, plans the program and prints the report.
pub fn plan(asked: &Alternatives<'_>) -> Result<u8, Failure> {
    let Alternatives { args, import, run, scheme, .. } = *asked;
    let (entry, joint) = match asked.placement {
        Placement::After(entry) => (entry, None),
        Placement::Joint(joint) => {
            (choose::named(&asked.registry.offsets, &args.algorithm, "algorithm")?, Some(joint))
        }
    };
    let (graph, first) = (&import.graph, GraphRun { limits: asked.own_limits(), ..*run });
    let (ordered, found, bound) = planned(args.control, graph, &first, scheme, (entry, joint))?;
    let (program, regions) = (&ordered.program, &ordered.regions);
    store(args, import, &ordered, scheme, entry.name, &found);
    let stored = write::store(asked, &places(import, &ordered, &found), found.peak)?;
    let instance = scheme.instance(program);
    let planned = Planned {
        traffic: written_and_read(&instance),
        instance: &instance,
        arena: found.peak,
        bound: bound.value,
        reason: in_words(&bound, graph),
        at: &|step| (program.operator_at(step), program.at(step)),
        micro: stored.micro.as_ref(),
        asked,
    };
    let check = planned.check()?;
    let code = check.code;
    let report = ProgramReport {
        graph: graph.name(),
        order: joint.map_or_else(|| run.order.name.to_owned(), |joint| format!("joint {}", joint.name)),
        branches: scheme.name,
        algorithm: entry.name,
        claim: Claim::of_solution(found.is_optimal()),
        joint_claim: Claim::of_solution(found.peak == bound.value),
        arena: found.peak,
        load: load(program.instance()).0,
        lower_bound: found.bound,
        witness: &found.witness,
        load_step: found.load_step,
        joint_bound: bound.value,
        joint_witness: in_words(&bound, graph),
        arithmetic: found.arithmetic,
        naive: program.naive(),
        weights: graph.bytes(Role::Weight),
        buffers: program.buffers().len(),
        points: program.points().len(),
        runs: found.runs,
        all_runs: found.all_runs,
        seconds: found.seconds + regions.iter().map(|one| one.outcome.stats.seconds).sum::<f64>(),
        regions: regions.iter().rev().map(|one| RegionRow::of(graph, one)).collect(),
        tail: Tail::new(&stored, check, asked, Some((&instance, &found.layout))),
    };
    report::print(&report, args.json)?;
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
    algorithm: &str,
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
        let algorithm = &format!("{} with {algorithm}", scheme.name);
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

/// The report on the plan of a program.
#[derive(Serialize)]
struct ProgramReport<'a> {
    graph: &'a str,
    order: String,
    branches: &'static str,
    algorithm: &'static str,
    /// The claim over all layouts that the scheme allows in these orders.
    claim: Claim,
    /// The claim over all orders and layouts.
    joint_claim: Claim,
    arena: Bytes,
    load: Bytes,
    lower_bound: Bytes,
    witness: &'a str,
    load_step: Option<Step>,
    joint_bound: Bytes,
    joint_witness: String,
    arithmetic: Arithmetic,
    /// The sum of the sizes of all buffers.
    naive: Bytes,
    weights: Bytes,
    buffers: usize,
    points: usize,
    /// Number of simulated runs. In each of them, every read returned the value written.
    runs: usize,
    /// True if these are all possible runs in which no loop exceeds a fixed number of trips.
    all_runs: bool,
    seconds: f64,
    /// The body first.
    regions: Vec<RegionRow<'a>>,
    #[serde(flatten)]
    tail: Tail<'a>,
}

/// The order of one region.
#[derive(Serialize)]
struct RegionRow<'a> {
    region: RegionId,
    name: &'a str,
    /// The operator that runs the region; `None` for the body.
    owner: Option<Owner>,
    operators: usize,
    /// Peak live bytes in the file order and in the order found; the regions of an operator count as one
    /// block.
    file_peak: Bytes,
    order_peak: Bytes,
    order_claim: Claim,
}

/// An operator that runs regions.
#[derive(Serialize)]
struct Owner {
    /// Its index in the graph.
    index: OperatorId,
    operator: String,
    /// The region that it is in.
    region: RegionId,
    /// How it runs its regions.
    control: Option<Control>,
}

impl<'a> RegionRow<'a> {
    fn of(graph: &'a Graph, one: &OrderedRegion) -> Self {
        let region = graph.region(one.region);
        let owner = |id| Owner {
            index: id,
            operator: graph.called(id),
            region: graph.home(id),
            control: graph.flow(id).ok().flatten().map(|flow| flow.control),
        };
        Self {
            region: one.region,
            name: &region.name,
            owner: region.owner.map(owner),
            operators: one.storages.problem.len(),
            file_peak: one.file_peak,
            order_peak: one.peak,
            order_claim: one.outcome.claim,
        }
    }
}

impl Printed for ProgramReport<'_> {
    fn print(&self, text: &mut Text) {
        let Self { branches, regions, arena, tail, .. } = self;
        let basis = &tail.basis;
        text.push(&basis.text());
        let operators: usize = regions.iter().map(|one| one.operators).sum();
        let [operators, inside, buffers] =
            [(operators, "operator"), (regions.len(), "region"), (self.buffers, "buffer")]
                .map(|(number, noun)| human::count(number, noun));
        text.line("graph", format_args!("{}: {operators} in {inside}, {buffers}", self.graph));
        text.line("order", &self.order);
        let by = format!("{branches} with {}, {} for these orders", self.algorithm, basis.claim(self.claim));
        text.line("arena", format_args!("{} by {by}", bytes(*arena)));
        let why = format!("{}{}", self.witness, self.arithmetic.remark());
        let least = noted(&bytes(self.lower_bound), &why);
        text.line("", format_args!("no plan with {branches} needs less than {least}"));
        let gap = output::gap(*arena, self.lower_bound);
        text.line("", format_args!("{gap} above that bound; peak live bytes: {}", size(self.load)));
        let (claim, gap) = (basis.claim(self.joint_claim), output::gap(*arena, self.joint_bound));
        text.line("joint", format_args!("{claim}: {gap} above the bound over all orders"));
        let least = noted(&bytes(self.joint_bound), &self.joint_witness);
        text.line("", format_args!("no orders need less than {least}"));
        text.unshared(self.naive, *arena, self.weights);
        let all = if self.all_runs { "all possible ones" } else { "a sample" };
        let checked = "every read returned the value written";
        let runs = human::count(self.runs as u64, "run");
        text.line("checked", format_args!("{runs} of the program ({all}): {checked}"));
        text.time(self.seconds);
        self.tail.print(text);
        let row = |one: &RegionRow<'_>| {
            let (region, claim) = (Cell::region(one.region, one.name), one.order_claim.as_str());
            cells![region, one.operators, one.file_peak, one.order_peak, claim]
        };
        text.table(&["region", "operators", "file order", "peak", "claim"], regions.iter().map(row));
    }
}
