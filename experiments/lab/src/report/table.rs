//! Tables as plain text, as Markdown and as LaTeX.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Minimum width of a column of names, in characters.
const NARROWEST: usize = 10;
/// Minimum width of a column of sentences, in characters.
const NARROWEST_SENTENCE: usize = 24;

/// Breaks text at spaces into lines of at most `width` columns. Longer words get a line of their own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    // A number and its percent sign stay on one line.
    let text = text.replace(" %", "\u{a0}%");
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
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// Shortens text to at most `width` columns by cutting characters from its middle.
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

/// Breaks a cell into lines of at most `width` columns. Longer words are cut in the middle.
fn fit(cell: &str, width: usize) -> Vec<String> {
    if columns_of(cell) <= width {
        return vec![cell.to_owned()];
    }
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

/// A column of a table with one row per `T`: its name, its alignment, and the function that formats its cell
/// for a row.
pub type Column<'a, T> = (&'a str, Align, &'a dyn Fn(&T) -> String);

/// A table with a header. Rows may be grouped under headings.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
    /// The indices of the rows that are headings.
    headings: BTreeSet<usize>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.to_owned(), align)).collect();
        Self { columns, rows: Vec::new(), headings: BTreeSet::new() }
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

    /// Adds a heading for the rows that follow. It spans all columns.
    pub fn heading(&mut self, text: String) {
        self.headings.insert(self.rows.len());
        self.row([text]);
    }

    /// Adds the rows of a table with the same columns.
    pub fn extend(&mut self, other: Self) {
        let before = self.rows.len();
        self.headings.extend(other.headings.iter().map(|at| at + before));
        self.rows.extend(other.rows);
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

    /// Returns the table as text: a header, a rule, and the rows. Columns are separated by two spaces.
    pub fn text(&self) -> String {
        self.text_within(usize::MAX)
    }

    /// Returns true if [`text_within`](Self::text_within) can print the table within this width without
    /// splitting it.
    pub fn fits(&self, width: usize) -> bool {
        let widths = self.widths(width);
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1) <= width
    }

    /// Removes the named column, which must not be the first.
    #[must_use]
    pub fn without(self, name: &str) -> Self {
        let kept: Vec<usize> = (0..self.columns.len()).filter(|&at| self.columns[at].0 != name).collect();
        let cells = |row: &Vec<String>| kept.iter().map(|&at| row[at].clone()).collect();
        Self {
            columns: kept.iter().map(|&at| self.columns[at].clone()).collect(),
            rows: self.rows.iter().map(cells).collect(),
            headings: self.headings,
        }
    }

    /// Returns the table as text with lines of at most `width` characters, if possible. Column names and
    /// cells wrap, and words that are longer than their column are cut in the middle, as are headings. A
    /// table that is still too wide is split into several, each of which repeats the leading columns of
    /// text.
    pub fn text_within(&self, width: usize) -> String {
        let widths = self.widths(width);
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let line = |part: &[usize]| part.iter().map(|&at| widths[at] + 2).sum::<usize>().saturating_sub(2);
        let texts = all.iter().take_while(|&&at| self.columns[at].1 == Align::Left).count();
        let keys = if texts == all.len() { texts.min(1) } else { texts };
        let mut parts: Vec<Vec<usize>> = vec![all[..keys].to_vec()];
        for &at in &all[keys..] {
            let part = &parts[parts.len() - 1];
            if part.len() > keys && line(&[part, &[at][..]].concat()) > width {
                parts.push(all[..keys].to_vec());
            }
            let last = parts.len() - 1;
            parts[last].push(at);
        }
        parts.iter().map(|part| self.part(part, &widths, width)).collect::<Vec<_>>().join("\n")
    }

    /// Returns a table of the given columns as text.
    fn part(&self, columns: &[usize], widths: &[usize], width: usize) -> String {
        let mut text = String::new();
        let line = |text: &mut String, lines: &dyn Fn(usize) -> Vec<String>| {
            self.print(text, columns, widths, &columns.iter().map(|&at| lines(at)).collect::<Vec<_>>());
        };
        line(&mut text, &|at| wrapped(&self.columns[at].0, widths[at]));
        line(&mut text, &|at| vec!["-".repeat(widths[at])]);
        for (nth, row) in self.rows.iter().enumerate() {
            if self.headings.contains(&nth) {
                let _ = writeln!(text, "{}", shortened(&row[0], width));
            } else {
                line(&mut text, &|at| fit(&row[at], widths[at]));
            }
        }
        text
    }

    /// Adds the lines of one row to `text`.
    fn print(&self, text: &mut String, columns: &[usize], widths: &[usize], cells: &[Vec<String>]) {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let padded = cells.iter().zip(columns).map(|(lines, &column)| {
                let line = lines.get(at).map_or("", String::as_str);
                let blanks = " ".repeat(widths[column].saturating_sub(columns_of(line)));
                match self.columns[column].1 {
                    Align::Left => format!("{line}{blanks}"),
                    Align::Right => format!("{blanks}{line}"),
                }
            });
            let _ = writeln!(text, "{}", padded.collect::<Vec<_>>().join("  ").trim_end());
        }
    }

    /// Returns the widths of the columns for a table of this width. If the table is too wide, column names
    /// wrap first, and then the widest columns of text shrink.
    fn widths(&self, width: usize) -> Vec<usize> {
        let rows = || self.rows.iter().enumerate().filter(|(nth, _)| !self.headings.contains(nth));
        let cells = |at: usize| rows().map(move |(_, row)| columns_of(&row[at])).max().unwrap_or(0);
        let heading = |at: usize| columns_of(&self.columns[at].0);
        let words = |at: usize| wrapped(&self.columns[at].0, 0);
        let word = |at: usize| words(at).iter().map(|word| columns_of(word)).max().unwrap_or(0);
        let count = self.columns.len();
        let mut widths: Vec<usize> = (0..count).map(|at| cells(at).max(heading(at))).collect();
        let space = width.saturating_sub(2 * count.saturating_sub(1));
        let excess = |widths: &[usize]| widths.iter().sum::<usize>().saturating_sub(space);
        while excess(&widths) > 0 {
            let lowest = |at: usize| word(at).max(cells(at));
            let Some(at) = (0..count).filter(|&at| widths[at] > lowest(at)).max_by_key(|&at| widths[at])
            else {
                break;
            };
            widths[at] -= 1;
        }
        let is_sentence = |at: usize| rows().any(|(_, row)| row[at].split(' ').count() > 3);
        let least = |at: usize| if is_sentence(at) { NARROWEST_SENTENCE } else { NARROWEST };
        while excess(&widths) > 0 {
            let shrinks =
                |&at: &usize| self.columns[at].1 == Align::Left && widths[at] > least(at).max(word(at));
            let Some(at) = (0..count).filter(shrinks).max_by_key(|&at| widths[at]) else {
                break;
            };
            widths[at] -= 1;
        }
        // Right-aligned columns whose cells have several words shrink last.
        let longest = |at: usize| {
            let words = rows().flat_map(|(_, row)| row[at].split(' ')).map(columns_of);
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

    /// Returns the table in LaTeX, with the rules of the package `booktabs`.
    pub fn latex(&self) -> String {
        let align = |align: &Align| if *align == Align::Left { 'l' } else { 'r' };
        let line = |cells: Vec<String>| format!("  {} \\\\\n", cells.join(" & "));
        let aligned: String = self.columns.iter().map(|(_, one)| align(one)).collect();
        let mut text = format!("\\begin{{tabular}}{{{aligned}}}\n  \\toprule\n");
        text.push_str(&line(self.columns.iter().map(|(name, _)| latex(name)).collect()));
        text.push_str("  \\midrule\n");
        for (nth, row) in self.rows.iter().enumerate() {
            if self.headings.contains(&nth) {
                let rule = if nth == 0 { "" } else { "  \\addlinespace\n" };
                let span = format!("\\multicolumn{{{}}}{{l}}{{{}}}", self.columns.len(), latex(&row[0]));
                text.push_str(&(rule.to_owned() + &line(vec![span])));
            } else {
                text.push_str(&line(row.iter().map(|cell| latex(cell.trim_start())).collect()));
            }
        }
        text + "  \\bottomrule\n\\end{tabular}\n"
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

/// Escapes text for LaTeX.
pub fn latex(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            'µ' => escaped.push_str("\\textmu{}"),
            '\u{2026}' => escaped.push_str("\\dots{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', letter]),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
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
        assert!(table.fits(44) && !table.fits(36));
        let shown = table.text_within(36);
        assert!(shown.lines().all(|line| line.chars().count() <= 36), "{shown}");
        assert!(shown.contains("\n\nbuffer"), "{shown}");
        assert_eq!(table.clone().without("buffer").columns().len(), 2);
        assert_eq!(table.text(), table.text_within(100));
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(shortened("body/layer", 10), "body/layer");
        assert_eq!(shortened("body/layer7", 8), "body…er7");
        assert_eq!(wrapped("one two  three", 8), ["one two ", "three"]);
        assert_eq!(wrapped("a gap of 12.50 % and", 12), ["a gap of", "12.50 % and"]);
    }

    #[test]
    fn only_named_columns_that_are_empty_are_removed() {
        let mut table = Table::new(["a", "b", "c"].map(|name| (name, Align::Left)));
        table.row(["1".to_owned()]);
        table.row(["2".to_owned()]);
        assert_eq!(table.without_empty(&["a", "c"]).text(), "a  b\n-  -\n1\n2\n");
    }

    #[test]
    fn wide_tables_are_split_below_their_headings() {
        let mut table =
            Table::new([("name", Align::Left), ("first", Align::Right), ("second", Align::Right)]);
        table.heading("a heading that is longer than the lines".to_owned());
        table.row(["a-name-of-thirty-letters-or-so".to_owned(), "1".to_owned(), "2".to_owned()]);
        assert_eq!(table.text_within(80).lines().nth(2), Some("a heading that is longer than the lines"));
        let split = table.text_within(22);
        assert!(split.lines().all(|line| line.chars().count() <= 22), "{split}");
        assert_eq!((split.matches("name").count(), split.matches("a heading").count()), (2, 2), "{split}");
    }

    #[test]
    fn latex_is_escaped() {
        let mut table = Table::new([("gap %", Align::Right), ("name", Align::Left)]);
        table.heading("a_b & {c}".to_owned());
        table.row([">1".to_owned(), "\\x~^ #$ 3 µs".to_owned()]);
        assert_eq!(
            table.latex(),
            "\\begin{tabular}{rl}\n  \\toprule\n  gap \\% & name \\\\\n  \\midrule\n  \
             \\multicolumn{2}{l}{a\\_b \\& \\{c\\}} \\\\\n  \
             \\textgreater{}1 & \\textbackslash{}x\\textasciitilde{}\\textasciicircum{} \\#\\$ 3 \\textmu{}s \\\\\n  \
             \\bottomrule\n\\end{tabular}\n"
        );
    }
}
