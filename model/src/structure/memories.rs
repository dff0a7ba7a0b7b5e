//! The allocations of a region, and the precedences of its operators.

use crate::orders::{Order, OrderProblem};
use crate::units::OperatorId;
use plimsoll_support::BitMatrix;

/// A storage or the scratch of an operator. Two such allocations may conflict.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) name: String,
    /// The operators that use the allocation, ascending.
    pub(super) users: Vec<OperatorId>,
    /// The operators that write the allocation and therefore own it.
    pub(super) makers: Vec<OperatorId>,
    pub(super) from_start: bool,
    pub(super) to_end: bool,
}

impl Memory {
    /// Returns true if the allocation is held only before the first operator.
    pub(super) fn is_unused(&self) -> bool {
        self.users.is_empty() && !self.to_end
    }
}

/// The allocations of a region with one order of its operators, and the precedences of the operators.
#[derive(Clone, Debug)]
pub struct Structure<'a> {
    pub(super) problem: &'a OrderProblem,
    pub(super) order: &'a Order,
    /// Per operator: its step in the order.
    pub(super) step: Vec<usize>,
    pub(super) memories: Vec<Memory>,
    /// The transitive closure of the precedences.
    pub(super) reach: BitMatrix,
}
