//! The unplaced buffers. A query returns the best one that fits between two walls.
//!
//! Buffers are grouped into classes by the binary logarithm of their duration, rounded down. A buffer that
//! fits into a valley of `w` ranks is in the class of duration `w` or in a lower one. Each class is a
//! segment tree over its buffers in order of their starts. A node stores the best score and the earliest
//! end among its descendants. With n buffers, removing a buffer is O(log n). A query is O(log n) per class,
//! plus the number of visited buffers that extend beyond the valley.

use crate::ranks::Ranks;

/// Number of additional classes of shorter buffers that are queried after a fitting buffer is found.
const CLASSES_BELOW: usize = 1;

#[derive(Clone, Debug, Default)]
struct Class {
    /// The first leaf at or after the start of each cell of `1 << magnitude` ranks.
    cells: Vec<u32>,
    lowers: Vec<u32>,
    ids: Vec<u32>,
    /// The tree of the best scores. The index of its first leaf is the number of buffers, and the score of a
    /// removed buffer is minus infinity.
    scores: Vec<f32>,
    /// The tree of the earliest ends.
    ends: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Candidates {
    classes: Vec<Class>,
    /// The leaf of every buffer in its class.
    leaf: Vec<u32>,
}

impl Candidates {
    /// Creates the structure with all buffers and their scores. O(n log n) for n buffers.
    pub(super) fn new(ranks: &Ranks, scores: &[f32]) -> Self {
        let mut ids: Vec<u32> = (0..scores.len() as u32).collect();
        ids.sort_unstable_by_key(|&id| (ranks.lower[id as usize], id));
        let mut classes = vec![Class::default(); 32];
        let mut leaf = vec![0u32; scores.len()];
        for id in ids {
            let class = &mut classes[ranks.duration(id as usize).ilog2() as usize];
            leaf[id as usize] = class.ids.len() as u32;
            class.ids.push(id);
            class.lowers.push(ranks.lower[id as usize]);
        }
        for (magnitude, class) in classes.iter_mut().enumerate() {
            class.prepare(magnitude, ranks, scores);
        }
        Self { classes, leaf }
    }

    pub(super) fn remove(&mut self, ranks: &Ranks, id: u32) {
        let class = &mut self.classes[ranks.duration(id as usize).ilog2() as usize];
        class.remove(self.leaf[id as usize] as usize);
    }

    /// Returns the buffer with the highest score among the longest ones that fit into `lower..upper`, or
    /// `None` if no buffer fits. The longest ones are those of the highest class with a buffer that fits, and
    /// of the [`CLASSES_BELOW`] classes below it.
    pub(super) fn best(&self, lower: u32, upper: u32) -> Option<u32> {
        let magnitude = (upper - lower).ilog2() as usize;
        let mut found: Option<(f32, u32)> = None;
        let mut last = 0;
        for at in (0..=magnitude).rev() {
            if found.is_some() && at < last {
                break;
            }
            let least = found.map_or(f32::NEG_INFINITY, |(score, _)| score);
            if let Some(better) = self.classes[at].best(at, lower, upper, least) {
                if found.is_none() {
                    last = at.saturating_sub(CLASSES_BELOW);
                }
                found = Some(better);
            }
        }
        found.map(|(_, id)| id)
    }
}

impl Class {
    fn prepare(&mut self, magnitude: usize, ranks: &Ranks, scores: &[f32]) {
        let n = self.ids.len();
        if n == 0 {
            return;
        }
        let cells = (ranks.count >> magnitude) as usize + 2;
        self.cells = vec![0; cells + 1];
        for &lower in &self.lowers {
            self.cells[(lower >> magnitude) as usize + 1] += 1;
        }
        for cell in 1..=cells {
            self.cells[cell] += self.cells[cell - 1];
        }
        self.scores = vec![f32::NEG_INFINITY; 2 * n];
        self.ends = vec![u32::MAX; 2 * n];
        for (at, &id) in self.ids.iter().enumerate() {
            self.scores[n + at] = scores[id as usize];
            self.ends[n + at] = ranks.upper[id as usize];
        }
        for node in (1..n).rev() {
            self.join(node);
        }
    }

