//! The result of a pass.

use plimsoll_model::Stop;

/// The result of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepEnd {
    /// The minimum peak, which is within the capacity, and optimal offsets, in units. Offsets of buffers
    /// outside the window are 0. If a beam was used, the peak need not be minimal.
    Least {
        peak: i64,
        /// Offset of each buffer, in the order of `Reduced`.
        offsets: Vec<i64>,
    },
    /// The buffers that are live in the sections `refuted` have no layout with a peak below `next` units.
    /// `next` is above the capacity.
    Impossible {
        /// The smallest capacity that is not refuted, in units.
        next: i64,
        /// The first section, and the section after the last.
        refuted: (usize, usize),
    },
    /// The sweep has no result. No state of a beam remained, the states exceeded the memory limit, too many
    /// buffers are simultaneously live, or numbers are too large.
    TooMany,
    /// The budget ran out.
    Stopped(Stop),
}
