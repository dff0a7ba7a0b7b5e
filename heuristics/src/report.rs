//! From a solution to an outcome, the same way for every heuristic.

use plimsoll_model::order::{OrderProblem, around_bound};
use plimsoll_model::{
    Bound, Budget, Instance, Observer, Offsets, Orders, Outcome, Problem, Scattered, SolveError, Solver,
    Stats, Stop, guarded, simple_bound,
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
}

/// A problem with a bound that each of its heuristics reports.
pub(crate) trait Bounded: Problem {
    fn bound(input: &Self::Input) -> Bound<Self>;
}

impl Bounded for Offsets {
    fn bound(instance: &Instance) -> Bound<Self> {
        simple_bound(instance)
    }
}

/// What is alive together has different addresses, in one piece or many: the bound holds for pieces too.
impl Bounded for Scattered {
    fn bound(instance: &Instance) -> Bound<Self> {
        simple_bound(instance)
    }
}

impl Bounded for Orders {
    fn bound(problem: &OrderProblem) -> Bound<Self> {
        around_bound(problem)
    }
}

impl<'a, P: Bounded> Run<'a, P> {
    /// A run with the bound of its problem announced.
    pub(crate) fn start(input: &'a P::Input, budget: &Budget, observer: &'a mut dyn Observer<P>) -> Self {
        Self::new(input, P::capacity(input), P::bound(input), budget, observer)
    }
}

/// A heuristic as a function: it offers solutions to its run, and returns why it ended early.
struct Heuristic<F> {
    name: &'static str,
    search: F,
}

impl<P, F> Solver<P> for Heuristic<F>
where
    P: Bounded,
    F: Fn(&P::Input, &mut Budget, &mut Run<P>) -> Result<(), Stop> + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn solve(
        &self,
        input: &P::Input,
        budget: &mut Budget,
        observer: &mut dyn Observer<P>,
    ) -> Result<Outcome<P>, SolveError> {
        let mut run = Run::start(input, budget, observer);
        let stop = (self.search)(input, budget, &mut run).err().unwrap_or(Stop::Completed);
        Ok(run.conclude(stop, budget))
    }
}

/// A heuristic that may offer many solutions.
pub(crate) fn anytime<P: Bounded>(
    name: &'static str,
    search: impl Fn(&P::Input, &mut Budget, &mut Run<P>) -> Result<(), Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<P>> {
    guarded(Heuristic { name, search })
}

/// A heuristic that finds one solution or none.
pub(crate) fn single<P: Bounded>(
    name: &'static str,
    find: impl Fn(&P::Input, &mut Budget) -> Result<Option<P::Solution>, Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<P>> {
    anytime(name, move |input, budget, run| {
        if let Some(solution) = find(input, budget)? {
            run.offer(solution);
        }
        Ok(())
    })
}
