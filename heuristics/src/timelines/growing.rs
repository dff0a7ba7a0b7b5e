//! A timeline that is built operator by operator, and the outcome of a schedule.

use plimsoll_model::timelines::{
    Slot, Span, Time, Timeline, TimelineProblem, Timelines, Transfer, fitting_bound,
};
use plimsoll_model::{Budget, Bytes, Observer, OperatorId, Outcome, SolveError, Solver, Stop, Tracker};

/// The channel, start time and address of one transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The channel, or `None` if the processor copies.
    pub channel: Option<usize>,
    pub start: Time,
    pub offset: Bytes,
}

/// A timeline under construction.
pub(super) struct Growing<'a> {
    pub problem: &'a TimelineProblem,
    pub timeline: Timeline,
    /// Per channel: the time from which it is free.
    free: Vec<Time>,
}

impl<'a> Growing<'a> {
    pub fn new(problem: &'a TimelineProblem, slots: Vec<Slot>) -> Self {
        let timeline = Timeline { slots, ..Timeline::default() };
        // Channels in excess of the number of operators are useless.
        let channels = (problem.dma().channels as usize).min(problem.len().max(1));
        Self { problem, timeline, free: vec![Time::ZERO; channels] }
    }

    /// Returns the end of the last computation so far.
    pub fn end(&self) -> Time {
        self.timeline.computations.last().map_or(Time::ZERO, |span| span.end)
    }

    /// Returns the channel that is free first, and the time from which it is free.
    pub fn channel(&self) -> (usize, Time) {
        let first = self.free.iter().copied().enumerate().min_by_key(|&(_, free)| free);
        first.expect("a problem has a channel")
    }

    /// Returns the timeline. Every operator counts as one node.
    pub fn finish(self, budget: &mut Budget) -> Timeline {
        budget.spend(self.timeline.computations.len() as u64);
        self.timeline
    }

    /// Adds the next operator. If it has weights, `place` is called and returns the channel, the start time
    /// and the address of their transfer.
    pub fn add(&mut self, place: impl FnOnce(&Self) -> Place) {
        let at = self.timeline.computations.len();
        let mut start = self.end();
        if let Some(load) = self.problem.load(at) {
            let Place { channel, start: begin, offset } = place(self);
            let takes = if channel.is_some() { Some(load) } else { self.problem.copy(at) };
            let span = Span {
                start: begin,
                end: begin + takes.expect("the processor copies only if there is a copy rate"),
            };
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

/// Allocates slots of the given sizes from the top of memory downwards, above all activations.
pub(super) fn slots(
    solver: &'static str,
    problem: &TimelineProblem,
    sizes: &[Bytes],
) -> Result<Vec<Slot>, SolveError> {
    let mut end = problem.capacity();
    let mut slots = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let space = problem.below(end, size).filter(|offset| *offset >= problem.activations());
        let offset = space.ok_or_else(|| {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            let (activations, capacity) = (problem.activations(), problem.capacity());
            let reason = format!(
                "buffers of {} bytes and {activations} bytes of activations do not fit into {capacity} bytes ({})",
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

/// Returns the outcome of a schedule, with the bounds that hold for every schedule.
pub(super) fn solved(
    schedule: &dyn Solver<Timelines>,
    problem: &TimelineProblem,
    budget: &mut Budget,
    observer: &mut dyn Observer<Timelines>,
) -> Result<Outcome<Timelines>, SolveError> {
    let (mut run, before) = (Tracker::start(problem, fitting_bound(problem), observer), budget.nodes());
    if let Some(timeline) = schedule.solution(problem, budget)? {
        run.offer(timeline);
    }
    Ok(run.conclude(Stop::Completed, budget.nodes() - before))
}
