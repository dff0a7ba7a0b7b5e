//! Timelines without proof: when to fetch the weights of each operator, operators in their fixed order.
//!
//! | schedule | fetches | memory for weights |
//! |---|---|---|
//! | `synchronous` | when the operator before has computed; the processor copies where the machine says at what rate | one buffer |
//! | `ping-pong` | when the operator before starts (SOURCES S0, Alg. 3) | two buffers, even and odd |
//! | `ping-pong-weighted` | when the operator with weights before starts | two buffers, in turn |
//! | `eager` | as soon as its buffer is free | two buffers, in turn |
//! | `k-buffers` | as soon as its buffer is free | k buffers, in turn |
//! | `prefetch` | as early as a channel is free and it fits | whatever activations leave |
//!
//! All of them fetch in the order of the operators, each operator's weights in one transfer. O(n), `prefetch` O(n k) for k
//! buffers on chip at a time.

mod prefetch;
mod residents;
mod turns;

use crate::report::Run;
use plimsoll_model::overlap::{
    Slot, Span, Time, Timeline, TimelineProblem, Timelines, Transfer, fitting_bound,
};
use plimsoll_model::{
    Budget, Bytes, Entry, Kind, Observer, OperatorId, Outcome, Problem, SolveError, Solver, guarded,
};

pub use prefetch::Prefetch;
pub use residents::{Worth, fitting, resident_sets, residents};
pub use turns::{Fetch, Turns};

/// Every schedule, the simplest first.
pub const TIMELINES: &[Entry<Timelines>] = &[
    Entry {
        name: "synchronous",
        kind: Kind::Heuristic,
        about: "fetches (by the processor, where it copies), then computes, one operator after the other",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), the reference of table 3",
        build: &|_| guarded(Turns::SYNCHRONOUS),
    },
    Entry {
        name: "ping-pong",
        kind: Kind::Heuristic,
        about: "fetches for the next operator into the other of two buffers when an operator starts",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), Alg. 3",
        build: &|_| guarded(Turns::PING_PONG),
    },
    Entry {
        name: "ping-pong-weighted",
        kind: Kind::Heuristic,
        about: "ping-pong among operators with weights only: others neither take a turn nor start a fetch",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), Alg. 3, numbered otherwise",
        build: &|_| guarded(Turns::PING_PONG_WEIGHTED),
    },
    Entry {
        name: "eager",
        kind: Kind::Heuristic,
        about: "double buffering: fetches as soon as the buffer whose turn it is is free",
        source: "textbook",
        build: &|_| guarded(Turns::EAGER),
    },
    Entry {
        name: "k-buffers",
        kind: Kind::Heuristic,
        about: "the same with k buffers in turn (--buffers)",
        source: "textbook",
        build: &|setup| guarded(Turns::buffers(setup.buffers)),
    },
    Entry {
        name: "prefetch",
        kind: Kind::Heuristic,
        about: "fetches in order, each as early as a channel is free and memory fits it until its operator has run",
        source: "own",
        build: &|_| guarded(Prefetch),
    },
];

/// Where and when one operator's weights go.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// None where the processor copies.
    channel: Option<usize>,
    start: Time,
    offset: Bytes,
}

/// A timeline that grows operator by operator.
struct Growing<'a> {
    problem: &'a TimelineProblem,
    timeline: Timeline,
    /// Per channel: when it is free.
    free: Vec<Time>,
}

impl<'a> Growing<'a> {
    fn new(problem: &'a TimelineProblem, slots: Vec<Slot>) -> Self {
        let timeline = Timeline { slots, ..Timeline::default() };
        // More channels than operators are of no use.
        let channels = (problem.dma().channels as usize).min(problem.len().max(1));
        Self { problem, timeline, free: vec![Time::ZERO; channels] }
    }

    /// When the operators so far have computed.
    fn end(&self) -> Time {
        self.timeline.computations.last().map_or(Time::ZERO, |span| span.end)
    }

    /// The channel that is free first, and when.
    fn channel(&self) -> (usize, Time) {
        let first = self.free.iter().copied().enumerate().min_by_key(|&(_, free)| free);
        first.expect("a problem has a channel")
    }

    /// The timeline. An operator is a node of the budget.
    fn finish(self, budget: &mut Budget) -> Timeline {
        budget.spend(self.timeline.computations.len() as u64);
        self.timeline
    }

    /// Adds the next operator; `place` says where its weights go, if it has any.
    fn add(&mut self, place: impl FnOnce(&Self) -> Place) {
        let at = self.timeline.computations.len();
        let mut start = self.end();
        if let Some(load) = self.problem.load(at) {
            let Place { channel, start: begin, offset } = place(self);
            let takes = if channel.is_some() { Some(load) } else { self.problem.copy(at) };
            let span = Span { start: begin, end: begin + takes.expect("copies only where there is a rate") };
            if let Some(channel) = channel {
                self.free[channel] = span.end;
            }
            start = start.max(span.end);
            let bytes = self.problem.operators()[at].weights;
            let (operator, channel, size) =
                (OperatorId::at(at), channel.map(|channel| channel as u32), self.problem.buffer(at));
            self.timeline.transfers.push(Transfer { operator, channel, bytes, span, offset, size });
        }
        let end = start + self.problem.operators()[at].compute;
        self.timeline.computations.push(Span { start, end });
    }
}

/// Slots of these sizes from the top of the memory down, above all activations.
fn slots(solver: &'static str, problem: &TimelineProblem, sizes: &[Bytes]) -> Result<Vec<Slot>, SolveError> {
    let mut end = problem.capacity();
    let mut slots = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let room = problem.below(end, size).filter(|offset| *offset >= problem.activations());
        let offset = room.ok_or_else(|| {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            let (activations, capacity) = (problem.activations(), problem.capacity());
            let reason = format!(
                "buffers of {} bytes do not fit beside {activations} of activations in {capacity} ({})",
                sizes.join(" and "),
                problem.name()
            );
            SolveError::Unsupported { solver, reason }
        })?;
        slots.push(Slot { offset, size });
        end = offset;
    }
    Ok(slots)
}

/// The outcome of a schedule, with no bound but the general ones.
fn solved(
    schedule: &dyn Solver<Timelines>,
    problem: &TimelineProblem,
    budget: &mut Budget,
    observer: &mut dyn Observer<Timelines>,
) -> Result<Outcome<Timelines>, SolveError> {
    let run =
        Run::<Timelines>::new(problem, Timelines::limit(problem), fitting_bound(problem), budget, observer);
    let timeline = schedule.solution(problem, budget)?;
    Ok(run.conclude_single(Ok(timeline), budget))
}
