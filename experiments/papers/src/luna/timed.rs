//! Table 3 with public models: the stand-ins of tables 1 and 2 on a machine.

use super::models::StandIn;
use super::options;
use super::printed::shown;
use super::times::{PrintedTimes, millis};
use crate::{Context, ReproduceError, Reproduction, named};
use plimsoll::graphs::{GraphRun, OrderedRegion};
use plimsoll::overlap::{ScheduleError, Scheduled, program, schedule};
use plimsoll::run::Limits;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_model::graph::{Boundary, Graph};
use plimsoll_model::overlap::{Machine, OverlapOptions, OverlapProgram, Time, TimelineProblem, Timelines};
use plimsoll_model::{Bytes, Entry, Problem, Setup};

/// Below this many bytes, slices are made no smaller.
const LEAST_SLICE: u64 = 256;

/// The two columns of table 3.
pub(super) const SYNCHRONOUS: &str = "synchronous";
pub(super) const PING_PONG: &str = "ping-pong";

/// A graph with its orders: what times are computed from, on any machine.
#[derive(Debug)]
pub(super) struct Timed<'a> {
    pub stand_in: &'a StandIn,
    regions: Vec<OrderedRegion>,
    schedules: [&'static Entry<Timelines>; 2],
}

/// What a graph takes on a machine.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// The machine, with slices small enough for two buffers.
    pub machine: Machine,
    /// Operators, those in slices counted once.
    pub operators: usize,
    /// Steps of all segments: operators and slices.
    pub steps: usize,
    /// Those of the longest run without overlap.
    pub run: u64,
    /// Segments.
    pub segments: usize,
    /// Transfers on that run: how often a start-up is paid.
    pub transfers: u64,
    /// Time that run computes.
    pub computing: Time,
    /// Without overlap, by DMA.
    pub synchronous: Time,
    /// With ping-pong.
    pub overlapped: Time,
}

