//! Lookahead: bounds the capacity that a state requires at a later section.

use super::border::pair;
use super::section::{MOST_LIVE, Section};
use crate::offsets::search::valley::Reduced;

/// The requirements of a later section on states at a border.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// Bitset of the crossing buffers that are also live at the later section.
    live: u32,
    /// Total size of these buffers, in units.
    held: i32,
    /// Sizes of the other buffers that are live at the later section, in descending order.
    fill: Vec<i32>,
}

/// Maximum number of buffers assigned to gaps. With more, lookahead would cost more than it saves.
const MOST_FILL: usize = 6;

impl Ahead {
    /// Returns the requirements of a later section, whose live buffers are `later`, at the border after
    /// `section`. Returns `None` if there are no requirements, or if too many buffers must be assigned to
    /// gaps.
    pub fn of(section: &Section, later: &[u32], reduced: &Reduced) -> Option<Self> {
        let (mut live, mut held, mut fill) = (0, 0, Vec::new());
        for &b in later {
            let size = reduced.spans[b as usize].size as i32;
            match section.stay.iter().position(|&i| section.live[i as usize] == b) {
                Some(at) => {
                    live |= 1 << at;
                    held += size;
                }
                None => fill.push(size),
            }
        }
        fill.sort_unstable_by_key(|&size| -size);
        (live != 0 && fill.len() <= MOST_FILL).then_some(Self { live, held, fill })
    }

    /// Returns a lower bound on the capacity that a state requires at the later section, if this bound
    /// exceeds `capacity`. Otherwise, returns some value of at most `capacity`.
    ///
    /// A gap wider than its contents wastes the difference. The longest path at the later section is
    /// therefore at least the sum of the crossing sizes and, for each gap, the larger of the gap and its
    /// contents. The bound is the minimum of this sum over all assignments of buffers to gaps.
    pub fn need(&self, order: &[u8], distance: &[i32], capacity: i32) -> i32 {
        let n = order.len();
        let (mut gaps, mut count, mut last, mut sum) = ([0; MOST_LIVE + 1], 0, 0, self.held);
        for at in 1..n + 2 {
            if at == n + 1 || self.live >> order[at - 1] & 1 == 1 {
                gaps[count] = distance[pair(n, last, at)];
                sum += gaps[count];
                count += 1;
                last = at;
            }
        }
        let spare = capacity - sum;
        let all: i32 = self.fill.iter().sum();
        if all <= spare {
            return capacity;
        }
        let mut best = all;
        spill(&mut gaps[..count], &self.fill, 0, spare, &mut best);
        sum + best
    }
}

/// Lowers `best` to the minimum overflow over all assignments of `fill` to the gaps. `spilt` is the overflow
/// so far. The search stops as soon as `best` is at most `spare`.
fn spill(gaps: &mut [i32], fill: &[i32], spilt: i32, spare: i32, best: &mut i32) {
    let Some((&size, rest)) = fill.split_first() else {
        *best = (*best).min(spilt);
        return;
    };
    for i in 0..gaps.len() {
        let gap = gaps[i];
        if gaps[..i].contains(&gap) {
            continue;
        }
        let over = spilt + (size - gap).max(0);
        if over < *best {
            gaps[i] = (gap - size).max(0);
            spill(gaps, rest, over, spare, best);
            gaps[i] = gap;
            if *best <= spare {
                return;
            }
        }
    }
}
