//! The contents of input files. Compressed files are decompressed, and archives with one input are unpacked.
//! Files that are no input at all are refused by name.

mod foreign;
mod gzip;
mod inflate;
mod zip;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The maximum size in bytes of an input file, and of the contents of a compressed one.
pub const FILE_LIMIT: u64 = 1 << 31;

/// The contents of a compressed file may have this many bytes, whatever the size of the file.
pub const EXPANDED_LEAST: u64 = 64 << 20;

/// The contents of a larger compressed file may have this many times the size of the file.
pub const EXPANDED_TIMES: u64 = 64;

/// The contents of an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The path that the contents would have outside of a compressed file: `dir/net.onnx` for
    /// `dir/net.onnx.gz`, and for the archive `dir/all.zip` with the entry `net.onnx`.
    pub name: PathBuf,
    /// The bytes, decompressed.
    pub bytes: Vec<u8>,
}

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

impl Contents {
    /// Reads a file of at most `limit` bytes, and unpacks it as [`Contents::of`] does.
    ///
    /// # Errors
    /// See [`ContentsError`].
    pub fn read(path: &Path, limit: u64) -> Result<Self, ContentsError> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::other("it is a folder").into());
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(ContentsError::TooLarge { limit });
        }
        Self::of(path, bytes, limit)
    }

    /// Unpacks the bytes of a file: a gzip file, or a zip archive with exactly one input. The contents have
    /// at most `limit` bytes, and at most [`EXPANDED_LEAST`] bytes or [`EXPANDED_TIMES`] times the size of
    /// the file, whichever is more. Other files are returned unchanged. The time is linear in the size of the
    /// contents.
    ///
    /// # Errors
    /// [`ContentsError::Foreign`] for a Git LFS pointer, an HTML page, MLIR and other files that are known
    /// not to be an input. See [`ContentsError`].
    pub fn of(path: &Path, bytes: Vec<u8>, limit: u64) -> Result<Self, ContentsError> {
        let most = usize::try_from(most(bytes.len() as u64, limit)).unwrap_or(usize::MAX);
        let contents = match Packing::of(&bytes) {
            None => Self { name: path.to_owned(), bytes },
            Some(Packing::Gzip) => {
                let bytes = gzip::decompress(&bytes, most)?;
                Self { name: without_suffix(path, "gz"), bytes }
            }
            Some(Packing::Zip) => {
                let (entry, bytes) = zip::only_input(&bytes, most)?;
                Self { name: path.with_file_name(entry), bytes }
            }
        };
        foreign::check(&contents.name, &contents.bytes)?;
        Ok(contents)
    }
}

/// Returns the name of the contents of a file, as in [`Contents::name`]. Only a zip archive is read for that.
pub fn name_of(path: &Path) -> PathBuf {
    match path.extension() {
        Some(suffix) if suffix.eq_ignore_ascii_case("zip") => {
            Contents::read(path, FILE_LIMIT).map_or_else(|_| path.to_owned(), |contents| contents.name)
        }
        _ => without_suffix(path, "gz"),
    }
}

/// Returns true if the first bytes of a file are those of a compressed file or an archive.
pub fn is_packed(head: &[u8]) -> bool {
    Packing::of(head).is_some()
}

/// Returns the maximum size of the contents of a compressed file of `size` bytes.
fn most(size: u64, limit: u64) -> u64 {
    size.saturating_mul(EXPANDED_TIMES).max(EXPANDED_LEAST).min(limit)
}

/// How the contents of a file are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zip,
}

impl Packing {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            // An archive without files begins with its end record.
            [b'P', b'K', a, b, ..] if [(3, 4), (5, 6)].contains(&(*a, *b)) => Some(Self::Zip),
            _ => None,
        }
    }
}

fn without_suffix(path: &Path, suffix: &str) -> PathBuf {
    match path.extension() {
        Some(own) if own.eq_ignore_ascii_case(suffix) => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// Returns the little-endian number of `N` bytes at `at`, or `None` beyond the end.
fn number<const N: usize>(data: &[u8], at: usize) -> Option<u64> {
    let bytes = data.get(at..at.checked_add(N)?)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests;
