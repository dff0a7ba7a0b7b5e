//! Tests the bodies of `If`, `Loop` and `Scan` operators.

use super::{body, error, graph, import, info, int, node, shown, tensor};
use crate::onnx::proto::{Graph, Node};
use plimsoll_model::graph::Role;
use plimsoll_model::{OperatorId, RegionId};

fn choose(condition: &str, then: impl Into<Vec<Node>>, otherwise: impl Into<Vec<Node>>) -> Node {
    let branches = [("then_branch", then.into(), "t"), ("else_branch", otherwise.into(), "e")];
    node("If", condition, "y", branches.map(|(name, nodes, output)| body(name, graph(&[], nodes, output))))
}

fn branching(condition: i64) -> Graph {
    let then = [node("Squeeze", "x", "t", [])];
    let otherwise = [node("Concat", "x x", "e", [int("axis", 0)])];
    let mut graph = graph(&[("x", "1x3")], [choose("c", then, otherwise)], "y");
    graph.initializer = vec![tensor("c", &[], &[condition])];
    graph
}

#[test]
fn a_known_condition_chooses_the_shape() {
    assert_eq!(shown(&import(branching(1)), "y"), "float32:3");
    assert_eq!(shown(&import(branching(0)), "y"), "float32:2x3");
    let import = import(branching(1));
    let names: Vec<&str> = import.graph.regions().iter().map(|region| region.name.as_str()).collect();
    assert_eq!(names, ["body", "then_branch", "else_branch"]);
    assert_eq!(import.graph.region(RegionId::new(2)).owner, Some(OperatorId::new(0)));
    let reads = import.graph.reads(OperatorId::new(0));
    let reads: Vec<&str> =
        reads.into_iter().map(|tensor| import.graph.tensor(tensor).name.as_str()).collect();
    assert_eq!(reads, ["c", "x"], "what a branch reads from outside");
    assert_eq!(shown(&import, "e"), "float32:2x3", "the other branch is sized too");
}

#[test]
fn of_two_branches_the_larger_counts() {
    let mut graph = branching(0);
    graph.initializer.clear();
    graph.input.push(info("c", "bool:"));
    let import = import(graph);
    assert_eq!(shown(&import, "y"), "float32:2x3");
    assert_eq!(
        import.assumed,
        ["operator 0 'y' (If): 'y' is 3 (12 bytes) or 2x3 (24 bytes); the larger is used"]
    );
}

#[test]
fn a_branch_that_cannot_run_takes_no_part() {
    let then = [node("Squeeze", "x at", "s", []), node("Relu", "s", "t", [])];
    let mut graph =
        graph(&[("x", "2x3"), ("c", "bool:")], [choose("c", then, [node("Relu", "x", "e", [])])], "y");
    graph.initializer = vec![tensor("at", &[1], &[0])];
    let mut known = graph.clone();
    let import = import(graph);
    assert_eq!(shown(&import, "y"), "float32:2x3");
    assert_eq!(
        import.assumed,
        [
            "operator 0 'y' (If): then_branch cannot run with these shapes (operator 1 's' (Squeeze): tensor 's': \
          dimension 0 of 2x3 is squeezed but has extent 2); 2 of its tensors have no size and take 0 bytes"
        ]
    );
    known.input.pop();
    known.initializer.push(tensor("c", &[], &[0]));
    let import = super::import(known.clone());
    assert_eq!(
        import.assumed,
        ["operator 0 'y' (If): then_branch never runs with these shapes; \
          2 of its tensors have no size and take 0 bytes"]
    );
    known.initializer[1] = tensor("c", &[], &[1]);
    assert!(
        error(known)
            .starts_with("m.onnx: operator 1 's' (Squeeze): tensor 's': dimension 0 of 2x3 is squeezed")
    );
}

/// Returns a loop of `trips` iterations. Each iteration adds to a carried value, and the loop stacks the
/// results.
fn looping(trips: i64, condition: &str) -> Graph {
    let nodes = [
        node("Add", "carried outer", "next", []),
        node("Identity", "next", "row", []),
        node("Identity", condition, "go", []),
    ];
    let inside = graph(&[("i", "int64:"), ("on", "bool:"), ("carried", "*")], nodes, "go next row");
    let repeat = node("Loop", "trips _ x", "last rows", [body("body", inside)]);
    let mut graph = graph(&[("x", "2x3"), ("outer", "3")], [repeat], "last rows");
    graph.initializer = vec![tensor("trips", &[], &[trips]), tensor("yes", &[], &[1])];
    graph
}

