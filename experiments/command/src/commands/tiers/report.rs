//! The report of `tiers`.

use crate::report::{Printed, Text, cells, sized};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::fusion::UnitRule;
use plimsoll::model::graph::Graph;
use plimsoll::model::tiers::{
    Addresses, BandwidthCheck, TierMachine, TierPlan, TierProblem, TierTimes, Tiers, cheapest_bound,
    on_and_off_chip,
};
use plimsoll::model::timelines::Time;
use plimsoll::model::{Bound, Bytes, Claim, Outcome, Stop, TierId};
use plimsoll::tiers::TierCase;
use plimsoll_lab::report::{Basis, gap_percent, human, percent, share};
use serde::Serialize;
use std::io;

/// The subject of a report.
pub(super) struct About<'a> {
    pub graph: &'a Graph,
    pub machine: &'a TierMachine,
    pub case: &'a TierCase,
    /// The fusion rule, or `None` without fusion.
    pub rule: Option<UnitRule>,
    pub basis: Basis,
}

/// The part that all reports share.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    graph: &'a str,
    machine: &'a str,
    about: &'a str,
    operators: usize,
    /// Number of placed tensors. Tensors that share memory count as one; scratch buffers and regions of
    /// operators count too.
    tensors: usize,
    bytes: u64,
    fusion: &'static str,
    groups: usize,
    optimised: usize,
    relations: usize,
    coverage: Option<f64>,
    addresses: &'static str,
    compute_ps: Time,
    overhead_ps: Time,
    weights_ps: Time,
    /// Bytes of weights read from off-chip memory.
    weight_traffic: Bytes,
    bandwidths: Vec<Bandwidth>,
    address_width: u32,
    #[serde(flatten)]
    basis: &'a Basis,
}

/// A bandwidth requirement of the cross-unit fusion paper, eqs. 10 and 11.
#[derive(Serialize)]
struct Bandwidth {
    what: String,
    needed: Option<u64>,
    given: Option<u64>,
    holds: Option<bool>,
}

/// The report on one plan.
#[derive(Serialize)]
pub(super) struct TierReport<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    algorithm: &'static str,
    claim: Claim,
    stop: Stop,
    /// The time of all transfers of placed tensors.
    transfer_ps: Option<Time>,
    transfer_seconds: Option<f64>,
    lower_bound_ps: Time,
    bound_reason: String,
    arithmetic: Arithmetic,
    gap_percent: Option<f64>,
    /// The share of on-chip memory in the bytes moved by placed tensors.
    on_chip_percent: Option<f64>,
    tensors_on_chip: Option<usize>,
    /// Bytes moved to and from off-chip memory, without weights.
    off_chip_traffic: Option<u64>,
    /// The sum of the times of computation, group starts, weight reads and transfers.
    inference_ps: Option<Time>,
    inference_seconds: Option<f64>,
    nodes: u64,
    seconds: f64,
    reason: Option<String>,
    tiers: Vec<TierRow<'a>>,
}

#[derive(Serialize)]
struct TierRow<'a> {
    tier: &'a str,
    kind: &'static str,
    capacity: Bytes,
    peak: Bytes,
    tensors: usize,
    traffic: Bytes,
}

