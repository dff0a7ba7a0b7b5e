//! The folder of a benchmark: rows are written during the run, charts and pages at the end, and pictures of
//! the best solutions in between.

use crate::failure::Failure;
use crate::output;
use plimsoll::model::{Bytes, Instance, Offsets, Piece, Problem, Value as _};
use plimsoll::posed::Posed;
use plimsoll_lab::analysis::{Options, groups};
use plimsoll_lab::experiment::{Experiment, Manifest, Opened, Store, explain};
use plimsoll_lab::machine::Machine;
use plimsoll_lab::report::chart::Chart;
use plimsoll_lab::report::layouts;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::report::plots::gap_chart;
use plimsoll_lab::report::times::SHIFT;
use plimsoll_lab::report::trace::trace_charts;
use plimsoll_lab::row::{LAYOUTS, ROWS, Row, TRACE, layout_of};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of buffers of an instance whose memory map is drawn. A larger map would be unreadable, and
/// its file would take hundreds of megabytes.
const MOST_DRAWN: usize = 50_000;

/// A benchmark that is being written.
pub struct Record {
    folder: PathBuf,
    store: Store,
    /// The names of the layouts and of their maps.
    names: BTreeSet<String>,
    /// The question of the latest run.
    current: Current,
}

/// The best solution of a question so far.
#[derive(Default)]
struct Current {
    question: [String; 5],
    /// The best bound so far.
    bound: u64,
    best: Option<Best>,
}

struct Best {
    value: u64,
    run: u64,
    algorithm: String,
    problem: &'static str,
    instance: Instance,
    pieces: Vec<Vec<Piece>>,
    /// The solution as CSV.
    text: Vec<u8>,
}

/// Folder for pictures of layouts.
const MAPS: &str = "maps";
const CHARTS: &str = "charts";

impl Record {
    /// Creates the folder. If the folder already exists and is not empty, fails or, with `force`, removes the
    /// files of an earlier benchmark.
    pub fn open(folder: &Path, force: bool, experiment: &Experiment) -> Result<Self, Failure> {
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
        for name in [ROWS, TRACE] {
            match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(wrong(error)),
                _ => {}
            }
        }
        let Opened { store, .. } = Store::anew(folder, experiment, &Machine::here())?;
        let (folder, names, current) = (folder.to_owned(), BTreeSet::new(), Current::default());
        Ok(Self { folder, store, names, current })
    }

    /// Appends a row, so that an interrupted benchmark keeps it.
    pub fn append(&mut self, row: Row) -> Result<(), Failure> {
        self.at(&row);
        self.current.bound = self.current.bound.max(row.lower_bound.or(row.floor).unwrap_or_default());
        self.store.append(row).map_err(Failure::from)
    }

    /// Keeps a solution if it is the best one of its question, unless the instance has more buffers than
    /// reports draw.
    pub fn keep<P: Posed>(&mut self, question: &P::Question<'_>, row: &Row, solution: &P::Solution) {
        self.at(row);
        let Some(value) = row.value else { return };
        if self.current.best.as_ref().is_some_and(|best| best.value <= value) {
            return;
        }
        let drawn = P::drawn(question, solution);
        let Some((instance, pieces)) = drawn.filter(|(instance, _)| instance.len() <= layouts::MOST) else {
            return;
        };
        let mut text = Vec::new();
        if P::written(question, solution, &mut text).unwrap_or_default() {
            let (run, algorithm, instance) = (row.run, row.algorithm.clone(), instance.clone());
            let problem = P::NAME;
            self.current.best = Some(Best { value, run, algorithm, problem, instance, pieces, text });
        }
    }

    /// Writes the best solution of the previous question if the row belongs to another one.
    fn at(&mut self, row: &Row) {
        let Row { suite, instance, sha256, problem, .. } = row;
        let question = [suite, instance, sha256, problem, &row.terms.to_string()].map(String::clone);
        if question != self.current.question {
            self.flush();
            self.current = Current { question, ..Current::default() };
        }
    }

    /// Stores the best solution of the current question, and draws its memory map unless the instance has
    /// more than `MOST_DRAWN` buffers.
    fn flush(&mut self) {
        let bound = Bytes::of_number(self.current.bound);
        let Some(best) = self.current.best.take() else { return };
        let Best { run, algorithm, problem, instance, pieces, text, .. } = best;
        let stem = file_stem(instance.name()) + &suffix(problem);
        let mut name = stem.clone();
        for nth in 2.. {
            if self.names.insert(name.clone()) {
                break;
            }
            name = format!("{stem}-{nth}");
        }
        if instance.len() <= MOST_DRAWN {
            let map = Map::new(&instance, problem, &algorithm, &pieces, bound);
            let path = self.folder.join(MAPS).join(format!("{name}.svg"));
            output::late(output::write_file(&path, |file| map.write(file)));
        }
        let layout = layout_of(&name);
        let written = output::write_file(&self.folder.join(&layout), |file| file.write_all(&text));
        if output::late(written).is_some() {
            self.store.set_layout(run, layout);
        }
    }

    /// Completes the rows, and returns them.
    pub fn close(mut self) -> Result<(Finished, Vec<Row>), Failure> {
        self.flush();
        let rows = self.store.finish(true)?;
        Ok((Finished { folder: self.folder }, rows))
    }
}

/// The folder of a benchmark whose rows are complete.
pub struct Finished {
    folder: PathBuf,
}

impl Finished {
    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a chart.
    pub fn chart(&self, name: &str, chart: &Chart) -> Result<(), Failure> {
        let folder = self.folder.join(CHARTS);
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::input(format!("cannot write into {}: {error}", folder.display())))?;
        output::write_file(&folder.join(format!("{name}.svg")), |file| chart.write(file))
    }

    /// Draws gaps over time: for each question, one chart of all instances and one chart per traced instance.
    pub fn gaps(&self, rows: &[Row]) -> Result<(), Failure> {
        let options = Options { shift: SHIFT, ..Options::default() };
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for group in groups(rows, options) {
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

    /// Writes the README.
    pub fn explain(&self, notes: &[String]) -> Result<(), Failure> {
        let Some(manifest) = Manifest::read(&self.folder)? else { return Ok(()) };
        Ok(explain(&manifest, &self.folder, &output::command_line(), notes)?)
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
