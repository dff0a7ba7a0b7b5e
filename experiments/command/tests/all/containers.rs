//! Tests compressed files, archives, C arrays, and files that are no input, at every command that reads them.

use crate::common::{Scratch, TINY, command};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// A `TFLite` model from the seeds of the fuzz targets.
const TFLITE: &str = "chain.tflite";

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

fn seed(format: &str, name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(format).join(name))
        .unwrap()
}

/// Returns the arena of a plan, and the rows of its layout.
fn planned(scratch: &Scratch, file: &str, options: &[&str]) -> (Value, Value) {
    let words = [&["plan", file, "--json", "--with-layout"], options].concat();
    let json = scratch.plimsoll(&words).exits(0).json();
    assert!(json["arena"].as_u64().unwrap() > 0);
    (json["arena"].clone(), json["layout"].clone())
}

#[test]
fn models_in_containers_are_planned_like_the_models() {
    let scratch = Scratch::new();
    let free = ["--dim-default", "2"];
    for (format, name, options) in [("onnx_model", "function.onnx", &free[..]), ("tflite_model", TFLITE, &[])]
    {
        let data = seed(format, name);
        scratch.write(name, &data);
        let plain = planned(&scratch, name, options);
        scratch.write(&format!("{name}.gz"), gzip(&data));
        scratch.write("net.zip", zip(&[("README.md", b"# net"), (&format!("in/{name}"), &data)]));
        scratch.write("net.cc", source(&data));
        scratch.write("net.h.gz", gzip(source(&data).as_bytes()));
        for file in [&format!("{name}.gz"), "net.zip", "net.cc", "net.h.gz"] {
            assert_eq!(planned(&scratch, file, options), plain, "{name} in {file}");
            scratch.plimsoll(&[&["import", file], options].concat()).exits(0);
            let solved = scratch.plimsoll(&[&["solve", file, "--json"], options].concat()).exits(0).json();
            assert_eq!(solved["order"], "as-in-file", "{file}");
        }
    }
}

#[test]
fn the_written_model_is_not_a_container() {
    let scratch = Scratch::new();
    let data = seed("tflite_model", TFLITE);
    scratch.write("net.tflite", &data);
    scratch.write("net.tflite.gz", gzip(&data));
    scratch.write("net_model_data.cc", source(&data));
    scratch.write("net.zip", zip(&[("net.tflite", &data)]));
    let write = |from: &str, to: &str| {
        scratch.plimsoll(&["plan", from, "--write", to]).exits(0);
        std::fs::read(scratch.path(to)).unwrap()
    };
    let plain = write("net.tflite", "0.tflite");
    assert_eq!(plain[4..8], *b"TFL3");
    for (at, from) in ["net.tflite.gz", "net_model_data.cc", "net.zip"].into_iter().enumerate() {
        assert!(write(from, &format!("{}.tflite", at + 1)) == plain, "{from}");
    }
    scratch.plimsoll(&["plan", "net.zip", "--write", "x.onnx"]).refuses(&["the model keeps its format"]);
}

#[test]
fn instances_in_containers_are_read_by_every_command() {
    let scratch = Scratch::new();
    scratch.write("tiny.9.csv.gz", gzip(TINY.as_bytes()));
    scratch.write("tiny.zip", zip(&[("tiny.csv", TINY.as_bytes())]));
    let solved = scratch.plimsoll(&["solve", "tiny.9.csv.gz", "-o", "layout.csv", "--json"]).exits(0).json();
    assert_eq!((&solved["instance"], &solved["capacity"]), (&"tiny".into(), &9.into()));
    scratch.write("layout.csv.gz", gzip(scratch.read("layout.csv").as_bytes()));
    for file in ["tiny.9.csv.gz", "tiny.zip"] {
        scratch.plimsoll(&["verify", file, "layout.csv.gz"]).exits(0);
        scratch.plimsoll(&["compare", file, "layout.csv"]).exits(0);
        scratch.plimsoll(&["spill", file, "--capacity", "8"]).exits(0);
        let bench = ["bench", file, "--algorithms", "exact", "--time-limit", "5"];
        assert!(scratch.plimsoll(&bench).exits(0).stdout.contains("exact"));
    }
    scratch.plimsoll(&["view", "tiny.9.csv.gz", "-o", "page.html"]).exits(0);
    assert!(scratch.read("page.html").contains("tiny.9.csv"));
    scratch.plimsoll(&["convert", "tiny.zip", "-o", "pools.json"]).exits(0);
    scratch.write("pools.json.gz", gzip(scratch.read("pools.json").as_bytes()));
    scratch.plimsoll(&["convert", "pools.json.gz", "-o", "back.csv"]).exits(0);
    scratch.plimsoll(&["verify", "back.csv", "layout.csv"]).exits(0);
}

