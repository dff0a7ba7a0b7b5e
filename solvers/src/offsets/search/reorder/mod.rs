//! Ejection search over orders, which lowers the peaks of layouts of tight instances.
//!
//! # Definition
//!
//! A partial layout is an order of the placed buffers. It determines only which of two conflicting buffers is
//! lower. At a *target* below the best peak, every placed buffer has a lowest and a highest offset, just as a
//! task of a schedule has an earliest and a latest start. When a buffer is inserted at an offset, the buffers
//! that can end at or below this offset go below the new buffer. Those that can begin at or above its end go
//! above it. All other conflicting buffers are ejected. Placed buffers thus move out of the way if they can,
//! whereas the ejection search of `plimsoll-heuristics` ejects every buffer that is in the way.
//!
//! ```text
//!  target ─ ─ ┌───┐ ─ ─       ┌───┐      c can move up and a can move down, so b fits between them
//!             │ c │           │ c │      although the free addresses are divided.
//!             └───┘   ┌───┐   ├───┤
//!             ┌───┐   │ b │   │ b │
//!             │ a │   └───┘   ├───┤
//!             └───┘           │ a │
//!  ground ─ ─ ─ ─ ─ ─ ─ ─ ─   └───┘
//! ```
//!
//! The search removes buffers until the others fit below the target. Removed and ejected buffers are
//! *pending*. The search then repeatedly inserts one of the larger pending buffers at the offset where the
//! ejected buffers cost least. If no buffer must be ejected at several offsets, it chooses the one that adds
//! least to the holes between buffers. On long instances, it chooses among those that start first, so that it
//! completes one period of time before it turns to the next. If many periods were packed at once, their
//! layouts would rarely agree. The cost of a buffer is the square root of its area times its penalty, with
//! random noise. The penalty of a buffer grows whenever it ejects others, so neighbours do not eject each
//! other forever. If no buffer is pending, the lowest offsets form a layout, and the target falls. After a
//! number of insertions without success, the search abandons the target and sets the next one closer to the
//! best peak.
//!
//! On long instances, the next attempt has twice as many insertions and starts from the best layout. On all
//! others, the success of an attempt depends more on how it begins than on its length:
//!
//! - Buffers that fill a rectangle in a layout are often well placed relative to each other. Each attempt
//!   joins many of them to *clusters*, at random, and moves clusters as if they were buffers (`coarse.rs`).
//! - An attempt places the clusters with the smallest areas last, since they fit into many holes.
//! - The numbers of insertions follow Luby's sequence, so that most attempts are short.
//! - After a failure, the search raises the target slightly above the best peak, and goes on. The next
//!   attempts start from the layout that it finds. If it fails again, they start from the best layout.
//! - If the peak has not fallen for long, the search begins a new *descent*: it removes almost a third of the
//!   clusters of the best layout at random, and places them again below a target above the best peak. The
//!   attempts of the descent go on from the layout that it finds, until any thread finds a new best layout.
//!
//! ```text
//!  ┌───┬───────┐        ┌───────────┐     c follows b with the same size, and both cover the lifespan of a:
//!  │ b │   c   │        │           │     three buffers become a cluster.
//!  ├───┴───────┤   →    │  a, b, c  │
//!  │     a     │        │           │
//!  └───────────┘        └───────────┘
//! ```
//!
//! # Invariants
//!
//! - In every partial layout, the lowest offset of a buffer is at most its highest offset, so the placed
//!   buffers at their lowest offsets are a layout within the target. An insertion preserves this: in the new
//!   order, the inserted buffer can lie at or below the chosen offset, and every buffer above it can lie at
//!   or above its end.
//! - If a buffer can end at or below an offset, so can all buffers below it. The new order therefore has no
//!   cycle.
//! - A cluster is a rectangle in the layout from which an attempt starts, so this layout is also a layout of
//!   the clusters. Any layout of the clusters gives a layout of the buffers with the same peak.
//! - The same seed, number of threads and node limit give the same layouts.
//!
//! # Complexity
//!
//! An insertion takes O(d (log d + s)) time for d conflicting buffers that share at most s sections with the
//! new one. It then visits only buffers that can move, in O((k + r) log k) time for k such buffers with r
//! neighbours above or below. An attempt with new clusters begins in O(n h + c) time for n buffers, c
//! conflicts, and clusters that are nested h deep. Memory is linear in the number of conflicts.
//!
//! **Source.** This project. Ejections with penalties follow Nagata, Braysy 2009. Earliest and latest starts
//! follow local search for the job-shop problem (Nowicki, Smutnicki 1996), and clusters multilevel refinement
//! (Walshaw 2004).

