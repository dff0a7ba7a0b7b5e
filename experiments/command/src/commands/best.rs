//! The best lower bound and the best peak known for an instance.

use super::choose::default_entry;
use super::subject::Subject;
use crate::args::EffortArgs;
use crate::failure::Failure;
use crate::report::{Printed, Text, bytes, noted};
use clap::Args;
use plimsoll::Listed;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::{
    Bytes, Claim, Instance, InstanceProblem, LowerBound, Outcome, Setup, Silent, Stop, Witness,
};
use plimsoll::run::{Limits, run};
use serde::Serialize;

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
    /// The algorithm and its outcome, if there was a search.
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

    /// Returns the algorithm, the lowest peak that it found, and the solution with that peak, if there is one.
    pub fn solution(&self) -> Option<(&'static str, Bytes, &P::Solution)> {
        let (algorithm, outcome) = self.found.as_ref()?;
        Some((algorithm, outcome.value?, outcome.solution.as_ref()?))
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

    /// Returns the part of a report about the bound and the search.
    pub fn report(&self, subject: &Subject) -> BestReport {
        let arithmetic = if self.is_proved { Arithmetic::Exact } else { Arithmetic::of(&self.bound.witness) };
        let best = self.found.as_ref().map(|(algorithm, outcome)| Found {
            algorithm,
            peak: outcome.value,
            claim: outcome.claim,
            stop: outcome.stop,
        });
        let lower_bound = self.exists().then_some(self.bound.value);
        BestReport { lower_bound, witness: self.why(subject), arithmetic, best }
    }
}

/// The part of a report about the best known bound.
#[derive(Serialize)]
pub struct BestReport {
    /// `None` if no layout exists.
    pub lower_bound: Option<Bytes>,
    witness: String,
    arithmetic: Arithmetic,
    /// The result of the search; `None` if there was none.
    best: Option<Found>,
}

/// The result of a search.
#[derive(Serialize)]
struct Found {
    algorithm: &'static str,
    peak: Option<Bytes>,
    claim: Claim,
    stop: Stop,
}

impl Printed for BestReport {
    fn print(&self, text: &mut Text) {
        let why = format!("{}{}", self.witness, self.arithmetic.remark());
        let Some(bound) = self.lower_bound else {
            return text.line("lower bound", format_args!("no layout exists ({why})"));
        };
        text.line("lower bound", noted(&bytes(bound), &why));
        if let Some(Found { algorithm, peak, claim, .. }) = &self.best {
            let peak = peak.map_or_else(|| "nothing found".to_owned(), bytes);
            text.line("best known", format_args!("{peak} by {algorithm}, {claim}"));
        }
    }
}
