//! Reads integers from a `FlexBuffers` map, the format of custom options.
//!
//! The documentation of `FlatBuffers` describes the layout on its page about internals. The last byte is the
//! width of the root. The byte before it contains the type of the root and the width of its contents. Offsets
//! count backwards from their own position. A map is a vector of values followed by their types. It is
//! preceded by its length, the width of its keys, and the offset of its keys. Keys are sorted strings that
//! end with a zero byte.

/// Types of values, which are the upper six bits of a type byte.
const INT: u8 = 1;
const UINT: u8 = 2;
const MAP: u8 = 9;
const BOOL: u8 = 26;

/// Returns the integer with this name in the map, if there is one.
pub(super) fn int(bytes: &[u8], name: &str) -> Option<i64> {
    let [rest @ .., kind, width] = bytes else { return None };
    let at = rest.len().checked_sub(usize::from(*width))?;
    if kind >> 2 != MAP {
        return None;
    }
    let each = 1usize << (kind & 3);
    let values = back(bytes, at, (*width).into())?;
    let length = usize::try_from(uint(bytes, values.checked_sub(each)?, each)?).ok()?;
    let width = usize::try_from(uint(bytes, values.checked_sub(2 * each)?, each)?).ok()?;
    let keys = back(bytes, values.checked_sub(3 * each)?, each)?;
    let key = |index: usize| {
        let text = bytes.get(back(bytes, keys.checked_add(index.checked_mul(width)?)?, width)?..)?;
        text.get(..text.iter().position(|&byte| byte == 0)?)
    };
    let index = (0..length.min(bytes.len())).find(|&index| key(index) == Some(name.as_bytes()))?;
    let kind = bytes.get(values.checked_add(length.checked_mul(each)?)?.checked_add(index)?)? >> 2;
    let value = uint(bytes, values.checked_add(index.checked_mul(each)?)?, each)?;
    match kind {
        UINT | BOOL => i64::try_from(value).ok(),
        INT => {
            let unused = 64 - 8 * each;
            Some((value << unused).cast_signed() >> unused)
        }
        _ => None,
    }
}

/// Reads an unsigned integer of 1, 2, 4 or 8 bytes.
fn uint(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    if !matches!(width, 1 | 2 | 4 | 8) {
        return None;
    }
    let part = bytes.get(at..at.checked_add(width)?)?;
    Some(part.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

/// Returns the position to which the offset at `at` points.
fn back(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    at.checked_sub(usize::try_from(uint(bytes, at, width)?).ok()?)
}
