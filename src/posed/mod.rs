//! The problems, posed uniformly on an instance or a graph.
//!
//! An algorithm accepts one instance, one region or one segment, but a user has a file with an instance or a
//! whole graph. [`Posed`] converts the contents of the file into inputs for an algorithm and combines the
//! results into one answer. Benchmarks, sweeps and comparisons use this trait, so they contain no code for a
//! particular problem.

mod graphs;
mod instances;
mod terms;

pub use graphs::{InOrder, ToFuse};
pub use instances::{check_instance_terms, instance, instance_terms};
pub use terms::{TermError, Terms};

use crate::arithmetic::Arithmetic;
use crate::fusion::FuseError;
use crate::graphs::{GraphRunError, OrderedRegion};
use crate::registry::{Listed, NameError, Registry, each_problem, first_found};
use crate::run::{Limits, RunError, run};
use crate::tiers::TierCaseError;
use crate::timelines::ScheduleError;
use plimsoll_model::fusion::Fusions;
use plimsoll_model::graph::Graph;
use plimsoll_model::orders::OrderError;
use plimsoll_model::timelines::{OverlapError, Timelines};
use plimsoll_model::{
    Bound, Claim, Entry, Instance, Kind, LowerBound, Observer, Orders, Outcome, Parameter, Piece, Problem,
    Setup, SolveError, SpillError, Spilling, Stats, Stop, Value, WitnessSummary,
};
use plimsoll_support::words;
use std::io::{self, Write};

/// The input on which problems are posed.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Buffers with lifespans.
    Instance(Instance),
    /// Operators and tensors.
    Graph(Box<Graph>),
}

words! {
    /// The kind of a [`Subject`].
    SubjectKind {
        /// Buffers with lifespans.
        Instance => "instance",
        /// Operators and tensors.
        Graph => "graph",
    }
}

impl From<Instance> for Subject {
    fn from(instance: Instance) -> Self {
        Self::Instance(instance)
    }
}

impl Subject {
    /// Returns the name of the instance or graph.
    pub fn name(&self) -> &str {
        match self {
            Self::Instance(instance) => instance.name(),
            Self::Graph(graph) => graph.name(),
        }
    }

    /// Returns the kind of the subject.
    pub const fn kind(&self) -> SubjectKind {
        match self {
            Self::Instance(_) => SubjectKind::Instance,
            Self::Graph(_) => SubjectKind::Graph,
        }
    }
}

/// A bound that is valid for the whole subject, and its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvedBound<V> {
    /// The bound: no solution has a better value.
    pub bound: V,
    /// The reason why the bound is valid.
    pub witness: WitnessSummary,
    /// The arithmetic of the proof.
    pub arithmetic: Arithmetic,
}

/// The bounds that an independent checker can confirm by a proof (see [`plimsoll_solvers::offsets::proof`]).
#[derive(Clone, Copy, Debug)]
pub enum Provable<'a> {
    /// A bound on the peaks of the layouts of an instance.
    Layouts(&'a Instance, &'a LowerBound),
    /// The bounds on the peaks of the orders of all regions of a graph, innermost first.
    Orders(&'a Graph, &'a [OrderedRegion]),
}

/// The answer of an algorithm for the whole subject. All solutions have passed the checker.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<P: Problem> {
    /// The solution status.
    pub claim: Claim,
    /// The termination reason.
    pub stop: Stop,
    /// The value of the best solution.
    pub value: Option<P::Value>,
    /// The bound; `None` if the bounds of the parts do not imply a bound for the whole.
    pub proof: Option<ProvedBound<P::Value>>,
    /// The bound with its witness, if the whole subject is one input. For orders, this is the bound of the
    /// body.
    pub bound: Option<Bound<P>>,
    /// Counters; nodes are summed over all parts.
    pub stats: Stats,
    /// The solution, if the whole subject is one input. For orders, this is the order of the body.
    pub solution: Option<P::Solution>,
    /// The regions of a graph with their orders, innermost first, if the problem is to order them.
    pub regions: Vec<OrderedRegion>,
    /// The reason why there is no solution. Empty if there is a solution or the reason is unknown.
    pub remark: String,
}

