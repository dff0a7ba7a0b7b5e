//! What `tiers` prints.

use crate::output;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::Claim;
use plimsoll::model::fusion::UnitRule;
use plimsoll::model::graph::Graph;
use plimsoll::model::overlap::Time;
use plimsoll::model::tiers::{
    Addresses, TierMachine, TierPlan, TierProblem, TierTimes, Tiers, cheapest_bound, on_and_off_chip,
};
use plimsoll::model::{Bound, Outcome, SolveError};
use plimsoll::tiers::TierCase;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{Basis, percent};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;

/// What a report is about.
pub(super) struct About<'a> {
    pub graph: &'a Graph,
    pub machine: &'a TierMachine,
    pub case: &'a TierCase,
    /// How operators are fused; none where they are not.
    pub rule: Option<UnitRule>,
    pub basis: Basis,
}

/// What all placements of one graph share.
#[derive(Clone, Debug, Serialize)]
struct Shared {
    graph: String,
    machine: String,
    about: String,
    operators: usize,
    /// What is placed: tensors that share memory are one, scratch and regions of operators are some.
    tensors: usize,
    bytes: u64,
    fusion: &'static str,
    groups: usize,
    optimised: usize,
    relations: usize,
    coverage: Option<f64>,
    addresses: &'static str,
    compute_ps: u64,
    overhead_ps: u64,
    weights_ps: u64,
    /// Bytes of weights read from memory off chip.
    weight_traffic: u64,
    bandwidths: Vec<Bandwidth>,
    address_width: u32,
    #[serde(flatten)]
    basis: Basis,
}

#[derive(Clone, Debug, Serialize)]
struct Bandwidth {
    what: String,
    needed: Option<u64>,
    given: Option<u64>,
    holds: Option<bool>,
}

impl Shared {
    fn new(about: &About<'_>) -> Self {
        let (case, machine) = (about.case, about.machine);
        let TierTimes { compute, overhead, weights } = case.times;
        let bandwidth = |one: plimsoll::model::tiers::BandwidthCheck| Bandwidth {
            holds: one.holds(),
            needed: one.needed.map(|needed| u64::try_from(needed).unwrap_or(u64::MAX)),
            given: one.given,
            what: one.what,
        };
        Self {
            graph: about.graph.name().to_owned(),
            machine: machine.name.clone(),
            about: machine.about.clone(),
            operators: about.graph.region(Graph::BODY).operators.len(),
            tensors: case.problem.tensors().len(),
            bytes: case.problem.tensors().iter().map(|one| one.bytes.get()).sum(),
            fusion: about.rule.map_or("none", UnitRule::as_str),
            groups: case.groups,
            optimised: case.coverage.optimised,
            relations: case.coverage.relations,
            coverage: case.coverage.ratio(),
            addresses: match case.problem.addresses() {
                Addresses::Counted => "counted",
                Addresses::Placed => "placed",
            },
            compute_ps: compute.get(),
            overhead_ps: overhead.get(),
            weights_ps: weights.time.get(),
            weight_traffic: weights.traffic.get(),
            bandwidths: machine.bandwidths().into_iter().map(bandwidth).collect(),
            address_width: machine.address_width(),
            basis: about.basis.clone(),
        }
    }

    /// Everything of a run but the transfers of what is placed.
    fn rest(&self) -> u64 {
        self.compute_ps.saturating_add(self.overhead_ps).saturating_add(self.weights_ps)
    }

    fn text(&self) -> String {
        let mut text = self.basis.text();
        let _ = writeln!(
            text,
            "graph        {}: {} operators, {} tensors of {} bytes",
            self.graph, self.operators, self.tensors, self.bytes
        );
        let colon = if self.about.is_empty() { "" } else { ": " };
        let _ = writeln!(text, "machine      {}{colon}{}", self.machine, self.about);
        if self.fusion != "none" {
            let share = self.coverage.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
            let _ = writeln!(
                text,
                "fusion       {}: {} groups, {} of {} relations optimised ({share})",
                self.fusion, self.groups, self.optimised, self.relations
            );
        }
        text
    }

    /// Demands of S3, eqs. 10 and 11, where the machine says anything of them.
    fn bandwidths(&self) -> String {
        let known = self.bandwidths.iter().filter(|one| one.needed.is_some() || one.given.is_some());
        let mut table = Table::new([
            ("bandwidth of", Align::Left),
            ("needed B/s", Align::Right),
            ("given B/s", Align::Right),
            ("", Align::Left),
        ]);
        let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
        for one in known {
            let verdict = match one.holds {
                Some(true) => "holds",
                Some(false) => "too little",
                None => "not known",
            };
            table.row([one.what.clone(), number(one.needed), number(one.given), verdict.to_owned()]);
        }
        let mut text = String::new();
        if !table.is_empty() {
            let _ = write!(text, "\n{}", table.text());
        }
        let _ = writeln!(
            text,
            "\naddress width {} bits (high addresses of memories between units)",
            self.address_width
        );
        text
    }
}

