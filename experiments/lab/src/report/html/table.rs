//! Sortable and filterable HTML tables.

use crate::analysis::Sheet;
use crate::report::scene::escape;
use crate::report::table::{Align, Table};
use std::fmt::Write as _;

/// Maximum length of an unfolded cell, in characters.
pub const LONG: usize = 60;
/// Number of visible characters of a folded cell.
const SEEN: usize = 48;

/// Returns a [`Table`] as HTML.
pub fn table(table: &Table, name: &str) -> String {
    let columns: Vec<(&str, bool)> =
        table.columns().iter().map(|(column, align)| (column.as_str(), *align == Align::Right)).collect();
    sortable(name, &columns, LONG, table.rows().iter().map(Vec::as_slice))
}

/// Returns a CSV file as HTML. Numeric columns are right-aligned.
pub fn sheet(sheet: &Sheet, name: &str) -> String {
    let columns: Vec<(&str, bool)> = sheet
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| (column.as_str(), sheet.is_numeric(at)))
        .collect();
    sortable(name, &columns, LONG, sheet.lines.iter().map(|(_, cells)| cells.as_slice()))
}

/// Returns a table with a header as HTML. Each column has a name and a flag that is true if the column is
/// numeric. Cells of more than `long` characters are folded. The closing tags of cells and rows are omitted:
/// they are optional in HTML and would make up a large part of a long table.
pub fn sortable<'a>(
    name: &str,
    columns: &[(&str, bool)],
    long: usize,
    rows: impl Iterator<Item = &'a [String]>,
) -> String {
    let mut text = format!(
        "<div class=\"wrap\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"sortable\"><thead><tr>",
        escape(name)
    );
    let class = |number: bool| if number { " class=\"n\"" } else { "" };
    for &(column, number) in columns {
        let _ = write!(text, "<th scope=\"col\"{}>{}", class(number), escape(column));
    }
    text.push_str("</thead><tbody>\n");
    for row in rows {
        text.push_str("<tr>");
        for (cell, &(_, number)) in row.iter().zip(columns) {
            let _ = write!(text, "<td{}>", class(number));
            text.push_str(&folded(cell, long));
        }
        text.push('\n');
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// Returns the text of a cell as HTML, folded if it is longer than `long` characters.
fn folded(text: &str, long: usize) -> String {
    if text.chars().count() <= long {
        return escape(text);
    }
    let (seen, rest) = text.split_at(text.char_indices().nth(SEEN).map_or(text.len(), |(at, _)| at));
    format!("<details><summary>{}\u{2026}</summary>\u{2026}{}</details>", escape(seen), escape(rest))
}
