//! What is planned and what an answer is; knows no algorithm.
//!
//! An [`Instance`] is a set of [`Buffer`]s, each with a size, a [`Lifespan`] and perhaps an alignment or a fixed
//! offset. A [`Layout`] gives each an offset; its peak is what everybody wants low. [`check_layout`] says whether a
//! layout is valid, recomputing everything from the definitions. A [`Solver`] turns an instance into an [`Outcome`]
//! whose [`Claim`] says what is proved.
//!
//! ```
//! use plimsoll_model::{Buffer, InstanceBuilder, Layout, Lifespan, check_layout, load};
//!
//! // bytes
//! // 12 ┤ ███ c ████      a and b are alive together, so are a and c
//! //  8 ┤ b ███           load: 4 + 4 at step 0, 4 + 4 at step 2
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

mod bits;
mod bound;
mod budget;
mod certificate;
mod check;
mod claim;
mod conflict;
pub mod csv;
mod description;
pub mod execution;
pub mod files;
pub mod fusion;
pub mod graph;
mod guarded;
mod instance;
mod instance_error;
pub mod interrupt;
mod joint;
mod layout;
mod lifespan;
mod load;
pub mod orders;
mod outcome;
mod pairs;
mod presets;
mod problem;
pub mod program;
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
mod words;

pub use bits::{BitMatrix, ones};
pub use bound::{
    BoundError, LowerBound, Reason, Witness, alive_within, simple_bound, stack_height, verify_bound,
};
pub use budget::Budget;
pub use certificate::{CERTIFICATE_VERSION, Certificate, CertificateError, CertifiedBound};
pub use check::{Violation, check_layout, check_shared_objects, check_split_buffers};
pub use claim::{Claim, Stats, Stop};
pub use conflict::ConflictGraph;
pub use description::DescriptionError;
pub use guarded::guarded;
pub use instance::{Buffer, Instance, InstanceBuilder};
pub use instance_error::InstanceError;
pub use joint::{Joint, JointPlan, JointProblem};
pub use layout::{Layout, Piece, PoolPlan, SplitLayout};
pub use lifespan::{Interval, Lifespan, LifespanError};
pub use load::{LoadProfile, Section, alive_at, load, sections, sections_within};
pub use outcome::Outcome;
pub use pairs::Pairs;
pub use problem::{Bound, InstanceProblem, Offsets, Orders, Problem, Reduced, SharedObjects, SplitBuffers};
pub use races::{Precedences, Race, races};
pub use solver::{Build, Entry, Kind, Observer, Setup, Silent, SolveError, Solver};
pub use spilling::{Spill, SpillError, SpillProblem, Spilling, check_spill, excess_cost, written_and_read};
pub use topological::topological;
pub use tracker::Tracker;
pub use units::{BufferId, Bytes, OperatorId, PoolId, RegionId, Step, TensorId, TierId, UnitId, gcd, root};
pub use value::{Relations, Value, gap_percent};
pub use words::hexadecimal;
