//! What may happen between two neighbouring steps.

use super::steps::Steps;
use crate::pqtree::Leaves;

/// Maximum number of buffers that end, or begin, between two steps.
const MOST_CHANGES: usize = 14;

/// Maximum number of pairs of a group that ends and a group that begins.
const MOST_PAIRS: usize = 1 << 18;

/// A group of buffers that begin together in place of a group that ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// The buffers that begin, as a mask.
    pub new: u32,
    /// Their leaves.
    pub leaves: Leaves,
    /// Their total size, less that of the ending group.
    pub excess: i64,
}

/// A group of buffers that end, and all groups that may begin in their place.
#[derive(Clone, Debug)]
pub(super) struct Departure {
    /// The buffers that end, as a mask.
    pub old: u32,
    /// Their leaves.
    pub leaves: Leaves,
    pub arrivals: Vec<Arrival>,
}

/// All groups that may be exchanged between two neighbouring steps.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// Masks of all buffers that end, and of all that begin.
    pub old: u32,
    pub new: u32,
    /// The ending groups by their first buffer.
    pub departures: Vec<Vec<Departure>>,
    /// The groups that begin in wasted units alone, by their first buffer.
    pub insertions: Vec<Vec<Arrival>>,
    /// Per buffer that begins: the preceding one of the same kind, as a mask.
    pub elder: Vec<u32>,
    /// Wasted units of the two steps.
    pub waste: (usize, usize),
}

/// A subset of buffers, with its leaves and total size.
#[derive(Clone, Copy, Debug)]
struct Group {
    mask: u32,
    leaves: Leaves,
    size: i64,
}

fn groups(steps: &Steps, buffers: &[u32]) -> Vec<Group> {
    let mut all = vec![Group { mask: 0, leaves: 0, size: 0 }];
    for (i, &b) in buffers.iter().enumerate() {
        for at in 0..all.len() {
            let group = all[at];
            all.push(Group {
                mask: group.mask | 1 << i,
                leaves: group.leaves | steps.leaf(b),
                size: group.size + steps.size(b),
            });
        }
    }
    all
}

impl Exchange {
    /// Lists the groups between the steps `from` and `to`. Returns `None` if there are too many.
    pub fn of(steps: &Steps, from: usize, to: usize) -> Option<Self> {
        let (a, b) = (&steps.list[from], &steps.list[to]);
        let only = |own: &[u32], other: &[u32]| {
            let mut only: Vec<u32> =
                own.iter().copied().filter(|buffer| other.binary_search(buffer).is_err()).collect();
            only.sort_by_key(|&buffer| (-steps.size(buffer), buffer));
            only
        };
        let (old, new) = (only(&a.live, &b.live), only(&b.live, &a.live));
        if old.len() > MOST_CHANGES || new.len() > MOST_CHANGES {
            return None;
        }
        let (full, empty) = (a.waste as i64, b.waste as i64);
        let mut beginning = groups(steps, &new);
        beginning.sort_by_key(|group| (group.size, group.mask));
        let mut exchange = Self {
            old: (1 << old.len()) - 1,
            new: (1 << new.len()) - 1,
            departures: vec![Vec::new(); old.len()],
            insertions: vec![Vec::new(); new.len()],
            elder: vec![0; new.len()],
            waste: (a.waste, b.waste),
        };
        let backwards = to < from;
        for i in 1..new.len() {
            let kind = |i: usize| b.labels(backwards).label(steps.leaf(new[i]).trailing_zeros() as u8);
            if let Some(j) = (0..i).rev().find(|&j| kind(j) == kind(i)) {
                exchange.elder[i] = 1 << j;
            }
        }
        let mut pairs = 0;
        for group in groups(steps, &old) {
            let from = beginning.partition_point(|other| other.size < group.size - empty);
            let to = beginning.partition_point(|other| other.size <= group.size + full);
            let arrivals: Vec<Arrival> = beginning[from..to]
                .iter()
                .filter(|other| other.mask != 0 || group.mask != 0)
                .map(|other| Arrival {
                    new: other.mask,
                    leaves: other.leaves,
                    excess: other.size - group.size,
                })
                .collect();
            pairs += arrivals.len();
            if pairs > MOST_PAIRS {
                return None;
            }
            if group.mask == 0 {
                for arrival in arrivals {
                    exchange.insertions[arrival.new.trailing_zeros() as usize].push(arrival);
                }
            } else if !arrivals.is_empty() {
                let departure = Departure { old: group.mask, leaves: group.leaves, arrivals };
                exchange.departures[group.mask.trailing_zeros() as usize].push(departure);
            }
        }
        Some(exchange)
    }

    /// Returns true if the group contains a buffer, but not an interchangeable earlier one that is in `left`.
    pub fn skips_elder(&self, group: u32, left: u32) -> bool {
        let mut rest = group;
        while rest != 0 {
            let elder = self.elder[rest.trailing_zeros() as usize];
            if elder & left & !group != 0 {
                return true;
            }
            rest &= rest - 1;
        }
        false
    }
}
