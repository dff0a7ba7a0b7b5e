//! Sets of addresses, stored as sorted disjoint ranges.

/// Disjoint, non-adjacent half-open ranges, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    parts: Vec<(u64, u64)>,
}

impl Ranges {
    /// Returns the union of arbitrary ranges. O(n log n) for n ranges.
    pub(super) fn union(mut ranges: Vec<(u64, u64)>) -> Self {
        ranges.sort_unstable();
        let mut parts: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            match parts.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => parts.push((start, end)),
            }
        }
        Self { parts }
    }

    pub(super) fn parts(&self) -> &[(u64, u64)] {
        &self.parts
    }

    /// Returns the ranges of the intersection with `[start, end)`, ascending.
    pub(super) fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.parts.partition_point(|part| part.1 <= start);
        self.parts[first..]
            .iter()
            .take_while(move |part| part.0 < end)
            .map(move |&(low, high)| (low.max(start), high.min(end)))
    }

    /// Adds `[start, end)`. O(n) for n disjoint ranges.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        let from = self.parts.partition_point(|part| part.1 < start);
        let to = self.parts.partition_point(|part| part.0 <= end);
        let low = self.parts[from..to].first().map_or(start, |part| part.0.min(start));
        let high = self.parts[from..to].last().map_or(end, |part| part.1.max(end));
        self.parts.splice(from..to, [(low, high)]);
    }

    /// Returns the ranges of the complement within `[0, top)`, ascending.
    pub(super) fn free_below(&self, top: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let starts = std::iter::once(0).chain(self.parts.iter().map(|part| part.1));
        let ends = self.parts.iter().map(|part| part.0).chain([u64::MAX]);
        starts.zip(ends).map(move |(start, end)| (start, end.min(top))).filter(|(start, end)| start < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_a_set_of_addresses() {
        let mut raw = 5u64;
        for _ in 0..200 {
            let (mut ranges, mut set) = (Ranges::default(), [false; 40]);
            let mut all = Vec::new();
            for _ in 0..8 {
                raw = raw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                let (start, end) = (raw >> 59, (raw >> 59) + 1 + (raw >> 50 & 7));
                ranges.insert(start, end);
                all.push((start, end));
                set[start as usize..end as usize].fill(true);
                assert_eq!(ranges, Ranges::union(all.clone()));
                let mut seen = [true; 40];
                for (start, end) in ranges.free_below(40) {
                    seen[start as usize..end as usize].fill(false);
                }
                assert_eq!(seen, set);
                let inside: u64 = ranges.within(10, 25).map(|(start, end)| end - start).sum();
                assert_eq!(inside, set[10..25].iter().map(|&taken| u64::from(taken)).sum::<u64>());
            }
        }
    }
}
