//! `overlap --front`: memory on chip against makespan.

use super::programs::{Programs, effort};
use super::report::{share, store};
use crate::commands::choose;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output;
use plimsoll::Registry;
use plimsoll::model::Entry;
use plimsoll::model::overlap::{Time, Timelines};
use plimsoll::overlap::{Candidate, Front, FrontPoint, ScheduleError, front};
use plimsoll_lab::report::chart::{Axis, Chart, Series};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{Basis, percent};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;

/// Orders tried where none is named.
const ORDERS: &str = "as-in-file,greedy,exact";

/// Looks for the front and prints it.
pub(super) fn main(
    build: &Programs<'_>,
    registry: &Registry,
    entries: &[&'static Entry<Timelines>],
    basis: Basis,
) -> Result<u8, Failure> {
    let (args, graph, machine) = (build.args, build.graph, build.machine);
    let mut candidates: Vec<Candidate> = Vec::new();
    let names: Vec<&str> = args.order.as_deref().unwrap_or(ORDERS).split(',').collect();
    for (at, name) in names.iter().enumerate() {
        let order = choose::named(&registry.orders, name.trim(), "order")?;
        // Orders share one half of the time, schedules have the rest.
        let program = build.program(order, build.limits.share(2).share(names.len() - at))?;
        // The same order found twice is looked at once.
        if !candidates.iter().any(|other| other.program == program) {
            candidates.push(Candidate { order: order.name, program });
        }
    }
    let mut report = FrontReport {
        graph: graph.name().to_owned(),
        machine: machine.name.clone(),
        capacity: machine.capacity.get(),
        basis,
        ..FrontReport::default()
    };
    let code = match front(machine, &candidates, entries, effort(args, build.limits)) {
        Ok(found) => {
            report.add(&found);
            if let Some(best) = found.fastest() {
                store(args, graph, machine, &best.program, (best.schedule, &best.scheduled))?;
            }
            if let Some(path) = &args.plot {
                let chart = chart(&report, &found);
                output::write_file(path, |file| chart.write(file))?;
            }
            if let Some(path) = &args.output {
                output::write_file(path, |file| write_points(&report, file))?;
            }
            if found.points.is_empty() { NOTHING_FOUND } else { ANSWERED }
        }
        Err(error @ ScheduleError::Infeasible { .. }) => {
            (report.claim, report.reason) = ("infeasible", Some(error.to_string()));
            REFUTED
        }
        Err(error @ ScheduleError::Refused { .. }) => return Err(Failure::internal(error.to_string())),
        Err(error) => return Err(Failure::input(error)),
    };
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(code)
}

#[derive(Debug, Default, Serialize)]
struct FrontReport {
    graph: String,
    machine: String,
    capacity: u64,
    /// Of the fastest point; `infeasible` and `unknown` where there is none.
    claim: &'static str,
    /// What nothing in all of the memory goes below, in any of the orders.
    lower_bound_ps: Option<u64>,
    /// How far the fastest point lies above that, in percent of it.
    gap_percent: Option<f64>,
    /// Why there is no point.
    reason: Option<String>,
    /// Schedules of the whole program that were made.
    tried: usize,
    points: Vec<PointRow>,
    #[serde(flatten)]
    basis: Basis,
}

#[derive(Debug, Serialize)]
struct PointRow {
    memory: u64,
    makespan_ps: u64,
    makespan_seconds: f64,
    bound_ps: u64,
    gap_percent: Option<f64>,
    order: &'static str,
    schedule: &'static str,
    buffers: Option<usize>,
    resident: u64,
    resident_blocks: usize,
    preload_ps: u64,
}

impl PointRow {
    fn new(point: &FrontPoint) -> Self {
        let (makespan, residency) = (point.makespan(), point.program.residency());
        Self {
            memory: point.memory.get(),
            makespan_ps: makespan.get(),
            makespan_seconds: makespan.seconds(),
            bound_ps: point.bound.get(),
            gap_percent: share(makespan.saturating_sub(point.bound), point.bound),
            order: point.order,
            schedule: point.schedule,
            buffers: point.buffers,
            resident: residency.bytes.get(),
            resident_blocks: residency.blocks.len(),
            preload_ps: residency.preload.get(),
        }
    }
}

impl FrontReport {
    fn add(&mut self, found: &Front) {
        self.points = found.points.iter().map(PointRow::new).collect();
        self.tried = found.tried;
        let bound = found.bounds.last().map(|&(_, bound)| bound).filter(|bound| *bound < Time::MAX);
        self.lower_bound_ps = bound.map(Time::get);
        let Some(best) = found.fastest() else {
            self.claim = "unknown";
            self.reason = Some("none of these schedules fits on chip in any order".to_owned());
            return;
        };
        self.claim = if Some(best.makespan()) == bound { "optimal" } else { "feasible" };
        self.gap_percent = bound.and_then(|bound| share(best.makespan().saturating_sub(bound), bound));
    }

    fn text(&self) -> String {
        let mut text = self.basis.text();
        let _ = writeln!(text, "graph        {}", self.graph);
        let _ = writeln!(text, "machine      {}: {} bytes on chip", self.machine, self.capacity);
        if let Some(reason) = &self.reason {
            let _ = writeln!(text, "{:<12} {reason}", self.claim);
            return text;
        }
        if let Some(bound) = self.lower_bound_ps {
            let _ = writeln!(text, "lower bound  {} in all of that", Time::new(bound));
        }
        if let Some(best) = self.points.last() {
            let (time, who) = (Time::new(best.makespan_ps), best.schedule);
            let gap = self.gap_percent.map_or(String::new(), |gap| format!(", gap {} %", percent(gap)));
            let _ = writeln!(text, "best         {time} by {who} in {} bytes{gap}", best.memory);
        }
        let _ = writeln!(text, "tried        {} schedules of the whole graph\n", self.tried);
        let mut table = Table::new([
            ("capacity", Align::Right),
            ("makespan", Align::Right),
            ("gap %", Align::Right),
            ("schedule", Align::Left),
            ("buffers", Align::Right),
            ("resident", Align::Right),
            ("order", Align::Left),
        ]);
        for row in &self.points {
            table.row([
                row.memory.to_string(),
                Time::new(row.makespan_ps).to_string(),
                row.gap_percent.map_or("-".to_owned(), percent),
                row.schedule.to_owned(),
                row.buffers.map_or("-".to_owned(), |buffers| buffers.to_string()),
                row.resident.to_string(),
                row.order.to_owned(),
            ]);
        }
        text.push_str(&table.text());
        text
    }
}

/// A point in a file of rows.
#[derive(Serialize)]
struct Line<'a> {
    graph: &'a str,
    machine: &'a str,
    memory: u64,
    makespan_ps: u64,
    bound_ps: u64,
    gap_percent: Option<String>,
    order: &'static str,
    schedule: &'static str,
    buffers: Option<usize>,
    resident: u64,
    resident_blocks: usize,
    preload_ps: u64,
}

