//! States at a border between two sections: none dominated by another.

use super::section::MOST_ALIVE;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Number of distances between `n` buffers, ground and ceiling.
pub(super) const fn pairs(n: usize) -> usize {
    (n + 2) * (n + 1) / 2
}

/// Where the distance between the `i`-th and the `j`-th is, `i < j`, counted from the ground, 0, to the ceiling, `n + 1`.
#[inline]
pub(super) const fn pair(n: usize, i: usize, j: usize) -> usize {
    i * (2 * n + 3 - i) / 2 + (j - i - 1)
}

/// An order packed into a number is nearly a hash.
#[derive(Clone, Copy, Debug, Default)]
struct Scatter(u64);

impl Hasher for Scatter {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are written as u64")
    }
    fn write_u64(&mut self, key: u64) {
        self.0 = crate::search::memo::mix(key);
    }
}

/// Where a state came from, to trace a layout back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trace {
    /// The state at the border before.
    pub parent: u32,
    /// This state is stored upside down, compared with its parent.
    pub mirrored: bool,
    /// The order of the section before this border, four bits a position, the lowest first.
    pub order: u64,
    /// No layout that continues the state is lower: the peak so far, or what was seen ahead.
    pub estimate: i32,
}

const NONE: u32 = u32::MAX;

/// How much a unit of the estimate counts against a unit of room between neighbours.
const ESTIMATE_WEIGHT: i64 = 16;

/// In place of the first distance of a state that was dominated later, or cut.
const DOMINATED: i32 = -1;

/// The states at a border, grouped by order.
#[derive(Clone, Debug)]
pub(super) struct Border {
    /// How many buffers cross.
    pub crossing: usize,
    /// Orders of all states, `crossing` bytes each.
    pub orders: Vec<u8>,
    /// Distances of all states, `pairs(crossing)` each.
    pub distances: Vec<i32>,
    pub traces: Vec<Trace>,
    /// The state after in the same group.
    next: Vec<u32>,
    groups: HashMap<u64, u32, BuildHasherDefault<Scatter>>,
    /// Places of states that were dominated later.
    free: Vec<u32>,
}

impl Border {
    pub fn new(crossing: usize) -> Self {
        Self {
            crossing,
            orders: Vec::new(),
            distances: Vec::new(),
            traces: Vec::new(),
            next: Vec::new(),
            groups: HashMap::default(),
            free: Vec::new(),
        }
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.traces.len() - self.free.len()
    }

    /// Bytes taken by a state, about.
    pub fn bytes_per_state(&self) -> usize {
        pairs(self.crossing) * 4 + self.crossing + 48
    }

    /// Place, order and distances of every state.
    pub fn states(&self) -> impl Iterator<Item = (u32, &[u8], &[i32])> {
        let (n, stride) = (self.crossing, pairs(self.crossing));
        self.distances
            .chunks(stride)
            .enumerate()
            .filter(|(_, distance)| distance[0] != DOMINATED)
            .map(move |(at, distance)| (at as u32, &self.orders[at * n..][..n], distance))
    }

    /// Adds a state unless one that is there dominates it; drops those it dominates. Turns it upside down where that
    /// gives the smaller order.
    pub fn insert(&mut self, order: &mut [u8], distance: &mut [i32], mut trace: Trace) {
        let (n, stride) = (self.crossing, pairs(self.crossing));
        trace.mirrored = match n {
            0 => false,
            1 => distance[pair(1, 0, 1)] > distance[pair(1, 1, 2)],
            _ => order[0] > order[n - 1],
        };
        if trace.mirrored {
            order.reverse();
            mirror(n, distance);
        }
        let key = pack(order);
        let mut at = self.groups.get(&key).copied().unwrap_or(NONE);
        let mut before = NONE;
        while at != NONE {
            let place = at as usize * stride;
            let other = &self.distances[place..place + stride];
            let next = self.next[at as usize];
            match compare(other, distance) {
                Dominance::First => return,
                Dominance::Second => {
                    if before == NONE {
                        self.groups.insert(key, next);
                    } else {
                        self.next[before as usize] = next;
                    }
                    self.distances[place] = DOMINATED;
                    self.free.push(at);
                }
                Dominance::Neither => before = at,
            }
            at = next;
        }
        let head = self.groups.get(&key).copied().unwrap_or(NONE);
        let place = if let Some(place) = self.free.pop() {
            let at = place as usize;
            self.orders[at * n..][..n].copy_from_slice(order);
            self.distances[at * stride..][..stride].copy_from_slice(distance);
            self.traces[at] = trace;
            self.next[at] = head;
            place
        } else {
            self.orders.extend_from_slice(order);
            self.distances.extend_from_slice(distance);
            self.traces.push(trace);
            self.next.push(head);
            self.traces.len() as u32 - 1
        };
        self.groups.insert(key, place);
    }

    /// Keeps the `most` most promising states: a low estimate, and little room between neighbours.
    pub fn truncate(&mut self, most: usize) {
        let n = self.crossing;
        let score = |(at, _, distance): (u32, &[u8], &[i32])| {
            let gaps: i64 = (0..=n).map(|i| i64::from(distance[pair(n, i, i + 1)])).sum();
            (ESTIMATE_WEIGHT * i64::from(self.traces[at as usize].estimate) + gaps, at)
        };
        let mut scores: Vec<(i64, u32)> = self.states().map(score).collect();
        if scores.len() <= most {
            return;
        }
        scores.select_nth_unstable(most);
        for &(_, at) in &scores[most..] {
            self.distances[at as usize * pairs(n)] = DOMINATED;
            self.free.push(at);
        }
    }

    /// Forgets what only inserting needs.
    pub fn finish(&mut self) {
        self.groups = HashMap::default();
        self.next = Vec::new();
    }
}

/// Which of two is at most the other everywhere.
enum Dominance {
    First,
    Second,
    Neither,
}

#[inline]
fn compare(a: &[i32], b: &[i32]) -> Dominance {
    let (mut a_larger, mut b_larger) = (false, false);
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        for (x, y) in a.iter().zip(b) {
            a_larger |= x > y;
            b_larger |= x < y;
        }
        if a_larger && b_larger {
            return Dominance::Neither;
        }
    }
    if a_larger { Dominance::Second } else { Dominance::First }
}

/// Four bits a position.
pub(super) fn pack(order: &[u8]) -> u64 {
    order.iter().rev().fold(0, |key, &i| key << 4 | u64::from(i))
}

/// The `i`-th of a packed order.
pub(super) fn unpack(order: u64, i: usize) -> usize {
    (order >> (4 * i) & 15) as usize
}

/// Distances upside down.
fn mirror(n: usize, distance: &mut [i32]) {
    let mut turned = [0; pairs(MOST_ALIVE)];
    for i in 0..=n {
        for j in i + 1..n + 2 {
            turned[pair(n, i, j)] = distance[pair(n, n + 1 - j, n + 1 - i)];
        }
    }
    distance.copy_from_slice(&turned[..pairs(n)]);
}
