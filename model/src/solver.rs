//! The trait that all heuristics and exact solvers implement, and the entries of a registry.

use crate::budget::Budget;
use crate::outcome::Outcome;
use crate::parameter::{Change, Parameter, ParameterError, chosen};
use crate::problem::{Bound, Problem};
use plimsoll_support::words;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The reason why an algorithm returns no outcome: an unsupported input or an internal failure. Exhausting
/// the budget is not an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum SolveError {
    #[error("{solver} does not support this instance: {reason}")]
    Unsupported { solver: &'static str, reason: String },
    #[error("{solver} failed: {reason}")]
    Internal { solver: &'static str, reason: String },
}

/// Receives the progress of a run. All methods are no-ops by default.
pub trait Observer<P: Problem> {
    /// Called with each improved solution and its value.
    fn incumbent(&mut self, _solution: &P::Solution, _value: P::Value) {}

    /// Called with each improved bound.
    fn bound(&mut self, _bound: &Bound<P>) {}

    /// Called when a new phase of the algorithm begins.
    fn phase(&mut self, _name: &str) {}

    /// Called when a [run](crate::run::run) of an algorithm has ended, before the checker runs.
    fn ended(&mut self) {}
}

/// A no-op observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl<P: Problem> Observer<P> for Silent {}

/// An algorithm for a problem.
///
/// [`solve`](Solver::solve) depends only on its arguments and on the parameters of the solver. With the same
/// input, parameters and node limit, and without a time limit, the outcome is the same, except for measured
/// times.
pub trait Solver<P: Problem>: Send + Sync {
    /// Returns the name of the algorithm in the registry.
    fn name(&self) -> &'static str;

    /// Solves `input` within the budget.
    ///
    /// # Errors
    /// [`SolveError`] for unsupported input or an internal failure. An exhausted limit and an infeasible
    /// input are never errors.
    fn solve(
        &self,
        input: &P::Input,
        budget: &mut Budget,
        observer: &mut dyn Observer<P>,
    ) -> Result<Outcome<P>, SolveError>;

    /// Checks whether the algorithm supports `input`.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] with the reason.
    fn supports(&self, _input: &P::Input) -> Result<(), SolveError> {
        Ok(())
    }

    /// Returns true if the algorithm supports rigid groups. [`guarded`](crate::guarded()) refuses inputs with
    /// groups for all other algorithms.
    fn supports_groups(&self) -> bool {
        false
    }

    /// Returns the parameters that the algorithm accepts. [`Setup::parameters`] contains the chosen ones.
    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// Returns only the solution, for callers that try many inputs. An algorithm may skip the computation of
    /// its bound in this method.
    ///
    /// # Errors
    /// The same as for [`solve`](Solver::solve).
    fn solution(&self, input: &P::Input, budget: &mut Budget) -> Result<Option<P::Solution>, SolveError> {
        Ok(self.solve(input, budget, &mut Silent)?.solution)
    }
}

/// The parameters that every algorithm accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The seed of all random choices.
    pub seed: u64,
    /// The maximum number of threads, from 1 to [`Setup::MOST_THREADS`].
    pub threads: usize,
    /// The number of weight buffers used by the schedule `k-buffers`.
    pub buffers: usize,
    /// The names of the chosen [parameters](Solver::parameters) of the algorithm; see [`Entry::with`].
    pub parameters: &'static [&'static str],
}

impl Setup {
    /// The maximum number of threads that interfaces accept. More threads than cores do not help, and each
    /// needs memory.
    pub const MOST_THREADS: usize = 1024;

    /// Returns true if a parameter is chosen.
    pub fn has(self, parameter: &str) -> bool {
        self.parameters.contains(&parameter)
    }

    /// Returns the default settings of an algorithm, changed by the chosen parameters.
    pub fn settings<S: Default>(self, changes: &[Change<S>]) -> S {
        let mut settings = S::default();
        for (_, _, change) in changes.iter().filter(|(name, ..)| self.has(name)) {
            change(&mut settings);
        }
        settings
    }
}

impl Default for Setup {
    /// Returns seed 0, one thread, three buffers and no parameters.
    fn default() -> Self {
        Self { seed: 0, threads: 1, buffers: 3, parameters: &[] }
    }
}

words! {
    /// Whether an algorithm proves its answers.
    Kind {
        /// A fast algorithm that does not search for a proof.
        Heuristic => "heuristic",
        /// An algorithm that proves its answer, given enough time.
        Exact => "exact",
    }
}

/// A function that creates a solver.
pub type Build<P> = &'static (dyn Fn(Setup) -> Box<dyn Solver<P>> + Send + Sync);

/// An entry of a registry. Entries live as long as the process.
pub struct Entry<P: Problem> {
    /// The name used on the command line and in records.
    pub name: &'static str,
    /// Whether the algorithm is heuristic or exact.
    pub kind: Kind,
    /// A one-line description.
    pub about: &'static str,
    /// The paper or project that the algorithm comes from.
    pub source: &'static str,
    /// The running time in the worst case, with the meaning of its variables.
    pub time: &'static str,
    /// Creates the solver, wrapped by [`guarded`](crate::guarded()).
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

/// The entries that [`Entry::with`] has built, by the address of the original entry and the name.
static BUILT: Mutex<BTreeMap<(usize, String), &'static (dyn Any + Send + Sync)>> =
    Mutex::new(BTreeMap::new());

impl<P: Problem> Entry<P> {
    /// Returns the parameters that the algorithm accepts.
    pub fn parameters(&self) -> Vec<Parameter> {
        (self.build)(Setup::default()).parameters()
    }

    /// Returns the algorithm with the parameters in `text`, which colons separate, as in `-memo:-twins`. The
    /// name of the new entry contains them in the order of [`Self::parameters`].
    ///
    /// # Errors
    /// Returns [`ParameterError`] for an unknown parameter, and for two parameters that set the same part.
    pub fn with(&'static self, text: &str) -> Result<&'static Self, ParameterError> {
        let parameters = chosen(self.name, &self.parameters(), text)?;
        let name = format!("{}:{}", self.name, parameters.join(":"));
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (std::ptr::from_ref(self).addr(), name.clone());
        if let Some(entry) = built.get(&key).copied().and_then(|entry| entry.downcast_ref()) {
            return Ok(entry);
        }
        let parameters: &[&str] = parameters.leak();
        let build = Box::leak(Box::new(move |setup| (self.build)(Setup { parameters, ..setup })));
        let entry: &Self = Box::leak(Box::new(Self { name: name.leak(), build, ..*self }));
        built.insert(key, entry);
        Ok(entry)
    }
}
