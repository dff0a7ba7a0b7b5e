//! Iterated search over orders. It tries many fast placements and abandons each as soon as it cannot lead to
//! an improvement.
//!
//! **Definition.** An order is decoded by the [placement engine](crate::offsets::place) under first or best fit.
//! 1. The *portfolio* contains eleven orders, each of which works well on some instances. Each is decoded
//!    under both fits.
//! 2. *Rounds* follow until a limit is reached. They alternate between two moves:
//!    - A *random order* sorts the buffers by log size + b log duration + g log heat + noise. The factor b is
//!      in [0, 1), the factor g is in [0, 8), and the logarithms are to base 2. Heat is the maximum of the
//!      live bytes during the lifespan (see [`Heat`](crate::offsets::Heat)).
//!    - *Blame* picks one of the eight best orders so far as the *parent*, with a preference for better
//!      ones. Buffers that end above a random height move to earlier positions in this order. The result
//!      replaces the parent unless it is worse.
//!
//! Once eight orders are kept, the placement of a portfolio order or a random order is abandoned when its
//! peak reaches that of the worst kept order. The placement of an order from blame is abandoned once its peak
//! exceeds that of the parent, so orders of equal peak can replace each other.
//!
//! ```text
//! layout    ▆▂▇▃█   height ─ ─ ─   blamed: ▇ and █   order  ▆ ▂ ▇ ▃ █  ->  ▇ █ ▆ ▂ ▃
//! ```
//!
//! **Termination.** The search ends when the best layout meets the simple bound (it is then optimal), when it
//! meets the target, or at a limit. Without a time or node limit, it completes the portfolio and ends after
//! [`Effort::default`]: 2000 rounds or four million placed buffers, whichever comes first. It then reports
//! [`Stop::Completed`].
//!
//! **Invariants.** The best layout is valid. The same seed and node limit give the same answer.
//!
//! **Complexity.** For n buffers, computing an order takes O(n log n) time. A placement takes O(n^2) time
//! in the worst case, but usually far less. Memory is linear.
//!
//! **Source.** This project. The portfolio contains orders of classical planners. Blame is based on
//! squeaky-wheel optimisation (Joslin, Clements 1999).

mod features;

use crate::offsets::buffer_orders::Order;
use crate::offsets::placement::{Abandoned, Arrangement, Fit};
use crate::offsets::report::or_fallback;
use features::{Features, Weights};
use plimsoll_model::{
    Budget, BufferId, Bytes, Instance, Layout, Observer, Offsets, Outcome, SolveError, Solver, Stop, Tracker,
    simple_bound,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The effort of a run whose budget has neither a time nor a node limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Number of rounds after the portfolio.
    pub rounds: u64,
    /// Number of placed buffers, including those of the portfolio, after which no round starts.
    pub placements: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { rounds: 2000, placements: 4_000_000 }
    }
}

/// Iterated search over orders for the offset problem. A node is one placed buffer.
#[derive(Clone, Copy, Debug)]
pub struct IteratedSearch {
    /// Seed of all random choices.
    pub seed: u64,
    /// Effort of a run whose budget has neither a time nor a node limit.
    pub effort: Effort,
}

impl IteratedSearch {
    /// Creates a search with the given seed and the default effort.
    pub fn new(seed: u64) -> Self {
        Self { seed, effort: Effort::default() }
    }
}

impl Solver<Offsets> for IteratedSearch {
    fn name(&self) -> &'static str {
        "iterated-search"
    }

    fn supports_groups(&self) -> bool {
        true
    }

    fn solve(
        &self,
        input: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        let before = budget.nodes();
        let mut search = Iteration::new(input, self.seed, observer);
        let limited = budget.time_left().is_some() || budget.nodes_left().is_some();
        let stop = search.run((!limited).then_some(self.effort), budget);
        or_fallback(&mut search.run, stop);
        Ok(search.run.conclude(stop, budget.nodes() - before))
    }
}

/// Fraction of the remaining time in which an order of the portfolio must be known.
const ORDER_TIME: f64 = 0.1;

/// Maximum number of good orders that are kept.
const ELITE: usize = 8;

/// An order of the portfolio: a classical one, or one by weighted features.
#[derive(Clone, Copy, Debug)]
enum Portfolio {
    Order(Order),
    Weights(Weights),
}

const fn weighted(size: f64, duration: f64, heat: f64) -> Portfolio {
    Portfolio::Weights(Weights { size, duration, heat })
}

const PORTFOLIO: [Portfolio; 11] = [
    Portfolio::Order(Order::Size),
    Portfolio::Order(Order::Area),
    Portfolio::Order(Order::Breadth),
    weighted(1.0, 0.5, 0.0),
    Portfolio::Order(Order::Duration),
    weighted(1.0, 0.0, 4.0),
    weighted(1.0, 0.5, 4.0),
    weighted(1.0, 1.0, 8.0),
    weighted(0.0, 1.0, 1000.0),
    Portfolio::Order(Order::Conflicts),
    Portfolio::Order(Order::Start),
];

