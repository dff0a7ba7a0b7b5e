//! Tests loops that change the shapes of carried values.
//!
//! The expected sizes are those that ONNX Runtime allocates for these models.

use super::{body, graph, import, info, int, model, node, read, shown, tensor};
use crate::import::{Import, ImportOptions};
use crate::onnx::proto::{Graph, Node};
use plimsoll_model::TensorId;
use plimsoll_model::graph::AliasKind;

/// Returns a model with one `Loop`. The body receives the iteration number `i`, the condition `on` and the
/// carried values `a`, `b`, .., and returns what `results` lists. The constants are `trips`, `zero` to `two`
/// and the lists `[0]` to `[2]`, called `at0` to `at2`.
fn looping(trips: i64, inputs: &[(&str, &str)], nodes: &[Node], results: &str, outputs: &str) -> Graph {
    let names: Vec<String> = inputs.iter().map(|(name, _)| format!("{name}_in")).collect();
    let outer: Vec<(&str, &str)> =
        names.iter().zip(inputs).map(|(name, (_, kind))| (name.as_str(), *kind)).collect();
    let mut given = vec![("i", "int64:"), ("on", "bool:")];
    given.extend(inputs.iter().map(|(name, _)| (*name, "*")));
    let inside = graph(&given, nodes, results);
    let operands =
        ["trips _"].into_iter().chain(names.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let mut graph = graph(&outer, [node("Loop", &operands, outputs, [body("body", inside)])], outputs);
    graph.initializer = vec![tensor("trips", &[], &[trips])];
    for (at, name) in ["zero", "one", "two"].into_iter().enumerate() {
        graph.initializer.push(tensor(name, &[], &[at as i64]));
        graph.initializer.push(tensor(&format!("at{at}"), &[1], &[at as i64]));
    }
    graph.initializer.push(tensor("end", &[1], &[i64::MAX]));
    graph
}

fn concat(inputs: &str, output: &str, axis: i64) -> Node {
    node("Concat", inputs, output, [int("axis", axis)])
}

/// Returns a loop that appends the row `row` of the enclosing graph to a carried value.
fn appending(trips: i64, start: &str, go: &str) -> Graph {
    let nodes = [concat("a row", "next", 0), node("Identity", go, "go", [])];
    let mut graph = looping(trips, &[("a", start)], &nodes, "go next", "last");
    graph.input.push(info("row", "1x7"));
    graph
}

fn refused(graph: Graph, trips: Option<u64>) -> String {
    read(&model(graph), &ImportOptions { trips, ..ImportOptions::default() }).unwrap_err().to_string()
}

fn assuming(graph: Graph, trips: u64) -> Import {
    read(&model(graph), &ImportOptions { trips: Some(trips), ..ImportOptions::default() }).unwrap()
}

fn shapes(import: &Import, names: &str) -> String {
    let shape = |name| shown(import, name).split_once(':').map(|(_, shape)| shape.to_owned()).unwrap();
    names.split(' ').map(shape).collect::<Vec<_>>().join(" ")
}

fn is_exact(import: &Import) -> bool {
    import.assumed.is_empty() && import.sizes.assumed.is_empty() && import.sizes.declared.is_empty()
}

#[test]
fn the_largest_size_of_all_iterations_counts() {
    for (trips, expected) in [(1, "0x7 1x7 1x7"), (2, "1x7 2x7 2x7"), (90, "89x7 90x7 90x7")] {
        let import = import(appending(trips, "0x7", "on"));
        assert_eq!(shapes(&import, "a next last"), expected);
        assert!(is_exact(&import), "{:?}", import.assumed);
    }
    assert_eq!(shapes(&import(appending(0, "4x7", "on")), "last"), "4x7");
    let doubling = [concat("a a", "next", 1), node("Identity", "on", "go", [])];
    let import = import(looping(5, &[("a", "3x2")], &doubling, "go next", "last"));
    assert_eq!(shapes(&import, "a next last"), "3x32 3x64 3x64");
}

/// The result of the last iteration does not fit into the memory of the carried value.
#[test]
fn a_larger_result_leaves_the_loop_directly() {
    let import = import(appending(6, "2x7", "on"));
    let graph = &import.graph;
    let flow = graph.flow(plimsoll_model::OperatorId::new(0)).unwrap().unwrap();
    let name = |id: TensorId| graph.tensor(id).name.as_str();
    let handed: Vec<_> = flow.handovers.iter().map(|one| (name(one.from), name(one.to))).collect();
    assert_eq!(handed, [("a_in", "a"), ("next", "a"), ("next", "last")]);
}

#[test]
fn values_may_shrink_and_move() {
    let nodes = [node("Slice", "a at1 end at0", "next", []), node("Identity", "on", "go", [])];
    let import = super::import(looping(4, &[("a", "10x2")], &nodes, "go next", "last"));
    assert_eq!(shapes(&import, "a next last"), "10x2 9x2 6x2");
    let window = [
        concat("a row", "all", 0),
        node("Slice", "all first end at0", "next", []),
        node("Identity", "on", "go", []),
    ];
    let mut graph = looping(1 << 40, &[("a", "0x2")], &window, "go next", "last");
    graph.initializer.push(tensor("first", &[1], &[-5]));
    graph.input.push(info("row", "1x2"));
    let import = super::import(graph);
    assert_eq!(shapes(&import, "a all next last"), "5x2 6x2 5x2 5x2");
    assert!(is_exact(&import), "{:?}", import.assumed);
}

/// The product of a growing and a shrinking value is largest halfway.
#[test]
fn the_largest_size_may_be_that_of_any_iteration() {
    let nodes = [
        concat("a row", "more", 0),
        node("Slice", "b at1 end at1", "less", []),
        node("MatMul", "a b", "product", []),
        node("Identity", "on", "go", []),
    ];
    let mut graph = looping(8, &[("a", "1x1"), ("b", "1x9")], &nodes, "go more less", "long short");
    graph.input.push(info("row", "1x1"));
    let import = import(graph);
    assert_eq!(shapes(&import, "a b product long short"), "8x1 1x9 5x5 9x1 1x1");
    assert!(is_exact(&import), "{:?}", import.assumed);
}

#[test]
fn inner_loops_grow_in_every_outer_iteration() {
    let inner = [concat("c row", "c1", 0), node("Identity", "go_in", "go1", [])];
    let inside = graph(&[("j", "int64:"), ("go_in", "bool:"), ("c", "*")], inner, "go1 c1");
    let nodes = [
        node("Loop", "two _ a", "next", [body("body", inside)]),
        node("Identity", "on", "go", []),
        node("Relu", "next", "rows", []),
    ];
    let mut graph = looping(4, &[("a", "1x3")], &nodes, "go next", "last");
    graph.input.push(info("row", "1x3"));
    let import = import(graph);
    assert_eq!(shapes(&import, "a c c1 next rows last"), "7x3 8x3 9x3 9x3 9x3 9x3");
    assert!(is_exact(&import), "{:?}", import.assumed);
}

#[test]
fn conditions_on_the_iteration_number_count() {
    let nodes = [concat("a a", "next", 0), node("Less", "i last_one", "go", [])];
    let mut graph = looping(1 << 50, &[("a", "2x1")], &nodes, "go next", "last");
    graph.initializer.push(tensor("last_one", &[], &[3]));
    let import = import(graph.clone());
    assert_eq!(shapes(&import, "a next last"), "16x1 32x1 32x1");
    assert!(is_exact(&import), "{:?}", import.assumed);
    graph.node[0].input[0].clear();
    assert_eq!(shapes(&super::import(graph), "a next last"), "16x1 32x1 32x1");
}

#[test]
fn shapes_may_depend_on_the_iteration_number() {
    let nodes = [
        node("Range", "zero i one", "part", []),
        concat("a part", "next", 0),
        node("Identity", "on", "go", []),
    ];
    let import = import(looping(5, &[("a", "int64:1")], &nodes, "go next", "last"));
    assert_eq!(shapes(&import, "part a next last"), "4 7 11 11");
    assert!(is_exact(&import), "{:?}", import.assumed);
}

#[test]
fn a_loop_that_may_end_early_has_the_size_of_its_longest_run() {
    let mut graph = appending(5, "2x7", "flag");
    graph.input.push(info("flag", "bool:"));
    let import = import(graph.clone());
    assert_eq!(shapes(&import, "a next last"), "6x7 7x7 7x7");
    assert_eq!(
        import.assumed,
        ["operator 0 'last' (Loop): the loop may end before its 5 iterations; the largest sizes are used"]
    );
    assert_eq!(import.sizes.assumed, ["last", "a", "next"]);
    assert_eq!(shapes(&assuming(graph, 3), "a next last"), "4x7 5x7 5x7");
    let nodes = [node("Slice", "a at1 end at0", "next", []), node("Identity", "flag", "go", [])];
    let mut graph = looping(4, &[("a", "10x2")], &nodes, "go next", "last");
    graph.input.push(info("flag", "bool:"));
    assert_eq!(shapes(&super::import(graph), "a next last"), "10x2 9x2 9x2", "it runs at least once");
}

#[test]
fn the_number_of_iterations_may_be_assumed() {
    let mut graph = appending(5, "0x7", "on");
    graph.initializer.remove(0);
    graph.input.push(info("trips", "int64:"));
    assert_eq!(
        refused(graph.clone(), None),
        "m.onnx: operator 0 'last' (Loop): 'a' is 0x7 in one iteration and 1x7 in the next, and the trip count, \
         input 'trips', is not a constant; --trips N gives the largest number of iterations"
    );
    let import = assuming(graph.clone(), 12);
    assert_eq!(shapes(&import, "a next last"), "11x7 12x7 12x7");
    assert_eq!(
        import.assumed,
        ["operator 0 'last' (Loop): at most 12 iterations are assumed, as given by --trips"]
    );
    assert_eq!(import.sizes.assumed, ["last", "a", "next"]);
    let known = ImportOptions { values: [("trips".to_owned(), vec![12])].into(), ..ImportOptions::default() };
    assert!(read(&model(graph), &known).unwrap().sizes.assumed.is_empty());
    assert_eq!(
        refused(appending(5, "0x7", "on"), Some(3)),
        "m.onnx: --trips 3: the model has no loop for which the number of iterations is unknown"
    );
}

#[test]
fn a_trip_count_without_limit_needs_another_one() {
    let mut graph = appending(i64::MAX, "0x7", "flag");
    graph.input.push(info("flag", "bool:"));
    let error = refused(graph.clone(), None);
    assert!(error.contains("data ends the loop before 9223372036854775807 iterations; --trips N"), "{error}");
    assert_eq!(shapes(&assuming(graph, 9), "a next last"), "8x7 9x7 9x7");
}

#[test]
fn rows_must_have_one_shape() {
    let nodes = [concat("a a", "next", 0), node("Identity", "on", "go", [])];
    let rows = |trips| looping(trips, &[("a", "1x2")], &nodes, "go next next", "last rows");
    assert_eq!(shapes(&import(rows(1)), "last rows"), "2x2 1x2x2");
    let error = refused(rows(3), None);
    assert!(error.contains("tensor 'rows': its rows are 2x2 in one iteration and 4x2 in another"), "{error}");
}

#[test]
fn branches_count_in_the_iterations_in_which_they_run() {
    let then = graph(&[], [concat("a row", "t", 0)], "t");
    let otherwise = graph(&[], [concat("a a", "e", 0)], "e");
    let branches = [body("then_branch", then), body("else_branch", otherwise)];
    let nodes = [
        node("Less", "i two", "few", []),
        node("If", "few", "next", branches),
        node("Identity", "on", "go", []),
    ];
    let mut graph = looping(5, &[("a", "1x2")], &nodes, "go next", "last");
    graph.input.push(info("row", "1x2"));
    let import = import(graph);
    assert_eq!(shapes(&import, "a t e next last"), "12x2 3x2 24x2 24x2 24x2");
}

#[test]
fn states_of_scans_may_grow() {
    let nodes = [concat("s e", "next", 0), node("Exp", "e", "row", [])];
    let inside = graph(&[("s", "*"), ("e", "*")], nodes, "next row");
    let scan = node("Scan", "start x", "last rows", [body("body", inside), int("num_scan_inputs", 1)]);
    let import = import(graph(&[("start", "3"), ("x", "6x2")], [scan], "last rows"));
    assert_eq!(shapes(&import, "s next last rows"), "13 15 15 6x2");
}

/// In the first iteration, `a` is broadcast to the shape of `wide`. Only later could the sum overwrite it.
#[test]
fn memory_is_shared_only_if_every_iteration_allows_it() {
    let nodes =
        [node("Add", "a wide", "sum", []), node("Relu", "sum", "next", []), node("Identity", "on", "go", [])];
    let mut graph = looping(3, &[("a", "1x2")], &nodes, "go next", "last");
    graph.input.push(info("wide", "5x2"));
    let import = import(graph);
    assert_eq!(shapes(&import, "a sum next"), "5x2 5x2 5x2");
    let name = |id: TensorId| import.graph.tensor(id).name.as_str();
    let aliases = import.graph.operators().iter().flat_map(|operator| &operator.aliases);
    let aliases: Vec<_> = aliases.map(|alias| (name(alias.input), name(alias.output), alias.kind)).collect();
    assert!(!aliases.contains(&("a", "sum", AliasKind::InPlace)), "{aliases:?}");
    assert!(aliases.contains(&("sum", "next", AliasKind::InPlace)), "{aliases:?}");
}

#[test]
fn errors_name_the_iteration() {
    let nodes = [
        node("Slice", "a at1 end at0", "next", []),
        node("Reshape", "next at2", "pair", []),
        node("Identity", "on", "go", []),
    ];
    let error = refused(looping(4, &[("a", "3")], &nodes, "go next", "last"), None);
    assert!(error.contains("tensor 'pair'") && error.contains("(in iteration 2 of the loop)"), "{error}");
}
