//! Compares all algorithms of a problem on the same inputs, by their gaps to the best proved bound, the
//! number of optima and the running times.

use crate::engine::Engine;
use crate::registry::Listed;
use crate::run::{RunError, run};
use plimsoll_model::{Claim, Entry, Silent, SolveError, Value, gap_percent};
use std::fmt;

/// The results of one algorithm on all inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Number of inputs with a valid solution, except those for which the algorithm reported a wrong bound.
    pub answered: usize,
    /// Number of these solutions that meet the best bound proved by any algorithm.
    pub optimal: usize,
    /// Number of inputs that the algorithm does not support.
    pub declined: usize,
    /// Messages of the failed runs: internal errors, answers that the checker rejected, and bounds above the
    /// value of a valid solution.
    pub failures: Vec<String>,
    /// For every answered input, the [`gap_percent`] to the best bound. It is infinite if the gap is
    /// undefined.
    pub gaps: Vec<f64>,
    /// Total running time, in seconds.
    pub seconds: f64,
}

impl Standing {
    /// Returns the mean gap in percent, or `None` if no input was answered. The mean is infinite if any gap
    /// is infinite.
    pub fn mean_gap(&self) -> Option<f64> {
        (!self.gaps.is_empty()).then(|| self.gaps.iter().sum::<f64>() / self.gaps.len() as f64)
    }

    /// Returns the largest gap in percent, or `None` if no input was answered.
    pub fn worst_gap(&self) -> Option<f64> {
        self.gaps.iter().copied().reduce(f64::max)
    }
}

/// The results of all algorithms of a problem on the same inputs.
///
/// `Display` prints a table with one line per algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Name of the problem.
    pub problem: &'static str,
    /// Number of inputs.
    pub inputs: usize,
    /// One entry per algorithm, in the order of the registry.
    pub standings: Vec<Standing>,
}

impl Engine {
    /// Runs every registered algorithm of a problem on every input. Gaps refer to the best bound that any
    /// algorithm proved for the input.
    ///
    /// The limits of the engine apply to each run separately.
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
        let mut answers = Vec::new();
        for (entry, standing) in P::entries(&self.registry).iter().zip(&mut *standings) {
            let attempt = run(entry, input, self.setup, self.limits.from_now(), &mut Silent);
            standing.seconds += attempt.seconds;
            answers.push(match attempt.result {
                Ok(outcome) => {
                    let fits = matches!(outcome.claim, Claim::Optimal | Claim::Feasible);
                    Some((outcome.value.filter(|_| fits), outcome.lower_bound.value))
                }
                Err(RunError::Solve(SolveError::Unsupported { .. })) => {
                    standing.declined += 1;
                    None
                }
                Err(error) => {
                    standing.failures.push(error.to_string());
                    None
                }
            });
        }
        // All solutions passed the checker, so a bound above the value of a solution is wrong and does not
        // count.
        let lowest = answers.iter().flatten().filter_map(|(value, _)| *value).min();
        let refuted = |bound: P::Value| lowest.filter(|value| bound > *value);
        let proved = answers.iter().flatten().map(|(_, bound)| *bound);
        let best = proved.filter(|bound| refuted(*bound).is_none()).max();
        for (answer, standing) in answers.into_iter().zip(standings) {
            let Some((value, bound)) = answer else { continue };
            if let Some(valid) = refuted(bound) {
                let why = format!("its bound {bound} is above {valid}, the value of a valid solution");
                standing.failures.push(why);
            } else if let Some((value, best)) = value.zip(best) {
                standing.answered += 1;
                standing.optimal += usize::from(value == best);
                standing.gaps.push(gap_percent(value.number(), best.number()).unwrap_or(f64::INFINITY));
            }
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.standings.iter().map(|one| one.algorithm.len()).max().unwrap_or(0).max(9);
        writeln!(f, "{}, {} inputs", self.problem, self.inputs)?;
        writeln!(f, "{:width$}  mean gap  worst gap  optimal  seconds", "algorithm")?;
        let percent = |gap: Option<f64>| gap.map_or_else(|| "-".to_owned(), |gap| format!("{gap:.2} %"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use plimsoll_model::{
        Budget, Buffer, Instance, InstanceBuilder, Kind, Lifespan, LowerBound, Observer, Offsets, Outcome,
        Solver, Stats, Stop, Witness, simple_bound,
    };

    /// A solver that returns no solution, but reports a bound that cannot be checked, because a search
    /// proved it.
    struct Prover(u64);

    impl Solver<Offsets> for Prover {
        fn name(&self) -> &'static str {
            "prover"
        }

        fn solve(
            &self,
            input: &Instance,
            _: &mut Budget,
            _: &mut dyn Observer<Offsets>,
        ) -> Result<Outcome<Offsets>, SolveError> {
            let mut bound = simple_bound(input);
            bound.raise(LowerBound::new(self.0.into(), Witness::Search { solver: "prover".to_owned() }));
            Ok(Outcome::of(input, None, bound, Stop::Completed, Stats::default()))
        }
    }

    #[test]
    fn a_bound_above_a_valid_solution_is_wrong_and_does_not_count() {
        let lifespan = Lifespan::single(0, 2).unwrap();
        let instance = InstanceBuilder::new("t").buffer(Buffer::new("a", 4, lifespan)).build().unwrap();
        let mut engine = Engine { registry: Registry::default(), ..Engine::default() };
        for name in ["naive", "exact"] {
            engine.registry.register(crate::registry().find::<Offsets>(name).unwrap()).unwrap();
        }
        let faulty = Entry::new("faulty", Kind::Exact, "bound 5", "test", |_| Prover(5));
        engine.registry.register(faulty).unwrap();
        let found = engine.compare::<Offsets>(&[instance]);
        let [naive, exact, faulty] = &found.standings[..] else { panic!("{found}") };
        for honest in [naive, exact] {
            assert_eq!((honest.optimal, &honest.failures[..], honest.worst_gap()), (1, &[][..], Some(0.0)));
        }
        assert_eq!(faulty.failures, ["its bound 5 is above 4, the value of a valid solution"]);
    }
}
