//! Recomputes tables 1 and 2 of the LUNA paper for stand-ins of its models, and compares the results with
//! each printed row.

use super::inputs::Inputs;
use super::measured::Measured;
use super::models::StandIn;
use super::printed::{Printed, STRATEGIES, gain, registered};
use crate::Reproduction;
use minijinja::{Value, context};
use plimsoll::branches::{Scheme, SchemeComparison};

/// The two interpretations of "before", with their names in the tables.
pub(super) const BEFORE: [(Scheme, &str); 2] =
    [(Scheme::Sequential, "sequential branches"), (Scheme::Flat, "conflicting branches")];

/// Returns the size of the arena that a strategy finds under a scheme, in bytes.
pub(super) fn arena(one: &SchemeComparison, scheme: Scheme, strategy: &str) -> u64 {
    one.arena(scheme, registered(strategy)).unwrap_or(0)
}

/// Returns the size of the smallest arena found for a scheme, in bytes.
pub(super) fn best(one: &SchemeComparison, scheme: Scheme) -> u64 {
    one.best(scheme).map_or(0, |line| line.arena)
}

/// Formats the optimum of a scheme if it is proved, and its bounds otherwise.
fn exact(one: &SchemeComparison, scheme: Scheme) -> String {
    let Some(best) = one.best(scheme) else { return "-".to_owned() };
    let bound = one.bound(scheme);
    if best.arena <= bound { best.arena.to_string() } else { format!("{bound} to {}", best.arena) }
}

fn by_strategy(one: &SchemeComparison, scheme: Scheme) -> [u64; 3] {
    STRATEGIES.map(|strategy| arena(one, scheme, strategy))
}

/// Defines the facts about tables 1 and 2: their consistency, the stand-ins, and the best gain.
pub(super) fn tables(
    inputs: &Inputs,
    stand_ins: &[StandIn],
    measured: &[Measured],
    found: &mut Reproduction,
) {
    let mut spans: Option<[[f64; 2]; 2]> = None;
    let mut tables = Vec::new();
    for printed in &inputs.tables {
        let mine = stand_ins.iter().zip(measured).filter(|(one, _)| one.paper == printed.model);
        let mine: Vec<(&StandIn, &SchemeComparison)> = mine.map(|(one, of)| (one, &of.comparison)).collect();
        for (_, one) in mine.iter().filter(|(_, one)| printed.after.is_some() && one.regions > 1) {
            let merged = best(one, Scheme::Nested);
            let gains = BEFORE.map(|(scheme, _)| gain(best(one, scheme), merged));
            let all = spans.get_or_insert([[f64::INFINITY, f64::NEG_INFINITY]; 2]);
            for (span, gain) in all.iter_mut().zip(gains) {
                *span = [span[0].min(gain), span[1].max(gain)];
            }
        }
        let cells: Vec<Value> = mine.iter().map(|(one, of)| cells(one, of)).collect();
        let (before_rows, after_rows) = (before(printed, &mine), after(printed, &mine));
        tables.push(context! { stand_ins => cells, before_rows, after_rows, ..printed.facts() });
    }
    found.fact("tables", tables);
    found.fact("spans", spans);
    let gains = inputs.tables.iter().flat_map(|one| one.gains().into_iter().map(|gain| (gain, &one.model)));
    let best = gains.max_by(|a, b| a.0.total_cmp(&b.0));
    let (gain, model) = best.map_or((0.0, "no model"), |(gain, model)| (gain, model.as_str()));
    found.fact("best", context! { gain, model, agrees => (gain - inputs.best_gain).abs() < 0.05 });
}

/// Returns the cells of tables 1 and 2 for a stand-in.
fn cells(one: &StandIn, of: &SchemeComparison) -> Value {
    let straight = of.regions == 1;
    let reading =
        |(scheme, name)| context! { name, by => by_strategy(of, scheme), exact => exact(of, scheme) };
    let readings = BEFORE.into_iter().take(if straight { 1 } else { 2 }).map(reading);
    let merged = by_strategy(of, Scheme::Nested);
    let own = by_strategy(of, Scheme::Sequential)
        .into_iter()
        .zip(merged)
        .map(|(before, after)| gain(before, after));
    let least = BEFORE.map(|(scheme, _)| gain(best(of, scheme), best(of, Scheme::Nested)));
    context! {
        name => one.graph.name(), differs => &one.differs, straight, naive => best(of, Scheme::Naive),
        readings => readings.collect::<Vec<_>>(), optimum => exact(of, Scheme::Exclusive),
        merged => context! {
            by => merged, exact => exact(of, Scheme::Nested), gains => own.chain(least).collect::<Vec<f64>>(),
        },
    }
}

/// Returns the rows that compare a printed peak with those of the stand-ins. Without stand-ins, returns one
/// row that states the reason.
fn peaks(what: &str, printed: u64, ours: Vec<(String, u64)>) -> Vec<Value> {
    if ours.is_empty() {
        let reason = "the model of the paper is not public and has no stand-in";
        return vec![context! { what, printed, ours => (), reason }];
    }
    ours.into_iter().map(|(reason, ours)| context! { what, printed, ours, reason }).collect()
}

fn about(one: &StandIn) -> String {
    format!("another model, {}: {}", one.graph.name(), one.differs)
}

fn before(printed: &Printed, mine: &[(&StandIn, &SchemeComparison)]) -> Vec<Value> {
    let naive = mine.iter().map(|(one, of)| (about(one), best(of, Scheme::Naive)));
    let mut rows = peaks("naive", printed.naive, naive.collect());
    for (strategy, bytes) in STRATEGIES.into_iter().zip(printed.before) {
        let readings = |&(one, of): &(&StandIn, &SchemeComparison)| match of.regions {
            1 => vec![(about(one), arena(of, BEFORE[0].0, strategy))],
            _ => BEFORE
                .map(|(scheme, reading)| (format!("{}; {reading}", about(one)), arena(of, scheme, strategy)))
                .to_vec(),
        };
        rows.extend(peaks(strategy, bytes, mine.iter().flat_map(readings).collect()));
    }
    rows
}

fn after(printed: &Printed, mine: &[(&StandIn, &SchemeComparison)]) -> Vec<Value> {
    let branched = || mine.iter().filter(|(_, of)| of.regions > 1);
    let rows = |(strategy, bytes)| {
        let ours = branched().map(|(one, of)| (about(one), arena(of, Scheme::Nested, strategy)));
        peaks(strategy, bytes, ours.collect())
    };
    printed.after.into_iter().flat_map(|after| STRATEGIES.into_iter().zip(after)).flat_map(rows).collect()
}
