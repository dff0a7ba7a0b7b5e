//! The environment of a reproduction: algorithms by name, limits, corpora.

use crate::ReproduceError;
use plimsoll::run::{Limits, RunError, run};
use plimsoll::{Registry, excluded};
use plimsoll_model::{Bytes, Entry, Outcome, Problem, Setup, Silent, SolveError};
use std::path::PathBuf;

/// The environment of a reproduction.
#[derive(Debug)]
pub struct Context<'a> {
    /// The algorithms available by name.
    pub registry: &'a Registry,
    /// Seed and threads of each run.
    pub setup: Setup,
    /// Limits of each run.
    pub limits: Limits,
    /// The folder of external corpora, if set.
    pub corpora: Option<PathBuf>,
    /// The binary of MiniMalloc, if set.
    pub minimalloc: Option<PathBuf>,
    /// Most seeds per set of parameters for generated graphs.
    pub seeds: u64,
}

impl<'a> Context<'a> {
    /// A context without limits, corpora and peers.
    pub fn new(registry: &'a Registry) -> Self {
        let (setup, limits) = (Setup::default(), Limits::default());
        Self { registry, setup, limits, corpora: None, minimalloc: None, seeds: u64::MAX }
    }

    /// A folder of the corpora; `None` where there are no corpora or they lack that folder.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        self.corpora.as_ref().map(|corpora| corpora.join(name)).filter(|folder| folder.is_dir())
    }

    /// The reason why [`Self::folder`] returns `None`.
    pub(crate) fn no_folder(&self, name: &str) -> String {
        match &self.corpora {
            None => "PLIMSOLL_CORPORA is not set".to_owned(),
            Some(corpora) => format!("{} has no folder '{name}'", corpora.display()),
        }
    }

    /// Runs an algorithm by name and checks its answer. `None` where this build lacks the algorithm, or the
    /// algorithm does not support the input.
    ///
    /// # Errors
    /// No build has an algorithm of that name, it failed, or its answer was rejected.
    pub fn try_solve<P: Problem>(
        &self,
        entries: &[&'static Entry<P>],
        name: &str,
        label: &str,
        input: &P::Input,
    ) -> Result<Option<Outcome<P>>, ReproduceError> {
        let entry = match named(entries, name) {
            Err(_) if excluded(name).is_some() => return Ok(None),
            entry => entry?,
        };
        match run(entry, input, self.setup, self.limits, &mut Silent).result {
            Err(RunError::Solve(SolveError::Unsupported { .. })) => Ok(None),
            result => result.map(Some).map_err(ReproduceError::on(format!("{name} on {label}"))),
        }
    }

    /// Runs an algorithm that must be available and support the input.
    ///
    /// # Errors
    /// As [`Self::try_solve`], and where it returns `None`.
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
    /// As [`Self::solve`], and [`ReproduceError::Limit`] without a solution.
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
    /// Its value, bytes.
    pub value: u64,
    /// The best proved lower bound, bytes.
    pub bound: Bytes,
    /// The solution status.
    pub claim: String,
}

/// The algorithm of a name.
pub(crate) fn named<P: Problem>(
    entries: &[&'static Entry<P>],
    name: &str,
) -> Result<&'static Entry<P>, ReproduceError> {
    let entry = entries.iter().copied().find(|entry| entry.name == name);
    entry.ok_or_else(|| missing(name, P::NAME))
}

pub(crate) fn missing(name: &str, problem: &str) -> ReproduceError {
    ReproduceError::Defect(format!("no algorithm '{name}' for {problem}"))
}
