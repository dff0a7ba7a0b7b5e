//! Reads models from C source, in which `xxd -i` and converters for microcontrollers store their bytes.
//!
//! An array is a list of integers in braces, such as `const unsigned char model[] = { 0x1c, 0x00 };`. It may
//! have attributes before and after its name. Comments, preprocessor lines and string literals are skipped.

use crate::import::ImportProblem;
use plimsoll_support::contents::has_suffix;
use std::path::Path;

/// The suffixes of C and C++ source.
const SUFFIXES: [&str; 9] = ["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "inc", "ino"];

/// The number of arrays that a message lists.
const LISTED: usize = 5;

/// An array of bytes.
#[derive(Debug, PartialEq, Eq)]
struct Array {
    name: String,
    bytes: Vec<u8>,
}

/// Returns true if a file name has a suffix of C or C++.
pub(crate) fn is_source(name: &Path) -> bool {
    has_suffix(name, &SUFFIXES)
}

/// Returns the bytes of the only model in C source, and the suffix of its format. The time is linear in the
/// size of the source, apart from the decoding of arrays that may be ONNX models.
///
/// # Errors
/// [`ImportProblem::Unsupported`] if no array or several arrays contain a model.
pub(crate) fn model(source: &[u8]) -> Result<(Vec<u8>, &'static str), ImportProblem> {
    let arrays = arrays(source);
    let names: Vec<String> = arrays.iter().map(described).collect();
    let mut models: Vec<(Array, &'static str)> =
        arrays.into_iter().filter_map(|array| suffix(&array.bytes).map(|suffix| (array, suffix))).collect();
    match (models.pop(), models.is_empty()) {
        (Some((array, suffix)), true) => Ok((array.bytes, suffix)),
        (Some((last, _)), false) => {
            let names: Vec<String> =
                models.iter().map(|(array, _)| array).chain([&last]).map(described).collect();
            let reason = format!("arrays {}; move one of them to a file of its own", listed(&names));
            Err(unsupported("C source with several models", reason))
        }
        (None, _) if names.is_empty() => {
            let reason = "expected an array such as `unsigned char model[] = { 0x1c, 0x00, .. }`; a header may \
                          only declare it, and the .c or .cc file contains its bytes";
            Err(unsupported("C source without an array of bytes", reason.to_owned()))
        }
        (None, _) => {
            let reason = format!("no TFLite or ONNX model in the arrays {}", listed(&names));
            Err(unsupported("C source without a model", reason))
        }
    }
}

fn unsupported(what: &str, reason: String) -> ImportProblem {
    ImportProblem::Unsupported { what: what.to_owned(), reason }
}

fn described(array: &Array) -> String {
    format!("{} ({} bytes)", array.name, array.bytes.len())
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let list = names[..names.len() - more].join(", ");
    if more > 0 { format!("{list} and {more} more") } else { list }
}

/// Returns the suffix of the format of a model, or `None` for other bytes.
fn suffix(bytes: &[u8]) -> Option<&'static str> {
    match () {
        () if crate::tflite::is_tflite(bytes) => Some("tflite"),
        () if crate::onnx::is_onnx(bytes) => Some("onnx"),
        () => None,
    }
}

/// Returns all arrays of bytes.
fn arrays(source: &[u8]) -> Vec<Array> {
    let mut scanner = Scanner { text: source, at: 0 };
    let (mut found, mut last, mut name) = (Vec::new(), &b""[..], &b""[..]);
    while let Some(token) = scanner.next() {
        match token {
            Token::Word(word) => last = word,
            // The word before the first bracket, as in `model[] ATTRIBUTE = {`.
            Token::Mark(b'[') if name.is_empty() => name = std::mem::take(&mut last),
            Token::Mark(b';' | b'}') => (last, name) = (b"", b""),
            Token::Mark(b'{') => {
                if let Some(bytes) = scanner.list() {
                    let name = if name.is_empty() { last } else { name };
                    found.push(Array { name: String::from_utf8_lossy(name).into_owned(), bytes });
                }
            }
            Token::Mark(_) => {}
        }
    }
    found
}

enum Token<'a> {
    /// An identifier, a keyword or a number.
    Word(&'a [u8]),
    /// Any other character. A literal of a string or a character counts as its quotation mark.
    Mark(u8),
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Returns the next token. Blanks, comments and preprocessor lines are skipped.
    fn next(&mut self) -> Option<Token<'a>> {
        let mut is_line_start = self.at == 0;
        loop {
            let rest = &self.text[self.at..];
            let byte = *rest.first()?;
            match rest {
                [b'/', b'/', ..] => self.skip(line_length(rest)),
                [b'/', b'*', ..] => self.skip(2 + ended(&rest[2..], b"*/")),
                [b'#', ..] if is_line_start => self.skip(line_length(rest)),
                [b'\n', ..] => {
                    is_line_start = true;
                    self.skip(1);
                }
                _ if byte.is_ascii_whitespace() => self.skip(1),
                [quote @ (b'"' | b'\''), ..] => {
                    self.skip(literal_length(rest));
                    return Some(Token::Mark(*quote));
                }
                _ if is_word(byte) => {
                    // Digits may be grouped by quotation marks.
                    let is_number = byte.is_ascii_digit();
                    let is_part = |&&byte: &&u8| is_word(byte) || byte == b'.' || is_number && byte == b'\'';
                    let length = rest.iter().take_while(is_part).count();
                    self.skip(length);
                    return Some(Token::Word(&rest[..length]));
                }
                _ => {
                    self.skip(1);
                    return Some(Token::Mark(byte));
                }
            }
        }
    }

    fn skip(&mut self, length: usize) {
        self.at = (self.at + length).min(self.text.len());
    }

    /// Returns the bytes of a list after its opening brace. For anything but a list of bytes, returns `None`
    /// and stays at the brace.
    fn list(&mut self) -> Option<Vec<u8>> {
        let start = self.at;
        let bytes = self.elements();
        if bytes.is_none() {
            self.at = start;
        }
        bytes
    }

    fn elements(&mut self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let (is_negative, word) = match self.next()? {
                Token::Mark(b'}') if !bytes.is_empty() => return Some(bytes),
                Token::Mark(b'-') => (true, self.next()?),
                other => (false, other),
            };
            let Token::Word(word) = word else { return None };
            bytes.push(byte(word, is_negative)?);
            match self.next()? {
                Token::Mark(b',') => {}
                Token::Mark(b'}') => return Some(bytes),
                _ => return None,
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the length up to the end of `end`, or of the whole text.
fn ended(text: &[u8], end: &[u8]) -> usize {
    text.windows(end.len()).position(|part| part == end).map_or(text.len(), |at| at + end.len())
}

/// Returns the length of a line without its line break. A line that ends in a backslash continues.
fn line_length(text: &[u8]) -> usize {
    let is_end = |&(at, byte): &(usize, &u8)| {
        *byte == b'\n' && !text[..at].ends_with(b"\\") && !text[..at].ends_with(b"\\\r")
    };
    text.iter().enumerate().find(is_end).map_or(text.len(), |(at, _)| at)
}

/// Returns the length of the literal of a string or a character.
fn literal_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            _ if byte == text[0] => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the byte of an integer literal from -128 to 255.
fn byte(word: &[u8], is_negative: bool) -> Option<u8> {
    let text = std::str::from_utf8(word).ok()?.to_ascii_lowercase().replace('\'', "");
    let text = text.trim_end_matches(['u', 'l', 'z']);
    let number = match text.split_at_checked(2) {
        Some(("0x", digits)) => u16::from_str_radix(digits, 16),
        Some(("0b", digits)) => u16::from_str_radix(digits, 2),
        _ if text.len() > 1 && text.starts_with('0') => u16::from_str_radix(text, 8),
        _ => text.parse(),
    };
    match (number.ok()?, is_negative) {
        (number, false) => u8::try_from(number).ok(),
        (number @ 0..=128, true) => Some(0u8.wrapping_sub(number as u8)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(String, Vec<u8>)> {
        arrays(source.as_bytes()).into_iter().map(|array| (array.name, array.bytes)).collect()
    }

    #[test]
    fn arrays_are_found_in_every_common_form() {
        for source in [
            "unsigned char m[] = {\n  0x07, 0x80,\n 0xff\n};\nunsigned int m_len = 3;\n",
            "#include \"m.h\"\n#define A { 1, 2 } \\\n  { 3 }\nalignas(8) const unsigned char m[3] = {7,128,255};",
            "const uint8_t m[] __attribute__((aligned(16))) = { 0x7, /* { 9 } */ 0X80U, 0377, };",
            "namespace n { constexpr std::array<uint8_t, 3> m = {0x07, 0x80, 0xFF}; }",
            "static const int8_t m[] PROGMEM = { 7, -128, -1 }; // { 5 }\n",
            "extern const char *s = \"{ 1 }\"; char m[1] [[maybe_unused]] { 0b111, 1'28, 255l };",
            "std::array<std::array<uint8_t, 3>, 1> m = {{ 7, 128, 255 }};",
        ] {
            assert_eq!(found(source), [("m".to_owned(), vec![7, 128, 255])], "{source}");
        }
        let several =
            found("char a[] = {1}; int b[] = {256}; float c[] = {0.5f}; char d[] = {2}; char e[] = {};");
        assert_eq!(several, [("a".to_owned(), vec![1]), ("d".to_owned(), vec![2])]);
        assert!(found("int main() { return 1; } char a[] = { 1, X }; char b[] = { 1").is_empty());
    }

    #[test]
    fn the_only_model_is_chosen_and_others_are_named() {
        let model = "0x1c, 0, 0, 0, 0x54, 0x46, 0x4c, 0x33";
        let error = |source: &str| super::model(source.as_bytes()).unwrap_err().to_string();
        let source = format!("char labels[] = {{ 1, 2 }}; char net[] = {{ {model} }};");
        assert_eq!(super::model(source.as_bytes()).unwrap(), (b"\x1c\0\0\0TFL3".to_vec(), "tflite"));
        let twice = error(&format!("{source} char big[] = {{ {model}, 9 }};"));
        assert!(
            twice.contains("several models") && twice.contains("net (8 bytes), big (9 bytes)"),
            "{twice}"
        );
        let none = error("char a[] = {1}; char b[] = {1, 2};");
        assert!(none.contains("no TFLite or ONNX model in the arrays a (1 bytes), b (2 bytes)"), "{none}");
        assert!(error("extern const unsigned char net[];").contains("without an array of bytes"));
    }
}
