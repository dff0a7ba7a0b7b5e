//! Fetching across the border of a branch, before it is known which region runs.
//!
//! S0's rules let nothing overlap across a border. Here one transfer may: while the segment before a branch computes,
//! the first weights of one of its regions are fetched. The branch waits until they are there, whichever region runs; if it is the
//! other, they are dropped, and what was paid is the wait and the room. If it is the one guessed, its operator
//! has its weights, and their buffer is held until the region's first segment ends.

use super::{ScheduleError, made};
use crate::run::Limits;
use plimsoll_model::timelines::{
    Course, OverlapProgram, Piece, Time, TimedOperator, Timeline, TimelineProblem, Timelines,
};
use plimsoll_model::{Bytes, Entry, OperatorId, Setup};

/// For which region weights are fetched ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The likeliest, if it has anything to fetch first; of equals the one with most to fetch, then the first.
    Likely,
    /// The one of which, taken together with how unlikely it is, the fewest bytes are fetched in vain.
    Cheap,
    /// Whichever, or none, makes the expected time least.
    Best,
}

/// What one branch gained.
#[derive(Clone, Debug)]
pub struct Speculation {
    /// The operator that owns its regions.
    pub operator: OperatorId,
    /// Which of its regions was guessed, from 0.
    pub region: usize,
    /// How likely it is.
    pub chance: f64,
    /// The operator whose weights are fetched ahead.
    pub fetched: String,
    /// How many bytes.
    pub bytes: Bytes,
    /// How much longer the segment before takes.
    pub cost: Time,
    /// How much sooner the segment guessed ends; negative where its memory became too little to gain.
    pub saved: i128,
}

impl Speculation {
    /// Seconds gained on average.
    pub fn gain(&self) -> f64 {
        self.chance * self.saved as f64 / 1e12 - self.cost.seconds()
    }
}

/// Times of all segments, and what was fetched ahead.
#[derive(Clone, Debug)]
pub struct Speculated {
    /// Per segment: when it ends.
    pub times: Vec<Time>,
    /// Per branch where weights are fetched ahead.
    pub guesses: Vec<Speculation>,
}

/// Two segments with one transfer moved from the second into the first.
struct Moved {
    region: usize,
    before: usize,
    after: usize,
    speculation: Speculation,
    times: [Time; 2],
}

/// Fetches ahead at every branch that follows a segment of its own region; each on its own, from the outside in.
///
/// `times` are the ends of all segments by this schedule, `chances` gives how likely the regions of an operator are.
/// With [`Guess::Likely`] and [`Guess::Cheap`] the guess stays even where it loses: that is its cost.
///
/// # Errors
/// What the checker refuses.
pub fn speculate(
    program: &OverlapProgram,
    times: &[Time],
    guess: Guess,
    chances: &dyn Fn(OperatorId) -> Vec<f64>,
    by: (&Entry<Timelines>, Setup, Limits),
) -> Result<Speculated, ScheduleError> {
    let mut found = Speculated { times: times.to_vec(), guesses: Vec::new() };
    let mut open: Vec<&Course> = vec![program.course()];
    let mut watch = by.2.watch();
    // A segment takes part once: its timeline would have to be made for both.
    let mut used = vec![false; times.len()];
    while let Some(course) = open.pop() {
        for (at, piece) in course.iter().enumerate() {
            match piece {
                Piece::Segment(_) => {}
                Piece::Loop { condition, body, .. } => open.extend([condition, body]),
                Piece::Branch { operator, courses } => {
                    open.extend(courses);
                    let Some(Piece::Segment(before)) = at.checked_sub(1).map(|at| &course[at]) else {
                        continue;
                    };
                    let branch = Branch { operator: *operator, courses, before: *before };
                    if watch.check().is_some() {
                        return Ok(found);
                    }
                    let moves = branch.moves(program, &found.times, &used, (guess, chances), by)?;
                    let Some(one) = chosen(moves, guess) else { continue };
                    for (segment, time) in [one.before, one.after].into_iter().zip(one.times) {
                        (found.times[segment], used[segment]) = (time, true);
                    }
                    found.guesses.push(one.speculation);
                }
            }
        }
    }
    Ok(found)
}

/// The regions of a branch, and the segment before it.
struct Branch<'a> {
    operator: OperatorId,
    courses: &'a [Course],
    before: usize,
}

