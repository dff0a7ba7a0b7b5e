//! Writes and submits scripts that run a sweep under Slurm: an array job with one shard per task, and a job
//! that joins the shards.

use crate::experiment::{ARRAY_SCRIPT, Experiment, ExperimentError, Manifest, Shard, check_own};
use crate::external::{External, quote};
use plimsoll_support::files::write_atomically;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of scripts and logs, in the folder of the sweep.
const SCRIPTS: &str = "slurm";
/// The folder of shards.
const SHARDS: &str = "shards";

/// The parameters of the scripts.
#[derive(Clone, Debug)]
pub struct Scripts<'a> {
    /// The path of the sweep file.
    pub file: &'a Path,
    /// The folder of the whole sweep.
    pub out: &'a Path,
    /// Number of shards, at least 1.
    pub array: u64,
    /// Number of parallel runs in every shard.
    pub jobs: usize,
    /// Options for `sbatch` as typed by the user. They are passed to both jobs.
    pub options: &'a str,
    /// The path of the command `plimsoll`.
    pub command: &'a Path,
    /// Environment variables of the runs, such as the variable with the folder of the corpora.
    pub environment: &'a [(String, String)],
}

/// The paths of the written scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The script of the array job.
    pub array: PathBuf,
    /// The script of the job that joins the shards.
    pub merge: PathBuf,
}

impl Scripts<'_> {
    /// Writes both scripts. They contain only absolute paths.
    ///
    /// # Errors
    /// [`ExperimentError`] if the options span several lines or contain an option that this command sets
    /// itself. [`ExperimentError`] if a path cannot be quoted in a script, or if files cannot be written.
    pub fn write(&self) -> Result<Written, ExperimentError> {
        if self.options.contains(['\n', '\r']) {
            return Err(ExperimentError::Slurm("options must be on one line".to_owned()));
        }
        if let Some(word) = self.options.split_whitespace().find(|word| is_own(word)) {
            return Err(ExperimentError::Slurm(format!("option '{word}' is set by this command")));
        }
        let out = absolute(self.out)?;
        for path in [&out, &absolute(self.file)?, &self.command.to_owned()] {
            if path.to_str().is_none_or(|text| text.contains(['\n', '\r', '"'])) {
                let why = "a script cannot contain a path that is not UTF-8 or has a quote or a line break";
                return Err(ExperimentError::Slurm(format!("{}: {why}", path.display())));
            }
        }
        let folder = out.join(SCRIPTS);
        let io = |path: &Path, source| ExperimentError::Io { path: path.to_owned(), source };
        std::fs::create_dir_all(&folder).map_err(|source| io(&folder, source))?;
        let shards = out.join(SHARDS);
        std::fs::create_dir_all(&shards).map_err(|source| io(&shards, source))?;
        let written = Written { array: out.join(ARRAY_SCRIPT), merge: folder.join("merge.sh") };
        for (path, text) in [
            (&written.array, self.array_script(&out, &folder)?),
            (&written.merge, self.merge_script(&out, &folder)),
        ] {
            write_atomically(path, |file| file.write_all(text.as_bytes()))
                .map_err(|source| io(path, source))?;
        }
        Ok(written)
    }

    /// Checks that the folder contains no files of other origin, and no shards that an earlier call wrote for
    /// another sweep or for another number of shards. Tasks of the array job would fail on these shards.
    /// Versions whose command did not run are not compared.
    ///
    /// # Errors
    /// [`ExperimentError::Foreign`] or [`ExperimentError::Other`] if there are such files or shards.
    pub fn check(&self, sweep: &Experiment) -> Result<(), ExperimentError> {
        check_own(self.out)?;
        let is_skipped = sweep.peers.iter().any(External::is_version_skipped);
        let resolved = sweep.resolved();
        for part in 1..=self.array {
            let folder = self.out.join(SHARDS).join(part.to_string());
            let Some(manifest) = Manifest::read(&folder)? else { continue };
            let here = Shard { part, of: self.array };
            let difference = match manifest.shard {
                Some(there) if there == here && is_skipped => {
                    manifest.sweep.difference(&resolved.clone().with_versions_of(&manifest.sweep))
                }
                Some(there) if there == here => manifest.sweep.difference(&resolved),
                Some(there) => Some(format!("shard {there} instead of {here}")),
                None => Some(format!("all runs instead of shard {here}")),
            };
            if let Some(difference) = difference {
                return Err(ExperimentError::Other { folder, difference });
            }
        }
        Ok(())
    }

    fn head(&self, name: &str, more: &str) -> String {
        let options = if self.options.trim().is_empty() {
            String::new()
        } else {
            format!("#SBATCH {}\n", self.options.trim())
        };
        let mut text = format!("#!/bin/sh\n#SBATCH --job-name={name}\n{more}{options}\n");
        for (variable, value) in self.environment {
            let _ = writeln!(text, "export {variable}={}", quote(value));
        }
        text
    }

    fn array_script(&self, out: &Path, folder: &Path) -> Result<String, ExperimentError> {
        let (array, jobs) = (self.array, self.jobs);
        let cpus = if jobs > 1 { format!("#SBATCH --cpus-per-task={jobs}\n") } else { String::new() };
        let log = directive(folder, "array-%A-%a.log");
        let more = format!("#SBATCH --array=1-{array}\n#SBATCH --output={log}\n{cpus}");
        Ok(format!(
            "{}exec {} sweep {} --out {}/\"$SLURM_ARRAY_TASK_ID\" --shard \"$SLURM_ARRAY_TASK_ID\"/{array} --jobs {jobs}\n",
            self.head("plimsoll-sweep", &more),
            word(self.command),
            word(&absolute(self.file)?),
            word(&out.join(SHARDS)),
        ))
    }

    fn merge_script(&self, out: &Path, folder: &Path) -> String {
        let more = format!("#SBATCH --output={}\n", directive(folder, "merge-%j.log"));
        let shards: Vec<String> =
            (1..=self.array).map(|part| word(&out.join(SHARDS).join(part.to_string()))).collect();
        format!(
            "{}exec {} merge {} --out {} --force\n",
            self.head("plimsoll-merge", &more),
            word(self.command),
            shards.join(" \\\n    "),
            word(out),
        )
    }
}

