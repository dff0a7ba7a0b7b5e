//! Runs one algorithm on one input under limits, and audits its answer.
//!
//! The answer of an algorithm is checked before it is returned. The checker validates the solution from the
//! definitions and recomputes its value. The claim is compared with the value, the bound and the capacity.
//! The witness of the bound is confirmed, unless this requires repeating a search. If any of these checks
//! fails, the answer is rejected, whatever its claim.

use crate::bound::BoundError;
use crate::budget::Budget;
use crate::claim::Claim;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::progress::Reporting;
use crate::solver::{Entry, Observer, Setup, SolveError};
use crate::units::Bytes;
use crate::value::Value;
use plimsoll_support::panics::panic_message;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The stack size of an algorithm in bytes. It is large enough for recursion over thousands of buffers.
const STACK: usize = 256 << 20;

/// The limits of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The limit on the wall-clock time of one run.
    pub time: Option<Duration>,
    /// The limit on the nodes of one run, as counted by the algorithm.
    pub nodes: Option<u64>,
    /// The target in problems whose value is in bytes. A run stops at the first solution that is no worse
    /// than the target.
    pub target: Option<Bytes>,
    /// The common deadline of all runs that share a time limit; see [`Limits::from_now`]. If `time` is
    /// `None`, the deadline still stops runs, but until then algorithms proceed as if there were no time
    /// limit.
    pub deadline: Option<Instant>,
}

impl Limits {
    /// Creates a budget with these limits. Its clock starts now. A
    /// [stop request](plimsoll_support::interrupt) also stops the run.
    pub fn budget(&self) -> Budget {
        let mut budget = Budget::unlimited().with_cancel(plimsoll_support::interrupt::flag());
        if let Some(time) = self.time {
            budget = budget.with_time_limit(time);
        }
        if let Some(nodes) = self.nodes {
            budget = budget.with_node_limit(nodes);
        }
        if let Some(target) = self.target {
            budget = budget.with_target(target);
        }
        match self.deadline {
            Some(deadline) if self.time.is_some() => budget.with_deadline(deadline),
            Some(deadline) => budget.with_guard(deadline),
            None => budget,
        }
    }

    /// Creates a budget for work that is not counted in nodes. It has the same limits, without the target and
    /// the node limit.
    pub fn watch(&self) -> Budget {
        Self { target: None, ..*self }.budget().without_node_limit()
    }

    /// Returns the same limits with a fixed deadline, so that several runs share the time limit. The clock
    /// starts now.
    #[must_use]
    pub fn from_now(self) -> Self {
        let own = self.time.and_then(|time| Instant::now().checked_add(time));
        let deadline = own.into_iter().chain(self.deadline).min();
        Self { deadline, ..self }
    }

    /// Returns the limits of the next stage if `parts` stages share the time left before the deadline. Unused
    /// time remains for the other stages. Without a deadline, every stage has the limits of a full run.
    #[must_use]
    pub fn share(self, parts: usize) -> Self {
        let now = Instant::now();
        let part = |deadline: Instant| {
            let left = deadline.saturating_duration_since(now);
            now + left / u32::try_from(parts.max(1)).unwrap_or(u32::MAX)
        };
        Self { deadline: self.deadline.map(part), ..self }
    }
}

/// The reason why a run has no answer to report.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The algorithm does not support the input, or failed internally.
    Solve(SolveError),
    /// The algorithm panicked with the given message.
    Panicked(String),
    /// The checker rejected the answer for the given reasons.
    Refused(Vec<String>),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Solve(error) => error.fmt(f),
            Self::Panicked(message) => write!(f, "the algorithm panicked: {message}"),
            Self::Refused(reasons) => match reasons.as_slice() {
                [] => f.write_str("the checker rejected the answer"),
                [only] => write!(f, "the checker rejected the answer: {only}"),
                [first, others @ ..] => {
                    write!(f, "the checker rejected the answer: {first} (and {} more)", others.len())
                }
            },
        }
    }
}

impl std::error::Error for RunError {}

/// Runs an algorithm and audits its answer. Panics of the algorithm are caught.
///
/// # Errors
/// See [`RunError`].
pub fn run<P: Problem>(
    entry: &Entry<P>,
    input: &P::Input,
    setup: Setup,
    limits: Limits,
    observer: &mut dyn Observer<P>,
) -> Result<Outcome<P>, RunError> {
    run_within(entry, input, setup, &mut limits.budget(), observer)
}

