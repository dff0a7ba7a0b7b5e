//! Converts errors of the library to Python exceptions.

use plimsoll::EngineError;
use plimsoll::branches::BranchError;
use plimsoll::datasets::captures::{CaptureError, CaptureProblem};
use plimsoll::datasets::{ImportError, ImportProblem};
use plimsoll::fusion::FuseError;
use plimsoll::graphs::GraphRunError;
use plimsoll::model::DescriptionError;
use plimsoll::model::csv::{CsvError, CsvErrorKind};
use plimsoll::tiers::TierCaseError;
use plimsoll_lab::analysis::AnalysisError;
use plimsoll_lab::row::RowError;
use pyo3::exceptions::{PyImportError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::io;
use std::path::Path;

/// Returns `OSError` or its subclass, such as `FileNotFoundError`, with the code of the system in `errno` and the
/// file in `filename`.
pub fn of_system(py: Python<'_>, error: &io::Error, file: &Path) -> PyErr {
    let name = match error.kind() {
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        _ if file.is_dir() => "EISDIR",
        _ => "EIO",
    };
    let raised = || {
        let code = match error.raw_os_error() {
            Some(code) => code,
            None => py.import("errno")?.getattr(name)?.extract()?,
        };
        let message = match name {
            "EIO" => error.to_string(),
            _ => py.import("os")?.call_method1("strerror", (code,))?.extract()?,
        };
        // Only a call of the class chooses the subclass.
        py.get_type::<PyOSError>().call1((code, message, file.as_os_str()))
    };
    raised().map_or_else(|error| error, PyErr::from_value)
}

/// Returns the exception for an instance that cannot be read.
pub fn csv(py: Python<'_>, error: &CsvError) -> PyErr {
    match &*error.kind {
        CsvErrorKind::Io(system) => of_system(py, system, Path::new(&error.file)),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the exception for a model that cannot be read.
pub fn import(py: Python<'_>, error: &ImportError) -> PyErr {
    match error {
        ImportError::File { path, problem: ImportProblem::Io(system) } => of_system(py, system, path),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the exception for a captured plan that cannot be read.
pub fn capture(py: Python<'_>, error: &CaptureError) -> PyErr {
    match &*error.problem {
        CaptureProblem::Io(system) => of_system(py, system, &error.file),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the exception for the description of a machine or of patterns that cannot be read.
pub fn description(py: Python<'_>, error: &DescriptionError) -> PyErr {
    match error {
        DescriptionError::Io { file, source } => of_system(py, source, Path::new(file)),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the exception for records that cannot be read.
pub fn analysis(py: Python<'_>, error: &AnalysisError) -> PyErr {
    match error {
        AnalysisError::Rows(RowError::Io(path, system)) => of_system(py, system, path),
        AnalysisError::Missing(path) => of_system(py, &io::ErrorKind::NotFound.into(), path),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Returns `ValueError` for an instance, a graph or options that pose no valid problem, and otherwise
/// `RuntimeError`.
pub fn engine(error: &EngineError) -> PyErr {
    let is_invalid = match error {
        EngineError::Graph(error) => matches!(**error, GraphRunError::Problem { .. }),
        EngineError::Plan(error) => matches!(
            **error,
            BranchError::Program(_)
                | BranchError::Instance(_)
                | BranchError::Order(GraphRunError::Problem { .. })
        ),
        EngineError::Tiers(error) => matches!(
            **error,
            TierCaseError::Units(_)
                | TierCaseError::Problem(_)
                | TierCaseError::TooLong
                | TierCaseError::Order(GraphRunError::Problem { .. })
        ),
        EngineError::Fusion(error) => matches!(error, FuseError::Units(_) | FuseError::TooMany(_)),
        EngineError::Spill(_) => true,
        _ => false,
    };
    let text = error.to_string();
    if is_invalid { PyValueError::new_err(text) } else { PyRuntimeError::new_err(text) }
}

/// Imports `NumPy` or pandas, which are extras of the package.
///
/// # Errors
/// `ImportError`, which names the extra, if the module is not installed.
pub fn extra<'py>(py: Python<'py>, module: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(module).map_err(|cause| {
        let text =
            format!("this result needs {module}, which is not installed: pip install 'plimsoll[{module}]'");
        let error = PyImportError::new_err(text);
        error.set_cause(py, Some(cause));
        error
    })
}
