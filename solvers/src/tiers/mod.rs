//! Assigns tensors to memory tiers with minimum transfer time. The solvers are a search with a dual bound, an
//! integer program, and brute force.
//!
//! `exact` runs these steps, the cheapest first, and ends as soon as the time of the best plan equals the
//! bound:
//! 1. heuristic plans;
//! 2. `case.rs`: the removal of options that an optimal plan does not need;
//! 3. `multipliers.rs`: dual multipliers of capacities, which prove a bound close to that of the linear
//!    relaxation;
//! 4. a short local search;
//! 5. `search.rs`: a dynamic program over time with a growing limit on the number of states, pruned by the
//!    bound from the multipliers. A run that drops no state proves its result optimal. Any other run proves
//!    a lower bound: the lowest bound of the dropped states.
//!
//! If addresses are required, the relaxation without addresses is solved first, within half of the limits.
//! For a choice of tiers in which the counted bytes fit, the exact solver for offsets then assigns
//! addresses, tier by tier. If it proves that the tensors of a tier have no layout, they are reduced to a
//! small infeasible set. A cut then forbids this set in that tier, and the search runs again. If the solver
//! cannot decide, a cut forbids all these tensors together, but from then on no search raises the bound.
//!
//! With n tensors and t tiers there are up to t^n choices. The dynamic program is exponential only in the
//! number of simultaneously live tensors.

mod brute;
mod case;
#[cfg(feature = "ilp")]
mod ilp;
mod known;
mod multipliers;
mod pack;
mod search;

pub use brute::TierBrute;
#[cfg(feature = "ilp")]
pub use ilp::TierIlp;

use case::Case;
use known::{Known, Taken};
use multipliers::multipliers;
use plimsoll_model::tiers::{Addresses, TierMultiplier, TierProblem, TierWitness, Tiers, dual_bound};
use plimsoll_model::{
    Budget, Entry, Kind, Observer, Outcome, Silent, SolveError, Solver, Stats, Stop, guarded,
};
use search::Search;

const NAME: &str = "exact";

/// Every exact solver for memory tiers, the default first.
pub const ENTRIES: &[Entry<Tiers>] = &[
    Entry {
        name: NAME,
        kind: Kind::Exact,
        about: "dual multipliers of the capacities, then a dynamic program over time that the dual bound prunes",
        source: "this project; Lagrangian relaxation (Held, Wolfe, Crowder 1974; Geoffrion 1974)",
        time: "exponential in the number of simultaneously live tensors at worst",
        build: &|_| guarded(TierExact),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program: one tier per tensor, and a capacity constraint at every step that no other step implies",
        source: "multidimensional knapsack with assignment; good_lp, HiGHS",
        time: "exponential in the number of tensors at worst",
        build: &|setup| guarded(TierIlp::new(setup)),
    },
    Entry {
        name: "brute-force",
        kind: Kind::Exact,
        about: "tries every choice of tiers for at most twelve tensors, to cross-check other solvers",
        source: "this project",
        time: "O(t^n) for t tiers and at most 12 tensors",
        build: &|_| guarded(TierBrute),
    },
];

/// Initial limit on the number of states that the search keeps (the width), and the growth factor of this
/// limit.
const WIDTH: usize = 64;
const WIDER: usize = 8;

/// Maximum number of search nodes stored per run, at 8 bytes each.
const MOST_NODES: usize = 40_000_000;

/// Maximum number of cuts added at one width before a wider run is tried. [`MOST_CUTS_AT_LAST`] applies
/// after runs that dropped no state.
const MOST_CUTS: usize = 5;
const MOST_CUTS_AT_LAST: usize = 200;

/// The solver described in the [module](self). Its name in the registry is `exact`. It ignores the seed and
/// uses one thread. One node is one generated state, one move of the local search, or one node of the search
/// for addresses.
#[derive(Clone, Copy, Debug, Default)]
pub struct TierExact;

