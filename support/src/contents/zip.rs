//! Unpacks the only input of a zip archive. Entries are stored or deflated, and neither encrypted nor zip64.
//!
//! Source: APPNOTE.TXT 6.3.10 of PKWARE.

use super::common::{ContentsError, has_suffix, number};
use super::inflate::{InflateError, crc32, inflate};
use std::path::{Path, PathBuf};

/// The length in bytes of the end record without its comment.
const END: usize = 22;
/// The length in bytes of an entry of the directory without its name, extra fields and comment.
const ENTRY: usize = 46;
/// The length in bytes of the header before the data of an entry, without its name and extra fields.
const LOCAL: usize = 30;
/// The maximum length of a comment, in bytes.
const COMMENT: usize = 0xffff;
/// The number of names that a message lists.
const LISTED: usize = 5;

/// A file in an archive.
struct Entry {
    name: String,
    flags: u64,
    method: u64,
    crc: u64,
    packed: usize,
    size: usize,
    /// The position of its local header.
    at: usize,
}

/// Returns the file name and the bytes of the only input in an archive. If there are several files, the only
/// input is the only file with the suffix of a model (`.onnx`, `.tflite`) or, without models, the only `.csv`
/// or `.json` file. The input may have `limit` bytes.
pub(super) fn only_input(data: &[u8], limit: usize) -> Result<(PathBuf, Vec<u8>), ContentsError> {
    let mut entries = directory(data)?;
    // Finder of macOS adds a folder with metadata.
    entries.retain(|entry| !entry.name.ends_with('/') && !entry.name.starts_with("__MACOSX/"));
    let one = chosen(&entries)?;
    let name = Path::new(&one.name).file_name().map(PathBuf::from).unwrap_or_default();
    Ok((name, bytes(data, one, limit)?))
}

fn chosen(entries: &[Entry]) -> Result<&Entry, ContentsError> {
    if let [one] = entries {
        return Ok(one);
    }
    for (suffixes, what) in [(["onnx", "tflite"], "models"), (["csv", "json"], "inputs")] {
        let found: Vec<&Entry> =
            entries.iter().filter(|entry| has_suffix(Path::new(&entry.name), &suffixes)).collect();
        match found[..] {
            [] => {}
            [one] => return Ok(one),
            _ => {
                let names = listed(found.iter().map(|entry| &entry.name));
                return refuse(format!("several {what}: {names}; unpack it and name one of them"));
            }
        }
    }
    if entries.iter().any(|entry| entry.name.ends_with("data.pkl")) {
        return refuse(
            "a PyTorch checkpoint without a graph; export the model with torch.onnx.export".into(),
        );
    }
    match entries {
        [] => refuse("it contains no files".into()),
        _ => refuse(format!("no model or instance among {}", listed(entries.iter().map(|one| &one.name)))),
    }
}

fn listed<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let list = names.take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{list} and {more} more") } else { list }
}

/// Reads the directory at the end of the archive.
fn directory(data: &[u8]) -> Result<Vec<Entry>, ContentsError> {
    let first = data.len().saturating_sub(END + COMMENT);
    let is_end = |&at: &usize| {
        data[at..].starts_with(b"PK\x05\x06")
            && number::<2>(data, at + 20).is_some_and(|comment| at + END + comment as usize == data.len())
    };
    let end = (first..data.len()).rev().find(is_end).ok_or_else(|| damaged("it has no directory"))?;
    let (count, start) = number::<2>(data, end + 10).zip(number::<4>(data, end + 16)).unwrap_or_default();
    if count == 0xffff || start == 0xffff_ffff {
        return refuse("zip64 archives are not supported; unpack it".into());
    }
    let mut entries = Vec::new();
    let mut at = start as usize;
    for _ in 0..count {
        let (entry, next) = entry(data, at).ok_or_else(|| damaged("its directory is truncated"))?;
        entries.push(entry);
        at = next;
    }
    Ok(entries)
}

/// Reads the entry of the directory at `at`. Returns it with the position of the next entry.
fn entry(data: &[u8], at: usize) -> Option<(Entry, usize)> {
    let head = data.get(at..at.checked_add(ENTRY)?)?;
    let short = |at| number::<2>(head, at).unwrap_or_default();
    let long = |at| number::<4>(head, at).unwrap_or_default();
    if !head.starts_with(b"PK\x01\x02") {
        return None;
    }
    let name_end = at + ENTRY + short(28) as usize;
    let name = String::from_utf8_lossy(data.get(at + ENTRY..name_end)?).into_owned();
    let (packed, size) = (long(20) as usize, long(24) as usize);
    let entry = Entry {
        name,
        flags: short(8),
        method: short(10),
        crc: long(16),
        packed,
        size,
        at: long(42) as usize,
    };
    Some((entry, name_end + short(30) as usize + short(32) as usize))
}

/// Returns the bytes of an entry.
fn bytes(data: &[u8], entry: &Entry, limit: usize) -> Result<Vec<u8>, ContentsError> {
    let name = &entry.name;
    let expands = || ContentsError::Expands { kind: "zip", limit: limit as u64 };
    let wrong = |reason: &str| damaged(&format!("'{name}': {reason}"));
    if entry.flags & 1 != 0 {
        return refuse(format!("'{name}' is encrypted; unpack it with its password"));
    }
    if [entry.packed, entry.size, entry.at].contains(&0xffff_ffff) {
        return refuse(format!("'{name}' is a zip64 entry, which is not supported; unpack it"));
    }
    if entry.size > limit {
        return Err(expands());
    }
    let packed = local(data, entry).ok_or_else(|| wrong("its data is truncated"))?;
    let bytes = match entry.method {
        0 => packed.to_vec(),
        8 => match inflate(packed, entry.size) {
            Ok((bytes, _)) => bytes,
            Err(InflateError::TooLong) => return Err(wrong("its data is longer than its size")),
            Err(InflateError::Damaged) => return Err(wrong("its data is malformed")),
        },
        other => {
            return refuse(format!("'{name}' is compressed by method {other}; only deflate is supported"));
        }
    };
    if bytes.len() != entry.size || u64::from(crc32(&bytes)) != entry.crc {
        return Err(wrong("its size or checksum differs"));
    }
    Ok(bytes)
}

/// Returns the compressed data of an entry.
fn local<'a>(data: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    let head = data.get(entry.at..).filter(|head| head.starts_with(b"PK\x03\x04"))?;
    let start = LOCAL + number::<2>(head, 26)? as usize + number::<2>(head, 28)? as usize;
    head.get(start..)?.get(..entry.packed)
}

fn refuse<T>(reason: String) -> Result<T, ContentsError> {
    Err(ContentsError::Archive(reason))
}

fn damaged(reason: &str) -> ContentsError {
    ContentsError::Damaged { kind: "zip", reason: reason.to_owned() }
}
