//! `overlap --front`: the Pareto front of on-chip memory and makespan.

use super::programs::{Programs, effort};
use super::report::{hint, share, store};
use crate::commands::choose;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output::{self, field};
use crate::report::{self, Cell, Printed, Text, bytes, cells, sized};
use plimsoll::Registry;
use plimsoll::model::timelines::{Time, Timelines};
use plimsoll::model::{Bytes, Claim, Entry};
use plimsoll::timelines::{Candidate, Front, FrontPoint, ScheduleError, front};
use plimsoll_lab::report::axis::{Axis, Unit};
use plimsoll_lab::report::chart::{BLACK, Chart, Series};
use plimsoll_lab::report::{Basis, percent};
use serde::Serialize;
use std::path::Path;

/// Default algorithms that order the operators.
const ORDERS: &str = "as-in-file,greedy,exact";

/// Columns of --output.
const COLUMNS: &str = "graph,machine,memory,makespan_ps,bound_ps,gap_percent,order,algorithm,buffers,resident,\
    resident_blocks,preload_ps";

/// Searches for the front and prints it.
pub(super) fn main(
    build: &Programs<'_>,
    registry: &Registry,
    entries: &[&'static Entry<Timelines>],
    basis: &Basis,
) -> Result<u8, Failure> {
    let (args, graph, machine) = (build.args, build.graph, build.machine);
    let mut candidates: Vec<Candidate> = Vec::new();
    let names: Vec<&str> = args.order.as_deref().unwrap_or(ORDERS).split(',').collect();
    for (at, name) in names.iter().enumerate() {
        let order = choose::named(&registry.orders, name.trim(), "order")?;
        // Orders share one half of the time; schedules get the rest.
        let program = build.program(order, build.limits.share(2).share(names.len() - at))?;
        // Orders that result in equal programs are tried once.
        if !candidates.iter().any(|other| other.program == program) {
            candidates.push(Candidate { order: order.name, program });
        }
    }
    let found = match front(machine, &candidates, entries, effort(build.limits)) {
        Err(error @ ScheduleError::Infeasible { .. }) => {
            let segments = candidates.iter().flat_map(|one| one.program.segments());
            Err((
                error.to_string(),
                hint(segments.map(|segment| &segment.problem), machine, &args.model.model),
            ))
        }
        Err(error @ ScheduleError::Refused { .. }) => return Err(Failure::internal(error)),
        Err(error) => return Err(Failure::input(error)),
        Ok(found) => Ok(found),
    };
    let report = FrontReport::new(build, found.as_ref(), basis);
    if let Ok(found) = &found {
        if let Some(best) = found.fastest() {
            store(args, graph, machine, &best.program, (best.schedule, &best.scheduled));
        }
        if let Some(path) = &args.plot {
            let chart = chart(build, found);
            output::late(output::write_picture(path, |file| chart.write(file)));
        }
        if let Some(path) = &args.output {
            output::late(report.store(path));
        }
    }
    report::print(&report, args.json)?;
    Ok(match found {
        Ok(found) if found.points.is_empty() => NOTHING_FOUND,
        Ok(_) => ANSWERED,
        Err(_) => REFUTED,
    })
}

/// A point of the front.
#[derive(Serialize)]
struct PointRow {
    memory: Bytes,
    makespan_ps: Time,
    makespan_seconds: f64,
    bound_ps: Time,
    gap_percent: Option<f64>,
    order: &'static str,
    algorithm: &'static str,
    buffers: Option<usize>,
    resident: Bytes,
    resident_blocks: usize,
    preload_ps: Time,
}

fn row(point: &FrontPoint) -> PointRow {
    let (makespan, residency) = (point.makespan(), point.program.residency());
    PointRow {
        memory: point.memory,
        makespan_ps: makespan,
        makespan_seconds: makespan.seconds(),
        bound_ps: point.bound,
        gap_percent: share(makespan.saturating_sub(point.bound), point.bound),
        order: point.order,
        algorithm: point.schedule,
        buffers: point.buffers,
        resident: residency.bytes,
        resident_blocks: residency.blocks.len(),
        preload_ps: residency.preload,
    }
}

/// The report on the front, or on the reason why there is none.
#[derive(Serialize)]
struct FrontReport<'a> {
    graph: &'a str,
    machine: &'a str,
    capacity: Bytes,
    /// The claim for the fastest point.
    claim: Claim,
    /// The lower bound over all orders tried, with the whole capacity.
    lower_bound_ps: Option<Time>,
    gap_percent: Option<f64>,
    reason: Option<&'a str>,
    /// Number of schedules of the whole program.
    tried: usize,
    points: Vec<PointRow>,
    #[serde(flatten)]
    basis: &'a Basis,
    #[serde(skip)]
    best: Option<PointRow>,
    #[serde(skip)]
    hint: Option<&'a str>,
}

