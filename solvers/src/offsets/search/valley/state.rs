//! The state of the search: floors, placed and unplaced buffers, and a trail for undoing decisions.

use super::reduce::Reduced;
use crate::offsets::search::memo::{Key, mix};
use crate::offsets::search::tree::NONE;

/// The state of the search.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub capacity: i64,
    pub floor: Vec<i64>,
    /// Number of units that remain to be placed in each section.
    pub rest: Vec<i64>,
    /// Per section: whether the floor is the ground or the top of a placed buffer.
    pub real: Vec<bool>,
    /// Offset of each buffer in units, valid only for placed buffers.
    pub offset: Vec<i64>,
    pub placed: Vec<bool>,
    /// The unplaced buffers as a doubly linked list in the order of `Reduced`. Position `n` is the head.
    next: Vec<u32>,
    prev: Vec<u32>,
    /// Per section: number of unplaced buffers that cover both this section and the previous one.
    crossing: Vec<u32>,
    /// Hash of the floors, their `real` flags, and the set of unplaced buffers.
    pub hash: u64,
    /// Area of the placed buffers, in units times sections. `total_area` is that of all buffers. Products may
    /// need more than 64 bits.
    pub area: i128,
    pub total_area: i128,
    /// Per section: the number of the last pass of [`State::burnt_since`] that visited it. `stamp` is the
    /// number of the current pass.
    stamps: Vec<u32>,
    stamp: u32,
    floors: Vec<(u32, bool, i64)>,
    places: Vec<u32>,
}

#[inline]
fn level(floor: i64, real: bool) -> u64 {
    (floor as u64) << 1 | u64::from(real)
}

#[inline]
fn section_hash(s: usize, floor: i64, real: bool) -> u64 {
    mix(level(floor, real) << 20 ^ s as u64)
}

#[inline]
fn buffer_hash(b: u32) -> u64 {
    mix(u64::from(b) | 1 << 62)
}

/// A position in the trail to which decisions can be undone.
#[derive(Clone, Copy, Debug)]
pub(in crate::offsets::search) struct Mark {
    floors: usize,
    places: usize,
    hash: u64,
}

impl State {
    pub fn new(reduced: &Reduced, capacity: i64) -> Self {
        let n = reduced.len();
        let mut next: Vec<u32> = (1..=n as u32 + 1).collect();
        let mut prev: Vec<u32> = (0..=n as u32).map(|i| i.wrapping_sub(1)).collect();
        // The head at position `n` precedes buffer 0 and follows the last buffer.
        next[n] = 0;
        prev[0] = n as u32;
        if n > 0 {
            next[n - 1] = n as u32;
            prev[n] = n as u32 - 1;
        }
        let mut crossing = vec![0; reduced.sections + 1];
        for b in 0..n {
            (reduced.spans[b].start + 1..reduced.spans[b].end).for_each(|s| crossing[s as usize] += 1);
        }
        let mut state = Self {
            capacity,
            floor: vec![0; reduced.sections],
            rest: reduced.load.clone(),
            real: vec![true; reduced.sections],
            offset: vec![0; n],
            placed: vec![false; n],
            next,
            prev,
            crossing,
            hash: 0,
            area: 0,
            // This is a divisor, so it must not be zero for an empty instance.
            total_area: reduced.load.iter().copied().map(i128::from).sum::<i128>().max(1),
            stamps: vec![0; reduced.sections],
            stamp: 0,
            floors: Vec::new(),
            places: Vec::new(),
        };
        state.hash = state.hash_of(reduced, (0, reduced.sections));
        state
    }

