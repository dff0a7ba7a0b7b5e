//! Operators whose output overlaps a part of their input: which may do so, and whether it pays.
//!
//! The two tensors then lie in one storage for as long as one of them is live. This saves memory while both
//! are live, and costs memory while only the smaller one is.

use super::build::{GraphError, check_bytes};
use super::{Alias, AliasKind, Graph, Role};
use crate::units::Bytes;
use std::cmp::Reverse;
use std::ops::Range;

impl Graph {
    /// Lets the operators of a kind overlap their first output with their first input, except for `apart`
    /// bytes of the smaller one. The output begins first. Each of these operators needs `scratch` more bytes
    /// of scratch memory. Inputs that are weights, and tensors of at most `apart` bytes, do not overlap. An
    /// operator that already aliases the two keeps its alias. Returns the number of operators with such an
    /// input and output. O(number of operators).
    ///
    /// # Errors
    /// [`GraphError::TooLarge`] if the graph then has 2^63 bytes or more.
    pub fn overlap(&mut self, kind: &str, apart: Bytes, scratch: Bytes) -> Result<usize, GraphError> {
        let mut found = 0;
        for operator in self.operators.iter_mut().filter(|one| one.kind == kind && one.regions.is_empty()) {
            let (Some(&input), Some(&output)) = (operator.inputs.first(), operator.outputs.first()) else {
                continue;
            };
            let [from, to] = [input, output].map(|id| &self.tensors[id.index()]);
            if from.role == Role::Weight || from.bytes.min(to.bytes) <= apart {
                continue;
            }
            found += 1;
            if !operator.aliases.iter().any(|alias| (alias.input, alias.output) == (input, output)) {
                let offset = Bytes::new(to.bytes.get().saturating_sub(from.bytes.get()) + apart.get());
                operator.aliases.push(Alias { input, output, kind: AliasKind::InPlace, offset });
                operator.scratch = Bytes::new(operator.scratch.get().saturating_add(scratch.get()));
            }
        }
        check_bytes(&self.tensors, &self.operators, &self.segments)?;
        Ok(found)
    }
}

/// The live bytes of the storages of a region at every position of the order of the file.
pub(super) struct Loads(Vec<i64>);

impl Loads {
    /// Adds up storages, given by the positions at which they are live and their bytes. O(s + n) for s steps
    /// and n storages.
    pub(super) fn new(steps: usize, storages: impl Iterator<Item = (Range<usize>, i64)>) -> Self {
        let mut changes = vec![0; steps + 1];
        for (span, bytes) in storages {
            changes[span.start] += bytes;
            changes[span.end] -= bytes;
        }
        let sums = changes.iter().scan(0, |live, change| {
            *live += change;
            Some(*live)
        });
        Self(sums.take(steps).collect())
    }

    /// Replaces two storages by one of `united` bytes.
    pub(super) fn unite(&mut self, parts: &[(Range<usize>, i64); 2], united: i64) {
        for (span, bytes) in parts {
            self.0[span.clone()].iter_mut().for_each(|load| *load -= bytes);
        }
        self.0[hull(parts)].iter_mut().for_each(|load| *load += united);
    }

    /// Returns true if one storage of `united` bytes instead of two reduces the loads. O(w log w) for a
    /// storage that is live at w positions.
    pub(super) fn fall(&self, parts: &[(Range<usize>, i64); 2], united: i64) -> bool {
        let window = hull(parts);
        let before = self.0[window.clone()].to_vec();
        let both = |at: usize| -> i64 {
            parts.iter().filter(|(span, _)| span.contains(&at)).map(|(_, bytes)| bytes).sum()
        };
        let after: Vec<i64> = window.map(|at| self.0[at] - both(at) + united).collect();
        Self(after).sorted() < Self(before).sorted()
    }

    /// Returns the loads from the largest one down, for comparisons.
    pub(super) fn sorted(mut self) -> Vec<i64> {
        self.0.sort_unstable_by_key(|&load| Reverse(load));
        self.0
    }
}

/// Returns the positions from the first to the last one at which one of the storages is live.
fn hull(parts: &[(Range<usize>, i64); 2]) -> Range<usize> {
    let [(a, _), (b, _)] = parts;
    a.start.min(b.start)..a.end.max(b.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_loads_count_first() {
        // Two storages that are both live at position 1, beside a third one.
        let parts = [(0..2, 30), (1..4, 100)];
        let loads = |third| {
            let all = parts.iter().cloned().chain([third]);
            Loads::new(5, all)
        };
        assert_eq!(loads((2..5, 7)).0, [30, 130, 107, 107, 7]);
        // One storage of 100 bytes is live at position 0, too.
        assert!(loads((2..5, 7)).fall(&parts, 100));
        assert!(!loads((0..1, 40)).fall(&parts, 131));
        // Position 0 would have the largest load.
        assert!(!loads((0..1, 60)).fall(&parts, 100));
        let mut united = loads((2..5, 7));
        united.unite(&parts, 110);
        assert_eq!(united.0, [110, 110, 117, 117, 7]);
    }
}
