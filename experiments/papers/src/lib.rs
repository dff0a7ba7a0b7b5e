//! Published results, computed again: what was printed, what comes out here, and why they differ where they do.
//!
//! Nothing printed is taken over: every number beside "printed" is computed by the algorithms of the registry, through
//! the checker, or recomputed from other printed numbers.
//!
//! Every paper has a file `data/NAME.toml` (what is printed, the rows, the words of figures), a report
//! `data/NAME.md` with placeholders, and a module that computes the facts both refer to.

pub mod cann;
mod document;
mod error;
pub mod fusion;
pub mod luna;
pub mod mini_infer;
pub mod minimalloc;
pub mod patent;
pub mod pisarchyk_lee;
mod row;
mod sheet;

pub use document::{File, Reproduction};
pub use error::ReproduceError;
pub use row::{Amount, Expected, Row, Verdict, table, write_rows};

use plimsoll::run::{Limits, RunError, run};
use plimsoll::{Registry, left_out};
use plimsoll_datasets::graphs::GraphFamily;
use plimsoll_datasets::{ImportOptions, import_file};
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::order::OrderProblem;
use plimsoll_model::{Bytes, Entry, Instance, Outcome, Problem, Setup, Silent, SolveError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

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
    fn no_folder(&self, name: &str) -> String {
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
fn named<P: Problem>(entries: &[&'static Entry<P>], name: &str) -> Result<&'static Entry<P>, ReproduceError> {
    let entry = entries.iter().copied().find(|entry| entry.name == name);
    entry.ok_or_else(|| missing(name, P::NAME))
}

fn missing(name: &str, problem: &str) -> ReproduceError {
    ReproduceError::Defect(format!("no algorithm '{name}' for {problem}"))
}

/// The files of a folder with an extension, by name.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, ReproduceError> {
    let failed =
        |error| ReproduceError::Input(format!("cannot read the folder {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && path.extension().is_some_and(|own| own == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The name of a file without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// A model of the corpora.
fn import(path: &Path, options: &ImportOptions) -> Result<Graph, ReproduceError> {
    Ok(import_file(path, options).map_err(ReproduceError::input)?.graph)
}

/// Parameters of a generated family, by name.
pub type Params = BTreeMap<String, u64>;

/// A generated graph.
fn generated(family: &str, params: &Params, seed: u64) -> Result<Graph, ReproduceError> {
    let known = GraphFamily::named(family).ok_or_else(|| missing(family, "generated graphs"))?;
    known.generate(seed, params).map_err(ReproduceError::on(family))
}

/// The storages of a graph, ordered as in its file.
fn storages(name: &str, graph: &Graph, liveness: &LivenessOptions) -> Result<OrderProblem, ReproduceError> {
    let storages = graph.storages(Graph::BODY, liveness, |_| Bytes::ZERO);
    Ok(storages.map_err(ReproduceError::on(name))?.problem)
}

/// The offset problem of intermediate tensors alone, in the order of the file: inputs, outputs and weights are persistent,
/// views are tensors of their own.
fn intermediates(name: &str, graph: &Graph, states: bool, align: u64) -> Result<Instance, ReproduceError> {
    let (boundary, align) = (Boundary::Outside, Bytes::new(align));
    let liveness = LivenessOptions { boundary, states, views: false, align, ..LivenessOptions::default() };
    let problem = storages(name, graph, &liveness)?;
    problem.instance(&problem.as_in_file(), Bytes::new(1)).map_err(ReproduceError::on(name))
}

type Run = fn(&Context<'_>) -> Result<Reproduction, ReproduceError>;

/// A paper, and how to compute its results again.
#[derive(Debug)]
pub struct Paper {
    /// The word users type.
    pub name: String,
    /// Short for it: a number, or authors and year.
    pub source: String,
    /// What the document is.
    pub title: String,
    /// What is reproduced, in one line.
    pub about: String,
    /// Computes it.
    pub run: Run,
}

macro_rules! paper {
    ($name:literal, $module:ident) => {
        (
            $name,
            include_str!(concat!("../data/", $name, ".toml")),
            include_str!(concat!("../data/", $name, ".md")),
            |context| $module::reproduce(&$module::Inputs::default(), context),
        )
    };
}

/// Name, data, report and code of every paper.
const SOURCES: [(&str, &str, &str, Run); 7] = [
    paper!("luna", luna),
    paper!("mini-infer", mini_infer),
    paper!("patent", patent),
    paper!("fusion", fusion),
    paper!("cann", cann),
    paper!("pisarchyk-lee", pisarchyk_lee),
    paper!("minimalloc", minimalloc),
];

/// Data and report of a paper.
fn sources(paper: &str) -> (&'static str, &'static str) {
    let found = SOURCES.iter().find(|(name, ..)| *name == paper);
    found.map(|&(_, data, report, _)| (data, report)).expect("a paper of the list")
}

/// Every paper there is so far.
pub static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
    let paper = |(name, .., run): (&str, _, _, Run)| {
        let sheet::Sheet { name, source, title, about, .. } = sheet::Sheet::of(name);
        Paper { name, source, title, about, run }
    };
    SOURCES.map(paper).into()
});