impl<'a> About<'a> {
    /// Returns the report on one plan.
    pub(super) fn report(
        &'a self,
        algorithm: &'static str,
        outcome: &Outcome<Tiers>,
        seconds: f64,
    ) -> TierReport<'a> {
        let problem = &self.case.problem;
        let bound = finite(problem, outcome);
        let (time, plan) = (outcome.value, outcome.solution.as_ref());
        let moved = plan.map(|plan| on_and_off_chip(problem, &plan.traffic(problem)));
        let share = |(on, off): (u64, u64)| share(on as f64, on.saturating_add(off) as f64);
        let on_chip = |tier: &&TierId| problem.space(**tier).kind.is_on_chip();
        let inference = time.map(|time| self.inference(time));
        TierReport {
            head: self.head(),
            algorithm,
            claim: outcome.claim,
            stop: outcome.stop,
            transfer_ps: time,
            transfer_seconds: time.map(Time::seconds),
            lower_bound_ps: bound.value,
            bound_reason: bound.witness.in_words(problem),
            arithmetic: Arithmetic::of(&outcome.lower_bound.witness),
            gap_percent: time.and_then(|time| gap_percent(time.get(), bound.value.get())),
            on_chip_percent: moved.and_then(share),
            tensors_on_chip: plan.map(|plan| plan.tiers.iter().filter(on_chip).count()),
            off_chip_traffic: moved.map(|(_, off)| off),
            inference_ps: inference,
            inference_seconds: inference.map(Time::seconds),
            nodes: outcome.stats.nodes,
            seconds,
            reason: if time.is_none() { why_not(problem, outcome.claim) } else { None },
            tiers: plan.map_or(Vec::new(), |plan| self.tiers(plan)),
        }
    }

    /// Returns the part that all reports share.
    pub(super) fn head(&self) -> Head<'_> {
        let Self { graph, machine, case, rule, basis } = self;
        let TierTimes { compute, overhead, weights } = case.times;
        let tensors = case.problem.tensors();
        let bandwidth = |one: BandwidthCheck| Bandwidth {
            holds: one.holds(),
            needed: one.needed.map(|needed| u64::try_from(needed).unwrap_or(u64::MAX)),
            what: one.what,
            given: one.given,
        };
        Head {
            graph: graph.name(),
            machine: &machine.name,
            about: &machine.about,
            operators: graph.region(Graph::BODY).operators.len(),
            tensors: tensors.len(),
            bytes: tensors.iter().map(|one| one.bytes.get()).sum(),
            fusion: rule.map_or("none", UnitRule::as_str),
            groups: case.groups,
            optimised: case.coverage.optimised,
            relations: case.coverage.relations,
            coverage: case.coverage.ratio(),
            addresses: match case.problem.addresses() {
                Addresses::Counted => "counted",
                Addresses::Placed => "placed",
            },
            compute_ps: compute,
            overhead_ps: overhead,
            weights_ps: weights.time,
            weight_traffic: weights.traffic,
            bandwidths: machine.bandwidths().into_iter().map(bandwidth).collect(),
            address_width: machine.address_width(),
            basis,
        }
    }

    fn inference(&self, transfers: Time) -> Time {
        let TierTimes { compute, overhead, weights } = self.case.times;
        let parts = [compute, overhead, weights.time, transfers];
        Time::new(parts.iter().fold(0, |sum, part| sum.saturating_add(part.get())))
    }

    fn tiers(&self, plan: &TierPlan) -> Vec<TierRow<'_>> {
        let problem = &self.case.problem;
        let (traffic, peaks) = (plan.traffic(problem), plan.peaks(problem));
        let row = |tier: TierId| {
            let space = problem.space(tier);
            TierRow {
                tier: &space.name,
                kind: space.kind.as_str(),
                capacity: space.capacity,
                peak: peaks[tier.index()],
                tensors: plan.tiers.iter().filter(|&&one| one == tier).count(),
                traffic: traffic[tier.index()],
            }
        };
        problem.tiers().map(row).collect()
    }
}

impl Printed for Head<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        let [operators, tensors] = [(self.operators, "operator"), (self.tensors, "tensor")]
            .map(|(number, noun)| human::count(number, noun));
        let sum = human::sized(self.bytes, " bytes");
        text.line("graph", format_args!("{}: {operators}, {tensors} of {sum}", self.graph));
        let about = if self.about.is_empty() { String::new() } else { format!(": {}", self.about) };
        text.line("machine", format_args!("{}{about}", self.machine));
        if self.fusion != "none" {
            let share = self.coverage.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
            let [groups, relations] = [(self.groups, "group"), (self.relations, "relation")]
                .map(|(number, noun)| human::count(number, noun));
            let covered = format_args!("{} of {relations} optimised ({share})", self.optimised);
            text.line("fusion", format_args!("{}: {groups}, {covered}", self.fusion));
        }
    }
}

