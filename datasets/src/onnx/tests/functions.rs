//! Tests the functions that a file defines.

use super::{body, graph, info, int, ints, model, node, read, shown};
use crate::import::ImportOptions;
use crate::onnx::proto::{Attribute, Function, Graph, Model, Node, OperatorSet};
use prost::Message;

pub fn function(name: &str, inputs: &str, nodes: impl Into<Vec<Node>>, outputs: &str) -> Function {
    let list = |names: &str| names.split_whitespace().map(str::to_owned).collect();
    let opset_import = vec![OperatorSet { domain: String::new(), version: 17 }];
    let (name, domain) = (name.to_owned(), "local".to_owned());
    let (input, output, node) = (list(inputs), list(outputs), nodes.into());
    Function { name, input, output, node, opset_import, domain, ..Function::default() }
}

pub fn call(name: &str, inputs: &str, outputs: &str, attributes: impl Into<Vec<Attribute>>) -> Node {
    Node { domain: "local".to_owned(), ..node(name, inputs, outputs, attributes) }
}

fn referring(name: &str, to: &str) -> Attribute {
    Attribute { name: name.to_owned(), ref_attr_name: to.to_owned(), ..Attribute::default() }
}

fn with(graph: Graph, functions: impl Into<Vec<Function>>) -> Model {
    Model { functions: functions.into(), ..model(graph) }
}

fn error(graph: Graph, functions: impl Into<Vec<Function>>) -> String {
    read(&with(graph, functions), &ImportOptions::default()).unwrap_err().to_string()
}

#[test]
fn a_call_becomes_the_body() {
    let inner = function("Half", "a", [node("Transpose", "a", "t", []), node("Relu", "t", "b", [])], "b");
    let outer = function("Both", "p q", [call("Half", "p", "u", []), node("MatMul", "u q", "r", [])], "r");
    let called =
        graph(&[("x", "2x3"), ("z", "2x5")], [call("Both", "x z", "y", []), call("Half", "y", "h", [])], "h");
    let import = read(&with(called, [inner, outer]), &ImportOptions::default()).unwrap();
    let kinds: Vec<&str> = import.graph.operators().iter().map(|operator| operator.kind.as_str()).collect();
    assert_eq!(kinds, ["Transpose", "Relu", "MatMul", "Transpose", "Relu"]);
    assert_eq!(
        [shown(&import, "y/u/t"), shown(&import, "y/u"), shown(&import, "y"), shown(&import, "h/t")],
        ["float32:3x2", "float32:3x2", "float32:3x5", "float32:5x3"]
    );
}

#[test]
fn indices_are_those_of_nodes_in_the_file() {
    let constant = |name: &str| node("Constant", "", name, [ints("value_ints", &[1, 2])]);
    let half = function(
        "Half",
        "a",
        [constant("k"), node("Transpose", "a", "t", []), node("Relu", "t", "b", [])],
        "b",
    );
    let then = graph(&[], [constant("c"), node("Neg", "y", "n", [])], "n");
    let otherwise = graph(&[], [node("Abs", "y", "m", []), node("Neg", "m", "o", [])], "o");
    let branches = [body("then_branch", then), body("else_branch", otherwise)];
    let nodes = [
        constant("w"),
        call("Half", "x", "y", []),
        constant("v"),
        node("If", "c", "r", branches),
        node("Abs", "r", "z", []),
    ];
    let mut file = with(graph(&[("x", "2x3"), ("c", "bool:")], nodes, "z"), [half]);
    // An index in the file has no effect.
    file.graph.as_mut().unwrap().node[4].index = 7;
    let import = read(&file, &ImportOptions::default()).unwrap();
    let kinds = import.graph.operators().iter().map(|operator| operator.kind.as_str());
    let places: Vec<(&str, usize)> = kinds.zip(import.places.iter().map(|place| place.index)).collect();
    let expected = [("Transpose", 1), ("Relu", 1), ("If", 3), ("Neg", 1), ("Abs", 0), ("Neg", 1), ("Abs", 4)];
    assert_eq!(places, expected);
}

#[test]
fn attributes_are_those_of_the_call_or_defaults() {
    let soft = node("Transpose", "a", "t", [referring("perm", "order"), referring("none", "absent")]);
    let cast = node("Cast", "t", "b", [referring("to", "kind")]);
    let mut turn = function("Turn", "a", [soft, cast], "b");
    turn.attribute_proto = vec![int("kind", 10)];
    let given = graph(
        &[("x", "2x3x4")],
        [call("Turn", "x", "y", [ints("order", &[1, 0, 2])]), call("Turn", "x", "z", [int("kind", 11)])],
        "y z",
    );
    let import = read(&with(given, [turn]), &ImportOptions::default()).unwrap();
    assert_eq!([shown(&import, "y"), shown(&import, "z")], ["float16:3x2x4", "float64:4x3x2"]);
}

#[test]
fn bodies_inside_see_the_names_of_the_call() {
    let then = graph(&[], [node("Add", "a k", "s", [])], "s");
    let otherwise = graph(&[], [call("Twice", "a", "s", [])], "s");
    let branches = [body("then_branch", then), body("else_branch", otherwise)];
    let nodes = [node("Relu", "a", "k", []), node("If", "c", "b", branches)];
    let functions = [
        function("Choose", "a c", nodes, "b"),
        function("Twice", "v", [node("Add", "v v", "k", []), node("Neg", "k", "w", [])], "w"),
    ];
    // A name of the graph coincides with a name inside the function.
    let taken = node("Relu", "x", "y/k", []);
    let called = graph(
        &[("x", "2x3"), ("flag", "bool:")],
        [taken, call("Choose", "x flag", "y", []), call("Choose", "y/k flag", "z", [])],
        "y z",
    );
    let import = read(&with(called, functions), &ImportOptions::default()).unwrap();
    assert_eq!((import.graph.operators().len(), import.graph.regions().len()), (11, 5));
    assert_eq!([shown(&import, "y"), shown(&import, "y/k~")], ["float32:2x3"; 2]);
}

