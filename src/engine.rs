//! [`Engine`]: one call per question. The independent checker validates every answer.

use crate::branches::{
    BranchError, OrderedProgram, Planner, ProgramPlan, SchemeEntry, in_words, ordered_program,
    program_in_order,
};
use crate::fusion::{FuseError, FuseRun, FusedRegion};
use crate::graphs::{GraphRun, GraphRunError, OrderedRegion, Placement, PlannedRegion, reason};
use crate::registry::{Listed, NameError, Registry, registry};
use crate::run::{Limits, RunError, run};
use crate::tiers::{TierCase, TierCaseError, TierSetting, tier_case};
use crate::timelines::{ScheduleError, Scheduled, program, schedule};
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::fusion::{Patterns, UnitRule, Units};
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::program::{ProgramBound, ProgramError, ProgramOptions};
use plimsoll_model::tiers::{Addresses, TierMachine, Tiers};
use plimsoll_model::timelines::{Machine, OverlapError, OverlapOptions, OverlapProgram};
use plimsoll_model::{
    Bytes, Instance, Joint, Offsets, Orders, Outcome, Setup, Silent, SpillError, SpillProblem, Spilling,
};
use std::time::Duration;

/// The solver that answers a question if no other is named.
const DEFAULT: &str = "exact";

/// The reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The name refers to no algorithm.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The algorithm does not support the input or failed, or the checker rejected its answer.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A region could not be ordered.
    #[error(transparent)]
    Graph(Box<GraphRunError>),
    /// A program could not be planned.
    #[error(transparent)]
    Plan(Box<BranchError>),
    /// The graph does not define a timeline problem on the machine.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
    /// No timeline was found.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The graph does not define a tier problem on the machine.
    #[error(transparent)]
    Tiers(Box<TierCaseError>),
    /// The graph could not be fused.
    #[error(transparent)]
    Fusion(#[from] FuseError),
    /// The instance does not define a spilling problem.
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

/// The registry, the seed, the number of threads and the limits that are used to answer questions.
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
    /// The available algorithms; [`Registry::register`] adds one.
    pub registry: Registry,
    /// Seed and number of threads of every run.
    pub setup: Setup,
    /// Limits of a question. The stages of its answer share the time.
    pub limits: Limits,
}

impl Default for Engine {
    /// Returns an engine with every algorithm of this build, seed 0, one thread and no limits.
    fn default() -> Self {
        Self { registry: registry(), setup: Setup::default(), limits: Limits::default() }
    }
}

/// The memory plan of a graph: orders of all regions and one layout.
#[derive(Debug)]
pub struct MemoryPlan<'g> {
    /// The ordered regions and the program built from them.
    pub ordered: OrderedProgram<'g>,
    /// The layout, its peak and lower bound in bytes, and the reason for the bound.
    pub plan: ProgramPlan,
    /// A lower bound over all orders and layouts, in bytes.
    pub joint_bound: Bytes,
    /// The reason for that bound.
    pub joint_witness: String,
}

impl Engine {
    /// Sets a limit on the wall-clock time of every question.
    #[must_use]
    pub fn with_time_limit(mut self, time: Duration) -> Self {
        self.limits.time = Some(time);
        self
    }

    /// Returns the limits with a clock that starts now.
    fn limits(&self) -> Limits {
        self.limits.from_now()
    }

    /// Answers any problem with the named algorithm.
    ///
    /// # Errors
    /// Returns an error if the name is unknown, the algorithm does not support the input or fails, or the
    /// checker rejects its answer.
    pub fn answer<P: Listed>(&self, solver: &str, input: &P::Input) -> Result<Outcome<P>, EngineError> {
        Ok(run(self.registry.find::<P>(solver)?, input, self.setup, self.limits(), &mut Silent)?)
    }

    /// Minimises the peak of a layout with one offset per buffer.
    ///
    /// # Errors
    /// See [`answer`](Self::answer).
    pub fn solve(&self, instance: &Instance) -> Result<Outcome<Offsets>, EngineError> {
        self.answer(DEFAULT, instance)
    }

    /// Chooses the buffers to spill so that the others fit into the capacity of the instance, with the least
    /// traffic in bytes. A spilled buffer is written once and read once.
    ///
    /// # Errors
    /// Returns [`EngineError::Spill`] if the instance has no capacity. Otherwise, see
    /// [`answer`](Self::answer).
    pub fn spill(&self, instance: &Instance) -> Result<Outcome<Spilling>, EngineError> {
        self.answer(DEFAULT, &SpillProblem::written_and_read(instance.clone())?)
    }

