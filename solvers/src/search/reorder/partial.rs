//! A partial layout as an order of the placed buffers, in which every buffer can move.

use crate::search::valley::{Reduced, Span};
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;

/// Maximum fraction by which the cost of an offset is increased at random.
const NOISE: f64 = 1.0;

/// The placed buffers from bottom to top, and the range of offsets of each.
///
/// If two placed buffers conflict, the earlier one lies below the later one. The `floor` of a buffer is its
/// lowest offset if all buffers below it lie as low as possible. Its `ceiling` is its highest offset if all
/// buffers above it lie as high as possible and end at or below the target.
#[derive(Clone, Debug)]
pub(super) struct Partial<'a> {
    pub reduced: &'a Reduced,
    sizes: Vec<i32>,
    /// The conflicting buffers of each buffer.
    conflicts: Vec<Vec<u32>>,
    /// The highest end that a buffer may have.
    pub target: i32,
    /// The placed buffers. Conflicting buffers are in ascending order of offset.
    order: Vec<u32>,
    placed: Vec<bool>,
    floor: Vec<i32>,
    ceiling: Vec<i32>,
    /// Per section: while floors are computed, the top of the buffers below; while ceilings are computed,
    /// the bottom of the buffers above.
    tops: Vec<i32>,
    /// Offsets of a candidate position, each with the cost of removing a conflicting buffer. The buffer is in
    /// the way above its offset in `begins` and below its offset in `ends`.
    ends: Vec<(i32, f64)>,
    begins: Vec<(i32, f64)>,
}

impl<'a> Partial<'a> {
    /// Creates a partial layout without buffers. The time is O(n + c) for n buffers and c conflicts.
    pub fn new(reduced: &'a Reduced) -> Self {
        let n = reduced.len();
        let mut conflicts: Vec<Vec<u32>> = vec![Vec::new(); n];
        // Buffers are sorted by start.
        for (b, span) in reduced.spans.iter().enumerate().filter(|(_, span)| span.size > 0) {
            let before = b + 1..reduced.first_at[span.end as usize] as usize;
            for other in before.filter(|&other| reduced.spans[other].size > 0) {
                conflicts[b].push(other as u32);
                conflicts[other].push(b as u32);
            }
        }
        Self {
            reduced,
            sizes: reduced.spans.iter().map(|span| span.size as i32).collect(),
            conflicts,
            target: 0,
            order: Vec::with_capacity(n),
            placed: vec![false; n],
            floor: vec![0; n],
            ceiling: vec![0; n],
            tops: vec![0; reduced.sections],
            ends: Vec::new(),
            begins: Vec::new(),
        }
    }

    /// Returns the lowest offset of each placed buffer.
    pub fn floors(&self) -> &[i32] {
        &self.floor
    }

    /// Returns the peak if all placed buffers lie at their lowest offsets.
    pub fn peak(&self) -> i32 {
        self.order.iter().map(|&b| self.end(b as usize)).max().unwrap_or(0)
    }

    fn end(&self, b: usize) -> i32 {
        self.floor[b] + self.sizes[b]
    }

    /// Places all buffers in ascending order of the given offsets. Buffers of size 0 are omitted.
    pub fn restore(&mut self, offsets: &[i32]) {
        self.order.clear();
        self.order.extend((0..offsets.len() as u32).filter(|&b| self.sizes[b as usize] > 0));
        self.order.sort_by_key(|&b| offsets[b as usize]);
        self.placed.fill(true);
        self.refresh(0, self.order.len(), (0, self.reduced.sections as u32));
    }

    /// Draws three placed buffers at random whose floors exceed their ceilings, and returns the buffer with
    /// the lowest weight. Returns `None` if there is no such buffer.
    pub fn excess(&self, weight: &[f64], rng: &mut Xoshiro256PlusPlus) -> Option<u32> {
        let over = |&b: &u32| self.floor[b as usize] > self.ceiling[b as usize];
        let all: Vec<u32> = self.order.iter().copied().filter(over).collect();
        let draws = [(); 3].map(|()| rng.random_range(0..all.len().max(1)));
        let drawn = draws.into_iter().filter_map(|at| all.get(at).copied());
        drawn.min_by(|&a, &b| weight[a as usize].total_cmp(&weight[b as usize]))
    }

    /// Removes a placed buffer.
    pub fn remove(&mut self, b: u32) {
        self.order.retain(|&other| other != b);
        self.placed[b as usize] = false;
        let Span { start, end, .. } = self.reduced.spans[b as usize];
        self.refresh(0, self.order.len(), (start, end));
    }

    /// Inserts a buffer at the offset where the removal of the buffers in its way costs least, and appends
    /// the removed buffers to `removed`. `cost` returns the cost of a buffer.
    pub fn insert(
        &mut self,
        b: u32,
        cost: impl Fn(u32) -> f64,
        rng: &mut Xoshiro256PlusPlus,
        removed: &mut Vec<u32>,
    ) {
        let offset = self.place(b, cost, rng);
        let (x, highest) = (b as usize, offset + self.sizes[b as usize]);
        let before = removed.len();
        let Span { start, end, .. } = self.reduced.spans[x];
        let mut changed = (start, end);
        for &other in &self.conflicts[x] {
            let at = other as usize;
            if self.placed[at] && self.floor[at] + self.sizes[at] > offset && self.ceiling[at] < highest {
                self.placed[at] = false;
                removed.push(other);
                let Span { start, end, .. } = self.reduced.spans[at];
                changed = (changed.0.min(start), changed.1.max(end));
            }
        }
        // Buffers that end at or below the offset come first, as do all buffers below them.
        let (mut order, mut above) = (Vec::with_capacity(self.order.len() + 1), Vec::new());
        for &other in &self.order {
            if self.placed[other as usize] {
                let low = self.end(other as usize) <= offset;
                if low { &mut order } else { &mut above }.push(other);
            }
        }
        let at = order.len();
        order.push(b);
        order.append(&mut above);
        self.placed[x] = true;
        self.order = order;
        // Only removed buffers can have limited the ceilings of buffers after the new one.
        let until = if removed.len() > before { self.order.len() } else { at + 1 };
        self.refresh(at, until, changed);
    }

