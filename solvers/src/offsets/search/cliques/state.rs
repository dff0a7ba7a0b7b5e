//! The state of the search: floors, placed and unplaced buffers, and a trail for undoing decisions.

use super::problem::Cliques;
use crate::offsets::search::memo::{Key, mix};
use crate::offsets::search::tree::{NONE, OPEN};
use plimsoll_model::common_base;

/// The previous values of a section.
#[derive(Clone, Copy, Debug)]
struct Change {
    section: u32,
    pin: u32,
    floor: i64,
    base: i64,
    rest: i64,
}

/// The place of an unplaced split buffer. That of a member of a rigid group is possible for all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The lowest offset that the floors of its sections, its alignment and fixed buffers allow.
    pub offset: i64,
    /// Whether all its sections have this offset as their floor.
    pub is_level: bool,
}

/// The state of the search.
#[derive(Clone, Debug)]
pub(super) struct State<'a> {
    problem: &'a Cliques,
    /// Per section: the highest top that one of its buffers can have.
    capacity: Vec<i64>,
    /// Per buffer: the highest offset.
    pub highest: Vec<i64>,
    /// Per section: no unplaced buffer lies below this offset.
    pub floor: Vec<i64>,
    /// Per section: the top of the highest placed or fixed buffer at or below the floor, or the ground.
    pub base: Vec<i64>,
    /// Per section: total size of the unplaced buffers, and of the fixed buffers above the floor.
    rest: Vec<i64>,
    /// Per section: number of unplaced buffers.
    pub open: Vec<u32>,
    /// Per section: position of the lowest fixed buffer above the floor. Placed members of rigid groups above
    /// the floor are fixed, too. They are those with an offset of at least the floor.
    pin: Vec<u32>,
    /// Offset of each buffer in units, valid only for placed buffers.
    pub offset: Vec<i64>,
    pub placed: Vec<bool>,
    /// Per split buffer: its place as of the last assessment.
    places: Vec<Place>,
    /// The unplaced buffers that are not split, as a doubly linked list. Position `whole` is the head.
    next: Vec<u32>,
    prev: Vec<u32>,
    /// Per section: number of unplaced buffers that cover both this section and the previous one.
    pub crossing: Vec<u32>,
    /// Hash of the floors, of whether they are bases, and of the set of unplaced buffers.
    pub hash: u64,
    /// Area of the placed buffers, in units times sections. `total_area` is that of all buffers.
    pub area: i128,
    pub total_area: i128,
    /// Per section: the number of the last pass of [`State::burnt_since`] that visited it. `stamp` is the
    /// number of the current pass.
    stamps: Vec<u64>,
    stamp: u64,
    changes: Vec<Change>,
    puts: Vec<u32>,
    moves: Vec<(u32, Place)>,
}

#[inline]
fn section_hash(s: usize, floor: i64, is_base: bool) -> u64 {
    mix(((floor as u64) << 1 | u64::from(is_base)) << 20 ^ s as u64)
}

#[inline]
fn buffer_hash(b: u32) -> u64 {
    mix(u64::from(b) | 1 << 62)
}

/// A position in the trail to which decisions can be undone.
#[derive(Clone, Copy, Debug)]
pub(in crate::offsets::search) struct Mark {
    changes: usize,
    puts: usize,
    moves: usize,
    hash: u64,
}

