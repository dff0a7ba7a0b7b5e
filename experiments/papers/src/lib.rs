//! Published results, computed again: what was printed, what comes out here, and why they differ where they do.
//!
//! Nothing printed is taken over: every number beside "printed" is computed by the algorithms of the registry, through
//! the checker, or recomputed from other printed numbers.
//!
//! Every paper has a file `data/NAME.toml` (what is printed, the rows, the words of figures), a report
//! `data/NAME.md` with placeholders, and a module that computes the facts both refer to.

pub mod cann;
mod context;
mod document;
mod error;
pub mod fusion;
mod inputs;
pub mod luna;
pub mod mini_infer;
pub mod minimalloc;
pub mod patent;
pub mod pisarchyk_lee;
mod row;
mod sheet;
mod sources;

pub use context::{Answer, Context};
pub(crate) use context::{missing, named};
pub use document::{File, Reproduction};
pub use error::ReproduceError;
pub use inputs::Params;
pub(crate) use inputs::{files, generated, import, intermediates, stem, storages};
pub use row::{Amount, Expected, Row, Verdict, table, write_rows};

use std::sync::LazyLock;

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
        ($name, |context| $module::reproduce(&$module::Inputs::default(), context))
    };
}

/// Name and code of every paper.
const RUNS: [(&str, Run); 7] = [
    paper!("luna", luna),
    paper!("mini-infer", mini_infer),
    paper!("patent", patent),
    paper!("fusion", fusion),
    paper!("cann", cann),
    paper!("pisarchyk-lee", pisarchyk_lee),
    paper!("minimalloc", minimalloc),
];

/// Every paper there is so far.
pub static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
    let paper = |(name, run): (&str, Run)| {
        let sheet::Sheet { name, source, title, about, .. } = sheet::Sheet::of(name);
        Paper { name, source, title, about, run }
    };
    RUNS.map(paper).into()
});
