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
//! Numbers are whole, and but for steps not negative; where steps are, all are counted from the first. Unknown members are refused, so that no constraint is silently ignored. What is
//! read and has no meaning for peaks (`metadata`, `pypto_structure`, `reasons`) is passed over, what has one that no offset
//! problem knows (costs of reuse, banks, other metrics) is named in the [notes](Document::notes).
//!
//! [`Document::split`] makes one [`Instance`](plimsoll_model::Instance) per pool. Reserved ranges become fixed buffers
//! that are alive all the time, pins fixed offsets.
//!
//! *Colocated* buffers become one, alive when any of them is, as large as the largest: the schema has them as one allocation
//! of that extent, which everything asked of one of them is asked of, so that this is the same problem.
//!
//! Source: tonibohnlein/dsa-solver, `docs/structured_problem_schema_v1.md`, `src/dsa/model/model.h` (colocations).

mod check;
mod error;
mod node;
mod read;
mod split;
mod write;

pub use error::{DsaError, DsaErrorKind};
pub use read::{read_dsa, read_dsa_file};
pub use split::{PoolInstance, Split};
pub use write::{Allocation, write_allocations, write_dsa};

use plimsoll_model::{Bytes, Lifespan};
use std::path::PathBuf;

/// The version of the schema that is read and written.
pub const SCHEMA_VERSION: u64 = 1;

/// The member of `metadata` that carries what CSV has and the schema has not.
const OWN: &str = "plimsoll";

/// A problem of several pools, validated. Pools and buffers are named by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    origin: PathBuf,
    name: String,
    profile: String,
    pools: Vec<Pool>,
    buffers: Vec<Demand>,
    colocations: Vec<(usize, usize)>,
    separations: Vec<(usize, usize)>,
    exclusions: Vec<(usize, usize)>,
    pins: Vec<Pin>,
    notes: Vec<String>,
    fingerprint: String,
    exported: bool,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its id in the file.
    pub id: u32,
    /// Its name there, perhaps empty or that of another.
    pub name: String,
    /// Bytes, if limited.
    pub capacity: Option<Bytes>,
    /// Addresses nobody may have: begin and end in bytes, ascending, disjoint, none adjacent.
    pub reserved: Vec<(Bytes, Bytes)>,
}

impl Pool {
    fn label(&self) -> String {
        format!("{} '{}'", self.id, self.name)
    }
}

/// A buffer that asks for a place in one of some pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Its id in the file.
    pub id: u32,
    /// Its name there, perhaps empty.
    pub name: String,
    /// Bytes.
    pub size: Bytes,
    /// Bytes, at least 1.
    pub alignment: Bytes,
    /// When it is alive.
    pub lifespan: Lifespan,
    /// Positions of the pools that may hold it, as the file orders them, none twice.
    pub pools: Vec<usize>,
    /// An offset suggested in the CSV it was written from.
    pub hint: Option<Bytes>,
}

impl Demand {
    fn label(&self) -> String {
        format!("buffer {} '{}'", self.id, self.name)
    }
}

/// A buffer that has its place already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Position of the buffer.
    pub buffer: usize,
    /// Position of the pool.
    pub pool: usize,
    /// Bytes.
    pub offset: Bytes,
    /// Nobody else may have these addresses, ever.
    pub exclusive: bool,
}

impl Document {
    /// What the file calls the problem.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hash by which dsa-solver knows what an answer is for.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// All pools.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// All buffers.
    pub fn buffers(&self) -> &[Demand] {
        &self.buffers
    }

    /// What the file asks beyond offsets and is left out, one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// One name per pool, different from each other and fit for files: `STEM-POOL`, or where [`write_dsa`] made the document
    /// the name of the instance alone.
    pub fn pool_names(&self, stem: &str) -> Vec<String> {
        let plain = |text: &str| -> String {
            text.chars().map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
        };
        let mut used = std::collections::HashSet::new();
        let mut name = |pool: &Pool| {
            let own = if pool.name.is_empty() { format!("pool{}", pool.id) } else { plain(&pool.name) };
            let mut name = if self.exported { own } else { format!("{}-{own}", plain(stem)) };
            while !used.insert(name.to_lowercase()) {
                name = format!("{name}-{}", pool.id);
            }
            name
        };
        self.pools.iter().map(&mut name).collect()
    }

    /// True where [`write_dsa`] made it: then every pool carries the name of the instance it was.
    pub fn is_exported(&self) -> bool {
        self.exported
    }
}
