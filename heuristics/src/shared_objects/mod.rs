//! Shared objects: every buffer gets a whole object to itself while it is live.
//!
//! **Definition.** Buffers are taken in an order; each joins a pool none of whose members it conflicts with, chosen
//! by a rule, or opens a new one. A pool is as large as its largest member, rounded up to an alignment; the
//! total is the sum. Alignments of buffers and fixed offsets concern addresses and play no part.
//!
//! | planner | order | a free pool is chosen | sizes |
//! |---|---|---|---|
//! | mini-infer (S1) | size descending | first opened | 256 |
//! | max-block (S4) | execution | first opened | 512 |
//! | binary-block (S4) | execution | first opened of the same size class | 512 |
//! | equality | execution | first opened of equal size | 1 |
//! | in-order | execution | smallest that holds it, else the largest, which grows | 1 |
//! | shared-greedy-by-size | size descending | smallest that holds it | 1 |
//! | shared-greedy-by-breadth | busiest steps first | smallest that holds it, else the largest, which grows | 1 |
//! | shared-greedy-by-size-improved | stages of sizes descending, closest in time first | closest in time, which may grow | 1 |
//! | min-cost-flow | all at once: who takes over whose memory, at least cost | | 1 |
//!
//! **Invariants.** Members of a pool never conflict; a pool's size is that of its largest member.
//!
//! **Complexity.** O(n p log n) for p pools where conflicts are plain overlaps in time, O(n^2) pair tests
//! otherwise. Linear memory.
//!
//! **Bound.** Buffers alive together need different pools, so the load bounds the total where nothing is exclusive;
//! otherwise the largest size does. Bounds from fixed offsets do not hold for pools and are not used.

mod flow;
mod improved;
mod maxima;
mod pool;

pub(crate) use flow::least_cost_flow;
pub(crate) use improved::improved_by_size;
pub use maxima::positional_maxima;
pub use pool::{Classes, PoolChoice, PoolGreedy};

use crate::report::{Bounded, single};
use plimsoll_model::{
    Budget, Bytes, Instance, LowerBound, PoolId, PoolPlan, SharedObjects, Solver, Stop, Witness, load,
};

/// A heuristic that assigns buffers to pools. Sizes of pools are rounded up to the alignment.
pub(crate) fn assigning(
    name: &'static str,
    alignment: Bytes,
    assign: impl Fn(&Instance, &mut Budget) -> Result<Vec<PoolId>, Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<SharedObjects>> {
    single(name, move |input: &Instance, budget| {
        Ok(Some(PoolPlan::fitted(input, assign(input, budget)?, alignment)))
    })
}

impl Bounded for SharedObjects {
    /// The load, or with exclusions the largest size. O(n log n).
    fn bound(instance: &Instance) -> LowerBound {
        if instance.exclusions().is_empty() {
            if instance.is_empty() {
                return LowerBound::trivial();
            }
            let (value, step) = load(instance);
            return LowerBound::new(value, Witness::Load { step });
        }
        let largest = instance.ids().rev().max_by_key(|&id| instance.buffer(id).size());
        largest.map_or_else(LowerBound::trivial, |id| {
            LowerBound::new(instance.buffer(id).size(), Witness::Clique { buffers: vec![id] })
        })
    }
}
