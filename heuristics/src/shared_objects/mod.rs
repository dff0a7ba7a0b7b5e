//! Heuristics for shared objects. Every buffer occupies a whole object while it is live.
//!
//! **Definition.** Buffers are processed in an order. For each buffer, a rule chooses either an existing
//! object without a conflicting member, or a new object. An object is as large as its largest member,
//! rounded up to an alignment. The total is the sum of the sizes of all objects. Alignments of buffers and
//! fixed offsets concern addresses and are ignored.
//!
//! | planner | order | choice of a free object | alignment of sizes in bytes |
//! |---|---|---|---|
//! | mini-infer | descending size | first opened | 256 |
//! | max-block (CANN) | execution | first opened | 512 |
//! | binary-block (CANN) | execution | first opened of the same size class | 512 |
//! | equality | execution | first opened of equal size | 1 |
//! | in-order | execution | smallest sufficient, or the largest grows | 1 |
//! | shared-greedy-by-size | descending size | smallest sufficient | 1 |
//! | shared-greedy-by-breadth | most loaded steps first | smallest sufficient, or the largest grows | 1 |
//! | shared-greedy-by-size-improved | size stages, closest in time first | closest in time, may grow | 1 |
//! | min-cost-flow | all at once, by minimum-cost flow | inherits from one dead buffer | 1 |
//!
//! The parameter `-rounding` replaces an alignment above 1 by 1.
//!
//! **Invariants.** Members of an object never conflict. No object is larger than the rounded size of its
//! largest member.
//!
//! **Complexity.** O(n p log n) for n buffers and p objects if conflicts are overlaps in time, and
//! otherwise O(n^2) conflict tests. Memory is linear.
//!
//! **Bound.** Without exclusions, simultaneously live buffers need different objects, so the load is a lower
//! bound on the total. With exclusions, the lower bound is the largest size. Bounds from fixed offsets do not
//! hold for shared objects.

mod flow;
mod improved;
mod maxima;
mod pool;
mod registry;

pub(crate) use flow::least_cost_flow;
pub(crate) use improved::improved_by_size;
pub use maxima::positional_maxima;
pub use pool::{Classes, PoolChoice, PoolGreedy};
pub use registry::ENTRIES;

use crate::offsets::report::{Fallback, single_with_parameters};
use plimsoll_model::{
    Budget, Bytes, Instance, Parameter, PoolId, PoolPlan, Setup, SharedObjects, Solver, Stop,
};

/// Creates a heuristic that assigns buffers to shared objects. Sizes of objects are rounded up to the
/// alignment, unless the setup switches that off.
pub(crate) fn assigning(
    name: &'static str,
    (alignment, setup): (Bytes, Setup),
    assign: impl Fn(&Instance, &mut Budget) -> Result<Vec<PoolId>, Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<SharedObjects>> {
    let one = Bytes::new(1);
    let parameters: &[Parameter] = if alignment > one { &[ROUNDING] } else { &[] };
    let alignment = if setup.has(ROUNDING.name) { one } else { alignment };
    single_with_parameters(name, parameters, move |input: &Instance, budget| {
        Ok(Some(PoolPlan::fitted(input, assign(input, budget)?, alignment)))
    })
}

/// The parameter of heuristics that round up sizes.
const ROUNDING: Parameter = Parameter { name: "-rounding", about: "sizes are not rounded up" };

impl Fallback for SharedObjects {
    /// Gives every buffer an object of its own.
    fn fallback(instance: &Instance) -> Option<PoolPlan> {
        Some(PoolPlan::fitted(instance, (0..instance.len()).map(PoolId::at).collect(), Bytes::new(1)))
    }
}
