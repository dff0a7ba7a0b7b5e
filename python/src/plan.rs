//! Memory plans of graphs.

use crate::columns::offsets_of;
use crate::instance::{Instance, pieces, placed};
use crate::picture::{html, svg};
use crate::state::Reduced;
use plimsoll::MemoryPlan;
use plimsoll::model::{Bytes, Claim, Layout};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};

/// The parts of a memory plan that do not refer to the graph.
#[derive(PartialEq)]
pub struct Found {
    layout: Layout,
    peak: Bytes,
    bound: Bytes,
    witness: String,
    joint_bound: Bytes,
    joint_witness: String,
}

impl From<MemoryPlan<'_>> for Found {
    fn from(plan: MemoryPlan<'_>) -> Self {
        let MemoryPlan { plan, joint_bound, joint_witness, .. } = plan;
        let (layout, peak, bound, witness) = (plan.layout, plan.peak, plan.bound, plan.witness);
        Self { layout, peak, bound, witness, joint_bound, joint_witness }
    }
}

/// The arguments with which pickle restores a plan: instance, offsets, peak, and the bounds with their reasons.
type State = (Py<Instance>, Vec<u64>, u64, (u64, String, u64, String));

/// The memory plan of a graph, checked by simulated execution.
#[pyclass(frozen, module = "plimsoll")]
pub struct Plan {
    pub instance: Py<Instance>,
    pub found: Found,
}

#[pymethods]
impl Plan {
    #[getter]
    fn instance(&self, py: Python<'_>) -> Py<Instance> {
        self.instance.clone_ref(py)
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, numpy::PyArray1<u64>>> {
        offsets_of(py, &self.found.layout)
    }

    #[getter]
    fn peak(&self) -> u64 {
        self.found.peak.get()
    }

    #[getter]
    fn lower_bound(&self) -> u64 {
        self.found.bound.get()
    }

    #[getter]
    fn witness(&self) -> &str {
        &self.found.witness
    }

    #[getter]
    fn status(&self) -> &'static str {
        Claim::of_solution(self.found.peak == self.found.bound).as_str()
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
        if self.found.peak <= capacity {
            return Some(true);
        }
        (self.found.joint_bound > capacity).then_some(false)
    }

    /// Returns one dictionary per buffer: its id, lifespan, size and offset.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        placed(py, &self.instance.bind(py).get().0, Some(&self.found.layout))
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> bool {
        self.instance.bind(py).get() == other.instance.bind(py).get() && self.found == other.found
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (&self.instance, self.peak(), self.lower_bound()).into_pyobject(py)?.hash()
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, State>> {
        let Found { layout, peak, bound, witness, joint_bound, joint_witness } = &self.found;
        let offsets = layout.offsets().iter().map(|offset| offset.get()).collect();
        let bounds = (bound.get(), witness.clone(), joint_bound.get(), joint_witness.clone());
        let state = (self.instance(py), offsets, peak.get(), bounds);
        Ok((py.get_type::<Self>().getattr("_restored")?, state))
    }

    /// Returns the plan from which `__reduce__` derived its arguments.
    #[classmethod]
    fn _restored(
        _: &Bound<'_, PyType>,
        instance: Py<Instance>,
        offsets: Vec<u64>,
        peak: u64,
        bounds: (u64, String, u64, String),
    ) -> Self {
        let (bound, witness, joint_bound, joint_witness) = bounds;
        let (layout, peak, bound) = (Layout::from_raw(offsets), Bytes::new(peak), Bytes::new(bound));
        let joint_bound = Bytes::new(joint_bound);
        Self { instance, found: Found { layout, peak, bound, witness, joint_bound, joint_witness } }
    }

    fn __repr__(&self) -> String {
        format!("Plan({}, peak={}, lower_bound={})", self.status(), self.peak(), self.lower_bound())
    }

    /// Returns the memory map of the plan as SVG.
    fn svg(&self, py: Python<'_>) -> String {
        let own = &self.instance.bind(py).get().0;
        svg(own, &[("plan".to_owned(), pieces(own, &self.found.layout))], self.found.bound)
    }

    fn _repr_svg_(&self, py: Python<'_>) -> String {
        self.svg(py)
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        html(&self.__repr__(), Some(self.svg(py)))
    }
}
