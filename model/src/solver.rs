//! One trait for every algorithm, fast or exact, and the entries a registry is made of.

use crate::budget::Budget;
use crate::outcome::Outcome;
use crate::problem::{Bound, Problem};
use std::fmt;

/// Broken machinery or a problem the algorithm cannot take. Running out of budget is no error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum SolveError {
    #[error("{solver} does not support this instance: {reason}")]
    Unsupported { solver: &'static str, reason: String },
    #[error("{solver} failed: {reason}")]
    Machinery { solver: &'static str, reason: String },
}

/// Told of progress as it happens. All methods default to nothing.
pub trait Observer<P: Problem> {
    /// A better solution, with its value.
    fn incumbent(&mut self, _solution: &P::Solution, _value: P::Value) {}

    /// A better bound.
    fn bound(&mut self, _bound: &Bound<P>) {}

    /// A new phase of the algorithm.
    fn phase(&mut self, _name: &str) {}
}

/// The observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl<P: Problem> Observer<P> for Silent {}

/// An algorithm for a problem.
///
/// `solve` reads nothing but its arguments and the parameters it was built with; the same input, parameters and
/// node limit give the same outcome.
pub trait Solver<P: Problem>: Send + Sync {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// Solves within the budget.
    ///
    /// # Errors
    /// [`SolveError`] for input it does not support or machinery that broke; never for limits or infeasibility.
    fn solve(
        &self,
        input: &P::Input,
        budget: &mut Budget,
        observer: &mut dyn Observer<P>,
    ) -> Result<Outcome<P>, SolveError>;

    /// Says why it would decline this input, if so.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] with the reason.
    fn supports(&self, _input: &P::Input) -> Result<(), SolveError> {
        Ok(())
    }

    /// The solution alone, for callers that try many: an algorithm may skip its bound.
    ///
    /// # Errors
    /// As [`solve`](Solver::solve).
    fn solution(&self, input: &P::Input, budget: &mut Budget) -> Result<Option<P::Solution>, SolveError> {
        Ok(self.solve(input, budget, &mut Silent)?.solution)
    }
}

/// What every algorithm can be given from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Seed of all randomness.
    pub seed: u64,
    /// Threads it may use.
    pub threads: usize,
    /// Weight buffers of the schedule `k-buffers`.
    pub buffers: usize,
}

impl Default for Setup {
    /// Seed 0, one thread, three buffers.
    fn default() -> Self {
        Self { seed: 0, threads: 1, buffers: 3 }
    }
}

/// Fast without proof, or slow with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer without proof.
    Heuristic,
    /// An answer with a proof, given time.
    Exact,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Heuristic => "heuristic",
            Self::Exact => "exact",
        })
    }
}

/// Makes a solver.
pub type Build<P> = &'static (dyn Fn(Setup) -> Box<dyn Solver<P>> + Send + Sync);

/// One line of a registry. Entries live as long as the process.
pub struct Entry<P: Problem> {
    /// The name users type.
    pub name: &'static str,
    /// Heuristic or exact.
    pub kind: Kind,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Makes one, [guarded](crate::guarded).
    pub build: Build<P>,
}

impl<P: Problem> fmt::Debug for Entry<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("problem", &P::NAME)
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
