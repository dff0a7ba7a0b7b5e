//! `plan --conflicts compare`: compares all conflict relations.

use super::args::PlanArgs;
use crate::commands::choose::named;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::Registry;
use plimsoll::datasets::Import;
use plimsoll::graphs::GraphRun;
use plimsoll::structure::{ComparedAlgorithms, RelationRow, compare};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{Basis, human};
use std::fmt::Write as _;

pub fn relations(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    registry: &Registry,
) -> Result<u8, Failure> {
    let algorithms = ComparedAlgorithms {
        patent: named(&registry.offsets, "patent-descending", "solver")?,
        patent_split: named(&registry.split_buffers, "patent-scattered", "solver")?,
        exact: named(&registry.offsets, &args.solver, "algorithm")?,
        split: named(&registry.split_buffers, "exact", "solver")?,
    };
    let rows = compare(&import.graph, run, algorithms)?;
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| output::csv(file, &rows)));
    }
    if args.json {
        output::print_json(&rows)?;
    } else {
        output::print(&output::filled(&text(import, &rows, algorithms.exact.name)))?;
    }
    Ok(ANSWERED)
}

fn text(import: &Import, rows: &[RelationRow], exact: &str) -> String {
    let mut text = Basis::of(import).text();
    let Some(first) = rows.first() else { return text };
    let _ = writeln!(
        text,
        "{}: {}, {}; sizes in bytes; peak live bytes of the order: {}\n",
        first.graph,
        human::count(first.operators, "operator"),
        human::count(first.buffers, "buffer"),
        human::sized(first.load, "")
    );
    let mut table = Table::new([
        ("conflicts", Align::Left),
        ("pairs", Align::Right),
        ("clique", Align::Right),
        ("patent", Align::Right),
        ("patent split", Align::Right),
        (exact, Align::Right),
        ("claim", Align::Left),
        ("gap %", Align::Right),
        ("split", Align::Right),
        ("claim", Align::Left),
        ("ratio", Align::Right),
        ("collisions", Align::Right),
        ("concurrent", Align::Right),
    ]);
    for row in rows {
        let gap = plimsoll_lab::report::gap_percent(row.exact, row.exact_bound);
        let gap = gap.map_or_else(|| "-".to_owned(), plimsoll_lab::report::percent);
        let number = |value: u64| value.to_string();
        table.row([
            row.conflicts.clone(),
            number(row.pairs),
            number(row.clique),
            number(row.patent),
            number(row.patent_split),
            number(row.exact),
            row.arithmetic.mark(row.exact_claim),
            gap,
            number(row.split),
            row.split_claim.to_string(),
            format!("{:.3}", row.ratio),
            row.collide_in_order.to_string(),
            row.collide.to_string(),
        ]);
    }
    text.push_str(&table.text_within(output::width()));
    for row in rows.iter().filter(|row| row.overlooked > 0) {
        let _ = writeln!(
            text,
            "\n{} misses {} of buffers that are simultaneously live in the order",
            row.conflicts,
            human::count(row.overlooked, "pair")
        );
        if let (Some(witness), true) = (&row.witness, row.collide_in_order > 0) {
            let _ = writeln!(text, "  {witness}");
        }
    }
    text
}
