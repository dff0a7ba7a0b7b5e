//! The memory of `tflite-micro` that is not planned, and operators that it cannot run. The figures of whole
//! models are those of the interpreter of the package `tflite-micro` 0.dev20261023182759.

use crate::tflite_writer::*;
use plimsoll_datasets::{
    ImportOptions, MicroOverhead, ModelFile, ModelFormat, Pointers, Scratch, read_tflite,
};
use plimsoll_model::Bytes;
use std::path::Path;

const UINT8: i8 = 3;
const CONV_2D: i32 = 3;
const FULLY_CONNECTED: i32 = 9;
const CUSTOM: i32 = 32;
const MEAN: i32 = 40;
const BATCH_MATMUL: i32 = 126;
const STABLEHLO_CBRT: i32 = 208;
const ASSIGN_VARIABLE: i32 = 144;
const VAR_HANDLE: i32 = 142;

fn one(tensors: Vec<TensorSpec>, outputs: &[i32], operators: Vec<OperatorSpec>) -> ModelSpec {
    let (inputs, outputs, name) = (vec![0], outputs.to_vec(), "main".to_owned());
    model(vec![SubgraphSpec { name, tensors, inputs, outputs, operators }])
}

fn overhead(spec: &ModelSpec, scratch: &[Scratch], pointers: Pointers) -> MicroOverhead {
    let file = ModelFile::new(Path::new("tiny.tflite"), ModelFormat::TfLite, spec.write());
    file.with_scratch(scratch.to_vec()).micro_overhead(pointers).unwrap()
}

/// Returns tail and start of a model for 64-bit pointers.
fn figures(spec: &ModelSpec) -> (u64, u64) {
    let found = overhead(spec, &[], Pointers::Bits64);
    assert_eq!(found.unknown, [""; 0]);
    (found.tail.get(), found.start.get())
}

fn dense() -> ModelSpec {
    let tensors = vec![
        tensor("x", FLOAT32, &[1, 16]),
        tensor("w", FLOAT32, &[4, 16]).buffer(1),
        tensor("y", FLOAT32, &[1, 4]),
    ];
    one(tensors, &[2], vec![operator(FULLY_CONNECTED, &[0, 1], &[2])]).data(256)
}

fn convolution() -> ModelSpec {
    let tensors = vec![
        tensor("x", INT8, &[1, 4, 4, 3]).scaled(1),
        tensor("w", INT8, &[5, 1, 1, 3]).buffer(1).scaled(5),
        tensor("b", INT32, &[5]).buffer(2).scaled(5),
        tensor("y", INT8, &[1, 4, 4, 5]).scaled(1),
    ];
    one(tensors, &[3], vec![operator(CONV_2D, &[0, 1, 2], &[3])]).data(15).data(20)
}

#[test]
fn persistent_data_equals_that_of_the_interpreter() {
    assert_eq!(figures(&dense()), (896, 1120));
    assert_eq!(figures(&convolution()), (1056, 1744));
    let tensors = vec![
        tensor("x", INT8, &[1, 6, 6, 3]).scaled(1),
        tensor("axes", INT32, &[2]).buffer(1),
        tensor("y", INT8, &[1, 1, 1, 3]).scaled(1),
    ];
    let mean = one(tensors, &[2], vec![operator(MEAN, &[0, 1], &[2])]).data(8);
    assert_eq!(figures(&mean), (912, 1376));
    // The second operand is transposed, and the kernel keeps the copy.
    let tensors = vec![
        tensor("x", FLOAT32, &[1, 6, 7]),
        tensor("w", FLOAT32, &[1, 7, 3]).buffer(1),
        tensor("y", FLOAT32, &[1, 6, 3]),
    ];
    let product = one(tensors, &[2], vec![operator(BATCH_MATMUL, &[0, 1], &[2])]).data(84);
    assert_eq!(figures(&product).0, 992);
}

