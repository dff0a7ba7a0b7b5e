//! The report of `spill`.

use super::args::SpillArgs;
use super::input::Input;
use crate::report::{
    Printed, Text, WithLayout, assumptions, bytes, capacity as limited, cells, names, noted, pinned, pins,
    size, sized,
};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::assumptions::Assumption;
use plimsoll::model::csv::Rows;
use plimsoll::model::{
    BufferId, Bytes, Claim, Instance, Outcome, Spill, SpillProblem, Spilling, Stop, Witness, load,
};
use plimsoll::spilling::{Capacity, Shortage};
use plimsoll_lab::report::{Basis, gap_percent, human};
use serde::Serialize;

/// Maximum number of buffers of the conflict that are listed in the text; the JSON object lists all.
const MOST_NAMES: usize = 12;

/// Maximum number of spilled buffers that are listed in the text; the JSON object lists all.
const MOST_ROWS: usize = 200;

/// The report on one run.
#[derive(Serialize)]
pub(super) struct SpillReport<'a> {
    instance: &'a str,
    algorithm: &'static str,
    claim: Claim,
    stop: Stop,
    capacity: Bytes,
    capacity_from: Option<&'static str>,
    pinned: usize,
    load: Bytes,
    buffers: usize,
    need: Need<'a>,
    traffic: Option<Bytes>,
    lower_bound: Bytes,
    witness: String,
    arithmetic: Arithmetic,
    gap_percent: Option<f64>,
    on_chip: Option<Bytes>,
    spilled: Vec<Spilled<'a>>,
    seconds: f64,
    nodes: u64,
    seed: u64,
    #[serde(flatten)]
    basis: &'a Basis,
    /// The assumptions of a graph.
    #[serde(serialize_with = "assumptions", skip_serializing_if = "Vec::is_empty")]
    assumptions: &'a Vec<Assumption>,
    #[serde(flatten)]
    layout: Option<WithLayout<'a>>,
    #[serde(skip)]
    head: Head<'a>,
}

/// A spilled buffer.
#[derive(Serialize)]
struct Spilled<'a> {
    id: &'a str,
    size: Bytes,
    traffic: Bytes,
}

/// Whether all buffers fit without spilling.
#[derive(Serialize)]
struct Need<'a> {
    capacity: &'static str,
    shortfall_min: Option<Bytes>,
    shortfall_max: Option<Bytes>,
    /// Buffers that do not fit together, and a lower bound on the bytes that they need.
    reason: Vec<&'a str>,
    reason_needs: Option<Bytes>,
    reason_witness: Option<String>,
    /// True if removing any one of these buffers makes the others fit.
    irreducible: Option<bool>,
}

impl<'a> SpillReport<'a> {
    pub(super) fn new(
        args: &SpillArgs,
        algorithm: &'static str,
        input: &'a Input,
        need: &'a Capacity,
        (outcome, seconds): (&'a Outcome<Spilling>, f64),
    ) -> Self {
        let problem = &input.problem;
        let (instance, solution) = (problem.instance(), outcome.solution.as_ref());
        let bound = &outcome.lower_bound;
        let row = |id: BufferId| {
            let (buffer, traffic) = (instance.buffer(id), problem.traffic(id).unwrap_or_default());
            Spilled { id: buffer.name(), size: buffer.size(), traffic }
        };
        Self {
            instance: instance.name(),
            algorithm,
            claim: outcome.claim,
            stop: outcome.stop,
            capacity: problem.capacity(),
            capacity_from: input.capacity_from,
            pinned: pinned(instance),
            load: load(instance).0,
            buffers: instance.len(),
            need: Need::of(input, need),
            traffic: outcome.value,
            lower_bound: bound.value,
            witness: match outcome.claim {
                Claim::Infeasible => "the buffers that must stay do not fit".to_owned(),
                _ => input.words(&bound.witness),
            },
            arithmetic: Arithmetic::of(&bound.witness),
            gap_percent: outcome.value.and_then(|value| gap_percent(value.get(), bound.value.get())),
            on_chip: solution.map(|spill| spill.peak(problem)),
            spilled: solution.into_iter().flat_map(Spill::spilled).map(row).collect(),
            seconds,
            nodes: outcome.stats.nodes,
            seed: args.effort.seed,
            basis: &input.basis,
            assumptions: &input.assumptions,
            layout: args.with_layout.then(|| WithLayout { layout: solution.map(|one| places(problem, one)) }),
            head: Head { instance: instance.name(), basis: &input.basis, input, need },
        }
    }
}

impl Printed for SpillReport<'_> {
    fn print(&self, text: &mut Text) {
        self.head.print(text);
        text.line("algorithm", self.algorithm);
        text.line("claim", self.basis.claim(self.claim));
        let why = format!("{}{}", self.witness, self.arithmetic.remark());
        let is_infeasible = self.claim == Claim::Infeasible;
        if let (Some(traffic), Some(on_chip)) = (self.traffic, self.on_chip) {
            let sum = bytes(Bytes::new(self.spilled.iter().map(|one| one.size.get()).sum()));
            let buffers = human::count(self.buffers, "buffer");
            text.line("spilled", format_args!("{} of {buffers}, {sum}", self.spilled.len()));
            text.line("traffic", sized(traffic, " bytes"));
            text.line("on-chip", sized(on_chip, " bytes"));
        } else if is_infeasible {
            text.line("traffic", format_args!("none: {why}"));
        } else {
            text.line("traffic", "no plan found");
        }
        if !is_infeasible {
            text.line("lower bound", noted(&bytes(self.lower_bound), &why));
        }
        text.gap(self.gap_percent);
        text.line("stop", self.stop);
        text.search(self.seconds, self.nodes);
        let mut listed: Vec<&Spilled<'_>> = self.spilled.iter().collect();
        if !listed.is_empty() {
            listed.sort_by_key(|one| std::cmp::Reverse(one.traffic));
            let rows = listed.iter().take(MOST_ROWS).map(|one| cells![one.id, one.size, one.traffic]);
            text.table(&["spilled", "bytes", "traffic"], rows);
            if listed.len() > MOST_ROWS {
                let more = human::count(listed.len() - MOST_ROWS, "more buffer");
                text.verbatim(&format!("and {more} (--output FILE.csv lists all)\n"));
            }
        }
        if !self.assumptions.is_empty() {
            text.assuming(self.assumptions);
        }
    }
}

