//! Records of one instance and problem against each other.

use super::{Record, gap_percent};
use plimsoll_model::Bytes;
use std::collections::HashMap;

/// What all records of an instance and problem show together.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Lowest value of a valid solution.
    value: Option<u64>,
    /// Best bound.
    bound: Option<u64>,
}

/// Compares records that solve the same problem for the same instance. A bound above the value of a valid solution is
/// wrong: its record is refused, and the bound does not count. Claims of external binaries that a valid solution
/// disproves are marked as contradicted; they never count. Sets best bounds, never below `floor`, and gaps. Returns the
/// highest best bound. Settling a part of the records first changes nothing. O(records).
pub fn settle(records: &mut [Record], floor: Option<u64>) -> Option<u64> {
    let place = |record: &Record| (record.sha256.clone(), record.problem.clone());
    let mut known: HashMap<(String, String), Known> = HashMap::new();
    for record in records.iter().filter(|record| record.verdict == "valid") {
        let own = known.entry(place(record)).or_default();
        own.value = own.value.into_iter().chain(record.value).min();
    }
    for record in records.iter_mut() {
        let own = known.entry(place(record)).or_default();
        record.contradict(own.value);
        if let Some((bound, value)) = record.lower_bound.zip(own.value).filter(|(bound, value)| bound > value)
        {
            let why = format!("its bound {bound} is above {value}, the value of a valid solution");
            *record = Record { verdict: "refused".into(), ..std::mem::take(record).without("refused", &why) };
            record.claim.clear();
        } else {
            own.bound = own.bound.max(record.lower_bound);
        }
    }
    for record in records.iter_mut() {
        record.best_bound = known.get(&place(record)).and_then(|own| own.bound).max(floor);
        let gap = |(value, bound)| gap_percent(Bytes::new(value), Bytes::new(bound));
        record.gap_percent = record.value.zip(record.best_bound).and_then(gap);
    }
    records.iter().filter_map(|record| record.best_bound).max().max(floor)
}

impl Record {
    /// Marks what an external binary claims where the lowest valid value shows that it is wrong.
    fn contradict(&mut self, lowest: Option<u64>) {
        let Some(lowest) = lowest else { return };
        let wrong = match self.claimed.as_str() {
            "optimal" => self.value.is_some_and(|value| value > lowest),
            "infeasible" => self.capacity.is_some_and(|capacity| lowest <= capacity),
            _ => false,
        };
        if wrong || self.claimed_bound.is_some_and(|bound| bound > lowest) {
            let remark = format!("its claims are contradicted by {lowest}, the value of a valid solution");
            self.error = if self.error.is_empty() { remark } else { format!("{}; {remark}", self.error) };
            "contradicted".clone_into(&mut self.claimed);
            self.claimed_bound = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: Option<u64>, bound: u64) -> Record {
        let verdict = if value.is_some() { "valid" } else { "" }.to_owned();
        Record { value, lower_bound: Some(bound), verdict, status: "done".to_owned(), ..Record::default() }
    }

    #[test]
    fn the_best_bound_is_the_highest_that_can_be_true() {
        let mut records = vec![record(Some(12), 8), record(Some(10), 10), record(None, 9), record(None, 11)];
        assert_eq!(settle(&mut records, Some(7)), Some(10));
        assert_eq!(records[0].gap_percent, Some(20.0));
        assert_eq!(records[1].gap_percent, Some(0.0));
        assert_eq!(records[2].gap_percent, None);
        assert_eq!(records[3].status, "refused");
        assert!(records.iter().all(|record| record.best_bound == Some(10)));
        assert_eq!(settle(&mut [], Some(7)), Some(7));
    }

    #[test]
    fn bounds_above_values_of_others_are_refused_in_any_order() {
        let mut records = [record(Some(12), 11), record(Some(10), 10), record(Some(11), 9)];
        settle(&mut records, None);
        let verdicts: Vec<&str> = records.iter().map(|record| record.verdict.as_str()).collect();
        assert_eq!(verdicts, ["refused", "valid", "valid"]);
        let once = records.clone();
        settle(&mut records, None);
        assert_eq!(records, once);
    }

    #[test]
    fn claims_of_others_are_contradicted_by_valid_values() {
        let claims = |claimed: &str, value, claimed_bound| Record {
            claimed: claimed.to_owned(),
            claimed_bound,
            capacity: Some(11),
            lower_bound: None,
            ..record(value, 0)
        };
        let mut records = vec![
            record(Some(10), 5),
            claims("optimal", Some(10), Some(10)),
            claims("optimal", Some(12), Some(9)),
            claims("feasible", Some(12), Some(11)),
            claims("infeasible", None, None),
        ];
        assert_eq!(settle(&mut records, Some(1)), Some(5));
        settle(&mut records, Some(1));
        let claimed: Vec<&str> = records.iter().map(|record| record.claimed.as_str()).collect();
        assert_eq!(claimed, ["", "optimal", "contradicted", "contradicted", "contradicted"]);
        assert_eq!(records[4].error.matches("contradicted").count(), 1);
    }
}
