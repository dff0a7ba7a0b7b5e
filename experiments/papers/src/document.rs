//! What a reproduction leaves: rows, text, tables, files.

use super::row::{self, Row, Verdict};
use plimsoll_lab::report::table::Table;
use std::fmt::Write as _;
use std::io;

/// Text and tables, and files that go with them.
#[derive(Debug, Default)]
pub struct Reproduction {
    /// What is printed beside ours, in the order of the paper.
    pub rows: Vec<Row>,
    /// What took no part, and why.
    pub left_out: Vec<String>,
    sections: Vec<Section>,
    /// What lies beside the text.
    pub files: Vec<File>,
}

impl File {
    /// True for a picture.
    pub fn is_figure(&self) -> bool {
        std::path::Path::new(&self.name).extension().is_some_and(|extension| extension == "svg")
    }
}

/// A file of a reproduction.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name.
    pub name: String,
    /// What it holds, in one line.
    pub about: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

#[derive(Debug)]
struct Section {
    title: String,
    lines: Vec<String>,
    table: Option<Table>,
    verbatim: Option<String>,
}

impl Reproduction {
    /// Adds a row.
    pub fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Says what takes no part, and why.
    pub fn leave_out(&mut self, what: impl Into<String>) {
        self.left_out.push(what.into());
    }

    /// True where every row is as expected.
    pub fn holds(&self) -> bool {
        self.count(Verdict::Unexpected) == 0
    }

    /// Rows of a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict() == verdict).count()
    }

    /// How many rows came out how, in one line.
    pub fn tally(&self) -> String {
        let of = |verdict: Verdict| format!("{} {}", self.count(verdict), verdict.as_str());
        let counts = Verdict::ALL.into_iter().filter(|&verdict| self.count(verdict) > 0).map(of);
        format!("{} rows: {}", self.rows.len(), counts.collect::<Vec<_>>().join(", "))
    }

    /// Begins a section.
    pub fn section(&mut self, title: impl Into<String>) {
        self.sections.push(Section { title: title.into(), lines: Vec::new(), table: None, verbatim: None });
    }

    fn last(&mut self) -> &mut Section {
        if self.sections.is_empty() {
            self.section("");
        }
        self.sections.last_mut().expect("there is one now")
    }

    /// A line of text in the section begun last.
    pub fn line(&mut self, text: impl Into<String>) {
        self.last().lines.push(text.into());
    }

    /// The table of the section begun last.
    pub fn table(&mut self, table: Table) {
        self.last().table = Some(table);
    }

    /// Text of the section begun last that is shown as it is.
    pub fn verbatim(&mut self, text: String) {
        self.last().verbatim = Some(text);
    }

    /// A file beside the text, filled by `write`.
    ///
    /// # Panics
    /// If `write` fails, which nothing that writes to memory does.
    pub fn file(
        &mut self,
        name: impl Into<String>,
        about: impl Into<String>,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) {
        let mut content = Vec::new();
        write(&mut content).expect("memory can be written to");
        self.files.push(File { name: name.into(), about: about.into(), content });
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        self.render(
            |title| format!("{title}\n{}\n", "=".repeat(title.chars().count())),
            Table::text,
            str::to_owned,
        )
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        self.render(
            |title| format!("## {title}\n\n"),
            Table::markdown,
            |text| format!("```text\n{text}```\n"),
        )
    }

    fn render(
        &self,
        title: impl Fn(&str) -> String,
        table: impl Fn(&Table) -> String,
        verbatim: impl Fn(&str) -> String,
    ) -> String {
        let mut text = title("Printed and ours, row by row");
        let _ = writeln!(text, "{}\n\n- {}", table(&row::table(&self.rows)).trim_end(), self.tally());
        for line in &self.left_out {
            let _ = writeln!(text, "- left out: {line}");
        }
        for section in &self.sections {
            text.push('\n');
            text.push_str(&title(&section.title));
            if let Some(own) = &section.table {
                let _ = writeln!(text, "{}", table(own).trim_end());
                text.push('\n');
            }
            for line in &section.lines {
                let _ = writeln!(text, "- {line}");
            }
            if let Some(own) = &section.verbatim {
                text.push('\n');
                text.push_str(&verbatim(own));
            }
        }
        text
    }
}
