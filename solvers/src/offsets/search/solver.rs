//! The solver `search`.

use super::arrangements::Arrangements;
use super::canonical::{self, Canonical};
use super::cliques::{self, Cliques};
use super::cores::Cores;
use super::decide::{Alternating, Decide, NAME};
use super::learn::Learner;
use super::minimise::{ARRANGEMENT_LIVE, Improve, Pace, Prover, minimise, only_help, raise};
use super::parameters::{Branching, PARAMETERS, SearchParams};
use super::peaks::Peaks;
use super::reorder::Reorder;
use super::tree::Rules;
use super::valley::{self, Reduced};
use super::windows::{Raise, Windows};
use crate::offsets::bounds::{has_few_conflicts, quick_bound};
use plimsoll_heuristics::offsets::{Arrangement, Fit, Order, ValleyWeights, laid_end_to_end, valley_fit};
use plimsoll_model::{
    Budget, Bytes, Instance, Layout, Observer, Offsets, Outcome, Parameter, Setup, SolveError, Solver, Stop,
    Tracker, parameters,
};
use std::sync::OnceLock;

/// Maximum number of conflicts, for instances to which valley branching does not apply. Instances with more
/// conflicts are not searched, because the conflict graph alone would take hundreds of megabytes.
const MOST_CONFLICTS: u64 = 10_000_000;

/// The number of buffers that makes a node of valley branching twice as expensive.
const LARGE: usize = 500;

/// The number of simultaneously live buffers that makes a node of branching over cliques twice as expensive.
const WIDE: usize = 16;

/// [`Pace::helped`] of branching over cliques and of canonical branching. It is constant, because the number
/// of simultaneously live buffers determines the time of a node of the ejection search, too.
const CLIQUES_HELPED: u64 = 150;

/// Maximum number of wasted units in the first sweeps over arrangements if few buffers are simultaneously
/// live. Learning and windows refute higher capacities faster.
const NARROW_WASTE: usize = 3;

/// Branch and bound for offsets: improves layouts and proves them optimal. Its name in the registry is
/// `search`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search {
    setup: Setup,
    params: SearchParams,
}

