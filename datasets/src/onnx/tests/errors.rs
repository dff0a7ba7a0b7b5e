//! Tests that invalid models are rejected, and their error messages.

use super::{body, error, graph, import, info, int, model, node, read, shown, tensor, text};
use crate::import::{ImportError, ImportOptions, ImportProblem};
use crate::model_file::read_onnx;
use crate::onnx::proto::{self, Graph, Tensor, Type, ValueInfo};
use plimsoll_model::graph::Role;
use prost::Message;
use std::path::Path;

fn free() -> Graph {
    graph(&[("x", "Nx3xH"), ("z", "?x2")], [node("Relu", "x", "y", [])], "y")
}

/// Imports the graph. Returns the element type and the shape of `y`, or the error message.
fn with(graph: Graph, options: &ImportOptions) -> String {
    match read(&model(graph), options) {
        Ok(import) => shown(&import, "y"),
        Err(error) => error.to_string(),
    }
}

fn dims(list: &[(&str, u64)]) -> ImportOptions {
    let dims = list.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    ImportOptions { dims, ..ImportOptions::default() }
}

fn shapes(mut options: ImportOptions, list: &[(&str, &[u64])]) -> ImportOptions {
    options.input_shapes = list.iter().map(|(name, shape)| ((*name).to_owned(), shape.to_vec())).collect();
    options
}

#[test]
fn free_dimensions_must_have_values() {
    assert_eq!(
        with(free(), &dims(&[("N", 2)])),
        "m.onnx: 2 dimensions have no value: H ('x' dimension 2), dimension 0 of 'z' (no name); \
         try --dim H=1 --input-shape z=1x2, or --dim-default 1"
    );
    let both = || dims(&[("N", 2), ("H", 5)]);
    assert_eq!(
        with(free(), &both()),
        "m.onnx: 1 dimension has no value: dimension 0 of 'z' (no name); try --input-shape z=1x2, or --dim-default 1"
    );
    assert_eq!(with(free(), &shapes(both(), &[("z", &[1, 2])])), "float32:2x3x5");
    assert_eq!(with(free(), &ImportOptions { batch: Some(4), ..dims(&[("H", 5)]) }), "float32:4x3x5");
    assert_eq!(with(free(), &shapes(dims(&[]), &[("x", &[7, 8, 9]), ("z", &[1, 1])])), "float32:7x8x9");
}

#[test]
fn inputs_without_a_shape_are_named() {
    let graph = || graph(&[("x", "*")], [node("Relu", "x", "y", [])], "y");
    assert_eq!(error(graph()), "m.onnx: 1 input has no shape: 'x'; try --input-shape x=1x1");
    assert_eq!(with(graph(), &shapes(dims(&[]), &[("x", &[2, 5])])), "float32:2x5");
    let assumed = ImportOptions { assume_bytes: Some(7), ..ImportOptions::default() };
    assert_eq!(read(&model(graph()), &assumed).unwrap().assumed.len(), 2);
}

#[test]
fn options_must_fit_the_file() {
    assert_eq!(
        with(free(), &dims(&[("M", 2)])),
        "m.onnx: --dim M=2: no free dimension of that name; there are H, N"
    );
    assert_eq!(
        with(free(), &shapes(dims(&[]), &[("q", &[2])])),
        "m.onnx: --input-shape q=2: no input of that name; there are x, z"
    );
    assert_eq!(
        with(free(), &shapes(dims(&[]), &[("x", &[2])])),
        "m.onnx: --input-shape x=2: in the file the input has 3 dimensions: Nx3xH"
    );
    assert_eq!(
        with(free(), &shapes(dims(&[("N", 3)]), &[("x", &[2, 3, 4])])),
        "m.onnx: --input-shape x=2x3x4: this sets dimension N to 2, but --dim N=3 sets it to 3"
    );
    let message = with(free(), &ImportOptions { element: Some("half".to_owned()), ..dims(&[]) });
    assert!(message.starts_with(
        "m.onnx: --element half: no element type of that name; the types are float32, uint8, int8,"
    ));
    let message = with(free(), &ImportOptions { batch: Some(u64::MAX), ..dims(&[("H", 1)]) });
    assert!(message.contains("too large"), "{message}");
}

#[test]
fn a_batch_overrides_fixed_extents_too() {
    let graph = graph(&[("x", "1x3")], [node("Relu", "x", "y", [])], "y");
    assert_eq!(with(graph, &ImportOptions { batch: Some(8), ..ImportOptions::default() }), "float32:8x3");
}

