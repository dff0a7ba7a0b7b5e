//! Tests compressed files, archives, C arrays, and files that are no input, at every command that reads them.

use crate::common::{Scratch, TINY, contains, has};
use serde_json::{Value, json};

/// A `TFLite` model from the seeds of the fuzz targets.
const TFLITE: &str = "tflite_model/chain.tflite";

fn crc32(data: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !data.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), bit))
}

/// Returns a gzip file whose data is stored without compression.
fn gzip(data: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let mut blocks = data.chunks(60_000).peekable();
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        file.push(u8::from(blocks.peek().is_none()));
        file.extend(length.to_le_bytes());
        file.extend((!length).to_le_bytes());
        file.extend(block);
    }
    file.extend(crc32(data).to_le_bytes());
    file.extend((data.len() as u32).to_le_bytes());
    file
}

/// Returns a zip archive of stored files.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in entries {
        let at = file.len() as u32;
        let mut common = vec![0; 8];
        common.extend(crc32(data).to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        file.extend([b"PK\x03\x04\x14\0", &common[..], name.as_bytes(), data].concat());
        directory.extend([b"PK\x01\x02\x14\0\x14\0", &common[..], &[0; 10], &at.to_le_bytes()].concat());
        directory.extend(name.bytes());
    }
    let (start, length, count) = (file.len() as u32, directory.len() as u32, entries.len() as u16);
    file.extend([&directory[..], b"PK\x05\x06\0\0\0\0", &count.to_le_bytes(), &count.to_le_bytes()].concat());
    file.extend([&length.to_le_bytes()[..], &start.to_le_bytes(), &[0; 2]].concat());
    file
}

/// Returns C source with an array in the style of `xxd -i`, after a small array of other bytes.
fn source(data: &[u8]) -> String {
    let list: Vec<String> = data.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let lines: Vec<String> = list.chunks(12).map(|line| line.join(", ")).collect();
    format!(
        "// Written by a converter.\n#include <cstdint>\nconst char labels[] = {{ 3, 5 }};\n\
         alignas(16) const unsigned char net[] = {{\n  {}\n}};\nconst unsigned int net_len = {};\n",
        lines.join(",\n  "),
        data.len()
    )
}

