//! Local search for tiers, which removes a few tensors and places them again in another order.
//!
//! A move selects a tensor that is not in its fastest tier, and a few tensors that are live at the same time
//! as this tensor. It removes all of them and places them again. The tensor that was not in its fastest tier
//! comes first. The others follow in descending order of time saved per byte and step, with noise. Tensors
//! thus change or swap their tiers. A move is undone if it increases the time or if some tensor no longer
//! fits. After many moves that do not reduce the time, larger sets are selected.

use super::fill::Fill;
use super::fused::Fused;
use super::greedy::{by_saving, filled, greedy};
use plimsoll_model::tiers::{TierPlan, TierProblem};
use plimsoll_model::{Budget, Bytes, Setup, TierId};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Default number of moves: a constant plus a number per tensor.
const MOVES: (u64, u64) = (2_000, 40);
/// Maximum product of the default number of moves and the number of tensors.
const VISITS: u64 = 400_000_000;

/// Initial limit on the number of further tensors in a move.
const FEWEST: usize = 3;
/// Largest value of the limit on the number of further tensors in a move.
const MOST: usize = 24;

/// Returns the default number of moves for a problem.
pub fn moves(problem: &TierProblem) -> u64 {
    let count = problem.tensors().len() as u64;
    (MOVES.0 + MOVES.1 * count).min(VISITS / count.max(1))
}

/// Returns the plans of the heuristics `fused`, `fused-printed` and `greedy`.
pub fn plans(problem: &TierProblem) -> Vec<TierPlan> {
    let fused = [Fused::RETURNING, Fused::PRINTED].map(|one| one.plan(problem));
    fused.into_iter().chain([greedy(problem)]).flatten().collect()
}

/// A local search that starts from the best plan of the other heuristics.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalSearch {
    setup: Setup,
}

impl LocalSearch {
    /// Creates a search with the seed of `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }

    /// Improves the best plan of the other heuristics. The number of moves is the node limit of the budget
    /// or, without a node limit, the result of [`moves`].
    pub(super) fn plan(self, problem: &TierProblem, budget: &mut Budget) -> Option<TierPlan> {
        let start = plans(problem).into_iter().min_by_key(|plan| plan.time(problem));
        let start = start.or_else(|| filled(problem, &by_saving(problem)).plan());
        let moves = budget.nodes_left().unwrap_or_else(|| moves(problem));
        start.map(|plan| self.improve(problem, &plan, moves, budget))
    }

    /// Improves a plan with no more than the given number of moves. Without a time limit, the same problem,
    /// plan, seed and number of moves give the same result.
    pub fn improve(
        self,
        problem: &TierProblem,
        plan: &TierPlan,
        moves: u64,
        budget: &mut Budget,
    ) -> TierPlan {
        let Some(mut search) = Search::new(problem, plan, self.setup.seed) else { return plan.clone() };
        let mut best = (plan.time(problem), plan.clone());
        for _ in 0..moves {
            if search.movable.is_empty() || budget.tick().is_some() {
                break;
            }
            search.step();
            if search.fill.time() < best.0
                && let Some(plan) = search.fill.plan()
            {
                best = (search.fill.time(), plan);
            }
        }
        best.1
    }
}

struct Search<'a> {
    problem: &'a TierProblem,
    fill: Fill<'a>,
    /// Tensors with more than one possible tier.
    movable: Vec<usize>,
    /// Rank of every tensor by time saved per byte and step.
    rank: Vec<usize>,
    options: Vec<Vec<TierId>>,
    random: Xoshiro256PlusPlus,
    /// Number of moves since the last one that reduced the time.
    idle: usize,
}

impl<'a> Search<'a> {
    fn new(problem: &'a TierProblem, plan: &TierPlan, seed: u64) -> Option<Self> {
        let mut fill = Fill::new(problem);
        for (at, &tier) in plan.tiers.iter().enumerate() {
            match &plan.offsets {
                Some(offsets) => fill.put_back(at, tier, offsets[at]),
                None if fill.put(at, tier) => {}
                None => return None,
            }
        }
        let options: Vec<Vec<TierId>> = (0..problem.tensors().len()).map(|at| problem.options(at)).collect();
        let movable = (0..options.len()).filter(|&at| options[at].len() > 1).collect();
        let mut rank = vec![0; options.len()];
        for (place, at) in by_saving(problem).into_iter().enumerate() {
            rank[at] = place;
        }
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Some(Self { problem, fill, movable, rank, options, random, idle: 0 })
    }

    fn step(&mut self) {
        let first = self.movable[self.random.random_range(0..self.movable.len())];
        if self.fill.tier(first) == self.options[first].first().copied() {
            self.idle += 1;
            return;
        }
        let group = self.group(first);
        let before = self.fill.time();
        let places: Vec<(usize, TierId, Bytes)> =
            group.iter().filter_map(|&at| Some((at, self.fill.tier(at)?, self.fill.offset(at)))).collect();
        for &at in &group {
            self.fill.take(at);
        }
        let fits = group.iter().all(|&at| {
            let options = &self.options[at];
            options.iter().any(|&tier| self.fill.put(at, tier))
        });
        if fits && self.fill.time() <= before {
            self.idle = if self.fill.time() < before { 0 } else { self.idle + 1 };
            return;
        }
        self.idle += 1;
        for &at in &group {
            self.fill.take(at);
        }
        for (at, tier, offset) in places {
            self.fill.put_back(at, tier, offset);
        }
    }

    /// Returns the tensor and a few others that are live at the same time, in the order in which they are
    /// placed again.
    fn group(&mut self, first: usize) -> Vec<usize> {
        let tensors = self.problem.tensors();
        let one = &tensors[first];
        let mut others: Vec<usize> = self
            .movable
            .iter()
            .copied()
            .filter(|&at| at != first && tensors[at].lower < one.upper && one.lower < tensors[at].upper)
            .collect();
        let most = (FEWEST + self.idle / (self.movable.len() + 1)).min(MOST);
        let count = self.random.random_range(1..=most).min(others.len());
        for at in 0..count {
            let other = self.random.random_range(at..others.len());
            others.swap(at, other);
        }
        others.truncate(count);
        // The noise is up to a quarter of all ranks.
        let noise = self.rank.len() / 4 + 1;
        others.sort_by_cached_key(|&at| (self.rank[at] + self.random.random_range(0..noise), at));
        others.insert(0, first);
        others
    }
}