impl Written {
    /// Submits both jobs with `sbatch` and returns their ids. The job that joins the shards starts when all
    /// tasks of the array job have ended, successfully or not.
    ///
    /// # Errors
    /// [`ExperimentError::Slurm`] with the message of `sbatch`.
    pub fn submit(&self) -> Result<(String, String), ExperimentError> {
        let array = sbatch(&[], &self.array)?;
        let merge = sbatch(&[format!("--dependency=afterany:{array}")], &self.merge)?;
        Ok((array, merge))
    }
}

/// Returns true if this command sets the option of `sbatch` itself. `-a3` is `--array=3`, and long options
/// may be abbreviated.
fn is_own(word: &str) -> bool {
    let Some(long) = word.strip_prefix("--") else {
        return ["-a", "-d", "-o"].iter().any(|short| word.starts_with(short));
    };
    let name = long.split('=').next().unwrap_or_default();
    name.len() >= 3
        && ["array", "dependency", "output", "wrap", "parsable"].iter().any(|own| own.starts_with(name))
}

/// Returns true if `sbatch` is in a folder of `PATH`.
pub fn is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("sbatch").is_file())
}

fn sbatch(options: &[String], script: &Path) -> Result<String, ExperimentError> {
    let wrong = |why: String| ExperimentError::Slurm(format!("{}: {why}", script.display()));
    let output = Command::new("sbatch").arg("--parsable").args(options).arg(script).output();
    let output = output.map_err(|error| wrong(error.to_string()))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    if !output.status.success() {
        let why = said(&output.stderr);
        let limit = if why.contains("job array") {
            " (use fewer tasks: --array below the MaxArraySize of the cluster)"
        } else {
            ""
        };
        return Err(wrong(format!("{}: {why}{limit}", output.status)));
    }
    // The output is `NUMBER` or `NUMBER;CLUSTER`.
    let number = said(&output.stdout);
    let number = number.split(';').next().unwrap_or_default();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(format!("unexpected answer '{number}'; expected a job id")));
    }
    Ok(number.to_owned())
}

fn absolute(path: &Path) -> Result<PathBuf, ExperimentError> {
    let whole = std::path::absolute(path);
    whole.map_err(|source: io::Error| ExperimentError::Io { path: path.to_owned(), source })
}

/// Returns a path quoted for the shell.
fn word(path: &Path) -> String {
    quote(&path.to_string_lossy())
}

/// Returns a path as the value of an `#SBATCH` option, in double quotes if it contains whitespace. Only
/// `name` may contain placeholders for the ids of jobs and tasks.
fn directive(folder: &Path, name: &str) -> String {
    let text = format!("{}/{name}", folder.to_string_lossy().replace('%', "%%"));
    if text.contains(char::is_whitespace) { format!("\"{text}\"") } else { text }
}
