//! Minimises the peak by deciding capacities: is there a layout within a given capacity?
//!
//! The optimum lies between a proved bound and the best layout. A search at the bound itself prunes the most,
//! and a layout at this capacity finishes the search. Higher capacities yield layouts sooner. Each round
//! therefore tries the bound first, or the target if it is higher. It then tries the capacities half-way to
//! the best layout, three quarters of the way, and so on up to just below the best layout. An infeasible
//! capacity raises the bound, and a layout lowers the upper end.
//!
//! If a round does not find a much better layout, the next round is twice as long. If capacities at the
//! bound are repeatedly infeasible, rounds begin above the bound. At least five sixths of the nodes of a
//! round go to its first capacity. The searches at the bound and just below the best layout are kept between
//! rounds.

use super::arrangements::{Arrangements, Beside};
use super::decide::{Decide, Decision, NAME};
use super::learn::Learner;
use super::peaks::Peaks;
use super::portfolio;
use super::reorder::Reorder;
use super::valley::Reduced;
use super::windows::{Proof, Raise, Windows};
use plimsoll_model::{
    Budget, Bytes, Instance, Layout, LowerBound, Offsets, Stop, Tracker, Witness, section_intervals,
};
use std::collections::BTreeMap;

/// Nodes for each capacity of the first round, except for the capacity with which the round begins.
const FIRST_ROUND: u64 = 2_000;

/// Ratio of the nodes for the first capacity of a round to those for all its other capacities together.
const AIM_SHARE: u64 = 5;

/// Maximum number of halvings between the first capacity of a round and the best layout.
const MOST_HALVES: usize = 5;

/// The numbers of nodes of branching that take some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Nodes for each capacity of the first round.
    pub first_round: u64,
    /// Nodes that take about as long as [`Improve::speed`] nodes of a helper.
    pub helped: u64,
    /// Whether branching finds better layouts than helpers even far above the bound.
    pub branches: bool,
}

impl Pace {
    /// Returns the pace of valley branching if a node takes `1 + more` times as long as on small instances.
    pub fn new(more: usize) -> Self {
        let first_round = (FIRST_ROUND / (1 + more) as u64).max(10);
        Self { first_round, helped: first_round, branches: false }
    }

    /// Returns the pace if branching uses several threads, while a helper uses one.
    pub fn on(self, threads: usize) -> Self {
        Self { helped: self.helped * threads.max(1) as u64, ..self }
    }
}

/// A search that improves a layout without proving anything.
pub(crate) trait Improve {
    /// Returns the number of its nodes that take about as long as [`Pace::helped`] nodes of branching.
    fn speed(&self) -> u64;

    /// Returns its least share, in units of `1 / SHARE`, in late rounds if the best layout is within the
    /// capacity but far above the bound. Branching then rarely finds a better one.
    fn share_if_far(&self) -> u64;

    /// Searches for a layout better than `best` until it meets `bound` or the budget runs out.
    fn improve(&mut self, best: &Layout, bound: Bytes, budget: &mut Budget) -> Option<Layout>;
}

/// A search that alternates with branching, and its share of the nodes, in units of `1 / SHARE`. The share
/// doubles after a success and is halved after a failure.
struct Helper<'a> {
    search: Box<dyn Improve + 'a>,
    share: u64,
}

/// The share with which a helper starts. `SHARES` is the range of all shares.
pub(crate) const SHARE: u64 = 16;
const SHARES: (u64, u64) = (1, 128);

/// The largest share if branching finds more layouts: if the best layout exceeds the capacity, so that only a
/// layout within it counts, and on instances with [`Pace::branches`].
const SMALL_SHARE: u64 = SHARE / 4;

/// Factor by which rounds must have grown before helpers get more time than branching.
const HELP_PATIENCE: u64 = 1 << 1;

/// Length of a run after which a helper without success has failed, in units of [`Improve::speed`].
const FAIR_TRIAL: u64 = 100;

/// A function that creates the searches at a capacity, one per thread.
pub(super) type Factory<'a> = dyn Fn(Bytes) -> Vec<Box<dyn Decide + 'a>> + 'a;

/// Factor by which rounds must have grown before windows are tried on wide instances.
const WIDE_PATIENCE: u64 = 1 << 5;

/// Factor by which rounds must have grown before sweeps over arrangements are tried on flat loads.
const PATIENCE: u64 = 1 << 3;

