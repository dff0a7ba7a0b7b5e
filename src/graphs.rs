//! Orders and memory plans of whole graphs, region by region.
//!
//! Regions are processed innermost first. While an operator with regions runs, it occupies one block in the
//! enclosing region. The block is as large as the largest peak or arena among the regions of the operator
//! (LUNA, Alg. 2, with one block per operator). Every order and every layout passes the checker, like every
//! answer of [`run`](mod@crate::run).

use crate::run::{Limits, RunError, run};
use plimsoll_model::graph::{Graph, LivenessOptions, Storages};
use plimsoll_model::orders::{Order, OrderError, OrderProblem, around_bound};
use plimsoll_model::structure::StructureError;
use plimsoll_model::{
    Bytes, Entry, Instance, Joint, JointProblem, LowerBound, Offsets, OperatorId, Orders, Outcome, Problem,
    Race, RegionId, Setup, Silent, Step, Witness, load, simple_bound,
};

/// The reason why a graph could not be ordered or planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphRunError {
    /// A region does not define a valid order problem.
    #[error("region '{region}': {source}")]
    Problem {
        /// Name of the region.
        region: String,
        /// The reason why the order problem is invalid.
        source: OrderError,
    },
    /// The conflicts from the structure of the graph could not be computed.
    #[error("region '{region}': {source}")]
    Structure {
        /// Name of the region.
        region: String,
        /// The reason why the conflicts could not be computed.
        source: StructureError,
    },
    /// The checker rejected a layout planned under the conflicts derived from the structure of the graph.
    #[error("region '{region}', {algorithm}: {}: {first}", collisions(*.count))]
    Races {
        /// Name of the region.
        region: String,
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Number of colliding pairs.
        count: usize,
        /// The first colliding pair.
        first: Box<Race>,
    },
    /// An algorithm failed, or the checker rejected its answer.
    #[error("region '{region}', {algorithm}: {source}")]
    Run {
        /// Name of the region.
        region: String,
        /// Name of the algorithm.
        algorithm: &'static str,
        /// The error of the run.
        source: RunError,
    },
    /// Nothing was found within the limits.
    #[error("region '{region}', {algorithm}: nothing found within the limits")]
    Nothing {
        /// Name of the region.
        region: String,
        /// Name of the algorithm.
        algorithm: &'static str,
    },
}

/// How the layouts of regions are computed.
#[derive(Clone, Copy, Debug)]
pub enum Placement<'a> {
    /// The order is chosen first, and then this solver places the buffers.
    After(&'a Entry<Offsets>),
    /// This solver chooses the order and the layout together.
    Joint(&'a Entry<Joint>),
}

/// The settings under which the regions of a graph are ordered and laid out.
#[derive(Clone, Copy, Debug)]
pub struct GraphRun<'a> {
    /// Options of the liveness analysis.
    pub liveness: LivenessOptions,
    /// The order algorithm.
    pub order: &'a Entry<Orders>,
    /// Seed and number of threads.
    pub setup: Setup,
    /// Limits of each individual run. If there is a deadline, the runs share the time until it.
    pub limits: Limits,
}

/// One region and its order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderedRegion {
    /// The region.
    pub region: RegionId,
    /// The order problem, and the operators and tensors of the graph to which its ids refer.
    pub storages: Storages,
    /// The answer of the order algorithm. For joint plans, it is derived from the answer of the joint solver,
    /// with the time of that solver.
    pub outcome: Outcome<Orders>,
    /// The order found, or the file order if none was found.
    pub order: Order,
    /// Peak live bytes of that order.
    pub peak: Bytes,
    /// Peak live bytes of the file order.
    pub file_peak: Bytes,
}

/// One region with its order and its layout.
#[derive(Debug)]
pub struct PlannedRegion {
    /// The region and its order.
    pub ordered: OrderedRegion,
    /// The offset problem under that order.
    pub instance: Instance,
    /// The layout, and the bound under that order.
    pub layout: Outcome<Offsets>,
    /// A lower bound over all orders and all layouts.
    pub joint_bound: LowerBound,
}

impl PlannedRegion {
    /// Returns the running time of the algorithms for this region, in seconds.
    pub fn seconds(&self) -> f64 {
        self.ordered.outcome.stats.seconds + self.layout.stats.seconds
    }
}

impl OrderedRegion {
    /// Returns the operator of the graph that runs at a step of the offset problem under this order; `None`
    /// before the first operator.
    pub fn operator_at(&self, step: Step) -> Option<OperatorId> {
        let at = step.get().checked_sub(self.storages.problem.lead())?;
        let id = self.order.operators().get(usize::try_from(at).ok()?)?;
        Some(self.storages.operators[id.index()])
    }