mod coarse;
mod contacts;
mod partial;

use crate::offsets::search::portfolio::on_threads;
use crate::offsets::search::tree::luby;
use crate::offsets::search::valley::{Reduced, Span, lifespans};
use coarse::{Cluster, coarsen};
use partial::Partial;
use plimsoll_model::Budget;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Distance of the first target from the peak, as a fraction of the distance from the peak to the bound.
const STEP: f64 = 0.3;

/// Number of insertions per buffer after which the first target is abandoned, on instances that are not
/// long. The numbers for all targets are multiples of it.
const PATIENCE: u64 = 30;

/// Number of insertions per buffer after which the first target is abandoned on long instances. Each failure
/// doubles it.
const LONG_PATIENCE: u64 = 100;

/// Distance by which the target exceeds the best peak after a failed attempt, as a fraction of the distance
/// from the peak to the bound.
const RISE: f64 = 0.05;

/// A descent ends after this number of insertions per buffer without a lower peak, but not before this
/// fraction of the insertions that led to its lowest peak.
const STALE: u64 = 300;
const STALE_SHARE: f64 = 0.3;

/// Share of the clusters that are removed at the start of a new descent, at random.
const DISTURBED: f64 = 0.3;

/// Distance by which the first target of a new descent exceeds the best peak, as a fraction of the distance
/// from the peak to the bound.
const DISTURBED_RISE: f64 = 0.1;

/// The clusters that are placed last have at most this fraction of the total area.
const LAST: f64 = 1.0 / 64.0;

/// Number of insertions per thread after which a better layout is returned, and adopted by all threads in the
/// next call.
const EXCHANGE: u64 = 20_000;

/// Factor by which the penalty of a buffer grows when it ejects others, and the penalty at which all of them
/// are scaled down.
const GROWTH: f64 = 1.003;
const MOST_PENALTY: f64 = 1e100;

/// Number of pending buffers that are drawn at random. The largest of them is inserted next.
const DRAWS: usize = 4;

/// An instance is long if it has more than this number of sections per live buffer of an average section.
const LONG: usize = 16;

/// On long instances, the search chooses among the pending buffers that start at most this number of sections
/// after the first one.
const AHEAD: u32 = 8;

/// On long instances, one of this number of choices is made as on other instances. Otherwise, the search
/// could return to the same partial layouts forever.
const RARE: u32 = 16;

/// Limits on instances: the live buffers of all sections in total, the conflicts, and the peak in units.
const MOST_LIVE: usize = 100_000;
const MOST_CONFLICTS: usize = 2_000_000;
const MOST_UNITS: i64 = 1 << 29;

/// Ejection searches over orders, one per thread.
#[derive(Debug)]
pub(super) struct Reorder<'a> {
    reduced: &'a Reduced,
    seeds: Vec<u64>,
    searches: Vec<Search<'a>>,
}

impl<'a> Reorder<'a> {
    /// Prepares the searches in O(n) for n buffers. Returns `None` if the instance is too large, or if its
    /// load is not flat, since other methods are then better.
    pub fn new(reduced: &'a Reduced, seeds: impl Iterator<Item = u64>) -> Option<Self> {
        let spans = || reduced.spans.iter().enumerate().filter(|(_, span)| span.size > 0);
        let live: usize = spans().map(|(_, span)| (span.end - span.start) as usize).sum();
        let conflicts: usize =
            spans().map(|(b, span)| reduced.first_at[span.end as usize] as usize - b).sum();
        let small = live <= MOST_LIVE && conflicts <= MOST_CONFLICTS;
        let own = Self { reduced, seeds: seeds.collect(), searches: Vec::new() };
        (small && reduced.is_flat()).then_some(own)
    }