impl Printed for TierReport<'_> {
    fn print(&self, text: &mut Text) {
        let head = &self.head;
        head.print(text);
        let why = format!("{}{}", self.bound_reason, self.arithmetic.remark());
        text.line("lower bound", format_args!("{} ({why})", self.lower_bound_ps));
        let (name, claim) = (self.algorithm, self.claim);
        let (Some(time), Some(inference)) = (self.transfer_ps, self.inference_ps) else {
            let why = self.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            return text.line("placement", format_args!("{name}: {claim}{why}"));
        };
        let gap = self.gap_percent.filter(|gap| *gap > 0.0);
        let gap = gap.map_or(String::new(), |gap| format!(", {} % above the bound", percent(gap)));
        let claim = head.basis.claim(claim);
        text.line("placement", format_args!("{name}: {time} of transfers ({claim}{gap})"));
        let share = self.on_chip_percent.map_or("-".to_owned(), percent);
        let tensors = human::count(self.tensors_on_chip.unwrap_or_default(), "tensor");
        text.line("on-chip", format_args!("{share} % of the bytes moved, {tensors}"));
        let moved = human::sized(self.off_chip_traffic.unwrap_or_default(), " bytes");
        let weights = sized(head.weight_traffic, " bytes");
        text.line("off-chip", format_args!("{moved} moved, plus {weights} of weights"));
        let Head { compute_ps, overhead_ps, weights_ps, .. } = head;
        let parts = format_args!(
            "compute {compute_ps}, group starts {overhead_ps}, weights {weights_ps}, transfers {time}"
        );
        text.line("inference", format_args!("{inference} without overlap: {parts}"));
        let row =
            |one: &TierRow<'_>| cells![one.tier, one.kind, one.capacity, one.peak, one.tensors, one.traffic];
        let columns = ["tier", "kind", "capacity", "peak", "tensors", "bytes moved"];
        text.table(&columns, self.tiers.iter().map(row));
        // Bandwidths of which neither value is known are omitted.
        let known = head.bandwidths.iter().filter(|one| one.needed.is_some() || one.given.is_some());
        let row = |one: &Bandwidth| {
            let verdict = match one.holds {
                Some(true) => "sufficient",
                Some(false) => "too low",
                None => "unknown",
            };
            cells![&one.what, one.needed, one.given, verdict]
        };
        let rows: Vec<_> = known.map(row).collect();
        if !rows.is_empty() {
            text.table(&["bandwidth of", "required B/s", "given B/s", ""], rows);
        }
        let width = head.address_width;
        text.push(&format!("\nhigh address width {width} bits (sum over the memories between units)\n"));
    }
}

/// Returns the bound on the time. For an infeasible problem, this is the time with every tensor in its
/// cheapest tier.
pub(super) fn finite(problem: &TierProblem, outcome: &Outcome<Tiers>) -> Bound<Tiers> {
    match outcome.claim {
        Claim::Infeasible => cheapest_bound(problem),
        _ => outcome.lower_bound.clone(),
    }
}

/// Returns the reason why there is no plan, if it is known.
fn why_not(problem: &TierProblem, claim: Claim) -> Option<String> {
    if let Some(at) = problem.too_large() {
        let tensor = &problem.tensors()[at];
        return Some(format!(
            "tensor '{}' of {} bytes fits into none of its allowed tiers",
            tensor.name, tensor.bytes
        ));
    }
    (claim == Claim::Infeasible).then(|| "no choice of tiers fits all tensors at every step".to_owned())
}

/// Writes one row per tensor.
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
