//! Combines the methods: refutes capacities at the bound, and searches for layouts with a lower peak than
//! the best known one.

use super::ArrangementRules;
use super::beam::Beam;
use super::refute::Refuter;
use crate::offsets::search::valley::Reduced;
use crate::offsets::search::windows::Proof;
use plimsoll_model::Budget;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A search that runs beside the refutations, within a budget.
pub(crate) type Beside<'a> = dyn FnMut(&mut Budget) -> Proof + Send + 'a;

/// Sweeps over arrangements at capacities between a bound and the peak of a layout. Each call resumes where
/// the previous one ended.
#[derive(Debug)]
pub(crate) struct Arrangements<'a> {
    reduced: &'a Reduced,
    rules: ArrangementRules,
    refuter: Refuter<'a>,
    /// The searches for layouts, by capacity.
    beams: BTreeMap<i64, Beam>,
    /// Whether refutations and searches for layouts run in parallel.
    parallel: bool,
}

impl<'a> Arrangements<'a> {
    /// Prepares the sweeps in O(1).
    pub fn new(reduced: &'a Reduced, rules: ArrangementRules, threads: usize) -> Self {
        let (refuter, beams) = (Refuter::new(reduced, rules), BTreeMap::new());
        Self { reduced, rules, refuter, beams, parallel: threads > 1 }
    }

    /// See [`Reduced::is_flat`].
    pub fn is_flat(&self) -> bool {
        self.reduced.is_flat()
    }

    /// Refutes capacities from `low` units upwards with half of the nodes, and searches for layouts within
    /// `low` to `high` units with the other half. `beside` is a further search for such layouts. It runs
    /// before the beams and receives two thirds of the nodes of that half. Sweeps may exceed `nodes` because
    /// they finish the step that they have begun, but they never exceed the budget. With several threads,
    /// the refutations and the searches run in parallel.
    ///
    /// Returns the results of the searches and of the refutations. A layout within `low` units cancels the
    /// refutations, and a refutation of `high` units cancels the searches. Without `beside`, any refutation
    /// does so, because beams at refuted capacities are useless. The results and beams of a cancelled part
    /// are dropped and its nodes are not charged, so the outcome does not depend on the speed of threads.
    pub fn prove(
        &mut self,
        (low, high): (i64, i64),
        nodes: u64,
        beside: Option<&mut Beside<'_>>,
        budget: &mut Budget,
    ) -> Vec<Proof> {
        let most = budget.nodes_left().map(|left| left / 2);
        let nodes = most.map_or(nodes / 2, |most| most.min(nodes / 2));
        let flags: [Arc<AtomicBool>; 2] = Default::default();
        let part = |at: usize| budget.part(most, None).with_cancel(Arc::clone(&flags[at]));
        let (mut searching, mut refuting) = (part(0), part(1));
        self.beams.retain(|capacity, _| (low..=high).contains(capacity));
        let is_least =
            |proofs: &[Proof]| proofs.iter().any(|proof| proof.peak().is_some_and(|peak| peak <= low));
        let excludes = |proofs: &[Proof], units| proofs.iter().any(|proof| proof.excludes(units));
        let enough = if beside.is_some() { high } else { low };
        let (reduced, rules, beams) = (self.reduced, self.rules, &mut self.beams);
        let search = || {
            let mut found = Vec::new();
            if let Some(beside) = beside {
                let mut own = searching.part(Some(nodes / 3 * 2), None);
                found.extend(Some(beside(&mut own)).filter(|proof| *proof != Proof::Nothing));
                searching.spend(own.nodes());
            }
            // If a layout within `low` units was found, no capacity is left for beams.
            if rules.beam && !excludes(&found, high) {
                let lowest = found.iter().filter_map(Proof::peak).min();
                let high = lowest.map_or(high, |peak| peak - 1);
                let nodes = nodes.saturating_sub(searching.nodes());
                found.extend(search(reduced, rules, beams, (low, high), nodes, &mut searching));
            }
            flags[1].store(is_least(&found), Ordering::Relaxed);
            (found, searching.nodes())
        };
        let refuter = &mut self.refuter;
        let mut refute = || {
            let found = refuter.raise((low, high), nodes, &mut refuting);
            flags[0].store(excludes(&found, enough), Ordering::Relaxed);
            (found, refuting.nodes())
        };
        let (searched, refuted) = if self.parallel {
            std::thread::scope(|scope| {
                let searching = scope.spawn(search);
                let refuted = refute();
                let searched = searching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                (searched, refuted)
            })
        } else {
            let refuted = refute();
            (if excludes(&refuted.0, enough) { (Vec::new(), 0) } else { search() }, refuted)
        };
        let parts = if excludes(&refuted.0, enough) {
            self.beams.clear();
            vec![refuted]
        } else if is_least(&searched.0) {
            vec![searched]
        } else {
            vec![searched, refuted]
        };
        budget.spend(parts.iter().map(|part| part.1).sum());
        parts.into_iter().flat_map(|part| part.0).collect()
    }
}

/// Searches for a layout with half of the nodes at the lowest capacity, and with a quarter each at the next
/// higher and at the highest capacity.
fn search(
    reduced: &Reduced,
    rules: ArrangementRules,
    beams: &mut BTreeMap<i64, Beam>,
    (low, high): (i64, i64),
    nodes: u64,
    budget: &mut Budget,
) -> Option<Proof> {
    let load = reduced.highest_load();
    let high = high.min(load + rules.waste as i64);
    let mut last = low - 1;
    for (capacity, share) in [(low, 2), (low + 1, 4), (high, 4)] {
        if capacity <= last || capacity > high || budget.check().is_some() {
            continue;
        }
        last = capacity;
        let beam = beams.entry(capacity).or_insert_with(|| Beam::new(reduced, capacity, rules));
        if let Some(offsets) = beam.search(reduced, nodes / share, budget) {
            return Some(Proof::Better { peak: capacity, offsets });
        }
    }
    None
}
