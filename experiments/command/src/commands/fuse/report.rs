//! The report of `fuse` on the fusion of a graph.

use super::args::FuseArgs;
use crate::report::{Cell, Printed, Text, cells};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::fusion::{FuseRun, FusedRegion, FusionTotals};
use plimsoll::model::fusion::{Pattern, Unit, siblings};
use plimsoll::model::graph::Graph;
use plimsoll::model::{Claim, OperatorId, RegionId, Relations, Stop};
use plimsoll_lab::report::{Basis, human};
use serde::Serialize;
use std::collections::HashMap;

/// The report on a graph.
#[derive(Serialize)]
pub(super) struct FuseReport<'a> {
    graph: &'a str,
    patterns: &'a str,
    units: &'a str,
    rule: &'static str,
    algorithm: &'static str,
    claim: Claim,
    stop: Stop,
    operators: usize,
    groups: usize,
    merged: usize,
    relations: usize,
    optimised: usize,
    upper_bound: usize,
    arithmetic: Arithmetic,
    coverage: Option<f64>,
    /// Number of sets of operators of the same kind with the same inputs.
    sibling_sets: usize,
    /// Number of operators in these sets.
    siblings: usize,
    seconds: f64,
    nodes: u64,
    by_pattern: Vec<PatternRow<'a>>,
    by_unit: Vec<UnitRow<'a>>,
    regions: Vec<RegionRow<'a>>,
    #[serde(flatten)]
    basis: Basis,
}

/// The groups that match a pattern.
#[derive(Serialize)]
struct PatternRow<'a> {
    pattern: &'a str,
    groups: usize,
    operators: usize,
    optimised: usize,
}

#[derive(Serialize)]
struct UnitRow<'a> {
    unit: &'a str,
    operators: usize,
}

#[derive(Serialize)]
struct RegionRow<'a> {
    region: RegionId,
    name: &'a str,
    claim: Claim,
    stop: Stop,
    operators: usize,
    relations: usize,
    matches: usize,
    optimised: usize,
    upper_bound: Relations,
    witness: String,
    arithmetic: Arithmetic,
    /// In an executable order.
    groups: Vec<Group<'a>>,
}

/// A group of fused operators.
#[derive(Serialize)]
struct Group<'a> {
    /// `None` for a single operator.
    pattern: Option<&'a str>,
    /// Indices in the graph.
    operators: &'a [OperatorId],
    names: Vec<String>,
    units: Vec<&'a str>,
}

impl<'a> FuseReport<'a> {
    pub(super) fn new(
        args: &'a FuseArgs,
        graph: &'a Graph,
        run: &FuseRun<'a>,
        regions: &'a [FusedRegion],
        basis: Basis,
    ) -> Self {
        let totals = FusionTotals::of(regions);
        let FusionTotals { operators, groups, coverage, bound, arithmetic } = totals;
        let siblings: Vec<Vec<OperatorId>> =
            regions.iter().flat_map(|one| siblings(graph, one.region)).collect();
        let mut stops = regions.iter().map(|one| one.outcome.stop);
        Self {
            graph: graph.name(),
            patterns: &args.patterns,
            units: &args.units,
            rule: run.rule.as_str(),
            algorithm: run.entry.name,
            claim: totals.claim(),
            stop: stops.find(|stop| *stop != Stop::Completed).unwrap_or(Stop::Completed),
            operators,
            groups,
            merged: totals.merged(),
            relations: coverage.relations,
            optimised: coverage.optimised,
            upper_bound: bound,
            arithmetic,
            coverage: coverage.ratio(),
            sibling_sets: siblings.len(),
            siblings: siblings.iter().map(Vec::len).sum(),
            seconds: regions.iter().map(|one| one.outcome.stats.seconds).sum(),
            nodes: regions.iter().map(|one| one.outcome.stats.nodes).sum(),
            by_pattern: patterns(run, regions),
            by_unit: units(run, regions),
            regions: regions.iter().map(|one| row(graph, run, one)).collect(),
            basis,
        }
    }
}

