//! ONNX models against what an independent reader says of them (`scripts/reference/onnx_facts.py`).

use plimsoll_datasets::{CORPORA_VARIABLE, Import, ImportOptions, import_file};
use plimsoll_model::graph::{Graph, Role};
use plimsoll_model::{RegionId, TensorId};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// The folder of ONNX models, or a line saying that this test was skipped.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(CORPORA_VARIABLE).filter(|folder| !folder.is_empty());
    if folder.is_none() {
        eprintln!("skipped: {CORPORA_VARIABLE} is not set");
    }
    folder.map(|folder| PathBuf::from(folder).join("onnx"))
}

fn facts() -> Vec<Value> {
    let facts: Value = serde_json::from_str(include_str!("data/onnx_facts.json")).unwrap();
    facts["models"].as_array().unwrap().clone()
}

fn shape(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).collect()
}

/// The model, with shapes of inputs as the facts have them.
fn import(facts: &Value) -> Option<Import> {
    let path = folder()?.join(facts["file"].as_str().unwrap());
    let given = facts["input_shapes"].as_object().unwrap();
    let input_shapes = given.iter().map(|(name, list)| (name.clone(), shape(list))).collect();
    let options = ImportOptions { input_shapes, ..ImportOptions::default() };
    Some(import_file(&path, &options).unwrap_or_else(|error| panic!("{error}")))
}

fn check_interface(graph: &Graph, tensors: &[TensorId], facts: &Value, role: Role) {
    let facts = facts.as_array().unwrap();
    assert_eq!(tensors.len(), facts.len());
    for (&tensor, fact) in tensors.iter().zip(facts) {
        let tensor = graph.tensor(tensor);
        assert_eq!((tensor.name.as_str(), tensor.role), (fact[0].as_str().unwrap(), role));
        let ours = tensor.shape.as_ref().unwrap();
        let theirs = fact[1].as_array().unwrap();
        assert_eq!(ours.len(), theirs.len(), "{}", tensor.name);
        for (&ours, theirs) in ours.iter().zip(theirs) {
            assert!(theirs.as_u64().is_none_or(|theirs| theirs == ours), "{}", tensor.name);
        }
    }
}

fn check(facts: &Value) {
    let Some(import) = import(facts) else { return };
    let (graph, file) = (&import.graph, &facts["file"]);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for operator in graph.operators() {
        *kinds.entry(&operator.kind).or_default() += 1;
    }
    let theirs = facts["operators"].as_object().unwrap();
    let theirs: BTreeMap<&str, u64> = theirs.iter().map(|(k, n)| (k.as_str(), n.as_u64().unwrap())).collect();
    assert_eq!(kinds, theirs, "{file}");
    assert_eq!(graph.bytes(Role::Weight).get(), facts["weight_bytes"].as_u64().unwrap(), "{file}");
    let body = graph.region(RegionId::new(0));
    check_interface(graph, &body.inputs, &facts["inputs"], Role::Input);
    check_interface(graph, &body.outputs, &facts["outputs"], Role::Output);

    let unsized_names: HashSet<&str> =
        facts["unsized_tensors"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let mut both = (0, 0);
    for tensor in graph.tensors() {
        if tensor.role != Role::Weight && !unsized_names.contains(tensor.name.as_str()) {
            both = (both.0 + 1, both.1 + tensor.bytes.get());
        }
    }
    let number = |name: &str| facts[name].as_u64().unwrap();
    assert_eq!(both, (number("sized_tensors"), number("sized_bytes")), "{file}");
}

#[test]
fn classic_networks_are_what_the_reader_says() {
    for facts in facts().iter().filter(|facts| facts["file"].as_str().unwrap().starts_with("light")) {
        check(facts);
    }
}

#[test]
fn nested_branches_are_what_the_reader_says() {
    for facts in facts().iter().filter(|facts| facts["file"].as_str().unwrap().starts_with("silero")) {
        check(facts);
        if let Some(import) = import(facts) {
            for line in import.assumed {
                eprintln!("{line}");
            }
        }
    }
}