impl Solver<Tiers> for TierExact {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &self,
        problem: &TierProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Tiers>,
    ) -> Result<Outcome<Tiers>, SolveError> {
        let before = budget.nodes();
        let mut known = Known::new(problem, NAME);
        known.report(observer);
        let mut stats = Stats::default();
        let mut stop = None;
        if problem.addresses() == Addresses::Placed && problem.too_large().is_none() && !known.is_settled() {
            let half = (budget.nodes_left().map(|nodes| nodes / 2), budget.time_share(0.5));
            let mut part = budget.part(half.0, half.1);
            let counted = problem.clone().with_addresses(Addresses::Counted);
            observer.phase("without addresses");
            let found = self.solve(&counted, &mut part, &mut Silent)?;
            budget.spend(part.nodes());
            known.relaxed(found, budget);
        }
        if problem.too_large().is_none() && !known.is_settled() && !known.exhausted {
            let case = Case::new(problem);
            observer.phase("dual");
            let multipliers = priced(&case, &mut known, budget);
            known.report(observer);
            if !known.is_settled() {
                known.improve(budget);
            }
            if !known.is_settled() {
                known.report(observer);
                observer.phase("search");
                stop =
                    budget.check().or_else(|| widening(&case, &multipliers, &mut known, budget, &mut stats));
            }
            stats.count("cuts", known.cuts.len() as u64);
        }
        stats.nodes = budget.nodes() - before;
        Ok(known.conclude(stop, stats))
    }
}

/// Computes dual multipliers and adopts the bound that they prove.
fn priced(case: &Case<'_>, known: &mut Known<'_>, budget: &Budget) -> Vec<TierMultiplier> {
    let upper = if known.best.is_some() { known.value() } else { dearest(case) };
    let multipliers = multipliers(case, upper, &mut budget.without_node_limit());
    if let Some(value) = dual_bound(case.problem, &multipliers) {
        // The witness proves only this bound. Rounding up to the next possible total cost counts as a result
        // of the search.
        known.raise(value.get(), TierWitness::Multipliers { multipliers: multipliers.clone() });
        let next = case.next_sum(value.get());
        if next > value.get() {
            known.searched(next);
        }
    }
    multipliers
}

/// Returns an upper bound on the cost of a plan: the cost with every tensor in its most expensive tier.
fn dearest(case: &Case<'_>) -> u64 {
    case.options.iter().filter_map(|options| Some(options.last()?.cost)).sum()
}

/// Runs the search repeatedly, each time with a higher limit on the number of states or with one more cut.
fn widening(
    case: &Case<'_>,
    multipliers: &[TierMultiplier],
    known: &mut Known<'_>,
    budget: &mut Budget,
    stats: &mut Stats,
) -> Option<Stop> {
    let search = Search::new(case, multipliers);
    let most = (MOST_NODES / case.order.len().max(1)).max(WIDTH);
    let (mut width, mut cuts) = (WIDTH, 0);
    loop {
        stats.count("runs", 1);
        let Some(found) = search.run(known.value(), width, &known.cuts, budget) else {
            return budget.check();
        };
        // Every plan cheaper than the best one was dropped, or costs at least as much as the plan found.
        let cost = found.best.as_ref().map_or(u64::MAX, |(cost, _)| *cost);
        known.searched(cost.min(found.dropped.unwrap_or(u64::MAX)));
        let mut again = false;
        if let Some((_, chosen)) = found.best {
            let tiers = chosen.iter().map(|choice| choice.tier).collect();
            again = known.take(tiers, budget) != Taken::Plan;
        }
        if known.is_settled() || known.exhausted {
            return None;
        }
        if let Some(stop) = budget.check() {
            return Some(stop);
        }
        let most_cuts = if found.dropped.is_none() { MOST_CUTS_AT_LAST } else { MOST_CUTS };
        if again && cuts < most_cuts {
            cuts += 1;
            continue;
        }
        if !again && found.dropped.is_none() {
            // The search is complete. Only plans excluded by undecided cuts remain open.
            return Some(Stop::Completed);
        }
        if width >= most {
            return Some(Stop::Completed);
        }
        (width, cuts) = ((width * WIDER).min(most), 0);
    }
}