    /// Recomputes a node and returns true if it changed.
    fn join(&mut self, node: usize) -> bool {
        let score = self.scores[2 * node].max(self.scores[2 * node + 1]);
        let end = self.ends[2 * node].min(self.ends[2 * node + 1]);
        let changed = end != self.ends[node] || score.total_cmp(&self.scores[node]).is_ne();
        (self.scores[node], self.ends[node]) = (score, end);
        changed
    }

    fn remove(&mut self, leaf: usize) {
        let mut node = leaf + self.ids.len();
        (self.scores[node], self.ends[node]) = (f32::NEG_INFINITY, u32::MAX);
        node /= 2;
        while node > 0 && self.join(node) {
            node /= 2;
        }
    }

    /// Returns the leaf of the first buffer that begins at or after `rank`.
    fn first(&self, magnitude: usize, rank: u32) -> usize {
        let cell = (rank >> magnitude) as usize;
        let (from, to) = (self.cells[cell] as usize, self.cells[cell + 1] as usize);
        from + self.lowers[from..to].partition_point(|&lower| lower < rank)
    }

    /// Returns the score and the id of the best buffer within `lower..upper` with a score above `least`.
    fn best(&self, magnitude: usize, lower: u32, upper: u32, least: f32) -> Option<(f32, u32)> {
        let n = self.ids.len();
        if n == 0 || self.scores[1] <= least {
            return None;
        }
        // Buffers of this class have at least `1 << magnitude` ranks. A buffer that begins at or after
        // `last` extends beyond `upper`.
        let last = upper + 1 - (1 << magnitude);
        let (mut left, mut right) = (n + self.first(magnitude, lower), n + self.first(magnitude, last));
        let mut found = (least, usize::MAX);
        while left < right {
            if left % 2 == 1 {
                self.visit(left, upper, &mut found);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                self.visit(right, upper, &mut found);
            }
            (left, right) = (left / 2, right / 2);
        }
        (found.1 != usize::MAX).then(|| (found.0, self.ids[found.1]))
    }

    fn visit(&self, node: usize, upper: u32, found: &mut (f32, usize)) {
        if self.scores[node] <= found.0 || self.ends[node] > upper {
            return;
        }
        let n = self.ids.len();
        if node >= n {
            *found = (self.scores[node], node - n);
            return;
        }
        let (a, b) = (2 * node, 2 * node + 1);
        let (first, second) = if self.scores[a] >= self.scores[b] { (a, b) } else { (b, a) };
        self.visit(first, upper, found);
        self.visit(second, upper, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{IntervalParams, LifeLaw, random_intervals};

    #[test]
    fn every_hit_fits_and_no_candidate_is_missed() {
        let lives = LifeLaw::LogUniform { steps: 200, max_duration: 200 };
        let params = IntervalParams { lives, ..IntervalParams::with_buffers(80) };
        for seed in 0..20 {
            let instance = random_intervals(params, seed).unwrap();
            let ranks = Ranks::of(&instance);
            let scores: Vec<f32> = (0..80u16).map(|i| f32::from(i * 37 % 80)).collect();
            let mut candidates = Candidates::new(&ranks, &scores);
            let mut gone = [false; 80];
            for round in 0..400u32 {
                let lower = round * 7919 % ranks.count;
                let upper = lower + 1 + round * 104_729 % (ranks.count - lower);
                let fits = |id: usize| !gone[id] && lower <= ranks.lower[id] && ranks.upper[id] <= upper;
                let best = candidates.best(lower, upper);
                assert_eq!(best.is_some(), (0..80).any(fits));
                if let Some(id) = best {
                    assert!(fits(id as usize));
                    if round % 3 == 0 {
                        candidates.remove(&ranks, id);
                        gone[id as usize] = true;
                    }
                }
            }
        }
    }
}
