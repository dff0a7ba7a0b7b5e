//! On-chip memory that lends out address ranges. A borrower exclusively owns the bytes of its range.

use bytes::BytesMut;
use std::collections::BTreeMap;

/// The error for a range that is not free or is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes {start} to {end} of the on-chip memory are occupied or out of bounds")]
pub struct Taken {
    pub start: u64,
    pub end: u64,
}

/// A memory whose ranges can be lent. Lending splits a free range, and returning joins adjacent free ranges.
#[derive(Debug)]
pub struct Arena {
    /// The free ranges, keyed by start address. No two of them are adjacent.
    free: BTreeMap<u64, BytesMut>,
}

/// A lent range.
#[derive(Debug)]
pub struct Lent {
    start: u64,
    pub bytes: BytesMut,
}

impl Arena {
    /// Creates a memory of `size` bytes. The system commits its pages when they are first accessed.
    pub fn new(size: usize) -> Self {
        Self { free: BTreeMap::from([(0, BytesMut::zeroed(size))]) }
    }

    /// Lends the `size` bytes that begin at address `start`. An empty range is always free. O(log n) for n
    /// free ranges.
    ///
    /// # Errors
    /// [`Taken`] if a part of the range is lent or out of bounds.
    pub fn lend(&mut self, start: u64, size: u64) -> Result<Lent, Taken> {
        let taken = Taken { start, end: start.saturating_add(size) };
        if size == 0 {
            return Ok(Lent { start, bytes: BytesMut::new() });
        }
        let (&first, range) = self.free.range(..=start).next_back().ok_or(taken)?;
        if taken.end > first + range.len() as u64 {
            return Err(taken);
        }
        let mut range = self.free.remove(&first).ok_or(taken)?;
        let mut bytes = range.split_off((start - first) as usize);
        let after = bytes.split_off(size as usize);
        if !range.is_empty() {
            self.free.insert(first, range);
        }
        if !after.is_empty() {
            self.free.insert(taken.end, after);
        }
        Ok(Lent { start, bytes })
    }

    /// Takes a lent range back and joins it with the free ranges next to it. O(log n) for n free ranges.
    pub fn give_back(&mut self, lent: Lent) {
        let Lent { mut start, mut bytes } = lent;
        if bytes.is_empty() {
            return;
        }
        let end = start + bytes.len() as u64;
        if let Some(after) = self.free.remove(&end) {
            bytes.unsplit(after);
        }
        let before = self.free.range(..start).next_back();
        if let Some((&first, _)) = before.filter(|(first, range)| *first + range.len() as u64 == start)
            && let Some(mut before) = self.free.remove(&first)
        {
            before.unsplit(bytes);
            (start, bytes) = (first, before);
        }
        self.free.insert(start, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_lent_once_and_joined_again() {
        let mut arena = Arena::new(100);
        let origin = arena.free[&0].as_ptr();
        let a = arena.lend(10, 20).unwrap();
        let b = arena.lend(30, 70).unwrap();
        assert_eq!(arena.lend(0, 11).unwrap_err(), Taken { start: 0, end: 11 });
        assert_eq!(
            arena.lend(99, 1).unwrap_err().to_string(),
            "bytes 99 to 100 of the on-chip memory are occupied or out of bounds"
        );
        let c = arena.lend(0, 10).unwrap();
        assert!(arena.free.is_empty());
        assert!(arena.lend(0, 0).is_ok());
        for lent in [b, c, a] {
            arena.give_back(lent);
        }
        // There is one range at its original address, so joining copied nothing.
        assert_eq!(arena.free.len(), 1);
        assert_eq!((arena.free[&0].len(), arena.free[&0].as_ptr()), (100, origin));
        assert!(arena.lend(0, 101).is_err() && arena.lend(u64::MAX, 2).is_err());
        assert!(arena.lend(0, 100).is_ok());
    }
}