/// The methods that prove capacities infeasible, in addition to the searches at a capacity.
#[derive(Debug)]
pub(super) struct Prover<'a> {
    pub reduced: &'a Reduced,
    pub arrangements: Option<Arrangements<'a>>,
    pub windows: Option<Windows<'a>>,
    pub learner: Option<Learner<'a>>,
    pub cores: Option<Box<dyn Raise + 'a>>,
    /// The search for layouts on tight instances.
    pub reorder: Option<Reorder<'a>>,
}

/// Nodes of clause learning per node of a round, if few buffers are simultaneously live.
const LEARN_SHARE: u64 = 32;

/// Nodes of windows per node of a round, if a sweep may settle the whole instance.
const SWEEP_SHARE: u64 = 16;

/// Nodes of learning and of windows per node of a late round, if few buffers are simultaneously live. In late
/// rounds, learning usually finishes the search.
const LATE_LEARN_SHARE: u64 = 256;
const LATE_SWEEP_SHARE: u64 = 4;

/// Nodes of sweeps over arrangements per node of a round. The second number applies to late rounds if most
/// sections are at the load and the best layout is close to the bound. Both are doubled if learning runs
/// beside the sweeps.
const ARRANGEMENT_SHARE: u64 = 32;
const LATE_FLAT_ARRANGEMENT_SHARE: u64 = 128;

/// Minimum number of simultaneously live buffers for sweeps over arrangements in early rounds. With fewer,
/// learning and windows alone settle most instances.
pub(super) const ARRANGEMENT_LIVE: usize = 10;

/// Nodes of searches on cores per node of a round.
const CORE_SHARE: u64 = 16;

/// Nodes of windows per node of a round, if sweeps over arrangements apply as well. On flat loads, windows
/// rarely refute what those sweeps leave open.
const FLAT_SWEEP_SHARE: u64 = 1;

/// Nodes of a round and its proofs per insertion of the ejection search over orders, if the best layout is
/// close to the bound. If it is neither close nor far, both numbers are equal.
const CLOSE_NODES_PER_INSERTION: u64 = 32;

/// Insertions of the ejection search over orders per node of a round and its proofs, if the best layout is
/// far above the bound and many buffers are simultaneously live. Proofs then rarely advance.
const FAR_INSERTIONS_PER_NODE: u64 = 4;

/// Factor by which rounds must have grown before the ejection search over orders runs. Earlier rounds settle
/// easy instances.
const REORDER_PATIENCE: u64 = 1 << 2;

/// A divisor of the bound. The best layout is far above the bound if its distance to the bound exceeds the
/// quotient. The second number applies before the first round, where insertions would delay short proofs.
const FAR: u64 = 32;
const FAR_AT_FIRST: u64 = 16;

/// Maximum number of open capacities, in units, if the best layout is close to the bound. Proofs may then
/// finish soon, so most of the time is spent on them.
const CLOSE: i64 = 4;

/// Returns true if the best layout is close to the bound, given the lowest and the highest open capacity.
fn is_close((low, high): (i64, i64)) -> bool {
    high - low < CLOSE
}

/// Nodes of learning per node of a late round if many buffers are simultaneously live.
const WIDE_LEARN_SHARE: u64 = 4;

