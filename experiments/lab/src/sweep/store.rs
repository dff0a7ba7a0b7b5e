//! Opens and locks the folder of a sweep, and writes its rows.

use super::SweepError;
use super::manifest::{Begun, MANIFEST, Manifest, Shard};
use super::readme::explain;
use super::resolve::Sweep;
use crate::machine::{Machine, timestamp};
use crate::record::{Columns, CsvFile, LAYOUTS, ROWS, Record, TRACE, read, settle, write_trace};
use plimsoll_model::files::{remove_leftovers, write_durably};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the lock file. Only the process that has locked it may write into the folder.
const LOCK: &str = "sweep.lock";
/// The script of the array job of a sweep in Slurm.
pub(super) const ARRAY_SCRIPT: &str = "slurm/array.sh";
/// Minimum interval between two flushes of rows to disk.
const SYNC: Duration = Duration::from_secs(1);

/// An open folder of a sweep.
pub(super) struct Store {
    folder: PathBuf,
    columns: Columns,
    rows: File,
    /// Total length of the complete rows, in bytes.
    length: u64,
    /// Whether a row could not be written completely. No row may follow an incomplete row.
    broken: bool,
    synced: Instant,
    _lock: File,
}

/// An opened folder and its contents.
pub(super) struct Opened {
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
pub(super) fn lock(folder: &Path) -> Result<File, SweepError> {
    let path = folder.join(LOCK);
    let io = |source| SweepError::Io { path: path.clone(), source };
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(io)?;
    #[cfg(unix)]
    // On file systems without locks, concurrent writers are not detected.
    if rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        == Err(rustix::io::Errno::WOULDBLOCK)
    {
        return Err(SweepError::InUse(folder.to_owned()));
    }
    Ok(file)
}

/// Refuses a folder that contains files, but neither a sweep nor the beginning of one.
pub(super) fn check_own(folder: &Path) -> Result<(), SweepError> {
    let io = |source| SweepError::Io { path: folder.to_owned(), source };
    let mut entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(io)?,
    };
    let is_own = [MANIFEST, LOCK, ARRAY_SCRIPT].iter().any(|name| folder.join(name).exists());
    if is_own || entries.next().is_none() { Ok(()) } else { Err(SweepError::Foreign(folder.to_owned())) }
}

