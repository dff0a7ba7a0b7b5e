//! Decompresses DEFLATE streams, and computes their checksums.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// The size in bytes of the first output buffer, which doubles when it is full.
const FIRST: usize = 1 << 12;

/// The reason why a stream cannot be decompressed.
pub(super) enum InflateError {
    /// The output is longer than allowed.
    TooLong,
    /// The stream is damaged or truncated.
    Damaged,
}

/// Decompresses the stream at the start of `data`, whose output may have `limit` bytes. Returns the output
/// and the length of the stream.
pub(super) fn inflate(data: &[u8], limit: usize) -> Result<(Vec<u8>, usize), InflateError> {
    let most = limit.saturating_add(1);
    let mut state = Box::<DecompressorOxide>::default();
    let mut output = vec![0; FIRST.min(most)];
    let (mut read, mut written) = (0, 0);
    loop {
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, used, made) = decompress(&mut state, &data[read..], &mut output, written, flags);
        read += used;
        written += made;
        match status {
            TINFLStatus::Done if written <= limit => {
                output.truncate(written);
                return Ok((output, read));
            }
            TINFLStatus::HasMoreOutput if output.len() < most => {
                output.resize(output.len().saturating_mul(2).min(most), 0);
            }
            TINFLStatus::Done | TINFLStatus::HasMoreOutput => return Err(InflateError::TooLong),
            _ => return Err(InflateError::Damaged),
        }
    }
}

/// Returns the CRC-32 of gzip and zip: the polynomial `0xEDB88320`, reflected.
pub(super) fn crc32(data: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    let step = |crc: u32, &byte: &u8| TABLE[((crc ^ u32::from(byte)) & 0xff) as usize] ^ (crc >> 8);
    !data.iter().fold(!0, step)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}
