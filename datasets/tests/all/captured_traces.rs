//! Tests the readers of memory snapshots of `PyTorch` and of traces of `idealloc`.
//!
//! `experiments/production/samples.py` wrote the samples; `recompute.py` confirmed loads and peaks.

use plimsoll_datasets::captures::{Capture, CaptureFormat, capture_format, read_capture, read_captures};
use plimsoll_model::{check_layout, load};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures").join(name)
}

/// Returns name, load and peak of each capture, and checks the layouts.
fn facts(found: &[Capture]) -> Vec<(&str, u64, Option<u64>)> {
    let mut facts = Vec::new();
    for one in found {
        let valid = one.layout.as_ref().is_none_or(|layout| check_layout(&one.instance, layout).is_empty());
        assert!(valid, "{}", one.instance.name());
        let peak = one.peak.map(plimsoll_model::Bytes::get);
        facts.push((one.instance.name(), load(&one.instance).0.get(), peak));
    }
    facts
}

/// Returns name, size, half-open lifespan and offset of each buffer.
fn rows(capture: &Capture) -> Vec<(&str, u64, u64, u64, Option<u64>)> {
    let buffers = capture.instance.buffers().iter().enumerate();
    buffers
        .map(|(at, buffer)| {
            let hull = buffer.lifespan().hull();
            let offset = capture.layout.as_ref().map(|layout| layout.offsets()[at].get());
            (buffer.name(), buffer.size().get(), hull.lower.get(), hull.upper.get(), offset)
        })
        .collect()
}

#[test]
fn snapshots_have_one_capture_per_stream() {
    let path = file("snapshot.pickle");
    assert_eq!(capture_format(&path).unwrap(), Some(CaptureFormat::Torch));
    let found = read_captures(&path).unwrap();
    assert_eq!(
        facts(&found),
        [
            ("snapshot:device0-stream0", 1_910_784, Some(4_194_304)),
            ("snapshot:device0-stream7", 32_768, Some(2_097_152))
        ]
    );
    assert_eq!(found[0].planner, "PyTorch caching allocator");
    assert!(found[0].instance.buffers().iter().all(|buffer| buffer.alignment().get() == 512));
    let rows = rows(&found[0]);
    // These rows are the first allocation, a block older than the trace, and a block that is always live.
    assert_eq!(rows[0], ("event0", 602_112, 1, 4, Some(69_632)));
    assert!(rows.iter().any(|row| row.0.starts_with("early") && row.2 == 0 && row.1 == 65_536));
    assert_eq!(rows.last().unwrap(), &("block0.0", 4096, 0, 26, Some(0)));
}

/// Writes a value as a pickle of protocol 2. Numbers are long integers, because most addresses need them.
fn pickle(value: &Value) -> Vec<u8> {
    fn write(value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Object(members) => {
                out.extend(b"}(");
                for (key, value) in members {
                    write(&json!(key), out);
                    write(value, out);
                }
                out.push(b'u');
            }
            Value::Array(elements) => {
                out.extend(b"](");
                for element in elements {
                    write(element, out);
                }
                out.push(b'e');
            }
            Value::String(text) => {
                out.push(b'X');
                out.extend((text.len() as u32).to_le_bytes());
                out.extend(text.bytes());
            }
            Value::Number(number) => {
                out.extend([0x8a, 8]);
                out.extend(number.as_i64().unwrap().to_le_bytes());
            }
            _ => out.push(b'N'),
        }
    }
    let mut out = vec![0x80, 2];
    write(value, &mut out);
    out.push(b'.');
    out
}

fn torch(data: &[u8]) -> Result<Vec<Capture>, String> {
    read_capture(Path::new("t"), CaptureFormat::Torch, data).map_err(|error| error.to_string())
}

fn event(action: &str, addr: i64, size: i64) -> Value {
    json!({"action": action, "addr": addr, "size": size, "stream": 0})
}

fn snapshot(segments: &Value, events: &[Value]) -> Vec<u8> {
    pickle(&json!({"segments": segments, "device_traces": [events]}))
}