impl<P: Problem> Answer<P> {
    /// Builds the answer for a subject that is one input.
    pub fn of(input: &P::Input, outcome: Outcome<P>) -> Self {
        let bound = &outcome.lower_bound;
        let proof = ProvedBound {
            bound: bound.value,
            witness: WitnessSummary::of::<P>(input, &bound.witness),
            arithmetic: Arithmetic::of(&bound.witness),
        };
        Self {
            claim: outcome.claim,
            stop: outcome.stop,
            value: outcome.value,
            proof: Some(proof),
            bound: Some(outcome.lower_bound),
            stats: outcome.stats,
            solution: outcome.solution,
            regions: Vec::new(),
            remark: String::new(),
        }
    }

    /// Builds the answer for a subject that was solved in parts, from its value and its bound.
    fn whole(value: P::Value, proof: Option<ProvedBound<P::Value>>, stop: Stop, stats: Stats) -> Self {
        let met = proof.as_ref().is_some_and(|proof| proof.bound == value);
        let claim = Claim::of_solution(met);
        Self {
            claim,
            stop,
            value: Some(value),
            proof,
            bound: None,
            stats,
            solution: None,
            regions: Vec::new(),
            remark: String::new(),
        }
    }

    /// Builds the answer for a subject without a solution.
    fn nothing(claim: Claim, remark: String) -> Self {
        Self {
            claim,
            stop: Stop::Completed,
            value: None,
            proof: None,
            bound: None,
            stats: Stats::default(),
            solution: None,
            regions: Vec::new(),
            remark,
        }
    }

