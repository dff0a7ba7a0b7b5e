//! The best lower bound and the best peak known for an instance.

use super::choose::default_entry;
use super::subject::Subject;
use crate::args::EffortArgs;
use crate::failure::Failure;
use crate::report::{Report, bytes, noted};
use clap::Args;
use plimsoll::Listed;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::{Bytes, Claim, Instance, InstanceProblem, LowerBound, Outcome, Setup, Silent, Witness};
use plimsoll::run::{Limits, run};
use serde_json::{Value, json};

/// Whether and how long to search for the optimum.
#[derive(Args, Clone, Copy, Debug)]
pub struct BestArgs {
    /// Search for the optimum if a peak exceeds the bounds that need no search [default of `compare`]
    #[arg(long, overrides_with = "no_best")]
    best: bool,
    /// Use only bounds that need no search [default of `verify`]
    #[arg(long)]
    no_best: bool,
    #[command(flatten)]
    pub effort: EffortArgs,
}

impl BestArgs {
    /// Returns whether to search. Giving a time or node limit also requests a search.
    pub fn searches(self, default: bool) -> bool {
        !self.no_best && (self.best || default || !self.effort.is_default())
    }
}

/// The best known lower bound of an instance, and the result of the search for the optimum, if there was one.
pub struct Best<P: InstanceProblem> {
    /// The highest lower bound.
    pub bound: LowerBound,
    /// The solver and its outcome, if there was a search.
    found: Option<(&'static str, Outcome<P>)>,
    /// Whether the bound comes from a checked proof.
    is_proved: bool,
}

impl<P: InstanceProblem> Best<P> {
    /// Computes the bound that needs no search. If one of `peaks` lies above that bound and `search` is
    /// given, the default solver also searches for the optimum, and the higher bound is kept. The capacity of
    /// the instance does not limit the search.
    pub fn of(instance: &Instance, peaks: &[Bytes], search: Option<(Setup, Limits)>) -> Result<Self, Failure>
    where
        P: Listed,
    {
        let mut bound = P::floor(instance);
        let entry = default_entry::<P>(&plimsoll::registry());
        let (Some((setup, limits)), Some(entry), true) =
            (search, entry, peaks.iter().any(|peak| *peak > bound.value))
        else {
            return Ok(Self { bound, found: None, is_proved: false });
        };
        let free = instance.clone().with_capacity(None);
        let outcome = run(entry, &free, setup, limits, &mut Silent).map_err(Failure::internal)?;
        if outcome.lower_bound.value > bound.value {
            bound = outcome.lower_bound.clone();
        }
        Ok(Self { bound, found: Some((entry.name, outcome)), is_proved: false })
    }

    /// Raises the bound to `proved`, the bound of a checked proof, if that is higher.
    pub fn raise(&mut self, proved: Bytes) {
        if proved > self.bound.value {
            self.bound.value = proved;
            self.is_proved = true;
        }
    }

    /// Returns the solver, the lowest peak that it found, and the solution with that peak, if there is one.
    pub fn solution(&self) -> Option<(&'static str, Bytes, &P::Solution)> {
        let (solver, outcome) = self.found.as_ref()?;
        Some((solver, outcome.value?, outcome.solution.as_ref()?))
    }

    /// Returns true if the search proved its peak optimal.
    pub fn is_optimal(&self) -> bool {
        self.found.as_ref().is_some_and(|(_, outcome)| outcome.claim == Claim::Optimal)
    }

    /// Returns false if fixed offsets contradict each other, so that no layout exists.
    pub fn exists(&self) -> bool {
        !matches!(self.bound.witness, Witness::Contradiction { .. })
    }

    /// Returns the reason for the bound.
    pub fn why(&self, subject: &Subject) -> String {
        if self.is_proved {
            return "checked proof".to_owned();
        }
        let witness = &self.bound.witness;
        subject.explained(P::explain(&subject.instance, witness), witness)
    }

    fn arithmetic(&self) -> Arithmetic {
        if self.is_proved { Arithmetic::Exact } else { Arithmetic::of(&self.bound.witness) }
    }

    /// Returns the members of a JSON report: bound, witness, arithmetic, and the result of the search, which
    /// is null if there was no search. The bound is null if no layout exists.
    pub fn members(&self, subject: &Subject) -> Value {
        let best = self.found.as_ref().map(|(solver, outcome)| {
            json!({ "solver": solver, "peak": outcome.value, "claim": outcome.claim, "stop": outcome.stop })
        });
        json!({
            "lower_bound": self.exists().then_some(self.bound.value),
            "witness": self.why(subject),
            "arithmetic": self.arithmetic(),
            "best": best,
        })
    }

    /// Adds the lines for the bound and the search.
    pub fn lines(&self, subject: &Subject, report: &mut Report) {
        let why = self.why(subject) + self.arithmetic().remark();
        if !self.exists() {
            report.line("lower bound", format_args!("no layout exists ({why})"));
            return;
        }
        report.line("lower bound", noted(&bytes(self.bound.value), &why));
        if let Some((solver, outcome)) = &self.found {
            let peak = outcome.value.map_or_else(|| "nothing found".to_owned(), bytes);
            report.line("best known", format_args!("{peak} by {solver}, {}", outcome.claim));
        }
    }
}
