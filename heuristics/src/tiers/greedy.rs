//! Greedy placement: one tensor at a time goes to the fastest tier with enough space.

use super::fill::{Fill, off_chip};
use plimsoll_model::tiers::{TierPlan, TierProblem};

/// Places every tensor in off-chip memory if possible, and otherwise in any tier.
pub(super) fn all_off_chip(problem: &TierProblem) -> Option<TierPlan> {
    let mut fill = Fill::new(problem);
    for at in 0..problem.tensors().len() {
        if !off_chip(&mut fill, problem, at) {
            fill.put_anywhere(at);
        }
    }
    fill.plan()
}

/// Returns the time that a tensor saves in its fastest tier compared with its slowest one, and its area
/// (bytes times steps).
fn saving(problem: &TierProblem, at: usize) -> (u128, u128) {
    let options = problem.options(at);
    let time = |tier: &_| problem.cost(at, *tier).map_or(0, |cost| cost.time.get());
    let gain = options.last().map_or(0, time) - options.first().map_or(0, time);
    let one = &problem.tensors()[at];
    let size = options.first().map_or(1, |&tier| problem.size(at, tier).get().max(1));
    // Both results are limited to 64 bits, so that products are exact.
    let area = u128::from(size) * (one.upper - one.lower) as u128;
    (u128::from(gain), area.min(u128::from(u64::MAX)))
}

/// Returns the tensors in descending order of time saved per byte and step. Ties are broken by index.
pub fn by_saving(problem: &TierProblem) -> Vec<usize> {
    let keys: Vec<(u128, u128)> = (0..problem.tensors().len()).map(|at| saving(problem, at)).collect();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| {
        let ((gain_a, area_a), (gain_b, area_b)) = (keys[a], keys[b]);
        (gain_b * area_a).cmp(&(gain_a * area_b)).then(a.cmp(&b))
    });
    order
}

/// Places the tensors in the given order, each in the fastest tier with enough space. Tensors that fit into
/// no tier stay unplaced.
pub fn filled<'a>(problem: &'a TierProblem, order: &[usize]) -> Fill<'a> {
    let mut fill = Fill::new(problem);
    for &at in order {
        fill.put_anywhere(at);
    }
    fill
}

/// Places the tensors with the most time saved per byte and step first, and returns the plan. If a tensor
/// stays unplaced, a second attempt places the tensors with the fewest options first, and among these the
/// largest. Returns `None` if the second attempt also fails.
pub fn greedy(problem: &TierProblem) -> Option<TierPlan> {
    filled(problem, &by_saving(problem)).plan().or_else(|| {
        let mut order: Vec<usize> = (0..problem.tensors().len()).collect();
        order.sort_by_key(|&at| {
            (problem.options(at).len(), std::cmp::Reverse(problem.tensors()[at].bytes), at)
        });
        filled(problem, &order).plan()
    })
}
