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
pub const SVG: Format = format("SVG", &["svg"]);
pub const TOML: Format = format("TOML", &["toml"]);
/// The graph format of Graphviz.
pub const DOT: Format = format("DOT", &["dot", "gv"]);

/// Formats with well-known suffixes. Names with other suffixes (`.txt`, `.log`) or none are accepted for
/// every format.
const KNOWN: [Format; 20] = [
    CSV,
    JSON,
    SVG,
    TOML,
    DOT,
    format("TSV", &["tsv", "tab"]),
    format("JSON lines", &["jsonl", "ndjson"]),
    format("PNG", &["png"]),
    format("JPEG", &["jpg", "jpeg"]),
    format("GIF", &["gif"]),
    format("WebP", &["webp"]),
    format("PDF", &["pdf"]),
    format("PostScript", &["ps", "eps"]),
    format("HTML", &["html", "htm"]),
    format("Markdown", &["md"]),
    format("XML", &["xml"]),
    format("YAML", &["yaml", "yml"]),
    format("a spreadsheet", &["xlsx", "xls", "ods", "parquet"]),
    format("a model", &["onnx", "tflite", "pb"]),
    format("a compressed file", &["gz", "zst", "xz", "bz2", "zip"]),
];

impl Format {
    /// Checks that the suffix of a file name does not belong to another format.
    ///
    /// # Errors
    /// Returns a message that names the format of the output, the format of the suffix, and the accepted
    /// suffixes.
    pub fn check(self, path: &Path) -> Result<(), String> {
        let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
        let named = suffix
            .and_then(|suffix| KNOWN.into_iter().find(|known| known.suffixes.contains(&suffix.as_str())));
        match named.filter(|named| *named != self) {
            None => Ok(()),
            Some(named) => {
                let ends: Vec<String> = self.suffixes.iter().map(|suffix| format!(".{suffix}")).collect();
                let (own, ends) = (self.name, ends.join(" or "));
                Err(format!("the output is {own}, not {}: use a name ending in {ends}", named.name))
            }
        }
    }

    /// Returns a parser for the name of an output file in this format.
    pub fn file(self) -> impl TypedValueParser<Value = PathBuf> {
        PathBufValueParser::new().try_map(move |path| self.check(&path).map(|()| path))
    }
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
        assert_eq!(DOT.check(Path::new("a.gv")), Ok(()));
        assert_eq!(
            DOT.check(Path::new("a.svg")).unwrap_err(),
            "the output is DOT, not SVG: use a name ending in .dot or .gv"
        );
    }

    #[test]
    fn each_suffix_belongs_to_one_format() {
        let all: Vec<&str> = KNOWN.iter().flat_map(|known| known.suffixes).copied().collect();
        assert!(all.iter().enumerate().all(|(at, suffix)| !all[..at].contains(suffix)));
    }
}
