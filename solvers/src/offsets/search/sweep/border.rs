//! Stores the nondominated states at a border between two sections.

use super::section::MOST_LIVE;
use crate::offsets::search::memo::mix;
use hashbrown::HashTable;

/// Returns the number of distances between `n` buffers, the ground and the ceiling.
pub(super) const fn pairs(n: usize) -> usize {
    (n + 2) * (n + 1) / 2
}

/// Returns the index of the distance between the positions `i < j`. The ground has position 0, and the
/// ceiling has position `n + 1`.
#[inline]
pub(super) const fn pair(n: usize, i: usize, j: usize) -> usize {
    i * (2 * n + 3 - i) / 2 + (j - i - 1)
}

/// The predecessor of a state, for backtracking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trace {
    /// The state at the previous border.
    pub parent: u32,
    /// Whether this state is stored upside down relative to its parent.
    pub mirrored: bool,
    /// The order of the live buffers in the section before this border, packed with four bits per position.
    pub order: u64,
    /// In a beam, a lower bound on the peak of every continuation: the peak so far, or the result of
    /// lookahead if that is higher.
    pub estimate: i32,
}

/// Weight of one unit of the estimate when states are ranked, relative to one unit of space between
/// neighbours.
const ESTIMATE_WEIGHT: i64 = 16;

/// The nondominated states of one order. Distances are stored contiguously because their comparison takes
/// most of the time.
#[derive(Clone, Debug, Default)]
struct Group {
    distances: Vec<i32>,
    traces: Vec<Trace>,
}

/// The states at a border, grouped by order.
#[derive(Clone, Debug)]
pub(super) struct Border {
    /// Number of crossing buffers.
    crossing: usize,
    /// The index of each group, hashed by its packed order.
    places: HashTable<u32>,
    /// Packed orders with their states, in order of first appearance.
    groups: Vec<(u64, Group)>,
    states: usize,
}

impl Border {
    pub fn new(crossing: usize) -> Self {
        Self { crossing, places: HashTable::new(), groups: Vec::new(), states: 0 }
    }

    pub fn len(&self) -> usize {
        self.states
    }

    pub fn bytes_per_state(&self) -> usize {
        pairs(self.crossing) * 4 + 80
    }

    /// Returns the packed order and the distances of every state, in the order of [`Border::into_traces`].
    pub fn states(&self) -> impl Iterator<Item = (u64, &[i32])> {
        let stride = pairs(self.crossing);
        self.groups.iter().flat_map(move |(order, group)| {
            group.distances.chunks(stride).map(move |distance| (*order, distance))
        })
    }

    pub fn into_traces(self) -> Vec<Trace> {
        self.groups.into_iter().flat_map(|(_, group)| group.traces).collect()
    }

    /// Returns the distance from the ground to the ceiling in the first state.
    pub fn peak(&self) -> Option<i32> {
        self.states().next().map(|(_, distance)| distance[pair(self.crossing, 0, self.crossing + 1)])
    }

    /// Adds a state unless an existing one dominates it. Removes the existing states that the new state
    /// dominates. Stores the mirror image instead of the state if the order of the mirror image is smaller.
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
        let next = self.groups.len() as u32;
        let order_of = |&place: &u32| self.groups[place as usize].0;
        let hash = |place: &u32| mix(order_of(place));
        let place = *self.places.entry(mix(key), |place| order_of(place) == key, hash).or_insert(next).get();
        if place == next {
            self.groups.push((key, Group::default()));
        }
        let group = &mut self.groups[place as usize].1;
        let mut at = 0;
        while at < group.traces.len() {
            match compare(&group.distances[at * stride..][..stride], distance) {
                Dominance::First => return,
                Dominance::Second => {
                    group.traces.swap_remove(at);
                    let last = group.traces.len() * stride;
                    group.distances.copy_within(last..last + stride, at * stride);
                    group.distances.truncate(last);
                    self.states -= 1;
                }
                Dominance::Neither => at += 1,
            }
        }
        group.distances.extend_from_slice(distance);
        group.traces.push(trace);
        self.states += 1;
    }

    /// If there are more than `most` states, keeps only this number of them. States with low estimates and
    /// little space between neighbours are preferred.
    pub fn truncate(&mut self, most: usize) {
        if self.states <= most {
            return;
        }
        let (n, stride) = (self.crossing, pairs(self.crossing));
        let score = |distance: &[i32], trace: &Trace| {
            let gaps: i64 = (0..=n).map(|i| i64::from(distance[pair(n, i, i + 1)])).sum();
            ESTIMATE_WEIGHT * i64::from(trace.estimate) + gaps
        };
        let mut scores: Vec<(i64, u32)> = Vec::with_capacity(self.states);
        for (_, group) in &self.groups {
            for (distance, trace) in group.distances.chunks(stride).zip(&group.traces) {
                scores.push((score(distance, trace), scores.len() as u32));
            }
        }
        let cut = *scores.select_nth_unstable(most).1;
        let mut at = 0;
        for (_, group) in &mut self.groups {
            let mut kept = Group::default();
            for (distance, trace) in group.distances.chunks(stride).zip(&group.traces) {
                if (score(distance, trace), at) < cut {
                    kept.distances.extend_from_slice(distance);
                    kept.traces.push(*trace);
                }
                at += 1;
            }
            *group = kept;
        }
        self.states = most;
    }
}

/// Componentwise comparison of two states.
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

/// Packs an order with four bits per position, the lowest position in the lowest bits.
pub(super) fn pack(order: &[u8]) -> u64 {
    order.iter().rev().fold(0, |key, &i| key << 4 | u64::from(i))
}

/// Returns the entry at position `i` of a packed order.
pub(super) fn unpack(order: u64, i: usize) -> usize {
    (order >> (4 * i) & 15) as usize
}

/// Replaces the distances by those of the layout turned upside down.
fn mirror(n: usize, distance: &mut [i32]) {
    let mut turned = [0; pairs(MOST_LIVE)];
    for i in 0..=n {
        for j in i + 1..n + 2 {
            turned[pair(n, i, j)] = distance[pair(n, n + 1 - j, n + 1 - i)];
        }
    }
    distance.copy_from_slice(&turned[..pairs(n)]);
}
