//! Checks the seeds of the fuzz target. `PLIMSOLL_WRITE_SEEDS=1 cargo test -p plimsoll-datasets seeds` writes
//! them first.

use super::functions::{call, function};
use super::{body, floats, graph, info, int, ints, model, node, tensor};
use crate::onnx::proto::Model;
use prost::Message;
use std::path::Path;

fn seeds() -> Vec<(&'static str, Model)> {
    let mut convolution = graph(
        &[("x", "1x2x5x5")],
        [
            node("Conv", "x w", "a", [ints("pads", &[1, 1, 1, 1]), ints("strides", &[2, 2])]),
            node("Relu", "a", "b", []),
            node("MaxPool", "b", "c", [ints("kernel_shape", &[2, 2]), int("ceil_mode", 1)]),
            node("Flatten", "c", "d", []),
            node("Gemm", "d v", "y", []),
        ],
        "y",
    );
    convolution.initializer = vec![floats("w", &[3, 2, 3, 3], &[0.5; 54]), floats("v", &[12, 2], &[0.5; 24])];
    let mut shapes = graph(
        &[("x", "2x3x4")],
        [
            node("Shape", "x", "s", []),
            node("Gather", "s i", "g", []),
            node("Slice", "s k l", "p", []),
            node("Mul", "g j", "m", []),
            node("Concat", "g p", "n", [int("axis", 0)]),
            node("Reshape", "x n", "r", []),
            node("Transpose", "r", "t", [ints("perm", &[2, 1, 0])]),
            node("Expand", "t e", "y", []),
        ],
        "y m",
    );
    let constants = [("i", 0), ("j", 2), ("k", 1), ("l", 9)];
    shapes.initializer = constants.map(|(name, value)| tensor(name, &[1], &[value])).to_vec();
    shapes.initializer.push(tensor("e", &[4], &[5, 1, 3, 2]));
    let then = graph(&[], [node("Relu", "x", "t", [])], "t");
    let otherwise = graph(&[], [node("Squeeze", "x", "e", [])], "e");
    let branches = [body("then_branch", then), body("else_branch", otherwise)];
    let branch = graph(&[("x", "Nx1x3"), ("c", "bool:")], [node("If", "c", "y", branches)], "y");
    let inside = [node("Add", "v o", "w", []), node("Identity", "k", "go", [])];
    let inside = graph(&[("n", "int64:"), ("k", "bool:"), ("v", "2")], inside, "go w w");
    let mut repeat =
        graph(&[("x", "2"), ("o", "2")], [node("Loop", "m _ x", "y z", [body("body", inside)])], "y z");
    repeat.initializer = vec![tensor("m", &[], &[4])];
    repeat.value_info = vec![info("y", "2")];
    // Appends one row per iteration to a matrix that is empty at first.
    let append = [
        node("Gather", "x n", "r", []),
        node("Unsqueeze", "r z", "u", []),
        node("MatMul", "u xt", "p", []),
        node("MatMul", "p x", "q", []),
        node("Sub", "u q", "s", []),
        node("Concat", "v s", "w", [int("axis", 0)]),
        node("Identity", "k", "go", []),
    ];
    let append = graph(&[("n", "int64:"), ("k", "bool:"), ("v", "*")], append, "go w");
    let append = node("Loop", "m _ a", "y", [body("body", append)]);
    let mut growing = graph(&[("x", "6x16")], [node("Transpose", "x", "xt", []), append], "y");
    growing.initializer = vec![tensor("m", &[], &[6]), floats("a", &[0, 16], &[]), tensor("z", &[1], &[0])];
    let scale = [node("Mul", "a k", "t", []), node("Transpose", "t", "b", [])];
    let twice = [call("Scale", "p p", "q", []), call("Scale", "q q", "r", [])];
    let called = graph(&[("x", "Nx3")], [call("Twice", "x", "y", []), call("Scale", "x x", "z", [])], "y z");
    let functions = vec![function("Scale", "a k", scale, "b"), function("Twice", "p", twice, "r")];
    vec![
        ("function", Model { functions, ..model(called) }),
        ("convolution", model(convolution)),
        ("shapes", model(shapes)),
        ("branch", model(branch)),
        ("loop", model(repeat)),
        ("growing", model(growing)),
    ]
}

#[test]
fn seeds_are_what_this_makes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/onnx_model");
    let write = std::env::var_os("PLIMSOLL_WRITE_SEEDS").is_some();
    for (name, model) in seeds() {
        let (path, bytes) = (folder.join(format!("{name}.onnx")), model.encode_to_vec());
        if write {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &bytes).unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name}");
        let options = crate::ImportOptions { batch: Some(2), ..crate::ImportOptions::default() };
        crate::read_onnx(&path, &bytes, &options).unwrap();
    }
}
