//! A memo of sets of nodes. Sets are compared in full, not only by hash.

/// An open-addressing hash table of bitsets (rows). Each row is stored once. The memory of the rows and the
/// table is limited.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    words: usize,
    rows: Vec<u64>,
    /// Per slot: the position of a row plus one, or zero if the slot is free.
    table: Vec<u32>,
    most_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The row is new and was stored at this position.
    New(u32),
    /// The row was found at this position.
    Known(u32),
    /// The row is new but was not stored, because the memory limit was reached or `keep` was false.
    Full,
}

impl Memo {
    pub fn new(words: usize, most_bytes: usize) -> Self {
        Self { words, rows: Vec::new(), table: vec![0; 1 << 10], most_bytes }
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.words
    }

    /// Returns the number of words of a row.
    pub fn words(&self) -> usize {
        self.words
    }

    pub fn row(&self, at: u32) -> &[u64] {
        &self.rows[at as usize * self.words..][..self.words]
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.table.fill(0);
    }

    /// Looks up a row with its hash, and stores a new row if `keep` is true.
    pub fn show(&mut self, row: &[u64], hash: u64, keep: bool) -> Seen {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while self.table[slot] != 0 {
            let at = self.table[slot] - 1;
            if self.row(at) == row {
                return Seen::Known(at);
            }
            slot = (slot + 1) & mask;
        }
        let bytes = 8 * self.rows.len() + 4 * self.table.len();
        if !keep || bytes >= self.most_bytes || self.len() >= u32::MAX as usize - 1 {
            return Seen::Full;
        }
        let at = self.len() as u32;
        self.rows.extend_from_slice(row);
        self.table[slot] = at + 1;
        Seen::New(at)
    }

    /// Returns true if the table should grow before the next row is stored.
    pub fn crowded(&self) -> bool {
        2 * self.len() >= self.table.len()
    }

    /// Doubles the number of slots. `hash` computes the hash of a row.
    pub fn grow(&mut self, hash: impl Fn(&[u64]) -> u64) {
        let size = 2 * self.table.len();
        self.table = vec![0; size];
        for at in 0..self.len() as u32 {
            let mut slot = hash(self.row(at)) as usize & (size - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = at + 1;
        }
    }
}
