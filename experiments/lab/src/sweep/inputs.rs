//! What a sweep runs on: instances and graphs, each read or made once.

use super::SweepError;
use super::file::{RawInstances, Source};
use super::lists::Numbers;
use crate::suite::{Case, SUITES, cases, fits_any, glob, is_pattern, path_cases};
use plimsoll_datasets::graphs::{GRAPH_FAMILIES, GraphFamily};
use plimsoll_datasets::{FAMILIES, Family, Generated, ImportOptions, import_file};
use plimsoll_model::csv::{Endpoints, content_hash, write_instance};
use plimsoll_model::graph::{Graph, write_graph};
use plimsoll_model::{Bytes, Instance, hexadecimal, load};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One thing to run on.
#[derive(Debug)]
pub struct Input {
    /// Suite, path or family, as the sweep names it.
    pub suite: String,
    /// Its own name.
    pub name: String,
    /// Whether it is a graph, to be ordered; or an instance.
    pub graph: bool,
    /// SHA-256 of the form that this project writes; empty where it could not be read.
    pub sha256: String,
    /// What it is, or why it could not be read.
    pub content: Result<Content, String>,
}

/// What can be run on.
#[derive(Debug)]
pub enum Content {
    /// For offsets, scattered layouts, pools.
    Instance {
        /// Without its capacity.
        instance: Box<Instance>,
        /// The capacity that it came with.
        capacity: Option<Bytes>,
        /// Its load.
        load: Bytes,
    },
    /// For orders.
    Graph(Box<Graph>),
}

impl Content {
    /// The text that a worker reads it from.
    pub(super) fn text(&self) -> String {
        let mut bytes = Vec::new();
        // A vector takes everything it is given.
        let written = match self {
            Self::Instance { instance, .. } => write_instance(instance, &mut bytes),
            Self::Graph(graph) => write_graph(graph, &mut bytes),
        };
        debug_assert!(written.is_ok());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Input {
    fn instance(suite: &str, instance: Instance) -> Self {
        let name = instance.name().to_owned();
        let sha256 = content_hash(&instance);
        let (capacity, load) = (instance.capacity(), load(&instance).0);
        let instance = Box::new(instance.with_capacity(None));
        let content = Ok(Content::Instance { instance, capacity, load });
        Self { suite: suite.to_owned(), name, graph: false, sha256, content }
    }

    fn graph(suite: &str, graph: Graph) -> Self {
        let name = graph.name().to_owned();
        let content = Content::Graph(Box::new(graph));
        let sha256 = hexadecimal(&Sha256::digest(content.text()));
        Self { suite: suite.to_owned(), name, graph: true, sha256, content: Ok(content) }
    }

    /// The capacity that it came with.
    pub(super) fn capacity(&self) -> Option<Bytes> {
        match &self.content {
            Ok(Content::Instance { capacity, .. }) => *capacity,
            _ => None,
        }
    }

    fn unreadable(suite: &str, name: String, graph: bool, why: String) -> Self {
        Self { suite: suite.to_owned(), name, graph, sha256: String::new(), content: Err(why) }
    }
}

/// Where an entry of the file is, for messages.
struct Place<'a> {
    source: &'a Source,
    at: usize,
    what: String,
}

impl Place<'_> {
    fn wrong(&self, message: impl std::fmt::Display) -> SweepError {
        self.source.wrong(self.at, &format!("{}: {message}", self.what))
    }
}

/// All inputs of an entry; the number of the entry counts from 1.
pub(super) fn inputs(
    source: &Source,
    at: usize,
    number: usize,
    raw: &RawInstances,
) -> Result<Vec<Input>, SweepError> {
    let place = Place { source, at, what: format!("instances[{number}]") };
    let ways = [("suite", &raw.suite), ("path", &raw.path), ("family", &raw.family), ("graph", &raw.graph)];
    let given: Vec<(&str, &String)> =
        ways.into_iter().filter_map(|(key, value)| value.as_ref().map(|value| (key, value))).collect();
    let [(way, value)] = given.as_slice() else {
        let keys: Vec<&str> = given.iter().map(|(key, _)| *key).collect();
        let found =
            if keys.is_empty() { "none is given".to_owned() } else { format!("given: {}", keys.join(", ")) };
        return Err(place.wrong(format!("expected one of suite, path, family, graph; {found}")));
    };
    let idle = [
        ("endpoints", raw.endpoints.is_some(), &["suite", "path"][..]),
        ("buffers", raw.buffers.is_some(), &["family"]),
        ("seeds", raw.seeds.is_some(), &["family"]),
        ("params", !raw.params.is_empty(), &["family"]),
    ];
    if let Some((key, _, goes)) = idle.iter().find(|(_, given, goes)| *given && !goes.contains(way)) {
        return Err(
            place.wrong(format!("{key} goes with {} only, not with {way} '{value}'", goes.join(" and ")))
        );
    }
    let mut found = match *way {
        "suite" => suite(&place, value, raw)?,
        "path" => path(&place, value, raw)?,
        "family" => family(&place, value, raw)?,
        _ => graphs(&place, value)?,
    };
    if let Some(only) = &raw.only {
        found.retain(|input| fits_any(&only.0, &input.name));
        if found.is_empty() {
            return Err(place.wrong(format!("no instance of {way} '{value}' fits only = {:?}", only.0)));
        }
    }
    Ok(found)
}

fn endpoints(place: &Place<'_>, raw: &RawInstances) -> Result<Option<Endpoints>, SweepError> {
    match raw.endpoints.as_deref() {
        None => Ok(None),
        Some("half-open") => Ok(Some(Endpoints::HalfOpen)),
        Some("inclusive") => Ok(Some(Endpoints::Inclusive)),
        Some(other) => {
            Err(place.wrong(format!("endpoints is '{other}'; expected \"half-open\" or \"inclusive\"")))
        }
    }
}

