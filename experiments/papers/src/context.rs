//! What a reproduction may use: algorithms by name, limits, the corpora.

use crate::ReproduceError;
use plimsoll::run::{Limits, RunError, run};
use plimsoll::{Registry, left_out};
use plimsoll_model::{Bytes, Entry, Outcome, Problem, Setup, Silent, SolveError};
use std::path::PathBuf;

/// What a reproduction may use and spend.
#[derive(Debug)]
pub struct Context<'a> {
    /// Every algorithm.
    pub registry: &'a Registry,
    /// Seed and threads.
    pub setup: Setup,
    /// Limits of every single run.
    pub limits: Limits,
    /// The folder of external corpora, where there is one.
    pub corpora: Option<PathBuf>,
    /// The binary of MiniMalloc, where there is one.
    pub minimalloc: Option<PathBuf>,
    /// Seeds per set of parameters where many generated graphs are tried, at most.
    pub seeds: u64,
}

impl<'a> Context<'a> {
    /// Without limits, corpora and peers.
    pub fn new(registry: &'a Registry) -> Self {
        let (setup, limits) = (Setup::default(), Limits::default());
        Self { registry, setup, limits, corpora: None, minimalloc: None, seeds: u64::MAX }
    }

    /// A folder of the corpora; none where there are no corpora or no such folder in them.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        self.corpora.as_ref().map(|corpora| corpora.join(name)).filter(|folder| folder.is_dir())
    }

    /// Why there is no such folder.
    pub(crate) fn no_folder(&self, name: &str) -> String {
        match &self.corpora {
            None => "PLIMSOLL_CORPORA is not set".to_owned(),
            Some(corpora) => format!("{} has no folder '{name}'", corpora.display()),
        }
    }

    /// Runs an algorithm by name; its answer has passed the checker. None where this build lacks the algorithm, or where
    /// it does not take such an input.
    ///
    /// # Errors
    /// No build has one of that name, it failed, or its answer was refused.
    pub fn try_solve<P: Problem>(
        &self,
        entries: &[&'static Entry<P>],
        name: &str,
        label: &str,
        input: &P::Input,
    ) -> Result<Option<Outcome<P>>, ReproduceError> {
        let entry = match named(entries, name) {
            Err(_) if left_out(name).is_some() => return Ok(None),
            entry => entry?,
        };
        match run(entry, input, self.setup, self.limits, &mut Silent).result {
            Err(RunError::Solve(SolveError::Unsupported { .. })) => Ok(None),
            result => result.map(Some).map_err(ReproduceError::on(format!("{name} on {label}"))),
        }
    }

    /// The same, where the algorithm must be there and take the input.
    ///
    /// # Errors
    /// As [`Self::try_solve`].
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

    /// The same, where nothing is an answer but a solution: the outcome, its solution, its value.
    ///
    /// # Errors
    /// As [`Self::solve`], and [`ReproduceError::Limit`].
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

/// An outcome that has a solution.
#[derive(Debug)]
pub struct Answer<S> {
    /// The solution.
    pub solution: S,
    /// Its value, bytes.
    pub value: u64,
    /// The best lower bound.
    pub bound: Bytes,
    /// What is claimed of it.
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