impl Search {
    /// Creates the solver with the parameters in `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup, params: setup.settings(PARAMETERS) }
    }

    /// Replaces the parameters.
    #[must_use]
    pub fn with_params(mut self, params: SearchParams) -> Self {
        self.params = params;
        self
    }

    /// Returns true if the ejection search over orders applies to an instance. This requires that the live
    /// bytes of most sections equal the load. The time is O(n) for n buffers and sections.
    pub(crate) fn reorders(&self, reduced: &Reduced) -> bool {
        self.reorder(reduced).is_some()
    }

    fn reorder<'a>(&self, reduced: &'a Reduced) -> Option<Reorder<'a>> {
        Reorder::new(reduced, self.seeds()).filter(|_| self.params.reorder)
    }

    /// Returns the searches on the cores of an instance.
    fn cores<'a>(&self, reduced: &'a Reduced) -> Option<Box<dyn Raise + 'a>> {
        let params = SearchParams { cores: false, ..self.params };
        let search = Search::new(Setup { threads: 1, ..self.setup }).with_params(params);
        self.params.cores.then(|| Box::new(Cores::new(reduced, search, self.setup.threads)) as _)
    }

    /// Returns a seed for each thread. The first is the seed of the setup.
    fn seeds(&self) -> impl Iterator<Item = u64> {
        let seed = self.setup.seed;
        (0..self.setup.threads.max(1) as u64).map(move |at| seed.wrapping_add(at << 32))
    }

    /// If the live bytes of most sections equal the load, raises a bound and improves a layout by sweeps over
    /// arrangements. If the layout is then still far above the bound, improves it by ejection search over
    /// orders. Each method uses at most its given number of nodes and at most a quarter of the nodes that the
    /// budget has left.
    pub(crate) fn raise(
        &self,
        known: &mut Tracker<'_, Offsets>,
        reduced: &Reduced,
        (nodes, insertions): (u64, u64),
        budget: &mut Budget,
    ) {
        let Some(mut rules) = self.params.arrangements else { return };
        if reduced.widest() < ARRANGEMENT_LIVE {
            rules.waste = rules.waste.min(NARROW_WASTE);
        }
        let arrangements = Arrangements::new(reduced, rules, self.setup.threads);
        if !arrangements.is_flat() {
            return;
        }
        let most = budget.nodes_left().map_or(u64::MAX, |left| left / 4);
        let arrangements = Some(arrangements);
        let reorder = self.reorder(reduced);
        let prover = Prover { reduced, arrangements, windows: None, learner: None, cores: None, reorder };
        let limits = (nodes.min(most), insertions.min(most));
        raise(known, prover, limits, budget);
    }

    /// Improves a valid layout, if there is one, and a bound. Branches on valleys if the reduced instance is
    /// given, and by other methods otherwise. Ends as soon as the peak equals the bound, infeasibility is
    /// proved, the target is reached, or the budget runs out.
    pub(crate) fn improve(
        &self,
        known: &mut Tracker<'_, Offsets>,
        reduced: Option<&Reduced>,
        helpers: Vec<Box<dyn Improve + '_>>,
        budget: &mut Budget,
    ) -> Stop {
        let mut rules = self.params.rules;
        rules.memo_bytes /= self.setup.threads.max(1);
        if let Some(reduced) = reduced {
            let engine = |units: i64, seed: u64| valley::Engine::new(reduced, units, rules, seed);
            let factory = |capacity: Bytes| -> Vec<Box<dyn Decide + '_>> {
                let units = (capacity.get() / reduced.grain) as i64;
                self.seeds().map(|seed| Box::new(engine(units, seed)) as _).collect()
            };
            let windows = |rules| Windows::new(reduced, rules, self.setup.seed);
            let orders = OnceLock::new();
            let learner = self.params.learn.map(|rules| Learner::new(&orders, reduced, rules));
            let arrangements = self.params.arrangements;
            let arrangements =
                arrangements.map(|rules| Arrangements::new(reduced, rules, self.setup.threads));
            let prover = Prover {
                reduced,
                arrangements,
                windows: self.params.windows.map(windows),
                learner,
                cores: self.cores(reduced),
                reorder: self.reorder(reduced),
            };
            let buffers = known.input.len();
            let pace = Pace::new(buffers / LARGE).on(self.setup.threads);
            let pace = Pace { branches: buffers <= LARGE, ..pace };
            let peaks = (Peaks::multiples(reduced.grain), pace);
            return minimise(known, peaks, (&factory, Some(prover)), helpers, budget);
        }
        self.decide(known, rules, helpers, budget)
    }

    /// Improves a layout and a bound by branching over cliques, by canonical branching, or by both.
    fn decide(
        &self,
        known: &mut Tracker<'_, Offsets>,
        rules: Rules,
        helpers: Vec<Box<dyn Improve + '_>>,
        budget: &mut Budget,
    ) -> Stop {
        let instance = known.input;
        let mut watch = budget.without_node_limit();
        let cliques = (self.params.branching != Branching::Canonical)
            .then(|| Cliques::within(instance, &mut watch))
            .flatten();
        let canonical = (cliques.is_none() || self.params.branching == Branching::Suitable)
            && !instance.has_groups()
            && has_few_conflicts(instance, MOST_CONFLICTS, &mut watch);
        let canonical = canonical.then(|| Canonical::within(instance, &mut watch)).flatten();
        let (peaks, pace) = match &cliques {
            Some(cliques) => (cliques.peaks(), Pace::new(most_live(instance) / WIDE)),
            None => (Peaks::multiples(instance.grain().get()), Pace::new(0)),
        };
        let pace = Pace { helped: CLIQUES_HELPED, ..pace }.on(self.setup.threads);
        let engine = |capacity: Bytes, seed: u64| -> Option<Box<dyn Decide + '_>> {
            let cliques =
                cliques.as_ref().map(|problem| cliques::Engine::new(problem, capacity, rules, seed));
            let canonical = canonical
                .as_ref()
                .map(|problem| canonical::Engine::new(problem, capacity, seed, rules.memo_bytes));
            Some(match (cliques, canonical) {
                (Some(cliques), Some(canonical)) => Box::new(Alternating(cliques, canonical)),
                (Some(cliques), None) => Box::new(cliques),
                (None, canonical) => Box::new(canonical?),
            })
        };
        if cliques.is_none() && canonical.is_none() {
            return only_help(known, helpers, budget);
        }
        let factory = |capacity: Bytes| -> Vec<Box<dyn Decide + '_>> {
            self.seeds().filter_map(|seed| engine(capacity, seed)).collect()
        };
        minimise(known, (peaks, pace), (&factory, None), helpers, budget)
    }
}

