//! One call per question. Every answer has passed the independent checker.

use crate::branches::{BranchError, OrderedProgram, Planner, ProgramPlan, SchemeEntry, ordered_program};
use crate::fusion::{FuseError, FuseRun, FusedRegion};
use crate::graphs::{GraphRun, GraphRunError, OrderedRegion};
use crate::registry::{Listed, Registry, registry};
use crate::run::{Limits, RunError, run};
use crate::tiers::{TierCase, TierCaseError, TierSetting, tier_case};
use crate::timelines::{ScheduleError, Scheduled, program, schedule};
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::fusion::{Patterns, UnitRule, Units};
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::program::ProgramOptions;
use plimsoll_model::tiers::{Addresses, TierMachine, Tiers};
use plimsoll_model::timelines::{Machine, OverlapError, OverlapOptions, OverlapProgram};
use plimsoll_model::{
    Entry, Instance, Offsets, Orders, Outcome, Setup, Silent, SpillError, SpillProblem, Spilling,
};
use std::time::Duration;

/// The solver that every question is put to unless another one is named.
const DEFAULT: &str = "exact";

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No algorithm of this name.
    #[error("no algorithm '{name}' for {problem}; known are {known}")]
    UnknownSolver {
        /// The name.
        name: String,
        /// The problem.
        problem: &'static str,
        /// The names there are.
        known: String,
    },
    /// The algorithm declined or failed, or the checker rejected its answer.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A region could not be ordered.
    #[error(transparent)]
    Graph(Box<GraphRunError>),
    /// A program could not be planned.
    #[error(transparent)]
    Plan(Box<BranchError>),
    /// The graph and the machine make no timeline problem.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
    /// No timelines.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The graph and the machine make no tier problem.
    #[error(transparent)]
    Tiers(Box<TierCaseError>),
    /// The graph could not be fused.
    #[error(transparent)]
    Fusion(#[from] FuseError),
    /// The instance makes no spilling problem.
    #[error(transparent)]
    Spill(#[from] SpillError),
}

macro_rules! boxed {
    ($($variant:ident($error:ty)),*) => {$(
        impl From<$error> for EngineError {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )*};
}

boxed!(Graph(GraphRunError), Plan(BranchError), Tiers(TierCaseError));

/// Algorithms, a seed, threads and limits: what a question is answered with.
///
/// ```
/// use plimsoll::Engine;
/// use std::time::Duration;
///
/// let instance = plimsoll::datasets::pisarchyk_lee().instance;
/// let engine = Engine::default().with_time_limit(Duration::from_secs(10));
/// let outcome = engine.solve(&instance)?;
/// assert_eq!(outcome.claim, plimsoll::model::Claim::Optimal);
/// # Ok::<(), plimsoll::EngineError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    /// The algorithms; [`Registry::register`] adds one.
    pub registry: Registry,
    /// Seed and threads of every run.
    pub setup: Setup,
    /// Limits of a question; its stages share the time.
    pub limits: Limits,
}

impl Default for Engine {
    /// Every algorithm of this build, seed 0, one thread, no limits.
    fn default() -> Self {
        Self { registry: registry(), setup: Setup::default(), limits: Limits::default() }
    }
}

/// A graph in order, and where everything lies.
#[derive(Debug)]
pub struct MemoryPlan<'g> {
    /// The orders of its regions.
    pub ordered: OrderedProgram<'g>,
    /// The layout, its peak in bytes, the bound, and what proves it.
    pub plan: ProgramPlan,
}

impl Engine {
    /// The same with a limit on the wall-clock time of every question.
    #[must_use]
    pub fn with_time_limit(mut self, time: Duration) -> Self {
        self.limits.time = Some(time);
        self
    }

    /// Limits whose clock starts now.
    fn limits(&self) -> Limits {
        self.limits.from_now()
    }

