//! What another process left behind, through the checker and into its row.

use super::{ExternalAttempt, Said};
use crate::report::rows::Row;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::run::audit;
use plimsoll_model::{Bytes, Instance, Layout, LowerBound, Offsets, Outcome, Stats, Stop, Witness};

/// Whose process it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// One of our own algorithms: its bound went through the audit of the process that printed it.
    Own,
    /// Somebody else's: what it says is kept, and proves nothing. The bound is the best that our own runs proved.
    Foreign(Bytes),
}

/// Why a run may say it ended.
const STOPS: [&str; 5] = ["completed", "target", "time-limit", "node-limit", "interrupted"];

/// Puts an answer through the checker and into its row; hands the layout back where it is valid.
pub fn judge(
    row: &mut Row,
    instance: &Instance,
    whose: Whose,
    attempt: ExternalAttempt,
) -> Option<(Layout, Bytes)> {
    let said = Said::last(&attempt.said);
    let stop = if attempt.timed_out { Stop::TimeLimit } else { Stop::Completed };
    row.seconds = Some(attempt.seconds);
    row.whole_process = true;
    row.peak_memory_bytes = attempt.peak_memory;
    row.timestamp = crate::machine::timestamp();
    row.nodes = said.nodes;
    match &said.stop {
        Some(own) if !attempt.timed_out && STOPS.contains(&own.as_str()) => row.stop.clone_from(own),
        _ => stop.as_str().clone_into(&mut row.stop),
    }
    let mut errors: Vec<String> = Vec::new();
    let valid = match attempt.layout {
        Err(why) => {
            without_layout(row, whose, &said, attempt.timed_out);
            if row.status == "failed" || whose != Whose::Own {
                errors.push(why);
            }
            None
        }
        Ok(layout) => with_layout(row, instance, whose, &said, stop, layout, &mut errors),
    };
    if let Whose::Foreign(_) = whose {
        // Without a layout only infeasibility can be claimed.
        let backed = valid.is_some() || matches!(said.claim.as_deref(), Some("infeasible" | "unknown"));
        row.claimed = said.claim.filter(|_| backed).unwrap_or_default();
        row.claimed_bound = said.lower_bound;
    } else if row.status == "done" {
        row.lower_bound = said.lower_bound;
        row.bound_witness = said.witness.unwrap_or_default();
        if row.lower_bound.is_some() {
            Arithmetic::of_words(&row.bound_witness).as_str().clone_into(&mut row.arithmetic);
        }
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
    // Our own exit codes say what the row says already.
    let spoken = whose == Whose::Own && row.status == "done" && !attempt.timed_out;
    errors.extend(attempt.remark.filter(|_| !spoken));
    row.error = errors.join("; ");
    valid
}

/// Nothing to check: a failure, unless time ran out or it said why there is nothing.
fn without_layout(row: &mut Row, whose: Whose, said: &Said, timed_out: bool) {
    match (&said.claim, whose) {
        (Some(claim), Whose::Own) if matches!(claim.as_str(), "infeasible" | "unknown") => {
            "done".clone_into(&mut row.status);
            row.claim.clone_from(claim);
        }
        (claim, _) if timed_out || claim.is_some() && whose != Whose::Own => {
            "done".clone_into(&mut row.status);
            "unknown".clone_into(&mut row.claim);
        }
        _ => "failed".clone_into(&mut row.status),
    }
}

fn with_layout(
    row: &mut Row,
    instance: &Instance,
    whose: Whose,
    said: &Said,
    stop: Stop,
    layout: Layout,
    errors: &mut Vec<String>,
) -> Option<(Layout, Bytes)> {
    let value = layout.peak(instance);
    let bound = match whose {
        Whose::Own => Bytes::new(said.lower_bound.unwrap_or(0)),
        Whose::Foreign(bound) => bound,
    };
    let proved = if value < bound {
        errors.push(format!("its peak {value} is below the proven bound {bound}"));
        LowerBound::trivial()
    } else {
        // Proved before, by whomever; here it only says what the peak proves.
        LowerBound::new(bound, Witness::Search { solver: "bench".to_owned() })
    };
    let best = Some((layout, value));
    let outcome = Outcome::<Offsets>::conclude(best, proved, instance.capacity(), stop, Stats::default());
    errors.extend(audit::<Offsets>(instance, &outcome));
    if errors.is_empty() {
        "done".clone_into(&mut row.status);
        "valid".clone_into(&mut row.verdict);
        outcome.claim.as_str().clone_into(&mut row.claim);
        row.peak = Some(value.get());
        outcome.solution.map(|layout| (layout, value))
    } else {
        "refused".clone_into(&mut row.status);
        "refused".clone_into(&mut row.verdict);
        errors.truncate(3);
        None
    }
}
