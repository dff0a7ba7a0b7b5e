//! What `fuse` prints of one fusion.

use super::args::FuseArgs;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::fusion::{FuseRun, FusedRegion, FusionTotals};
use plimsoll::model::OperatorId;
use plimsoll::model::fusion::siblings;
use plimsoll::model::graph::Graph;
use plimsoll_lab::report::Basis;
use plimsoll_lab::report::table::{Align, Table};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write as _;

/// What is printed, of all regions together and of each.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    graph: String,
    patterns: String,
    units: String,
    rule: &'static str,
    method: &'static str,
    claim: &'static str,
    stop: &'static str,
    operators: usize,
    groups: usize,
    /// Operators that run with another one before them.
    merged: usize,
    relations: usize,
    optimised: usize,
    /// Relations that no choice can exceed.
    upper_bound: usize,
    arithmetic: Arithmetic,
    /// Share of relations that is optimised; none without relations.
    coverage: Option<f64>,
    /// Sets of operators of one kind that read the same, and operators in them.
    sibling_sets: usize,
    siblings: usize,
    seconds: f64,
    nodes: u64,
    by_pattern: Vec<PatternRow>,
    by_unit: Vec<UnitRow>,
    regions: Vec<RegionRow>,
    #[serde(flatten)]
    basis: Basis,
}

#[derive(Debug, Serialize)]
struct PatternRow {
    pattern: String,
    groups: usize,
    operators: usize,
    optimised: usize,
}

#[derive(Debug, Serialize)]
struct UnitRow {
    unit: String,
    operators: usize,
}

#[derive(Debug, Serialize)]
struct RegionRow {
    region: u32,
    name: String,
    claim: &'static str,
    stop: &'static str,
    operators: usize,
    relations: usize,
    matches: usize,
    optimised: usize,
    upper_bound: usize,
    witness: String,
    arithmetic: Arithmetic,
    /// In an order in which they can run.
    groups: Vec<GroupRow>,
}

#[derive(Debug, Serialize)]
struct GroupRow {
    /// None where it is one operator.
    pattern: Option<String>,
    /// Members, by number in the graph.
    operators: Vec<u32>,
    names: Vec<String>,
    units: Vec<String>,
}