#[test]
fn captured_plans_in_containers_are_audited() {
    let scratch = Scratch::new();
    let capture = seed("captures", "lanes.capture.json");
    scratch.write("plain.json", &capture);
    scratch.write("plan.json.gz", gzip(&capture));
    let words = |file| ["audit", file, "--json"];
    let plain = scratch.plimsoll(&words("plain.json")).exits(0).json();
    let packed = scratch.plimsoll(&words("plan.json.gz")).exits(0).json();
    assert_eq!(packed["planner_peak"], plain["planner_peak"]);
    // A folder may contain archives without a plan.
    std::fs::create_dir(scratch.path("all")).unwrap();
    scratch.write("all/plan.json.gz", gzip(&capture));
    scratch.write("all/other.zip", zip(&[("a.txt", b"1"), ("b.txt", b"2")]));
    let json = scratch.plimsoll(&["audit", "all", "--json"]).exits(0).json();
    assert_eq!(json["files_without_plan"], 1);
}

#[test]
fn standard_input_may_be_a_container() {
    let scratch = Scratch::new();
    let data = seed("tflite_model", TFLITE);
    scratch.write("net.tflite", &data);
    let (arena, _) = planned(&scratch, "net.tflite", &[]);
    for input in [gzip(&data), zip(&[("net.tflite", &data)]), source(&data).into_bytes()] {
        let mut child = command(&scratch.path("."))
            .args(["plan", "-", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&input).unwrap();
        let json: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!(json["arena"], arena);
    }
}

#[test]
fn files_that_are_no_input_are_named_with_what_helps() {
    let scratch = Scratch::new();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:ab12\nsize 4096013\n";
    let page = "<!doctype html>\n<html lang=\"en\"><title>net.onnx</title>";
    let mlir = "module attributes {pto.target = \"a5\"} {\n  func.func @add() { return }\n}\n";
    for (name, text, parts) in [
        (
            "net.onnx",
            pointer,
            &["net.onnx: a Git LFS pointer to a file of 4096013 bytes", "`git lfs pull`"][..],
        ),
        ("net.tflite", pointer, &["a Git LFS pointer", "`git lfs pull`"]),
        ("graph.json", pointer, &["a Git LFS pointer", "`git lfs pull`"]),
        ("net2.onnx", page, &["an HTML page saved under this name", "download the file itself"]),
        ("net.pto", mlir, &["MLIR", "write the buffers"]),
        ("only.h", "extern const unsigned char net[];\n", &["C source without an array of bytes"]),
        (
            "labels.c",
            "const char a[] = { 1, 2, 3 };\n",
            &["no TFLite or ONNX model in the arrays a (3 bytes)"],
        ),
    ] {
        scratch.write(name, text);
        for command in ["plan", "import", "order"] {
            scratch.plimsoll(&[command, name]).refuses(parts);
        }
    }
    scratch.write("slices.mlir", mlir);
    scratch.write("tiny.csv", TINY);
    scratch.write("page.csv", page);
    scratch.write("pointer.csv", pointer);
    scratch.plimsoll(&["audit", "slices.mlir", "page.csv"]).refuses(&["slices.mlir: MLIR text", "IREE"]);
    scratch.plimsoll(&["audit", "net.pto"]).refuses(&["net.pto: MLIR text"]);
    scratch.plimsoll(&["audit", "tiny.csv", "page.csv"]).refuses(&["page.csv: an HTML page"]);
    scratch.plimsoll(&["solve", "pointer.csv"]).refuses(&["pointer.csv: a Git LFS pointer"]);
    scratch.plimsoll(&["verify", "tiny.csv", "pointer.csv"]).refuses(&["pointer.csv: a Git LFS pointer"]);
    let two = [&b"\x1c\0\0\0TFL3"[..], &[0; 9]].concat();
    scratch.write("two.zip", zip(&[("a.tflite", &two), ("b/b.onnx", b"\x08\x07")]));
    scratch
        .plimsoll(&["plan", "two.zip"])
        .refuses(&["two.zip: zip archive: several models: a.tflite, b/b.onnx"]);
    scratch.write("cut.onnx.gz", &gzip(&two)[..19]);
    scratch.plimsoll(&["plan", "cut.onnx.gz"]).refuses(&["cut.onnx.gz: damaged gzip file"]);
    // Benchmarks report the file and continue.
    let run = scratch.plimsoll(&["bench", "net.onnx", "tiny.csv", "--algorithms", "naive"]).exits(0);
    assert!(run.stderr.contains("unreadable: net.onnx: a Git LFS pointer"), "{}", run.stderr);
}
