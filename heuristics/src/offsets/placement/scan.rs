//! A scan over placed buffers that searches for a gap.

use super::fit::Fit;

/// The state of a scan in ascending order of offset.
///
/// Invariant: until the scan is done, every conflicting buffer visited so far ends at or below `floor`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    size: u64,
    alignment: u64,
    fit: Fit,
    /// The exclusive limit on the end address of the buffer.
    below: u64,
    /// The lowest aligned offset above all conflicting buffers visited so far.
    floor: u64,
    /// The length and the offset of the tightest gap so far.
    tightest: Option<(u64, u64)>,
    done: bool,
}

impl Scan {
    pub(super) fn new(size: u64, alignment: u64, fit: Fit, from: u64, below: u64) -> Self {
        let mut scan = Self { size, alignment, fit, below, floor: 0, tightest: None, done: false };
        scan.raise(from);
        scan
    }

    /// Raises the floor. The scan ends when the buffer, placed at the floor, would reach the limit.
    fn raise(&mut self, to: u64) {
        self.floor = to.checked_next_multiple_of(self.alignment).unwrap_or(u64::MAX);
        self.done |= self.floor.saturating_add(self.size) >= self.below;
    }

    /// Visits a conflicting buffer. Buffers must be visited in ascending order of offset. Returns true if the
    /// scan may end.
    pub(super) fn meet(&mut self, offset: u64, end: u64) -> bool {
        if self.done || end <= self.floor {
            return self.done;
        }
        if offset >= self.floor + self.size {
            let gap = offset - self.floor;
            if self.tightest.is_none_or(|(tightest, _)| gap < tightest) {
                self.tightest = Some((gap, self.floor));
            }
            self.done = self.fit == Fit::First || gap == self.size;
            if self.done {
                return true;
            }
        }
        self.raise(end);
        self.done
    }

    /// Returns true if buffers that end at or below `top` no longer matter.
    pub(super) fn is_above(&self, top: u64) -> bool {
        top <= self.floor
    }

    /// Returns true if no buffer whose offset is at least `first` can change the answer.
    pub(super) fn is_settled(&self, first: u64) -> bool {
        self.done || self.fit == Fit::First && first >= self.floor + self.size
    }

    /// Returns the offset that was found, if there is one within the limit.
    pub(super) fn answer(&self) -> Option<u64> {
        let open = (self.floor.saturating_add(self.size) < self.below).then_some(self.floor);
        self.tightest.map(|(_, offset)| offset).or(open)
    }
}
