//! Finds the instances of external corpora on this machine.

use crate::manifest::{CorpusFile, MANIFEST};
use plimsoll_model::Instance;
use plimsoll_model::csv::{CsvError, ReadOptions, instance_name, read_instance_file};
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable that names the folder of all corpora.
pub const CORPORA_VARIABLE: &str = "PLIMSOLL_CORPORA";

/// The folders with instances in CSV.
const CSV_FOLDERS: [&str; 2] = ["minimalloc", "idealloc"];

/// An instance file of a corpus.
#[derive(Clone, Debug)]
pub struct InstanceFile {
    /// Folder and instance, `minimalloc/A`.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// How it is read.
    pub options: ReadOptions,
    /// Its entry in the manifest, if it has one.
    pub listed: Option<&'static CorpusFile>,
}

impl InstanceFile {
    /// Reads it, and gives the instance the file's name with its folder.
    ///
    /// # Errors
    /// See [`CsvError`].
    pub fn read(&self) -> Result<Instance, CsvError> {
        Ok(read_instance_file(&self.path, self.options)?.with_name(&self.name))
    }
}

/// Why there are no corpora.
#[derive(Debug, thiserror::Error)]
pub enum CorporaError {
    /// The folder cannot be read.
    #[error("cannot read the folder of corpora {}: {error}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// No instance in it.
    #[error(
        "no instances in {}: expected CSV files in its folders minimalloc and idealloc",
        .0.display()
    )]
    Empty(PathBuf),
}

/// The instance files below `folder`, in its folders `minimalloc` and `idealloc`, ordered by name.
///
/// # Errors
/// [`CorporaError`] where the folder is missing, cannot be read, or holds no instance.
pub fn corpora(folder: &Path) -> Result<Vec<InstanceFile>, CorporaError> {
    let failed = |at: &Path| {
        let folder = at.to_owned();
        move |error| CorporaError::Folder { folder, error }
    };
    // A missing folder is told apart from an empty one.
    std::fs::read_dir(folder).map_err(failed(folder))?;
    let mut files = Vec::new();
    for corpus in CSV_FOLDERS {
        let inside = folder.join(corpus);
        if !inside.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(&inside).map_err(failed(&inside))? {
            let path = entry.map_err(failed(&inside))?.path();
            if path.extension().is_some_and(|e| e == "csv") && path.is_file() {
                files.push(instance_file(corpus, path));
            }
        }
    }
    if files.is_empty() {
        return Err(CorporaError::Empty(folder.to_owned()));
    }
    files.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    Ok(files)
}

/// The instance files below the folder that `PLIMSOLL_CORPORA` names; none where the variable is unset or empty.
///
/// # Errors
/// As for [`corpora`].
pub fn corpora_from_environment() -> Result<Vec<InstanceFile>, CorporaError> {
    match std::env::var_os(CORPORA_VARIABLE) {
        Some(folder) if !folder.is_empty() => corpora(Path::new(&folder)),
        _ => Ok(Vec::new()),
    }
}

fn instance_file(corpus: &str, path: PathBuf) -> InstanceFile {
    let listed = MANIFEST
        .iter()
        .filter(|c| c.folder == corpus)
        .flat_map(|c| c.files)
        .find(|file| path.file_name().is_some_and(|name| name == file.name));
    let name = format!("{corpus}/{}", instance_name(&path));
    InstanceFile { name, path, options: ReadOptions::default(), listed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let message = |root: &Path| corpora(root).unwrap_err().to_string();
        assert!(message(root).starts_with("no instances in "));
        assert!(message(&root.join("nowhere")).starts_with("cannot read the folder of corpora "));
        for name in
            ["minimalloc/b.7.csv", "minimalloc/A.1048576.csv", "minimalloc/readme.md", "idealloc/z.csv"]
        {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "id,lower,upper,size\na,0,1,5\n").unwrap();
        }
        let files = corpora(root).unwrap();
        let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["idealloc/z", "minimalloc/A", "minimalloc/b"]);
        assert_eq!(files[1].listed.unwrap().facts.unwrap().buffers, 154);
        assert!(files[2].listed.is_none());
        let b = files[2].read().unwrap();
        assert_eq!((b.name(), b.capacity().unwrap().get()), ("minimalloc/b", 7));
    }

    #[test]
    fn the_manifest_names_every_file_once() {
        let mut names: Vec<(&str, &str)> =
            MANIFEST.iter().flat_map(|c| c.files.iter().map(|f| (c.folder, f.name))).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for file in MANIFEST.iter().flat_map(|c| c.files) {
            assert!(file.sha256.len() == 64 && file.sha256.bytes().all(|b| b.is_ascii_hexdigit()));
        }
    }
}
