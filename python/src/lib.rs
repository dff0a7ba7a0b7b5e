//! The extension module of the Python package `plimsoll`.
//!
//! Every answer passes the audit of [`plimsoll::run`]. The interpreter lock is released while an algorithm
//! runs; see [`attended`].

#![expect(clippy::needless_pass_by_value, reason = "arguments of Python functions are owned")]

mod attended;
mod bench;
mod columns;
mod comparison;
mod errors;
mod graph;
mod instance;
mod picture;
mod plan;
mod solution;
mod spill;
mod state;
mod verify;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::bench::{algorithms, bench, report};
    #[pymodule_export]
    use crate::comparison::{Comparison, compare};
    #[pymodule_export]
    use crate::graph::{Graph, load_model};
    #[pymodule_export]
    use crate::instance::{Instance, read_csv};
    #[pymodule_export]
    use crate::plan::Plan;
    #[pymodule_export]
    use crate::solution::{Solution, solve};
    #[pymodule_export]
    use crate::spill::spill;
    #[pymodule_export]
    use crate::verify::{audit, verify};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
