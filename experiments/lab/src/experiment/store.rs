//! The folder of an experiment: opens and locks it, and writes its rows.

use super::manifest::{Begun, MANIFEST, Manifest, Shard};
use super::readme::explain;
use super::{Experiment, ExperimentError};
use crate::machine::{Machine, timestamp};
use crate::row::{Columns, CsvFile, LAYOUTS, ROWS, Row, TRACE, settle, write_trace};
use plimsoll_support::files::{remove_leftovers, write_durably};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the lock file. Only the process that has locked it may write into the folder.
const LOCK: &str = "experiment.lock";
/// The script of the array job of a sweep in Slurm.
pub(crate) const ARRAY_SCRIPT: &str = "slurm/array.sh";
/// Minimum interval between two flushes of rows to disk.
const SYNC: Duration = Duration::from_secs(1);

/// The open folder of an experiment.
pub struct Store {
    folder: PathBuf,
    columns: Columns,
    file: File,
    /// All rows, in the order of the file.
    rows: Vec<Row>,
    /// Total length of the complete rows, in bytes.
    length: u64,
    /// Whether a row could not be written completely. No row may follow an incomplete row.
    broken: bool,
    synced: Instant,
    _lock: File,
}

/// An opened folder and its contents.
pub struct Opened {
    /// The open folder.
    pub store: Store,
    /// Whether each run has a row.
    pub has: Vec<bool>,
    /// Length in bytes of a truncated row that was removed, or 0.
    pub torn: u64,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Locks a folder until the returned file is dropped. If the process is killed, the system releases the
/// lock.
pub(super) fn lock(folder: &Path) -> Result<File, ExperimentError> {
    let path = folder.join(LOCK);
    let io = |source| ExperimentError::Io { path: path.clone(), source };
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(io)?;
    #[cfg(unix)]
    // On file systems without locks, concurrent writers are not detected.
    if rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        == Err(rustix::io::Errno::WOULDBLOCK)
    {
        return Err(ExperimentError::InUse(folder.to_owned()));
    }
    Ok(file)
}

/// Refuses a folder that contains files, but neither a sweep nor the beginning of one.
pub(crate) fn check_own(folder: &Path) -> Result<(), ExperimentError> {
    let io = |source| ExperimentError::Io { path: folder.to_owned(), source };
    let mut entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(io)?,
    };
    let is_own = [MANIFEST, LOCK, ARRAY_SCRIPT].iter().any(|name| folder.join(name).exists());
    if is_own || entries.next().is_none() { Ok(()) } else { Err(ExperimentError::Foreign(folder.to_owned())) }
}

impl Store {
    /// Opens or creates the folder of an experiment. Removes a truncated row that a killed process left
    /// behind.
    ///
    /// # Errors
    /// [`ExperimentError`] if the folder contains another experiment, is in use or cannot be written.
    pub fn open(
        folder: &Path,
        experiment: &Experiment,
        shard: Option<Shard>,
        machine: &Machine,
    ) -> Result<Opened, ExperimentError> {
        let io = |source| ExperimentError::Io { path: folder.to_owned(), source };
        check_own(folder)?;
        std::fs::create_dir_all(folder).map_err(io)?;
        let lock = lock(folder)?;
        remove_leftovers(folder).map_err(io)?;
        let path = folder.join(ROWS);
        if experiment.extras.layouts {
            let layouts = folder.join(LAYOUTS);
            if layouts.to_str().is_none() {
                let why = "layouts cannot be stored in a folder whose name is not UTF-8".to_owned();
                return Err(ExperimentError::Manifest { path: layouts, why });
            }
            let wrong = |source| ExperimentError::Io { path: layouts.clone(), source };
            std::fs::create_dir_all(&layouts).and_then(|()| remove_leftovers(&layouts)).map_err(wrong)?;
        }
        let mut notes = Vec::new();
        if let Some(manifest) = Manifest::read(folder)? {
            same(folder, &manifest, experiment, shard)?;
            let begun = &manifest.begun.machine;
            if (&begun.commit, &begun.dirty) != (&machine.commit, &machine.dirty) {
                notes.push(format!(
                    "{} was started with commit {}, but this build is commit {}",
                    folder.display(),
                    begun.commit,
                    machine.commit
                ));
            }
        } else {
            if path.exists() {
                let difference = format!("found {ROWS} without {MANIFEST}");
                return Err(ExperimentError::Other { folder: folder.to_owned(), difference });
            }
            let begun = Begun { machine: machine.clone(), timestamp: timestamp() };
            let manifest = Manifest::new(&experiment.name, shard, experiment.resolved(), begun);
            explain(&manifest, folder, &manifest.command(), &[])?;
            manifest.write(folder)?;
        }
        let wrong = |source| ExperimentError::Io { path: path.clone(), source };
        let columns = experiment.columns();
        let mut writer = OpenOptions::new().create(true).append(true).open(&path).map_err(wrong)?;
        let file = CsvFile::read(&path)?;
        let is_new = file.columns.is_empty();
        if !is_new && !file.columns.iter().eq(columns.names()) {
            let found = file.columns.join(",");
            return Err(file
                .wrong(1, format!("the columns differ from those of this sweep: {found}"))
                .into());
        }
        let kept = file.rows()?;
        let has = present(&file, &kept, experiment, shard)?;
        if file.torn > 0 {
            writer.set_len(file.whole()).map_err(wrong)?;
        }
        let mut length = file.whole();
        if is_new {
            let text = columns.header();
            write_durably(&path, |file| file.write_all(text.as_bytes())).map_err(wrong)?;
            writer = OpenOptions::new().append(true).open(&path).map_err(wrong)?;
            length = text.len() as u64;
        }
        let synced = Instant::now();
        let folder = folder.to_owned();
        let store =
            Self { folder, columns, file: writer, rows: kept, length, broken: false, synced, _lock: lock };
        Ok(Opened { store, has, torn: file.torn, notes })
    }