    /// Adds figures computed from the solution to the counters.
    fn counting(mut self, figures: impl Fn(&P::Solution) -> Vec<(&'static str, u64)>) -> Self {
        for (name, number) in self.solution.iter().flat_map(figures) {
            self.stats.count(name, number);
        }
        self
    }
}

/// The reason why a run has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// The algorithm does not support the input or failed, or the checker rejected its answer.
    #[error("{}", unsupported(.0).unwrap_or(&.0.to_string()))]
    Run(RunError),
    /// A region could not be ordered or planned.
    #[error(transparent)]
    Graph(#[from] GraphRunError),
    /// The graph has no region.
    #[error("the graph has no region")]
    NoRegion,
    /// No timeline was found.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A region could not be fused.
    #[error(transparent)]
    Fuse(#[from] FuseError),
}

/// The class of the reason why a run has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The algorithm does not support the input, or the subject does not define the problem.
    Unsupported,
    /// The checker rejected the answer.
    Rejected,
    /// An internal error.
    Internal,
}

/// Returns why an algorithm does not support its input, if that is the error.
fn unsupported(error: &RunError) -> Option<&str> {
    match error {
        RunError::Solve(SolveError::Unsupported { reason, .. }) => Some(reason),
        _ => None,
    }
}

impl Unanswered {
    /// Classifies the reason.
    pub fn fault(&self) -> Fault {
        let of = |error: &RunError| match error {
            RunError::Refused(_) => Fault::Rejected,
            _ if unsupported(error).is_some() => Fault::Unsupported,
            _ => Fault::Internal,
        };
        match self {
            Self::Run(source)
            | Self::Graph(GraphRunError::Run { source, .. })
            | Self::Fuse(FuseError::Run { source, .. }) => of(source),
            Self::Graph(GraphRunError::Races { .. }) | Self::Schedule(ScheduleError::Refused { .. }) => {
                Fault::Rejected
            }
            Self::Graph(GraphRunError::Problem { .. } | GraphRunError::Structure { .. })
            | Self::Schedule(ScheduleError::Unfit(SolveError::Unsupported { .. }))
            | Self::Fuse(FuseError::Units(_) | FuseError::TooMany(_)) => Fault::Unsupported,
            Self::Graph(GraphRunError::Nothing { .. }) | Self::NoRegion | Self::Schedule(_) => {
                Fault::Internal
            }
        }
    }
}

/// The reason why a problem cannot be posed on a subject.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// The subject is an instance but the problem needs a graph, or vice versa.
    #[error("the problem {problem} does not accept this kind of input: {kind}")]
    Kind {
        /// Name of the problem.
        problem: &'static str,
        /// The kind of the subject.
        kind: SubjectKind,
    },
    /// A term is invalid.
    #[error(transparent)]
    Terms(#[from] TermError),
    /// The regions of the graph could not be ordered or planned.
    #[error(transparent)]
    Graph(#[from] GraphRunError),
    /// The graph has no body.
    #[error("the graph has no body")]
    NoBody,
    /// The order of the body defines no instance.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// The instance defines no spilling problem.
    #[error(transparent)]
    Spill(#[from] SpillError),
    /// The ordered regions define no program on the machine.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
    /// The graph defines no problem of memory tiers on the machine.
    #[error(transparent)]
    Tiers(#[from] TierCaseError),
}

/// The algorithm that answers a question, its parameters, and the limits. The parts of a subject share the
/// time.
pub type By<P> = (&'static Entry<P>, Setup, Limits);

/// Answers a question whose subject is one input.
fn answer<P: Problem>(
    input: &P::Input,
    (entry, setup, limits): By<P>,
    observer: &mut dyn Observer<P>,
) -> Result<Answer<P>, Unanswered> {
    let outcome = run(entry, input, setup, limits, observer).map_err(Unanswered::Run)?;
    Ok(Answer::of(input, outcome))
}

/// A problem that can be posed on instances or graphs.
pub trait Posed: Listed {
    /// The keys of the problem's terms, with their default values.
    const TERMS: &'static [(&'static str, &'static str)] = &[];
    /// True if the problem also has the terms of the liveness options.
    const LIVENESS: bool = false;
    /// A question about a subject, in the form that algorithms accept.
    type Question<'a>;

    /// The name of the problem's value in headings.
    const VALUE: &'static str;
    /// Further figures of an answer: pairs of heading and counter name.
    const FIGURES: &'static [(&'static str, &'static str)] = &[];
    /// Whether a question may ask if a capacity suffices, instead of asking for the best value.
    const DECIDES: bool = false;

    /// Returns true if the problem can be posed on this kind of subject.
    fn takes(kind: SubjectKind) -> bool {
        kind == SubjectKind::Graph
    }

    /// Returns the given terms that belong to this problem, completed with default values.
    fn terms(given: &Terms) -> Terms {
        given.among(all_terms::<Self>())
    }

    /// Rejects invalid values of the problem's terms.
    ///
    /// # Errors
    /// Returns a [`TermError`] with key and value.
    fn check_terms(own: &Terms) -> Result<(), TermError> {
        own.liveness().map(drop)
    }

    /// Builds the question about a subject. If the question requires an order of the operators or a
    /// fusion, computes it first, within the limits.
    ///
    /// # Errors
    /// See [`PoseError`].
    fn pose<'a>(
        subject: &'a Subject,
        terms: &Terms,
        setup: Setup,
        limits: Limits,
    ) -> Result<Self::Question<'a>, PoseError>;

    /// Answers a question with an algorithm. The observer receives progress if the whole subject is one
    /// input.
    ///
    /// # Errors
    /// See [`Unanswered`].
    fn ask(
        question: &Self::Question<'_>,
        by: By<Self>,
        observer: &mut dyn Observer<Self>,
    ) -> Result<Answer<Self>, Unanswered>;

    /// Returns a bound that is known before any algorithm runs.
    fn floor_of(_question: &Self::Question<'_>) -> Option<Self::Value> {
        None
    }

    /// Returns the bound of an answer, if an independent checker accepts proofs of such bounds.
    fn provable<'a>(_question: &'a Self::Question<'_>, _answer: &'a Answer<Self>) -> Option<Provable<'a>> {
        None
    }

    /// Returns the capacity of the question in bytes, if it has one.
    fn capacity_of(_question: &Self::Question<'_>) -> Option<u64> {
        None
    }

    /// Returns the instance and the address ranges of every buffer in a solution, if solutions can be drawn
    /// as memory maps.
    fn drawn<'a>(
        _question: &'a Self::Question<'_>,
        _solution: &Self::Solution,
    ) -> Option<(&'a Instance, Vec<Vec<Piece>>)> {
        None
    }

    /// Writes a solution as CSV rows; returns `false` if solutions of the problem have no CSV format.
    ///
    /// # Errors
    /// Returns any error from the writer.
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

/// Checks terms for several problems: every key must belong to one of them and have a valid value. If
/// `models` is true, the problems on instances also accept the terms of [`instance_terms`].
///
/// # Errors
/// Returns a [`TermError`] with key and value.
pub fn check_terms(terms: &Terms, problems: &[&str], models: bool) -> Result<(), TermError> {
    struct Check<'a>(&'a Terms);
    impl Visitor for Check<'_> {
        type Output = (Vec<&'static str>, Result<(), TermError>);
        fn visit<P: Posed>(&mut self) -> Self::Output {
            (all_terms::<P>().map(|(key, _)| key).collect(), P::check_terms(&P::terms(self.0)))
        }
    }
    let visited = problems.iter().filter_map(|problem| visit(problem, &mut Check(terms)));
    let (mut keys, checked): (Vec<_>, Vec<_>) = visited.unzip();
    if models && problems.iter().any(|problem| is_on_instances(problem)) {
        let own = instance_terms(terms);
        check_instance_terms(&own)?;
        keys.push(terms::instance_keys().map(|(key, _)| key).collect());
    }
    terms.known(&keys.into_iter().flatten().collect(), problems)?;
    checked.into_iter().collect()
}

/// Returns the terms of a problem, with default values for those not given. Liveness options that are not
/// given are omitted. There are no terms for an unknown problem.
pub fn terms_in_full(terms: &Terms, problem: &str) -> Terms {
    struct Full<'a>(&'a Terms);
    impl Visitor for Full<'_> {
        type Output = Terms;
        fn visit<P: Posed>(&mut self) -> Terms {
            P::terms(self.0)
        }
    }
    visit(problem, &mut Full(terms)).unwrap_or_default()
}

