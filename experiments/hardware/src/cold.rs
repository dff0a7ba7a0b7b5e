//! The memory of off-chip weights, which is larger than any cache, and the link through which weights are
//! fetched.

use std::hint::spin_loop;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Number of bytes copied at a time. It is small enough for the copied data to pass through the caches.
const PIECE: usize = 16 * 1024;

/// A memory of pseudorandom numbers between -1 and 1.
#[derive(Debug)]
pub struct Cold {
    bytes: Vec<u8>,
}

impl Cold {
    /// Creates a memory of `size` bytes, rounded down to whole cache lines, but at least one line.
    /// O(`size`).
    pub fn new(size: usize) -> Self {
        let numbers = (size / 64).max(1) * 16;
        let mut bytes = Vec::with_capacity(numbers * 4);
        for at in 0..numbers as u64 {
            // This is the finaliser of splitmix64.
            let mut hash = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let number = (hash >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        Self { bytes }
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Fills `to` with the bytes that begin at address `from`. Addresses wrap around at the end of the
    /// memory.
    fn copy(&self, from: u64, to: &mut [u8]) {
        let mut done = 0;
        while done < to.len() {
            let at = ((from + done as u64) % self.size()) as usize;
            let count = (to.len() - done).min(self.bytes.len() - at);
            to[done..done + count].copy_from_slice(&self.bytes[at..at + count]);
            done += count;
        }
    }

    /// Returns the start addresses of the weights of consecutive operators, aligned to cache lines.
    pub fn places(weights: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let place = |next: &mut u64, bytes: u64| {
            let own = *next;
            *next += bytes.next_multiple_of(64);
            Some(own)
        };
        weights.into_iter().scan(0, place).collect()
    }

    /// Returns the `count` bytes that begin at address `from`.
    pub fn read(&self, from: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.copy(from, &mut bytes);
        bytes
    }

    /// Reads the whole memory, which evicts earlier data from the caches. Returns a checksum.
    pub fn sweep(&self) -> u64 {
        let words = self.bytes.as_chunks::<8>().0.iter();
        words.fold(0, |sum, word| sum ^ u64::from_le_bytes(*word))
    }
}

/// The link through which weights are fetched. A thread copies them, and can imitate the setup latency and
/// the bandwidth of a slower memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Link {
    /// Setup latency, which is the time before the first byte.
    pub startup: Duration,
    /// Maximum bandwidth in bytes per second. `None` means the full speed of memory.
    pub bandwidth: Option<f64>,
}

impl Link {
    /// Fetches weights into a buffer.
    pub fn fetch(self, cold: &Cold, from: u64, to: &mut [u8]) {
        let begin = Instant::now();
        until(begin, self.startup);
        let mut done = 0u64;
        for piece in to.chunks_mut(PIECE) {
            cold.copy(from + done, piece);
            done += piece.len() as u64;
            if let Some(bandwidth) = self.bandwidth {
                until(begin, self.startup + Duration::from_secs_f64(done as f64 / bandwidth));
            }
        }
    }
}

/// Waits until `passed` has elapsed since `begin`. It polls, because system timers are too coarse.
fn until(begin: Instant, passed: Duration) {
    if passed > Duration::ZERO {
        wait(|| (begin.elapsed() >= passed).then_some(()));
    }
}

/// Polls until `ask` returns a value. It spins at first and yields later. On a single core, it yields almost
/// at once.
pub fn wait<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    static BUSY: LazyLock<u32> = LazyLock::new(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores > 1 { 100_000 } else { 10 }
    });
    let busy = *BUSY;
    let mut asked = 0u32;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        asked = asked.saturating_add(1);
        if asked < busy { spin_loop() } else { std::thread::yield_now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_around_the_end() {
        let cold = Cold::new(1 << 20);
        assert_eq!(cold.size(), 1 << 20);
        let all = cold.read(0, 1 << 20);
        let around = cold.read((1 << 20) - 8, 24);
        assert_eq!((&around[..8], &around[8..]), (&all[(1 << 20) - 8..], &all[..16]));
        let numbers = all.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()));
        assert!(numbers.into_iter().all(|number| (-1.0..=1.0).contains(&number)));
        assert_eq!(Cold::places([100, 0, 64, 1]), [0, 128, 128, 192]);
        assert_eq!((Cold::new(0).size(), Cold::new(100).size()), (64, 64));
    }

    #[test]
    fn every_pace_fetches_the_same() {
        let cold = Cold::new(1 << 20);
        let fetch = |link: Link| {
            let mut buffer = vec![0; 100_000];
            link.fetch(&cold, 1 << 19, &mut buffer);
            buffer
        };
        let paced = Link { startup: Duration::from_micros(10), bandwidth: Some(1e9) };
        assert_eq!(fetch(Link::default()), cold.read(1 << 19, 100_000));
        assert_eq!(fetch(paced), fetch(Link::default()));
    }
}
