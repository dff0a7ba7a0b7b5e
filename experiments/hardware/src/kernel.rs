//! The computations of operators: products of rows and weights, and passes over on-chip tensors.
//!
//! Weights are lines of eight numbers, and 256 lines form a panel. A panel is multiplied by all rows, in
//! blocks of at most four rows, before the next panel is read. Every weight is therefore read from the buffer
//! once and from the nearest cache afterwards. If an operator has more rows than are stored, the stored rows
//! are used cyclically. All additions and multiplications are performed in a fixed order, so the same weights
//! in the same order give bit-identical results.

/// Number of values in a line of weights.
pub const LINE: usize = 8;
pub const LINE_BYTES: usize = 4 * LINE;
const PANEL: usize = 256;
pub const PANEL_BYTES: usize = PANEL * LINE_BYTES;
/// Number of stored blocks of rows. Further blocks repeat the stored ones.
const BLOCKS: usize = 4;
pub const ROWS: usize = 4;
/// Number of values of an on-chip tensor.
const TENSOR: usize = 16 * 1024;

type Sums = [[f32; LINE]; ROWS];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Number of rows by which fetched weights are multiplied: 1, 2, or a multiple of 4, or 0 without
    /// weights.
    pub rows: u64,
    /// Number of blocks of four rows that are multiplied by constants in on-chip memory.
    pub inner_blocks: u64,
    /// Number of lines of these constants, at most one panel.
    pub inner_lines: u32,
    /// Number of bytes read and written in a pass over on-chip tensors.
    pub stream: u64,
}

impl Work {
    /// Returns the work of slice number `part` of `parts`. A slice multiplies its part of the weights by the
    /// same number of rows, and has a share of all other work.
    #[must_use]
    pub fn slice(self, part: u64, parts: u64) -> Self {
        let share = |whole: u64| {
            let until = |part: u64| (u128::from(whole) * u128::from(part) / u128::from(parts)) as u64;
            until(part + 1) - until(part)
        };
        Self { inner_blocks: share(self.inner_blocks), stream: share(self.stream), ..self }
    }
}

/// The on-chip data except weights, and the digest of all results so far.
#[derive(Clone, Debug)]
pub struct Cpu {
    rows1: Vec<[f32; 1]>,
    rows2: Vec<[f32; 2]>,
    rows4: Vec<[f32; ROWS]>,
    constant: Vec<u8>,
    from: Vec<f32>,
    to: Vec<f32>,
    state: Sums,
    digest: u64,
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Cpu {
    /// Creates fixed rows and constants, and an empty digest.
    pub fn new() -> Self {
        let number = |at: usize| ((at * 37) % 64) as f32 / 64.0 - 0.5;
        let row = |at: usize, row: usize| number(at * ROWS + row);
        let count = BLOCKS * PANEL;
        Self {
            rows1: (0..count).map(|at| [row(at, 0)]).collect(),
            rows2: (0..count).map(|at| [row(at, 0), row(at, 1)]).collect(),
            rows4: (0..count).map(|at| [0, 1, 2, 3].map(|r| row(at, r))).collect(),
            constant: (0..PANEL * LINE).flat_map(|at| number(at + 11).to_le_bytes()).collect(),
            from: (0..TENSOR).map(number).collect(),
            to: vec![0.0; TENSOR],
            state: [[0.0; LINE]; ROWS],
            digest: 0,
        }
    }

    /// Returns the digest, which depends on every weight and on the order of all operations.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Runs an operator on its weights.
    pub fn run(&mut self, work: Work, weights: &[u8]) {
        let state = self.state;
        let mut sums = match work.rows {
            0 => state,
            1 => widen(product(&mut self.rows1, weights, 1, &state)),
            2 => widen(product(&mut self.rows2, weights, 1, &state)),
            rows => product(&mut self.rows4, weights, rows / ROWS as u64, &state),
        };
        if work.inner_blocks > 0 {
            let lines = &self.constant[..work.inner_lines as usize * LINE_BYTES];
            let inner = product(&mut self.rows4, lines, work.inner_blocks, &sums);
            add(&mut sums, &inner);
        }
        if work.stream > 0 {
            self.stream(work.stream / 8, sums[0][0]);
            sums[0][0] += self.to[0] + self.to[TENSOR - 1];
        }
        self.settle(&sums);
    }

    /// Scales the results into a bounded range for the next operator, and adds them to the digest.
    fn settle(&mut self, sums: &Sums) {
        for (kept, sum) in self.state.iter_mut().flatten().zip(sums.iter().flatten()) {
            *kept = sum / (1.0 + sum.abs());
            self.digest = (self.digest ^ u64::from(kept.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.digest ^= self.digest >> 29;
        }
    }

    /// Reads and writes the given number of values.
    fn stream(&mut self, numbers: u64, seed: f32) {
        let mut left = numbers;
        let mut shift = seed / (1.0 + seed.abs());
        while left > 0 {
            let count = left.min(TENSOR as u64) as usize;
            pass(&self.from[..count], &mut self.to[..count], shift);
            shift = 0.5 * self.to[count - 1];
            left -= count as u64;
        }
    }
}

#[inline(never)]
fn pass(from: &[f32], to: &mut [f32], shift: f32) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from * 0.5 + shift;
    }
}

fn add(sums: &mut Sums, more: &Sums) {
    for (sum, more) in sums.iter_mut().flatten().zip(more.iter().flatten()) {
        *sum += more;
    }
}

fn widen<const M: usize>(sums: [[f32; LINE]; M]) -> Sums {
    let mut wide = [[0.0; LINE]; ROWS];
    wide[..M].copy_from_slice(&sums);
    wide
}

/// Multiplies `blocks` blocks of `M` rows by the weights and returns the sums. The first [`LINE`] values of
/// each stored row depend on `state`. O(b * `blocks` * `M`) for b bytes of weights.
fn product<const M: usize>(
    rows: &mut [[f32; M]],
    weights: &[u8],
    blocks: u64,
    state: &Sums,
) -> [[f32; LINE]; M] {
    for block in 0..BLOCKS {
        for column in 0..LINE {
            for row in 0..M {
                rows[block * PANEL + column][row] = 0.25 + 0.5 * state[row][column];
            }
        }
    }
    let mut sums = [[0.0; LINE]; M];
    for panel in weights.chunks(PANEL_BYTES) {
        let whole = panel.len() - panel.len() % LINE_BYTES;
        let (lines, rest) = panel.split_at(whole);
        // The last line is padded with zeros, and bytes of an incomplete number are ignored.
        let mut last = [0u8; LINE_BYTES];
        let used = rest.len() - rest.len() % 4;
        last[..used].copy_from_slice(&rest[..used]);
        for block in 0..blocks {
            let at = block as usize % BLOCKS * PANEL;
            let own = &rows[at..at + PANEL];
            multiply(own, lines, &mut sums);
            if used > 0 {
                multiply(&own[whole / LINE_BYTES..], &last, &mut sums);
            }
        }
    }
    sums
}

/// Runs the inner loop. Its sizes are fixed, so that the sums stay in registers.
#[inline(never)]
fn multiply<const M: usize>(rows: &[[f32; M]], lines: &[u8], sums: &mut [[f32; LINE]; M]) {
    let mut own = *sums;
    for (bytes, row) in lines.as_chunks::<LINE_BYTES>().0.iter().zip(rows) {
        let mut line = [0.0; LINE];
        for (number, bytes) in line.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *number = f32::from_le_bytes(*bytes);
        }
        for (sums, factor) in own.iter_mut().zip(row) {
            for (sum, number) in sums.iter_mut().zip(&line) {
                *sum += factor * number;
            }
        }
    }
    *sums = own;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Computes the same sums value by value, directly from the definition.
    fn plain<const M: usize>(rows: &[[f32; M]], weights: &[f32], blocks: usize) -> [[f32; LINE]; M] {
        let mut sums = [[0.0; LINE]; M];
        for (panel, numbers) in weights.chunks(PANEL * LINE).enumerate() {
            assert!(panel < 3);
            for block in 0..blocks {
                for (at, number) in numbers.iter().enumerate() {
                    for row in 0..M {
                        sums[row][at % LINE] += rows[block % BLOCKS * PANEL + at / LINE][row] * number;
                    }
                }
            }
        }
        sums
    }