impl<'a> FrontReport<'a> {
    fn new(
        build: &'a Programs<'_>,
        found: Result<&'a Front, &'a (String, String)>,
        basis: &'a Basis,
    ) -> Self {
        let front = found.ok();
        let best = front.and_then(Front::fastest);
        let bound = front.and_then(|front| front.bounds.last()).map(|&(_, bound)| bound);
        let bound = bound.filter(|bound| *bound < Time::MAX);
        let gap = bound.zip(best);
        let (claim, reason) = match (found, best) {
            (Err((reason, _)), _) => (Claim::without_solution(true), Some(reason.as_str())),
            (_, None) => {
                let why = "no schedule fits into on-chip memory in any of the orders";
                (Claim::without_solution(false), Some(why))
            }
            (_, Some(best)) => (Claim::of_solution(Some(best.makespan()) == bound), None),
        };
        Self {
            graph: build.graph.name(),
            machine: &build.machine.name,
            capacity: build.machine.capacity,
            claim,
            lower_bound_ps: bound,
            gap_percent: gap.and_then(|(bound, best)| share(best.makespan().saturating_sub(bound), bound)),
            reason,
            tried: front.map_or(0, |front| front.tried),
            points: front.iter().flat_map(|front| &front.points).map(row).collect(),
            basis,
            best: best.map(row),
            hint: found.err().map(|(_, hint)| hint.as_str()),
        }
    }

    /// Writes one row per point as CSV.
    fn store(&self, path: &Path) -> Result<(), Failure> {
        output::write_rows(path, COLUMNS, &self.points, |row| {
            [
                self.graph.to_owned(),
                self.machine.to_owned(),
                row.memory.to_string(),
                row.makespan_ps.get().to_string(),
                row.bound_ps.get().to_string(),
                field(row.gap_percent.map(|gap| format!("{gap:.4}"))),
                row.order.to_owned(),
                row.algorithm.to_owned(),
                field(row.buffers),
                row.resident.to_string(),
                row.resident_blocks.to_string(),
                row.preload_ps.get().to_string(),
            ]
        })
    }
}

impl Printed for FrontReport<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        text.line("graph", self.graph);
        let capacity = sized(self.capacity, " bytes");
        text.line("machine", format_args!("{}: {capacity} of on-chip memory", self.machine));
        if let Some(reason) = self.reason {
            text.line(self.claim.as_str(), reason);
            if let Some(hint) = self.hint {
                text.line("hint", hint);
            }
            return;
        }
        if let Some(bound) = self.lower_bound_ps {
            text.line("lower bound", format_args!("{bound} with all of that memory"));
        }
        if let Some(PointRow { makespan_ps, algorithm, memory, .. }) = &self.best {
            let gap = self.gap_percent.map_or(String::new(), |gap| format!(", gap {} %", percent(gap)));
            text.line("best", format_args!("{makespan_ps} by {algorithm} in {}{gap}", bytes(*memory)));
        }
        text.line("tried", format_args!("{} schedules of the whole graph", self.tried));
        let row = |one: &PointRow| {
            let (gap, algorithm) = (Cell::percent(one.gap_percent), one.algorithm);
            cells![one.memory, one.makespan_ps, gap, algorithm, one.buffers, one.resident, one.order]
        };
        let columns = ["capacity", "makespan", "gap %", "algorithm", "buffers", "resident", "order"];
        text.table(&columns, self.points.iter().map(row));
    }
}

/// Returns a chart of the front and the lower bound as step curves.
fn chart(build: &Programs<'_>, found: &Front) -> Chart {
    let slowest = found.points.first().map_or(1.0, |first| first.makespan().seconds());
    let points = found.points.iter().map(|point| (point.memory.get() as f64, point.makespan().seconds()));
    let points: Vec<(f64, f64)> = points.collect();
    let capacity = build.machine.capacity.get() as f64;
    // A graph that needs no memory would start at zero, which a logarithmic axis cannot show.
    let low = points.first().map_or(1.0, |first| first.0).max(1.0);
    // Each bound also holds for smaller capacities, so its step extends down to the previous capacity.
    let mut bound = Vec::new();
    let mut from = low;
    for &(memory, time) in found.bounds.iter().filter(|(_, time)| *time < Time::MAX) {
        bound.push((from, time.seconds()));
        from = memory.get() as f64;
    }
    // The axis starts at zero unless that would flatten the front.
    let least = points.iter().chain(&bound).map(|point| point.1).fold(slowest, f64::min);
    let margin = (slowest - least) * 0.1;
    let floor = if least > slowest * 0.6 && margin > 0.0 { least - margin } else { 0.0 };
    let line = |name: &str, colour, dashed, points| Series {
        name: name.to_owned(),
        colour,
        dashed,
        dots: !dashed,
        points,
    };
    Chart {
        title: format!("{} on {}", build.graph.name(), build.machine.name),
        caption: format!(
            "on-chip memory and makespan: {} points of {} schedules tried",
            found.points.len(),
            found.tried
        ),
        x: Axis {
            label: "on-chip memory",
            unit: Unit::Bytes,
            low,
            high: capacity.max(low * 1.01),
            logarithmic: capacity > 4.0 * low,
        },
        y: Axis {
            label: "makespan",
            unit: Unit::Seconds,
            low: floor,
            high: slowest + (slowest - floor) * 0.06,
            logarithmic: false,
        },
        series: vec![
            line("fastest schedule found", 0, false, points),
            line("lower bound", BLACK, true, bound),
        ],
    }
}
