//! Bodies of the fuzz targets. They check that no reader panics, and that a round trip of writing and reading
//! preserves everything that was read.
//!
//! The targets in `fuzz/` and the smoke test share these functions, so regular tests also run them.

use crate::captures::{Capture, CaptureFormat, read_capture, read_xla};
use crate::dsa::{read_dsa, write_dsa};
use crate::import::ImportOptions;
use crate::model_file::read_onnx;
use plimsoll_model::csv::{ReadOptions, read_instance, read_layout, write_instance, write_layout};
use plimsoll_model::graph::{Graph, LivenessOptions, read_graph, write_graph};
use plimsoll_model::{
    Buffer, Bytes, Certificate, Instance, InstanceBuilder, Layout, Lifespan, RegionId, check_layout, load,
};
use plimsoll_support::contents::Contents;
use std::path::Path;

/// Reads an instance and checks the round trip.
///
/// # Panics
/// If the load exceeds the upper bound on the peak, or if the written instance reads back differently.
pub fn instance_csv(data: &[u8]) {
    let Ok(instance) = read_instance("fuzz", data, ReadOptions::default()) else { return };
    assert!(load(&instance).0 <= instance.ceiling());
    let mut written = Vec::new();
    write_instance(&instance, &mut written).expect("ids that were read can be written");
    let again = read_instance("fuzz", written.as_slice(), ReadOptions::default());
    assert_eq!(again.expect("what was written is valid"), instance);
}

/// Unpacks a compressed file, and reads the result as C source.
///
/// # Panics
/// If the contents exceed the limit.
pub fn containers(data: &[u8]) {
    const LIMIT: u64 = 1 << 16;
    let read = Contents::of(Path::new("fuzz"), data.to_vec(), LIMIT);
    if let Ok(contents) = read {
        assert!(contents.bytes.len() as u64 <= LIMIT || contents.bytes == data);
        let _ = crate::c_array::model(&contents.bytes);
    }
}

/// Returns the instance that fuzzed layouts and certificates refer to.
pub fn fuzz_instance() -> Instance {
    let buffer = |name: &str, size: u64, lower: u64, upper: u64| {
        Buffer::new(name, size, Lifespan::single(lower, upper).expect("upper exceeds lower"))
    };
    InstanceBuilder::new("fuzz")
        .buffers([buffer("a", 4, 0, 4).aligned(4), buffer("b", 2, 2, 6), buffer("c", 4, 4, 8)])
        .build()
        .expect("a valid instance")
}

/// Reads a layout of [`fuzz_instance`], verifies it, and checks the round trip.
///
/// # Panics
/// If a valid layout has a peak below the load, or if the written layout reads back differently.
pub fn layout_csv(data: &[u8]) {
    let instance = fuzz_instance();
    let Ok(layout) = read_layout("fuzz", data, &instance) else { return };
    if check_layout(&instance, &layout).is_empty() {
        assert!(layout.peak(&instance) >= load(&instance).0, "a valid layout below the load");
    }
    let mut written = Vec::new();
    write_layout(&instance, &layout, &mut written).expect("plain ids can be written");
    let again: Layout =
        read_layout("fuzz", written.as_slice(), &instance).expect("what was written is valid");
    assert_eq!(again, layout);
}

/// Reads a certificate, verifies it against [`fuzz_instance`], and checks the round trip.
///
/// # Panics
/// If the written certificate reads back differently, or if a bound above the peak of a valid layout is
/// confirmed.
pub fn certificate_json(data: &[u8]) {
    let Some(certificate) = std::str::from_utf8(data).ok().and_then(|text| Certificate::from_json(text).ok())
    else {
        return;
    };
    let instance = fuzz_instance();
    let layout = Layout::from_raw([0, 4, 0]);
    let peak = layout.peak(&instance);
    if certificate.verify(&instance, peak).is_ok() {
        assert!(certificate.lower_bound.value <= peak, "a bound above a valid layout");
    }
    let written = serde_json::to_vec(&certificate).expect("certificates can be written");
    let again: Certificate = serde_json::from_slice(&written).expect("what was written is valid");
    assert_eq!(again, certificate);
}

/// Reads a document in the structured schema and splits it into instances. Checks the round trip of each
/// instance through CSV, and the round trip of all instances together through the schema.
///
/// # Panics
/// If any written instance reads back differently.
pub fn dsa_json(data: &[u8]) {
    let origin = Path::new("fuzz.json");
    let Ok(split) = read_dsa(origin, data).and_then(|document| document.split()) else { return };
    let instances: Vec<Instance> = split.pools.into_iter().map(|pool| pool.instance).collect();
    for instance in &instances {
        let mut written = Vec::new();
        write_instance(instance, &mut written).expect("all generated names can be written");
        let options = ReadOptions { capacity: instance.capacity(), ..ReadOptions::default() };
        let again = read_instance(instance.name(), written.as_slice(), options);
        assert_eq!(again.expect("what was written is valid"), *instance);
    }
    let mut written = Vec::new();
    // Merging may place a fixed buffer beyond the capacity, which no document allows.
    if write_dsa(origin, "fuzz", &instances, &mut written).is_err() {
        return;
    }
    let again = read_dsa(origin, &written).and_then(|document| document.split());
    let again = again.expect("what was written is valid").pools;
    assert_eq!(again.into_iter().map(|pool| pool.instance).collect::<Vec<_>>(), instances);
}

