//! Fusions of whole graphs: every region on its own, checked.

use crate::arithmetic::Arithmetic;
use crate::run::Limits;
use plimsoll_model::fusion::{
    Coverage, Fused, FuserEntry, FusionBoundError, FusionError, FusionOutcome, FusionProblem, Patterns,
    TooManyMatches, UnitRule, Units, UnitsError, check_fusion, confirm_fusion_bound,
};
use plimsoll_model::graph::Graph;
use plimsoll_model::{Claim, RegionId, Setup, SolveError};
use std::time::Instant;

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
    pub entry: &'static FuserEntry,
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
    /// The algorithm declines or broke.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Groups that are no fusion, which is a defect.
    #[error("{fuser}, region '{region}': {source}")]
    Groups {
        /// Which algorithm.
        fuser: &'static str,
        /// Which region.
        region: String,
        /// Why.
        source: FusionError,
    },
    /// The checker refused an answer.
    #[error("{fuser}, region '{region}': the checker refused the answer: {reason}")]
    Refused {
        /// Which algorithm.
        fuser: &'static str,
        /// Which region.
        region: String,
        /// Why.
        reason: String,
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
    pub outcome: FusionOutcome,
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
        let start = Instant::now();
        let limits = self.limits.share(graph.regions().len() - region.index());
        let outcome = (self.entry.build)(self.setup).solve(&problem, &mut limits.budget())?;
        let seconds = start.elapsed().as_secs_f64();
        let (fuser, name) = (self.entry.name, graph.region(region).name.clone());
        let fused = problem.fused(graph, &outcome.chosen).map_err(|source| FuseError::Groups {
            fuser,
            region: name.clone(),
            source,
        })?;
        let refused = |reason: String| Err(FuseError::Refused { fuser, region: name.clone(), reason });
        if let Some(first) = check_fusion(graph, self.patterns, self.units, self.rule, &fused).first() {
            return refused(first.to_string());
        }
        let coverage = fused.fusion.coverage(graph);
        let bound = outcome.upper_bound.value;
        if coverage.optimised != outcome.optimised {
            return refused(format!(
                "it optimises {} relations, not {}",
                coverage.optimised, outcome.optimised
            ));
        }
        if (outcome.claim == Claim::Optimal) != (coverage.optimised == bound) || coverage.optimised > bound {
            return refused(format!("{} by {} relations under {bound}", outcome.claim, coverage.optimised));
        }
        match confirm_fusion_bound(&problem, &outcome.upper_bound) {
            Ok(()) | Err(FusionBoundError::NotCheckable) => {}
            Err(reason) => return refused(reason.to_string()),
        }
        Ok(FusedRegion { region, problem, outcome, fused, coverage, seconds })
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
            bound: sum.bound + one.outcome.upper_bound.value,
            arithmetic: sum.arithmetic.max(Arithmetic::of(&one.outcome.upper_bound.witness)),
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
