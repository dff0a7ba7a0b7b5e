//! States of objects, for pickle.

use plimsoll::model::{Instance, Layout, LowerBound, Offsets, Outcome, Stats, Stop};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// The result of `__reduce__`: a function, and the arguments with which pickle calls it.
pub type Reduced<'py, T> = (Bound<'py, PyAny>, T);

/// The parts of an outcome from which the others follow.
#[derive(Serialize, Deserialize)]
struct State {
    offsets: Option<Vec<u64>>,
    bound: LowerBound,
    stop: Stop,
    stats: Stats,
}

/// Returns an outcome as JSON.
pub fn pickled(outcome: &Outcome<Offsets>) -> PyResult<String> {
    let raw = |layout: &Layout| layout.offsets().iter().map(|offset| offset.get()).collect();
    let state = State {
        offsets: outcome.solution.as_ref().map(raw),
        bound: outcome.lower_bound.clone(),
        stop: outcome.stop,
        stats: outcome.stats.clone(),
    };
    serde_json::to_string(&state).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the outcome that [`pickled`] wrote.
pub fn restored(text: &str, instance: &Instance) -> PyResult<Outcome<Offsets>> {
    let State { offsets, bound, stop, stats } =
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Outcome::of(instance, offsets.map(Layout::from_raw), bound, stop, stats))
}
