//! Brute force for orders: computes the minimum peak of every downset directly from the definitions. The
//! result cross-checks the other algorithms.

use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{
    Budget, LowerBound, Observer, OperatorId, Orders, Outcome, Problem, SolveError, Solver, Stop, Tracker,
    Witness,
};

/// The maximum number of operators of a problem.
const MOST_OPERATORS: usize = 20;

/// Dynamic programming over all downsets of at most twenty operators, in O(2^n n s) time for n operators and
/// a problem of size s. Its name in the registry is `brute-force`.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrderBrute;

impl OrderBrute {
    /// Returns the bytes live while `operator` runs after the operators in `done`.
    fn during(problem: &OrderProblem, done: u32, operator: OperatorId) -> u64 {
        let ran = |id: &OperatorId| done >> id.get() & 1 == 1;
        let live = problem.storages().iter().filter(|s| {
            let begun = s.from_start || s.users.iter().any(|id| ran(id) || *id == operator);
            begun && (s.to_end || s.users.iter().any(|id| !ran(id)))
        });
        live.map(|s| s.size.get()).sum::<u64>() + problem.scratch(operator).get()
    }
}

impl Solver<Orders> for OrderBrute {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn supports(&self, problem: &OrderProblem) -> Result<(), SolveError> {
        if problem.len() <= MOST_OPERATORS {
            return Ok(());
        }
        let reason = format!("{} operators exceed the limit of {MOST_OPERATORS}", problem.len());
        Err(SolveError::Unsupported { solver: self.name(), reason })
    }

    fn solve(
        &self,
        problem: &OrderProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Orders>,
    ) -> Result<Outcome<Orders>, SolveError> {
        self.supports(problem)?;
        let n = problem.len();
        let mut known = Tracker::new(problem, Orders::floor(problem), observer);
        let mut stop = budget.check();
        // Per set of operators: the minimum peak over its orders, and the last operator of an order with this
        // peak.
        let mut best: Vec<Option<(u64, u32)>> = vec![None; 1 << n];
        best[0] = Some((0, 0));
        for done in 0..1u32 << n {
            let Some((peak, _)) = best[done as usize] else { continue };
            stop = stop.or_else(|| budget.tick());
            if stop.is_some() {
                break;
            }
            for id in problem.ids().filter(|id| done >> id.get() & 1 == 0) {
                if problem.predecessors(id).iter().any(|other| done >> other.get() & 1 == 0) {
                    continue;
                }
                let peak = peak.max(Self::during(problem, done, id));
                let entry = &mut best[(done | 1 << id.get()) as usize];
                if entry.is_none_or(|(known, _)| peak < known) {
                    *entry = Some((peak, id.get()));
                }
            }
        }
        let mut order = Vec::new();
        let mut at = (1u32 << n) - 1;
        while let Some((_, last)) = best[at as usize].filter(|_| at != 0) {
            order.push(OperatorId::new(last));
            at &= !(1 << last);
        }
        order.reverse();
        if stop.is_none() && order.len() == n {
            let value = known.offer(Order::new(order));
            known.raise(LowerBound::new(value, Witness::Search { solver: self.name().to_owned() }));
        }
        Ok(known.conclude(stop.unwrap_or(Stop::Completed), budget.nodes()))
    }
}