    /// Returns the settings under which the regions of a graph are ordered.
    fn ordering(
        &self,
        order: &str,
        liveness: LivenessOptions,
        limits: Limits,
    ) -> Result<GraphRun<'static>, EngineError> {
        Ok(GraphRun { liveness, order: self.registry.find::<Orders>(order)?, setup: self.setup, limits })
    }

    /// Orders the operators of every region for the lowest peak of live bytes. The innermost regions come
    /// first in the result, and the body comes last.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    pub fn order(&self, graph: &Graph) -> Result<Vec<OrderedRegion>, EngineError> {
        Ok(self.ordering(DEFAULT, LivenessOptions::default(), self.limits())?.order(graph)?)
    }

    /// Plans the memory of a graph. First, every region is ordered for the lowest peak. Then the buffers of
    /// the whole program, with all its branches and loops, are placed.
    ///
    /// # Errors
    /// See [`BranchError`].
    pub fn plan<'g>(&self, graph: &'g Graph) -> Result<MemoryPlan<'g>, EngineError> {
        self.plan_with(graph, LivenessOptions::default(), None)
    }

    /// Plans the memory of a graph like [`Engine::plan`], under the given assumptions about liveness. If the
    /// plan exceeds the capacity although the bound over all orders does not, each region is ordered and
    /// placed together. The answer is then the better plan, with the higher of the two bounds.
    ///
    /// # Errors
    /// See [`BranchError`].
    pub fn plan_with<'g>(
        &self,
        graph: &'g Graph,
        liveness: LivenessOptions,
        capacity: Option<Bytes>,
    ) -> Result<MemoryPlan<'g>, EngineError> {
        let limits = self.limits();
        let own = if capacity.is_some() { limits.share(2) } else { limits };
        let options = ProgramOptions { liveness, ..ProgramOptions::default() };
        let ordered = ordered_program(graph, &self.ordering(DEFAULT, liveness, own.share(2))?, options)?;
        let first = self.placed(ordered, own)?;
        if capacity.is_none_or(|capacity| first.plan.peak <= capacity || first.joint_bound > capacity) {
            return Ok(first);
        }
        let run = self.ordering(DEFAULT, liveness, limits.share(2))?;
        let regions = match run.plan(graph, Placement::Joint(self.registry.find::<Joint>(DEFAULT)?)) {
            // The first plan remains valid.
            Err(GraphRunError::Nothing { .. }) => return Ok(first),
            regions => regions?,
        };
        let mut bound = (first.joint_bound, first.joint_witness.clone());
        if let [PlannedRegion { joint_bound, ordered, .. }] = regions.as_slice()
            && joint_bound.value > bound.0
        {
            bound = (joint_bound.value, reason(&ordered.storages.problem, joint_bound));
        }
        let ordered = regions.into_iter().map(|one| one.ordered).collect();
        let second = self.placed(program_in_order(graph, ordered, options)?, limits)?;
        let best = if second.plan.peak < first.plan.peak { second } else { first };
        Ok(MemoryPlan { joint_bound: bound.0, joint_witness: bound.1, ..best })
    }

    /// Places the buffers of an ordered program.
    fn placed<'g>(&self, ordered: OrderedProgram<'g>, limits: Limits) -> Result<MemoryPlan<'g>, EngineError> {
        let scheme = SchemeEntry::named("exclusive").expect("the scheme exists");
        let (solver, setup) = (self.registry.find::<Offsets>(DEFAULT)?, self.setup);
        let execution = ExecutionOptions { seed: setup.seed, ..ExecutionOptions::default() };
        let plan = Planner { scheme, solver, setup, limits, execution }.plan(&ordered.program)?;
        let (joint_bound, joint_witness) = over_orders(&ordered).map_err(BranchError::from)?;
        Ok(MemoryPlan { ordered, plan, joint_bound, joint_witness })
    }

    /// Schedules weight transfers so that they overlap with computation, and minimises the makespan.
    /// Operators run in file order.
    ///
    /// Returns the program on the machine, and the timelines of its segments.
    ///
    /// # Errors
    /// See [`OverlapError`] and [`ScheduleError`].
    pub fn overlap(
        &self,
        graph: &Graph,
        machine: &Machine,
    ) -> Result<(OverlapProgram, Scheduled), EngineError> {
        let limits = self.limits();
        let liveness = LivenessOptions::default();
        let regions = self.ordering("as-in-file", liveness, limits.share(2))?.order(graph)?;
        let program = program(graph, &regions, machine, OverlapOptions::default())?;
        let scheduled = schedule(&program, self.registry.find(DEFAULT)?, self.setup, limits)?;
        Ok((program, scheduled))
    }

    /// Assigns every tensor to one memory of the machine, and minimises the total transfer time. Operators
    /// run in file order and are not fused.
    ///
    /// # Errors
    /// See [`TierCaseError`] and [`answer`](Self::answer).
    pub fn tiers(
        &self,
        graph: &Graph,
        machine: &TierMachine,
    ) -> Result<(TierCase, Outcome<Tiers>), EngineError> {
        let run = self.ordering("as-in-file", LivenessOptions::default(), self.limits().share(2))?;
        let (addresses, boundary_off_chip) = (Addresses::Placed, false);
        let setting = TierSetting { machine, run, fusing: None, addresses, boundary_off_chip };
        let case = tier_case(graph, &setting)?;
        let outcome = self.answer(DEFAULT, &case.problem)?;
        Ok((case, outcome))
    }

    /// Forms groups of operators that run as one, so that as many relations as possible are optimised. The
    /// units are those named in the graph, and no group spans several units.
    ///
    /// # Errors
    /// See [`FuseError`].
    pub fn fuse(&self, graph: &Graph, patterns: &Patterns) -> Result<Vec<FusedRegion>, EngineError> {
        let (units, rule, entry) = (Units::of_graph(graph), UnitRule::Same, self.registry.find(DEFAULT)?);
        let run = FuseRun { patterns, units: &units, rule, entry, setup: self.setup, limits: self.limits() };
        Ok(run.fuse(graph)?)
    }
}

