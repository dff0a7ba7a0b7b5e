//! `plimsoll datasets`: lists, verifies and downloads the external corpora.

mod args;
mod client;
mod fetch;
mod verify;

use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure};
use crate::report::{self, Printed, Text, cells};
pub use args::DatasetsArgs;
use args::{DatasetsCommand, DatasetsListArgs};
use plimsoll::datasets::{Corpus, CorpusFile, MANIFEST};
use plimsoll::model::Bytes;
use serde::Serialize;

impl Command for DatasetsArgs {
    const NAME: &str = "datasets";
    const ABOUT: &str = "List, verify or fetch the external corpora";
    const TASK: Task = Task::Reference;
    const EXAMPLES: &[(&str, &str)] = &[
        ("plimsoll datasets list", "List the external corpora"),
        (
            "plimsoll generate uniform --count 3 --out set && plimsoll datasets verify set",
            "Compare generated files with their manifest",
        ),
    ];
    const EAGER: bool = true;
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &DatasetsArgs) -> Result<u8, Failure> {
    match &args.command {
        None => list(&DatasetsListArgs::default()),
        Some(DatasetsCommand::List(args)) => list(args),
        Some(DatasetsCommand::Verify(args)) => verify::main(args),
        Some(DatasetsCommand::Fetch(args)) => fetch::main(args),
    }
}

/// The list of corpora.
#[derive(Serialize)]
struct Corpora {
    corpora: Vec<CorpusRow>,
    /// Whether the text contains the files.
    #[serde(skip)]
    with_files: bool,
}

#[derive(Serialize)]
struct CorpusRow {
    folder: &'static str,
    upstream: &'static str,
    version: &'static str,
    licence: &'static str,
    files: Vec<FileRow>,
}

#[derive(Serialize)]
struct FileRow {
    name: &'static str,
    /// Relative to the upstream repository or package.
    path: &'static str,
    sha256: &'static str,
    buffers: Option<usize>,
    load: Option<Bytes>,
    /// `None` unless a layout with a peak equal to the load is known.
    optimum: Option<Bytes>,
}

impl Printed for Corpora {
    fn print(&self, text: &mut Text) {
        let row =
            |one: &CorpusRow| cells![one.folder, one.files.len(), one.upstream, one.version, one.licence];
        let columns = ["corpus", "files", "upstream", "commit or version", "licence"];
        text.table(&columns, self.corpora.iter().map(row));
        if self.with_files {
            text.push("\n");
            for corpus in &self.corpora {
                for file in &corpus.files {
                    text.verbatim(&format!("{}  {}/{}\n", file.sha256, corpus.folder, file.name));
                }
            }
        }
    }
}

fn list(args: &DatasetsListArgs) -> Result<u8, Failure> {
    let file = |file: &CorpusFile| FileRow {
        name: file.name,
        path: file.path,
        sha256: file.sha256,
        buffers: file.facts.map(|facts| facts.buffers),
        load: file.facts.map(|facts| facts.load),
        optimum: file.facts.and_then(|facts| facts.optimum),
    };
    let corpus = |corpus: &Corpus| CorpusRow {
        folder: corpus.folder,
        upstream: corpus.upstream,
        version: corpus.version,
        licence: corpus.licence,
        files: corpus.files.iter().map(file).collect(),
    };
    let corpora = MANIFEST.iter().map(corpus).collect();
    report::print(&Corpora { corpora, with_files: args.files }, args.json)?;
    Ok(ANSWERED)
}
