//! One page with everything in it: no other file, no network, nothing that is not on record.
//!
//! The page works without its script; that only sorts and filters tables. It allows itself no connection at all (content
//! security policy). Everything that comes from rows, READMEs and file names is escaped; pictures pass [`picture::fit`].

pub mod markdown;
pub mod picture;
pub mod table;

use crate::analysis::{Group, Options, Standing, Study};
use crate::report::plots::Plot;
use crate::report::scene::{escape, thousands};
use crate::report::{layouts, overview};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Bytes of pictures on a page, in equal parts for records that have any, and of a single one.
const PICTURES: usize = 7 << 20;
const PICTURE: usize = 400 << 10;
/// Tables of at most this many rows are open from the start.
const SHORT: usize = 30;

/// What goes onto the page.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Its title.
    pub title: &'a str,
    /// The records.
    pub studies: &'a [Study],
    /// Their charts.
    pub plots: &'a [Plot],
    /// How things were counted.
    pub options: Options,
}

/// The page, HTML.
pub fn page(page: &Page<'_>) -> String {
    let title = escape(page.title);
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"plimsoll report\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<h1>{title}</h1>\n{}</header>\n",
        counted(page.studies)
    );
    text.push_str(&contents(page.studies));
    text.push_str("<main id=\"main\">\n");
    text.push_str(&overview_section(page));
    let has_pictures = |study: &&Study| {
        let record = &study.record;
        !record.pictures.is_empty() || record.observations.iter().any(|row| !row.layout.is_empty())
    };
    let with_pictures = page.studies.iter().filter(has_pictures).count();
    let budget = PICTURES / with_pictures.max(1);
    for at in 0..page.studies.len() {
        text.push_str(&record(page, at, budget));
    }
    let _ = write!(text, "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    text
}

fn counted(studies: &[Study]) -> String {
    let runs: usize = studies.iter().map(|study| study.record.observations.len()).sum();
    let troubles: usize = studies.iter().map(|study| study.troubles().count()).sum();
    format!(
        "<p class=\"soft\">{} on record, {} runs, of which {troubles} are without an answer. Made by plimsoll {}.</p>\n",
        match studies.len() {
            1 => "1 folder or file".to_owned(),
            count => format!("{count} folders or files"),
        },
        thousands(runs as u64),
        env!("CARGO_PKG_VERSION")
    )
}

fn contents(studies: &[Study]) -> String {
    let mut text = "<nav aria-label=\"Contents\">\n<details open><summary>Contents</summary>\n<ul>\n\
                    <li><a href=\"#overview\">Overview</a>\n"
        .to_owned();
    for (at, study) in studies.iter().enumerate() {
        let _ = write!(text, "<li><a href=\"#r{}\">{}</a>", at + 1, escape(&study.record.name));
        if study.groups.len() > 1 {
            text.push_str("<ul>");
            for (nth, group) in study.groups.iter().enumerate() {
                let question = escape(&group.question.to_string());
                let _ = write!(text, "<li><a href=\"#r{}g{}\">{question}</a>", at + 1, nth + 1);
            }
            text.push_str("</ul>");
        }
        text.push('\n');
    }
    text.push_str("</ul></details>\n</nav>\n");
    text
}

fn overview_section(page: &Page<'_>) -> String {
    let mut text = format!(
        "<section id=\"overview\">\n<h2>Overview</h2>\n{}<details class=\"part\"><summary>How things are counted</summary>\n<ul>\n",
        table::table(&overview::records(page.studies), "records")
    );
    for line in overview::definitions(page.options) {
        let _ = writeln!(text, "<li>{}</li>", escape(&line));
    }
    text.push_str("</ul></details>\n</section>\n");
    text
}

/// Something folded, open where it is short.
fn part(title: &str, open: bool, inner: &str) -> String {
    let open = if open { " open" } else { "" };
    format!("<details class=\"part\"{open}><summary>{}</summary>\n{inner}</details>\n", escape(title))
}

fn rows(count: usize) -> String {
    format!("{} row{}", thousands(count as u64), if count == 1 { "" } else { "s" })
}