fn write_points(report: &FrontReport, file: &mut dyn io::Write) -> io::Result<()> {
    let line = |one: &PointRow| Line {
        graph: &report.graph,
        machine: &report.machine,
        memory: one.memory,
        makespan_ps: one.makespan_ps,
        bound_ps: one.bound_ps,
        gap_percent: output::four_digits(one.gap_percent),
        order: one.order,
        schedule: one.schedule,
        buffers: one.buffers,
        resident: one.resident,
        resident_blocks: one.resident_blocks,
        preload_ps: one.preload_ps,
    };
    let rows: Vec<Line> = report.points.iter().map(line).collect();
    output::csv(file, &rows)
}

/// Steps of what was found, and of what nothing goes below.
fn chart(report: &FrontReport, found: &Front) -> Chart {
    // In the unit that leaves the slowest below a thousand.
    let slowest = found.points.first().map_or(1.0, |first| first.makespan().seconds());
    let units =
        [(1.0, "makespan, seconds"), (1e3, "makespan, milliseconds"), (1e6, "makespan, microseconds")];
    let (scale, label) =
        units.into_iter().find(|(scale, _)| slowest * scale >= 1.0).unwrap_or((1e9, "makespan, nanoseconds"));
    let seconds = |time: Time| time.seconds() * scale;
    let mut series = Vec::new();
    let line = |name: &str, colour, dashed, points| Series { name: name.to_owned(), colour, dashed, points };
    let points = found.points.iter().map(|point| (point.memory.get() as f64, seconds(point.makespan())));
    let mut points: Vec<(f64, f64)> = points.collect();
    let capacity = report.capacity as f64;
    points.extend(found.points.last().map(|last| (capacity, seconds(last.makespan()))));
    // A graph that needs no memory would begin at zero, which a logarithmic axis has not.
    let (low, high) = (points.first().map_or(1.0, |first| first.0).max(1.0), capacity);
    series.push(line("found", 0, false, points));
    // The bound for so much memory holds for all with less: it begins where the one before ends.
    let mut bound = Vec::new();
    let mut from = low;
    for &(memory, time) in found.bounds.iter().filter(|(_, time)| *time < Time::MAX) {
        bound.push((from, seconds(time)));
        from = memory.get() as f64;
    }
    bound.extend(found.bounds.last().map(|&(_, time)| (capacity, seconds(time))));
    series.push(line("bound", 7, true, bound));
    Chart {
        title: format!("{} on {}", report.graph, report.machine),
        caption: format!(
            "memory on chip against makespan: {} points of {} tried",
            report.points.len(),
            report.tried
        ),
        x: Axis { label: "bytes on chip", low, high: high.max(low * 1.01), logarithmic: high > 4.0 * low },
        y: Axis { label, low: 0.0, high: slowest * scale * 1.06, logarithmic: false },
        series,
    }
}
