//! Tests that orders and properties are written into files, and that everything else stays unchanged.

use super::{body, graph, int, model, node, read, tensor};
use crate::import::{Import, ImportOptions};
use crate::onnx::proto::Graph;
use crate::onnx::{reordered, with_properties};
use crate::rewrite::{ModelFile, ModelFormat};
use plimsoll_model::{OperatorId, RegionId};
use prost::Message;
use std::path::Path;

fn made(import: &Import) -> Vec<&str> {
    let operators = import.graph.operators().iter();
    operators.map(|operator| import.graph.tensor(operator.outputs[0]).name.as_str()).collect()
}

/// Returns a branch whose tensor names start with `prefix`. The two branches of an `If` may use the same
/// names.
fn branch(prefix: &str) -> Graph {
    let name = |name: &str| format!("{prefix}{name}");
    let nodes = [
        node("Relu", "x", &name("p"), []),
        node("Relu", "x", &name("q"), []),
        node("Neg", &name("p"), &name("r"), []),
        node("Add", &format!("{prefix}q {prefix}r"), &name("s"), []),
    ];
    graph(&[], nodes, &name("s"))
}

/// Returns a file with a constant node, two chains, an `If` with two branches, and an unknown field.
fn file() -> (Vec<u8>, Import) {
    let nodes = [
        node("Constant", "", "k", [int("value_int", 1)]),
        node("Relu", "x", "a", []),
        node("Relu", "x", "b", []),
        node("Neg", "a", "c", []),
        node("If", "on", "d", [body("then_branch", branch("t")), body("else_branch", branch("e"))]),
        node("Sum", "b c d", "y", []),
    ];
    let mut model = model(graph(&[("x", "4x4"), ("on", "bool:")], nodes, "y"));
    model.graph.as_mut().unwrap().initializer.push(tensor("w", &[1], &[1]));
    let mut bytes = model.encode_to_vec();
    // A field that this importer does not know: number 1000, three bytes.
    bytes.extend([0xc2, 0x3e, 3, 1, 2, 3]);
    let import = read(&model, &ImportOptions::default()).unwrap();
    (bytes, import)
}

fn decode(bytes: &[u8]) -> Import {
    let model = crate::onnx::proto::Model::decode(bytes::Bytes::copy_from_slice(bytes)).unwrap();
    read(&model, &ImportOptions::default()).unwrap()
}

#[test]
fn nodes_take_the_planned_order() {
    let (bytes, import) = file();
    assert_eq!(made(&import), ["a", "b", "c", "d", "tp", "tq", "tr", "ts", "ep", "eq", "er", "es", "y"]);
    let ids = |list: &[u32]| list.iter().copied().map(OperatorId::new).collect::<Vec<_>>();
    let orders = [ids(&[3, 0, 2, 1, 12]), ids(&[4, 6, 5, 7]), ids(&[8, 9, 10, 11])];
    let changed = reordered(&bytes, &import.graph, &orders).unwrap();
    assert_eq!(changed.len(), bytes.len());
    assert!(changed.ends_with(&[0xc2, 0x3e, 3, 1, 2, 3]), "unknown fields survive");
    let file = ModelFile::new(Path::new("m.onnx"), ModelFormat::Onnx, bytes.clone());
    let written = file.reordered(&import, &orders).unwrap();
    assert_eq!(written.bytes(), changed);
    let misordered = |orders| written.first_misordered(&import, orders, &ImportOptions::default()).unwrap();
    assert_eq!(misordered(&orders), None);
    assert_eq!(
        misordered(&[orders[0].clone(), orders[1].clone(), ids(&[9, 8, 10, 11])]),
        Some(RegionId::new(2))
    );
    let names = ["d", "tp", "tr", "tq", "ts", "ep", "eq", "er", "es", "a", "c", "b", "y"];
    assert_eq!(made(&decode(&changed)), names);
    let mut sorted = [bytes.clone(), changed.clone()];
    for bytes in &mut sorted {
        bytes.sort_unstable();
    }
    assert_eq!(sorted[0], sorted[1], "only places change");
    // An order that breaks a dependence is repaired, so that the file stays valid.
    let broken = [ids(&[12, 3, 0, 2, 1]), orders[1].clone(), orders[2].clone()];
    let repaired = reordered(&bytes, &import.graph, &broken).unwrap();
    assert_eq!(*made(&decode(&repaired)).last().unwrap(), "y");
}

#[test]
fn branches_may_use_the_same_names() {
    let nodes = [
        node("If", "on", "a", [body("then_branch", branch("")), body("else_branch", branch(""))]),
        node("If", "on", "b", [body("then_branch", branch("")), body("else_branch", branch(""))]),
        node("Add", "a b", "y", []),
    ];
    let model = model(graph(&[("x", "4x4"), ("on", "bool:")], nodes, "y"));
    let import = read(&model, &ImportOptions::default()).unwrap();
    let file = ModelFile::new(Path::new("m.onnx"), ModelFormat::Onnx, model.encode_to_vec());
    let ids = |list: &[u32]| list.iter().copied().map(OperatorId::new).collect::<Vec<_>>();
    // The second `If` comes first, and each branch has an order of its own.
    let branches = [ids(&[1, 3, 2, 4]), ids(&[6, 5, 7, 8]), ids(&[11, 10, 12, 13]), ids(&[14, 15, 16, 17])];
    let orders = [&[ids(&[9, 0, 18])], &branches[..]].concat();
    let written = file.reordered(&import, &orders).unwrap();
    let misordered = written.first_misordered(&import, &orders, &ImportOptions::default()).unwrap();
    assert_eq!(misordered, None);
    assert_ne!(written.bytes(), file.bytes());
}

#[test]
fn properties_are_added_and_replaced() {
    let (bytes, _) = file();
    let one = with_properties(&bytes, &[("plimsoll.arena", "16".to_owned())]).unwrap();
    assert!(one.starts_with(&bytes));
    let two = with_properties(&one, &[("plimsoll.arena", "32".to_owned())]).unwrap();
    assert_eq!((two.len(), two.starts_with(&bytes)), (one.len(), true));
    let text = String::from_utf8_lossy(&two).into_owned();
    assert!(text.contains("plimsoll.arena\u{12}\u{2}32") && !text.contains("\u{2}16"));
    assert_eq!(made(&decode(&two)), made(&decode(&bytes)));
}

#[test]
fn damaged_files_are_refused() {
    let (bytes, import) = file();
    let twice = [bytes.clone(), bytes.clone()].concat();
    let orders = vec![Vec::new(); 3];
    let error = reordered(&twice, &import.graph, &orders).unwrap_err().to_string();
    assert_eq!(error, "a model without exactly one graph is not supported: there are 2 graph fields");
    let cut = &bytes[..bytes.len() - 1];
    let error = with_properties(cut, &[]).unwrap_err().to_string();
    assert!(error.starts_with("damaged: no valid protobuf field at byte "), "{error}");
}
