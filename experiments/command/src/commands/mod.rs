//! One module per command.

pub mod bench;
pub mod choose;
pub mod convert;
pub mod datasets;
pub mod fuse;
pub mod generate;
pub mod import;
pub mod list;
pub mod measure;
pub mod merge;
pub mod order;
pub mod overlap;
pub mod plan;
pub mod recheck;
pub mod report;
pub mod reproduce;
pub mod solve;
pub mod spill;
pub mod sweep;
pub mod tiers;
pub mod verify;

use crate::failure::{ANSWERED, INTERNAL, NOTHING_FOUND, REFUTED};
use crate::output;
use plimsoll::model::csv::Noted;
use plimsoll_lab::external::quote;
use plimsoll_lab::record::Failures;
use plimsoll_model::hexadecimal;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::Path;

/// The command as it was typed, quoted so that it can be typed again.
pub(crate) fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| quote(&word));
    ["plimsoll".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// The exit code of many runs: an algorithm of our own whose runs all broke is a defect, an answer that the checker
/// refused a failed verification, an external binary whose runs all failed has found nothing. The first of these counts.
pub(crate) fn code_of_runs(failures: &[Failures], refused: bool) -> u8 {
    let broken = |one: &Failures| one.failed == one.runs && !one.is_external();
    let wrong = |one: &Failures| one.refused == one.runs;
    if failures.iter().any(broken) {
        INTERNAL
    } else if refused || failures.iter().any(wrong) {
        REFUTED
    } else if failures.iter().any(Failures::is_total) {
        NOTHING_FOUND
    } else {
        ANSWERED
    }
}

/// Notes the columns of a file that were passed over.
pub(crate) fn note_columns<T>(path: &Path, noted: &Noted<T>) {
    if let Some(note) = noted.note() {
        output::complain(&format!("note: {}: {note}", path.display()));
    }
}

/// The SHA-256 of some bytes, hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Hands bytes on and hashes them.
pub(crate) struct Hashing<W> {
    inner: W,
    sha256: Sha256,
}

impl<W: Write> Hashing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, sha256: Sha256::new() }
    }

    /// Hexadecimal.
    pub(crate) fn digest(self) -> String {
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
