//! Exact solvers for all problems, and the lower bounds that prove their answers.
//!
//! # Where to start
//!
//! Each problem has a registry: a list of [`Entry`](plimsoll_model::Entry) values with a name, a one-line
//! summary, a source and a constructor. The first entry of each registry is the default.
//!
//! | problem | registry | default algorithm |
//! |---|---|---|
//! | offsets | [`offsets::ENTRIES`] | [`offsets::Exact`]: bounds and heuristics, then branch and bound ([`offsets::search`]) |
//! | split buffers | [`split_buffers::ENTRIES`] | [`split_buffers::SplitExact`]: one maximum flow, or column generation ([`split_buffers`]) |
//! | shared objects | [`shared_objects::ENTRIES`] | an integer program (feature `ilp`) |
//! | spilling | [`spilling::ENTRIES`] | decision diagrams choose buffers to spill, and the solver `exact` places the rest ([`spilling`]) |
//! | operator orders | [`orders::ENTRIES`] | reductions, then search over downsets ([`orders`]) |
//! | order and offsets | [`joint::ENTRIES`] | the best order and its layout, then other orders ([`joint`]) |
//! | timelines | [`timelines::ENTRIES`] | branch and bound over transfer orders ([`timelines`]) |
//! | memory tiers | [`tiers::ENTRIES`] | a dynamic program over time, pruned by dual bounds ([`tiers`]) |
//! | fusion | [`fusion::ENTRIES`] | decomposition of weighted set packing ([`mod@fusion`]) |
//!
//! [`offsets::bounds`] computes lower bounds on the peak without search; [`clique`] finds heavy cliques of the
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
//! use plimsoll_solvers::offsets::Exact;
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

pub mod clique;
mod clique_in_time;
mod cover;
// Without the two libraries, this module is unused.
#[cfg_attr(not(any(feature = "ilp", feature = "smt")), allow(dead_code))]
mod foreign;
pub mod fusion;
#[cfg(feature = "ilp")]
mod highs;
pub mod joint;
mod libraries;
mod network;
pub mod offsets;
pub mod orders;
mod poset;
mod pqtree;
pub mod shared_objects;
pub mod spilling;
pub mod split_buffers;
pub mod tiers;
pub mod timelines;

pub use foreign::abandoned;
pub use libraries::{LIBRARIES, Library};
