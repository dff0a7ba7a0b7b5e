//! External corpora: what they are called, where they come from, and what is known of them.
//!
//! Nothing of them is part of this repository. Fetched files belong in folders named as here, and
//! `PLIMSOLL_CORPORA` names the folder above.

use plimsoll_model::Bytes;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The environment variable that names the folder of all corpora.
pub const CORPORA_VARIABLE: &str = "PLIMSOLL_CORPORA";

/// Files of one origin.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// Their folder, below the folder of all corpora.
    pub folder: &'static str,
    /// The project that keeps them, and where among its files they are.
    pub upstream: &'static str,
    /// Where each file can be fetched by itself.
    pub origin: Origin,
    /// Commit or version.
    pub version: &'static str,
    /// Their licence, as an SPDX identifier.
    pub licence: &'static str,
    /// What a download consists of.
    pub files: Vec<CorpusFile>,
}

/// Where the files of a corpus can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A public repository there, by owner and name.
    Github(&'static str),
    /// A Python package, of which an archive is downloaded.
    Package(&'static str),
}

/// One file of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusFile {
    /// Its name in the folder.
    pub name: &'static str,
    /// Its path below the repository or package.
    pub path: &'static str,
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: &'static str,
    /// What is known of it, where it is an instance.
    pub facts: Option<Facts>,
}

/// What is known of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Number of buffers.
    pub buffers: usize,
    /// The most bytes live at a step.
    pub load: Bytes,
    /// The least peak, bytes, where a layout at the load is known.
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