#[test]
fn operands_may_be_absent_or_passed_through() {
    let clip = function("Bound", "a low high", [node("Clip", "a low high", "b", [])], "b a");
    let called = graph(&[("x", "2x3")], [call("Bound", "x", "y z", [])], "y z");
    let import = read(&with(called, [clip]), &ImportOptions::default()).unwrap();
    assert_eq!([shown(&import, "y"), shown(&import, "z")], ["float32:2x3"; 2]);
}

#[test]
fn what_has_a_rule_keeps_it_and_overloads_differ() {
    let mut relu = function("Relu", "a", [node("Flatten", "a", "b", [])], "b");
    relu.domain = String::new();
    let called = graph(&[("x", "2x3x4")], [node("Relu", "x", "y", [])], "y");
    assert_eq!(shown(&read(&with(called, [relu]), &ImportOptions::default()).unwrap(), "y"), "float32:2x3x4");
    let mut other = function("F", "a", [node("Flatten", "a", "b", [])], "b");
    other.overload = "flat".to_owned();
    let plain = function("F", "a", [node("Relu", "a", "b", [])], "b");
    let mut flat = call("F", "x", "z", []);
    flat.overload = "flat".to_owned();
    let called = graph(&[("x", "2x3x4")], [call("F", "x", "y", []), flat], "y z");
    let import = read(&with(called, [plain, other]), &ImportOptions::default()).unwrap();
    assert_eq!([shown(&import, "y"), shown(&import, "z")], ["float32:2x3x4", "float32:2x12"]);
}

#[test]
fn a_function_names_its_own_version() {
    // Up to version 9, the mask had the type of the input.
    let mut old = function("Drop", "a", [node("Dropout", "a", "b m", [])], "b m");
    old.opset_import[0].version = 9;
    let called =
        graph(&[("x", "2x3")], [call("Drop", "x", "y m", []), node("Dropout", "x", "z n", [])], "y m z n");
    let import = read(&with(called, [old]), &ImportOptions::default()).unwrap();
    assert_eq!([shown(&import, "m"), shown(&import, "n")], ["float32:2x3", "bool:2x3"]);
}

#[test]
fn recursion_and_floods_are_refused() {
    let called = || graph(&[("x", "2")], [call("F", "x", "y", [])], "y");
    let ring = [
        function("F", "a", [call("G", "a", "b", [])], "b"),
        function("G", "a", [call("F", "a", "b", [])], "b"),
    ];
    assert_eq!(
        error(called(), ring),
        "m.onnx: damaged: function local.F calls itself: local.F -> local.G -> local.F"
    );
    let level = |at: usize| {
        let next = format!("L{}", at + 1);
        let nodes = [call(&next, "a", "t", []), call(&next, "t", "b", [])];
        function(&format!("L{at}"), "a", nodes, "b")
    };
    let mut doubling: Vec<Function> = (0..40).map(level).collect();
    doubling.push(function("L40", "a", [node("Relu", "a", "b", [])], "b"));
    let start = graph(&[("x", "2")], [call("L0", "x", "y", [])], "y");
    let message = error(start.clone(), doubling.clone());
    assert!(message.contains("take more than 134217728 bytes after replacing the calls"), "{message}");
    let mut chain: Vec<Function> = (0..70)
        .map(|at| function(&format!("L{at}"), "a", [call(&format!("L{}", at + 1), "a", "b", [])], "b"))
        .collect();
    chain.push(function("L70", "a", [node("Relu", "a", "b", [])], "b"));
    assert_eq!(
        error(start, chain),
        "m.onnx: damaged: function bodies and calls are nested more than 64 deep"
    );
    let few = function("F", "a", [node("Relu", "a", "b", [])], "b");
    let many = graph(&[("x", "2")], [call("F", "x x", "y", [])], "y");
    assert_eq!(error(many, [few]), "m.onnx: damaged: 'y' has 2 inputs, but function local.F has 1");
}

#[test]
fn declared_shapes_and_counted_parts() {
    let mut odd = function(
        "F",
        "a",
        [Node { domain: "odd".to_owned(), ..node("Magic", "a", "t", []) }, node("Relu", "t", "b", [])],
        "b",
    );
    odd.value_info = vec![info("t", "7x7")];
    let called = graph(&[("x", "2")], [call("F", "x", "y", [])], "y");
    let whole = with(called, [odd]);
    assert_eq!(shown(&read(&whole, &ImportOptions::default()).unwrap(), "y"), "float32:7x7");
    let bytes = whole.encode_to_vec();
    let parts = crate::onnx::proto::count_parts(&bytes, 1000);
    let bare =
        crate::onnx::proto::count_parts(&Model { functions: Vec::new(), ..whole }.encode_to_vec(), 1000);
    // The parts are one function, its two names, two nodes with two names each, the version, and the declared
    // tensor with five messages.
    assert_eq!(parts - bare, 1 + 2 + 2 + 4 + 1 + 6);
}
