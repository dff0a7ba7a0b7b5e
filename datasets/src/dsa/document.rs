//! A validated document.

use plimsoll_model::{Bytes, Lifespan};
use std::path::PathBuf;

/// The supported version of the schema.
pub const SCHEMA_VERSION: u64 = 1;

/// The member of `metadata` that stores what CSV can express and the schema cannot.
pub(super) const OWN: &str = "plimsoll";

/// A validated problem with several pools. Pools and buffers are identified by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub(super) origin: PathBuf,
    pub(super) name: String,
    pub(super) profile: String,
    pub(super) pools: Vec<Pool>,
    pub(super) buffers: Vec<Demand>,
    pub(super) colocations: Vec<(usize, usize)>,
    pub(super) separations: Vec<(usize, usize)>,
    pub(super) exclusions: Vec<(usize, usize)>,
    pub(super) pins: Vec<Pin>,
    pub(super) notes: Vec<String>,
    pub(super) fingerprint: String,
    pub(super) exported: bool,
}

/// A memory that may contain buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its id in the file.
    pub id: u32,
    /// Its name in the file; it may be empty or not unique.
    pub name: String,
    /// Capacity in bytes, if limited.
    pub capacity: Option<Bytes>,
    /// Reserved addresses: begin and end in bytes, ascending, disjoint, none adjacent.
    pub reserved: Vec<(Bytes, Bytes)>,
}

impl Pool {
    pub(super) fn label(&self) -> String {
        format!("{} '{}'", self.id, self.name)
    }
}

/// A buffer to be placed in one of its allowed pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Its id in the file.
    pub id: u32,
    /// Its name in the file; it may be empty.
    pub name: String,
    /// Size, bytes.
    pub size: Bytes,
    /// Alignment in bytes, at least 1.
    pub alignment: Bytes,
    /// The steps at which it is live.
    pub lifespan: Lifespan,
    /// Positions of the allowed pools, in the order of the file, without duplicates.
    pub pools: Vec<usize>,
    /// An offset hint from the CSV file that it was written from.
    pub hint: Option<Bytes>,
}

impl Demand {
    pub(super) fn label(&self) -> String {
        format!("buffer {} '{}'", self.id, self.name)
    }
}

/// A buffer with a fixed location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Position of the buffer.
    pub buffer: usize,
    /// Position of the pool.
    pub pool: usize,
    /// Address, bytes.
    pub offset: Bytes,
    /// Whether its addresses are reserved at all times.
    pub exclusive: bool,
}

impl Document {
    /// Returns the hash by which dsa-solver matches answers to problems.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the pools, in the order of the file.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// Returns the buffers, in the order of the file.
    pub fn buffers(&self) -> &[Demand] {
        &self.buffers
    }

    /// Returns what the file requests beyond offsets and is ignored, one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns one unique name per pool, suitable for files: `STEM-POOL`, or the name of the instance alone
    /// if [`write_dsa`](super::write_dsa) wrote the document.
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

    /// Returns whether [`write_dsa`](super::write_dsa) wrote the document. Then every pool has the name of
    /// its original instance.
    pub fn is_exported(&self) -> bool {
        self.exported
    }
}