    /// Opens the folder for an experiment that replaces any earlier one in it. The rows of the earlier one
    /// must have been removed.
    ///
    /// # Errors
    /// [`ExperimentError`] if the folder is in use or cannot be written.
    pub fn anew(
        folder: &Path,
        experiment: &Experiment,
        machine: &Machine,
    ) -> Result<Opened, ExperimentError> {
        let begun = Begun { machine: machine.clone(), timestamp: timestamp() };
        Manifest::new(&experiment.name, None, experiment.resolved(), begun).write(folder)?;
        Self::open(folder, experiment, None, machine)
    }

    /// Appends a row with a single `write_all`. After a failed call, nothing more is written, since an
    /// incomplete line may remain.
    ///
    /// # Errors
    /// [`ExperimentError::Io`] if the row cannot be written.
    pub fn append(&mut self, row: Row) -> Result<(), ExperimentError> {
        if self.broken {
            return Ok(());
        }
        let wrong = |source| ExperimentError::Io { path: self.folder.join(ROWS), source };
        let line = self.columns.line(&row);
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            self.broken = true;
            // If this fails, the incomplete line is removed when the sweep is resumed.
            let _ = self.file.set_len(self.length);
            return Err(wrong(error));
        }
        self.length += line.len() as u64;
        self.rows.push(row);
        if self.synced.elapsed() >= SYNC {
            self.file.sync_data().map_err(wrong)?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Sorts the rows of a completed sweep or shard. If `whole` is set, bounds and values of all runs are
    /// cross-checked.
    ///
    /// # Errors
    /// [`ExperimentError`] if the rows cannot be read or written.
    pub fn finish(self, whole: bool) -> Result<Vec<Row>, ExperimentError> {
        let path = self.folder.join(ROWS);
        self.file.sync_data().map_err(|source| ExperimentError::Io { path: path.clone(), source })?;
        let mut rows = self.rows;
        write_in_order(&path, &self.columns, &mut rows, whole)?;
        Ok(rows)
    }

    /// Closes an unfinished experiment and returns its rows.
    ///
    /// # Errors
    /// [`ExperimentError`] if the rows cannot be read or written.
    pub fn close(self) -> Result<Vec<Row>, ExperimentError> {
        let path = self.folder.join(ROWS);
        self.file.sync_data().map_err(|source| ExperimentError::Io { path: path.clone(), source })?;
        Ok(self.rows)
    }

    /// Sets the layout of a run that has a row.
    pub fn set_layout(&mut self, run: u64, layout: String) {
        if let Some(row) = self.rows.iter_mut().rev().find(|row| row.run == run) {
            row.layout = layout;
        }
    }
}

/// Sorts rows by run and replaces the file if its contents change. If `whole` is set, bounds and values are
/// cross-checked.
pub(super) fn write_in_order(
    path: &Path,
    columns: &Columns,
    rows: &mut [Row],
    whole: bool,
) -> Result<(), ExperimentError> {
    rows.sort_by_key(|row| row.run);
    // The header is line 1.
    rows.iter_mut().zip(2..).for_each(|(row, line)| row.line = line);
    if whole {
        settle(rows);
    }
    if columns.has("trace") {
        let folder = path.parent().unwrap_or(Path::new(""));
        let wrong = |source| ExperimentError::Io { path: folder.join(TRACE), source };
        write_trace(folder, rows).map_err(wrong)?;
    }
    let text = columns.file(rows.iter());
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    let written = write_durably(path, |file| file.write_all(text.as_bytes()));
    written.map_err(|source| ExperimentError::Io { path: path.to_owned(), source })
}

/// Checks that a folder contains this sweep and this shard.
fn same(
    folder: &Path,
    manifest: &Manifest,
    experiment: &Experiment,
    shard: Option<Shard>,
) -> Result<(), ExperimentError> {
    let name =
        |shard: Option<Shard>| shard.map_or_else(|| "all runs".to_owned(), |shard| format!("shard {shard}"));
    let difference = if manifest.shard == shard {
        manifest.sweep.difference(&experiment.resolved())
    } else {
        Some(format!("{} instead of {}", name(manifest.shard), name(shard)))
    };
    match difference {
        None => Ok(()),
        Some(difference) => Err(ExperimentError::Other { folder: folder.to_owned(), difference }),
    }
}

/// Returns, for each run, whether it has a row. Rows of another sweep and duplicate rows are errors.
fn present(
    file: &CsvFile,
    rows: &[Row],
    experiment: &Experiment,
    shard: Option<Shard>,
) -> Result<Vec<bool>, ExperimentError> {
    let mut has = vec![false; experiment.runs.len()];
    for row in rows {
        let wrong = |why: String| file.wrong(row.line, why);
        let own = usize::try_from(row.run).ok().and_then(|run| experiment.runs.get(run));
        match own {
            Some(own) if own.key == row.key && shard.is_none_or(|shard| shard.has(row.run)) => {}
            _ => {
                return Err(wrong(format!(
                    "run {} with key {} does not belong to this sweep",
                    row.run, row.key
                ))
                .into());
            }
        }
        if std::mem::replace(&mut has[row.run as usize], true) {
            return Err(wrong(format!("run {} already has a row", row.run)).into());
        }
    }
    Ok(has)
}
