//! `plimsoll overlap --free-order`: the minimum makespan over all operator orders, compared with that of the
//! file order.

use super::args::{ActivationsArg, OverlapArgs};
use super::programs::unused_times;
use super::report::share;
use crate::commands::choose;
use crate::failure::{Failure, code};
use crate::report::Report;
use plimsoll::graphs::GraphRun;
use plimsoll::model::graph::{Graph, Storages};
use plimsoll::model::orders::check_order;
use plimsoll::model::timelines::{Dma, Machine, Time, TimedOperator, Timelines, check_timeline};
use plimsoll::model::{Bytes, Claim, Outcome, Silent};
use plimsoll::run::run;
use plimsoll::solvers::timelines::{FreeOrder, FreeOrderOutcome, exact_orders};
use plimsoll::timelines::problem_fits;
use plimsoll_lab::report::{Basis, percent};
use serde_json::json;

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
    let reason = misfit.map(|error| format!("in the file order, {error}"));
    report(graph, machine, &input, &fixed, &free, (reason, &Basis::of(&import))).print(args.json)?;
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

fn report(
    graph: &Graph,
    machine: &Machine,
    input: &FreeOrder<'_>,
    fixed: &Outcome<Timelines>,
    free: &FreeOrderOutcome,
    (reason, basis): (Option<String>, &Basis),
) -> Report {
    let bound = free.lower_bound.value;
    let (makespan, before) = (free.makespan(), fixed.value);
    let gap = makespan.and_then(|makespan| share(makespan.saturating_sub(bound), bound));
    let gain = |(makespan, before): (Time, Time)| share(before.saturating_sub(makespan), before);
    let gain = makespan.zip(before).and_then(gain);
    let order = free.best.iter().flat_map(|(order, ..)| order.operators());
    let order: Vec<&str> = order.map(|id| input.operators[id.index()].name.as_str()).collect();
    let mut object = json!({
        "graph": graph.name(),
        "machine": machine.name,
        "operators": input.operators.len(),
        // The claim over all orders.
        "claim": free.claim,
        "stop": free.stop,
        "lower_bound_ps": bound,
        "makespan_ps": makespan,
        "gap_percent": gap,
        // The claim in the file order.
        "fixed_claim": fixed.claim,
        "fixed_makespan_ps": before,
        "gain_percent": gain,
        "nodes": free.stats.nodes,
        "order": order,
    });
    if let Some(reason) = &reason {
        object["reason"] = json!(reason);
    }
    let mut report = Report::of_graph(object, basis);
    report.show("graph", "{graph}: {operators operator}");
    report.lines(&["machine"]);
    report.show("lower bound", "{lower_bound_ps} over all orders");
    let claim = basis.claim(fixed.claim);
    report.show("file order", &format!("{{fixed_makespan_ps}} ({claim})"));
    let [above, less] = [(gap, " % above the bound"), (gain, " % shorter")].map(|(share, what)| {
        share
            .filter(|share| *share > 0.0)
            .map_or(String::new(), |share| format!(", {}{what}", percent(share)))
    });
    let claim = basis.claim(free.claim);
    report.show("any order", &format!("{{makespan_ps}} ({claim}{above}{less})"));
    if let Some(reason) = reason {
        report.line("infeasible", reason);
    }
    if !order.is_empty() {
        report.line("order", order.join(", "));
    }
    report
}
