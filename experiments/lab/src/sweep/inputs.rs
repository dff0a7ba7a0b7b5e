//! Reads or generates the inputs of a sweep, which are instances and graphs. This happens once per sweep,
//! and not for every run.

use super::file::{RawInstances, Source};
use super::lists::products;
use super::models::{self, Posing, variants};
use crate::experiment::{ExperimentError, Input, Unready};
use crate::suite::{Case, Reading, SUITES, cases, fits_any, glob, is_pattern, path_cases};
use plimsoll::posed::{Subject, SubjectKind};
use plimsoll_datasets::graphs::{GRAPH_FAMILIES, GraphFamily};
use plimsoll_datasets::{FAMILIES, Family, GenerateError, Generated, ImportOptions, import_file};
use plimsoll_model::csv::Endpoints;
use plimsoll_support::interrupt::until_requested;
use std::path::{Path, PathBuf};

/// The position of an entry in the sweep file, used in messages.
struct Place<'a> {
    source: &'a Source,
    at: usize,
    what: String,
}

impl Place<'_> {
    fn wrong(&self, message: impl std::fmt::Display) -> ExperimentError {
        self.source.wrong(self.at, &format!("{}: {message}", self.what))
    }
}

/// Resolves all inputs of the entry with this number, counted from 1.
pub(super) fn inputs(
    source: &Source,
    at: usize,
    number: usize,
    raw: &RawInstances,
) -> Result<Vec<Input>, ExperimentError> {
    let place = Place { source, at, what: format!("instances[{number}]") };
    let sources =
        [("suite", &raw.suite), ("path", &raw.path), ("family", &raw.family), ("graph", &raw.graph)];
    let given: Vec<(&str, &String)> =
        sources.into_iter().filter_map(|(key, value)| value.as_ref().map(|value| (key, value))).collect();
    let [(from, value)] = given.as_slice() else {
        let keys: Vec<&str> = given.iter().map(|(key, _)| *key).collect();
        let found =
            if keys.is_empty() { "none is given".to_owned() } else { format!("given: {}", keys.join(", ")) };
        return Err(place.wrong(format!("expected one of suite, path, family, graph; {found}")));
    };
    let idle = [
        ("endpoints", raw.endpoints.is_some(), &["suite", "path"][..]),
        (models::key(raw).unwrap_or_default(), models::key(raw).is_some(), &["suite", "path", "graph"]),
        ("buffers", raw.buffers.is_some(), &["family"]),
        ("seeds", raw.seeds.is_some(), &["family"]),
        ("params", !raw.params.is_empty(), &["family"]),
    ];
    if let Some((key, _, goes)) = idle.iter().find(|(_, given, goes)| *given && !goes.contains(from)) {
        return Err(place
            .wrong(format!("{key} is allowed only with {}, not with {from} '{value}'", goes.join(" or "))));
    }
    let posing = Posing::of(raw).map_err(|error| place.wrong(error))?;
    let mut found = Vec::new();
    for variant in variants(raw).map_err(|error| place.wrong(error))? {
        let reading = reading(&place, raw, variant.import)?;
        let mut own = match *from {
            "suite" => suite(&place, value, &reading)?,
            "path" => path(&place, value, &reading)?,
            "family" => family(&place, value, raw)?,
            _ => graphs(&place, value, &reading.import)?,
        };
        // Instances do not depend on the import options, so they are added only once.
        own.retain(|input| found.is_empty() || input.kind == SubjectKind::Graph);
        for input in own.iter_mut().filter(|input| input.kind == SubjectKind::Graph) {
            input.read(&reading.import, &variant.label);
        }
        found.extend(own);
    }
    if let Some(only) = &raw.only {
        found.retain(|input| fits_any(&only.0, &input.name));
        if found.is_empty() {
            return Err(place.wrong(format!("no instance of {from} '{value}' matches only = {:?}", only.0)));
        }
    }
    let Some(posing) = posing else { return Ok(found) };
    let posed: Vec<Vec<Input>> = found
        .into_iter()
        .map(|input| posing.pose(input))
        .collect::<Result<_, String>>()
        .map_err(|error| place.wrong(error))?;
    Ok(posed.into_iter().flatten().collect())
}

fn reading(place: &Place<'_>, raw: &RawInstances, import: ImportOptions) -> Result<Reading, ExperimentError> {
    let endpoints = match raw.endpoints.as_deref() {
        None => None,
        Some("half-open") => Some(Endpoints::HalfOpen),
        Some("inclusive") => Some(Endpoints::Inclusive),
        Some(other) => {
            return Err(
                place.wrong(format!("endpoints is '{other}'; expected \"half-open\" or \"inclusive\""))
            );
        }
    };
    Ok(Reading { endpoints, import })
}

