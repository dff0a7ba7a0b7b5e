//! Tests the handovers between operators and their bodies.

use super::{body, graph, import, info, int, node, tensor};
use crate::import::Import;
use crate::onnx::proto::{Graph, Node};
use plimsoll_model::OperatorId;
use plimsoll_model::graph::Moment;

/// Returns the handovers of the first operator that owns regions, as in `enter x>carried`. `~` instead of `>`
/// marks a handover of a part.
fn handed(import: &Import) -> Vec<String> {
    let graph = &import.graph;
    let flows = (0..graph.operators().len()).map(|at| graph.flow(OperatorId::at(at)).unwrap());
    let flow = flows.flatten().next().unwrap();
    let name = |id| &graph.tensor(id).name;
    let show = |h: &plimsoll_model::graph::Handover| {
        let when = match h.when {
            Moment::Enter => "enter".to_owned(),
            Moment::Begin(at) => format!("begin{at}"),
            Moment::End(at) => format!("end{at}"),
            Moment::Exit => "exit".to_owned(),
        };
        format!("{when} {}{}{}", name(h.from), if h.part { "~" } else { ">" }, name(h.to))
    };
    flow.handovers.iter().map(show).collect()
}

#[test]
fn branches_may_return_unused_results() {
    let branch = |name: &str, a: &str, b: &str| {
        let nodes = [node("Relu", "x", a, []), node("Exp", "x", b, [])];
        body(name, graph(&[], nodes, &format!("{a} {b}")))
    };
    let choose = |outputs: &str| {
        let branches = [branch("then_branch", "a", "b"), branch("else_branch", "c", "d")];
        graph(&[("x", "3"), ("go", "bool:")], [node("If", "go", outputs, branches)], "y")
    };
    assert_eq!(handed(&import(choose("_ y"))), ["end0 b>y", "end1 d>y"]);
    assert_eq!(handed(&import(choose("y _"))), ["end0 a>y", "end1 c>y"]);
    assert_eq!(handed(&import(choose("y"))), ["end0 a>y", "end1 c>y"]);
    assert_eq!(handed(&import(choose("z y"))), ["end0 a>z", "end0 b>y", "end1 c>z", "end1 d>y"]);
}

/// Returns a loop with two carried values and one scan output.
fn looping(inputs: &str, outputs: &str, wanted: &str) -> Graph {
    let nodes = [
        node("Add", "p outer", "p1", []),
        node("Exp", "q", "q1", []),
        node("Identity", "q1", "row", []),
        node("Identity", "on", "go", []),
    ];
    let given = [("i", "int64:"), ("on", "bool:"), ("p", "*"), ("q", "*")];
    let inside = graph(&given, nodes, "go p1 q1 row");
    let repeat = node("Loop", inputs, outputs, [body("body", inside)]);
    let mut graph = graph(&[("x", "2x3"), ("y", "3"), ("outer", "3")], [repeat], wanted);
    graph.initializer = vec![tensor("trips", &[], &[4])];
    graph.input.push(info("first", "bool:"));
    graph
}

#[test]
fn loops_may_lack_trips_conditions_and_outputs() {
    let carried =
        ["enter x>p", "enter y>q", "end0 p1>p", "end0 q1>q", "end0 row~rows", "exit p>last", "exit q>end"];
    for inputs in ["trips first x y", "trips _ x y"] {
        assert_eq!(handed(&import(looping(inputs, "last end rows", "last end rows"))), carried);
    }
    let round = ["enter x>p", "enter y>q", "end0 p1>p", "end0 q1>q"];
    let with = |rest: &[&str]| -> Vec<String> { round.iter().chain(rest).map(ToString::to_string).collect() };
    let outputs = |outputs: &str, wanted: &str| handed(&import(looping("trips _ x y", outputs, wanted)));
    assert_eq!(outputs("_ end rows", "end rows"), with(&["end0 row~rows", "exit q>end"]));
    assert_eq!(outputs("last _ rows", "last rows"), with(&["end0 row~rows", "exit p>last"]));
    assert_eq!(outputs("last end", "last end"), with(&["exit p>last", "exit q>end"]));
    assert_eq!(outputs("last end _", "last end"), with(&["exit p>last", "exit q>end"]));
    for inputs in ["_ first x y", "_ _ x y"] {
        let handed = handed(&import(looping(inputs, "last _ _", "last")));
        assert_eq!(handed, with(&["exit p>last"]));
    }
}

#[test]
fn loops_may_carry_nothing() {
    let nodes: [Node; 2] = [node("Exp", "x", "row", []), node("Identity", "on", "go", [])];
    let inside = graph(&[("i", "int64:"), ("on", "bool:")], nodes, "go row");
    let repeat = node("Loop", "trips", "rows", [body("body", inside)]);
    let mut graph = graph(&[("x", "3")], [repeat], "rows");
    graph.initializer = vec![tensor("trips", &[], &[4])];
    assert_eq!(handed(&import(graph)), ["end0 row~rows"]);
}

#[test]
fn scans_hand_over_rows() {
    let scan = |outputs: &str, wanted: &str| {
        let nodes = [
            node("Add", "s element", "s1", []),
            node("Add", "t other", "t1", []),
            node("Exp", "s1", "r", []),
            node("Exp", "t1", "v", []),
        ];
        let given = [("s", "*"), ("t", "*"), ("element", "*"), ("other", "*")];
        let inside = graph(&given, nodes, "s1 t1 r v");
        let scan = node("Scan", "a b x z", outputs, [body("body", inside), int("num_scan_inputs", 2)]);
        graph(&[("a", "2"), ("b", "2"), ("x", "5x2"), ("z", "5x2")], [scan], wanted)
    };
    let ahead = ["enter a>s", "enter b>t", "begin0 x~element", "begin0 z~other", "end0 s1>s", "end0 t1>t"];
    let with = |rest: &[&str]| -> Vec<String> { ahead.iter().chain(rest).map(ToString::to_string).collect() };
    assert_eq!(
        handed(&import(scan("sl tl rl vl", "sl tl rl vl"))),
        with(&["end0 r~rl", "end0 v~vl", "exit s>sl", "exit t>tl"])
    );
    assert_eq!(handed(&import(scan("_ tl _ vl", "tl vl"))), with(&["end0 v~vl", "exit t>tl"]));
}