impl Printed for FuseReport<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        let operators = human::count(self.operators, "operator");
        let apart = match self.regions.len() {
            1 => String::new(),
            regions => format!(" in {}, fused separately", human::count(regions, "region")),
        };
        text.line("graph", format_args!("{}: {operators}{apart}", self.graph));
        text.line("patterns", self.patterns);
        let units: Vec<String> =
            self.by_unit.iter().map(|row| format!("{} {}", row.unit, row.operators)).collect();
        text.line("units", format_args!("{}: {}; {}", self.units, units.join(", "), self.rule));
        text.line("algorithm", self.algorithm);
        text.line("claim", self.basis.claim(self.claim));
        let share = self.coverage.map_or(String::new(), |share| format!(", {:.1} %", 100.0 * share));
        let relations = human::count(self.relations, "relation");
        text.line("coverage", format_args!("{} of {relations}{share}", self.optimised));
        let remark = self.arithmetic.remark();
        let why = match &self.regions[..] {
            [only] => format!(" ({}{remark})", only.witness),
            _ => remark.to_owned(),
        };
        text.line("upper bound", format_args!("{}{why}", human::count(self.upper_bound, "relation")));
        text.line("groups", format_args!("{} for {operators}, {} merged", self.groups, self.merged));
        let [alike, sets] = [(self.siblings, "operator"), (self.sibling_sets, "set")]
            .map(|(number, noun)| human::count(number, noun));
        text.line("siblings", format_args!("{alike} in {sets} of equal kind and inputs, not merged"));
        text.line("stop", self.stop);
        text.search(self.seconds, self.nodes);
        if !self.by_pattern.is_empty() {
            let row = |one: &PatternRow<'_>| cells![one.pattern, one.groups, one.operators, one.optimised];
            text.table(&["pattern", "groups", "operators", "relations"], self.by_pattern.iter().map(row));
        }
        if self.regions.len() > 1 {
            let row = |one: &RegionRow<'_>| {
                let (region, claim) = (Cell::region(one.region, one.name), one.arithmetic.mark(one.claim));
                let (groups, bound) = (one.groups.len(), one.upper_bound.get());
                cells![region, one.operators, groups, one.relations, one.optimised, bound, claim]
            };
            let columns = ["region", "operators", "groups", "relations", "optimised", "bound", "claim"];
            text.table(&columns, self.regions.iter().map(row));
        }
    }
}

fn patterns<'a>(run: &FuseRun<'a>, regions: &[FusedRegion]) -> Vec<PatternRow<'a>> {
    let row = |(at, pattern): (usize, &'a Pattern)| {
        let chosen = regions.iter().flat_map(|one| &one.fused.chosen);
        let own: Vec<_> = chosen.filter(|one| one.pattern == at).collect();
        let row = PatternRow {
            pattern: &pattern.name,
            groups: own.len(),
            operators: own.iter().map(|one| one.operators.len()).sum(),
            optimised: own.iter().map(|one| one.optimised).sum(),
        };
        (!own.is_empty()).then_some(row)
    };
    run.patterns.list().iter().enumerate().filter_map(row).collect()
}

fn units<'a>(run: &FuseRun<'a>, regions: &[FusedRegion]) -> Vec<UnitRow<'a>> {
    let row = |(at, unit): (usize, &'a Unit)| {
        let all = regions.iter().flat_map(|one| one.problem.units());
        UnitRow { unit: &unit.name, operators: all.filter(|id| id.index() == at).count() }
    };
    run.units.list().iter().enumerate().map(row).collect()
}

fn row<'a>(graph: &'a Graph, run: &FuseRun<'a>, one: &'a FusedRegion) -> RegionRow<'a> {
    let (problem, bound) = (&one.problem, &one.outcome.lower_bound);
    let units = problem.operators().iter().zip(problem.units());
    let units: HashMap<OperatorId, &str> =
        units.map(|(&id, &unit)| (id, run.units.unit(unit).name.as_str())).collect();
    let mut patterns: HashMap<OperatorId, &str> = HashMap::new();
    for chosen in &one.fused.chosen {
        let name = run.patterns.list()[chosen.pattern].name.as_str();
        patterns.extend(chosen.operators.iter().map(|&id| (id, name)));
    }
    let group = |members: &'a Vec<OperatorId>| Group {
        pattern: patterns.get(&members[0]).copied(),
        operators: members,
        names: members.iter().map(|&id| graph.called(id)).collect(),
        units: members.iter().map(|id| units[id]).collect(),
    };
    RegionRow {
        region: one.region,
        name: &graph.region(one.region).name,
        claim: one.outcome.claim,
        stop: one.outcome.stop,
        operators: problem.operators().len(),
        relations: problem.relations(),
        matches: problem.matches().len(),
        optimised: one.coverage.optimised,
        upper_bound: bound.value,
        witness: bound.witness.to_string(),
        arithmetic: Arithmetic::of(&bound.witness),
        groups: one.fused.fusion.groups().iter().map(group).collect(),
    }
}
