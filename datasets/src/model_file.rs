//! Reads a model or a graph with the importer for the file format.

use crate::import::{FILE_LIMIT, Import, ImportError, ImportOptions, ImportProblem};
use plimsoll_model::graph::GraphFileError;
use std::path::Path;

/// Reads a model or a graph. The extension `json`, `onnx` or `tflite` selects the importer. A JSON file can
/// be a graph file or an export of `PyTorch` Inductor. With any other extension, a `TFLite` model is
/// recognised by its first bytes.
///
/// # Errors
/// See [`ImportError`].
pub fn import_file(path: &Path, options: &ImportOptions) -> Result<Import, ImportError> {
    import_bytes(path, read(path).map_err(|problem| problem.of(path))?, options)
}

/// Imports the bytes of a file, as [`import_file`] does.
///
/// # Errors
/// See [`ImportError`].
pub(crate) fn import_bytes(
    path: &Path,
    bytes: Vec<u8>,
    options: &ImportOptions,
) -> Result<Import, ImportError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let imported = match extension.as_str() {
        "json" => {
            if let Some(option) = options.given().into_iter().next() {
                let reason = "the option does not apply to a graph".to_owned();
                return Err(ImportProblem::Option { option, reason }.of(path));
            }
            match plimsoll_model::graph::read_graph(path, bytes.as_slice()) {
                Ok(graph) => Ok(Import::of(graph)),
                Err(GraphFileError::Json { .. }) if crate::inductor::is_inductor(&bytes) => {
                    let name = path.file_stem().map_or_else(Default::default, |stem| stem.to_string_lossy());
                    crate::inductor::read(&name, &bytes)
                }
                Err(error) => return Err(error.into()),
            }
        }
        "onnx" => {
            let import = crate::onnx::read(path, bytes.into(), options);
            if options.keep_constants { import } else { import.map(fold) }
        }
        _ if extension == "tflite" || crate::tflite::is_tflite(&bytes) => {
            crate::tflite::read(path, &bytes, options)
        }
        _ => Err(ImportProblem::UnknownFormat),
    };
    imported.map_err(|problem| problem.of(path))
}

fn read(path: &Path) -> Result<Vec<u8>, ImportProblem> {
    let bytes = std::fs::metadata(path)?.len();
    if bytes > FILE_LIMIT {
        return Err(ImportProblem::TooLarge(bytes));
    }
    Ok(std::fs::read(path)?)
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
    Import { graph, assumed, sizes, places, tensors: Vec::new() }
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