    /// Searches for a layout with a lower peak than the best one. The threads share `nodes` nodes of the
    /// budget. `low` is a lower bound on the peak, and `best` contains the offsets of the best layout, both
    /// in units. Returns the offsets of a better layout soon after one is found, without using all nodes.
    pub fn improve(&mut self, low: i64, best: &[i64], nodes: u64, budget: &mut Budget) -> Option<Vec<i64>> {
        let end = |(offset, span): (&i64, &Span)| offset + span.size;
        let peak = best.iter().zip(&self.reduced.spans).map(end).max()?;
        let low = low.max(self.reduced.highest_load());
        if peak > MOST_UNITS || low >= peak {
            return None;
        }
        if self.searches.is_empty() {
            self.searches = self.seeds.iter().map(|&seed| Search::new(self.reduced, seed)).collect();
        }
        let threads = self.searches.len() as u64;
        let mut left = budget.nodes_left().map_or(nodes, |left| left.min(nodes)) / threads;
        let known: Vec<i32> = best.iter().map(|&offset| offset as i32).collect();
        while left > 0 && budget.check().is_none() {
            let each = left.min(EXCHANGE);
            left -= each;
            budget.spend(self.run(low as i32, (&known, peak as i32), each, budget));
            let first = self.searches.iter().min_by_key(|search| search.peak)?;
            if i64::from(first.peak) < peak {
                return Some(first.best.iter().map(|&offset| i64::from(offset)).collect());
            }
        }
        None
    }

    /// Runs every search for at most `each` nodes, after it has adopted a known layout. Returns the total
    /// number of nodes.
    fn run(&mut self, low: i32, (known, peak): (&[i32], i32), each: u64, budget: &Budget) -> u64 {
        let run = |search: &mut Search<'a>| {
            let mut part = budget.part(Some(each), None);
            search.adopt(known, peak);
            search.run(low, &mut part);
            part.nodes()
        };
        on_threads(self.searches.iter_mut(), run).into_iter().sum()
    }
}

/// One ejection search, which can be interrupted at any insertion.
#[derive(Debug)]
struct Search<'a> {
    reduced: &'a Reduced,
    rng: Xoshiro256PlusPlus,
    /// What the search inserts and ejects instead of single buffers.
    clusters: Vec<Cluster>,
    partial: Partial,
    /// The square root of the area of each cluster, and the factor for the cost of ejecting it.
    weight: Vec<f64>,
    penalty: Vec<f64>,
    /// Whether pending clusters that start early are inserted first.
    long: bool,
    /// The offset of each buffer in the best layout, in units, and its peak.
    best: Vec<i32>,
    peak: i32,
    /// The offset of each buffer in the best layout of the current descent, and its peak. The first descent
    /// starts from the best known layout, later ones from disturbed layouts.
    home: Vec<i32>,
    height: i32,
    /// The offset of each buffer in the layout from which the next attempt starts.
    start: Vec<i32>,
    pending: Vec<u32>,
    /// Small clusters that become pending when no others are.
    last: Vec<u32>,
    /// True while the search tries to meet a target.
    begun: bool,
    step: f64,
    /// Number of insertions at this target, and the number after which the target is abandoned.
    tries: u64,
    patience: u64,
    /// Number of failures, of insertions, and of insertions until the lowest peak in the current descent.
    failures: u64,
    spent: u64,
    gained: u64,
}

impl<'a> Search<'a> {
    fn new(reduced: &'a Reduced, seed: u64) -> Self {
        let long = reduced.sections * reduced.sections > LONG * lifespans(&reduced.spans);
        Self {
            reduced,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            clusters: Vec::new(),
            partial: Partial::new([].into()),
            weight: Vec::new(),
            penalty: Vec::new(),
            long,
            best: Vec::new(),
            peak: i32::MAX,
            home: Vec::new(),
            height: i32::MAX,
            start: Vec::new(),
            pending: Vec::new(),
            last: Vec::new(),
            begun: false,
            step: STEP,
            tries: 0,
            patience: if long { LONG_PATIENCE } else { PATIENCE } * reduced.len() as u64,
            failures: 0,
            spent: 0,
            gained: 0,
        }
    }

    /// Adopts a layout as the best one if its peak is lower.
    fn adopt(&mut self, offsets: &[i32], peak: i32) {
        if peak < self.peak {
            // An attempt at a still lower target goes on.
            self.begun &= self.partial.target < peak;
            self.best = offsets.to_vec();
            self.home.clone_from(&self.best);
            self.start.clone_from(&self.best);
            (self.peak, self.height, self.gained) = (peak, peak, self.spent);
        }
    }

