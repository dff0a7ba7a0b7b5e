//! Text representation of bytes.

use std::fmt::Write as _;

/// Formats bytes as hexadecimal text, two digits per byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