impl Prover<'_> {
    /// Returns true if so few buffers are simultaneously live that learning usually finishes the search.
    fn learns(&self) -> bool {
        self.learner.as_ref().is_some_and(Learner::is_narrow)
    }

    /// Tries to settle the range of capacities from `low` to `high` units. `best` contains the offsets of the
    /// best layout. Returns the results, or none if the methods reach their shares of nodes.
    fn prove(
        &mut self,
        (low, high): (i64, i64),
        best: Option<&[i64]>,
        nodes: u64,
        budget: &mut Budget,
    ) -> Vec<Proof> {
        if self.learner.as_ref().is_some_and(|learner| !learner.applies()) {
            self.learner = None;
        }
        // On wide instances, only branching and arrangements run in early rounds.
        let late = nodes >= FIRST_ROUND * WIDE_PATIENCE;
        let flat = self.arrangements.as_ref().is_some_and(Arrangements::is_flat);
        let learns = self.learns();
        let patient = nodes >= FIRST_ROUND * PATIENCE;
        let sweeps = flat && (patient || learns && self.reduced.widest() >= ARRANGEMENT_LIVE);
        let beside = sweeps && learns;
        let share = if flat && late && is_close((low, high)) {
            LATE_FLAT_ARRANGEMENT_SHARE
        } else if late || sweeps {
            ARRANGEMENT_SHARE
        } else {
            // The first rounds of branching settle easy instances.
            0
        };
        let share = if beside { 2 * share } else { share };
        if let Some(arrangements) = self.arrangements.as_mut().filter(|_| share > 0) {
            let mut learner = self.learner.as_mut().filter(|_| beside);
            let mut learn = learner.as_mut().map(|learner| {
                move |budget: &mut Budget| {
                    learner.prove(high, best, budget.nodes_left().unwrap_or(u64::MAX), budget)
                }
            });
            let learn = learn.as_mut().map(|learn| learn as &mut Beside<'_>);
            let proofs = arrangements.prove((low, high), nodes.saturating_mul(share), learn, budget);
            if !proofs.is_empty() {
                return proofs;
            }
        }
        if let Some(cores) = self.cores.as_mut().filter(|_| sweeps && !learns) {
            let proofs = cores.raise((low, high), nodes.saturating_mul(CORE_SHARE), budget);
            if !proofs.is_empty() {
                return proofs;
            }
        }
        if let Some(learner) = self.learner.as_mut().filter(|_| !beside) {
            let share = match (learns, late) {
                (true, false) => LEARN_SHARE,
                (true, true) => LATE_LEARN_SHARE,
                (false, true) => WIDE_LEARN_SHARE,
                (false, false) => 0,
            };
            let proof = learner.prove(high, best, nodes.saturating_mul(share), budget);
            if proof != Proof::Nothing {
                return vec![proof];
            }
        }
        if let Some(windows) = &mut self.windows {
            let share = match (windows.is_narrow(), late) {
                (true, _) if sweeps => FLAT_SWEEP_SHARE,
                (true, true) if self.learner.is_some() => LATE_SWEEP_SHARE,
                (true, _) => SWEEP_SHARE,
                (false, true) => 1,
                (false, false) => 0,
            };
            if share > 0 {
                let proof = windows.prove(low, high, nodes.saturating_mul(share), budget);
                if proof != Proof::Nothing {
                    return vec![proof];
                }
            }
        }
        Vec::new()
    }

    /// Returns the witness of a completed search over the sections `from..to`.
    fn witness(&self, instance: &Instance, (from, to): (usize, usize)) -> Witness {
        let solver = NAME.to_owned();
        if (from, to) == (0, self.reduced.sections) {
            return Witness::Search { solver };
        }
        let sections = section_intervals(instance);
        Witness::Window { lower: sections[from].lower, upper: sections[to - 1].upper, solver }
    }
}

/// Runs until the peak of the best layout equals the bound, infeasibility within the capacity is proved, the
/// target is reached, or the budget runs out. Branching alternates with the given helpers. The first round
/// has the nodes of `pace` for each capacity.
pub(super) fn minimise<'a>(
    known: &mut Tracker<'_, Offsets>,
    (peaks, pace): (Peaks, Pace),
    (factory, prover): (&'a Factory<'a>, Option<Prover<'a>>),
    helpers: Vec<Box<dyn Improve + 'a>>,
    budget: &mut Budget,
) -> Stop {
    let helpers = helpers.into_iter().map(|search| Helper { search, share: SHARE }).collect();
    let (stride, engines) = (0, BTreeMap::new());
    Minimiser { known, peaks, factory, prover, helpers, pace, stride, engines }.run(budget)
}

/// Improves the best layout by the first of the helpers alone, until it meets the bound or the target, or the
/// budget runs out.
pub(super) fn only_help(
    known: &mut Tracker<'_, Offsets>,
    helpers: Vec<Box<dyn Improve + '_>>,
    budget: &mut Budget,
) -> Stop {
    if let Some(mut helper) = helpers.into_iter().next()
        && let Some((best, _)) = &known.best
        && let Some(layout) = helper.improve(best, known.bound.value, budget)
    {
        known.offer(layout);
    }
    known.settled(budget).or_else(|| budget.check()).unwrap_or(Stop::Completed)
}

