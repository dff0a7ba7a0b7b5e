//! Comparisons of schemes for graphs with branches and loops, as text, as a table and as CSV.

use super::table::{Align, Table};
use super::{gap_percent, human, percent};
use plimsoll::branches::{Scheme, SchemeComparison};
use plimsoll_model::Claim;
use std::fmt::Write as _;
use std::io;

/// Returns the comparison as text. It consists of a table of planners that is at most `width` columns wide,
/// the chain of ascending arena sizes, and the bytes that each technique saves.
pub fn text(comparison: &SchemeComparison, width: usize) -> String {
    let SchemeComparison { graph, regions, buffers, load, .. } = comparison;
    let mut text = format!(
        "{graph}: {}, {}, peak live bytes {}\n\n",
        human::count(*regions, "region"),
        human::count(*buffers, "buffer"),
        human::sized(*load, "")
    );
    text.push_str(&table(comparison).text_within(width));
    for planner in &comparison.missing {
        let _ = writeln!(text, "{planner}");
    }
    let chain: Vec<String> =
        comparison.chain().iter().map(|(name, bytes)| format!("{name} {bytes}")).collect();
    let _ = writeln!(text, "\nchain   {}", chain.join(" <= "));
    let naive = comparison.best(Scheme::Naive).map_or(0, |line| line.arena);
    for (name, bytes) in comparison.shares() {
        let share = 100.0 * bytes as f64 / naive.max(1) as f64;
        let _ = writeln!(text, "saves   {bytes:>12} bytes, {share:6.2} % of naive: {name}");
    }
    text
}

/// Returns a table with one row per planner.
pub fn table(comparison: &SchemeComparison) -> Table {
    let mut table = Table::new([
        ("branches", Align::Left),
        ("algorithm", Align::Left),
        ("arena", Align::Right),
        ("above bound", Align::Right),
        ("lower bound", Align::Right),
        ("claim", Align::Left),
        ("runs", Align::Right),
        ("time", Align::Right),
    ]);
    let least = comparison.bound(Scheme::Exclusive);
    for line in &comparison.lines {
        let over = gap_percent(line.arena, least);
        let over = over.map_or_else(|| "-".to_owned(), |gap| format!("{} %", percent(gap)));
        table.row([
            line.scheme.to_owned(),
            line.algorithm.to_owned(),
            line.arena.to_string(),
            over,
            line.lower_bound.to_string(),
            line.arithmetic.mark(Claim::of_solution(line.optimal)),
            format!("{}{}", line.runs, if line.all_runs { "" } else { "+" }),
            human::seconds(line.seconds),
        ]);
    }
    table
}

/// Writes the comparisons as CSV, one row per planner.
///
/// # Errors
/// Returns the errors from `file`.
pub fn write_lines(comparisons: &[SchemeComparison], file: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record([
        "graph",
        "regions",
        "buffers",
        "load",
        "branches",
        "algorithm",
        "arena",
        "lower_bound",
        "witness",
        "optimal",
        "runs",
        "all_runs",
        "seconds",
        "arithmetic",
    ])?;
    for one in comparisons {
        let head =
            [one.graph.clone(), one.regions.to_string(), one.buffers.to_string(), one.load.to_string()];
        for line in &one.lines {
            let (arena, bound, runs) =
                (line.arena.to_string(), line.lower_bound.to_string(), line.runs.to_string());
            let [optimal, all_runs] = [line.optimal, line.all_runs].map(|flag| flag.to_string());
            let seconds = format!("{:.6}", line.seconds);
            let own: [&str; 10] = [
                line.scheme,
                line.algorithm,
                &arena,
                &bound,
                &line.witness,
                &optimal,
                &runs,
                &all_runs,
                &seconds,
                line.arithmetic.as_str(),
            ];
            writer.write_record(head.iter().map(String::as_str).chain(own))?;
        }
    }
    writer.flush()
}
