//! Suites of instances: embedded ones, corpora on disk, files and folders of the user.

use glob::Pattern;
use plimsoll_datasets::dsa::{DsaError, read_dsa_file};
use plimsoll_datasets::{
    ablation_suite, above_load_suite, above_load_wide_suite, derived_reversed, derived_thinned,
    embedded_suite, large_suite, packings_suite, scaling_suite,
};
use plimsoll_model::Instance;
use plimsoll_model::csv::{CsvError, Endpoints, Noted, ReadOptions, read_instance_file_noted};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The variable that names the folder of external corpora.
pub const CORPORA: &str = plimsoll_datasets::CORPORA_VARIABLE;

/// A suite known by name.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The name users type.
    pub name: &'static str,
    /// What is in it.
    pub about: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a suite comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// This build makes it.
    Embedded(fn() -> Vec<Instance>),
    /// A folder among the external corpora.
    Corpora(&'static str),
    /// Every pool of every document in a folder among the external corpora.
    Pools(&'static str),
    /// Made from every instance of a folder among the external corpora.
    Derived(&'static str, fn(&Instance) -> Vec<Instance>),
}

impl Origin {
    /// The folder among the external corpora that it needs.
    pub fn folder(self) -> Option<&'static str> {
        match self {
            Self::Embedded(_) => None,
            Self::Corpora(folder) | Self::Pools(folder) | Self::Derived(folder, _) => Some(folder),
        }
    }
}

/// Every suite known by name.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "embedded",
        about: "worked examples from papers, perfect packings of 20 to 400 buffers, instances above their load, random ones",
        origin: Origin::Embedded(embedded_suite),
    },
    Suite {
        name: "scaling",
        about: "guillotine packings of 20 to 200 buffers, three each: how far does an exact method get?",
        origin: Origin::Embedded(scaling_suite),
    },
    Suite {
        name: "ablation",
        about: "eight guillotine packings of 100 buffers: what does each part of a method buy?",
        origin: Origin::Embedded(ablation_suite),
    },
    Suite {
        name: "packings",
        about: "perfect packings of 50 to 400 buffers, guillotine and not, with the optimum as capacity",
        origin: Origin::Embedded(packings_suite),
    },
    Suite {
        name: "large",
        about: "eight generated families with 10 000, 100 000 and 1 000 000 buffers (a gigabyte; offsets only)",
        origin: Origin::Embedded(large_suite),
    },
    Suite {
        name: "above-load",
        about: "instances of 20 to 120 buffers, three laws, whose optimum is proved to lie above the load",
        origin: Origin::Embedded(above_load_suite),
    },
    Suite {
        name: "above-load-wide",
        about: "the same with nine to twelve alive, 60 to 120 buffers, coarse and fine sizes",
        origin: Origin::Embedded(above_load_wide_suite),
    },
    Suite {
        name: "minimalloc",
        about: "the eleven challenging instances of google/minimalloc, A to K, and its small example",
        origin: Origin::Corpora("minimalloc"),
    },
    Suite {
        name: "idealloc",
        about: "the larger instances of cappadokes/idealloc: resnet50, pangu_2.6B, G_1",
        origin: Origin::Corpora("idealloc"),
    },
    Suite {
        name: "dsa",
        about: "every pool of 40 captures of a compiler for accelerators, tonibohnlein/dsa-solver, within its capacity",
        origin: Origin::Pools("dsa"),
    },
    Suite {
        name: "minimalloc-reversed",
        about: "the instances of minimalloc with time running backwards, at the same capacity",
        origin: Origin::Derived("minimalloc", derived_reversed),
    },
    Suite {
        name: "minimalloc-thinned",
        about: "the instances of minimalloc with 98 and with 95 % of their buffers, at the same capacity",
        origin: Origin::Derived("minimalloc", derived_thinned),
    },
];

/// One instance of a suite, or why it could not be read.
#[derive(Debug)]
pub struct Case {
    /// Name of its suite, or the folder it came from.
    pub suite: String,
    /// Its own name; for a file that could not be read, the path.
    pub name: String,
    /// The instance.
    pub instance: Result<Instance, CaseError>,
    /// What the reader should know about its file.
    pub note: Option<String>,
}

/// Why there is no instance.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A CSV file that is none.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// A document in the structured schema that is none.
    #[error(transparent)]
    Dsa(#[from] DsaError),
}

