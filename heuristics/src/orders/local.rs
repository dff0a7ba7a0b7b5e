//! Local search over orders by simulated annealing, with moves of blocks.
//!
//! **Definition.** A state is a topological order. A move shifts a block of at most [`BLOCK`] consecutive
//! operators past at most [`REACH`] other operators, as far as the precedences allow. The cost of a state is
//! the sum over all steps of (live bytes divided by the best peak) to the power of 16. Steps near the peak
//! dominate this sum, but it also distinguishes orders of equal peak. A more expensive state is accepted
//! with a probability that decreases with the difference in cost and with time. Rounds start alternately
//! from the best order so far and from the order of one of several rules. Each round cools down from an
//! initial temperature. The initial temperatures repeat every four rounds, the hottest first.
//!
//! **Invariants.** Every state is valid. The best order is stored separately.
//!
//! **Complexity.** A move takes time linear in the number of operators that are moved or passed, plus the
//! number of storages that they use. An improvement takes time linear in the size of the problem. Without
//! limits, the search ends after [`LocalSearch::effort`] moves per operator, [`MOVES`] moves, or [`WORK`]
//! operators moved or passed, whichever comes first.
//!
//! **Source.** This project, with simulated annealing after Kirkpatrick, Gelatt, Vecchi, 1983.

use super::engine::{Adjust, adjust};
use super::rule::{Base, OrderRule};
use super::series;
use crate::offsets::log2;
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{Budget, Bytes, OperatorId, Orders, Stop, Tracker};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Maximum number of operators in a moved block.
const BLOCK: usize = 32;
/// Maximum number of operators that a block passes.
const REACH: usize = 512;
/// Maximum number of moves of a run without limits.
const MOVES: u64 = 2_000_000;
/// Maximum number of operators moved or passed, over all moves of a run without limits.
const WORK: u64 = 40_000_000;
/// Number of moves between two reports of the best order. An order that ends the search is reported at once.
const REPORT_EVERY: u64 = 4096;
/// Number of rounds of a run without limits. With limits, rounds continue until a limit is reached.
const ROUNDS: u64 = 8;

/// Simulated annealing over orders. A node is one attempted move.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalSearch {
    /// Number of attempted moves per operator if the budget has no limit. The total number of moves is at
    /// most [`MOVES`].
    pub effort: u64,
    /// Seed of all random choices.
    pub seed: u64,
}

impl LocalSearch {
    /// Creates a search with 4000 moves per operator.
    pub fn new(seed: u64) -> Self {
        Self { effort: 4_000, seed }
    }
}

/// Rules whose orders are starting points of rounds.
const STARTS: [OrderRule; 8] = [
    OrderRule::File,
    OrderRule::LeastPeak,
    OrderRule::Greedy,
    OrderRule::Engine { base: Base::File, adjust: Adjust::Both },
    OrderRule::DepthLeft,
    OrderRule::DepthRight,
    OrderRule::ReverseDepth,
    OrderRule::LightReads,
];

impl LocalSearch {
    pub(super) fn search(
        &self,
        problem: &OrderProblem,
        budget: &mut Budget,
        run: &mut Tracker<Orders>,
    ) -> Result<(), Stop> {
        if problem.is_empty() {
            run.offer(Order::new(Vec::new()));
            return Ok(());
        }
        let problem = &*problem.with_first_users();
        let free = &mut Budget::unlimited();
        let mut starts = Vec::new();
        for rule in STARTS.map(Some).into_iter().chain([None]) {
            if let Some(stop) = budget.check() {
                return Err(stop);
            }
            let order = match rule {
                Some(rule) => rule.of(problem, free)?,
                None => series::merged(problem, &problem.as_in_file(), free)?,
            };
            for order in [adjust(problem, &order, Adjust::Fixed), order] {
                run.offer(order.clone());
                if let Some(stop) = run.enough(budget) {
                    return Err(stop);
                }
                starts.push(order);
            }
        }
        if problem.len() == 1 {
            return Ok(());
        }
        starts.sort_by_key(|order| order.peak(problem));
        starts.dedup();
        self.rounds(problem, &starts, budget, run)
    }

    fn rounds(
        &self,
        problem: &OrderProblem,
        starts: &[Order],
        budget: &mut Budget,
        run: &mut Tracker<Orders>,
    ) -> Result<(), Stop> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut walk = Walk::new(problem, &starts[0]);
        let unlimited = budget.nodes_left().is_none() && budget.time_left().is_none();
        let moves = self.effort.saturating_mul(problem.len() as u64).min(MOVES);
        let length = (moves / ROUNDS).max(1);
        let mut round = 0u64;
        loop {
            let start = if round.is_multiple_of(2) {
                walk.best.clone()
            } else {
                starts[(round / 2) as usize % starts.len()].clone()
            };
            walk.begin(&start);
            let heat = [1.0, 0.3, 0.1, 0.03][(round % 4) as usize];
            for at in 0..length {
                if let Some(stop) = budget.tick() {
                    run.offer(walk.best);
                    return Err(stop);
                }
                // The temperature starts at that of the round and is halved nine times.
                let halves = 10 * at / length;
                let temperature = heat / (1u64 << halves) as f64;
                let over = unlimited && walk.work > WORK;
                // A report costs as much as many moves, so improvements are reported only at intervals.
                let better = walk.step(temperature, &mut rng);
                let peak = Bytes::new(walk.best_peak);
                if better && (peak <= run.bound.value || budget.reaches_target(peak))
                    || at % REPORT_EVERY == 0
                    || over
                {
                    run.offer(walk.best.clone());
                    if let Some(stop) = run.enough(budget) {
                        return Err(stop);
                    }
                    if over {
                        return Ok(());
                    }
                }
            }
            run.offer(walk.best.clone());
            round += 1;
            if unlimited && round == ROUNDS {
                return Ok(());
            }
        }
    }
}

