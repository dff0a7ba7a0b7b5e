//! Columns of numbers: lists, or arrays of `NumPy`, which is optional.

use crate::errors::extra;
use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1};
use plimsoll::model::Layout;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Numbers that the module `_columns` has validated.
pub enum Numbers<'py> {
    List(Vec<u64>),
    Array(PyReadonlyArray1<'py, u64>),
}

impl<'py> Numbers<'py> {
    fn of(column: &Bound<'py, PyAny>) -> PyResult<Self> {
        // Without NumPy, a test for an array panics.
        match column.cast::<PyList>() {
            Ok(list) => Ok(Self::List(list.extract()?)),
            Err(_) => Ok(Self::Array(column.cast::<PyArray1<u64>>()?.readonly())),
        }
    }

    pub fn as_slice(&self) -> PyResult<&[u64]> {
        match self {
            Self::List(numbers) => Ok(numbers),
            Self::Array(numbers) => Ok(numbers.as_slice()?),
        }
    }
}

/// The columns of an instance, as returned by the Python function `columns`.
pub struct Columns<'py>(Bound<'py, PyDict>);

impl<'py> Columns<'py> {
    pub fn of(data: &Bound<'py, PyAny>) -> PyResult<Self> {
        let module = data.py().import("plimsoll._columns")?;
        Ok(Self(module.call_method1("columns", (data,))?.cast_into::<PyDict>()?))
    }

    pub fn numbers(&self, name: &str) -> PyResult<Option<Numbers<'py>>> {
        self.0.get_item(name)?.map(|column| Numbers::of(&column)).transpose()
    }

    pub fn required(&self, name: &str) -> PyResult<Numbers<'py>> {
        self.numbers(name)?.ok_or_else(|| PyValueError::new_err(format!("missing column '{name}'")))
    }

    pub fn list<T>(&self, name: &str) -> PyResult<Option<Vec<T>>>
    where
        T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
    {
        self.0.get_item(name)?.map(|column| column.extract()).transpose()
    }
}

/// Reads offsets, one per buffer in the order of the instance.
pub fn layout_of(offsets: &Bound<'_, PyAny>, instance: &plimsoll::model::Instance) -> PyResult<Layout> {
    let module = offsets.py().import("plimsoll._columns")?;
    let numbers = Numbers::of(&module.call_method1("offsets", (offsets, instance.len()))?)?;
    Ok(Layout::from_raw(numbers.as_slice()?.iter().copied()))
}

/// Returns numbers as an array.
///
/// # Errors
/// `ImportError` without `NumPy`.
pub fn array(py: Python<'_>, numbers: impl IntoIterator<Item = u64>) -> PyResult<Bound<'_, PyArray1<u64>>> {
    extra(py, "numpy")?;
    Ok(PyArray1::from_iter(py, numbers))
}

/// Returns the offsets of a layout as an array.
///
/// # Errors
/// `ImportError` without `NumPy`.
pub fn offsets_of<'py>(py: Python<'py>, layout: &Layout) -> PyResult<Bound<'py, PyArray1<u64>>> {
    array(py, layout.offsets().iter().map(|offset| offset.get()))
}