/// One placement.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    shared: Shared,
    #[serde(flatten)]
    row: Row,
    tiers: Vec<TierRow>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Row {
    placement: &'static str,
    claim: &'static str,
    stop: &'static str,
    /// All transfers of what is placed.
    transfer_ps: Option<u64>,
    transfer_seconds: Option<f64>,
    lower_bound_ps: u64,
    bound_reason: String,
    arithmetic: Arithmetic,
    /// Above the bound, in percent of it.
    gap_percent: Option<f64>,
    /// Share of the bytes moved by what is placed.
    on_chip_percent: Option<f64>,
    tensors_on_chip: Option<usize>,
    /// Bytes moved to and from memory off chip, without weights.
    off_chip_traffic: Option<u64>,
    /// Compute, starts, weights and transfers, one after the other.
    inference_ps: Option<u64>,
    inference_seconds: Option<f64>,
    nodes: u64,
    seconds: f64,
    /// Why there is no answer.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct TierRow {
    tier: String,
    kind: &'static str,
    capacity: u64,
    /// Most bytes at a step.
    peak: u64,
    tensors: usize,
    traffic: u64,
}

fn gap(time: u64, bound: u64) -> Option<f64> {
    (bound > 0)
        .then(|| (time as f64 - bound as f64) * 100.0 / bound as f64)
        .or((time == bound).then_some(0.0))
}

impl Row {
    /// A row measured against a bound, which may be better than its own.
    fn new(
        about: &About<'_>,
        rest: u64,
        placement: &'static str,
        (outcome, seconds_taken): (&Outcome<Tiers>, f64),
        bound: Option<Time>,
    ) -> Self {
        let problem = &about.case.problem;
        let own = finite(problem, outcome).value.get();
        let time = outcome.value.map(Time::get);
        let moved = outcome.solution.as_ref().map(|plan| on_and_off_chip(problem, &plan.traffic(problem)));
        let share = |(on, off): (u64, u64)| {
            let all = on.saturating_add(off);
            (all > 0).then(|| on as f64 * 100.0 / all as f64)
        };
        let on_chip = |plan: &TierPlan| {
            plan.tiers.iter().filter(|&&tier| problem.space(tier).kind.is_on_chip()).count()
        };
        let inference = time.map(|time| time.saturating_add(rest));
        let seconds = |time: u64| Time::new(time).seconds();
        Self {
            placement,
            claim: outcome.claim.as_str(),
            stop: outcome.stop.as_str(),
            transfer_ps: time,
            transfer_seconds: time.map(seconds),
            lower_bound_ps: own,
            bound_reason: finite(problem, outcome).witness.to_string(),
            arithmetic: Arithmetic::of(&outcome.lower_bound.witness),
            gap_percent: time.and_then(|time| gap(time, bound.map_or(own, Time::get))),
            on_chip_percent: moved.and_then(share),
            tensors_on_chip: outcome.solution.as_ref().map(on_chip),
            off_chip_traffic: moved.map(|(_, off)| off),
            inference_ps: inference,
            inference_seconds: inference.map(seconds),
            nodes: outcome.stats.nodes,
            seconds: seconds_taken,
            reason: if time.is_none() { why_not(problem, outcome.claim) } else { None },
        }
    }
}

/// The bound on the time; where there is no plan, the simplest one.
fn finite(problem: &TierProblem, outcome: &Outcome<Tiers>) -> Bound<Tiers> {
    match outcome.claim {
        Claim::Infeasible => cheapest_bound(problem),
        _ => outcome.lower_bound.clone(),
    }
}

/// Why there is no plan.
fn why_not(problem: &TierProblem, claim: Claim) -> Option<String> {
    if let Some(at) = problem.too_large() {
        let tensor = &problem.tensors()[at];
        return Some(format!(
            "tensor '{}' of {} bytes fits no tier it may live in",
            tensor.name, tensor.bytes
        ));
    }
    (claim == Claim::Infeasible).then(|| "no choice of tiers holds all tensors at every step".to_owned())
}

