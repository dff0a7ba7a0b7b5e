//! The class `Instance`: the input of the offset problem.

use crate::columns::{Columns, array, layout_of};
use crate::errors;
use crate::picture::html;
use crate::state::Reduced;
use numpy::PyArray1;
use plimsoll::model::csv::{
    Pins, ReadOptions, read_instance, read_instance_file_noted, write_instance, write_layout,
};
use plimsoll::model::{
    Buffer, Bytes, InstanceBuilder, InstanceProblem, Interval, Layout, Lifespan, load, simple_bound,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

/// A validated, immutable list of buffers with an optional capacity.
///
/// If every buffer has an offset, the offsets are the plan of a planner: they are the second field, and fix
/// nothing in the first.
#[pyclass(frozen, eq, hash, module = "plimsoll")]
#[derive(Debug, PartialEq, Eq)]
pub struct Instance(pub plimsoll::model::Instance, pub Option<Layout>);

impl Hash for Instance {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.name(), self.0.capacity()).hash(state);
        self.0.buffers().iter().for_each(|one| (one.name(), one.size(), one.lifespan()).hash(state));
    }
}

impl Columns<'_> {
    /// Returns all buffers, and their offsets if every buffer has one. Fails at the first invalid buffer,
    /// with its position.
    fn buffers(&self) -> PyResult<(Vec<Buffer>, Option<Layout>)> {
        let mut ids: Option<Vec<String>> = self.list("id")?;
        let gaps: Option<Vec<Vec<(u64, u64)>>> = self.list("gaps")?;
        let fixed: Option<Vec<Option<u64>>> = self.list("offset")?;
        let alignments = self.numbers("alignment")?;
        let (lower, upper, size) = (self.required("lower")?, self.required("upper")?, self.required("size")?);
        let (lower, upper, size) = (lower.as_slice()?, upper.as_slice()?, size.as_slice()?);
        let alignments = alignments.as_ref().map(|numbers| numbers.as_slice()).transpose()?;
        let plan: Option<Vec<u64>> =
            fixed.as_ref().filter(|_| !size.is_empty()).and_then(|fixed| fixed.iter().copied().collect());
        let fixed = fixed.filter(|_| plan.is_none());
        let buffers = (0..size.len())
            .map(|at| {
                let name = ids.as_mut().map_or_else(|| at.to_string(), |ids| std::mem::take(&mut ids[at]));
                let own = gaps.as_ref().map_or(&[][..], |gaps| &gaps[at]);
                let lifespan = lifespan(lower[at], upper[at], own)
                    .map_err(|error| PyValueError::new_err(format!("buffer {at} ('{name}'): {error}")))?;
                let mut buffer = Buffer::new(name, size[at], lifespan);
                if let Some(alignments) = alignments {
                    buffer = buffer.aligned(alignments[at]);
                }
                match fixed.as_ref().and_then(|fixed| fixed[at]) {
                    Some(offset) => Ok(buffer.fixed_at(offset)),
                    None => Ok(buffer),
                }
            })
            .collect::<PyResult<_>>()?;
        Ok((buffers, plan.map(Layout::from_raw)))
    }
}

fn lifespan(lower: u64, upper: u64, gaps: &[(u64, u64)]) -> Result<Lifespan, plimsoll::model::LifespanError> {
    match gaps {
        [] if lower == upper => Ok(Lifespan::empty_at(lower)),
        [] => Lifespan::single(lower, upper),
        gaps => {
            let gaps = gaps.iter().map(|&(lower, upper)| Interval::new(lower, upper));
            Lifespan::with_gaps(Interval::new(lower, upper), gaps)
        }
    }
}

/// The arguments with which pickle restores an instance: name, capacity, CSV, and the plan.
type State = (String, Option<u64>, Vec<u8>, Option<Vec<u64>>);

/// Reads an instance from a CSV file, by default with the capacity in its name (`NAME.CAPACITY.csv`). If
/// every buffer has an offset, the offsets are a plan and fix nothing.
#[pyfunction]
#[pyo3(signature = (path, *, capacity = None))]
pub fn read_csv(py: Python<'_>, path: PathBuf, capacity: Option<u64>) -> PyResult<Instance> {
    let (capacity, pins) = (capacity.map(Bytes::new), Pins::UnlessPlan);
    let options = ReadOptions { capacity, pins, ..ReadOptions::default() };
    let read = py.detach(|| read_instance_file_noted(&path, options));
    read.map(|read| Instance(read.value, read.plan)).map_err(|error| errors::csv(py, &error))
}

