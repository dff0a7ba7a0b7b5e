//! Compares the lifespans of small programs with values derived by hand.

use super::*;
use crate::graph::{AliasKind, GraphBuilder, Handover, Operator, Tensor};
use crate::{load, simple_bound};

fn activation(g: &mut GraphBuilder, name: &str, bytes: u64) -> TensorId {
    g.tensor(Tensor::new(name, bytes, Role::Activation))
}

fn in_file(graph: &Graph) -> Vec<Vec<OperatorId>> {
    (0..graph.regions().len()).map(|at| graph.file_order(RegionId::at(at))).collect()
}

fn program(graph: &Graph, options: ProgramOptions) -> Program<'_> {
    Program::new(graph, in_file(graph), options).unwrap()
}

fn show(instance: &Instance) -> Vec<String> {
    let show = |buffer: &Buffer| {
        let parts = buffer.lifespan().intervals().iter();
        let parts: Vec<String> = parts.map(|one| format!("{}-{}", one.lower, one.upper)).collect();
        format!("{} {} {}", buffer.name(), buffer.size(), parts.join(" "))
    };
    instance.buffers().iter().map(show).collect()
}

/// Builds a graph with a branch. Two operators produce `x` and `k`. One region applies two operators to `x`,
/// and the other reads `k`. The result of the branch is added to `k`.
fn branches() -> Graph {
    let mut g = GraphBuilder::new("branches");
    let c = g.tensor(Tensor::new("c", 1, Role::Input));
    let [x, k] = [("x", 8), ("k", 2)].map(|(name, bytes)| activation(&mut g, name, bytes));
    let [s, t, u, y] = [("s", 4), ("t", 3), ("u", 3), ("y", 3)].map(|(n, b)| activation(&mut g, n, b));
    let z = g.tensor(Tensor::new("z", 5, Role::Output));
    let body = g.body();
    g.operator(body, Operator::new("x", "F").reads([c]).makes([x]));
    g.operator(body, Operator::new("k", "F").reads([c]).makes([k]));
    let choose = g.operator(body, Operator::new("choose", "If").reads([c]).makes([y]));
    g.operator(body, Operator::new("add", "Add").reads([y, k]).makes([z]));
    let (yes, no) = (g.region(choose, "then"), g.region(choose, "else"));
    g.operator(yes, Operator::new("s", "F").reads([x]).makes([s]));
    g.operator(yes, Operator::new("t", "F").reads([s]).makes([t]));
    g.operator(no, Operator::new("u", "F").reads([k]).makes([u]));
    g.interface(body, [c], [z]);
    g.interface(yes, [], [t]);
    g.interface(no, [], [u]);
    g.build().unwrap()
}

// The points of `branches` are 0 Begin, 1 x, 2 k, 3 Enter, 4 Begin then, 5 s, 6 t, 7 End, 8 Begin else, 9 u,
// 10 End, 11 Exit, 12 add, and 13 End.
#[test]
fn branches_exclude_each_other() {
    let graph = branches();
    let exclusive = program(&graph, ProgramOptions::default());
    let expected =
        ["c 1 0-4", "x 8 1-6", "k 2 2-13", "y 3 7-8 10-13", "z 5 12-14", "s 4 5-7", "t 3 6-8", "u 3 9-11"];
    assert_eq!(show(exclusive.instance()), expected);
    assert_eq!(load(exclusive.instance()).0.get(), 14);
    let sequential = exclusive.sequential();
    assert_eq!(show(&sequential)[3], "y 3 7-13");
    let flat = exclusive.flat();
    assert_eq!(show(&flat)[1], "x 8 1-12");
    assert_eq!(flat.separations().iter().count(), 2);
    // The buffers c, x, k and y, which the operator uses, are simultaneously live with the buffers s and t
    // of the region `then`.
    assert_eq!(simple_bound(&flat).value.get(), 1 + 8 + 2 + 3 + 4 + 3);
}

#[test]
fn results_of_branches_may_share() {
    let options = ProgramOptions { handover: Sharing::Alias, ..ProgramOptions::default() };
    let graph = branches();
    let program = program(&graph, options);
    let expected = ["c 1 0-4", "x 8 1-6", "k 2 2-13", "y 3 6-8 9-13", "z 5 12-14", "s 4 5-7"];
    assert_eq!(show(program.instance()), expected);
    assert_eq!(program.buffers()[3].tensors.len(), 3);
}

