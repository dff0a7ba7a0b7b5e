//! The state of the search: floors, places of unplaced buffers, and a trail for undoing decisions.

use super::problem::Cliques;
use crate::search::memo::mix;

/// A decision that leaves no layout within the capacity. The section is the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dead(pub usize);

/// What the state knows of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    /// No unplaced buffer of the section lies below this offset.
    pub floor: i64,
    /// The top of the highest placed or fixed buffer at or below the floor, or 0.
    pub base: i64,
    /// Total size of the unplaced buffers and of the fixed buffers above the floor.
    pub rest: i64,
    /// Number of unplaced buffers.
    pub open: u32,
    /// Position of the lowest fixed buffer above the floor.
    pub pin: u32,
}

/// An unplaced or placed member of a section. Place and size are stored here, too, for locality.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub place: i64,
    pub size: i64,
    pub buffer: u32,
    /// The position of the section among those that the buffer covers.
    cover: u32,
}

impl Member {
    /// Returns the top of the buffer at its place.
    #[inline]
    pub fn top(self) -> i64 {
        self.place + self.size
    }
}

/// A position in the trail to which decisions can be undone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    sections: usize,
    places: usize,
    rises: usize,
}

/// The state of the search.
#[derive(Clone, Debug)]
pub(super) struct State<'a> {
    problem: &'a Cliques,
    /// Per section: the highest top that one of its buffers can have.
    capacity: Vec<i64>,
    /// Per buffer: the highest offset.
    highest: Vec<i64>,
    pub sections: Vec<Section>,
    /// Per unplaced buffer: the lowest offset that its sections, its alignment and fixed buffers allow. Per
    /// placed buffer: its offset.
    pub place: Vec<i64>,
    pub placed: Vec<bool>,
    /// Per section: its members, the unplaced ones first.
    members: Vec<Member>,
    /// Per buffer and section that it covers: its position in `members`.
    position: Vec<u32>,
    /// Area of the placed buffers, in units times sections. `total_area` is that of all buffers.
    pub area: i128,
    pub total_area: i128,
    changed: Vec<(u32, Section)>,
    places: Vec<u32>,
    rises: Vec<(u32, i64)>,
    /// Per section: the number of unplaced buffers that cover both this section and the previous one.
    crossing: Vec<u32>,
    /// Sections that have changed, or whose members have. They must be settled; `is_due` marks them.
    due: Vec<u32>,
    is_due: Vec<bool>,
    /// Sections that have changed since the last assessment. `is_stale` marks them.
    pub stale: Vec<u32>,
    /// Unplaced buffers that have risen since the last assessment.
    pub risen: Vec<u32>,
    is_stale: Vec<bool>,
    stamps: Vec<u32>,
    stamp: u32,
}

