//! `plimsoll datasets`: the external corpora, and whether the copies here are those.

use crate::cli::{DatasetsArgs, DatasetsCommand, DatasetsListArgs, DatasetsVerifyArgs};
use crate::commands::sha256;
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::output;
use plimsoll::datasets::{Corpus, CorpusFile, MANIFEST};
use plimsoll::report::table::{Align, Table};
use plimsoll::suite::{CORPORA, corpora};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

/// Runs the command.
pub fn main(args: &DatasetsArgs) -> Result<u8, Failure> {
    match &args.command {
        None => list(&DatasetsListArgs::default()),
        Some(DatasetsCommand::List(args)) => list(args),
        Some(DatasetsCommand::Verify(args)) => verify(args),
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
    for corpus in MANIFEST {
        let count = corpus.files.len().to_string();
        let row = [corpus.folder, &count, corpus.upstream, corpus.version, corpus.licence];
        table.row(row.map(ToOwned::to_owned));
    }
    let mut text = table.text();
    if args.files {
        text.push('\n');
        for corpus in MANIFEST {
            for file in corpus.files {
                let _ = writeln!(text, "{}  {}/{}", file.sha256, corpus.folder, file.name);
            }
        }
    }
    output::print(&text)?;
    Ok(ANSWERED)
}

/// What is the matter with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    /// Listed, but not there.
    Missing,
    /// There, with other bytes than listed.
    Changed,
    /// There, but not listed.
    Unknown,
}

#[derive(Debug, Serialize)]
struct Finding {
    file: String,
    standing: Standing,
    /// What was found instead of the SHA-256 listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

#[derive(Debug, Serialize)]
struct Verdict {
    /// Files that are what the list says.
    intact: usize,
    findings: Vec<Finding>,
}

fn verify(args: &DatasetsVerifyArgs) -> Result<u8, Failure> {
    let folders: BTreeSet<&str> = MANIFEST.iter().map(|corpus| corpus.folder).collect();
    if let Some(name) = args.corpora.iter().find(|name| !folders.contains(name.as_str())) {
        let known = folders.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::input(format!("unknown corpus '{name}'; known are {known}")));
    }
    let root = corpora()
        .ok_or_else(|| Failure::input(format!("set {CORPORA} to the folder that holds the corpora")))?;
    if !root.is_dir() {
        return Err(Failure::input(format!("{CORPORA}: {} is no folder", root.display())));
    }
    let mut verdict = Verdict { intact: 0, findings: Vec::new() };
    for folder in folders {
        if args.corpora.is_empty() || args.corpora.iter().any(|name| name == folder) {
            look(&root, folder, &mut verdict)?;
        }
    }
    if args.json {
        output::print_json(&verdict)?;
    } else {
        output::print(&verdict.text())?;
    }
    Ok(if verdict.findings.is_empty() { ANSWERED } else { REFUTED })
}

/// Compares one folder with the list.
fn look(root: &Path, folder: &str, verdict: &mut Verdict) -> Result<(), Failure> {
    let of_folder = MANIFEST.iter().filter(|corpus| corpus.folder == folder);
    let listed: BTreeMap<&str, &CorpusFile> =
        of_folder.flat_map(|corpus| corpus.files).map(|file| (file.name, file)).collect();
    for (name, file) in &listed {
        let path = root.join(folder).join(name);
        let found = match std::fs::read(&path) {
            Ok(bytes) => sha256(&bytes),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                verdict.find(folder, name, Standing::Missing, None);
                continue;
            }
            Err(error) => return Err(Failure::input(format!("{}: {error}", path.display()))),
        };
        if found == file.sha256 {
            verdict.intact += 1;
        } else {
            verdict.find(folder, name, Standing::Changed, Some(found));
        }
    }
    // Notes beside the data are nobody's concern: only what looks like the listed files is.
    let extension = |name: &str| Path::new(name).extension().map(ToOwned::to_owned);
    let extensions: BTreeSet<_> = listed.keys().filter_map(|name| extension(name)).collect();
    let mut unknown = Vec::new();
    let path = root.join(folder);
    let wrong = |error| Failure::input(format!("{}: {error}", path.display()));
    if path.is_dir() {
        for entry in std::fs::read_dir(&path).map_err(wrong)? {
            let name = entry.map_err(wrong)?.file_name().to_string_lossy().into_owned();
            let alike = extension(&name).is_some_and(|own| extensions.contains(&own));
            if alike && !listed.contains_key(name.as_str()) {
                unknown.push(name);
            }
        }
    }
    unknown.sort();
    for name in unknown {
        verdict.find(folder, &name, Standing::Unknown, None);
    }
    Ok(())
}

impl Verdict {
    fn find(&mut self, folder: &str, name: &str, standing: Standing, sha256: Option<String>) {
        self.findings.push(Finding { file: format!("{folder}/{name}"), standing, sha256 });
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let (word, more) = match (finding.standing, &finding.sha256) {
                (Standing::Missing, _) => ("missing", String::new()),
                (Standing::Unknown, _) => ("unknown", ", not on the list".to_owned()),
                (Standing::Changed, found) => {
                    ("changed", found.as_ref().map_or_else(String::new, |found| format!(", SHA-256 {found}")))
                }
            };
            let _ = writeln!(text, "{word:<8} {}{more}", finding.file);
        }
        let _ = writeln!(text, "{} files as listed, {} that differ", self.intact, self.findings.len());
        text
    }
}
