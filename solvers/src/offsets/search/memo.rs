//! A memo of states that cannot be completed to a layout. Keys are compared exactly because a false match
//! could yield a false proof.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Failed states at one capacity. The memo is cleared when a new state would raise its size above `limit`
/// bytes.
///
/// A state is looked up by hash and compared by its full key, which the caller writes only when needed. If
/// two states share a hash, the later state replaces the earlier one.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    /// The hash of each state, and the start and the length of its key in `arena`.
    places: HashTable<(u64, u32, u32)>,
    arena: Vec<u8>,
    key: Key,
    limit: usize,
}

/// Memory per table entry, in bytes.
const ENTRY: usize = 32;

impl Memo {
    pub fn new(limit: usize) -> Self {
        let limit = limit.min(u32::MAX as usize);
        Self { places: HashTable::new(), arena: Vec::new(), key: Key::default(), limit }
    }

    /// Returns true if exactly this state is in the memo.
    pub fn contains(&mut self, hash: u64, write_key: impl FnOnce(&mut Key)) -> bool {
        let Some(&(_, start, length)) = self.places.find(hash, |&(own, ..)| own == hash) else {
            return false;
        };
        self.key.bytes.clear();
        write_key(&mut self.key);
        self.arena[start as usize..(start + length) as usize] == self.key.bytes[..]
    }

    /// Records that this state cannot be completed to a layout.
    pub fn insert(&mut self, hash: u64, write_key: impl FnOnce(&mut Key)) {
        self.key.bytes.clear();
        write_key(&mut self.key);
        if self.arena.len() + self.key.bytes.len() + ENTRY * self.places.len() > self.limit {
            self.places.clear();
            self.arena.clear();
            if self.key.bytes.len() > self.limit {
                return;
            }
        }
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(&self.key.bytes);
        let place = (hash, start, self.key.bytes.len() as u32);
        match self.places.entry(hash, |&(own, ..)| own == hash, |&(own, ..)| own) {
            Entry::Occupied(mut old) => *old.get_mut() = place,
            Entry::Vacant(free) => {
                free.insert(place);
            }
        }
    }
}

/// A state serialised as a sequence of numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Key {
    bytes: Vec<u8>,
}

impl Key {
    /// Appends a number with seven bits per byte. Only the last byte of a number has a clear high bit, so
    /// the encoding is injective.
    pub fn put(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// Mixes the bits of a number. The hash of a state is the exclusive or of its mixed parts.
pub(super) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}
