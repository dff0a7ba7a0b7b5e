//! Plans a graph without regions inside operators: one order and one layout.

use super::alternatives::{Alternatives, Tried};
use super::args::PlanArgs;
use super::capacity::Planned;
use super::places::{Memory, Places, is_apart};
use super::write::{self, Tail};
use crate::commands::order::write_orders;
use crate::failure::Failure;
use crate::output;
use crate::report::{self, Printed, Text, bytes, noted, sized};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, OrderedRegion, Placement, PlannedRegion, reason};
use plimsoll::model::InstanceProblem;
use plimsoll::model::csv::{write_instance, write_layout};
use plimsoll::model::graph::{Graph, Member, Role};
use plimsoll::model::{Bytes, Claim, Offsets, OperatorId, Problem as _, RegionId, Step};
use plimsoll::spilling::graph_traffic;
use plimsoll_lab::report::human;
use plimsoll_lab::report::map::Map;
use serde::Serialize;

/// Plans the body and prints the report.
pub fn plan(asked: &Alternatives<'_>) -> Result<u8, Failure> {
    let Alternatives { args, import, run, placement, .. } = *asked;
    let graph = &import.graph;
    let regions = GraphRun { limits: asked.own_limits(), ..*run }.plan(graph, placement)?;
    let (order, algorithm) = match placement {
        Placement::After(entry) => (run.order.name.to_owned(), entry.name.to_owned()),
        Placement::Joint(entry) => (format!("joint {}", entry.name), format!("joint {}", entry.name)),
    };
    store(args, import, &algorithm, &regions)?;
    let body = regions.last().ok_or_else(|| Failure::internal("the graph has no body"))?;
    let Tried { arena, bound, reason } = of(body);
    let stored = write::store(asked, &places(import, &regions), arena)?;
    let planned = Planned {
        instance: &body.instance,
        traffic: graph_traffic(graph, &body.ordered, body.instance.len()),
        arena,
        bound,
        reason,
        at: &|step| (body.ordered.operator_at(step), body.ordered.at(graph, step)),
        micro: stored.micro.as_ref(),
        asked,
    };
    let check = planned.check()?;
    let code = check.code;
    let rows: Vec<RegionRow<'_>> = regions.iter().rev().map(|one| RegionRow::of(graph, one)).collect();
    let row = &rows[0];
    let layout = body.layout.solution.as_ref().map(|layout| (&body.instance, layout));
    let report = PlanReport {
        graph: graph.name(),
        order,
        algorithm,
        branches: &args.branches,
        claim: row.claim,
        joint_claim: row.joint_claim,
        arena: row.arena,
        load: row.load,
        lower_bound: row.lower_bound,
        joint_bound: row.joint_bound,
        file_peak: row.file_peak,
        naive: row.naive,
        weights: graph.bytes(Role::Weight),
        seconds: rows.iter().map(|one| one.seconds).sum(),
        regions: rows,
        tail: Tail::new(&stored, check, asked, layout),
    };
    report::print(&report, args.json)?;
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

fn store(
    args: &PlanArgs,
    import: &Import,
    algorithm: &str,
    regions: &[PlannedRegion],
) -> Result<(), Failure> {
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
        let map = Map::new(&body.instance, Offsets::NAME, algorithm, &pieces, bound).with_steps(&steps);
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

/// The report on a plan. The numbers are those of the body.
#[derive(Serialize)]
struct PlanReport<'a> {
    graph: &'a str,
    order: String,
    algorithm: String,
    /// The value of the option. Without regions inside operators, all schemes but `naive` are equivalent.
    branches: &'a str,
    claim: Claim,
    joint_claim: Claim,
    arena: Bytes,
    load: Bytes,
    lower_bound: Bytes,
    joint_bound: Bytes,
    file_peak: Bytes,
    naive: Bytes,
    weights: Bytes,
    seconds: f64,
    /// The body first.
    regions: Vec<RegionRow<'a>>,
    #[serde(flatten)]
    tail: Tail<'a>,
}

/// The plan of one region.
#[derive(Serialize)]
struct RegionRow<'a> {
    region: RegionId,
    name: &'a str,
    operators: usize,
    buffers: usize,
    /// The sum of the sizes of all buffers.
    naive: Bytes,
    file_peak: Bytes,
    load: Bytes,
    arena: Bytes,
    /// Lower bound over all layouts of the order.
    lower_bound: Bytes,
    witness: String,
    load_step: Option<Step>,
    arithmetic: Arithmetic,
    /// Lower bound on the live bytes of all orders, and therefore on the arena.
    joint_bound: Bytes,
    joint_witness: String,
    joint_arithmetic: Arithmetic,
    claim: Claim,
    order_claim: Claim,
    joint_claim: Claim,
    seconds: f64,
}

impl<'a> RegionRow<'a> {
    fn of(graph: &'a Graph, one: &PlannedRegion) -> Self {
        let (ordered, layout, joint) = (&one.ordered, &one.layout, &one.joint_bound);
        let bound = &layout.lower_bound;
        Self {
            region: ordered.region,
            name: &graph.region(ordered.region).name,
            operators: ordered.storages.problem.len(),
            buffers: one.instance.len(),
            naive: one.instance.total_size(),
            file_peak: ordered.file_peak,
            load: one.load(),
            arena: one.arena(),
            lower_bound: bound.value,
            witness: one.layout_reason(graph),
            load_step: one.load_step(),
            arithmetic: Arithmetic::of(&bound.witness),
            joint_bound: joint.value,
            joint_witness: reason(&ordered.storages.problem, joint),
            joint_arithmetic: Arithmetic::of(&joint.witness),
            claim: layout.claim,
            order_claim: ordered.outcome.claim,
            joint_claim: Claim::of_solution(one.is_optimal_over_orders()),
            seconds: one.seconds(),
        }
    }
}

impl Printed for PlanReport<'_> {
    fn print(&self, text: &mut Text) {
        let (basis, body) = (&self.tail.basis, &self.regions[0]);
        text.push(&basis.text());
        let operators = human::count(body.operators, "operator");
        let buffers = human::count(body.buffers, "buffer");
        text.line("graph", format_args!("{}: {operators}, {buffers}", self.graph));
        let (load, claim) = (sized(self.load, " live bytes"), basis.claim(body.order_claim));
        text.line("order", format_args!("{}: {load}, {claim}", self.order));
        let why = format!("{}{}", body.joint_witness, body.joint_arithmetic.remark());
        let least = noted(&bytes(self.joint_bound), &why);
        text.line("", format_args!("no order needs less than {least}"));
        text.line("", format_args!("file order: {}", sized(self.file_peak, " live bytes")));
        let (arena, claim) = (bytes(self.arena), basis.claim(self.claim));
        text.line("arena", format_args!("{arena} by {}, {claim} for this order", self.algorithm));
        let why = format!("{}{}", body.witness, body.arithmetic.remark());
        let least = noted(&bytes(self.lower_bound), &why);
        text.line("", format_args!("no layout needs less than {least}"));
        let (claim, gap) = (basis.claim(self.joint_claim), output::gap(self.arena, self.joint_bound));
        text.line("joint", format_args!("{claim}: {gap} above the bound over all orders"));
        text.unshared(self.naive, self.arena, self.weights);
        text.time(self.seconds);
        self.tail.print(text);
    }
}
