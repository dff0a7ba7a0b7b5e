//! Models: import, order, memory plan, timeline, placement in several memories, and fusion.

use crate::attended::attended;
use crate::errors;
use crate::instance::Instance;
use crate::plan::Plan;
use crate::solution::{number_of_threads, time};
use crate::state::Reduced;
use plimsoll::datasets::{ImportOptions, import_file};
use plimsoll::fusion::FusionTotals;
use plimsoll::model::fusion::Patterns;
use plimsoll::model::graph::{Boundary, LivenessOptions, read_graph, write_graph};
use plimsoll::model::tiers::TierMachine;
use plimsoll::model::timelines::{Machine, Time};
use plimsoll::model::{Bytes, Stop};
use plimsoll::{Engine, EngineError};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

/// A graph of operators and tensors, read from a model.
#[pyclass(frozen, eq, hash, module = "plimsoll")]
#[derive(PartialEq)]
pub struct Graph {
    graph: plimsoll::model::graph::Graph,
    assumed: Vec<String>,
}

impl Hash for Graph {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.graph.name(), self.graph.operators().len()).hash(state);
        self.graph.tensors().iter().for_each(|tensor| (&tensor.name, tensor.bytes).hash(state));
    }
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
    let import = py.detach(|| import_file(&path, &options)).map_err(|error| errors::import(py, &error))?;
    Ok(Graph { graph: import.graph, assumed: import.assumed })
}

/// Returns an engine with these limits.
pub fn engine(time_limit: Option<f64>, seed: u64, threads: usize) -> PyResult<Engine> {
    let mut engine = Engine::default();
    engine.limits.time = time(time_limit)?;
    engine.setup.seed = seed;
    engine.setup.threads = number_of_threads(threads)?;
    Ok(engine)
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
        let regions = regions.map_err(|error| errors::engine(&error))?;
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
                Ok((instance, planned.into()))
            },
            |()| Ok(()),
        )?;
        let (instance, found) = planned.map_err(|error| errors::engine(&error))?;
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
        let machine = Machine::find(machine).map_err(|error| errors::description(py, &error))?;
        let found = attended(
            py,
            |_: Sender<()>| engine.overlap(&self.graph, &machine).map(|found| found.1),
            |()| Ok(()),
        )?;
        let found = found.map_err(|error| errors::engine(&error))?;
        let result = PyDict::new(py);
        result.set_item("makespan", seconds(found.makespan))?;
        result.set_item("lower_bound", seconds(found.lower_bound))?;
        result.set_item("peak", found.peak.get())?;
        result.set_item("witness", &found.reason)?;
        result.set_item("termination", found.stop.as_str())?;
        Ok(result)
    }

    /// Assigns every tensor to one memory of a machine, which is given by the name of a preset or the path of a
    /// file. Returns a dictionary with the transfer time and its lower bound in seconds, one row per tensor,
    /// the reason for the bound, the status and the termination.
    #[pyo3(signature = (machine, *, time_limit = Some(10.0), seed = 0, threads = 1),
        text_signature = "($self, machine, *, time_limit=10.0, seed=0, threads=1)")]
    fn tiers<'py>(
        &self,
        py: Python<'py>,
        machine: &str,
        time_limit: Option<f64>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let engine = engine(time_limit, seed, threads)?;
        let machine = TierMachine::find(machine).map_err(|error| errors::description(py, &error))?;
        let found = attended(py, |_: Sender<()>| engine.tiers(&self.graph, &machine), |()| Ok(()))?;
        let (case, outcome) = found.map_err(|error| errors::engine(&error))?;
        let problem = &case.problem;
        let mut rows = Vec::new();
        if let Some(plan) = &outcome.solution {
            let offsets = plan.offsets.as_deref().unwrap_or_default();
            for ((tensor, tier), offset) in problem.tensors().iter().zip(&plan.tiers).zip(offsets) {
                let row = PyDict::new(py);
                row.set_item("name", &tensor.name)?;
                row.set_item("memory", &problem.space(*tier).name)?;
                row.set_item("offset", offset.get())?;
                row.set_item("size", tensor.bytes.get())?;
                rows.push(row);
            }
        }
        let result = PyDict::new(py);
        result.set_item("transfer_time", outcome.value.map(seconds))?;
        result.set_item("lower_bound", seconds(outcome.lower_bound.value))?;
        result.set_item("tensors", rows)?;
        result.set_item("witness", outcome.lower_bound.witness.in_words(problem))?;
        result.set_item("status", outcome.claim.as_str())?;
        result.set_item("termination", outcome.stop.as_str())?;
        Ok(result)
    }

    /// Forms groups of operators that run as one, for the patterns of a preset or a file. Returns a dictionary
    /// with the groups of all regions, the number of optimised relations and its upper bound, the number of
    /// relations, the status and the termination.
    #[pyo3(signature = (patterns = "default", *, time_limit = None, seed = 0, threads = 1))]
    fn fuse<'py>(
        &self,
        py: Python<'py>,
        patterns: &str,
        time_limit: Option<f64>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let engine = engine(time_limit, seed, threads)?;
        let patterns = Patterns::find(patterns).map_err(|error| errors::description(py, &error))?;
        let regions = attended(py, |_: Sender<()>| engine.fuse(&self.graph, &patterns), |()| Ok(()))?;
        let regions = regions.map_err(|error| errors::engine(&error))?;
        let totals = FusionTotals::of(&regions);
        let groups = regions.iter().flat_map(|region| region.fused.fusion.groups());
        let named = |group: &Vec<_>| group.iter().map(|&id| self.graph.called(id)).collect::<Vec<String>>();
        let mut stops = regions.iter().map(|region| region.outcome.stop);
        let result = PyDict::new(py);
        result.set_item("groups", groups.map(named).collect::<Vec<_>>())?;
        result.set_item("optimised", totals.coverage.optimised)?;
        result.set_item("upper_bound", totals.bound)?;
        result.set_item("relations", totals.coverage.relations)?;
        result.set_item("status", totals.claim().as_str())?;
        let stop = stops.find(|stop| *stop != Stop::Completed).unwrap_or(Stop::Completed);
        result.set_item("termination", stop.as_str())?;
        Ok(result)
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (Vec<u8>, Vec<String>)>> {
        let mut json = Vec::new();
        write_graph(&self.graph, &mut json)?;
        Ok((py.get_type::<Self>().getattr("_restored")?, (json, self.assumed.clone())))
    }

    /// Returns the graph from which `__reduce__` derived its arguments.
    #[classmethod]
    fn _restored(_: &Bound<'_, PyType>, json: &[u8], assumed: Vec<String>) -> PyResult<Self> {
        let graph = read_graph(Path::new("graph.json"), json);
        let graph = graph.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { graph, assumed })
    }
}

/// Returns a time in seconds.
fn seconds(time: Time) -> f64 {
    time.get() as f64 * 1e-12
}