    /// Searches until the peak is `low`, or the budget runs out.
    fn run(&mut self, low: i32, budget: &mut Budget) {
        self.begun &= self.partial.target >= low;
        while self.peak > low {
            if !self.begun {
                self.begin(low);
            }
            // Removals before the first insertion also count as nodes.
            while let Some(b) = self.partial.excess(&self.weight, &mut self.rng) {
                if budget.tick().is_some() {
                    return;
                }
                self.partial.remove(b);
                self.pending.push(b);
            }
            while let Some(b) = self.next() {
                self.tries += 1;
                self.spent += 1;
                if self.tries > self.patience {
                    self.pending.push(b);
                    self.fail(low);
                    break;
                }
                let (weight, penalty, before) = (&self.weight, &self.penalty, self.pending.len());
                let cost = |b: u32| weight[b as usize] * penalty[b as usize];
                self.partial.insert(b, cost, &mut self.rng, &mut self.pending);
                if self.pending.len() > before {
                    self.penalise(b);
                }
                if budget.tick().is_some() {
                    return;
                }
            }
            if self.begun && self.pending.is_empty() {
                self.succeed();
            }
        }
    }

    /// Adopts the complete layout as the start of the next attempts and, if its peak is lower, as the best
    /// one of the descent, or of all.
    fn succeed(&mut self) {
        self.begun = false;
        for (cluster, offset) in self.clusters.iter().zip(self.partial.floors()) {
            for &(b, distance) in &cluster.parts {
                self.start[b as usize] = offset + distance;
            }
        }
        let peak = self.partial.peak();
        if peak < self.height {
            self.height = peak;
            self.home.clone_from(&self.start);
            self.gained = self.spent;
        }
        if peak < self.peak {
            self.peak = peak;
            self.best.clone_from(&self.start);
        }
    }

    /// Abandons the target. If it is below the peak of the descent and the instance is not long, the attempt
    /// goes on with a target slightly above this peak. Begins a new descent if this one is stale.
    fn fail(&mut self, low: i32) {
        self.failures += 1;
        if !self.long && self.is_stale() {
            return self.disturb(low);
        }
        let below = self.partial.target < self.height;
        if below {
            self.step /= 2.0;
        }
        if self.long {
            self.patience *= 2;
        } else {
            self.patience = PATIENCE * self.reduced.len() as u64 * luby(self.failures);
        }
        self.begun = below && !self.long;
        if self.begun {
            let up = f64::from(self.height - low) * RISE;
            self.partial.retarget(self.height + up as i32);
            self.tries = 0;
        } else {
            self.start.clone_from(&self.home);
        }
    }

    /// Returns true if the descent should end. It may go on for longer if it has had success until late.
    fn is_stale(&self) -> bool {
        let least = STALE * self.reduced.len() as u64;
        self.spent - self.gained > least.max((STALE_SHARE * self.gained as f64) as u64)
    }

    /// Begins a new descent, from the best layout without some of its clusters.
    fn disturb(&mut self, low: i32) {
        self.home.clone_from(&self.best);
        self.start.clone_from(&self.best);
        (self.step, self.failures, self.spent, self.gained) = (STEP, 0, 0, 0);
        self.patience = PATIENCE * self.reduced.len() as u64;
        self.penalty.fill(1.0);
        let target = self.peak + (f64::from(self.peak - low) * DISTURBED_RISE) as i32;
        self.height = target + 1;
        self.restart(target);
        self.remove_some();
    }

    /// Raises the penalty of a buffer that has ejected others.
    fn penalise(&mut self, b: u32) {
        let penalty = &mut self.penalty[b as usize];
        *penalty *= GROWTH;
        if *penalty > MOST_PENALTY {
            for penalty in &mut self.penalty {
                *penalty = (*penalty / MOST_PENALTY).max(1.0 / MOST_PENALTY);
            }
        }
    }

    /// Begins an attempt at a target below the peak of the descent.
    fn begin(&mut self, low: i32) {
        let down = (f64::from(self.height - low) * self.step) as i32;
        self.restart(self.height - down.max(1));
    }

