//! SHA-256 of bytes, also of those on their way.

use plimsoll::model::hexadecimal;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// The SHA-256 of some bytes, hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Hands bytes on and hashes them.
pub struct Hashing<W> {
    inner: W,
    sha256: Sha256,
}

impl<W: Write> Hashing<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, sha256: Sha256::new() }
    }

    /// Hexadecimal.
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
