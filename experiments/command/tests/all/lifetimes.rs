//! Tests lifespans in every command that reads graphs: unread inputs, untouched states, tensors of zero
//! bytes, and graphs without operators or intermediates.

use crate::common::{Random, Scratch, contains, has};
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

#[test]
fn an_unread_input_is_live_at_the_start_only_in_every_command() {
    let scratch = Scratch::with("plain.json", unread(false));
    scratch.write("idle.json", unread(true));
    for file in ["plain.json", "idle.json"] {
        for (boundary, bytes) in [("arena", 220), ("held", 410), ("persistent", 410), ("outside", 120)] {
            for (command, options, key) in [
                ("order", "", "peak"),
                ("plan", "", "arena"),
                ("plan", "--joint", "arena"),
                ("plan", "--conflicts reachable", "arena"),
                ("spill", "--capacity 1000", "load"),
            ] {
                let line = format!("{command} {file} --boundary {boundary} {options}");
                assert_eq!(scratch.json(&line)[key], bytes, "{line}");
            }
            let line = format!("order {file} --boundary {boundary} --compare --time-limit 1");
            for row in scratch.json(&line)["rows"].as_array().unwrap() {
                assert!(row["value"].as_u64().is_none_or(|peak| peak == bytes), "{line}: {row}");
            }
        }
    }
    scratch.ok("order plain.json --instance i.csv");
    has(&scratch.json("solve i.csv"), &json!({ "peak": 220 }));
    // Tiers have the step before the first operator too. At this step, 200 bytes must fit, and 220 while f
    // runs.
    let placed = scratch.json("tiers plain.json --machine generic --fusion none -o t.csv");
    has(&placed, &json!({ "operators": 2 }));
    contains(&scratch.read("t.csv"), &["u,100,0,1,", "a,120,1,3,"]);
}

/// Name, tensors, inputs, outputs, operators, and the bytes that are needed.
type Case<'a> = (&'a str, &'a [(&'a str, u64, &'a str)], &'a [&'a str], &'a [&'a str], Vec<Value>, u64);

#[test]
fn degenerate_graphs_have_answers() {
    let scratch = Scratch::new();
    let (f, g) = (|to| step("f", &["x"], &[to]), step("g", &["a"], &["y"]));
    let (print, nothing) = (step("print", &["a"], &[]), step("nothing", &[], &[]));
    let cases: [Case<'_>; 9] = [
        ("empty", &[], &[], &[], vec![], 0),
        ("through", &[("x", 100, "input")], &["x"], &["x"], vec![], 100),
        ("given", &[("x", 100, "input"), ("z", 7, "input")], &["x", "z"], &[], vec![], 107),
        ("weights", &[("w", 8, "weight")], &[], &["w"], vec![], 0),
        ("kept", &[("s", 50, "state")], &[], &[], vec![], 50),
        ("idle", &[("s", 50, "state")], &[], &[], vec![nothing.clone()], 50),
        (
            "sink",
            &[("x", 100, "input"), ("a", 20, "activation")],
            &["x"],
            &[],
            vec![f("a"), print, nothing],
            120,
        ),
        ("direct", &[("x", 100, "input"), ("y", 20, "output")], &["x"], &["y"], vec![f("y")], 120),
        (
            "zeros",
            &[("x", 0, "input"), ("a", 0, "activation"), ("y", 0, "output")],
            &["x"],
            &["y"],
            vec![f("a"), g],
            0,
        ),
    ];
    for (name, tensors, inputs, outputs, operators, bytes) in cases {
        let body = json!({ "inputs": inputs, "outputs": outputs, "operators": operators });
        scratch.write("g.json", graph(tensors, &body));
        for line in [
            "import g.json",
            "overlap g.json --machine generic",
            "tiers g.json --machine generic",
            "fuse g.json",
        ] {
            scratch.json(line);
        }
        assert_eq!(scratch.json("order g.json")["peak"], bytes, "{name}");
        for more in ["", "--joint", "--conflicts reachable", "--branches sequential-branches"] {
            assert_eq!(scratch.json(format!("plan g.json {more}"))["arena"], bytes, "{name} {more}");
        }
        let spill = scratch.json("spill g.json --capacity 1000");
        has(&spill, &json!({ "load": bytes, "claim": "optimal" }));
    }
}

#[test]
fn tensors_of_zero_bytes_are_listed() {
    let scratch = Scratch::new();
    let tensors = [("x", 8, "input"), ("e", 0, "input"), ("z", 0, "activation"), ("y", 4, "output")];
    let idle = json!({ "name": "idle", "kind": "If", "regions": [{ "name": "then", "operators": [] }] });
    let mut operators = vec![step("f", &["x"], &["z"]), step("g", &["x", "z"], &["y"]), idle];
    for (kept, z) in [(3, "1,3"), (2, "0,2")] {
        operators.truncate(kept);
        let body = json!({ "inputs": ["x", "e"], "outputs": ["y"], "operators": operators });
        scratch.write("g.json", graph(&tensors, &body));
        assert_eq!(scratch.json("plan g.json --tensors t.csv")["arena"], 12);
        let rows = scratch.read("t.csv");
        contains(&rows, &["0:body,e,0,0,0,1,,1,\n", &format!("0:body,z,0,0,{z},,2,0\n")]);
        assert_eq!(rows.lines().count(), 5, "{rows}");
    }
}

/// Returns one order per region: the file orders for seed 0, and random orders for other seeds.
fn orders(graph: &Graph, seed: u64) -> Vec<Vec<OperatorId>> {
    let mut random = Random(seed);
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
            let next = if seed == 0 { ready[0] } else { ready[random.below(ready.len() as u64) as usize] };
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
