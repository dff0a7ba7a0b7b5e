//! Finds operator fusions of maximum coverage, as weighted set packing over the matches of patterns.
//!
//! Matches that share operators form components, which are solved separately. If a greedy choice meets the
//! dual bound from multipliers of operators ([`fusion_multipliers`]), it is optimal. Otherwise the component
//! is decomposed at an operator, recursively.

#[cfg(feature = "ilp")]
mod ilp;
mod split;

#[cfg(feature = "ilp")]
pub use ilp::FusionIlp;
use plimsoll_heuristics::fusion::longest_matches;
use plimsoll_model::fusion::{
    FusionProblem, FusionWitness, Fusions, fusion_bound, fusion_multipliers, priced,
};
use plimsoll_model::{
    Budget, Entry, Kind, LowerBound, Observer, Outcome, Relations, SolveError, Solver, Stats, Stop, guarded,
};
use split::Splitter;

const NAME: &str = "exact";

/// Every exact solver for fusion, the default first.
pub const ENTRIES: &[Entry<Fusions>] = &[
    Entry {
        name: NAME,
        kind: Kind::Exact,
        about: "branches on operators and solves the remaining components separately, with dual bounds and a memo",
        source: "this project; weighted set packing, weak duality",
        time: "exponential in the number of overlapping matches at worst",
        build: &|_| guarded(ExactFusion),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program with a binary variable per match and at most one match per operator, solved by HiGHS",
        source: "set packing; good_lp, HiGHS",
        time: "exponential in the number of matches at worst",
        build: &|setup| guarded(FusionIlp::new(setup)),
    },
    Entry {
        name: "brute-force",
        kind: Kind::Exact,
        about: "tries every choice of at most sixteen matches, to cross-check other solvers",
        source: "this project",
        time: "O(2^m) for at most 16 matches",
        build: &|_| guarded(FusionBrute),
    },
];

/// The solver described in the [module](self). Its name in the registry is `exact`. It ignores the seed and
/// uses one thread. One node of the budget is one component that is solved.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactFusion;

impl Solver<Fusions> for ExactFusion {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &self,
        problem: &FusionProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Fusions>,
    ) -> Result<Outcome<Fusions>, SolveError> {
        let before = budget.nodes();
        let multipliers = fusion_multipliers(problem);
        observer.bound(&fusion_bound(problem));
        let mut known = vec![false; problem.matches().len()];
        for at in longest_matches(problem) {
            known[at] = true;
        }
        let (mut chosen, mut bound, mut shown) = (Vec::new(), 0, 0);
        let mut stop = None;
        for component in problem.components() {
            let cost = priced(problem, &multipliers, &component);
            let greedy: Vec<usize> = component.iter().copied().filter(|&at| known[at]).collect();
            let value = problem.optimised(&greedy);
            shown += cost;
            if value == cost || stop.is_some() {
                bound += cost;
                chosen.extend(greedy);
                continue;
            }
            match Splitter::new(problem).best(&component, budget) {
                Ok(best) => {
                    bound += best.optimised;
                    chosen.extend(&best.chosen);
                }
                Err(why) => {
                    stop = Some(why);
                    bound += cost;
                    chosen.extend(greedy);
                }
            }
        }
        let witness = if bound == shown {
            FusionWitness::Multipliers { multipliers }
        } else {
            FusionWitness::Search { solver: NAME.to_owned() }
        };
        let stats = Stats::of_nodes(budget.nodes() - before);
        let bound = LowerBound::new(Relations::new(bound), witness);
        chosen.sort_unstable();
        Ok(Outcome::of(problem, Some(chosen), bound, stop.unwrap_or(Stop::Completed), stats))
    }
}

/// Brute force over all choices of matches. Its name in the registry is `brute-force`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FusionBrute;

/// Maximum number of matches; problems with more are rejected.
const MOST_MATCHES: usize = 16;

impl Solver<Fusions> for FusionBrute {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn supports(&self, problem: &FusionProblem) -> Result<(), SolveError> {
        let count = problem.matches().len();
        if count > MOST_MATCHES {
            let reason = format!("{count} matches exceed the limit of {MOST_MATCHES}");
            return Err(SolveError::Unsupported { solver: "brute-force", reason });
        }
        Ok(())
    }

    fn solve(
        &self,
        problem: &FusionProblem,
        budget: &mut Budget,
        _: &mut dyn Observer<Fusions>,
    ) -> Result<Outcome<Fusions>, SolveError> {
        self.supports(problem)?;
        let matches = problem.matches();
        let mut best = (0, Vec::new());
        for choice in 0..1u32 << matches.len() {
            let chosen: Vec<usize> = (0..matches.len()).filter(|at| choice >> at & 1 == 1).collect();
            let mut places: Vec<usize> =
                chosen.iter().flat_map(|&at| matches[at].places.iter().copied()).collect();
            places.sort_unstable();
            if places.windows(2).all(|pair| pair[0] != pair[1]) && problem.optimised(&chosen) > best.0 {
                best = (problem.optimised(&chosen), chosen);
            }
        }
        let nodes = 1 << matches.len();
        budget.spend(nodes);
        let witness = FusionWitness::Search { solver: "brute-force".to_owned() };
        let bound = LowerBound::new(Relations::new(best.0), witness);
        let stats = Stats::of_nodes(nodes);
        Ok(Outcome::of(problem, Some(best.1), bound, Stop::Completed, stats))
    }
}