impl<'a> State<'a> {
    /// Returns the state without placed buffers for a capacity in bytes.
    pub fn new(problem: &'a Cliques, capacity: u64) -> Self {
        let (n, sections) = (problem.len(), problem.sections());
        let ceiling: Vec<i64> = (0..n).map(|b| problem.ceiling(b, capacity)).collect();
        let highest = (0..n).map(|b| ceiling[b] - problem.size[b]).collect();
        let rest = |s: usize| {
            let free: i64 = problem.members.of_index(s).iter().map(|&b| problem.size[b as usize]).sum();
            let pins: i64 = problem.pins.of_index(s).iter().map(|&(low, top)| top - low).sum();
            free + pins
        };
        let highest_top = |s: usize| {
            let free = problem.members.of_index(s).iter().map(|&b| ceiling[b as usize]);
            let fixed = problem.pins.of_index(s).iter().map(|&(_, top)| top);
            free.chain(fixed).max().unwrap_or(0)
        };
        let whole = problem.whole;
        let mut next: Vec<u32> = (1..=whole as u32 + 1).collect();
        let mut prev: Vec<u32> = (0..=whole as u32).map(|i| i.wrapping_sub(1)).collect();
        // The head precedes the first buffer and follows the last.
        next[whole] = 0;
        prev[0] = whole as u32;
        if whole > 0 {
            next[whole - 1] = whole as u32;
            prev[whole] = whole as u32 - 1;
        }
        let mut crossing = vec![0; sections + 1];
        for &(start, end) in problem.runs.items() {
            (start + 1..end).for_each(|s| crossing[s as usize] += 1);
        }
        let area = |b: usize| i128::from(problem.size[b]) * problem.cover.of_index(b).len() as i128;
        let mut state = Self {
            problem,
            capacity: (0..sections).map(highest_top).collect(),
            highest,
            floor: vec![0; sections],
            base: vec![0; sections],
            rest: (0..sections).map(rest).collect(),
            open: (0..sections).map(|s| problem.members.range(s).len() as u32).collect(),
            pin: (0..sections).map(|s| problem.pins.range(s).start as u32).collect(),
            offset: vec![0; n],
            placed: vec![false; n],
            places: vec![Place { offset: -1, is_level: false }; n - whole],
            next,
            prev,
            crossing,
            hash: 0,
            area: 0,
            // This is a divisor, so it must not be zero for an empty instance.
            total_area: (0..n).map(area).sum::<i128>().max(1),
            stamps: vec![0; sections],
            stamp: 0,
            changes: Vec::new(),
            puts: Vec::new(),
            moves: Vec::new(),
        };
        (0..sections).for_each(|s| state.rise(s, 0));
        state.hash = (0..n as u32).fold(state.hash, |hash, b| hash ^ buffer_hash(b));
        state
    }

    #[inline]
    pub fn slack(&self, s: usize) -> i64 {
        self.capacity[s] - self.floor[s] - self.rest[s]
    }

    #[inline]
    pub fn mark(&self) -> Mark {
        let (changes, puts, moves) = (self.changes.len(), self.puts.len(), self.moves.len());
        Mark { changes, puts, moves, hash: self.hash }
    }

    /// Returns the first unplaced buffer that is not split and starts at or after `section`, or [`NONE`].
    #[inline]
    pub fn first_unplaced(&self, section: usize) -> u32 {
        let whole = self.problem.whole as u32;
        let mut b = self.problem.first_at[section];
        while b < whole && self.placed[b as usize] {
            b += 1;
        }
        if b < whole { b } else { NONE }
    }

    /// Returns the next unplaced buffer after an unplaced one, or [`NONE`].
    #[inline]
    pub fn next_unplaced(&self, b: u32) -> u32 {
        let next = self.next[b as usize];
        if next as usize == self.problem.whole { NONE } else { next }
    }

    /// Calls `visit` with every unplaced buffer that is not split and starts in `left..right`.
    #[inline]
    pub fn each_unplaced(&self, left: usize, right: usize, mut visit: impl FnMut(usize)) {
        let mut b = self.first_unplaced(left);
        while b != NONE && (self.problem.hull[b as usize].0 as usize) < right {
            visit(b as usize);
            b = self.next_unplaced(b);
        }
    }

    /// Returns the unplaced buffers of a section, by ascending size.
    pub fn unplaced(&self, s: usize) -> impl Iterator<Item = usize> {
        let members = self.problem.members.of_index(s).iter().map(|&b| b as usize);
        members.filter(|&b| !self.placed[b])
    }

    /// Returns the place of an unplaced split buffer as of the last assessment.
    #[inline]
    pub fn place(&self, b: usize) -> Place {
        self.places[b - self.problem.whole]
    }

    /// Returns the highest floor of a buffer.
    fn highest_floor(&self, b: usize) -> i64 {
        self.problem.cover.of_index(b).iter().map(|&s| self.floor[s as usize]).max().unwrap_or(0)
    }

