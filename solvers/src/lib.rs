//! Exact solvers for all nine problems, and the lower bounds that prove their answers.
//!
//! # Where to start
//!
//! Each problem has a registry: a list of [`Entry`](plimsoll_model::Entry) values with a name, a one-line
//! summary, a source and a constructor. The first entry of each registry is the default.
//!
//! | problem | registry | default algorithm |
//! |---|---|---|
//! | offsets | [`OFFSETS`] | [`Exact`]: bounds and heuristics, then branch and bound ([`search`]) |
//! | split buffers | [`SPLIT_BUFFERS`] | [`SplitExact`]: one maximum flow, or column generation ([`split_buffers`]) |
//! | shared objects | [`SHARED_OBJECTS`] | an integer program (feature `ilp`) |
//! | spilling | [`SPILLING`] | decision diagrams choose buffers to spill, and the solver `exact` places the rest ([`spilling`]) |
//! | operator orders | [`ORDERS`] | reductions, then search over downsets ([`orders`]) |
//! | order and offsets | [`JOINT`] | the best order and its layout, then other orders ([`joint`]) |
//! | timelines | [`TIMELINES`] | branch and bound over transfer orders ([`timelines`]) |
//! | memory tiers | [`TIERS`] | a dynamic program over time, pruned by dual bounds ([`tiers`]) |
//! | fusion | [`FUSIONS`] | decomposition of weighted set packing ([`mod@fusion`]) |
//!
//! [`bounds`] computes lower bounds on the peak without search; [`clique`] finds heavy cliques of the
//! conflict graph.
//!
//! # What the default solvers guarantee
//!
//! - The solver for fusion maximises the value. All other solvers minimise it.
//! - Each solver stops at a time limit, at a node limit or on request, with its best solution and bound so
//!   far. With [`Budget::with_target`](plimsoll_model::Budget::with_target), it also stops at the first
//!   solution whose value reaches the target. The solvers for timelines, memory tiers and fusion ignore the
//!   target.
//! - The claim follows from the value, the bound and the capacity alone
//!   ([`Outcome::conclude`](plimsoll_model::Outcome::conclude)).
//! - The solvers for offsets support gaps, alignments, fixed offsets, separations and exclusions.
//!
//! # Features
//!
//! `ilp` links HiGHS (through `good_lp`), and `smt` links z3. Both libraries take a long time to build. The
//! features are off by default in this crate and on by default in the command `plimsoll`. All other solvers,
//! among them the default algorithms of all problems except shared objects, need neither feature. For each
//! library, [`LIBRARIES`] states whether this build contains it.
//!
//! # Example
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
mod clique_in_time;
mod cover;
mod exact;
// Without the two libraries, this module is unused.
#[cfg_attr(not(any(feature = "ilp", feature = "smt")), allow(dead_code))]
mod foreign;
#[cfg(any(feature = "ilp", feature = "smt"))]
// Some items of this shared module serve only one of the two libraries.
#[cfg_attr(not(all(feature = "ilp", feature = "smt")), allow(dead_code, unused_imports))]
mod formulation;
pub mod fusion;
#[cfg(feature = "ilp")]
pub mod ilp;
pub mod joint;
mod network;
pub mod orders;
mod poset;
mod pqtree;
pub mod proof;
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
pub use split_buffers::SplitExact;
pub use tiers::TIERS;
pub use timelines::TIMELINES;