    #[test]
    fn products_are_those_of_the_definition() {
        let cpu = Cpu::new();
        for count in [0, 1, 7, 8, 9, 2048, 2050, 5000] {
            let weights: Vec<f32> = (0..count).map(|at| (at % 11) as f32 - 5.0).collect();
            for blocks in [1, 3, 6] {
                let mut rows = cpu.rows4.clone();
                let sums = product(&mut rows, &bytes(&weights), blocks, &cpu.state);
                assert_eq!(sums, plain(&rows, &weights, blocks as usize), "{count} x {blocks}");
            }
            let mut rows = cpu.rows2.clone();
            assert_eq!(product(&mut rows, &bytes(&weights), 1, &cpu.state), plain(&rows, &weights, 1));
        }
    }

    #[test]
    fn the_digest_depends_on_weights_and_their_order() {
        let digest = |all: &[(Work, &[f32])]| {
            let mut cpu = Cpu::new();
            for (work, weights) in all {
                cpu.run(*work, &bytes(weights));
            }
            cpu.digest()
        };
        let (one, four) = (Work { rows: 1, ..Work::default() }, Work { rows: 4, ..Work::default() });
        let stream = Work { stream: 1 << 20, ..Work::default() };
        let inner = Work { inner_blocks: 3, inner_lines: 5, ..Work::default() };
        let (a, b): (&[f32], &[f32]) = (&[0.5; 40], &[0.25; 40]);
        let base = digest(&[(one, a), (four, b), (stream, &[]), (inner, &[])]);
        assert_eq!(base, digest(&[(one, a), (four, b), (stream, &[]), (inner, &[])]));
        assert_ne!(base, digest(&[(four, b), (one, a), (stream, &[]), (inner, &[])]));
        assert_ne!(base, digest(&[(one, b), (four, b), (stream, &[]), (inner, &[])]));
        let mut other = [0.25; 40];
        other[39] = 0.26;
        assert_ne!(base, digest(&[(one, a), (four, &other), (stream, &[]), (inner, &[])]));
        assert!(f32::from_bits((base & 0x7fff_ffff) as u32).to_bits() > 0);
    }

    #[test]
    fn slices_add_up() {
        let work = Work { rows: 8, inner_blocks: 10, inner_lines: 3, stream: 101 };
        let parts: Vec<Work> = (0..3).map(|part| work.slice(part, 3)).collect();
        assert_eq!(parts.iter().map(|part| part.stream).sum::<u64>(), 101);
        assert_eq!(parts.iter().map(|part| part.inner_blocks).sum::<u64>(), 10);
        assert!(parts.iter().all(|part| part.rows == 8 && part.inner_lines == 3));
    }
}
