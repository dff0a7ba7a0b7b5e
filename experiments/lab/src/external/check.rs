//! Checks the answer of a process and completes the row of the run.

use super::{External, ExternalAttempt, Said, Task};
use crate::row::{Row, Status, of_process};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::run::audit;
use plimsoll_model::{
    Bytes, Claim, Instance, Layout, LowerBound, Offsets, Outcome, Stats, Stop, Witness, WitnessSummary,
};

/// The kind of program that a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// A built-in algorithm. The process has already checked the bound that it prints.
    Own,
    /// An external program. Its reports are recorded but prove nothing. The field contains a bound that needs
    /// no search.
    Foreign(Bytes),
}

/// Runs a process with the parameters of a row and the given capacity, and checks its answer. Returns the
/// completed row, and the layout if it is valid. If `traced` is set, the row contains a trace. Returns
/// `None` if a request to stop ended the process.
pub fn answer(
    peer: &External,
    instance: &Instance,
    capacity: Bytes,
    asked: Row,
    traced: bool,
) -> Option<(Row, Option<Layout>)> {
    let floor = Bytes::new(asked.floor.unwrap_or_default());
    let whose = if peer.is_own() { Whose::Own } else { Whose::Foreign(floor) };
    let (limit, seed, threads) = (asked.time(), asked.seed, asked.threads);
    let attempt = peer.run(&Task { instance, capacity, limit, seed, threads });
    if attempt.interrupted {
        return None;
    }
    let reported = attempt.improvements();
    let mut row = asked;
    let layout = check(&mut row, instance, whose, attempt);
    if traced {
        row.trace = of_process(&row, &reported);
    }
    // If the process did not report its value, it may have found the value at any time during the run.
    let to_best = row.value.and_then(|value| reported.reached(value).or(row.seconds));
    Some((row.with_time_to_best(to_best), layout))
}

/// Checks an answer and completes its row. Returns the layout if it is valid.
fn check(row: &mut Row, instance: &Instance, whose: Whose, attempt: ExternalAttempt) -> Option<Layout> {
    let said = Said::last(&attempt.said);
    let stop = if attempt.timed_out { Stop::TimeLimit } else { Stop::Completed };
    row.seconds = Some(attempt.seconds);
    row.whole_process = true;
    row.peak_memory_bytes = attempt.peak_memory;
    row.timestamp = crate::machine::timestamp();
    row.nodes = said.nodes;
    row.stop = said.stop.filter(|_| !attempt.timed_out).or(Some(stop));
    let mut errors: Vec<String> = Vec::new();
    let valid = match attempt.layout {
        Err(why) => {
            without_layout(row, whose, &said, attempt.timed_out);
            if row.status == Status::Failed || whose != Whose::Own {
                errors.push(why);
            }
            None
        }
        Ok(layout) => with_layout(row, instance, whose, &said, stop, layout, &mut errors),
    };
    if let Whose::Foreign(_) = whose {
        // A claim other than `infeasible` or `unknown` requires a valid layout.
        let backed = valid.is_some() || matches!(said.claim, Some(Claim::Infeasible | Claim::Unknown));
        row.claimed = said.claim.filter(|_| backed).map(Into::into);
        row.claimed_bound = said.lower_bound;
    } else if row.is_done() {
        row.lower_bound = said.lower_bound;
        let solver = said.witness.as_ref().and_then(WitnessSummary::solver);
        row.arithmetic = row.lower_bound.map(|_| solver.map_or(Arithmetic::Exact, Arithmetic::by));
        row.witness = said.witness;
    }
    match attempt.elapsed {
        Some(Ok(elapsed)) => {
            row.own_seconds = Some(elapsed.seconds);
            row.own_resolution = Some(elapsed.resolution);
        }
        Some(Err(why)) => errors.push(why.to_string()),
        None if whose == Whose::Own => row.own_seconds = said.seconds,
        None => {}
    }
    // The exit code of a built-in process repeats information that the row already contains.
    let spoken = whose == Whose::Own && row.is_done() && !attempt.timed_out;
    errors.extend(attempt.remark.filter(|_| !spoken));
    row.error = errors.join("; ");
    valid
}

/// Completes the row of a run without a layout. The run counts as failed unless the time limit ended it or
/// the process reported a claim. If the process ran a built-in algorithm, the claim must be `infeasible` or
/// `unknown`.
fn without_layout(row: &mut Row, whose: Whose, said: &Said, timed_out: bool) {
    (row.status, row.claim) = match (said.claim, whose) {
        (Some(claim @ (Claim::Infeasible | Claim::Unknown)), Whose::Own) => (Status::Done, Some(claim)),
        (claim, _) if timed_out || claim.is_some() && whose != Whose::Own => {
            (Status::Done, Some(Claim::without_solution(false)))
        }
        _ => (Status::Failed, None),
    };
}

fn with_layout(
    row: &mut Row,
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
        (row.status, row.claim) = (Status::Done, Some(outcome.claim));
        row.value = Some(value.get());
        outcome.solution
    } else {
        row.status = Status::Refused;
        errors.truncate(3);
        None
    }
}
