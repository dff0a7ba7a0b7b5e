//! From a graph to orders and memory plans, region by region.
//!
//! Regions are taken innermost first. What an operator owns is a block of its own while the operator runs: of the
//! largest peak, or arena, among its regions (SOURCES S0, Alg. 2, with one block per operator). Every order and every
//! layout passes the checker, as everything [`run`](mod@crate::run) does.

use crate::run::{Attempt, Limits, RunError, run};
use plimsoll_model::graph::{Graph, LivenessOptions, Storages};
use plimsoll_model::orders::{Order, OrderError, OrderProblem, around_bound};
use plimsoll_model::structure::StructureError;
use plimsoll_model::{
    Bytes, Entry, Instance, Joint, JointProblem, LowerBound, Offsets, OperatorId, Orders, Outcome, Problem,
    Race, RegionId, Setup, Silent, load, simple_bound,
};

/// Why a graph could not be ordered or planned.
#[derive(Debug, thiserror::Error)]
pub enum GraphRunError {
    /// The graph has no such order problem.
    #[error("region '{region}': {source}")]
    Problem {
        /// Which region.
        region: String,
        /// Why.
        source: OrderError,
    },
    /// The conflicts of its structure are out of reach.
    #[error("region '{region}': {source}")]
    Structure {
        /// Which region.
        region: String,
        /// Why.
        source: StructureError,
    },
    /// A layout by the structure of the graph that the checker refused.
    #[error("region '{region}', {algorithm}: {} pairs collide: {first}", .count)]
    Races {
        /// Which region.
        region: String,
        /// Which algorithm.
        algorithm: &'static str,
        /// How many pairs.
        count: usize,
        /// The first of them.
        first: Box<Race>,
    },
    /// An algorithm failed, or its answer was refused.
    #[error("region '{region}', {algorithm}: {source}")]
    Run {
        /// Which region.
        region: String,
        /// Which algorithm.
        algorithm: &'static str,
        /// Why.
        source: RunError,
    },
    /// Nothing was found within the limits.
    #[error("region '{region}', {algorithm}: nothing found within the limits")]
    Nothing {
        /// Which region.
        region: String,
        /// Which algorithm.
        algorithm: &'static str,
    },
}

/// Who lays regions out.
#[derive(Clone, Copy, Debug)]
pub enum Placement<'a> {
    /// This one, after the order is fixed.
    After(&'a Entry<Offsets>),
    /// This one, together with the order.
    Joint(&'a Entry<Joint>),
}

/// How regions are ordered and laid out.
#[derive(Clone, Copy, Debug)]
pub struct GraphRun<'a> {
    /// What liveness assumes.
    pub liveness: LivenessOptions,
    /// Who orders.
    pub order: &'a Entry<Orders>,
    /// Seed and threads.
    pub setup: Setup,
    /// Limits of every single run; those with a deadline share the time up to it.
    pub limits: Limits,
}

/// One region in order.
#[derive(Debug)]
pub struct OrderedRegion {
    /// Which.
    pub region: RegionId,
    /// Its order problem, and what its numbers mean.
    pub storages: Storages,
    /// What the algorithm says.
    pub outcome: Outcome<Orders>,
    /// The order found; that of the file where nothing was found.
    pub order: Order,
    /// The peak of that order, bytes.
    pub peak: Bytes,
    /// The peak of the order of the file, bytes.
    pub file_peak: Bytes,
    /// Seconds of the algorithm.
    pub seconds: f64,
}

/// One region in order and laid out.
#[derive(Debug)]
pub struct PlannedRegion {
    /// Its order.
    pub ordered: OrderedRegion,
    /// The offset problem under that order.
    pub instance: Instance,
    /// The layout, and what is proved of it under that order.
    pub layout: Outcome<Offsets>,
    /// No order and no layout takes less than this.
    pub joint_bound: LowerBound,
    /// Seconds of the placement.
    pub seconds: f64,
}

impl PlannedRegion {
    /// Size of the arena, bytes.
    pub fn arena(&self) -> Bytes {
        self.layout.value.unwrap_or(Bytes::ZERO)
    }

    /// The most bytes alive at a step under the order.
    pub fn load(&self) -> Bytes {
        load(&self.instance).0
    }

    /// True where no order and no layout of this region takes less: the arena meets the bound over all orders.
    pub fn is_optimal_over_orders(&self) -> bool {
        self.layout.value == Some(self.joint_bound.value)
    }
}

