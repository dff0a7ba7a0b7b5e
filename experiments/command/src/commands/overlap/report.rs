//! The report of `overlap` on the schedules of one program.

use super::args::OverlapArgs;
use super::programs::Programs;
use super::speculation::Speculated;
use crate::input::quoted;
use crate::output;
use crate::report::{Report, bytes};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::graph::Graph;
use plimsoll::model::timelines::{Machine, OverlapProgram, Time, TimelineProblem, write_program};
use plimsoll::model::{Bytes, Claim};
use plimsoll::timelines::{ProgramBounds, ScheduleError, Scheduled};
use plimsoll_lab::report::timeline::Playback;
use plimsoll_lab::report::{Basis, percent};
use serde_json::{Value, json};
use std::path::Path;

/// Columns of --output.
const COLUMNS: &str = "graph, machine, capacity, steps, segments, weights, activations, resident, lower_bound_ps, \
    schedule, claim, makespan_ps, gap_percent, gain_percent, stall_ps, waiting_percent, peak, seconds, reason, \
    arithmetic";

/// One schedule of the whole program.
pub struct Row {
    pub name: &'static str,
    pub result: Result<Scheduled, ScheduleError>,
    pub seconds: f64,
}

/// Returns the first of the fastest schedules.
pub fn fastest(rows: &[Row]) -> Option<(&'static str, &Scheduled)> {
    let found = rows.iter().filter_map(|row| Some((row.name, row.result.as_ref().ok()?)));
    found.min_by_key(|(_, scheduled)| scheduled.makespan)
}

pub fn store(
    args: &OverlapArgs,
    graph: &Graph,
    machine: &Machine,
    program: &OverlapProgram,
    (name, scheduled): (&str, &Scheduled),
) {
    let (machine, graph) = (machine.name.as_str(), graph.name());
    let playback = Playback { graph, machine, schedule: name, program, scheduled };
    if let Some(path) = &args.trace {
        output::late(output::write_file(path, |file| playback.write_trace(file)));
    }
    if let Some(path) = &args.gantt {
        output::late(output::write_picture(path, |file| playback.write_gantt(file)));
    }
    if let Some(path) = &args.instructions {
        output::late(output::write_file(path, |file| write_program(program, &scheduled.timelines, file)));
    }
}

/// The input of a report.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub build: &'a Programs<'a>,
    /// The algorithm that ordered the operators.
    pub order: &'static str,
    pub basis: &'a Basis,
}

/// Returns the report on the schedules of one program, and writes their rows.
pub(super) fn report(
    Given { build, order, basis }: Given<'_>,
    program: &OverlapProgram,
    limits: ProgramBounds,
    rows: &[Row],
    speculated: Option<&Speculated>,
) -> Report {
    let problems = || program.segments().iter().map(|segment| &segment.problem);
    let (machine, residency) = (build.machine, program.residency());
    // The algorithm of a schedule may prove a higher bound than the general bounds.
    let proved = rows.iter().filter_map(|row| row.result.as_ref().ok());
    let proved = proved.map(|one| (one.lower_bound, one.arithmetic));
    let known = limits.compute.max(limits.transfers).max(limits.memory);
    let known = known.checked_add(residency.preload).unwrap_or(Time::MAX);
    let bound = proved.clone().map(|one| one.0).max().unwrap_or(known);
    let arithmetic = Arithmetic::of_best(proved.chain([(known, Arithmetic::Exact)]));
    let reference = rows.iter().find(|row| row.name == "synchronous");
    let reference = reference.and_then(|row| Some(row.result.as_ref().ok()?.makespan));
    let schedules: Vec<Value> = rows.iter().map(|one| row(one, bound, reference)).collect();
    let weights = problems().flat_map(TimelineProblem::operators).map(|one| one.weights.get());
    let mut object = json!({
        "graph": build.graph.name(),
        "machine": machine.name,
        "capacity": machine.capacity,
        "channels": machine.channels,
        "operators": build.graph.operators().len(),
        "order": order,
        // Operators whose compute time is estimated from bytes, because the graph lacks their cost.
        "estimated": machine.estimated(build.graph),
        // Scheduled operators and slices of operators.
        "steps": problems().map(TimelineProblem::len).sum::<usize>(),
        "segments": program.segments().len(),
        "weights": weights.sum::<u64>(),
        "activations": problems().map(TimelineProblem::activations).max().unwrap_or_default(),
        // Bytes of on-chip memory reserved for resident weights.
        "resident": residency.bytes,
        "resident_blocks": residency.blocks.len(),
        "preload_ps": residency.preload,
        "lower_bound_ps": bound,
        "lower_bound_seconds": bound.seconds(),
        "arithmetic": arithmetic,
        // These three bounds exclude the time to preload resident weights.
        "compute_bound_ps": limits.compute,
        "transfer_bound_ps": limits.transfers,
        "memory_bound_ps": limits.memory,
        "best": fastest(rows).map(|(name, _)| name),
        "schedules": schedules,
    });
    if let Some(speculated) = speculated {
        object["speculation"] = json!(speculated);
    }
    let mut report = Report::of_graph(object, basis);
    head(&mut report, program, arithmetic);
    if let Some((name, best)) = fastest(rows) {
        let (stall, makespan) = (stall(best), best.makespan);
        let percent =
            share(stall, makespan).map_or(String::new(), |share| format!(" ({} %)", percent(share)));
        let waits = format!("nothing computes for {stall} of {makespan}{percent} with {name}");
        report.line("stall", waits);
    }
    let columns = "schedule, makespan = makespan_ps, stall = stall_ps, gap % = gap_percent, \
                   gain % = gain_percent, on-chip = peak, claim";
    if rows.iter().any(|row| row.result.is_ok()) {
        report.table(&schedules, columns);
    }
    reasons(&mut report, &schedules);
    if rows.iter().any(|row| matches!(row.result, Err(ScheduleError::Infeasible { .. }))) {
        report.push(&format!("\nhint: {}\n", hint(problems(), machine, &build.args.model.model)));
    }
    if let Some(speculated) = speculated {
        speculated.lines(&mut report);
    }
    if let Some(path) = &build.args.output {
        output::late(report.write_rows(path, &schedules, COLUMNS));
    }
    report
}