    /// Updates the place of an unplaced split buffer after some of its floors have risen, to `high` at most.
    /// Returns true if it has changed.
    pub fn move_up(&mut self, b: usize, high: i64) -> bool {
        let before = self.place(b);
        let offset = match self.problem.rigid.of[b] {
            None => self.settled(b, high.max(before.offset)),
            Some(group) => self.group_place(group, b),
        };
        let is_level = self.problem.cover.of_index(b).iter().all(|&s| self.floor[s as usize] == offset);
        let place = Place { offset, is_level };
        self.places[b - self.problem.whole] = place;
        if place != before {
            self.moves.push((b as u32, before));
        }
        place != before
    }

    /// Returns the place of a member of a rigid group: the lowest base at which every member has a possible
    /// offset, plus the distance of the member. Returns an unlimited height if there is none.
    fn group_place(&self, group: u32, b: usize) -> i64 {
        let members = &self.problem.rigid.groups[group as usize];
        let floors = members.iter().map(|&(m, distance)| self.highest_floor(m as usize) - distance);
        let base = common_base(members, floors.max().unwrap_or(0), |&(m, distance), base| {
            let settled = self.settled(m as usize, base + distance);
            (settled <= self.highest[m as usize]).then_some(settled - distance)
        });
        base.map_or(OPEN, |base| base + self.problem.distance(b, group))
    }

    /// Returns the lowest possible offset of a buffer that is at least `height`, regardless of its group.
    #[inline]
    pub fn settled(&self, b: usize, height: i64) -> i64 {
        let problem = self.problem;
        let mut place = self.aligned(b, height);
        let walls = problem.walls.of_index(b);
        if !walls.is_empty() {
            for &(low, top) in &walls[walls.partition_point(|wall| wall.1 <= place)..] {
                if place + problem.size[b] <= low {
                    break;
                }
                place = self.aligned(b, top);
            }
        }
        for &m in problem.rigid.beside.of_index(b) {
            let m = m as usize;
            if self.placed[m] && self.offset[m] < place + problem.size[b] && place < self.end(m) {
                return self.settled(b, self.end(m));
            }
        }
        place
    }

    /// Returns the end of a placed buffer.
    #[inline]
    fn end(&self, b: usize) -> i64 {
        self.offset[b] + self.problem.size[b]
    }

    #[inline]
    fn aligned(&self, b: usize, height: i64) -> i64 {
        let (alignment, residue) = (self.problem.alignment[b], self.problem.residue[b]);
        if alignment > 1 || residue > 0 {
            residue + next_multiple((height - residue).max(0), alignment)
        } else {
            height
        }
    }

    /// Returns true if a split buffer is level and supported. A rigid group is also supported if it lies as
    /// low as possible, and if a member is not level, because anything may lie under that member.
    pub fn can_rest(&self, b: usize) -> bool {
        let place = self.place(b);
        let is_held = |m: usize| !self.place(m).is_level || self.is_supported(m);
        place.is_level
            && (self.is_supported(b)
                || self.problem.rigid.of[b].is_some() && place.offset == self.problem.residue[b]
                || self.problem.rigid.of[b].is_some() && self.problem.together(b).any(is_held))
    }

    /// Returns true if something supports a buffer at the common floor of its sections.
    pub fn is_supported(&self, b: usize) -> bool {
        let alignment = self.problem.alignment[b];
        let touches = |&s: &u32| self.floor[s as usize] - self.base[s as usize] < alignment;
        self.problem.cover.of_index(b).iter().any(touches)
    }

    /// Returns the size of the fixed buffers of a section from its floor up to `height`.
    #[inline]
    pub fn fixed_below(&self, s: usize, height: i64) -> i64 {
        let pins = &self.problem.pins.items()[self.pin[s] as usize..self.problem.pins.range(s).end];
        let pins = pins.iter().take_while(|pin| pin.0 < height).copied();
        let rigid = self.problem.rigid.in_section.of_index(s).iter().map(|&m| m as usize);
        let rigid = rigid.filter(|&m| self.placed[m] && (self.floor[s]..height).contains(&self.offset[m]));
        pins.chain(rigid.map(|m| (self.offset[m], self.end(m)))).map(|(low, top)| top.min(height) - low).sum()
    }