/// Improves the bound by the methods of `prover` alone, with at most `nodes` nodes. If the layout is then
/// far above the bound, improves the layout by at most `insertions` insertions.
pub(super) fn raise(
    known: &mut Tracker<'_, Offsets>,
    prover: Prover<'_>,
    (nodes, insertions): (u64, u64),
    budget: &mut Budget,
) {
    let factory = |_: Bytes| Vec::new();
    let peaks = Peaks::multiples(prover.reduced.grain);
    let (prover, helpers, engines) = (Some(prover), Vec::new(), BTreeMap::new());
    let (factory, pace, stride) = (&factory, Pace::new(0), 0);
    let mut minimiser = Minimiser { known, peaks, factory, prover, helpers, pace, stride, engines };
    let mut part = budget.part(Some(nodes), None);
    minimiser.prove(nodes, &mut part);
    budget.spend(part.nodes());
    if minimiser.finished(budget).is_none() && minimiser.is_far(FAR_AT_FIRST) {
        minimiser.reorder(insertions, budget);
    }
}

struct Minimiser<'a, 'k, 't> {
    known: &'k mut Tracker<'t, Offsets>,
    peaks: Peaks,
    factory: &'a Factory<'a>,
    prover: Option<Prover<'a>>,
    helpers: Vec<Helper<'a>>,
    pace: Pace,
    /// Distance in bytes from the bound to the first capacity of the next round.
    stride: u64,
    engines: BTreeMap<u64, Vec<Box<dyn Decide + 'a>>>,
}

