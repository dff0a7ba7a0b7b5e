//! Standard output, standard error and output files.

use crate::failure::Failure;
use crate::format::{Format, is_png};
use crate::png;
use crate::progress;
use plimsoll::model::Bytes;
use plimsoll_lab::external::quote;
use plimsoll_lab::report::table::wrapped;
use plimsoll_lab::report::{gap_percent, percent};
use plimsoll_support::files::{is_stream, target_of, write_atomically};
use plimsoll_support::printable::{printable, printable_json};
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The name that stands for standard output.
pub const STANDARD: &str = "-";

/// The rightmost column at which the text after a name may start so that continuation lines are aligned
/// with it. If the text starts further to the right, continuation lines have the indentation of the line.
const MOST_INDENTED: usize = 30;

/// Maximum number of late failures that are reported one by one.
const MOST_LATE: usize = 20;

/// True if an output file is standard output; reports then go to standard error.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The text that is kept instead of printed, while [`kept`] runs.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// The late failures so far.
static LATE: Mutex<Vec<Failure>> = Mutex::new(Vec::new());

/// Returns the result of writing a file after a search. A failure is kept until the command has printed its
/// report, so that it does not discard the result of the search.
pub fn late<T>(done: Result<T, Failure>) -> Option<T> {
    done.map_err(|failure| LATE.lock().unwrap_or_else(PoisonError::into_inner).push(failure)).ok()
}

/// Reports the late failures. Returns the exit code of the first one.
pub fn report_late() -> Option<u8> {
    let failures = std::mem::take(&mut *LATE.lock().unwrap_or_else(PoisonError::into_inner));
    failures.iter().take(MOST_LATE).for_each(|failure| complain(&failure.message));
    if failures.len() > MOST_LATE {
        complain(&format!("and {} more errors", failures.len() - MOST_LATE));
    }
    failures.first().map(|failure| failure.code)
}

/// Writes a report to standard output, or to standard error if standard output is one of the output files.
/// Hidden characters, which may come from names in input files, are escaped. A closed pipe (`| head`) is not
/// an error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_safe(&printable(text))
}

/// Returns what `run` prints to standard output instead of printing it.
pub fn kept<T>(run: impl FnOnce() -> T) -> (T, String) {
    let swap = |text| std::mem::replace(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner), text);
    swap(Some(String::new()));
    let done = run();
    (done, swap(None).unwrap_or_default())
}

fn print_safe(text: &str) -> Result<(), Failure> {
    progress::clear();
    if let Some(kept) = &mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner) {
        kept.push_str(text);
        return Ok(());
    }
    if IS_TAKEN.load(Ordering::Relaxed) {
        // There is no way to report a failure here.
        let _ = io::stderr().write_all(text.as_bytes());
        return Ok(());
    }
    write_standard(|stdout| stdout.write_all(text.as_bytes()))
}