    /// Places a buffer on the common floor of its sections, and the other members of its group at their
    /// places. Returns true if the component may split: one of the sections is complete, two neighbouring
    /// sections no longer share an unplaced buffer, or the buffer is split.
    pub fn put(&mut self, b: usize) -> bool {
        let problem = self.problem;
        let Some(group) = problem.rigid.of[b] else {
            let bottom = self.floor[problem.hull[b].0 as usize];
            return self.put_one(b, bottom) || b >= problem.whole;
        };
        for &(m, _) in &problem.rigid.groups[group as usize] {
            let offset = self.place(m as usize).offset;
            self.put_one(m as usize, offset);
            self.hash ^= mix(offset as u64 ^ u64::from(m) << 40);
        }
        true
    }

    /// Places a buffer, which is fixed from then on in those of its sections whose floors are lower.
    fn put_one(&mut self, b: usize, offset: i64) -> bool {
        let (problem, size) = (self.problem, self.problem.size[b]);
        let is_rigid = problem.rigid.of[b].is_some();
        self.offset[b] = offset;
        self.placed[b] = true;
        let mut apart = false;
        for &(start, end) in problem.runs.of_index(b) {
            for s in start as usize..end as usize {
                self.record(s);
                self.open[s] -= 1;
                apart |= self.open[s] == 0;
                if is_rigid {
                    self.rise(s, self.floor[s]);
                } else {
                    debug_assert_eq!(self.floor[s], offset, "the floor under a placed buffer is level");
                    self.rest[s] -= size;
                    self.base[s] = offset + size;
                    self.rise(s, offset + size);
                }
                if s > start as usize {
                    self.crossing[s] -= 1;
                    apart |= self.crossing[s] == 0;
                }
            }
        }
        self.hash ^= buffer_hash(b as u32);
        self.area += i128::from(size) * problem.cover.of_index(b).len() as i128;
        if b < problem.whole {
            let (next, prev) = (self.next[b], self.prev[b]);
            self.next[prev as usize] = next;
            self.prev[next as usize] = prev;
        }
        self.puts.push(b as u32);
        apart
    }

    /// Raises the floor of a section to a height below which no unplaced buffer lies.
    pub fn raise(&mut self, s: usize, height: i64) {
        debug_assert!(height > self.floor[s]);
        self.record(s);
        self.rise(s, height);
    }

    /// Records the values of a section before a change.
    #[inline]
    fn record(&mut self, s: usize) {
        let (floor, base) = (self.floor[s], self.base[s]);
        self.hash ^= section_hash(s, floor, floor == base);
        let (section, pin, rest) = (s as u32, self.pin[s], self.rest[s]);
        self.changes.push(Change { section, pin, floor, base, rest });
    }

    /// Sets the floor of a section, and passes the fixed buffers below it.
    #[inline]
    fn rise(&mut self, s: usize, floor: i64) {
        let mut from = std::mem::replace(&mut self.floor[s], floor);
        if self.problem.has_pins {
            while let Some((low, top)) = self.next_fixed(s, from) {
                self.floor[s] = self.floor[s].max(top);
                self.base[s] = self.base[s].max(top);
                self.rest[s] -= top - low;
                from = top;
            }
        }
        self.hash ^= section_hash(s, self.floor[s], self.floor[s] == self.base[s]);
    }

    /// Passes the lowest fixed buffer of a section that lies between `from` and the floor, and returns its
    /// addresses.
    fn next_fixed(&mut self, s: usize, from: i64) -> Option<(i64, i64)> {
        let (floor, pins) = (self.floor[s], &self.problem.pins);
        let is_next = (self.pin[s] as usize) < pins.range(s).end;
        let pin = is_next.then(|| pins.items()[self.pin[s] as usize]).filter(|&(low, _)| low <= floor);
        let rigid = self.problem.rigid.in_section.of_index(s).iter().map(|&m| m as usize);
        let rigid = rigid.filter(|&m| self.placed[m] && (from..=floor).contains(&self.offset[m]));
        let rigid = rigid.map(|m| (self.offset[m], self.end(m))).min();
        if pin.is_some_and(|pin| rigid.is_none_or(|rigid| pin < rigid)) {
            self.pin[s] += 1;
            return pin;
        }
        rigid
    }

