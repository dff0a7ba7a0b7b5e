//! A memo of sets of nodes. Sets are compared in full, not only by hash.

use super::net::State;
use hashbrown::HashTable;

/// A hash table of bitsets (rows). Each row is stored once. The memory of the rows and the table is limited.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    words: usize,
    rows: Vec<u64>,
    /// The positions of the rows.
    table: HashTable<u32>,
    most_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The row is new and was stored at this position.
    New(u32),
    /// The row was found at this position.
    Known(u32),
    /// The row is new but was not stored, because the memory limit was reached.
    Full,
}

impl Memo {
    pub fn new(words: usize, most_bytes: usize) -> Self {
        Self { words, rows: Vec::new(), table: HashTable::new(), most_bytes }
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the number of words of a row.
    pub fn words(&self) -> usize {
        self.words
    }

    pub fn row(&self, at: u32) -> &[u64] {
        row(&self.rows, self.words, at)
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.table.clear();
    }

    /// Looks up the downset of a state, and stores it if it is new.
    pub fn show(&mut self, state: &State<'_>) -> Seen {
        let Self { words, rows, table, most_bytes } = self;
        if let Some(&at) = table.find(state.hash, |&at| row(rows, *words, at) == state.done) {
            return Seen::Known(at);
        }
        // The table takes at most 16 bytes per row.
        let slots = (2 * table.len() + 1).next_power_of_two().max(1 << 10);
        if 8 * rows.len() + 4 * slots >= *most_bytes || table.len() >= u32::MAX as usize - 1 {
            return Seen::Full;
        }
        let at = table.len() as u32;
        table.insert_unique(state.hash, at, |&at| state.net.hash(row(rows, *words, at)));
        rows.extend_from_slice(&state.done);
        Seen::New(at)
    }
}

fn row(rows: &[u64], words: usize, at: u32) -> &[u64] {
    &rows[at as usize * words..][..words]
}
