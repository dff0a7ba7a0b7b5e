//! The TOML file that describes a sweep. Unknown keys and numbers out of range are errors.
//!
//! ```toml
//! seeds = "0..3"                      # a number, a list, or a range that excludes its end; default 0
//! repetitions = 2                     # default 1
//! metrics = ["seconds", "nodes"]      # columns to keep in addition to the fixed ones; default all
//!
//! trace = true                        # record improvements over time, also in trace.csv; default false
//! layouts = true                      # store every valid layout in layouts/RUN.csv; default false
//! proofs = true                       # prove bounds for offsets and orders; default false
//!
//! [limits]                            # limits of every run; a list gives one run per value
//! time = [1, 10.5]                    # seconds; default none
//! nodes = 100_000                     # default none
//! grace = 10                          # seconds past the limit after which a run counts as hung; default 10
//! memory = 4_000_000_000              # limit on the resident memory of a run in bytes; default none
//!
//! [[instances]]
//! suite = "embedded"                  # the name of a suite, or
//! # path = "models/*.csv"             # a CSV file, a folder, or a pattern (* and ?), relative to this file
//! only = ["perfect-*"]                # names to include; default all
//!
//! [[instances]]
//! family = "uniform"                  # a generated family of instances or graphs
//! buffers = [100, 1000]               # only for families of instances
//! seeds = "1..4"
//!
//! [[instances]]
//! graph = "net.json"                  # a file or a pattern of graphs or models, for the problems on graphs
//! batch = 1                           # first dimension of inputs; dim_default: all other free dimensions
//!
//! [[instances]]
//! path = "models"                     # a folder of models
//! as = ["offsets", "joint"]           # the problems to pose, on the model or on an instance derived from it
//! terms = "order=exact"               # how that instance is derived; default order=as-in-file
//! dim = { N = 1, seq = [64, 128] }    # values of free dimensions; lists make several inputs of a model
//! input_shape = { x = [1, 3, 8, 8] }  # also value, tensor_shape, element, keep_constants, assume_bytes,
//!                                     # trips
//!
//! [[algorithms]]
//! names = ["exact", "first-fit-size"]    # or one of the groups heuristics, solvers and all
//! problem = "offsets"                 # default: the first that has the algorithm, in the order of
//!                                     # `plimsoll list`
//! terms = "machine=luna"              # terms of the question; `plimsoll bench --help` lists the keys
//! threads = [1, 2]                    # default 1
//! decide = "load"                     # a capacity to decide: "load", "file" or bytes; default: optimise
//! nodes = 1000                        # also time, seeds and repetitions; overrides the values above
//!
//! [[algorithms]]
//! names = "theirs"                    # the name of an external planner, only for offsets
//! external = "theirs {input} {output} --capacity {capacity}"  # placeholders: see plimsoll_lab::external
//! version = "theirs --version"        # command that prints the version; default none
//! elapsed = "took ([0-9.]+) s"        # regular expression for the printed seconds; default none
//! ```

use super::lists::{Capacity, Numbers, Seconds, Whole, Words};
use crate::experiment::ExperimentError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The file as parsed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSweep {
    pub instances: Spanned<Vec<Spanned<RawInstances>>>,
    pub algorithms: Spanned<Vec<Spanned<RawAlgorithms>>>,
    #[serde(default)]
    pub limits: RawLimits,
    pub seeds: Option<Numbers>,
    pub repetitions: Option<Whole>,
    pub metrics: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub trace: bool,
    #[serde(default)]
    pub layouts: bool,
    #[serde(default)]
    pub proofs: bool,
}

/// Limits of every run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLimits {
    pub time: Option<Seconds>,
    pub nodes: Option<Numbers>,
    pub grace: Option<Spanned<Seconds>>,
    pub memory: Option<Spanned<Whole>>,
}

/// Instances, or graphs, from one source.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawInstances {
    pub suite: Option<String>,
    pub path: Option<String>,
    pub family: Option<String>,
    pub graph: Option<String>,
    pub only: Option<Words>,
    pub endpoints: Option<String>,
    #[serde(rename = "as")]
    pub posed: Option<Words>,
    pub terms: Option<String>,
    pub batch: Option<Numbers>,
    pub dim_default: Option<Numbers>,
    #[serde(default)]
    pub dim: BTreeMap<String, Numbers>,
    #[serde(default)]
    pub input_shape: BTreeMap<String, Vec<u64>>,
    #[serde(default)]
    pub tensor_shape: BTreeMap<String, Vec<u64>>,
    #[serde(default)]
    pub value: BTreeMap<String, Vec<i64>>,
    pub element: Option<String>,
    pub keep_constants: Option<bool>,
    pub assume_bytes: Option<Whole>,
    pub trips: Option<u64>,
    pub buffers: Option<Numbers>,
    pub seeds: Option<Numbers>,
    #[serde(default)]
    pub params: BTreeMap<String, Numbers>,
}

/// Algorithms with the same parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAlgorithms {
    pub names: Words,
    pub problem: Option<String>,
    pub threads: Option<Numbers>,
    pub external: Option<String>,
    pub version: Option<String>,
    pub elapsed: Option<String>,
    pub decide: Option<Capacity>,
    pub terms: Option<String>,
    pub time: Option<Seconds>,
    pub nodes: Option<Numbers>,
    pub seeds: Option<Numbers>,
    pub repetitions: Option<Whole>,
}

/// The path and the text of a file. The text is kept for messages with line numbers.
pub(super) struct Source {
    pub path: PathBuf,
    /// The folder to which paths in the file are relative.
    pub folder: PathBuf,
    text: String,
}

impl Source {
    /// Reads the text of a file.
    pub fn open(path: &Path, folder: &Path) -> Result<Self, ExperimentError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ExperimentError::Io { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), folder: folder.to_owned(), text })
    }

    /// Parses the text as TOML.
    pub fn parse(&self) -> Result<RawSweep, ExperimentError> {
        toml::from_str(&self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            // A message may span several lines.
            self.wrong(at, &error.message().split_whitespace().collect::<Vec<_>>().join(" "))
        })
    }

    /// Returns an error for the line that contains the byte at `at`.
    pub fn wrong(&self, at: usize, message: &str) -> ExperimentError {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.split(|&byte| byte == b'\n').count();
        ExperimentError::File { path: self.path.clone(), line, message: message.to_owned() }
    }
}