/// Reads a seed of the fuzz targets.
fn seed(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../fuzz/seeds/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Returns the arena of a plan, and the rows of its layout.
fn planned(scratch: &Scratch, file: &str, options: &str) -> [Value; 2] {
    let json = scratch.json(format!("plan {file} --with-layout {options}"));
    assert!(json["arena"].as_u64().unwrap() > 0);
    ["arena", "layout"].map(|key| json[key].clone())
}

#[test]
fn models_in_containers_are_planned_like_the_models() {
    let scratch = Scratch::new();
    for (seed, options) in [("onnx_model/function.onnx", "--dim-default 2"), (TFLITE, "")] {
        let (data, name) = (self::seed(seed), seed.split_once('/').unwrap().1);
        scratch.write(name, &data);
        let plain = planned(&scratch, name, options);
        scratch.write(&format!("{name}.gz"), gzip(&data));
        scratch.write("net.zip", zip(&[("README.md", b"# net"), (&format!("in/{name}"), &data)]));
        scratch.write("net.cc", source(&data));
        scratch.write("net.h.gz", gzip(source(&data).as_bytes()));
        for file in [&format!("{name}.gz"), "net.zip", "net.cc", "net.h.gz"] {
            assert_eq!(planned(&scratch, file, options), plain, "{name} in {file}");
            scratch.ok(format!("import {file} {options}"));
            let solved = scratch.json(format!("solve {file} {options}"));
            assert_eq!(solved["order"], "as-in-file", "{file}");
        }
    }
}

#[test]
fn the_written_model_is_not_a_container() {
    let scratch = Scratch::new();
    let data = seed(TFLITE);
    scratch.write("net.tflite", &data);
    scratch.write("net.tflite.gz", gzip(&data));
    scratch.write("net_model_data.cc", source(&data));
    scratch.write("net.zip", zip(&[("net.tflite", &data)]));
    let written = |from: &str| {
        scratch.ok(format!("plan {from} --write out.tflite"));
        std::fs::read(scratch.path("out.tflite")).unwrap()
    };
    let plain = written("net.tflite");
    assert_eq!(plain[4..8], *b"TFL3");
    for from in ["net.tflite.gz", "net_model_data.cc", "net.zip"] {
        std::fs::remove_file(scratch.path("out.tflite")).unwrap();
        assert!(written(from) == plain, "{from}");
    }
    scratch.refuses("plan net.zip --write x.onnx", &["the model keeps its format"]);
}

#[test]
fn instances_in_containers_are_read_by_every_command() {
    let scratch = Scratch::with("tiny.9.csv.gz", gzip(TINY.as_bytes()));
    scratch.write("tiny.zip", zip(&[("tiny.csv", TINY.as_bytes())]));
    let solved = scratch.json("solve tiny.9.csv.gz -o layout.csv");
    has(&solved, &json!({ "instance": "tiny", "capacity": 9 }));
    scratch.write("layout.csv.gz", gzip(scratch.read("layout.csv").as_bytes()));
    for file in ["tiny.9.csv.gz", "tiny.zip"] {
        scratch.ok(format!("verify {file} layout.csv.gz"));
        scratch.ok(format!("compare {file} layout.csv"));
        scratch.ok(format!("spill {file} --capacity 8"));
        scratch.ok(format!("bench {file} --algorithms exact --time-limit 5")).prints(&["exact"]);
    }
    scratch.ok("view tiny.9.csv.gz -o page.html");
    contains(&scratch.read("page.html"), &["tiny.9.csv"]);
    scratch.ok("convert tiny.zip -o pools.json");
    scratch.write("pools.json.gz", gzip(scratch.read("pools.json").as_bytes()));
    scratch.ok("convert pools.json.gz -o back.csv");
    scratch.ok("verify back.csv layout.csv");
}

#[test]
fn captured_plans_in_containers_are_audited() {
    let scratch = Scratch::new();
    let capture = seed("captures/lanes.capture.json");
    scratch.write("plain.json", &capture);
    // A folder may contain archives without a plan.
    std::fs::create_dir(scratch.path("all")).unwrap();
    scratch.write("all/plan.json.gz", gzip(&capture));
    scratch.write("all/other.zip", zip(&[("a.txt", b"1"), ("b.txt", b"2")]));
    let peak = &scratch.json("audit plain.json")["planner_peak"];
    has(&scratch.json("audit all/plan.json.gz"), &json!({ "planner_peak": peak }));
    has(&scratch.json("audit all"), &json!({ "files_without_plan": 1 }));
}

#[test]
fn standard_input_may_be_a_container() {
    let scratch = Scratch::new();
    let data = seed(TFLITE);
    scratch.write("net.tflite", &data);
    let [arena, _] = planned(&scratch, "net.tflite", "");
    for input in [gzip(&data), zip(&[("net.tflite", &data)]), source(&data).into_bytes()] {
        assert_eq!(scratch.piped("plan - --json", input).exits(0).json()["arena"], arena);
    }
}

#[test]
fn files_that_are_no_input_are_named_with_what_helps() {
    let scratch = Scratch::new();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:ab12\nsize 4096013\n";
    let page = "<!doctype html>\n<html lang=\"en\"><title>net.onnx</title>";
    let mlir = "module attributes {pto.target = \"a5\"} {\n  func.func @add() { return }\n}\n";
    let source = "extern const unsigned char net[];\n";
    let labels = "const char a[] = { 1, 2, 3 };\n";
    for (name, text, parts) in [
        ("net.onnx", pointer, ["net.onnx: a Git LFS pointer to a file of 4096013 bytes", "`git lfs pull`"]),
        ("graph.json", pointer, ["a Git LFS pointer", "`git lfs pull`"]),
        ("net2.onnx", page, ["an HTML page saved under this name", "download the file itself"]),
        ("net.pto", mlir, ["MLIR", "write the buffers"]),
        ("only.h", source, ["only.h", "C source without an array of bytes"]),
        ("labels.c", labels, ["labels.c", "no TFLite or ONNX model in the arrays a (3 bytes)"]),
    ] {
        scratch.write(name, text);
        for command in ["plan", "import", "order"] {
            scratch.refuses(format!("{command} {name}"), &parts);
        }
    }
    for (name, text) in
        [("slices.mlir", mlir), ("tiny.csv", TINY), ("page.csv", page), ("pointer.csv", pointer)]
    {
        scratch.write(name, text);
    }
    let two = [&b"\x1c\0\0\0TFL3"[..], &[0; 9]].concat();
    scratch.write("two.zip", zip(&[("a.tflite", &two), ("b/b.onnx", b"\x08\x07")]));
    scratch.write("cut.onnx.gz", &gzip(&two)[..19]);
    for (line, parts) in [
        ("audit slices.mlir page.csv", &["slices.mlir: MLIR text", "IREE"][..]),
        ("audit net.pto", &["net.pto: MLIR text"]),
        ("audit tiny.csv page.csv", &["page.csv: an HTML page"]),
        ("solve pointer.csv", &["pointer.csv: a Git LFS pointer"]),
        ("verify tiny.csv pointer.csv", &["pointer.csv: a Git LFS pointer"]),
        ("plan two.zip", &["two.zip: zip archive: several models: a.tflite, b/b.onnx"]),
        ("plan cut.onnx.gz", &["cut.onnx.gz: damaged gzip file"]),
    ] {
        scratch.refuses(line, parts);
    }
    // Benchmarks report the file and continue.
    let run = scratch.ok("bench net.onnx tiny.csv --algorithms naive");
    run.warns(&["unreadable: net.onnx: a Git LFS pointer"]);
}
