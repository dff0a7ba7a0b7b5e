//! Heuristics: fast algorithms without a proof of optimality.
//!
//! Eight lists contain every heuristic with its name, a summary and its source: [`OFFSETS`],
//! [`SPLIT_BUFFERS`], [`SHARED_OBJECTS`], [`ORDERS`], [`TIMELINES`], [`TIERS`], [`SPILLING`] and [`FUSIONS`].
//! Every heuristic reports the simple bound of its problem, so an answer that meets this bound is proved
//! optimal. Heuristics prove nothing else.
//!
//! ```
//! use plimsoll_model::{Budget, Buffer, InstanceBuilder, Lifespan, Setup, Silent};
//!
//! let instance = InstanceBuilder::new("tiny")
//!     .buffer(Buffer::new("a", 4, Lifespan::single(0, 4)?))
//!     .buffer(Buffer::new("b", 4, Lifespan::single(0, 2)?))
//!     .buffer(Buffer::new("c", 4, Lifespan::single(2, 4)?))
//!     .build()?;
//! for entry in plimsoll_heuristics::OFFSETS {
//!     let solver = (entry.build)(Setup::default());
//!     let outcome = solver.solve(&instance, &mut Budget::unlimited(), &mut Silent)?;
//!     println!("{:>20} {:?} {}", entry.name, outcome.value, outcome.claim);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod buffer_orders;
mod ejection;
mod fusion;
mod gaps;
mod heat;
mod hill_climb;
mod iterated;
mod long_first;
mod naive;
mod ordered;
pub mod orders;
mod patent;
mod placement;
mod ranks;
mod registry;
mod report;
mod shared_objects;
mod spilling;
pub mod tiers;
pub mod timelines;
mod two_level;
mod valley;

pub use buffer_orders::{Order, conflict_counts};
pub use ejection::{Ejection, EjectionSearch};
pub use fusion::{FUSIONS, longest_matches};
pub use heat::{Heat, Peak};
pub use iterated::{Effort, IteratedSearch, Iteration};
pub use long_first::long_first;
pub use naive::laid_end_to_end;
pub use orders::ORDERS;
pub use patent::patent_split;
pub use placement::{Abandoned, Arrangement, Fit, place};
pub use registry::{OFFSETS, SHARED_OBJECTS, SPLIT_BUFFERS};
pub use report::unsplit;
pub use shared_objects::{Classes, PoolChoice, PoolGreedy, positional_maxima};
pub use spilling::{
    GreedySpill, SPILLING, SpillChoice, all_spilled, excess, fractional_cover, greedy_spill, quick_layout,
    spilled_above,
};
pub use tiers::TIERS;
pub use timelines::TIMELINES;
pub use valley::{ValleyWeights, valley_fit};