impl Report {
    pub(super) fn new(
        about: &About<'_>,
        placement: &'static str,
        outcome: &Outcome<Tiers>,
        seconds: f64,
    ) -> Self {
        let shared = Shared::new(about);
        let row = Row::new(about, shared.rest(), placement, (outcome, seconds), None);
        let problem = &about.case.problem;
        let mut tiers = Vec::new();
        if let Some(plan) = &outcome.solution {
            let (traffic, peaks) = (plan.traffic(problem), plan.peaks(problem));
            for tier in problem.tiers() {
                let space = problem.space(tier);
                tiers.push(TierRow {
                    tier: space.name.clone(),
                    kind: space.kind.as_str(),
                    capacity: space.capacity.get(),
                    peak: peaks[tier.index()].get(),
                    tensors: plan.tiers.iter().filter(|&&one| one == tier).count(),
                    traffic: traffic[tier.index()].get(),
                });
            }
        }
        Self { shared, row, tiers }
    }

    pub(super) fn text(&self) -> String {
        let (shared, row) = (&self.shared, &self.row);
        let mut text = shared.text();
        let time = |time: u64| Time::new(time).to_string();
        let (reason, remark) = (&row.bound_reason, row.arithmetic.remark());
        let _ = writeln!(text, "lower bound  {} ({reason}{remark})", time(row.lower_bound_ps));
        let Some(transfer) = row.transfer_ps else {
            let why = row.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            let _ = writeln!(text, "placement    {}: {}{why}", row.placement, row.claim);
            return text;
        };
        let gap = row.gap_percent.filter(|gap| *gap > 0.0);
        let gap = gap.map_or(String::new(), |gap| format!(", {} % above the bound", percent(gap)));
        let (placement, claim) = (row.placement, shared.basis.claim(row.claim));
        let _ = writeln!(text, "placement    {placement}: {} of transfers ({claim}{gap})", time(transfer));
        let share = row.on_chip_percent.map_or("-".to_owned(), percent);
        let on_chip = row.tensors_on_chip.unwrap_or(0);
        let _ = writeln!(text, "on chip      {share} % of the bytes moved, {on_chip} tensors");
        let off = row.off_chip_traffic.unwrap_or(0);
        let _ = writeln!(text, "off chip     {off} bytes moved, and {} of weights", shared.weight_traffic);
        let _ = writeln!(
            text,
            "inference    {} one after the other: compute {}, starts {}, weights {}, transfers {}\n",
            time(row.inference_ps.unwrap_or(0)),
            time(shared.compute_ps),
            time(shared.overhead_ps),
            time(shared.weights_ps),
            time(transfer)
        );
        text.push_str(&self.table());
        text.push_str(&shared.bandwidths());
        text
    }

    fn table(&self) -> String {
        let mut table = Table::new([
            ("tier", Align::Left),
            ("kind", Align::Left),
            ("capacity", Align::Right),
            ("peak", Align::Right),
            ("tensors", Align::Right),
            ("bytes moved", Align::Right),
        ]);
        for one in &self.tiers {
            let numbers = [one.capacity, one.peak, one.tensors as u64, one.traffic].map(|n| n.to_string());
            table.row([one.tier.clone(), one.kind.to_owned()].into_iter().chain(numbers));
        }
        table.text()
    }
}

/// What became of one placement: its outcome and seconds, or why it has none.
pub(super) type Run = (&'static str, Result<(Outcome<Tiers>, f64), SolveError>);

/// All placements of one graph.
#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    #[serde(flatten)]
    shared: Shared,
    /// The best bound of all.
    best_bound_ps: u64,
    arithmetic: Arithmetic,
    best: Option<&'static str>,
    placements: Vec<Row>,
}

impl Comparison {
    pub(super) fn new(about: &About<'_>, rows: &[Run]) -> Self {
        let shared = Shared::new(about);
        let outcomes = rows.iter().filter_map(|(_, row)| row.as_ref().ok());
        let bounds = outcomes.map(|(outcome, _)| finite(&about.case.problem, outcome));
        let bound = bounds.clone().map(|bound| bound.value).max().unwrap_or(Time::ZERO);
        let arithmetic =
            Arithmetic::of_best(bounds.map(|bound| (bound.value, Arithmetic::of(&bound.witness))));
        let row = |(name, row): &Run| match row {
            Ok((outcome, seconds)) => {
                let mut row = Row::new(about, shared.rest(), name, (outcome, *seconds), Some(bound));
                if outcome.value == Some(bound) {
                    (row.claim, row.arithmetic) = ("optimal", arithmetic);
                }
                row
            }
            Err(error) => {
                let reason = Some(error.to_string());
                Row { placement: name, claim: "unknown", reason, ..Row::default() }
            }
        };
        let placements: Vec<Row> = rows.iter().map(row).collect();
        let found = placements.iter().filter_map(|row| Some((row.transfer_ps?, row.placement)));
        let best = found.min_by_key(|(time, _)| *time).map(|(_, name)| name);
        Self { best_bound_ps: bound.get(), arithmetic, best, placements, shared }
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.shared.text();
        let time = |time: Option<u64>| time.map_or("-".to_owned(), |time| Time::new(time).to_string());
        let remark = self.arithmetic.remark();
        let _ = writeln!(text, "lower bound  {}{remark}\n", time(Some(self.best_bound_ps)));
        let mut table = Table::new([
            ("placement", Align::Left),
            ("transfers", Align::Right),
            ("gap %", Align::Right),
            ("on chip %", Align::Right),
            ("off-chip bytes", Align::Right),
            ("inference", Align::Right),
            ("claim", Align::Left),
        ]);
        let digits = |number: Option<f64>| number.map_or("-".to_owned(), percent);
        for row in &self.placements {
            table.row([
                row.placement.to_owned(),
                time(row.transfer_ps),
                digits(row.gap_percent),
                digits(row.on_chip_percent),
                row.off_chip_traffic.map_or("-".to_owned(), |bytes| bytes.to_string()),
                time(row.inference_ps),
                row.arithmetic.mark(row.claim),
            ]);
        }
        text.push_str(&table.text());
        for row in &self.placements {
            if let Some(reason) = &row.reason {
                let _ = writeln!(text, "\n{}: {reason}", row.placement);
            }
        }
        text
    }

