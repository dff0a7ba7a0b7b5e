//! Published results, computed again: what was printed, what comes out here, and why they differ where they do.
//!
//! Nothing printed is taken over: every number beside "printed" is computed by the algorithms of the registry, through
//! the checker, or recomputed from other printed numbers.

mod cann;
mod fusion;
mod luna;
mod mini_infer;
mod patent;

use crate::registry::Registry;
use crate::report::table::Table;
use crate::run::{Limits, run};
use plimsoll_datasets::graphs::GraphFamily;
use plimsoll_model::graph::Graph;
use plimsoll_model::{Entry, Outcome, Problem, Setup, Silent};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

/// What a reproduction may use and spend.
#[derive(Debug)]
pub struct Context<'a> {
    /// Every algorithm.
    pub registry: &'a Registry,
    /// Seed and threads.
    pub setup: Setup,
    /// Limits of every single run.
    pub limits: Limits,
}

/// Why a reproduction cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// The registry lacks an algorithm.
    #[error("no algorithm '{name}' for {problem}")]
    Missing {
        /// Its name.
        name: &'static str,
        /// For which problem.
        problem: &'static str,
    },
    /// A run failed, or its answer was refused.
    #[error("{name} on {input}: {source}")]
    Run {
        /// Which algorithm.
        name: &'static str,
        /// On what.
        input: String,
        /// Why.
        source: crate::run::RunError,
    },
    /// A graph could not be planned.
    #[error(transparent)]
    Graph(#[from] crate::graphs::GraphRunError),
    /// A graph is none.
    #[error("{graph}: {source}")]
    Order {
        /// Which.
        graph: String,
        /// Why.
        source: plimsoll_model::order::OrderError,
    },
    /// A graph could not be generated.
    #[error("{graph}: {source}")]
    Generate {
        /// Of which family.
        graph: String,
        /// Why.
        source: plimsoll_datasets::GenerateError,
    },
    /// The checker refused an order made outside of a solver.
    #[error("{what}: the checker refused its order: {reason}")]
    Refused {
        /// Who made it.
        what: String,
        /// Why.
        reason: String,
    },
    /// A model of the corpora cannot be read.
    #[error(transparent)]
    Import(#[from] plimsoll_datasets::ImportError),
    /// Graphs could not be made into one.
    #[error("{graph}: {source}")]
    Join {
        /// Which.
        graph: String,
        /// Why.
        source: Box<plimsoll_model::graph::JoinError>,
    },
    /// Tensors of a graph could not be placed in tiers.
    #[error("{graph}: {reason}")]
    Tiers {
        /// Which.
        graph: String,
        /// Why.
        reason: String,
    },
    /// A graph with branches could not be planned.
    #[error("{graph}: {source}")]
    Branches {
        /// Which.
        graph: String,
        /// Why.
        source: Box<crate::branches::BranchError>,
    },
    /// A plan takes less than another one's bound allows.
    #[error("{graph}: {source}")]
    Contradiction {
        /// Which graph.
        graph: String,
        /// Which two.
        source: Box<crate::branches::Broken>,
    },
    /// A graph is no program of transfers and computations.
    #[error("{graph}: {source}")]
    Overlap {
        /// Which.
        graph: String,
        /// Why.
        source: Box<plimsoll_model::overlap::OverlapError>,
    },
    /// A machine, or patterns, cannot be read.
    #[error(transparent)]
    Description(#[from] plimsoll_model::DescriptionError),
    /// A graph could not be fused.
    #[error("{graph}: {source}")]
    Fuse {
        /// Which.
        graph: String,
        /// Why.
        source: Box<crate::fusion::FuseError>,
    },
    /// Processing units cannot be read.
    #[error(transparent)]
    Units(#[from] plimsoll_model::fusion::UnitsError),
    /// A value on record that was not met.
    #[error("{graph}: {what} is {computed} bytes, on record are {recorded}")]
    Record {
        /// Which graph.
        graph: String,
        /// Which value.
        what: &'static str,
        /// As computed.
        computed: String,
        /// As on record.
        recorded: u64,
    },
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
    ) -> Result<Outcome<P::Solution>, ReproduceError> {
        let entry = named(entries, name)?;
        run(entry, input, self.setup, self.limits, &mut Silent).result.map_err(|source| ReproduceError::Run {
            name,
            input: label.to_owned(),
            source,
        })
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
    /// Its number among the sources.
    pub source: &'static str,
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
        about: "branches merged into blocks: tables 1 and 2, figures, distance from the optimum; ping-pong: table 3, and when it loses",
        run: luna::run,
    },
    Paper {
        name: "mini-infer",
        source: "S1",
        about: "pools by greedy colouring: its report, the saving it claims, and the optimum beside it",
        run: mini_infer::run,
    },
    Paper {
        name: "patent",
        source: "S2",
        about: "memory of mutually exclusive operators: the worked example step by step, and its optimum",
        run: patent::run,
    },
    Paper {
        name: "fusion",
        source: "S3",
        about: "operators fused across units: coverage on three networks, greedy against the most, printed tables against themselves",
        run: fusion::run,
    },
    Paper {
        name: "cann",
        source: "S4",
        about: "block reuse: the worked example; order: what its rules save on LLaMA-13B and Baichuan-13B, and what is left",
        run: cann::run,
    },
];

/// Text and tables, and files that go with them.
#[derive(Debug, Default)]
pub struct Reproduction {
    sections: Vec<Section>,
    /// What lies beside the text.
    pub files: Vec<File>,
}

/// A file of a reproduction.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name.
    pub name: String,
    /// What it holds, in one line.
    pub about: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

#[derive(Debug)]
struct Section {
    title: String,
    lines: Vec<String>,
    table: Option<Table>,
    verbatim: Option<String>,
}

impl Reproduction {
    /// Begins a section.
    pub fn section(&mut self, title: impl Into<String>) {
        self.sections.push(Section { title: title.into(), lines: Vec::new(), table: None, verbatim: None });
    }

    fn last(&mut self) -> &mut Section {
        if self.sections.is_empty() {
            self.section("");
        }
        self.sections.last_mut().expect("there is one now")
    }

    /// A line of text in the section begun last.
    pub fn line(&mut self, text: impl Into<String>) {
        self.last().lines.push(text.into());
    }

    /// The table of the section begun last.
    pub fn table(&mut self, table: Table) {
        self.last().table = Some(table);
    }

    /// Text of the section begun last that is shown as it is.
    pub fn verbatim(&mut self, text: String) {
        self.last().verbatim = Some(text);
    }

    /// A file beside the text, filled by `write`.
    ///
    /// # Panics
    /// If `write` fails, which nothing that writes to memory does.
    pub fn file(
        &mut self,
        name: impl Into<String>,
        about: impl Into<String>,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) {
        let mut content = Vec::new();
        write(&mut content).expect("memory can be written to");
        self.files.push(File { name: name.into(), about: about.into(), content });
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        self.render(
            |title| format!("{title}\n{}\n", "=".repeat(title.chars().count())),
            Table::text,
            str::to_owned,
        )
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        self.render(
            |title| format!("## {title}\n\n"),
            Table::markdown,
            |text| format!("```text\n{text}```\n"),
        )
    }

    fn render(
        &self,
        title: impl Fn(&str) -> String,
        table: impl Fn(&Table) -> String,
        verbatim: impl Fn(&str) -> String,
    ) -> String {
        let mut text = String::new();
        for (at, section) in self.sections.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            text.push_str(&title(&section.title));
            if let Some(own) = &section.table {
                let _ = writeln!(text, "{}", table(own).trim_end());
                text.push('\n');
            }
            for line in &section.lines {
                let _ = writeln!(text, "- {line}");
            }
            if let Some(own) = &section.verbatim {
                text.push('\n');
                text.push_str(&verbatim(own));
            }
        }
        text
    }
}
