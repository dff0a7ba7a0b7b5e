//! Standard output and error, and files written for the user.

use crate::failure::Failure;
use crate::format::Format;
use plimsoll::model::Bytes;
use plimsoll::model::files::{is_stream, target_of, write_atomically};
use plimsoll_lab::external::quote;
use plimsoll_lab::report::{gap_percent, percent};
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes to standard output. A reader that went away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one JSON object on a line of its own to standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(Failure::internal)?;
    print(&format!("{text}\n"))
}

/// One line on standard error.
pub fn complain(message: &str) {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    // Nobody is left to tell if this fails.
    let _ = writeln!(io::stderr(), "plimsoll: {line}");
}

/// Rows as CSV, fields as columns.
pub fn csv<T: Serialize>(file: &mut dyn Write, rows: &[T]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush()
}

/// Makes sure, before any work, that a file can be written where the user wants it, and that it is none of the
/// `inputs`.
pub fn check_target(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let target = target_of(path);
    let refuse = |why: String| Err(Failure::input(format!("cannot write {}: {why}", path.display())));
    if is_stream(path) {
        return Ok(());
    }
    if path.file_name().is_none() || path.is_dir() {
        return refuse("it is a directory".to_owned());
    }
    let folder = folder_of(&target);
    if !folder.is_dir() {
        return refuse(format!("the folder {} does not exist", folder.display()));
    }
    if let Ok(own) = path.canonicalize()
        && inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == own))
    {
        return refuse("it is an input of this very run".to_owned());
    }
    if let Err(error) = OpenOptions::new().append(true).open(&target)
        && error.kind() != io::ErrorKind::NotFound
    {
        return refuse(error.to_string());
    }
    match tempfile::Builder::new().prefix(".plimsoll").tempfile_in(&folder) {
        Ok(_) => Ok(()),
        Err(error) => refuse(error.to_string()),
    }
}

/// Makes sure that a name does not promise another format than the one that is written.
pub fn check_format(option: &str, path: &Path, format: Format) -> Result<(), Failure> {
    format.check(path).map_err(|why| Failure::input(format!("{option} '{}': {why}", path.display())))
}

/// Those of several names that are files, and no presets: they must not be written over.
pub fn files_among<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a Path> {
    names.into_iter().map(Path::new).filter(|path| path.is_file()).collect()
}

/// Makes sure of all files a command was asked for, as [`check_target`] does, and that no two are one.
pub fn check_targets(targets: &[&Option<PathBuf>], inputs: &[&Path]) -> Result<(), Failure> {
    let paths: Vec<&Path> = targets.iter().copied().flatten().map(AsRef::as_ref).collect();
    for path in &paths {
        check_target(path, inputs)?;
    }
    check_distinct(&paths)
}

/// Refuses two outputs in one file.
fn check_distinct(paths: &[&Path]) -> Result<(), Failure> {
    let place = |path: &Path| {
        let folder = folder_of(path);
        (folder.canonicalize().unwrap_or(folder), path.file_name().map(ToOwned::to_owned))
    };
    for (at, path) in paths.iter().enumerate() {
        if paths[..at].iter().any(|other| place(other) == place(path)) {
            return Err(Failure::input(format!("two outputs in one file: {}", path.display())));
        }
    }
    Ok(())
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Writes a file as a whole or not at all.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    write_atomically(path, write)
        .map_err(|error| Failure::input(format!("cannot write {}: {error}", path.display())))
}

/// The command as it was typed, quoted so that it can be typed again.
pub fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| quote(&word));
    ["plimsoll".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// How far a value is above a bound, in words.
pub fn gap(value: Bytes, bound: Bytes) -> String {
    let gap = gap_percent(value.get(), bound.get());
    gap.map_or_else(|| "-".to_owned(), |gap| format!("{} %", percent(gap)))
}
