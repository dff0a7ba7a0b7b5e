//! Tables 1 and 2 of the LUNA paper, checked for consistency.

use minijinja::{Value, context};
use plimsoll_support::gcd;
use serde::{Deserialize, Serialize};

/// The three strategies, in the order of the columns of tables 1 and 2.
pub(super) const STRATEGIES: [&str; 3] = ["large-first", "short-first", "sequential"];

/// Returns the name in the registry of a strategy of the paper. Other names are returned unchanged.
pub(super) fn registered(strategy: &str) -> &str {
    match strategy {
        "large-first" => "first-fit-size",
        "sequential" => "first-fit-start",
        other => other,
    }
}

/// One model of tables 1 and 2. All values are in bytes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Printed {
    pub model: String,
    pub naive: u64,
    pub before: [u64; 3],
    pub after: Option<[u64; 3]>,
}

/// Returns the reduction from `before` to `after` in percent. It is negative for an increase.
pub(super) fn gain(before: u64, after: u64) -> f64 {
    (1.0 - after as f64 / before.max(1) as f64) * 100.0
}

fn common(numbers: &[u64]) -> u64 {
    numbers.iter().copied().fold(0, gcd)
}

/// Finds a peak whose removal leaves peaks with a much larger common divisor. Returns the peak and that
/// divisor.
fn outlier(peaks: &[u64]) -> Option<(u64, u64)> {
    let all = common(peaks).max(1);
    let without = |&odd: &u64| {
        let others: Vec<u64> = peaks.iter().copied().filter(|&peak| peak != odd).collect();
        // A single value is trivially its own divisor.
        let several = others.iter().any(|&one| one != others[0]);
        several.then(|| (odd, common(&others))).filter(|&(_, divisor)| divisor >= 64 * all)
    };
    peaks.iter().find_map(without)
}

fn digits(number: u64) -> Vec<char> {
    let mut digits: Vec<char> = number.to_string().chars().collect();
    digits.sort_unstable();
    digits
}

impl Printed {
    /// Returns the peaks before and after merging for each strategy. The list is empty for models without
    /// branches.
    fn pairs(&self) -> Vec<(u64, u64)> {
        self.after.iter().flat_map(|after| self.before.into_iter().zip(*after)).collect()
    }

    /// Returns the gains of merging in percent.
    pub fn gains(&self) -> Vec<f64> {
        self.pairs().into_iter().map(|(before, after)| gain(before, after)).collect()
    }

    /// Returns all printed peaks of the model.
    fn peaks(&self) -> Vec<u64> {
        self.before.iter().chain(self.after.iter().flatten()).copied().collect()
    }

    fn savings(&self) -> Vec<u64> {
        self.pairs().into_iter().map(|(before, after)| before.saturating_sub(after)).collect()
    }

    /// Returns the facts that follow from the row of the model.
    pub fn facts(&self) -> Value {
        let none = || vec![None; STRATEGIES.len()];
        let gains: Vec<Option<f64>> = self.gains().into_iter().map(Some).collect();
        let saved = |(before, after): (u64, u64)| Some(i128::from(before) - i128::from(after));
        let saved: Vec<Option<i128>> = self.pairs().into_iter().map(saved).collect();
        context! {
            model => &self.model, naive => self.naive, before => self.before, after => self.after,
            ratio => self.naive as f64 / self.before[0].max(1) as f64, same => self.after == Some(self.before),
            saved => if saved.is_empty() { vec![None; 3] } else { saved },
            gains => if gains.is_empty() { none() } else { gains },
            common => common(&self.peaks()),
            outlier => self.slip(), constant => self.constant(), odd => self.odd(),
        }
    }

    /// Finds a peak that is probably misprinted, and the number that would fit and has the same digits in
    /// another order.
    fn slip(&self) -> Option<Value> {
        let (odd, divisor) = outlier(&self.peaks())?;
        // The median saving over all strategies implies the expected value.
        let mut others = self.savings();
        others.sort_unstable();
        let usual = others.get(others.len() / 2).copied().unwrap_or(0);
        let at = self.after.and_then(|after| after.iter().position(|&peak| peak == odd));
        let expected = at.and_then(|at| self.before[at].checked_sub(usual));
        let slip = expected.filter(|&expected| digits(expected) == digits(odd)).map(|expected| {
            let before = expected + usual;
            context! { expected, usual, gain => gain(before, expected), instead => gain(before, odd) }
        });
        Some(context! { odd, divisor, slip })
    }

    /// Returns the saving, if it is the same for every strategy.
    fn constant(&self) -> Option<Value> {
        let savings = self.savings();
        let saving = *savings.first().filter(|&&first| first > 0)?;
        let [large, small] = [self.after?.into_iter().max()?, self.after?.into_iter().min()?];
        let divides = self.peaks().iter().all(|peak| peak % saving == 0);
        let value = context! { saving, divides, small => small / saving, large => large / saving };
        savings.iter().all(|&one| one == saving).then_some(value)
    }

    /// Returns facts about a model without branches, if its first peak is below the two others and these two
    /// are equal.
    fn odd(&self) -> Option<Value> {
        let [large, short, sequential] = self.before;
        let [short_divisor, large_divisor] = [short, large].map(|peak| 1u64 << peak.trailing_zeros());
        let value = context! { short, large, gain => gain(short, large), short_divisor, large_divisor };
        (short == sequential && short > large && self.after.is_none()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::luna::Inputs;

    #[test]
    fn gains_are_those_of_the_tables() {
        let tables = Inputs::default().tables;
        let gains: Vec<String> =
            tables.iter().flat_map(Printed::gains).map(|gain| format!("{gain:.2}")).collect();
        assert_eq!(gains[3..6], ["5.88", "5.88", "4.76"]);
        assert_eq!(gains[..3], ["0.00"; 3]);
        assert_eq!(gains[6..], ["1.50", "1.30", "1.08"]);
        assert!((gain(100, 107) + 7.0).abs() < 1e-9);
    }

    #[test]
    fn the_inconsistent_number_is_found() {
        let tables = Inputs::default().tables;
        assert_eq!(outlier(&tables[4].peaks()), Some((98_340, 512)));
        assert!((0..4).all(|at| outlier(&tables[at].peaks()).is_none()));
        let number = |value: Option<Value>, path: &[&str]| {
            let get = |value: Value, name: &&str| value.get_attr(name).unwrap();
            u64::try_from(path.iter().fold(value.unwrap(), get)).unwrap()
        };
        assert_eq!(number(tables[4].slip(), &["slip", "expected"]), 98_304);
        assert_eq!(number(tables[3].constant(), &["saving"]), 28_800);
        assert_eq!(number(tables[3].constant(), &["small"]), 16);
        assert_eq!(number(tables[1].odd(), &["short"]) - number(tables[1].odd(), &["large"]), 588);
        assert!(tables[4].constant().is_none() && tables[0].odd().is_none());
    }
}