fn suite(place: &Place<'_>, name: &str, raw: &RawInstances) -> Result<Vec<Input>, SweepError> {
    if !SUITES.iter().any(|suite| suite.name == name) {
        let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        let known = known.join(", ");
        return Err(
            place.wrong(format!("unknown suite '{name}'; known are {known} (files and folders are path)"))
        );
    }
    let found = cases(name, endpoints(place, raw)?).map_err(|error| place.wrong(error))?;
    Ok(found.into_iter().map(|case| input(case, Path::new(""))).collect())
}

fn path(place: &Place<'_>, text: &str, raw: &RawInstances) -> Result<Vec<Input>, SweepError> {
    if text.is_empty() {
        return Err(place.wrong("path is empty; the folder of this file is \".\""));
    }
    let folder = place.source.folder();
    let whole = folder.join(text);
    if SUITES.iter().any(|suite| suite.name == text) && !whole.exists() {
        return Err(place.wrong(format!("path '{text}' is a suite; say suite = \"{text}\"")));
    }
    let found = path_cases(&whole, endpoints(place, raw)?).map_err(|error| {
        let error = error.to_string();
        place.wrong(format!("path '{text}': {}", error.replace(&whole.display().to_string(), text)))
    })?;
    Ok(found.into_iter().map(|case| input(case, folder)).collect())
}

/// A case found from a folder: messages and names say what the file says, wherever the file lies.
fn input(case: Case, folder: &Path) -> Input {
    let suite = without(&case.suite, folder);
    match case.instance {
        Ok(instance) => Input::instance(suite, instance),
        Err(error) => {
            let why = without(&error.to_string(), folder).to_owned();
            Input::unreadable(suite, without(&case.name, folder).to_owned(), false, why)
        }
    }
}

/// A text that begins with a path, without the folder in front.
fn without<'a>(text: &'a str, folder: &Path) -> &'a str {
    if folder.as_os_str().is_empty() {
        return text;
    }
    text.strip_prefix(&format!("{}/", folder.display())).unwrap_or(text)
}

fn family(place: &Place<'_>, name: &str, raw: &RawInstances) -> Result<Vec<Input>, SweepError> {
    let seeds = raw.seeds.as_ref().map_or(&[0][..], |seeds| &seeds.0);
    let mut found = Vec::new();
    if let Some(family) = Family::named(name) {
        let mut params = raw.params.clone();
        if let Some(buffers) = &raw.buffers
            && params.insert("buffers".to_owned(), buffers.clone()).is_some()
        {
            return Err(place.wrong("buffers and params.buffers: given twice".to_owned()));
        }
        for params in products(&params) {
            for &seed in seeds {
                let made = family.generate(seed, &params).and_then(Generated::instance);
                let made =
                    made.map_err(|error| place.wrong(format!("family '{name}', seed {seed}: {error}")))?;
                found.push(Input::instance(name, made));
            }
        }
        return Ok(found);
    }
    let Some(family) = GraphFamily::named(name) else {
        let known = FAMILIES.iter().map(|family| family.name);
        let known: Vec<&str> = known.chain(GRAPH_FAMILIES.iter().map(|family| family.name)).collect();
        return Err(place.wrong(format!("unknown family '{name}'; known are {}", known.join(", "))));
    };
    if raw.buffers.is_some() {
        return Err(place.wrong(format!("buffers: family '{name}' makes graphs, which take params")));
    }
    for params in products(&raw.params) {
        for &seed in seeds {
            let made = family.generate(seed, &params);
            let made = made.map_err(|error| place.wrong(format!("family '{name}', seed {seed}: {error}")))?;
            found.push(Input::graph(name, made));
        }
    }
    Ok(found)
}

/// Every choice of one value per parameter, the last parameter fastest.
fn products(params: &BTreeMap<String, Numbers>) -> Vec<BTreeMap<String, u64>> {
    let mut all = vec![BTreeMap::new()];
    for (name, values) in params {
        let with = |chosen: &BTreeMap<String, u64>, value: u64| {
            let mut more = chosen.clone();
            more.insert(name.clone(), value);
            more
        };
        all = all.iter().flat_map(|chosen| values.0.iter().map(move |&value| with(chosen, value))).collect();
    }
    all
}

fn graphs(place: &Place<'_>, text: &str) -> Result<Vec<Input>, SweepError> {
    let folder = place.source.folder();
    let whole = folder.join(text);
    let mut paths: Vec<PathBuf> = vec![whole.clone()];
    if is_pattern(&whole) {
        let found = glob(&whole).map_err(|(place_of, error)| {
            place.wrong(format!("graph '{text}': cannot read the folder {}: {error}", place_of.display()))
        })?;
        paths = found.into_iter().filter(|path| path.is_file()).collect();
        if paths.is_empty() {
            return Err(place.wrong(format!("graph '{text}': no file fits")));
        }
    } else if whole.is_dir() {
        return Err(
            place.wrong(format!("graph '{text}' is a folder; name its files, such as \"{text}/*.json\""))
        );
    } else if !whole.is_file() {
        return Err(place.wrong(format!("graph '{text}': there is no such file")));
    }
    let read = |path: PathBuf| match import_file(&path, &ImportOptions::default()) {
        Ok(import) => Input::graph(text, import.graph),
        Err(error) => Input::unreadable(
            text,
            without(&path.display().to_string(), folder).to_owned(),
            true,
            without(&error.to_string(), folder).to_owned(),
        ),
    };
    Ok(paths.into_iter().map(read).collect())
}
