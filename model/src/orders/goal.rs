//! The order problem: its goal and its checker.

use super::{Order, OrderProblem, around_bound, check_order, confirm_order_bound, recomputed_peak};
use crate::bound::{BoundError, LowerBound, Witness};
use crate::offsets::Violation;
use crate::problem::Problem;
use crate::units::{Bytes, OperatorId};

/// The order problem: find a topological order of the operators that minimises the peak live bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {}

impl Problem for Orders {
    type Input = OrderProblem;
    type Solution = Order;
    type Value = Bytes;
    type Witness = Witness;
    type Violation = Violation;
    const NAME: &'static str = "orders";

    fn value(input: &OrderProblem, order: &Order) -> Bytes {
        recomputed_peak(input, order)
    }

    fn floor(input: &OrderProblem) -> LowerBound {
        around_bound(input)
    }

    fn check(input: &OrderProblem, order: &Order) -> Vec<Violation> {
        check_order(input, order)
    }

    fn explain(input: &OrderProblem, witness: &Witness) -> String {
        input.explain(witness)
    }

    fn name_of<'a>(input: &'a OrderProblem, member: &str, index: usize) -> Option<&'a str> {
        let exists = member == "operator" && index < input.len();
        exists.then(|| input.operator(OperatorId::at(index)))
    }

    fn confirm(input: &OrderProblem, bound: &LowerBound) -> Result<(), BoundError> {
        confirm_order_bound(input, bound)
    }
}
