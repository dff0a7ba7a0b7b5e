//! Checks the answer of a process and completes the record of the run.

use super::{External, ExternalAttempt, Said, Task};
use crate::record::{Record, of_process};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::run::audit;
use plimsoll_model::{Bytes, Instance, Layout, LowerBound, Offsets, Outcome, Stats, Stop, Witness};

/// The kind of program that a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// A built-in algorithm. The process has already checked the bound that it prints.
    Own,
    /// An external program. Its reports are recorded but prove nothing. The field contains the best bound
    /// that built-in algorithms have proved.
    Foreign(Bytes),
}

/// Termination reasons that a process may report.
const STOPS: [&str; 5] = ["completed", "target", "time-limit", "node-limit", "interrupted"];

/// Runs a process with the parameters of a record and the given capacity, and checks its answer. Returns the
/// completed record, and the layout if it is valid. If `traced` is set, the record contains a trace. Returns
/// `None` if a request to stop ended the process.
pub fn answer(
    peer: &External,
    instance: &Instance,
    capacity: Bytes,
    whose: Whose,
    asked: Record,
    traced: bool,
) -> Option<(Record, Option<Layout>)> {
    let (limit, seed, threads) = (asked.time(), asked.seed, asked.threads);
    let attempt = peer.run(&Task { instance, capacity, limit, seed, threads });
    if attempt.interrupted {
        return None;
    }
    let reported = attempt.improvements();
    let mut record = asked;
    let layout = check(&mut record, instance, whose, attempt);
    if traced {
        record.trace = of_process(&record, &reported);
    }
    // If the process did not report its value, it may have found the value at any time during the run.
    let to_best = record.value.and_then(|value| reported.reached(value).or(record.seconds));
    Some((record.with_time_to_best(to_best), layout))
}

/// Checks an answer and completes its record. Returns the layout if it is valid.
fn check(record: &mut Record, instance: &Instance, whose: Whose, attempt: ExternalAttempt) -> Option<Layout> {
    let said = Said::last(&attempt.said);
    let stop = if attempt.timed_out { Stop::TimeLimit } else { Stop::Completed };
    record.seconds = Some(attempt.seconds);
    record.whole_process = true;
    record.peak_memory_bytes = attempt.peak_memory;
    record.timestamp = crate::machine::timestamp();
    record.nodes = said.nodes;
    match &said.stop {
        Some(own) if !attempt.timed_out && STOPS.contains(&own.as_str()) => record.stop.clone_from(own),
        _ => stop.as_str().clone_into(&mut record.stop),
    }
    let mut errors: Vec<String> = Vec::new();
    let valid = match attempt.layout {
        Err(why) => {
            without_layout(record, whose, &said, attempt.timed_out);
            if record.status == "failed" || whose != Whose::Own {
                errors.push(why);
            }
            None
        }
        Ok(layout) => with_layout(record, instance, whose, &said, stop, layout, &mut errors),
    };
    if let Whose::Foreign(_) = whose {
        // A claim other than `infeasible` or `unknown` requires a valid layout.
        let backed = valid.is_some() || matches!(said.claim.as_deref(), Some("infeasible" | "unknown"));
        record.claimed = said.claim.filter(|_| backed).unwrap_or_default();
        record.claimed_bound = said.lower_bound;
    } else if record.status == "done" {
        record.lower_bound = said.lower_bound;
        record.bound_witness = said.witness.unwrap_or_default();
        if record.lower_bound.is_some() {
            Arithmetic::of_words(&record.bound_witness).as_str().clone_into(&mut record.arithmetic);
        }
    }
    match attempt.elapsed {
        Some(Ok(elapsed)) => {
            record.own_seconds = Some(elapsed.seconds);
            record.own_resolution = Some(elapsed.resolution);
        }
        Some(Err(why)) => errors.push(why.to_string()),
        None if whose == Whose::Own => record.own_seconds = said.seconds,
        None => {}
    }
    // The exit code of a built-in process repeats information that the row already contains.
    let spoken = whose == Whose::Own && record.status == "done" && !attempt.timed_out;
    errors.extend(attempt.remark.filter(|_| !spoken));
    record.error = errors.join("; ");
    valid
}

/// Completes the record of a run without a layout. The run counts as failed unless the time limit ended it or
/// the process reported a claim. If the process ran a built-in algorithm, the claim must be `infeasible` or
/// `unknown`.
fn without_layout(record: &mut Record, whose: Whose, said: &Said, timed_out: bool) {
    match (&said.claim, whose) {
        (Some(claim), Whose::Own) if matches!(claim.as_str(), "infeasible" | "unknown") => {
            "done".clone_into(&mut record.status);
            record.claim.clone_from(claim);
        }
        (claim, _) if timed_out || claim.is_some() && whose != Whose::Own => {
            "done".clone_into(&mut record.status);
            "unknown".clone_into(&mut record.claim);
        }
        _ => "failed".clone_into(&mut record.status),
    }
}

fn with_layout(
    record: &mut Record,
    instance: &Instance,
    whose: Whose,
    said: &Said,
    stop: Stop,
    layout: Layout,
    errors: &mut Vec<String>,
) -> Option<Layout> {
    let value = layout.peak(instance);
    let bound = match whose {
        Whose::Own => Bytes::new(said.lower_bound.unwrap_or(0)),
        Whose::Foreign(bound) => bound,
    };
    let proved = if value < bound {
        errors.push(format!("the peak {value} is below the proven bound {bound}"));
        LowerBound::trivial()
    } else {
        // The bound was proved elsewhere. Here it is only used to derive the claim.
        LowerBound::new(bound, Witness::Search { solver: "bench".to_owned() })
    };
    let outcome = Outcome::<Offsets>::of(instance, Some(layout), proved, stop, Stats::default());
    errors.extend(audit::<Offsets>(instance, &outcome));
    if errors.is_empty() {
        "done".clone_into(&mut record.status);
        "valid".clone_into(&mut record.verdict);
        outcome.claim.as_str().clone_into(&mut record.claim);
        record.value = Some(value.get());
        outcome.solution
    } else {
        "refused".clone_into(&mut record.status);
        "refused".clone_into(&mut record.verdict);
        errors.truncate(3);
        None
    }
}
