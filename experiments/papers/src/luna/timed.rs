//! Table 3 of the LUNA paper for public models: the times of the stand-ins of tables 1 and 2 on a machine.

use super::measured::{graphs, options};
use super::models::StandIn;
use super::printed;
use super::times::PrintedTimes;
use crate::{Context, ReproduceError, Reproduction, named};
use minijinja::{Value, context};
use plimsoll::graphs::{GraphRun, OrderedRegion};
use plimsoll::run::Limits;
use plimsoll::timelines::{ScheduleError, Scheduled, program, schedule};
use plimsoll_model::graph::{Boundary, Graph};
use plimsoll_model::timelines::{Machine, OverlapOptions, OverlapProgram, Time, TimelineProblem, Timelines};
use plimsoll_model::{Bytes, Entry, Setup};

/// The smallest slice that is tried, in bytes.
const LEAST_SLICE: u64 = 256;

/// The schedule of the first column of table 3.
pub(super) const SYNCHRONOUS: &str = "synchronous";
/// The schedule of the second column of table 3.
pub(super) const PING_PONG: &str = "ping-pong";

/// A graph with an order for every region, from which times are computed for any machine.
#[derive(Debug)]
pub(super) struct Timed<'a> {
    pub stand_in: &'a StandIn,
    regions: Vec<OrderedRegion>,
    schedules: [&'static Entry<Timelines>; 2],
}

/// The times of a graph on a machine.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// The machine, with slices small enough that the buffers fit under the schedules `synchronous` and
    /// `ping-pong`.
    pub machine: Machine,
    /// Number of operators in all segments, after slicing.
    pub steps: usize,
    /// Number of operators on the longest control path without overlap, after slicing.
    pub run: u64,
    /// Number of segments.
    pub segments: usize,
    /// Number of transfers on the longest control path. Every transfer includes the setup latency.
    pub transfers: u64,
    /// Total computing time on the longest control path.
    pub computing: Time,
    /// The makespan without overlap, with DMA.
    pub synchronous: Time,
    /// The makespan with ping-pong.
    pub overlapped: Time,
}

impl<'a> Timed<'a> {
    /// Orders the operators of all regions of a stand-in as in its file.
    pub fn new(context: &Context<'_>, stand_in: &'a StandIn) -> Result<Self, ReproduceError> {
        let liveness = options(Boundary::Outside).liveness;
        let order = named(&context.registry.orders, "as-in-file")?;
        let run = GraphRun { liveness, order, setup: context.setup, limits: context.limits };
        let regions = run.order(&stand_in.graph).map_err(|error| graphs(&error))?;
        let scheduled = |name: &'static str| named(&context.registry.timelines, name);
        let schedules = [scheduled(SYNCHRONOUS)?, scheduled(PING_PONG)?];
        Ok(Self { stand_in, regions, schedules })
    }

    /// Returns the graph of the stand-in.
    pub fn graph(&self) -> &Graph {
        &self.stand_in.graph
    }

    fn program(&self, machine: &Machine) -> Result<OverlapProgram, ReproduceError> {
        program(self.graph(), &self.regions, machine, OverlapOptions::default())
            .map_err(ReproduceError::on(self.graph().name()))
    }

    /// Returns the schedule that one of the two algorithms computes for a program, or the reason why there is
    /// none.
    fn by(
        &self,
        program: &OverlapProgram,
        name: &'static str,
    ) -> Result<Result<Scheduled, String>, ReproduceError> {
        let entry = named(&self.schedules, name)?;
        match schedule(program, entry, Setup::default(), Limits::default()) {
            Ok(scheduled) => Ok(Ok(scheduled)),
            Err(ScheduleError::Refused { segment, reason }) => {
                let what = format!("{name} on {}, segment '{segment}'", self.graph().name());
                Err(refused(&what, &reason))
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// Returns the makespan of the longest control path on a machine, or the reason why there is none.
    pub fn makespan(
        &self,
        machine: &Machine,
        name: &'static str,
    ) -> Result<Result<Time, String>, ReproduceError> {
        Ok(self.by(&self.program(machine)?, name)?.map(|scheduled| scheduled.makespan))
    }

    /// Returns the times of the graph on a machine, or the reason why there are none. If the buffers of
    /// either schedule do not fit, slices are made smaller.
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
                (Err(why), _) | (_, Err(why)) => {
                    let why = reason.get_or_insert(why);
                    let largest =
                        problems().flat_map(TimelineProblem::operators).map(|one| one.weights.get());
                    let half = largest.max().unwrap_or(0).div_ceil(2);
                    if half < LEAST_SLICE {
                        return Ok(Err(why.clone()));
                    }
                    machine.slice = Some(Bytes::new(half));
                }
            }
        }
    }
}

impl Times {
    /// Returns the total time of all transfers.
    pub fn fetching(&self) -> Time {
        self.synchronous.saturating_sub(self.computing)
    }

