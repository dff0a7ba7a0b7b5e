//! Runs the fuzz targets on mutations of valid files, each for at most about a second.

use plimsoll_datasets::fuzzing::{
    captures, certificate_json, containers, dsa_json, idealloc, inductor_graph, instance_csv, layout_csv,
    onnx_model, tflite_model, torch_snapshot,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns the contents of the seed files of a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Mutates a seed by up to five deletions, duplications, overwrites and insertions.
fn mutated(seeds: &[Vec<u8>], words: &[&str], rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let pick = |rng: &mut Xoshiro256PlusPlus, length: usize| rng.random_range(0..length as u64) as usize;
    let mut data = seeds[pick(rng, seeds.len())].clone();
    for _ in 0..rng.random_range(0..6u32) {
        let at = pick(rng, data.len() + 1);
        let to = (at + pick(rng, 12)).min(data.len());
        match rng.random_range(0..5u32) {
            0 => drop(data.drain(at..to)),
            1 => {
                let copy = data[at..to].to_vec();
                data.splice(at..at, copy);
            }
            2 if at < data.len() => data[at] = rng.random(),
            3 => {
                let word = words[pick(rng, words.len())].bytes();
                data.splice(at..at, word);
            }
            _ => {
                let word = words[pick(rng, words.len())].bytes();
                data.splice(at..to, word);
            }
        }
    }
    data
}

/// Runs a target on a fixed number of inputs, but stops early after a second.
fn smoke(target: &str, words: &[&str], run: fn(&[u8])) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "no seeds for {target}");
    for seed in &seeds {
        run(seed);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let start = Instant::now();
    for i in 0..50_000u32 {
        if i % 64 == 0 && start.elapsed() > Duration::from_secs(1) {
            break;
        }
        let data = mutated(&seeds, words, &mut rng);
        let fine = std::panic::catch_unwind(|| run(&data)).is_ok();
        assert!(fine, "{target} fails on input {i}: {:?}", String::from_utf8_lossy(&data));
    }
}

const CSV_WORDS: &[&str] = &[
    ",",
    "\n",
    "\r\n",
    "\"",
    " ",
    "-",
    "@",
    ":",
    "%",
    "%20",
    "0",
    "1",
    "18446744073709551615",
    "9223372036854775807",
    "gaps",
    "offset",
    "hint",
    "end",
    "upper",
    "separations",
    "exclusions",
    "alignment",
    "a",
    "\u{feff}",
    "é",
];

#[test]
fn instances() {
    smoke("instance_csv", CSV_WORDS, instance_csv);
}

#[test]
fn layouts() {
    smoke("layout_csv", CSV_WORDS, layout_csv);
}

#[test]
fn captured_plans() {
    let words = [
        "allocation 1: size 64, preallocated-temp:\n",
        " value: <1 a @0> (size=4,offset=0): f32[]\n",
        "    a{}:0-1\n",
        "[0, 1] = %c64\n",
        "%c64 = arith.constant 64 : index\n",
        "18446744073709551615",
        " (phi)",
        "-",
        "{",
        "}",
        "0",
        "9",
        "%3#1",
        " for ",
        "null",
        "\n",
        "é",
    ];
    smoke("captures", &words, captures);
}

#[test]
fn compressed_files_and_c_source() {
    let words = [
        "\u{0}",
        "\u{1}",
        "\u{7f}",
        "PK\u{1}\u{2}",
        "PK\u{3}\u{4}",
        "PK\u{5}\u{6}",
        "{",
        "}",
        "[",
        "]",
        "=",
        ",",
        "-",
        "'",
        "\"",
        "/*",
        "*/",
        "//",
        "#",
        "\\\n",
        "0x1c",
        "256",
        "TFL3",
        "\n",
    ];
    smoke("containers", &words, containers);
}

#[test]
fn memory_snapshots() {
    let words = [
        "\u{0}",
        "\u{1}",
        "(",
        "e",
        "u",
        "s",
        "a",
        "t",
        "}",
        "]",
        ")",
        "N",
        "K\u{1}",
        "K\u{0}",
        "h\u{0}",
        "q\u{0}",
        ".",
        "X\u{4}\u{0}\u{0}\u{0}addr",
        "X\u{4}\u{0}\u{0}\u{0}size",
        "X\u{5}\u{0}\u{0}\u{0}alloc",
        "X\u{e}\u{0}\u{0}\u{0}free_completed",
    ];
    smoke("torch_snapshot", &words, torch_snapshot);
}

#[test]
fn allocation_traces() {
    let words = [
        "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
        "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{10}",
        "\u{5}",
        "\u{12}",
        "6",
        "g",
        "\u{7f}",
        "\u{1}",
    ];
    smoke("idealloc", &words, idealloc);
}

#[test]
fn inductor_graphs() {
    let words =
        ["\"", "buf0", "buf1", "buf3", "op1", "0", "8", "12", "true", "false", "[]", ", ", "{}", "deps"];
    smoke("inductor_graph", &words, inductor_graph);
}

#[test]
fn documents() {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "0",
        "1",
        "7",
        "-1",
        "1.5",
        "null",
        "true",
        "\\n",
        " ",
        "é",
        "18446744073709551615",
        "9223372036854775807",
        "{\"first\": 0, \"second\": 2}",
        "\"reserved_ranges\": ",
        "\"exclusive_for_all_time\": true",
    ];
    smoke("dsa_json", &words, dsa_json);
}

#[test]
fn certificates() {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "0",
        "1",
        "18446744073709551615",
        "null",
        "\"clique\"",
        "\"load\"",
        "\"optimal\"",
        "\"aligned-clique\"",
        "\"fixed\"",
        "\"buffers\"",
        "\"alignment\"",
        "-",
        ".5",
    ];
    smoke("certificate_json", &words, certificate_json);
}

#[test]
fn tflite_models() {
    let words =
        ["\0", "\0\0\0\0", "\u{1}\0\0\0", "\u{4}\0", "\u{7f}\0\0\0", "TFL3", "\u{10}\0\0\0", "\0\0\0@"];
    smoke("tflite_model", &words, tflite_model);
}

#[test]
fn onnx_models() {
    let words = [
        "\u{0}",
        "\u{1}",
        "\u{2}",
        "\u{7f}",
        "\u{a}",
        "\u{12}",
        "\u{3a}",
        "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{7f}",
        "x",
        "y",
        "Concat",
        "Reshape",
        "Slice",
        "Resize",
        "Tile",
        "Split",
        "Scan",
        "Loop",
        "If",
        "Einsum",
        "LSTM",
        "NonZero",
        "axis",
        "pads",
    ];
    smoke("onnx_model", &words, onnx_model);
}
