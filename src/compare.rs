//! Every algorithm of a problem on the same inputs: gaps to the best proved bound, proofs, seconds.

use crate::engine::Engine;
use crate::registry::Listed;
use crate::run::{RunError, run};
use plimsoll_model::{Claim, Entry, Silent, SolveError, Value};
use std::fmt;

/// One algorithm on all inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The algorithm.
    pub algorithm: &'static str,
    /// Inputs it found a valid solution for.
    pub answered: usize,
    /// Of these, how many meet the best bound that any algorithm proved: optimal, whoever proved it.
    pub optimal: usize,
    /// Inputs it declined, as unsupported.
    pub declined: usize,
    /// Why it failed on others: a defect, or an answer that the checker rejected.
    pub failures: Vec<String>,
    /// Per answered input: distance from the best bound, as a fraction of it; infinite above a bound of zero.
    pub gaps: Vec<f64>,
    /// Seconds of all its runs.
    pub seconds: f64,
}

impl Standing {
    /// The mean of the gaps; none without any.
    pub fn mean_gap(&self) -> Option<f64> {
        (!self.gaps.is_empty()).then(|| self.gaps.iter().sum::<f64>() / self.gaps.len() as f64)
    }

    /// The largest gap; none without any.
    pub fn worst_gap(&self) -> Option<f64> {
        self.gaps.iter().copied().reduce(f64::max)
    }
}

/// All algorithms of a problem on the same inputs.
///
/// Its `Display` is a table with a line per algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The problem.
    pub problem: &'static str,
    /// How many inputs there were.
    pub inputs: usize,
    /// Algorithms in the order of the registry.
    pub standings: Vec<Standing>,
}

impl Engine {
    /// Runs every registered algorithm of a problem on every input, each with the limits of the engine, and measures all
    /// against the best bound that any of them proved.
    ///
    /// ```
    /// use plimsoll::{Engine, model::Offsets};
    /// use std::time::Duration;
    ///
    /// let inputs = [plimsoll::datasets::cann().instance, plimsoll::datasets::patent().instance];
    /// let engine = Engine::default().with_time_limit(Duration::from_secs(1));
    /// let comparison = engine.compare::<Offsets>(&inputs);
    /// let exact = comparison.standings.iter().find(|one| one.algorithm == "exact").unwrap();
    /// assert_eq!((exact.optimal, exact.worst_gap()), (2, Some(0.0)));
    /// println!("{comparison}");
    /// ```
    pub fn compare<P: Listed>(&self, inputs: &[P::Input]) -> Comparison {
        let entries = P::entries(&self.registry);
        let new = |entry: &&'static Entry<P>| Standing {
            algorithm: entry.name,
            answered: 0,
            optimal: 0,
            declined: 0,
            failures: Vec::new(),
            gaps: Vec::new(),
            seconds: 0.0,
        };
        let mut standings: Vec<Standing> = entries.iter().map(new).collect();
        for input in inputs {
            self.compare_on::<P>(input, &mut standings);
        }
        Comparison { problem: P::NAME, inputs: inputs.len(), standings }
    }

    fn compare_on<P: Listed>(&self, input: &P::Input, standings: &mut [Standing]) {
        let mut values = Vec::new();
        let mut best = None;
        for (entry, standing) in P::entries(&self.registry).iter().zip(&mut *standings) {
            let attempt = run(entry, input, self.setup, self.limits.from_now(), &mut Silent);
            standing.seconds += attempt.seconds;
            let value = match attempt.result {
                Ok(outcome) => {
                    best = best.max(Some(outcome.lower_bound.value));
                    let answers = matches!(outcome.claim, Claim::Optimal | Claim::Feasible);
                    outcome.value.filter(|_| answers)
                }
                Err(RunError::Solve(SolveError::Unsupported { .. })) => {
                    standing.declined += 1;
                    None
                }
                Err(error) => {
                    standing.failures.push(error.to_string());
                    None
                }
            };
            values.push(value);
        }
        let Some(bound) = best else { return };
        for (value, standing) in values.into_iter().zip(standings) {
            let Some(value) = value else { continue };
            if value < bound {
                standing.failures.push(format!("{value} is below a bound of {bound} that was proved"));
                continue;
            }
            standing.answered += 1;
            standing.optimal += usize::from(value == bound);
            standing.gaps.push(value.gap(bound));
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.standings.iter().map(|one| one.algorithm.len()).max().unwrap_or(0).max(9);
        writeln!(f, "{}, {} inputs", self.problem, self.inputs)?;
        writeln!(f, "{:width$}  mean gap  worst gap  optimal  seconds", "algorithm")?;
        let percent =
            |gap: Option<f64>| gap.map_or_else(|| "-".to_owned(), |gap| format!("{:.2} %", gap * 100.0));
        for one in &self.standings {
            let (mean, worst) = (percent(one.mean_gap()), percent(one.worst_gap()));
            let optimal = format!("{}/{}", one.optimal, self.inputs);
            writeln!(
                f,
                "{:width$}  {mean:>8}  {worst:>9}  {optimal:>7}  {:7.3}",
                one.algorithm, one.seconds
            )?;
            for failure in &one.failures {
                writeln!(f, "{:width$}  failed: {failure}", "")?;
            }
        }
        Ok(())
    }
}
