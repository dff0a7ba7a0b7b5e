//! Tables as plain text, as Markdown and as LaTeX.

use std::collections::BTreeSet;

/// Least width to which a column of text is cut.
const LEAST: usize = 16;

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

    /// Adds a heading of the rows that follow. It spans all columns.
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

    /// Returns the table as text: a header, a rule, and the rows. Columns are separated by two blanks.
    pub fn text(&self) -> String {
        self.within(usize::MAX)
    }

    /// Returns the table as text in lines of at most `width` characters. Cells of text are shortened in the
    /// middle. If that is not enough, the table is split into several, each with the leading columns of text.
    pub fn within(&self, width: usize) -> String {
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|at| self.width(at)).collect();
        let line = |columns: &[usize], widths: &[usize]| {
            columns.iter().map(|&at| widths[at] + 2).sum::<usize>().saturating_sub(2)
        };
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let is_text = |at: &usize| self.columns[*at].1 == Align::Left;
        while line(&all, &widths) > width {
            let widest = all.iter().copied().filter(is_text).max_by_key(|&at| widths[at]);
            let Some(widest) = widest.filter(|&at| widths[at] > LEAST) else { break };
            widths[widest] -= 1;
        }
        let keys: Vec<usize> = all.iter().copied().take_while(is_text).collect();
        let mut parts: Vec<Vec<usize>> = vec![keys.clone()];
        for &at in &all[keys.len()..] {
            let part = &parts[parts.len() - 1];
            if part.len() > keys.len() && line(&[part, &[at][..]].concat(), &widths) > width {
                parts.push(keys.clone());
            }
            let last = parts.len() - 1;
            parts[last].push(at);
        }
        parts.iter().map(|part| self.part(part, &widths, width)).collect::<Vec<_>>().join("\n")
    }

    /// Returns the width of a column. Headings do not count.
    fn width(&self, at: usize) -> usize {
        let cells = self.rows.iter().enumerate().filter(|(nth, _)| !self.headings.contains(nth));
        let cells = cells.map(|(_, row)| row[at].chars().count());
        cells.chain([self.columns[at].0.chars().count()]).max().unwrap_or(0)
    }

    /// Returns some of the columns as text.
    fn part(&self, columns: &[usize], widths: &[usize], width: usize) -> String {
        let line = |cell: &dyn Fn(usize) -> String| {
            let padded = columns.iter().map(|&at| {
                let cell = shortened(&cell(at), widths[at]);
                let blanks = " ".repeat(widths[at] - cell.chars().count());
                match self.columns[at].1 {
                    Align::Left => cell + &blanks,
                    Align::Right => blanks + &cell,
                }
            });
            format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
        };
        let mut text = line(&|at| self.columns[at].0.clone()) + &line(&|at| "-".repeat(widths[at]));
        for (nth, row) in self.rows.iter().enumerate() {
            if self.headings.contains(&nth) {
                text.push_str(&shortened(&row[0], width));
                text.push('\n');
            } else {
                text.push_str(&line(&|at| row[at].clone()));
            }
        }
        text
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

/// Returns a text in lines of at most `width` characters, each with a line break. A number stays with its percent
/// sign.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.replace(" %", "\u{a0}%").split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n").replace('\u{a0}', " ") + "\n"
}

/// Shortens a text in the middle, because names often differ only at their ends.
fn shortened(text: &str, most: usize) -> String {
    let letters = text.chars().count();
    if letters <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let head: String = text.chars().take(kept.div_ceil(2)).collect();
    let tail: String = text.chars().skip(letters - kept / 2).collect();
    format!("{head}\u{2026}{tail}")
}

/// Escapes a text for LaTeX.
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
    fn only_named_columns_that_are_empty_are_removed() {
        let mut table = Table::new(["a", "b", "c"].map(|name| (name, Align::Left)));
        table.row(["1".to_owned()]);
        table.row(["2".to_owned()]);
        assert_eq!(table.without_empty(&["a", "c"]).text(), "a  b\n-  -\n1\n2\n");
    }

    #[test]
    fn wide_tables_are_shortened_and_split() {
        let mut table =
            Table::new([("name", Align::Left), ("first", Align::Right), ("second", Align::Right)]);
        table.heading("a heading that is longer than the lines".to_owned());
        table.row(["a-name-of-thirty-letters-or-so".to_owned(), "1".to_owned(), "2".to_owned()]);
        let narrow = table.within(31);
        assert!(narrow.lines().all(|line| line.chars().count() <= 31), "{narrow}");
        assert!(narrow.contains("\na-name-o\u{2026}s-or-so"), "{narrow}");
        let split = table.within(25);
        assert!(split.lines().all(|line| line.chars().count() <= 25), "{split}");
        assert_eq!((split.matches("name").count(), split.matches("a heading").count()), (4, 2), "{split}");
        assert!(table.text().contains("a heading that is longer than the lines\na-name-of-thirty-letters"));
    }

    #[test]
    fn numbers_stay_with_their_percent_sign() {
        assert_eq!(wrapped("a gap of 12.50 % and", 12), "a gap of\n12.50 % and\n");
        assert_eq!(wrapped("a gap of 12.50 % and", 14), "a gap of\n12.50 % and\n");
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