impl Branch<'_> {
    /// What may be moved to the segment before: of one region each, where neither segment is used yet.
    fn moves(
        &self,
        program: &OverlapProgram,
        times: &[Time],
        used: &[bool],
        (guess, chances): (Guess, &dyn Fn(OperatorId) -> Vec<f64>),
        by: (&Entry<Timelines>, Setup, Limits),
    ) -> Result<Vec<Moved>, ScheduleError> {
        let (operator, before) = (self.operator, self.before);
        let chances = chances(operator);
        let likeliest = chances.iter().copied().fold(0.0, f64::max);
        let mut moves = Vec::new();
        for (region, (course, chance)) in self.courses.iter().zip(chances).enumerate() {
            // Who guesses the likeliest fetches nothing for another, even where that one needs nothing.
            if guess == Guess::Likely && chance < likeliest {
                continue;
            }
            let Some(&Piece::Segment(after)) = course.first() else { continue };
            if !used[before] && !used[after] {
                let ends = [times[before], times[after]];
                let pair = Pair { operator, region, before, after, chance, ends };
                moves.extend(moved(program, &pair, by)?);
            }
        }
        Ok(moves)
    }
}

fn chosen(moves: Vec<Moved>, guess: Guess) -> Option<Moved> {
    let wasted = |one: &Moved| (1.0 - one.speculation.chance) * one.speculation.bytes.get() as f64;
    let gain = |one: &Moved| one.speculation.gain();
    match guess {
        // Only the likeliest are among them.
        Guess::Likely => moves
            .into_iter()
            .max_by(|a, b| a.speculation.bytes.cmp(&b.speculation.bytes).then(b.region.cmp(&a.region))),
        Guess::Cheap => {
            moves.into_iter().min_by(|a, b| wasted(a).total_cmp(&wasted(b)).then(a.region.cmp(&b.region)))
        }
        Guess::Best => {
            let gains = moves.into_iter().filter(|one| gain(one) > 0.0);
            gains.max_by(|a, b| gain(a).total_cmp(&gain(b)).then(b.region.cmp(&a.region)))
        }
    }
}

/// A segment before a branch, and the first of one of its regions.
struct Pair {
    operator: OperatorId,
    region: usize,
    before: usize,
    after: usize,
    chance: f64,
    ends: [Time; 2],
}

/// Moves the first transfer of the second segment to the end of the first; none where there is none or it does not fit.
fn moved(
    program: &OverlapProgram,
    pair: &Pair,
    by: (&Entry<Timelines>, Setup, Limits),
) -> Result<Option<Moved>, ScheduleError> {
    let (before, after) = (&program.segments()[pair.before], &program.segments()[pair.after]);
    let Some(&first) = after.problem.weighted().first() else { return Ok(None) };
    let one = &after.problem.operators()[first];
    let ahead = TimedOperator {
        name: format!("{} (ahead)", one.name),
        compute: Time::ZERO,
        weights: one.weights,
        activations: before.border,
    };
    let mut operators = before.problem.operators().to_vec();
    operators.push(ahead);
    let capacity = before.problem.capacity();
    let Some((time, timeline)) = again(&before.problem, operators, capacity, by)? else { return Ok(None) };
    // What lies above the buffer stays unused, so that nothing in the segment guessed touches it.
    let Some(held) = timeline.transfers.iter().find(|one| one.operator.index() == before.problem.len())
    else {
        return Ok(None);
    };
    let mut operators = after.problem.operators().to_vec();
    operators[first].weights = Bytes::ZERO;
    let Some((later, _)) = again(&after.problem, operators, held.offset, by)? else { return Ok(None) };
    let speculation = Speculation {
        operator: pair.operator,
        region: pair.region,
        chance: pair.chance,
        fetched: one.name.clone(),
        bytes: one.weights,
        cost: time.saturating_sub(pair.ends[0]),
        saved: i128::from(pair.ends[1].get()) - i128::from(later.get()),
    };
    let Pair { region, before, after, .. } = *pair;
    Ok(Some(Moved { region, before, after, speculation, times: [time, later] }))
}

/// Another timeline for a segment; none where the schedule finds none.
fn again(
    problem: &TimelineProblem,
    operators: Vec<TimedOperator>,
    capacity: Bytes,
    by: (&Entry<Timelines>, Setup, Limits),
) -> Result<Option<(Time, Timeline)>, ScheduleError> {
    let Ok(problem) = problem.with(operators, capacity) else { return Ok(None) };
    if problem.too_large().is_some() {
        return Ok(None);
    }
    let (entry, setup, limits) = by;
    match made(&problem, (entry.build)(setup).as_ref(), limits) {
        Ok(timeline) => Ok(Some((timeline.makespan(), timeline))),
        Err(error @ ScheduleError::Refused { .. }) => Err(error),
        Err(_) => Ok(None),
    }
}
