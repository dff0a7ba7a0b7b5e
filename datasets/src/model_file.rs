//! Reads a model or a graph with the importer for the file format.

use crate::c_array;
use crate::import::{Import, ImportError, ImportOptions, ImportProblem, Overlap};
use plimsoll_model::Bytes;
use plimsoll_model::graph::GraphFileError;
use plimsoll_support::contents::{Contents, FILE_LIMIT, has_suffix, name_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The suffixes of graphs and models.
pub const MODEL_SUFFIXES: [&str; 3] = ["json", "onnx", "tflite"];

/// Reads a model or a graph. The extension `json`, `onnx` or `tflite` selects the importer. A JSON file can
/// be a graph file or an export of `PyTorch` Inductor. With any other extension, a `TFLite` model is
/// recognised by its first bytes.
///
/// # Errors
/// See [`ImportError`].
pub fn import_file(path: &Path, options: &ImportOptions) -> Result<Import, ImportError> {
    let Contents { name, bytes } = read_model(path)?;
    import_bytes(path, &name, bytes, options)
}

/// Reads the bytes of a model or a graph, without importing them. A gzip file, a zip archive with one model,
/// or a C source file with one model is unpacked first. The name of the contents has the suffix of the model.
///
/// # Errors
/// See [`ImportError`].
pub fn read_model(path: &Path) -> Result<Contents, ImportError> {
    let read = || {
        let contents = Contents::read(path, FILE_LIMIT)?;
        if !c_array::is_source(&contents.name) {
            return Ok(contents);
        }
        let (bytes, suffix) = c_array::model(&contents.bytes)?;
        Ok(Contents { name: contents.name.with_extension(suffix), bytes })
    };
    read().map_err(|problem: ImportProblem| problem.of(path))
}

/// Returns true if the name of a file is that of a graph or a model (`.json`, `.onnx`, `.tflite`), or of C
/// source that may contain a model. For a compressed file, the name of its contents counts.
pub fn is_model(path: &Path) -> bool {
    let name = name_of(path);
    has_suffix(&name, &MODEL_SUFFIXES) || c_array::is_source(&name)
}

/// Imports the bytes of a file, as [`import_file`] does. `path` is used in messages. `name` names the graph,
/// and its extension selects the importer.
///
/// # Errors
/// See [`ImportError`].
pub(crate) fn import_bytes(
    path: &Path,
    name: &Path,
    bytes: Vec<u8>,
    options: &ImportOptions,
) -> Result<Import, ImportError> {
    let extension = name.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let imported = match extension.as_str() {
        "json" => {
            let others = ImportOptions { overlaps: BTreeMap::new(), ..options.clone() };
            if let Some(option) = others.given().into_iter().next() {
                let reason = "the option does not apply to a graph".to_owned();
                return Err(ImportProblem::Option { option, reason }.of(path));
            }
            match plimsoll_model::graph::read_graph(path, bytes.as_slice()) {
                Ok(graph) => Ok(Import::of(graph)),
                Err(GraphFileError::Json { .. }) if crate::inductor::is_inductor(&bytes) => {
                    let name = name.file_stem().map_or_else(Default::default, |stem| stem.to_string_lossy());
                    crate::inductor::read(&name, &bytes)
                }
                Err(error) => return Err(error.into()),
            }
        }
        "onnx" => {
            let import = crate::onnx::read(name, bytes.into(), options);
            if options.keep_constants { import } else { import.map(fold) }
        }
        _ if extension == "tflite" || crate::tflite::is_tflite(&bytes) => {
            crate::tflite::read(name, &bytes, options)
        }
        _ => Err(ImportProblem::UnknownFormat),
    };
    imported.and_then(|import| overlapping(import, &options.overlaps)).map_err(|problem| problem.of(path))
}

/// Lets operators write outputs over inputs, as [`ImportOptions::overlaps`] states.
fn overlapping(mut import: Import, overlaps: &BTreeMap<String, Overlap>) -> Result<Import, ImportProblem> {
    for (kind, overlap) in overlaps {
        if import.graph.overlap(kind, Bytes::new(overlap.apart), Bytes::new(overlap.scratch))? > 0 {
            continue;
        }
        let kinds: BTreeSet<&str> = import.graph.operators().iter().map(|one| one.kind.as_str()).collect();
        let reason = if kinds.contains(kind.as_str()) {
            format!(
                "no operator of this kind has an input and an output of more than {} bytes",
                overlap.apart
            )
        } else {
            let kinds: Vec<&str> = kinds.into_iter().collect();
            format!("no operator has this kind; there are {}", kinds.join(", "))
        };
        return Err(ImportProblem::Option { option: format!("--overlap {kind}={overlap}"), reason });
    }
    Ok(import)
}

/// Folds the operators that depend only on constants, and adds a note about them.
fn fold(import: Import) -> Import {
    let (graph, kept) = import.graph.folded();
    let (mut assumed, sizes) = (import.assumed, import.sizes.within(&graph));
    let count = import.graph.operators().len() - kept.len();
    if count > 0 {
        assumed.push(format!("{count} operators read only constants: their outputs count as weights"));
    }
    let places = kept.into_iter().map(|id| import.places[id.index()].clone()).collect();
    Import { graph, assumed, sizes, places, ..import }
}

/// Reads an ONNX model. `origin` is used in messages and as the name of the graph. Operators that read only
/// constants are always kept. The time is linear in the size of the file, apart from the evaluation of small
/// constants.
///
/// # Errors
/// See [`ImportError`].
pub fn read_onnx(origin: &Path, bytes: &[u8], options: &ImportOptions) -> Result<Import, ImportError> {
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    crate::onnx::read(origin, bytes, options).map_err(|problem| problem.of(origin))
}

/// Reads a `TFLite` model. `origin` is used in messages and as the name of the graph. The time is linear in
/// the size of the file.
///
/// # Errors
/// See [`ImportError`]. There are no I/O errors.
pub fn read_tflite(origin: &Path, bytes: &[u8], options: &ImportOptions) -> Result<Import, ImportError> {
    crate::tflite::read(origin, bytes, options).map_err(|problem| problem.of(origin))
}
