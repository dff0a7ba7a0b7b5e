//! The sections that are full except for a few wasted units, and the leaf of each buffer.

use crate::offsets::search::valley::Reduced;
use crate::pqtree::{Labels, Leaves, MOST_LEAVES};

/// Maximum number of live buffers at a step. The other leaves are reserved for holes and for buffers that
/// begin at the next step.
const MOST_LIVE: usize = 104;

/// The first and the last of a range of steps.
type Extent = (usize, usize);

/// A section that is full except for a few wasted units.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Index of the section.
    pub section: usize,
    /// The live buffers in ascending order.
    pub live: Vec<u32>,
    /// The leaves of the live buffers.
    pub leaves: Leaves,
    /// Number of wasted units: free units and holes.
    pub waste: usize,
    /// The first and the last step that a sweep from this step can reach.
    pub reach: Extent,
    /// The labels of the leaves, for a forward and for a backward sweep.
    labels: [Labels; 2],
}

impl Step {
    pub fn labels(&self, backwards: bool) -> &Labels {
        &self.labels[usize::from(backwards)]
    }
}

/// The steps of a sweep at one capacity.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub list: Vec<Step>,
    /// Leaf of each buffer that is live at some step.
    leaf: Vec<u8>,
    /// Size of each buffer.
    size: Vec<i64>,
    /// The first leaf that is reserved for holes.
    waste_from: usize,
    /// Maximum waste of a step.
    pub waste: usize,
}

impl Steps {
    /// Selects the sections whose load is at most `waste` units below the capacity, except those with too
    /// many live buffers. No sweep passes from one step to the next if there are too few leaves for the
    /// buffers of both. Returns `None` if there are fewer than two steps. If `alike` is false, no two buffers
    /// are interchangeable. The time is O(m log m) for sections with m live buffers in total.
    pub fn of(
        reduced: &Reduced,
        capacity: i64,
        (leaves, waste): (usize, usize),
        alike: bool,
    ) -> Option<Self> {
        // A step and its successor use different leaves for holes.
        let waste_from = leaves.checked_sub(2 * waste)?;
        let mut open: Vec<u32> = Vec::new();
        let mut kept: Vec<(usize, Vec<u32>)> = Vec::new();
        for s in 0..reduced.sections {
            open.retain(|&b| reduced.spans[b as usize].end as usize > s);
            let begin = reduced.first_at[s]..reduced.first_at[s + 1];
            open.extend(begin.filter(|&b| reduced.spans[b as usize].size > 0));
            let slack = capacity - reduced.load[s];
            if (0..=waste as i64).contains(&slack) && open.len() <= MOST_LIVE.min(waste_from) {
                kept.push((s, open.clone()));
            }
        }
        if kept.len() < 2 {
            return None;
        }
        let mut steps = Self {
            list: Vec::with_capacity(kept.len()),
            leaf: vec![0; reduced.len()],
            size: reduced.spans.iter().map(|span| span.size).collect(),
            waste_from,
            waste,
        };
        let (stays, reaches) = steps.assign(&kept);
        for ((section, live), reach) in kept.into_iter().zip(reaches) {
            let slack = (capacity - reduced.load[section]) as usize;
            let leaves = live.iter().fold(0, |all, &b| all | 1 << steps.leaf[b as usize]);
            let kinds = if alike { &live[..] } else { &[] };
            let labels = [false, true].map(|backwards| steps.label(kinds, &stays, reach, backwards));
            steps.list.push(Step { section, live, leaves, waste: slack, reach, labels });
        }
        Some(steps)
    }