    /// One row per placement, with what they share.
    pub(super) fn write_rows(&self, file: &mut dyn io::Write) -> io::Result<()> {
        let rows: Vec<Line> = self.placements.iter().map(|row| Line::new(self, row)).collect();
        output::csv(file, &rows)
    }
}

/// A placement in a file of rows.
#[derive(Serialize)]
struct Line<'a> {
    graph: &'a str,
    machine: &'a str,
    fusion: &'static str,
    groups: usize,
    coverage: Option<String>,
    operators: usize,
    tensors: usize,
    bytes: u64,
    addresses: &'static str,
    weight_traffic: u64,
    compute_ps: u64,
    overhead_ps: u64,
    weights_ps: u64,
    best_bound_ps: u64,
    placement: &'static str,
    claim: &'static str,
    stop: &'static str,
    transfer_ps: Option<u64>,
    lower_bound_ps: u64,
    gap_percent: Option<String>,
    on_chip_percent: Option<String>,
    off_chip_traffic: Option<u64>,
    inference_ps: Option<u64>,
    nodes: u64,
    seconds: String,
    reason: Option<&'a str>,
    arithmetic: Arithmetic,
}

impl<'a> Line<'a> {
    fn new(all: &'a Comparison, row: &'a Row) -> Self {
        let shared = &all.shared;
        Self {
            graph: &shared.graph,
            machine: &shared.machine,
            fusion: shared.fusion,
            groups: shared.groups,
            coverage: output::four_digits(shared.coverage),
            operators: shared.operators,
            tensors: shared.tensors,
            bytes: shared.bytes,
            addresses: shared.addresses,
            weight_traffic: shared.weight_traffic,
            compute_ps: shared.compute_ps,
            overhead_ps: shared.overhead_ps,
            weights_ps: shared.weights_ps,
            best_bound_ps: all.best_bound_ps,
            placement: row.placement,
            claim: row.claim,
            stop: row.stop,
            transfer_ps: row.transfer_ps,
            lower_bound_ps: row.lower_bound_ps,
            gap_percent: output::four_digits(row.gap_percent),
            on_chip_percent: output::four_digits(row.on_chip_percent),
            off_chip_traffic: row.off_chip_traffic,
            inference_ps: row.inference_ps,
            nodes: row.nodes,
            seconds: format!("{:.6}", row.seconds),
            reason: row.reason.as_deref(),
            arithmetic: row.arithmetic,
        }
    }
}

/// One row per tensor.
pub(super) fn write_plan(problem: &TierProblem, plan: &TierPlan, file: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record("tensor,bytes,lower,upper,tier,offset,transfer_ps,traffic".split(','))?;
    for (at, (tensor, &tier)) in problem.tensors().iter().zip(&plan.tiers).enumerate() {
        let cost = tensor.uses[tier.index()].unwrap_or_default();
        let offset = plan.offsets.as_ref().map_or(String::new(), |offsets| offsets[at].to_string());
        let [bytes, traffic] = [tensor.bytes, cost.traffic].map(|bytes| bytes.to_string());
        let [lower, upper] = [tensor.lower, tensor.upper].map(|step| step.to_string());
        let (name, time) = (tensor.name.clone(), cost.time.get().to_string());
        let tier = problem.space(tier).name.clone();
        writer.write_record([name, bytes, lower, upper, tier, offset, time, traffic])?;
    }
    writer.flush()
}
