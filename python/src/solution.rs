//! Answers to the offset problem, and the function `solve`.

use crate::attended::attended;
use crate::columns::offsets_of;
use crate::errors::extra;
use crate::instance::{Instance, pieces, placed};
use crate::picture::{html, svg};
use crate::state::{Reduced, pickled, restored};
use plimsoll::model::{
    Bytes, Certificate, Layout, LowerBound, Observer, Offsets, Outcome, Setup, gap_percent,
};
use plimsoll::run::{Limits, RunError, run};
use plimsoll::{Engine, NameError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// A checked answer to the offset problem.
#[pyclass(frozen, module = "plimsoll")]
pub struct Solution {
    instance: Py<Instance>,
    outcome: Outcome<Offsets>,
    algorithm: String,
}

/// Progress of a search: the best value so far, or the best bound so far, in bytes.
enum Progress {
    Value(u64),
    Bound(u64),
}

/// Sends progress to the thread that called `solve`.
struct Reporter(Sender<Progress>);

impl Observer<Offsets> for Reporter {
    fn incumbent(&mut self, _: &Layout, value: Bytes) {
        // The receiver lives as long as the run.
        let _ = self.0.send(Progress::Value(value.get()));
    }

    fn bound(&mut self, bound: &LowerBound) {
        let _ = self.0.send(Progress::Bound(bound.value.get()));
    }
}

/// Returns the time limit as a duration.
///
/// # Errors
/// `ValueError` if the limit is negative, infinite, too long for a duration, or not a number.
pub fn time(limit: Option<f64>) -> PyResult<Option<Duration>> {
    let wrong = |limit| {
        PyValueError::new_err(format!("time_limit is {limit}; expected a non-negative number of seconds"))
    };
    limit.map(|limit| Duration::try_from_secs_f64(limit).map_err(|_| wrong(limit))).transpose()
}

/// Checks a number of threads.
pub fn number_of_threads(threads: usize) -> PyResult<usize> {
    let most = Setup::MOST_THREADS;
    if (1..=most).contains(&threads) {
        return Ok(threads);
    }
    Err(PyValueError::new_err(format!("threads is {threads}; expected 1 to {most}")))
}

/// Places all buffers so that the peak is as low as possible.
#[pyfunction]
#[pyo3(signature = (instance, *, capacity = None, time_limit = None, node_limit = None, seed = 0, threads = 1,
    algorithm = "exact", progress = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub fn solve(
    py: Python<'_>,
    instance: &Bound<'_, PyAny>,
    capacity: Option<u64>,
    time_limit: Option<f64>,
    node_limit: Option<u64>,
    seed: u64,
    threads: usize,
    algorithm: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Solution> {
    let instance = instance_of(instance, capacity)?;
    if instance.bind(py).get().1.is_some() {
        return Err(PyValueError::new_err(PLAN));
    }
    let mut engine = Engine::default();
    engine.setup.seed = seed;
    engine.setup.threads = number_of_threads(threads)?;
    let limits = Limits { time: time(time_limit)?, nodes: node_limit, ..Limits::default() };
    let entry = engine.registry.find::<Offsets>(algorithm).map_err(|error| unknown(&error))?;
    let own = &instance.bind(py).get().0;
    let (mut value, mut bound) = (None, 0);
    let outcome = attended(
        py,
        |send| run(entry, own, engine.setup, limits, &mut Reporter(send)),
        |message| {
            match message {
                Progress::Value(new) => value = Some(new),
                Progress::Bound(new) => bound = new,
            }
            match &progress {
                Some(callback) => callback.call1(py, (value, bound)).map(|_| ()),
                None => Ok(()),
            }
        },
    )?;
    let outcome = outcome.map_err(|error| match error {
        RunError::Solve(error) => PyValueError::new_err(error.to_string()),
        other => PyRuntimeError::new_err(other.to_string()),
    })?;
    Ok(Solution { instance, outcome, algorithm: entry.name.to_owned() })
}

/// The error for an instance in which every buffer has an offset.
const PLAN: &str = "every buffer has an offset; if the offsets are a plan, compare(instance, {'plan': \
                    instance.offsets}) checks it, and solve(instance.without_offsets()) places all buffers \
                    anew; if they are requirements, nothing remains to be placed";

/// The error for a name that refers to no algorithm.
pub fn unknown(error: &NameError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns `data` if it is an instance, and otherwise builds an instance from it. If `capacity` is given, it
/// replaces the capacity of the instance.
pub fn instance_of(data: &Bound<'_, PyAny>, capacity: Option<u64>) -> PyResult<Py<Instance>> {
    let py = data.py();
    let instance = match data.cast::<Instance>() {
        Ok(instance) => instance.clone().unbind(),
        Err(_) => py.get_type::<Instance>().call1((data,))?.cast_into::<Instance>()?.unbind(),
    };
    match capacity {
        None => Ok(instance),
        Some(bytes) => {
            let own = instance.bind(py).get();
            Py::new(py, own.with_capacity(Some(bytes)))
        }
    }
}

impl Solution {
    fn layouts(&self, py: Python<'_>) -> Option<Vec<(String, Vec<Vec<plimsoll::model::Piece>>)>> {
        let own = &self.instance.bind(py).get().0;
        Some(vec![(self.algorithm.clone(), pieces(own, self.outcome.solution.as_ref()?))])
    }
}

#[pymethods]
impl Solution {
    #[getter]
    fn instance(&self, py: Python<'_>) -> Py<Instance> {
        self.instance.clone_ref(py)
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, numpy::PyArray1<u64>>>> {
        self.outcome.solution.as_ref().map(|layout| offsets_of(py, layout)).transpose()
    }

    /// Returns one dictionary per buffer: its id, lifespan, size and offset.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        placed(py, &self.instance.bind(py).get().0, self.outcome.solution.as_ref())
    }

    #[getter]
    fn peak(&self) -> Option<u64> {
        self.outcome.value.map(Bytes::get)
    }

    #[getter]
    fn lower_bound(&self) -> u64 {
        self.outcome.lower_bound.value.get()
    }

    #[getter]
    fn status(&self) -> &'static str {
        self.outcome.claim.as_str()
    }

    #[getter]
    fn termination(&self) -> &'static str {
        self.outcome.stop.as_str()
    }

    #[getter]
    fn witness(&self, py: Python<'_>) -> String {
        self.outcome.lower_bound.witness.in_words(&self.instance.bind(py).get().0)
    }

    #[getter]
    fn gap(&self) -> Option<f64> {
        let percent = gap_percent(self.outcome.value?.get(), self.outcome.lower_bound.value.get())?;
        Some(percent / 100.0)
    }

    #[getter]
    fn algorithm(&self) -> &str {
        &self.algorithm
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.outcome.stats.seconds
    }

    #[getter]
    fn nodes(&self) -> u64 {
        self.outcome.stats.nodes
    }

    /// Returns the certificate of the answer as JSON, for `plimsoll verify`.
    fn certificate(&self, py: Python<'_>) -> PyResult<String> {
        let certificate = Certificate::of(&self.instance.bind(py).get().0, &self.outcome);
        serde_json::to_string_pretty(&certificate).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Returns the memory map of the layout as SVG, or None if there is no layout.
    fn svg(&self, py: Python<'_>) -> Option<String> {
        let own = &self.instance.bind(py).get().0;
        Some(svg(own, &self.layouts(py)?, self.outcome.lower_bound.value))
    }

    /// Returns a data frame with one row per buffer; needs pandas.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pandas = extra(py, "pandas")?;
        let columns = PyDict::new(py);
        let instance = self.instance.bind(py);
        for (name, attribute) in [("id", "ids"), ("lower", "lower"), ("upper", "upper"), ("size", "size")] {
            columns.set_item(name, instance.getattr(attribute)?)?;
        }
        columns.set_item("offset", self.offsets(py)?)?;
        pandas.call_method1("DataFrame", (columns,))
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> bool {
        let (own, its) = (&self.outcome, &other.outcome);
        self.instance.bind(py).get() == other.instance.bind(py).get()
            && (&self.algorithm, own.claim, own.stop) == (&other.algorithm, its.claim, its.stop)
            && (&own.solution, &own.lower_bound) == (&its.solution, &its.lower_bound)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (&self.instance, &self.algorithm, self.peak(), self.lower_bound()).into_pyobject(py)?.hash()
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (Py<Instance>, String, String)>> {
        let state = (self.instance(py), self.algorithm.clone(), pickled(&self.outcome)?);
        Ok((py.get_type::<Self>().getattr("_restored")?, state))
    }

    /// Returns the solution from which `__reduce__` derived its arguments.
    #[classmethod]
    fn _restored(
        _: &Bound<'_, PyType>,
        instance: Bound<'_, Instance>,
        algorithm: String,
        outcome: &str,
    ) -> PyResult<Self> {
        let outcome = restored(outcome, &instance.get().0)?;
        Ok(Self { instance: instance.unbind(), outcome, algorithm })
    }

    fn __repr__(&self) -> String {
        let peak = self.peak().map_or_else(|| "None".to_owned(), |peak| peak.to_string());
        let (status, bound) = (self.status(), self.lower_bound());
        format!("Solution({status}, peak={peak}, lower_bound={bound}, algorithm='{}')", self.algorithm)
    }

    fn _repr_svg_(&self, py: Python<'_>) -> Option<String> {
        self.svg(py)
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        html(&self.__repr__(), self.svg(py))
    }
}
