//! Atomic file writes: a file appears completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The suffix of the names of temporary files. These names begin with a dot, followed by at most 40
/// characters of the name of the target file.
const UNFINISHED: &str = ".plimsoll-tmp";

/// The maximum number of symbolic links to follow, which is the limit of the operating system.
const MOST_LINKS: usize = 40;

/// The unfinished temporary files of this process.
static WRITING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes a file atomically: the contents go to a temporary file in the same folder, which then replaces the
/// target.
///
/// Symbolic links are followed, even to a file that does not exist yet. A new file takes over the
/// permissions of the file that it replaces. Devices, pipes and the standard output and error of this
/// process are written in place.
///
/// # Errors
/// Any error from `write` or the file system. An existing file is then unchanged, unless it is written in
/// place. A file without write permission for the user is never replaced.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    replace(path, false, write)
}

/// Writes a file as [`write_atomically`] does, and flushes the new file to disk before it replaces the old
/// one. Even after a power failure, the old file or the new one exists in full.
///
/// # Errors
/// The same as for [`write_atomically`].
pub fn write_durably(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    replace(path, true, write)
}

/// Removes the temporary files of unfinished writes. Call this function before the process exits.
pub fn remove_unfinished() {
    for path in writing().drain(..) {
        // If the write was finished in the meantime, the file no longer exists.
        let _ = fs::remove_file(path);
    }
}

/// Removes temporary files that killed processes left in a folder. No other process may write to the folder
/// at the same time.
///
/// # Errors
/// Any error from the file system.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(UNFINISHED) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns true if [`write_atomically`] writes to `path` in place. This is the case for existing devices,
/// pipes and sockets, for paths in a directory of file descriptors, and for the standard output or error of
/// this process.
pub fn is_stream(path: &Path) -> bool {
    own_stream(path).is_some()
        || is_descriptor(path)
        || fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Returns the file that a write to `path` creates or replaces: `path` itself, or the target of its symbolic
/// links.
pub fn target_of(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&target) else { break };
        target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    target
}

fn writing() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a temporary file as unfinished until the value is dropped.
struct Unfinished(PathBuf);

impl Unfinished {
    /// Creates and registers a temporary file. The list stays locked until both are done, so that
    /// [`remove_unfinished`] in another thread does not miss the file.
    fn create(
        builder: &tempfile::Builder<'_, '_>,
        folder: &Path,
    ) -> io::Result<(tempfile::NamedTempFile, Self)> {
        let mut list = writing();
        let file = builder.tempfile_in(folder)?;
        list.push(file.path().to_owned());
        let unfinished = Self(file.path().to_owned());
        Ok((file, unfinished))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        writing().retain(|path| *path != self.0);
    }
}

fn replace(
    path: &Path,
    durably: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if let Some(stream) = own_stream(path) {
        io::stdout().flush()?;
        return to_stream(stream, write);
    }
    if is_stream(path) {
        // Append, because the descriptor may belong to a regular file that already has contents.
        return to_stream(OpenOptions::new().append(true).open(path)?, write);
    }
    let target = target_of(path);
    let old = match OpenOptions::new().append(true).open(&target) {
        Ok(file) => Some(file.metadata()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{}.", name.chars().take(40).collect::<String>());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(UNFINISHED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default. Results should be as readable as the umask of the user
        // allows.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let (file, unfinished) = Unfinished::create(&builder, folder)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    let mut buffered = io::BufWriter::new(file);
    write(&mut buffered)?;
    let file = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
    if durably {
        file.as_file().sync_all()?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    drop(unfinished);
    Ok(())
}

fn to_stream(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = io::BufWriter::new(file);
    write(&mut buffered)?;
    buffered.flush()
}

/// Returns the standard output or error of this process if `path` refers to the same file, device or pipe.
/// New text must then be appended to the text printed before.
#[cfg(unix)]
fn own_stream(path: &Path) -> Option<File> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let wanted = fs::metadata(path).ok()?;
    let same = |stream: std::os::fd::BorrowedFd<'_>| {
        let file = File::from(stream.try_clone_to_owned().ok()?);
        let found = file.metadata().ok()?;
        ((found.dev(), found.ino()) == (wanted.dev(), wanted.ino())).then_some(file)
    };
    same(io::stdout().as_fd()).or_else(|| same(io::stderr().as_fd()))
}

#[cfg(not(unix))]
fn own_stream(_: &Path) -> Option<File> {
    None
}

/// Returns true if `path` is in a directory of file descriptors.
fn is_descriptor(path: &Path) -> bool {
    path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        write_atomically(path, |file| file.write_all(text.as_bytes()))
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write(&path, "old").unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn leftovers_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("rows.csv"), "rows").unwrap();
        fs::write(folder.path().join(format!(".rows.csv.Ab12{UNFINISHED}")), "half").unwrap();
        remove_leftovers(folder.path()).unwrap();
        assert_eq!(names(folder.path()), ["rows.csv"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        symlink("far/a.csv", at("link")).unwrap();
        symlink("link", at("chain")).unwrap();
        // Writes to a file that does not exist yet, and then overwrites it.
        write(&at("chain"), "one").unwrap();
        assert_eq!(fs::read_to_string(at("far/a.csv")).unwrap(), "one");
        fs::set_permissions(at("far/a.csv"), fs::Permissions::from_mode(0o640)).unwrap();
        write(&at("link"), "two").unwrap();
        assert_eq!(fs::read_to_string(at("far/a.csv")).unwrap(), "two");
        assert_eq!(fs::metadata(at("far/a.csv")).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(at("chain")).unwrap().is_symlink());
    }

    #[test]
    fn unfinished_files_are_registered_until_they_are_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write_atomically(&path, |file| {
            file.write_all(b"half")?;
            let own = |path: &PathBuf| path.starts_with(folder.path());
            assert!(writing().iter().any(own));
            Ok(())
        })
        .unwrap();
        assert!(!writing().iter().any(|path| path.starts_with(folder.path())));
    }
}
