//! Tests the specified properties of the graph families: sizes, published counts, and reproducible bytes per
//! seed.

use plimsoll_datasets::GenerateError;
use plimsoll_datasets::graphs::{GRAPH_FAMILIES, GraphFamily};
use plimsoll_model::graph::{Graph, LivenessOptions, Role};
use plimsoll_model::{Bytes, OperatorId};
use std::collections::{BTreeMap, HashSet};

fn params(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
    list.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
}

fn make(family: &str, seed: u64, list: &[(&str, u64)]) -> Graph {
    GraphFamily::named(family).unwrap().generate(seed, &params(list)).unwrap()
}

#[test]
fn families_keep_their_promises() {
    let mut names = HashSet::new();
    for family in GRAPH_FAMILIES {
        assert!(names.insert(family.name) && !family.about.is_empty());
        let graph = family.generate(3, &BTreeMap::new()).unwrap();
        assert_eq!((graph.name(), family.version), (format!("{}-3", family.name).as_str(), 1));
        assert_eq!(graph, family.generate(3, &BTreeMap::new()).unwrap());
        let made = graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
        // File order is topological.
        assert!(made.operators.is_sorted(), "{}", family.name);
        // Tensors have their intended names, and none was renamed.
        assert!(graph.tensors().iter().all(|tensor| !tensor.name.contains('~')), "{}", family.name);
        // Every tensor that is produced is read or is an output.
        for (at, tensor) in graph.tensors().iter().enumerate() {
            let id = plimsoll_model::TensorId::at(at);
            let read = !graph.consumers(id).is_empty();
            // Inputs and outputs of regions may have no reader. Loops return values without readers, and
            // mixtures produce unused ones.
            let handed = graph
                .regions()
                .iter()
                .any(|region| region.inputs.contains(&id) || region.outputs.contains(&id));
            let idle = handed || ["loops", "control-mix"].contains(&family.name);
            assert!(read || idle || tensor.role == Role::Output, "{}: {}", family.name, tensor.name);
        }
        let unknown = family.generate(3, &params(&[("colour", 1)]));
        assert!(matches!(unknown, Err(GenerateError::NoParameter { .. })), "{}", family.name);
        for param in family.params {
            assert!(!param.about.is_empty());
            let extreme = family.generate(3, &params(&[(param.name, u64::MAX)]));
            assert!(matches!(extreme, Err(GenerateError::TooBig { .. })), "{} {}", family.name, param.name);
        }
    }
}

fn parameters(graph: &Graph, bytes_each: u64) -> u64 {
    graph.bytes(Role::Weight).get() / bytes_each
}

#[test]
fn parameters_are_as_published() {
    // Rotary tables are not parameters: 1024 positions with 128 cosines and sines, `float32`.
    let tables = 2 * 1024 * 128 * 4;
    let llama = make("llama-13b", 0, &[]);
    assert_eq!((llama.bytes(Role::Weight).get() - tables) / 2, 13_015_864_320);
    let baichuan = make("baichuan-13b", 0, &[]);
    assert_eq!(parameters(&baichuan, 2), 13_264_901_120);
    assert_eq!(parameters(&make("darts", 0, &[]), 4), 3_349_342);
    assert_eq!(parameters(&make("nasnet-a", 0, &[]), 4), 5_289_978);
}

/// The operands of a sum have the same shape for all parameters.
#[test]
fn sums_are_of_equals() {
    for (family, list) in [
        ("nasnet-a", [("filters", 45), ("cells", 1)]),
        ("nasnet-a", [("filters", 6), ("size", 33)]),
        ("darts", [("channels", 3), ("cells", 7)]),
        ("darts", [("channels", 37), ("size", 7)]),
        ("randwire-ws", [("channels", 5), ("size", 9)]),
    ] {
        let graph = make(family, 1, &list);
        for operator in graph.operators().iter().filter(|operator| operator.kind == "Add") {
            let made = &graph.tensor(operator.outputs[0]).shape;
            assert!(
                operator.inputs.iter().all(|&input| graph.tensor(input).shape == *made),
                "{family} {list:?}: {}",
                operator.name
            );
        }
    }
}

#[test]
fn sizes_are_as_asked_for() {
    for n in [1, 2, 17, 1000] {
        for family in ["chain", "in-tree", "layered"] {
            assert_eq!(make(family, 5, &[("n", n)]).operators().len() as u64, n, "{family}");
        }
    }
    let tree = make("in-tree", 9, &[("n", 500)]);
    assert!(tree.tensors().iter().enumerate().all(|(at, tensor)| {
        let readers = tree.consumers(plimsoll_model::TensorId::at(at)).len();
        readers == usize::from(tensor.role != Role::Output)
    }));
    // A node consists of a sum, a ReLU, two convolutions and a normalisation.
    let wired = make("randwire-ba", 1, &[("nodes", 20), ("stages", 3)]);
    assert!((3 * 20 * 4..=3 * 20 * 5 + 3).contains(&wired.operators().len()));
    let output = wired.region(Graph::BODY).outputs[0];
    assert_eq!(wired.tensor(output).shape.as_deref(), Some(&[1, 4 * 78, 7, 7][..]));
    let darts = make("darts", 0, &[]);
    assert_eq!(darts.operator(OperatorId::at(darts.operators().len() - 1)).kind, "Gemm");
}

#[test]
fn the_cache_can_be_passed_or_kept() {
    let short = [("layers", 2), ("tokens", 1), ("cache", 100)];
    let passed = make("llama-13b", 0, &short);
    // Two layers have keys and values with 40 heads of 128 numbers of 2 bytes, for 100 tokens as input and
    // 101 as output.
    let row = 2 * 2 * 40 * 128 * 2;
    assert_eq!(passed.bytes(Role::Input).get(), 100 * row + 2 * 8);
    assert_eq!(passed.bytes(Role::Output).get(), 101 * row + 32_000 * 4);
    let kept = make("llama-13b", 0, &[short.as_slice(), &[("state", 1)]].concat());
    assert_eq!(kept.bytes(Role::State).get(), 101 * row);
    assert_eq!(kept.bytes(Role::Output).get(), 32_000 * 4);
}

#[test]
fn a_hundred_thousand_operators_take_no_time() {
    for family in ["chain", "in-tree", "layered"] {
        assert_eq!(make(family, 1, &[("n", 100_000)]).operators().len(), 100_000);
    }
}
