//! Tests `plimsoll tiers`: plans, comparisons, files and exit codes.

use crate::common::{Scratch, has};
use serde_json::{Value, json};

/// A machine with three tiers: a buffer of 10 bytes, an on-chip RAM of 20 bytes, and an off-chip memory. Per
/// microsecond, the buffer moves 20 bytes, the RAM 10 bytes, and the off-chip memory 1 byte.
const MACHINE: &str = r#"
name = "unit"
alignment = 2
[switch]
bandwidth = 5.0
[[unit]]
name = "a"
kinds = ["conv"]
macs_per_second = 1e6
bytes_per_second = 1e6
overhead = 1e-6
bandwidth = 4.0
[[unit]]
name = "b"
kinds = ["*"]
macs_per_second = 1e6
bytes_per_second = 1e6
bandwidth = 2.0
elements = 3
local_bandwidth = 4.0
bus_bandwidth = 12.0
[[tier]]
name = "buf"
kind = "buffer"
units = ["a"]
capacity = 10
bandwidth = 20e6
[[tier]]
name = "ram"
kind = "ram"
capacity = 20
bandwidth = 10e6
[[tier]]
name = "ddr"
kind = "ddr"
capacity = 1000
bandwidth = 1e6
"#;

/// The graph x -conv-> p -conv-> q -add(q, p)-> y, with tensors of 10 bytes and a weight of 5 bytes.
const GRAPH: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "net", "tensors": [
    { "name": "x", "bytes": 10, "role": "input" }, { "name": "w, \"w\"", "bytes": 5, "role": "weight" },
    { "name": "p", "bytes": 10 }, { "name": "q", "bytes": 10 }, { "name": "y", "bytes": 10, "role": "output" } ],
    "body": { "inputs": ["x"], "outputs": ["y"], "operators": [
    { "name": "one", "kind": "Conv", "inputs": ["x", "w, \"w\""], "outputs": ["p"], "cost": 10 },
    { "name": "two", "kind": "Conv", "inputs": ["p", "w, \"w\""], "outputs": ["q"], "cost": 10 },
    { "name": "add", "kind": "Add", "inputs": ["q", "p"], "outputs": ["y"] } ] } }"#;

fn scratch() -> Scratch {
    let scratch = Scratch::with("unit.toml", MACHINE);
    scratch.write("net.json", GRAPH);
    scratch
}

fn run(scratch: &Scratch, options: &str) -> Value {
    scratch.json(format!("tiers net.json --machine unit.toml {options}"))
}

#[test]
fn tensors_are_placed_with_the_least_transfer_time() {
    let scratch = scratch();
    let report = run(&scratch, "--fusion none --output plan.csv");
    // x is in the buffer (0.5 µs), and p and q are in RAM (3 and 2 µs). y fits in neither and is therefore
    // off-chip (10 µs).
    has(&report, &json!({ "claim": "optimal", "transfer_ps": 15_500_000, "off_chip_traffic": 10 }));
    // 50 µs of compute (10 + 10 + 30), two group starts of 1 µs, 10 µs to read the weights, and 15.5 µs of
    // transfers.
    let inference = 50_000_000 + 2_000_000 + 10_000_000 + 15_500_000;
    has(&report, &json!({ "weight_traffic": 10, "inference_ps": inference, "address_width": 5 }));
    assert_eq!(report["on_chip_percent"].as_f64().unwrap() as u64, 85);
    let plan = scratch.read("plan.csv");
    assert_eq!(plan.lines().nth(1).unwrap(), "x,10,0,1,buf,0,500000,10");
    assert_eq!(plan.lines().nth(4).unwrap(), "y,10,2,3,ddr,0,10000000,10");
    let checks = report["bandwidths"].as_array().unwrap();
    let holds: Vec<&Value> = checks.iter().map(|check| &check["holds"]).collect();
    assert_eq!(holds, [&json!(false), &Value::Null, &json!(true)]);
    assert_eq!(checks[0]["needed"], 6);
}

#[test]
fn inputs_weights_and_fusion_are_options() {
    let scratch = scratch();
    let outside = 10_000_000 + 10_000_000 + 3_000_000 + 2_000_000;
    for (options, members) in [
        ("--fusion none --boundary outside", json!({ "transfer_ps": outside })),
        ("--weights --fusion none", json!({ "tensors": 5, "weight_traffic": 0 })),
        ("--fusion cross-unit --algorithm fused", json!({ "relations": 3, "fusion": "cross-unit" })),
        ("--addresses counted --order exact", json!({ "fusion": "none", "addresses": "counted" })),
    ] {
        has(&run(&scratch, options), &members);
    }
}

