//! Escapes ids in the columns `separations` and `exclusions`, where spaces separate ids.
//!
//! `%` and the whitespace bytes (space, tab, line feed, form feed, carriage return) are written as
//! `%XX` with two hexadecimal digits. When a list is read, only these escapes are decoded, and any other `%`
//! stands for itself. Therefore, most lists from other tools are read as intended even if their ids contain
//! a `%`.

const ESCAPED: [u8; 6] = [b'%', b' ', b'\t', b'\n', 0x0c, b'\r'];

/// Escapes an id for a list of ids: whitespace and `%` become `%XX`.
pub fn encode(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for c in id.chars() {
        match u8::try_from(c) {
            Ok(byte) if ESCAPED.contains(&byte) => {
                text.push('%');
                for digit in [byte >> 4, byte & 15] {
                    text.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
                }
            }
            _ => text.push(c),
        }
    }
    text
}

pub(super) fn decode(text: &str) -> String {
    let mut id = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        id.push_str(&rest[..at]);
        let escaped = rest.get(at + 1..at + 3).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let (meant, length) = match byte {
            Some(byte) if ESCAPED.contains(&byte) => (char::from(byte), 3),
            _ => ('%', 1),
        };
        id.push(meant);
        rest = &rest[at + length..];
    }
    id.push_str(rest);
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decoding_undoes_encoding(id in "[a%0-9A-F \\t\\n\\r\\x0cé\u{a0}]{0,8}") {
            let text = encode(&id);
            prop_assert_eq!(text.split_ascii_whitespace().count(), usize::from(!id.is_empty()));
            prop_assert_eq!(decode(&text), id);
        }
    }

    #[test]
    fn a_lone_percent_sign_is_itself() {
        for id in ["%", "50%", "%4", "%41", "%é", "100%x"] {
            assert_eq!(decode(id), id);
        }
        assert_eq!(decode("a%20b%25c%0Ad%0d"), "a b%c\nd\r");
    }
}
