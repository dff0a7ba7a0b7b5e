//! The extension module of the Python package `plimsoll`.
//!
//! Every answer passes the audit of [`plimsoll::run`]. The interpreter lock is released while an algorithm
//! runs; see [`attended`].

#![expect(clippy::needless_pass_by_value, reason = "arguments of Python functions are owned")]

mod attended;
mod bench;
mod graph;
mod instance;
mod picture;
mod solution;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::bench::{algorithms, bench};
    #[pymodule_export]
    use crate::graph::{Graph, Plan, load_model};
    #[pymodule_export]
    use crate::instance::{Instance, read_csv};
    #[pymodule_export]
    use crate::solution::{Comparison, Solution, compare, solve};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
