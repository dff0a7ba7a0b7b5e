//! The folder of a record. Rows, traces, layouts and memory maps are written during the run, charts and pages
//! at the end.

use crate::failure::Failure;
use crate::output;
use plimsoll::model::{Bytes, Offsets, Problem};
use plimsoll::posed::Posed;
use plimsoll_lab::analysis::{Options, groups};
use plimsoll_lab::record::{Columns, Extras, LAYOUTS, ROWS, Record, TRACE, number_runs, trace_rows};
use plimsoll_lab::report::chart::Chart;
use plimsoll_lab::report::layouts;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::report::plots::gap_chart;
use plimsoll_lab::report::summary::Question;
use plimsoll_lab::report::times::SHIFT;
use plimsoll_lab::report::trace::trace_charts;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of buffers of an instance whose memory map is drawn. A larger map would be unreadable, and
/// its file would take hundreds of megabytes.
const MOST_DRAWN: usize = 50_000;

/// A record that is being written.
pub struct Store {
    folder: PathBuf,
    columns: Columns,
    rows: File,
    trace: Option<csv::Writer<File>>,
    /// The names of the layouts and of their maps.
    names: BTreeSet<String>,
}

/// Folder for pictures of layouts.
const MAPS: &str = "maps";
const CHARTS: &str = "charts";

impl Store {
    /// Creates the folder. If the folder already exists and is not empty, fails or, with `force`, removes the
    /// memory maps, charts, layouts and trace of the earlier record.
    pub fn open(folder: &Path, force: bool, extras: Extras) -> Result<Self, Failure> {
        let wrong = |error| Failure::input(format!("cannot write into {}: {error}", folder.display()));
        if folder.exists() {
            let holds_something = fs::read_dir(folder).map_err(wrong)?.next().is_some();
            if holds_something && !force {
                let folder = folder.display();
                return Err(Failure::input(format!(
                    "{folder} is not empty; use --force to write into it anyway"
                )));
            }
        }
        for name in [MAPS, LAYOUTS] {
            fs::create_dir_all(folder.join(name)).map_err(wrong)?;
        }
        for (name, suffix) in [(MAPS, "svg"), (CHARTS, "svg"), (LAYOUTS, "csv")] {
            let inner = folder.join(name);
            if !inner.is_dir() {
                continue;
            }
            for entry in fs::read_dir(inner).map_err(wrong)? {
                let path = entry.map_err(wrong)?.path();
                if path.extension().is_some_and(|extension| extension == suffix) {
                    fs::remove_file(path).map_err(wrong)?;
                }
            }
        }
        let columns = Columns::of(None, extras).unwrap_or_else(Columns::all);
        let mut rows = File::create(folder.join(ROWS)).map_err(wrong)?;
        rows.write_all(columns.header().as_bytes()).map_err(wrong)?;
        let path = folder.join(TRACE);
        let trace = if extras.trace {
            Some(csv::Writer::from_writer(File::create(path).map_err(wrong)?))
        } else {
            match fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(wrong(error)),
                _ => None,
            }
        };
        Ok(Self { folder: folder.to_owned(), columns, rows, trace, names: BTreeSet::new() })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends rows and traces to the files, so that an interrupted benchmark keeps them.
    pub fn append(&mut self, rows: &[Record]) -> Result<(), Failure> {
        let wrong = |name: &str, error: &dyn std::fmt::Display| {
            Failure::input(format!("cannot write {name}: {error}"))
        };
        let text: String = rows.iter().map(|row| self.columns.line(row)).collect();
        self.rows.write_all(text.as_bytes()).map_err(|error| wrong(ROWS, &error))?;
        let Some(trace) = &mut self.trace else { return Ok(()) };
        for line in trace_rows(rows) {
            trace.serialize(line).map_err(|error| wrong(TRACE, &error))?;
        }
        trace.flush().map_err(|error| wrong(TRACE, &error))
    }

