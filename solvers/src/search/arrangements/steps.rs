//! The sections that are full except for a few wasted units, and the leaf of each buffer.

use crate::pqtree::{Labels, Leaves, MOST_LEAVES};
use crate::search::valley::Reduced;

/// Maximum number of live buffers at a step. The other leaves are reserved for holes and for buffers that
/// begin at the next step.
const MOST_LIVE: usize = 104;

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
    /// many live buffers. Returns `None` if there are fewer than two such sections or too few leaves. If
    /// `alike` is false, no two buffers are interchangeable. The time is O(m log m) for sections with m live
    /// buffers in total.
    pub fn of(reduced: &Reduced, capacity: i64, waste: usize, alike: bool) -> Option<Self> {
        // A step and its successor use different leaves for holes.
        let waste_from = MOST_LEAVES.checked_sub(2 * waste)?;
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
        let stays = steps.assign(&kept)?;
        for (section, live) in kept {
            let slack = (capacity - reduced.load[section]) as usize;
            let leaves = live.iter().fold(0, |all, &b| all | 1 << steps.leaf[b as usize]);
            let kinds = if alike { &live[..] } else { &[] };
            let labels = [false, true].map(|backwards| steps.label(kinds, &stays, backwards));
            steps.list.push(Step { section, live, leaves, waste: slack, labels });
        }
        Some(steps)
    }

    /// Assigns leaves to buffers. A leaf whose buffer ends at one step is reused two steps later at the
    /// earliest, so that two neighbouring steps never use it for different buffers. Returns the first and the
    /// last step of each buffer, or `None` if there are too few leaves.
    fn assign(&mut self, kept: &[(usize, Vec<u32>)]) -> Option<Vec<(u32, u32)>> {
        let mut stays = vec![(u32::MAX, 0); self.leaf.len()];
        for (i, (_, live)) in (0..).zip(kept) {
            for &b in live {
                let stay = &mut stays[b as usize];
                *stay = (stay.0.min(i), i);
            }
        }
        let mut free: Leaves = if self.waste_from == MOST_LEAVES { !0 } else { (1 << self.waste_from) - 1 };
        for i in 0..kept.len() {
            if i >= 2 {
                for &b in &kept[i - 2].1 {
                    if stays[b as usize].1 as usize == i - 2 {
                        free |= 1 << self.leaf[b as usize];
                    }
                }
            }
            for &b in &kept[i].1 {
                if stays[b as usize].0 as usize == i {
                    if free == 0 {
                        return None;
                    }
                    self.leaf[b as usize] = free.trailing_zeros() as u8;
                    free &= free - 1;
                }
            }
        }
        Some(stays)
    }

    /// Returns the labels of the leaves of a step. Buffers of equal size that end at the same step are
    /// interchangeable for the rest of the sweep. In a backward sweep, they must begin at the same step.
    /// Holes are also interchangeable.
    fn label(&self, live: &[u32], stays: &[(u32, u32)], backwards: bool) -> Labels {
        let kind = |b: u32| {
            let (first, last) = stays[b as usize];
            (self.size[b as usize], if backwards { first } else { last })
        };
        let mut sorted: Vec<(i64, u32, u8)> = live
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
