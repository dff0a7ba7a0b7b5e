//! How low can the peak memory of a neural-network program go, and what proves it?
//!
//! Plimsoll plans the memory of neural-network programs. It puts beside every fast heuristic the proven optimum,
//! or the best proven bound. This crate is the library to depend on; every answer that it returns has passed the
//! independent checker.
//!
//! ```
//! use plimsoll::model::csv::{ReadOptions, read_instance};
//! use plimsoll::model::{Claim, LowerBound, Outcome, Problem, Offsets, Layout, Stats, Stop, load, simple_bound};
//!
//! // Three buffers; `a` is alive all the time, `c` takes the place of `b`.
//! let rows = "id,lower,upper,size\na,0,4,4\nb,0,2,4\nc,2,4,4\n";
//! let instance = read_instance("tiny", rows.as_bytes(), ReadOptions::default())?;
//!
//! // A layout by hand, confirmed by the checker; the load proves that none is lower.
//! let layout = Layout::from_raw([0, 4, 4]);
//! assert!(Offsets::check(&instance, &layout).is_empty());
//! let peak = Offsets::value(&instance, &layout);
//! let bound: LowerBound = simple_bound(&instance);
//! let outcome = Outcome::<Offsets>::conclude(Some((layout, peak)), bound, None, Stop::Completed, Stats::default());
//! assert_eq!(outcome.claim, Claim::Optimal);
//! assert_eq!(peak, load(&instance).0);
//!
//! // Every algorithm there is runs the same way, under limits, and through the checker.
//! use plimsoll::run::{Limits, run};
//! use plimsoll::model::{Setup, Silent};
//! for entry in &plimsoll::registry().offsets {
//!     let attempt = run(entry, &instance, Setup::default(), Limits::default(), &mut Silent);
//!     if let Ok(outcome) = attempt.result {
//!         assert!(outcome.value.unwrap() >= peak, "{} went below the load", entry.name);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`model`] | problems, answers, bounds, checkers, the runner |
//! | [`heuristics`] | fast answers without proof |
//! | [`solvers`] | proven answers |
//! | `datasets` | importers, worked examples, generators (feature `datasets`, on by default) |
//! | [`registry()`] | every algorithm of every problem |
//! | [`mod@run`] | one algorithm, under limits, through the checker |
//! | [`graphs`] | orders and plans of whole graphs, region by region |
//! | [`structure`] | plans under conflicts derived from the structure of a graph |
//! | [`branches`] | plans of graphs with branches and loops, scheme by scheme |
//! | [`mod@timelines`] | timelines of whole graphs: weights fetched while operators compute |
//! | [`mod@tiers`] | tensors of whole graphs in several memories |
//! | [`mod@fusion`] | fusions of whole graphs, region by region |
//! | [`mod@spilling`] | what is spilled where memory does not suffice |
//! | [`posed`] | every problem posed on an instance or a graph, and answered as a whole |

#[cfg(feature = "datasets")]
pub use plimsoll_datasets as datasets;
pub use plimsoll_heuristics as heuristics;
pub use plimsoll_model as model;
pub use plimsoll_model::{interrupt, run};
pub use plimsoll_solvers as solvers;

pub mod arithmetic;
pub mod branches;
mod compare;
mod engine;
pub mod fusion;
pub mod graphs;
pub mod plan;
pub mod posed;
mod registry;
pub mod spilling;
pub mod structure;
pub mod tiers;
pub mod timelines;

pub use compare::{Comparison, Standing};
pub use engine::{Engine, EngineError, MemoryPlan, plan, solve};
pub use registry::{LeftOut, Listed, NameTaken, Registry, left_out, registry};
