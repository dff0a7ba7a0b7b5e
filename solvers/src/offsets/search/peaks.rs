//! The peaks that a layout can have once its buffers have been pushed down.

/// A set of possible peaks. Every offset is a multiple of the grain, so every peak is a multiple of the grain
/// plus the size of a buffer.
#[derive(Clone, Debug)]
pub(super) struct Peaks {
    grain: u64,
    /// The bytes by which sizes fall short of multiples of the grain, each once.
    excess: Vec<u64>,
}

impl Peaks {
    /// Returns the set for sizes that are multiples of the grain.
    pub fn multiples(grain: u64) -> Self {
        Self { grain, excess: vec![0] }
    }

    /// Returns the set for sizes that fall short of multiples of the grain by `excess` bytes.
    pub fn new(grain: u64, excess: impl IntoIterator<Item = u64>) -> Self {
        let mut excess: Vec<u64> = excess.into_iter().map(|one| one % grain).collect();
        excess.sort_unstable();
        excess.dedup();
        Self { grain, excess }
    }

    /// Returns the grain in bytes.
    pub fn grain(&self) -> u64 {
        self.grain
    }

    /// Returns the highest peak of at most `bytes` bytes, if any.
    pub fn at_most(&self, bytes: u64) -> Option<u64> {
        let top = |&excess: &u64| ((bytes + excess) / self.grain * self.grain).checked_sub(excess);
        self.excess.iter().filter_map(top).max()
    }

    /// Returns the lowest peak of at least `bytes` bytes.
    pub fn at_least(&self, bytes: u64) -> u64 {
        let top = |&excess: &u64| (bytes + excess).next_multiple_of(self.grain) - excess;
        self.excess.iter().map(top).min().unwrap_or(bytes)
    }
}