    /// Restores the layout from which attempts start, and sets a target.
    fn restart(&mut self, target: i32) {
        if self.clusters.is_empty() || !self.long {
            self.coarsen();
        }
        self.partial.target = target;
        let offsets: Vec<i32> = self.clusters.iter().map(|cluster| cluster.offset(&self.start)).collect();
        self.partial.restore(&offsets);
        self.pending.clear();
        self.last.clear();
        if !self.long {
            self.set_aside();
        }
        (self.begun, self.tries) = (true, 0);
    }

    /// Removes some clusters at random, except those that are placed last.
    fn remove_some(&mut self) {
        for b in 0..self.clusters.len() as u32 {
            let kept = self.weight[b as usize] == 0.0 || self.last.contains(&b);
            if !kept && self.rng.random_bool(DISTURBED) {
                self.partial.remove(b);
                self.pending.push(b);
            }
        }
    }

    /// Removes the clusters that are placed last.
    fn set_aside(&mut self) {
        let sized = |b: &u32| self.weight[*b as usize] > 0.0;
        let area = |b: u32| self.weight[b as usize].powi(2);
        let mut order: Vec<u32> = (0..self.clusters.len() as u32).filter(sized).collect();
        order.sort_by(|&a, &b| area(a).total_cmp(&area(b)));
        let mut left = LAST * order.iter().map(|&b| area(b)).sum::<f64>();
        for b in order {
            left -= area(b);
            if left < 0.0 {
                break;
            }
            self.partial.remove(b);
            self.last.push(b);
        }
    }

    /// Replaces the clusters by those of the layout from which attempts start. On long instances, every
    /// buffer is a cluster. The penalty of a cluster is the largest of its buffers.
    fn coarsen(&mut self) {
        let mut known = vec![1.0; self.reduced.len()];
        for (cluster, &penalty) in self.clusters.iter().zip(&self.penalty) {
            cluster.parts.iter().for_each(|&(b, _)| known[b as usize] = penalty);
        }
        let chance = if self.long { 0.0 } else { self.rng.random::<f64>().cbrt() };
        self.clusters = coarsen(&self.reduced.spans, &self.start, chance, &mut self.rng);
        let largest =
            |cluster: &Cluster| cluster.parts.iter().map(|&(b, _)| known[b as usize]).fold(0.0, f64::max);
        self.penalty = self.clusters.iter().map(largest).collect();
        let area = |span: &Span| span.size as f64 * f64::from(span.end - span.start);
        self.weight = self.clusters.iter().map(|cluster| area(&cluster.span).sqrt()).collect();
        self.partial = Partial::new(self.clusters.iter().map(|cluster| cluster.span).collect());
    }

    /// Removes and returns one of the larger pending clusters.
    fn next(&mut self) -> Option<u32> {
        if self.pending.is_empty() {
            self.pending.append(&mut self.last);
        }
        let early = self.long && !self.rng.random_ratio(1, RARE);
        let at = if early { self.early() } else { self.drawn() }?;
        Some(self.pending.swap_remove(at))
    }

    /// Returns the index of a large pending buffer among those that start first. Sizes are compared with
    /// random noise.
    fn early(&mut self) -> Option<usize> {
        let start = |b: u32| self.partial.spans[b as usize].start;
        let until = self.pending.iter().map(|&b| start(b)).min()? + AHEAD;
        let mut chosen: Option<(f64, usize)> = None;
        for (at, &b) in self.pending.iter().enumerate().filter(|(_, b)| start(**b) <= until) {
            let weight = self.weight[b as usize] * (1.0 + self.rng.random::<f64>());
            if chosen.is_none_or(|(most, _)| weight > most) {
                chosen = Some((weight, at));
            }
        }
        chosen.map(|(_, at)| at)
    }

    /// Returns the index of the largest of some pending buffers that are drawn at random.
    fn drawn(&mut self) -> Option<usize> {
        let count = self.pending.len();
        let mut chosen = self.rng.random_range(0..count.max(1));
        for _ in 1..DRAWS.min(count) {
            let other = self.rng.random_range(0..count);
            if self.weight[self.pending[other] as usize] > self.weight[self.pending[chosen] as usize] {
                chosen = other;
            }
        }
        (count > 0).then_some(chosen)
    }
}

#[cfg(test)]
mod tests;
