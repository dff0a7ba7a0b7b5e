//! `overlap --speculate`: fetches weights before the branch decides which region runs.

use super::args::OverlapArgs;
use crate::failure::Failure;
use crate::report::{Cell, Printed, Text, cells};
use plimsoll::model::graph::{Control, Graph};
use plimsoll::model::timelines::{OverlapProgram, Time, Timeline, Timelines};
use plimsoll::model::{Bytes, Entry, OperatorId, RegionId};
use plimsoll::run::Limits;
use plimsoll::timelines::{Scheduled, Speculation, speculate};
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of speculation.
#[derive(Debug, Serialize)]
pub(super) struct Speculated {
    algorithm: &'static str,
    longest_ps: Time,
    longest_before_ps: Time,
    expected_seconds: f64,
    expected_before_seconds: f64,
    guesses: Vec<GuessRow>,
}

/// A region whose first weights are fetched before its branch decides.
#[derive(Debug, Serialize)]
struct GuessRow {
    branch: String,
    /// Number and name.
    region: String,
    chance: f64,
    fetched: String,
    bytes: Bytes,
    /// The delay of the previous segment.
    cost_ps: Time,
    /// The gain of the region's first segment, clamped to the range of JSON integers.
    saved_ps: i128,
    /// The average number of bytes fetched but not used.
    wasted: f64,
}

