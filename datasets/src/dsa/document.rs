//! A validated document.

use plimsoll_model::{Bytes, Lifespan};
use std::path::PathBuf;

/// The version of the schema that is read and written.
pub const SCHEMA_VERSION: u64 = 1;

/// The member of `metadata` that carries what CSV has and the schema has not.
pub(super) const OWN: &str = "plimsoll";

/// A problem of several pools, validated. Pools and buffers are named by position.
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

/// A memory that buffers may lie in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its id in the file.
    pub id: u32,
    /// Its name there, perhaps empty or that of another.
    pub name: String,
    /// Bytes, if limited.
    pub capacity: Option<Bytes>,
    /// Addresses that no buffer may use: begin and end in bytes, ascending, disjoint, none adjacent.
    pub reserved: Vec<(Bytes, Bytes)>,
}

impl Pool {
    pub(super) fn label(&self) -> String {
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
    /// Size, bytes.
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
    pub(super) fn label(&self) -> String {
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
    /// Address, bytes.
    pub offset: Bytes,
    /// No other buffer may use these addresses at any time.
    pub exclusive: bool,
}

impl Document {
    /// The hash by which dsa-solver knows what an answer is for.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The memories, in the order of the file.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// The buffers, in the order of the file.
    pub fn buffers(&self) -> &[Demand] {
        &self.buffers
    }

    /// What the file asks beyond offsets and is left out, one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// One name per pool, different from each other and fit for files: `STEM-POOL`, or where
    /// [`write_dsa`](super::write_dsa) made the document the name of the instance alone.
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

    /// True where [`write_dsa`](super::write_dsa) made it: then every pool carries the name of the instance
    /// it was.
    pub fn is_exported(&self) -> bool {
        self.exported
    }
}
