//! Models: import, order, memory plan and timeline.

use crate::attended::attended;
use crate::instance::{Instance, offsets_of, pieces};
use crate::picture::{html, svg};
use crate::solution::{number_of_threads, time};
use plimsoll::branches::{BranchError, ProgramPlan};
use plimsoll::datasets::{ImportError, ImportOptions, ImportProblem, import_file};
use plimsoll::graphs::GraphRunError;
use plimsoll::model::graph::{Boundary, LivenessOptions};
use plimsoll::model::timelines::Machine;
use plimsoll::model::{Bytes, Claim};
use plimsoll::{Engine, EngineError, MemoryPlan};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
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
    engine.setup.threads = number_of_threads(threads)?;
    Ok(engine)
}

/// Returns `ValueError` for a graph or options that pose no valid problem, and otherwise `RuntimeError`.
fn failed(error: &EngineError) -> PyErr {
    let is_invalid = match error {
        EngineError::Graph(error) => matches!(**error, GraphRunError::Problem { .. }),
        EngineError::Plan(error) => matches!(
            **error,
            BranchError::Program(_)
                | BranchError::Instance(_)
                | BranchError::Order(GraphRunError::Problem { .. })
        ),
        _ => false,
    };
    let text = error.to_string();
    if is_invalid { PyValueError::new_err(text) } else { PyRuntimeError::new_err(text) }
}

/// Returns a number of bytes.
///
/// # Errors
/// `TypeError` if it is not an integer, and `ValueError` if it is out of range.
fn bytes(name: &str, value: &Bound<'_, PyAny>, least: u64) -> PyResult<u64> {
    match value.extract::<u64>() {
        Ok(number) if number >= least => Ok(number),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(PyTypeError::new_err(format!("{name} is {value:?}; expected an integer")))
        }
        _ => Err(PyValueError::new_err(format!(
            "{name} is {value}; expected a number of bytes from {least} to {}",
            u64::MAX
        ))),
    }
}

fn boundary_of(name: &str) -> PyResult<Boundary> {
    match name {
        "arena" => Ok(Boundary::Arena),
        "held" => Ok(Boundary::Held),
        "persistent" => Ok(Boundary::Persistent),
        "outside" => Ok(Boundary::Outside),
        _ => Err(PyValueError::new_err(format!(
            "boundary is '{name}'; expected one of arena, held, persistent, outside"
        ))),
    }
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
    #[pyo3(signature = (*, align = None, boundary = "arena", in_place = false, weights = false,
        no_states = false, no_views = false, capacity = None, time_limit = None, seed = 0, threads = 1),
        text_signature = "($self, *, align=1, boundary='arena', in_place=False, weights=False, \
        no_states=False, no_views=False, capacity=None, time_limit=None, seed=0, threads=1)")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    #[expect(clippy::fn_params_excessive_bools, reason = "keyword arguments in Python")]
    fn plan(
        &self,
        py: Python<'_>,
        align: Option<&Bound<'_, PyAny>>,
        boundary: &str,
        in_place: bool,
        weights: bool,
        no_states: bool,
        no_views: bool,
        capacity: Option<&Bound<'_, PyAny>>,
        time_limit: Option<f64>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Plan> {
        let engine = engine(time_limit, seed, threads)?;
        let align = align.map(|align| bytes("align", align, 1)).transpose()?;
        let liveness = LivenessOptions {
            boundary: boundary_of(boundary)?,
            weights,
            states: !no_states,
            views: !no_views,
            in_place,
            align: Bytes::new(align.unwrap_or(1)),
            ..LivenessOptions::default()
        };
        let capacity = capacity.map(|capacity| bytes("capacity", capacity, 0)).transpose()?.map(Bytes::new);
        let planned = attended(
            py,
            |_: Sender<()>| -> Result<_, EngineError> {
                let planned = engine.plan_with(&self.graph, liveness, capacity)?;
                let instance = planned.ordered.program.instance().clone().with_capacity(capacity);
                let MemoryPlan { plan: program, joint_bound, joint_witness, .. } = planned;
                Ok((instance, Found { program, joint_bound, joint_witness }))
            },
            |()| Ok(()),
        )?;
        let (instance, found) = planned.map_err(|error| failed(&error))?;
        Ok(Plan { instance: Py::new(py, Instance(instance, None))?, found })
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

/// The parts of a memory plan that do not refer to the graph.
struct Found {
    program: ProgramPlan,
    joint_bound: Bytes,
    joint_witness: String,
}

/// The memory plan of a graph, checked by simulated execution.
#[pyclass(frozen, module = "plimsoll")]
pub struct Plan {
    instance: Py<Instance>,
    found: Found,
}

#[pymethods]
impl Plan {
    #[getter]
    fn instance(&self, py: Python<'_>) -> Py<Instance> {
        self.instance.clone_ref(py)
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArray1<u64>> {
        offsets_of(py, &self.found.program.layout)
    }

    #[getter]
    fn peak(&self) -> u64 {
        self.found.program.peak.get()
    }

    #[getter]
    fn lower_bound(&self) -> u64 {
        self.found.program.bound.get()
    }

    #[getter]
    fn witness(&self) -> &str {
        &self.found.program.witness
    }

    #[getter]
    fn status(&self) -> &'static str {
        Claim::of_solution(self.found.program.is_optimal()).as_str()
    }

    #[getter]
    fn joint_bound(&self) -> u64 {
        self.found.joint_bound.get()
    }

    #[getter]
    fn joint_witness(&self) -> &str {
        &self.found.joint_witness
    }

    #[getter]
    fn fits(&self, py: Python<'_>) -> Option<bool> {
        let capacity = self.instance.bind(py).get().0.capacity()?;
        if self.found.program.peak <= capacity {
            return Some(true);
        }
        (self.found.joint_bound > capacity).then_some(false)
    }

    fn __repr__(&self) -> String {
        format!("Plan({}, peak={}, lower_bound={})", self.status(), self.peak(), self.lower_bound())
    }

    /// Returns the memory map of the plan as SVG.
    fn svg(&self, py: Python<'_>) -> String {
        let own = &self.instance.bind(py).get().0;
        svg(own, &[("plan".to_owned(), pieces(own, &self.found.program.layout))], self.found.program.bound)
    }

    fn _repr_svg_(&self, py: Python<'_>) -> String {
        self.svg(py)
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        html(&self.__repr__(), Some(self.svg(py)))
    }
}