    /// Assigns leaves to buffers. The live buffers of two neighbouring steps have different leaves, unless
    /// there are too few. Sweeps then end between these steps. Returns the first and the last step of each
    /// buffer, and [`Step::reach`] of each step.
    fn assign(&mut self, kept: &[(usize, Vec<u32>)]) -> (Vec<Extent>, Vec<Extent>) {
        let mut stays = vec![(usize::MAX, 0); self.leaf.len()];
        let all: Leaves = if self.waste_from == MOST_LEAVES { !0 } else { (1 << self.waste_from) - 1 };
        let taken = |leaf: &[u8], live: &[u32]| live.iter().fold(0, |all, &b| all | 1 << leaf[b as usize]);
        let mut reaches = Vec::with_capacity(kept.len());
        let mut from = 0;
        for (i, (_, live)) in kept.iter().enumerate() {
            let before = if i > from { &kept[i - 1].1[..] } else { &[] };
            let (old, new): (Vec<u32>, Vec<u32>) = live.iter().partition(|&&b| stays[b as usize].0 < i);
            let mut used: Leaves = taken(&self.leaf, before) | taken(&self.leaf, &old);
            if (used.count_ones() as usize) + new.len() > self.waste_from {
                reaches.resize(i, (from, i - 1));
                (from, used) = (i, taken(&self.leaf, &old));
            }
            for b in new {
                let free = all & !used;
                self.leaf[b as usize] = free.trailing_zeros() as u8;
                used |= free & free.wrapping_neg();
                stays[b as usize].0 = i;
            }
            for &b in live {
                stays[b as usize].1 = i;
            }
        }
        reaches.resize(kept.len(), (from, kept.len() - 1));
        (stays, reaches)
    }

    /// Returns the labels of the leaves of a step. Buffers of equal size are interchangeable for the rest of
    /// the sweep if they end at the same step, or after the last step that the sweep can reach. In a backward
    /// sweep, the same applies to their starts. Holes are also interchangeable.
    fn label(&self, live: &[u32], stays: &[Extent], reach: Extent, backwards: bool) -> Labels {
        let kind = |b: u32| {
            let (first, last) = stays[b as usize];
            (self.size[b as usize], if backwards { first.max(reach.0) } else { last.min(reach.1) })
        };
        let mut sorted: Vec<(i64, usize, u8)> = live
            .iter()
            .map(|&b| {
                let (size, end) = kind(b);
                (size, end, self.leaf[b as usize])
            })
            .collect();
        sorted.sort_unstable();
        let mut classes: Vec<Vec<u8>> = sorted
            .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
            .map(|class| class.iter().map(|&(_, _, leaf)| leaf).collect())
            .collect();
        classes.push((self.waste_from..MOST_LEAVES).map(|i| i as u8).collect());
        Labels::new(classes.iter().filter(|class| class.len() > 1).map(Vec::as_slice))
    }

    /// Returns true if a sweep from the first step can reach the last one.
    pub fn is_connected(&self) -> bool {
        self.list[0].reach.1 == self.list.len() - 1
    }

    /// Returns all steps from which a sweep can pass to another step, each with a flag for backward sweeps.
    pub fn starts(&self) -> impl Iterator<Item = (usize, bool)> {
        let goes = |&(at, backwards): &(usize, bool)| at != self.end(at, backwards);
        (0..self.list.len()).flat_map(|at| [(at, false), (at, true)]).filter(goes)
    }

    /// Returns the last step that a sweep from the step `from` can reach.
    pub fn end(&self, from: usize, backwards: bool) -> usize {
        let (first, last) = self.list[from].reach;
        if backwards { first } else { last }
    }

    pub fn leaf(&self, buffer: u32) -> Leaves {
        1 << self.leaf[buffer as usize]
    }

    pub fn leaf_of(&self, buffer: u32) -> u8 {
        self.leaf[buffer as usize]
    }

    pub fn size(&self, buffer: u32) -> i64 {
        self.size[buffer as usize]
    }

    /// Returns the leaves of all holes.
    pub fn all_holes(&self) -> Leaves {
        if self.waste == 0 { 0 } else { !0 << self.waste_from }
    }

    /// Returns the leaves of `count` holes of a step, or of the next step in the sweep if `new` is true.
    pub fn holes(&self, count: i64, new: bool) -> Leaves {
        let from = self.waste_from + if new { self.waste } else { 0 };
        (from..from + count as usize).fold(0, |all, leaf| all | 1 << leaf)
    }
}