impl Solver<Offsets> for Search {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports_groups(&self) -> bool {
        self.params.branching != Branching::Canonical
    }

    fn parameters(&self) -> Vec<Parameter> {
        parameters(PARAMETERS)
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        let mut known = Tracker::start(instance, quick_bound(instance, budget), observer);
        // The search starts at the bound, so the quality of this layout matters little.
        if budget.check().is_none()
            && let Some(layout) = start(instance, budget)
        {
            known.offer(layout);
        }
        let suitable = self.params.branching == Branching::Suitable;
        let reduced = suitable.then(|| Reduced::of(instance)).flatten();
        let stop = self.improve(&mut known, reduced.as_ref(), Vec::new(), budget);
        if stop != Stop::Completed
            && known.best.is_none()
            && let Some(layout) = laid_end_to_end(instance)
        {
            known.offer(layout);
        }
        Ok(known.conclude(stop, budget.nodes()))
    }
}

/// Returns the maximum number of simultaneously live buffers. O(n log n).
pub(crate) fn most_live(instance: &Instance) -> usize {
    let parts = instance.buffers().iter().flat_map(|buffer| buffer.lifespan().intervals());
    let mut events: Vec<_> = parts.flat_map(|part| [(part.lower, 1), (part.upper, -1)]).collect();
    events.sort_unstable();
    let counts = events.iter().scan(0i64, |live, &(_, change)| {
        *live += change;
        Some(*live)
    });
    counts.max().unwrap_or(0) as usize
}