/// Builds a graph with a loop. The loop carries `x` through two operators per iteration and captures `k`.
/// The state is used again after the loop.
fn trips() -> Graph {
    trips_of(4, false)
}

/// Builds the graph of [`trips`] with a next state of this size. If `direct` is true, the loop hands over the
/// next state when it exits, instead of the state.
fn trips_of(bytes: u64, direct: bool) -> Graph {
    let mut g = GraphBuilder::new("trips");
    let n = g.tensor(Tensor::new("n", 1, Role::Input));
    let [x, k] = [("x", 4), ("k", 2)].map(|(name, bytes)| activation(&mut g, name, bytes));
    let [i, on] = ["i", "on"].map(|name| activation(&mut g, name, 1));
    let [state, t, next, y] =
        [("state", 4), ("t", 8), ("next", bytes), ("y", bytes)].map(|(n, b)| activation(&mut g, n, b));
    let z = g.tensor(Tensor::new("z", 4, Role::Output));
    let body = g.body();
    g.operator(body, Operator::new("x", "F").reads([n]).makes([x]));
    g.operator(body, Operator::new("k", "F").reads([n]).makes([k]));
    let mut again = Operator::new("again", "Loop").reads([n, x]).makes([y]);
    let hand = |when, from, to| Handover { when, from, to, part: false };
    let handed = [(Moment::Enter, x, state), (Moment::End(0), next, state), (Moment::Exit, next, y)];
    again.handovers = direct.then(|| handed.map(|(when, from, to)| hand(when, from, to)).to_vec());
    let again = g.operator(body, again);
    g.operator(body, Operator::new("z", "F").reads([y]).makes([z]));
    let trip = g.region(again, "trip");
    g.operator(trip, Operator::new("t", "F").reads([state, k]).makes([t]));
    g.operator(trip, Operator::new("next", "F").reads([t]).makes([next]));
    g.interface(body, [n], [z]);
    g.interface(trip, [i, on, state], [on, next]);
    g.build().unwrap()
}

// The points of `trips` are 0 Begin, 1 x, 2 k, 3 Enter, 4 Begin trip, 5 t, 6 next, 7 End trip, 8 Exit, 9 z,
// and 10 End.
#[test]
fn loops_hold_the_state_of_the_next_trip() {
    let graph = trips();
    let with = |carries| ProgramOptions { carries, ..ProgramOptions::default() };
    let resident = [
        "n 1 0-4",
        "x 4 1-4",
        "k 2 2-8",
        "y 4 8-10",
        "z 4 9-11",
        "i 1 4-5",
        "on 1 4-8",
        "state 4 3-9",
        "t 8 5-7",
        "next 4 6-8",
    ];
    assert_eq!(show(program(&graph, with(Carries::Resident)).instance()), resident);
    let tight = show(program(&graph, with(Carries::Tight)).instance());
    assert_eq!(tight[7], "state 4 3-6 7-9");
    let double = show(program(&graph, with(Carries::Double)).instance());
    assert_eq!(double[7..], ["state 4 3-9", "t 8 5-7", "next 4 3-9"]);
    let sharing = ProgramOptions { handover: Sharing::Alias, ..with(Carries::Tight) };
    // `x`, the state, the next state and `y` share one buffer. This buffer has no gap, because one of these
    // tensors is always live.
    let shared = show(program(&graph, sharing).instance());
    assert!(shared.contains(&"x 4 1-10".to_owned()), "{shared:?}");
}

/// The next state is live until the loop exits, but not before it begins. If there are no iterations, the
/// loop hands over the state.
#[test]
fn loops_may_hand_over_the_next_state() {
    let graph = trips_of(6, true);
    let with = |carries| ProgramOptions { carries, ..ProgramOptions::default() };
    let resident = show(program(&graph, with(Carries::Resident)).instance());
    assert_eq!(resident[3], "y 6 8-10");
    assert_eq!(resident[7..], ["state 4 3-9", "t 8 5-7", "next 6 6-9"]);
    let tight = show(program(&graph, with(Carries::Tight)).instance());
    assert_eq!(tight[7..], ["state 4 3-6 7-9", "t 8 5-7", "next 6 6-9"]);
}

