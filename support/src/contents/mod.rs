//! The contents of input files. Compressed files are decompressed, and archives with one input are unpacked.
//! Files that are no input at all are refused by name.

mod common;
mod foreign;
mod gzip;
mod inflate;
mod zip;

pub use common::{ContentsError, EXPANDED_LEAST, EXPANDED_TIMES, FILE_LIMIT, has_suffix};

use common::Packing;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The contents of an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The path that the contents would have outside of a compressed file: `dir/net.onnx` for
    /// `dir/net.onnx.gz`, and for the archive `dir/all.zip` with the entry `net.onnx`.
    pub name: PathBuf,
    /// The bytes, decompressed.
    pub bytes: Vec<u8>,
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
    if has_suffix(path, &["zip"]) {
        return Contents::read(path, FILE_LIMIT).map_or_else(|_| path.to_owned(), |contents| contents.name);
    }
    without_suffix(path, "gz")
}

/// Returns true if the first bytes of a file are those of a compressed file or an archive.
pub fn is_packed(head: &[u8]) -> bool {
    Packing::of(head).is_some()
}

/// Returns the maximum size of the contents of a compressed file of `size` bytes.
fn most(size: u64, limit: u64) -> u64 {
    size.saturating_mul(EXPANDED_TIMES).max(EXPANDED_LEAST).min(limit)
}

fn without_suffix(path: &Path, suffix: &str) -> PathBuf {
    if has_suffix(path, &[suffix]) { path.with_extension("") } else { path.to_owned() }
}

#[cfg(test)]
mod tests;
