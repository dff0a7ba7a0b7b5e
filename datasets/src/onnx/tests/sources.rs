//! Tests the sources of sizes: rules, declared shapes and assumptions. Options can invalidate declared
//! shapes.

use super::{body, graph, info, int, ints, model, node, read, shown};
use crate::import::{Import, ImportOptions};
use crate::onnx::proto::Graph;

/// Returns a graph in which a custom operator computes `c` from `x`, and a known operator computes `y` from
/// `c`.
fn custom(input: &str, declared: &[(&str, &str)]) -> Graph {
    let mut own = node("Own", "x", "c", []);
    own.domain = "our".to_owned();
    let mut graph = graph(&[("x", input)], [own, node("Relu", "c", "y", [])], "y");
    graph.value_info = declared.iter().map(|(name, kind)| info(name, kind)).collect();
    graph
}

fn batch(batch: u64) -> ImportOptions {
    ImportOptions { batch: Some(batch), ..ImportOptions::default() }
}

fn dim(name: &str, value: u64) -> ImportOptions {
    ImportOptions { dims: [(name.to_owned(), value)].into(), ..ImportOptions::default() }
}

fn shape(shape: &[u64]) -> ImportOptions {
    ImportOptions { input_shapes: [("x".to_owned(), shape.to_vec())].into(), ..ImportOptions::default() }
}

fn with(graph: Graph, options: &ImportOptions) -> Result<Import, String> {
    read(&model(graph), options).map_err(|error| error.to_string())
}

fn counts(import: &Import) -> (usize, usize, usize) {
    (import.sizes.inferred, import.sizes.declared.len(), import.sizes.assumed.len())
}

#[test]
fn declared_shapes_are_listed_with_what_rests_on_them() {
    let import = with(custom("1x3", &[("c", "1x10")]), &ImportOptions::default()).unwrap();
    assert_eq!(shown(&import, "y"), "float32:1x10");
    assert_eq!(import.sizes.declared, ["c", "y"]);
    assert_eq!(counts(&import), (1, 2, 0));
    assert_eq!(
        import.assumed,
        [
            "operator 0 'c' (our.Own): tensor 'c' takes the declared shape: operators of domain our are not known"
        ]
    );
}

#[test]
fn a_changed_input_makes_declared_shapes_void() {
    let fixed = || custom("1x3", &[("c", "1x10")]);
    let void = "m.onnx: operator 0 'c' (our.Own): tensor 'c': operators of domain our are not known; the shape in the \
                file is for other inputs";
    for options in [batch(4), shape(&[1, 5]), shape(&[4, 3])] {
        assert!(with(fixed(), &options).unwrap_err().starts_with(void), "{options:?}");
    }
    // These options repeat the shape in the file.
    for options in [batch(1), shape(&[1, 3])] {
        assert_eq!(counts(&with(fixed(), &options).unwrap()), (1, 2, 0), "{options:?}");
    }
    // If the dimension is free, a declared shape that names it remains valid, and any other does not.
    let named = || custom("Nx3", &[("c", "Nx10")]);
    for options in [dim("N", 4), batch(4), shape(&[4, 3])] {
        assert_eq!(shown(&with(named(), &options).unwrap(), "y"), "float32:4x10", "{options:?}");
    }
    assert!(with(named(), &shape(&[4, 5])).unwrap_err().starts_with(void));
    assert!(with(custom("Nx3", &[("c", "1x10")]), &dim("N", 1)).unwrap_err().starts_with(void));
}

#[test]
fn a_change_reaches_through_bodies() {
    let mut own = node("Own", "x", "c", []);
    own.domain = "our".to_owned();
    let mut inner = graph(&[], [own], "c");
    inner.value_info = vec![info("c", "1x10")];
    let inner = || inner.clone();
    let branches = [body("then_branch", inner()), body("else_branch", inner())];
    let graph = graph(&[("x", "1x3"), ("on", "bool:")], [node("If", "on", "y", branches)], "y");
    let import = with(graph.clone(), &ImportOptions::default()).unwrap();
    assert_eq!(import.sizes.declared, ["y", "c", "c"]);
    assert!(with(graph, &shape(&[1, 4])).unwrap_err().contains("the shape in the file is for other inputs"));
}