impl<'a> State<'a> {
    /// Returns the state without placed buffers for a capacity in bytes.
    pub fn new(problem: &'a Cliques, capacity: u64) -> Self {
        let (n, sections) = (problem.len(), problem.sections());
        let ceiling: Vec<i64> = (0..n).map(|b| problem.ceiling(b, capacity)).collect();
        let highest = (0..n).map(|b| ceiling[b] - problem.size[b]).collect();
        let of_section = |s: usize| {
            let members = problem.members.of_index(s);
            let free: i64 = members.iter().map(|&(b, _)| problem.size[b as usize]).sum();
            let pins: i64 = problem.pins.of_index(s).iter().map(|&(low, top)| top - low).sum();
            let pin = problem.pins.range(s).start as u32;
            Section { floor: 0, base: 0, rest: free + pins, open: members.len() as u32, pin }
        };
        let highest_top = |s: usize| {
            let free = problem.members.of_index(s).iter().map(|&(b, _)| ceiling[b as usize]);
            let fixed = problem.pins.of_index(s).iter().map(|&(_, top)| top);
            free.chain(fixed).max().unwrap_or(0)
        };
        let mut position = vec![0; problem.cover.items().len()];
        for s in 0..sections {
            for (at, &(b, k)) in problem.members.range(s).zip(problem.members.of_index(s)) {
                position[problem.cover.range(b as usize).start + k as usize] = at as u32;
            }
        }
        let member = |&(buffer, cover): &(u32, u32)| Member {
            place: 0,
            size: problem.size[buffer as usize],
            buffer,
            cover,
        };
        let mut crossing = vec![0; sections + 1];
        for b in 0..n {
            each_crossing(problem.cover.of_index(b), |s| crossing[s] += 1);
        }
        let area = |b: usize| i128::from(problem.size[b]) * problem.cover.of_index(b).len() as i128;
        Self {
            problem,
            capacity: (0..sections).map(highest_top).collect(),
            highest,
            sections: (0..sections).map(of_section).collect(),
            place: vec![0; n],
            placed: vec![false; n],
            members: problem.members.items().iter().map(member).collect(),
            position,
            area: 0,
            total_area: (0..n).map(area).sum::<i128>().max(1),
            changed: Vec::new(),
            places: Vec::new(),
            rises: Vec::new(),
            crossing,
            due: Vec::new(),
            is_due: vec![false; sections],
            stale: Vec::new(),
            risen: Vec::new(),
            is_stale: vec![false; sections],
            stamps: vec![0; sections],
            stamp: 0,
        }
    }

    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { sections: self.changed.len(), places: self.places.len(), rises: self.rises.len() }
    }

    #[inline]
    pub fn slack(&self, s: usize) -> i64 {
        self.capacity[s] - self.sections[s].floor - self.sections[s].rest
    }

    /// Returns the unplaced buffers of a section.
    #[inline]
    pub fn unplaced(&self, s: usize) -> &[Member] {
        let from = self.problem.members.range(s).start;
        &self.members[from..from + self.sections[s].open as usize]
    }

    #[inline]
    pub fn top(&self, b: usize) -> i64 {
        self.place[b] + self.problem.size[b]
    }

    /// Returns the size of the fixed buffers of a section from its floor up to `height`.
    pub fn fixed_below(&self, s: usize, height: i64) -> i64 {
        let pins = &self.problem.pins.items()[self.sections[s].pin as usize..self.problem.pins.range(s).end];
        pins.iter().take_while(|pin| pin.0 < height).map(|&(low, top)| top.min(height) - low).sum()
    }

    /// Returns true if something supports an unplaced buffer at its place.
    pub fn is_supported(&self, b: usize) -> bool {
        let (problem, place) = (self.problem, self.place[b]);
        let alignment = problem.alignment[b];
        let touches = |height: i64| height <= place && place - height < alignment;
        problem.cover.of_index(b).iter().any(|&s| touches(self.sections[s as usize].base))
            || problem.walls.of_index(b).iter().any(|&(_, top)| touches(top))
    }

    /// Computes the places of all buffers. Must be called once, before the first decision.
    pub fn start(&mut self) -> Result<(), Dead> {
        for s in 0..self.sections.len() {
            self.rise(s, self.sections[s].floor);
            self.note(s);
        }
        for b in 0..self.problem.len() {
            self.lift(b)?;
        }
        self.settle()
    }

    /// Places an unplaced buffer that is closed at its place. Every section that it covers then has the top
    /// of the buffer as its floor. Returns true if the component may split.
    pub fn put(&mut self, b: usize) -> Result<bool, Dead> {
        let (problem, top, size) = (self.problem, self.top(b), self.problem.size[b]);
        self.area += i128::from(size) * problem.cover.of_index(b).len() as i128;
        self.placed[b] = true;
        self.places.push(b as u32);
        let mut apart = problem.jumps[b];
        each_crossing(problem.cover.of_index(b), |s| {
            self.crossing[s] -= 1;
            apart |= self.crossing[s] == 0;
        });
        for at in problem.cover.range(b) {
            let s = problem.cover.items()[at] as usize;
            self.changed.push((s as u32, self.sections[s]));
            let section = &mut self.sections[s];
            section.open -= 1;
            section.rest -= size;
            apart |= section.open == 0;
            let last = problem.members.range(s).start + section.open as usize;
            self.swap(at, last);
            self.rise(s, top);
            self.sections[s].base = self.sections[s].base.max(top);
            self.note(s);
        }
        self.lift_members(problem.cover.of_index(b))?;
        self.settle()?;
        Ok(apart)
    }

    /// Raises the floor of a section to a height below which no unplaced buffer lies.
    pub fn raise(&mut self, s: usize, height: i64) -> Result<(), Dead> {
        self.changed.push((s as u32, self.sections[s]));
        self.rise(s, height);
        self.note(s);
        self.lift_members(&[s as u32])?;
        self.settle()
    }

    /// Moves the member at the position stored in `at` to the position `to`.
    fn swap(&mut self, at: usize, to: usize) {
        let problem = self.problem;
        let from = self.position[at] as usize;
        let other = self.members[to];
        self.members.swap(from, to);
        self.position[problem.cover.range(other.buffer as usize).start + other.cover as usize] = from as u32;
        self.position[at] = to as u32;
    }

    /// Sets the floor of a section, and passes the fixed buffers below it.
    fn rise(&mut self, s: usize, floor: i64) {
        let (section, pins) = (&mut self.sections[s], &self.problem.pins);
        section.floor = floor;
        let end = pins.range(s).end;
        while (section.pin as usize) < end {
            let (low, top) = pins.items()[section.pin as usize];
            if low > section.floor {
                break;
            }
            section.floor = section.floor.max(top);
            section.base = section.base.max(top);
            section.rest -= top - low;
            section.pin += 1;
        }
    }

    /// Notes that a section must be settled.
    fn note(&mut self, s: usize) {
        if !std::mem::replace(&mut self.is_due[s], true) {
            self.due.push(s as u32);
        }
    }

    fn lift_members(&mut self, sections: &[u32]) -> Result<(), Dead> {
        for &s in sections {
            for at in 0..self.sections[s as usize].open as usize {
                let member = self.unplaced(s as usize)[at];
                if member.place < self.sections[s as usize].floor
                    && let Err(dead) = self.lift(member.buffer as usize)
                {
                    self.forget();
                    return Err(dead);
                }
            }
        }
        Ok(())
    }

    /// Computes the place of an unplaced buffer.
    fn lift(&mut self, b: usize) -> Result<(), Dead> {
        let problem = self.problem;
        let floor = |s: &u32| self.sections[*s as usize].floor;
        let floors = problem.cover.of_index(b).iter().map(floor);
        let mut place = floors.max().unwrap_or(0).max(self.place[b]);
        let alignment = problem.alignment[b];
        if alignment > 1 {
            place = place.next_multiple_of_(alignment);
        }
        let walls = problem.walls.of_index(b);
        if !walls.is_empty() {
            for &(low, top) in &walls[walls.partition_point(|wall| wall.1 <= place)..] {
                if place + problem.size[b] <= low {
                    break;
                }
                place = top.next_multiple_of_(alignment);
            }
        }
        if place == self.place[b] {
            return Ok(());
        }
        self.rises.push((b as u32, self.place[b]));
        self.risen.push(b as u32);
        self.move_to(b, place);
        for &s in problem.cover.of_index(b) {
            self.note(s as usize);
        }
        if place > self.highest[b] {
            let by_floor = |s: &&u32| self.sections[**s as usize].floor;
            let highest = problem.cover.of_index(b).iter().max_by_key(by_floor);
            return Err(Dead(highest.map_or(0, |&s| s as usize)));
        }
        Ok(())
    }

    fn move_to(&mut self, b: usize, place: i64) {
        self.place[b] = place;
        for at in self.problem.cover.range(b) {
            self.members[self.position[at] as usize].place = place;
        }
    }

    /// Raises the floor of every noted section to the lowest place of its unplaced buffers.
    fn settle(&mut self) -> Result<(), Dead> {
        while let Some(s) = self.due.pop() {
            let s = s as usize;
            self.is_due[s] = false;
            if !std::mem::replace(&mut self.is_stale[s], true) {
                self.stale.push(s as u32);
            }
            let Some(least) = self.unplaced(s).iter().map(|member| member.place).min() else { continue };
            if least > self.sections[s].floor {
                self.changed.push((s as u32, self.sections[s]));
                self.rise(s, least);
                debug_assert_eq!(self.sections[s].floor, least, "places avoid fixed buffers");
            }
            if self.slack(s) < 0 {
                self.forget();
                return Err(Dead(s));
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        while let Some(s) = self.due.pop() {
            self.is_due[s as usize] = false;
        }
    }

    /// Forgets which sections have changed.
    pub fn clear_stale(&mut self) {
        while let Some(s) = self.stale.pop() {
            self.is_stale[s as usize] = false;
        }
        self.risen.clear();
    }

    /// Undoes all decisions since `mark`. The state at the mark must have been assessed.
    pub fn undo(&mut self, mark: Mark) {
        self.forget();
        self.clear_stale();
        while self.changed.len() > mark.sections {
            let (s, before) = self.changed.pop().expect("the trail is longer than the mark");
            self.sections[s as usize] = before;
        }
        while self.rises.len() > mark.rises {
            let (b, place) = self.rises.pop().expect("the trail is longer than the mark");
            self.move_to(b as usize, place);
        }
        while self.places.len() > mark.places {
            let b = self.places.pop().expect("the trail is longer than the mark") as usize;
            self.placed[b] = false;
            each_crossing(self.problem.cover.of_index(b), |s| self.crossing[s] += 1);
            self.area -= i128::from(self.problem.size[b]) * self.problem.cover.of_index(b).len() as i128;
        }
    }

    /// Returns how much the logarithm of the slack has decreased since `mark`, summed over sections. Before
    /// the logarithm is taken, every slack is increased by `soft` times the capacity.
    pub fn burnt_since(&mut self, mark: Mark, soft: f64) -> f64 {
        self.stamp = self.stamp.wrapping_add(1);
        let mut sum = 0.0;
        for at in mark.sections..self.changed.len() {
            let (s, before) = self.changed[at];
            let s = s as usize;
            // The oldest entry of a section contains its state at the mark.
            if std::mem::replace(&mut self.stamps[s], self.stamp) != self.stamp {
                let after = self.slack(s);
                let lost = self.capacity[s] - before.floor - before.rest - after;
                let soft = (self.capacity[s] as f64 * soft).max(1.0);
                sum += (lost as f64 / (after as f64 + soft)).ln_1p();
            }
        }
        sum
    }

    /// Returns the part of the base that decides which buffers it supports: its distance to the floor, at
    /// most the largest alignment.
    #[inline]
    pub fn depth(&self, s: usize) -> u64 {
        (self.sections[s].floor - self.sections[s].base).min(self.problem.widest) as u64
    }

    /// Returns the hash of a section.
    #[inline]
    pub fn section_hash(&self, s: usize) -> u64 {
        let floor = (self.sections[s].floor as u64) << 1 | u64::from(self.depth(s) == 0);
        mix(floor << 20 ^ s as u64)
    }
}

/// Calls `visit` with every section of a cover that follows another one of the cover directly.
#[inline]
fn each_crossing(cover: &[u32], mut visit: impl FnMut(usize)) {
    for pair in cover.windows(2) {
        if pair[0] + 1 == pair[1] {
            visit(pair[1] as usize);
        }
    }
}

/// Rounds up to a multiple. The method of the standard library is unstable for signed numbers.
trait NextMultiple {
    fn next_multiple_of_(self, of: i64) -> i64;
}

impl NextMultiple for i64 {
    #[inline]
    fn next_multiple_of_(self, of: i64) -> i64 {
        (self as u64).next_multiple_of(of as u64) as i64
    }
}

/// Returns the hash of an unplaced buffer.
pub(super) fn buffer_hash(b: u32) -> u64 {
    mix(u64::from(b) | 1 << 62)
}
