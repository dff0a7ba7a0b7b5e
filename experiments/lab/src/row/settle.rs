//! Cross-checks between the rows of one question.

use super::{Claimed, Row, Status};
use plimsoll::arithmetic::Arithmetic;
use plimsoll_model::{Claim, gap_percent};
use std::collections::HashMap;

/// The key of a question: the problem, the terms, and the instance as suite and name. If the hash of the
/// instance is known, the hash replaces the name and the suite is empty.
pub(crate) type Place = [String; 4];

/// The results that all rows of a question prove together.
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
    pub(crate) fn contradiction(&self, row: &Row, bound: u64) -> Option<String> {
        let value = self.value.filter(|&value| row.unit.rank(bound) > row.unit.rank(value))?;
        let side = if bound > value { "above" } else { "below" };
        Some(format!("the bound {bound} is {side} {value}, the value of a valid solution"))
    }
}

/// Returns the best value and the best bound of every question over the completed rows. O(rows).
pub(crate) fn known(rows: &[Row]) -> HashMap<Place, Known> {
    let mut all: HashMap<Place, Known> = HashMap::new();
    let done = || rows.iter().filter(|row| row.is_done());
    for row in done() {
        let own = all.entry(row.place()).or_default();
        own.value = own.value.into_iter().chain(row.value).min_by_key(|&value| row.unit.rank(value));
    }
    for row in done() {
        let own = all.entry(row.place()).or_default();
        let Some(bound) = row.lower_bound else { continue };
        if own.contradiction(row, bound).is_none() {
            let before = own.bound.map(|before| (row.unit.rank(before), own.arithmetic));
            let both = before.into_iter().chain([(row.unit.rank(bound), row.arithmetic())]);
            own.arithmetic = Arithmetic::of_best(both);
            own.bound = row.tightest(own.bound, Some(bound));
        }
    }
    all
}

/// Cross-checks all rows that have the same problem, terms and instance. If a valid solution contradicts a
/// bound, the bound is ignored, and its row is refused. If a valid solution disproves the claim of an
/// external planner, the claim is marked as contradicted. Claims of external planners never count as proof.
///
/// Sets the gaps and the best bounds. Every best bound is at least as tight as the tightest floor of the
/// question. The result does not change if some of the rows have been settled before. O(rows).
pub fn settle(rows: &mut [Row]) {
    let known = known(rows);
    let mut floors: HashMap<Place, Option<u64>> = HashMap::new();
    for row in rows.iter().filter(|row| row.floor.is_some()) {
        let own = floors.entry(row.place()).or_default();
        *own = row.tightest(*own, row.floor);
    }
    for row in rows.iter_mut() {
        let place = row.place();
        let own = known.get(&place).copied().unwrap_or_default();
        row.contradict(own.value);
        if let Some(why) = row.lower_bound.and_then(|bound| own.contradiction(row, bound)) {
            *row = Row { claim: None, ..std::mem::take(row).without(Status::Refused, &why) };
        }
        row.best_bound = row.tightest(own.bound, floors.get(&place).copied().flatten());
        // The value of an external planner may meet a bound that another run proved.
        let met = row.value.is_some() && row.value == row.best_bound;
        if row.is_external() && row.claim == Some(Claim::Feasible) && met {
            row.claim = Some(Claim::of_solution(true));
        }
        let gap = |(value, bound)| gap_percent(value, bound);
        row.gap_percent = row.value.zip(row.best_bound).and_then(gap);
    }
}

impl Row {
    /// Returns a key that is equal for all rows of the same problem, terms and instance, regardless of
    /// their limits. Instances are identified by hash or, without a hash, by suite and name.
    pub(crate) fn place(&self) -> Place {
        let [suite, instance] =
            if self.sha256.is_empty() { [&*self.suite, &*self.instance] } else { ["", &*self.sha256] };
        [&*self.problem, &*self.terms.to_string(), suite, instance].map(str::to_owned)
    }

    /// Returns the tighter of two bounds.
    fn tightest(&self, one: Option<u64>, other: Option<u64>) -> Option<u64> {
        one.into_iter().chain(other).max_by_key(|&bound| self.unit.rank(bound))
    }

