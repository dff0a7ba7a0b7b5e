//! Tests lifespans in every command that reads graphs: unread inputs, untouched states, tensors of zero
//! bytes, and graphs without operators or intermediates. Also tests joint plans of graphs with regions.

use crate::common::Scratch;
use plimsoll::datasets::graphs::GraphFamily;
use plimsoll::model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll::model::program::{Carries, Program, ProgramBound, ProgramOptions, Sharing};
use plimsoll::model::{OperatorId, RegionId, load};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns a graph with these tensors (name, bytes, role) and this body.
fn graph(tensors: &[(&str, u64, &str)], body: &Value) -> String {
    let tensors: Vec<Value> = tensors
        .iter()
        .map(|(name, bytes, role)| json!({ "name": name, "bytes": bytes, "role": role }))
        .collect();
    json!({ "format": "plimsoll-graph", "version": 1, "name": "g", "tensors": tensors, "body": body })
        .to_string()
}

fn step(name: &str, inputs: &[&str], outputs: &[&str]) -> Value {
    json!({ "name": name, "kind": "F", "inputs": inputs, "outputs": outputs })
}

/// Returns the graph x -> a -> y with an unread input, with or without an idle branch.
fn unread(idle: bool) -> String {
    let mut operators = vec![step("f", &["x"], &["a"]), step("g", &["a"], &["y"])];
    if idle {
        operators
            .push(json!({ "name": "idle", "kind": "If", "regions": [{ "name": "then", "operators": [] }] }));
    }
    let tensors = [("u", 100, "input"), ("x", 100, "input"), ("a", 120, "activation"), ("y", 90, "output")];
    graph(&tensors, &json!({ "inputs": ["u", "x"], "outputs": ["y"], "operators": operators }))
}

/// Returns the JSON object that a command prints.
fn answer(scratch: &Scratch, words: &[&str]) -> Value {
    let words = [words, &["--json"]].concat();
    let out = scratch.plimsoll(&words).exits(0).stdout;
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words:?}: {error}: {out}"))
}

#[test]
fn an_unread_input_is_live_at_the_start_only_in_every_command() {
    let scratch = Scratch::new();
    scratch.write("plain.json", unread(false));
    scratch.write("idle.json", unread(true));
    for file in ["plain.json", "idle.json"] {
        for (boundary, bytes) in [("arena", 220), ("held", 410), ("persistent", 410), ("outside", 120)] {
            let with = |words: &[&str]| answer(&scratch, &[words, &["--boundary", boundary]].concat());
            assert_eq!(with(&["order", file])["peak"], bytes, "{file} {boundary}");
            assert_eq!(with(&["plan", file])["arena"], bytes, "{file} {boundary}");
            assert_eq!(with(&["plan", file, "--joint"])["arena"], bytes, "{file} {boundary}");
            assert_eq!(
                with(&["plan", file, "--conflicts", "reachable"])["arena"],
                bytes,
                "{file} {boundary}"
            );
            let spill = with(&["spill", file, "--capacity", "1000"]);
            assert_eq!(spill["load"], bytes, "{file} {boundary}");
            let compared = with(&["order", file, "--compare", "--time-limit", "1"]);
            for row in compared["rows"].as_array().unwrap() {
                assert!(row["value"].as_u64().is_none_or(|peak| peak == bytes), "{file} {boundary}: {row}");
            }
        }
    }
    let words = ["order", "plain.json", "--instance", "i.csv"];
    scratch.plimsoll(&words).exits(0);
    assert_eq!(answer(&scratch, &["solve", "i.csv"])["peak"], 220);
    // Tiers have the step before the first operator too. At this step, 200 bytes must fit, and 220 while f
    // runs.
    let placed =
        answer(&scratch, &["tiers", "plain.json", "--machine", "generic", "--fusion", "none", "-o", "t.csv"]);
    assert_eq!(placed["operators"], 2);
    assert!(scratch.read("t.csv").contains("u,100,0,1,"), "{}", scratch.read("t.csv"));
    assert!(scratch.read("t.csv").contains("a,120,1,3,"), "{}", scratch.read("t.csv"));
}

