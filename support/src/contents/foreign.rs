//! Recognises files that are no input, and names what helps.

use super::common::{ContentsError, Packing, has_suffix};
use std::path::Path;

/// The number of bytes at the start of a file that are searched.
const HEAD: usize = 4096;

const DECOMPRESS: &str = "decompress it first";
const CONVERT: &str = "convert the model to TFLite or ONNX";

/// Formats that are recognised by fixed bytes: their position, the bytes, the format, and what helps.
const SIGNATURES: [(usize, &[u8], &str, &str); 7] = [
    (0, b"\xfd7zXZ\0", "a file compressed by xz", DECOMPRESS),
    (4, b"1AY&SY", "a file compressed by bzip2", DECOMPRESS),
    (0, b"\x28\xb5\x2f\xfd", "a file compressed by Zstandard", DECOMPRESS),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and name one file"),
    (257, b"ustar", "a tar archive", "unpack it and name one file"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", CONVERT),
    (0, b"GGUF", "a GGUF file, which contains weights without a graph", CONVERT),
];

const MLIR: &str = "only dumps of IREE's pass iree-stream-layout-slices are read as MLIR (`audit`); write the \
    buffers of other compilers as CSV (id, lower, upper, size) and their offsets as CSV (id, offset)";

/// Refuses contents that are no input.
///
/// # Errors
/// [`ContentsError::Foreign`] with the format and what helps.
pub(super) fn check(name: &Path, bytes: &[u8]) -> Result<(), ContentsError> {
    let refuse = |what: &str, help| Err(ContentsError::Foreign { what: what.to_owned(), help });
    if Packing::of(bytes).is_some() {
        return refuse("a compressed file inside a compressed file", "unpack it first");
    }
    for (at, magic, what, help) in SIGNATURES {
        if bytes.get(at..).is_some_and(|rest| rest.starts_with(magic)) {
            return refuse(what, help);
        }
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with("version https://git-lfs.github.com/spec/") {
        return refuse(&pointer(text), "`git lfs pull` downloads the file itself");
    }
    if is_html(text) {
        let help = "download the file itself; a page of a code host links to the raw file";
        return refuse("an HTML page saved under this name", help);
    }
    if is_mlir(name, text) {
        return refuse("MLIR text that contains no memory plan", MLIR);
    }
    Ok(())
}

/// Describes a Git LFS pointer by the size that it states.
fn pointer(text: &str) -> String {
    let size = text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse::<u64>().ok());
    let size = size.map_or_else(String::new, |size| format!(" to a file of {size} bytes"));
    format!("a Git LFS pointer{size}")
}

fn is_html(text: &str) -> bool {
    if !text.starts_with('<') {
        return false;
    }
    let text = text.to_ascii_lowercase();
    ["<!doctype html", "<html"].iter().any(|tag| text.contains(tag))
}

/// Returns true for MLIR, except for dumps of IREE.
fn is_mlir(name: &Path, text: &str) -> bool {
    if text.contains("// -----// IR Dump ") {
        return false;
    }
    if has_suffix(name, &["mlir", "pto"]) {
        return true;
    }
    // Comments and aliases of attributes and types may come first.
    let is_prelude = |line: &&str| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with("//") || line.starts_with('#') || line.starts_with('!')
    };
    let Some(line) = text.lines().find(|line| !is_prelude(line)) else { return false };
    let module = line.trim_start().trim_start_matches("builtin.").strip_prefix("module");
    let is_module = module.is_some_and(|rest| {
        rest.starts_with([' ', '{'])
            && ["{", "@", "attributes"].iter().any(|next| rest.trim().starts_with(next))
    });
    is_module || ["\"builtin.module\"", "func.func "].iter().any(|start| line.trim_start().starts_with(start))
}
