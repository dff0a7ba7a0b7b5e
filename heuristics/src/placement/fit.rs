//! Which gap a buffer takes.

/// Which gap to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// The lowest that holds the buffer.
    First,
    /// The shortest that holds the buffer; the lowest of equals; above everything only where no gap does.
    Best,
}
