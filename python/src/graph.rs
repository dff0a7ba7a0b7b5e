//! Models: import, order, memory plan and timeline.

use crate::attended::attended;
use crate::instance::{Instance, offsets_of, pieces};
use crate::picture::{html, svg};
use crate::solution::time;
use plimsoll::Engine;
use plimsoll::datasets::{ImportError, ImportOptions, ImportProblem, import_file};
use plimsoll::model::timelines::Machine;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

/// A graph of operators and tensors, read from a model.
#[pyclass(frozen, module = "plimsoll")]
pub struct Graph {
    graph: plimsoll::model::graph::Graph,
    assumed: Vec<String>,
}

/// Reads an ONNX or `TFLite` model, or a graph as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
#[pyo3(signature = (path, *, batch = None, dims = BTreeMap::new(), input_shapes = BTreeMap::new(),
    dim_default = None, assume_bytes = None, trips = None))]
pub fn load_model(
    py: Python<'_>,
    path: PathBuf,
    batch: Option<u64>,
    dims: BTreeMap<String, u64>,
    input_shapes: BTreeMap<String, Vec<u64>>,
    dim_default: Option<u64>,
    assume_bytes: Option<u64>,
    trips: Option<u64>,
) -> PyResult<Graph> {
    let rest = ImportOptions::default();
    let options = ImportOptions { dims, input_shapes, batch, dim_default, assume_bytes, trips, ..rest };
    let import = py.detach(|| import_file(&path, &options)).map_err(|error| match error {
        ImportError::File { problem: ImportProblem::Io(_), .. } => PyOSError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    })?;
    Ok(Graph { graph: import.graph, assumed: import.assumed })
}

fn engine(time_limit: Option<f64>, seed: u64, threads: usize) -> PyResult<Engine> {
    let mut engine = Engine::default();
    engine.limits.time = time(time_limit)?;
    engine.setup.seed = seed;
    engine.setup.threads = threads.max(1);
    Ok(engine)
}

fn failed(error: &plimsoll::EngineError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Graph {
    #[getter]
    fn name(&self) -> &str {
        self.graph.name()
    }

    #[getter]
    fn operators(&self) -> Vec<&str> {
        self.graph.operators().iter().map(|operator| operator.name.as_str()).collect()
    }

    #[getter]
    fn tensors(&self) -> Vec<(&str, u64)> {
        self.graph.tensors().iter().map(|tensor| (tensor.name.as_str(), tensor.bytes.get())).collect()
    }

    #[getter]
    fn assumed(&self) -> Vec<&str> {
        self.assumed.iter().map(String::as_str).collect()
    }

    fn __repr__(&self) -> String {
        let (operators, tensors) = (self.graph.operators().len(), self.graph.tensors().len());
        format!("Graph('{}', {operators} operators, {tensors} tensors)", self.graph.name())
    }

    /// Orders the operators for the lowest peak of live bytes. Returns a dictionary with the order of the
    /// body, its peak, the peak of the order in the file, the lower bound, the status and the termination.
    #[pyo3(signature = (*, time_limit = None, seed = 0, threads = 1))]
    fn order<'py>(
        &self,
        py: Python<'py>,
        time_limit: Option<f64>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let engine = engine(time_limit, seed, threads)?;
        let regions = attended(py, |_: Sender<()>| engine.order(&self.graph), |()| Ok(()))?;
        let regions = regions.map_err(|error| failed(&error))?;
        let body = regions.last().ok_or_else(|| PyValueError::new_err("the graph has no region"))?;
        let operators = &body.storages.operators;
        let order =
            body.order.operators().iter().map(|id| self.graph.operator(operators[id.index()]).name.as_str());
        let result = PyDict::new(py);
        result.set_item("order", order.collect::<Vec<_>>())?;
        result.set_item("peak", body.peak.get())?;
        result.set_item("file_peak", body.file_peak.get())?;
        result.set_item("lower_bound", body.outcome.lower_bound.value.get())?;
        result.set_item("status", body.outcome.claim.as_str())?;
        result.set_item("termination", body.outcome.stop.as_str())?;
        Ok(result)
    }

    /// Orders the operators, then places the tensors of the whole program.
    #[pyo3(signature = (*, time_limit = None, seed = 0, threads = 1))]
    fn plan(&self, py: Python<'_>, time_limit: Option<f64>, seed: u64, threads: usize) -> PyResult<Plan> {
        let engine = engine(time_limit, seed, threads)?;
        let planned = attended(
            py,
            |_: Sender<()>| {
                engine.plan(&self.graph).map(|found| (found.ordered.program.instance().clone(), found.plan))
            },
            |()| Ok(()),
        )?;
        let (instance, plan) = planned.map_err(|error| failed(&error))?;
        Ok(Plan { instance: Py::new(py, Instance(instance))?, plan })
    }

    /// Schedules the transfers of weights on a machine, given by the name of a preset or the path of a file.
    /// Returns a dictionary with the makespan and its lower bound in seconds, the peak in bytes, the reason
    /// for the bound, and the termination.
    #[pyo3(signature = (machine, *, time_limit = None, seed = 0, threads = 1))]
    fn overlap<'py>(
        &self,
        py: Python<'py>,
        machine: &str,
        time_limit: Option<f64>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let engine = engine(time_limit, seed, threads)?;
        let machine = Machine::find(machine).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let found = attended(
            py,
            |_: Sender<()>| engine.overlap(&self.graph, &machine).map(|found| found.1),
            |()| Ok(()),
        )?;
        let found = found.map_err(|error| failed(&error))?;
        let result = PyDict::new(py);
        let seconds = |time: plimsoll::model::timelines::Time| time.get() as f64 * 1e-12;
        result.set_item("makespan", seconds(found.makespan))?;
        result.set_item("lower_bound", seconds(found.lower_bound))?;
        result.set_item("peak", found.peak.get())?;
        result.set_item("witness", &found.reason)?;
        result.set_item("termination", found.stop.as_str())?;
        Ok(result)
    }
}

/// The memory plan of a graph, checked by simulated execution.
#[pyclass(frozen, module = "plimsoll")]
pub struct Plan {
    instance: Py<Instance>,
    plan: plimsoll::branches::ProgramPlan,
}

#[pymethods]
impl Plan {
    #[getter]
    fn instance(&self, py: Python<'_>) -> Py<Instance> {
        self.instance.clone_ref(py)
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArray1<u64>> {
        offsets_of(py, &self.plan.layout)
    }

    #[getter]
    fn peak(&self) -> u64 {
        self.plan.peak.get()
    }

    #[getter]
    fn lower_bound(&self) -> u64 {
        self.plan.bound.get()
    }

    #[getter]
    fn witness(&self) -> &str {
        &self.plan.witness
    }

    #[getter]
    fn status(&self) -> &'static str {
        if self.plan.is_optimal() { "optimal" } else { "feasible" }
    }

    fn __repr__(&self) -> String {
        format!("Plan({}, peak={}, lower_bound={})", self.status(), self.peak(), self.lower_bound())
    }

    /// Returns the memory map of the plan as SVG.
    fn svg(&self, py: Python<'_>) -> String {
        let own = &self.instance.bind(py).get().0;
        svg(own, &[("plan".to_owned(), pieces(own, &self.plan.layout))], self.plan.bound)
    }

    fn _repr_svg_(&self, py: Python<'_>) -> String {
        self.svg(py)
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        html(&self.__repr__(), Some(self.svg(py)))
    }
}