    #[inline]
    pub fn slack(&self, s: usize) -> i64 {
        self.capacity - self.floor[s] - self.rest[s]
    }

    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { floors: self.floors.len(), places: self.places.len(), hash: self.hash }
    }

    /// Returns the first unplaced buffer that starts at or after `section`, or [`NONE`].
    #[inline]
    pub fn first_unplaced(&self, reduced: &Reduced, section: usize) -> u32 {
        let n = reduced.len() as u32;
        let mut b = reduced.first_at[section];
        while b < n && self.placed[b as usize] {
            b += 1;
        }
        if b < n { b } else { NONE }
    }

    /// Returns the next unplaced buffer after an unplaced one, or [`NONE`].
    #[inline]
    pub fn next_unplaced(&self, b: u32) -> u32 {
        let next = self.next[b as usize];
        if next as usize == self.placed.len() { NONE } else { next }
    }

    /// Places `b` on the common floor of the sections that it covers. Returns true if the component may
    /// split: one of the sections is complete, or two neighbouring sections no longer share an unplaced
    /// buffer.
    pub fn place(&mut self, reduced: &Reduced, b: usize) -> bool {
        let ((start, end), size) = (reduced.spans[b].sections(), reduced.spans[b].size);
        let bottom = self.floor[start];
        self.offset[b] = bottom;
        let mut apart = false;
        for s in start..end {
            debug_assert_eq!(self.floor[s], bottom, "the floor under a placed buffer is level");
            self.floors.push((s as u32, self.real[s], bottom));
            self.hash ^= section_hash(s, bottom, self.real[s]) ^ section_hash(s, bottom + size, true);
            self.floor[s] = bottom + size;
            self.rest[s] -= size;
            self.real[s] = true;
            apart |= self.rest[s] == 0;
            if s > start {
                self.crossing[s] -= 1;
                apart |= self.crossing[s] == 0;
            }
        }
        self.hash ^= buffer_hash(b as u32);
        self.area += i128::from(size) * (end - start) as i128;
        self.placed[b] = true;
        let (next, prev) = (self.next[b], self.prev[b]);
        self.next[prev as usize] = next;
        self.prev[next as usize] = prev;
        self.places.push(b as u32);
        apart
    }

    /// Raises the floor of a section to a height below which no unplaced buffer can lie.
    pub fn raise(&mut self, s: usize, height: i64) {
        debug_assert!(height > self.floor[s]);
        self.floors.push((s as u32, self.real[s], self.floor[s]));
        self.hash ^= section_hash(s, self.floor[s], self.real[s]) ^ section_hash(s, height, false);
        self.floor[s] = height;
        self.real[s] = false;
    }

    /// Undoes all decisions since `mark`.
    pub fn undo(&mut self, reduced: &Reduced, mark: Mark) {
        while self.places.len() > mark.places {
            let b = self.places.pop().expect("the trail is longer than the mark") as usize;
            let (start, end) = reduced.spans[b].sections();
            self.area -= i128::from(reduced.spans[b].size) * (end - start) as i128;
            for rest in &mut self.rest[start..end] {
                *rest += reduced.spans[b].size;
            }
            for crossing in &mut self.crossing[start + 1..end] {
                *crossing += 1;
            }
            self.placed[b] = false;
            let (next, prev) = (self.next[b], self.prev[b]);
            self.next[prev as usize] = b as u32;
            self.prev[next as usize] = b as u32;
        }
        while self.floors.len() > mark.floors {
            let (s, real, floor) = self.floors.pop().expect("the trail is longer than the mark");
            self.floor[s as usize] = floor;
            self.real[s as usize] = real;
        }
        self.hash = mark.hash;
    }

    /// Returns how much the logarithm of the slack has decreased since `mark`, summed over sections. Before
    /// the logarithm is taken, every slack is increased by `soft` times the capacity. The caller must not
    /// have placed a buffer since `mark`.
    pub fn burnt_since(&mut self, mark: Mark, soft: f64) -> f64 {
        debug_assert_eq!(mark.places, self.places.len());
        self.stamp = self.stamp.wrapping_add(1);
        let soft = (self.capacity as f64 * soft).max(1.0);
        let mut sum = 0.0;
        for &(s, _, before) in &self.floors[mark.floors..] {
            // The oldest entry of a section contains its floor at the mark.
            if std::mem::replace(&mut self.stamps[s as usize], self.stamp) != self.stamp {
                let after = self.slack(s as usize) as f64;
                let lost = (self.floor[s as usize] - before) as f64;
                sum += (lost / (after + soft)).ln_1p();
            }
        }
        sum
    }

    /// Returns the hash of the component `left..right`. While nothing outside the component changes, the XOR
    /// of this hash and `hash` is constant.
    pub fn hash_of(&self, reduced: &Reduced, (left, right): (usize, usize)) -> u64 {
        let mut hash = mix((left as u64) << 32 | right as u64);
        for s in left..right {
            hash ^= section_hash(s, self.floor[s], self.real[s]);
        }
        self.each_unplaced(reduced, left, right, |b| hash ^= buffer_hash(b));
        hash
    }

    /// Writes the key of a component: its bounds, its floors, and its unplaced buffers as differences of
    /// their indices.
    pub fn write_key(&self, reduced: &Reduced, (left, right): (usize, usize), key: &mut Key) {
        key.put(left as u64);
        key.put(right as u64);
        (left..right).for_each(|s| key.put(level(self.floor[s], self.real[s])));
        let mut last = 0;
        self.each_unplaced(reduced, left, right, |b| {
            key.put(u64::from(b - last));
            last = b;
        });
    }

    /// Calls `visit` with every unplaced buffer that starts in `left..right`, in ascending order.
    #[inline]
    pub fn each_unplaced(&self, reduced: &Reduced, left: usize, right: usize, mut visit: impl FnMut(u32)) {
        let mut b = self.first_unplaced(reduced, left);
        while b != NONE && (reduced.spans[b as usize].start as usize) < right {
            visit(b);
            b = self.next_unplaced(b);
        }
    }
}
