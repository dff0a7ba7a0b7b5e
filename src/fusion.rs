//! Fusions of whole graphs: every region on its own, checked.

use crate::arithmetic::Arithmetic;
use crate::run::{Limits, RunError, run};
use plimsoll_model::fusion::{
    Coverage, Fused, FusionProblem, Fusions, Patterns, TooManyMatches, UnitRule, Units, UnitsError,
    check_fusion,
};
use plimsoll_model::graph::Graph;
use plimsoll_model::{Claim, Entry, Outcome, RegionId, Relations, Setup, Silent};

/// How graphs are fused.
#[derive(Clone, Copy, Debug)]
pub struct FuseRun<'a> {
    /// What may run as one.
    pub patterns: &'a Patterns,
    /// Who runs what.
    pub units: &'a Units,
    /// Which units a group may span.
    pub rule: UnitRule,
    /// The algorithm.
    pub entry: &'static Entry<Fusions>,
    /// Seed and threads.
    pub setup: Setup,
    /// Limits per region.
    pub limits: Limits,
}

/// Why a graph is not fused.
#[derive(Debug, thiserror::Error)]
pub enum FuseError {
    /// An operator without a unit.
    #[error(transparent)]
    Units(#[from] UnitsError),
    /// More matches than can be listed.
    #[error(transparent)]
    TooMany(#[from] TooManyMatches),
    /// The algorithm declines, broke, or gave an answer that the checker rejects.
    #[error("{fuser}, region '{region}': {source}")]
    Run {
        /// The algorithm.
        fuser: &'static str,
        /// The region.
        region: String,
        /// The reason.
        source: RunError,
    },
}

/// One region, fused and checked.
#[derive(Clone, Debug)]
pub struct FusedRegion {
    /// Which.
    pub region: RegionId,
    /// What could be chosen.
    pub problem: FusionProblem,
    /// What the algorithm says.
    pub outcome: Outcome<Fusions>,
    /// The groups.
    pub fused: Fused,
    /// Relations optimised, recounted.
    pub coverage: Coverage,
    /// Wall-clock seconds of the algorithm.
    pub seconds: f64,
}

impl FuseRun<'_> {
    /// Fuses every region, by id: no group reaches across the border of a region.
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
            let region = graph.region(region).name.clone();
            FuseError::Run { fuser: self.entry.name, region, source }
        };
        let refused = |reason: String| failed(RunError::Refused(vec![reason]));
        let attempt = run(self.entry, &problem, self.setup, limits, &mut Silent);
        let outcome = attempt.result.map_err(failed)?;
        let chosen = outcome.solution.as_deref().unwrap_or_default();
        let fused = problem.fused(graph, chosen).map_err(|error| refused(error.to_string()))?;
        if let Some(first) = check_fusion(graph, self.patterns, self.units, self.rule, &fused).first() {
            return Err(refused(first.to_string()));
        }
        let coverage = fused.fusion.coverage(graph);
        if outcome.value != Some(Relations::new(coverage.optimised)) {
            let (optimised, said) = (coverage.optimised, outcome.value);
            return Err(refused(format!("it optimises {optimised} relations, not {said:?}")));
        }
        Ok(FusedRegion { region, problem, outcome, fused, coverage, seconds: attempt.seconds })
    }
}

/// All regions of a graph together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FusionTotals {
    /// Operators.
    pub operators: usize,
    /// Groups, those of one operator included.
    pub groups: usize,
    /// Relations optimised, of all.
    pub coverage: Coverage,
    /// What no choice can exceed.
    pub bound: usize,
    /// In which arithmetic that was proved, in all regions.
    pub arithmetic: Arithmetic,
}

impl FusionTotals {
    /// Adds up.
    pub fn of(regions: &[FusedRegion]) -> Self {
        regions.iter().fold(Self::default(), |sum, one| Self {
            operators: sum.operators + one.problem.operators().len(),
            groups: sum.groups + one.fused.fusion.groups().len(),
            coverage: sum.coverage + one.coverage,
            bound: sum.bound + one.outcome.lower_bound.value.get(),
            arithmetic: sum.arithmetic.max(Arithmetic::of(&one.outcome.lower_bound.witness)),
        })
    }

    /// Operators, groups counted once less.
    pub fn merged(&self) -> usize {
        self.operators - self.groups
    }

    /// What is proved.
    pub fn claim(&self) -> Claim {
        if self.coverage.optimised == self.bound { Claim::Optimal } else { Claim::Feasible }
    }
}
