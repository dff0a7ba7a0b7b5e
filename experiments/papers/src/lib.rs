//! Recomputes published results. A row shows the printed number, the number computed here, and the reason for
//! any difference.
//!
//! Every number that is compared with a printed one is either the checked result of a registered algorithm or
//! recomputed from other printed numbers.
//!
//! Every reproduction has three parts. `data/NAME.toml` contains the printed numbers, the rows and the
//! captions of figures. `data/NAME.md` is the report template. A module computes the facts used by both
//! files.

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

pub use context::Context;
pub(crate) use context::{missing, named};
pub use document::{File, Reproduction};
pub use error::ReproduceError;
pub use inputs::Params;
pub(crate) use inputs::{files, generated, import, intermediates, stem, storages};
pub use row::{Amount, Expected, Row, Verdict, table, write_rows};

use std::sync::LazyLock;

type Run = fn(&Context<'_>) -> Result<Reproduction, ReproduceError>;

/// A paper, and the function that recomputes its results.
#[derive(Debug)]
pub struct Paper {
    /// The name on the command line, such as `luna`.
    pub name: String,
    /// A short citation: a number, or the authors and the year.
    pub source: String,
    /// The title of the document.
    pub title: String,
    /// A one-line description of the reproduced results.
    pub about: String,
    /// The time that the computation takes with default limits, such as `about 20 s`.
    pub takes: String,
    /// Recomputes the results from the printed inputs.
    pub run: Run,
}

macro_rules! paper {
    ($name:literal, $module:ident) => {
        ($name, |context| $module::reproduce(&$module::Inputs::default(), context))
    };
}

/// Name and function of every paper.
const RUNS: [(&str, Run); 7] = [
    paper!("luna", luna),
    paper!("mini-infer", mini_infer),
    paper!("patent", patent),
    paper!("fusion", fusion),
    paper!("cann", cann),
    paper!("pisarchyk-lee", pisarchyk_lee),
    paper!("minimalloc", minimalloc),
];

/// All papers, in the order of `plimsoll reproduce all`.
pub static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
    let paper = |(name, run): (&str, Run)| {
        let sheet::Sheet { name, source, title, about, takes, .. } = sheet::Sheet::of(name);
        Paper { name, source, title, about, takes, run }
    };
    RUNS.map(paper).into()
});
