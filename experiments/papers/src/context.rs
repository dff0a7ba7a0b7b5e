//! The environment of a reproduction: algorithms by name, limits, corpora.

use crate::ReproduceError;
use plimsoll::run::{Limits, RunError, run};
use plimsoll::{NameError, Registry};
use plimsoll_model::{Bytes, Entry, Kind, Outcome, Problem, Setup, Silent, SolveError, Stop};
use std::path::PathBuf;

/// The environment of a reproduction.
#[derive(Debug)]
pub struct Context<'a> {
    /// The available algorithms.
    pub registry: &'a Registry,
    /// Seed and threads of each run.
    pub setup: Setup,
    /// Limits of each run.
    pub limits: Limits,
    /// The folder of external corpora, if set.
    pub corpora: Option<PathBuf>,
    /// The binary of MiniMalloc, if set.
    pub minimalloc: Option<PathBuf>,
    /// Maximum number of seeds per set of parameters of generated graphs.
    pub seeds: u64,
}

impl<'a> Context<'a> {
    /// Creates a context without limits, corpora or peers.
    pub fn new(registry: &'a Registry) -> Self {
        let (setup, limits) = (Setup::default(), Limits::default());
        Self { registry, setup, limits, corpora: None, minimalloc: None, seeds: u64::MAX }
    }

    /// Returns a folder of the corpora, or `None` if there are no corpora or they do not contain that folder.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        self.corpora.as_ref().map(|corpora| corpora.join(name)).filter(|folder| folder.is_dir())
    }

    /// Returns the reason why [`Self::folder`] returns `None`.
    pub(crate) fn no_folder(&self, name: &str) -> String {
        match &self.corpora {
            None => "PLIMSOLL_CORPORA is not set".to_owned(),
            Some(corpora) => format!("{} has no folder '{name}'", corpora.display()),
        }
    }

    /// Runs an algorithm by name and checks its answer. Returns `None` if this build does not contain the
    /// algorithm, or if the algorithm does not support the input.
    ///
    /// # Errors
    /// [`ReproduceError::Defect`] if no build contains an algorithm with that name, if the algorithm fails,
    /// or if its answer is rejected.
    pub fn try_solve<P: Problem>(
        &self,
        entries: &[&'static Entry<P>],
        name: &str,
        label: &str,
        input: &P::Input,
    ) -> Result<Option<Outcome<P>>, ReproduceError> {
        let entry = match plimsoll::named(entries, name) {
            Err(NameError::Excluded(_)) => return Ok(None),
            entry => entry.map_err(ReproduceError::defect)?,
        };
        match run(entry, input, self.setup, self.limits, &mut Silent).result {
            Err(RunError::Solve(SolveError::Unsupported { .. })) => Ok(None),
            // A heuristic that ends at a limit returns some solution, but not that of the algorithm.
            Ok(outcome) if entry.kind == Kind::Heuristic && outcome.stop != Stop::Completed => {
                Ok(Some(Outcome { solution: None, value: None, ..outcome }))
            }
            result => result.map(Some).map_err(ReproduceError::on(format!("{name} on {label}"))),
        }
    }

    /// Runs an algorithm that must be available and support the input.
    ///
    /// # Errors
    /// The errors of [`Self::try_solve`], and [`ReproduceError::Defect`] if it returns `None`.
    pub fn solve<P: Problem>(
        &self,
        entries: &[&'static Entry<P>],
        name: &str,
        label: &str,
        input: &P::Input,
    ) -> Result<Outcome<P>, ReproduceError> {
        let missing =
            || ReproduceError::Defect(format!("{name} on {label}: not in this build, or not supported"));
        self.try_solve(entries, name, label, input)?.ok_or_else(missing)
    }

    /// Runs an algorithm that must return a solution.
    ///
    /// # Errors
    /// The errors of [`Self::solve`], and [`ReproduceError::Limit`] if there is no solution.
    pub fn answer<P: Problem<Value = Bytes>>(
        &self,
        entries: &[&'static Entry<P>],
        name: &str,
        label: &str,
        input: &P::Input,
    ) -> Result<Answer<P::Solution>, ReproduceError> {
        let outcome = self.solve(entries, name, label, input)?;
        let claim = outcome.claim.to_string();
        match (outcome.solution, outcome.value) {
            (Some(solution), Some(value)) => {
                Ok(Answer { solution, value: value.get(), bound: outcome.lower_bound.value, claim })
            }
            _ => Err(ReproduceError::Limit(format!("{name} on {label}: nothing found within the limits"))),
        }
    }
}

/// An outcome with a solution.
#[derive(Debug)]
pub struct Answer<S> {
    /// The solution, which the checker has accepted.
    pub solution: S,
    /// The value of the solution in bytes.
    pub value: u64,
    /// The best proved lower bound in bytes.
    pub bound: Bytes,
    /// The solution status.
    pub claim: String,
}

/// Returns the algorithm with this name.
pub(crate) fn named<P: Problem>(
    entries: &[&'static Entry<P>],
    name: &str,
) -> Result<&'static Entry<P>, ReproduceError> {
    plimsoll::named(entries, name).map_err(ReproduceError::defect)
}

pub(crate) fn missing(name: &str, problem: &str) -> ReproduceError {
    ReproduceError::Defect(format!("no algorithm '{name}' for {problem}"))
}