#[test]
fn degenerate_graphs_have_answers() {
    let scratch = Scratch::new();
    let none: [Value; 0] = [];
    let body = |inputs: &[&str], outputs: &[&str], operators: &[Value]| json!({ "inputs": inputs, "outputs": outputs, "operators": operators });
    let nothing = step("nothing", &[], &[]);
    let cases = [
        ("empty", graph(&[], &body(&[], &[], &none)), 0),
        ("through", graph(&[("x", 100, "input")], &body(&["x"], &["x"], &none)), 100),
        ("given", graph(&[("x", 100, "input"), ("z", 7, "input")], &body(&["x", "z"], &[], &none)), 107),
        ("weights", graph(&[("w", 8, "weight")], &body(&[], &["w"], &none)), 0),
        ("kept", graph(&[("s", 50, "state")], &body(&[], &[], &none)), 50),
        ("idle", graph(&[("s", 50, "state")], &body(&[], &[], std::slice::from_ref(&nothing))), 50),
        (
            "sink",
            graph(
                &[("x", 100, "input"), ("a", 20, "activation")],
                &body(&["x"], &[], &[step("f", &["x"], &["a"]), step("print", &["a"], &[]), nothing]),
            ),
            120,
        ),
        (
            "direct",
            graph(
                &[("x", 100, "input"), ("y", 20, "output")],
                &body(&["x"], &["y"], &[step("f", &["x"], &["y"])]),
            ),
            120,
        ),
        (
            "zeros",
            graph(
                &[("x", 0, "input"), ("a", 0, "activation"), ("y", 0, "output")],
                &body(&["x"], &["y"], &[step("f", &["x"], &["a"]), step("g", &["a"], &["y"])]),
            ),
            0,
        ),
    ];
    for (name, text, bytes) in cases {
        let file = &format!("{name}.json");
        scratch.write(file, text);
        answer(&scratch, &["import", file]);
        assert_eq!(answer(&scratch, &["order", file])["peak"], bytes, "{name}");
        for more in [
            &[] as &[&str],
            &["--joint"],
            &["--conflicts", "reachable"],
            &["--branches", "sequential-branches"],
        ] {
            assert_eq!(
                answer(&scratch, &[&["plan", file], more].concat())["arena"],
                bytes,
                "{name} {more:?}"
            );
        }
        let spill = answer(&scratch, &["spill", file, "--capacity", "1000"]);
        assert_eq!(
            (&spill["load"], &spill["claim"]),
            (&Value::from(bytes), &Value::from("optimal")),
            "{name}"
        );
        answer(&scratch, &["overlap", file, "--machine", "generic"]);
        answer(&scratch, &["tiers", file, "--machine", "generic"]);
        answer(&scratch, &["fuse", file]);
    }
}

#[test]
fn tensors_of_zero_bytes_are_listed() {
    let scratch = Scratch::new();
    let tensors = [("x", 8, "input"), ("e", 0, "input"), ("z", 0, "activation"), ("y", 4, "output")];
    let mut operators = vec![step("f", &["x"], &["z"]), step("g", &["x", "z"], &["y"])];
    let body =
        |operators: &[Value]| json!({ "inputs": ["x", "e"], "outputs": ["y"], "operators": operators });
    scratch.write("plain.json", graph(&tensors, &body(&operators)));
    operators.push(json!({ "name": "idle", "kind": "If", "regions": [{ "name": "then", "operators": [] }] }));
    scratch.write("idle.json", graph(&tensors, &body(&operators)));
    for (file, z) in [("plain.json", "0,2"), ("idle.json", "1,3")] {
        assert_eq!(answer(&scratch, &["plan", file, "--tensors", "t.csv"])["arena"], 12);
        let rows = scratch.read("t.csv");
        assert!(rows.contains("0:body,e,0,0,0,1,,1,\n"), "{rows}");
        assert!(rows.contains(&format!("0:body,z,0,0,{z},,2,0\n")), "{rows}");
        assert_eq!(rows.lines().count(), 5, "{rows}");
    }
}

