//! Sweeps whose states are stored as a proof.

use super::pass::{Limit, PassEnd, Sequence, Trail};
use super::refute::GROWTH;
use super::{ArrangementRules, Wrong};
use crate::search::valley::Reduced;
use plimsoll_model::{Budget, Instance, Stop, sections};
use std::io::{self, Write};

/// A sweep that leaves no arrangement: the steps, and the trees of arrangements at each of them.
#[derive(Clone, Debug)]
pub(crate) struct Swept {
    /// Bytes per unit.
    unit: u64,
    /// The position in the instance of each buffer of the sweep.
    pub origin: Vec<u32>,
    /// Per step that the sweep passed: its number in the instance, and its trees. The first step has no
    /// trees, because all arrangements are possible there. The last step has none, because no arrangement is
    /// left.
    steps: Vec<(u64, Vec<String>)>,
}

impl Swept {
    /// Writes the statements of the sweep.
    pub fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        writeln!(file, "sweep {}", self.unit)?;
        for (step, trees) in &self.steps {
            writeln!(file, "at {step}")?;
            trees.iter().try_for_each(|tree| writeln!(file, "tree {tree}"))?;
        }
        Ok(())
    }
}

/// Sweeps from all starts in both directions, with growing limits, at the capacity just below `bound` bytes.
/// Ends when a sweep has no arrangement left or the limits are exhausted. In a proof, every state must follow
/// from the states of the preceding step. Sweeps in opposite directions are therefore not compared, and only
/// holes are interchangeable. Returns `None` if no sweep refutes the capacity.
///
/// # Errors
/// If the budget runs out.
pub(crate) fn certify(
    instance: &Instance,
    bound: u64,
    rules: ArrangementRules,
    budget: &mut Budget,
) -> Result<Option<Swept>, Stop> {
    let Some(reduced) = Reduced::of(instance) else { return Ok(None) };
    let capacity = ((bound - 1) / reduced.grain) as i64;
    let Some(mut sequence) = Sequence::at(&reduced, capacity, rules, false) else { return Ok(None) };
    if rules.is_wrong(Wrong::Groups) {
        sequence.forget_large_groups();
    }
    if rules.is_wrong(Wrong::Waste) {
        sequence.steps.list.iter_mut().for_each(|step| step.waste = step.waste.saturating_sub(1));
    }
    let mut starts: Vec<(usize, bool)> = sequence.steps.starts().collect();
    starts.sort_by_key(|&(at, backwards)| (sequence.steps.list[at].live.len(), at, backwards));
    let mut most = rules.first;
    let narrow = rules.is_wrong(Wrong::Dominance);
    while most <= rules.last && !starts.is_empty() {
        let limit = Limit { most: if narrow { 1 } else { most }, beam: narrow, nodes: u64::MAX };
        let mut at = 0;
        while at < starts.len() {
            let (from, backwards) = starts[at];
            let mut trail = Trail::default();
            let end = sequence.sweep(from, backwards, limit, &[], &mut trail, budget);
            match if narrow && end == PassEnd::TooMany { PassEnd::Refuted } else { end } {
                PassEnd::Refuted => {
                    let sections = sections(instance);
                    let number = |section: usize| sections[section].interval.lower.get();
                    return Ok(Some(sequence.swept(&reduced, (from, backwards), &trail, &number)));
                }
                PassEnd::Stopped(stop) => return Err(stop),
                // A sweep from the same start with a higher limit would have the same result.
                PassEnd::Through => drop(starts.remove(at)),
                PassEnd::TooMany => at += 1,
            }
        }
        most *= GROWTH;
    }
    Ok(None)
}

impl Sequence {
    /// Converts the states of a sweep to text. `number` returns the step of a section.
    fn swept(
        &self,
        reduced: &Reduced,
        (from, backwards): (usize, bool),
        trail: &Trail,
        number: &dyn Fn(usize) -> u64,
    ) -> Swept {
        let passed = 0..=trail.states.len();
        let at = |i: usize| &self.steps.list[if backwards { from - i } else { from + i }];
        let mut used: Vec<u32> = passed.clone().flat_map(|i| at(i).live.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        let step = |i: usize| {
            let step = at(i);
            let name = |leaf: u8| {
                let buffer = step.live.iter().find(|&&buffer| self.steps.leaf_of(buffer) == leaf);
                let place = buffer.and_then(|buffer| used.binary_search(buffer).ok());
                place.map_or_else(|| "*".to_owned(), |place| place.to_string())
            };
            let listed = trail.states.get(i).filter(|_| i > 0);
            let trees = listed.map_or(Vec::new(), |states| {
                (0..states.len()).map(|state| crate::pqtree::words(states.key(state), &name)).collect()
            });
            (number(step.section), trees)
        };
        let steps = passed.map(step).collect();
        let origin = used.iter().map(|&buffer| reduced.origin[buffer as usize]).collect();
        Swept { unit: reduced.grain, origin, steps }
    }
}
