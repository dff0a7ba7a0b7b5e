//! Tests of slots that are exchanged between iterations.

use super::*;

#[test]
fn slots_are_exchanged() {
    let graph = repeat("s u");
    let good = "x@0 o@4 s@8 u@12 n@16 y@0 z@4";
    for count in 0..4 {
        assert_eq!(lost(&graph, good, &SWAP(count)), [""; 0]);
    }
    // y may use the slot of n or s, whether values are copied or slots are exchanged, because the final
    // state is copied from its current slot.
    for places in
        ["x@0 o@4 s@8 u@12 n@16 y=n z@4", "x@0 o@4 s@8 u@12 n@16 y=s z@4", "x@8 s=x u@12 n@16 y=s z@4"]
    {
        assert_eq!(lost(&graph, places, &all()), [""; 0]);
        assert_eq!(lost(&graph, places, &SWAP(3)), [""; 0]);
    }
    // Within an iteration, u ends before n begins. In the second iteration, however, the slot of n contains
    // the state.
    let early = repeat("s o");
    let places = "x@0 o@4 s@8 u@16 n@16 y@0 z@20";
    assert_eq!(lost(&early, places, &all()), [""; 0]);
    assert_eq!(lost(&early, places, &SWAP(1)), [""; 0]);
    assert_eq!(lost(&early, places, &SWAP(2))[0], "'s' for f when it writes: 'u' at 16; for: 2 iterations");
    // Slots of different sizes are not exchanged. Their contents are copied.
    let places = "x@0 o@4 s@8 u@16 n=u y@0 z@20";
    assert_eq!(lost(&early, places, &SWAP(3)), [""; 0]);
}

#[test]
fn exchanges_are_undone_when_an_inner_loop_is_left() {
    let mut net = Net::new();
    let outer = net.op(BODY, "outer for: x -> y");
    let body = net.region(outer, "body", "a -> d");
    net.op(body, "e E: a -> e");
    let inner = net.op(body, "inner for: e -> b");
    net.op(body, "f F: a b -> d");
    let trip = net.region(inner, "trip", "s -> n");
    net.op(trip, "g G: s -> n");
    let graph = net.build("x -> y");
    // An input of the inner loop may use the slot of n, because the initial state is never in that slot.
    let good = "x@0 y@4 a@8 d@12 b@16 s@20 n@24 e@24";
    let report = report(&graph, good, &SWAP(3));
    assert_eq!((report.violations.len(), report.complete), (0, true));
    // The outer loop runs 0 to 3 iterations, and the inner loop runs 0 to 3 iterations in each of them.
    assert_eq!(report.runs, 1 + 4 + 16 + 64);
    assert_eq!(lost(&graph, "x@0 y@4 a@8 d@12 b=s s@20 n@24 e@28", &SWAP(3)), [""; 0]);
    assert_eq!(lost(&graph, "x@0 y@4 a@8 d@12 s@20 b=s n@24 e@28", &SWAP(3)), [""; 0]);
    // With copies, d may use the memory of n after the inner loop has ended.
    assert_eq!(lost(&graph, "x@0 y@4 a@8 d@24 b@16 s@20 n@24 e@28", &trips(3)), [""; 0]);
    // With exchanges, this memory contains the state of the outer loop while the inner loop runs.
    let found = lost(&graph, "x@0 y@4 a@8 d@24 b@16 s@20 n@24 e@28", &SWAP(2));
    assert!(found[0].contains("'a'") && found[0].contains("'n' at 24"), "{found:?}");
}

#[test]
fn crossing_pairs_are_copied_simultaneously() {
    let mut net = Net::new();
    let repeat = net.op(BODY, "for for: x1 x2 -> y1 y2");
    net.region(repeat, "body", "a b -> b a");
    let graph = net.build("x1 x2 -> y1 y2");
    for options in [all(), SWAP(3)] {
        assert_eq!(lost(&graph, "x1@0 x2@4 a@8 b@12 y1@0 y2@4", &options), [""; 0]);
    }
}

#[test]
fn slots_are_exchanged_if_each_is_handed_over_once() {
    let graph = |wanted: &str, view: bool| {
        let mut net = Net::new();
        let repeat = net.op(BODY, "for for: x1 x2 -> y1 y2");
        let body = net.region(repeat, "body", &format!("a b -> {wanted}"));
        net.op(body, "f F: a b -> n m");
        let change = |net: &mut Net, v: Operator| v.alias(net.tensor("b"), net.tensor("v"), AliasKind::View);
        if view {
            net.with(body, "v V: b -> v", change);
        }
        net.build("x1 x2 -> y1 y2")
    };
    let places = "x1@0 x2@4 a@8 b@12 n@16 m@20 y1@0 y2@4";
    for wanted in ["n m", "m n", "n n", "b n", "n a", "a m"] {
        assert_eq!(lost(&graph(wanted, false), places, &SWAP(3)), [""; 0], "{wanted}");
    }
    // Results in the slots of the states overwrite data that is still needed.
    let over = "x1@0 x2@4 a@8 b@12 n=b m=a y1@0 y2@4";
    assert!(!lost(&graph("n m", false), over, &SWAP(1)).is_empty());
    // A view of a state is lost if the state is overwritten at the same moment. The state itself is not lost.
    let viewed = lost(&graph("v n", true), &format!("{places} v=b"), &trips(1));
    assert_eq!(viewed, ["'v' for for when region 0 has ended: 'b' at 12; for: 1 iteration"]);
    assert_eq!(lost(&graph("v n", true), &format!("{places} v@24"), &all()), [""; 0]);
}

#[test]
fn views_of_one_tensor_are_copied() {
    let mut net = Net::new();
    let repeat = net.op(BODY, "for for: x1 x2 -> y1 y2");
    let body = net.region(repeat, "body", "a b -> n v");
    net.op(body, "f F: a b -> n");
    net.with(body, "v V: n -> v", |net, v| v.alias(net.tensor("n"), net.tensor("v"), AliasKind::View));
    let graph = net.build("x1 x2 -> y1 y2");
    assert_eq!(lost(&graph, "x1@0 x2@4 a@8 b@12 n@16 v=n y1@0 y2@4", &SWAP(3)), [""; 0]);
}

#[test]
fn data_handed_over_again_later_is_copied() {
    // At its exit, the operator also returns the result of the last iteration, if there was one.
    let mut net = Net::new();
    let repeat = net.with(BODY, "while While: x -> y", |net, mut repeat| {
        let listed = [(Moment::Enter, "x>s"), (Moment::End(1), "n>s"), (Moment::Exit, "n>y")];
        repeat.handovers = Some(listed.iter().map(|&(when, text)| net.handed(when, text)).collect());
        repeat
    });
    let ask = net.region(repeat, "ask", "s -> c");
    net.op(ask, "less L: s -> c");
    let body = net.region(repeat, "body", "b -> n");
    net.op(body, "f F: b -> n");
    let graph = net.build("x -> y");
    assert_eq!(lost(&graph, "x@0 s@4 c@8 b@12 n@16 y@0", &SWAP(3)), [""; 0]);
    // The condition ran in the meantime and overwrote the result.
    let found = lost(&graph, "x@0 s@4 c@16 b@12 n@16 y@0", &SWAP(1));
    assert_eq!(found, ["'n' for while when it exits: 'c' at 16; while: 1 iteration"]);
}