#[test]
fn unsized_tensors_are_named() {
    let unknown = || {
        let mut graph = graph(
            &[("x", "2x3")],
            [node("Relu", "x", "r", []), node("Magic", "r", "m", []), node("Relu", "m", "y", [])],
            "y",
        );
        graph.node[1].domain = "com.example".to_owned();
        graph
    };
    assert_eq!(
        error(unknown()),
        "m.onnx: operator 1 'm' (com.example.Magic): tensor 'm': operators of domain com.example are not known; \
         --tensor-shape m=AxB gives it a shape; --assume-bytes gives such tensors a size"
    );
    let assumed = ImportOptions { assume_bytes: Some(100), ..ImportOptions::default() };
    let import = read(&model(unknown()), &assumed).unwrap();
    assert_eq!(
        (import.graph.bytes(Role::Output).get(), import.graph.bytes(Role::Activation).get()),
        (100, 124)
    );
    assert_eq!(
        import.assumed,
        [
            "operator 1 'm' (com.example.Magic): tensor 'm' takes 100 bytes: operators of domain com.example are not known",
            "operator 2 'y' (Relu): tensor 'y' takes 100 bytes: the shape of input 'm' is not known"
        ]
    );
    // A declared shape is also accepted.
    let mut declared = unknown();
    declared.value_info = vec![info("m", "7")];
    assert_eq!(shown(&super::import(declared), "y"), "float32:7");
    let nodes = [node("StringSplit", "x", "y z", [])];
    assert_eq!(
        error(graph(&[("x", "2x3")], nodes, "y")),
        "m.onnx: operator 0 'y z' (StringSplit): tensor 'y': the file does not determine the sizes of its outputs; \
         --tensor-shape y=AxB gives it a shape; \
         --assume-bytes gives such tensors a size"
    );
}