/// The properties of a problem that do not depend on the question.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// What its algorithms seek.
    pub objective: &'static str,
    /// The name of its value in headings.
    pub value: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// Whether a question may ask if a capacity suffices, instead of asking for the best value.
    pub decides: bool,
    /// Returns true if the problem can be posed on a kind of subject.
    pub takes: fn(SubjectKind) -> bool,
}

/// Returns the profile of the named problem; `None` for an unknown name.
pub fn profile(problem: &str) -> Option<Profile> {
    struct Own;
    impl Visitor for Own {
        type Output = Profile;
        fn visit<P: Posed>(&mut self) -> Profile {
            Profile {
                objective: P::OBJECTIVE,
                value: P::VALUE,
                unit: P::Value::UNIT,
                decides: P::DECIDES,
                takes: P::takes,
            }
        }
    }
    visit(problem, &mut Own)
}

/// Returns true if the named problem can be posed on subjects of this kind.
pub fn takes(problem: &str, kind: SubjectKind) -> bool {
    profile(problem).is_some_and(|own| (own.takes)(kind))
}

/// Returns true if the named problem is posed only on instances. For such a problem, [`instance`] derives an
/// instance from a graph.
pub fn is_on_instances(problem: &str) -> bool {
    profile(problem).is_some_and(|own| !(own.takes)(SubjectKind::Graph))
}

/// A generic operation on a problem that is selected by name at run time.
pub trait Visitor {
    /// The result of the operation.
    type Output;
    /// Applies the operation to one problem.
    fn visit<P: Posed>(&mut self) -> Self::Output;
}

