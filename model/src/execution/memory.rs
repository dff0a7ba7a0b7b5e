//! The contents of the memory, by address.

use std::collections::BTreeMap;
use std::ops::Bound;

/// Values by address, stored as disjoint half-open ranges. A tensor of many megabytes needs only one entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Maps the start of a range to its end and its value.
    pieces: BTreeMap<u64, (u64, u32)>,
}

impl Memory {
    pub(super) fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Writes a value to `[start, end)`. O(log n) for n ranges, plus O(log n) for each range removed.
    pub(super) fn write(&mut self, start: u64, end: u64, value: u32) {
        if start >= end {
            return;
        }
        if let Some((&from, &(to, old))) = self.pieces.range(..start).next_back()
            && to > start
        {
            self.pieces.insert(from, (start, old));
            if to > end {
                self.pieces.insert(end, (to, old));
            }
        }
        while let Some((&from, &(to, old))) = self.pieces.range(start..end).next() {
            self.pieces.remove(&from);
            if to > end {
                self.pieces.insert(end, (to, old));
            }
        }
        self.pieces.insert(start, (end, value));
    }

    /// Returns the first address in `[start, end)` that does not contain `value`, with the value stored
    /// there, if any. Returns `None` if there is no such address. O(log n) for n ranges, plus the number of
    /// ranges visited.
    pub(super) fn lacks(&self, start: u64, end: u64, value: u32) -> Option<(u64, Option<u32>)> {
        if start >= end {
            return None;
        }
        let first = self.pieces.range(..=start).next_back();
        let rest = self.pieces.range((Bound::Excluded(start), Bound::Excluded(end)));
        let mut at = start;
        for (&from, &(to, held)) in first.into_iter().chain(rest) {
            if to <= at {
                continue;
            }
            if from > at {
                return Some((at, None));
            }
            if held != value {
                return Some((at, Some(held)));
            }
            at = to;
        }
        (at < end).then_some((at, None))
    }
}

#[cfg(test)]
mod tests {
    use super::super::decisions::Random;
    use super::*;

    #[test]
    fn ranges_agree_with_an_array_of_bytes() {
        let mut random = Random::new(7);
        let (mut memory, mut bytes) = (Memory::default(), [None; 24]);
        for value in 0..3000 {
            let (a, b) = (random.below(25), random.below(25));
            let (start, end) = (a.min(b), a.max(b));
            if value % 500 == 499 {
                memory.clear();
                bytes = [None; 24];
            } else if value % 3 > 0 {
                memory.write(start as u64, end as u64, value % 7);
                bytes[start..end].fill(Some(value % 7));
            }
            let wants = value % 5;
            let first = (start..end).find(|&at| bytes[at] != Some(wants)).map(|at| (at as u64, bytes[at]));
            assert_eq!(memory.lacks(start as u64, end as u64, wants), first);
        }
    }
}