/// The allocator returns a segment and reserves another one, so the peak is that of one segment.
#[test]
fn returned_segments_count_once() {
    let segment = json!({"device": 0, "address": 8192, "total_size": 2048, "stream": 0, "blocks": [
        {"size": 1024, "requested_size": 1000, "state": "active_allocated"},
        {"size": 1024, "requested_size": 0, "state": "inactive"}]});
    let events = [
        event("alloc", 0, 600),
        event("free_requested", 0, 600),
        event("free_completed", 0, 600),
        event("segment_free", 0, 1024),
        event("segment_alloc", 8192, 2048),
        event("alloc", 8192, 1000),
    ];
    let found = torch(&snapshot(&json!([segment]), &events)).unwrap();
    assert_eq!(facts(&found), [("t", 1000, Some(2048))]);
    // Both segments together do not fit into the peak.
    let expected = [("event0", 600, 1, 3, None), ("event5", 1000, 6, 7, None)];
    assert_eq!(rows(&found[0]), expected);
    // Without events, the blocks at the end are live at all steps.
    let found = torch(&snapshot(&json!([segment]), &[])).unwrap();
    assert_eq!(rows(&found[0]), [("block0.0", 1000, 0, 1, Some(0))]);
}

#[test]
fn errors_in_snapshots_name_the_event() {
    let segment = |more: &str| json!([{"device": 0, "address": 0, "total_size": 512, more: 0, "blocks": 1}]);
    for (data, parts) in [
        (pickle(&json!(3)), ["no memory plan", "not a memory snapshot", "t"]),
        (pickle(&json!(["segments"])), ["snapshot", "a list of 1 values", "device_traces"]),
        (snapshot(&json!([]), &[]), ["no memory plan", "no allocation", "t"]),
        (snapshot(&json!([]), &[event("resize", 0, 1)]), ["device 0, event 0", "'resize'", "alloc"]),
        (snapshot(&json!([]), &[event("alloc", 0, -1)]), ["device 0, event 0", "size = -1", "non-negative"]),
        (
            snapshot(&json!([]), &[event("alloc", 4096, 1), event("alloc", 4096, 1)]),
            ["device 0, event 1", "live address 0x1000", "free address"],
        ),
        (snapshot(&json!([]), &[json!({"x": 1})]), ["device 0, event 0", "without action", "PyTorch"]),
        (snapshot(&segment("x"), &[]), ["segment 0", "without stream", "PyTorch"]),
        (snapshot(&segment("stream"), &[]), ["segment 0", "'1'", "list of blocks"]),
    ] {
        let message = torch(&data).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

/// Instructions that import or call functions are rejected, and limits are enforced.
#[test]
fn pickles_contain_plain_data_only() {
    let nested = [&[0x80, 2][..], &[b'('; 65]].concat();
    // Each of 40 lists contains the previous list twice. Copying repeated values would give 2^40 elements.
    let mut doubled = vec![0x80, 2, b']', b'q', 0];
    for index in 1..40 {
        doubled.extend([b']', b'q', index, b'(', b'h', index - 1, b'h', index - 1, b'e']);
    }
    doubled.push(b'.');
    for (data, parts) in [
        (&b"\x80\x04\x8c\x02os\x8c\x06system\x93."[..], ["byte 14", "0x93", "dictionaries"]),
        (b"\x80\x02cos\nsystem\n.", ["byte 2", "0x63", "dictionaries"]),
        (b"\x80\x02N}R.", ["byte 4", "0x52", "dictionaries"]),
        (b"\x80\x02X\x08\x00\x00\x00segments", ["byte 15", "end of the file", "more bytes"]),
        (b"\x80\x02X\xff\xff\xff\xffsegments", ["byte 7", "end of the file", "more bytes"]),
        (b"\x80\x02h\x05.", ["byte 2", "repeated value 5", "stored value"]),
        (b"\x80\x02Nr\x00\x00\x00\x80.", ["byte 3", "index 2147483648", "consecutive"]),
        (b"\x80\x02}N\x85e", ["byte 6", "without operand", "stack"]),
        (b"\x80\x02Na.", ["byte 3", "another value", "extended"]),
        (b"\x80\x02X\x01\x00\x00\x00\xff.", ["byte 7", "UTF-8", "text"]),
        (b"\x80\x02.", ["byte 3", "without operand", "stack"]),
        (&nested, ["byte 66", "level", "64 levels"]),
        (&doubled, ["snapshot", "list of 2 values", "device_traces"]),
    ] {
        // The end of the file is read only to recognise the format.
        let cut = if parts[1] == "end of the file" { b"" } else { &b"segments"[..] };
        let message = torch(&[data, cut].concat()).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn traces_of_calls_become_mappings() {
    let path = file("trace.trc");
    assert_eq!(capture_format(&path).unwrap(), Some(CaptureFormat::Trace));
    let found = read_captures(&path).unwrap();
    assert_eq!(
        facts(&found),
        [("trace:0x555555559000", 672, Some(1800)), ("trace:0x7ffff0000000", 1_052_656, Some(1_052_672))]
    );
    let expected = [
        ("call0", 104, 0, 3, Some(0x2a0)),
        ("call1", 200, 1, 3, Some(0x310)),
        ("call2", 56, 2, 6, Some(0x3e0)),
        ("call4", 200, 3, 9, Some(0x310)),
        ("call6", 136, 5, 8, Some(0x440)),
        ("call9", 72, 6, 9, Some(0x4e0)),
        ("call10", 264, 7, 9, Some(0x600)),
        ("call13", 24, 8, 9, Some(0x3e0)),
    ];
    assert_eq!(rows(&found[0]), expected);
    let alignments: Vec<u64> = found[0].instance.buffers().iter().map(|one| one.alignment().get()).collect();
    assert_eq!(alignments, [16, 16, 16, 16, 64, 32, 256, 16]);
}

fn trace(calls: &[(u8, &[u64])]) -> Vec<u8> {
    let words = |(code, words): &(u8, &[u64])| -> Vec<u8> {
        [*code].into_iter().chain(words.iter().flat_map(|word| word.to_be_bytes())).collect()
    };
    calls.iter().flat_map(words).collect()
}

fn idealloc(format: CaptureFormat, data: &[u8]) -> Result<Vec<Capture>, String> {
    read_capture(Path::new("t"), format, data).map_err(|error| error.to_string())
}

/// The trace contains failed calls, releases of unknown addresses, and releases that another thread records
/// late.
#[test]
fn traces_of_several_threads_are_read() {
    let calls: [(u8, &[u64]); 8] = [
        (0x12, &[4096, 1]),
        (0x05, &[8, 4096, 24, 1, 4096]),
        (0x05, &[8, 4096, 24, 2, 4096]),
        (0x12, &[4096, 1]),
        (0x36, &[4096, 1 << 60, 0, 0, 2, 0]),
        (0x05, &[8, 4128, 24, 1, 4096]),
        (0x36, &[4096, 0, 0, 0, 2, 0]),
        (0x05, &[8, 4160, 24, 1, 4096]),
    ];
    let found = idealloc(CaptureFormat::Trace, &trace(&calls)).unwrap();
    let expected = [
        ("call1", 24, 0, 1, Some(0)),
        ("call2", 24, 1, 3, Some(0)),
        ("call5", 24, 2, 4, Some(32)),
        ("call7", 24, 3, 4, Some(64)),
    ];
    assert_eq!(rows(&found[0]), expected);
}

#[test]
fn placements_have_words_of_64_bits() {
    let found = read_captures(&file("trace.plc")).unwrap();
    assert_eq!(facts(&found), [("trace", 2048, Some(3072))]);
    assert_eq!(rows(&found[0])[2], ("2", 256, 200, 700, Some(1536)));
    // `adapt` writes 0 as mapping and offset if it converts a CSV file.
    let mut data: Vec<u8> =
        [7, 0, 2, 64, 0, 0, 0, 64u64].iter().flat_map(|word| word.to_be_bytes()).collect();
    let found = idealloc(CaptureFormat::Placement, &data).unwrap();
    assert_eq!((facts(&found), found[0].layout.is_none()), (vec![("t", 64, None)], true));
    data.extend([0; 9]);
    let message = idealloc(CaptureFormat::Placement, &data).unwrap_err();
    assert!(message.contains("byte 64: found '9 bytes', expected a record of 64 bytes"), "{message}");
}

#[test]
fn errors_in_traces_name_the_byte() {
    let call = trace(&[(0x05, &[8, 4096, 24, 1, 4096])]);
    let reversed: Vec<u8> =
        [1, 5, 5, 64, 0, 0, 0, 64u64].iter().flat_map(|word| word.to_be_bytes()).collect();
    let wrong = [&call[..], &[0x07]].concat();
    let cases: [(CaptureFormat, &[u8], [&str; 3]); 6] = [
        (CaptureFormat::Trace, &wrong, ["byte 41", "0x07", "memory function"]),
        (CaptureFormat::Trace, &call[..20], ["byte 20", "end of the file", "last record"]),
        (CaptureFormat::Trace, &[], ["no memory plan", "no block", "t"]),
        (CaptureFormat::Placement, &[], ["no memory plan", "no block", "t"]),
        (CaptureFormat::Placement, &reversed, ["memory 't'", "buffer '1'", "5"]),
        (CaptureFormat::Placement, &[0xff; 64], ["record 0", "offset 18446744073709551615", "address"]),
    ];
    for (format, data, parts) in cases {
        let message = idealloc(format, data).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}
