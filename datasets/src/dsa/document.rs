//! A validated document.

use plimsoll_model::{Bytes, Lifespan};
use std::path::PathBuf;

/// The supported version of the schema.
pub const SCHEMA_VERSION: u64 = 1;

/// The member of `metadata` for information that CSV can represent and the schema cannot.
pub(super) const OWN: &str = "plimsoll";

/// A validated problem with several pools. Pools and buffers are identified by their positions.
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

/// A memory pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The id in the file.
    pub id: u32,
    /// The name in the file. It may be empty or repeated.
    pub name: String,
    /// The capacity in bytes, if limited.
    pub capacity: Option<Bytes>,
    /// Ranges of addresses that no buffer may use, as begin and end in bytes. The ranges are ascending,
    /// disjoint and not adjacent.
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
    /// The id in the file.
    pub id: u32,
    /// The name in the file, possibly empty.
    pub name: String,
    /// The size in bytes.
    pub size: Bytes,
    /// The alignment in bytes, at least 1.
    pub alignment: Bytes,
    /// The steps at which the buffer is live.
    pub lifespan: Lifespan,
    /// The positions of the allowed pools, in the order of the file, without duplicates.
    pub pools: Vec<usize>,
    /// The offset hint in the CSV file from which the document was written.
    pub hint: Option<Bytes>,
}

impl Demand {
    pub(super) fn label(&self) -> String {
        format!("buffer {} '{}'", self.id, self.name)
    }
}

/// A buffer with a fixed offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The position of the buffer in the document.
    pub buffer: usize,
    /// The position of the pool in the document.
    pub pool: usize,
    /// The offset in bytes.
    pub offset: Bytes,
    /// True if no other buffer may use these addresses at any time.
    pub exclusive: bool,
}

impl Document {
    /// Returns the hash by which dsa-solver matches an answer to its problem.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the memory pools, in the order of the file.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// Returns the buffers, in the order of the file.
    pub fn buffers(&self) -> &[Demand] {
        &self.buffers
    }

    /// Returns notes about negative steps, and about the requirements of the file that are ignored because
    /// no offset problem can express them. Each note is one line.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns one name per pool. The names are distinct and valid in file names. They have the form
    /// `STEM-POOL` or, if [`write_dsa`](super::write_dsa) wrote the document, are the names of the instances.
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

    /// Returns true if [`write_dsa`](super::write_dsa) wrote the document. In that case, every pool has the
    /// name of its instance.
    pub fn is_exported(&self) -> bool {
        self.exported
    }
}