/// The state of the search: an order, its live bytes at each step, and the last user of each storage.
struct Walk<'a> {
    problem: &'a OrderProblem,
    begun: Vec<u64>,
    ops: Vec<OperatorId>,
    step: Vec<usize>,
    /// Live bytes before each step.
    before: Vec<u64>,
    /// Live bytes at each step.
    at: Vec<u64>,
    /// Per storage: the step of the last user, or `None` if the storage is live at the end.
    last: Vec<Option<usize>>,
    best: Order,
    best_peak: u64,
    /// Number of steps whose live bytes are at least the best peak.
    over: usize,
    work: u64,
    /// The operators that run at the changed steps after the attempted move.
    window: Vec<OperatorId>,
    /// The live bytes before and at each changed step after the move.
    live: Vec<(u64, u64)>,
    /// The freed bytes of each changed step after the move.
    ends: Vec<u64>,
    /// Per storage: the stamp of the last move that visited it.
    seen: Vec<u64>,
    /// The number of the current move.
    stamp: u64,
}

impl<'a> Walk<'a> {
    fn new(problem: &'a OrderProblem, best: &Order) -> Self {
        let costs = super::costs::Costs::of(problem);
        let n = problem.len();
        Self {
            problem,
            begun: costs.begun,
            ops: Vec::new(),
            step: vec![0; n],
            before: Vec::new(),
            at: Vec::new(),
            last: Vec::new(),
            best: best.clone(),
            best_peak: best.peak(problem).get(),
            over: 0,
            work: 0,
            window: Vec::new(),
            live: Vec::new(),
            ends: Vec::new(),
            seen: vec![0; problem.storages().len()],
            stamp: 0,
        }
    }

    /// Sets the state to an order, in time linear in the size of the problem.
    fn begin(&mut self, order: &Order) {
        self.ops = order.operators().to_vec();
        for (at, id) in self.ops.iter().enumerate() {
            self.step[id.index()] = at;
        }
        let last = |s: &plimsoll_model::orders::Storage| {
            let steps = s.users.iter().map(|user| self.step[user.index()]);
            if s.to_end { None } else { steps.max() }
        };
        self.last = self.problem.storages().iter().map(last).collect();
        self.at = order.profile(self.problem).into_iter().map(Bytes::get).collect();
        let ended = super::costs::ended(self.problem, order);
        let mut live = self.problem.at_first_step().get();
        self.before.clear();
        for id in &self.ops {
            self.before.push(live);
            live = live + self.begun[id.index()] - ended[id.index()];
        }
        self.count_over();
    }

    fn count_over(&mut self) {
        self.over = self.at.iter().filter(|&&bytes| bytes >= self.best_peak).count();
    }

    /// Attempts a move. Returns true if the best order improved.
    fn step(&mut self, temperature: f64, rng: &mut Xoshiro256PlusPlus) -> bool {
        let Some((from, middle, to)) = self.pick(rng) else { return false };
        self.work += (to - from) as u64;
        self.window.clear();
        self.window.extend_from_slice(&self.ops[middle..to]);
        self.window.extend_from_slice(&self.ops[from..middle]);
        let delta = self.evaluate(from, to);
        // A more expensive state is accepted if a uniform random number is below exp(-delta / temperature).
        let uniform = rng.random_range(1..=u64::MAX);
        let allowed = temperature * (64.0 - log2(uniform)) * std::f64::consts::LN_2;
        if delta > allowed {
            return false;
        }
        self.take(from, to);
        if self.over > 0 {
            return false;
        }
        self.best = Order::new(self.ops.clone());
        self.best_peak = self.at.iter().copied().max().unwrap_or(0);
        self.count_over();
        true
    }

    /// Picks two adjacent blocks that may be exchanged. They occupy the steps `[from, middle)` and `[middle,
    /// to)`. Returns `None` if the precedences allow no exchange.
    fn pick(&self, rng: &mut Xoshiro256PlusPlus) -> Option<(usize, usize, usize)> {
        let n = self.ops.len();
        let at = rng.random_range(0..n);
        let length = if rng.random_bool(0.5) { 1 } else { rng.random_range(1..=BLOCK.min(n)) };
        if rng.random_bool(0.5) {
            let (from, middle) = (at, (at + length).min(n));
            let limit = self.later(from, middle).min(middle + REACH);
            let to = if limit > middle { rng.random_range(middle + 1..=limit) } else { return None };
            Some((from, middle, to))
        } else {
            let (middle, to) = ((at + 1).saturating_sub(length), at + 1);
            let limit = self.earlier(middle, to).max(middle.saturating_sub(REACH));
            let from = if limit < middle { rng.random_range(limit..middle) } else { return None };
            Some((from, middle, to))
        }
    }

