//! Combines the methods: refutes capacities at the bound, and searches for layouts with a lower peak than
//! the best known one.

use super::ArrangementRules;
use super::beam::Beam;
use super::refute::{Found, Refuter};
use crate::search::valley::Reduced;
use crate::search::windows::Proof;
use plimsoll_model::Budget;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

    /// Tries to refute the capacity of `low` units with half of the nodes, and to find a layout at a
    /// capacity from `low` to `high` units with the other half. If the refutation has a result, the search
    /// for layouts is skipped or cancelled, and its nodes are not charged.
    pub fn prove(&mut self, low: i64, high: i64, nodes: u64, budget: &mut Budget) -> Proof {
        let nodes = budget.nodes_left().map_or(nodes, |left| left.min(nodes));
        let mut own = budget.part(Some(nodes / 2), None);
        let refuter = &mut self.refuter;
        if !self.rules.beam {
            let found = refuter.refute(low, &mut own);
            budget.spend(own.nodes());
            return Self::proof(found, low);
        }
        self.beams.retain(|capacity, _| (low..=high).contains(capacity));
        let cancel: Arc<AtomicBool> = Arc::default();
        let mut other = budget.part(Some(nodes / 2), None).with_cancel(Arc::clone(&cancel));
        let mut refute = || {
            let found = refuter.refute(low, &mut own);
            cancel.store(found.is_some(), Ordering::Relaxed);
            (Self::proof(found, low), own.nodes())
        };
        let (reduced, waste, beams) = (self.reduced, self.rules.waste, &mut self.beams);
        let mut search = || {
            let better = search(reduced, waste, beams, (low, high), &mut other);
            (better.unwrap_or(Proof::Nothing), other.nodes())
        };
        let ((proof, spent), later) = if self.parallel {
            std::thread::scope(|scope| {
                let searching = scope.spawn(&mut search);
                let refuted = refute();
                let later = searching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                (refuted, Some(later))
            })
        } else {
            (refute(), None)
        };
        budget.spend(spent);
        if proof != Proof::Nothing {
            return proof;
        }
        let (better, spent) = later.unwrap_or_else(search);
        budget.spend(spent);
        better
    }

    fn proof(found: Option<Found>, low: i64) -> Proof {
        match found {
            Some(Found::Refuted(window)) => Proof::Bound { bound: low + 1, window },
            Some(Found::Layout(offsets)) => Proof::Better { peak: low, offsets },
            None => Proof::Nothing,
        }
    }
}

/// Searches for a layout with half of the nodes at the lowest capacity, and with a quarter each at the next
/// higher and at the highest capacity.
fn search(
    reduced: &Reduced,
    waste: usize,
    beams: &mut BTreeMap<i64, Beam>,
    (low, high): (i64, i64),
    budget: &mut Budget,
) -> Option<Proof> {
    let nodes = budget.nodes_left().unwrap_or(u64::MAX);
    let load = reduced.load.iter().copied().max().unwrap_or(0);
    let high = high.min(load + waste as i64);
    let mut last = low - 1;
    for (capacity, share) in [(low, 2), (low + 1, 4), (high, 4)] {
        if capacity <= last || capacity > high || budget.check().is_some() {
            continue;
        }
        last = capacity;
        let mut part = budget.part(Some(nodes / share), None);
        let beam = beams.entry(capacity).or_insert_with(|| Beam::new(reduced, capacity, waste));
        let found = beam.search(reduced, &mut part);
        budget.spend(part.nodes());
        if let Some(offsets) = found {
            return Some(Proof::Better { peak: capacity, offsets });
        }
    }
    None
}
