//! The joint problem: an order and a layout together, smallest arena.
//!
//! The order decides when tensors are alive, hence which may share addresses. An order with the least bytes alive need not
//! be the one with the smallest arena: its offset problem may leave holes.

use crate::bound::{BoundError, LowerBound, Witness};
use crate::check::{Violation, check_layout};
use crate::instance::Instance;
use crate::layout::Layout;
use crate::orders::{Order, OrderError, OrderProblem, check_order, confirm_order_bound};
use crate::problem::Problem;
use crate::units::Bytes;

/// Operators to order, and storages to place at multiples of some number of bytes. Validated once, immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointProblem {
    orders: OrderProblem,
    align: Bytes,
}

impl JointProblem {
    /// Orders of `orders`, offsets at multiples of `align` bytes.
    ///
    /// # Errors
    /// [`OrderError::Instance`] where `align` is zero, or so large that aligned sizes leave 63 bits.
    pub fn new(orders: OrderProblem, align: Bytes) -> Result<Self, OrderError> {
        // Sizes, names and alignments are the same under every order.
        orders.instance(&orders.as_in_file(), align)?;
        Ok(Self { orders, align })
    }

    /// The operators to order and the storages to place.
    pub fn orders(&self) -> &OrderProblem {
        &self.orders
    }

    /// Offsets are multiples of this, bytes; at least 1.
    pub fn align(&self) -> Bytes {
        self.align
    }

    /// The offset problem under an order.
    ///
    /// # Panics
    /// If the order is not one of this problem; check it first.
    pub fn instance(&self, order: &Order) -> Instance {
        self.orders.instance(order, self.align).expect("checked when the problem was made")
    }
}

/// An order, and a layout of the offset problem under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointPlan {
    /// The order in which operators run.
    pub order: Order,
    /// Where storages lie, then the scratch of operators that have some: as [`OrderProblem::instance`] lists them.
    pub layout: Layout,
}

/// The joint problem: least arena over all orders and layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {}

impl Problem for Joint {
    type Input = JointProblem;
    type Solution = JointPlan;
    type Value = Bytes;
    type Witness = Witness;
    type Violation = Violation;
    const NAME: &'static str = "joint";

    fn value(input: &JointProblem, plan: &JointPlan) -> Bytes {
        if check_order(&input.orders, &plan.order).is_empty() {
            plan.layout.peak(&input.instance(&plan.order))
        } else {
            Bytes::ZERO
        }
    }

    fn check(input: &JointProblem, plan: &JointPlan) -> Vec<Violation> {
        let violations = check_order(&input.orders, &plan.order);
        if violations.is_empty() {
            check_layout(&input.instance(&plan.order), &plan.layout)
        } else {
            violations
        }
    }

    fn explain(input: &JointProblem, witness: &Witness) -> String {
        input.orders.explain(witness)
    }

    /// What is alive under every order bounds every arena.
    fn confirm(input: &JointProblem, bound: &LowerBound) -> Result<(), BoundError> {
        confirm_order_bound(&input.orders, bound)
    }
}
