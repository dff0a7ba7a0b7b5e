//! The memories of a region, and the precedences of its operators.

use crate::bits::BitMatrix;
use crate::orders::{Order, OrderProblem};
use crate::units::OperatorId;

/// A block of memory that takes part in conflicts.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) name: String,
    /// The operators that use it, ascending.
    pub(super) users: Vec<OperatorId>,
    /// The operators that write it and therefore own it.
    pub(super) makers: Vec<OperatorId>,
    pub(super) from_start: bool,
    pub(super) to_end: bool,
}

impl Memory {
    /// Returns true if it is held only before the first operator.
    pub(super) fn is_unused(&self) -> bool {
        self.users.is_empty() && !self.to_end
    }
}

/// The memories of one region under one order, and the precedences of its operators.
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
