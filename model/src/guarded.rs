//! Handles three special cases before any algorithm runs: buffers of size 0, contradictory fixed offsets, and
//! constraints without effect.
//!
//! A buffer of size 0 conflicts with no other buffer and adds nothing to any sum. It is removed from the
//! input. A solution for the other buffers is then extended. In a layout, each removed buffer lies at its
//! fixed offset, or at offset 0 if it has none. If fixed offsets contradict each other, the answer to the
//! offset problem and the split-buffer problem is `infeasible`, with two contradictory buffers as the
//! witness. Constraints without effect are removed, such as an alignment that divides all sizes (see
//! `normal.rs`). All other inputs are passed on unchanged, at the cost of one scan.
//!
//! Rigid groups are refused unless the algorithm declares [`Solver::supports_groups`].

use crate::budget::Budget;
use crate::claim::{Stats, Stop};
use crate::outcome::Outcome;
use crate::parameter::Parameter;
use crate::problem::{Bound, Problem, Reduced};
use crate::solver::{Entry, Kind, Observer, Setup, SolveError, Solver};
use crate::units::BufferId;

/// Wraps an algorithm for the registry, so that the special cases are handled before the algorithm runs.
pub fn guarded<P: Problem>(solver: impl Solver<P> + 'static) -> Box<dyn Solver<P>> {
    Box::new(Guarded(solver))
}

impl<P: Problem> Entry<P> {
    /// Creates an entry at run time. The strings and `build` are leaked, so they live as long as the process.
    pub fn new<S: Solver<P> + 'static>(
        name: impl Into<String>,
        kind: Kind,
        about: impl Into<String>,
        source: impl Into<String>,
        build: impl Fn(Setup) -> S + Send + Sync + 'static,
    ) -> &'static Self {
        let name = name.into().leak();
        let (about, source) = (about.into().leak(), source.into().leak());
        let build = Box::leak(Box::new(move |setup| guarded(build(setup))));
        Box::leak(Box::new(Self { name, kind, about, source, time: "unknown", build }))
    }
}

struct Guarded<S>(S);

impl<S> Guarded<S> {
    /// Checks whether the algorithm supports an input without the special cases.
    fn takes<P: Problem>(&self, input: &P::Input) -> Result<(), SolveError>
    where
        S: Solver<P>,
    {
        self.takes_groups::<P>(input)?;
        self.0.supports(input)
    }

    /// Refuses rigid groups if the algorithm does not support them.
    fn takes_groups<P: Problem>(&self, input: &P::Input) -> Result<(), SolveError>
    where
        S: Solver<P>,
    {
        if !P::has_groups(input) || self.0.supports_groups() {
            return Ok(());
        }
        let reason = "it has rigid groups (column 'above')".to_owned();
        Err(SolveError::Unsupported { solver: self.0.name(), reason })
    }
}

impl<P: Problem, S: Solver<P>> Solver<P> for Guarded<S> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn supports(&self, input: &P::Input) -> Result<(), SolveError> {
        match P::reduced(input) {
            Reduced::Whole => self.takes::<P>(input),
            Reduced::Infeasible(_) => Ok(()),
            Reduced::Part { input: part, .. } => self.takes::<P>(&part),
        }
    }

    fn supports_groups(&self) -> bool {
        self.0.supports_groups()
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.0.parameters()
    }

    fn solve(
        &self,
        input: &P::Input,
        budget: &mut Budget,
        observer: &mut dyn Observer<P>,
    ) -> Result<Outcome<P>, SolveError> {
        match P::reduced(input) {
            Reduced::Whole => {
                self.takes_groups::<P>(input)?;
                self.0.solve(input, budget, observer)
            }
            Reduced::Infeasible(bound) => {
                observer.bound(&bound);
                Ok(Outcome::conclude(input, None, bound, Stop::Completed, Stats::default()))
            }
            Reduced::Part { input: part, kept } => {
                self.takes_groups::<P>(&part)?;
                let mut whole = Whole::<P> { input, part: &part, kept: &kept, observer };
                let outcome = self.0.solve(&part, budget, &mut whole)?;
                let bound = P::lifted(input, &part, &kept, outcome.lower_bound);
                let solution = outcome.solution.map(|solution| P::extended(input, &kept, solution));
                Ok(Outcome::of(input, solution, bound, outcome.stop, outcome.stats))
            }
        }
    }
}

/// Reports progress on a part of the input as progress on the whole input.
struct Whole<'a, P: Problem> {
    input: &'a P::Input,
    part: &'a P::Input,
    kept: &'a [BufferId],
    observer: &'a mut dyn Observer<P>,
}

impl<P: Problem> Observer<P> for Whole<'_, P> {
    fn incumbent(&mut self, solution: &P::Solution, _: P::Value) {
        let extended = P::extended(self.input, self.kept, solution.clone());
        self.observer.incumbent(&extended, P::value(self.input, &extended));
    }

    fn bound(&mut self, bound: &Bound<P>) {
        self.observer.bound(&P::lifted(self.input, self.part, self.kept, bound.clone()));
    }

    fn phase(&mut self, name: &str) {
        self.observer.phase(name);
    }
}
