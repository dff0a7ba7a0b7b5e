//! The report of `overlap` on the schedules of one program.

use super::args::OverlapArgs;
use super::programs::Programs;
use super::speculation::Speculated;
use crate::failure::Failure;
use crate::input::quoted;
use crate::output::{self, field};
use crate::report::{Cell, Printed, Text, bytes, cells, sized};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::graph::Graph;
use plimsoll::model::timelines::{Machine, OverlapProgram, Time, TimelineProblem, write_program};
use plimsoll::model::{Bytes, Claim};
use plimsoll::timelines::{ProgramBounds, ScheduleError, Scheduled};
use plimsoll_lab::report::timeline::Playback;
use plimsoll_lab::report::{Basis, human, percent};
use serde::Serialize;
use std::path::Path;

/// Columns of --output.
const COLUMNS: &str = "graph,machine,capacity,steps,segments,weights,activations,resident,lower_bound_ps,\
    algorithm,claim,makespan_ps,gap_percent,gain_percent,stall_ps,waiting_percent,peak,seconds,reason,arithmetic";

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
pub(super) struct Given<'a> {
    pub build: &'a Programs<'a>,
    /// The algorithm that ordered the operators.
    pub order: &'static str,
    pub basis: Basis,
}

/// The report on the schedules of one program.
#[derive(Serialize)]
pub(super) struct OverlapReport<'a> {
    graph: &'a str,
    machine: &'a str,
    capacity: Bytes,
    channels: u32,
    operators: usize,
    order: &'static str,
    /// Operators whose compute time is estimated from bytes, because the graph lacks their cost.
    estimated: usize,
    /// Scheduled operators and slices of operators.
    steps: usize,
    segments: usize,
    weights: u64,
    activations: Bytes,
    /// Bytes of on-chip memory reserved for resident weights.
    resident: Bytes,
    resident_blocks: usize,
    preload_ps: Time,
    lower_bound_ps: Time,
    lower_bound_seconds: f64,
    arithmetic: Arithmetic,
    // These three bounds exclude the time to preload resident weights.
    compute_bound_ps: Time,
    transfer_bound_ps: Time,
    memory_bound_ps: Time,
    best: Option<&'static str>,
    schedules: Vec<ScheduleRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speculation: Option<Speculated>,
    #[serde(flatten)]
    basis: Basis,
    /// How the fastest schedule waits.
    #[serde(skip)]
    waits: Option<String>,
    /// How to make oversized operators fit, if the program is infeasible.
    #[serde(skip)]
    hint: Option<String>,
}

/// The report on one schedule.
#[derive(Serialize)]
struct ScheduleRow {
    algorithm: &'static str,
    claim: Claim,
    makespan_ps: Option<Time>,
    makespan_seconds: Option<f64>,
    gap_percent: Option<f64>,
    /// Relative to `synchronous`.
    gain_percent: Option<f64>,
    stall_ps: Option<Time>,
    /// The share of the stall in the makespan.
    waiting_percent: Option<f64>,
    peak: Option<Bytes>,
    seconds: f64,
    reason: Option<String>,
}

impl<'a> OverlapReport<'a> {
    pub(super) fn new(
        Given { build, order, basis }: Given<'a>,
        program: &OverlapProgram,
        limits: ProgramBounds,
        rows: &[Row],
        speculation: Option<Speculated>,
    ) -> Self {
        let problems = || program.segments().iter().map(|segment| &segment.problem);
        let (machine, residency) = (build.machine, program.residency());
        // The algorithm of a schedule may prove a higher bound than the general bounds.
        let proved = rows.iter().filter_map(|row| row.result.as_ref().ok());
        let proved = proved.map(|one| (one.lower_bound, one.arithmetic));
        let known = limits.compute.max(limits.transfers).max(limits.memory);
        let known = known.checked_add(residency.preload).unwrap_or(Time::MAX);
        let bound = proved.clone().map(|one| one.0).max().unwrap_or(known);
        let reference = rows.iter().find(|row| row.name == "synchronous");
        let reference = reference.and_then(|row| Some(row.result.as_ref().ok()?.makespan));
        let weights = problems().flat_map(TimelineProblem::operators).map(|one| one.weights.get());
        let waits = fastest(rows).map(|(name, best)| {
            let (stall, makespan) = (stall(best), best.makespan);
            let share =
                share(stall, makespan).map_or(String::new(), |share| format!(" ({} %)", percent(share)));
            format!("nothing computes for {stall} of {makespan}{share} with {name}")
        });
        let is_misfit = |row: &Row| matches!(row.result, Err(ScheduleError::Infeasible { .. }));
        let hint = rows.iter().any(is_misfit).then(|| hint(problems(), machine, &build.args.model.model));
        Self {
            graph: build.graph.name(),
            machine: &machine.name,
            capacity: machine.capacity,
            channels: machine.channels,
            operators: build.graph.operators().len(),
            order,
            estimated: machine.estimated(build.graph),
            steps: problems().map(TimelineProblem::len).sum(),
            segments: program.segments().len(),
            weights: weights.sum(),
            activations: problems().map(TimelineProblem::activations).max().unwrap_or_default(),
            resident: residency.bytes,
            resident_blocks: residency.blocks.len(),
            preload_ps: residency.preload,
            lower_bound_ps: bound,
            lower_bound_seconds: bound.seconds(),
            arithmetic: Arithmetic::of_best(proved.chain([(known, Arithmetic::Exact)])),
            compute_bound_ps: limits.compute,
            transfer_bound_ps: limits.transfers,
            memory_bound_ps: limits.memory,
            best: fastest(rows).map(|(name, _)| name),
            schedules: rows.iter().map(|one| row(one, bound, reference)).collect(),
            speculation,
            basis,
            waits,
            hint,
        }
    }

