//! Placement that exploits fused operators (cross-unit fusion, Alg. 1 to 3).
//!
//! - **Inside** a group (Alg. 2): a tensor that one unit produces and consumes goes to the buffer of this
//!   unit if more bytes are free there than the tensor needs. Otherwise, it goes to a RAM between the units
//!   involved, under the same condition, or else to off-chip memory.
//! - **Between** groups (Alg. 3): let group s produce a tensor, and let a later group d be its last consumer.
//!   The bytes produced by the groups from s (included) to d (excluded) are summed. If a RAM between the
//!   units of the tensor has more free bytes than this sum, the tensor is placed there. Otherwise, it is
//!   placed in off-chip memory.
//! - Graph inputs, and graph outputs without a consumer, go to off-chip memory. Algs. 2 and 3 do not
//!   mention them.
//!
//! If several tiers are possible, the fastest one with enough space is used. Alg. 1 as printed only subtracts
//! from the free bytes, so memory would soon fill up and stay full. `fused` releases the bytes of dead
//! tensors, but `fused-printed` does not. Both variants plan the same problem, so their results are
//! comparable. Unlike in the paper, a tensor that does not fit into off-chip memory goes to any tier with
//! space.

use super::fill::{Fill, off_chip};
use plimsoll_model::TierId;
use plimsoll_model::tiers::{TierKind, TierPlan, TierProblem};
use std::collections::BTreeMap;

/// The placement with Alg. 2 inside groups and Alg. 3 between them.
#[derive(Clone, Copy, Debug)]
pub struct Fused {
    /// Whether the bytes of dead tensors are released.
    returns: bool,
}

impl Fused {
    /// The variant that releases the bytes of dead tensors.
    pub const RETURNING: Self = Self { returns: true };
    /// The variant as printed, which never releases bytes.
    pub const PRINTED: Self = Self { returns: false };

    /// Plans a problem. Returns `None` if some tensor fits into no tier.
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
        let produced = run.produced_by_group();
        for at in between {
            run.between(at, &produced);
        }
        for at in order {
            if run.fill.tier(at).is_none() && !off_chip(&mut run.fill, problem, at) {
                run.fill.put_anywhere(at);
            }
        }
        run.fill.plan()
    }
}

/// The groups in execution order, with the bytes that they produce.
struct Produced {
    /// Per step: the position of its group.
    place: Vec<usize>,
    /// Prefix sums of the produced bytes by position.
    sums: Vec<u128>,
}

struct Run<'a> {
    problem: &'a TierProblem,
    returns: bool,
    fill: Fill<'a>,
    /// Per tier: the bytes allocated so far.
    used: Vec<u64>,
}

impl Run<'_> {
    /// Returns true if a tensor is produced and consumed within one group.
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

    /// Places a tensor in the fastest tier of a kind whose free bytes exceed both `needed` and the size of
    /// the tensor.
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

    /// Places a tensor inside a group with Alg. 2. A buffer belongs to one unit, so only tensors that this
    /// unit produces and consumes may be placed there.
    fn inside(&mut self, at: usize) {
        let _ = self.take(at, TierKind::Buffer, 0) || self.take(at, TierKind::Ram, 0);
    }

    fn produced_by_group(&self) -> Produced {
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
        Produced { place, sums }
    }

    /// Places a tensor between groups with Alg. 3.
    fn between(&mut self, at: usize, produced: &Produced) {
        let one = &self.problem.tensors()[at];
        let (Some(producer), Some(&last)) = (one.producer, one.consumers.last()) else { return };
        let (from, to) = (produced.place[producer], produced.place[last]);
        let needed = produced.sums[to.max(from + 1)] - produced.sums[from];
        self.take(at, TierKind::Ram, needed);
    }
}
