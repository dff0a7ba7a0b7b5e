//! Tables 1 and 2 in the paper's form: printed rows, and stand-ins below each.

use super::Measured;
use super::models::StandIn;
use super::printed::{Printed, STRATEGIES, gain, shown};
use crate::Reproduction;
use plimsoll::branches::{Comparison, Scheme};
use plimsoll_lab::report::table::{Align, Table};

/// The two ways to read "before": what the schemes are called in the tables.
pub(super) const BEFORE: [(Scheme, &str); 2] =
    [(Scheme::Sequential, "branches in turn"), (Scheme::Flat, "branches conflict")];

fn columns(first: &[&'static str], last: &[&'static str]) -> Table {
    let left = |name: &&'static str| (*name, Align::Left);
    let right = |name: &&'static str| (*name, Align::Right);
    let mut columns: Vec<(&str, Align)> = ["model", "planned"].iter().map(left).collect();
    columns.extend(first.iter().map(right));
    columns.extend(STRATEGIES.iter().map(right));
    columns.extend(["exact", "optimum"].iter().map(right));
    columns.extend(last.iter().map(right));
    columns.push(("stands in with a difference", Align::Left));
    Table::new(columns)
}

/// The arena of a strategy under a scheme, bytes.
pub(super) fn arena(one: &Comparison, scheme: Scheme, strategy: &str) -> u64 {
    one.arena(scheme, strategy).unwrap_or(0)
}

/// The best of a scheme: a number where proved, else from where to where it lies.
fn exact(one: &Comparison, scheme: Scheme) -> String {
    let Some(best) = one.best(scheme) else { return "-".to_owned() };
    let bound = one.bound(scheme);
    if best.arena <= bound { best.arena.to_string() } else { format!("{bound} to {}", best.arena) }
}

/// The least of all layouts, as far as it is proved.
fn optimum(one: &Comparison) -> String {
    exact(one, Scheme::Exclusive)
}

/// Table 1: before merging.
pub(super) fn before(
    tables: &[Printed],
    stand_ins: &[StandIn],
    measured: &[Measured],
    found: &mut Reproduction,
) {
    let mut table = columns(&["naive"], &[]);
    for printed in tables {
        let numbers = [printed.naive].into_iter().chain(printed.before).map(|bytes| bytes.to_string());
        let head = [printed.model.to_owned(), "printed".to_owned()];
        table.row(head.into_iter().chain(numbers));
        let mine = stand_ins.iter().zip(measured).filter(|(one, _)| one.paper == printed.model);
        for (stand_in, Measured { comparison, .. }) in mine {
            let straight = comparison.regions == 1;
            for (scheme, reading) in BEFORE.into_iter().take(if straight { 1 } else { 2 }) {
                let name = stand_in.graph.name();
                let planned = if straight { name.to_owned() } else { format!("{name}, {reading}") };
                let mut cells = vec![String::new(), planned];
                let naive = comparison.best(Scheme::Naive).map_or(0, |line| line.arena);
                cells.push(naive.to_string());
                cells.extend(STRATEGIES.map(|strategy| arena(comparison, scheme, strategy).to_string()));
                cells.extend([exact(comparison, scheme), optimum(comparison), stand_in.differs.to_owned()]);
                table.row(cells);
            }
        }
    }
    found.section("Table 1 again: before branches are merged");
    found.table(table);
    found.line("bytes. Exact: the least arena of that reading of \"before\"; optimum: the least over all layouts that hold in every run; two numbers where the limit came before the proof");
    found.line("what \"before\" does with branches is not said in so many words. In turn: both are laid out one after the other in time, as a list of instructions would be; what one holds is free for the other. Conflict: what the caption of figure 6(a) describes, lifetimes of both branches overlap, nothing is shared across");
}

/// Table 2: branches merged into blocks.
pub(super) fn after(
    tables: &[Printed],
    stand_ins: &[StandIn],
    measured: &[Measured],
    found: &mut Reproduction,
) {
    let mut table =
        columns(&[], &["gain: large-first", "short-first", "sequential", "exact", "over conflict"]);
    let mut gains = Vec::new();
    for printed in tables {
        let Some(after) = printed.after else { continue };
        let mut cells = vec![printed.model.to_owned(), "printed".to_owned()];
        cells.extend(after.map(|bytes| bytes.to_string()));
        cells.extend(["-", "-"].map(str::to_owned));
        cells.extend(printed.before.iter().zip(after).map(|(&before, after)| shown(gain(before, after))));
        table.row(cells);
        let branched =
            |(one, found): &(&StandIn, &Measured)| one.paper == printed.model && found.comparison.regions > 1;
        for (stand_in, Measured { comparison, .. }) in stand_ins.iter().zip(measured).filter(branched) {
            let merged = STRATEGIES.map(|strategy| arena(comparison, Scheme::Nested, strategy));
            let before = |scheme| STRATEGIES.map(|strategy| arena(comparison, scheme, strategy));
            let mut cells = vec![String::new(), stand_in.graph.name().to_owned()];
            cells.extend(merged.map(|bytes| bytes.to_string()));
            cells.extend([exact(comparison, Scheme::Nested), optimum(comparison)]);
            let own = before(Scheme::Sequential).into_iter().zip(merged).map(|(b, a)| gain(b, a));
            cells.extend(own.map(shown));
            let best = |scheme| comparison.best(scheme).map_or(0, |line| line.arena);
            let least = gain(best(Scheme::Sequential), best(Scheme::Nested));
            let over = gain(best(Scheme::Flat), best(Scheme::Nested));
            cells.extend([shown(least), shown(over), stand_in.differs.to_owned()]);
            gains.push((least, over));
            table.row(cells);
        }
    }
    found.section("Table 2 again: branches merged into blocks");
    found.table(table);
    found.line("bytes; exact: every region and the whole planned without loss, one block per operator. Gains are over branches in turn with the same strategy; the last one is over conflicting branches, both planned exactly. A gain below zero is a loss");
    if gains.is_empty() {
        found.line("no stand-in has branches");
        return;
    }
    let range = |of: fn(&(f64, f64)) -> f64| {
        let least = gains.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = gains.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        format!("{} to {}", shown(least), shown(most))
    };
    found.line(format!(
        "planned exactly, merging gains {} over branches in turn and {} over conflicting ones; the paper prints 0.00 % to 5.88 %",
        range(|pair| pair.0),
        range(|pair| pair.1)
    ));
    found.line("no public model of denoising with branches is known here, so that row of table 2 has no stand-in of its own");
}