    /// Stores the solution of a run, unless the instance has more buffers than reports draw. Draws its memory
    /// map unless the instance has more than `MOST_DRAWN` buffers. Returns the record of the run with the
    /// path of the layout.
    pub fn keep<P: Posed>(
        &mut self,
        question: &P::Question<'_>,
        run: Record,
        solution: &P::Solution,
        bound: Bytes,
    ) -> Record {
        let drawn = P::drawn(question, solution);
        let Some((instance, pieces)) = drawn.filter(|(instance, _)| instance.len() <= layouts::MOST) else {
            return run;
        };
        let stem = file_stem(instance.name()) + &suffix(P::NAME);
        let mut name = stem.clone();
        for nth in 2.. {
            if self.names.insert(name.clone()) {
                break;
            }
            name = format!("{stem}-{nth}");
        }
        if instance.len() <= MOST_DRAWN {
            let map = Map::new(instance, P::NAME, &run.algorithm, &pieces, bound);
            let path = self.folder.join(MAPS).join(format!("{name}.svg"));
            output::late(output::write_file(&path, |file| map.write(file)));
        }
        run.keeping_as::<P>(question, solution, &self.folder, &name)
    }

    /// Writes a chart.
    pub fn chart(&self, name: &str, chart: &Chart) -> Result<(), Failure> {
        let folder = self.folder.join(CHARTS);
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::input(format!("cannot write into {}: {error}", folder.display())))?;
        output::write_file(&folder.join(format!("{name}.svg")), |file| chart.write(file))
    }

    /// Draws gaps over time: for each question, one chart of all instances and one chart per traced instance.
    pub fn gaps(&self, rows: &[Record]) -> Result<(), Failure> {
        let mut rows = rows.to_vec();
        number_runs(&mut rows);
        let options = Options { shift: SHIFT, ..Options::default() };
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for group in groups(&rows, &trace_rows(&rows), options) {
            let nth = counts.entry(group.question.problem.clone()).or_default();
            *nth += 1;
            let suffix = match *nth {
                1 => suffix(&group.question.problem),
                nth => format!("{}-{nth}", suffix(&group.question.problem)),
            };
            if let Some(chart) = gap_chart(&group) {
                self.chart(&format!("gap{suffix}"), &chart)?;
            }
            for (instance, chart) in trace_charts(&group) {
                self.chart(&format!("gap-{}{suffix}", file_stem(instance)), &chart)?;
            }
        }
        Ok(())
    }

    /// Returns true if the folder contains a file of this name, in which `*` matches any text.
    fn holds(&self, name: &str) -> bool {
        let path = self.folder.join(name);
        let (Some(folder), Some(file)) = (path.parent(), path.file_name().and_then(|file| file.to_str()))
        else {
            return false;
        };
        let Some((start, end)) = file.split_once('*') else { return path.is_file() };
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| {
            let name = name.to_string_lossy();
            name.starts_with(start) && name.ends_with(end)
        })
    }

    pub fn finish(&self, question: &Question<'_>, rows: &[Record]) -> Result<(), Failure> {
        let readme = question.readme(rows, |name| name == "summary.md" || self.holds(name));
        let pages = [("summary.md", question.summary(rows)), ("README.md", readme)];
        for (name, text) in pages {
            output::write_file(&self.folder.join(name), |file| file.write_all(text.as_bytes()))?;
        }
        Ok(())
    }
}

/// Returns the part of a picture's name that identifies the problem. It is empty for offsets.
fn suffix(problem: &str) -> String {
    if problem == Offsets::NAME { String::new() } else { format!(".{problem}") }
}

/// Converts a name to a portable file name of at most 100 characters. Characters that are not portable are
/// replaced by `_`, and leading dots are removed. An empty result becomes `instance`.
fn file_stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let stem: String = name.chars().map(plain).take(100).collect();
    match stem.trim_start_matches('.') {
        "" => "instance".to_owned(),
        stem => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_portable() {
        assert_eq!(file_stem("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(file_stem(""), "instance");
        assert_eq!(file_stem("A b\u{e4}"), "A_b_");
    }
}
