//! Tracks the best solution and bound of a run, in the same way for every algorithm.

use crate::budget::Budget;
use crate::claim::{Stats, Stop};
use crate::outcome::Outcome;
use crate::problem::{Bound, Problem};
use crate::solver::{Observer, SolveError};
use crate::value::Value as _;

/// The best solution and the best bound of a run. Improvements are reported to the observer when they occur.
pub struct Tracker<'a, P: Problem> {
    /// The input of the problem.
    pub input: &'a P::Input,
    /// The observer, which receives improvements and phases.
    pub observer: &'a mut dyn Observer<P>,
    /// The best lower bound so far.
    pub bound: Bound<P>,
    /// The best solution so far, with its value.
    pub best: Option<(P::Solution, P::Value)>,
    /// Counters and phases.
    pub stats: Stats,
}

impl<'a, P: Problem> Tracker<'a, P> {
    /// Starts a run with a bound that is not reported to the observer.
    pub fn new(input: &'a P::Input, bound: Bound<P>, observer: &'a mut dyn Observer<P>) -> Self {
        Self { input, observer, bound, best: None, stats: Stats::default() }
    }

    /// Starts a run with a bound and reports the bound to the observer.
    pub fn start(input: &'a P::Input, bound: Bound<P>, observer: &'a mut dyn Observer<P>) -> Self {
        observer.bound(&bound);
        Self::new(input, bound, observer)
    }

    /// Keeps a solution if it is better than the best one so far. Returns its value in either case.
    pub fn offer(&mut self, solution: P::Solution) -> P::Value {
        let value = P::value(self.input, &solution);
        if self.value().is_none_or(|best| value < best) {
            self.observer.incumbent(&solution, value);
            self.best = Some((solution, value));
        }
        value
    }

    /// Checks a solution, and keeps it if it is better than the best one so far. Returns its value in either
    /// case.
    ///
    /// # Errors
    /// [`SolveError::Internal`] if the checker rejects the solution for a reason other than the capacity.
    pub fn accept(&mut self, solver: &'static str, solution: P::Solution) -> Result<P::Value, SolveError> {
        match P::check_unlimited(self.input, &solution).first() {
            None => Ok(self.offer(solution)),
            Some(fault) => Err(SolveError::Internal { solver, reason: fault.to_string() }),
        }
    }

    /// Keeps a bound if it is better than the best one so far.
    pub fn raise(&mut self, bound: Bound<P>) {
        if self.bound.raise(bound) {
            self.observer.bound(&self.bound);
        }
    }

    /// Keeps a bound from a library if it is better than the best one so far.
    ///
    /// # Errors
    /// [`SolveError::Internal`] if the bound excludes the value of the best solution.
    pub fn try_raise(&mut self, solver: &'static str, bound: Bound<P>) -> Result<(), SolveError> {
        if let Some(value) = self.value().filter(|value| *value < bound.value) {
            let (bound, value) = (bound.value.with_unit(), value.with_unit());
            let reason = format!("the bound of {bound} exceeds the value of a valid solution, {value}");
            return Err(SolveError::Internal { solver, reason });
        }
        self.raise(bound);
        Ok(())
    }

    /// Returns the value of the best solution so far, if any.
    pub fn value(&self) -> Option<P::Value> {
        self.best.as_ref().map(|&(_, value)| value)
    }

    /// Returns true if the value of the best solution equals the bound.
    pub fn is_optimal(&self) -> bool {
        self.value() == Some(self.bound.value)
    }

    /// Returns true if the best solution reaches the target of the budget.
    pub fn is_good(&self, budget: &Budget) -> bool {
        self.value().is_some_and(|value| budget.reaches_target(value))
    }

    /// Returns the reason to end the run now, if any: the value of the best solution equals the bound or
    /// reaches the target.
    pub fn enough(&self, budget: &Budget) -> Option<Stop> {
        if self.is_optimal() {
            return Some(Stop::Completed);
        }
        self.is_good(budget).then_some(Stop::Target)
    }

    /// Returns the reason to end the run of an exact solver now, if any: those of [`enough`](Self::enough), or
    /// the bound exceeds the capacity.
    pub fn settled(&self, budget: &Budget) -> Option<Stop> {
        let is_excluded = P::capacity(self.input).is_some_and(|capacity| self.bound.value > capacity);
        if is_excluded { Some(Stop::Completed) } else { self.enough(budget) }
    }

    /// Records a phase that ends now and began `since` seconds after the creation of the budget.
    pub fn book(&mut self, phase: &str, since: f64, budget: &Budget) {
        self.stats.phases.push((phase.to_owned(), budget.elapsed().as_secs_f64() - since));
    }

    /// Builds the outcome of a run that counted `nodes` nodes.
    pub fn conclude(mut self, stop: Stop, nodes: u64) -> Outcome<P> {
        self.stats.nodes = nodes;
        Outcome::conclude(self.input, self.best, self.bound, stop, self.stats)
    }
}
