//! Fast answers, no proof.
//!
//! [`OFFSETS`], [`SCATTERED`], [`POOLS`], [`ORDERS`], [`TIMELINES`], [`TIERS`] and [`SPILLING`] list every heuristic by name, with its source. All of them report the
//! simplest bound, so an answer that meets it is proved optimal; none proves more.
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

mod ejection;
mod fusion;
mod gaps;
mod heat;
mod hill_climb;
mod iterated;
mod long_first;
mod naive;
pub mod order;
mod ordered;
mod orders;
pub mod overlap;
mod patent;
mod placement;
mod pools;
mod ranks;
mod registry;
mod report;
mod spill;
pub mod tiers;
mod two_level;
mod valley;

pub use ejection::EjectionSearch;
pub use fusion::{FUSIONS, longest_matches};
pub use heat::{Heat, Peak};
pub use iterated::{Effort, IteratedSearch};
pub use long_first::long_first;
pub use order::ORDERS;
pub use orders::{Order, conflict_counts};
pub use overlap::TIMELINES;
pub use patent::patent_scattered;
pub use placement::{Abandoned, Arrangement, Fit, place};
pub use pools::{Classes, PoolChoice, PoolGreedy, positional_maxima};
pub use registry::{OFFSETS, POOLS, SCATTERED};
pub use spill::{
    GreedySpill, SPILLING, SpillChoice, all_spilled, cliques_above, fractional_cover, greedy_spill,
    quick_layout, spill_bound,
};
pub use tiers::TIERS;
pub use valley::{ValleyWeights, valley_fit};
