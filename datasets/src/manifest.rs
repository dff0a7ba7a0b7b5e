//! External corpora: their names, origins, and known facts about them.
//!
//! This repository contains none of their files. Put fetched files into folders with the names given here,
//! inside the folder named by `PLIMSOLL_CORPORA`.

use plimsoll_model::Bytes;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The environment variable that names the folder of all corpora.
pub const CORPORA_VARIABLE: &str = "PLIMSOLL_CORPORA";

/// The files of one origin.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// The folder of the corpus, inside the folder of all corpora.
    pub folder: &'static str,
    /// The upstream project, and the location of the files in it.
    pub upstream: &'static str,
    /// The source from which the files can be fetched.
    pub origin: Origin,
    /// The commit or version.
    pub version: &'static str,
    /// The licence, as an SPDX identifier.
    pub licence: &'static str,
    /// The files of a complete download.
    pub files: Vec<CorpusFile>,
}

/// A source from which the files of a corpus can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A public GitHub repository, by owner and name.
    Github(&'static str),
    /// A Python package, which is distributed as an archive.
    Package(&'static str),
}

/// One file of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusFile {
    /// The name of the file in the folder.
    pub name: &'static str,
    /// The path of the file in the repository or package.
    pub path: &'static str,
    /// The SHA-256 digest of the file, in hexadecimal.
    pub sha256: &'static str,
    /// Known facts, if the file is an instance.
    pub facts: Option<Facts>,
}

/// Known facts about an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// The number of buffers.
    pub buffers: usize,
    /// The load: the peak live bytes.
    pub load: Bytes,
    /// The minimum peak in bytes, if a layout at the load is known.
    pub optimum: Option<Bytes>,
}

/// All external corpora, as listed in `data/corpora.toml`.
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