#[test]
fn variables_requests_and_pointers_count() {
    let tail = |spec: &ModelSpec| figures(spec).0;
    let mut spec = dense();
    spec.subgraphs[0].tensors.push(tensor("state", FLOAT32, &[33]).variable());
    // An `EvalTensor` of 24 bytes, and 132 bytes, both rounded with what precedes them.
    assert_eq!(tail(&spec), tail(&dense()) + 24 + 144 - 8);
    let requests = [Scratch { subgraph: 0, operator: 0, bytes: 70 }; 3];
    let more = overhead(&dense(), &requests, Pointers::Bits64);
    assert!(more.tail > Bytes::new(tail(&dense())) && more.start > Bytes::new(figures(&dense()).1));
    let small = overhead(&convolution(), &[], Pointers::Bits32);
    assert!(small.tail < Bytes::new(tail(&convolution())) && small.tail > Bytes::new(500), "{small:?}");
    assert_eq!(small.arena(Bytes::new(10)), small.start);
    assert_eq!(small.arena(Bytes::new(5000)), Bytes::new(5000 + small.tail.get()));
}

#[test]
fn resource_variables_have_persistent_memory() {
    let assigned = |bytes: i32| {
        let tensors = vec![tensor("x", INT8, &[bytes]), tensor("handle", RESOURCE, &[1])];
        let mut handle = operator(VAR_HANDLE, &[], &[1]).options(false, 111, &[]);
        handle.texts.push((1, "state".to_owned()));
        figures(&one(tensors, &[0], vec![handle, operator(ASSIGN_VARIABLE, &[1, 0], &[])])).0
    };
    assert_eq!(assigned(100) - assigned(4), 112 - 16);
}

#[test]
fn custom_operators_are_named() {
    let custom = |name: &str| OperatorSpec { custom: Some(name.to_owned()), ..operator(CUSTOM, &[0], &[1]) };
    let spec = |name: &str| {
        let tensors = vec![tensor("x", INT8, &[1, 5, 1, 9]), tensor("y", INT8, &[1, 5, 1, 9])];
        one(tensors, &[1], vec![custom(name)])
    };
    assert_eq!(overhead(&spec("Own"), &[], Pointers::Bits64).unknown, ["Own"]);
    let known = overhead(&spec("SignalEnergy"), &[], Pointers::Bits64);
    assert_eq!(known.unknown, [""; 0]);
    assert_eq!(known.tail.get(), overhead(&spec("Own"), &[], Pointers::Bits64).tail.get() + 16);
}

#[test]
fn operators_that_the_runtime_cannot_run_are_found() {
    let found = |spec: &ModelSpec| -> Vec<String> {
        let options = ImportOptions { assume_bytes: Some(10), ..ImportOptions::default() };
        let import = read_tflite(Path::new("tiny.tflite"), &spec.write(), &options).unwrap();
        import.unrunnable.iter().map(ToString::to_string).collect()
    };
    assert_eq!(found(&dense()), [""; 0]);
    assert_eq!(found(&convolution()), [""; 0]);
    let mut hybrid = dense();
    hybrid.subgraphs[0].tensors[1].element = INT8;
    hybrid.buffers[1] = BufferSpec::Data(vec![7; 64]);
    let reason = "its kernel does not support float32 activations with int8 weights (a hybrid model)";
    assert_eq!(found(&hybrid), [format!("FULLY_CONNECTED (1 operator): {reason}")]);
    let mut old = convolution();
    for at in [0, 1, 3] {
        old.subgraphs[0].tensors[at].element = UINT8;
    }
    let reason = "its kernel does not support uint8 activations with uint8 weights";
    assert_eq!(found(&old), [format!("CONV_2D (1 operator): {reason}")]);
    let name = |name: &str| Some(name.to_owned());
    let tensors = (0..4).map(|at| tensor(&format!("t{at}"), FLOAT32, &[1, 8])).collect();
    let flex =
        |input, output| OperatorSpec { custom: name("FlexErf"), ..operator(CUSTOM, &[input], &[output]) };
    let operators = vec![flex(0, 1), operator(STABLEHLO_CBRT, &[1], &[2]), flex(2, 3)];
    assert_eq!(
        found(&one(tensors, &[3], operators)),
        [
            "FlexErf (2 operators): it needs the kernels of TensorFlow",
            "STABLEHLO_CBRT (1 operator): the runtime has no kernel for it",
        ]
    );
}
