//! A time index of placed buffers. It finds all buffers that overlap a time interval.
//!
//! Buffers are grouped into levels by the binary logarithm of their duration, rounded down. The shortest
//! buffers share the lowest level. A level is divided into cells about as wide as the durations of the level,
//! and a buffer belongs to the cell in which it begins. A buffer that overlaps an interval begins inside the
//! interval, or less than its own duration before the interval. A query therefore reads few irrelevant cells.
//! The entries are allocated once for all buffers of an instance. Within each cell, the entries of placed
//! buffers come first.
//!
//! ```text
//! level 2  |   c         |  d          |     cells 4 ranks wide: durations of 4 to 7 ranks
//! level 1  |      | a    |  b   |      |     cells 2 ranks wide: durations of 2 to 3 ranks
//!          └──────┴──────┴──────┴──────┴─▶ ranks
//! ```
//!
//! Insertion and removal are O(1). A query is linear in the number of cells and entries that it reads.
//! Memory is linear in the number of buffers.

use crate::ranks::Ranks;

/// A placed buffer: its addresses, its hull in ranks, and its id.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Placed {
    pub offset: u64,
    pub end: u64,
    pub lower: u32,
    pub upper: u32,
    pub id: u32,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    magnitude: u32,
    /// Longest duration in the level.
    reach: u32,
    first_cell: usize,
    last_cell: usize,
    placed: usize,
}

/// The slot of a buffer that is not placed.
const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct TimeIndex {
    levels: Vec<Level>,
    /// The level and the cell of every buffer.
    home: Vec<(u8, u32)>,
    /// The index of the entry of every buffer.
    slot: Vec<u32>,
    /// The index of the first entry of every cell, over all levels.
    first: Vec<u32>,
    /// Number of placed buffers in every cell.
    placed: Vec<u32>,
    places: Vec<Placed>,
}

impl TimeIndex {
    /// Creates an index for the buffers of an instance, none of which is placed. O(n) for n buffers.
    pub(super) fn new(ranks: &Ranks) -> Self {
        let n = ranks.lower.len();
        // Nearly empty cells make queries slow, so the finest cells are wide enough for about four buffers.
        let finest = (ranks.count / (n as u32 / 4).max(1)).max(1).ilog2();
        let magnitude = |at: usize| ranks.duration(at).ilog2().max(finest);
        let mut reaches = [0u32; 32];
        for at in 0..n {
            let reach = &mut reaches[magnitude(at) as usize];
            *reach = ranks.duration(at).max(*reach);
        }
        let (mut levels, mut cells, mut level_of) = (Vec::new(), 0, [0u8; 32]);
        for (magnitude, &reach) in (0u32..).zip(&reaches).filter(|&(_, &reach)| reach > 0) {
            level_of[magnitude as usize] = levels.len() as u8;
            let last_cell = cells + (ranks.count >> magnitude) as usize;
            levels.push(Level { magnitude, reach, first_cell: cells, last_cell, placed: 0 });
            cells = last_cell + 1;
        }
        let home: Vec<(u8, u32)> = (0..n)
            .map(|at| {
                let level = level_of[magnitude(at) as usize];
                let Level { magnitude, first_cell, .. } = levels[level as usize];
                (level, first_cell as u32 + (ranks.lower[at] >> magnitude))
            })
            .collect();
        let mut first = vec![0u32; cells + 1];
        for &(_, cell) in &home {
            first[cell as usize + 1] += 1;
        }
        for cell in 1..=cells {
            first[cell] += first[cell - 1];
        }
        let (slot, placed, places) = (vec![NOWHERE; n], vec![0; cells], vec![Placed::default(); n]);
        Self { levels, home, slot, first, placed, places }
    }

    /// Inserts a buffer that is not placed yet.
    pub(super) fn put(&mut self, buffer: Placed) {
        let (level, cell) = self.home[buffer.id as usize];
        let place = self.first[cell as usize] + self.placed[cell as usize];
        self.placed[cell as usize] += 1;
        self.levels[level as usize].placed += 1;
        self.places[place as usize] = buffer;
        self.slot[buffer.id as usize] = place;
    }

    pub(super) fn take(&mut self, id: u32) {
        let (level, cell) = self.home[id as usize];
        self.placed[cell as usize] -= 1;
        self.levels[level as usize].placed -= 1;
        let last = self.first[cell as usize] + self.placed[cell as usize];
        let place = std::mem::replace(&mut self.slot[id as usize], NOWHERE);
        if place != last {
            let moved = self.places[last as usize];
            self.places[place as usize] = moved;
            self.slot[moved.id as usize] = place;
        }
    }

    pub(super) fn get(&self, id: u32) -> Option<&Placed> {
        let slot = self.slot[id as usize];
        (slot != NOWHERE).then(|| &self.places[slot as usize])
    }

    /// Visits every placed buffer whose hull overlaps the ranks `lower..upper`. Returns the number of entries
    /// and cells read.
    pub(super) fn overlapping(&self, lower: u32, upper: u32, mut visit: impl FnMut(&Placed)) -> usize {
        let mut read = 0;
        for level in self.levels.iter().filter(|level| level.placed > 0) {
            let from =
                level.first_cell + ((lower + 1).saturating_sub(level.reach) >> level.magnitude) as usize;
            let to = (level.first_cell + ((upper - 1) >> level.magnitude) as usize).min(level.last_cell);
            read += to - from;
            for cell in from..=to {
                let first = self.first[cell] as usize;
                let placed = &self.places[first..first + self.placed[cell] as usize];
                read += placed.len();
                for buffer in placed {
                    if buffer.lower < upper && lower < buffer.upper {
                        visit(buffer);
                    }
                }
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{IntervalParams, LifeLaw, random_intervals};

    #[test]
    fn every_overlapping_buffer_is_visited_once() {
        for seed in 0..40 {
            let lives = LifeLaw::LogUniform { steps: 300, max_duration: 300 };
            let params = IntervalParams { lives, ..IntervalParams::with_buffers(60) };
            let instance = random_intervals(params, seed).unwrap();
            let ranks = Ranks::of(&instance);
            let mut index = TimeIndex::new(&ranks);
            let mut placed_now = [false; 60];
            for round in 0..300u32 {
                let id = round * 7919 % 60;
                let (lower, upper) = (ranks.lower[id as usize], ranks.upper[id as usize]);
                let mut seen: Vec<u32> = Vec::new();
                index.overlapping(lower, upper, |placed| seen.push(placed.id));
                seen.sort_unstable();
                let expected = (0..60u32).filter(|&other| {
                    let at = other as usize;
                    placed_now[at] && ranks.lower[at] < upper && lower < ranks.upper[at]
                });
                assert!(seen.into_iter().eq(expected));
                assert_eq!(index.get(id).is_some(), placed_now[id as usize]);
                if placed_now[id as usize] {
                    index.take(id);
                } else {
                    index.put(Placed { offset: 0, end: 1, lower, upper, id });
                }
                placed_now[id as usize] = !placed_now[id as usize];
            }
        }
    }
}