#[test]
fn loops_stack_rows() {
    let import = import(looping(5, "yes"));
    assert_eq!(shown(&import, "last"), "float32:2x3");
    assert_eq!(shown(&import, "rows"), "float32:5x2x3");
    assert_eq!(import.assumed, [""; 0]);
    let region = import.graph.region(RegionId::new(1));
    assert_eq!((region.name.as_str(), region.inputs.len(), region.outputs.len()), ("body", 3, 3));
    // If the condition is returned unchanged, it stays true.
    assert_eq!(super::import(looping(5, "on")).assumed, [""; 0]);
    let mut open = looping(5, "flag");
    open.input.push(info("flag", "bool:"));
    assert_eq!(
        super::import(open).assumed,
        ["operator 0 'last rows' (Loop): 'rows' has a row for each of at most 5 iterations"]
    );
}

#[test]
fn a_loop_without_an_end_has_no_size() {
    let mut graph = looping(5, "on");
    graph.initializer.remove(0);
    graph.input.push(info("trips", "int64:"));
    assert_eq!(
        error(graph),
        "m.onnx: operator 0 'last rows' (Loop): tensor 'rows': it depends on the number of iterations, and the trip count, input 'trips', is not a constant; --trips N gives the largest number of iterations; --value trips=1 gives input 'trips' a value; --tensor-shape rows=AxB gives it a shape; \
         --assume-bytes gives such tensors a size"
    );
}

#[test]
fn branches_have_no_inputs() {
    let branch =
        |name: &str, given: &[(&str, &str)]| body(name, graph(given, [node("Relu", "x", "t", [])], "t"));
    let choose = |given: &[(&str, &str)]| {
        let branches = [branch("then_branch", &[]), branch("else_branch", given)];
        graph(&[("x", "Nx3"), ("c", "bool:")], [node("If", "c", "y", branches)], "y")
    };
    assert_eq!(
        error(choose(&[("x", "2x3"), ("n", "int64:")])),
        "m.onnx: damaged: operator 0 'y' (If): else_branch has the formal inputs 'x', 'n'; ONNX allows none, because \
         a branch reads tensors of the enclosing graph by their names"
    );
    assert!(error(choose(&[])).contains("1 dimension has no value: N"));
}

#[test]
fn bodies_match_their_loops() {
    let mut graph = looping(3, "on");
    graph.node[0].output.pop();
    graph.output.pop();
    let inside = graph.node[0].attribute[0].g.as_mut().unwrap();
    inside.output.truncate(1);
    assert!(error(graph).contains("its body has 1 outputs; expected at least 2"));
}

#[test]
fn scans_take_apart_and_stack() {
    let nodes = [node("Add", "state element", "next", []), node("Identity", "next", "row", [])];
    let inside = graph(&[("state", "*"), ("element", "*")], nodes, "next row");
    let attributes = [
        body("body", inside),
        int("num_scan_inputs", 1),
        super::ints("scan_input_axes", &[1]),
        super::ints("scan_output_axes", &[1]),
    ];
    let scan = node("Scan", "start x", "last rows", attributes);
    let import = import(graph(&[("start", "2"), ("x", "2x7")], [scan], "last rows"));
    assert_eq!(shown(&import, "element"), "float32:2");
    assert_eq!(shown(&import, "last"), "float32:2");
    assert_eq!(shown(&import, "rows"), "float32:2x7");
    assert_eq!(import.graph.tensors().iter().filter(|tensor| tensor.role == Role::Output).count(), 4);
}

#[test]
fn nodes_may_come_in_any_order() {
    let nodes =
        [node("Relu", "b", "y", []), choose("c", [node("Relu", "a", "t", [])], [node("Relu", "a", "e", [])])];
    let nodes = [nodes.to_vec(), vec![node("Exp", "y2", "b", []), node("Flatten", "x", "a", [])]].concat();
    let mut nodes = nodes;
    nodes[1].output = vec!["y2".to_owned()];
    let import = import(graph(&[("x", "2x3x4"), ("c", "bool:")], nodes, "y"));
    assert_eq!(shown(&import, "y"), "float32:2x12");
    let kinds: Vec<&str> = import.graph.operators().iter().map(|operator| operator.kind.as_str()).collect();
    assert_eq!(kinds, ["Relu", "If", "Relu", "Relu", "Exp", "Flatten"], "in the order of the file");
}
