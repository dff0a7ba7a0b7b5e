//! Heuristics: fast algorithms without a proof of optimality.
//!
//! The module of each problem exports its heuristics as `ENTRIES`, each with its name, a summary and its
//! source. Every heuristic reports the simple bound of its problem, so an answer that meets this bound is proved
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
//! for entry in plimsoll_heuristics::offsets::ENTRIES {
//!     let solver = (entry.build)(Setup::default());
//!     let outcome = solver.solve(&instance, &mut Budget::unlimited(), &mut Silent)?;
//!     println!("{:>20} {:?} {}", entry.name, outcome.value, outcome.claim);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod fusion;
pub mod offsets;
pub mod orders;
mod ranks;
pub mod shared_objects;
mod sources;
pub mod spilling;
pub mod split_buffers;
pub mod tiers;
pub mod timelines;
