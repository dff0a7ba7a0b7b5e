//! The report of `spill`.

use super::args::SpillArgs;
use super::input::Input;
use crate::report::{Report, bytes, capacity as limited, noted, pinned, pins, size};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::{BufferId, Bytes, Claim, Instance, Outcome, Spill, Spilling, Witness, load};
use plimsoll::spilling::{Capacity, Shortage};
use plimsoll_lab::report::{gap_percent, human};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Maximum number of buffers of the conflict that are listed in the text; the JSON object lists all.
const MOST_NAMES: usize = 12;

/// Maximum number of spilled buffers that are listed in the text; the JSON object lists all.
const MOST_ROWS: usize = 200;

/// Returns the report on one run.
pub(super) fn report(
    args: &SpillArgs,
    solver: &str,
    input: &Input,
    need: &Capacity,
    outcome: &Outcome<Spilling>,
    seconds: f64,
) -> Report {
    let problem = &input.problem;
    let instance = problem.instance();
    let (bound, is_infeasible) = (&outcome.lower_bound, outcome.claim == Claim::Infeasible);
    let arithmetic = Arithmetic::of(&bound.witness);
    let gap = outcome.value.and_then(|value| gap_percent(value.get(), bound.value.get()));
    let witness = if is_infeasible {
        "the buffers that must stay do not fit".to_owned()
    } else {
        input.words(&bound.witness)
    };
    let spilled: Vec<BufferId> = outcome.solution.iter().flat_map(Spill::spilled).collect();
    let row = |&id: &BufferId| {
        let (buffer, traffic) = (instance.buffer(id), problem.traffic(id).unwrap_or_default());
        json!({ "id": buffer.name(), "size": buffer.size(), "traffic": traffic })
    };
    // A list of a million objects takes hundreds of megabytes.
    let rows = if args.json { spilled.iter().map(row).collect() } else { Value::Null };
    let object = json!({
        "instance": instance.name(),
        "solver": solver,
        "claim": outcome.claim,
        "stop": outcome.stop,
        "capacity": problem.capacity(),
        "capacity_from": input.capacity_from,
        "pinned": pinned(instance),
        "load": load(instance).0,
        "buffers": instance.len(),
        "need": need_of(input, need),
        "traffic": outcome.value,
        "lower_bound": bound.value,
        "witness": witness,
        "arithmetic": arithmetic,
        "gap_percent": gap,
        "on_chip": outcome.solution.as_ref().map(|spill| spill.peak(problem)),
        "spilled": rows,
        "seconds": seconds,
        "nodes": outcome.stats.nodes,
        "seed": args.effort.seed,
    });
    let mut report = Report::of_graph(object, &input.basis);
    report.push(&need_text(input, need));
    report.lines(&["solver", "claim"]);
    let remark = arithmetic.remark();
    if outcome.value.is_some() {
        let sum: u64 = spilled.iter().map(|&id| instance.buffer(id).size().get()).sum();
        let sum = bytes(Bytes::new(sum));
        report.show("spilled", &format!("{} of {{buffers buffer}}, {sum}", spilled.len()));
        report.show("traffic", "{traffic bytes}");
        report.show("on-chip", "{on_chip bytes}");
    } else if is_infeasible {
        report.line("traffic", format_args!("none: {witness}{remark}"));
    } else {
        report.line("traffic", "no plan found");
    }
    if !is_infeasible {
        report.line("lower bound", noted(&bytes(bound.value), &(witness + remark)));
    }
    report.gap(gap);
    report.lines(&["stop", "seconds"]);
    let mut listed = spilled;
    if !listed.is_empty() && !args.json {
        listed.sort_by_key(|&id| std::cmp::Reverse(problem.traffic(id)));
        let rows: Vec<Value> = listed.iter().take(MOST_ROWS).map(row).collect();
        report.table(&rows, "spilled = id, bytes = size, traffic");
        if listed.len() > MOST_ROWS {
            let more = human::count(listed.len() - MOST_ROWS, "more buffer");
            report.verbatim(&format!("and {more} (--output FILE.csv lists all)\n"));
        }
    }
    report
}

/// Returns whether all buffers fit without spilling, and the shortfall if they do not.
fn need_of(input: &Input, need: &Capacity) -> Value {
    let (instance, capacity) = (input.problem.instance(), input.problem.capacity());
    let (word, short) = match need {
        Capacity::Met => ("met", None),
        Capacity::Short(short) => ("short", Some(short)),
        Capacity::Unknown(_) => ("unknown", None),
    };
    let over = |bytes: Bytes| bytes.get().saturating_sub(capacity.get());
    let reason = short.map(|short| &short.reason);
    // Contradictory fixed offsets have no bound in bytes.
    let bounded = short.filter(|_| instance.contradiction().is_none());
    let names = reason.iter().flat_map(|reason| &reason.buffers).map(|&id| instance.buffer(id).name());
    json!({
        "capacity": word,
        // The shortfall in bytes.
        "shortfall_min": bounded.map(|short| over(short.bound.value)),
        "shortfall_max": short.and_then(|short| short.peak).map(over),
        // Buffers that do not fit together, and a lower bound on the bytes that they need.
        "reason": names.collect::<Vec<_>>(),
        "reason_needs": bounded.map(|short| short.reason.bound.value),
        "reason_witness": reason.map(|reason| input.words(&reason.bound.witness)),
        // True if removing any one of these buffers makes the others fit.
        "irreducible": reason.map(|reason| reason.doubtful.is_empty()),
    })
}

/// Returns the lines about the instance and its shortfall.
pub(super) fn need_text(input: &Input, need: &Capacity) -> String {
    let (instance, capacity) = (input.problem.instance(), input.problem.capacity());
    let mut text = String::new();
    let load = load(instance).0;
    let _ = writeln!(
        text,
        "{:<12} {}: {}, load {}{}",
        "instance",
        instance.name(),
        human::count(instance.len(), "buffer"),
        size(load),
        limited(capacity, input.capacity_from)
    );
    if pinned(instance) > 0 {
        let _ = writeln!(text, "{:<12} {}", "pinned", pins(pinned(instance), instance.len()));
    }
    match need {
        Capacity::Met => {
            let _ = writeln!(text, "{:<12} none, all buffers fit", "shortfall");
        }
        Capacity::Unknown(stop) => {
            let _ =
                writeln!(text, "{:<12} unknown, the search stopped without an answer ({stop})", "shortfall");
        }
        Capacity::Short(short) => {
            let (shortfall, conflict) = shortage(input, short);
            let why = input.words(&short.bound.witness);
            let _ = writeln!(text, "{:<12} {}", "shortfall", noted(&shortfall, &why));
            let _ = writeln!(text, "{:<12} {conflict}", "conflict");
            let reason = &short.reason;
            for line in named(instance, &reason.buffers) {
                let _ = writeln!(text, "{:<12}   {line}", "");
            }
        }
    }
    text
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
