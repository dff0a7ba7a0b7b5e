//! Tables as plain text and as Markdown.

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
        let width = |text: &str| text.chars().count();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = self.rows.iter().map(|row| width(&row[at]));
                cells.chain([width(&self.columns[at].0)]).max().unwrap_or(0)
            })
            .collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let padded = cells.zip(&self.columns).zip(&widths).map(|((cell, (_, align)), &wide)| {
                let blanks = " ".repeat(wide - width(cell));
                match align {
                    Align::Left => format!("{cell}{blanks}"),
                    Align::Right => format!("{blanks}{cell}"),
                }
            });
            format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
        };
        let mut text = line(&mut self.columns.iter().map(|(name, _)| name.as_str()));
        let rule: Vec<String> = widths.iter().map(|&wide| "-".repeat(wide)).collect();
        text.push_str(&line(&mut rule.iter().map(String::as_str)));
        for row in &self.rows {
            text.push_str(&line(&mut row.iter().map(String::as_str)));
        }
        text
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
    fn only_named_columns_that_are_empty_are_removed() {
        let mut table = Table::new(["a", "b", "c"].map(|name| (name, Align::Left)));
        table.row(["1".to_owned()]);
        table.row(["2".to_owned()]);
        assert_eq!(table.without_empty(&["a", "c"]).text(), "a  b\n-  -\n1\n2\n");
    }
}
