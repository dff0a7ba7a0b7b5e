//! Suites of instances and graphs: embedded ones, corpora on disk, files and folders of the user.

use glob::Pattern;
use plimsoll::posed::Subject;
use plimsoll_datasets::dsa::{DsaError, read_dsa_file};
use plimsoll_datasets::{
    ImportError, ImportOptions, ablation_suite, above_load_suite, above_load_wide_suite, accelerated_suite,
    derived_reversed, derived_thinned, embedded_suite, graph_suite, import_file, large_suite, networks_suite,
    packings_suite, scaling_suite,
};
use plimsoll_model::csv::{
    CsvError, Endpoints, ReadOptions, content_hash, read_instance_file_noted, write_instance,
};
use plimsoll_model::graph::{Graph, write_graph};
use plimsoll_model::{Instance, hexadecimal};
use sha2::{Digest, Sha256};
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
    /// This build makes its instances.
    Embedded(fn() -> Vec<Instance>),
    /// This build makes its graphs.
    Graphs(fn() -> Vec<Graph>),
    /// A folder among the external corpora.
    Corpora(&'static str),
    /// A folder of models among the external corpora.
    Models(&'static str),
    /// Every pool of every document in a folder among the external corpora.
    Pools(&'static str),
    /// Made from every instance of a folder among the external corpora.
    Derived(&'static str, fn(&Instance) -> Vec<Instance>),
}

impl Origin {
    /// The folder among the external corpora that it needs.
    pub fn folder(self) -> Option<&'static str> {
        match self {
            Self::Embedded(_) | Self::Graphs(_) => None,
            Self::Corpora(folder) | Self::Models(folder) | Self::Pools(folder) | Self::Derived(folder, _) => {
                Some(folder)
            }
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
        name: "graphs",
        about: "small networks, straight and with branches: what all problems of graphs are posed on",
        origin: Origin::Graphs(graph_suite),
    },
    Suite {
        name: "networks",
        about: "published networks, random wirings, layers, language models: what has an order to find",
        origin: Origin::Graphs(networks_suite),
    },
    Suite {
        name: "accelerated",
        about: "networks whose operators run on several units: what is fused, what is placed in tiers",
        origin: Origin::Graphs(accelerated_suite),
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
        name: "onnx",
        about: "the ONNX models of the corpora; with one sample where no option says otherwise",
        origin: Origin::Models("onnx"),
    },
    Suite { name: "tflite", about: "the TFLite models of the corpora", origin: Origin::Models("tflite") },
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

/// One instance or graph of a suite, or why it could not be read.
#[derive(Debug)]
pub struct Case {
    /// Name of its suite, or the folder it came from.
    pub suite: String,
    /// Its own name; for a file that could not be read, the path.
    pub name: String,
    /// The instance or graph.
    pub subject: Result<Subject, CaseError>,
    /// What the reader should know about its file.
    pub note: Option<String>,
}

impl Case {
    fn of(suite: &str, subject: Subject) -> Self {
        let (suite, name) = (suite.to_owned(), subject.name().to_owned());
        Self { suite, name, subject: Ok(subject), note: None }
    }

    fn unreadable(suite: &str, path: &Path, error: impl Into<CaseError>) -> Self {
        let (suite, name) = (suite.to_owned(), path.display().to_string());
        Self { suite, name, subject: Err(error.into()), note: None }
    }
}

/// How files are read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// How CSV files write ends of lifespans, where their columns do not say.
    pub endpoints: Option<Endpoints>,
    /// What the files of models leave open.
    pub import: ImportOptions,
}

/// SHA-256 of a subject in the form this project writes it, in hexadecimal.
pub fn sha256(subject: &Subject) -> String {
    match subject {
        Subject::Instance(instance) => content_hash(instance),
        Subject::Graph(_) => hexadecimal(&Sha256::digest(text(subject))),
    }
}

/// A subject as CSV or JSON.
pub(crate) fn text(subject: &Subject) -> String {
    let mut bytes = Vec::new();
    // A vector takes everything it is given.
    let written = match subject {
        Subject::Instance(instance) => write_instance(instance, &mut bytes),
        Subject::Graph(graph) => write_graph(graph, &mut bytes),
    };
    debug_assert!(written.is_ok());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Why there is no instance or graph.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A CSV file that is none.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// A document in the structured schema that is none.
    #[error(transparent)]
    Dsa(#[from] DsaError),
    /// A graph or model that is none.
    #[error(transparent)]
    Model(#[from] ImportError),
}

/// The folder of external corpora, where the variable is set and not empty.
pub fn corpora() -> Option<PathBuf> {
    std::env::var_os(CORPORA).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Why a suite is none.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// Neither a known name nor a path.
    #[error("'{0}' is neither a suite ({known}) nor a file (CSV, JSON, ONNX, TFLite) or folder", known = suite_names())]
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
    #[error("'{0}' holds no file with instances or graphs")]
    Empty(String),
}

fn suite_names() -> String {
    SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ")
}

/// The cases of a suite given by name, file, folder, or pattern, as for [`path_cases`].
///
/// # Errors
/// [`SuiteError`] where there is nothing of that name; a file that cannot be read is a case with an error.
pub fn cases(suite: &str, reading: &Reading) -> Result<Vec<Case>, SuiteError> {
    if let Some(known) = SUITES.iter().find(|known| known.name == suite) {
        let read = |folder: &str| {
            let root = corpora().ok_or(SuiteError::NoCorpora(known.name))?;
            let extensions = match known.origin {
                Origin::Pools(_) => &["json"][..],
                Origin::Models(_) => &MODELS,
                _ => &["csv"],
            };
            let paths = list_folder(&root.join(folder), extensions)?;
            if matches!(known.origin, Origin::Models(_)) && reading.import == ImportOptions::default() {
                let mut all = Vec::new();
                for path in paths {
                    let reading = usual(&path);
                    all.extend(files(known.name, vec![path], &reading)?);
                }
                return Ok(all);
            }
            files(known.name, paths, reading)
        };
        return match known.origin {
            Origin::Embedded(make) => {
                Ok(make().into_iter().map(|one| Case::of(suite, Subject::Instance(one))).collect())
            }
            Origin::Graphs(make) => {
                Ok(make().into_iter().map(|one| Case::of(suite, Subject::Graph(Box::new(one)))).collect())
            }
            Origin::Corpora(folder) | Origin::Models(folder) | Origin::Pools(folder) => read(folder),
            Origin::Derived(folder, derive) => {
                Ok(read(folder)?.into_iter().flat_map(|case| derived(case, derive)).collect())
            }
        };
    }
    path_cases(Path::new(suite), reading)
}

/// The cases of a file, a folder, or a pattern: `*` and `?` in any part of a path. Of a folder the CSV files, where it has
/// none the models. Where folders vary, the suite of a case is the pattern in its own folder.
///
/// # Errors
/// [`SuiteError`] where there is nothing; a file that cannot be read is a case with an error.
pub fn path_cases(path: &Path, reading: &Reading) -> Result<Vec<Case>, SuiteError> {
    let suite = path.display().to_string();
    if path.is_dir() {
        let mut paths = list_folder(path, &["csv"])?;
        if paths.is_empty() {
            paths = list_folder(path, &MODELS)?;
        }
        return files(&suite, paths, reading);
    }
    if path.exists() {
        return files(&suite, vec![path.to_owned()], reading);
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
        all.extend(files(&folder.join(&pattern).display().to_string(), paths, reading)?);
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

/// What binds the dimensions that a model of the corpora leaves open: one sample, of those that listen to voices one
/// sequence of 512 samples with 64 of context.
fn usual(path: &Path) -> Reading {
    let listens = path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("silero"));
    let import = if listens {
        let shapes = [("input", vec![1, 576]), ("state", vec![2, 1, 128])];
        let input_shapes = shapes.map(|(name, extents)| (name.to_owned(), extents)).into_iter().collect();
        ImportOptions { input_shapes, ..ImportOptions::default() }
    } else {
        ImportOptions { batch: has_extension(path, &["onnx"]).then_some(1), ..ImportOptions::default() }
    };
    Reading { import, ..Reading::default() }
}

/// What is made from one case; one that could not be read stays as it is.
fn derived(case: Case, derive: fn(&Instance) -> Vec<Instance>) -> Vec<Case> {
    let Ok(Subject::Instance(origin)) = &case.subject else { return vec![case] };
    let made = derive(origin).into_iter();
    made.map(|instance| Case {
        note: case.note.clone(),
        ..Case::of(&case.suite, Subject::Instance(instance))
    })
    .collect()
}

/// True where a name fits one of the patterns (`*` stands for anything, `?` for one letter), or there are none.
pub fn fits_any(patterns: &[String], name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|text| pattern(text).matches(name))
}

fn files(suite: &str, mut paths: Vec<PathBuf>, reading: &Reading) -> Result<Vec<Case>, SuiteError> {
    if paths.is_empty() {
        return Err(SuiteError::Empty(suite.to_owned()));
    }
    paths.sort();
    let case = |path: PathBuf| match () {
        () if has_extension(&path, &["json"]) && !is_graph(&path) => pools(suite, &path),
        () if has_extension(&path, &MODELS) => vec![match import_file(&path, &reading.import) {
            Ok(import) => Case::of(suite, Subject::Graph(Box::new(import.graph))),
            Err(error) => Case::unreadable(suite, &path, error),
        }],
        () => vec![instance(suite, &path, reading)],
    };
    Ok(paths.into_iter().flat_map(case).collect())
}

fn instance(suite: &str, path: &Path, reading: &Reading) -> Case {
    let options = ReadOptions { endpoints: reading.endpoints, capacity: None };
    match read_instance_file_noted(path, options) {
        Ok(noted) => {
            let note = noted.note().map(|note| format!("{}: {note}", path.display()));
            Case { note, ..Case::of(suite, Subject::Instance(noted.value)) }
        }
        Err(error) => Case::unreadable(suite, path, error),
    }
}

/// Extensions of files with graphs.
const MODELS: [&str; 3] = ["json", "onnx", "tflite"];

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|extension| own.eq_ignore_ascii_case(extension)))
}

/// Whether a JSON file says that it is a graph; else it is read as a document with pools.
fn is_graph(path: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        format: String,
    }
    let head = std::fs::File::open(path).ok().map(std::io::BufReader::new);
    let head: Option<Head> = head.and_then(|file| serde_json::from_reader(file).ok());
    head.is_some_and(|head| head.format == plimsoll_model::graph::FORMAT)
}

/// Every pool of a document, or why there are none.
fn pools(suite: &str, path: &Path) -> Vec<Case> {
    let split = read_dsa_file(path).and_then(|document| Ok((document.split()?, document)));
    let (split, document) = match split {
        Ok(split) => split,
        Err(error) => return vec![Case::unreadable(suite, path, error)],
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let named = split.pools.into_iter().zip(document.pool_names(&stem));
    named.map(|(pool, name)| Case::of(suite, Subject::Instance(pool.instance.with_name(name)))).collect()
}

/// The files of a folder with one of these extensions.
fn list_folder(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, SuiteError> {
    let wrong = |error| SuiteError::Folder { folder: folder.to_owned(), error };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if has_extension(&path, extensions) && path.is_file() {
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
            files("s", vec![path], &Reading::default()).unwrap().remove(0)
        };
        let good = derived(read("id,lower,upper,size\na,1,3,4\nb,2,7,4\n"), derived_reversed);
        assert_eq!(good[0].name, "A-reversed");
        let Ok(Subject::Instance(instance)) = &good[0].subject else { panic!("no instance") };
        assert_eq!(instance.capacity().unwrap().get(), 9);
        assert_eq!(instance.buffers()[0].lifespan().hull().lower.get(), 4);
        let bad = derived(read("id,lower\n"), derived_thinned);
        assert!(bad.len() == 1 && bad[0].subject.is_err());
    }

    #[test]
    fn embedded_names_are_unique() {
        let cases = cases("embedded", &Reading::default()).unwrap();
        let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cases.len());
        assert!(cases.iter().all(|case| case.subject.is_ok()));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_case() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bad.csv"), "id,lower\n").unwrap();
        std::fs::write(folder.path().join("good.7.csv"), "id,lower,upper,size\na,0,1,4\n").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "no").unwrap();
        let found = cases(folder.path().to_str().unwrap(), &Reading::default()).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found[0].subject.is_err());
        assert_eq!(found[1].name, "good");
        let pattern = folder.path().join("g*.csv");
        assert_eq!(cases(pattern.to_str().unwrap(), &Reading::default()).unwrap().len(), 1);
        let none = folder.path().join("z*.csv");
        assert!(matches!(cases(none.to_str().unwrap(), &Reading::default()), Err(SuiteError::Empty(_))));
        assert!(matches!(cases("no-such-thing", &Reading::default()), Err(SuiteError::Unknown(_))));
    }
}
