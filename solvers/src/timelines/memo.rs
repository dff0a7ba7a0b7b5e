//! A memo for dominance between nodes with the same started transfers.

use super::node::{Case, Node};
use std::collections::HashMap;

/// The times that determine how early the remaining transfers and operators can start. Suppose that two nodes
/// have the same started transfers, and that the first is no later in any component. Then the first is at
/// least as good.
///
/// Proof: any continuation of the later node is possible from the earlier one at the same times. Channels are
/// free early enough. An operator is *timed* if its end is known ([`Node::ends`]). A timed operator ends no
/// later than in the later node, or before the next transfer of the later node starts. All other operators
/// can wait until their times in the later node. During an operator that has not ended when the next transfer
/// starts, the same started buffers are live in both nodes. Bytes that suffice for one therefore suffice for
/// the other. Only bytes are counted here; addresses are not considered.
#[derive(Clone, Debug)]
struct Profile {
    /// The earliest start of the next transfer.
    now: u64,
    /// The times at which channels are free, raised to at least `now`. They are followed by the arrivals of
    /// those weights of untimed operators whose transfers have started, raised to at least the end of the
    /// last timed operator.
    times: Vec<u64>,
    /// Ends of timed operators after `now`, in descending order.
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
        // In a calm node, no transfer waits for memory, so only the last end matters.
        let most = if node.calm { 1 } else { node.ends.len() };
        let ends = node.ends.iter().rev().copied().take(most).take_while(|&end| end > now).collect();
        Self { now, times, ends }
    }

    /// Returns true if this profile is no later than `other` in any component. Both profiles have the same
    /// started transfers, so their lists correspond.
    fn is_no_later(&self, other: &Self) -> bool {
        let times = || self.times.iter().zip(&other.times).all(|(own, other)| own <= other);
        let ends = || {
            let others = other.ends.iter().copied().chain(std::iter::repeat(other.now));
            self.ends.iter().zip(others).all(|(&own, end)| own <= end.max(other.now))
        };
        self.now <= other.now && times() && ends()
    }
}

/// Maximum number of profiles stored per set of started transfers.
const MOST_PROFILES: usize = 24;

const MOST_NUMBERS: usize = 24 << 20;

/// The profiles of the searched nodes, by their set of started transfers.
#[derive(Default)]
pub(super) struct Memo {
    seen: HashMap<Box<[u64]>, Vec<Profile>>,
    numbers: usize,
}

impl Memo {
    /// Returns true if a stored node dominates `node`. Otherwise, stores `node` if the limits allow it, and
    /// returns false.
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