impl<'a> Timed<'a> {
    /// Orders the regions of a stand-in as in its file.
    pub fn new(context: &Context<'_>, stand_in: &'a StandIn) -> Result<Self, ReproduceError> {
        let liveness = options(Boundary::Outside).liveness;
        let order = named(&context.registry.orders, "as-in-file")?;
        let run = GraphRun { liveness, order, setup: context.setup, limits: context.limits };
        let regions = run.order(&stand_in.graph)?;
        let scheduled = |name: &'static str| {
            let entry = context.registry.timelines.iter().copied().find(|entry| entry.name == name);
            entry.ok_or(ReproduceError::Missing { name, problem: Timelines::NAME })
        };
        let schedules = [scheduled(SYNCHRONOUS)?, scheduled(PING_PONG)?];
        Ok(Self { stand_in, regions, schedules })
    }

    /// Its graph.
    pub fn graph(&self) -> &Graph {
        &self.stand_in.graph
    }

    fn program(&self, machine: &Machine) -> Result<OverlapProgram, ReproduceError> {
        program(self.graph(), &self.regions, machine, OverlapOptions::default()).map_err(|source| {
            ReproduceError::Overlap { graph: self.graph().name().to_owned(), source: Box::new(source) }
        })
    }

    /// Its program by one of the two schedules, or why there is none.
    fn by(
        &self,
        program: &OverlapProgram,
        name: &'static str,
    ) -> Result<Result<Scheduled, String>, ReproduceError> {
        let entry = self.schedules.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or(ReproduceError::Missing { name, problem: Timelines::NAME })?;
        match schedule(program, entry, Setup::default(), Limits::default()) {
            Ok(scheduled) => Ok(Ok(scheduled)),
            Err(ScheduleError::Refused { segment, reason }) => {
                let what = format!("{name} on {}, segment '{segment}'", self.graph().name());
                Err(ReproduceError::Refused { what, reason })
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// The end of the longest run on a machine, or why there is none.
    pub fn makespan(
        &self,
        machine: &Machine,
        name: &'static str,
    ) -> Result<Result<Time, String>, ReproduceError> {
        Ok(self.by(&self.program(machine)?, name)?.map(|scheduled| scheduled.makespan))
    }

    /// Both times on a machine; where ping-pong's buffers do not fit, in smaller slices. Else why not.
    pub fn times(&self, machine: &Machine) -> Result<Result<Times, String>, ReproduceError> {
        let mut machine = Machine { copy: None, ..machine.clone() };
        let mut reason = None;
        loop {
            let program = self.program(&machine)?;
            let problems = || program.segments().iter().map(|segment| &segment.problem);
            match (self.by(&program, SYNCHRONOUS)?, self.by(&program, PING_PONG)?) {
                (Ok(synchronous), Ok(overlapped)) => {
                    let run = synchronous.path.iter().map(|&at| program.segments()[at].problem.len() as u64);
                    let run = run.sum();
                    let transfers = synchronous.path.iter();
                    let transfers = transfers.map(|&at| synchronous.timelines[at].transfers.len() as u64);
                    return Ok(Ok(Times {
                        operators: self.graph().operators().len(),
                        steps: problems().map(TimelineProblem::len).sum(),
                        run,
                        segments: program.segments().len(),
                        transfers: transfers.sum(),
                        computing: synchronous.computing,
                        synchronous: synchronous.makespan,
                        overlapped: overlapped.makespan,
                        machine,
                    }));
                }
                (Err(told), _) | (_, Err(told)) => {
                    let told = reason.get_or_insert(told);
                    let largest =
                        problems().flat_map(TimelineProblem::operators).map(|one| one.weights.get());
                    let half = largest.max().unwrap_or(0).div_ceil(2);
                    if half < LEAST_SLICE {
                        return Ok(Err(told.clone()));
                    }
                    machine.slice = Some(Bytes::new(half));
                }
            }
        }
    }
}

impl Times {
    /// Time of all fetches.
    pub fn fetching(&self) -> Time {
        self.synchronous.saturating_sub(self.computing)
    }

    /// The gain of ping-pong, percent.
    pub fn gain(&self) -> f64 {
        gain(self.synchronous, self.overlapped)
    }

    /// Computing in the time without overlap, percent.
    pub fn share(&self) -> f64 {
        100.0 * self.computing.get() as f64 / self.synchronous.get().max(1) as f64
    }
}

/// How much less `after` is than `before`, percent; negative where it is more.
pub(super) fn gain(before: Time, after: Time) -> f64 {
    super::printed::gain(before.get(), after.get())
}

/// Milliseconds, in microseconds' digits.
pub(super) fn text(time: Time) -> String {
    millis((time.get() + 500_000) / 1_000_000)
}

/// Every stand-in with its times or why it has none.
pub(super) type Measured<'a> = Vec<(Timed<'a>, Result<Times, String>)>;

/// Stand-ins of the models of table 3 on a machine.
pub(super) fn measure<'a>(
    context: &Context<'_>,
    stand_ins: &'a [StandIn],
    rows: &[PrintedTimes],
    machine: &Machine,
) -> Result<Measured<'a>, ReproduceError> {
    let wanted = |one: &&StandIn| rows.iter().any(|row| one.serves(row.model));
    let all = stand_ins.iter().filter(wanted).map(|stand_in| {
        let timed = Timed::new(context, stand_in)?;
        let times = timed.times(machine)?;
        Ok((timed, times))
    });
    all.collect()
}

