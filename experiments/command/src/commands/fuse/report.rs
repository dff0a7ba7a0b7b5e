//! The report of `fuse` on the fusion of a graph.

use super::args::FuseArgs;
use crate::report::Report;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::fusion::{FuseRun, FusedRegion, FusionTotals};
use plimsoll::model::OperatorId;
use plimsoll::model::fusion::{Pattern, Unit, siblings};
use plimsoll::model::graph::Graph;
use plimsoll_lab::report::{Basis, human};
use serde_json::{Value, json};
use std::collections::HashMap;

pub(super) fn report(
    args: &FuseArgs,
    graph: &Graph,
    run: &FuseRun<'_>,
    regions: &[FusedRegion],
    basis: &Basis,
) -> Report {
    let totals = FusionTotals::of(regions);
    let FusionTotals { operators, groups, coverage, bound, arithmetic } = totals;
    // Operators of the same kind with the same inputs.
    let siblings: Vec<Vec<OperatorId>> = regions.iter().flat_map(|one| siblings(graph, one.region)).collect();
    let mut stops = regions.iter().map(|one| one.outcome.stop.as_str());
    let (patterns, units) = (patterns(run, regions), units(run, regions));
    let rows: Vec<Value> = regions.iter().map(|one| row(graph, run, one)).collect();
    let object = json!({
        "graph": graph.name(),
        "patterns": args.patterns,
        "units": args.units,
        "rule": run.rule.as_str(),
        "method": run.entry.name,
        "claim": totals.claim(),
        "stop": stops.find(|stop| *stop != "completed").unwrap_or("completed"),
        "operators": operators,
        "groups": groups,
        "merged": totals.merged(),
        "relations": coverage.relations,
        "optimised": coverage.optimised,
        "upper_bound": bound,
        "arithmetic": arithmetic,
        "coverage": coverage.ratio(),
        "sibling_sets": siblings.len(),
        "siblings": siblings.iter().map(Vec::len).sum::<usize>(),
        "seconds": regions.iter().map(|one| one.outcome.stats.seconds).sum::<f64>(),
        "nodes": regions.iter().map(|one| one.outcome.stats.nodes).sum::<u64>(),
        "by_pattern": patterns,
        "by_unit": units,
        "regions": rows,
    });
    let mut report = Report::of_graph(object, basis);
    let apart = if regions.len() > 1 { " in {regions region}, fused separately" } else { "" };
    report.show("graph", &format!("{{graph}}: {{operators operator}}{apart}"));
    report.lines(&["patterns"]);
    let unit = |row: &Value| format!("{} {}", row["unit"].as_str().unwrap_or_default(), row["operators"]);
    let units: Vec<String> = units.iter().map(unit).collect();
    report.line("units", format_args!("{}: {}; {}", args.units, units.join(", "), run.rule));
    report.lines(&["method", "claim"]);
    let share = coverage.ratio().map_or(String::new(), |share| format!(", {:.1} %", 100.0 * share));
    report.show("coverage", &format!("{{optimised}} of {{relations relation}}{share}"));
    let remark = arithmetic.remark();
    let why = match regions {
        [only] => format!(" ({}{remark})", only.outcome.lower_bound.witness),
        _ => remark.to_owned(),
    };
    report.line("upper bound", format_args!("{}{why}", human::count(bound, "relation")));
    report.show("groups", "{groups} for {operators operator}, {merged} merged");
    let alike = "{siblings operator} in {sibling_sets set} of equal kind and inputs, not merged";
    report.show("siblings", alike);
    report.lines(&["stop", "seconds"]);
    if !patterns.is_empty() {
        report.table(&patterns, "pattern, groups, operators, relations = optimised");
    }
    if regions.len() > 1 {
        report.table(&rows, "region, operators, groups, relations, optimised, bound = upper_bound, claim");
    }
    report
}

fn patterns(run: &FuseRun<'_>, regions: &[FusedRegion]) -> Vec<Value> {
    let row = |(at, pattern): (usize, &Pattern)| {
        let chosen = regions.iter().flat_map(|one| &one.fused.chosen);
        let own: Vec<_> = chosen.filter(|one| one.pattern == at).collect();
        let row = json!({
            "pattern": pattern.name,
            "groups": own.len(),
            "operators": own.iter().map(|one| one.operators.len()).sum::<usize>(),
            "optimised": own.iter().map(|one| one.optimised).sum::<usize>(),
        });
        (!own.is_empty()).then_some(row)
    };
    run.patterns.list().iter().enumerate().filter_map(row).collect()
}

fn units(run: &FuseRun<'_>, regions: &[FusedRegion]) -> Vec<Value> {
    let row = |(at, unit): (usize, &Unit)| {
        let all = regions.iter().flat_map(|one| one.problem.units());
        json!({ "unit": unit.name, "operators": all.filter(|id| id.index() == at).count() })
    };
    run.units.list().iter().enumerate().map(row).collect()
}

fn row(graph: &Graph, run: &FuseRun<'_>, one: &FusedRegion) -> Value {
    let (problem, bound) = (&one.problem, &one.outcome.lower_bound);
    let units = problem.operators().iter().zip(problem.units());
    let units: HashMap<OperatorId, &str> =
        units.map(|(&id, &unit)| (id, run.units.unit(unit).name.as_str())).collect();
    let mut patterns: HashMap<OperatorId, &str> = HashMap::new();
    for chosen in &one.fused.chosen {
        let name = run.patterns.list()[chosen.pattern].name.as_str();
        patterns.extend(chosen.operators.iter().map(|&id| (id, name)));
    }
    let group = |members: &Vec<OperatorId>| {
        json!({
            // Null for a single operator.
            "pattern": patterns.get(&members[0]),
            // Indices in the graph.
            "operators": members,
            "names": members.iter().map(|&id| graph.called(id)).collect::<Vec<_>>(),
            "units": members.iter().map(|id| units[id]).collect::<Vec<_>>(),
        })
    };
    json!({
        "region": one.region,
        "name": graph.region(one.region).name,
        "claim": one.outcome.claim,
        "stop": one.outcome.stop,
        "operators": problem.operators().len(),
        "relations": problem.relations(),
        "matches": problem.matches().len(),
        "optimised": one.coverage.optimised,
        "upper_bound": bound.value,
        "witness": bound.witness.to_string(),
        "arithmetic": Arithmetic::of(&bound.witness),
        // In an executable order.
        "groups": one.fused.fusion.groups().iter().map(group).collect::<Vec<_>>(),
    })
}