    /// Marks the claim of an external planner as contradicted if the best valid value disproves it.
    fn contradict(&mut self, best: Option<u64>) {
        let Some(best) = best else { return };
        let is_worse = |number: u64| self.unit.rank(number) > self.unit.rank(best);
        let wrong = match self.claimed {
            Some(Claimed::Optimal) => self.value.is_some_and(is_worse),
            Some(Claimed::Infeasible) => {
                self.capacity.is_some_and(|capacity| self.unit.rank(best) <= self.unit.rank(capacity))
            }
            _ => false,
        };
        if wrong || self.claimed_bound.is_some_and(is_worse) {
            let remark = format!("the claim is contradicted by {best}, the value of a valid solution");
            self.error = if self.error.is_empty() { remark } else { format!("{}; {remark}", self.error) };
            self.claimed = Some(Claimed::Contradicted);
            self.claimed_bound = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Unit;
    use super::*;

    fn row(value: Option<u64>, bound: u64) -> Row {
        Row { value, lower_bound: Some(bound), status: Status::Done, ..Row::default() }
    }

    #[test]
    fn the_best_bound_is_the_highest_that_can_be_true() {
        let mut rows = vec![row(Some(12), 8), row(Some(10), 10), row(None, 9), row(None, 11)];
        rows[0].floor = Some(7);
        settle(&mut rows);
        assert_eq!(rows[0].gap_percent, Some(20.0));
        assert_eq!(rows[1].gap_percent, Some(0.0));
        assert_eq!(rows[2].gap_percent, None);
        assert_eq!(rows[3].status, Status::Refused);
        assert!(rows.iter().all(|row| row.best_bound == Some(10)));
        settle(&mut []);
    }

    #[test]
    fn bounds_above_values_of_others_are_refused_in_any_order() {
        let mut rows = [row(Some(12), 11), row(Some(10), 10), row(Some(11), 9)];
        settle(&mut rows);
        let statuses: Vec<Status> = rows.iter().map(|row| row.status).collect();
        assert_eq!(statuses, [Status::Refused, Status::Done, Status::Done]);
        let once = rows.clone();
        settle(&mut rows);
        assert_eq!(rows, once);
    }

    #[test]
    fn relations_are_maximised_and_have_upper_bounds() {
        let fused = |value, bound| Row { unit: Unit::Relations, ..row(value, bound) };
        let mut rows = [fused(Some(6), 9), fused(Some(8), 8), fused(None, 7), fused(None, 12)];
        rows[0].claimed = Some(Claimed::Optimal);
        rows[3].floor = Some(10);
        settle(&mut rows);
        let gaps: Vec<_> = rows.iter().map(|row| row.gap_percent).collect();
        assert_eq!(gaps, [Some(25.0), Some(0.0), None, None]);
        assert_eq!((rows[2].status, rows[3].status), (Status::Refused, Status::Done));
        assert_eq!(rows[2].error, "the bound 7 is below 8, the value of a valid solution");
        assert!(rows.iter().all(|row| row.best_bound == Some(8)));
        assert_eq!(rows[0].claimed, Some(Claimed::Contradicted));
        // A problem with other terms is a different question.
        let terms = "machine=luna".parse().unwrap();
        let mut rows = [fused(Some(6), 9), Row { terms, ..fused(Some(12), 12) }];
        settle(&mut rows);
        assert_eq!(rows.map(|row| row.best_bound), [Some(9), Some(12)]);
        // The floor counts if no better bound was proved.
        let mut rows = [Row { floor: Some(7), ..fused(Some(6), 9) }];
        settle(&mut rows);
        assert_eq!(rows[0].best_bound, Some(7));
    }

    #[test]
    fn claims_of_others_are_contradicted_by_valid_values() {
        let claims = |claimed, value, claimed_bound| Row {
            claimed: Some(claimed),
            claimed_bound,
            capacity: Some(11),
            lower_bound: None,
            ..row(value, 0)
        };
        let mut rows = vec![
            row(Some(10), 5),
            claims(Claimed::Optimal, Some(10), Some(10)),
            claims(Claimed::Optimal, Some(12), Some(9)),
            claims(Claimed::Feasible, Some(12), Some(11)),
            claims(Claimed::Infeasible, None, None),
        ];
        settle(&mut rows);
        assert!(rows.iter().all(|row| row.best_bound == Some(5)));
        settle(&mut rows);
        let claimed: Vec<Option<Claimed>> = rows.iter().map(|row| row.claimed).collect();
        let wrong = Some(Claimed::Contradicted);
        assert_eq!(claimed, [None, Some(Claimed::Optimal), wrong, wrong, wrong]);
        assert_eq!(rows[4].error.matches("contradicted").count(), 1);
    }
}