/// Reads a `TFLite` model twice: with default options, and with assumptions about sizes and element types.
/// Derives the storages and checks the round trip of the graph each time.
///
/// # Panics
/// If the storages of a graph cannot be derived, or if the written graph reads back differently.
pub fn tflite_model(data: &[u8]) {
    let origin = std::path::Path::new("fuzz");
    let plain = crate::ImportOptions::default();
    let bent = crate::ImportOptions {
        batch: Some(3),
        element: Some("float16".to_owned()),
        assume_bytes: Some(8),
        dim_default: Some(2),
        ..plain.clone()
    };
    for options in [plain, bent] {
        let Ok(import) = crate::read_tflite(origin, data, &options) else { continue };
        check_graph(&import.graph);
    }
}

/// Reads an ONNX model three times. The options are the defaults, then a batch size and a size for tensors of
/// unknown size, and then a value for every free dimension. Derives the storages and checks the round trip of
/// the graph each time.
///
/// # Panics
/// If the storages of a graph cannot be derived, or if the written graph reads back differently.
pub fn onnx_model(data: &[u8]) {
    let assuming = ImportOptions { assume_bytes: Some(8), batch: Some(2), ..ImportOptions::default() };
    let closed = ImportOptions { dim_default: Some(3), ..ImportOptions::default() };
    for options in [ImportOptions::default(), assuming, closed] {
        let Ok(import) = read_onnx(Path::new("fuzz.onnx"), data, &options) else { continue };
        check_graph(&import.graph);
    }
}

/// Reads a captured plan and checks the round trip of its instances through CSV. For XLA, the file contains
/// the buffer assignment and then the live ranges.
///
/// # Panics
/// If a written instance reads back differently, or if a layout does not have one offset per buffer.
pub fn captures(data: &[u8]) {
    const RANGES: &[u8] = b"HloLiveRange";
    let origin = Path::new("fuzz");
    let found = match CaptureFormat::of(origin, data) {
        None => return,
        Some(CaptureFormat::Xla) => {
            let ranges = data.windows(RANGES.len()).position(|text| text == RANGES).unwrap_or(data.len());
            read_xla(origin, &data[..ranges], &data[ranges..])
        }
        Some(format) => read_capture(origin, format, data),
    };
    check_captures(found.unwrap_or_default());
}

/// Reads a memory snapshot of `PyTorch`, and checks the round trip of its instances through CSV.
///
/// # Panics
/// If a written instance reads back differently, or if a layout does not have one offset per buffer.
pub fn torch_snapshot(data: &[u8]) {
    check_captures(read_capture(Path::new("fuzz"), CaptureFormat::Torch, data).unwrap_or_default());
}

/// Reads a placement or trace of `idealloc`, and checks the round trip of its instances through CSV. The
/// first byte of the file selects the format: even for a placement, odd for a trace.
///
/// # Panics
/// If a written instance reads back differently, or if a layout does not have one offset per buffer.
pub fn idealloc(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let format = if first % 2 == 0 { CaptureFormat::Placement } else { CaptureFormat::Trace };
    check_captures(read_capture(Path::new("fuzz"), format, data).unwrap_or_default());
}

/// Reads a graph exported by `PyTorch` Inductor, and checks the round trip.
///
/// # Panics
/// If the written graph reads back differently.
pub fn inductor_graph(data: &[u8]) {
    if let Ok(import) = crate::inductor::read("fuzz", data) {
        check_graph(&import.graph);
    }
}

/// Checks the round trip of captured instances.
fn check_captures(captures: Vec<Capture>) {
    for capture in captures {
        let instance = capture.instance;
        let mut written = Vec::new();
        if write_instance(&instance, &mut written).is_err() {
            continue;
        }
        let again = read_instance(instance.name(), written.as_slice(), ReadOptions::default());
        assert_eq!(again.expect("what was written is valid"), instance);
        if let Some(layout) = capture.layout {
            assert_eq!(layout.offsets().len(), instance.len());
            check_layout(&instance, &layout);
        }
    }
}

/// Checks that a graph can be converted to storages, and that a round trip preserves it.
fn check_graph(graph: &Graph) {
    let sharing = LivenessOptions { in_place: true, ..LivenessOptions::default() };
    for region in 0..graph.regions().len() {
        let storages = graph.storages(RegionId::at(region), &sharing, |_| Bytes::ZERO);
        storages.expect("the sizes of a graph fit into 63 bits");
    }
    let mut written = Vec::new();
    write_graph(graph, &mut written).expect("graphs can be written");
    let again = read_graph(Path::new("fuzz.json"), written.as_slice()).expect("what was written is valid");
    assert_eq!(again, *graph);
}
