//! What `overlap` prints of the schedules of one program.

use super::args::OverlapArgs;
use super::speculation::SpeculationReport;
use crate::failure::Failure;
use crate::output;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::graph::Graph;
use plimsoll::model::overlap::{Machine, OverlapProgram, Time, TimelineProblem, write_program};
use plimsoll::overlap::{ProgramBounds, ScheduleError, Scheduled};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::timeline::Playback;
use plimsoll_lab::report::{Basis, percent};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;

/// One schedule of the whole program.
pub struct Row {
    pub name: &'static str,
    pub result: Result<Scheduled, ScheduleError>,
    pub seconds: f64,
}

/// The fastest; of equals the first.
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
) -> Result<(), Failure> {
    let (machine, graph) = (machine.name.as_str(), graph.name());
    let playback = Playback { graph, machine, schedule: name, program, scheduled };
    if let Some(path) = &args.trace {
        output::write_file(path, |file| playback.write_trace(file))?;
    }
    if let Some(path) = &args.gantt {
        output::write_file(path, |file| playback.write_gantt(file))?;
    }
    if let Some(path) = &args.instructions {
        output::write_file(path, |file| write_program(program, &scheduled.timelines, file))?;
    }
    Ok(())
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    graph: String,
    machine: String,
    capacity: u64,
    channels: u32,
    operators: usize,
    /// Operators and slices of operators that are scheduled.
    steps: usize,
    segments: usize,
    weights: u64,
    activations: u64,
    /// Bytes of weights that stay on chip, rounded up, and blocks.
    resident: u64,
    resident_blocks: usize,
    preload_ps: u64,
    lower_bound_ps: u64,
    lower_bound_seconds: f64,
    arithmetic: Arithmetic,
    /// These three from when resident weights are there.
    compute_bound_ps: u64,
    transfer_bound_ps: u64,
    memory_bound_ps: u64,
    best: Option<&'static str>,
    schedules: Vec<ScheduleRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speculation: Option<SpeculationReport>,
    #[serde(flatten)]
    basis: Basis,
}

#[derive(Debug, Default, Serialize)]
struct ScheduleRow {
    schedule: &'static str,
    claim: &'static str,
    makespan_ps: Option<u64>,
    makespan_seconds: Option<f64>,
    /// Above the bound, in percent of it.
    gap_percent: Option<f64>,
    /// Below `synchronous`, in percent of it.
    gain_percent: Option<f64>,
    /// Share of the makespan in which nothing computes, percent.
    waiting_percent: Option<f64>,
    peak: Option<u64>,
    /// Wall-clock time of the schedule itself.
    seconds: f64,
    /// Why there is no timeline.
    reason: Option<String>,
}

impl ScheduleRow {
    fn new(row: &Row, bound: Time, reference: Option<Time>) -> Self {
        let (name, seconds) = (row.name, row.seconds);
        match &row.result {
            Err(error) => {
                let claim =
                    if matches!(error, ScheduleError::Infeasible { .. }) { "infeasible" } else { "unknown" };
                let reason = Some(error.to_string());
                Self { schedule: name, claim, seconds, reason, ..Self::default() }
            }
            Ok(one) => Self {
                schedule: name,
                claim: if one.makespan == bound { "optimal" } else { "feasible" },
                makespan_ps: Some(one.makespan.get()),
                makespan_seconds: Some(one.makespan.seconds()),
                gap_percent: share(one.makespan.saturating_sub(bound), bound),
                gain_percent: reference.and_then(|reference| gain(reference, one.makespan)),
                waiting_percent: share(one.makespan.saturating_sub(one.computing), one.makespan),
                peak: Some(one.peak.get()),
                seconds,
                reason: None,
            },
        }
    }
}

/// One time in percent of another; none of zero.
pub(super) fn share(part: Time, whole: Time) -> Option<f64> {
    plimsoll_lab::report::share(part.get() as f64, whole.get() as f64)
}

fn gain(reference: Time, time: Time) -> Option<f64> {
    let (reference, time) = (reference.get() as f64, time.get() as f64);
    plimsoll_lab::report::share(reference - time, reference)
}

