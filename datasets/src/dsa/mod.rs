//! Version 1 of the structured problem schema of dsa-solver, a JSON format for buffers in memory pools.
//!
//! | member | meaning |
//! |---|---|
//! | `schema_version` | 1 |
//! | `profile`, `instance`, `metadata` | the profile of the schema, the name of the problem, and further data |
//! | `problem.pools[]` | `id`, `name`, `capacity` in bytes or null, `reserved_ranges[]` (`begin`, `end`, half-open, bytes) |
//! | `problem.buffers[]` | `id`, `name`, `size` and `alignment` in bytes, `live_intervals[]` (`lower`, `upper`, half-open, steps; the list may be empty for size 0), `allowed_pools[]` |
//! | `problem.constraints.colocations[]` | `first`, `second`: same pool and offset |
//! | `problem.constraints.separations[]` | `first`, `second`: no common address, regardless of lifespans |
//! | `problem.constraints.temporal_exclusions[]` | `first`, `second`: may share addresses even if both are live |
//! | `problem.constraints.pinned_allocations[]` | `buffer`, `pool`, `offset`, `exclusive_for_all_time` (default false) |
//! | `problem.objective` | ordered metrics; here the peak of each pool is minimised, which minimises `total_peak` and `max_peak` |
//!
//! Numbers are integers, and all numbers except steps are non-negative. If the file has negative steps, all
//! steps are counted from the earliest one. Unknown members are rejected, so that no constraint is silently
//! ignored. Members without an effect on peaks (`metadata`, `pypto_structure`, `reasons`) are ignored, except
//! for the hints and names that [`write_dsa`] stores in `metadata`. Members with an effect that no offset
//! problem can express (reuse costs, banks, other metrics) are ignored with a [note](Document::notes).
//!
//! [`Document::split`] returns one [`Instance`](plimsoll_model::Instance) per pool. Reserved ranges become
//! fixed buffers that are always live. Pins become fixed offsets.
//!
//! *Colocated* buffers become one buffer. It has the size of the largest of them and is live when any of them
//! is. The schema also treats them as one allocation of this size and applies all their constraints to it.
//! The merged problem is therefore equivalent to the original.
//!
//! Source: tonibohnlein/dsa-solver, `docs/structured_problem_schema_v1.md`, `src/dsa/model/model.h`
//! (colocations).

mod check;
mod document;
mod error;
mod node;
mod read;
mod split;
mod write;

pub use document::{Demand, Document, Pin, Pool, SCHEMA_VERSION};
pub use error::{DsaError, DsaErrorKind};
pub use read::{read_dsa, read_dsa_file};
pub use split::{PoolInstance, Split};
pub use write::{Allocation, write_allocations, write_dsa};