macro_rules! problems {
    ($($field:ident: $problem:ty, $objective:literal, $heuristics:expr, $solvers:expr;)*) => {
        /// Names of the problems in the order in which tables list them: problems of instances first, then
        /// problems of graphs.
        pub const PROBLEMS: &[&str] = &[$(<$problem as Problem>::NAME),*];

        /// Applies a visitor to the named problem; `None` for an unknown name.
        pub fn visit<V: Visitor>(name: &str, visitor: &mut V) -> Option<V::Output> {
            match problem(name)? {
                $(name if name == <$problem as Problem>::NAME => Some(visitor.visit::<$problem>()),)*
                _ => None,
            }
        }
    };
}

/// Resolves the name of a problem. Names of commands (`order`, `overlap`, `spill`, `fuse`) are accepted.
pub fn problem(name: &str) -> Option<&'static str> {
    let current = match name {
        "fuse" => Fusions::NAME,
        "order" => Orders::NAME,
        "overlap" => Timelines::NAME,
        "spill" => Spilling::NAME,
        name => name,
    };
    PROBLEMS.iter().copied().find(|problem| *problem == current)
}

each_problem!(problems);

/// The listed properties of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Name of the problem.
    pub problem: &'static str,
    /// Name of the algorithm.
    pub name: &'static str,
    /// Heuristic or exact.
    pub kind: Kind,
    /// A summary in one line.
    pub about: &'static str,
    /// The publication or project from which the algorithm comes.
    pub source: &'static str,
    /// The running time in the worst case.
    pub time: &'static str,
    /// The accepted parameters.
    pub parameters: Vec<Parameter>,
}

impl Facts {
    fn of<P: Problem>(entry: &Entry<P>) -> Self {
        let Entry { name, kind, about, source, time, .. } = *entry;
        Self { problem: P::NAME, name, kind, about, source, time, parameters: entry.parameters() }
    }
}

struct Every<'a>(&'a Registry);

impl Visitor for Every<'_> {
    type Output = Vec<Facts>;

    fn visit<P: Posed>(&mut self) -> Self::Output {
        P::entries(self.0).iter().map(|entry| Facts::of(entry)).collect()
    }
}

/// Returns the algorithms of a problem. There are none for an unknown problem.
pub fn algorithms(registry: &Registry, problem: &str) -> Vec<Facts> {
    visit(problem, &mut Every(registry)).unwrap_or_default()
}

struct One<'a>(&'a Registry, &'a str);

impl Visitor for One<'_> {
    type Output = Result<Facts, NameError>;

    fn visit<P: Posed>(&mut self) -> Self::Output {
        self.0.find::<P>(self.1).map(Facts::of)
    }
}

/// Finds an algorithm by name, in the first of these problems that has it. Returns `None` if none of the
/// problems exists.
///
/// # Errors
/// See [`NameError`].
pub fn algorithm(registry: &Registry, problems: &[&str], name: &str) -> Option<Result<Facts, NameError>> {
    first_found(problems.iter().filter_map(|problem| visit(problem, &mut One(registry, name))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::registry;

    #[test]
    fn problems_are_found_by_name() {
        let registry = registry();
        let commands = ["order", "spill", "overlap", "fuse", "pools"].map(problem);
        let names = [Orders::NAME, Spilling::NAME, Timelines::NAME, Fusions::NAME].map(Some);
        assert_eq!(commands[..], [&names[..], &[None]].concat());
        for problem in PROBLEMS {
            let own = algorithms(&registry, problem);
            assert!(!own.is_empty() && own.iter().all(|facts| facts.problem == *problem), "{problem}");
        }
        assert!(
            algorithm(&registry, &["offset"], "exact").is_none()
                && terms_in_full(&Terms::default(), "offset").is_empty()
        );
        assert_eq!(
            terms_in_full(&"machine=luna".parse().unwrap(), "timelines").to_string(),
            "machine=luna order=as-in-file"
        );
    }
}
