//! Benchmarks of built-in algorithms and of Python functions, with the rows of the command `bench`, and reports
//! on such rows.

use crate::attended::attended;
use crate::columns::layout_of;
use crate::errors;
use crate::instance::Instance;
use crate::solution::{instance_of, number_of_threads, time, unknown};
use plimsoll::model::{
    Budget, Entry, Kind, Observer, Offsets, Outcome, Setup, SolveError, Solver, Stats, Stop, simple_bound,
};
use plimsoll::run::Limits;
use plimsoll_lab::analysis::{AnalysisError, Options, find, study};
use plimsoll_lab::executor::rows;
use plimsoll_lab::experiment::{Experiment, Input, Task};
use plimsoll_lab::report::html::{Page, page};
use plimsoll_lab::report::plots::plots;
use plimsoll_lab::report::times::SHIFT;
use plimsoll_lab::row::Columns;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyString};
use std::path::PathBuf;
use std::sync::mpsc::Sender;

/// Returns the algorithms for offsets as dictionaries with name, kind, description, source and parameters.
#[pyfunction]
pub fn algorithms(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in plimsoll::registry().offsets {
        let row = PyDict::new(py);
        row.set_item("name", entry.name)?;
        row.set_item("kind", entry.kind.to_string())?;
        row.set_item("about", entry.about)?;
        row.set_item("source", entry.source)?;
        let parameters = entry.parameters().into_iter().map(|one| (one.name, one.about));
        row.set_item("parameters", parameters.into_py_dict(py)?)?;
        list.append(row)?;
    }
    Ok(list)
}

/// An algorithm implemented by a Python function. The function receives the instance and returns one offset
/// per buffer.
struct Function {
    name: &'static str,
    callable: Py<PyAny>,
    /// The time limit in seconds.
    time_limit: Option<f64>,
}

impl Solver<Offsets> for Function {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solve(
        &self,
        instance: &plimsoll::model::Instance,
        _: &mut Budget,
        _: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        let layout = Python::attach(|py| {
            let own = Py::new(py, Instance(instance.clone(), None))?;
            let limits = py.import("plimsoll._limits")?;
            let offsets = limits.call_method1("call", (self.callable.bind(py), own, self.time_limit))?;
            layout_of(&offsets, instance)
        });
        let layout =
            layout.map_err(|error| SolveError::Internal { solver: self.name, reason: error.to_string() })?;
        let (stop, stats) = (Stop::Completed, Stats::default());
        Ok(Outcome::of(instance, Some(layout), simple_bound(instance), stop, stats))
    }
}

/// Registers a function under its name. If an earlier function has the same name, such as `<lambda>`, a number
/// follows. The entry lives as long as the process.
fn register(
    registry: &mut plimsoll::Registry,
    function: &Bound<'_, PyAny>,
    time_limit: Option<f64>,
) -> PyResult<String> {
    let own: String = match function.getattr("__name__") {
        Ok(name) => name.extract()?,
        Err(_) => function.get_type().name()?.to_string(),
    };
    if plimsoll::registry().find::<Offsets>(&own).is_ok() {
        return Err(PyValueError::new_err(format!(
            "the function '{own}' has the name of a built-in algorithm; set its __name__ to another name"
        )));
    }
    let mut name = own.clone();
    for nth in 2.. {
        if registry.offsets.iter().all(|entry| entry.name != name) {
            break;
        }
        name = format!("{own}-{nth}");
    }
    let leaked: &'static str = name.clone().leak();
    let owned = function.clone().unbind();
    let entry = Entry::new(leaked, Kind::Heuristic, "a Python function", "the caller", move |_| {
        Python::attach(|py| Function { name: leaked, callable: owned.clone_ref(py), time_limit })
    });
    registry.register::<Offsets>(entry).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(name)
}

/// Runs algorithms on instances. Returns one dictionary per run, with the columns of the command `bench`.
#[pyfunction]
#[pyo3(signature = (instances, algorithms, *, time_limit = Some(10.0), seed = 0, threads = 1),
    text_signature = "(instances, algorithms, *, time_limit=10.0, seed=0, threads=1)")]
pub fn bench<'py>(
    py: Python<'py>,
    instances: &Bound<'_, PyAny>,
    algorithms: Vec<Bound<'_, PyAny>>,
    time_limit: Option<f64>,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let (limit, threads) = (time(time_limit)?, number_of_threads(threads)?);
    let mut registry = plimsoll::registry();
    let setup = Setup { seed, threads, ..Setup::default() };
    let limits = Limits { time: limit, ..Limits::default() };
    let mut tasks = Vec::new();
    for algorithm in &algorithms {
        let name = match algorithm.cast::<PyString>() {
            Ok(name) => name.to_string(),
            Err(_) => register(&mut registry, algorithm, time_limit)?,
        };
        let entry = registry.find::<Offsets>(&name).map_err(|error| unknown(&error))?;
        tasks.push(Task::of(entry, setup, limits));
    }
    let mut inputs = Vec::new();
    for one in instances.try_iter()? {
        let instance = instance_of(&one?, None)?;
        inputs.push(Input::of("python", instance.bind(py).get().0.clone().into()));
    }
    let experiment = Experiment::new("bench", inputs, tasks);
    let rows = attended(py, |_: Sender<()>| rows(&experiment, &registry), |()| Ok(()))?;
    let text = serde_json::to_string(&rows).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let read = py.import("plimsoll._records")?.call_method1("read", (text,))?;
    let columns = Columns::all();
    let kept = PyList::empty(py);
    for row in read.try_iter()? {
        let (row, own) = (row?, PyDict::new(py));
        for name in columns.names() {
            own.set_item(name, row.get_item(name)?)?;
        }
        kept.append(own)?;
    }
    Ok(kept)
}

/// Analyses records, and returns the report as HTML.
#[pyfunction]
pub fn report(py: Python<'_>, paths: Vec<PathBuf>, title: &str) -> PyResult<String> {
    let options = Options { shift: SHIFT, ..Options::default() };
    let written = py.detach(|| {
        let studies = study(find(&paths)?, options);
        Ok(page(&Page { title, studies: &studies, plots: &plots(&studies), options }))
    });
    written.map_err(|error: AnalysisError| errors::analysis(py, &error))
}
