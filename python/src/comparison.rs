//! Layouts compared with the optimum, and the function `compare`.

use crate::attended::attended;
use crate::columns::layout_of;
use crate::errors::{self, extra};
use crate::graph::engine;
use crate::instance::{Instance, pieces};
use crate::picture::{html, svg};
use crate::solution::instance_of;
use crate::state::{Reduced, pickled, restored};
use plimsoll::model::{Bytes, Layout, Offsets, Outcome, Problem as _, Violation, gap_percent};
use plimsoll::verdict;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use std::sync::mpsc::Sender;

/// Layouts of one instance, compared with the best lower bound.
#[pyclass(frozen, module = "plimsoll")]
pub struct Comparison {
    instance: Py<Instance>,
    best: Outcome<Offsets>,
    layouts: Vec<(String, Layout, Vec<Violation>)>,
}

/// The arguments with which pickle restores a comparison: instance, layouts, and the best answer.
type State = (Py<Instance>, Vec<(String, Vec<u64>)>, String);

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
    let engine = engine(time_limit, seed, threads)?;
    let unlimited = own.clone().with_capacity(None);
    let best = attended(py, |_: Sender<()>| engine.solve(&unlimited), |()| Ok(()))?;
    let best = best.map_err(|error| errors::engine(&error))?;
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
            row.set_item("name", name)?;
            row.set_item("peak", peak.get())?;
            row.set_item("gap_bytes", peak.get().saturating_sub(bound.get()))?;
            row.set_item("gap", gap_percent(peak.get(), bound.get()).map(|percent| percent / 100.0))?;
            row.set_item("verdict", verdict(violations, peak, bound, known))?;
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
        extra(py, "pandas")?.call_method1("DataFrame", (self.rows(py)?,))
    }

    /// Returns the memory maps of all layouts side by side as one SVG picture. The best layout found comes
    /// last.
    fn svg(&self, py: Python<'_>) -> String {
        let own = &self.instance.bind(py).get().0;
        let best = self.best.solution.as_ref().map(|layout| ("exact".to_owned(), pieces(own, layout)));
        let all = self.layouts.iter().map(|(name, layout, _)| (name.clone(), pieces(own, layout)));
        svg(own, &all.chain(best).collect::<Vec<_>>(), self.best.lower_bound.value)
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> bool {
        let Outcome { claim, solution, lower_bound, .. } = &self.best;
        self.instance.bind(py).get() == other.instance.bind(py).get()
            && self.layouts == other.layouts
            && (claim, solution, lower_bound)
                == (&other.best.claim, &other.best.solution, &other.best.lower_bound)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (&self.instance, self.layouts.len(), self.lower_bound()).into_pyobject(py)?.hash()
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, State>> {
        let raw = |layout: &Layout| layout.offsets().iter().map(|offset| offset.get()).collect();
        let layouts = self.layouts.iter().map(|(name, layout, _)| (name.clone(), raw(layout)));
        let state = (self.instance.clone_ref(py), layouts.collect(), pickled(&self.best)?);
        Ok((py.get_type::<Self>().getattr("_restored")?, state))
    }

    /// Returns the comparison from which `__reduce__` derived its arguments.
    #[classmethod]
    fn _restored(
        _: &Bound<'_, PyType>,
        instance: Bound<'_, Instance>,
        layouts: Vec<(String, Vec<u64>)>,
        best: &str,
    ) -> PyResult<Self> {
        let own = &instance.get().0;
        let best = restored(best, &own.clone().with_capacity(None))?;
        let checked = |(name, raw)| {
            let layout = Layout::from_raw(raw);
            let violations = Offsets::check(own, &layout);
            (name, layout, violations)
        };
        let layouts = layouts.into_iter().map(checked).collect();
        Ok(Self { instance: instance.unbind(), best, layouts })
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
