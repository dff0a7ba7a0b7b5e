//! Input files, where `-` stands for standard input.

use clap::builder::{PathBufValueParser, StringValueParser, TypedValueParser};
use plimsoll_lab::external::quote;
use plimsoll_support::contents::{Contents, ContentsError, FILE_LIMIT};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// The temporary copy of standard input: its folder and file.
static COPY: Mutex<Option<(TempDir, PathBuf)>> = Mutex::new(None);

/// Returns a parser for the name of an input file. For `-` it copies standard input to a temporary file,
/// because some formats are read more than once, and all are recognised by their suffix.
pub fn input_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| if path == Path::new("-") { copied() } else { Ok(path) })
}

/// Returns a parser for a built-in name or the name of an input file, where `-` stands for standard input.
pub fn input_name() -> impl TypedValueParser<Value = String> {
    let name = |name: String| match name.as_str() {
        "-" => copied().map(|path| path.display().to_string()),
        _ => Ok(name),
    };
    StringValueParser::new().try_map(name)
}

/// Returns a parser for `[NAME=]FILE`, where the file `-` stands for standard input.
pub fn input_named() -> impl TypedValueParser<Value = String> {
    let name = |text: String| match text.rsplit_once('=') {
        Some((name, "-")) => copied().map(|path| format!("{name}={}", path.display())),
        None if text == "-" => copied().map(|path| path.display().to_string()),
        _ => Ok(text),
    };
    StringValueParser::new().try_map(name)
}

/// Returns the folder of an input file, which is the current folder for standard input.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|_| !is_copy(path)).unwrap_or(Path::new(""))
}

/// Returns the name of an input file for reports.
pub fn shown(path: &Path) -> String {
    if is_copy(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Returns the name of an input file as an argument of another command, quoted for a shell.
pub fn quoted(path: &Path) -> String {
    if is_copy(path) { "-".to_owned() } else { quote(&path.display().to_string()) }
}

/// Returns true if an input file is the copy of standard input.
pub fn is_copy(path: &Path) -> bool {
    let copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    copy.as_ref().is_some_and(|(_, own)| own == path)
}

fn copied() -> Result<PathBuf, String> {
    let mut copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    if copy.is_some() {
        return Err("standard input can be read only once".to_owned());
    }
    let read = || -> Result<(TempDir, PathBuf), ContentsError> {
        let mut data = Vec::new();
        io::stdin().lock().take(FILE_LIMIT + 1).read_to_end(&mut data)?;
        if data.len() as u64 > FILE_LIMIT {
            return Err(ContentsError::TooLarge { limit: FILE_LIMIT });
        }
        let Contents { name, bytes } = Contents::of(Path::new("standard-input"), data, FILE_LIMIT)?;
        let folder = tempfile::tempdir()?;
        let suffix = name.extension().and_then(OsStr::to_str).unwrap_or_else(|| suffix(&bytes));
        let path = folder.path().join(format!("standard-input.{suffix}"));
        fs::write(&path, bytes)?;
        Ok((folder, path))
    };
    let (folder, path) = read().map_err(|error| format!("cannot read standard input: {error}"))?;
    *copy = Some((folder, path.clone()));
    Ok(path)
}

/// Texts with which C source may begin that contains the bytes of a model.
const C_SOURCE: [&str; 10] = [
    "//",
    "/*",
    "#include",
    "#pragma",
    "#ifndef",
    "alignas",
    "const ",
    "static ",
    "extern ",
    "unsigned char ",
];

/// Returns the file suffix for the format of the data.
fn suffix(data: &[u8]) -> &'static str {
    let text = data.trim_ascii_start();
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match () {
        () if data.get(4..8) == Some(b"TFL3") => "tflite",
        () if text.starts_with(b"{") => "json",
        () if std::str::from_utf8(line).is_err() || line.contains(&0) => "onnx",
        () if C_SOURCE.iter().any(|start| text.starts_with(start.as_bytes())) => "c",
        () if text.starts_with(b"[") || line.contains(&b'=') => "toml",
        // The first byte of an ONNX file is the tag of a field.
        () if line.first().is_some_and(u8::is_ascii_control) => "onnx",
        () => "csv",
    }
}

/// Replaces the name of the copy with `-` in a message.
pub fn unspooled(message: &str) -> String {
    let copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    copy.as_ref()
        .map_or_else(|| message.to_owned(), |(_, path)| message.replace(&path.display().to_string(), "-"))
}

/// Removes the copy.
pub fn remove_copy() {
    COPY.lock().unwrap_or_else(PoisonError::into_inner).take();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_their_content() {
        for (data, expected) in [
            (&b"id,lower,upper,size\n"[..], "csv"),
            (b"\xef\xbb\xbfid,offset\n", "csv"),
            (b"", "csv"),
            (b"offset\n0\n", "csv"),
            (b" {\"name\": 1}", "json"),
            (b"\x1c\0\0\0TFL3", "tflite"),
            (b"\x08\x07\x12\x07pytorch", "onnx"),
            (b"[machine]\n", "toml"),
            (b"unsigned char net_tflite[] = {\n  0x1c, 0x00", "c"),
            (b"#include <cstdint>\n", "c"),
            (b"# a comment\nseeds = 1\n", "csv"),
            (b"name = \"x\"\n", "toml"),
        ] {
            assert_eq!(suffix(data), expected, "{data:?}");
        }
    }
}