/// A good order, its fit, and the resulting layout.
#[derive(Clone, Debug)]
struct Member {
    order: Vec<BufferId>,
    fit: Fit,
    layout: Layout,
    peak: Bytes,
}

/// A resumable iterated search.
pub struct Iteration<'a> {
    instance: &'a Instance,
    /// The features of the buffers, once they are needed.
    features: Option<Features>,
    arrangement: Arrangement<'a>,
    rng: Xoshiro256PlusPlus,
    /// At most [`ELITE`] orders, in ascending order of peak. If peaks are equal, the older order comes first.
    elite: Vec<Member>,
    /// Number of placements of the portfolio that were tried, two per order, and of rounds.
    tried: usize,
    rounds: u64,
    run: Tracker<'a, Offsets>,
}

impl<'a> Iteration<'a> {
    /// Creates a search that has tried nothing.
    pub fn new(instance: &'a Instance, seed: u64, observer: &'a mut dyn Observer<Offsets>) -> Self {
        let run = Tracker::start(instance, simple_bound(instance), observer);
        Self {
            instance,
            features: None,
            arrangement: Arrangement::new(instance),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            elite: Vec::with_capacity(ELITE + 1),
            tried: 0,
            rounds: 0,
            run,
        }
    }

    /// Returns the best layout so far and its peak in bytes.
    pub fn best(&self) -> Option<(&Layout, Bytes)> {
        self.run.best.as_ref().map(|(layout, peak)| (layout, *peak))
    }

    /// Runs until a layout meets the load or the target of the budget, the effort is spent, or the budget
    /// runs out. Returns the termination reason. Another call resumes the search.
    pub fn run(&mut self, effort: Option<Effort>, budget: &mut Budget) -> Stop {
        self.all(effort, budget).err().unwrap_or(Stop::Completed)
    }

    /// Runs the portfolio and the rounds. The error is the termination reason if they do not complete.
    fn all(&mut self, effort: Option<Effort>, budget: &mut Budget) -> Result<(), Stop> {
        let before = budget.nodes();
        while let Some(&entry) = PORTFOLIO.get(self.tried / 2) {
            let left = &[Fit::First, Fit::Best][self.tried % 2..];
            // An order that takes long to compute is not worth all the time.
            let time = budget.time_share(ORDER_TIME);
            let found = self.portfolio(entry, &mut budget.without_node_limit().part(None, time));
            let order = match found {
                Ok(order) => order,
                Err(stop) if budget.check().is_some() => return Err(stop),
                Err(_) => {
                    self.tried += left.len();
                    continue;
                }
            };
            for &fit in left {
                self.evaluate(order.clone(), fit, budget)?;
                self.tried += 1;
            }
        }
        let goes_on = |rounds: u64, nodes: u64| {
            effort.is_none_or(|effort| rounds < effort.rounds && nodes < effort.placements)
        };
        while goes_on(self.rounds, budget.nodes() - before) {
            if self.rounds.is_multiple_of(2) {
                let (order, fit) = self.random_order(budget)?;
                self.evaluate(order, fit, budget)?;
            } else {
                self.blame(budget)?;
            }
            self.rounds += 1;
        }
        Ok(())
    }

    fn portfolio(&mut self, entry: Portfolio, watch: &mut Budget) -> Result<Vec<BufferId>, Stop> {
        match entry {
            Portfolio::Order(order) => order.of(self.instance, watch),
            Portfolio::Weights(weights) => self.weighted(weights, None, watch),
        }
    }

    /// Returns the order by weighted features, with up to `noise` added to the score of each buffer.
    fn weighted(
        &mut self,
        weights: Weights,
        noise: Option<f64>,
        watch: &mut Budget,
    ) -> Result<Vec<BufferId>, Stop> {
        let features = match self.features.take() {
            Some(features) => features,
            None => Features::of(self.instance, watch)?,
        };
        let rng = &mut self.rng;
        let random = |_| noise.map_or(0.0, |noise| noise * rng.random_range(0.0..1.0));
        Ok(self.features.insert(features).order(weights, random))
    }

    fn random_order(&mut self, watch: &mut Budget) -> Result<(Vec<BufferId>, Fit), Stop> {
        let weights = Weights {
            size: 1.0,
            duration: self.rng.random_range(0.0..1.0),
            heat: self.rng.random_range(0.0..8.0),
        };
        let noise = [0.0, 0.1, 0.5, 1.5][self.rng.random_range(0..4)];
        let order = self.weighted(weights, Some(noise), watch)?;
        Ok((order, if self.rng.random_bool(0.5) { Fit::First } else { Fit::Best }))
    }

    /// Decodes an order, and keeps it if the elite is not full or the worst member of the elite has a
    /// higher peak.
    fn evaluate(&mut self, order: Vec<BufferId>, fit: Fit, budget: &mut Budget) -> Result<(), Stop> {
        self.run.stats.count("orders", 1);
        let below = if self.elite.len() < ELITE { None } else { self.elite.last().map(|last| last.peak) };
        if let Some(member) = self.decode(order, fit, below, budget)? {
            self.keep(member);
        }
        self.run.enough(budget).map_or(Ok(()), Err)
    }