#[test]
fn all_placements_are_compared() {
    let scratch = scratch();
    let report = run(&scratch, "--compare --output rows.csv");
    let rows = report["rows"].as_array().unwrap();
    let gap = |name: &str| rows.iter().find(|row| row["algorithm"] == name).unwrap()["gap_percent"].as_f64();
    assert_eq!(gap("exact"), Some(0.0));
    assert!(gap("off-chip") > gap("greedy") && gap("fused-printed").is_some(), "{report}");
    assert_eq!(scratch.read("rows.csv").lines().count(), rows.len() + 1);
}

#[test]
fn exit_codes_distinguish_what_does_not_fit() {
    let scratch = scratch();
    let with = |from: &str, to: &str| {
        scratch.write("other.toml", MACHINE.replace(from, to));
        scratch.run("tiers net.json --machine other.toml --boundary outside")
    };
    let never = "infeasible: tensor 'x' of 10 bytes fits into none of its allowed tiers";
    with("capacity = 1000", "capacity = 9").exits(1).prints(&[never]);
    with("capacity = 1000", "capacity = 10").exits(0);
    with("capacity = 1000", "capacity = 0").refuses(&["other.toml, line", "capacity must be positive"]);
    with("kinds = [\"*\"]", "kinds = [\"Sub\"]").refuses(&["no processing unit can run", "add"]);
    let rate = with("bandwidth = 1e6\n", "bandwidth = 0.5\n");
    rate.refuses(&["other.toml", "must be between 1 and 1e18"]);
    let gpu = "no machine 'gpu': neither a file nor one of s3-platform, two-tier, generic";
    // Options that would have no effect are rejected too.
    for (line, part) in [
        (
            "tiers net.json --machine unit.toml --algorithm exakt",
            "unknown placement 'exakt'; did you mean 'exact'",
        ),
        (
            "tiers net.json --machine unit.toml --fusion ordinary --order exact",
            "--order requires --fusion none",
        ),
        ("tiers net.json --machine unit.toml --patterns nowhere", "nowhere"),
        ("tiers net.json --machine gpu", gpu),
        ("tiers net.json --machine unit.toml --align 4", "--align"),
        ("tiers net.json --machine unit.toml --fusion none --patterns s3", "--patterns"),
        ("plan net.json --conflicts reachable --runs 5", "--runs"),
        ("plan net.json --conflicts reachable --handover alias", "--handover"),
    ] {
        scratch.refuses(line, &[part]);
    }
}

#[test]
fn degenerate_graphs_have_answers() {
    let scratch = scratch();
    let x = |bytes: u64| json!([{ "name": "x", "bytes": bytes, "role": "input" }]);
    for (tensors, inputs, code) in
        [(json!([]), json!([]), 0), (x(8), json!(["x"]), 0), (x(1 << 60), json!(["x"]), 1)]
    {
        let body = json!({ "inputs": inputs, "outputs": [], "operators": [] });
        let graph = json!({ "format": "plimsoll-graph", "version": 1, "name": "odd", "tensors": tensors, "body": body });
        scratch.write("odd.json", graph.to_string());
        for placement in ["exact", "greedy", "fused", "local-search", "off-chip"] {
            scratch.run(format!("tiers odd.json --machine unit.toml --algorithm {placement}")).exits(code);
        }
        scratch.run("tiers odd.json --machine unit.toml --compare").exits(code);
    }
}

#[test]
fn regions_are_blocks() {
    let scratch = scratch();
    for family in ["nested-if", "loops", "control-mix"] {
        scratch.ok(format!("generate {family} --out regions.json"));
        for machine in ["s3-platform", "two-tier", "generic"] {
            let report = scratch.json(format!("tiers regions.json --machine {machine}"));
            assert_eq!(report["claim"], "optimal", "{family} {machine}");
        }
    }
}

