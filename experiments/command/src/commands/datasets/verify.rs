//! `plimsoll datasets verify`: compares files with the list of external corpora or with the manifest in their
//! folder.

use super::args::DatasetsVerifyArgs;
use crate::commands::generate::{self, MANIFEST as GENERATED};
use crate::digest::sha256;
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::report::{self, Printed, Text};
use plimsoll::datasets::{CorpusFile, MANIFEST};
use plimsoll::model::{json_error, json_from_slice};
use plimsoll_lab::suite::{CORPORA, corpora};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// How a file differs from the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    /// Listed, but not present.
    Missing,
    /// Present, but its SHA-256 differs from the listed one.
    Changed,
    /// Present, but not listed.
    Unknown,
}

#[derive(Debug, Serialize)]
struct Finding {
    file: String,
    standing: Standing,
    /// The SHA-256 of a changed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

#[derive(Debug, Serialize)]
struct Verdict {
    /// Number of files that match the list.
    intact: usize,
    findings: Vec<Finding>,
}

pub(super) fn main(args: &DatasetsVerifyArgs) -> Result<u8, Failure> {
    let known: BTreeSet<&str> = MANIFEST.iter().map(|corpus| corpus.folder).collect();
    let (corpora, folders): (Vec<&str>, Vec<&str>) =
        args.corpora.iter().map(String::as_str).partition(|name| known.contains(name));
    let mut verdict = Verdict { intact: 0, findings: Vec::new() };
    for folder in &folders {
        if !Path::new(folder).join(GENERATED).is_file() {
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Failure::input(format!(
                "unknown corpus '{folder}' (known: {known}, and folders with a {GENERATED})"
            )));
        }
        generated(folder, &mut verdict)?;
    }
    if folders.is_empty() || !corpora.is_empty() {
        let root = root()?;
        for folder in known {
            if corpora.is_empty() || corpora.contains(&folder) {
                look(&root, folder, &mut verdict)?;
            }
        }
    }
    report::print(&verdict, args.json)?;
    Ok(if verdict.findings.is_empty() { ANSWERED } else { REFUTED })
}

/// Returns the folder of all corpora.
fn root() -> Result<PathBuf, Failure> {
    let root =
        corpora().ok_or_else(|| Failure::input(format!("set {CORPORA} to the folder of the corpora")))?;
    if root.is_dir() {
        Ok(root)
    } else {
        Err(Failure::input(format!("{CORPORA}: {} is not a folder", root.display())))
    }
}

/// The members of a manifest that are compared.
#[derive(Debug, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    files: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    file: String,
    sha256: String,
}

/// Compares a generated folder with its manifest.
fn generated(folder: &str, verdict: &mut Verdict) -> Result<(), Failure> {
    let path = Path::new(folder).join(GENERATED);
    let wrong = |what: String| Failure::input(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let manifest: Manifest = json_from_slice(text.as_bytes()).map_err(|error| wrong(json_error(&error)))?;
    if (manifest.format.as_str(), manifest.version) != (generate::FORMAT, generate::FORMAT_VERSION) {
        let Manifest { format, version, .. } = manifest;
        return Err(wrong(format!("format '{format}', version {version}, is not supported")));
    }
    let mut listed = BTreeMap::new();
    for Entry { file, sha256 } in &manifest.files {
        let mut parts = Path::new(file).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            return Err(wrong(format!("'{file}' is not the name of a file in this folder")));
        }
        if listed.insert(file.as_str(), sha256.as_str()).is_some() {
            return Err(wrong(format!("'{file}' is listed twice")));
        }
    }
    compare(Path::new(folder), folder, &listed, verdict)
}

/// Compares one folder of external files with the list of corpora.
fn look(root: &Path, folder: &str, verdict: &mut Verdict) -> Result<(), Failure> {
    let of_folder = MANIFEST.iter().filter(|corpus| corpus.folder == folder);
    let entry = |file: &'static CorpusFile| (file.name, file.sha256);
    let listed = of_folder.flat_map(|corpus| &corpus.files).map(entry).collect();
    compare(&root.join(folder), folder, &listed, verdict)
}

/// Compares the files of a folder with `listed`, which maps file names to SHA-256 hashes. Findings refer to
/// the folder by the name `shown`.
fn compare(
    folder: &Path,
    shown: &str,
    listed: &BTreeMap<&str, &str>,
    verdict: &mut Verdict,
) -> Result<(), Failure> {
    for (name, sha) in listed {
        let path = folder.join(name);
        let found = match std::fs::read(&path) {
            Ok(bytes) => sha256(&bytes),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                verdict.find(shown, name, Standing::Missing, None);
                continue;
            }
            Err(error) => return Err(Failure::input(format!("{}: {error}", path.display()))),
        };
        if found == *sha {
            verdict.intact += 1;
        } else {
            verdict.find(shown, name, Standing::Changed, Some(found));
        }
    }
    // An unlisted file is reported only if a listed file has the same extension. For example, a README is
    // ignored.
    let extension = |name: &str| Path::new(name).extension().map(ToOwned::to_owned);
    let extensions: BTreeSet<_> = listed.keys().filter_map(|name| extension(name)).collect();
    let mut unknown = Vec::new();
    let wrong = |error| Failure::input(format!("{}: {error}", folder.display()));
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder).map_err(wrong)? {
            let name = entry.map_err(wrong)?.file_name().to_string_lossy().into_owned();
            let alike = extension(&name).is_some_and(|own| extensions.contains(&own));
            if alike && !listed.contains_key(name.as_str()) && name != GENERATED {
                unknown.push(name);
            }
        }
    }
    unknown.sort();
    for name in unknown {
        verdict.find(shown, &name, Standing::Unknown, None);
    }
    Ok(())
}

impl Verdict {
    fn find(&mut self, folder: &str, name: &str, standing: Standing, sha256: Option<String>) {
        self.findings.push(Finding { file: format!("{folder}/{name}"), standing, sha256 });
    }
}

impl Printed for Verdict {
    fn print(&self, text: &mut Text) {
        for Finding { file, standing, sha256 } in &self.findings {
            let (word, more) = match (standing, sha256) {
                (Standing::Missing, _) => ("missing", String::new()),
                (Standing::Unknown, _) => ("unknown", ", not on the list".to_owned()),
                (Standing::Changed, found) => {
                    ("changed", found.as_ref().map_or_else(String::new, |found| format!(", SHA-256 {found}")))
                }
            };
            text.verbatim(&format!("{word:<8} {file}{more}\n"));
        }
        text.verbatim(&format!("{} files match, {} differ\n", self.intact, self.findings.len()));
    }
}