    /// Undoes all decisions since `mark`.
    pub fn undo(&mut self, mark: Mark) {
        let problem = self.problem;
        while self.puts.len() > mark.puts {
            let b = self.puts.pop().expect("the trail is longer than the mark") as usize;
            let size = problem.size[b];
            self.area -= i128::from(size) * problem.cover.of_index(b).len() as i128;
            for &(start, end) in problem.runs.of_index(b) {
                let (start, end) = (start as usize, end as usize);
                for open in &mut self.open[start..end] {
                    *open += 1;
                }
                for crossing in &mut self.crossing[start + 1..end] {
                    *crossing += 1;
                }
            }
            self.placed[b] = false;
            if b < problem.whole {
                let (next, prev) = (self.next[b], self.prev[b]);
                self.next[prev as usize] = b as u32;
                self.prev[next as usize] = b as u32;
            }
        }
        while self.changes.len() > mark.changes {
            let change = self.changes.pop().expect("the trail is longer than the mark");
            let s = change.section as usize;
            (self.pin[s], self.rest[s]) = (change.pin, change.rest);
            (self.floor[s], self.base[s]) = (change.floor, change.base);
        }
        while self.moves.len() > mark.moves {
            let (b, place) = self.moves.pop().expect("the trail is longer than the mark");
            self.places[b as usize - problem.whole] = place;
        }
        self.hash = mark.hash;
    }

    /// Returns how much the logarithm of the slack has decreased since `mark`, summed over sections. Before
    /// the logarithm is taken, every slack is increased by `soft` times the capacity. The caller must not
    /// have placed a buffer since `mark`.
    pub fn burnt_since(&mut self, mark: Mark, soft: f64) -> f64 {
        debug_assert_eq!(mark.puts, self.puts.len());
        self.stamp += 1;
        let mut sum = 0.0;
        for change in &self.changes[mark.changes..] {
            let s = change.section as usize;
            // The oldest entry of a section contains its floor at the mark.
            if std::mem::replace(&mut self.stamps[s], self.stamp) != self.stamp {
                let lost = (self.floor[s] + self.rest[s] - change.floor - change.rest) as f64;
                let soft = (self.capacity[s] as f64 * soft).max(1.0);
                sum += (lost / (self.slack(s) as f64 + soft)).ln_1p();
            }
        }
        sum
    }

    /// Returns the hash of the sections in `ranges` and of the unplaced buffers that start in them.
    pub fn hash_of(&self, ranges: &[(u32, u32)], split: &[u32]) -> u64 {
        let mut hash = 0;
        for &(left, right) in ranges {
            let (left, right) = (left as usize, right as usize);
            for s in left..right {
                hash ^= section_hash(s, self.floor[s], self.floor[s] == self.base[s]);
            }
            self.each_unplaced(left, right, |b| hash ^= buffer_hash(b as u32));
        }
        let split = split.iter().filter(|&&b| !self.placed[b as usize]);
        split.fold(hash, |hash, &b| hash ^ buffer_hash(b))
    }

    /// Writes the key of a component: its sections, their floors and bases as far as these can support a
    /// buffer, and its unplaced buffers.
    pub fn write_key(&self, ranges: &[(u32, u32)], split: &[u32], key: &mut Key) {
        key.put(ranges.len() as u64);
        for &(left, right) in ranges {
            key.put(u64::from(left));
            key.put(u64::from(right));
            for s in left as usize..right as usize {
                key.put(self.floor[s] as u64);
                key.put((self.floor[s] - self.base[s]).min(self.problem.widest) as u64);
                for &m in self.problem.rigid.in_section.of_index(s) {
                    let m = m as usize;
                    let above = self.placed[m] && self.offset[m] >= self.floor[s];
                    key.put(if above { self.offset[m] as u64 + 1 } else { 0 });
                }
            }
            let mut last = 0;
            self.each_unplaced(left as usize, right as usize, |b| {
                key.put((b - last) as u64 + 1);
                last = b;
            });
            key.put(0);
        }
        split.iter().filter(|&&b| !self.placed[b as usize]).for_each(|&b| key.put(u64::from(b)));
    }
}

/// Rounds up to a multiple. The method of the standard library is unstable for signed numbers.
#[inline]
fn next_multiple(height: i64, of: i64) -> i64 {
    (height as u64).next_multiple_of(of as u64) as i64
}