    /// Writes one row per schedule as CSV.
    pub(super) fn store(&self, path: &Path) -> Result<(), Failure> {
        output::write_rows(path, COLUMNS, &self.schedules, |row| {
            let time = |time: Option<Time>| field(time.map(Time::get));
            let share = |share: Option<f64>| field(share.map(|share| format!("{share:.4}")));
            [
                self.graph.to_owned(),
                self.machine.to_owned(),
                self.capacity.to_string(),
                self.steps.to_string(),
                self.segments.to_string(),
                self.weights.to_string(),
                self.activations.to_string(),
                self.resident.to_string(),
                self.lower_bound_ps.get().to_string(),
                row.algorithm.to_owned(),
                row.claim.to_string(),
                time(row.makespan_ps),
                share(row.gap_percent),
                share(row.gain_percent),
                time(row.stall_ps),
                share(row.waiting_percent),
                field(row.peak),
                format!("{:.6}", row.seconds),
                field(row.reason.as_ref()),
                self.arithmetic.as_str().to_owned(),
            ]
        })
    }

    fn head(&self, text: &mut Text) {
        let [operators, steps, segments] =
            [(self.operators, "operator"), (self.steps, "step"), (self.segments, "segment")]
                .map(|(number, noun)| human::count(number, noun));
        text.line("graph", format_args!("{}: {operators}, {steps} in {segments}", self.graph));
        let capacity = sized(self.capacity, " bytes");
        let channels = self.channels;
        text.line(
            "machine",
            format_args!("{}: {capacity} of on-chip memory, DMA channels: {channels}", self.machine),
        );
        let estimated = match self.estimated {
            0 => String::new(),
            some => {
                let operators = human::count(some, "operator");
                format!("; the compute times of {operators} without `cost` are estimated from bytes")
            }
        };
        text.line("order", format_args!("{}{estimated}", self.order));
        let once = if self.segments > 1 { " (each segment once)" } else { "" };
        let (activations, weights) =
            (sized(self.activations, " bytes"), human::sized(self.weights, " bytes"));
        text.line("memory", format_args!("peak activations {activations}, weights to fetch {weights}{once}"));
        let preload = self.preload_ps;
        let [fetched, before] = if preload > Time::ZERO {
            [format!(", preloaded in {preload}"), format!("{preload} to preload resident weights, then ")]
        } else {
            [String::new(), String::new()]
        };
        if self.resident_blocks > 0 {
            let (blocks, resident) =
                (human::count(self.resident_blocks, "block"), sized(self.resident, " bytes"));
            text.line("resident", format_args!("{blocks} of weights, {resident}{fetched}"));
        }
        let Self { lower_bound_ps, compute_bound_ps, transfer_bound_ps, memory_bound_ps, .. } = self;
        let parts = format_args!(
            "compute {compute_bound_ps}, transfers {transfer_bound_ps}, memory {memory_bound_ps}"
        );
        let remark = self.arithmetic.remark();
        text.line("lower bound", format_args!("{lower_bound_ps}{remark} ({before}{parts})"));
    }

    /// Adds the distinct reasons why schedules have no timeline. All schedules of an infeasible program share
    /// one reason.
    fn reasons(&self, text: &mut Text) {
        let mut printed = Vec::new();
        for ScheduleRow { algorithm, claim, reason, .. } in &self.schedules {
            if let Some(reason) = reason.as_deref().filter(|reason| !printed.contains(reason)) {
                printed.push(reason);
                let name = if *claim == Claim::Infeasible { claim.as_str() } else { algorithm };
                text.push(&format!("\n{name}: {reason}\n"));
            }
        }
    }
}

impl Printed for OverlapReport<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        self.head(text);
        if let Some(waits) = &self.waits {
            text.line("stall", waits);
            let row = |one: &ScheduleRow| {
                let (gap, gain) = (Cell::percent(one.gap_percent), Cell::percent(one.gain_percent));
                let claim = self.arithmetic.mark(one.claim);
                cells![one.algorithm, one.makespan_ps, one.stall_ps, gap, gain, one.peak, claim]
            };
            let columns = ["algorithm", "makespan", "stall", "gap %", "gain %", "on-chip", "claim"];
            text.table(&columns, self.schedules.iter().map(row));
        }
        self.reasons(text);
        if let Some(hint) = &self.hint {
            text.push(&format!("\nhint: {hint}\n"));
        }
        if let Some(speculated) = &self.speculation {
            speculated.print(text);
        }
    }
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

fn row(row: &Row, bound: Time, reference: Option<Time>) -> ScheduleRow {
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
    ScheduleRow {
        algorithm: row.name,
        claim,
        makespan_ps: makespan,
        makespan_seconds: makespan.map(Time::seconds),
        gap_percent: makespan.and_then(|makespan| share(makespan.saturating_sub(bound), bound)),
        gain_percent: reference.zip(makespan).and_then(gain),
        stall_ps: found.map(stall),
        waiting_percent: found.and_then(|one| share(stall(one), one.makespan)),
        peak: found.map(|one| one.peak),
        seconds: row.seconds,
        reason: row.result.as_ref().err().map(ToString::to_string),
    }
}

/// Returns `part` as a percentage of `whole`, or `None` if `whole` is zero.
pub(super) fn share(part: Time, whole: Time) -> Option<f64> {
    plimsoll_lab::report::share(part.get() as f64, whole.get() as f64)
}
