//! Numbers in a map of `FlexBuffers`, the form of custom options.
//!
//! Layout, from the format's internals page: the last byte is the width of the root, the one before its type
//! and the width of what it holds; offsets count back from where they stand. A map is a vector of values,
//! their types after them, with its length, the width of its keys and the way to them in front; keys are
//! sorted texts that end in 0.

/// Types of values: the six high bits of the type byte.
const INT: u8 = 1;
const UINT: u8 = 2;
const MAP: u8 = 9;
const BOOL: u8 = 26;

/// The integer under a name in the map that the buffer holds; none where there is no such.
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

/// An unsigned number of 1, 2, 4 or 8 bytes.
fn uint(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    if !matches!(width, 1 | 2 | 4 | 8) {
        return None;
    }
    let part = bytes.get(at..at.checked_add(width)?)?;
    Some(part.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

/// Where an offset leads.
fn back(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    at.checked_sub(usize::try_from(uint(bytes, at, width)?).ok()?)
}
