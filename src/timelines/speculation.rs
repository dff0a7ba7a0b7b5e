//! Speculative fetching across the border of a branch, before the condition is known.
//!
//! Under the rules of the LUNA paper, nothing overlaps across a region border. Speculation allows one
//! exception: the first weights of one region of the branch are fetched while the segment before the branch
//! computes. The branch waits for this transfer, whichever region runs. If the guess is right, the operator
//! finds its weights on chip, and their buffer is occupied until the first segment of the region ends. If
//! the guess is wrong, the weights are discarded, and the waiting time and the memory are wasted.

use super::{ScheduleError, checked_timeline};
use crate::run::Limits;
use plimsoll_model::timelines::{
    ControlTree, OverlapProgram, Piece, Time, TimedOperator, Timeline, TimelineProblem, Timelines,
};
use plimsoll_model::{Bytes, Entry, OperatorId, Setup};

/// The rule that chooses the region whose weights are fetched ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The most likely region, if it has weights to fetch. Ties go to the region with the most bytes, then to
    /// the first.
    Likely,
    /// The region with the lowest expected number of bytes that are fetched but not used.
    Cheap,
    /// The region that gives the shortest expected time, or none if fetching ahead does not reduce this time.
    Best,
}

/// One speculative transfer at a branch, and its effect.
#[derive(Clone, Debug)]
pub struct Speculation {
    /// The operator that owns the regions.
    pub operator: OperatorId,
    /// Index of the guessed region, from 0.
    pub region: usize,
    /// Probability of the guessed region.
    pub chance: f64,
    /// Name of the operator whose weights are fetched ahead.
    pub fetched: String,
    /// Bytes fetched ahead.
    pub bytes: Bytes,
    /// Extra time of the segment before the branch.
    pub cost: Time,
    /// Time saved in the guessed segment, in picoseconds; negative if the segment takes longer because less
    /// memory remains for it.
    pub saved: i128,
}

impl Speculation {
    /// Returns the expected gain in seconds.
    pub fn gain(&self) -> f64 {
        self.chance * self.saved as f64 / 1e12 - self.cost.seconds()
    }
}

/// Times of all segments, and the transfers fetched ahead.
#[derive(Clone, Debug)]
pub struct Speculated {
    /// Makespan of every segment.
    pub times: Vec<Time>,
    /// One entry per branch at which weights are fetched ahead.
    pub guesses: Vec<Speculation>,
}

/// Two segments after one transfer has moved from the second into the first.
struct Moved {
    region: usize,
    before: usize,
    after: usize,
    speculation: Speculation,
    times: [Time; 2],
}

/// Chooses at most one transfer to fetch ahead at each branch that follows a segment of the enclosing region.
/// Each branch is processed separately, before the branches inside it. After the time has run out, no
/// further transfer is chosen.
///
/// `times` are the makespans of all segments under the schedule; `chances` returns the probabilities of the
/// regions of an operator. [`Guess::Likely`] and [`Guess::Cheap`] keep a guess even if it increases the
/// expected time.
///
/// # Errors
/// Returns an error if the checker rejects a timeline.
pub fn speculate(
    program: &OverlapProgram,
    times: &[Time],
    guess: Guess,
    chances: &dyn Fn(OperatorId) -> Vec<f64>,
    by: (&Entry<Timelines>, Setup, Limits),
) -> Result<Speculated, ScheduleError> {
    let mut found = Speculated { times: times.to_vec(), guesses: Vec::new() };
    let mut open: Vec<&ControlTree> = vec![program.control_tree()];
    let mut watch = by.2.watch();
    // Every segment takes part in at most one move, because its timeline accounts for only one move.
    let mut used = vec![false; times.len()];
    while let Some(control_tree) = open.pop() {
        for (at, piece) in control_tree.iter().enumerate() {
            match piece {
                Piece::Segment(_) => {}
                Piece::Loop { condition, body, .. } => open.extend([condition, body]),
                Piece::Branch { operator, control_trees } => {
                    open.extend(control_trees);
                    let Some(Piece::Segment(before)) = at.checked_sub(1).map(|at| &control_tree[at]) else {
                        continue;
                    };
                    let branch = Branch { operator: *operator, control_trees, before: *before };
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
    control_trees: &'a [ControlTree],
    before: usize,
}

impl Branch<'_> {
    /// Returns the possible moves of a transfer into the segment before the branch, at most one per region.
    /// Segments that take part in another move are excluded.
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
        for (region, (control_tree, chance)) in self.control_trees.iter().zip(chances).enumerate() {
            // `Likely` never fetches weights of a less likely region, even if the most likely one has none.
            if guess == Guess::Likely && chance < likeliest {
                continue;
            }
            let Some(&Piece::Segment(after)) = control_tree.first() else { continue };
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
        // The moves contain only the most likely regions.
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

/// The segment before a branch, and the first segment of one of its regions.
struct Pair {
    operator: OperatorId,
    region: usize,
    before: usize,
    after: usize,
    chance: f64,
    ends: [Time; 2],
}

/// Moves the first transfer of the second segment to the end of the first segment. Returns `None` if the
/// second segment has no transfer, or if no timeline is found for one of the changed segments.
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
    let Some((time, timeline)) = rescheduled(&before.problem, operators, capacity, by)? else {
        return Ok(None);
    };
    // The guessed segment leaves the addresses from the offset of these weights upwards unused, so that it
    // cannot overwrite them.
    let Some(held) = timeline.transfers.iter().find(|one| one.operator.index() == before.problem.len())
    else {
        return Ok(None);
    };
    let mut operators = after.problem.operators().to_vec();
    operators[first].weights = Bytes::ZERO;
    let Some((later, _)) = rescheduled(&after.problem, operators, held.offset, by)? else { return Ok(None) };
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

/// Schedules a changed segment. Returns `None` if the schedule finds no timeline.
fn rescheduled(
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
    match checked_timeline(&problem, (entry.build)(setup).as_ref(), limits) {
        Ok(timeline) => Ok(Some((timeline.makespan(), timeline))),
        Err(error @ ScheduleError::Refused { .. }) => Err(error),
        Err(_) => Ok(None),
    }
}
