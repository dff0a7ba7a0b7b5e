//! The placement engine: buffers one after the other, each into a gap that nothing placed forbids.
//!
//! **Definition.** Given the buffers placed so far, a *gap* of buffer `b` is a maximal range of addresses free of
//! buffers that conflict with `b`; above the highest of them lies the open gap. [`Fit::First`] takes the lowest
//! gap that holds `b`, [`Fit::Best`] the shortest (the lowest of equals), the open gap only where no other
//! holds it. Within the gap `b` takes the lowest aligned offset. Fixed buffers are placed before all others.
//!
//! ```text
//! bytes
//!   9 ┤      ███ q            gaps of b over its life: [2, 4) and [5, 7), open from 9
//!   7 ┤      ···              size 2: first fit 2, best fit 2 (equal length, lower)
//!   5 ┤ ███████  p            size 1: first fit 2
//!   4 ┤ ···                   size 3: both 9
//!   2 ┤ ████████ r
//!     └──── b ────▶ steps
//! ```
//!
//! **Invariants.** Whatever is placed forms a valid layout of the buffers placed: alignments, fixed offsets, gaps
//! in lifespans, separations and exclusions are kept. No offset exceeds [`Instance::ceiling`]. Every order of all
//! buffers yields a layout, and some order yields an optimal one under first fit where nothing is aligned or
//! fixed: the buffers of an optimal layout, pushed down, in ascending offset.
//!
//! **Complexity.** Placed buffers stay sorted by offset in [blocks](self::blocks) with lifespan hulls. Placing one
//! is O(n) at worst; first fit ends at the gap, whole blocks are skipped, hulls are compared by vector
//! instructions. Memory is linear; no conflict graph is built.

mod arrangement;
mod blocks;
mod fit;
mod scan;

pub use arrangement::{Abandoned, Arrangement};
pub use fit::Fit;

use plimsoll_model::{Budget, BufferId, Bytes, Instance, Layout};

/// Places all buffers in the order given and returns the layout, or `None` as soon as its peak would reach `below`.
///
/// `order` holds every buffer once; where a fixed buffer stands in it makes no difference. O(n^2) at worst,
/// usually near O(n log n) for first fit.
///
/// # Panics
/// If `order` is not a permutation of the buffers.
///
/// ```
/// use plimsoll_heuristics::{Fit, place};
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