fn write_standard(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Returns the number of columns for text, which is at least 40. It is the width of the terminal or,
/// without a terminal, the value of the environment variable COLUMNS, or 80.
pub fn width() -> usize {
    let given = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal_width().or_else(given).unwrap_or(80).max(40)
}

#[cfg(not(target_family = "wasm"))]
fn terminal_width() -> Option<usize> {
    let terminal = if IS_TAKEN.load(Ordering::Relaxed) {
        terminal_size::terminal_size_of(io::stderr())
    } else {
        terminal_size::terminal_size_of(io::stdout())
    };
    terminal.map(|(width, _)| usize::from(width.0))
}

/// Returns `None`: a browser has no terminal.
#[cfg(target_family = "wasm")]
fn terminal_width() -> Option<usize> {
    None
}

/// Wraps each line of `text` at [`width`] columns. Continuation lines are indented like the line or, if the
/// line begins with a name and at least two blanks, like the words after the blanks.
pub fn filled(text: &str) -> String {
    let mut filled = String::new();
    for line in text.lines() {
        if line.chars().count() <= width() {
            filled.push_str(line);
            filled.push('\n');
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let gap = line[indent..].find("  ").map_or(indent, |gap| {
            let rest = &line[indent + gap..];
            indent + gap + rest.len() - rest.trim_start().len()
        });
        let (name, words) = line.split_at(if gap <= MOST_INDENTED { gap } else { indent });
        let blanks = " ".repeat(name.chars().count());
        let mut name = name;
        for line in wrapped(words, width().saturating_sub(blanks.len())) {
            filled.extend([name, &line, "\n"]);
            name = &blanks;
        }
    }
    filled
}

/// Writes a value as one line of JSON to standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(Failure::internal)?;
    print_safe(&format!("{}\n", printable_json(&text)))
}

/// Writes one line to standard error.
pub fn complain(message: &str) {
    progress::clear();
    let message = crate::input::unspooled(message);
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    // There is no way to report a failure here.
    let _ = writeln!(io::stderr(), "plimsoll: {}", printable(&line));
}

/// Writes rows as CSV, with one column per field.
pub fn csv<T: Serialize>(file: &mut dyn Write, rows: &[T]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush()
}

/// Returns a field of a CSV file, which is empty without a value.
pub fn field(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Writes a CSV file with a header, whose columns are separated by commas, and one line per row.
pub fn write_rows<T, const N: usize>(
    path: &Path,
    columns: &str,
    rows: &[T],
    fields: impl Fn(&T) -> [String; N],
) -> Result<(), Failure> {
    write_file(path, |file| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(columns.split(','))?;
        rows.iter().try_for_each(|row| writer.write_record(fields(row)))?;
        writer.flush()
    })
}

/// Checks, before any work, that a file can be written and is not one of the `inputs`. Folders that do not
/// exist are created when the file is written.
pub fn check_target(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let target = target_of(path);
    let refuse = |why: String| Err(Failure::input(format!("cannot write {}: {why}", path.display())));
    if path == Path::new(STANDARD) {
        IS_TAKEN.store(true, Ordering::Relaxed);
        return Ok(());
    }
    if is_stream(path) {
        return Ok(());
    }
    if is_png(path) {
        png::check().or_else(refuse)?;
    }
    if path.file_name().is_none() || path.is_dir() {
        return refuse("it is a folder".to_owned());
    }
    let mut folder = folder_of(&target);
    while !folder.exists() {
        folder = folder_of(&folder);
    }
    if !folder.is_dir() {
        return refuse(format!("{} is not a folder", folder.display()));
    }
    if let Ok(own) = path.canonicalize()
        && inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == own))
    {
        return refuse("it is an input of this command".to_owned());
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

/// Checks that the suffix of the file name given to `option` does not belong to another format.
pub fn check_format(option: &str, path: &Path, format: Format) -> Result<(), Failure> {
    format.check(path).map_err(|why| Failure::input(format!("{option} '{}': {why}", path.display())))
}

/// Returns the names that are existing files rather than presets. Outputs must not overwrite them.
pub fn files_among<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a Path> {
    names.into_iter().map(Path::new).filter(|path| path.is_file()).collect()
}

/// Checks all output files of a command with [`check_target`], and checks that they are distinct.
pub fn check_targets(targets: &[&Option<PathBuf>], inputs: &[&Path]) -> Result<(), Failure> {
    let paths: Vec<&Path> = targets.iter().copied().flatten().map(AsRef::as_ref).collect();
    for path in &paths {
        check_target(path, inputs)?;
    }
    check_distinct(&paths)
}

/// Rejects two outputs that name the same file.
fn check_distinct(paths: &[&Path]) -> Result<(), Failure> {
    let place = |path: &Path| {
        let folder = folder_of(path);
        let whole = folder.canonicalize().or_else(|_| std::path::absolute(&folder));
        (whole.unwrap_or(folder), path.file_name().map(ToOwned::to_owned))
    };
    for (at, path) in paths.iter().enumerate() {
        if paths[..at].iter().any(|other| place(other) == place(path)) {
            return Err(Failure::input(format!("two outputs name the same file: {}", path.display())));
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

/// Writes a file atomically, completely or not at all, and creates its folder. `-` is standard output.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    if path == Path::new(STANDARD) {
        return write_standard(write);
    }
    let fail = |error| Failure::input(format!("cannot write {}: {error}", path.display()));
    if !is_stream(path) {
        std::fs::create_dir_all(folder_of(&target_of(path))).map_err(fail)?;
    }
    write_atomically(path, write).map_err(fail)
}

/// Writes a picture as SVG or PNG, depending on the suffix of the file. `draw` writes the picture as SVG.
pub fn write_picture(
    path: &Path,
    draw: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if !is_png(path) {
        return write_file(path, draw);
    }
    let mut svg = Vec::new();
    draw(&mut svg).map_err(Failure::internal)?;
    let picture = png::render(&svg)
        .map_err(|error| Failure::input(format!("cannot write {}: {error}", path.display())))?;
    write_file(path, |file| file.write_all(&picture))
}

/// Returns the command line, quoted for a shell.
pub fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| quote(&word));
    ["plimsoll".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Formats the gap between a value and a bound, in percent.
pub fn gap(value: Bytes, bound: Bytes) -> String {
    let gap = gap_percent(value.get(), bound.get());
    gap.map_or_else(|| "-".to_owned(), |gap| format!("{} %", percent(gap)))
}
