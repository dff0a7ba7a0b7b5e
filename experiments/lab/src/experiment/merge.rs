//! Joins shards into the rows of the whole sweep.

use super::ExperimentError;
use super::manifest::{Manifest, Shard};
use super::readme::explain;
use super::store::{check_own, lock, write_in_order};
use crate::row::{Columns, CsvFile, Failures, LAYOUTS, ROWS, Row, Status, failures, layout_of, leads_out};
use plimsoll_support::hexadecimal;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of runs listed in a message.
const NAMED: usize = 10;

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Merge {
    /// Number of runs of the sweep.
    pub runs: u64,
    /// Number of rows written.
    pub rows: u64,
    /// Number of rows with a rejected answer.
    pub refused: u64,
    /// The algorithms with failed runs, and their errors.
    pub failures: Vec<Failures>,
    /// A description of the missing runs, or `None` if there are none.
    pub missing: Option<String>,
    /// Notes for the user.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// Writes the rows of several folders into the folder `out`, which then contains the whole sweep. The rows
/// are in run order. `partial` allows runs without rows. `force` allows a folder `out` that already contains
/// rows or other files.
///
/// # Errors
/// [`ExperimentError::Merge`] if the folders belong to different sweeps, or if runs are duplicated or
/// missing.
pub fn merge(folders: &[PathBuf], out: &Path, partial: bool, force: bool) -> Result<Merge, ExperimentError> {
    let refuse = |why: String| Err(ExperimentError::Merge(why));
    let mut notes = Vec::new();
    let mut records: Vec<(&PathBuf, Manifest)> = Vec::new();
    for folder in folders {
        let Some(record) = Manifest::read(folder)? else {
            return refuse(format!("{} contains no sweep", folder.display()));
        };
        if let Some((first, other)) = records.first()
            && let Some(difference) = other.sweep.difference(&record.sweep)
        {
            return refuse(format!(
                "{} does not belong to the same sweep as {}: {difference}",
                first.display(),
                folder.display()
            ));
        }
        records.push((folder, record));
    }
    let Some((_, first)) = records.first() else { return refuse("no folder is given".to_owned()) };
    let same_place = |folder: &PathBuf| {
        folder.canonicalize().is_ok_and(|own| out.canonicalize().is_ok_and(|out| own == out))
    };
    if folders.iter().any(same_place) {
        return refuse(format!("the output folder {} is one of the input folders", out.display()));
    }
    let sweep = first.sweep.clone();
    let columns = Columns::of(sweep.metrics.as_deref(), sweep.extras());
    let Some(columns) = columns else {
        return refuse("this version does not support the metrics of the sweep".to_owned());
    };
    let (rows, from) = gather(&records, sweep.runs, &mut notes)?;
    let missing = missing(&records, &from);
    if let Some(missing) = missing.as_ref().filter(|_| !partial) {
        return refuse(format!("{missing} (--partial allows this)"));
    }
    if missing.is_none() {
        let mut hasher = Sha256::new();
        for row in &rows {
            hasher.update(&row.key);
        }
        if hexadecimal(&hasher.finalize()) != sweep.keys {
            return refuse("the keys of the rows do not match the sweep".to_owned());
        }
    }
    let mut record = first.clone();
    record.shard = None;
    let of = |row: &Row| records[from[row.run as usize].unwrap_or_default()].0.as_path();
    let layouts = rows.iter().filter(|row| !row.layout.is_empty());
    let layouts = layouts.map(|row| (of(row).join(layout_of(row.run)), layout_of(row.run))).collect();
    write(out, &record, &columns, Gathered { rows, layouts, missing, notes }, force)
}

/// The contents of all folders.
struct Gathered {
    rows: Vec<Row>,
    /// The paths of the layouts, each with its new path relative to the output folder.
    layouts: Vec<(PathBuf, String)>,
    missing: Option<String>,
    notes: Vec<String>,
}

fn write(
    out: &Path,
    record: &Manifest,
    columns: &Columns,
    gathered: Gathered,
    force: bool,
) -> Result<Merge, ExperimentError> {
    let Gathered { mut rows, layouts, missing, notes } = gathered;
    if !force {
        let refuse = |error| ExperimentError::Merge(format!("{error}; --force writes into it anyway"));
        check_own(out).map_err(refuse)?;
    }
    std::fs::create_dir_all(out).map_err(|source| ExperimentError::Io { path: out.to_owned(), source })?;
    let _lock = lock(out)?;
    let path = out.join(ROWS);
    if path.exists() && !force {
        let why = format!("{} already contains rows; --force replaces them", out.display());
        return Err(ExperimentError::Merge(why));
    }
    if !layouts.is_empty() {
        let io = |path: PathBuf| |source| ExperimentError::Io { path, source };
        std::fs::create_dir_all(out.join(LAYOUTS)).map_err(io(out.join(LAYOUTS)))?;
        for (from, to) in layouts {
            if from.ancestors().nth(2).is_some_and(|folder| leads_out(&from, folder)) {
                return Err(outside(&from));
            }
            std::fs::copy(&from, out.join(to)).map_err(io(from))?;
        }
    }
    // Bounds are cross-checked only if all rows are present.
    write_in_order(&path, columns, &mut rows, missing.is_none())?;
    explain(record, out, &record.command(), &[])?;
    record.write(out)?;
    let refused = rows.iter().filter(|row| row.status == Status::Refused).count() as u64;
    let failures = failures(&rows);
    Ok(Merge { runs: record.sweep.runs, rows: rows.len() as u64, refused, failures, missing, notes })
}

fn outside(path: &Path) -> ExperimentError {
    ExperimentError::Merge(format!("{}: it is a symbolic link out of the record", path.display()))
}

/// Returns all rows in run order, and for every run the index of the folder that contains its row, if any.
fn gather(
    records: &[(&PathBuf, Manifest)],
    runs: u64,
    notes: &mut Vec<String>,
) -> Result<(Vec<Row>, Vec<Option<usize>>), ExperimentError> {
    let mut rows = Vec::new();
    let mut from: Vec<Option<usize>> = vec![None; runs as usize];
    for (at, (folder, record)) in records.iter().enumerate() {
        let path = folder.join(ROWS);
        if leads_out(&path, folder) {
            return Err(outside(&path));
        }
        let file = if path.exists() { CsvFile::read(&path)? } else { CsvFile::default() };
        if file.torn > 0 {
            notes.push(format!("{}: the last row is truncated and was skipped", path.display()));
        }
        for row in file.rows()? {
            let place = usize::try_from(row.run).ok().and_then(|run| from.get_mut(run));
            let is_own = !row.key.is_empty() && record.shard.is_none_or(|shard| shard.has(row.run));
            let Some(place) = place.filter(|_| is_own) else {
                let why =
                    format!("{}: run {} does not belong to this sweep or shard", path.display(), row.run);
                return Err(ExperimentError::Merge(why));
            };
            if let Some(other) = place.replace(at) {
                let other = records[other].0.join(ROWS);
                let (run, both) = (row.run, format!("{} and in {}", other.display(), path.display()));
                let text = format!("{} {} by {}", row.suite, row.instance, row.algorithm);
                return Err(ExperimentError::Merge(format!("run {run} ({text}) is duplicated: in {both}")));
            }
            rows.push(row);
        }
    }
    rows.sort_by_key(|row| row.run);
    Ok((rows, from))
}

/// Describes the runs without a row, and the shards that are not among the folders.
fn missing(records: &[(&PathBuf, Manifest)], from: &[Option<usize>]) -> Option<String> {
    let absent: Vec<u64> =
        from.iter().enumerate().filter(|(_, from)| from.is_none()).map(|(run, _)| run as u64).collect();
    if absent.is_empty() {
        return None;
    }
    let named: Vec<String> = absent.iter().take(NAMED).map(u64::to_string).collect();
    let more = if absent.len() > NAMED { ", .." } else { "" };
    let mut text = format!("{} of {} runs are missing: {}{more}", absent.len(), from.len(), named.join(", "));
    let shards: Vec<Shard> = records.iter().filter_map(|(_, record)| record.shard).collect();
    if let Some(of) = shards.first().map(|shard| shard.of).filter(|of| shards.iter().all(|s| s.of == *of)) {
        // At most [`NAMED`] shards are listed.
        let given: BTreeSet<u64> = shards.iter().map(|shard| shard.part).collect();
        let gone = (1..=of).filter(|part| !given.contains(part)).take(NAMED + 1);
        let mut named: Vec<String> = gone.map(|part| format!("{part}/{of}")).collect();
        if !named.is_empty() {
            let more = if named.len() > NAMED { ", .." } else { "" };
            named.truncate(NAMED);
            let _ = write!(text, "; missing shards: {}{more}", named.join(", "));
        }
        for (folder, record) in records {
            let lacks =
                absent.iter().filter(|run| record.shard.is_some_and(|shard| shard.has(**run))).count();
            if lacks > 0 {
                let _ = write!(text, "; {} lacks {lacks} of its runs", folder.display());
            }
        }
    }
    Some(text)
}