fn suite(place: &Place<'_>, name: &str, reading: &Reading) -> Result<Vec<Input>, ExperimentError> {
    if !SUITES.iter().any(|suite| suite.name == name) {
        let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        let known = known.join(", ");
        return Err(
            place.wrong(format!("unknown suite '{name}'; known: {known} (for files and folders use path)"))
        );
    }
    let found = cases(name, reading).map_err(|error| place.wrong(error))?;
    Ok(found.into_iter().map(|case| input(case, Path::new(""))).collect())
}

fn path(place: &Place<'_>, text: &str, reading: &Reading) -> Result<Vec<Input>, ExperimentError> {
    if text.is_empty() {
        return Err(place.wrong("path is empty; the folder of this file is \".\""));
    }
    let folder = &place.source.folder;
    let whole = folder.join(text);
    if SUITES.iter().any(|suite| suite.name == text) && !whole.exists() {
        return Err(place.wrong(format!("path '{text}' is a suite; use suite = \"{text}\"")));
    }
    let found = path_cases(&whole, reading).map_err(|error| {
        let error = error.to_string();
        place.wrong(format!("path '{text}': {}", error.replace(&whole.display().to_string(), text)))
    })?;
    Ok(found.into_iter().map(|case| input(case, folder)).collect())
}

/// Converts a case to an input. Names and messages contain paths relative to the folder of the sweep file.
fn input(case: Case, folder: &Path) -> Input {
    let mut input = Input::from_case(case);
    let short = |text: &mut String| *text = without(text, folder).to_owned();
    short(&mut input.suite);
    if let Err(Unready::Unreadable(why)) = &mut input.subject {
        short(why);
        short(&mut input.name);
    }
    input
}

/// Removes the folder and the slash after it from the start of a path or message. Other strings are returned
/// unchanged.
fn without<'a>(text: &'a str, folder: &Path) -> &'a str {
    if folder.as_os_str().is_empty() {
        return text;
    }
    text.strip_prefix(&format!("{}/", folder.display())).unwrap_or(text)
}

fn family(place: &Place<'_>, name: &str, raw: &RawInstances) -> Result<Vec<Input>, ExperimentError> {
    let seeds = raw.seeds.as_ref().map_or(&[0][..], |seeds| &seeds.0);
    let mut found = Vec::new();
    if let Some(family) = Family::named(name) {
        let mut params = raw.params.clone();
        if let Some(buffers) = &raw.buffers
            && params.insert("buffers".to_owned(), buffers.clone()).is_some()
        {
            return Err(place.wrong("buffers and params.buffers cannot both be given".to_owned()));
        }
        for params in products(&params) {
            for &seed in until_requested(seeds) {
                let made = family.generate(seed, &params).and_then(Generated::instance);
                let made = made.map_err(|error| match error {
                    GenerateError::Interrupted => ExperimentError::Interrupted,
                    error => place.wrong(format!("family '{name}', seed {seed}: {error}")),
                })?;
                found.push(Input::of(name, Subject::Instance(made)));
            }
        }
        return Ok(found);
    }
    let Some(family) = GraphFamily::named(name) else {
        let known = FAMILIES.iter().map(|family| family.name);
        let known: Vec<&str> = known.chain(GRAPH_FAMILIES.iter().map(|family| family.name)).collect();
        return Err(place.wrong(format!("unknown family '{name}'; known: {}", known.join(", "))));
    };
    if raw.buffers.is_some() {
        return Err(place.wrong(format!("buffers: family '{name}' generates graphs; use params instead")));
    }
    for params in products(&raw.params) {
        for &seed in until_requested(seeds) {
            let made = family.generate(seed, &params);
            let made = made.map_err(|error| place.wrong(format!("family '{name}', seed {seed}: {error}")))?;
            found.push(Input::of(name, Subject::Graph(Box::new(made))));
        }
    }
    Ok(found)
}

fn graphs(place: &Place<'_>, text: &str, import: &ImportOptions) -> Result<Vec<Input>, ExperimentError> {
    let folder = &place.source.folder;
    let whole = folder.join(text);
    let mut paths: Vec<PathBuf> = vec![whole.clone()];
    if is_pattern(&whole) {
        let found = glob(&whole).map_err(|(place_of, error)| {
            place.wrong(format!("graph '{text}': cannot read the folder {}: {error}", place_of.display()))
        })?;
        paths = found.into_iter().filter(|path| path.is_file()).collect();
        if paths.is_empty() {
            return Err(place.wrong(format!("graph '{text}': no file matches")));
        }
    } else if whole.is_dir() {
        return Err(
            place.wrong(format!("graph '{text}' is a folder; name its files, such as \"{text}/*.json\""))
        );
    } else if !whole.is_file() {
        return Err(place.wrong(format!("graph '{text}': no such file")));
    }
    let read = |path: PathBuf| match import_file(&path, import) {
        Ok(import) => Input::of(text, Subject::Graph(Box::new(import.graph))),
        Err(error) => Input::without(
            text,
            without(&path.display().to_string(), folder).to_owned(),
            SubjectKind::Graph,
            Unready::Unreadable(without(&error.to_string(), folder).to_owned()),
        ),
    };
    Ok(paths.into_iter().map(read).collect())
}