/// Returns an initial layout: a first-fit placement by descending area. With many simultaneously live
/// buffers, this placement may not finish within half of the remaining time. The result is then a valley
/// placement, or `None` if that placement does not finish either.
fn start(instance: &Instance, budget: &Budget) -> Option<Layout> {
    let limits = budget.without_node_limit();
    let half = limits.time_share(0.5);
    let mut arrangement = Arrangement::new(instance);
    let mut part = limits.part(None, half);
    if let Ok(order) = Order::Area.of(instance, &mut part)
        && arrangement.run(&order, Fit::First, None, &mut part).is_ok()
    {
        return arrangement.layout();
    }
    // Valley placements do not support rigid groups.
    if instance.has_groups() {
        return None;
    }
    valley_fit(instance, ValleyWeights::default(), &mut limits.part(None, None)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::BruteForce;
    use crate::offsets::search::windows::WindowRules;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{Buffer, Claim, InstanceBuilder, Problem, Silent};
    use proptest::prelude::*;

    fn solve(instance: &Instance, params: SearchParams, budget: &mut Budget) -> Outcome<Offsets> {
        let search = Search::new(Setup { seed: 1, ..Setup::default() }).with_params(params);
        let outcome = search.solve(instance, budget, &mut Silent).unwrap();
        if let (Some(layout), Claim::Optimal | Claim::Feasible) = (&outcome.solution, outcome.claim) {
            assert_eq!(Offsets::check(instance, layout), []);
        }
        outcome
    }

    /// Checks that both branching methods and several ablation variants find the same optimum as brute force.
    fn agree(instance: &Instance) {
        let reference = BruteForce.solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
        let all = SearchParams::default();
        let without = |change: fn(&mut Rules)| {
            let mut params = all;
            change(&mut params.rules);
            params
        };
        let variants = [
            all,
            SearchParams { branching: Branching::Canonical, ..all },
            SearchParams { branching: Branching::Cliques, ..all },
            without(|r| r.restarts = false),
            without(|r| r.memo = false),
            without(|r| r.wall_waste = false),
            without(|r| r.twins = false),
            without(|r| r.restart_base = 3),
            without(|r| (r.plain_runs, r.restart_base, r.levels) = (0, 2, 3)),
            without(|r| (r.plain_runs, r.lookahead) = (0, false)),
            without(|r| (r.plain_runs, r.levels) = (0, 0)),
            SearchParams { windows: None, ..all },
            SearchParams { learn: None, ..all },
            SearchParams { arrangements: None, ..all },
            SearchParams { windows: None, learn: None, ..all },
            SearchParams { windows: Some(WindowRules { ahead: 0, ..WindowRules::default() }), ..all },
            SearchParams { windows: Some(WindowRules { widest: 2, ..WindowRules::default() }), ..all },
        ];
        for params in variants {
            let outcome = solve(instance, params, &mut Budget::unlimited());
            assert_eq!(
                (outcome.claim, outcome.value, outcome.lower_bound.value),
                (reference.claim, reference.value, reference.lower_bound.value),
                "{params:?}"
            );
        }
    }

    /// Multiplies every size by `factor` and adds the index of the buffer. The greatest common divisor of the
    /// sizes is then small, and the optimum is slightly above the scaled optimum.
    fn magnified(instance: &Instance, factor: u64) -> Instance {
        let buffers = (0..).zip(instance.buffers()).map(|(more, b)| {
            Buffer::new(b.name(), Bytes::new(b.size().get() * factor + more), b.lifespan().clone())
        });
        InstanceBuilder::new("huge").buffers(buffers).build().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn agrees_with_brute_force(buffers in 0usize..8, features in 0u64..16, seed in any::<u64>()) {
            agree(&small_instance(SmallParams::with_features(buffers, features), seed));
        }

        #[test]
        fn agrees_with_brute_force_on_few_steps(buffers in 5usize..8, seed in any::<u64>(), steps in 2u64..6) {
            // Instances with short lifespans and small sizes often have optima above the load.
            let params = SmallParams { steps, max_size: 4, ..SmallParams::with_features(buffers, 0) };
            agree(&small_instance(params, seed));
        }

        #[test]
        fn agrees_with_brute_force_on_huge_sizes(buffers in 3usize..8, seed in any::<u64>(), zeros in 24u32..58) {
            let params = SmallParams { steps: 2 + seed % 7, ..SmallParams::with_features(buffers, 0) };
            let small = small_instance(params, seed);
            let huge = magnified(&small, 1 << zeros);
            agree(&huge);
            let optimum = |t| BruteForce.solve(t, &mut Budget::unlimited(), &mut Silent).unwrap().value.unwrap();
            prop_assert_eq!(optimum(&huge).get() >> zeros, optimum(&small).get());
        }

        #[test]
        fn a_capacity_is_kept_or_refuted(seed in any::<u64>(), features in 0u64..16, off in 0u64..3) {
            let free = small_instance(SmallParams::with_features(6, features), seed);
            let best = solve(&free, SearchParams::default(), &mut Budget::unlimited()).value.unwrap();
            let capacity = Bytes::new((best.get() + off).saturating_sub(1));
            let limited = free.with_capacity(Some(capacity));
            let outcome = solve(&limited, SearchParams::default(), &mut Budget::unlimited());
            let expected = if off == 0 { Claim::Infeasible } else { Claim::Optimal };
            prop_assert_eq!(outcome.claim, expected);
        }

        #[test]
        fn limits_move_no_bound(seed in any::<u64>(), nodes in 0u64..40) {
            let t = small_instance(SmallParams { max_size: 50, ..SmallParams::with_features(12, 0) }, seed);
            let best = solve(&t, SearchParams::default(), &mut Budget::unlimited());
            let outcome = solve(&t, SearchParams::default(), &mut Budget::unlimited().with_node_limit(nodes));
            prop_assert!(outcome.lower_bound.value <= best.value.unwrap());
            if outcome.claim == Claim::Optimal {
                prop_assert_eq!(outcome.value, best.value);
            }
        }
    }

    #[test]
    fn the_same_seed_threads_and_node_limit_give_the_same_layout() {
        let params = SmallParams { max_size: 99, steps: 20, ..SmallParams::with_features(40, 0) };
        for seed in 0..6 {
            let t = small_instance(params, seed);
            for threads in 1..=3 {
                let run = || {
                    let search = Search::new(Setup { seed, threads, ..Setup::default() });
                    let budget = &mut Budget::unlimited().with_node_limit(20_000);
                    let outcome = search.solve(&t, budget, &mut Silent).unwrap();
                    (outcome.solution, outcome.claim, outcome.lower_bound, outcome.stats)
                };
                assert_eq!(run(), run(), "seed {seed}, {threads} threads");
            }
        }
    }
}