impl Minimiser<'_, '_, '_> {
    fn run(mut self, budget: &mut Budget) -> Stop {
        let mut nodes = self.pace.first_round;
        loop {
            if let Some(stop) = self.finished(budget) {
                return stop;
            }
            let (before, since) = (self.value(), budget.nodes());
            if let Some(stop) = self.round(nodes, budget) {
                return stop;
            }
            if let Some(stop) = self.prove(nodes, budget) {
                return stop;
            }
            // Rounds do not grow while layouts improve quickly, or while helpers improve them. The ejection
            // search over orders does not count: with it, rounds would stay so short that sweeps do not
            // start.
            let grows = !self.is_much_better(before);
            let late = nodes >= self.pace.first_round * HELP_PATIENCE;
            let helped = self.help(budget.nodes() - since, late, budget);
            self.reorder(self.insertions(nodes, budget.nodes() - since), budget);
            if grows && !helped {
                nodes = nodes.saturating_mul(2);
            }
        }
    }

    fn finished(&self, budget: &mut Budget) -> Option<Stop> {
        self.known.settled(budget).or_else(|| budget.check())
    }

    fn value(&self) -> Option<Bytes> {
        self.known.value()
    }

    /// Returns the lowest and the highest capacity to decide. They are possible peaks, at or above the bound,
    /// below the best layout, and within the capacity of the instance. Returns `None` if there are no such
    /// capacities.
    fn window(&self) -> Option<(u64, u64)> {
        let low = self.peaks.at_least(self.known.bound.value.get());
        let below_best = self.value().map(|value| value.get() - 1);
        let ceiling = self.known.input.ceiling().get().next_multiple_of(self.peaks.grain());
        let limits = [below_best, self.known.input.capacity().map(Bytes::get), Some(ceiling)];
        let high = self.peaks.at_most(limits.into_iter().flatten().min()?)?;
        (low <= high).then_some((low, high))
    }

    fn window_in_units(&self) -> Option<(i64, i64)> {
        let units = |bytes: u64| (bytes / self.peaks.grain()) as i64;
        self.window().map(|(low, high)| (units(low), units(high)))
    }

    /// Runs one round of capacities from the bound up. Returns the reason to stop if the run is over.
    fn round(&mut self, nodes: u64, budget: &mut Budget) -> Option<Stop> {
        let Some((low, high)) = self.window() else {
            // No capacity lies between the bound and the best layout, so the bound rises to the next possible
            // value.
            let above_capacity = self.known.input.capacity().map(|capacity| capacity.get().saturating_add(1));
            let value = self.value().map(Bytes::get).into_iter().chain(above_capacity).min();
            self.raise(value.expect("the ceiling is above the bound"));
            return self.finished(budget);
        };
        let target =
            budget.target().and_then(|target: Bytes| self.peaks.at_most(target.get().clamp(low, high)));
        let aim = target.unwrap_or(low.saturating_add(self.stride).min(high)).max(low);
        let steps = self.capacities(aim, high);
        let at_aim = nodes.saturating_mul(AIM_SHARE * steps.len().max(1) as u64);
        let verdict = self.ask(aim, at_aim, budget);
        self.adapt_stride(&verdict);
        if let Some(stop) = self.finished(budget) {
            return Some(stop);
        }
        if matches!(verdict, Decision::Fits(_)) {
            return None;
        }
        for at in steps {
            let verdict = self.ask(at, nodes, budget);
            if let Some(stop) = self.finished(budget) {
                return Some(stop);
            }
            if !matches!(verdict, Decision::Stopped(_)) {
                break;
            }
        }
        None
    }

    /// Doubles the stride after an infeasible capacity, and quarters it after any other result. If units are
    /// small, raising the bound unit by unit would take too long.
    fn adapt_stride(&mut self, verdict: &Decision) {
        self.stride = match verdict {
            Decision::Impossible => self.stride.saturating_mul(2).max(self.peaks.grain()),
            _ => self.stride / 4 / self.peaks.grain() * self.peaks.grain(),
        };
    }

    /// Returns true if the gap between the best layout and the bound has shrunk by more than a sixteenth
    /// since the best value was `before`.
    fn is_much_better(&self, before: Option<Bytes>) -> bool {
        let bound = self.known.bound.value.get();
        match (before, self.value()) {
            (Some(before), Some(now)) => (before.get() - now.get()) > before.get().saturating_sub(bound) / 16,
            (before, now) => before != now,
        }
    }

    /// Runs the other methods for their share of nodes. Returns the reason to stop if the run is over.
    fn prove(&mut self, nodes: u64, budget: &mut Budget) -> Option<Stop> {
        let mut prover = self.prover.take()?;
        while let Some(window) = self.window_in_units() {
            let best = self.known.best.as_ref().map(|(layout, _)| prover.reduced.offsets(layout));
            let proofs = prover.prove(window, best.as_deref(), nodes, budget);
            if proofs.is_empty() {
                break;
            }
            for proof in proofs {
                self.adopt(proof, &prover);
            }
            if let Some(stop) = self.finished(budget) {
                return Some(stop);
            }
        }
        self.prover = Some(prover);
        None
    }

    /// Records a result of the prover.
    fn adopt(&mut self, proof: Proof, prover: &Prover<'_>) {
        match proof {
            Proof::Nothing => {}
            Proof::Least { offsets, .. } => {
                let value = self.book(prover.reduced.layout(&offsets));
                self.raise(value.get());
            }
            Proof::Better { offsets, .. } => {
                self.book(prover.reduced.layout(&offsets));
            }
            Proof::Bound { bound, window } => {
                let value = (bound as u64).saturating_mul(self.peaks.grain());
                self.raise_by(value, prover.witness(self.known.input, window));
                self.engines.retain(|&capacity, _| capacity >= value);
            }
        }
    }

    /// Returns true if the distance from the bound to the best layout exceeds the bound divided by `part`.
    fn is_far(&self, part: u64) -> bool {
        let bound = self.known.bound.value.get();
        self.value().is_some_and(|value| value.get() - bound > bound / part)
    }

    /// Returns true if the best layout exceeds the capacity of the instance.
    fn only_decides(&self) -> bool {
        let capacity = self.known.input.capacity();
        capacity.is_some_and(|capacity| self.value().is_none_or(|value| value > capacity))
    }

    /// Returns the number of insertions of the ejection search over orders after a round of `nodes` nodes per
    /// capacity, if the round and its proofs have `spent` nodes in total. An insertion takes several times as
    /// long as a node.
    fn insertions(&self, nodes: u64, spent: u64) -> u64 {
        let is_far = self.is_far(FAR);
        let patience = if is_far { REORDER_PATIENCE } else { PATIENCE };
        if nodes < FIRST_ROUND * patience {
            0
        } else if self.window_in_units().is_none_or(is_close) {
            spent / CLOSE_NODES_PER_INSERTION
        } else if is_far && !self.prover.as_ref().is_some_and(Prover::learns) {
            spent.saturating_mul(FAR_INSERTIONS_PER_NODE)
        } else {
            spent
        }
    }

    /// Lets the helpers improve the best layout after a round that spent `spent` nodes. Returns true if one
    /// of them did.
    fn help(&mut self, spent: u64, late: bool, budget: &mut Budget) -> bool {
        let mut helped = false;
        let mut helpers = std::mem::take(&mut self.helpers);
        for helper in &mut helpers {
            if self.finished(budget).is_some() {
                break;
            }
            let Some((best, before)) = self.known.best.clone() else { break };
            let share = if self.only_decides() || self.pace.branches {
                helper.share.min(SMALL_SHARE)
            } else if late && self.is_far(FAR) {
                helper.share.max(helper.search.share_if_far())
            } else {
                helper.share
            };
            let nodes = spent.saturating_mul(helper.search.speed() * share) / self.pace.helped / SHARE;
            let mut part = budget.part(Some(nodes), None);
            let found = helper.search.improve(&best, self.known.bound.value, &mut part);
            budget.spend(part.nodes());
            let better = found.is_some_and(|layout| self.book(layout) < before);
            helped |= better;
            let failed = !better && part.nodes() > helper.search.speed() * FAIR_TRIAL;
            helper.share = if better { helper.share * 2 } else { helper.share >> u32::from(failed) };
            helper.share = helper.share.clamp(SHARES.0, SHARES.1);
        }
        self.helpers = helpers;
        helped
    }

    /// Improves the best layout by ejection search over orders.
    fn reorder(&mut self, nodes: u64, budget: &mut Budget) {
        let until = budget.nodes().saturating_add(nodes);
        while budget.nodes() < until && self.finished(budget).is_none() {
            let found = self.prover.as_mut().and_then(|prover| {
                let best = prover.reduced.offsets(&self.known.best.as_ref()?.0);
                let low = self.known.bound.value.get().div_ceil(self.peaks.grain()) as i64;
                let left = until - budget.nodes();
                let offsets = prover.reorder.as_mut()?.improve(low, &best, left, budget)?;
                Some(prover.reduced.layout(&offsets))
            });
            let Some(layout) = found else {
                break;
            };
            self.book(layout);
        }
    }

    /// Adopts a layout if it is better. Returns the value of the layout in either case.
    fn book(&mut self, layout: Layout) -> Bytes {
        let value = self.known.offer(layout);
        self.engines.retain(|&capacity, _| capacity < value.get());
        value
    }

    /// Returns the capacities half-way from `aim` to `high`, at three quarters of the way, and so on, ending
    /// with `high`.
    fn capacities(&self, aim: u64, high: u64) -> Vec<u64> {
        let mut at = aim;
        let mut steps = Vec::new();
        while at < high {
            let half = self.peaks.at_least(at + (high - at).div_ceil(2));
            at = if steps.len() < MOST_HALVES { half.min(high) } else { high };
            steps.push(at);
        }
        steps
    }

    /// Searches at a capacity for at most `nodes` nodes and records the result.
    fn ask(&mut self, capacity: u64, nodes: u64, budget: &mut Budget) -> Decision {
        let factory = self.factory;
        let members = self.engines.entry(capacity).or_insert_with(|| factory(Bytes::new(capacity)));
        let verdict = portfolio::decide(members, nodes, budget);
        match &verdict {
            Decision::Fits(layout) => {
                let value = self.book(layout.clone());
                debug_assert!(value.get() <= capacity);
            }
            Decision::Impossible => {
                self.raise(self.peaks.at_least(capacity + 1));
                self.engines.retain(|&c, _| c > capacity);
            }
            Decision::Stopped(_) => self.forget_between(),
        }
        verdict
    }

    /// Drops all searches except those at the lowest and the highest capacity. The dropped searches would
    /// rarely be resumed because the range of capacities changes.
    fn forget_between(&mut self) {
        while self.engines.len() > 2 {
            let between = *self.engines.keys().nth(1).expect("there are more than two engines");
            self.engines.remove(&between);
        }
    }

    fn raise(&mut self, value: u64) {
        self.raise_by(value, Witness::Search { solver: NAME.to_owned() });
    }

    fn raise_by(&mut self, value: u64, witness: Witness) {
        // No possible peak of a reduced layout lies below `value`. The best peak may, because the best layout
        // need not be reduced.
        let value = self.value().map_or(value, |best| value.min(best.get()));
        self.known.raise(LowerBound::new(Bytes::new(value), witness));
    }
}