/// Speculates with the fastest schedule if requested.
pub(super) fn report(
    args: &OverlapArgs,
    graph: &Graph,
    program: &OverlapProgram,
    entries: &[&'static Entry<Timelines>],
    chances: &Chances,
    limits: Limits,
    best: Option<(&'static str, &Scheduled)>,
) -> Result<Option<Speculated>, Failure> {
    let Some(guess) = args.speculate else { return Ok(None) };
    let Some((schedule, scheduled)) = best else { return Ok(None) };
    let entry = entries.iter().find(|entry| entry.name == schedule);
    let entry = entry.ok_or_else(|| Failure::internal("the fastest schedule is not among those that ran"))?;
    let times: Vec<Time> = scheduled.timelines.iter().map(Timeline::makespan).collect();
    let by = (*entry, args.setup(), limits);
    let of = |operator| chances.of(graph, operator);
    let found = speculate(program, &times, guess.into(), &of, by)
        .map_err(|error| Failure::internal(format!("{schedule}: {error}")))?;
    let longest = program
        .longest(&|at| found.times[at])
        .ok_or_else(|| Failure::input("the longest run takes more time than can be represented"))?;
    Ok(Some(Speculated {
        algorithm: schedule,
        longest_ps: longest,
        longest_before_ps: scheduled.makespan,
        expected_seconds: program.expected(&|at| found.times[at], &of),
        expected_before_seconds: program.expected(&|at| times[at], &of),
        guesses: found.guesses.iter().map(|one| row(graph, one)).collect(),
    }))
}

fn row(graph: &Graph, one: &Speculation) -> GuessRow {
    let owner = graph.operator(one.operator);
    let region = owner.regions[one.region];
    GuessRow {
        branch: owner.name.clone(),
        region: format!("{region}:{}", graph.region(region).name),
        chance: one.chance,
        fetched: one.fetched.clone(),
        bytes: one.bytes,
        cost_ps: one.cost,
        saved_ps: one.saved.clamp(i64::MIN.into(), u64::MAX.into()),
        wasted: (1.0 - one.chance) * one.bytes.get() as f64,
    }
}

impl Printed for Speculated {
    fn print(&self, text: &mut Text) {
        let algorithm = self.algorithm;
        if self.guesses.is_empty() {
            return text.push(&format!("\nspeculation with {algorithm}: no region to fetch weights for\n"));
        }
        let seconds = |seconds| Time::from_seconds(seconds).map_or("-".to_owned(), |time| time.to_string());
        let [expected, before] = [self.expected_seconds, self.expected_before_seconds].map(seconds);
        let expected = format!("expected makespan {expected} ({before} without speculation)");
        let longest = format!("longest makespan {} ({} without)", self.longest_ps, self.longest_before_ps);
        text.push(&format!("\nspeculation with {algorithm}: {expected}, {longest}\n"));
        let row = |one: &GuessRow| {
            let [chance, wasted] =
                [format!("{:.3}", one.chance), format!("{:.0}", one.wasted)].map(Cell::Number);
            let sign = if one.saved_ps < 0 { "-" } else { "" };
            let saved = u64::try_from(one.saved_ps.unsigned_abs()).unwrap_or(u64::MAX);
            let saved = Cell::Number(format!("{sign}{}", Time::new(saved)));
            cells![&one.branch, &one.region, chance, &one.fetched, one.bytes, one.cost_ps, saved, wasted]
        };
        let columns =
            ["branch", "region", "chance", "fetched ahead", "bytes", "cost", "saved", "wasted bytes"];
        text.table(&columns, self.guesses.iter().map(row));
    }
}

/// The given probabilities of regions.
pub(super) struct Chances(BTreeMap<RegionId, f64>);

impl Chances {
    /// Parses `REGION=P`, where the region is a name or a number.
    pub(super) fn read(graph: &Graph, given: &[String]) -> Result<Self, Failure> {
        let mut chances = Self(BTreeMap::new());
        for text in given {
            let bad = |reason: &str| Failure::input(format!("--chance {text}: {reason}"));
            let (name, chance) = text.rsplit_once('=').ok_or_else(|| bad("expected REGION=P"))?;
            let chance = chance.parse::<f64>().ok().filter(|chance| (0.0..=1.0).contains(chance));
            let chance = chance.ok_or_else(|| bad("expected a probability from 0 to 1"))?;
            let all = || (0..graph.regions().len()).map(RegionId::at);
            let called: Vec<RegionId> =
                all().filter(|&id| graph.region(id).name == name || id.to_string() == name).collect();
            let &[region] = called.as_slice() else {
                let numbers: Vec<String> = called.iter().map(ToString::to_string).collect();
                let several =
                    format!("several regions have this name; use a number ({})", numbers.join(", "));
                let none = format!("no such region (regions of branches: {})", names(graph));
                return Err(bad(if called.is_empty() { &none } else { &several }));
            };
            if !branches(graph).any(|operator| graph.operator(operator).regions.contains(&region)) {
                return Err(bad("this region does not belong to a branch"));
            }
            if chances.0.insert(region, chance).is_some() {
                return Err(bad("this region already has a probability"));
            }
        }
        for operator in branches(graph) {
            let regions = &graph.operator(operator).regions;
            let known: Vec<f64> =
                regions.iter().filter_map(|region| chances.0.get(region).copied()).collect();
            let sum: f64 = known.iter().sum();
            let all = known.len() == regions.len();
            if sum > 1.0 + 1e-9 || (all && sum < 1.0 - 1e-9) {
                let name = graph.called(operator);
                return Err(Failure::input(format!(
                    "--chance: the probabilities of the regions of '{name}' add up to {sum}, not 1"
                )));
            }
        }
        Ok(chances)
    }

    /// Returns the probabilities of all regions of an operator; regions without a given probability share the
    /// rest equally.
    fn of(&self, graph: &Graph, operator: OperatorId) -> Vec<f64> {
        let regions = &graph.operator(operator).regions;
        let known: Vec<Option<f64>> = regions.iter().map(|region| self.0.get(region).copied()).collect();
        let open = known.iter().filter(|chance| chance.is_none()).count().max(1) as f64;
        let rest = (1.0 - known.iter().flatten().sum::<f64>()).max(0.0);
        known.into_iter().map(|chance| chance.unwrap_or(rest / open)).collect()
    }
}

/// Lists the number and the name of every region that belongs to a branch.
fn names(graph: &Graph) -> String {
    let regions = branches(graph).flat_map(|operator| &graph.operator(operator).regions);
    let names: Vec<String> = regions.map(|&id| format!("{id}:{}", graph.region(id).name)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Returns the operators that run exactly one of their regions.
fn branches(graph: &Graph) -> impl Iterator<Item = OperatorId> + '_ {
    let is_branch =
        |&id: &OperatorId| graph.flow(id).ok().flatten().is_some_and(|flow| flow.control == Control::Branch);
    (0..graph.operators().len()).map(OperatorId::at).filter(is_branch)
}
