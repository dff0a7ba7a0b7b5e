//! Compares ONNX models with the results of an independent reader (`scripts/reference/onnx_facts.py`).

use plimsoll_datasets::{CORPORA_VARIABLE, Import, ImportOptions, import_file};
use plimsoll_model::graph::{Graph, Role, Tensor};
use plimsoll_model::{RegionId, TensorId};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

/// Returns the folder of ONNX models. Without one, prints that the test is skipped.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(CORPORA_VARIABLE).filter(|folder| !folder.is_empty());
    if folder.is_none() {
        eprintln!("skipped: {CORPORA_VARIABLE} is not set");
    }
    folder.map(|folder| PathBuf::from(folder).join("onnx"))
}

fn facts() -> Vec<Value> {
    let facts: Value = serde_json::from_str(include_str!("../data/onnx_facts.json")).unwrap();
    facts["models"].as_array().unwrap().clone()
}

fn shape(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).collect()
}

/// Imports the model with the input shapes of the facts.
fn import(facts: &Value) -> Option<Import> {
    let path = folder()?.join(facts["file"].as_str().unwrap());
    let given = facts["input_shapes"].as_object().unwrap();
    let input_shapes = given.iter().map(|(name, list)| (name.clone(), shape(list))).collect();
    // The facts include all operators of the file.
    let options = ImportOptions { input_shapes, keep_constants: true, ..ImportOptions::default() };
    Some(import_file(&path, &options).unwrap_or_else(|error| panic!("{error}")))
}

fn check_interface(graph: &Graph, tensors: &[TensorId], facts: &Value, role: Role) {
    let facts = facts.as_array().unwrap();
    assert_eq!(tensors.len(), facts.len());
    for (&tensor, fact) in tensors.iter().zip(facts) {
        let tensor = graph.tensor(tensor);
        assert_eq!((tensor.name.as_str(), tensor.role), (fact[0].as_str().unwrap(), role));
        let ours = tensor.shape.as_ref().unwrap();
        assert_eq!(*ours, shape(&fact[1]), "{}", tensor.name);
    }
}

/// Imports the model and compares its operators, constants, inputs and outputs with the facts.
fn check(facts: &Value) -> Option<Import> {
    let import = import(facts)?;
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
    Some(import)
}

#[test]
fn weights_made_by_operators_count_as_weights_unless_kept() {
    let Some(folder) = folder() else { return };
    let read = |keep_constants| {
        let options = ImportOptions { keep_constants, ..ImportOptions::default() };
        import_file(&folder.join("light_vgg19.onnx"), &options).unwrap()
    };
    let (kept, folded) = (read(true), read(false));
    // VGG-19 has 143,667,240 `float32` parameters (Simonyan and Zisserman 2015).
    assert!(folded.graph.bytes(Role::Weight).get() >= 143_667_240 * 4);
    assert!(kept.graph.bytes(Role::Weight).get() < 10_000);
    let gone = kept.graph.operators().len() - folded.graph.operators().len();
    assert_eq!(
        folded.assumed,
        [format!("{gone} operators read only constants: their outputs count as weights")]
    );
}

#[test]
fn classic_networks_match_shape_inference() {
    let facts = facts();
    let mut compared = 0;
    for facts in facts.iter().filter(|facts| facts["executed"].is_null()) {
        let Some(import) = check(facts) else { return };
        assert_eq!(import.assumed, [""; 0]);
        let unsized_names = facts["unsized_tensors"].as_array().unwrap().iter();
        let unsized_names: HashSet<&str> = unsized_names.map(|name| name.as_str().unwrap()).collect();
        let (mut tensors, mut bytes) = (0, 0);
        for tensor in import.graph.tensors() {
            if tensor.role != Role::Weight && !unsized_names.contains(tensor.name.as_str()) {
                (tensors, bytes) = (tensors + 1, bytes + tensor.bytes.get());
            }
        }
        let number = |name: &str| facts[name].as_u64().unwrap();
        assert_eq!((tensors, bytes), (number("sized_tensors"), number("sized_bytes")), "{}", facts["file"]);
        compared += tensors;
    }
    // These are all tensors except the masks of six dropouts.
    assert_eq!(compared, 4034);
}

#[test]
fn nested_branches_are_what_runs_make() {
    let facts = facts();
    let mut compared = 0;
    for facts in facts.iter().filter(|facts| !facts["executed"].is_null()) {
        let Some(import) = check(facts) else { return };
        let tensors = import.graph.tensors();
        let known: HashMap<&str, &Tensor> = tensors.iter().map(|t| (t.name.as_str(), t)).collect();
        for fact in facts["executed"].as_array().unwrap() {
            let tensor = known[fact[0].as_str().unwrap()];
            let ours = (tensor.bytes.get(), tensor.shape.clone().unwrap());
            assert_eq!(
                ours,
                (fact[1].as_u64().unwrap(), shape(&fact[2])),
                "{}: {}",
                facts["file"],
                tensor.name
            );
            compared += 1;
        }
        // Only branches that never run or cannot run lead to assumptions.
        for line in &import.assumed {
            assert!(line.contains("never runs") || line.contains("cannot run"), "{line}");
        }
    }
    assert_eq!(compared, 779);
}
