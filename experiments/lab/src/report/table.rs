//! Tables as plain text and as Markdown.

use std::fmt::Write as _;

/// Columns of names, and of sentences, are not made narrower than this.
const NARROWEST: usize = 10;
const NARROWEST_SENTENCE: usize = 24;

/// Breaks text at blanks into lines of at most `width` columns. Longer words get a line of their own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && columns_of(&line) + 1 + columns_of(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Cuts text in the middle to at most `width` columns.
pub fn shortened(text: &str, width: usize) -> String {
    let length = columns_of(text);
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let tail = kept / 2;
    let start: String = text.chars().take(kept - tail).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

/// Returns the lines of a cell.
fn fit(cell: &str, width: usize) -> Vec<String> {
    wrapped(cell, width).into_iter().map(|line| shortened(&line, width)).collect()
}

fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Left-aligned, for text.
    Left,
    /// Right-aligned, for numbers.
    Right,
}

/// A column of a table with one row per `T`: its name, its alignment, and the function that returns a cell.
pub type Column<'a, T> = (&'a str, Align, &'a dyn Fn(&T) -> String);

/// A table with a header. The columns are as wide as their contents.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.to_owned(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Creates a table with one row per item.
    pub fn of<T>(columns: &[Column<'_, T>], things: impl IntoIterator<Item = T>) -> Self {
        let mut table = Self::new(columns.iter().map(|(name, align, _)| (*name, *align)));
        for thing in things {
            table.row(columns.iter().map(|(_, _, cell)| cell(&thing)));
        }
        table
    }

    /// Removes each of the named columns that is empty in every row.
    #[must_use]
    pub fn without_empty(mut self, names: &[&str]) -> Self {
        for at in (0..self.columns.len()).rev() {
            let is_empty = self.rows.iter().all(|row| row[at].is_empty());
            if is_empty && names.contains(&self.columns[at].0.as_str()) {
                self.columns.remove(at);
                self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
            }
        }
        self
    }

    /// Adds a row. Missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// Returns the names and the alignments of the columns.
    pub fn columns(&self) -> &[(String, Align)] {
        &self.columns
    }

    /// Returns the rows. Each has one cell per column.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the table as text: a header, a rule, and the rows. Columns are separated by two blanks.
    pub fn text(&self) -> String {
        self.text_within(usize::MAX)
    }

    /// Returns true if [`text_within`](Self::text_within) prints one table of this width.
    pub fn fits(&self, width: usize) -> bool {
        let widths = self.widths(width);
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1) <= width
    }

    /// Removes the named column.
    #[must_use]
    pub fn without(self, name: &str) -> Self {
        let kept: Vec<usize> = (0..self.columns.len()).filter(|&at| self.columns[at].0 != name).collect();
        self.only(&kept)
    }

    fn only(&self, kept: &[usize]) -> Self {
        let cells = |row: &Vec<String>| kept.iter().map(|&at| row[at].clone()).collect();
        Self {
            columns: kept.iter().map(|&at| self.columns[at].clone()).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }

    /// Returns the table as text whose lines have at most `width` columns, if possible. Headings and
    /// sentences wrap, and names are cut in the middle. If this does not suffice, the last columns follow in
    /// a second table.
    pub fn text_within(&self, width: usize) -> String {
        let count = self.columns.len();
        if !self.fits(width) {
            let first = |end: usize| self.only(&(0..end).collect::<Vec<_>>());
            if let Some(end) = (2..count).rev().find(|&end| first(end).fits(width)) {
                let others: Vec<usize> = std::iter::once(0).chain(end..count).collect();
                return format!(
                    "{}\n{}",
                    first(end).text_within(width),
                    self.only(&others).text_within(width)
                );
            }
        }
        let widths = self.widths(width);
        let mut text = String::new();
        let names = self.columns.iter().map(|(name, _)| name.as_str());
        self.print(&mut text, &widths, names.zip(&widths).map(|(name, &wide)| wrapped(name, wide)).collect());
        let rule = widths.iter().map(|&wide| vec!["-".repeat(wide)]).collect();
        self.print(&mut text, &widths, rule);
        for row in &self.rows {
            self.print(
                &mut text,
                &widths,
                row.iter().zip(&widths).map(|(cell, &wide)| fit(cell, wide)).collect(),
            );
        }
        text
    }

    /// Adds the lines of one row.
    fn print(&self, text: &mut String, widths: &[usize], cells: Vec<Vec<String>>) {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let padded = cells.iter().zip(&self.columns).zip(widths).map(|((lines, (_, align)), &wide)| {
                let line = lines.get(at).map_or("", String::as_str);
                let blanks = " ".repeat(wide.saturating_sub(columns_of(line)));
                match align {
                    Align::Left => format!("{line}{blanks}"),
                    Align::Right => format!("{blanks}{line}"),
                }
            });
            let _ = writeln!(text, "{}", padded.collect::<Vec<_>>().join("  ").trim_end());
        }
    }

    /// Returns the widths of the columns for a table of this width: first headings wrap, then the widest
    /// columns of text shrink.
    fn widths(&self, width: usize) -> Vec<usize> {
        let cells = |at: usize| self.rows.iter().map(move |row| columns_of(&row[at])).max().unwrap_or(0);
        let heading = |at: usize| columns_of(&self.columns[at].0);
        let word = |at: usize| self.columns[at].0.split(' ').map(columns_of).max().unwrap_or(0);
        let count = self.columns.len();
        let mut widths: Vec<usize> = (0..count).map(|at| cells(at).max(heading(at))).collect();
        let room = width.saturating_sub(2 * count.saturating_sub(1));
        let excess = |widths: &[usize]| widths.iter().sum::<usize>().saturating_sub(room);
        while excess(&widths) > 0 {
            let lowest = |at: usize| word(at).max(cells(at));
            let Some(at) = (0..count).filter(|&at| widths[at] > lowest(at)).max_by_key(|&at| widths[at])
            else {
                break;
            };
            widths[at] -= 1;
        }
        let is_sentence = |at: usize| self.rows.iter().any(|row| row[at].split(' ').count() > 3);
        let least = |at: usize| if is_sentence(at) { NARROWEST_SENTENCE } else { NARROWEST };
        while excess(&widths) > 0 {
            let shrinks =
                |&at: &usize| self.columns[at].1 == Align::Left && widths[at] > least(at).max(word(at));
            let Some(at) = (0..count).filter(shrinks).max_by_key(|&at| widths[at]) else {
                break;
            };
            widths[at] -= 1;
        }
        // Cells of several words that are aligned like numbers.
        let longest = |at: usize| {
            let words = self.rows.iter().flat_map(|row| row[at].split(' ')).map(columns_of);
            words.max().unwrap_or(0).max(word(at))
        };
        while excess(&widths) > 0 {
            let shrinks = |&at: &usize| self.columns[at].1 == Align::Right && widths[at] > longest(at);
            let Some(at) = (0..count).filter(shrinks).max_by_key(|&at| widths[at]) else {
                break;
            };
            widths[at] -= 1;
        }
        widths
    }

    /// Returns the table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let escape = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|").replace('\n', " ");
        let mut text = line(self.columns.iter().map(|(name, _)| escape(name)).collect());
        let rule = |align: &Align| if *align == Align::Left { "---" } else { "---:" }.to_owned();
        text.push_str(&line(self.columns.iter().map(|(_, align)| rule(align)).collect()));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(|cell| escape(cell)).collect()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new([("name", Align::Left), ("n", Align::Right)]);
        table.row(["a|b".to_owned(), "7".to_owned()]);
        table.row(["äöü-long".to_owned(), "1234".to_owned()]);
        table.row(["short".to_owned()]);
        assert_eq!(table.text(), "name         n\n--------  ----\na|b          7\näöü-long  1234\nshort\n");
        assert!(table.markdown().contains("| a\\|b | 7 |\n"));
        assert!(table.markdown().starts_with("| name | n |\n| --- | ---: |\n"));
    }

    #[test]
    fn a_table_fits_a_width() {
        let mut table = Table::new([
            ("buffer", Align::Left),
            ("bytes in all", Align::Right),
            ("what it is", Align::Left),
        ]);
        table.row([
            "body/layer/conv/weights".to_owned(),
            "7".to_owned(),
            "the weights of a layer".to_owned(),
        ]);
        let shown = table.text_within(44);
        assert!(shown.lines().all(|line| line.chars().count() <= 44), "{shown}");
        assert!(shown.contains('…') && shown.contains("the weights of a layer"), "{shown}");
        assert_eq!(table.text(), table.text_within(100));
        assert!(table.fits(44) && !table.fits(20));
        let shown = table.text_within(20);
        assert!(shown.contains("\n\nbuffer"), "{shown}");
        assert_eq!(table.without("buffer").columns().len(), 2);
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(shortened("body/layer", 10), "body/layer");
        assert_eq!(shortened("body/layer7", 8), "body…er7");
        assert_eq!(wrapped("one two  three", 8), ["one two ", "three"]);
    }

    #[test]
    fn only_named_columns_that_are_empty_are_removed() {
        let mut table = Table::new(["a", "b", "c"].map(|name| (name, Align::Left)));
        table.row(["1".to_owned()]);
        table.row(["2".to_owned()]);
        assert_eq!(table.without_empty(&["a", "c"]).text(), "a  b\n-  -\n1\n2\n");
    }
}
