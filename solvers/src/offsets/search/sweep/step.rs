//! One section of a pass: derives the states at the border after the section from those at the border before
//! it.

use super::ahead::Ahead;
use super::border::{Border, Trace, pack, pair, pairs, unpack};
use super::end::SweepEnd;
use super::section::{MOST_LIVE, Section};
use plimsoll_model::Budget;

/// Inserts the newborn buffers of a section into every state at every position.
pub(super) struct Step<'a> {
    section: &'a Section,
    capacity: i32,
    most_states: usize,
    /// The smallest capacity at which fewer states would have been rejected so far, or `i64::MAX` if none
    /// was.
    next: i64,
    ahead: Vec<Ahead>,
    /// Whether to use lookahead for estimates, in addition to rejecting states.
    pub estimates: bool,
    after: Border,
    /// Per buffer of the section: its position among the buffers that cross the next border, or [`DIES`].
    crossing: [u8; MOST_LIVE],
    /// Row `n` contains the order of the first `n` buffers of the section, and row `n` of `distances`
    /// contains their distances.
    orders: Vec<[u8; MOST_LIVE]>,
    distances: Vec<[i32; pairs(MOST_LIVE)]>,
    parent: u32,
}

/// Marks a buffer that dies in this section.
const DIES: u8 = u8::MAX;

impl<'a> Step<'a> {
    pub fn new(section: &'a Section, capacity: i32, bytes: usize, next: i64, ahead: Vec<Ahead>) -> Self {
        let after = Border::new(section.stay.len());
        let rows = section.live.len() + 1;
        let mut crossing = [DIES; MOST_LIVE];
        for (at, &i) in section.stay.iter().enumerate() {
            crossing[i as usize] = at as u8;
        }
        Self {
            section,
            capacity,
            most_states: bytes / after.bytes_per_state(),
            next,
            ahead,
            estimates: false,
            after,
            crossing,
            orders: vec![[0; MOST_LIVE]; rows],
            distances: vec![[0; pairs(MOST_LIVE)]; rows],
            parent: 0,
        }
    }

    /// Derives all states after the section from all states before it.
    pub fn advance(&mut self, before: &Border, budget: &mut Budget) -> Result<(), SweepEnd> {
        let n = self.section.old;
        for (parent, (order, distance)) in (0..).zip(before.states()) {
            self.parent = parent;
            (0..n).for_each(|i| self.orders[n][i] = unpack(order, i) as u8);
            self.distances[n][..pairs(n)].copy_from_slice(distance);
            self.put_in(n, budget)?;
        }
        Ok(())
    }

    /// Returns the states after the section, and the smallest capacity at which fewer states would have been
    /// rejected.
    pub fn done(self) -> (Border, i64) {
        (self.after, self.next)
    }

    /// Inserts buffer `n` of the section at every position, and then the later buffers recursively.
    fn put_in(&mut self, n: usize, budget: &mut Budget) -> Result<(), SweepEnd> {
        if let Some(stop) = budget.tick() {
            return Err(SweepEnd::Stopped(stop));
        }
        if n == self.section.live.len() {
            return self.leave(n);
        }
        let elder = self.section.elder[n];
        let mut below_elder = elder.is_some();
        for gap in 0..=n {
            if gap > 0 && elder == Some(self.orders[n][gap - 1]) {
                below_elder = false;
            }
            if !below_elder && !self.is_swapped(n, gap) && self.put_at(n, gap) {
                self.put_in(n + 1, budget)?;
            }
        }
        Ok(())
    }

    /// Returns true if buffer `n` would lie directly below an earlier one and both are born and die in this
    /// section. Only the other order of such buffers is tried.
    fn is_swapped(&self, n: usize, gap: usize) -> bool {
        let brief = &self.section.brief;
        brief[n] && gap < n && brief[self.orders[n][gap] as usize]
    }

    /// Inserts buffer `n` between the positions `gap` and `gap + 1`, where the ground has position 0. Returns
    /// false if this exceeds the capacity.
    fn put_at(&mut self, n: usize, gap: usize) -> bool {
        let (low, high) = self.distances.split_at_mut(n + 1);
        let (from, to) = (&low[n], &mut high[0]);
        let order = self.orders[n];
        let sizes = &self.section.size;
        let size = sizes[n];
        // The minimum distance from the top of each buffer below to the new buffer, and from the new buffer
        // to each buffer above.
        let mut reach = [0; MOST_LIVE + 2];
        if gap > 0 {
            let under = sizes[order[gap - 1] as usize];
            (0..gap).for_each(|i| reach[i] = from[pair(n, i, gap)] + under);
        }
        if gap < n {
            let over = sizes[order[gap] as usize];
            (gap + 2..n + 2).for_each(|j| reach[j] = over + from[pair(n, gap + 1, j)]);
        }
        let peak = from[pair(n, 0, n + 1)].max(reach[0] + size + reach[n + 1]);
        if peak > self.capacity {
            self.next = self.next.min(i64::from(peak));
            return false;
        }
        let m = n + 1;
        for i in 0..=gap {
            for j in i + 1..=gap {
                to[pair(m, i, j)] = from[pair(n, i, j)];
            }
            to[pair(m, i, gap + 1)] = reach[i];
            for j in gap + 1..n + 2 {
                to[pair(m, i, j + 1)] = from[pair(n, i, j)].max(reach[i] + size + reach[j]);
            }
        }
        for i in gap + 1..n + 2 {
            to[pair(m, gap + 1, i + 1)] = reach[i];
            for j in i + 1..n + 2 {
                to[pair(m, i + 1, j + 1)] = from[pair(n, i, j)];
            }
        }
        let to = &mut self.orders[m];
        to[..gap].copy_from_slice(&order[..gap]);
        to[gap] = n as u8;
        to[gap + 1..m].copy_from_slice(&order[gap..n]);
        true
    }

    /// Removes the buffers that die in this section and stores the state unless it is infeasible or
    /// dominated.
    fn leave(&mut self, n: usize) -> Result<(), SweepEnd> {
        let full = &self.orders[n][..n];
        let (mut order, mut places) = ([0u8; MOST_LIVE], [0usize; MOST_LIVE + 2]);
        let mut m = 0;
        for (at, &i) in full.iter().enumerate() {
            let crossing = self.crossing[i as usize];
            if crossing != DIES {
                order[m] = crossing;
                m += 1;
                places[m] = at + 1;
            }
        }
        places[m + 1] = n + 1;
        let mut distance = [0; pairs(MOST_LIVE)];
        for i in 0..=m {
            for j in i + 1..m + 2 {
                distance[pair(m, i, j)] = self.distances[n][pair(n, places[i], places[j])];
            }
        }
        let peak = distance[pair(m, 0, m + 1)];
        let mut estimate = if self.estimates { peak } else { self.capacity };
        for ahead in &self.ahead {
            estimate = estimate.max(ahead.need(&order[..m], &distance[..pairs(m)], estimate));
            if estimate > self.capacity {
                self.next = self.next.min(i64::from(estimate));
                return Ok(());
            }
        }
        let trace = Trace { parent: self.parent, mirrored: false, order: pack(full), estimate };
        self.after.insert(&mut order[..m], &mut distance[..pairs(m)], trace);
        if self.after.len() > self.most_states { Err(SweepEnd::TooMany) } else { Ok(()) }
    }
}