/// Runs an algorithm as [`run`] does, within a budget that may have cancellation flags of its own.
///
/// # Errors
/// See [`RunError`].
pub fn run_within<P: Problem>(
    entry: &Entry<P>,
    input: &P::Input,
    setup: Setup,
    budget: &mut Budget,
    observer: &mut dyn Observer<P>,
) -> Result<Outcome<P>, RunError> {
    let started = Instant::now();
    let mut observer = Reporting::start(entry.name, observer);
    let answer = on_own_stack(|| {
        let solver = (entry.build)(setup);
        solver.supports(input)?;
        solver.solve(input, budget, &mut observer)
    });
    let seconds = started.elapsed().as_secs_f64();
    observer.ended();
    let answer = answer.map_err(|payload| RunError::Panicked(panic_message(&*payload)))?;
    let mut outcome = answer.map_err(RunError::Solve)?;
    outcome.stats.seconds = seconds;
    match catch_unwind(AssertUnwindSafe(|| audit::<P>(input, &outcome))) {
        Ok(reasons) if reasons.is_empty() => Ok(outcome),
        Ok(reasons) => Err(RunError::Refused(reasons)),
        Err(_) => Err(RunError::Refused(vec!["the checker panicked on the answer".to_owned()])),
    }
}

/// Runs `work` on a large stack of its own, at a lower cost than a new thread. If `work` panics, returns the
/// payload as `Err`.
fn on_own_stack<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(|| stacker::grow(STACK, work)))
}

/// Formats a value with its unit.
fn shown<V: Value>(value: Option<V>) -> String {
    value.map_or_else(|| "none".to_owned(), Value::with_unit)
}

/// Returns all errors found in an outcome. The list is empty if everything in the outcome that can be
/// recomputed is correct.
pub fn audit<P: Problem>(input: &P::Input, outcome: &Outcome<P>) -> Vec<String> {
    let mut reasons = Vec::new();
    let capacity = P::capacity(input);
    let value = outcome.solution.as_ref().map(|solution| P::value(input, solution));
    if value != outcome.value {
        reasons.push(format!(
            "the answer states the value {}, but the recomputed value is {}",
            shown(outcome.value),
            shown(value)
        ));
    }
    let fits = value.is_some_and(|value| capacity.is_none_or(|capacity| value <= capacity));
    if let Some(solution) = &outcome.solution {
        // A complete solution above the capacity may be reported, but not as an answer within the capacity.
        let violations = if fits { P::check(input, solution) } else { P::check_unlimited(input, solution) };
        reasons.extend(violations.iter().map(ToString::to_string));
    }
    let bound = outcome.lower_bound.value;
    if let Some(value) = value
        && bound > value
    {
        let (bound, value) = (bound.with_unit(), value.with_unit());
        reasons.push(format!("the bound {bound} excludes the value {value}"));
    }
    let follows = match outcome.claim {
        Claim::Optimal => fits && value == Some(bound),
        Claim::Feasible => fits,
        Claim::Infeasible => P::limit(input).is_some_and(|limit| bound > limit),
        Claim::Unknown => !fits,
    };
    if !follows {
        let claim = outcome.claim;
        let (value, bound, capacity) = (shown(value), bound.with_unit(), shown(capacity));
        reasons.push(format!(
            "claim '{claim}' does not follow from value {value}, bound {bound}, capacity {capacity}"
        ));
    }
    if let Err(error) = P::confirm(input, &outcome.lower_bound)
        && !matches!(error, BoundError::NotCheckable(_))
    {
        reasons.push(format!("lower bound: {error}"));
    }
    reasons
}

