//! From a solution to an outcome, the same way for every heuristic.

use plimsoll_model::order::{OrderProblem, around_bound};
use plimsoll_model::{
    Bound, Budget, Instance, Observer, Offsets, Orders, Outcome, Problem, Stats, Stop, simple_bound,
};

/// One run: what it started from, whom it tells, the best so far.
pub(crate) struct Run<'a, P: Problem> {
    input: &'a P::Input,
    observer: &'a mut dyn Observer<P>,
    bound: Bound<P>,
    capacity: Option<P::Value>,
    nodes_before: u64,
    best: Option<(P::Solution, P::Value)>,
    pub stats: Stats,
}

impl<'a> Run<'a, Offsets> {
    /// A run on the offset problem, with the simplest bound announced.
    pub(crate) fn offsets(
        instance: &'a Instance,
        budget: &Budget,
        observer: &'a mut dyn Observer<Offsets>,
    ) -> Self {
        Self::new(instance, instance.capacity(), simple_bound(instance), budget, observer)
    }
}

impl<'a> Run<'a, Orders> {
    /// A run on the order problem, with the simplest bound announced.
    pub(crate) fn orders(
        problem: &'a OrderProblem,
        budget: &Budget,
        observer: &'a mut dyn Observer<Orders>,
    ) -> Self {
        Self::new(problem, None, around_bound(problem), budget, observer)
    }
}

impl<'a, P: Problem> Run<'a, P> {
    /// A run with its bound announced.
    pub(crate) fn new(
        input: &'a P::Input,
        capacity: Option<P::Value>,
        bound: Bound<P>,
        budget: &Budget,
        observer: &'a mut dyn Observer<P>,
    ) -> Self {
        observer.bound(&bound);
        let stats = Stats::default();
        Self { input, observer, bound, capacity, nodes_before: budget.nodes(), best: None, stats }
    }

    /// Keeps a solution where it beats the best so far; true where it did.
    pub(crate) fn offer(&mut self, solution: P::Solution) -> bool {
        let value = P::value(self.input, &solution);
        let better = self.value().is_none_or(|best| value < best);
        if better {
            self.observer.incumbent(&solution, value);
            self.best = Some((solution, value));
        }
        better
    }

    /// The value of the best so far.
    pub(crate) fn value(&self) -> Option<P::Value> {
        self.best.as_ref().map(|&(_, value)| value)
    }

    /// What no solution can go below.
    pub(crate) fn bound(&self) -> P::Value {
        self.bound.value
    }

    pub(crate) fn is_optimal(&self) -> bool {
        self.value() == Some(self.bound.value)
    }

    /// Why the run may end now: the best meets the target or the bound.
    pub(crate) fn enough(&self, budget: &Budget) -> Option<Stop> {
        if self.is_optimal() {
            return Some(Stop::Completed);
        }
        self.value().is_some_and(|value| budget.reaches_target(value)).then_some(Stop::Target)
    }

    pub(crate) fn conclude(mut self, stop: Stop, budget: &Budget) -> Outcome<P> {
        self.stats.nodes = budget.nodes() - self.nodes_before;
        Outcome::conclude(self.best, self.bound, self.capacity, stop, self.stats)
    }

    /// Ends a run whose only result is one solution, or the reason why there is none.
    pub(crate) fn conclude_single(
        mut self,
        solution: Result<Option<P::Solution>, Stop>,
        budget: &Budget,
    ) -> Outcome<P> {
        match solution {
            Ok(solution) => {
                if let Some(solution) = solution {
                    self.offer(solution);
                }
                self.conclude(Stop::Completed, budget)
            }
            Err(stop) => self.conclude(stop, budget),
        }
    }
}
