//! What is printed of what is spilled.

use super::args::SpillArgs;
use super::input::Input;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::{BufferId, Bytes, Claim, Instance, Outcome, SpillProblem, Spilling, Witness, load};
use plimsoll::spill::{Capacity, Shortage};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{Basis, percent};
use serde::Serialize;
use std::fmt::Write as _;

/// Names shown of a set; all of them are in the JSON.
const MOST_NAMES: usize = 12;

/// What is printed of one run.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    instance: String,
    solver: &'static str,
    claim: &'static str,
    stop: &'static str,
    capacity: u64,
    load: u64,
    buffers: usize,
    need: Need,
    traffic: Option<u64>,
    lower_bound: u64,
    witness: String,
    arithmetic: Arithmetic,
    gap_percent: Option<f64>,
    on_chip: Option<u64>,
    spilled: Vec<Gone>,
    seconds: f64,
    nodes: u64,
    seed: u64,
    #[serde(flatten)]
    basis: Basis,
    #[serde(skip)]
    need_text: String,
}

/// Whether everything fits without spilling.
#[derive(Debug, Serialize)]
struct Need {
    /// `met`, `short` or `unknown`.
    capacity: &'static str,
    /// Bytes the capacity lacks, at least and at most.
    short_by_at_least: Option<u64>,
    short_by_at_most: Option<u64>,
    /// Buffers that do not fit together.
    reason: Vec<String>,
    /// What these need, bytes, at least.
    reason_needs: Option<u64>,
    reason_witness: Option<String>,
    /// Without any of them the others fit.
    irreducible: Option<bool>,
}

#[derive(Debug, Serialize)]
struct Gone {
    id: String,
    size: u64,
    traffic: u64,
}

impl Need {
    fn new(instance: &Instance, capacity: Bytes, need: &Capacity) -> Self {
        let word = match need {
            Capacity::Met => "met",
            Capacity::Short(_) => "short",
            Capacity::Unknown(_) => "unknown",
        };
        let Capacity::Short(short) = need else {
            return Self {
                capacity: word,
                short_by_at_least: None,
                short_by_at_most: None,
                reason: Vec::new(),
                reason_needs: None,
                reason_witness: None,
                irreducible: None,
            };
        };
        let over = |bytes: Bytes| bytes.get().saturating_sub(capacity.get());
        let reason = &short.reason;
        let contradicted = instance.contradiction().is_some();
        Self {
            capacity: word,
            short_by_at_least: (!contradicted).then(|| over(short.bound.value)),
            short_by_at_most: short.peak.map(over),
            reason: reason.buffers.iter().map(|&id| instance.buffer(id).name().to_owned()).collect(),
            reason_needs: (!contradicted).then(|| reason.bound.value.get()),
            reason_witness: Some(reason.bound.witness.in_words(instance)),
            irreducible: Some(reason.doubtful.is_empty()),
        }
    }
}

/// The lines about what everything needs.
pub(super) fn need_text(problem: &SpillProblem, need: &Capacity) -> String {
    let (instance, capacity) = (problem.instance(), problem.capacity());
    let mut text = String::new();
    let load = load(instance).0;
    let _ = writeln!(
        text,
        "{:<12} {}: {} buffers, load {load}, capacity {capacity}",
        "instance",
        instance.name(),
        instance.len()
    );
    match need {
        Capacity::Met => {
            let _ = writeln!(text, "{:<12} everything fits", "without");
        }
        Capacity::Unknown(stop) => {
            let _ = writeln!(text, "{:<12} undecided whether everything fits ({stop})", "without");
        }
        Capacity::Short(short) => {
            let (by, because) = shortage(instance, capacity, short);
            let _ = writeln!(text, "{:<12} {by} ({})", "without", short.bound.witness.in_words(instance));
            let _ = writeln!(text, "{:<12} {because}", "because");
            let reason = &short.reason;
            for line in named(instance, &reason.buffers) {
                let _ = writeln!(text, "{:<12}   {line}", "");
            }
        }
    }
    text
}

/// What the capacity lacks, and the buffers that need more.
fn shortage(instance: &Instance, capacity: Bytes, short: &Shortage) -> (String, String) {
    let reason = &short.reason;
    let (count, open) = (reason.buffers.len(), reason.doubtful.len());
    if instance.contradiction().is_some() {
        return ("no layout at any capacity".to_owned(), format!("{count} fixed offsets cannot all be kept"));
    }
    let least = short.bound.value.get() - capacity.get();
    let by = match short.peak.map(|peak| peak.get() - capacity.get()) {
        Some(most) if most == least => format!("short by {least} bytes"),
        Some(most) => format!("short by {least} to {most} bytes"),
        None => format!("short by at least {least} bytes"),
    };
    let what = match (count, open) {
        (1, _) if matches!(reason.bound.witness, Witness::Fixed { .. }) => {
            "1 buffer is fixed too high".to_owned()
        }
        (1, _) => "1 buffer is too large".to_owned(),
        (_, 0) => format!("{count} buffers do not fit together, but without any one of them they do"),
        _ => format!("{count} buffers do not fit together; of {open} it is open whether they are needed"),
    };
    let (needed, witness) = (reason.bound.value, reason.bound.witness.in_words(instance));
    (by, format!("{what}: needed are {needed} bytes ({witness})"))
}

