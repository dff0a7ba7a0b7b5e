//! States that were left behind: what has started, and how early everything is.

use super::node::{Case, Node};
use std::collections::HashMap;

/// What decides how early the rest can be. Of two nodes with the same transfers started, one that is no later in anything is no worse.
///
/// Whatever follows the later one can follow the earlier one at the same times: channels are free by then; operators timed have
/// ended by the time they have in the other, or before its next transfer starts; all others can wait for the time they
/// have there. Beside an operator that has not ended when the next transfer starts lie, of what has started, the same buffers in
/// both; so memory that suffices for the one suffices for the other. Memory is counted here, not placed.
#[derive(Clone, Debug)]
struct Profile {
    /// When the next transfer can start.
    now: u64,
    /// When channels are free, then when weights under way to operators that are not timed are there: none before `now`, nor
    /// weights before the last operator timed ends.
    times: Vec<u64>,
    /// Ends of operators timed, the last first, as far as they are after `now`.
    ends: Vec<u64>,
}

impl Profile {
    fn of(case: &Case<'_>, node: &Node) -> Self {
        let (now, _) = node.next();
        let mut times: Vec<u64> = node.free.iter().map(|&free| free.max(now)).collect();
        times.sort_unstable();
        let from = case.weighted.partition_point(|&at| at < node.ends.len());
        let last = node.last().max(now);
        times.extend(case.weighted[from..].iter().filter_map(|&at| Some(node.arrived[at]?.max(last))));
        // Where all is calm, nothing waits for memory, and the last end is all that matters.
        let most = if node.calm { 1 } else { node.ends.len() };
        let ends = node.ends.iter().rev().copied().take(most).take_while(|&end| end > now).collect();
        Self { now, times, ends }
    }

    /// True where this one is no later in anything. Both have started the same transfers, so that lists match.
    fn is_no_later(&self, other: &Self) -> bool {
        let times = || self.times.iter().zip(&other.times).all(|(own, other)| own <= other);
        let ends = || {
            let others = other.ends.iter().copied().chain(std::iter::repeat(other.now));
            self.ends.iter().zip(others).all(|(&own, end)| own <= end.max(other.now))
        };
        self.now <= other.now && times() && ends()
    }
}

/// Profiles kept per set of transfers started.
const MOST_PROFILES: usize = 24;

const MOST_NUMBERS: usize = 24 << 20;

/// What has been searched, by the set of transfers that had started.
#[derive(Default)]
pub(super) struct Memo {
    seen: HashMap<Box<[u64]>, Vec<Profile>>,
    numbers: usize,
}

impl Memo {
    /// True where a node no later than this one has been here; else it is kept, as long as there is room.
    pub fn has_better(&mut self, case: &Case<'_>, node: &Node) -> bool {
        let mut key = vec![0u64; case.len().div_ceil(64)];
        for &(at, ..) in &node.starts {
            key[at / 64] |= 1 << (at % 64);
        }
        let profile = Profile::of(case, node);
        let known = self.seen.get(key.as_slice());
        if known.is_some_and(|known| known.iter().any(|one| one.is_no_later(&profile))) {
            return true;
        }
        let numbers = profile.times.len() + profile.ends.len() + key.len() + 8;
        if self.numbers + numbers <= MOST_NUMBERS {
            let known = self.seen.entry(key.into_boxed_slice()).or_default();
            known.retain(|one| !profile.is_no_later(one));
            if known.len() < MOST_PROFILES {
                known.push(profile);
                self.numbers += numbers;
            }
        }
        false
    }
}