    /// Returns the latest end to which the first block can move: the earliest step of a successor outside the
    /// block.
    fn later(&self, from: usize, middle: usize) -> usize {
        let block = self.ops[from..middle].iter();
        let after = block.flat_map(|&id| self.problem.successors(id)).map(|after| self.step[after.index()]);
        after.filter(|&step| step >= middle).min().unwrap_or(self.ops.len())
    }

    /// Returns the earliest step to which the second block can move: directly after the last of its
    /// predecessors.
    fn earlier(&self, middle: usize, to: usize) -> usize {
        let block = self.ops[middle..to].iter();
        let before =
            block.flat_map(|&id| self.problem.predecessors(id)).map(|before| self.step[before.index()]);
        before.filter(|&step| step < middle).max().map_or(0, |step| step + 1)
    }

    /// Returns the change in cost if the steps `[from, to)` run the operators of `window`.
    fn evaluate(&mut self, from: usize, to: usize) -> f64 {
        self.stamp += 1;
        let storages = self.problem.storages();
        self.ends.clear();
        self.ends.resize(to - from, 0);
        for (at, &id) in self.window.iter().enumerate().rev() {
            for &one in self.problem.touched(id) {
                let one = one as usize;
                if self.seen[one] != self.stamp {
                    self.seen[one] = self.stamp;
                    // The previous last user is also in the window.
                    if self.last[one].is_some_and(|last| last < to) {
                        self.ends[at] += storages[one].size.get();
                    }
                }
            }
        }
        let scale = 1.0 / self.best_peak.max(1) as f64;
        let cost = |bytes: u64| {
            let one = bytes as f64 * scale;
            let two = one * one;
            let four = two * two;
            let eight = four * four;
            eight * eight
        };
        let mut live = self.before[from];
        self.live.clear();
        let mut delta = 0.0;
        for (at, &id) in self.window.iter().enumerate() {
            let before = live;
            live += self.begun[id.index()];
            let here = live + self.problem.scratch(id).get();
            self.live.push((before, here));
            let there = self.at[from + at];
            if here != there {
                delta += cost(here) - cost(there);
            }
            live -= self.ends[at];
        }
        delta
    }

    /// Applies the attempted move to the state.
    fn take(&mut self, from: usize, to: usize) {
        for at in from..to {
            let id = self.window[at - from];
            self.ops[at] = id;
            self.step[id.index()] = at;
            let (before, here) = self.live[at - from];
            self.over -= usize::from(self.at[at] >= self.best_peak);
            self.over += usize::from(here >= self.best_peak);
            (self.before[at], self.at[at]) = (before, here);
        }
        for at in from..to {
            for &one in self.problem.touched(self.ops[at]) {
                if let Some(last) = &mut self.last[one as usize]
                    && *last < to
                {
                    // Steps are visited in ascending order, so the last user is written last.
                    *last = at;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::report::anytime;
    use plimsoll_datasets::graphs::{SmallOrderParams, min_peak_brute, small_order_problem};
    use plimsoll_model::Silent;
    use plimsoll_model::orders::check_order;

    #[test]
    fn incremental_state_agrees_with_a_recount() {
        for seed in 0..200 {
            let problem = small_order_problem(SmallOrderParams::with_features(12, seed % 32), seed);
            let problem = problem.with_first_users().into_owned();
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let start = problem.as_in_file();
            let mut walk = Walk::new(&problem, &start);
            walk.begin(&start);
            for _ in 0..200 {
                walk.step(10.0, &mut rng);
                let order = Order::new(walk.ops.clone());
                assert_eq!(check_order(&problem, &order), [], "seed {seed}");
                let profile: Vec<u64> = order.profile(&problem).into_iter().map(Bytes::get).collect();
                assert_eq!(walk.at, profile, "seed {seed}");
                let (before, last, over) = (walk.before.clone(), walk.last.clone(), walk.over);
                walk.begin(&order);
                assert_eq!(
                    (before, last, over),
                    (walk.before.clone(), walk.last.clone(), walk.over),
                    "seed {seed}"
                );
            }
            assert_eq!(walk.best.peak(&problem).get(), walk.best_peak);
        }
    }

    #[test]
    fn nearly_all_tiny_problems_are_solved_to_optimality() {
        let (mut reached, total) = (0, 160);
        for seed in 0..total {
            let problem = small_order_problem(SmallOrderParams::with_features(12, seed % 16), seed);
            let search = LocalSearch { effort: 400, seed };
            let solver = anytime("local-search", move |p, b, run| search.search(p, b, run));
            let outcome = solver.solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
            reached += u64::from(outcome.value == Some(min_peak_brute(&problem)));
        }
        assert!(reached * 100 >= total * 98, "{reached} of {total}");
    }
}