fn named(instance: &Instance, buffers: &[BufferId]) -> Vec<String> {
    let one = |&id: &BufferId| {
        let (b, hull) = (instance.buffer(id), instance.buffer(id).lifespan().hull());
        format!("{} ({} bytes, steps {}..{})", b.name(), b.size(), hull.lower, hull.upper)
    };
    let mut lines: Vec<String> = buffers.iter().take(MOST_NAMES).map(one).collect();
    if buffers.len() > MOST_NAMES {
        lines.push(format!("and {} more", buffers.len() - MOST_NAMES));
    }
    lines
}

impl Report {
    pub(super) fn new(
        args: &SpillArgs,
        solver: &'static str,
        input: &Input,
        need: &Capacity,
        outcome: &Outcome<Spilling>,
        seconds: f64,
    ) -> Self {
        let problem = &input.problem;
        let instance = problem.instance();
        let gone = |id: BufferId| Gone {
            id: instance.buffer(id).name().to_owned(),
            size: instance.buffer(id).size().get(),
            traffic: problem.traffic(id).map_or(0, Bytes::get),
        };
        let bound = &outcome.lower_bound;
        Self {
            instance: instance.name().to_owned(),
            solver,
            claim: outcome.claim.as_str(),
            stop: outcome.stop.as_str(),
            capacity: problem.capacity().get(),
            load: load(instance).0.get(),
            buffers: instance.len(),
            need: Need::new(instance, problem.capacity(), need),
            traffic: outcome.value.map(Bytes::get),
            lower_bound: bound.value.get(),
            witness: if outcome.claim == Claim::Infeasible {
                "what has to stay does not fit".to_owned()
            } else {
                bound.witness.in_words(instance)
            },
            arithmetic: Arithmetic::of(&bound.witness),
            gap_percent: outcome.gap_percent(),
            on_chip: outcome.solution.as_ref().map(|spill| spill.peak(problem).get()),
            spilled: outcome.solution.iter().flat_map(|spill| spill.spilled().map(gone)).collect(),
            seconds,
            nodes: outcome.stats.nodes,
            seed: args.effort.seed,
            basis: input.basis.clone(),
            need_text: need_text(problem, need),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.basis.text();
        text.push_str(&self.need_text);
        let mut rows = vec![("solver", self.solver.to_owned()), ("claim", self.basis.claim(self.claim))];
        match self.traffic {
            Some(traffic) => {
                let bytes: u64 = self.spilled.iter().map(|gone| gone.size).sum();
                rows.push((
                    "spilled",
                    format!("{} of {} buffers, {bytes} bytes", self.spilled.len(), self.buffers),
                ));
                rows.push(("traffic", format!("{traffic} bytes")));
                rows.push(("on chip", format!("{} bytes", self.on_chip.unwrap_or(0))));
            }
            None if self.claim == Claim::Infeasible.as_str() => {
                rows.push(("traffic", format!("none: {}{}", self.witness, self.arithmetic.remark())));
            }
            None => rows.push(("traffic", "no plan was found".to_owned())),
        }
        if self.claim != Claim::Infeasible.as_str() {
            let remark = self.arithmetic.remark();
            rows.push(("lower bound", format!("{} bytes ({}{remark})", self.lower_bound, self.witness)));
        }
        if let Some(gap) = self.gap_percent {
            rows.push(("gap", format!("{} %", percent(gap))));
        }
        rows.push(("stop", self.stop.to_owned()));
        rows.push(("time", format!("{:.3} s, {} nodes", self.seconds, self.nodes)));
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<12} {value}");
        }
        if !self.spilled.is_empty() {
            let columns = [("spilled", Align::Left), ("bytes", Align::Right), ("traffic", Align::Right)];
            let mut table = Table::new(columns);
            let mut gone: Vec<&Gone> = self.spilled.iter().collect();
            gone.sort_by_key(|gone| std::cmp::Reverse(gone.traffic));
            for gone in gone {
                table.row([gone.id.clone(), gone.size.to_string(), gone.traffic.to_string()]);
            }
            let _ = write!(text, "\n{}", table.text());
        }
        text
    }
}
