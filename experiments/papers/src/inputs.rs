//! Inputs of reproductions: corpus models, generated graphs, and the problems derived from them.

use crate::ReproduceError;
use crate::context::missing;
use plimsoll_datasets::graphs::GraphFamily;
use plimsoll_datasets::{ImportOptions, import_file};
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::orders::OrderProblem;
use plimsoll_model::{Bytes, Instance};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the files of a folder that have this extension, sorted by name.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, ReproduceError> {
    let failed =
        |error| ReproduceError::Input(format!("cannot read the folder {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && path.extension().is_some_and(|own| own == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the name of a file without its extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// Imports a model from the corpora.
pub(crate) fn import(path: &Path, options: &ImportOptions) -> Result<Graph, ReproduceError> {
    Ok(import_file(path, options).map_err(ReproduceError::input)?.graph)
}

/// Parameters of a generated family, by name.
pub type Params = BTreeMap<String, u64>;

/// Generates a graph of a family.
pub(crate) fn generated(family: &str, params: &Params, seed: u64) -> Result<Graph, ReproduceError> {
    let known = GraphFamily::named(family).ok_or_else(|| missing(family, "generated graphs"))?;
    known.generate(seed, params).map_err(ReproduceError::on(family))
}

/// Returns the storages of a graph, with operators in file order.
pub(crate) fn storages(
    name: &str,
    graph: &Graph,
    liveness: &LivenessOptions,
) -> Result<OrderProblem, ReproduceError> {
    let storages = graph.storages(Graph::BODY, liveness, |_| Bytes::ZERO);
    Ok(storages.map_err(ReproduceError::on(name))?.problem)
}

/// Returns the offset problem of the intermediate tensors, with operators in file order. Inputs, outputs
/// and weights are persistent, so the problem does not contain them. Every view counts as a tensor of its
/// own.
pub(crate) fn intermediates(
    name: &str,
    graph: &Graph,
    states: bool,
    align: u64,
) -> Result<Instance, ReproduceError> {
    let (boundary, align) = (Boundary::Outside, Bytes::new(align));
    let liveness = LivenessOptions { boundary, states, views: false, align, ..LivenessOptions::default() };
    let problem = storages(name, graph, &liveness)?;
    problem.instance(&problem.as_in_file(), Bytes::new(1)).map_err(ReproduceError::on(name))
}
