//! The memories of a region, and what is known of its operators.

use crate::bits::BitMatrix;
use crate::orders::{Order, OrderProblem};
use crate::units::OperatorId;

/// What needs memory.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) name: String,
    /// Who touches it, ascending.
    pub(super) users: Vec<OperatorId>,
    /// Who writes it: operators whose memory it is.
    pub(super) makers: Vec<OperatorId>,
    pub(super) from_start: bool,
    pub(super) to_end: bool,
}

impl Memory {
    /// True if it is held before the first operator only.
    pub(super) fn is_unused(&self) -> bool {
        self.users.is_empty() && !self.to_end
    }
}

/// The memories of one region under one order, with what is known of its operators.
#[derive(Clone, Debug)]
pub struct Structure<'a> {
    pub(super) problem: &'a OrderProblem,
    pub(super) order: &'a Order,
    /// Per operator: its step in the order.
    pub(super) step: Vec<usize>,
    pub(super) memories: Vec<Memory>,
    /// Who must run before whom, by any path.
    pub(super) reach: BitMatrix,
}
