//! Formats of output files, recognised by their suffixes.

use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// A file format and its suffixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub name: &'static str,
    suffixes: &'static [&'static str],
}

const fn format(name: &'static str, suffixes: &'static [&'static str]) -> Format {
    Format { name, suffixes }
}

pub const CSV: Format = format("CSV", &["csv"]);
/// JSON, one document per file.
pub const JSON: Format = format("JSON", &["json"]);
const SVG: Format = format("SVG", &["svg"]);
const PNG: Format = format("PNG", &["png"]);
/// A picture. The suffix of its file determines the format, which is SVG if there is no suffix.
pub const PICTURE: Format = format("a picture", &["svg", "png"]);
/// A proof of a lower bound.
pub const PROOF: Format = format("a proof", &["proof"]);
pub const TOML: Format = format("TOML", &["toml"]);
/// A C header.
pub const HEADER: Format = format("a C header", &["h"]);
/// A layout. The suffix determines its format; it is CSV if there is no suffix.
pub const LAYOUT: Format = format("CSV or a C header", &["csv", "h"]);
/// The placement of tensors. The suffix determines its format; it is CSV if there is no suffix.
pub const PLACES: Format = format("CSV, JSON or a C header", &["csv", "json", "h"]);
/// A model with its plan, in the format of the model.
pub const MODEL: Format = format("a model", &["onnx", "tflite"]);
/// A page for a browser.
pub const HTML: Format = format("HTML", &["html", "htm"]);
/// The graph format of Graphviz.
pub const DOT: Format = format("DOT", &["dot", "gv"]);

/// Suffixes of plain text, which are accepted for all formats except pictures.
const PLAIN: [&str; 3] = ["txt", "log", "out"];

/// Formats with well-known suffixes.
const KNOWN: [Format; 22] = [
    CSV,
    PROOF,
    JSON,
    HEADER,
    SVG,
    TOML,
    DOT,
    format("TSV", &["tsv", "tab"]),
    format("JSON lines", &["jsonl", "ndjson"]),
    PNG,
    format("JPEG", &["jpg", "jpeg"]),
    format("GIF", &["gif"]),
    format("WebP", &["webp"]),
    format("PDF", &["pdf"]),
    format("PostScript", &["ps", "eps"]),
    HTML,
    format("Markdown", &["md"]),
    format("XML", &["xml"]),
    format("YAML", &["yaml", "yml"]),
    format("a spreadsheet", &["xlsx", "xls", "ods", "parquet"]),
    format("a model", &["onnx", "tflite", "pb"]),
    format("a compressed file", &["gz", "zst", "xz", "bz2", "zip"]),
];

impl Format {
    /// Checks that the suffix of a file name belongs to this format. Names without a suffix and names that
    /// end in a number (`X.1048576`) are accepted as well. Suffixes of plain text are also accepted, except
    /// for pictures.
    ///
    /// # Errors
    /// Returns a message that names the format of the output, the format of the suffix, and the accepted
    /// suffixes.
    pub fn check(self, path: &Path) -> Result<(), String> {
        let Some(suffix) = suffix(path) else { return Ok(()) };
        if self.suffixes.contains(&suffix.as_str()) {
            return Ok(());
        }
        let is_number = suffix.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || (self != PICTURE && PLAIN.contains(&suffix.as_str())) {
            return Ok(());
        }
        let ends: Vec<String> = self.suffixes.iter().map(|suffix| format!(".{suffix}")).collect();
        let (own, ends) = (self.name, ends.join(" or "));
        let other = known(&suffix).map_or_else(|| format!("'.{suffix}'"), |known| known.name.to_owned());
        Err(format!("the output is {own}, not {other}; use a name ending in {ends}"))
    }

    /// Returns a parser for the name of an output file in this format.
    pub fn file(self) -> impl TypedValueParser<Value = PathBuf> {
        PathBufValueParser::new().try_map(move |path| self.check(&path).map(|()| path))
    }
}

/// Returns a parser for the name of an output folder. A name with the suffix of a known file format is
/// accepted only if the folder exists.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match suffix(&path).and_then(|suffix| known(&suffix)) {
        Some(known) if !path.is_dir() => {
            Err(format!("the output is a folder, not {}; use a name without a suffix", known.name))
        }
        _ => Ok(path),
    })
}

/// Returns true if a picture with this name is PNG.
pub fn is_png(path: &Path) -> bool {
    suffix(path).is_some_and(|suffix| PNG.suffixes.contains(&suffix.as_str()))
}

/// Returns true if a layout with this name is a C header.
pub fn is_header(path: &Path) -> bool {
    suffix(path).is_some_and(|suffix| HEADER.suffixes.contains(&suffix.as_str()))
}

fn suffix(path: &Path) -> Option<String> {
    path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase())
}

fn known(suffix: &str) -> Option<Format> {
    KNOWN.into_iter().find(|known| known.suffixes.contains(&suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_suffixes_of_other_formats_are_rejected() {
        for name in
            ["a.csv", "a.CSV", "a", "a.txt", "a.log", "a.out", "a.1048576", "/dev/stdout", "b.json/a", ".svg"]
        {
            assert_eq!(CSV.check(Path::new(name)), Ok(()), "{name}");
        }
        for name in ["a.json", "a.csv.gz", "a.PNG", "dir/a.svg", "a.csv.md"] {
            let why = CSV.check(Path::new(name)).unwrap_err();
            assert!(why.starts_with("the output is CSV, not ") && why.ends_with("ending in .csv"), "{why}");
        }
        assert!(CSV.check(Path::new("a.cvs")).unwrap_err().starts_with("the output is CSV, not '.cvs'"));
        assert_eq!(DOT.check(Path::new("a.gv")), Ok(()));
        for name in ["a.svg", "a.PNG", "a", "/dev/stdout"] {
            assert_eq!(PICTURE.check(Path::new(name)), Ok(()), "{name}");
        }
        for name in ["a.pdf", "a.txt", "a.pgn"] {
            let why = PICTURE.check(Path::new(name)).unwrap_err();
            assert!(why.ends_with("use a name ending in .svg or .png"), "{why}");
        }
        assert!(is_png(Path::new("a.PNG")) && !is_png(Path::new("png")));
        assert_eq!(
            DOT.check(Path::new("a.svg")).unwrap_err(),
            "the output is DOT, not SVG; use a name ending in .dot or .gv"
        );
    }

    #[test]
    fn each_suffix_belongs_to_one_format() {
        let all: Vec<&str> = KNOWN.iter().flat_map(|known| known.suffixes).copied().collect();
        assert!(all.iter().enumerate().all(|(at, suffix)| !all[..at].contains(suffix)));
    }
}