/// The folder of external corpora, where the variable is set and not empty.
pub fn corpora() -> Option<PathBuf> {
    std::env::var_os(CORPORA).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Why a suite is none.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// Neither a known name nor a path.
    #[error("'{0}' is neither a suite ({known}) nor a file (CSV, or JSON in the schema of dsa-solver) or folder", known = suite_names())]
    Unknown(String),
    /// A suite of the corpora, and no corpora.
    #[error("the suite '{0}' is among the external corpora; set {CORPORA} to the folder that holds them")]
    NoCorpora(&'static str),
    /// A folder that cannot be read.
    #[error("cannot read the folder {}: {error}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// No instance there.
    #[error("'{0}' holds no file with instances")]
    Empty(String),
}

fn suite_names() -> String {
    SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ")
}

/// The cases of a suite given by name, file, folder, or pattern, as for [`path_cases`].
///
/// # Errors
/// [`SuiteError`] where there is nothing of that name; a file that cannot be read is a case with an error.
pub fn cases(suite: &str, endpoints: Option<Endpoints>) -> Result<Vec<Case>, SuiteError> {
    if let Some(known) = SUITES.iter().find(|known| known.name == suite) {
        let read = |folder: &str| {
            let root = corpora().ok_or(SuiteError::NoCorpora(known.name))?;
            let extension = if matches!(known.origin, Origin::Pools(_)) { "json" } else { "csv" };
            files(known.name, list_folder(&root.join(folder), extension)?, endpoints)
        };
        return match known.origin {
            Origin::Embedded(make) => Ok(made(known.name, make)),
            Origin::Corpora(folder) | Origin::Pools(folder) => read(folder),
            Origin::Derived(folder, derive) => {
                Ok(read(folder)?.into_iter().flat_map(|case| derived(case, derive)).collect())
            }
        };
    }
    path_cases(Path::new(suite), endpoints)
}

/// The cases of a file, a folder, or a pattern: `*` and `?` in any part of a path. Where folders vary, the suite of a case is
/// the pattern in its own folder.
///
/// # Errors
/// [`SuiteError`] where there is nothing; a file that cannot be read is a case with an error.
pub fn path_cases(path: &Path, endpoints: Option<Endpoints>) -> Result<Vec<Case>, SuiteError> {
    let suite = path.display().to_string();
    if path.is_dir() {
        return files(&suite, list_folder(path, "csv")?, endpoints);
    }
    if path.exists() {
        return files(&suite, vec![path.to_owned()], endpoints);
    }
    if !is_pattern(path) {
        return Err(SuiteError::Unknown(suite));
    }
    let pattern = path.file_name().map(PathBuf::from).unwrap_or_default();
    // Of a folder with other files, a pattern that names no kind takes those with instances.
    let kind = pattern.extension().filter(|kind| !is_pattern(Path::new(kind)));
    let wanted = kind.map_or_else(|| "csv".into(), |kind| kind.to_string_lossy());
    let found = glob(path).map_err(|(folder, error)| SuiteError::Folder { folder, error })?;
    let fits = |path: &PathBuf| {
        let own = path.extension();
        path.is_file() && own.is_some_and(|own| own.to_string_lossy().eq_ignore_ascii_case(&wanted))
    };
    let mut by_folder: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in found.into_iter().filter(fits) {
        by_folder.entry(path.parent().unwrap_or(Path::new("")).to_owned()).or_default().push(path);
    }
    if by_folder.is_empty() {
        return Err(SuiteError::Empty(suite));
    }
    let mut all = Vec::new();
    for (folder, paths) in by_folder {
        all.extend(files(&folder.join(&pattern).display().to_string(), paths, endpoints)?);
    }
    Ok(all)
}

/// True where a part of a path is a pattern.
pub(crate) fn is_pattern(path: &Path) -> bool {
    !path.exists() && path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?".contains(byte))
}

/// Everything that a pattern fits, sorted. The error names the folder that cannot be read.
pub(crate) fn glob(path: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let is_varied =
        |part: &Component<'_>| part.as_os_str().as_encoded_bytes().iter().any(|b| b"*?".contains(b));
    let fixed: PathBuf = path.components().take_while(|part| !is_varied(part)).collect();
    let folder = if fixed.as_os_str().is_empty() { Path::new(".") } else { fixed.as_path() };
    std::fs::read_dir(folder).map_err(|error| (folder.to_owned(), error))?;
    let paths = glob::glob(pattern(&path.to_string_lossy()).as_str());
    let paths = paths.map_err(|error| (path.to_owned(), io::Error::other(error)))?;
    let mut found: Vec<PathBuf> =
        paths.collect::<Result<_, _>>().map_err(|error| (error.path().to_owned(), error.into()))?;
    found.sort();
    Ok(found)
}

fn made(suite: &str, make: fn() -> Vec<Instance>) -> Vec<Case> {
    let case = |instance: Instance| Case {
        suite: suite.to_owned(),
        name: instance.name().to_owned(),
        instance: Ok(instance),
        note: None,
    };
    make().into_iter().map(case).collect()
}

/// What is made from one case; one that could not be read stays as it is.
fn derived(case: Case, derive: fn(&Instance) -> Vec<Instance>) -> Vec<Case> {
    let Ok(origin) = &case.instance else { return vec![case] };
    let made = derive(origin).into_iter();
    made.map(|instance| Case {
        suite: case.suite.clone(),
        name: instance.name().to_owned(),
        instance: Ok(instance),
        note: case.note.clone(),
    })
    .collect()
}

/// True where a name fits one of the patterns (`*` stands for anything, `?` for one letter), or there are none.
pub fn fits_any(patterns: &[String], name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|text| pattern(text).matches(name))
}

