//! A lower bound on the peak of a program over all orders and layouts.
//!
//! The offset problem of a program depends on the orders of its regions, but this bound is valid for all of
//! them. While an operator without regions runs, two kinds of buffers are live. The first kind consists of
//! the buffers of the operator's own region that are live around the operator in every order
//! ([`around_bytes`]). The second kind consists of buffers of the enclosing regions. In each enclosing
//! region, one operator owns the inner region that contains the running operator. The buffers that begin
//! before this owning operator and are used after it are live.
//!
//! A buffer whose last user is the owning operator itself may be dead while an operator inside the owned
//! regions runs. A buffer whose first user is the owning operator may not be live yet. When the owning
//! operator is entered, all buffers that begin before it and are used by it or later are live. When this
//! operator exits, all buffers that begin no later than it and are used after it are live. All inputs of the
//! body are live at the start, and all its outputs at the end.

use super::ProgramError;
use crate::graph::{Graph, LivenessOptions, Storages};
use crate::orders::{OrderProblem, around_bytes};
use crate::units::{Bytes, OperatorId, RegionId};

/// A lower bound that is valid for all orders, with the operator at which it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBound {
    /// The bound in bytes. Whatever the orders of the regions, every layout needs at least this much memory.
    pub value: Bytes,
    /// The operator of the graph during which these bytes are live; `None` for the start or the end of the
    /// graph.
    pub operator: Option<OperatorId>,
}

impl ProgramBound {
    /// Computes the bound of a graph. O(n (e + u) / 64) for each region with n operators, e edges and u users
    /// of storages, plus O(e + u) for each operator that owns regions.
    ///
    /// # Errors
    /// [`ProgramError::Region`] if sizes add up to 2^63 bytes or more.
    pub fn of(graph: &Graph, options: &LivenessOptions) -> Result<Self, ProgramError> {
        let mut best = Self { value: Bytes::ZERO, operator: None };
        // Per region: the bytes of enclosing regions that are live while the region runs.
        let mut outside = vec![0u64; graph.regions().len()];
        for region in (0..graph.regions().len()).map(RegionId::at) {
            let name = || graph.region_called(region);
            let made = graph
                .storages(region, options, |_| Bytes::ZERO)
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

/// The bytes that are live in every order around an operator that owns regions, including the operator's
/// scratch.
struct OwnerBytes {
    /// The bytes live when the operator is entered.
    entered: u64,
    /// The bytes live during the whole run of the operator.
    through: u64,
    /// The bytes live when the operator exits.
    left: u64,
}

impl OwnerBytes {
    /// Computes the bytes that are live around an operator. O(e + u) for e edges and u users of storages.
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
            let add = |live: bool| if live { storage.size.get() } else { 0 };
            bytes.entered += add(begun && (used || touched));
            bytes.through += add(begun && used);
            bytes.left += add((begun || touched) && used);
        }
        bytes
    }
}
