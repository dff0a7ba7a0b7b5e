//! Proven answers: bounds, our own search, ILP (`good_lp` + HiGHS), SMT (z3).
//!
//! The features `ilp` and `smt`, both on by default, bring in HiGHS and z3, which take long to build and to load; all
//! else, the default solvers among it, needs neither. [`LIBRARIES`] says what is there.
//!
//! [`OFFSETS`], [`SPLIT_BUFFERS`], [`SHARED_OBJECTS`], [`ORDERS`], [`TIMELINES`], [`TIERS`] and [`SPILLING`] list every exact solver by name. All support gaps, alignments, fixed offsets, separations
//! and exclusions; minimise, or decide at a capacity ([`plimsoll_model::Budget::with_target`]); stop on time or nodes.
//! What they claim follows from value, bound and capacity alone ([`plimsoll_model::Outcome::conclude`]).
//!
//! ```
//! use plimsoll_model::{Budget, Buffer, Claim, InstanceBuilder, Lifespan, Setup, Silent, Solver};
//! use plimsoll_solvers::Exact;
//!
//! let instance = InstanceBuilder::new("tiny")
//!     .buffer(Buffer::new("a", 4, Lifespan::single(0, 4)?))
//!     .buffer(Buffer::new("b", 6, Lifespan::single(0, 2)?))
//!     .buffer(Buffer::new("c", 5, Lifespan::single(2, 4)?))
//!     .build()?;
//! let outcome = Exact::new(Setup::default()).solve(&instance, &mut Budget::unlimited(), &mut Silent)?;
//! assert_eq!(outcome.claim, Claim::Optimal);
//! assert_eq!(outcome.value.unwrap().get(), 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bounds;
mod brute;
pub mod clique;
mod exact;
// Without either library nothing is called.
#[cfg_attr(not(any(feature = "ilp", feature = "smt")), allow(dead_code))]
mod foreign;
#[cfg(any(feature = "ilp", feature = "smt"))]
// Some of what the two share serves only one of them.
#[cfg_attr(not(all(feature = "ilp", feature = "smt")), allow(dead_code, unused_imports))]
mod formulation;
pub mod fusion;
#[cfg(feature = "ilp")]
pub mod ilp;
pub mod joint;
mod network;
pub mod orders;
mod poset;
mod registry;
pub mod search;
#[cfg(feature = "smt")]
pub mod smt;
pub mod spilling;
pub mod split_buffers;
pub mod tiers;
pub mod timelines;

pub use brute::BruteForce;
pub use exact::Exact;
pub use foreign::abandoned;
#[cfg(feature = "ilp")]
pub use fusion::FusionIlp;
pub use fusion::{ExactFusion, FUSIONS, FusionBrute};
pub use registry::{JOINT, LIBRARIES, Library, OFFSETS, ORDERS, SHARED_OBJECTS, SPLIT_BUFFERS, variants};
pub use spilling::SPILLING;
pub use split_buffers::ScatteredExact;
pub use tiers::TIERS;
pub use timelines::TIMELINES;
