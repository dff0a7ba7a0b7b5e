//! The function `spill`: which buffers leave on-chip memory if they do not all fit.

use crate::attended::attended;
use crate::errors;
use crate::graph::engine;
use crate::solution::instance_of;
use plimsoll::model::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::mpsc::Sender;

/// Chooses the buffers to spill so that the others fit into the capacity, with the least traffic. Returns a
/// dictionary with the ids of the spilled buffers, the offsets of the others, the traffic and its lower bound in
/// bytes, the reason for the bound, the status and the termination.
#[pyfunction]
#[pyo3(signature = (instance, *, capacity = None, time_limit = None, seed = 0, threads = 1))]
pub fn spill<'py>(
    py: Python<'py>,
    instance: &Bound<'py, PyAny>,
    capacity: Option<u64>,
    time_limit: Option<f64>,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let instance = instance_of(instance, capacity)?;
    let own = &instance.bind(py).get().0;
    let engine = engine(time_limit, seed, threads)?;
    let outcome = attended(py, |_: Sender<()>| engine.spill(own), |()| Ok(()))?;
    let outcome = outcome.map_err(|error| errors::engine(&error))?;
    let found = outcome.solution.as_ref();
    let spilled = found.map(|found| found.spilled().map(|id| own.buffer(id).name()).collect::<Vec<_>>());
    let offset = |offset: &Option<Bytes>| offset.map(Bytes::get);
    let result = PyDict::new(py);
    result.set_item("spilled", spilled)?;
    result.set_item("offsets", found.map(|found| found.offsets().iter().map(offset).collect::<Vec<_>>()))?;
    result.set_item("traffic", outcome.value.map(Bytes::get))?;
    result.set_item("lower_bound", outcome.lower_bound.value.get())?;
    result.set_item("witness", outcome.lower_bound.witness.in_words(own))?;
    result.set_item("status", outcome.claim.as_str())?;
    result.set_item("termination", outcome.stop.as_str())?;
    Ok(result)
}
