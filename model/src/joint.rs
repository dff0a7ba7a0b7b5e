//! The joint problem: find an order and a layout that together need the smallest arena.
//!
//! The order determines when tensors are live, and therefore which of them may share addresses. The order
//! with the smallest peak live bytes need not give the smallest arena, because its layout may have gaps.

use crate::bound::{BoundError, LowerBound, Witness};
use crate::instance::Instance;
use crate::offsets::Layout;
use crate::offsets::check::{Violation, check_layout};
use crate::orders::{Order, OrderError, OrderProblem, Orders, check_order, confirm_order_bound};
use crate::problem::Problem;
use crate::units::Bytes;

/// The input of the joint problem: operators to order, and storages to place at aligned offsets. It is
/// validated and immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointProblem {
    orders: OrderProblem,
    align: Bytes,
}

impl JointProblem {
    /// Creates the joint problem of `orders` with offsets at multiples of `align` bytes.
    ///
    /// # Errors
    /// [`OrderError::Instance`] if `align` is zero, or so large that aligned sizes add up to 2^63 bytes or
    /// more.
    pub fn new(orders: OrderProblem, align: Bytes) -> Result<Self, OrderError> {
        // Sizes, names and alignments are the same in every order.
        orders.instance(&orders.as_in_file(), align)?;
        Ok(Self { orders, align })
    }

    /// Returns the operators to order and the storages to place.
    pub fn orders(&self) -> &OrderProblem {
        &self.orders
    }

    /// Returns the alignment of all offsets in bytes, at least 1.
    pub fn align(&self) -> Bytes {
        self.align
    }

    /// Returns the offset problem that results from an order.
    ///
    /// # Panics
    /// If the order is not valid for this problem. Check it first.
    pub fn instance(&self, order: &Order) -> Instance {
        self.orders.instance(order, self.align).expect("checked by JointProblem::new")
    }
}

/// An order, and a layout of the resulting offset problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointPlan {
    /// The order of the operators.
    pub order: Order,
    /// The offsets of the storages, followed by the offsets of the scratch buffers of operators, in the
    /// order of [`OrderProblem::instance`].
    pub layout: Layout,
}

/// The joint problem: minimise the arena over all orders and layouts.
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

    fn floor(input: &JointProblem) -> LowerBound {
        Orders::floor(&input.orders)
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

    fn name_of<'a>(input: &'a JointProblem, member: &str, index: usize) -> Option<&'a str> {
        Orders::name_of(&input.orders, member, index)
    }

    /// Confirms a lower bound on the peak live bytes of every order, which is also a lower bound on every
    /// arena.
    fn confirm(input: &JointProblem, bound: &LowerBound) -> Result<(), BoundError> {
        confirm_order_bound(&input.orders, bound)
    }
}