#[test]
fn frames_are_planned_inside_out_and_assembled() {
    let graph = branches();
    let program = program(&graph, ProgramOptions::default());
    let frames = program.frames();
    assert_eq!(frames.iter().map(|frame| frame.parent).collect::<Vec<_>>(), [None, Some(0), Some(0)]);
    let (then, which) = program.frame_instance(&frames[1], |_| Bytes::ZERO).unwrap();
    assert_eq!(show(&then), ["s 4 1-3", "t 3 2-4"]);
    assert_eq!(which, [0, 1]);
    let block = |_| Bytes::new(7);
    let (body, _) = program.frame_instance(&frames[0], block).unwrap();
    // The steps of the body are 0 Begin, 1 x, 2 k, 3 choose, 4 add, and 5 End.
    let expected = ["c 1 0-4", "x 8 1-4", "k 2 2-5", "y 3 3-5", "z 5 4-6", "block of choose#2 7 3-4"];
    assert_eq!(show(&body), expected);
    let [outer, inner] = [[0u64, 1, 9, 11, 0, 14].as_slice(), &[0, 4]]
        .map(|list| list.iter().map(|&offset| Bytes::new(offset)).collect::<Vec<_>>());
    let layout = program.assemble(&frames, &[outer, inner, vec![Bytes::ZERO]]);
    assert_eq!(layout.offsets().iter().map(|o| o.get()).collect::<Vec<_>>(), [0, 1, 9, 11, 0, 14, 18, 14]);
    assert!(crate::check_layout(program.instance(), &layout).is_empty());
}

#[test]
fn orders_are_checked() {
    let graph = branches();
    let mut orders = in_file(&graph);
    orders[1].reverse();
    let error = Program::new(&graph, orders, ProgramOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the order of region 'then' is not a topological order of its 2 operators");
}

#[test]
fn views_of_a_region_share_there() {
    let mut g = GraphBuilder::new("views");
    let c = g.tensor(Tensor::new("c", 4, Role::Input));
    let [a, v, y] = ["a", "v", "y"].map(|name| activation(&mut g, name, 4));
    let body = g.body();
    let choose = g.operator(body, Operator::new("choose", "If").reads([c]).makes([y]));
    let (yes, no) = (g.region(choose, "then"), g.region(choose, "else"));
    g.operator(yes, Operator::new("a", "F").reads([c]).makes([a]));
    g.operator(yes, Operator::new("v", "Reshape").reads([a]).makes([v]).alias(a, v, AliasKind::View));
    g.interface(body, [c], [y]);
    g.interface(yes, [], [v]);
    g.interface(no, [], [c]);
    let graph = g.build().unwrap();
    assert_eq!(
        show(program(&graph, ProgramOptions::default()).instance()),
        ["c 4 0-4 6-8", "y 4 5-6 7-10", "a 4 3-6"]
    );
}

#[test]
fn a_single_branch_may_be_skipped() {
    let mut g = GraphBuilder::new("only");
    let c = g.tensor(Tensor::new("c", 1, Role::Input));
    let [k, t] = [("k", 4), ("t", 4)].map(|(name, bytes)| activation(&mut g, name, bytes));
    let z = g.tensor(Tensor::new("z", 2, Role::Output));
    let body = g.body();
    g.operator(body, Operator::new("k", "F").reads([c]).makes([k]));
    let maybe = g.operator(body, Operator::new("maybe", "If").reads([c]));
    g.operator(body, Operator::new("z", "F").reads([k]).makes([z]));
    let then = g.region(maybe, "then");
    g.operator(then, Operator::new("t", "Print").reads([k]).makes([t]));
    g.interface(body, [c], [z]);
    let graph = g.build().unwrap();
    let program = program(&graph, ProgramOptions::default());
    // The points are 0 Begin, 1 k, 2 Enter, 3 Begin then, 4 t, 5 End, 6 Exit, 7 z, and 8 End.
    assert_eq!(show(program.instance()), ["c 1 0-3", "k 4 1-8", "z 2 7-9", "t 4 4-5"]);
    assert_eq!(program.points().predecessors(6), [2, 5]);
    let layout = Layout::from_raw([0, 1, 5, 5]);
    let report = crate::execution::check_execution(
        &program.placed(&layout),
        &crate::execution::ExecutionOptions::default(),
    )
    .unwrap();
    assert_eq!((report.runs, report.complete, report.violations.len()), (2, true, 0));
}