impl GraphRun<'_> {
    /// Orders every region, innermost first; the body is last. The peak of an operator's regions is what it needs while
    /// it runs.
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

    /// Orders every region and lays it out, innermost first; the body is last. The largest arena of an operator's regions is
    /// a block of the region around it.
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

    fn plan_after(
        &self,
        graph: &Graph,
        region: RegionId,
        blocks: &[Bytes],
        solver: &Entry<Offsets>,
    ) -> Result<PlannedRegion, GraphRunError> {
        // Every region is ordered and laid out, this one and those around it.
        let stages = 2 * (region.index() + 1);
        let ordered = self.order_region(graph, region, blocks, self.limits.share(stages))?;
        let problem = &ordered.storages.problem;
        let instance =
            problem.instance(&ordered.order, self.liveness.align).map_err(|e| refused(graph, region, e))?;
        let attempt = run(solver, &instance, self.setup, self.limits.share(stages - 1), &mut Silent);
        let (layout, seconds) = outcome(graph, region, solver.name, attempt)?;
        if layout.solution.is_none() {
            let region = graph.region(region).name.clone();
            return Err(GraphRunError::Nothing { region, algorithm: solver.name });
        }
        let joint_bound = ordered.outcome.lower_bound.clone();
        Ok(PlannedRegion { ordered, instance, layout, joint_bound, seconds })
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
            .map_err(|e| refused(graph, region, e))?;
        let limits = self.limits.share(region.index() + 1);
        let attempt = run(solver, &problem, self.setup, limits, &mut Silent);
        let (found, seconds) = outcome(graph, region, solver.name, attempt)?;
        let Some(plan) = found.solution else {
            let region = graph.region(region).name.clone();
            return Err(GraphRunError::Nothing { region, algorithm: solver.name });
        };
        let instance = problem.instance(&plan.order);
        let peak = plan.order.peak(&storages.problem);
        let ordered = Outcome::conclude(
            Some((plan.order.clone(), peak)),
            around_bound(&storages.problem),
            None,
            found.stop,
            found.stats.clone(),
        );
        let arena = plan.layout.peak(&instance);
        let layout = Outcome::conclude(
            Some((plan.layout, arena)),
            simple_bound(&instance),
            None,
            found.stop,
            found.stats,
        );
        let file_peak = storages.problem.as_in_file().peak(&storages.problem);
        let order = plan.order;
        let ordered =
            OrderedRegion { region, storages, outcome: ordered, order, peak, file_peak, seconds: 0.0 };
        Ok(PlannedRegion { ordered, instance, layout, joint_bound: found.lower_bound, seconds })
    }

    pub(crate) fn storages(
        &self,
        graph: &Graph,
        region: RegionId,
        blocks: &[Bytes],
    ) -> Result<Storages, GraphRunError> {
        let block = |id: OperatorId| {
            let own = graph.operator(id).regions.iter().map(|region| blocks[region.index()]);
            own.max().unwrap_or(Bytes::ZERO)
        };
        graph.storages(region, &self.liveness.inside(region), block).map_err(|e| refused(graph, region, e))
    }

    fn order_region(
        &self,
        graph: &Graph,
        region: RegionId,
        blocks: &[Bytes],
        limits: Limits,
    ) -> Result<OrderedRegion, GraphRunError> {
        let storages = self.storages(graph, region, blocks)?;
        let attempt = run(self.order, &storages.problem, self.setup, limits, &mut Silent);
        let (outcome, seconds) = outcome(graph, region, self.order.name, attempt)?;
        let in_file = storages.problem.as_in_file();
        let file_peak = in_file.peak(&storages.problem);
        let order = outcome.solution.clone().unwrap_or(in_file);
        let peak = order.peak(&storages.problem);
        Ok(OrderedRegion { region, storages, outcome, order, peak, file_peak, seconds })
    }
}

fn refused(graph: &Graph, region: RegionId, source: OrderError) -> GraphRunError {
    GraphRunError::Problem { region: graph.region(region).name.clone(), source }
}

pub(crate) fn outcome<P: Problem>(
    graph: &Graph,
    region: RegionId,
    algorithm: &'static str,
    attempt: Attempt<P>,
) -> Result<(Outcome<P>, f64), GraphRunError> {
    match attempt.result {
        Ok(outcome) => Ok((outcome, attempt.seconds)),
        Err(source) => {
            Err(GraphRunError::Run { region: graph.region(region).name.clone(), algorithm, source })
        }
    }
}

/// A bound in words, with the names of operators.
pub fn reason(problem: &OrderProblem, bound: &LowerBound) -> String {
    problem.explain(&bound.witness)
}