    /// Describes what happens at a step of the offset problem under this order, with the names of operators.
    pub fn at(&self, graph: &Graph, step: Step) -> String {
        match self.operator_at(step) {
            Some(id) => format!("while '{}' runs", graph.called(id)),
            None => "before the first operator".to_owned(),
        }
    }

    /// Describes all steps of the offset problem under this order, like [`OrderedRegion::at`].
    pub fn steps(&self, graph: &Graph) -> Vec<String> {
        let problem = &self.storages.problem;
        (0..problem.lead() + problem.len() as u64).map(|step| self.at(graph, Step::new(step))).collect()
    }
}

impl PlannedRegion {
    /// Returns the reason for the bound on all layouts under the order, with the names of buffers and
    /// operators.
    pub fn layout_reason(&self, graph: &Graph) -> String {
        let witness = &self.layout.lower_bound.witness;
        let words = witness.in_words(&self.instance);
        match witness {
            Witness::Load { step } => format!("{words}, {}", self.ordered.at(graph, *step)),
            _ => words,
        }
    }

    /// Returns the step of the bound on all layouts, if its reason is the load.
    pub fn load_step(&self) -> Option<Step> {
        match self.layout.lower_bound.witness {
            Witness::Load { step } => Some(step),
            _ => None,
        }
    }

    /// Returns the size of the arena in bytes.
    pub fn arena(&self) -> Bytes {
        self.layout.value.unwrap_or(Bytes::ZERO)
    }

    /// Returns the peak live bytes under the order.
    pub fn load(&self) -> Bytes {
        load(&self.instance).0
    }

    /// Returns true if the arena meets the lower bound over all orders and layouts of this region.
    pub fn is_optimal_over_orders(&self) -> bool {
        self.layout.value == Some(self.joint_bound.value)
    }
}

