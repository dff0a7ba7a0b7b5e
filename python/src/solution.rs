//! Answers to the offset problem, and the functions `solve` and `compare`.

use crate::attended::attended;
use crate::instance::{Instance, layout_of, offsets_of, pieces};
use crate::picture::{html, svg};
use plimsoll::model::{
    Bytes, Certificate, Layout, LowerBound, Observer, Offsets, Outcome, Problem as _, Setup, Violation,
    gap_percent,
};
use plimsoll::run::{Limits, RunError, run};
use plimsoll::{Engine, NameError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
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
    fn offsets<'py>(&self, py: Python<'py>) -> Option<Bound<'py, numpy::PyArray1<u64>>> {
        self.outcome.solution.as_ref().map(|layout| offsets_of(py, layout))
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
        let columns = PyDict::new(py);
        let instance = self.instance.bind(py);
        for (name, attribute) in [("id", "ids"), ("lower", "lower"), ("upper", "upper"), ("size", "size")] {
            columns.set_item(name, instance.getattr(attribute)?)?;
        }
        columns.set_item("offset", self.offsets(py))?;
        py.import("pandas")?.call_method1("DataFrame", (columns,))
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

/// Layouts of one instance, compared with the best lower bound.
#[pyclass(frozen, module = "plimsoll")]
pub struct Comparison {
    instance: Py<Instance>,
    best: Outcome<Offsets>,
    layouts: Vec<(String, Layout, Vec<Violation>)>,
}

/// Compares layouts of an instance with each other and with the optimum. The search for the optimum takes at
/// most `time_limit` seconds.
#[pyfunction]
#[pyo3(signature = (instance, layouts, *, time_limit = Some(10.0), seed = 0, threads = 1),
    text_signature = "(instance, layouts, *, time_limit=10.0, seed=0, threads=1)")]
pub fn compare(
    py: Python<'_>,
    instance: &Bound<'_, PyAny>,
    layouts: &Bound<'_, PyDict>,
    time_limit: Option<f64>,
    seed: u64,
    threads: usize,
) -> PyResult<Comparison> {
    let instance = instance_of(instance, None)?;
    let own = &instance.bind(py).get().0;
    let layouts = layouts
        .iter()
        .map(|(name, offsets)| {
            let layout = layout_of(&offsets, own)?;
            let violations = Offsets::check(own, &layout);
            Ok((name.extract::<String>()?, layout, violations))
        })
        .collect::<PyResult<Vec<_>>>()?;
    let mut engine = Engine::default();
    engine.setup.seed = seed;
    engine.setup.threads = number_of_threads(threads)?;
    engine.limits.time = time(time_limit)?;
    let unlimited = own.clone().with_capacity(None);
    let best = attended(py, |_: Sender<()>| engine.solve(&unlimited), |()| Ok(()))?;
    let best = best.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(Comparison { instance, best, layouts })
}

#[pymethods]
impl Comparison {
    /// Returns one dictionary per layout: its name, peak, gap in bytes, gap as a fraction, verdict and
    /// violations.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let own = &self.instance.bind(py).get().0;
        let bound = self.best.lower_bound.value;
        let known = self.best.value == Some(bound);
        let rows = PyList::empty(py);
        for (name, layout, violations) in &self.layouts {
            let peak = layout.peak(own);
            let row = PyDict::new(py);
            let verdict = match () {
                () if !violations.is_empty() => Violation::verdict(violations),
                () if peak == bound => "optimal",
                () if known => "above the optimum",
                () => "open",
            };
            row.set_item("name", name)?;
            row.set_item("peak", peak.get())?;
            row.set_item("gap_bytes", peak.get().saturating_sub(bound.get()))?;
            row.set_item("gap", gap_percent(peak.get(), bound.get()).map(|percent| percent / 100.0))?;
            row.set_item("verdict", verdict)?;
            let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
            row.set_item("violations", violations)?;
            rows.append(row)?;
        }
        Ok(rows)
    }

    #[getter]
    fn lower_bound(&self) -> u64 {
        self.best.lower_bound.value.get()
    }

    #[getter]
    fn best_peak(&self) -> Option<u64> {
        self.best.value.map(Bytes::get)
    }

    /// Returns a data frame with one row per layout; needs pandas.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pandas")?.call_method1("DataFrame", (self.rows(py)?,))
    }

    /// Returns the memory maps of all layouts side by side as one SVG picture. The best layout found comes
    /// last.
    fn svg(&self, py: Python<'_>) -> String {
        let own = &self.instance.bind(py).get().0;
        let best = self.best.solution.as_ref().map(|layout| ("exact".to_owned(), pieces(own, layout)));
        let all = self.layouts.iter().map(|(name, layout, _)| (name.clone(), pieces(own, layout)));
        svg(own, &all.chain(best).collect::<Vec<_>>(), self.best.lower_bound.value)
    }

    fn __repr__(&self) -> String {
        let own = self.layouts.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>().join(", ");
        format!("Comparison({own}; lower_bound={})", self.lower_bound())
    }

    fn _repr_svg_(&self, py: Python<'_>) -> String {
        self.svg(py)
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        html(&self.__repr__(), Some(self.svg(py)))
    }
}