    /// Decodes an order. Returns `None` if the peak of its layout reaches `below`.
    fn decode(
        &mut self,
        order: Vec<BufferId>,
        fit: Fit,
        below: Option<Bytes>,
        budget: &mut Budget,
    ) -> Result<Option<Member>, Stop> {
        match self.arrangement.run(&order, fit, below, budget) {
            Err(Abandoned::Budget(stop)) => Err(stop),
            Err(Abandoned::Peak) => Ok(None),
            Ok(peak) => {
                let layout = self.arrangement.layout().expect("a finished run places every buffer");
                if self.run.value().is_none_or(|best| peak < best) {
                    self.run.offer(layout.clone());
                }
                Ok(Some(Member { order, fit, layout, peak }))
            }
        }
    }

    fn keep(&mut self, member: Member) {
        let at = self.elite.partition_point(|other| other.peak <= member.peak);
        self.elite.insert(at, member);
        self.elite.truncate(ELITE);
    }

    /// Takes a good order and moves the buffers that end above a random height to earlier positions. The
    /// result replaces the order unless it is worse.
    fn blame(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        // The better of two random orders becomes the parent. Good orders are thus preferred, but worse ones
        // are sometimes chosen.
        let draws = [(); 2].map(|()| self.rng.random_range(0..self.elite.len()));
        let parent_at = draws[0].min(draws[1]);
        let parent = &self.elite[parent_at];
        self.run.stats.count("blames", 1);
        let (instance, count) = (self.instance, parent.order.len() as u64);
        // With probability 3/4, the height is arbitrary. Otherwise, it is at least the lower bound, because
        // only the buffers above the bound keep the peak from meeting the bound.
        let bound = if self.rng.random_bool(0.75) { 0 } else { self.run.bound.value.get() };
        let height = self.rng.random_range(bound.min(parent.peak.get() - 1)..parent.peak.get());
        // The buffers move to the front, or forward by a common distance.
        let lead = if self.rng.random_bool(0.5) { count } else { self.rng.random_range(1..=count) };
        let above = |id: BufferId| parent.layout.offset(id).get() + instance.buffer(id).size().get() > height;
        let mut placed: Vec<(u64, BufferId)> = (count..)
            .zip(&parent.order)
            .map(|(at, &id)| (if above(id) { at - lead } else { at }, id))
            .collect();
        placed.sort_by_key(|&(at, _)| at);
        let order = placed.into_iter().map(|(_, id)| id).collect();
        let (fit, limit) = (parent.fit, Bytes::new(parent.peak.get() + 1));
        if let Some(child) = self.decode(order, fit, Some(limit), budget)? {
            self.elite.remove(parent_at);
            self.keep(child);
        }
        self.run.enough(budget).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{Silent, check_layout};

    #[test]
    fn result_is_never_worse_than_the_initial_orders() {
        for seed in 0..60 {
            let instance = small_instance(SmallParams::with_features(9, seed % 16), seed);
            let solver = IteratedSearch { seed, effort: Effort { rounds: 50, placements: u64::MAX } };
            let found = solver.solve(&instance, &mut Budget::unlimited(), &mut Silent).unwrap();
            for order in [Order::Size, Order::Area, Order::Breadth, Order::Start] {
                for fit in [Fit::First, Fit::Best] {
                    let single = crate::offsets::place(
                        &instance,
                        &order.of(&instance, &mut Budget::unlimited()).unwrap(),
                        fit,
                        None,
                    )
                    .unwrap();
                    assert!(found.value <= Some(single.peak(&instance)));
                }
            }
        }
    }

    #[test]
    fn a_paused_search_goes_on() {
        for seed in 0..50 {
            let instance = small_instance(SmallParams::with_features(14, seed % 16), seed);
            let (mut silent, mut last) = (Silent, None);
            let mut search = Iteration::new(&instance, seed, &mut silent);
            for _ in 0..200 {
                // Some placements are cut off and tried again.
                let mut part = Budget::unlimited().with_node_limit(20);
                let stop = search.run(None, &mut part);
                let (layout, peak) = search.best().expect("a placement takes 14 nodes");
                assert_eq!(check_layout(&instance, layout), [], "seed {seed}");
                assert!(last.is_none_or(|last| peak <= last));
                last = Some(peak);
                if stop == Stop::Completed {
                    break;
                }
            }
            let done = search.best().is_some_and(|(_, peak)| peak == simple_bound(&instance).value);
            assert!(done || search.tried >= 2 * PORTFOLIO.len() && search.rounds > 50, "seed {seed}");
        }
    }

    #[test]
    fn search_ends_at_the_target() {
        let instance = small_instance(SmallParams::with_features(9, 0), 3);
        let target = instance.ceiling();
        let mut budget = Budget::unlimited().with_target(target);
        let outcome = IteratedSearch::new(0).solve(&instance, &mut budget, &mut Silent).unwrap();
        let optimal = outcome.value == Some(outcome.lower_bound.value);
        assert_eq!(outcome.stop, if optimal { Stop::Completed } else { Stop::Target });
        assert!(outcome.value.unwrap() <= target);
    }
}
