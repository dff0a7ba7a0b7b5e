//! Every problem posed on an instance or a graph, under terms, and answered as a whole.
//!
//! A problem's own input is one instance, one region in order, one segment between transfers. What users have is a file:
//! an instance or a graph. [`Posed`] leads from the file to what an algorithm is given and back to one answer, for all nine
//! problems alike, so that benchmarks, sweeps and comparisons know none of them by name.

mod graphs;
mod instances;
mod terms;

pub use graphs::{InOrder, ToFuse};
pub use terms::{TermError, Terms};

use crate::arithmetic::Arithmetic;
use crate::registry::{Listed, Registry};
use crate::run::{Attempt, Limits, RunError};
use plimsoll_model::fusion::Fusions;
use plimsoll_model::graph::Graph;
use plimsoll_model::tiers::Tiers;
use plimsoll_model::timelines::Timelines;
use plimsoll_model::{
    Claim, Entry, Instance, Joint, Kind, Observer, Offsets, Orders, Outcome, Piece, Problem, Setup,
    SharedObjects, SolveError, Spilling, SplitBuffers, Stats, Stop, Value,
};
use std::fmt;
use std::io::{self, Write};
use std::time::Instant;

/// What problems are posed on.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Buffers with lifespans.
    Instance(Instance),
    /// Operators and tensors.
    Graph(Box<Graph>),
}

/// What a subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// An instance.
    Instance,
    /// A graph.
    Graph,
}

impl fmt::Display for SubjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Instance => "instance",
            Self::Graph => "graph",
        })
    }
}

impl Subject {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Instance(instance) => instance.name(),
            Self::Graph(graph) => graph.name(),
        }
    }

    /// What it is.
    pub const fn kind(&self) -> SubjectKind {
        match self {
            Self::Instance(_) => SubjectKind::Instance,
            Self::Graph(_) => SubjectKind::Graph,
        }
    }
}

/// What an algorithm proved of the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof<V> {
    /// No solution is better than this.
    pub bound: V,
    /// Why, with the names of the subject.
    pub reason: String,
    /// In which arithmetic.
    pub arithmetic: Arithmetic,
}

/// What an algorithm says of the whole subject. All solutions have passed the checker.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<P: Problem> {
    /// What is proved.
    pub claim: Claim,
    /// Why the algorithm ended.
    pub stop: Stop,
    /// The value of the best solution.
    pub value: Option<P::Value>,
    /// The bound; none where what was proved of parts says nothing of the whole.
    pub proof: Option<Proof<P::Value>>,
    /// Counters; nodes of all parts.
    pub stats: Stats,
    /// The solution, where one input is the whole.
    pub solution: Option<P::Solution>,
    /// Why there is no solution, where that is known.
    pub remark: String,
}

impl<P: Problem> Answer<P> {
    /// Of a problem with one input.
    pub fn of(input: &P::Input, outcome: Outcome<P>) -> Self {
        let bound = &outcome.lower_bound;
        let proof = Proof {
            bound: bound.value,
            reason: P::explain(input, &bound.witness),
            arithmetic: Arithmetic::of(&bound.witness),
        };
        Self {
            claim: outcome.claim,
            stop: outcome.stop,
            value: outcome.value,
            proof: Some(proof),
            stats: outcome.stats,
            solution: outcome.solution,
            remark: String::new(),
        }
    }

    /// Of a subject in parts: a value and what is proved of the whole.
    fn whole(value: P::Value, proof: Option<Proof<P::Value>>, stop: Stop, stats: Stats) -> Self {
        let met = proof.as_ref().is_some_and(|proof| proof.bound == value);
        let claim = if met { Claim::Optimal } else { Claim::Feasible };
        Self { claim, stop, value: Some(value), proof, stats, solution: None, remark: String::new() }
    }

