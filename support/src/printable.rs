//! Text from input files that is safe to show.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns true for characters that change how other characters are shown, or that are invisible: control
/// characters, line and paragraph separators, marks of bidirectional text, and tags.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}')
}

/// Replaces hidden characters by escapes such as `\u{1b}`. Tabs and line breaks stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |letter| is_hidden(letter) && !matches!(letter, '\n' | '\t'),
        |letter, safe| {
            safe.extend(letter.escape_unicode());
        },
    )
}

/// Replaces hidden characters by escapes as [`printable`] does, also tabs and line breaks.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden, |letter, safe| safe.extend(letter.escape_unicode()))
}

/// Replaces hidden characters in the strings of a JSON text by escapes such as `\u001b`. The text keeps its
/// meaning.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |letter| is_hidden(letter) && !matches!(letter, '\n' | '\t'),
        |letter, safe| {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        },
    )
}

fn escaped(text: &str, is_unsafe: impl Fn(char) -> bool, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(&is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_unsafe(letter) {
            escape(letter, &mut safe);
        } else {
            safe.push(letter);
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_others_stay() {
        let plain = "conv1/\u{dc}bung:0 \u{4f60}\u{597d} \u{5e9}\u{5dc}\u{5d5}\u{5dd}\n\tnext";
        assert!(matches!(printable(plain), Cow::Borrowed(text) if text == plain));
        assert_eq!(printable("a\u{1b}[31mb\u{9b}\u{7f}\r\n"), "a\\u{1b}[31mb\\u{9b}\\u{7f}\\u{d}\n");
        assert_eq!(printable("x\u{202e}y\u{2066}\u{200f}\u{2028}"), "x\\u{202e}y\\u{2066}\\u{200f}\\u{2028}");
        assert_eq!(printable_line("a\nb\tc"), "a\\u{a}b\\u{9}c");
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let name = "n\u{1b}\u{202e}\u{9d}\u{e0041}\u{4f60}";
        let text = serde_json::to_string(name).unwrap();
        let safe = printable_json(&text);
        assert!(!safe.contains(is_hidden) && safe.contains('\u{4f60}'), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), name);
    }
}
