//! What no orders and no layouts of a program go below.
//!
//! The offset problem of a program follows from the orders of its regions; this bound holds for all of them. While an
//! operator without regions runs, whatever is alive around it in its own region in every order is
//! ([`around_bytes`](crate::orders::around_bytes)), and so is, of every region around it, what is begun before the
//! operator that owns the next region inside, and used after it. What that operator itself touches may be dead by
//! then, or not yet there: when it is entered, all that is begun before and used by it or later is alive, and when it is
//! left, all that is begun by it or before and used later. Before anything runs, all that the body is given is there; at
//! the end, all that is wanted of it.

use super::ProgramError;
use crate::graph::{Graph, LivenessOptions, Storages};
use crate::orders::{OrderProblem, around_bytes};
use crate::units::{Bytes, OperatorId, RegionId};

/// A bound over all orders, and where it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBound {
    /// No layout under any orders takes less.
    pub value: Bytes,
    /// The operator during which so much is alive, of the graph; none where that is at the start or at the end.
    pub operator: Option<OperatorId>,
}

impl ProgramBound {
    /// The bound of a graph. O(n e / 64) for the operators and edges of a region, and O(e) per operator that owns regions.
    ///
    /// # Errors
    /// [`ProgramError::Region`] where sizes leave 63 bits.
    pub fn of(graph: &Graph, options: &LivenessOptions) -> Result<Self, ProgramError> {
        let mut best = Self { value: Bytes::ZERO, operator: None };
        // Per region: bytes that are alive around it all the time it runs.
        let mut outside = vec![0u64; graph.regions().len()];
        for region in (0..graph.regions().len()).map(RegionId::at) {
            let name = || graph.region(region).name.clone();
            let made = graph
                .storages(region, &options.inside(region), |_| Bytes::ZERO)
                .map_err(|source| ProgramError::Region { region: name(), source })?;
            let Storages { problem, operators, .. } = &made;
            if region == Graph::BODY {
                best.value = problem.at_start().max(problem.at_end());
            }
            let base = outside[region.index()];
            for (own, bytes) in around_bytes(problem).into_iter().enumerate() {
                let id = operators[own];
                let inner = &graph.operator(id).regions;
                let bytes = if inner.is_empty() {
                    bytes
                } else {
                    let owner = OwnerBytes::of(problem, OperatorId::at(own));
                    for region in inner {
                        outside[region.index()] = base.saturating_add(owner.through);
                    }
                    owner.entered.max(owner.left)
                };
                let value = Bytes::new(base.saturating_add(bytes));
                if value > best.value {
                    best = Self { value, operator: Some(id) };
                }
            }
        }
        Ok(best)
    }
}

/// Bytes that are alive around an operator that owns regions, in every order, its scratch among them.
struct OwnerBytes {
    /// When it is entered.
    entered: u64,
    /// All the time it runs.
    through: u64,
    /// When it is left.
    left: u64,
}

impl OwnerBytes {
    /// O(e + users).
    fn of(problem: &OrderProblem, operator: OperatorId) -> Self {
        let reach = |next: &dyn Fn(OperatorId) -> Vec<OperatorId>| {
            let mut seen = vec![false; problem.len()];
            let mut todo = next(operator);
            while let Some(at) = todo.pop() {
                if !std::mem::replace(&mut seen[at.index()], true) {
                    todo.extend(next(at));
                }
            }
            seen
        };
        let before = reach(&|at| problem.predecessors(at).to_vec());
        let after = reach(&|at| problem.successors(at).to_vec());
        let scratch = problem.scratch(operator).get();
        let mut bytes = Self { entered: scratch, through: scratch, left: scratch };
        for storage in problem.storages() {
            let any = |seen: &[bool]| storage.users.iter().any(|user| seen[user.index()]);
            let (begun, used) = (storage.from_start || any(&before), storage.to_end || any(&after));
            let touched = storage.users.contains(&operator);
            let add = |alive: bool| if alive { storage.size.get() } else { 0 };
            bytes.entered += add(begun && (used || touched));
            bytes.through += add(begun && used);
            bytes.left += add((begun || touched) && used);
        }
        bytes
    }
}
