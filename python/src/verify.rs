//! Checks of given answers: layouts, certificates and plans of other planners.

use crate::attended::attended;
use crate::columns::layout_of;
use crate::errors;
use crate::graph::engine;
use crate::instance::Instance;
use crate::solution::instance_of;
use plimsoll::datasets::captures::{Capture, capture_format, read_captures};
use plimsoll::datasets::{ModelFile, ModelFormat};
use plimsoll::model::csv::{Pins, ReadOptions, read_instance_file_noted};
use plimsoll::model::{
    BoundError, Bytes, Certificate, CertificateError, LowerBound, Offsets, Problem as _, Violation, Witness,
    gap_percent,
};
use plimsoll::{Engine, EngineError, verdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

/// Checks a layout, and the certificate of an answer. Returns a dictionary with the validity of the layout, its
/// peak, the violations, the standing of the certificate, and the reason if it is not confirmed.
#[pyfunction]
#[pyo3(signature = (instance, offsets = None, *, certificate = None))]
pub fn verify<'py>(
    py: Python<'py>,
    instance: &Bound<'py, PyAny>,
    offsets: Option<&Bound<'py, PyAny>>,
    certificate: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let instance = instance_of(instance, None)?;
    let Instance(own, plan) = instance.bind(py).get();
    let layout = offsets.map(|offsets| layout_of(offsets, own)).transpose()?.or_else(|| plan.clone());
    let read = |text| Certificate::from_json(text).map_err(|error| PyValueError::new_err(error.to_string()));
    let certificate = certificate.map(read).transpose()?;
    let violations = layout.as_ref().map(|layout| py.detach(|| Offsets::check(own, layout)));
    let peak = layout.as_ref().map(|layout| layout.peak(own));
    let standing = match (&certificate, peak) {
        (None, None) => {
            let text = "neither offsets nor a certificate are given, and the instance contains no plan";
            return Err(PyValueError::new_err(text));
        }
        (Some(Certificate { peak: Some(peak), .. }), None) => {
            let text = format!("the certificate is for a layout with peak {peak}, so offsets are required");
            return Err(PyValueError::new_err(text));
        }
        (Some(certificate), _) => Some(match certificate.verify(own, peak) {
            Ok(()) => ("confirmed", None),
            Err(error @ CertificateError::Bound(BoundError::NotCheckable(_))) => {
                ("rests-on-search", Some(error.to_string()))
            }
            Err(error) => ("refused", Some(error.to_string())),
        }),
        (None, Some(_)) => None,
    };
    let result = PyDict::new(py);
    result.set_item("valid", violations.as_ref().map(Vec::is_empty))?;
    result.set_item("peak", peak.map(Bytes::get))?;
    result
        .set_item("violations", violations.iter().flatten().map(ToString::to_string).collect::<Vec<_>>())?;
    let (standing, reason) = standing.unzip();
    result.set_item("certificate", standing)?;
    result.set_item("reason", reason.flatten())?;
    Ok(result)
}

/// Compares the plans in a file with the lowest possible peak. Returns one dictionary per plan: the instance,
/// the planner, its peak, the lower bound, the gap in bytes and as a fraction, the verdict and the violations.
#[pyfunction]
#[pyo3(signature = (path, *, time_limit = Some(1.0), seed = 0, threads = 1),
    text_signature = "(path, *, time_limit=1.0, seed=0, threads=1)")]
pub fn audit(
    py: Python<'_>,
    path: PathBuf,
    time_limit: Option<f64>,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'_, PyList>> {
    let engine = engine(time_limit, seed, threads)?;
    let rows = PyList::empty(py);
    for capture in captures(py, &path)? {
        let audited = attended(py, |_: Sender<()>| Audited::of(&engine, &capture), |()| Ok(()))?;
        let audited = audited.map_err(|error| errors::engine(&error))?;
        rows.append(audited.row(py, capture)?)?;
    }
    Ok(rows)
}

/// Reads the plans of other planners in a file.
fn captures(py: Python<'_>, path: &Path) -> PyResult<Vec<Capture>> {
    let nothing = || PyValueError::new_err(format!("{}: the file contains no plan", path.display()));
    let name = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if capture_format(path).map_err(|error| errors::capture(py, &error))?.is_some() {
        let mut read = read_captures(path).map_err(|error| errors::capture(py, &error))?;
        read.retain(|capture| capture.peak.is_some() || capture.layout.is_some());
        return if read.is_empty() { Err(nothing()) } else { Ok(read) };
    }
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tflite")) {
        let bytes = std::fs::read(path).map_err(|error| errors::of_system(py, &error, path))?;
        let planned = ModelFile::new(path, ModelFormat::TfLite, bytes).capture();
        return Ok(vec![planned.map_err(|error| errors::import(py, &error))?.ok_or_else(nothing)?]);
    }
    let options = ReadOptions { pins: Pins::UnlessPlan, ..ReadOptions::default() };
    let read = read_instance_file_noted(path, options).map_err(|error| errors::csv(py, &error))?;
    let layout = Some(read.plan.ok_or_else(nothing)?);
    Ok(vec![Capture { planner: name(), instance: read.value, layout, peak: None }])
}

/// The result of comparing a plan with the lowest possible peak.
struct Audited {
    peak: Bytes,
    bound: LowerBound,
    /// Whether the bound is the lowest peak.
    is_known: bool,
    violations: Vec<Violation>,
}

impl Audited {
    /// Checks a plan. If its peak exceeds the bound that needs no search, searches for the lowest peak. The
    /// capacity does not limit the search.
    fn of(engine: &Engine, capture: &Capture) -> Result<Self, EngineError> {
        let (instance, layout) = (&capture.instance, capture.layout.as_ref());
        let peak = capture.peak.or_else(|| Some(layout?.peak(instance))).unwrap_or_default();
        let violations = layout.map(|layout| Offsets::check(instance, layout)).unwrap_or_default();
        let bound = Offsets::floor(instance);
        if peak <= bound.value {
            return Ok(Self { peak, bound, is_known: false, violations });
        }
        let best = engine.solve(&instance.clone().with_capacity(None))?;
        let is_known = best.value == Some(best.lower_bound.value);
        Ok(Self { peak, bound: best.lower_bound, is_known, violations })
    }

    fn verdict(&self) -> &'static str {
        if self.violations.is_empty() && matches!(self.bound.witness, Witness::Contradiction { .. }) {
            return "impossible";
        }
        verdict(&self.violations, self.peak, self.bound.value, self.is_known)
    }

    fn row(self, py: Python<'_>, capture: Capture) -> PyResult<Bound<'_, PyDict>> {
        let Capture { planner, instance, layout, .. } = capture;
        let (peak, bound) = (self.peak.get(), self.bound.value.get());
        let row = PyDict::new(py);
        row.set_item("instance", Py::new(py, Instance(instance, layout))?)?;
        row.set_item("planner", planner)?;
        row.set_item("peak", peak)?;
        row.set_item("lower_bound", bound)?;
        row.set_item("gap_bytes", peak.cast_signed() - bound.cast_signed())?;
        row.set_item("gap", gap_percent(peak, bound).map(|percent| percent / 100.0))?;
        row.set_item("verdict", self.verdict())?;
        row.set_item("violations", self.violations.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        Ok(row)
    }
}