fn files(
    suite: &str,
    mut paths: Vec<PathBuf>,
    endpoints: Option<Endpoints>,
) -> Result<Vec<Case>, SuiteError> {
    if paths.is_empty() {
        return Err(SuiteError::Empty(suite.to_owned()));
    }
    paths.sort();
    let case = |path: PathBuf| {
        if is_json(&path) {
            return pools(suite, &path);
        }
        let read = read_instance_file_noted(&path, ReadOptions { endpoints, capacity: None });
        let note = read.as_ref().ok().and_then(Noted::note);
        let note = note.map(|note| format!("{}: {note}", path.display()));
        let instance = read.map(|noted| noted.value);
        let name = instance.as_ref().map_or_else(|_| path.display().to_string(), |i| i.name().to_owned());
        vec![Case { suite: suite.to_owned(), name, instance: instance.map_err(Into::into), note }]
    };
    Ok(paths.into_iter().flat_map(case).collect())
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Every pool of a document, or why there are none.
fn pools(suite: &str, path: &Path) -> Vec<Case> {
    let suite = || suite.to_owned();
    let split = read_dsa_file(path).and_then(|document| Ok((document.split()?, document)));
    let (split, document) = match split {
        Ok(split) => split,
        Err(error) => {
            return vec![Case {
                suite: suite(),
                name: path.display().to_string(),
                instance: Err(error.into()),
                note: None,
            }];
        }
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let named = split.pools.into_iter().zip(document.pool_names(&stem));
    let case = |(pool, name): (plimsoll_datasets::dsa::PoolInstance, String)| Case {
        suite: suite(),
        name: name.clone(),
        instance: Ok(pool.instance.with_name(name)),
        note: None,
    };
    named.map(case).collect()
}

/// The files of a folder with this extension.
fn list_folder(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, SuiteError> {
    let wrong = |error| SuiteError::Folder { folder: folder.to_owned(), error };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let fits = path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension));
        if fits && path.is_file() {
            found.push(path);
        }
    }
    Ok(found)
}

/// A pattern in which only `*` (anything) and `?` (one letter) are special.
fn pattern(text: &str) -> Pattern {
    let mut plain = text.replace('[', "[[]");
    while plain.contains("**") {
        plain = plain.replace("**", "*");
    }
    // Without brackets and doubled stars every text is a pattern.
    Pattern::new(&plain).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit() {
        let fits = |text: &str, name: &str| pattern(text).matches(name);
        assert!(fits("*.csv", "A.1048576.csv") && fits("?.*.csv", "A.1048576.csv"));
        assert!(fits("**", "") && fits("", "") && fits("a*b*c", "axxbc"));
        assert!(fits("[a]*", "[a]") && !fits("[a]", "a"));
        assert!(!fits("*.csv", "A.svg") && !fits("", "a") && !fits("?", "") && !fits("a*b", "ac"));
    }

    #[test]
    fn names_are_chosen_by_patterns() {
        let patterns = ["?".to_owned(), "?-rev*".to_owned()];
        assert!(fits_any(&patterns, "A") && fits_any(&patterns, "K-reversed"));
        assert!(!fits_any(&patterns, "input") && !fits_any(&patterns, "input-reversed"));
        assert!(fits_any(&[], "anything"));
    }

    #[test]
    fn what_cannot_be_read_cannot_be_derived_from() {
        let read = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("A.9.csv");
            std::fs::write(&path, text).unwrap();
            files("s", vec![path], None).unwrap().remove(0)
        };
        let good = derived(read("id,lower,upper,size\na,1,3,4\nb,2,7,4\n"), derived_reversed);
        assert_eq!(good[0].name, "A-reversed");
        let instance = good[0].instance.as_ref().unwrap();
        assert_eq!(instance.capacity().unwrap().get(), 9);
        assert_eq!(instance.buffers()[0].lifespan().hull().lower.get(), 4);
        let bad = derived(read("id,lower\n"), derived_thinned);
        assert!(bad.len() == 1 && bad[0].instance.is_err());
    }

    #[test]
    fn embedded_names_are_unique() {
        let cases = cases("embedded", None).unwrap();
        let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cases.len());
        assert!(cases.iter().all(|case| case.instance.is_ok()));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_case() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bad.csv"), "id,lower\n").unwrap();
        std::fs::write(folder.path().join("good.7.csv"), "id,lower,upper,size\na,0,1,4\n").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "no").unwrap();
        let found = cases(folder.path().to_str().unwrap(), None).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found[0].instance.is_err());
        assert_eq!(found[1].name, "good");
        let pattern = folder.path().join("g*.csv");
        assert_eq!(cases(pattern.to_str().unwrap(), None).unwrap().len(), 1);
        let none = folder.path().join("z*.csv");
        assert!(matches!(cases(none.to_str().unwrap(), None), Err(SuiteError::Empty(_))));
        assert!(matches!(cases("no-such-thing", None), Err(SuiteError::Unknown(_))));
    }
}
