//! Formats of files that are written, as the suffixes of their names tell them.

use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// A format, with the suffixes that stand for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub name: &'static str,
    suffixes: &'static [&'static str],
}

const fn format(name: &'static str, suffixes: &'static [&'static str]) -> Format {
    Format { name, suffixes }
}

/// Formats that commands write.
pub const CSV: Format = format("CSV", &["csv"]);
/// One JSON document.
pub const JSON: Format = format("JSON", &["json"]);
pub const SVG: Format = format("SVG", &["svg"]);
pub const TOML: Format = format("TOML", &["toml"]);
/// A picture for Graphviz.
pub const DOT: Format = format("DOT", &["dot", "gv"]);

/// Every format that a suffix promises. Other suffixes (`.txt`, `.log`, `.out`) and names without one promise nothing.
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
    /// Refuses a name whose suffix promises another format.
    ///
    /// # Errors
    /// What is written, what the name promises, and which suffixes fit.
    pub fn check(self, path: &Path) -> Result<(), String> {
        let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
        let promised = suffix
            .and_then(|suffix| KNOWN.into_iter().find(|known| known.suffixes.contains(&suffix.as_str())));
        match promised.filter(|promised| *promised != self) {
            None => Ok(()),
            Some(promised) => {
                let ends: Vec<String> = self.suffixes.iter().map(|suffix| format!(".{suffix}")).collect();
                let (own, ends) = (self.name, ends.join(" or "));
                Err(format!("it writes {own}, not {}: use a name ending in {ends}", promised.name))
            }
        }
    }

    /// Reads the name of a file to be written in this format.
    pub fn file(self) -> impl TypedValueParser<Value = PathBuf> {
        PathBufValueParser::new().try_map(move |path| self.check(&path).map(|()| path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_suffixes_of_other_formats_are_refused() {
        for name in
            ["a.csv", "a.CSV", "a", "a.txt", "a.log", "a.out", "a.1048576", "/dev/stdout", "b.json/a", ".svg"]
        {
            assert_eq!(CSV.check(Path::new(name)), Ok(()), "{name}");
        }
        for name in ["a.json", "a.csv.gz", "a.PNG", "dir/a.svg", "a.csv.md"] {
            let why = CSV.check(Path::new(name)).unwrap_err();
            assert!(why.starts_with("it writes CSV, not ") && why.ends_with("ending in .csv"), "{why}");
        }
        assert_eq!(DOT.check(Path::new("a.gv")), Ok(()));
        assert_eq!(
            DOT.check(Path::new("a.svg")).unwrap_err(),
            "it writes DOT, not SVG: use a name ending in .dot or .gv"
        );
    }

    #[test]
    fn a_suffix_promises_one_format() {
        let all: Vec<&str> = KNOWN.iter().flat_map(|known| known.suffixes).copied().collect();
        assert!(all.iter().enumerate().all(|(at, suffix)| !all[..at].contains(suffix)));
    }
}