impl Store {
    /// Opens or creates the folder of a sweep. Removes a truncated row that a killed process left behind.
    pub fn open(
        folder: &Path,
        sweep: &Sweep,
        shard: Option<Shard>,
        machine: &Machine,
    ) -> Result<Opened, SweepError> {
        let io = |source| SweepError::Io { path: folder.to_owned(), source };
        check_own(folder)?;
        std::fs::create_dir_all(folder).map_err(io)?;
        let lock = lock(folder)?;
        remove_leftovers(folder).map_err(io)?;
        let path = folder.join(ROWS);
        if sweep.extras.layouts {
            let layouts = folder.join(LAYOUTS);
            if layouts.to_str().is_none() {
                let why = "layouts cannot be stored in a folder whose name is not UTF-8".to_owned();
                return Err(SweepError::Manifest { path: layouts, why });
            }
            let wrong = |source| SweepError::Io { path: layouts.clone(), source };
            std::fs::create_dir_all(&layouts).and_then(|()| remove_leftovers(&layouts)).map_err(wrong)?;
        }
        let mut notes = Vec::new();
        if let Some(manifest) = Manifest::read(folder)? {
            same(folder, &manifest, sweep, shard)?;
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
                return Err(SweepError::Other { folder: folder.to_owned(), difference });
            }
            let begun = Begun { machine: machine.clone(), timestamp: timestamp() };
            let manifest = Manifest::new(&sweep.file, shard, sweep.resolved(), begun);
            explain(&manifest, folder)?;
            manifest.write(folder)?;
        }
        let wrong = |source| SweepError::Io { path: path.clone(), source };
        let mut rows = OpenOptions::new().create(true).append(true).open(&path).map_err(wrong)?;
        let file = CsvFile::read(&path)?;
        let (is_new, is_older) = (file.columns.is_empty(), file.is_older_sweep());
        if !is_new && !is_older && !file.columns.iter().eq(sweep.columns.names()) {
            let found = file.columns.join(",");
            return Err(file
                .wrong(1, format!("the columns differ from those of this sweep: {found}"))
                .into());
        }
        let has = present(&file, sweep, shard)?;
        if file.torn > 0 {
            rows.set_len(file.whole()).map_err(wrong)?;
        }
        let mut length = file.whole();
        if is_new || is_older {
            let text = sweep.columns.file(&file.records()?);
            write_durably(&path, |file| file.write_all(text.as_bytes())).map_err(wrong)?;
            rows = OpenOptions::new().append(true).open(&path).map_err(wrong)?;
            length = text.len() as u64;
        }
        let (columns, synced) = (sweep.columns.clone(), Instant::now());
        let folder = folder.to_owned();
        let store = Self { folder, columns, rows, length, broken: false, synced, _lock: lock };
        Ok(Opened { store, has, torn: file.torn, notes })
    }

    /// Appends a row with a single `write_all`. After a failed call, nothing more is written, since an
    /// incomplete line may remain.
    pub fn append(&mut self, row: &Record) -> Result<(), SweepError> {
        if self.broken {
            return Ok(());
        }
        let wrong = |source| SweepError::Io { path: self.folder.join(ROWS), source };
        let line = self.columns.line(row);
        if let Err(error) = self.rows.write_all(line.as_bytes()) {
            self.broken = true;
            // If this fails, the incomplete line is removed when the sweep is resumed.
            let _ = self.rows.set_len(self.length);
            return Err(wrong(error));
        }
        self.length += line.len() as u64;
        if self.synced.elapsed() >= SYNC {
            self.rows.sync_data().map_err(wrong)?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Sorts the rows of a completed sweep or shard. If `whole` is set, bounds and values of all runs are
    /// cross-checked.
    pub fn finish(self, whole: bool) -> Result<Vec<Record>, SweepError> {
        let path = self.folder.join(ROWS);
        self.rows.sync_data().map_err(|source| SweepError::Io { path: path.clone(), source })?;
        let mut rows = read(&path)?;
        write_in_order(&path, &self.columns, &mut rows, whole)?;
        Ok(rows)
    }

    /// Closes an unfinished sweep and returns its rows.
    pub fn close(self) -> Result<Vec<Record>, SweepError> {
        let path = self.folder.join(ROWS);
        self.rows.sync_data().map_err(|source| SweepError::Io { path: path.clone(), source })?;
        Ok(read(&path)?)
    }
}

/// Sorts rows by run and replaces the file if its contents change. If `whole` is set, bounds and values are
/// cross-checked.
pub(super) fn write_in_order(
    path: &Path,
    columns: &Columns,
    rows: &mut [Record],
    whole: bool,
) -> Result<(), SweepError> {
    rows.sort_by_key(|row| row.run);
    if whole {
        settle(rows, None);
    }
    if columns.has("trace") {
        let folder = path.parent().unwrap_or(Path::new(""));
        let wrong = |source| SweepError::Io { path: folder.join(TRACE), source };
        write_trace(folder, rows).map_err(wrong)?;
    }
    let text = columns.file(rows.iter());
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    let written = write_durably(path, |file| file.write_all(text.as_bytes()));
    written.map_err(|source| SweepError::Io { path: path.to_owned(), source })
}

/// Checks that a folder contains this sweep and this shard.
fn same(folder: &Path, manifest: &Manifest, sweep: &Sweep, shard: Option<Shard>) -> Result<(), SweepError> {
    let name =
        |shard: Option<Shard>| shard.map_or_else(|| "all runs".to_owned(), |shard| format!("shard {shard}"));
    let difference = if manifest.shard == shard {
        manifest.sweep.difference(&sweep.resolved())
    } else {
        Some(format!("{} instead of {}", name(manifest.shard), name(shard)))
    };
    match difference {
        None => Ok(()),
        Some(difference) => Err(SweepError::Other { folder: folder.to_owned(), difference }),
    }
}

/// Returns, for each run, whether it has a row. Rows of another sweep and duplicate rows are errors.
fn present(file: &CsvFile, sweep: &Sweep, shard: Option<Shard>) -> Result<Vec<bool>, SweepError> {
    let mut has = vec![false; sweep.runs.len()];
    for row in file.records()? {
        let wrong = |why: String| file.wrong(row.line, why);
        let own = usize::try_from(row.run).ok().and_then(|run| sweep.runs.get(run));
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
