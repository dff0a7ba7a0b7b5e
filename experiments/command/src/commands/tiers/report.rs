//! The report of `tiers`.

use crate::report::Report;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::fusion::UnitRule;
use plimsoll::model::graph::Graph;
use plimsoll::model::tiers::{
    Addresses, BandwidthCheck, TierMachine, TierPlan, TierProblem, TierTimes, Tiers, cheapest_bound,
    on_and_off_chip,
};
use plimsoll::model::timelines::Time;
use plimsoll::model::{Bound, Claim, Outcome, TierId};
use plimsoll::tiers::TierCase;
use plimsoll_lab::report::{Basis, gap_percent, percent, share};
use serde_json::{Value, json};
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

impl About<'_> {
    /// Returns the report on one placement.
    pub(super) fn report(&self, name: &str, outcome: &Outcome<Tiers>, seconds: f64) -> Report {
        let mut report = self.head();
        report.extend(self.placement(name, outcome, seconds));
        let tiers = outcome.solution.as_ref().map_or(Vec::new(), |plan| self.tiers(plan));
        report.extend(json!({ "tiers": tiers }));
        let bound = finite(&self.case.problem, outcome);
        let remark = Arithmetic::of(&outcome.lower_bound.witness).remark();
        report.line(
            "lower bound",
            format_args!("{} ({}{remark})", bound.value, bound.witness.in_words(&self.case.problem)),
        );
        let Some(time) = outcome.value else {
            let why = why_not(&self.case.problem, outcome.claim);
            let why = why.map_or(String::new(), |reason| format!(": {reason}"));
            report.line("placement", format_args!("{name}: {}{why}", outcome.claim));
            return report;
        };
        let gap = gap(time, bound.value).filter(|gap| *gap > 0.0);
        let gap = gap.map_or(String::new(), |gap| format!(", {} % above the bound", percent(gap)));
        let claim = self.basis.claim(outcome.claim);
        report.line("placement", format_args!("{name}: {time} of transfers ({claim}{gap})"));
        report.show("on-chip", "{on_chip_percent} % of the bytes moved, {tensors_on_chip tensor}");
        report.show("off-chip", "{off_chip_traffic bytes} moved, plus {weight_traffic bytes} of weights");
        let inference = "{inference_ps} without overlap: compute {compute_ps}, group starts {overhead_ps}, \
                         weights {weights_ps}, transfers {transfer_ps}";
        report.show("inference", inference);
        report.table(&tiers, "tier, kind, capacity, peak, tensors, bytes moved = traffic");
        self.bandwidth_lines(&mut report);
        report
    }

    /// Returns the part that all reports share.
    pub(super) fn head(&self) -> Report {
        let Self { graph, machine, case, rule, basis } = self;
        let TierTimes { compute, overhead, weights } = case.times;
        // The placed tensors. Tensors that share memory count as one; scratch buffers and regions of
        // operators count too.
        let tensors = case.problem.tensors();
        let object = json!({
            "graph": graph.name(),
            "machine": machine.name,
            "about": machine.about,
            "operators": graph.region(Graph::BODY).operators.len(),
            "tensors": tensors.len(),
            "bytes": tensors.iter().map(|one| one.bytes.get()).sum::<u64>(),
            "fusion": rule.map_or("none", UnitRule::as_str),
            "groups": case.groups,
            "optimised": case.coverage.optimised,
            "relations": case.coverage.relations,
            "coverage": case.coverage.ratio(),
            "addresses": match case.problem.addresses() {
                Addresses::Counted => "counted",
                Addresses::Placed => "placed",
            },
            "compute_ps": compute,
            "overhead_ps": overhead,
            "weights_ps": weights.time,
            // Bytes of weights read from off-chip memory.
            "weight_traffic": weights.traffic,
            "bandwidths": self.bandwidths(),
            "address_width": machine.address_width(),
        });
        let mut report = Report::of_graph(object, basis);
        report.show("graph", "{graph}: {operators operator}, {tensors tensor} of {bytes bytes}");
        report.show("machine", if machine.about.is_empty() { "{machine}" } else { "{machine}: {about}" });
        if rule.is_some() {
            let share =
                case.coverage.ratio().map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
            let covered = "{fusion}: {groups group}, {optimised} of {relations relation} optimised";
            report.show("fusion", &format!("{covered} ({share})"));
        }
        report
    }

    /// Returns the JSON members that describe one placement.
    pub(super) fn placement(&self, name: &str, outcome: &Outcome<Tiers>, seconds: f64) -> Value {
        let problem = &self.case.problem;
        let bound = finite(problem, outcome);
        let (time, plan) = (outcome.value, outcome.solution.as_ref());
        let moved = plan.map(|plan| on_and_off_chip(problem, &plan.traffic(problem)));
        let share = |(on, off): (u64, u64)| share(on as f64, on.saturating_add(off) as f64);
        let on_chip = |tier: &&TierId| problem.space(**tier).kind.is_on_chip();
        let inference = time.map(|time| self.inference(time));
        json!({
            "placement": name,
            "claim": outcome.claim,
            "stop": outcome.stop,
            // The time of all transfers of placed tensors.
            "transfer_ps": time,
            "transfer_seconds": time.map(Time::seconds),
            "lower_bound_ps": bound.value,
            "bound_reason": bound.witness.in_words(problem),
            "arithmetic": Arithmetic::of(&outcome.lower_bound.witness),
            "gap_percent": time.and_then(|time| gap(time, bound.value)),
            // The share of on-chip memory in the bytes moved by placed tensors, in percent.
            "on_chip_percent": moved.and_then(share),
            "tensors_on_chip": plan.map(|plan| plan.tiers.iter().filter(on_chip).count()),
            // Bytes moved to and from off-chip memory, without weights.
            "off_chip_traffic": moved.map(|(_, off)| off),
            "inference_ps": inference,
            "inference_seconds": inference.map(Time::seconds),
            "nodes": outcome.stats.nodes,
            "seconds": seconds,
            "reason": if time.is_none() { why_not(problem, outcome.claim) } else { None },
        })
    }

    /// Returns the inference time: the sum of the times of computation, group starts, weight reads and
    /// transfers.
    fn inference(&self, transfers: Time) -> Time {
        let TierTimes { compute, overhead, weights } = self.case.times;
        let parts = [compute, overhead, weights.time, transfers];
        Time::new(parts.iter().fold(0, |sum, part| sum.saturating_add(part.get())))
    }

    fn tiers(&self, plan: &TierPlan) -> Vec<Value> {
        let problem = &self.case.problem;
        let (traffic, peaks) = (plan.traffic(problem), plan.peaks(problem));
        let row = |tier: TierId| {
            let space = problem.space(tier);
            json!({
                "tier": space.name,
                "kind": space.kind.as_str(),
                "capacity": space.capacity,
                "peak": peaks[tier.index()],
                "tensors": plan.tiers.iter().filter(|&&one| one == tier).count(),
                "traffic": traffic[tier.index()],
            })
        };
        problem.tiers().map(row).collect()
    }

    /// Returns the bandwidth requirements of the cross-unit fusion paper, eqs. 10 and 11.
    fn bandwidths(&self) -> Vec<Value> {
        let row = |one: BandwidthCheck| {
            let needed = one.needed.map(|needed| u64::try_from(needed).unwrap_or(u64::MAX));
            json!({ "what": one.what, "needed": needed, "given": one.given, "holds": one.holds() })
        };
        self.machine.bandwidths().into_iter().map(row).collect()
    }

    /// Adds the bandwidths for which a required or a given value is known, and the address width.
    fn bandwidth_lines(&self, report: &mut Report) {
        let mut rows = self.bandwidths();
        rows.retain(|row| !(row["needed"].is_null() && row["given"].is_null()));
        for row in &mut rows {
            row["verdict"] = match row["holds"].as_bool() {
                Some(true) => "sufficient".into(),
                Some(false) => "too low".into(),
                None => "unknown".into(),
            };
        }
        if !rows.is_empty() {
            report.table(&rows, "bandwidth of = what, required B/s = needed, given B/s = given,  = verdict");
        }
        let width = self.machine.address_width();
        report.push(&format!("\nhigh address width {width} bits (sum over the memories between units)\n"));
    }
}

fn gap(time: Time, bound: Time) -> Option<f64> {
    gap_percent(time.get(), bound.get())
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
