//! What all kinds of contents share: errors, limits on sizes, suffixes, first bytes and numbers.

use std::io;
use std::path::Path;

/// The maximum size in bytes of an input file, and of the contents of a compressed one.
pub const FILE_LIMIT: u64 = 1 << 31;

/// The contents of a compressed file may have this many bytes, whatever the size of the file.
pub const EXPANDED_LEAST: u64 = 64 << 20;

/// The contents of a larger compressed file may have this many times the size of the file.
pub const EXPANDED_TIMES: u64 = 64;

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ContentsError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the file is larger than {limit} bytes, the maximum size of an input")]
    TooLarge { limit: u64 },
    /// Contents that are out of proportion to the size of the compressed file.
    #[error(
        "the contents of the {kind} file have more than {limit} bytes; decompress files that expand \
         {EXPANDED_TIMES}-fold or more first"
    )]
    Expands { kind: &'static str, limit: u64 },
    #[error("damaged {kind} file: {reason}")]
    Damaged { kind: &'static str, reason: String },
    /// A file that is known not to be an input.
    #[error("{what}; {help}")]
    Foreign { what: String, help: &'static str },
    /// A zip archive that cannot be unpacked, or that does not contain exactly one input.
    #[error("zip archive: {0}")]
    Archive(String),
}

/// How the contents of a file are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zip,
}

impl Packing {
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            // An archive without files begins with its end record.
            [b'P', b'K', a, b, ..] if [(3, 4), (5, 6)].contains(&(*a, *b)) => Some(Self::Zip),
            _ => None,
        }
    }
}

/// Returns the little-endian number of `N` bytes at `at`, or `None` beyond the end.
pub(super) fn number<const N: usize>(data: &[u8], at: usize) -> Option<u64> {
    let bytes = data.get(at..at.checked_add(N)?)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// Returns true if a file name has one of these suffixes, in upper or lower case.
pub fn has_suffix(path: &Path, suffixes: &[&str]) -> bool {
    path.extension().is_some_and(|own| suffixes.iter().any(|suffix| own.eq_ignore_ascii_case(suffix)))
}
