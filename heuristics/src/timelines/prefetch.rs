//! Prefetching into any free memory.

use super::growing::{Growing, Place, solved};
use plimsoll_model::timelines::{Time, Timeline, TimelineProblem, Timelines};
use plimsoll_model::{Budget, Bytes, Observer, Outcome, SolveError, Solver};

/// Fetches weights in the order of the operators. A transfer starts as soon as a channel is free and the
/// weights fit above all activations from then until the operator has run. The weights are placed at the
/// highest free address.
///
/// This schedule finds a timeline whenever one exists. After the previous operator has run, all other buffers
/// are free, so the transfer can start at that time at the latest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prefetch;

impl Solver<Timelines> for Prefetch {
    fn name(&self) -> &'static str {
        "prefetch"
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
        let mut growing = Growing::new(problem, Vec::new());
        for at in 0..problem.len() {
            growing.add(|growing| earliest(growing, at));
        }
        Ok(Some(growing.finish(budget)))
    }
}

/// Returns the earliest possible transfer and the highest address for it. Free memory grows only when a
/// computation ends, so only these times and the time at which a channel is first free are tried.
fn earliest(growing: &Growing<'_>, at: usize) -> Place {
    let (channel, free) = growing.channel();
    let computations = &growing.timeline.computations;
    let after = computations.partition_point(|span| span.end <= free);
    let ends = computations[after..].iter().map(|span| span.end);
    for (skipped, start) in std::iter::once(free).chain(ends).enumerate() {
        // The first operator whose computation ends after `start`.
        let from = after + skipped;
        let activations = growing.problem.operators()[from.min(at)..=at].iter().map(|one| one.activations);
        let floor = activations.max().unwrap_or(Bytes::ZERO);
        if let Some(offset) = highest(growing, at, start).filter(|offset| *offset >= floor) {
            return Place { channel: Some(channel), start, offset };
        }
    }
    unreachable!("every operator fits on chip once all earlier operators have run")
}

/// Returns the highest address at which the weights of an operator fit if their transfer begins at `start`.
fn highest(growing: &Growing<'_>, at: usize, start: Time) -> Option<Bytes> {
    let (problem, timeline) = (growing.problem, &growing.timeline);
    let occupied = timeline.transfers.iter().rev();
    let occupied = occupied.take_while(|one| timeline.computations[one.operator.index()].end > start);
    // With several channels, these address ranges may overlap, since one buffer may be filled after another
    // one is freed.
    let taken = occupied.map(|one| (one.offset.get() + one.size.get(), one.offset));
    problem.highest_free(problem.buffer(at), taken.collect())
}
