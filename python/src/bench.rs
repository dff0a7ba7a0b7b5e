//! Benchmarks of built-in algorithms and of Python functions, with records in the format of the command
//! `bench`.

use crate::attended::attended;
use crate::instance::{Instance, layout_of};
use crate::solution::{instance_of, number_of_threads, time};
use plimsoll::model::{
    Budget, Entry, Kind, Observer, Offsets, Outcome, Problem as _, SolveError, Solver, Stats, Stop,
    simple_bound,
};
use plimsoll::posed::Subject;
use plimsoll_lab::attempt::Named;
use plimsoll_lab::machine::Machine;
use plimsoll_lab::record::{Columns, Extras, Record, settle};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::sync::mpsc::Sender;

/// Returns the algorithms for offsets as dictionaries with name, kind, description and source.
#[pyfunction]
pub fn algorithms(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in plimsoll::registry().offsets {
        let row = PyDict::new(py);
        row.set_item("name", entry.name)?;
        row.set_item("kind", entry.kind.to_string())?;
        row.set_item("about", entry.about)?;
        row.set_item("source", entry.source)?;
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

/// Registers a function under its name. The entry lives as long as the process.
fn register(
    registry: &mut plimsoll::Registry,
    function: &Bound<'_, PyAny>,
    time_limit: Option<f64>,
) -> PyResult<String> {
    let name: String = match function.getattr("__name__") {
        Ok(name) => name.extract()?,
        Err(_) => function.get_type().name()?.to_string(),
    };
    let leaked: &'static str = name.clone().leak();
    let owned = function.clone().unbind();
    let entry = Entry::new(name.as_str(), Kind::Heuristic, "a Python function", "the caller", move |_| {
        Python::attach(|py| Function { name: leaked, callable: owned.clone_ref(py), time_limit })
    });
    registry.register::<Offsets>(entry).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(name)
}

/// Runs algorithms on instances. Returns records in the format of the command `bench`, as CSV.
#[pyfunction]
#[pyo3(signature = (instances, algorithms, *, time_limit = Some(10.0), seed = 0, threads = 1),
    text_signature = "(instances, algorithms, *, time_limit=10.0, seed=0, threads=1)")]
pub fn bench(
    py: Python<'_>,
    instances: &Bound<'_, PyAny>,
    algorithms: Vec<Bound<'_, PyAny>>,
    time_limit: Option<f64>,
    seed: u64,
    threads: usize,
) -> PyResult<String> {
    let (_, threads) = (time(time_limit)?, number_of_threads(threads)?);
    let mut registry = plimsoll::registry();
    let mut names = Vec::new();
    for algorithm in &algorithms {
        names.push(match algorithm.cast::<PyString>() {
            Ok(name) => name.to_string(),
            Err(_) => register(&mut registry, algorithm, time_limit)?,
        });
    }
    if let Some(name) = names.iter().find(|name| registry.named::<Offsets>(name).is_none()) {
        return Err(PyValueError::new_err(format!("unknown algorithm '{name}'; see plimsoll.algorithms()")));
    }
    let mut subjects = Vec::new();
    for one in instances.try_iter()? {
        let instance = instance_of(&one?, None)?;
        subjects.push(Subject::Instance(instance.bind(py).get().0.clone()));
    }
    let machine = Machine::here();
    let work = |_: Sender<()>| {
        let mut records = Vec::new();
        for subject in &subjects {
            let first = records.len();
            for name in &names {
                let asked = Record {
                    problem: Offsets::NAME.to_owned(),
                    algorithm: name.clone(),
                    time_limit,
                    seed,
                    threads,
                    ..Record::on(&machine).about("python", subject, &plimsoll_lab::suite::sha256(subject))
                };
                let named =
                    Named { registry: &registry, subject, asked, extras: Extras::default(), keep: None };
                records.push(named.attempt());
            }
            let floor = match subject {
                Subject::Instance(instance) => Some(simple_bound(instance).value.get()),
                Subject::Graph(_) => None,
            };
            settle(&mut records[first..], floor);
        }
        records
    };
    let records = attended(py, work, |()| Ok(()))?;
    Ok(Columns::all().file(&records))
}
