//! Fusion of whole graphs, region by region. Every fusion passes the checker.

use crate::arithmetic::Arithmetic;
use crate::run::{Limits, RunError, run};
use plimsoll_model::fusion::{
    Coverage, Fused, FusionProblem, Fusions, Patterns, TooManyMatches, UnitRule, Units, UnitsError,
    check_fusion,
};
use plimsoll_model::graph::Graph;
use plimsoll_model::{Claim, Entry, Outcome, RegionId, Relations, Setup, Silent};

/// The settings under which a graph is fused.
#[derive(Clone, Copy, Debug)]
pub struct FuseRun<'a> {
    /// The chains of operators that may run as one.
    pub patterns: &'a Patterns,
    /// The assignment of operators to processing units.
    pub units: &'a Units,
    /// Whether a group may span several units.
    pub rule: UnitRule,
    /// The algorithm.
    pub entry: &'static Entry<Fusions>,
    /// Seed and number of threads.
    pub setup: Setup,
    /// Limits of the whole graph, whose regions share the time.
    pub limits: Limits,
}

/// The reason why a graph could not be fused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FuseError {
    /// An operator has no unit.
    #[error(transparent)]
    Units(#[from] UnitsError),
    /// The patterns match too often to list all matches.
    #[error(transparent)]
    TooMany(#[from] TooManyMatches),
    /// The algorithm does not support the region or failed, or the checker rejected its answer.
    #[error("{fuser}, region '{region}': {source}")]
    Run {
        /// Name of the algorithm.
        fuser: &'static str,
        /// Name of the region.
        region: String,
        /// The error of the run.
        source: RunError,
    },
}

/// The checked fusion of one region.
#[derive(Clone, Debug)]
pub struct FusedRegion {
    /// The region.
    pub region: RegionId,
    /// The fusion problem: all matches of the patterns.
    pub problem: FusionProblem,
    /// The answer of the algorithm.
    pub outcome: Outcome<Fusions>,
    /// The chosen groups.
    pub fused: Fused,
    /// Optimised relations, recounted from the groups.
    pub coverage: Coverage,
}

impl FuseRun<'_> {
    /// Fuses every region, in order of region ids. No group crosses the border of a region.
    ///
    /// # Errors
    /// See [`FuseError`].
    pub fn fuse(&self, graph: &Graph) -> Result<Vec<FusedRegion>, FuseError> {
        (0..graph.regions().len()).map(|region| self.region(graph, RegionId::at(region))).collect()
    }

    fn region(&self, graph: &Graph, region: RegionId) -> Result<FusedRegion, FuseError> {
        let units = self.units.assign(graph, region)?;
        let problem = FusionProblem::new(graph, region, self.patterns, &units, self.rule)?;
        let limits = self.limits.share(graph.regions().len() - region.index());
        let failed = |source| {
            let region = graph.region_called(region);
            FuseError::Run { fuser: self.entry.name, region, source }
        };
        let refused = |reason: String| failed(RunError::Refused(vec![reason]));
        let outcome = run(self.entry, &problem, self.setup, limits, &mut Silent).map_err(failed)?;
        let chosen = outcome.solution.as_deref().unwrap_or_default();
        let fused = problem.fused(graph, chosen).map_err(|error| refused(error.to_string()))?;
        if let Some(first) = check_fusion(graph, self.patterns, self.units, self.rule, &fused).first() {
            return Err(refused(first.to_string()));
        }
        let coverage = fused.fusion.coverage(graph);
        if outcome.value != Some(Relations::new(coverage.optimised)) {
            let (optimised, reported) = (coverage.optimised, outcome.value);
            let reported = reported.map_or_else(|| "missing".to_owned(), |value| value.to_string());
            return Err(refused(format!(
                "the groups optimise {optimised} relations, but the reported value is {reported}"
            )));
        }
        Ok(FusedRegion { region, problem, outcome, fused, coverage })
    }
}

/// Totals over all regions of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FusionTotals {
    /// Number of operators.
    pub operators: usize,
    /// Number of groups, including groups of one operator.
    pub groups: usize,
    /// Optimised relations out of all relations.
    pub coverage: Coverage,
    /// An upper bound on the number of optimised relations.
    pub bound: usize,
    /// The weakest arithmetic in which the bound of any region was proved.
    pub arithmetic: Arithmetic,
}

impl FusionTotals {
    /// Adds up the totals of all regions.
    pub fn of(regions: &[FusedRegion]) -> Self {
        regions.iter().fold(Self::default(), |sum, one| Self {
            operators: sum.operators + one.problem.operators().len(),
            groups: sum.groups + one.fused.fusion.groups().len(),
            coverage: sum.coverage + one.coverage,
            bound: sum.bound + one.outcome.lower_bound.value.get(),
            arithmetic: sum.arithmetic.max(Arithmetic::of(&one.outcome.lower_bound.witness)),
        })
    }

    /// Returns the reduction in the number of operators: operators minus groups.
    pub fn merged(&self) -> usize {
        self.operators - self.groups
    }

    /// Returns the claim for the whole graph: optimal if the total meets the bound.
    pub fn claim(&self) -> Claim {
        Claim::of_solution(self.coverage.optimised == self.bound)
    }
}
