//! The results of a reproduction: rows, a report and files.

use crate::ReproduceError;
use crate::row::{self, Row, Verdict};
use crate::sheet::{Figure, Sheet, fill};
use crate::sources::sources;
use minijinja::{Value, context};
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::chart::Chart;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::report::table::{Align, Table};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

/// The rows, the Markdown report and the files of a reproduction. They are generated from the data file of
/// the paper and the computed facts.
#[derive(Debug)]
pub struct Reproduction {
    /// Printed and computed values, in the order of the paper.
    pub rows: Vec<Row>,
    /// Skipped parts, with the reasons.
    pub skipped: Vec<String>,
    /// The files that accompany the report.
    pub files: Vec<File>,
    sheet: Sheet,
    facts: BTreeMap<&'static str, Value>,
    report: String,
}

/// A file of a reproduction.
#[derive(Clone, Debug)]
pub struct File {
    /// The file name, relative to the folder of the paper.
    pub name: String,
    /// A one-line description of the content.
    pub about: String,
    /// The bytes of the file.
    pub content: Vec<u8>,
}

impl File {
    /// Returns true for an SVG picture.
    pub fn is_figure(&self) -> bool {
        std::path::Path::new(&self.name).extension().is_some_and(|extension| extension == "svg")
    }
}

impl Reproduction {
    /// Creates the reproduction of a paper, without computed facts.
    pub(crate) fn of(paper: &str) -> Self {
        let (rows, skipped, files) = (Vec::new(), Vec::new(), Vec::new());
        let (facts, report) = (BTreeMap::new(), String::new());
        Self { rows, skipped, files, sheet: Sheet::of(paper), facts, report }
    }

    /// Defines a fact, to which rows, figures and text can refer.
    pub(crate) fn fact(&mut self, name: &'static str, value: impl Serialize) {
        self.facts.insert(name, Value::from_serialize(value));
    }

    /// Records a skipped part and the reason.
    pub(crate) fn skip(&mut self, what: impl Into<String>) {
        self.skipped.push(what.into());
    }

    /// Generates the rows, the report and the files from the facts.
    pub(crate) fn finish(mut self) -> Result<Self, ReproduceError> {
        let facts = Value::from_serialize(&self.facts);
        self.rows = self.sheet.rows(&facts)?;
        self.report = fill(&format!("{}.md", self.sheet.name), sources(&self.sheet.name).1, &facts)?;
        for one in std::mem::take(&mut self.sheet.files) {
            let content = fill(&one.file, &one.text, &facts)?.into_bytes();
            self.files.push(File { name: one.file, about: one.about, content });
        }
        Ok(self)
    }

    /// Adds a file with the bytes that `write` produces. Writing to memory cannot fail.
    pub(crate) fn file(
        &mut self,
        name: impl Into<String>,
        about: impl Into<String>,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) {
        let mut content = Vec::new();
        write(&mut content).expect("writing to memory cannot fail");
        self.files.push(File { name: name.into(), about: about.into(), content });
    }

    /// Returns a figure with all its templates evaluated with `it` and the facts defined so far.
    fn figure(&self, name: &str, it: &Value) -> Result<Figure, ReproduceError> {
        let missing = || ReproduceError::Defect(format!("{}: no figure '{name}'", self.sheet.name));
        let figure = self.sheet.figures.get(name).ok_or_else(missing)?;
        let facts = context! { it => it, ..Value::from_serialize(&self.facts) };
        let text = |template: &String| fill(name, template, &facts);
        Ok(Figure {
            file: text(&figure.file)?,
            about: text(&figure.about)?,
            title: text(&figure.title)?,
            caption: text(&figure.caption)?,
            series: figure.series.iter().map(text).collect::<Result<_, _>>()?,
            mark: text(&figure.mark)?,
            unit: text(&figure.unit)?,
        })
    }

    /// Adds a bar chart.
    pub(crate) fn bars(&mut self, name: &str, it: &Value, panels: Vec<Panel>) -> Result<(), ReproduceError> {
        let Figure { file, about, title, caption, series, mark, unit } = self.figure(name, it)?;
        let chart = Bars { title, caption, series, mark, unit, panels };
        self.file(file, about, |output| chart.write(output));
        Ok(())
    }

    /// Adds the memory map of a layout. If the figure has a title, the title replaces the name of the
    /// instance.
    pub(crate) fn map(&mut self, name: &str, it: &Value, map: &Map<'_>) -> Result<(), ReproduceError> {
        let Figure { file, about, title, .. } = self.figure(name, it)?;
        let titled = map.instance.clone().with_name(title);
        let instance = if titled.name().is_empty() { map.instance } else { &titled };
        self.file(file, about, |output| map.of_instance(instance).write(output));
        Ok(())
    }

