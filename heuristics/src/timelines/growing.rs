//! A timeline that grows operator by operator, and what becomes of it.

use plimsoll_model::timelines::{
    Slot, Span, Time, Timeline, TimelineProblem, Timelines, Transfer, fitting_bound,
};
use plimsoll_model::{
    Budget, Bytes, Observer, OperatorId, Outcome, Problem, SolveError, Solver, Stats, Stop, Tracker,
};

/// Where and when one operator's weights go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// None where the processor copies.
    pub channel: Option<usize>,
    pub start: Time,
    pub offset: Bytes,
}

/// A timeline that grows operator by operator.
pub(super) struct Growing<'a> {
    pub problem: &'a TimelineProblem,
    pub timeline: Timeline,
    /// Per channel: when it is free.
    free: Vec<Time>,
}

impl<'a> Growing<'a> {
    pub fn new(problem: &'a TimelineProblem, slots: Vec<Slot>) -> Self {
        let timeline = Timeline { slots, ..Timeline::default() };
        // More channels than operators are of no use.
        let channels = (problem.dma().channels as usize).min(problem.len().max(1));
        Self { problem, timeline, free: vec![Time::ZERO; channels] }
    }

    /// When the operators so far have computed.
    pub fn end(&self) -> Time {
        self.timeline.computations.last().map_or(Time::ZERO, |span| span.end)
    }

    /// The channel that is free first, and when.
    pub fn channel(&self) -> (usize, Time) {
        let first = self.free.iter().copied().enumerate().min_by_key(|&(_, free)| free);
        first.expect("a problem has a channel")
    }

    /// The timeline. An operator is a node of the budget.
    pub fn finish(self, budget: &mut Budget) -> Timeline {
        budget.spend(self.timeline.computations.len() as u64);
        self.timeline
    }

    /// Adds the next operator; `place` says where its weights go, if it has any.
    pub fn add(&mut self, place: impl FnOnce(&Self) -> Place) {
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
pub(super) fn slots(
    solver: &'static str,
    problem: &TimelineProblem,
    sizes: &[Bytes],
) -> Result<Vec<Slot>, SolveError> {
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
    let stats = Stats { nodes: budget.nodes() - before, ..run.stats };
    Ok(Outcome::conclude(run.best, run.bound, Timelines::limit(problem), Stop::Completed, stats))
}
