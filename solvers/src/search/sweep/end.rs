//! How a pass ends.

use plimsoll_model::Stop;

/// How a pass ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepEnd {
    /// The least peak, which is within the capacity, and offsets that have it; all in units. Offsets of buffers outside
    /// the window are 0. Not always the least where a beam cut states off.
    Least {
        peak: i64,
        /// An offset per buffer, by the numbering of `Reduced`.
        offsets: Vec<i64>,
    },
    /// No layout within the capacity exists, nor below `next` units, of what is alive in the sections `refuted`.
    Impossible {
        /// The least capacity that may be possible.
        next: i64,
        /// First section, and first section after.
        refuted: (usize, usize),
    },
    /// A beam that lost all its states, more states than memory allows, too many buffers alive at a time, or numbers too
    /// large.
    TooMany,
    /// The budget ran out.
    Stopped(Stop),
}
