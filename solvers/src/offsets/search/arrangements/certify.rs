//! Sweeps whose states are stored as a proof.

use super::bonds::{Bond, Bonds};
use super::pass::{Limit, PassEnd, Sequence, Trail};
use super::refute::GROWTH;
use super::{ArrangementRules, Wrong};
use crate::offsets::search::valley::Reduced;
use crate::pqtree::Leaves;
use plimsoll_model::{Budget, Instance, Stop, sections};
use std::io::{self, Write};

/// Per step that a sweep passes: its number in the instance, and the statements that list its trees.
type Listed = Vec<(u64, Vec<String>)>;

/// A sweep that leaves no arrangement, after other sweeps that show its bonds.
#[derive(Clone, Debug)]
pub(crate) struct Swept {
    /// Bytes per unit.
    unit: u64,
    /// The position in the instance of each buffer of the sweep.
    pub origin: Vec<u32>,
    /// The first step of a sweep has no statements, because all arrangements are possible there. The last
    /// step of the last sweep has none, because no arrangement is left.
    sweeps: Vec<Listed>,
}

impl Swept {
    /// Writes the statements of the sweep.
    pub fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        for steps in &self.sweeps {
            writeln!(file, "sweep {}", self.unit)?;
            for (step, statements) in steps {
                writeln!(file, "at {step}")?;
                statements.iter().try_for_each(|statement| writeln!(file, "{statement}"))?;
            }
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
    if rules.bonds {
        sequence.bonds = Bonds::of(&sequence.steps, rules.is_wrong(Wrong::Bonds), budget);
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
        let step = |i: usize| if backwards { from - i } else { from + i };
        let last = trail.states.len();
        let chains = self.bonds.behind((from, step(last)), backwards);
        let steps = (0..=last).map(step).chain(chains.iter().flatten().map(|&(at, _)| at));
        let mut used: Vec<u32> = steps.flat_map(|at| self.steps.list[at].live.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        let place =
            |buffer: &u32| used.binary_search(buffer).map(|place| place.to_string()).unwrap_or_default();
        let named = |at: usize, statements| (number(self.steps.list[at].section), statements);
        let bond = |at: usize, bond: Bond| {
            let words = |set: Leaves| {
                let live =
                    self.steps.list[at].live.iter().filter(|&&buffer| self.steps.leaf(buffer) & set != 0);
                live.map(place).collect::<Vec<String>>()
            };
            let loose = Some("|".to_owned()).filter(|_| bond.loose != 0);
            let words = words(bond.set).into_iter().chain(loose).chain(words(bond.loose));
            format!("bond {}", words.collect::<Vec<String>>().join(" "))
        };
        let trees = |i: usize| {
            let name = |leaf: u8| {
                let live = &self.steps.list[step(i)].live;
                live.iter().find(|&&buffer| self.steps.leaf_of(buffer) == leaf).map_or("*".to_owned(), place)
            };
            let states = trail.states.get(i).filter(|_| i > 0);
            let words = states.map_or(Vec::new(), |states| {
                (0..states.len()).map(|state| crate::pqtree::words(states.key(state), &name)).collect()
            });
            words.into_iter().map(|tree| format!("tree {tree}")).collect()
        };
        let shown = chains.iter().map(|steps| {
            let steps = steps.iter();
            steps.map(|&(at, own)| named(at, own.map(|own| bond(at, own)).into_iter().collect())).collect()
        });
        let swept = (0..=last).map(|i| named(step(i), trees(i))).collect();
        let sweeps: Vec<Listed> = shown.chain([swept]).collect();
        let origin = used.iter().map(|&buffer| reduced.origin[buffer as usize]).collect();
        Swept { unit: reduced.grain, origin, sweeps }
    }
}