impl Report {
    pub(super) fn new(
        graph: &Graph,
        machine: &Machine,
        program: &OverlapProgram,
        limits: ProgramBounds,
        rows: &[Row],
        speculation: Option<SpeculationReport>,
        basis: Basis,
    ) -> Self {
        let problems = || program.segments().iter().map(|segment| &segment.problem);
        // A schedule may have proved more than the bounds that are always there.
        let proved = rows.iter().filter_map(|row| row.result.as_ref().ok());
        let proved = proved.map(|one| (one.lower_bound, one.arithmetic));
        let preload = program.residency().preload;
        let known = limits.compute.max(limits.transfers).max(limits.memory);
        let known = (known.checked_add(preload).unwrap_or(Time::MAX), Arithmetic::Exact);
        let arithmetic = Arithmetic::of_best(proved.clone().chain([known]));
        let bound = proved.map(|one| one.0).max().unwrap_or(known.0);
        let reference = rows.iter().find(|row| row.name == "synchronous");
        let reference = reference.and_then(|row| Some(row.result.as_ref().ok()?.makespan));
        let weights = problems().flat_map(TimelineProblem::operators).map(|one| one.weights.get());
        Self {
            graph: graph.name().to_owned(),
            machine: machine.name.clone(),
            capacity: machine.capacity.get(),
            channels: machine.channels,
            operators: graph.operators().len(),
            steps: problems().map(TimelineProblem::len).sum(),
            segments: program.segments().len(),
            weights: weights.sum(),
            activations: problems().map(|problem| problem.activations().get()).max().unwrap_or(0),
            resident: program.residency().bytes.get(),
            resident_blocks: program.residency().blocks.len(),
            preload_ps: preload.get(),
            lower_bound_ps: bound.get(),
            lower_bound_seconds: bound.seconds(),
            arithmetic,
            compute_bound_ps: limits.compute.get(),
            transfer_bound_ps: limits.transfers.get(),
            memory_bound_ps: limits.memory.get(),
            best: fastest(rows).map(|(name, _)| name),
            schedules: rows.iter().map(|row| ScheduleRow::new(row, bound, reference)).collect(),
            speculation,
            basis,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.basis.text();
        let time = |picoseconds| Time::new(picoseconds).to_string();
        let (steps, segments) = (self.steps, self.segments);
        let _ = writeln!(
            text,
            "graph        {}: {} operators, {steps} steps in {segments} segments",
            self.graph, self.operators
        );
        let _ = writeln!(
            text,
            "machine      {}: {} bytes on chip, DMA channels {}",
            self.machine, self.capacity, self.channels
        );
        let _ = writeln!(
            text,
            "memory       {} bytes of activations at most, {} of weights to fetch{}",
            self.activations,
            self.weights,
            if self.segments > 1 { ", each segment once" } else { "" }
        );
        if self.resident_blocks > 0 {
            let (blocks, bytes) = (self.resident_blocks, self.resident);
            let _ = write!(text, "resident     {blocks} blocks of weights, {bytes} bytes");
            if self.preload_ps > 0 {
                let _ = write!(text, ", fetched before in {}", time(self.preload_ps));
            }
            text.push('\n');
        }
        let before = match self.preload_ps {
            0 => String::new(),
            preload => format!("{} for what is resident, then ", time(preload)),
        };
        let _ = writeln!(
            text,
            "lower bound  {}{} ({before}compute {}, transfers {}, memory {})",
            time(self.lower_bound_ps),
            self.arithmetic.remark(),
            time(self.compute_bound_ps),
            time(self.transfer_bound_ps),
            time(self.memory_bound_ps),
        );
        text.push('\n');
        text.push_str(&self.table());
        let mut told = Vec::new();
        for row in &self.schedules {
            // What no schedule can do is the same for all.
            if let Some(reason) = row.reason.as_deref().filter(|reason| !told.contains(reason)) {
                told.push(reason);
                let who = if row.claim == "infeasible" { "infeasible" } else { row.schedule };
                let _ = writeln!(text, "\n{who}: {reason}");
            }
        }
        if let Some(speculation) = &self.speculation {
            text.push_str(&speculation.text());
        }
        text
    }

    /// One row per schedule, with what they share.
    pub(super) fn write_rows(&self, file: &mut dyn io::Write) -> io::Result<()> {
        let rows: Vec<Line> = self.schedules.iter().map(|row| Line::new(self, row)).collect();
        output::csv(file, &rows)
    }

    fn table(&self) -> String {
        let mut table = Table::new([
            ("schedule", Align::Left),
            ("makespan", Align::Right),
            ("gap %", Align::Right),
            ("gain %", Align::Right),
            ("waiting %", Align::Right),
            ("on chip", Align::Right),
            ("claim", Align::Left),
        ]);
        let digits = |number: Option<f64>| number.map_or("-".to_owned(), percent);
        for row in &self.schedules {
            table.row([
                row.schedule.to_owned(),
                row.makespan_ps.map_or("-".to_owned(), |time| Time::new(time).to_string()),
                digits(row.gap_percent),
                digits(row.gain_percent),
                digits(row.waiting_percent),
                row.peak.map_or("-".to_owned(), |peak| peak.to_string()),
                self.arithmetic.mark(row.claim),
            ]);
        }
        table.text()
    }
}

/// A schedule in a file of rows.
#[derive(Serialize)]
struct Line<'a> {
    graph: &'a str,
    machine: &'a str,
    capacity: u64,
    steps: usize,
    segments: usize,
    weights: u64,
    activations: u64,
    resident: u64,
    lower_bound_ps: u64,
    schedule: &'static str,
    claim: &'static str,
    makespan_ps: Option<u64>,
    gap_percent: Option<String>,
    gain_percent: Option<String>,
    waiting_percent: Option<String>,
    peak: Option<u64>,
    seconds: String,
    reason: Option<&'a str>,
    arithmetic: Arithmetic,
}

impl<'a> Line<'a> {
    fn new(all: &'a Report, row: &'a ScheduleRow) -> Self {
        Self {
            graph: &all.graph,
            machine: &all.machine,
            capacity: all.capacity,
            steps: all.steps,
            segments: all.segments,
            weights: all.weights,
            activations: all.activations,
            resident: all.resident,
            lower_bound_ps: all.lower_bound_ps,
            schedule: row.schedule,
            claim: row.claim,
            makespan_ps: row.makespan_ps,
            gap_percent: output::four_digits(row.gap_percent),
            gain_percent: output::four_digits(row.gain_percent),
            waiting_percent: output::four_digits(row.waiting_percent),
            peak: row.peak,
            seconds: format!("{:.6}", row.seconds),
            reason: row.reason.as_deref(),
            arithmetic: all.arithmetic,
        }
    }
}
