//! Reads the end of a file that another process writes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Returns the last `most` bytes of a file as text, or the whole file if it is shorter. Invalid UTF-8 is
/// replaced.
pub(super) fn tail(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Maximum length of the line that [`last_line`] returns, in characters.
const LONGEST: usize = 200;
/// The start of the line that Rust prints below the message of a panic.
const NOTE: &str = "note: run with `RUST_BACKTRACE";

/// Returns the last line that is neither empty nor the note below a panic, or an empty string if there is
/// none. Failing programs usually print the reason in this line. Control characters and terminal colours
/// are removed, and the line is cut to 200 characters.
pub(super) fn last_line(text: &str) -> String {
    let plain = text.split(['\n', '\r']).map(plain);
    let said = plain.rev().find(|line| !line.is_empty() && !line.starts_with(NOTE)).unwrap_or_default();
    if said.chars().count() <= LONGEST {
        return said;
    }
    let kept: String = said.chars().take(LONGEST - 1).collect();
    format!("{}…", kept.trim_end())
}

/// Returns a line without escape sequences and control characters, with single spaces between words. An
/// escape sequence extends from `ESC [` to the first character between `@` and `~`.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' && letters.next_if_eq(&'[').is_some() {
            while letters.next().is_some_and(|letter| !('@'..='~').contains(&letter)) {}
        } else if letter.is_whitespace() {
            text.push(' ');
        } else if !letter.is_control() {
            text.push(letter);
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_reason() {
        let python =
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: out of space\n\n";
        assert_eq!(last_line(python), "ValueError: out of space");
        let rust = "thread 'main' panicked at src/main.rs:2:5:\nout of space\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        assert_eq!(last_line(rust), "out of space");
        assert_eq!(last_line("10 %\r20 %\rerror:\tfull\r\n"), "error: full");
        assert_eq!(last_line("\u{1b}[1;31merror\u{1b}[0m: a\u{7}b\u{0}c\n \n"), "error: abc");
        assert_eq!(last_line("\n \n\u{1b}[0m\n"), "");
        let long = last_line(&format!("a\n{}", "b ".repeat(500)));
        assert!(long.chars().count() <= LONGEST && long.ends_with("b…"), "{long}");
    }
}
