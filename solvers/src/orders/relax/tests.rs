//! Tests that the problem without some operators is a relaxation, and that its orders extend to the whole.

use super::*;
use crate::orders::OrderBrute;
use crate::orders::graphs::{probed, small};
use plimsoll_model::orders::{around_bound, check_order};
use plimsoll_model::{Budget, Bytes, Silent, Solver};

fn best(problem: &OrderProblem) -> (u64, Order) {
    let outcome = OrderBrute.solve(problem, &mut Budget::unlimited(), &mut Silent).unwrap();
    (outcome.value.unwrap().get(), outcome.solution.unwrap())
}

/// The optimum without any set of operators is at most the optimum of the whole problem, and a restricted
/// order has at most the peak of the whole order.
#[test]
fn every_set_of_operators_can_be_removed() {
    for seed in 0..2000u64 {
        let problem = small(2 + seed as usize % 9, seed);
        let (value, order) = best(&problem);
        let removed: Vec<OperatorId> = problem
            .ids()
            .filter(|id| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> id.get() & 1 == 1)
            .collect();
        let rest = Rest::without(&problem, &removed);
        let restricted = rest.restricted(&order);
        assert_eq!(check_order(&rest.problem, &restricted), [], "seed {seed}");
        assert!(restricted.peak(&rest.problem).get() <= value, "seed {seed}");
        assert!(best(&rest.problem).0 <= value, "seed {seed}");
    }
}

#[test]
fn orders_extend_to_small_operators_at_little_cost() {
    for seed in 0..200u64 {
        let plain = small(3 + seed as usize % 6, seed);
        let whole = probed(&plain, 100_000, 3);
        let is_small = small_ends(&whole, 3);
        let removed: Vec<OperatorId> = whole.ids().filter(|id| is_small[id.index()]).collect();
        let rest = Rest::without(&whole, &removed);
        let (least, order) = best(&rest.problem);
        let extended = rest.extended(&whole, &order);
        assert_eq!(check_order(&whole, &extended), [], "seed {seed}");
        assert!(least <= best(&whole).0, "seed {seed}");
        assert!(removed.len() >= whole.len() - plain.len());
        if rest.kept.len() == plain.len() {
            // The bytes held before the first operator do not depend on the order.
            let most = around_bound(&whole).value.get().max(least) + 3 * removed.len() as u64;
            assert!(extended.peak(&whole) <= Bytes::new(most), "seed {seed}");
        }
    }
}

#[test]
fn few_or_large_operators_are_not_removed() {
    let plain = small(6, 3);
    assert!(Rest::of(&plain, 1 << 40).is_none());
    let whole = probed(&plain, 1, 1 << 20);
    assert!(Rest::of(&whole, 1 << 20).is_none());
}
