//! The result of a pass.

use plimsoll_model::Stop;

/// The result of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepEnd {
    /// The minimum peak, which is within the capacity, and optimal offsets, in units. Offsets of buffers
    /// outside the window are 0. Not necessarily minimal if a beam dropped states.
    Least {
        peak: i64,
        /// Offset per buffer, in the numbering of `Reduced`.
        offsets: Vec<i64>,
    },
    /// The buffers live in the sections `refuted` have no layout within the capacity, nor below `next` units.
    Impossible {
        /// The least capacity that is not refuted.
        next: i64,
        /// First section, and the section after the last.
        refuted: (usize, usize),
    },
    /// A beam lost all its states, the states exceed the memory limit, too many buffers are simultaneously
    /// live, or numbers are too large.
    TooMany,
    /// The budget ended.
    Stopped(Stop),
}