#[pymethods]
impl Instance {
    #[new]
    #[pyo3(signature = (buffers, *, capacity = None, name = "instance", separations = Vec::new(), exclusions = Vec::new(), above = Vec::new()))]
    fn new(
        buffers: &Bound<'_, PyAny>,
        capacity: Option<u64>,
        name: &str,
        separations: Vec<(usize, usize)>,
        exclusions: Vec<(usize, usize)>,
        above: Vec<(usize, usize, u64)>,
    ) -> PyResult<Self> {
        let (buffers, plan) = Columns::of(buffers)?.buffers()?;
        let builder = InstanceBuilder::new(name).buffers(buffers).capacity(capacity.map(Bytes::new));
        let builder = separations.into_iter().fold(builder, |builder, (a, b)| builder.separate(a, b));
        let builder = exclusions.into_iter().fold(builder, |builder, (a, b)| builder.exclude(a, b));
        let place = |builder: InstanceBuilder, (upper, lower, bytes)| builder.above(upper, lower, bytes);
        let builder = above.into_iter().fold(builder, place);
        builder.build().map(|instance| Self(instance, plan)).map_err(|error| {
            let place = error.buffers().first().map(|id| format!("buffer {}: ", id.index()));
            PyValueError::new_err(format!("{}{error}", place.unwrap_or_default()))
        })
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        let capacity = self.0.capacity().map_or_else(String::new, |bytes| format!(", capacity={bytes}"));
        let pinned = self.0.buffers().iter().filter(|buffer| buffer.fixed().is_some()).count();
        let offsets = match &self.1 {
            Some(plan) => format!(", plan with peak={}", plan.peak(&self.0)),
            None if pinned > 0 => format!(", pinned={pinned}"),
            None => String::new(),
        };
        let (name, buffers, load) = (self.0.name(), self.0.len(), self.load());
        format!("Instance('{name}', {buffers} buffers, load={load}{capacity}{offsets})")
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn capacity(&self) -> Option<u64> {
        self.0.capacity().map(Bytes::get)
    }

    #[getter]
    fn load(&self) -> u64 {
        load(&self.0).0.get()
    }

    #[getter]
    fn ids(&self) -> Vec<&str> {
        self.0.buffers().iter().map(Buffer::name).collect()
    }

    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        self.column(py, |buffer| buffer.lifespan().hull().lower.get())
    }

    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        self.column(py, |buffer| buffer.lifespan().hull().upper.get())
    }

    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        self.column(py, |buffer| buffer.size().get())
    }

    #[getter]
    fn alignment<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        self.column(py, |buffer| buffer.alignment().get())
    }

    /// Returns the offset of each buffer: fixed, or that of the plan if every buffer has one.
    #[getter]
    fn offsets(&self) -> Vec<Option<u64>> {
        let fixed = self.0.buffers().iter().map(|buffer| buffer.fixed().map(Bytes::get));
        match &self.1 {
            Some(plan) => plan.offsets().iter().map(|offset| Some(offset.get())).collect(),
            None => fixed.collect(),
        }
    }

    /// Returns one dictionary per buffer, with the columns that the constructor accepts.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let row = |(buffer, offset): (&Buffer, Option<u64>)| {
            let (row, hull) = (PyDict::new(py), buffer.lifespan().hull());
            let gaps = buffer.lifespan().intervals().windows(2);
            let gaps: Vec<_> = gaps.map(|pair| (pair[0].upper.get(), pair[1].lower.get())).collect();
            row.set_item("id", buffer.name())?;
            row.set_item("lower", hull.lower.get())?;
            row.set_item("upper", hull.upper.get())?;
            row.set_item("size", buffer.size().get())?;
            row.set_item("alignment", buffer.alignment().get())?;
            row.set_item("offset", offset)?;
            row.set_item("gaps", gaps)?;
            Ok(row)
        };
        let rows = self.0.buffers().iter().zip(self.offsets()).map(row);
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the triples `(upper, lower, distance)` of buffers that lie at given distances above others.
    #[getter]
    fn above(&self) -> Vec<(u32, u32, u64)> {
        let stated = |upper| {
            let (lower, distance) = self.0.above(upper)?;
            Some((upper.get(), lower.get(), distance.get()))
        };
        self.0.ids().filter_map(stated).collect()
    }

    /// Returns the same instance without offsets.
    fn without_offsets(&self) -> Self {
        Self(self.0.clone().freed(), None)
    }

    /// Returns the lower bound on the peak, in bytes, that follows from load, alignments and fixed offsets.
    fn lower_bound(&self) -> u64 {
        simple_bound(&self.0).value.get()
    }

    /// Returns the same instance with another capacity.
    pub fn with_capacity(&self, capacity: Option<u64>) -> Self {
        Self(self.0.clone().with_capacity(capacity.map(Bytes::new)), self.1.clone())
    }

    /// Checks offsets and returns one message per violation. An empty list means that the offsets are valid.
    fn violations(&self, py: Python<'_>, offsets: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let layout = layout_of(offsets, &self.0)?;
        let found =
            py.detach(|| <plimsoll::model::Offsets as plimsoll::model::Problem>::check(&self.0, &layout));
        Ok(found.iter().map(ToString::to_string).collect())
    }

    /// Returns the highest end of a buffer at these offsets, in bytes.
    fn peak(&self, offsets: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(layout_of(offsets, &self.0)?.peak(&self.0).get())
    }

    /// Returns the instance as CSV.
    fn to_csv(&self) -> PyResult<String> {
        let mut bytes = Vec::new();
        match &self.1 {
            Some(plan) => write_layout(&self.0, plan, &mut bytes)?,
            None => write_instance(&self.0, &mut bytes)?,
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, State>> {
        let mut bytes = Vec::new();
        write_instance(&self.0, &mut bytes)?;
        let plan = self.1.as_ref().map(|plan| plan.offsets().iter().map(|offset| offset.get()).collect());
        let state = (self.0.name().to_owned(), self.capacity(), bytes, plan);
        Ok((py.get_type::<Self>().getattr("_restored")?, state))
    }

    /// Returns the instance from which `__reduce__` derived its arguments.
    #[classmethod]
    fn _restored(
        _: &Bound<'_, PyType>,
        name: &str,
        capacity: Option<u64>,
        csv: &[u8],
        plan: Option<Vec<u64>>,
    ) -> PyResult<Self> {
        let instance = read_instance(name, csv, ReadOptions::default());
        let instance = instance.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let instance = instance.with_name(name).with_capacity(capacity.map(Bytes::new));
        Ok(Self(instance, plan.map(Layout::from_raw)))
    }

    fn _repr_html_(&self) -> String {
        html(&self.__repr__(), None)
    }
}

impl Instance {
    fn column<'py>(
        &self,
        py: Python<'py>,
        value: impl Fn(&Buffer) -> u64,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        array(py, self.0.buffers().iter().map(value))
    }
}

/// Returns the address ranges of a layout, for a memory map.
pub fn pieces(instance: &plimsoll::model::Instance, layout: &Layout) -> Vec<Vec<plimsoll::model::Piece>> {
    plimsoll::model::Offsets::pieces(instance, layout)
}

/// Returns one dictionary per buffer: its id, lifespan, size, and offset. Without a layout, offsets are None.
pub fn placed<'py>(
    py: Python<'py>,
    instance: &plimsoll::model::Instance,
    layout: Option<&Layout>,
) -> PyResult<Bound<'py, PyList>> {
    let row = |(at, buffer): (usize, &Buffer)| {
        let (row, hull) = (PyDict::new(py), buffer.lifespan().hull());
        row.set_item("id", buffer.name())?;
        row.set_item("lower", hull.lower.get())?;
        row.set_item("upper", hull.upper.get())?;
        row.set_item("size", buffer.size().get())?;
        row.set_item("offset", layout.map(|layout| layout.offsets()[at].get()))?;
        Ok(row)
    };
    let rows = instance.buffers().iter().enumerate().map(row);
    PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}
