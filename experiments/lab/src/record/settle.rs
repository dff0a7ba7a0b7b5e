//! Records of one instance and problem against each other.

use super::{Record, contradiction, rank};
use plimsoll_model::gap_percent;
use std::collections::HashMap;

/// What all records of an instance and problem show together.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Best value of a valid solution.
    value: Option<u64>,
    /// Best bound that no valid solution contradicts.
    bound: Option<u64>,
}

/// Problem with its terms, and instance of a record.
pub(crate) type Place = [String; 3];

/// Compares records that solve the same problem for the same instance. A bound that a valid solution contradicts is wrong:
/// its record is refused, and the bound does not count. Claims of external binaries that a valid solution
/// disproves are marked as contradicted; they never count. Sets best bounds, never worse than `floor`, and gaps. Returns
/// the best of the best bounds. Settling a part of the records first changes nothing. O(records).
pub fn settle(records: &mut [Record], floor: Option<u64>) -> Option<u64> {
    let mut known: HashMap<Place, Known> = HashMap::new();
    for record in records.iter().filter(|record| record.verdict == "valid") {
        let own = known.entry(record.place()).or_default();
        own.value = own.value.into_iter().chain(record.value).min_by_key(|&value| record.rank(value));
    }
    for record in records.iter_mut() {
        let own = known.entry(record.place()).or_default();
        record.contradict(own.value);
        let wrong = |bound: &u64| own.value.filter(|&value| record.rank(*bound) > record.rank(value));
        if let Some((bound, value)) = record.lower_bound.and_then(|bound| Some((bound, wrong(&bound)?))) {
            let why = contradiction(bound, value);
            *record = Record { verdict: "refused".into(), ..std::mem::take(record).without("refused", &why) };
            record.claim.clear();
        } else {
            own.bound = record.tightest(own.bound.into_iter().chain(record.lower_bound));
        }
    }
    for record in records.iter_mut() {
        let proved = known.get(&record.place()).and_then(|own| own.bound);
        record.best_bound = record.tightest(proved.into_iter().chain(floor));
        let gap = |(value, bound)| gap_percent(value, bound);
        record.gap_percent = record.value.zip(record.best_bound).and_then(gap);
    }
    let best =
        records.iter().filter_map(|record| Some((record.rank(record.best_bound?), record.best_bound?)));
    best.max().map(|(_, bound)| bound).or(floor)
}

impl Record {
    /// The same for the same question about the same instance, under any limits: instances by hash, else by name.
    pub(crate) fn place(&self) -> Place {
        let [suite, instance] =
            if self.sha256.is_empty() { [&*self.suite, &*self.instance] } else { ["", &*self.sha256] };
        [format!("{} {}", self.problem, self.terms), suite.to_owned(), instance.to_owned()]
    }

    /// [`rank`] in the unit of the record.
    pub(crate) fn rank(&self, number: u64) -> u64 {
        rank(&self.unit, number)
    }

    /// The bound that excludes most.
    fn tightest(&self, bounds: impl Iterator<Item = u64>) -> Option<u64> {
        bounds.max_by_key(|&bound| self.rank(bound))
    }

    /// Marks what an external binary claims where the best valid value shows that it is wrong.
    fn contradict(&mut self, best: Option<u64>) {
        let Some(best) = best else { return };
        let is_worse = |number: u64| self.rank(number) > self.rank(best);
        let wrong = match self.claimed.as_str() {
            "optimal" => self.value.is_some_and(is_worse),
            "infeasible" => self.capacity.is_some_and(|capacity| self.rank(best) <= self.rank(capacity)),
            _ => false,
        };
        if wrong || self.claimed_bound.is_some_and(is_worse) {
            let remark = format!("its claims are contradicted by {best}, the value of a valid solution");
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
    fn of_relations_more_are_better_and_bounds_are_upper_ones() {
        let fused = |value, bound| Record { unit: "relations".to_owned(), ..record(value, bound) };
        let mut records = [fused(Some(6), 9), fused(Some(8), 8), fused(None, 7), fused(None, 12)];
        records[0].claimed = "optimal".to_owned();
        assert_eq!(settle(&mut records, Some(10)), Some(8));
        let gaps: Vec<_> = records.iter().map(|record| record.gap_percent).collect();
        assert_eq!(gaps, [Some(25.0), Some(0.0), None, None]);
        assert_eq!((records[2].status.as_str(), records[3].status.as_str()), ("refused", "done"));
        assert_eq!(records[2].error, "its bound 7 is below 8, the value of a valid solution");
        assert!(records.iter().all(|record| record.best_bound == Some(8)));
        assert_eq!(records[0].claimed, "contradicted");
        // A floor holds where nothing better was proved.
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
