//! Tests `WHILE` operators that change the shapes of carried tensors.

use crate::tflite_writer::{BOOL, FLOAT32, INT32, ModelSpec, TensorSpec, model, operator, subgraph, tensor};
use plimsoll_datasets::{Import, ImportOptions, read_tflite};
use std::path::Path;

const ADD: i32 = 0;
const CONCATENATION: i32 = 2;
const LESS: i32 = 58;
const WHILE: i32 = 119;

fn free(name: &str) -> TensorSpec {
    tensor(name, FLOAT32, &[1, 3]).signed(&[-1, 3])
}

/// Returns a model whose loop starts at `start`, adds `step` to the counter while it is below `end`, and
/// concatenates `x` with itself. If `start` is `None`, the counter is an input of the model.
fn counting(start: Option<i32>, step: i32, end: i32) -> ModelSpec {
    let first = tensor("first", INT32, &[]);
    let first = if start.is_some() { first.buffer(1) } else { first };
    let tensors = vec![first, free("x"), tensor("count", INT32, &[]), free("out")];
    let repeat = operator(WHILE, &[0, 1], &[2, 3]).options(false, 93, &[(0, 1), (1, 2)]);
    let inputs: &[i32] = if start.is_some() { &[1] } else { &[0, 1] };
    let main = subgraph("", tensors, inputs, &[3], vec![repeat]);
    let tensors = vec![
        tensor("i", INT32, &[]),
        free("tested"),
        tensor("end", INT32, &[]).buffer(3),
        tensor("go", BOOL, &[]),
    ];
    let condition = subgraph("", tensors, &[0, 1], &[3], vec![operator(LESS, &[0, 2], &[3])]);
    let tensors = vec![
        tensor("i", INT32, &[]),
        free("given"),
        tensor("step", INT32, &[]).buffer(2),
        tensor("j", INT32, &[]),
        free("twice"),
    ];
    let double = operator(CONCATENATION, &[1, 1], &[4]).options(false, 10, &[(0, 0)]);
    let body = subgraph("", tensors, &[0, 1], &[3, 4], vec![operator(ADD, &[0, 2], &[3]), double]);
    let values = [start.unwrap_or(0), step, end];
    values.iter().fold(model(vec![main, condition, body]), |model, &value| model.values(&[value]))
}

fn read(model: &ModelSpec, trips: Option<u64>) -> Result<Import, String> {
    let options = ImportOptions { trips, ..ImportOptions::default() };
    read_tflite(Path::new("tiny.tflite"), &model.write(), &options).map_err(|error| error.to_string())
}

/// Returns the first extent of each of these tensors.
fn rows<const N: usize>(import: &Import, names: [&str; N]) -> [u64; N] {
    names.map(|name| {
        let tensor = import.graph.tensors().iter().find(|tensor| tensor.name == name).unwrap();
        tensor.shape.as_ref().unwrap()[0]
    })
}

#[test]
fn counters_give_the_number_of_iterations() {
    let names = ["tested", "given", "twice", "out"];
    let import = read(&counting(Some(0), 1, 5), None).unwrap();
    assert_eq!(rows(&import, names), [32, 16, 32, 32]);
    assert!(import.sizes.assumed.is_empty() && import.sizes.declared.is_empty(), "{:?}", import.sizes);
    let import = read(&counting(Some(-3), 4, 7), None).unwrap();
    assert_eq!(rows(&import, names), [8, 4, 8, 8]);
    let never = read(&counting(Some(4), 1, 4), None).unwrap();
    assert_eq!(rows(&never, ["tested", "out"]), [1, 1]);
}

#[test]
fn the_number_of_iterations_may_be_assumed() {
    let unknown = counting(None, 1, 5);
    let error = read(&unknown, None).unwrap_err();
    assert!(
        error.contains("1x3, then 2x3") && error.contains("; --trips N gives the largest number"),
        "{error}"
    );
    let import = read(&unknown, Some(3)).unwrap();
    assert_eq!(rows(&import, ["tested", "given", "twice", "out"]), [8, 4, 8, 8]);
    assert_eq!(import.sizes.assumed, ["out", "tested", "given", "twice"]);
    let error = read(&counting(Some(0), 1, 5), Some(3)).unwrap_err();
    assert!(error.contains("--trips 3: the model has no loop"), "{error}");
}

#[test]
fn endless_loops_are_refused() {
    let error = read(&counting(Some(0), 0, 5), None).unwrap_err();
    assert!(error.contains("its shape changes between iterations"), "{error}");
}