    /// Of a subject without a solution.
    fn nothing(claim: Claim, remark: String) -> Self {
        let (stop, stats) = (Stop::Completed, Stats::default());
        Self { claim, stop, value: None, proof: None, stats, solution: None, remark }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The algorithm does not take this, or the subject poses no such problem.
    #[error("{0}")]
    Declined(String),
    /// The checker rejected the answer.
    #[error("{0}")]
    Refused(String),
    /// Something broke.
    #[error("{0}")]
    Failed(String),
}

impl Unanswered {
    /// Of a run; `why` says more than its error.
    fn of(error: &RunError, why: String) -> Self {
        match error {
            RunError::Solve(SolveError::Unsupported { .. }) => Self::Declined(why),
            RunError::Refused(_) => Self::Refused(why),
            RunError::Solve(_) | RunError::Panicked(_) => Self::Failed(why),
        }
    }
}

/// Why a subject poses no such problem.
#[derive(Debug, thiserror::Error)]
pub enum PoseError {
    /// An instance where a graph is needed, or the other way round.
    #[error("{problem} takes no {kind}")]
    Kind {
        /// The problem.
        problem: &'static str,
        /// What the subject is.
        kind: SubjectKind,
    },
    /// A term that is none.
    #[error(transparent)]
    Terms(#[from] TermError),
    /// The subject under these terms.
    #[error("{0}")]
    Subject(String),
}

impl PoseError {
    fn subject(error: impl fmt::Display) -> Self {
        Self::Subject(error.to_string())
    }
}

/// How an algorithm is run on a question.
pub struct Asked<'a, P: Problem> {
    /// The algorithm.
    pub entry: &'static Entry<P>,
    /// Seed and threads.
    pub setup: Setup,
    /// Limits; the parts of a subject share the time.
    pub limits: Limits,
    /// Told of progress where one input is the whole.
    pub observer: &'a mut dyn Observer<P>,
    /// Reads the highest resident memory when the algorithm has ended.
    pub peak_memory: &'a mut dyn FnMut() -> Option<u64>,
}

impl<P: Problem> Asked<'_, P> {
    /// Runs on a problem's own input, which is the whole.
    fn on(self, input: &P::Input) -> Answered<P> {
        let Self { entry, setup, limits, observer, peak_memory } = self;
        let Attempt { result, seconds, peak_memory } =
            crate::run::run_measured(entry, input, setup, limits, observer, peak_memory);
        let result = match result {
            Ok(outcome) => Ok(Answer::of(input, outcome)),
            Err(error) => Err(Unanswered::of(&error, error.to_string())),
        };
        Answered { result, seconds, peak_memory }
    }

    /// Runs on the parts of a subject, with limits whose clock starts now; the seconds are those of all of it.
    fn through(self, work: impl FnOnce(Limits) -> Result<Answer<P>, Unanswered>) -> Answered<P> {
        let started = Instant::now();
        let result = work(self.limits.from_now());
        Answered { result, seconds: started.elapsed().as_secs_f64(), peak_memory: (self.peak_memory)() }
    }
}

/// What became of a run.
#[derive(Debug)]
pub struct Answered<P: Problem> {
    /// The answer, through the checker, or why there is none.
    pub result: Result<Answer<P>, Unanswered>,
    /// Wall-clock seconds: of the algorithm alone, or of all parts of a subject.
    pub seconds: f64,
    /// Highest resident memory of the process during the run, bytes, where it was measured.
    pub peak_memory: Option<u64>,
}

impl<P: Problem> Answered<P> {
    /// Adds figures of the solution to the counters.
    fn counting(mut self, figures: impl Fn(&P::Solution) -> Vec<(&'static str, u64)>) -> Self {
        if let Ok(answer) = &mut self.result {
            for (name, number) in answer.solution.iter().flat_map(figures) {
                answer.stats.count(name, number);
            }
        }
        self
    }
}

/// A problem that instances or graphs pose.
pub trait Posed: Listed {
    /// Keys of the terms it knows, with the value that holds where none is given.
    const TERMS: &'static [(&'static str, &'static str)] = &[];
    /// Whether it also knows those of liveness.
    const LIVENESS: bool = false;
    /// A question about a subject, ready to be put to algorithms.
    type Question<'a>;

