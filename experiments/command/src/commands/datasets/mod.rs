//! `plimsoll datasets`: lists, verifies and downloads the external corpora.

mod args;
mod client;
mod fetch;
mod verify;

use crate::failure::{ANSWERED, Failure};
use crate::report::Report;
pub use args::DatasetsArgs;
use args::{DatasetsCommand, DatasetsListArgs};
use plimsoll::datasets::{Corpus, CorpusFile, MANIFEST};
use serde_json::{Value, json};

pub fn main(args: &DatasetsArgs) -> Result<u8, Failure> {
    match &args.command {
        None => list(&DatasetsListArgs::default()),
        Some(DatasetsCommand::List(args)) => list(args),
        Some(DatasetsCommand::Verify(args)) => verify::main(args),
        Some(DatasetsCommand::Fetch(args)) => fetch::main(args),
    }
}

fn list(args: &DatasetsListArgs) -> Result<u8, Failure> {
    let file = |file: &CorpusFile| {
        json!({
            "name": file.name,
            // Relative to the upstream repository or package.
            "path": file.path,
            "sha256": file.sha256,
            "buffers": file.facts.map(|facts| facts.buffers),
            "load": file.facts.map(|facts| facts.load),
            // Null unless a layout with a peak equal to the load is known.
            "optimum": file.facts.and_then(|facts| facts.optimum),
        })
    };
    let corpus = |corpus: &Corpus| {
        json!({
            "folder": corpus.folder,
            "upstream": corpus.upstream,
            "version": corpus.version,
            "licence": corpus.licence,
            "files": corpus.files.iter().map(file).collect::<Vec<_>>(),
        })
    };
    let corpora: Vec<Value> = MANIFEST.iter().map(corpus).collect();
    let mut report = Report::new(json!({ "corpora": corpora }));
    report.table(&corpora, "corpus = folder, files, upstream, commit or version = version, licence");
    if args.files {
        report.push("\n");
        for corpus in MANIFEST.iter() {
            for file in &corpus.files {
                report.verbatim(&format!("{}  {}/{}\n", file.sha256, corpus.folder, file.name));
            }
        }
    }
    report.print(args.json)?;
    Ok(ANSWERED)
}
