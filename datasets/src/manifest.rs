//! External corpora: their names, origins and known facts.
//!
//! The repository contains none of their files. Downloaded files belong in the folders named here, below the
//! folder that `PLIMSOLL_CORPORA` names.

use plimsoll_model::Bytes;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The environment variable that names the folder of all corpora.
pub const CORPORA_VARIABLE: &str = "PLIMSOLL_CORPORA";

/// A set of files with the same origin.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// Their folder, below the folder of all corpora.
    pub folder: &'static str,
    /// The upstream project, and where its repository keeps the files.
    pub upstream: &'static str,
    /// The source from which individual files can be downloaded.
    pub origin: Origin,
    /// Commit or package version.
    pub version: &'static str,
    /// Their licence, as an SPDX identifier.
    pub licence: &'static str,
    /// The files of a download.
    pub files: Vec<CorpusFile>,
}

/// The source of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A public GitHub repository, by owner and name.
    Github(&'static str),
    /// A Python package whose archive is downloaded.
    Package(&'static str),
}

/// One file of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusFile {
    /// File name in the corpus folder.
    pub name: &'static str,
    /// Path in the repository or package.
    pub path: &'static str,
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: &'static str,
    /// Known facts, if the file is an instance.
    pub facts: Option<Facts>,
}

/// Known facts about an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Number of buffers.
    pub buffers: usize,
    /// Peak live bytes.
    pub load: Bytes,
    /// The optimum in bytes, if a layout at the load is known.
    pub optimum: Option<Bytes>,
}

/// All external corpora, as `data/corpora.toml` lists them.
pub static MANIFEST: LazyLock<Vec<Corpus>> = LazyLock::new(|| {
    let lists: BTreeMap<String, Vec<Corpus>> =
        toml::from_str(include_str!("../data/corpora.toml")).expect("a valid list of corpora");
    lists.into_values().flatten().collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_every_file_once() {
        let mut names: Vec<(&str, &str)> =
            MANIFEST.iter().flat_map(|c| c.files.iter().map(|f| (c.folder, f.name))).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for file in MANIFEST.iter().flat_map(|c| &c.files) {
            assert!(file.sha256.len() == 64 && file.sha256.bytes().all(|b| b.is_ascii_hexdigit()));
        }
    }
}
