//! The structured problem schema, version 1, of dsa-solver: memories of a compiler for accelerators, as JSON.
//!
//! | member | meaning |
//! |---|---|
//! | `schema_version` | 1 |
//! | `profile`, `instance`, `metadata` | where it comes from; a name |
//! | `problem.pools[]` | `id`, `name`, `capacity` in bytes or null, `reserved_ranges[]` (`begin`, `end`, half-open, bytes) |
//! | `problem.buffers[]` | `id`, `name`, `size` and `alignment` in bytes, `live_intervals[]` (`lower`, `upper`, half-open, steps; of size 0 also none), `allowed_pools[]` |
//! | `problem.constraints.colocations[]` | `first`, `second`: same pool and offset |
//! | `problem.constraints.separations[]` | `first`, `second`: no common address, whatever the lifespans |
//! | `problem.constraints.temporal_exclusions[]` | `first`, `second`: may share addresses although both are alive |
//! | `problem.constraints.pinned_allocations[]` | `buffer`, `pool`, `offset`, `exclusive_for_all_time` (default false) |
//! | `problem.objective` | ordered metrics; here every pool's peak is made least, which makes `total_peak` and `max_peak` least |
//!
//! Numbers are whole, and but for steps not negative; where steps are, all are counted from the first.
//! Unknown members are refused, so that no constraint is silently ignored. What is read and has no meaning
//! for peaks (`metadata`, `pypto_structure`, `reasons`) is passed over, what has one that no offset problem
//! knows (costs of reuse, banks, other metrics) is named in the [notes](Document::notes).
//!
//! [`Document::split`] makes one [`Instance`](plimsoll_model::Instance) per pool. Reserved ranges become fixed buffers
//! that are alive all the time, pins fixed offsets.
//!
//! *Colocated* buffers become one, alive when any of them is, as large as the largest: the schema has them as
//! one allocation of that extent, which everything asked of one of them is asked of, so that this is the same
//! problem.
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