/// Returns one order per region: the file orders for seed 0, and random orders for other seeds.
fn orders(graph: &Graph, seed: u64) -> Vec<Vec<OperatorId>> {
    let mut state = seed;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let region = |at: usize| {
        let mut left = graph.file_order(RegionId::at(at));
        let mut order = Vec::new();
        while !left.is_empty() {
            let is_blocked = |id: OperatorId| {
                graph
                    .reads(id)
                    .into_iter()
                    .filter_map(|tensor| graph.producer(tensor))
                    .any(|producer| left.contains(&producer))
            };
            let ready: Vec<usize> = (0..left.len()).filter(|&at| !is_blocked(left[at])).collect();
            let next = if seed == 0 { ready[0] } else { ready[below(ready.len())] };
            order.push(left.remove(next));
        }
        order
    };
    (0..graph.regions().len()).map(region).collect()
}

#[test]
fn no_orders_are_below_the_bound_of_a_program() {
    let boundaries = [Boundary::Arena, Boundary::Outside, Boundary::Persistent, Boundary::Held];
    let mut met = 0;
    for seed in 0..60u64 {
        for family in ["nested-if", "unbalanced-if", "shared-if", "loops", "control-mix"] {
            let graph = GraphFamily::named(family).unwrap().generate(seed, &BTreeMap::new()).unwrap();
            let liveness = LivenessOptions {
                boundary: boundaries[(seed % 4) as usize],
                in_place: seed.is_multiple_of(3),
                views: !seed.is_multiple_of(5),
                weights: seed.is_multiple_of(7),
                ..LivenessOptions::default()
            };
            let options = ProgramOptions {
                liveness,
                handover: [Sharing::Copy, Sharing::Alias][(seed % 2) as usize],
                carries: [Carries::Resident, Carries::Tight, Carries::Double][(seed % 3) as usize],
            };
            let bound = ProgramBound::of(&graph, &liveness).unwrap();
            for draw in 0..8 {
                let program = Program::new(&graph, orders(&graph, draw), options).unwrap();
                let load = load(program.instance()).0;
                assert!(bound.value <= load, "{family} {seed} {draw}: {bound:?} above {load}");
                met += usize::from(bound.value == load);
            }
        }
    }
    assert!(met > 100, "{met}");
}

#[test]
fn joint_plans_of_graphs_with_regions_claim_only_proved_optima() {
    let scratch = Scratch::new();
    let branch = |name: &str, size: &str, out: &str| json!({ "name": name, "outputs": [out], "operators": [step(name, &["x"], &[size]), step(name, &[size], &[out])] });
    let choose = json!({ "name": "choose", "kind": "If", "inputs": ["c"], "outputs": ["y"],
        "regions": [branch("then", "p", "q"), branch("else", "r", "s")] });
    let tensors = [
        ("c", 1, "input"),
        ("x", 8, "input"),
        ("y", 8, "output"),
        ("p", 42, "activation"),
        ("q", 8, "activation"),
        ("r", 62, "activation"),
        ("s", 8, "activation"),
    ];
    scratch.write(
        "b.json",
        graph(&tensors, &json!({ "inputs": ["c", "x"], "outputs": ["y"], "operators": [choose] })),
    );
    let planned = answer(
        &scratch,
        &["plan", "b.json", "--joint", "--orders", "o.csv", "-o", "l.csv", "--instance", "i.csv"],
    );
    assert_eq!((&planned["order"], &planned["arena"]), (&Value::from("joint exact"), &Value::from(70)));
    assert_eq!(
        (&planned["claim"], &planned["joint_claim"]),
        (&Value::from("optimal"), &Value::from("optimal"))
    );
    assert_eq!(
        (&planned["joint_bound"], &planned["joint_witness"]),
        (&Value::from(70), &Value::from("live while 'else' runs"))
    );
    scratch.plimsoll(&["verify", "i.csv", "l.csv"]).exits(0);
    // Nested blocks exceed the joint bound, so their plan is optimal for these orders but not over all
    // orders.
    let nested = answer(&scratch, &["plan", "b.json", "--branches", "nested"]);
    assert_eq!(
        (&nested["claim"], &nested["joint_claim"]),
        (&Value::from("optimal"), &Value::from("feasible"))
    );
}
