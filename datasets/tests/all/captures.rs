//! Tests the readers of captured plans on dumps of real compilers.

use plimsoll_datasets::captures::{
    Capture, CaptureFormat, capture_format, read_capture, read_captures, read_xla,
};
use plimsoll_model::csv::{ReadOptions, read_instance_file};
use plimsoll_model::{Bytes, check_layout, load};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures").join(name)
}

fn only(name: &str) -> Capture {
    let mut found = read_captures(&file(name)).unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// Returns the rows of a capture: name, size, half-open lifespan and offset.
fn rows(capture: &Capture) -> Vec<(String, u64, u64, u64, u64)> {
    let places = capture.instance.buffers().iter().zip(capture.layout.as_ref().unwrap().offsets());
    let row = |(buffer, offset): (&plimsoll_model::Buffer, &Bytes)| {
        let hull = buffer.lifespan().hull();
        (buffer.name().to_owned(), buffer.size().get(), hull.lower.get(), hull.upper.get(), offset.get())
    };
    places.map(row).collect()
}

/// The dump is the gradient of a three-layer perceptron, compiled for CPU by jax and jaxlib 0.10.2.
#[test]
fn xla_values_written_in_place_are_one_buffer() {
    let found = only("loss-buffer-assignment.txt");
    assert_eq!(
        (found.planner.as_str(), found.instance.name(), found.peak.unwrap().get()),
        ("XLA", "loss", 4096)
    );
    // `multiply_add_fusion.1` is written over `ynn_fusion.1`, and `multiply_add_fusion` over `ynn_fusion`.
    let expected = [
        ("multiply_add_fusion.2", 2048, 14, 18, 0),
        ("ynn_fusion.1", 2048, 15, 22, 2048),
        ("ynn_fusion", 2048, 19, 25, 0),
    ];
    assert_eq!(rows(&found), expected.map(|(name, a, b, c, d)| (name.to_owned(), a, b, c, d)));
    assert!(check_layout(&found.instance, found.layout.as_ref().unwrap()).is_empty());
    assert_eq!(load(&found.instance).0.get(), 4096);
}

/// The dump contains six convolutions with skip connections, compiled for VMVX by iree-base-compiler 3.13.0.
#[test]
fn iree_slices_get_the_offsets_that_the_pass_computed() {
    let found = only("slices.mlir");
    assert_eq!((found.planner.as_str(), found.peak.unwrap().get()), ("IREE", 116_288));
    let rows = rows(&found);
    assert_eq!(rows.len(), 12);
    assert_eq!(rows[0], ("slice0".to_owned(), 50_700, 0, 3, 0));
    assert_eq!(rows[3], ("slice3".to_owned(), 32_768, 6, 9, 83_520));
    assert_eq!(rows[11], ("slice11".to_owned(), 6144, 18, 20, 9600));
    assert!(check_layout(&found.instance, found.layout.as_ref().unwrap()).is_empty());
    assert!(found.instance.buffers().iter().all(|buffer| buffer.alignment().get() == 64));
    assert_eq!(load(&found.instance).0.get(), 102_528);
}

#[test]
fn names_that_regions_define_again_are_distinct() {
    let pack = |size: &str| format!("%1:2 = stream.resource.pack slices({{\n[0, 1] = %{size}\n}}) : index\n");
    let uses = "%2 = stream.resource.alloca : !stream.resource<transient>{%1#0}\nwo %2[%1#1 for %a]\n";
    let constant = |name: &str, value: u64| format!("%{name} = arith.constant {value} : index\n");
    let before = format!(
        "// -----// IR Dump Before x\nutil.func @f() {{\n{}{}{uses}{}{}{uses}",
        constant("a", 64),
        pack("a"),
        constant("a", 128),
        pack("a")
    );
    let used = "%2 = stream.resource.alloca : !stream.resource<transient>{%a}\nwo %2[%z for %a]\n";
    let after = format!(
        "// -----// IR Dump After x\nutil.func @f() {{\n{}{}{used}{}{used}",
        constant("z", 0),
        constant("a", 64),
        constant("a", 128)
    );
    let found =
        read_capture(Path::new("t"), CaptureFormat::Iree, format!("{before}{after}").as_bytes()).unwrap();
    let found: Vec<_> =
        found.iter().map(|one| (one.instance.name(), one.peak.unwrap().get(), rows(one)[0].1)).collect();
    assert_eq!(found, [("t:f-0", 64, 64), ("t:f-1", 128, 128)]);
}

#[test]
fn memories_without_buffers_are_skipped() {
    let found = only("lanes.capture.json");
    assert_eq!((found.planner.as_str(), found.instance.name()), ("tinygrad TLSF", "lanes:compute"));
    assert_eq!(found.layout.as_ref().map(|layout| layout.peak(&found.instance)), found.peak);
}

#[test]
fn other_files_are_no_captures() {
    assert_eq!(CaptureFormat::of(Path::new("t"), b"id,lower,upper,size\n"), None);
    assert_eq!(capture_format(&file("loss-live-range.txt")).unwrap(), None);
    assert_eq!(capture_format(&file("slices.mlir")).unwrap(), Some(CaptureFormat::Iree));
}

fn xla(assignment: &str, ranges: &str) -> Result<Capture, String> {
    let (assignment, ranges) =
        (format!("BufferAssignment:\n{assignment}"), format!("  BufferLiveRange:\n{ranges}"));
    let found = read_xla(Path::new("t"), assignment.as_bytes(), ranges.as_bytes());
    found.map(|mut found| found.remove(0)).map_err(|error| error.to_string())
}

const TEMP: &str = "allocation 7: size 64, preallocated-temp:\n";

#[test]
fn xla_values_of_one_buffer_are_united() {
    let values = " value: <1 init @0> (size=64,offset=0): f32[16]\n \
        value: <2 while{1} (phi) @0> (size=64,offset=0): f32[16]\n";
    let found = xla(&format!("{TEMP}{values}"), "    init{}:1-5\n    while{1}:2-9\n").unwrap();
    assert_eq!(rows(&found), [("init".to_owned(), 64, 1, 10, 0)]);
}

#[test]
fn a_smaller_result_begins_when_its_operand_ends() {
    let values = " value: <1 a @0> (size=32,offset=0): f32[8]\n value: <2 b @0> (size=16,offset=0): f32[4]\n";
    let found = xla(&format!("{TEMP}{values}"), "    a{}:1-5\n    b{}:5-9\n").unwrap();
    let expected = [("a".to_owned(), 32, 1, 5, 0), ("b".to_owned(), 16, 5, 10, 0)];
    assert_eq!(rows(&found), expected);
    assert!(found.instance.exclusions().is_empty());
}

#[test]
fn a_step_with_several_results_keeps_them_apart() {
    let values = " value: <1 a @0> (size=32,offset=0): f32[8]\n \
        value: <2 b{0} @0> (size=16,offset=0): f32[4]\n value: <3 b{1} @0> (size=32,offset=32): f32[8]\n";
    let found = xla(&format!("{TEMP}{values}"), "    a{}:1-5\n    b{0}:5-9\n    b{1}:5-9\n").unwrap();
    assert_eq!(rows(&found)[0], ("a".to_owned(), 32, 1, 6, 0));
    assert!(!found.instance.exclusions().is_empty());
    assert!(check_layout(&found.instance, found.layout.as_ref().unwrap()).is_empty());
}

#[test]
fn errors_name_line_and_value() {
    let value = " value: <1 a @0> (size=64,offset=0): f32[16]\n";
    for (assignment, ranges, parts) in [
        (format!("{TEMP}{value}"), "    b{}:0-1\n", ["line 3", "'a'", "live range"]),
        (format!("{TEMP} value: <1 a @0> size\n"), "", ["line 3", "<1 a @0> size", "expected"]),
        ("allocation x: size 4, constant:\n".to_owned(), "", ["line 2", "allocation x", "expected"]),
        (format!("{TEMP}{value}"), "    a{}:5-1\n", ["line 2", "a{}:5-1", "live range such as"]),
        (
            format!("{TEMP}{value}"),
            "    a{}:0-18446744073709551615\n",
            ["line 2", "a{}", "live range such as"],
        ),
        (String::new(), "", ["no memory plan", "preallocated-temp", "t"]),
    ] {
        let message = xla(&assignment, ranges).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let head = "// -----// IR Dump Before x\nutil.func public @main() {\n";
    for (text, parts) in [
        ("%1:2 = stream.resource.pack slices({\n[0, 1] = %c\n", ["line 4", "[0, 1] = %c", "constant size"]),
        ("%1 = stream.resource.pack offset(%o) slices({\n", ["line 3", "offset(%o)", "expected"]),
        ("%1 = stream.resource.pack slices({\n", ["no memory plan", "slices", "end"]),
    ] {
        let message = read_capture(Path::new("t"), CaptureFormat::Iree, format!("{head}{text}").as_bytes())
            .unwrap_err()
            .to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn json_errors_name_the_memory_and_the_buffer() {
    let document = |version: u64, buffer: &str| {
        format!(
            r#"{{"format":"plimsoll-capture","version":{version},"framework":"f","model":"m",
            "memories":[{{"name":"arena","peak":4,"buffers":[{buffer}]}}]}}"#
        )
    };
    for (text, parts) in [
        (document(2, ""), ["version 2", "only supported"]),
        (
            document(1, "").replace("plimsoll-capture", "my-capture"),
            ["t: format 'my-capture'", "plimsoll-capture"],
        ),
        (document(1, ""), ["no memory plan", "buffers"]),
        (document(1, r#"{"id":"a","size":4,"lower":3,"upper":3}"#), ["memory 'arena'", "buffer 'a'"]),
        (document(1, r#"{"id":"a","size":-4,"lower":3,"upper":4}"#), ["line 2", "-4"]),
        (document(1, r#"{"id":"a","size":4,"lower":3,"upper":4,"x":1}"#), ["line 2", "'x'"]),
    ] {
        let message =
            read_capture(Path::new("t"), CaptureFormat::Json, text.as_bytes()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

/// The data set consists of the files in the manifest, and the bounds in the manifest are consistent.
#[test]
fn the_manifest_describes_the_data_set() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("captured");
    let manifest = std::fs::read_to_string(folder.join("manifest.csv")).unwrap();
    let mut lines = manifest.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|own| *own == name).unwrap();
    let (mut plans, mut proved) = (0, 0);
    for row in lines {
        let (text, number) = (|name| row[column(name)], |name| row[column(name)].parse::<u64>().unwrap());
        let path = folder.join(text("file"));
        let digest = Sha256::digest(std::fs::read(&path).unwrap());
        let digest: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest.concat(), text("sha256"), "{}", path.display());
        let instance = read_instance_file(&path, ReadOptions::default()).unwrap();
        assert_eq!(instance.len() as u64, number("buffers"), "{}", path.display());
        assert_eq!(load(&instance).0.get(), number("load"), "{}", path.display());
        let chain = ["load", "lower_bound", "best_peak", "planner_peak"].map(number);
        assert!(chain.is_sorted(), "{}: {chain:?}", path.display());
        plans += 1;
        proved += u64::from(chain[1] == chain[2]);
    }
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files: usize =
        files.filter(|path| path.is_dir()).map(|path| std::fs::read_dir(path).unwrap().count()).sum();
    assert_eq!(files, plans);
    assert!(proved * 100 >= plans as u64 * 95, "{proved} of {plans} plans have a proven optimum");
}

#[cfg(feature = "captured")]
#[test]
fn the_embedded_suite_is_the_data_set() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("captured");
    let manifest = std::fs::read_to_string(folder.join("manifest.csv")).unwrap();
    let suite = plimsoll_datasets::captured_suite();
    assert_eq!(suite.len(), manifest.lines().count() - 1);
    for (instance, row) in suite.iter().zip(manifest.lines().skip(1)) {
        let file = row.split(',').next().unwrap();
        assert_eq!(format!("{}.csv", instance.name()), file.replace('/', "-"));
        let read = read_instance_file(&folder.join(file), ReadOptions::default()).unwrap();
        assert_eq!(instance.buffers(), read.buffers(), "{file}");
    }
    let names: std::collections::BTreeSet<&str> = suite.iter().map(plimsoll_model::Instance::name).collect();
    assert_eq!(names.len(), suite.len());
    assert_eq!(plimsoll_datasets::captured_sample().len(), 7);
}