/// A graph with a branch. The region `then` contains one convolution, whose group start takes 50 µs. The
/// region `else` contains one operator of another kind, whose group start takes 1 µs.
const BRANCH: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "mu", "tensors": [
    { "name": "c", "bytes": 10, "role": "input" }, { "name": "r", "bytes": 8, "role": "output" },
    { "name": "a", "bytes": 8 }, { "name": "b", "bytes": 8 } ],
    "body": { "inputs": ["c"], "outputs": ["r"], "operators": [
    { "name": "if", "kind": "If", "inputs": ["c"], "outputs": ["r"], "regions": [
        { "name": "then", "outputs": ["a"], "operators": [
            { "name": "h", "kind": "Conv", "inputs": ["c"], "outputs": ["a"] } ] },
        { "name": "else", "outputs": ["b"], "operators": [
            { "name": "k", "kind": "Softmaxish", "inputs": ["c"], "outputs": ["b"] } ] } ] } ] } }"#;

#[test]
fn the_longest_region_of_a_branch_counts() {
    let scratch = Scratch::with("mu.json", BRANCH);
    let report = scratch.json("tiers mu.json --machine s3-platform");
    assert!(report["inference_ps"].as_u64() > Some(51_000_000), "{report}");
}

#[test]
fn input_files_are_never_overwritten() {
    let scratch = scratch();
    scratch.write("p.patterns", "pair = conv conv\n");
    scratch.write("m.toml", "name = \"m\"\n[memory]\ncapacity = 1000\n[dma]\nbandwidth = 1e6\n[compute]\n");
    for (command, input) in [
        ("tiers net.json --machine unit.toml", "unit.toml"),
        ("tiers net.json --machine unit.toml --patterns p.patterns", "p.patterns"),
        ("fuse net.json --patterns p.patterns", "p.patterns"),
        ("overlap net.json --machine m.toml", "m.toml"),
    ] {
        let before = scratch.read(input);
        scratch.refuses(format!("{command} --output {input}"), &[input]);
        assert_eq!(scratch.read(input), before);
    }
}

#[cfg(feature = "ilp")]
#[test]
fn shared_objects_with_conflicts_have_their_own_default_solver() {
    scratch().ok("plan net.json --conflicts reachable --problem shared-objects").prints(&["pool-ilp"]);
}

/// Tests that `tiers` rejects machines for `overlap`, and vice versa, with a specific error message. This
/// holds for files and for built-in machines.
#[test]
fn errors_distinguish_machines_of_overlap_and_tiers() {
    let scratch = Scratch::after("generate lenet5 --out net.json");
    scratch.write("chip.toml", include_str!("../../../../model/src/timelines/presets/luna.toml"));
    scratch.write("tiers.toml", include_str!("../../../../model/src/tiers/presets/two-tier.toml"));
    for (command, machines, why) in [
        ("tiers", ["chip.toml", "luna"], "for overlap and measure; tiers requires [[unit]]"),
        ("overlap", ["tiers.toml", "two-tier"], "for tiers; overlap and measure require [memory]"),
        ("measure run", ["tiers.toml", "two-tier"], "for tiers; overlap"),
    ] {
        for machine in machines {
            scratch.refuses(format!("{command} net.json --machine {machine}"), &[machine, why]);
        }
    }
}

/// Tests that `overlap` and `tiers` read their own sections of the same machine file.
#[test]
fn one_file_describes_a_machine_for_both_commands() {
    let scratch = Scratch::after("generate lenet5 --out net.json");
    let overlap = include_str!("../../../../model/src/timelines/presets/luna.toml");
    let tiers = include_str!("../../../../model/src/tiers/presets/two-tier.toml");
    // In a file without tiers, an alignment outside of [memory] is an error.
    let wrong = overlap.replacen("[memory]", "alignment = 16\n[memory]", 1);
    scratch.write("both.toml", wrong.clone() + "\n" + &tiers[tiers.find("[[unit]]").unwrap()..]);
    scratch.write("wrong.toml", wrong);
    for (command, preset) in [("overlap", "luna"), ("tiers", "two-tier")] {
        let [one, other] = ["both.toml", preset].map(|machine| {
            scratch.json(format!("{command} net.json --machine {machine}"))["lower_bound_ps"].clone()
        });
        assert!(other.is_u64() && one == other, "{command}: {one} {other}");
    }
    let why = ["wrong.toml", "line 7", "alignment belongs in the section [memory]"];
    scratch.refuses("overlap net.json --machine wrong.toml", &why);
}

#[test]
fn lists_contain_no_internal_names_of_sources() {
    let scratch = Scratch::new();
    for topic in ["papers", "graphs", "examples", "algorithms", "suites"] {
        let list = scratch.ok(format!("list {topic}")).stdout;
        assert!(!list.contains("SOURCES") && (0..5).all(|nth| !list.contains(&format!("(S{nth}"))), "{list}");
    }
}