/// Returns the time during which nothing is computed because the processor waits for transfers or copies
/// weights.
fn stall(scheduled: &Scheduled) -> Time {
    scheduled.makespan.saturating_sub(scheduled.computing)
}

/// Returns a hint on how to make oversized operators fit into on-chip memory: by slicing weights or, if
/// activations alone are too large, by other means.
pub(super) fn hint<'p>(
    problems: impl Iterator<Item = &'p TimelineProblem>,
    machine: &Machine,
    model: &Path,
) -> String {
    let alignment = machine.alignment.get();
    let (mut left, mut most) = (u64::MAX, Bytes::ZERO);
    for problem in problems {
        // Weights lie at aligned addresses above the activations.
        let top = problem.capacity().get() / alignment * alignment;
        left = left.min(top.saturating_sub(problem.activations().get()) / alignment * alignment);
        most = most.max(problem.activations());
    }
    if left > 0 {
        return format!("--slice {left} splits weights so that every operator fits");
    }
    format!(
        "activations alone occupy up to {}; --order exact may lower this, and `plimsoll plan {} --capacity {}` \
         lists what else would help",
        bytes(most),
        quoted(model),
        machine.capacity
    )
}

fn head(report: &mut Report, program: &OverlapProgram, arithmetic: Arithmetic) {
    let (residency, segments) = (program.residency(), program.segments().len());
    report.show("graph", "{graph}: {operators operator}, {steps step} in {segments segment}");
    report.show("machine", "{machine}: {capacity bytes} of on-chip memory, DMA channels: {channels}");
    report.show(
        "order",
        match report.count("estimated") {
            0 => "{order}",
            _ => "{order}; the compute times of {estimated operator} without `cost` are estimated from bytes",
        },
    );
    let once = if segments > 1 { " (each segment once)" } else { "" };
    let memory = "peak activations {activations bytes}, weights to fetch {weights bytes}";
    report.show("memory", &format!("{memory}{once}"));
    let [mut fetched, mut before] = [""; 2];
    if residency.preload > Time::ZERO {
        (fetched, before) =
            (", preloaded in {preload_ps}", "{preload_ps} to preload resident weights, then ");
    }
    if !residency.blocks.is_empty() {
        let resident = "{resident_blocks block} of weights, {resident bytes}";
        report.show("resident", &format!("{resident}{fetched}"));
    }
    let parts = "compute {compute_bound_ps}, transfers {transfer_bound_ps}, memory {memory_bound_ps}";
    let remark = arithmetic.remark();
    report.show("lower bound", &format!("{{lower_bound_ps}}{remark} ({before}{parts})"));
}

/// Adds the distinct reasons why schedules have no timeline. All schedules of an infeasible program share one
/// reason.
fn reasons(report: &mut Report, schedules: &[Value]) {
    let mut printed = Vec::new();
    for row in schedules {
        let [schedule, claim] = ["schedule", "claim"].map(|key| row[key].as_str().unwrap_or_default());
        if let Some(reason) = row["reason"].as_str().filter(|reason| !printed.contains(reason)) {
            printed.push(reason);
            let name = if claim == "infeasible" { claim } else { schedule };
            report.push(&format!("\n{name}: {reason}\n"));
        }
    }
}

fn row(row: &Row, bound: Time, reference: Option<Time>) -> Value {
    let found = row.result.as_ref().ok();
    let makespan = found.map(|one| one.makespan);
    let gain = |(reference, makespan): (Time, Time)| {
        let reference = reference.get() as f64;
        plimsoll_lab::report::share(reference - makespan.get() as f64, reference)
    };
    let claim = match &row.result {
        Ok(one) => Claim::of_solution(one.makespan == bound),
        Err(error) => Claim::without_solution(matches!(error, ScheduleError::Infeasible { .. })),
    };
    json!({
        "schedule": row.name,
        "claim": claim,
        "makespan_ps": makespan,
        "makespan_seconds": makespan.map(Time::seconds),
        "gap_percent": makespan.and_then(|makespan| share(makespan.saturating_sub(bound), bound)),
        // Relative to `synchronous`.
        "gain_percent": reference.zip(makespan).and_then(gain),
        "stall_ps": found.map(stall),
        // The share of the stall in the makespan.
        "waiting_percent": found.and_then(|one| share(stall(one), one.makespan)),
        "peak": found.map(|one| one.peak),
        "seconds": row.seconds,
        "reason": row.result.as_ref().err().map(ToString::to_string),
    })
}

/// Returns `part` as a percentage of `whole`, or `None` if `whole` is zero.
pub(super) fn share(part: Time, whole: Time) -> Option<f64> {
    plimsoll_lab::report::share(part.get() as f64, whole.get() as f64)
}
