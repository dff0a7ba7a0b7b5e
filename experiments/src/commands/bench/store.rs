//! The folder of a record: rows as they come, maps, pages at the end.

use crate::failure::Failure;
use crate::output;
use plimsoll::model::{Bytes, Instance};
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll::report::rows::Row;
use plimsoll::report::summary::Question;
use plimsoll::report::svg::Map;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Above this many buffers no map is drawn: it would take hundreds of megabytes and show nothing.
const MOST_DRAWN: usize = 50_000;

/// An open record.
pub struct Store {
    folder: PathBuf,
    rows: csv::Writer<File>,
    maps: BTreeSet<String>,
}

impl Store {
    /// Makes the folder; refuses one that holds anything, unless forced. Maps of an earlier record are removed then.
    pub fn open(folder: &Path, force: bool) -> Result<Self, Failure> {
        let wrong = |error| Failure::input(format!("cannot write into {}: {error}", folder.display()));
        if folder.exists() {
            let holds_something = fs::read_dir(folder).map_err(wrong)?.next().is_some();
            if holds_something && !force {
                let folder = folder.display();
                return Err(Failure::input(format!(
                    "{folder} is not empty; --force writes into it all the same"
                )));
            }
        }
        let maps = folder.join("maps");
        fs::create_dir_all(&maps).map_err(wrong)?;
        for entry in fs::read_dir(&maps).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if path.extension().is_some_and(|extension| extension == "svg") {
                fs::remove_file(path).map_err(wrong)?;
            }
        }
        let rows = File::create(folder.join("rows.csv")).map_err(wrong)?;
        Ok(Self { folder: folder.to_owned(), rows: csv::Writer::from_writer(rows), maps: BTreeSet::new() })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds rows; they are on disk when this returns, so a bench that is cut short leaves what it has.
    pub fn append(&mut self, rows: &[Row]) -> Result<(), Failure> {
        let wrong = |error: &dyn std::fmt::Display| Failure::input(format!("cannot write rows.csv: {error}"));
        for row in rows {
            self.rows.serialize(row).map_err(|error| wrong(&error))?;
        }
        self.rows.flush().map_err(|error| wrong(&error))
    }

    /// Draws a solution, unless nobody could make out its buffers.
    pub fn map<P: Plan>(
        &mut self,
        instance: &Instance,
        algorithm: &str,
        solution: &P::Solution,
        bound: Bytes,
    ) -> Result<(), Failure> {
        if instance.len() > MOST_DRAWN {
            return Ok(());
        }
        let pieces = P::pieces(instance, solution);
        let map = Map { instance, problem: P::KIND, algorithm, pieces: &pieces, bound };
        let suffix = if P::KIND == ProblemKind::Offsets { String::new() } else { format!(".{}", P::KIND) };
        let stem = format!("{}{suffix}", file_stem(instance.name()));
        let mut name = stem.clone();
        for nth in 2.. {
            if self.maps.insert(name.clone()) {
                break;
            }
            name = format!("{stem}-{nth}");
        }
        let path = self.folder.join("maps").join(format!("{name}.svg"));
        output::write_file(&path, |file| map.write(file))
    }

    /// Writes the pages.
    pub fn finish(&self, question: &Question<'_>, rows: &[Row]) -> Result<(), Failure> {
        let pages = [("summary.md", question.summary(rows)), ("README.md", question.readme())];
        for (name, text) in pages {
            output::write_file(&self.folder.join(name), |file| file.write_all(text.as_bytes()))?;
        }
        Ok(())
    }
}

/// A name with nothing in it that a file system could mind.
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
    fn stems_are_harmless() {
        assert_eq!(file_stem("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(file_stem(""), "instance");
        assert_eq!(file_stem("A b\u{e4}"), "A_b_");
    }
}
