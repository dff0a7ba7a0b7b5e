//! Problems, answers and checkers of the Plimsoll toolkit. This crate contains no algorithm.
//!
//! The toolkit plans the memory of neural-network programs and proves how good its plans are. This crate
//! defines the optimisation problems, the files that describe them, and a checker for their answers. It
//! also defines lower bounds with witnesses that can be confirmed. The algorithms are in the crates
//! `plimsoll-heuristics` and `plimsoll-solvers`. The library `plimsoll` combines them and answers each
//! question with one call.
//!
//! # First steps
//! An [`Instance`] is a set of [`Buffer`]s. Each buffer has a size and a [`Lifespan`], and optionally an
//! alignment or a fixed offset. A [`Layout`] assigns an offset to each buffer, and its peak is the memory
//! that it needs. [`check_layout`] recomputes everything from the definitions and lists the violations.
//! [`load()`] is the simplest lower bound:
//!
//! ```
//! use plimsoll_model::{Buffer, InstanceBuilder, Layout, Lifespan, check_layout, load};
//!
//! // bytes
//! //  8 ┤ b b c c       a and b are simultaneously live, and so are a and c
//! //  4 ┤ a a a a       load: 4 + 4 bytes at step 0, 4 + 4 bytes at step 2
//! //  0 └─0─1─2─3─ step
//! let instance = InstanceBuilder::new("tiny")
//!     .buffer(Buffer::new("a", 4, Lifespan::single(0, 4)?))
//!     .buffer(Buffer::new("b", 4, Lifespan::single(0, 2)?))
//!     .buffer(Buffer::new("c", 4, Lifespan::single(2, 4)?))
//!     .build()?;
//! let layout = Layout::from_raw([0, 4, 4]);
//! assert!(check_layout(&instance, &layout).is_empty());
//! assert_eq!(layout.peak(&instance), load(&instance).0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An algorithm implements [`Solver`]. It computes an [`Outcome`] from an input within a [`Budget`], and
//! reports progress to an [`Observer`]. An outcome separates two facts: what is proved ([`Claim`], the
//! solution status), and why the run ended ([`Stop`], the termination reason). [`run::run`] executes an
//! algorithm under [`run::Limits`] and audits its answer with [`run::audit`], which checks everything that
//! can be recomputed. [`verify_bound`] confirms the [`Witness`] of a [`LowerBound`]. A [`Certificate`]
//! stores a claim and a witness as JSON.
//!
//! # The problems
//! Every problem is a type that implements [`Problem`], which defines its input, its solution, the value to
//! minimise, and its checker. A shared object is a block of memory that contains at most one buffer at a
//! time.
//!
//! | problem | type | input | decision | objective to minimise |
//! |---|---|---|---|---|
//! | `offsets` | [`Offsets`] | [`Instance`] | an offset per buffer | the peak |
//! | `split-buffers` | [`SplitBuffers`] | [`Instance`] | a list of address ranges per buffer | the peak |
//! | `shared-objects` | [`SharedObjects`] | [`Instance`] | an object per buffer | the sum of object sizes |
//! | `spilling` | [`Spilling`] | [`SpillProblem`] | the on-chip buffers | the traffic of the other buffers |
//! | `orders` | [`Orders`] | [`orders::OrderProblem`] | a topological order | the peak live bytes |
//! | `joint` | [`Joint`] | [`JointProblem`] | an order and a layout | the arena |
//! | `timelines` | [`timelines::Timelines`] | [`timelines::TimelineProblem`] | start times | the makespan |
//! | `tiers` | [`tiers::Tiers`] | [`tiers::TierProblem`] | a memory per tensor | the transfer time |
//! | `fusion` | [`fusion::Fusions`] | [`fusion::FusionProblem`] | groups of operators | cross-group relations |
//!
//! # Further reading
//! - Reading and writing instances: [`csv`]. The crate `plimsoll-support` reads compressed files and writes
//!   files atomically.
//! - From a model to instances: [`graph`] defines operators, tensors and regions. [`program`] turns a graph
//!   with branches and loops into a single offset problem, and [`structure`] derives conflicts before an
//!   order is chosen.
//! - Bounds: [`simple_bound`], [`LoadProfile`], [`sections`], [`orders::around_bound`],
//!   [`program::ProgramBound`].
//! - Checkers besides those of the problems: [`execution`] simulates runs of a graph in its planned memory
//!   and tracks every byte. [`races()`] checks a placement under concurrent execution.
//! - Machines, units and patterns, described in TOML and text files: [`timelines::Machine`],
//!   [`tiers::TierMachine`], [`fusion::Units`], [`fusion::Patterns`].

mod bound;
mod budget;
mod buffer;
mod ceiling;
mod certificate;
mod claim;
mod conflict;
pub mod csv;
mod description;
pub mod execution;
pub mod fusion;
pub mod graph;
mod groups;
mod guarded;
mod instance;
mod instance_error;
mod instance_problem;
mod joint;
mod json;
mod lifespan;
mod load;
pub mod offsets;
pub mod orders;
mod outcome;
mod pairs;
mod parameter;
mod pinned;
mod presets;
mod problem;
pub mod program;
pub mod progress;
mod races;
pub mod run;
mod solver;
mod spilling;
pub mod structure;
pub mod tiers;
mod time;
pub mod timelines;
mod topological;
mod tracker;
mod units;
mod value;
mod witness_summary;
mod words;

pub use bound::{BoundError, LowerBound, Reason, Witness};
pub use budget::Budget;
pub use buffer::Buffer;
pub use certificate::{CERTIFICATE_VERSION, Certificate, CertificateError, CertifiedBound};
pub use claim::{Claim, Stats, Stop};
pub use conflict::ConflictGraph;
pub use description::DescriptionError;
pub use groups::{RigidGroup, RigidGroups, common_base};
pub use guarded::guarded;
pub use instance::{Instance, InstanceBuilder};
pub use instance_error::InstanceError;
pub use instance_problem::InstanceProblem;
pub use joint::{Joint, JointPlan, JointProblem};
pub use json::json_from_slice;
pub use lifespan::{Interval, Lifespan, LifespanError};
pub use load::{
    LoadProfile, Section, live_at, load, section_intervals, sections, sections_within, visit_sections,
};
pub use offsets::{
    Layout, Offsets, Piece, PoolPlan, SharedObjects, SplitBuffers, SplitLayout, Violation, check_layout,
    check_shared_objects, check_split_buffers, live_within, simple_bound, stack_height, verify_bound,
};
pub use orders::Orders;
pub use outcome::Outcome;
pub use pairs::Pairs;
pub use parameter::{Change, Parameter, ParameterError, parameters};
pub use problem::{Bound, Problem, Reduced};
pub use races::{Precedences, Race, races};
pub use solver::{Build, Entry, Kind, Observer, Setup, Silent, SolveError, Solver};
pub use spilling::{Spill, SpillError, SpillProblem, Spilling, check_spill, excess_cost, written_and_read};
pub use topological::topological;
pub use tracker::Tracker;
pub use units::{
    BufferId, Bytes, OperatorId, ParseBytesError, PoolId, RegionId, Step, TensorId, TierId, UnitId,
};
pub use value::{Relations, Value, gap_percent};
pub use witness_summary::WitnessSummary;
pub use words::json_error;
