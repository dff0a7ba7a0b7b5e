//! An algorithm of an experiment, with its parameters.

use crate::row::{AlgorithmKind, Decide};
use plimsoll::posed::{Posed, Terms};
use plimsoll::run::Limits;
use plimsoll_model::{Entry, Setup};
use std::time::Duration;

/// An algorithm with the parameters of its runs on every input.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The name of the problem.
    pub problem: &'static str,
    /// The name of the algorithm.
    pub algorithm: String,
    /// The kind of the algorithm.
    pub kind: AlgorithmKind,
    /// The index of an external planner in [`Experiment::peers`](super::Experiment::peers), or `None` for a
    /// built-in algorithm that runs without a process of its own.
    pub peer: Option<usize>,
    /// The number of threads that a run may use.
    pub threads: usize,
    /// The terms of the question, including default values.
    pub terms: Terms,
    /// The capacity to decide, or `None` to optimise.
    pub decide: Option<Decide>,
    /// The time limits, with one run each. `None` means no limit.
    pub times: Vec<Option<Duration>>,
    /// The node limits, with one run each. `None` means no limit.
    pub nodes: Vec<Option<u64>>,
    /// The seeds, with one run each.
    pub seeds: Vec<u64>,
    /// The number of equal runs.
    pub repetitions: u64,
}

impl Task {
    /// Creates a task of one run per input, with the default terms of the problem.
    pub fn of<P: Posed>(entry: &Entry<P>, setup: Setup, limits: Limits) -> Self {
        Self {
            problem: P::NAME,
            algorithm: entry.name.to_owned(),
            kind: entry.kind.into(),
            peer: None,
            threads: setup.threads,
            terms: P::terms(&Terms::default()),
            decide: None,
            times: vec![limits.time],
            nodes: vec![limits.nodes],
            seeds: vec![setup.seed],
            repetitions: 1,
        }
    }

    /// Returns the number of runs on one input, or `None` if the number overflows.
    pub(crate) fn count(&self) -> Option<u64> {
        let lists = [self.times.len(), self.nodes.len(), self.seeds.len()];
        lists.iter().try_fold(self.repetitions, |runs, &each| runs.checked_mul(each as u64))
    }
}
