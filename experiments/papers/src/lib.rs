//! Published results, computed again: what was printed, what comes out here, and why they differ where they do.
//!
//! Nothing printed is taken over: every number beside "printed" is computed by the algorithms of the registry, through
//! the checker, or recomputed from other printed numbers.

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

pub use document::{File, Reproduction};
pub use error::ReproduceError;
pub use row::{Amount, Row, Verdict, table, write_rows};

use plimsoll::Registry;
use plimsoll::run::{Limits, run};
use plimsoll_datasets::graphs::GraphFamily;
use plimsoll_model::graph::Graph;
use plimsoll_model::{Entry, Outcome, Problem, Setup, Silent};
use std::collections::BTreeMap;
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
    fn no_folder(&self, name: &str) -> String {
        match &self.corpora {
            None => "PLIMSOLL_CORPORA is not set".to_owned(),
            Some(corpora) => format!("{} has no folder '{name}'", corpora.display()),
        }
    }
}

/// The files of a folder with an extension, by name.
fn files(folder: &std::path::Path, extension: &str) -> Result<Vec<PathBuf>, ReproduceError> {
    let failed = |error| ReproduceError::Folder { folder: folder.to_owned(), error };
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
fn stem(path: &std::path::Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

impl Context<'_> {
    /// Runs an algorithm by name; its answer has passed the checker.
    ///
    /// # Errors
    /// There is none of that name, it failed, or its answer was refused.
    pub fn solve<P: Problem>(
        &self,
        entries: &[&'static Entry<P>],
        name: &'static str,
        label: &str,
        input: &P::Input,
    ) -> Result<Outcome<P>, ReproduceError> {
        let entry = named(entries, name)?;
        run(entry, input, self.setup, self.limits, &mut Silent).result.map_err(|source| ReproduceError::Run {
            name,
            input: label.to_owned(),
            source,
        })
    }

    /// The same, where nothing is an answer but a solution.
    ///
    /// # Errors
    /// As [`Self::solve`], and [`ReproduceError::Nothing`].
    pub fn answer<P: Problem>(
        &self,
        entries: &[&'static Entry<P>],
        name: &'static str,
        label: &str,
        input: &P::Input,
    ) -> Result<Outcome<P>, ReproduceError> {
        let outcome = self.solve(entries, name, label, input)?;
        let nothing = || ReproduceError::Nothing { name, input: label.to_owned() };
        if outcome.solution.is_some() { Ok(outcome) } else { Err(nothing()) }
    }
}

/// The algorithm of a name.
fn named<P: Problem>(
    entries: &[&'static Entry<P>],
    name: &'static str,
) -> Result<&'static Entry<P>, ReproduceError> {
    let entry = entries.iter().copied().find(|entry| entry.name == name);
    entry.ok_or(ReproduceError::Missing { name, problem: P::NAME })
}

/// A generated graph, seed 0.
fn generated(family: &'static str, params: &[(&str, u64)]) -> Result<Graph, ReproduceError> {
    generated_from(family, params, 0)
}

/// A generated graph.
fn generated_from(family: &'static str, params: &[(&str, u64)], seed: u64) -> Result<Graph, ReproduceError> {
    let missing = ReproduceError::Missing { name: family, problem: "generated graphs" };
    let known = GraphFamily::named(family).ok_or(missing)?;
    let params: BTreeMap<String, u64> =
        params.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    known
        .generate(seed, &params)
        .map_err(|source| ReproduceError::Generate { graph: family.to_owned(), source })
}

/// A paper, and how to compute its results again.
pub struct Paper {
    /// The word users type.
    pub name: &'static str,
    /// Short for it: a number, or authors and year.
    pub source: &'static str,
    /// What the document is.
    pub title: &'static str,
    /// What is reproduced, in one line.
    pub about: &'static str,
    /// Computes it.
    pub run: fn(&Context<'_>) -> Result<Reproduction, ReproduceError>,
}

impl std::fmt::Debug for Paper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Paper")
            .field("name", &self.name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// Every paper there is so far.
pub const PAPERS: &[Paper] = &[
    Paper {
        name: "luna",
        source: "S0",
        title: "LUNA: Wang, Shen, Jing, Lyu, memory optimisation for control-flow graphs",
        about: "branches merged into blocks: tables 1 and 2, figures, distance from the optimum; ping-pong: table 3, and when it loses",
        run: luna::run,
    },
    Paper {
        name: "mini-infer",
        source: "S1",
        title: "Mini-Infer, report on static memory planning",
        about: "pools by greedy colouring: its report, the saving it claims, and the optimum beside it",
        run: mini_infer::run,
    },
    Paper {
        name: "patent",
        source: "S2",
        title: "patent on memory management by mutually exclusive operators",
        about: "memory of mutually exclusive operators: the worked example step by step, and its optimum",
        run: patent::run,
    },
    Paper {
        name: "fusion",
        source: "S3",
        title: "paper on operator fusion across units",
        about: "operators fused across units: coverage on three networks, greedy against the most, printed tables against themselves",
        run: fusion::run,
    },
    Paper {
        name: "cann",
        source: "S4",
        title: "CANN graph engine, description of memory reuse",
        about: "block reuse: the worked example; order: what its rules save on LLaMA-13B and Baichuan-13B, and what is left",
        run: cann::run,
    },
    Paper {
        name: "pisarchyk-lee",
        source: "Pisarchyk, Lee 2020",
        title: "Pisarchyk, Lee: Efficient memory management for deep neural net inference",
        about: "buffers of inference shared by offsets and as objects: every strategy of the paper on TFLite models, and the optimum",
        run: pisarchyk_lee::run,
    },
    Paper {
        name: "minimalloc",
        source: "Moffitt 2023",
        title: "Moffitt: MiniMalloc, a lightweight memory allocator for hardware-accelerated machine learning",
        about: "the instances A to K decided and minimised, with seconds, and MiniMalloc beside it where there is one",
        run: minimalloc::run,
    },
];
