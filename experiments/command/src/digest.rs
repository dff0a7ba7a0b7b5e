//! SHA-256 of byte slices and of data as it is written.

use plimsoll_support::hexadecimal;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// Returns the SHA-256 of `bytes` in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// A writer that hashes the bytes it passes on.
pub struct Hashing<W> {
    inner: W,
    sha256: Sha256,
}

impl<W: Write> Hashing<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, sha256: Sha256::new() }
    }

    /// Returns the SHA-256 of all bytes written, in hexadecimal.
    pub fn digest(self) -> String {
        hexadecimal(&self.sha256.finalize())
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sha256.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