    /// Returns the offset for a buffer at which the removal of the buffers in its way costs least. Of several
    /// offsets without cost, chooses the start of the shortest range of such offsets.
    ///
    /// Suppose that the buffer begins at some offset. Conflicting buffers that can end at or below this
    /// offset go below the new buffer. Those that can begin at or above its end go above it. All others are
    /// in the way.
    fn place(&mut self, b: u32, cost: impl Fn(u32) -> f64, rng: &mut Xoshiro256PlusPlus) -> i32 {
        let own = self.sizes[b as usize];
        let (mut sum, mut count) = (0.0, 0);
        self.ends.clear();
        self.begins.clear();
        for &other in &self.conflicts[b as usize] {
            let at = other as usize;
            if !self.placed[at] {
                continue;
            }
            // The other buffer is in the way of offsets above `low` and below `end`.
            let (low, end) = (self.ceiling[at] - own, self.floor[at] + self.sizes[at]);
            if low >= end {
                self.ends.push((end, 0.0));
                continue;
            }
            let cost = cost(other);
            self.ends.push((end, cost));
            if low < 0 {
                (sum, count) = (sum + cost, count + 1);
            } else {
                self.begins.push((low, cost));
            }
        }
        self.ends.sort_unstable_by_key(|&(at, _)| at);
        self.begins.sort_unstable_by_key(|&(at, _)| at);
        let highest = self.target - own;
        let (mut ended, mut begun, mut offset) = (0, 0, 0);
        let mut tightest: Option<(i32, i32)> = None;
        let mut best: Option<(f64, i32)> = None;
        while offset <= highest {
            while let Some(&(_, cost)) = self.ends.get(ended).filter(|end| end.0 <= offset) {
                if cost > 0.0 {
                    (sum, count) = (sum - cost, count - 1);
                }
                ended += 1;
            }
            while let Some(&(_, cost)) = self.begins.get(begun).filter(|begin| begin.0 < offset) {
                (sum, count, begun) = (sum + cost, count + 1, begun + 1);
            }
            if count == 0 {
                let next = self.begins.get(begun).map_or(highest, |begin| begin.0.min(highest));
                if tightest.is_none_or(|(space, _)| next - offset < space) {
                    tightest = Some((next - offset, offset));
                }
            } else if tightest.is_none() {
                let cost = sum.max(0.0) * (1.0 + NOISE * rng.random::<f64>());
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, offset));
                }
            }
            match self.ends.get(ended) {
                Some(&(end, _)) => offset = end,
                None => break,
            }
        }
        tightest.map(|found| found.1).or(best.map(|found| found.1)).expect("the target is at least the load")
    }

    /// Updates the floors of the buffers from position `from` of the order onwards, and the ceilings of those
    /// before position `until`. `changed` contains the first section in which buffers were placed or removed,
    /// and the section after the last. All other buffers keep their floors and ceilings unless a change
    /// propagates to them. The time is O(n + m) for n placed buffers and sections with m live buffers in
    /// total.
    fn refresh(&mut self, from: usize, until: usize, changed: (u32, u32)) {
        let overlaps = |(first, last): (u32, u32), span: Span| span.start < last && first < span.end;
        let joined = |(first, last): (u32, u32), span: Span| (first.min(span.start), last.max(span.end));
        let mut reach = changed;
        self.tops.fill(0);
        for (at, &b) in self.order.iter().enumerate() {
            let (b, span) = (b as usize, self.reduced.spans[b as usize]);
            let tops = &mut self.tops[span.start as usize..span.end as usize];
            if at >= from && overlaps(reach, span) {
                let floor = tops.iter().fold(0, |most, &top| most.max(top));
                if floor != self.floor[b] {
                    self.floor[b] = floor;
                    reach = joined(reach, span);
                }
            }
            tops.fill(self.floor[b] + self.sizes[b]);
        }
        let mut reach = changed;
        self.tops.fill(self.target);
        for (at, &b) in self.order.iter().enumerate().rev() {
            let (b, span) = (b as usize, self.reduced.spans[b as usize]);
            let tops = &mut self.tops[span.start as usize..span.end as usize];
            if at < until && overlaps(reach, span) {
                let least = tops.iter().fold(i32::MAX, |least, &top| least.min(top));
                if least - self.sizes[b] != self.ceiling[b] {
                    self.ceiling[b] = least - self.sizes[b];
                    reach = joined(reach, span);
                }
            }
            tops.fill(self.ceiling[b]);
        }
    }
}

#[cfg(test)]
impl Partial<'_> {
    /// Returns true if recomputing all floors and ceilings changes nothing, and no floor exceeds its ceiling.
    pub fn is_up_to_date(&self) -> bool {
        let mut other = self.clone();
        other.refresh(0, other.order.len(), (0, self.reduced.sections as u32));
        self.order.iter().all(|&b| {
            let b = b as usize;
            (self.floor[b], self.ceiling[b]) == (other.floor[b], other.ceiling[b])
                && self.floor[b] <= self.ceiling[b]
        })
    }
}
