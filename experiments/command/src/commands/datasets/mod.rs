//! `plimsoll datasets`: the external corpora: what they are, whether the copies here are those, and how to get them.

mod args;
mod client;
mod fetch;
mod verify;

use crate::failure::{ANSWERED, Failure};
use crate::output;
pub use args::DatasetsArgs;
use args::{DatasetsCommand, DatasetsListArgs};
use plimsoll::datasets::{Corpus, CorpusFile, MANIFEST};
use plimsoll_lab::report::table::{Align, Table};
use serde::Serialize;
use std::fmt::Write as _;

pub fn main(args: &DatasetsArgs) -> Result<u8, Failure> {
    match &args.command {
        None => list(&DatasetsListArgs::default()),
        Some(DatasetsCommand::List(args)) => list(args),
        Some(DatasetsCommand::Verify(args)) => verify::main(args),
        Some(DatasetsCommand::Fetch(args)) => fetch::main(args),
    }
}

#[derive(Debug, Serialize)]
struct Listed {
    folder: &'static str,
    upstream: &'static str,
    version: &'static str,
    licence: &'static str,
    files: Vec<ListedFile>,
}

#[derive(Debug, Serialize)]
struct ListedFile {
    name: &'static str,
    /// Below the upstream place.
    path: &'static str,
    sha256: &'static str,
    buffers: Option<usize>,
    /// Bytes.
    load: Option<u64>,
    /// Bytes, where a layout at the load is known.
    optimum: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Listing {
    corpora: Vec<Listed>,
}

impl Listing {
    fn new() -> Self {
        let file = |file: &CorpusFile| ListedFile {
            name: file.name,
            path: file.path,
            sha256: file.sha256,
            buffers: file.facts.map(|facts| facts.buffers),
            load: file.facts.map(|facts| facts.load.get()),
            optimum: file.facts.and_then(|facts| facts.optimum).map(plimsoll::model::Bytes::get),
        };
        let corpus = |corpus: &Corpus| Listed {
            folder: corpus.folder,
            upstream: corpus.upstream,
            version: corpus.version,
            licence: corpus.licence,
            files: corpus.files.iter().map(file).collect(),
        };
        Self { corpora: MANIFEST.iter().map(corpus).collect() }
    }
}

fn list(args: &DatasetsListArgs) -> Result<u8, Failure> {
    if args.json {
        output::print_json(&Listing::new())?;
        return Ok(ANSWERED);
    }
    let mut table = Table::new([
        ("corpus", Align::Left),
        ("files", Align::Right),
        ("upstream", Align::Left),
        ("commit or version", Align::Left),
        ("licence", Align::Left),
    ]);
    for corpus in MANIFEST.iter() {
        let count = corpus.files.len().to_string();
        let row = [corpus.folder, &count, corpus.upstream, corpus.version, corpus.licence];
        table.row(row.map(ToOwned::to_owned));
    }
    let mut text = table.text();
    if args.files {
        text.push('\n');
        for corpus in MANIFEST.iter() {
            for file in &corpus.files {
                let _ = writeln!(text, "{}  {}/{}", file.sha256, corpus.folder, file.name);
            }
        }
    }
    output::print(&text)?;
    Ok(ANSWERED)
}
