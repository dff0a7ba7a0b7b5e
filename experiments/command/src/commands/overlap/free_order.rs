//! `plimsoll overlap --free-order`: the least makespan over all orders of the operators, beside that of the file's order.

use super::args::{ActivationsArg, OverlapArgs};
use super::programs::{limits_of_schedules, unused_times};
use super::report::share;
use crate::commands::choose;
use crate::failure::{Failure, code};
use crate::output;
use plimsoll::graphs::GraphRun;
use plimsoll::model::graph::{Graph, Storages};
use plimsoll::model::order::check_order;
use plimsoll::model::overlap::{Dma, Machine, Time, TimedOperator, Timelines, check_timeline};
use plimsoll::model::{Bytes, Claim, Outcome, Silent};
use plimsoll::overlap::problem_fits;
use plimsoll::run::run;
use plimsoll::solvers::overlap::{FreeOrder, FreeOrderOutcome, exact_orders};
use plimsoll_lab::report::{Basis, percent};
use serde::Serialize;
use std::fmt::Write as _;

pub fn main(args: &OverlapArgs, machine: &Machine) -> Result<u8, Failure> {
    if args.activations == ActivationsArg::Placed {
        return Err(Failure::input("--free-order: a layout needs an order; activations are alive or peak"));
    }
    let registry = plimsoll::registry();
    let order = choose::named(&registry.orders, "as-in-file", "order")?;
    let mut import = args.model.read()?;
    import.assumed.extend(unused_times(args, machine, &import.graph)?);
    let graph = &import.graph;
    if graph.regions().len() > 1 {
        return Err(Failure::input(
            "--free-order: the graph has regions, and orders only one straight piece",
        ));
    }
    let limits = limits_of_schedules(args, args.effort.limits());
    let ordering = GraphRun { liveness: args.liveness.options(), order, setup: args.effort.setup(), limits };
    let mut regions = ordering.order(graph)?;
    let Some(region) = regions.pop() else { return Err(Failure::internal("a graph without a body")) };
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
    let attempt = run(exact, &problem, args.effort.setup(), limits.share(2), &mut Silent);
    let fixed = attempt.result.map_err(Failure::internal)?;
    let free = exact_orders(&input, &region.order, &mut limits.budget()).map_err(Failure::internal)?;
    audit(&input, &free)?;
    let mut report = Report::new(graph, machine, &input, &fixed, &free, Basis::of(&import));
    if let Err(error) = problem_fits(&problem)
        && free.claim == Claim::Infeasible
    {
        report.reason = Some(format!("in the order of the file, {error}"));
    }
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(code(free.claim))
}

/// Times and weights, by operators of the order problem.
fn operators(graph: &Graph, storages: &Storages, machine: &Machine) -> Result<Vec<TimedOperator>, Failure> {
    let timed = storages.problem.ids().zip(&storages.operators).map(|(id, &operator)| {
        let name = storages.problem.operator(id).to_owned();
        let compute = machine.compute(graph, operator);
        let compute = compute
            .ok_or_else(|| Failure::input(format!("operator '{name}' computes longer than time can say")))?;
        let weights = graph.weight_bytes(operator);
        Ok(TimedOperator { name, compute, weights, activations: Bytes::ZERO })
    });
    timed.collect()
}

/// Refuses an order or timeline with anything wrong.
fn audit(input: &FreeOrder<'_>, found: &FreeOrderOutcome) -> Result<(), Failure> {
    let Some((order, problem, timeline)) = &found.best else { return Ok(()) };
    if let Some(fault) = check_order(input.orders, order).first() {
        return Err(Failure::internal(format!("the checker refused the order: {fault}")));
    }
    let same = input.timeline(order).is_ok_and(|own| own == *problem);
    let fault = check_timeline(problem, timeline).first().map(ToString::to_string);
    let fault = fault.or_else(|| (!same).then(|| "it is not that of the order".to_owned()));
    let low = timeline.makespan() < found.lower_bound.value;
    let fault = fault.or_else(|| low.then(|| "it ends before its own bound".to_owned()));
    fault.map_or(Ok(()), |fault| Err(Failure::internal(format!("the checker refused the timeline: {fault}"))))
}

#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    machine: String,
    operators: usize,
    /// Over all orders.
    claim: &'static str,
    stop: &'static str,
    lower_bound_ps: u64,
    makespan_ps: Option<u64>,
    /// Above the bound, in percent of it.
    gap_percent: Option<f64>,
    /// In the order of the file.
    fixed_claim: &'static str,
    fixed_makespan_ps: Option<u64>,
    /// Below that of the file's order, in percent of it.
    gain_percent: Option<f64>,
    nodes: u64,
    /// Names, first to last.
    order: Vec<String>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    basis: Basis,
}

impl Report {
    fn new(
        graph: &Graph,
        machine: &Machine,
        input: &FreeOrder<'_>,
        fixed: &Outcome<Timelines>,
        free: &FreeOrderOutcome,
        basis: Basis,
    ) -> Self {
        let bound = free.lower_bound.value;
        let (makespan, before) = (free.makespan(), fixed.value);
        let order = free.best.iter().flat_map(|(order, ..)| order.operators());
        Self {
            graph: graph.name().to_owned(),
            machine: machine.name.clone(),
            operators: input.operators.len(),
            claim: free.claim.as_str(),
            stop: free.stop.as_str(),
            lower_bound_ps: bound.get(),
            makespan_ps: makespan.map(Time::get),
            gap_percent: makespan.and_then(|makespan| share(makespan.saturating_sub(bound), bound)),
            fixed_claim: fixed.claim.as_str(),
            fixed_makespan_ps: before.map(Time::get),
            gain_percent: makespan
                .zip(before)
                .and_then(|(makespan, before)| share(before.saturating_sub(makespan), before)),
            nodes: free.stats.nodes,
            order: order.map(|id| input.operators[id.index()].name.clone()).collect(),
            reason: None,
            basis,
        }
    }

    fn text(&self) -> String {
        let mut text = self.basis.text();
        let time = |time: Option<u64>| time.map_or("-".to_owned(), |time| Time::new(time).to_string());
        let _ = writeln!(text, "graph        {}: {} operators", self.graph, self.operators);
        let _ = writeln!(text, "machine      {}", self.machine);
        let _ = writeln!(text, "lower bound  {} over all orders", time(Some(self.lower_bound_ps)));
        let _ = writeln!(
            text,
            "as in file   {} ({})",
            time(self.fixed_makespan_ps),
            self.basis.claim(self.fixed_claim)
        );
        let gap = self.gap_percent.filter(|gap| *gap > 0.0);
        let gap = gap.map_or(String::new(), |gap| format!(", {} % above the bound", percent(gap)));
        let gain = self.gain_percent.filter(|gain| *gain > 0.0);
        let gain = gain.map_or(String::new(), |gain| format!(", {} % less", percent(gain)));
        let _ = writeln!(
            text,
            "any order    {} ({}{gap}{gain})",
            time(self.makespan_ps),
            self.basis.claim(self.claim)
        );
        if let Some(reason) = &self.reason {
            let _ = writeln!(text, "infeasible   {reason}");
        }
        if !self.order.is_empty() {
            let _ = writeln!(text, "order        {}", self.order.join(", "));
        }
        text
    }
}
