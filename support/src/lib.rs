//! Tools that are independent of memory planning: atomic writes, compressed files, stop requests, messages of
//! panics, text that is safe to show, enumerations of words, bit
//! sets, and functions on whole numbers.

mod bits;
pub mod contents;
pub mod files;
pub mod interrupt;
mod numbers;
pub mod panics;
pub mod printable;
mod words;

pub use bits::{BitMatrix, ones};
pub use numbers::{common_grain, gcd, hexadecimal, lcm, root};