/// Returns a lower bound over all orders and layouts, and its reason. For a graph without regions inside
/// operators, it is the bound of the order algorithm.
fn over_orders(ordered: &OrderedProgram<'_>) -> Result<(Bytes, String), ProgramError> {
    if let [body] = ordered.regions.as_slice() {
        let bound = &body.outcome.lower_bound;
        return Ok((bound.value, reason(&body.storages.problem, bound)));
    }
    let (graph, liveness) = (ordered.program.graph(), ordered.program.options().liveness);
    let bound = ProgramBound::of(graph, &liveness)?;
    Ok((bound.value, in_words(&bound, graph)))
}

/// Minimises the peak of a layout with one offset per buffer: [`Engine::solve`] without limits.
///
/// # Errors
/// See [`Engine::solve`].
pub fn solve(instance: &Instance) -> Result<Outcome<Offsets>, EngineError> {
    Engine::default().solve(instance)
}

/// Plans the memory of a graph: [`Engine::plan`] without limits.
///
/// # Errors
/// See [`Engine::plan`].
pub fn plan(graph: &Graph) -> Result<MemoryPlan<'_>, EngineError> {
    Engine::default().plan(graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::graph::{Boundary, GraphBuilder, Operator, Role, Tensor};
    use plimsoll_model::orders::OrderProblem;
    use plimsoll_model::{Budget, Entry, Kind, LowerBound, Observer, SolveError, Solver, Stats, Stop};

    /// An algorithm that keeps the order of the file.
    struct InFile;

    impl Solver<Orders> for InFile {
        fn name(&self) -> &'static str {
            "in-file"
        }

        fn solve(
            &self,
            input: &OrderProblem,
            _: &mut Budget,
            _: &mut dyn Observer<Orders>,
        ) -> Result<Outcome<Orders>, SolveError> {
            let (order, bound) = (Some(input.as_in_file()), LowerBound::trivial());
            Ok(Outcome::of(input, order, bound, Stop::Completed, Stats::default()))
        }
    }

    /// Returns two chains with one large tensor each, which the file interleaves.
    fn chains() -> Graph {
        let mut g = GraphBuilder::new("chains");
        let mut tensor = |name: &str, bytes: u64, role| g.tensor(Tensor::new(name, bytes, role));
        let [x, y] = [("x", Role::Input), ("y", Role::Output)].map(|(name, role)| tensor(name, 1, role));
        let [left, right, a, b] = [("left", 8), ("right", 6), ("a", 1), ("b", 1)]
            .map(|(n, size)| tensor(n, size, Role::Activation));
        let body = g.body();
        g.operator(body, Operator::new("grow", "Conv").reads([x]).makes([left]));
        g.operator(body, Operator::new("rise", "Conv").reads([x]).makes([right]));
        g.operator(body, Operator::new("pool", "MaxPool").reads([left]).makes([a]));
        g.operator(body, Operator::new("fold", "MaxPool").reads([right]).makes([b]));
        g.operator(body, Operator::new("join", "Concat").reads([a, b]).makes([y]));
        g.interface(body, [x], [y]);
        g.build().unwrap()
    }

    #[test]
    fn a_capacity_that_the_order_does_not_decide_is_decided_jointly() {
        let graph = chains();
        let mut engine = Engine::default();
        engine.registry.orders =
            vec![Entry::new("exact", Kind::Heuristic, "keeps the order", "test", |_| InFile)];
        assert_eq!(engine.plan(&graph).unwrap().plan.peak.get(), 15);
        for (capacity, fits) in [(12, true), (9, false)] {
            let capacity = Bytes::new(capacity);
            let found = engine.plan_with(&graph, LivenessOptions::default(), Some(capacity)).unwrap();
            assert_eq!((found.plan.peak.get(), found.joint_bound.get()), (10, 10));
            assert_eq!(found.plan.peak <= capacity, fits);
        }
        let found = engine.plan_with(&graph, LivenessOptions::default(), Some(Bytes::new(15))).unwrap();
        assert_eq!(found.plan.peak.get(), 15);
    }

    #[test]
    fn a_plan_follows_the_assumptions_about_liveness() {
        let liveness = LivenessOptions {
            boundary: Boundary::Outside,
            align: Bytes::new(4),
            ..LivenessOptions::default()
        };
        let graph = chains();
        let found = Engine::default().plan_with(&graph, liveness, None).unwrap();
        assert_eq!((found.plan.peak.get(), found.joint_bound.get()), (16, 16));
        assert!(found.plan.layout.offsets().iter().all(|offset| offset.get() % 4 == 0));
    }
}
