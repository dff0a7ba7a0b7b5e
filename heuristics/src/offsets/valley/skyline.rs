//! The upper edge of the placed buffers. It is a step function of time, stored as a linked list of segments.

use crate::ranks::Ranks;
use std::collections::BinaryHeap;

/// The height of the walls before the first rank and after the last one.
const BORDER: u64 = u64::MAX;

/// A segment and the heights of its neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The first rank of the segment.
    pub lower: u32,
    /// The first rank after the segment.
    pub upper: u32,
    /// The height of the segment, in bytes.
    pub floor: u64,
    left: u64,
    right: u64,
}

/// A list of segments of constant height. Neighbours differ in height. Every operation except
/// [`Skyline::descend`] is O(1). A descent visits only segments of decreasing height.
#[derive(Clone, Debug)]
pub(crate) struct Skyline {
    /// The height of every segment. This and the next two lists are indexed by the first rank of a segment.
    /// Entries at other ranks are meaningless.
    height: Vec<u64>,
    end: Vec<u32>,
    before: Vec<u32>,
    count: u32,
}

impl Skyline {
    /// Creates a skyline from the height at every rank. There must be at least one rank.
    pub(crate) fn over(heights: &[u64]) -> Self {
        let len = heights.len();
        let (height, end, before) = (vec![0; len], vec![0; len], vec![0; len]);
        let mut skyline = Self { height, end, before, count: len as u32 };
        let mut begin = 0;
        for run in heights.chunk_by(|a, b| a == b) {
            let end = begin + run.len() as u32;
            skyline.set(begin, end, run[0]);
            begin = end;
        }
        skyline
    }

    fn at(&self, lower: u32) -> Segment {
        let (upper, floor) = (self.end[lower as usize], self.height[lower as usize]);
        let left = if lower == 0 { BORDER } else { self.height[self.before[lower as usize] as usize] };
        let right = if upper == self.count { BORDER } else { self.height[upper as usize] };
        Segment { lower, upper, floor, left, right }
    }

    /// Descends from the segment that begins at `lower` to a *valley*, which is a segment without a lower
    /// neighbour.
    pub(crate) fn descend(&self, lower: u32) -> Segment {
        let mut segment = self.at(lower);
        loop {
            let next = if segment.left.min(segment.right) > segment.floor {
                return segment;
            } else if segment.left <= segment.right {
                self.before[segment.lower as usize]
            } else {
                segment.upper
            };
            segment = self.at(next);
        }
    }

    /// Raises a valley to its lower wall and returns the start of the resulting segment. Returns `None` if
    /// there is no wall.
    pub(crate) fn raise(&mut self, valley: Segment) -> Option<u32> {
        let to = valley.left.min(valley.right);
        if to == BORDER {
            return None;
        }
        let begin = if valley.left == to { self.before[valley.lower as usize] } else { valley.lower };
        let end = if valley.right == to { self.end[valley.upper as usize] } else { valley.upper };
        self.set(begin, end, to);
        Some(begin)
    }

    /// Places a block over `lower..upper` in a valley. The upper edge of the block is at `top`. Returns the
    /// first rank of the segment from which the next descent starts.
    pub(crate) fn place(&mut self, valley: Segment, lower: u32, upper: u32, top: u64) -> u32 {
        let (mut begin, mut end) = (lower, upper);
        if lower > valley.lower {
            self.end[valley.lower as usize] = lower;
            self.before[lower as usize] = valley.lower;
        } else if valley.left == top {
            begin = self.before[lower as usize];
        }
        if upper < valley.upper {
            self.before[upper as usize] = begin;
            self.set(upper, valley.upper, valley.floor);
        } else if valley.right == top {
            end = self.end[upper as usize];
        }
        self.set(begin, end, top);
        if lower > valley.lower {
            valley.lower
        } else if upper < valley.upper {
            upper
        } else {
            begin
        }
    }

    fn set(&mut self, begin: u32, end: u32, height: u64) {
        self.height[begin as usize] = height;
        self.end[begin as usize] = end;
        if end < self.count {
            self.before[end as usize] = begin;
        }
    }
}

/// Returns, for every rank, the highest end address of the given buffers that are live at this rank, or 0 if
/// none is live.
pub(crate) fn envelope(ranks: &Ranks, ids: &[u32], tops: &[u64]) -> Vec<u64> {
    let mut begins: Vec<usize> = (0..ids.len()).collect();
    begins.sort_unstable_by_key(|&at| ranks.lower[ids[at] as usize]);
    let mut begins = begins.into_iter().peekable();
    let mut live: BinaryHeap<(u64, u32)> = BinaryHeap::new();
    let mut heights = Vec::with_capacity(ranks.count as usize);
    for rank in 0..ranks.count {
        while let Some(at) = begins.next_if(|&at| ranks.lower[ids[at] as usize] <= rank) {
            live.push((tops[at], ranks.upper[ids[at] as usize]));
        }
        while live.peek().is_some_and(|&(_, upper)| upper <= rank) {
            live.pop();
        }
        heights.push(live.peek().map_or(0, |&(top, _)| top));
    }
    heights
}
