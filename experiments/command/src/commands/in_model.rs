//! The plan that a model file contains, for `audit`.

use crate::failure::Failure;
use plimsoll::datasets::captures::Capture;
use plimsoll::datasets::{ModelFile, ModelFormat};
use plimsoll_support::contents::has_suffix;
use std::path::Path;

/// Returns the offline plan for tflite-micro in a file, with the lifespans of the runtime; `None` if the file
/// is not a `TFLite` model or has no such plan.
///
/// # Errors
/// If the file cannot be read, or the runtime cannot place one of its tensors.
pub fn plan(path: &Path) -> Result<Option<Capture>, Failure> {
    if !has_suffix(path, &["tflite"]) {
        return Ok(None);
    }
    let wrong = |error: std::io::Error| Failure::input(format!("{}: {error}", path.display()));
    let file = ModelFile::new(path, ModelFormat::TfLite, std::fs::read(path).map_err(wrong)?);
    file.capture().map_err(Failure::input)
}