    fn entry<P: Listed>(&self, name: &str) -> Result<&'static Entry<P>, EngineError> {
        self.registry.find::<P>(name).ok_or_else(|| {
            let known: Vec<&str> = P::entries(&self.registry).iter().map(|entry| entry.name).collect();
            EngineError::UnknownSolver { name: name.to_owned(), problem: P::NAME, known: known.join(", ") }
        })
    }

    /// Answers any problem with the algorithm of a name.
    ///
    /// # Errors
    /// An unknown name; an algorithm that declines or fails; an answer that the checker rejects.
    pub fn answer<P: Listed>(&self, solver: &str, input: &P::Input) -> Result<Outcome<P>, EngineError> {
        Ok(run(self.entry::<P>(solver)?, input, self.setup, self.limits(), &mut Silent).result?)
    }

    /// One offset per buffer, least peak.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn solve(&self, instance: &Instance) -> Result<Outcome<Offsets>, EngineError> {
        self.answer(DEFAULT, instance)
    }

    /// What to spill where the capacity of an instance does not suffice, least traffic; every buffer is written once and
    /// read once.
    ///
    /// # Errors
    /// An instance without a capacity; else as [`answer`](Self::answer).
    pub fn spill(&self, instance: &Instance) -> Result<Outcome<Spilling>, EngineError> {
        self.answer(DEFAULT, &SpillProblem::written_and_read(instance.clone())?)
    }

    /// How the regions of a graph are ordered.
    fn ordering(&self, order: &str, limits: Limits) -> Result<GraphRun<'static>, EngineError> {
        let (liveness, order) = (LivenessOptions::default(), self.entry::<Orders>(order)?);
        Ok(GraphRun { liveness, order, setup: self.setup, limits })
    }

    /// Orders of all regions of a graph, least bytes live; innermost first, the body last.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    pub fn order(&self, graph: &Graph) -> Result<Vec<OrderedRegion>, EngineError> {
        Ok(self.ordering(DEFAULT, self.limits())?.order(graph)?)
    }

    /// From a graph to a memory plan: orders of least peak, then offsets, over all branches and loops at once.
    ///
    /// # Errors
    /// See [`BranchError`].
    ///
    /// # Panics
    /// Never: the scheme is always registered.
    pub fn plan<'g>(&self, graph: &'g Graph) -> Result<MemoryPlan<'g>, EngineError> {
        let (limits, options) = (self.limits(), ProgramOptions::default());
        let ordered = ordered_program(graph, &self.ordering(DEFAULT, limits.share(2))?, options)?;
        let scheme = SchemeEntry::named("exclusive").expect("it is registered");
        let (solver, setup) = (self.entry::<Offsets>(DEFAULT)?, self.setup);
        let execution = ExecutionOptions { seed: setup.seed, ..ExecutionOptions::default() };
        let plan = Planner { scheme, solver, setup, limits, execution }.plan(&ordered.program)?;
        Ok(MemoryPlan { ordered, plan })
    }

    /// Weights fetched while operators compute, in the order of the file: the program on the machine, and timelines of least
    /// makespan.
    ///
    /// # Errors
    /// See [`OverlapError`] and [`ScheduleError`].
    pub fn overlap(
        &self,
        graph: &Graph,
        machine: &Machine,
    ) -> Result<(OverlapProgram, Scheduled), EngineError> {
        let limits = self.limits();
        let regions = self.ordering("as-in-file", limits.share(2))?.order(graph)?;
        let program = program(graph, &regions, machine, OverlapOptions::default())?;
        let scheduled = schedule(&program, self.entry(DEFAULT)?, self.setup, limits)?;
        Ok((program, scheduled))
    }

    /// Which tensor lives in which memory, least transfer time; operators in the order of the file, none fused.
    ///
    /// # Errors
    /// See [`TierCaseError`]; else as [`answer`](Self::answer).
    pub fn tiers(
        &self,
        graph: &Graph,
        machine: &TierMachine,
    ) -> Result<(TierCase, Outcome<Tiers>), EngineError> {
        let run = self.ordering("as-in-file", self.limits().share(2))?;
        let (addresses, boundary_off_chip) = (Addresses::Placed, false);
        let setting = TierSetting { machine, run, fusing: None, addresses, boundary_off_chip };
        let case = tier_case(graph, &setting)?;
        let outcome = self.answer(DEFAULT, &case.problem)?;
        Ok((case, outcome))
    }

    /// Which operators run as one, most relations optimised, on the units that the graph names.
    ///
    /// # Errors
    /// See [`FuseError`].
    pub fn fuse(&self, graph: &Graph, patterns: &Patterns) -> Result<Vec<FusedRegion>, EngineError> {
        let (units, rule, entry) = (Units::of_graph(graph), UnitRule::Same, self.entry(DEFAULT)?);
        let run = FuseRun { patterns, units: &units, rule, entry, setup: self.setup, limits: self.limits() };
        Ok(run.fuse(graph)?)
    }
}

/// [`Engine::solve`] without limits.
///
/// # Errors
/// See [`Engine::solve`].
pub fn solve(instance: &Instance) -> Result<Outcome<Offsets>, EngineError> {
    Engine::default().solve(instance)
}

/// [`Engine::plan`] without limits.
///
/// # Errors
/// See [`Engine::plan`].
pub fn plan(graph: &Graph) -> Result<MemoryPlan<'_>, EngineError> {
    Engine::default().plan(graph)
}