#[test]
fn what_is_no_tensor_is_not_supported() {
    let mut given = graph(&[], [node("Relu", "x", "y", [])], "y");
    let kind = Type { sequence: Some(Vec::new().into()), ..Type::default() };
    given.input.push(ValueInfo { name: "x".to_owned(), r#type: Some(kind) });
    assert_eq!(
        error(given),
        "m.onnx: input 'x' is not supported: it is a sequence, and the file does not determine its size; --assume-bytes gives it one"
    );
}

#[test]
fn damage_is_found() {
    let read = |bytes: &[u8]| read_onnx(Path::new("m.onnx"), bytes, &ImportOptions::default());
    assert_eq!(read(b"").unwrap_err().to_string(), "m.onnx: damaged: not an ONNX model: it has no graph");
    let whole = model(graph(&[("x", "2")], [node("Relu", "x", "y", [])], "y")).encode_to_vec();
    for length in 1..whole.len() {
        // Truncation at the end of a field leaves a smaller valid model.
        let _ = read(&whole[..length]);
    }
    assert!(matches!(
        read(&whole[..whole.len() - 1]),
        Err(ImportError::File { problem: ImportProblem::Damaged(_), .. })
    ));
    assert_eq!(
        error(graph(&[("x", "2")], [node("Relu", "q", "y", [])], "y")),
        "m.onnx: damaged: operator 0 'y' (Relu) reads 'q', which nothing produces"
    );
    assert_eq!(
        error(graph(&[("x", "2")], [node("Relu", "x", "q", [])], "y")),
        "m.onnx: damaged: 'y' is an output of graph 'g', but nothing produces it"
    );
    let constant = |tensor: Tensor| {
        let mut graph = graph(&[("x", "2")], [node("Relu", "x", "y", [])], "y");
        graph.initializer = vec![tensor];
        error(graph)
    };
    assert_eq!(constant(tensor("w", &[-1], &[])), "m.onnx: damaged: initialiser 'w': extent -1 is negative");
    let short = Tensor { raw_data: vec![0; 3].into(), ..tensor("w", &[2], &[]) };
    assert_eq!(
        constant(short),
        "m.onnx: damaged: initialiser 'w': 3 bytes of data, but 2 of type int64 take 16"
    );
    let kind = Tensor { data_type: 99, ..tensor("w", &[2], &[]) };
    assert_eq!(constant(kind), "m.onnx: damaged: initialiser 'w': element type 99 is not known");
    let mut unnamed = node("Constant", "", "c", [text("value_words", "words")]);
    unnamed.name.clear();
    assert_eq!(
        error(graph(&[("x", "2")], [unnamed, node("Relu", "x", "y", [])], "y")),
        "m.onnx: damaged: constant 'c': value_words is not a value with a size"
    );
}

#[test]
fn what_is_no_graph_is_refused() {
    let nodes = [node("Relu", "b", "a", []), node("Exp", "a", "b", [])];
    assert_eq!(
        error(graph(&[("x", "2")], nodes, "a")),
        "m.onnx: the operators of region 'body' form a cycle: \
         operator 1 'b' (Exp) -> operator 0 'a' (Relu) -> operator 1 'b' (Exp)"
    );
    let nodes = [node("Relu", "x", "y", []), node("Exp", "x", "y", [])];
    assert_eq!(
        error(graph(&[("x", "2")], nodes, "y")),
        "m.onnx: tensor 'y' is produced by operator 0 'y' (Relu) and by operator 1 'y' (Exp)"
    );
    let nodes = [node("Relu", "y", "x", []), node("Exp", "x", "y", [])];
    assert_eq!(
        error(graph(&[("x", "2")], nodes, "y")),
        "m.onnx: tensor 'x' has role input, but operator 0 'x' (Relu) produces it"
    );
}

fn nested(depth: usize) -> Graph {
    let mut inner = graph(&[], [node("Relu", "x", "t", [])], "t");
    for _ in 0..depth {
        let other = graph(&[], [node("Relu", "x", "t", [])], "t");
        inner =
            graph(&[], [node("If", "c", "t", [body("then_branch", inner), body("else_branch", other)])], "t");
    }
    inner.input = vec![info("x", "2"), info("c", "bool:")];
    inner
}

#[test]
fn depth_is_limited() {
    assert_eq!(import(nested(30)).graph.regions().len(), 61);
    assert_eq!(error(nested(31)), "m.onnx: region 'then_branch' is nested more than 30 regions deep");
    assert!(error(nested(60)).starts_with("m.onnx: damaged: not an ONNX model: "), "{}", error(nested(60)));
}

#[test]
fn large_numbers_are_only_numbers() {
    let double = |shape: &str| graph(&[("x", shape)], [node("Relu", "x", "y", [])], "y");
    let import = import(double("1048576x1048576"));
    assert_eq!(import.graph.bytes(Role::Output).get(), 1 << 42);
    let message = error(double("4294967296x4294967296"));
    assert!(
        message.contains("4294967296x4294967296 elements of type float32 occupy more than 2^63 - 1 bytes"),
        "{message}"
    );
    assert!(error(double("1073741824x1073741824")).contains("bytes, which is more than 2^63 - 1"));
    let nodes = [node("Tile", "x n", "y", [])];
    let mut tiled = graph(&[("x", "9223372036854775807")], nodes, "y");
    tiled.initializer = vec![tensor("n", &[1], &[i64::MAX])];
    assert!(error(tiled).contains("more than 2^63 - 1"));
}

#[test]
fn a_flood_of_parts_is_refused() {
    // Each empty node occupies two bytes of the file.
    let nodes = [0x0a, 0].repeat(1 << 20);
    assert_eq!(proto::count_parts(&wrapped(&nodes), 100), 101);
    let flood = wrapped(&nodes.repeat(5));
    let error = read_onnx(Path::new("m.onnx"), &flood, &ImportOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "m.onnx: damaged: more than 4194304 nodes, names and attributes");
}

/// Returns a model whose graph consists of these bytes.
fn wrapped(graph: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x3a];
    prost::encoding::encode_varint(graph.len() as u64, &mut bytes);
    bytes.extend(graph);
    bytes
}

/// Each string has 32 bytes, the size of a `std::string` on 64-bit platforms.
#[test]
fn strings_have_the_size_of_their_objects() {
    let strings = || graph(&[("x", "2")], [node("Cast", "x", "y", [int("to", 8)])], "y");
    let made = import(strings());
    assert_eq!((shown(&made, "y").as_str(), made.graph.bytes(Role::Output).get()), ("string:2", 64));
    assert_eq!(made.assumed, ["tensors of type string have 32 bytes per element, as std::string has"]);
    let assumed = ImportOptions { assume_bytes: Some(7), ..ImportOptions::default() };
    assert_eq!(read(&model(strings()), &assumed).unwrap().graph.bytes(Role::Output).get(), 7);
}

#[test]
fn of_two_constants_the_last_counts() {
    let constant = |list: &[i64]| {
        let value = super::Attribute { t: Some(Box::new(tensor("", &[2], list))), ..int("value", 0) };
        node("Constant", "", "c", [super::Attribute { i: None, ..value }])
    };
    let reshape = node("Reshape", "x c", "y", []);
    let twice = graph(&[("x", "2x6")], [constant(&[2, 6]), constant(&[3, 4]), reshape.clone()], "y");
    let twice = import(twice);
    assert_eq!(shown(&twice, "y"), "float32:3x4");
    assert_eq!(
        twice.assumed,
        ["constant 'c' is defined twice: the last definition applies, as in ONNX Runtime"]
    );
    let mut both = graph(&[("x", "2x6"), ("c", "int64:2")], [constant(&[4, 3]), reshape.clone()], "y");
    assert_eq!(shown(&import(both.clone()), "y"), "float32:4x3");
    both.initializer = vec![tensor("c", &[2], &[6, 2]), tensor("c", &[2], &[12, 1])];
    assert_eq!(shown(&import(both.clone()), "y"), "float32:4x3");
    both.node.remove(0);
    assert_eq!(shown(&import(both), "y"), "float32:12x1");
    let made = graph(&[("x", "2x6")], [node("Shape", "x", "c", []), constant(&[3, 4]), reshape], "y");
    assert_eq!(error(made), "m.onnx: damaged: constant 'c' is also the output of an operator");
}
