//! `plimsoll overlap --free-order`: the minimum makespan over all operator orders, compared with that of the
//! file order.

use super::args::{ActivationsArg, OverlapArgs};
use super::programs::unused_times;
use super::report::share;
use crate::commands::choose;
use crate::failure::{Failure, code};
use crate::report::{self, Printed, Text};
use plimsoll::graphs::GraphRun;
use plimsoll::model::graph::{Graph, Storages};
use plimsoll::model::orders::check_order;
use plimsoll::model::timelines::{Dma, Machine, Time, TimedOperator, check_timeline};
use plimsoll::model::{Bytes, Claim, Silent, Stop};
use plimsoll::run::run;
use plimsoll::solvers::timelines::{FreeOrder, FreeOrderOutcome, exact_orders};
use plimsoll::timelines::problem_fits;
use plimsoll_lab::report::{Basis, human, percent};
use serde::Serialize;

pub fn main(args: &OverlapArgs, machine: &Machine) -> Result<u8, Failure> {
    if args.activations == ActivationsArg::Placed {
        return Err(Failure::input(
            "--free-order: --activations placed needs a fixed order; use --activations live or peak",
        ));
    }
    let registry = plimsoll::registry();
    let order = choose::named(&registry.orders, "as-in-file", "order")?;
    let mut import = args.model.read()?;
    import.assumed.extend(unused_times(args, machine, &import.graph)?);
    let graph = &import.graph;
    if graph.regions().len() > 1 {
        return Err(Failure::input(
            "--free-order: the graph has regions, but only graphs without regions are supported",
        ));
    }
    let limits = args.effort.limits();
    let ordering = GraphRun { liveness: args.liveness.options(), order, setup: args.effort.setup(), limits };
    let mut regions = ordering.order(graph)?;
    let Some(region) = regions.pop() else { return Err(Failure::internal("the graph has no body")) };
    let input = FreeOrder {
        orders: &region.storages.problem,
        operators: operators(graph, &region.storages, machine)?,
        dma: Dma { channels: machine.channels, startup: machine.startup, bandwidth: machine.bandwidth },
        copy: machine.copy,
        capacity: machine.capacity,
        alignment: machine.alignment,
        slice: machine.slice,
        peak: args.activations == ActivationsArg::Peak,
    };
    let problem = input.timeline(&region.order).map_err(Failure::input)?;
    let exact = choose::named(&registry.timelines, "exact", "schedule")?;
    let fixed = run(exact, &problem, args.effort.setup(), limits.share(2), &mut Silent);
    let fixed = fixed.map_err(Failure::internal)?;
    let free = exact_orders(&input, &region.order, &mut limits.budget()).map_err(Failure::internal)?;
    audit(&input, &free)?;
    let misfit = problem_fits(&problem).err().filter(|_| free.claim == Claim::Infeasible);
    let (bound, makespan, before) = (free.lower_bound.value, free.makespan(), fixed.value);
    let gain = |(makespan, before): (Time, Time)| share(before.saturating_sub(makespan), before);
    let order = free.best.iter().flat_map(|(order, ..)| order.operators());
    let report = FreeOrderReport {
        graph: graph.name(),
        machine: &machine.name,
        operators: input.operators.len(),
        claim: free.claim,
        stop: free.stop,
        lower_bound_ps: bound,
        makespan_ps: makespan,
        gap_percent: makespan.and_then(|makespan| share(makespan.saturating_sub(bound), bound)),
        fixed_claim: fixed.claim,
        fixed_makespan_ps: before,
        gain_percent: makespan.zip(before).and_then(gain),
        nodes: free.stats.nodes,
        order: order.map(|id| input.operators[id.index()].name.as_str()).collect(),
        reason: misfit.map(|error| format!("in the file order, {error}")),
        basis: Basis::of(&import),
    };
    report::print(&report, args.json)?;
    Ok(code(free.claim))
}

/// Returns the compute times and the weights of the operators of the order problem.
fn operators(graph: &Graph, storages: &Storages, machine: &Machine) -> Result<Vec<TimedOperator>, Failure> {
    let timed = storages.problem.ids().zip(&storages.operators).map(|(id, &operator)| {
        let name = storages.problem.operator(id).to_owned();
        let compute = machine.compute(graph, operator);
        let compute = compute
            .ok_or_else(|| Failure::input(format!("operator '{name}': the compute time overflows")))?;
        let weights = graph.weight_bytes(operator);
        Ok(TimedOperator { name, compute, weights, activations: Bytes::ZERO })
    });
    timed.collect()
}

/// Checks the order and its timeline.
fn audit(input: &FreeOrder<'_>, found: &FreeOrderOutcome) -> Result<(), Failure> {
    let Some((order, problem, timeline)) = &found.best else { return Ok(()) };
    if let Some(fault) = check_order(input.orders, order).first() {
        return Err(Failure::internal(format!("the checker rejected the order: {fault}")));
    }
    let same = input.timeline(order).is_ok_and(|own| own == *problem);
    let fault = check_timeline(problem, timeline).first().map(ToString::to_string);
    let fault = fault.or_else(|| (!same).then(|| "it belongs to another order".to_owned()));
    let low = timeline.makespan() < found.lower_bound.value;
    let fault = fault.or_else(|| low.then(|| "its makespan is below its lower bound".to_owned()));
    fault
        .map_or(Ok(()), |fault| Err(Failure::internal(format!("the checker rejected the timeline: {fault}"))))
}

/// The report on the makespan over all operator orders.
#[derive(Serialize)]
struct FreeOrderReport<'a> {
    graph: &'a str,
    machine: &'a str,
    operators: usize,
    /// The claim over all orders.
    claim: Claim,
    stop: Stop,
    lower_bound_ps: Time,
    makespan_ps: Option<Time>,
    gap_percent: Option<f64>,
    /// The claim in the file order.
    fixed_claim: Claim,
    fixed_makespan_ps: Option<Time>,
    gain_percent: Option<f64>,
    nodes: u64,
    order: Vec<&'a str>,
    /// The reason why there is no timeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    basis: Basis,
}

impl Printed for FreeOrderReport<'_> {
    fn print(&self, text: &mut Text) {
        let basis = &self.basis;
        text.push(&basis.text());
        text.line("graph", format_args!("{}: {}", self.graph, human::count(self.operators, "operator")));
        text.line("machine", self.machine);
        text.line("lower bound", format_args!("{} over all orders", self.lower_bound_ps));
        let time = |time: Option<Time>| time.map_or("-".to_owned(), |time| time.to_string());
        let (makespan, claim) = (time(self.fixed_makespan_ps), basis.claim(self.fixed_claim));
        text.line("file order", format_args!("{makespan} ({claim})"));
        let [above, less] = [(self.gap_percent, " % above the bound"), (self.gain_percent, " % shorter")]
            .map(|(share, what)| {
                let share = share.filter(|share| *share > 0.0);
                share.map_or(String::new(), |share| format!(", {}{what}", percent(share)))
            });
        let (makespan, claim) = (time(self.makespan_ps), basis.claim(self.claim));
        text.line("any order", format_args!("{makespan} ({claim}{above}{less})"));
        if let Some(reason) = &self.reason {
            text.line("infeasible", reason);
        }
        if !self.order.is_empty() {
            text.line("order", self.order.join(", "));
        }
    }
}
