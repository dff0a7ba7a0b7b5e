//! Decompresses gzip files (RFC 1952).

use super::common::{ContentsError, number};
use super::inflate::{InflateError, crc32, inflate};

const KIND: &str = "gzip";
/// The length in bytes of the fixed part of a header.
const HEADER: usize = 10;
/// The length in bytes of the checksum and the size after the compressed data.
const TRAILER: usize = 8;

/// Decompresses a file of one or more members, whose contents may have `limit` bytes in all.
pub(super) fn decompress(data: &[u8], limit: usize) -> Result<Vec<u8>, ContentsError> {
    let mut contents = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let start = header(rest).ok_or_else(|| damaged("a truncated or unknown header"))?;
        let (member, length) =
            inflate(&rest[start..], limit - contents.len()).map_err(|error| match error {
                InflateError::TooLong => ContentsError::Expands { kind: KIND, limit: limit as u64 },
                InflateError::Damaged => damaged("the compressed data is truncated or malformed"),
            })?;
        let end = start + length;
        let checksums = number::<4>(rest, end).zip(number::<4>(rest, end + 4));
        let (crc, size) = checksums.ok_or_else(|| damaged("truncated before the checksum"))?;
        if (crc, size) != (u64::from(crc32(&member)), member.len() as u64 & 0xffff_ffff) {
            return Err(damaged("the checksum differs"));
        }
        rest = &rest[end + TRAILER..];
        // Tapes and some tools pad files with zeros.
        if rest.iter().all(|&byte| byte == 0) {
            rest = &[];
        }
        if contents.is_empty() { contents = member } else { contents.extend(member) }
    }
    Ok(contents)
}

/// Returns the length of the header of a member, or `None` if it is truncated or no header.
fn header(data: &[u8]) -> Option<usize> {
    let &[0x1f, 0x8b, 8, flags, ..] = data else { return None };
    let mut end = HEADER;
    if flags & 4 != 0 {
        end += 2 + number::<2>(data, end)? as usize;
    }
    // The name and the comment end in a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            end += 1 + data.get(end..)?.iter().position(|&byte| byte == 0)?;
        }
    }
    if flags & 2 != 0 {
        end += 2;
    }
    (flags & 0xe0 == 0 && end <= data.len()).then_some(end)
}

fn damaged(reason: &str) -> ContentsError {
    ContentsError::Damaged { kind: KIND, reason: reason.to_owned() }
}