#[test]
fn contradictions_are_noted() {
    let mut graph = graph(&[("x", "2x3")], [node("Relu", "x", "h", []), node("Relu", "h", "y", [])], "y");
    graph.value_info = vec![info("h", "2x4")];
    let import = with(graph.clone(), &ImportOptions::default()).unwrap();
    assert_eq!(shown(&import, "h"), "float32:2x3");
    assert_eq!(
        import.assumed,
        [
            "operator 0 'h' (Relu): tensor 'h' is declared as 2x4 but inferred as 2x3; the inferred shape is used"
        ]
    );
    // With another batch size, the declaration does not apply.
    assert_eq!(with(graph, &batch(5)).unwrap().assumed, [""; 0]);
}

#[test]
fn what_cannot_run_has_no_declared_shape() {
    let concat = node("Concat", "x z", "y", [int("axis", 0)]);
    let mut graph = graph(&[("x", "2x3"), ("z", "2x4")], [concat], "y");
    graph.output = vec![info("y", "4x3")];
    let error = with(graph, &ImportOptions::default()).unwrap_err();
    assert!(error.contains("shapes 2x3 and 2x4 do not fit along axis 0"), "{error}");
}

#[test]
fn tensors_in_bodies_of_unknown_operators_have_a_size() {
    let owner = |declared: &[(&str, &str)]| {
        let mut inner = graph(&[("i", "*")], [node("Relu", "i", "c", [])], "c");
        inner.value_info = declared.iter().map(|(name, kind)| info(name, kind)).collect();
        let mut own = node("Own", "x", "y", [body("body", inner), ints("n", &[1])]);
        own.domain = "our".to_owned();
        let mut graph = graph(&[("x", "1x3")], [own], "y");
        graph.output = vec![info("y", "1x3")];
        graph
    };
    let error = with(owner(&[]), &ImportOptions::default()).unwrap_err();
    assert!(error.contains("tensor 'i'") && error.contains("passes to its bodies"), "{error}");
    let assumed = ImportOptions { assume_bytes: Some(64), ..ImportOptions::default() };
    let import = with(owner(&[]), &assumed).unwrap();
    let bytes =
        |name: &str| import.graph.tensors().iter().find(|tensor| tensor.name == name).unwrap().bytes.get();
    assert_eq!((bytes("i"), bytes("c")), (64, 64));
    assert_eq!(counts(&import), (1, 0, 3));
}

#[test]
fn dimensions_that_only_bodies_have_get_values() {
    // Only the declaration gives the shapes of the body inputs of the search.
    let mut decoder =
        graph(&[("ids", "int32:1x1"), ("past", "1xkeptx4")], [node("Relu", "past", "p", [])], "p");
    decoder.name = "decoder".to_owned();
    let limits = [("most", 8), ("least", 1), ("beams", 2), ("returned", 1)];
    let mut search = node(
        "BeamSearch",
        "x most least beams returned",
        "y",
        [body("decoder", decoder), int("eos_token_id", 2)],
    );
    search.domain = "com.microsoft".to_owned();
    let mut graph = graph(&[("x", "int32:1x3")], [search], "y");
    graph.initializer = limits.map(|(name, value)| super::tensor(name, &[1], &[value])).to_vec();
    let error = with(graph.clone(), &ImportOptions::default()).unwrap_err();
    assert!(error.contains("--dim kept=1 completes the shape in the file"), "{error}");
    let import = with(graph, &dim("kept", 16)).unwrap();
    assert_eq!(shown(&import, "p"), "float32:1x16x4");
    assert!(import.sizes.declared.contains(&"past".to_owned()), "{:?}", import.sizes);
}
