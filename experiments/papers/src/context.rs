//! The environment of a reproduction: algorithms by name, limits, corpora.

use crate::ReproduceError;
use plimsoll::posed::Posed;
use plimsoll::run::Limits;
use plimsoll::{NameError, Registry};
use plimsoll_lab::executor::attempt;
use plimsoll_lab::row::{Extras, Row, Status};
use plimsoll_model::{Entry, Kind, Problem, Setup, Stop};
use std::path::PathBuf;

/// The row of a run, and its solution if it found one.
pub type Solved<P> = (Row, Option<<P as Problem>::Solution>);

/// The environment of a reproduction.
#[derive(Clone, Debug)]
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

    /// Returns a row with the seed and the number of threads.
    pub(crate) fn asked(&self) -> Row {
        Row { seed: self.setup.seed, threads: self.setup.threads, ..Row::default() }
    }

    /// Runs an algorithm by name on a question, and checks its answer. Returns the row of the run, and the
    /// solution if there is one. Returns `None` if this build does not contain the algorithm, or if the
    /// algorithm does not support the question.
    ///
    /// # Errors
    /// [`ReproduceError::Defect`] if no build contains an algorithm with that name, if the algorithm fails,
    /// or if its answer is rejected.
    pub fn try_solve<P: Posed>(
        &self,
        name: &str,
        label: &str,
        question: &P::Question<'_>,
    ) -> Result<Option<Solved<P>>, ReproduceError> {
        let entry = match self.registry.find::<P>(name) {
            Err(NameError::Excluded(_)) => return Ok(None),
            entry => entry.map_err(ReproduceError::defect)?,
        };
        let (row, solution) = attempt::<P>(entry, question, self.asked(), self.limits, Extras::default());
        match row.status {
            Status::Skipped => Ok(None),
            // A heuristic that ends at a limit returns some solution, but not that of the algorithm.
            Status::Done if entry.kind == Kind::Heuristic && row.stop != Some(Stop::Completed) => {
                Ok(Some((Row { value: None, ..row }, None)))
            }
            Status::Done => Ok(Some((row, solution))),
            _ => Err(ReproduceError::on(format!("{name} on {label}"))(row.error)),
        }
    }

    /// Runs an algorithm that must be available and support the question.
    ///
    /// # Errors
    /// The errors of [`Self::try_solve`], and [`ReproduceError::Defect`] if it returns `None`.
    pub fn solve<P: Posed>(
        &self,
        name: &str,
        label: &str,
        question: &P::Question<'_>,
    ) -> Result<Solved<P>, ReproduceError> {
        let missing =
            || ReproduceError::Defect(format!("{name} on {label}: not in this build, or not supported"));
        self.try_solve::<P>(name, label, question)?.ok_or_else(missing)
    }

    /// Runs an algorithm that must return a solution. Returns its value and the row of the run as well.
    ///
    /// # Errors
    /// The errors of [`Self::solve`], and [`ReproduceError::Limit`] if there is no solution.
    pub fn answer<P: Posed>(
        &self,
        name: &str,
        label: &str,
        question: &P::Question<'_>,
    ) -> Result<(u64, P::Solution, Row), ReproduceError> {
        let (row, solution) = self.solve::<P>(name, label, question)?;
        let nothing = || ReproduceError::Limit(format!("{name} on {label}: nothing found within the limits"));
        let (value, solution) = row.value.zip(solution).ok_or_else(nothing)?;
        Ok((value, solution, row))
    }
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
