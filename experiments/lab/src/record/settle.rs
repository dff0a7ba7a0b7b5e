//! Cross-checks between the records of one question.

use super::{Record, rank};
use plimsoll::arithmetic::Arithmetic;
use plimsoll_model::gap_percent;
use std::collections::HashMap;

/// The key of a question: the problem, the terms, and the instance as suite and name. If the hash of the
/// instance is known, the hash replaces the name and the suite is empty.
pub(crate) type Place = [String; 4];

/// The results that all records of a question prove together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The best value of a valid solution.
    pub(crate) value: Option<u64>,
    /// The best bound that is not contradicted by a valid solution.
    pub(crate) bound: Option<u64>,
    /// The arithmetic in which the bound was proved.
    pub(crate) arithmetic: Arithmetic,
}

impl Known {
    /// Returns an error message if a valid solution contradicts the bound.
    pub(crate) fn contradiction(&self, record: &Record, bound: u64) -> Option<String> {
        let value = self.value.filter(|&value| record.rank(bound) > record.rank(value))?;
        let side = if bound > value { "above" } else { "below" };
        Some(format!("the bound {bound} is {side} {value}, the value of a valid solution"))
    }
}

/// Returns the best value and the best bound of every question over the completed records. O(records).
pub(crate) fn known(records: &[Record]) -> HashMap<Place, Known> {
    let mut all: HashMap<Place, Known> = HashMap::new();
    let done = || records.iter().filter(|record| record.status == "done");
    for record in done().filter(|record| record.verdict == "valid") {
        let own = all.entry(record.place()).or_default();
        own.value = own.value.into_iter().chain(record.value).min_by_key(|&value| record.rank(value));
    }
    for record in done() {
        let own = all.entry(record.place()).or_default();
        let Some(bound) = record.lower_bound else { continue };
        if own.contradiction(record, bound).is_none() {
            let before = own.bound.map(|before| (record.rank(before), own.arithmetic));
            let both = before.into_iter().chain([(record.rank(bound), record.arithmetic())]);
            own.arithmetic = Arithmetic::of_best(both);
            own.bound = record.tightest(own.bound, Some(bound));
        }
    }
    all
}

/// Cross-checks all records that have the same problem, terms and instance. If a valid solution contradicts
/// a bound, the bound is ignored, and its record is refused. If a valid solution disproves the claim of an
/// external planner, the claim is marked as contradicted. Claims of external planners never count as proof.
///
/// Sets the gaps and the best bounds. Every best bound is at least as tight as `floor`. Returns the best of
/// these bounds, or `floor` if there is none. The result does not change if some of the records have been
/// settled before. O(records).
pub fn settle(records: &mut [Record], floor: Option<u64>) -> Option<u64> {
    let known = known(records);
    for record in records.iter_mut() {
        let own = known.get(&record.place()).copied().unwrap_or_default();
        record.contradict(own.value);
        if let Some(why) = record.lower_bound.and_then(|bound| own.contradiction(record, bound)) {
            *record = Record { verdict: "refused".into(), ..std::mem::take(record).without("refused", &why) };
            record.claim.clear();
        }
        record.best_bound = record.tightest(own.bound, floor);
        let gap = |(value, bound)| gap_percent(value, bound);
        record.gap_percent = record.value.zip(record.best_bound).and_then(gap);
    }
    let best =
        records.iter().filter_map(|record| Some((record.rank(record.best_bound?), record.best_bound?)));
    best.max().map(|(_, bound)| bound).or(floor)
}

impl Record {
    /// Returns a key that is equal for all records of the same problem, terms and instance, regardless of
    /// their limits. Instances are identified by hash or, without a hash, by suite and name.
    pub(crate) fn place(&self) -> Place {
        let [suite, instance] =
            if self.sha256.is_empty() { [&*self.suite, &*self.instance] } else { ["", &*self.sha256] };
        [&*self.problem, &*self.terms, suite, instance].map(str::to_owned)
    }

    /// Returns the [`rank`] of a number in the unit of the record.
    pub(crate) fn rank(&self, number: u64) -> u64 {
        rank(&self.unit, number)
    }

    /// Returns the tighter of two bounds.
    fn tightest(&self, one: Option<u64>, other: Option<u64>) -> Option<u64> {
        one.into_iter().chain(other).max_by_key(|&bound| self.rank(bound))
    }

    /// Marks the claim of an external planner as contradicted if the best valid value disproves it.
    fn contradict(&mut self, best: Option<u64>) {
        let Some(best) = best else { return };
        let is_worse = |number: u64| self.rank(number) > self.rank(best);
        let wrong = match self.claimed.as_str() {
            "optimal" => self.value.is_some_and(is_worse),
            "infeasible" => self.capacity.is_some_and(|capacity| self.rank(best) <= self.rank(capacity)),
            _ => false,
        };
        if wrong || self.claimed_bound.is_some_and(is_worse) {
            let remark = format!("the claim is contradicted by {best}, the value of a valid solution");
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
    fn relations_are_maximised_and_have_upper_bounds() {
        let fused = |value, bound| Record { unit: "relations".to_owned(), ..record(value, bound) };
        let mut records = [fused(Some(6), 9), fused(Some(8), 8), fused(None, 7), fused(None, 12)];
        records[0].claimed = "optimal".to_owned();
        assert_eq!(settle(&mut records, Some(10)), Some(8));
        let gaps: Vec<_> = records.iter().map(|record| record.gap_percent).collect();
        assert_eq!(gaps, [Some(25.0), Some(0.0), None, None]);
        assert_eq!((records[2].status.as_str(), records[3].status.as_str()), ("refused", "done"));
        assert_eq!(records[2].error, "the bound 7 is below 8, the value of a valid solution");
        assert!(records.iter().all(|record| record.best_bound == Some(8)));
        assert_eq!(records[0].claimed, "contradicted");
        // A problem with other terms is a different question.
        let terms = "machine=luna".to_owned();
        let mut records = [fused(Some(6), 9), Record { terms, ..fused(Some(12), 12) }];
        assert_eq!(settle(&mut records, None), Some(9));
        assert_eq!(records.map(|record| record.best_bound), [Some(9), Some(12)]);
        // The floor counts if no better bound was proved.
        let mut records = [fused(Some(6), 9)];
        assert_eq!((settle(&mut records, Some(7)), records[0].best_bound), (Some(7), Some(7)));
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