/// Describes the contradiction between answers to the same input, if there is one. Two answers contradict
/// each other if the bound of one rules out the value of the other. Each answer consists of the name of the
/// algorithm, the value and the bound.
pub fn contradiction<'a, V: Value>(
    answers: impl IntoIterator<Item = (&'a str, Option<V>, V)>,
) -> Option<String> {
    let mut best: Option<(V, &str)> = None;
    let mut proved: Option<(V, &str)> = None;
    for (name, value, bound) in answers {
        best = best.into_iter().chain(value.map(|value| (value, name))).min();
        proved = proved.into_iter().chain([(bound, name)]).max();
    }
    let ((value, finder), (bound, prover)) = (best?, proved?);
    (bound > value).then(|| {
        let (bound, value) = (bound.with_unit(), value.with_unit());
        format!("{prover} proves a bound of {bound}, but {finder} found an answer of {value}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Buffer, Instance, InstanceBuilder, Kind, Layout, Lifespan, LowerBound, Offsets, Silent, Solver,
        Stats, Stop, Witness, simple_bound,
    };

    /// A fake solver that returns fixed offsets and a given bound and claim, or panics.
    struct Fake {
        offsets: Vec<u64>,
        bound: Option<LowerBound>,
        claim: Option<Claim>,
        panics: bool,
    }

    impl Solver<Offsets> for Fake {
        fn name(&self) -> &'static str {
            "fake"
        }

        fn solve(
            &self,
            instance: &Instance,
            _: &mut Budget,
            _: &mut dyn Observer<Offsets>,
        ) -> Result<Outcome<Offsets>, SolveError> {
            assert!(!self.panics, "on request");
            let layout = Layout::from_raw(self.offsets.clone());
            let value = layout.peak(instance);
            let bound = self.bound.clone().unwrap_or_else(|| simple_bound(instance));
            let stats = Stats::default();
            let (solution, value) = (Some(layout), Some(value));
            let claim = self.claim.unwrap_or(Claim::Feasible);
            Ok(Outcome { claim, solution, value, lower_bound: bound, stop: Stop::Completed, stats })
        }
    }

    fn instance(capacity: Option<u64>) -> Instance {
        InstanceBuilder::new("t")
            .buffer(Buffer::new("a", 4, Lifespan::single(0, 4).unwrap()))
            .buffer(Buffer::new("b", 2, Lifespan::single(2, 6).unwrap()))
            .capacity(capacity.map(Bytes::new))
            .build()
            .unwrap()
    }

    macro_rules! entry {
        ($offsets:expr, $bound:expr, $claim:expr, $panics:expr) => {
            Entry::<Offsets> {
                name: "fake",
                kind: Kind::Heuristic,
                about: "a fake",
                source: "none",
                time: "O(1)",
                build: &|_| {
                    Box::new(Fake {
                        offsets: $offsets.to_vec(),
                        bound: $bound,
                        claim: $claim,
                        panics: $panics,
                    })
                },
            }
        };
    }

    fn reasons(entry: &Entry<Offsets>, capacity: Option<u64>) -> String {
        let result = run(entry, &instance(capacity), Setup::default(), Limits::default(), &mut Silent);
        result.map_or_else(|error| error.to_string(), |outcome| outcome.claim.to_string())
    }

    fn high() -> LowerBound {
        LowerBound::new(Bytes::new(9), Witness::Search { solver: "fake".into() })
    }

    fn weak() -> LowerBound {
        LowerBound::new(Bytes::new(6), Witness::Trivial)
    }

    #[test]
    fn correct_answers_pass() {
        assert_eq!(reasons(&entry!([0, 4], None, Some(Claim::Optimal), false), None), "optimal");
        assert_eq!(reasons(&entry!([0, 5], None, None, false), None), "feasible");
        assert_eq!(reasons(&entry!([0, 5], None, Some(Claim::Unknown), false), Some(6)), "unknown");
    }

    #[test]
    fn incorrect_answers_are_rejected() {
        assert!(reasons(&entry!([0, 3], None, None, false), None).contains("conflict and share 1 byte"));
        assert!(
            reasons(&entry!([0, 5], None, Some(Claim::Optimal), false), None).contains("does not follow")
        );
        assert!(reasons(&entry!([0, 5], None, None, false), Some(6)).contains("does not follow"));
        assert!(
            reasons(&entry!([0, 4], Some(high()), None, false), None)
                .contains("the bound 9 bytes excludes the value 6 bytes")
        );
        assert!(
            reasons(&entry!([0, 4], Some(weak()), Some(Claim::Optimal), false), None)
                .contains("shows only 0 bytes")
        );
        assert!(reasons(&entry!([0], None, None, false), None).contains("entries, but there are 2 buffers"));
    }

    #[test]
    fn stages_share_the_remaining_time() {
        let hour = Duration::from_secs(3600);
        let alone = Limits { time: Some(hour), nodes: Some(7), ..Limits::default() };
        assert_eq!(alone.share(4), alone, "without a deadline every stage has the limits of one run");
        let whole = alone.from_now();
        let left = |limits: Limits| limits.budget().time_to_end().unwrap();
        assert!(left(whole) <= hour);
        assert!(left(whole.share(4)) <= hour / 4);
        assert!(left(whole.share(2).share(2)) <= hour / 4);
        assert_eq!(whole.share(4).budget().nodes_left(), Some(7));
        assert_eq!(whole.watch().nodes_left(), None);
        let unasked = Limits { time: None, ..whole }.budget();
        assert!(unasked.time_left().is_none() && unasked.time_to_end().is_some());
        // The earlier deadline applies: neither `from_now` nor `share` moves a deadline that has passed.
        let over = Limits { deadline: Some(Instant::now()), ..alone };
        assert!([over, over.from_now(), over.share(9)].iter().all(|limits| left(*limits).is_zero()));
    }

    #[test]
    fn contradictory_answers_are_found() {
        let relations = |value: usize| crate::Relations::new(value);
        let consistent = [("a", Some(relations(3)), relations(5)), ("b", None, relations(4))];
        assert_eq!(contradiction(consistent), None);
        let wrong = [("a", Some(relations(5)), relations(6)), ("b", None, relations(4))];
        let text = "b proves a bound of 4 relations, but a found an answer of 5 relations";
        assert_eq!(contradiction(wrong).as_deref(), Some(text));
        assert_eq!(contradiction::<Bytes>([]), None);
    }

    #[test]
    fn a_panic_is_an_error_of_the_run() {
        assert!(reasons(&entry!([0, 4], None, None, true), None).contains("panicked: on request"));
    }
}