impl<'a> Need<'a> {
    fn of(input: &'a Input, need: &Capacity) -> Self {
        let (instance, capacity) = (input.problem.instance(), input.problem.capacity());
        let (word, short) = match need {
            Capacity::Met => ("met", None),
            Capacity::Short(short) => ("short", Some(short)),
            Capacity::Unknown(_) => ("unknown", None),
        };
        let over = |bytes: Bytes| Bytes::new(bytes.get().saturating_sub(capacity.get()));
        let reason = short.map(|short| &short.reason);
        // Contradictory fixed offsets have no bound in bytes.
        let bounded = short.filter(|_| instance.contradiction().is_none());
        Self {
            capacity: word,
            shortfall_min: bounded.map(|short| over(short.bound.value)),
            shortfall_max: short.and_then(|short| short.peak).map(over),
            reason: reason.map_or(Vec::new(), |reason| names(instance, &reason.buffers)),
            reason_needs: bounded.map(|short| short.reason.bound.value),
            reason_witness: reason.map(|reason| input.words(&reason.bound.witness)),
            irreducible: reason.map(|reason| reason.doubtful.is_empty()),
        }
    }
}

/// The head of a report on an instance.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    pub instance: &'a str,
    #[serde(flatten)]
    pub basis: &'a Basis,
    #[serde(skip)]
    pub input: &'a Input,
    #[serde(skip)]
    pub need: &'a Capacity,
}

impl Printed for Head<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        let Self { input, need, .. } = self;
        let (instance, capacity) = (input.problem.instance(), input.problem.capacity());
        let (buffers, load) = (human::count(instance.len(), "buffer"), size(load(instance).0));
        let limit = limited(capacity, input.capacity_from);
        let mut line = |name: &str, words: String| text.push(&format!("{name:<12} {words}\n"));
        line("instance", format!("{}: {buffers}, load {load}{limit}", instance.name()));
        if pinned(instance) > 0 {
            line("pinned", pins(pinned(instance), instance.len()));
        }
        match need {
            Capacity::Met => line("shortfall", "none, all buffers fit".to_owned()),
            Capacity::Unknown(stop) => {
                line("shortfall", format!("unknown, the search stopped without an answer ({stop})"));
            }
            Capacity::Short(short) => {
                let (shortfall, conflict) = shortage(input, short);
                line("shortfall", noted(&shortfall, &input.words(&short.bound.witness)));
                line("conflict", conflict);
                for buffer in named(instance, &short.reason.buffers) {
                    line("", format!("  {buffer}"));
                }
            }
        }
    }
}

/// Returns descriptions of the shortfall and of the set of buffers that do not fit together.
fn shortage(input: &Input, short: &Shortage) -> (String, String) {
    let (instance, capacity) = (input.problem.instance(), input.problem.capacity());
    let reason = &short.reason;
    let (count, open) = (reason.buffers.len(), reason.doubtful.len());
    let over = |peak: Bytes| Bytes::new(peak.get().saturating_sub(capacity.get()));
    let least = over(short.bound.value);
    let shortfall = match short.peak.map(over) {
        _ if instance.contradiction().is_some() => "no capacity is sufficient".to_owned(),
        Some(most) if most == least => bytes(least),
        Some(most) => format!("{} to {}", size(least), bytes(most)),
        None => format!("at least {}", bytes(least)),
    };
    if matches!(reason.bound.witness, Witness::Contradiction { .. }) {
        return (shortfall, format!("{count} fixed offsets contradict each other"));
    }
    let (needed, witness) = (bytes(reason.bound.value), input.words(&reason.bound.witness));
    let what = match (count, open) {
        (1, _) if matches!(reason.bound.witness, Witness::Fixed { .. }) => {
            format!("1 buffer is fixed above the capacity and needs at least {needed}")
        }
        (1, _) => format!("1 buffer exceeds the capacity and needs at least {needed}"),
        (_, 0) => {
            format!("minimal set of {count} buffers that need at least {needed} together")
        }
        _ => {
            format!("{count} buffers that need at least {needed} together, {open} possibly redundant")
        }
    };
    (shortfall, noted(&what, &witness))
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

/// Returns one row per buffer.
pub(super) fn places<'a>(problem: &'a SpillProblem, spill: &'a Spill) -> Rows<'a> {
    let offset = |id: BufferId| spill.offsets()[id.index()];
    Rows::new(problem.instance())
        .with("traffic", |id| problem.traffic(id).into())
        .with("tier", move |id| if offset(id).is_some() { "chip" } else { "slow" }.into())
        .with("offset", move |id| offset(id).into())
}