    /// What its value is, in a heading.
    const VALUE: &'static str;
    /// Further figures of an answer, counters by name, with their headings.
    const FIGURES: &'static [(&'static str, &'static str)] = &[];
    /// Whether a capacity can be decided, instead of the value minimised.
    const DECIDES: bool = false;

    /// Whether it is posed on this kind of subject.
    fn takes(kind: SubjectKind) -> bool {
        kind == SubjectKind::Graph
    }

    /// Its own of some terms, in full: with what holds where nothing is said.
    fn terms(given: &Terms) -> Terms {
        given.among(all_terms::<Self>())
    }

    /// Refuses values of its terms that mean nothing.
    ///
    /// # Errors
    /// [`TermError`] with key and value.
    fn check_terms(own: &Terms) -> Result<(), TermError> {
        own.liveness().map(drop)
    }

    /// The question about a subject. What has to be decided first (an order of the operators, a fusion) is computed within
    /// the limits.
    ///
    /// # Errors
    /// See [`PoseError`].
    fn pose<'a>(
        subject: &'a Subject,
        terms: &Terms,
        setup: Setup,
        limits: Limits,
    ) -> Result<Self::Question<'a>, PoseError>;

    /// Puts a question to an algorithm.
    fn ask(question: &Self::Question<'_>, asked: Asked<'_, Self>) -> Answered<Self>;

    /// A bound that holds before any algorithm has run.
    fn floor_of(_question: &Self::Question<'_>) -> Option<Self::Value> {
        None
    }

    /// The capacity that is part of the question, bytes.
    fn capacity_of(_question: &Self::Question<'_>) -> Option<u64> {
        None
    }

    /// The instance, and the addresses that every buffer takes in a solution, where it has any.
    fn drawn<'a>(
        _question: &'a Self::Question<'_>,
        _solution: &Self::Solution,
    ) -> Option<(&'a Instance, Vec<Vec<Piece>>)> {
        None
    }

    /// Writes a solution as rows; `false` where it has no such form.
    ///
    /// # Errors
    /// What the writer reports.
    fn written(
        _question: &Self::Question<'_>,
        _solution: &Self::Solution,
        _output: &mut dyn Write,
    ) -> io::Result<bool> {
        Ok(false)
    }
}

fn all_terms<P: Posed>() -> impl Iterator<Item = (&'static str, &'static str)> {
    let liveness = terms::LIVENESS.iter().filter(|_| P::LIVENESS);
    liveness.map(|key| (*key, "")).chain(P::TERMS.iter().copied())
}

/// Checks terms for several problems: each must be known to one of them, and have a value that it takes.
///
/// # Errors
/// [`TermError`] with key and value.
pub fn check_terms(terms: &Terms, problems: &[&str]) -> Result<(), TermError> {
    struct Check<'a>(&'a Terms);
    impl Visitor for Check<'_> {
        type Output = (Vec<&'static str>, Result<(), TermError>);
        fn visit<P: Posed>(&mut self) -> Self::Output {
            (all_terms::<P>().map(|(key, _)| key).collect(), P::check_terms(&P::terms(self.0)))
        }
    }
    let visited = problems.iter().filter_map(|problem| visit(problem, &mut Check(terms)));
    let (keys, checked): (Vec<_>, Vec<_>) = visited.unzip();
    terms.known(&keys.into_iter().flatten().collect(), problems)?;
    checked.into_iter().collect()
}

/// The terms of a problem in full, in words; empty for an unknown problem.
pub fn terms_in_full(terms: &Terms, problem: &str) -> String {
    struct Full<'a>(&'a Terms);
    impl Visitor for Full<'_> {
        type Output = String;
        fn visit<P: Posed>(&mut self) -> String {
            P::terms(self.0).to_string()
        }
    }
    visit(problem, &mut Full(terms)).unwrap_or_default()
}

