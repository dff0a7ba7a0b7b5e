//! The choice of a gap.

/// The rule that chooses a gap for a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// The lowest gap that is large enough.
    First,
    /// The smallest gap that is large enough, or the lowest of several such gaps. The space above all
    /// conflicting buffers is used only if no gap is large enough.
    Best,
}
