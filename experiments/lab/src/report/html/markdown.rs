//! Converts the Markdown of records to HTML. Headings get lower levels than the headings of the page, and
//! tables are sortable. The HTML contains no scripts and no external resources.

use super::table::sortable;
use pulldown_cmark::{Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};

/// Converts Markdown to HTML. Headings start at level four. Tables are labelled `name`, and cells of more
/// than `long` characters are folded. HTML in the text is escaped. Links and pictures are reduced to their
/// text.
pub fn html(text: &str, name: &str, long: usize) -> String {
    let mut out = String::new();
    let mut pending = Vec::new();
    let mut table: Option<Rows> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match (event, &mut table) {
            (Event::Start(Tag::Table(alignments)), None) => {
                push_html(&mut out, pending.drain(..));
                table = Some(Rows { alignments, rows: Vec::new() });
            }
            (Event::End(TagEnd::Table), Some(rows)) => {
                out.push_str(&rows.html(name, long));
                table = None;
            }
            (event, Some(rows)) => rows.take(&event),
            (Event::Html(text) | Event::InlineHtml(text), None) => pending.push(Event::Text(text)),
            (
                Event::Start(Tag::Link { .. } | Tag::Image { .. }) | Event::End(TagEnd::Link | TagEnd::Image),
                None,
            ) => {}
            (Event::Start(Tag::Heading { level, classes, attrs, .. }), None) => {
                let level = below(level);
                pending.push(Event::Start(Tag::Heading { level, id: None, classes, attrs }));
            }
            (Event::End(TagEnd::Heading(level)), None) => {
                pending.push(Event::End(TagEnd::Heading(below(level))));
            }
            (event, None) => pending.push(event),
        }
    }
    push_html(&mut out, pending.drain(..));
    out
}

/// Returns the heading level three levels further down, but at most level six.
fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// The cells of a table as plain text, header first.
struct Rows {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    fn take(&mut self, event: &Event<'_>) {
        let row = self.rows.last_mut();
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => self.rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => row.into_iter().for_each(|row| row.push(String::new())),
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                row.and_then(|row| row.last_mut()).into_iter().for_each(|cell| cell.push_str(text));
            }
            _ => {}
        }
    }

    fn html(&self, name: &str, long: usize) -> String {
        let Some((head, body)) = self.rows.split_first() else { return String::new() };
        let numbers = self.alignments.iter().map(|&one| one == Alignment::Right);
        let columns: Vec<(&str, bool)> = head.iter().map(String::as_str).zip(numbers).collect();
        sortable(name, &columns, long, body.iter().map(Vec::as_slice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_readable() {
        let text = "# A <b>\n\nMade by\n\n    plimsoll bench 'a & b'\n\n- one `x<y`\n  and more\n- two\n\n| a | b |\n|---|--:|\n| p\\|q | 3 |\n\n```\n<x>\n\ny\n```\n**so** 2\n\n[t](javascript:x) ![p](http://x) <script>\n";
        let found = html(text, "t", 60);
        for part in [
            "<h4>A &lt;b&gt;</h4>",
            "<p>Made by</p>",
            "<pre><code>plimsoll bench 'a &amp; b'\n</code></pre>",
            "<li>one <code>x&lt;y</code>\nand more</li>\n<li>two</li>",
            "<th scope=\"col\" class=\"n\">b",
            "<tr><td>p|q<td class=\"n\">3",
            "<pre><code>&lt;x&gt;\n\ny\n</code></pre>",
            "<p><strong>so</strong> 2</p>",
            "<p>t p &lt;script&gt;</p>",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
        assert!(!found.contains("javascript") && !found.contains("http"), "{found}");
    }
}