/// What is the same for all questions of a problem.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The unit of its values.
    pub unit: &'static str,
    /// Whether a capacity can be decided, instead of the value minimised.
    pub decides: bool,
    /// Whether it is posed on a kind of subject.
    pub takes: fn(SubjectKind) -> bool,
}

/// The profile of a problem by name.
pub fn profile(problem: &str) -> Option<Profile> {
    struct Own;
    impl Visitor for Own {
        type Output = Profile;
        fn visit<P: Posed>(&mut self) -> Profile {
            Profile { unit: P::Value::UNIT, decides: P::DECIDES, takes: P::takes }
        }
    }
    visit(problem, &mut Own)
}

/// What is done for a problem that is known by its name only.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it for one problem.
    fn visit<P: Posed>(&mut self) -> Self::Output;
}

macro_rules! problems {
    ($($problem:ty),* $(,)?) => {
        /// The problems by name, in the order of tables: those of instances, then those of graphs.
        pub const PROBLEMS: &[&str] = &[$(<$problem as Problem>::NAME),*];

        /// Visits a problem by name; `None` where there is none of that name.
        pub fn visit<V: Visitor>(name: &str, visitor: &mut V) -> Option<V::Output> {
            match problem(name)? {
                $(name if name == <$problem as Problem>::NAME => Some(visitor.visit::<$problem>()),)*
                _ => None,
            }
        }
    };
}

/// The problem of a name, also of one that it had before: `pools`, `scattered`, `fusions`.
pub fn problem(name: &str) -> Option<&'static str> {
    let today = match name {
        "pools" => SharedObjects::NAME,
        "scattered" => SplitBuffers::NAME,
        "fusions" => Fusions::NAME,
        name => name,
    };
    PROBLEMS.iter().copied().find(|problem| *problem == today)
}

problems! { Offsets, SplitBuffers, SharedObjects, Orders, Joint, Spilling, Timelines, Tiers, Fusions }

/// An algorithm as lists show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The problem.
    pub problem: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Heuristic or exact.
    pub kind: Kind,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

impl Facts {
    fn of<P: Problem>(entry: &Entry<P>) -> Self {
        let Entry { name, kind, about, source, .. } = *entry;
        Self { problem: P::NAME, name, kind, about, source }
    }
}

struct Every<'a>(&'a Registry);

impl Visitor for Every<'_> {
    type Output = [Vec<Facts>; 2];

    fn visit<P: Posed>(&mut self) -> Self::Output {
        [P::entries(self.0), P::variants(self.0)]
            .map(|all| all.iter().map(|entry| Facts::of(entry)).collect())
    }
}

/// The algorithms of a problem, and its variants of them for ablation; none of an unknown problem.
pub fn algorithms(registry: &Registry, problem: &str) -> [Vec<Facts>; 2] {
    visit(problem, &mut Every(registry)).unwrap_or_default()
}

/// The algorithm, or variant of one, of a problem and name.
pub fn algorithm(registry: &Registry, problem: &str, name: &str) -> Option<Facts> {
    algorithms(registry, problem).into_iter().flatten().find(|facts| facts.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::registry;

    #[test]
    fn problems_are_known_by_name() {
        let registry = registry();
        assert_eq!(PROBLEMS.len(), 9);
        assert_eq!(
            ["pools", "scattered", "fusions"].map(problem),
            [PROBLEMS[2], PROBLEMS[1], PROBLEMS[8]].map(Some)
        );
        for problem in PROBLEMS {
            let [own, _] = algorithms(&registry, problem);
            assert!(!own.is_empty() && own.iter().all(|facts| facts.problem == *problem), "{problem}");
        }
        assert!(
            algorithm(&registry, "offset", "exact").is_none()
                && terms_in_full(&Terms::default(), "offset").is_empty()
        );
        assert_eq!(
            terms_in_full(&"machine=luna".parse().unwrap(), "timelines"),
            "machine=luna order=as-in-file"
        );
    }
}
