//! Placement along fused operators (SOURCES S3, Alg. 1 to 3).
//!
//! - **Inside** a group (Alg. 2): what one of its operators hands to others goes to the buffer of their unit if it is the same and the
//!   bytes are fewer than those free there; else to a memory between their units, on the same condition; else off chip.
//! - **Between** groups (Alg. 3): for a tensor made by s and read by a later d, the bytes made by the groups from s up to d, its own
//!   included, are added up; if they are fewer than those free in a memory between its units, it stays on chip, else it goes off
//!   chip. Where several read it, the last decides.
//! - What Algs. 2 and 3 do not speak of goes off chip: what comes from outside, and outputs that nobody reads.
//!
//! Where several tiers serve, the fastest with room is taken. Alg. 1 as printed only takes off the free bytes; as memory would
//! soon be full for ever, `fused` gives bytes back when a tensor is dead, `fused-printed` does not. Either way the plan is one of
//! the same problem. Beyond the paper: a tensor for which memory off chip has no room goes wherever it fits.

use super::fill::{Fill, off_chip};
use plimsoll_model::TierId;
use plimsoll_model::tiers::{TierKind, TierPlan, TierProblem};
use std::collections::BTreeMap;

/// Alg. 2 inside groups, Alg. 3 between them.
#[derive(Clone, Copy, Debug)]
pub struct Fused {
    /// Whether bytes of dead tensors are free again.
    returns: bool,
}

impl Fused {
    /// With bytes given back.
    pub const RETURNING: Self = Self { returns: true };
    /// As printed.
    pub const PRINTED: Self = Self { returns: false };

    /// None where some tensor fits nowhere.
    pub fn plan(self, problem: &TierProblem) -> Option<TierPlan> {
        let mut run = Run {
            problem,
            returns: self.returns,
            fill: Fill::new(problem),
            used: vec![0; problem.spaces().len()],
        };
        let mut order: Vec<usize> = (0..problem.tensors().len()).collect();
        order.sort_by_key(|&at| (problem.tensors()[at].lower, at));
        let (inside, between): (Vec<usize>, Vec<usize>) = order.iter().partition(|&&at| run.is_inside(at));
        for at in inside {
            run.inside(at);
        }
        let made = run.made_by_group();
        for at in between {
            run.between(at, &made);
        }
        for at in order {
            if run.fill.tier(at).is_none() && !off_chip(&mut run.fill, problem, at) {
                run.fill.put_anywhere(at);
            }
        }
        run.fill.plan()
    }
}

/// Groups in the order they run, with the bytes each makes.
struct Made {
    /// Per step: the position of its group.
    place: Vec<usize>,
    /// Sums up to a position.
    sums: Vec<u128>,
}

struct Run<'a> {
    problem: &'a TierProblem,
    returns: bool,
    fill: Fill<'a>,
    /// Per tier: bytes ever taken.
    used: Vec<u64>,
}

impl Run<'_> {
    /// Made and read inside one group.
    fn is_inside(&self, at: usize) -> bool {
        let one = &self.problem.tensors()[at];
        let group = |step: usize| self.problem.steps()[step].group;
        let Some(producer) = one.producer else { return false };
        !one.consumers.is_empty() && one.consumers.iter().all(|&step| group(step) == group(producer))
    }

    fn free(&self, at: usize, tier: TierId) -> u64 {
        if self.returns {
            self.fill.free(at, tier)
        } else {
            self.problem.space(tier).capacity.get().saturating_sub(self.used[tier.index()])
        }
    }

    /// Takes the fastest tier of a kind for which the bytes needed are fewer than those free.
    fn take(&mut self, at: usize, kind: TierKind, needed: u128) -> bool {
        let options = self.problem.options(at);
        let tiers = options.into_iter().filter(|&tier| self.problem.space(tier).kind == kind);
        for tier in tiers.collect::<Vec<_>>() {
            let size = self.problem.size(at, tier).get();
            let free = u128::from(self.free(at, tier));
            if needed.max(u128::from(size)) < free && self.fill.put(at, tier) {
                self.used[tier.index()] += size;
                return true;
            }
        }
        false
    }

    /// Alg. 2. Buffers are of one unit, so only what one unit makes and reads may live there.
    fn inside(&mut self, at: usize) {
        let _ = self.take(at, TierKind::Buffer, 0) || self.take(at, TierKind::Ram, 0);
    }

    fn made_by_group(&self) -> Made {
        let mut position: BTreeMap<usize, usize> = BTreeMap::new();
        let mut place = Vec::with_capacity(self.problem.steps().len());
        for step in self.problem.steps() {
            let next = position.len();
            place.push(*position.entry(step.group).or_insert(next));
        }
        let mut sums = vec![0u128; position.len() + 1];
        for one in self.problem.tensors() {
            if let Some(step) = one.producer {
                sums[place[step] + 1] += u128::from(one.bytes.get());
            }
        }
        for at in 1..sums.len() {
            sums[at] += sums[at - 1];
        }
        Made { place, sums }
    }

    /// Alg. 3.
    fn between(&mut self, at: usize, made: &Made) {
        let one = &self.problem.tensors()[at];
        let (Some(producer), Some(&last)) = (one.producer, one.consumers.last()) else { return };
        let (from, to) = (made.place[producer], made.place[last]);
        let needed = made.sums[to.max(from + 1)] - made.sums[from];
        self.take(at, TierKind::Ram, needed);
    }
}
