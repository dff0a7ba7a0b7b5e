//! Sets of small numbers as rows of bits.

/// A bit matrix for relations between numbered items. It occupies about `rows * columns / 8` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitMatrix {
    rows: usize,
    width: usize,
    words: Vec<u64>,
}

impl BitMatrix {
    /// Creates a matrix with all bits clear.
    pub fn new(rows: usize, columns: usize) -> Self {
        let width = columns.div_ceil(64);
        Self { rows, width, words: vec![0; rows * width] }
    }

    /// Creates a square matrix in which exactly the bits of the diagonal are clear.
    pub fn full(size: usize) -> Self {
        let mut matrix = Self::new(size, size);
        for row in 0..size {
            let words = &mut matrix.words[row * matrix.width..(row + 1) * matrix.width];
            words.fill(u64::MAX);
            if !size.is_multiple_of(64) {
                words[size / 64] = (1 << (size % 64)) - 1;
            }
            words[row / 64] &= !(1 << (row % 64));
        }
        matrix
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Sets a bit.
    ///
    /// # Panics
    /// If the row does not exist. A column that does not exist is not always detected.
    #[inline]
    pub fn set(&mut self, row: usize, column: usize) {
        self.words[row * self.width + column / 64] |= 1 << (column % 64);
    }

    /// Clears a bit.
    ///
    /// # Panics
    /// If the row does not exist. A column that does not exist is not always detected.
    #[inline]
    pub fn clear(&mut self, row: usize, column: usize) {
        self.words[row * self.width + column / 64] &= !(1 << (column % 64));
    }

    /// Returns true if a bit is set.
    ///
    /// # Panics
    /// If the row does not exist. A column that does not exist is not always detected.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> bool {
        self.words[row * self.width + column / 64] >> (column % 64) & 1 == 1
    }

    /// Returns the 64-bit words of a row, lowest columns first.
    ///
    /// # Panics
    /// If the row does not exist.
    #[inline]
    pub fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.width..(row + 1) * self.width]
    }

    /// Sets every bit of row `to` that is set in row `from`. O(columns / 64).
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn join(&mut self, to: usize, from: usize) {
        for at in 0..self.width {
            let word = self.words[from * self.width + at];
            self.words[to * self.width + at] |= word;
        }
    }

    /// Clears the bits that are set in `other`. O(rows * columns / 64).
    ///
    /// # Panics
    /// If the matrices differ in the number of rows or in the number of words per row.
    pub fn subtract(&mut self, other: &Self) {
        assert_eq!((self.rows, self.width), (other.rows, other.width), "matrices of equal size");
        self.words.iter_mut().zip(&other.words).for_each(|(word, taken)| *word &= !taken);
    }

    /// Returns the columns set in a row, ascending.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn ones(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        ones(self.row(row))
    }

    /// Returns the number of bits set in a row.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn count(&self, row: usize) -> u64 {
        self.row(row).iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Returns the positions of the bits set in a row of words, ascending.
pub fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(at * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_set_joined_and_listed() {
        let mut bits = BitMatrix::new(2, 130);
        for column in [0, 63, 64, 129] {
            bits.set(1, column);
        }
        bits.set(0, 5);
        bits.join(0, 1);
        bits.clear(1, 64);
        assert_eq!(bits.ones(0).collect::<Vec<_>>(), [0, 5, 63, 64, 129]);
        assert_eq!((bits.count(1), bits.get(1, 129), bits.get(1, 64)), (3, true, false));
        let mut rest = bits.clone();
        bits.clear(0, 63);
        rest.subtract(&bits);
        assert_eq!((rest.ones(0).collect::<Vec<_>>(), rest.count(1)), (vec![63], 0));
        assert_eq!(BitMatrix::new(0, 0).rows(), 0);
        assert_eq!(BitMatrix::new(1, 0).ones(0).count(), 0);
    }
}
