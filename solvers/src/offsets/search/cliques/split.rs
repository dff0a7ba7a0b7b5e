//! Sets of split buffers, and the lowest tops beside a split buffer.

use super::problem::Cliques;
use super::state::State;
use crate::offsets::search::tree::OPEN;

/// A set of unplaced split buffers.
#[derive(Clone, Debug)]
pub(super) struct SplitSet {
    pub list: Vec<u32>,
    /// Per split buffer: the number of the last set that contains it. `stamp` is the number of this set.
    stamps: Vec<u64>,
    stamp: u64,
    /// Per split buffer of the set: the highest floor of the sections that were added.
    high: Vec<i64>,
}

impl SplitSet {
    pub fn new(split: usize) -> Self {
        Self { list: Vec::new(), stamps: vec![0; split], stamp: 0, high: vec![0; split] }
    }

    pub fn clear(&mut self) {
        self.list.clear();
        self.stamp += 1;
    }

    /// Adds the buffers of some sections.
    pub fn add(&mut self, problem: &Cliques, state: &State<'_>, (left, right): (usize, usize)) {
        for s in left..right {
            for &b in problem.split_in.of_index(s) {
                self.add_one(problem, state, b, state.floor[s]);
            }
        }
    }

    /// Adds a buffer, if it is not placed, and a floor of one of its sections.
    pub fn add_one(&mut self, problem: &Cliques, state: &State<'_>, b: u32, floor: i64) {
        let at = b as usize - problem.whole;
        if state.placed[b as usize] {
            return;
        }
        if std::mem::replace(&mut self.stamps[at], self.stamp) != self.stamp {
            self.list.push(b);
            self.high[at] = 0;
        }
        self.high[at] = self.high[at].max(floor);
    }

    /// Returns the highest floor that was added for a buffer of the set.
    pub fn high(&self, problem: &Cliques, b: usize) -> i64 {
        self.high[b - problem.whole]
    }
}

/// The lowest top, at its place or at the floor, of an unplaced buffer that shares a section with a split
/// buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub top: i64,
    pub section: usize,
}

impl Least {
    const NONE: Self = Self { top: OPEN, section: usize::MAX };

    /// Regards the sections of `b` outside a valley, if there is one, and no members of its rigid group.
    pub fn beside(
        tops: &mut Tops,
        problem: &Cliques,
        state: &State<'_>,
        b: usize,
        valley: Option<(usize, usize)>,
    ) -> Self {
        let body = body_of(problem, b);
        let mut least = Self::NONE;
        for &section in problem.cover.of_index(b) {
            let section = section as usize;
            if valley.is_none_or(|(left, right)| section < left || section >= right) {
                let top = tops.apart_from(problem, state, section, body);
                if top < least.top {
                    least = Self { top, section };
                }
            }
        }
        least
    }
}

/// Returns a number that a buffer shares with the members of its rigid group only.
fn body_of(problem: &Cliques, b: usize) -> u32 {
    problem.rigid.of[b].map_or(b as u32, |group| problem.len() as u32 + group)
}

/// The lowest tops of the unplaced buffers of sections, computed when they are first needed.
#[derive(Clone, Debug)]
pub(super) struct Tops {
    /// Per section: the state in which it was computed, the lowest top, its body, and the lowest top of
    /// another body.
    lowest: Vec<(u64, i64, u32, i64)>,
    stamp: u64,
}

impl Tops {
    pub fn new(sections: usize) -> Self {
        Self { lowest: vec![(0, OPEN, 0, OPEN); sections], stamp: 1 }
    }

    /// Forgets everything, after floors or places have changed.
    pub fn forget(&mut self) {
        self.stamp += 1;
    }

    /// Returns the lowest top of an unplaced buffer of a section that does not belong to `body`.
    fn apart_from(&mut self, problem: &Cliques, state: &State<'_>, s: usize, body: u32) -> i64 {
        if self.lowest[s].0 != self.stamp {
            let (mut first, mut second) = ((OPEN, u32::MAX), OPEN);
            for b in state.unplaced(s) {
                let bottom = if b < problem.whole { state.floor[s] } else { state.place(b).offset };
                let top = (bottom.saturating_add(problem.size[b]), body_of(problem, b));
                if top.1 == first.1 {
                    first = first.min(top);
                } else if top < first {
                    second = std::mem::replace(&mut first, top).0;
                } else {
                    second = second.min(top.0);
                }
            }
            self.lowest[s] = (self.stamp, first.0, first.1, second);
        }
        let (_, first, of, second) = self.lowest[s];
        if of == body { second } else { first }
    }
}