fn record(page: &Page<'_>, at: usize, budget: usize) -> String {
    let study = &page.studies[at];
    let record = &study.record;
    let name = escape(&record.name);
    let mut text = format!("<section class=\"record\" id=\"r{}\">\n<h2>{name}</h2>\n", at + 1);
    for note in &record.notes {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", escape(note));
    }
    if let Some(readme) = &record.readme {
        let _ = writeln!(
            text,
            "<div class=\"facts\">\n{}</div>",
            markdown::html(readme, "facts of the record", usize::MAX)
        );
    }
    if let Some(summary) = &record.summary {
        let lines = summary.lines().count();
        text.push_str(&part(
            "Summary",
            lines <= 80,
            &markdown::html(summary, "summary of the record", table::LONG),
        ));
    }
    for (nth, (group, standings)) in study.groups.iter().zip(&study.standings).enumerate() {
        let own = page.plots.iter().filter(|plot| plot.study == at && plot.group == nth);
        let id = format!("r{}g{}", at + 1, nth + 1);
        text.push_str(&of_group(&id, group, standings, own, page.options));
    }
    let troubles = overview::troubles(study.troubles());
    if !troubles.is_empty() {
        let count = troubles.rows().len();
        let inner = table::table(&troubles, "runs without an answer");
        text.push_str(&part(&format!("Runs without an answer: {count}"), count <= SHORT, &inner));
    }
    for sheet in &record.sheets {
        let title = format!("{}: {}", sheet.name(), rows(sheet.lines.len()));
        text.push_str(&part(&title, sheet.lines.len() <= SHORT, &table::sheet(sheet, &sheet.name())));
    }
    let drawn = gathered(study);
    text.push_str(&pictures(&drawn, budget));
    if drawn.is_empty() && !study.groups.is_empty() {
        text.push_str("<p class=\"soft\">There are no maps on this record: no layouts were kept.</p>\n");
    }
    text.push_str("</section>\n");
    text
}

fn of_group<'a>(
    id: &str,
    group: &Group,
    standings: &[Standing],
    plots: impl Iterator<Item = &'a Plot>,
    options: Options,
) -> String {
    let mut text = format!("<section id=\"{id}\">\n<h3>{}</h3>\n", escape(&group.question.to_string()));
    for note in &group.notes {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", escape(note));
    }
    let values = table::table(&overview::values(group, standings), "values");
    let _ = write!(text, "<h4>Values</h4>\n{values}");
    if let Some(times) = overview::times(group, standings, options.shift) {
        let _ = write!(text, "<h4>Times</h4>\n{}", table::table(&times, "times"));
    }
    let figures: String = plots.map(|plot| figure(&plot.svg, &plot.title, &plot.title)).collect();
    if !figures.is_empty() {
        let _ = writeln!(text, "<div class=\"figures\">\n{figures}</div>");
    }
    let tables = [
        ("Gaps by instance", Some(overview::gaps_by_instance(group))),
        ("Times spent by instance", overview::spent_by_instance(group)),
        ("Times to solve by instance", overview::times_by_instance(group)),
    ];
    for (title, table) in tables.into_iter().filter_map(|(title, table)| Some((title, table?))) {
        let inner = table::table(&table, &title.to_lowercase());
        text.push_str(&part(&format!("{title}: {}", rows(group.instances.len())), false, &inner));
    }
    text.push_str("</section>\n");
    text
}

/// A picture with its name below; a sentence where it cannot be shown.
fn figure(svg: &str, label: &str, caption: &str) -> String {
    match picture::fit(svg, label) {
        Ok(svg) => {
            format!(
                "<figure><div class=\"scroll\">{svg}</div><figcaption>{}</figcaption></figure>\n",
                escape(caption)
            )
        }
        Err(why) => not_shown(caption, &why),
    }
}

/// A picture by its name: SVG, or why there is none.
type Picture = (String, Result<String, String>);

/// The pictures of a record: files that lie there, and maps of layouts.
fn gathered(study: &Study) -> Vec<Picture> {
    let named = |path: &std::path::PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let svg = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (name, svg.map_err(|error| format!("nothing that can be read: {error}")))
    };
    study.record.pictures.iter().map(named).chain(layouts::maps(study)).collect()
}

/// The pictures of a record, the smallest first as far as the room goes, each folded; and what was left out.
fn pictures(all: &[Picture], budget: usize) -> String {
    if all.is_empty() {
        return String::new();
    }
    let size = |at: usize| all[at].1.as_ref().map_or(0, String::len);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| size(at));
    let mut room = budget;
    let mut kept = vec![false; all.len()];
    for at in order {
        if size(at) <= PICTURE.min(room) {
            room -= size(at);
            kept[at] = true;
        }
    }
    let (mut shown, mut inner, mut left) = (0, String::new(), Vec::new());
    for ((name, svg), kept) in all.iter().zip(kept) {
        if !kept {
            left.push(name.as_str());
            continue;
        }
        let drawn = match svg {
            Ok(svg) => figure(svg, name, name),
            Err(why) => not_shown(name, why),
        };
        shown += usize::from(drawn.starts_with("<figure"));
        inner.push_str(&part(name, false, &drawn));
    }
    if !left.is_empty() {
        let _ = writeln!(
            inner,
            "<p class=\"soft\">Left out for their size, to be found in the folder of the record: {}.</p>",
            escape(&left.join(", "))
        );
    }
    part(&format!("Maps and pictures: {shown} of {}", all.len()), false, &inner)
}

fn not_shown(name: &str, why: &str) -> String {
    format!("<p class=\"note\">{} is not shown: it holds {}</p>\n", escape(name), escape(why))
}