impl GraphRun<'_> {
    /// Returns these settings for a run whose order is final. If the order is `as-in-file`, operators may
    /// write in place of an input of which they are the last reader in the file, and all bounds apply to this
    /// order only.
    #[must_use]
    pub fn with_final_order(mut self) -> Self {
        self.liveness.file_order = self.liveness.in_place && self.order.name == "as-in-file";
        self
    }

    /// Orders every region, innermost first; the body is last. While an operator with regions runs, it
    /// occupies as many bytes as the largest peak of its regions.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    pub fn order(&self, graph: &Graph) -> Result<Vec<OrderedRegion>, GraphRunError> {
        let mut blocks = vec![Bytes::ZERO; graph.regions().len()];
        let mut done = Vec::with_capacity(blocks.len());
        for region in (0..graph.regions().len()).rev().map(RegionId::at) {
            let ordered = self.order_region(graph, region, &blocks, self.limits.share(region.index() + 1))?;
            blocks[region.index()] = ordered.peak;
            done.push(ordered);
        }
        Ok(done)
    }

    /// Orders and lays out every region, innermost first; the body is last. An operator that owns regions
    /// adds a block to the enclosing region, as large as the largest arena of its regions.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    pub fn plan(&self, graph: &Graph, placement: Placement<'_>) -> Result<Vec<PlannedRegion>, GraphRunError> {
        let mut blocks = vec![Bytes::ZERO; graph.regions().len()];
        let mut done = Vec::with_capacity(blocks.len());
        for region in (0..graph.regions().len()).rev().map(RegionId::at) {
            let planned = match placement {
                Placement::After(solver) => self.plan_after(graph, region, &blocks, solver)?,
                Placement::Joint(solver) => self.plan_joint(graph, region, &blocks, solver)?,
            };
            blocks[region.index()] = planned.arena();
            done.push(planned);
        }
        Ok(done)
    }

    /// Returns the offset problem of the body under its order. The regions of an operator count as one
    /// buffer, as large as the largest arena that `solver` finds for any of these regions.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    pub fn instance(&self, graph: &Graph, solver: &Entry<Offsets>) -> Result<Instance, GraphRunError> {
        let mut blocks = vec![Bytes::ZERO; graph.regions().len()];
        for region in (1..graph.regions().len()).rev().map(RegionId::at) {
            blocks[region.index()] = self.plan_after(graph, region, &blocks, solver)?.arena();
        }
        let body = RegionId::at(0);
        let ordered = self.order_region(graph, body, &blocks, self.limits.share(1))?;
        let instance = ordered.storages.problem.instance(&ordered.order, self.liveness.align);
        instance.map_err(|error| invalid(graph, body, error))
    }

    fn plan_after(
        &self,
        graph: &Graph,
        region: RegionId,
        blocks: &[Bytes],
        solver: &Entry<Offsets>,
    ) -> Result<PlannedRegion, GraphRunError> {
        // There are two stages, order and layout, for this region and each of the remaining ones.
        let stages = 2 * (region.index() + 1);
        let ordered = self.order_region(graph, region, blocks, self.limits.share(stages))?;
        let problem = &ordered.storages.problem;
        let instance =
            problem.instance(&ordered.order, self.liveness.align).map_err(|e| invalid(graph, region, e))?;
        let limits = self.limits.share(stages - 1);
        let layout = self.run(graph, region, solver, &instance, limits)?;
        if layout.solution.is_none() {
            let region = graph.region_called(region);
            return Err(GraphRunError::Nothing { region, algorithm: solver.name });
        }
        let joint_bound = ordered.outcome.lower_bound.clone();
        Ok(PlannedRegion { ordered, instance, layout, joint_bound })
    }

    fn plan_joint(
        &self,
        graph: &Graph,
        region: RegionId,
        blocks: &[Bytes],
        solver: &Entry<Joint>,
    ) -> Result<PlannedRegion, GraphRunError> {
        let storages = self.storages(graph, region, blocks)?;
        let problem = JointProblem::new(storages.problem.clone(), self.liveness.align)
            .map_err(|e| invalid(graph, region, e))?;
        let limits = self.limits.share(region.index() + 1);
        let found = self.run(graph, region, solver, &problem, limits)?;
        let Some(plan) = found.solution else {
            let region = graph.region_called(region);
            return Err(GraphRunError::Nothing { region, algorithm: solver.name });
        };
        let instance = problem.instance(&plan.order);
        let peak = plan.order.peak(&storages.problem);
        let ordered = Outcome::conclude(
            &storages.problem,
            Some((plan.order.clone(), peak)),
            around_bound(&storages.problem),
            found.stop,
            found.stats.clone(),
        );
        // The time counts once, with the order.
        let mut placing = found.stats;
        placing.seconds = 0.0;
        let arena = plan.layout.peak(&instance);
        let layout = Outcome::conclude(
            &instance,
            Some((plan.layout, arena)),
            simple_bound(&instance),
            found.stop,
            placing,
        );
        let file_peak = storages.problem.as_in_file().peak(&storages.problem);
        let order = plan.order;
        let ordered = OrderedRegion { region, storages, outcome: ordered, order, peak, file_peak };
        Ok(PlannedRegion { ordered, instance, layout, joint_bound: found.lower_bound })
    }

    /// Returns the order problem of a region. `blocks` contains the peak or the arena of every inner region,
    /// in bytes, indexed by region.
    ///
    /// # Errors
    /// Returns [`GraphRunError::Problem`] if the region does not define a valid order problem.
    pub fn storages(
        &self,
        graph: &Graph,
        region: RegionId,
        blocks: &[Bytes],
    ) -> Result<Storages, GraphRunError> {
        let block = |id: OperatorId| {
            let own = graph.operator(id).regions.iter().map(|region| blocks[region.index()]);
            own.max().unwrap_or(Bytes::ZERO)
        };
        graph.storages(region, &self.liveness, block).map_err(|e| invalid(graph, region, e))
    }

    fn order_region(
        &self,
        graph: &Graph,
        region: RegionId,
        blocks: &[Bytes],
        limits: Limits,
    ) -> Result<OrderedRegion, GraphRunError> {
        let storages = self.storages(graph, region, blocks)?;
        let outcome = self.run(graph, region, self.order, &storages.problem, limits)?;
        let in_file = storages.problem.as_in_file();
        let file_peak = in_file.peak(&storages.problem);
        let order = outcome.solution.clone().unwrap_or(in_file);
        let peak = order.peak(&storages.problem);
        Ok(OrderedRegion { region, storages, outcome, order, peak, file_peak })
    }

    /// Runs an algorithm on the problem of one region.
    pub(crate) fn run<P: Problem>(
        &self,
        graph: &Graph,
        region: RegionId,
        entry: &Entry<P>,
        input: &P::Input,
        limits: Limits,
    ) -> Result<Outcome<P>, GraphRunError> {
        run(entry, input, self.setup, limits, &mut Silent).map_err(|source| GraphRunError::Run {
            region: graph.region_called(region),
            algorithm: entry.name,
            source,
        })
    }
}

fn collisions(count: usize) -> String {
    if count == 1 { "1 pair collides".to_owned() } else { format!("{count} pairs collide") }
}

fn invalid(graph: &Graph, region: RegionId, source: OrderError) -> GraphRunError {
    GraphRunError::Problem { region: graph.region_called(region), source }
}

/// Returns the reason for a bound as text, with the names of operators.
pub fn reason(problem: &OrderProblem, bound: &LowerBound) -> String {
    problem.explain(&bound.witness)
}