impl Report {
    pub(super) fn new(
        args: &FuseArgs,
        graph: &Graph,
        run: &FuseRun<'_>,
        regions: &[FusedRegion],
        basis: Basis,
    ) -> Self {
        let totals = FusionTotals::of(regions);
        let same: Vec<Vec<OperatorId>> = regions.iter().flat_map(|one| siblings(graph, one.region)).collect();
        let stop = regions.iter().map(|one| one.outcome.stop).find(|stop| stop.as_str() != "completed");
        Self {
            graph: graph.name().to_owned(),
            patterns: args.patterns.clone(),
            units: args.units.clone(),
            rule: run.rule.as_str(),
            method: run.entry.name,
            claim: totals.claim().as_str(),
            stop: stop.map_or("completed", plimsoll::model::Stop::as_str),
            operators: totals.operators,
            groups: totals.groups,
            merged: totals.merged(),
            relations: totals.coverage.relations,
            optimised: totals.coverage.optimised,
            upper_bound: totals.bound,
            arithmetic: totals.arithmetic,
            coverage: totals.coverage.ratio(),
            sibling_sets: same.len(),
            siblings: same.iter().map(Vec::len).sum(),
            seconds: regions.iter().map(|one| one.seconds).sum(),
            nodes: regions.iter().map(|one| one.outcome.stats.nodes).sum(),
            by_pattern: by_pattern(run, regions),
            by_unit: by_unit(run, regions),
            regions: regions.iter().map(|one| RegionRow::new(graph, run, one)).collect(),
            basis,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.basis.text();
        let regions = match self.regions.len() {
            1 => String::new(),
            count => format!(" in {count} regions, each fused on its own"),
        };
        let _ = writeln!(text, "graph        {}: {} operators{regions}", self.graph, self.operators);
        let _ = writeln!(text, "patterns     {}", self.patterns);
        let units: Vec<String> =
            self.by_unit.iter().map(|row| format!("{} {}", row.unit, row.operators)).collect();
        let _ = writeln!(text, "units        {}: {}; {}", self.units, units.join(", "), self.rule);
        let _ = writeln!(text, "method       {}", self.method);
        let _ = writeln!(text, "claim        {}", self.basis.claim(self.claim));
        let share = self.coverage.map_or(String::new(), |share| format!(", {:.1} %", 100.0 * share));
        let _ = writeln!(text, "coverage     {} of {} relations{share}", self.optimised, self.relations);
        let remark = self.arithmetic.remark();
        let witness = match &self.regions[..] {
            [only] => format!(" ({}{remark})", only.witness),
            _ => remark.to_owned(),
        };
        let _ = writeln!(text, "upper bound  {} relations{witness}", self.upper_bound);
        let _ = writeln!(
            text,
            "groups       {} for {} operators: {} merged",
            self.groups, self.operators, self.merged
        );
        let _ = writeln!(
            text,
            "siblings     {} operators in {} sets of one kind that read the same; not merged",
            self.siblings, self.sibling_sets
        );
        let _ = writeln!(text, "stop         {}", self.stop);
        let _ = writeln!(text, "time         {:.3} s, {} nodes", self.seconds, self.nodes);
        if !self.by_pattern.is_empty() {
            text.push('\n');
            text.push_str(&self.pattern_table());
        }
        if self.regions.len() > 1 {
            text.push('\n');
            text.push_str(&self.region_table());
        }
        text
    }

    fn pattern_table(&self) -> String {
        let mut table = Table::new([
            ("pattern", Align::Left),
            ("groups", Align::Right),
            ("operators", Align::Right),
            ("relations", Align::Right),
        ]);
        for row in &self.by_pattern {
            let [groups, operators, optimised] =
                [row.groups, row.operators, row.optimised].map(|n| n.to_string());
            table.row([row.pattern.clone(), groups, operators, optimised]);
        }
        table.text()
    }

    fn region_table(&self) -> String {
        let mut table = Table::new([
            ("region", Align::Left),
            ("operators", Align::Right),
            ("groups", Align::Right),
            ("relations", Align::Right),
            ("optimised", Align::Right),
            ("bound", Align::Right),
            ("claim", Align::Left),
        ]);
        for row in &self.regions {
            let numbers = [row.operators, row.groups.len(), row.relations, row.optimised, row.upper_bound];
            let name = format!("{}:{}", row.region, row.name);
            let cells = numbers.map(|number| number.to_string());
            table.row([name].into_iter().chain(cells).chain([row.arithmetic.mark(row.claim)]));
        }
        table.text()
    }
}

fn by_pattern(run: &FuseRun<'_>, regions: &[FusedRegion]) -> Vec<PatternRow> {
    let row = |(at, pattern): (usize, &plimsoll::model::fusion::Pattern)| {
        let chosen = regions.iter().flat_map(|one| &one.fused.chosen);
        let own: Vec<_> = chosen.filter(|one| one.pattern == at).collect();
        PatternRow {
            pattern: pattern.name.clone(),
            groups: own.len(),
            operators: own.iter().map(|one| one.operators.len()).sum(),
            optimised: own.iter().map(|one| one.optimised).sum(),
        }
    };
    run.patterns.list().iter().enumerate().map(row).filter(|row| row.groups > 0).collect()
}

fn by_unit(run: &FuseRun<'_>, regions: &[FusedRegion]) -> Vec<UnitRow> {
    let row = |(at, unit): (usize, &plimsoll::model::fusion::Unit)| UnitRow {
        unit: unit.name.clone(),
        operators: regions.iter().flat_map(|one| one.problem.units()).filter(|id| id.index() == at).count(),
    };
    run.units.list().iter().enumerate().map(row).collect()
}

impl RegionRow {
    fn new(graph: &Graph, run: &FuseRun<'_>, one: &FusedRegion) -> Self {
        let unit: HashMap<OperatorId, &str> = one
            .problem
            .operators()
            .iter()
            .zip(one.problem.units())
            .map(|(&id, &unit)| (id, run.units.unit(unit).name.as_str()))
            .collect();
        let mut pattern: HashMap<OperatorId, &str> = HashMap::new();
        for chosen in &one.fused.chosen {
            let name = run.patterns.list()[chosen.pattern].name.as_str();
            pattern.extend(chosen.operators.iter().map(|&id| (id, name)));
        }
        let group = |members: &Vec<OperatorId>| GroupRow {
            pattern: pattern.get(&members[0]).map(|&name| name.to_owned()),
            operators: members.iter().map(|id| id.get()).collect(),
            names: members.iter().map(|&id| graph.operator(id).name.clone()).collect(),
            units: members.iter().map(|id| unit[id].to_owned()).collect(),
        };
        Self {
            region: one.region.get(),
            name: graph.region(one.region).name.clone(),
            claim: one.outcome.claim.as_str(),
            stop: one.outcome.stop.as_str(),
            operators: one.problem.operators().len(),
            relations: one.problem.relations(),
            matches: one.problem.matches().len(),
            optimised: one.coverage.optimised,
            upper_bound: one.outcome.lower_bound.value.get(),
            witness: one.outcome.lower_bound.witness.to_string(),
            arithmetic: Arithmetic::of(&one.outcome.lower_bound.witness),
            groups: one.fused.fusion.groups().iter().map(group).collect(),
        }
    }
}
