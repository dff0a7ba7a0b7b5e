//! The little Markdown that records are written in: headings, lists, tables, blocks of code, paragraphs, bold words.

use super::table::sortable;
use crate::report::svg::escape;
use std::fmt::Write as _;

/// HTML of a text; everything that is not understood stands as it is, escaped. Headings begin at the fourth level. Tables
/// are called `name`, and cells of more than `long` letters are folded.
pub fn html(text: &str, name: &str, long: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < lines.len() {
        let kind = kind(lines[at]);
        let end = match kind {
            // An indented block may hold empty lines.
            Kind::Code => at + lines[at..].iter().take_while(|line| self::kind(line) == Kind::Code).count(),
            Kind::Heading | Kind::Blank => at + 1,
            Kind::Fence => {
                let inner = lines[at + 1..].iter().take_while(|line| self::kind(line) != Kind::Fence);
                (at + 2 + inner.count()).min(lines.len())
            }
            // What follows an item, or a paragraph, without a mark of its own, belongs to it.
            Kind::Item => at + same(&lines[at..], &[Kind::Item, Kind::Text, Kind::Code]),
            Kind::Row => at + same(&lines[at..], &[Kind::Row]),
            Kind::Text => at + same(&lines[at..], &[Kind::Text]),
        };
        let block = &lines[at..end];
        match kind {
            Kind::Blank => {}
            Kind::Heading => {
                let level = block[0].chars().take_while(|&c| c == '#').count();
                let level = (level + 3).clamp(4, 6);
                let title = inline(block[0].trim_start_matches('#').trim());
                let _ = writeln!(out, "<h{level}>{title}</h{level}>");
            }
            Kind::Code => {
                let code: Vec<String> =
                    block.iter().map(|line| escape(line.get(4..).unwrap_or(""))).collect();
                let _ = writeln!(out, "<pre>{}</pre>", code.join("\n"));
            }
            Kind::Fence => {
                let inner = block.iter().filter(|line| self::kind(line) != Kind::Fence);
                let code: Vec<String> = inner.map(|line| escape(line)).collect();
                let _ = writeln!(out, "<pre>{}</pre>", code.join("\n"));
            }
            Kind::Item => out.push_str(&items(block)),
            Kind::Row => out.push_str(&rows(block, name, long)),
            Kind::Text => {
                let _ = writeln!(out, "<p>{}</p>", inline(&block.join(" ")));
            }
        }
        at = end;
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Heading,
    Code,
    Fence,
    Item,
    Row,
    Text,
}

fn kind(line: &str) -> Kind {
    match line {
        _ if line.trim().is_empty() => Kind::Blank,
        _ if line.starts_with('#') => Kind::Heading,
        _ if line.starts_with("    ") => Kind::Code,
        _ if line.starts_with("```") => Kind::Fence,
        _ if line.starts_with("- ") => Kind::Item,
        _ if line.starts_with('|') => Kind::Row,
        _ => Kind::Text,
    }
}

fn same(lines: &[&str], kinds: &[Kind]) -> usize {
    lines.iter().take_while(|line| kinds.contains(&kind(line))).count()
}

fn items(lines: &[&str]) -> String {
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        match (line.strip_prefix("- "), items.last_mut()) {
            (None, Some(item)) => {
                item.push(' ');
                item.push_str(line.trim());
            }
            (text, _) => items.push(text.unwrap_or(line).to_owned()),
        }
    }
    let items = items.iter().map(|item| format!("<li>{}</li>", inline(item))).collect::<Vec<_>>();
    format!("<ul>{}</ul>\n", items.concat())
}

/// A table; without a line below its head it is one without a head.
fn rows(lines: &[&str], name: &str, long: usize) -> String {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|');
        let inner = inner.strip_suffix('|').unwrap_or(inner).replace("\\|", "\u{0}");
        inner.split('|').map(|cell| plain(cell.trim()).replace('\u{0}', "|")).collect()
    };
    let is_rule = |line: &&str| line.chars().all(|c| "|-: ".contains(c));
    let head = cells(lines[0]);
    let marks: Vec<bool> = lines
        .get(1)
        .filter(|line| is_rule(line))
        .map_or_else(Vec::new, |line| cells(line).iter().map(|cell| cell.ends_with(':')).collect());
    let columns: Vec<(&str, bool)> = head
        .iter()
        .enumerate()
        .map(|(at, column)| (column.as_str(), marks.get(at).copied().unwrap_or(false)))
        .collect();
    let body: Vec<Vec<String>> =
        lines.iter().skip(1).filter(|line| !is_rule(line)).map(|line| cells(line)).collect();
    sortable(name, &columns, long, body.iter().map(Vec::as_slice))
}

/// A text without the marks of code and bold.
fn plain(text: &str) -> String {
    text.replace('`', "").replace("**", "")
}

/// A line of text: escaped, with code between backticks, bold between pairs of stars.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (nth, part) in text.split('`').enumerate() {
        if nth % 2 == 1 {
            let _ = write!(out, "<code>{}</code>", escape(part));
            continue;
        }
        let stars: Vec<&str> = part.split("**").collect();
        // Stars without a partner stand as they are.
        let is_paired = stars.len() % 2 == 1;
        for (nth, part) in stars.into_iter().enumerate() {
            match (is_paired, nth) {
                (true, nth) if nth % 2 == 1 => {
                    let _ = write!(out, "<strong>{}</strong>", escape(part));
                }
                (false, 1..) => {
                    let _ = write!(out, "**{}", escape(part));
                }
                _ => out.push_str(&escape(part)),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_readable() {
        let text = "# A <b>\n\nMade by\n\n    plimsoll bench 'a & b'\n\n- one `x<y`\n  and more\n- two\n\n| a | b |\n|---|--:|\n| p\\|q | 3 |\n\n```\n<x>\n\ny\n```\n**so** 2\n";
        let found = html(text, "t", 60);
        for part in [
            "<h4>A &lt;b&gt;</h4>",
            "<p>Made by</p>",
            "<pre>plimsoll bench 'a &amp; b'</pre>",
            "<ul><li>one <code>x&lt;y</code> and more</li><li>two</li></ul>",
            "<th scope=\"col\" class=\"n\">b",
            "<tr><td>p|q<td class=\"n\">3",
            "<pre>&lt;x&gt;\n\ny</pre>",
            "<p><strong>so</strong> 2</p>",
        ] {
            assert!(found.replace("&#39;", "'").contains(part), "{part}: {found}");
        }
    }
}
