//! Schedules with a fixed number of buffers, which operators use in round-robin order.

use super::growing::{Growing, Place, slots, solved};
use plimsoll_model::timelines::{Time, Timeline, TimelineProblem, Timelines};
use plimsoll_model::{Budget, Bytes, Observer, Outcome, SolveError, Solver};

/// The time at which a transfer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// When the previous operator has run. If the machine has a copy rate, the processor
    /// copies the weights itself, without a channel.
    AfterPrevious,
    /// When the previous operator starts, even if it has no weights. Operators without weights also take part
    /// in the alternation of the buffers.
    WithPrevious,
    /// When the previous operator with weights starts.
    WithPreviousWeighted,
    /// When the buffer and a channel are free.
    WhenFree,
}

/// A schedule with a fixed number of buffers. Each buffer is as large as the largest weights assigned to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    name: &'static str,
    buffers: usize,
    fetch: Fetch,
}

impl Turns {
    /// No overlap of transfers and computations.
    pub const SYNCHRONOUS: Self = Self { name: "synchronous", buffers: 1, fetch: Fetch::AfterPrevious };
    /// LUNA, Alg. 3: `DMAStart(next)` is called before the computation of an operator, and `DMAWait(next)`
    /// after it.
    pub const PING_PONG: Self = Self { name: "ping-pong", buffers: 2, fetch: Fetch::WithPrevious };
    /// [`Self::PING_PONG`] with a numbering that skips operators without weights.
    pub const PING_PONG_WEIGHTED: Self =
        Self { name: "ping-pong-weighted", buffers: 2, fetch: Fetch::WithPreviousWeighted };
    /// Double buffering.
    pub const EAGER: Self = Self { name: "eager", buffers: 2, fetch: Fetch::WhenFree };

    /// Creates a schedule with the given number of buffers, but at least one.
    pub fn buffers(count: usize) -> Self {
        Self { name: "k-buffers", buffers: count.max(1), fetch: Fetch::WhenFree }
    }

    fn sizes(&self, problem: &TimelineProblem) -> Vec<Bytes> {
        if self.fetch == Fetch::WithPrevious {
            return problem.parity().to_vec();
        }
        let weighted = problem.weighted();
        let mut sizes = vec![Bytes::ZERO; self.buffers.min(weighted.len())];
        for (turn, &at) in weighted.iter().enumerate() {
            sizes[turn % self.buffers] = sizes[turn % self.buffers].max(problem.buffer(at));
        }
        sizes
    }

    /// Returns the start of the transfer for the operator at position `at`. `turn` is the number of earlier
    /// operators with weights, and `free` the time from which a channel is free.
    fn start(&self, growing: &Growing<'_>, at: usize, turn: usize, free: Time) -> Time {
        let transfers = &growing.timeline.transfers;
        let computation = |turn: usize| growing.timeline.computations[transfers[turn].operator.index()];
        let before = at.checked_sub(1).map(|before| growing.timeline.computations[before]);
        match self.fetch {
            Fetch::AfterPrevious => growing.end(),
            Fetch::WithPrevious => before.map_or(Time::ZERO, |before| before.start),
            Fetch::WithPreviousWeighted => {
                turn.checked_sub(1).map_or(Time::ZERO, |last| computation(last).start)
            }
            Fetch::WhenFree => {
                turn.checked_sub(self.buffers).map_or(free, |last| free.max(computation(last).end))
            }
        }
    }
}

impl Solver<Timelines> for Turns {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solve(
        &self,
        problem: &TimelineProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Timelines>,
    ) -> Result<Outcome<Timelines>, SolveError> {
        solved(self, problem, budget, observer)
    }

    fn solution(
        &self,
        problem: &TimelineProblem,
        budget: &mut Budget,
    ) -> Result<Option<Timeline>, SolveError> {
        if problem.too_large().is_some() {
            return Ok(None);
        }
        let mut growing = Growing::new(problem, slots(self.name, problem, &self.sizes(problem))?);
        let mut turn = 0;
        for at in 0..problem.len() {
            growing.add(|growing| {
                let buffer = if self.fetch == Fetch::WithPrevious { at % 2 } else { turn % self.buffers };
                let (channel, free) = growing.channel();
                let start = self.start(growing, at, turn, free);
                let copies = self.fetch == Fetch::AfterPrevious && problem.copy_rate().is_some();
                let channel = Some(channel).filter(|_| !copies);
                Place { channel, start, offset: growing.timeline.slots[buffer].offset }
            });
            turn += usize::from(problem.load(at).is_some());
        }
        Ok(Some(growing.finish(budget)))
    }
}
