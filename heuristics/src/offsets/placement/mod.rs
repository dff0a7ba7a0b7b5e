//! The placement engine, which places buffers sequentially, each into a gap between conflicting buffers.
//!
//! **Definition.** Given the buffers placed so far, a *gap* of buffer `b` is a maximal range of addresses
//! free of buffers that conflict with `b`. The *open gap* lies above all buffers that conflict with `b`.
//! [`Fit::First`] chooses the lowest gap that is large enough for `b`. [`Fit::Best`] chooses the smallest
//! such gap, or the lowest of several smallest ones. It chooses the open gap only if no other gap is large
//! enough. Within the gap, `b` is placed at the lowest aligned offset. Fixed buffers are placed before all
//! others.
//!
//! ```text
//! bytes
//!   9 ┤      ███ q            gaps of b over its lifespan: [2, 4), [5, 7) and the open gap from 9
//!   7 ┤      ···              size 2: offset 2 under both fits (equal lengths, so the lower gap)
//!   5 ┤ ███████  p            size 1: offset 2 under first fit
//!   4 ┤ ···                   size 3: offset 9 under both fits
//!   2 ┤ ████████ r
//!     └──── b ────▶ steps
//! ```
//!
//! A rigid group is placed as a whole when its first member is due. It gets the lowest base at which all
//! members fit, under both fits.
//!
//! **Invariants.** The placed buffers always form a valid layout: alignments, fixed offsets, gaps in
//! lifespans, separations, exclusions and rigid groups are respected. No offset exceeds
//! [`Instance::ceiling`]. Every order of all buffers yields a layout. Without alignments, fixed offsets or
//! rigid groups, some order yields an optimal layout under first fit. To obtain it, take an optimal layout,
//! push all buffers down as far as possible, and sort them by ascending offset.
//!
//! **Complexity.** Placed buffers are sorted by offset in [blocks](self::blocks) with lifespan hulls. Placing
//! one of n buffers takes O(n) time in the worst case. Under first fit, the scan ends at the chosen gap.
//! Whole blocks are skipped, and hulls are compared with vector instructions. Memory is linear, and no
//! conflict graph is built.

mod arrangement;
mod blocks;
mod fit;
mod scan;

pub use arrangement::{Abandoned, Arrangement};
pub use fit::Fit;

use plimsoll_model::{Budget, BufferId, Bytes, Instance, Layout};

/// Places all buffers in the given order and returns the layout. Returns `None` as soon as the peak would
/// reach `below` bytes.
///
/// `order` must contain every buffer once. The positions of fixed buffers have no effect. O(n^2) for n
/// buffers in the worst case, but usually close to O(n log n) for first fit.
///
/// # Panics
/// If `order` is not a permutation of the buffers.
///
/// ```
/// use plimsoll_heuristics::offsets::{Fit, place};
/// use plimsoll_model::{Buffer, InstanceBuilder, Lifespan};
///
/// let instance = InstanceBuilder::new("tiny")
///     .buffer(Buffer::new("a", 4, Lifespan::single(0, 4)?))
///     .buffer(Buffer::new("b", 6, Lifespan::single(0, 2)?))
///     .buffer(Buffer::new("c", 2, Lifespan::single(2, 4)?))
///     .build()?;
/// let order: Vec<_> = instance.ids().collect();
/// let layout = place(&instance, &order, Fit::First, None).expect("no limit");
/// assert_eq!(layout.peak(&instance).get(), 10);
/// assert!(place(&instance, &order, Fit::First, Some(10.into())).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn place(instance: &Instance, order: &[BufferId], fit: Fit, below: Option<Bytes>) -> Option<Layout> {
    let mut arrangement = Arrangement::new(instance);
    arrangement.run(order, fit, below, &mut Budget::unlimited()).ok()?;
    arrangement.layout()
}