    /// Returns the gain of ping-pong in percent.
    pub fn gain(&self) -> f64 {
        gain(self.synchronous, self.overlapped)
    }

    /// Returns the share of computing in the time without overlap, in percent.
    pub fn share(&self) -> f64 {
        100.0 * self.computing.get() as f64 / self.synchronous.get().max(1) as f64
    }
}

/// Returns the reduction from `before` to `after` in percent. It is negative for an increase.
pub(super) fn gain(before: Time, after: Time) -> f64 {
    printed::gain(before.get(), after.get())
}

/// Converts a time to microseconds, rounded to the nearest.
pub(super) fn micros(time: Time) -> u64 {
    (time.get() + 500_000) / 1_000_000
}

pub(super) fn refused(what: &str, reason: &str) -> ReproduceError {
    ReproduceError::Defect(format!("{what}: the checker rejected the order: {reason}"))
}

/// Every stand-in with its times, or the reason why there are none.
pub(super) type Measured<'a> = Vec<(Timed<'a>, Result<Times, String>)>;

/// Computes the times that the stand-ins for the models in table 3 take on a machine.
pub(super) fn measure<'a>(
    context: &Context<'_>,
    stand_ins: &'a [StandIn],
    rows: &[PrintedTimes],
    machine: &Machine,
) -> Result<Measured<'a>, ReproduceError> {
    let wanted = |one: &&StandIn| rows.iter().any(|row| one.serves(&row.model));
    let all = stand_ins.iter().filter(wanted).map(|stand_in| {
        let timed = Timed::new(context, stand_in)?;
        let times = timed.times(machine)?;
        Ok((timed, times))
    });
    all.collect()
}

impl Times {
    fn facts(&self) -> Value {
        context! {
            steps => self.steps, segments => self.segments, run => self.run, transfers => self.transfers,
            computing => self.computing.get(), fetching => self.fetching().get(),
            synchronous => self.synchronous.get(), synchronous_us => micros(self.synchronous),
            synchronous_ms => self.synchronous.seconds() * 1e3,
            overlapped => self.overlapped.get(), overlapped_us => micros(self.overlapped),
            overlapped_ms => self.overlapped.seconds() * 1e3,
            gain => self.gain(), share => self.share(),
        }
    }
}

/// Defines table 3, and compares each of its rows with stand-ins.
pub(super) fn table(
    measured: &Measured<'_>,
    rows: &[PrintedTimes],
    machine: &Machine,
    found: &mut Reproduction,
) {
    let (mut table, mut timed_rows) = (Vec::new(), Vec::new());
    for row in rows {
        let mine: Vec<_> = measured.iter().filter(|(timed, _)| timed.stand_in.serves(&row.model)).collect();
        let cells = |(timed, times): &&(Timed<'_>, Result<Times, String>)| {
            let within = times.as_ref().is_ok_and(|times| {
                let share = times.share() / 100.0 * row.synchronous as f64;
                row.split().is_some_and(|(least, most)| (least as f64..=most as f64).contains(&share))
            });
            context! {
                name => timed.graph().name(), differs => &timed.stand_in.differs, within,
                operators => timed.graph().operators().len(), times => times.as_ref().ok().map(Times::facts),
            }
        };
        table.push(context! { stand_ins => mine.iter().map(cells).collect::<Vec<_>>(), ..row.facts() });
        let none = "the model of the paper is not public and has no stand-in".to_owned();
        let reasons = mine.iter().map(|(timed, times)| (reason(timed, times, machine), times.as_ref().ok()));
        let reasons = reasons.chain(mine.is_empty().then_some((none, None)));
        timed_rows.extend(reasons.enumerate().map(|(at, (reason, times))| {
            context! { first => at == 0, ours => times.map(Times::facts), reason, ..row.facts() }
        }));
    }
    found.fact("times", table);
    found.fact("timed_rows", timed_rows);
    let notes = measured.iter().map(|(timed, times)| {
        let slice = times.as_ref().ok().map(|times| times.machine.slice);
        let slice = slice.filter(|&slice| slice != machine.slice).map(Option::unwrap_or_default);
        context! { name => timed.graph().name(), why => times.as_ref().err(), slice => slice.map(Bytes::get) }
    });
    found.fact("timed", notes.collect::<Vec<_>>());
    found.fact(
        "machine",
        context! {
            name => &machine.name, about => &machine.about, capacity => machine.capacity.get(),
            bandwidth => machine.bandwidth, startup => machine.startup.to_string(), macs => machine.macs_per_second,
        },
    );
}

/// Returns the reason why the times of a stand-in differ from the printed ones, or why the stand-in has no
/// times.
fn reason(timed: &Timed<'_>, times: &Result<Times, String>, machine: &Machine) -> String {
    let (name, differs) = (timed.graph().name(), &timed.stand_in.differs);
    match times {
        Ok(_) => format!("another model, {name}: {differs}; machine {} with round numbers", machine.name),
        Err(why) => format!("{name} does not fit into on-chip memory: {why}"),
    }
}