/// Table 3 with stand-ins below each row.
pub(super) fn table(
    measured: &Measured<'_>,
    rows: &[PrintedTimes],
    machine: &Machine,
    found: &mut Reproduction,
) {
    let mut table = Table::new([
        ("model", Align::Left),
        ("timed", Align::Left),
        ("synchronous ms", Align::Right),
        ("ping-pong ms", Align::Right),
        ("gain", Align::Right),
        ("ours less printed, points", Align::Right),
        ("computing in synchronous", Align::Right),
        ("as printed", Align::Left),
        ("stands in with a difference", Align::Left),
    ]);
    let mut missing = Vec::new();
    for row in rows {
        let split = row.split().map(|(least, most)| {
            let share = |micros: u64| shown(100.0 * micros as f64 / row.synchronous as f64);
            format!("{} to {}", share(least), share(most))
        });
        let cells = [row.model, "printed"].map(str::to_owned).into_iter();
        let times = [row.synchronous, row.overlapped].map(millis);
        let rest = [shown(row.gain as f64 / 100.0), String::new(), split.unwrap_or_default()];
        table.row(cells.chain(times).chain(rest));
        let mine: Vec<_> = measured.iter().filter(|(timed, _)| timed.stand_in.serves(row.model)).collect();
        if mine.is_empty() {
            missing.push(row.model);
        }
        for (timed, times) in mine {
            table.row(cells_of(row, timed, times.as_ref()));
        }
    }
    found.section("Table 3 again: ping-pong on a machine like the paper's");
    found.table(table);
    found.line(format!(
        "machine `{}` ({}): {} bytes on chip, {} bytes per second and {} of start-up per transfer, {} multiply-accumulates per second: round numbers, not measurements",
        machine.name, machine.about, machine.capacity, machine.bandwidth, machine.startup, machine.macs_per_second
    ));
    found.line("why ours differ: the paper prints neither its models nor rates of its chip. A gain is at most the share of computing, and at most that of fetching, whatever the machine; a stand-in whose share lies within the printed range could have the printed gain, one outside could not on this machine. As printed: whether its share is in that range");
    found.line("of branches the longest counts; operators run in the order of the file, activations take the bytes alive");
    for (timed, times) in measured {
        notes(timed, times.as_ref(), machine, found);
    }
    for model in missing {
        found.line(format!("{model} has no stand-in here"));
    }
}

fn cells_of(row: &PrintedTimes, timed: &Timed<'_>, times: Result<&Times, &String>) -> Vec<String> {
    let mut cells = vec![String::new(), timed.graph().name().to_owned()];
    match times {
        Ok(times) => {
            let within = row.split().is_some_and(|(least, most)| {
                let share = times.share() / 100.0 * row.synchronous as f64;
                (least as f64..=most as f64).contains(&share)
            });
            let difference = times.gain() - row.gain as f64 / 100.0;
            cells.extend([
                text(times.synchronous),
                text(times.overlapped),
                shown(times.gain()),
                format!("{difference:+.2}"),
                shown(times.share()),
                if within { "within" } else { "outside" }.to_owned(),
            ]);
        }
        Err(_) => cells.extend(["does not fit", "-", "-", "-", "-", "-"].map(str::to_owned)),
    }
    cells.push(timed.stand_in.differs.to_owned());
    cells
}

/// What does not fit, and what fits in slices.
fn notes(timed: &Timed<'_>, times: Result<&Times, &String>, machine: &Machine, found: &mut Reproduction) {
    let name = timed.graph().name();
    match times {
        Err(reason) => found.line(format!("{name} does not fit on chip, in no slices: {reason}")),
        Ok(times) if times.machine.slice != machine.slice => {
            let slice = times.machine.slice.unwrap_or_default();
            found.line(format!("{name} fits in slices of {slice} bytes of weights only"));
        }
        Ok(_) => {}
    }
}

/// Writes stand-ins as rows.
pub(super) fn write(measured: &Measured<'_>, rows: &[PrintedTimes], found: &mut Reproduction) {
    found.file("table-3.csv", "table 3: stand-ins on the machine, picoseconds", |file| {
        writeln!(
            file,
            "model,graph,operators,steps,segments,run_steps,transfers,computing_ps,fetching_ps,synchronous_ps,ping_pong_ps,gain_percent,gain_printed_percent"
        )?;
        for row in rows {
            for (timed, times) in measured.iter().filter(|(timed, _)| timed.stand_in.serves(row.model)) {
                let name = timed.graph().name();
                let Ok(times) = times else {
                    writeln!(file, "{},{name},{},,,,,,,,,,{:.2}", row.model, timed.graph().operators().len(), row.gain as f64 / 100.0)?;
                    continue;
                };
                writeln!(
                    file,
                    "{},{name},{},{},{},{},{},{},{},{},{},{:.4},{:.2}",
                    row.model,
                    times.operators,
                    times.steps,
                    times.segments,
                    times.run,
                    times.transfers,
                    times.computing.get(),
                    times.fetching().get(),
                    times.synchronous.get(),
                    times.overlapped.get(),
                    times.gain(),
                    row.gain as f64 / 100.0
                )?;
            }
        }
        Ok(())
    });
}