    /// Adds a chart with the title and the caption of the figure.
    pub(crate) fn chart(&mut self, name: &str, it: &Value, chart: Chart) -> Result<(), ReproduceError> {
        let Figure { file, about, title, caption, .. } = self.figure(name, it)?;
        self.file(file, about, |output| Chart { title, caption, ..chart }.write(output));
        Ok(())
    }

    /// Returns true if every row is as expected.
    pub fn holds(&self) -> bool {
        self.count(Verdict::Unexpected) == 0
    }

    /// Returns the number of rows with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict() == verdict).count()
    }

    /// Returns the number of rows per verdict, in one line.
    pub fn tally(&self) -> String {
        let of = |verdict: Verdict| format!("{} {}", self.count(verdict), verdict.as_str());
        let counts = Verdict::ALL.iter().copied().filter(|&verdict| self.count(verdict) > 0).map(of);
        format!("{} rows: {}", self.rows.len(), counts.collect::<Vec<_>>().join(", "))
    }

    /// Returns the reproduction in Markdown.
    pub fn markdown(&self) -> String {
        let rows = row::table(&self.rows).markdown();
        let mut text = format!("## Printed and ours, row by row\n\n{rows}\n- {}\n", self.tally());
        for line in &self.skipped {
            let _ = writeln!(text, "- skipped: {line}");
        }
        format!("{text}\n{}", self.report)
    }

    /// Returns a summary as text: the number of rows per verdict, the skipped parts, and the rows with the
    /// verdict [`Verdict::Explained`] or [`Verdict::Unexpected`].
    pub fn brief(&self) -> String {
        let mut text = format!("{}\n", self.tally());
        for line in &self.skipped {
            let _ = writeln!(text, "skipped: {line}");
        }
        let differing = [Verdict::Explained, Verdict::Unexpected];
        for row in self.rows.iter().filter(|row| differing.contains(&row.verdict())) {
            let _ = write!(text, "\n{}", row.in_words());
        }
        text
    }

    /// Returns the reproduction as text for a terminal of this width, with underlined headings and tables in
    /// columns.
    pub fn text(&self, width: usize) -> String {
        let markdown = self.markdown();
        let (mut text, mut lines) = (String::new(), markdown.lines().peekable());
        while let Some(line) = lines.next() {
            if let Some(title) = line.strip_prefix("## ") {
                let _ = writeln!(text, "{title}\n{}", "=".repeat(title.chars().count()));
                lines.next_if(|line| line.is_empty());
            } else if line.starts_with("| ") {
                let rest = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("| ")));
                text.push_str(&table(line, rest).text_within(width));
            } else if !line.starts_with("```") {
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }
}

/// Parses a Markdown table. `header` is its first line, and `rest` yields the line of alignments and the
/// rows.
fn table<'l>(header: &str, mut rest: impl Iterator<Item = &'l str>) -> Table {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")).unwrap_or(line);
        inner.split(" | ").map(|cell| cell.replace("\\|", "|").replace("\\\\", "\\")).collect()
    };
    let align = |rule: &String| if rule.ends_with(':') { Align::Right } else { Align::Left };
    let aligns: Vec<Align> = rest.next().map(cells).unwrap_or_default().iter().map(align).collect();
    let names = cells(header);
    let mut table = Table::new(names.iter().map(String::as_str).zip(aligns));
    rest.for_each(|line| table.row(cells(line)));
    table
}

#[cfg(test)]
impl Reproduction {
    /// Evaluates a template with the facts so far.
    pub(crate) fn fill(&self, template: &str) -> String {
        fill("test", template, &Value::from_serialize(&self.facts)).unwrap()
    }

    /// Evaluates an accompanying file with the facts so far.
    pub(crate) fn filled(&self, file: &str) -> String {
        self.fill(&self.sheet.files.iter().find(|one| one.file == file).unwrap().text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_columns() {
        let mut found = Reproduction::of("patent");
        found.report =
            "## T\n\n| a | b |\n| --- | ---: |\n| x\\|y | 10 |\n\n- note\n```text\nas is\n```\n".to_owned();
        let text = found.text(80);
        assert!(text.ends_with("T\n=\na     b\n---  --\nx|y  10\n\n- note\nas is\n"), "{text}");
        assert!(text.contains("- 0 rows"));
    }
}
