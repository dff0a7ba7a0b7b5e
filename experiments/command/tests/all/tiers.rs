//! Tests `plimsoll tiers`: plans, comparisons, files and exit codes.

use crate::common::Scratch;
use serde_json::Value;

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
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    scratch.write("net.json", GRAPH);
    scratch
}

fn run(scratch: &Scratch, more: &[&str]) -> Value {
    let words = ["tiers", "net.json", "--machine", "unit.toml", "--json"];
    scratch.plimsoll(&[&words[..], more].concat()).exits(0).json()
}

#[test]
fn tensors_are_placed_with_the_least_transfer_time() {
    let scratch = scratch();
    let report = run(&scratch, &["--fusion", "none", "--output", "plan.csv"]);
    // x is in the buffer (0.5 µs), and p and q are in RAM (3 and 2 µs). y fits in neither and is therefore
    // off-chip (10 µs).
    assert_eq!(
        (&report["claim"], &report["transfer_ps"]),
        (&Value::from("optimal"), &Value::from(15_500_000))
    );
    assert_eq!(
        (&report["off_chip_traffic"], &report["weight_traffic"]),
        (&Value::from(10), &Value::from(10))
    );
    assert_eq!(report["on_chip_percent"].as_f64().unwrap() as u64, 85);
    // 50 µs of compute (10 + 10 + 30), two group starts of 1 µs, 10 µs to read the weights, and 15.5 µs of
    // transfers.
    assert_eq!(report["inference_ps"], 50_000_000 + 2_000_000 + 10_000_000 + 15_500_000);
    let plan = scratch.read("plan.csv");
    assert_eq!(plan.lines().nth(1).unwrap(), "x,10,0,1,buf,0,500000,10");
    assert_eq!(plan.lines().nth(4).unwrap(), "y,10,2,3,ddr,0,10000000,10");
    let checks = report["bandwidths"].as_array().unwrap();
    let holds: Vec<&Value> = checks.iter().map(|check| &check["holds"]).collect();
    assert_eq!(holds, [&Value::from(false), &Value::Null, &Value::from(true)]);
    assert_eq!((&checks[0]["needed"], &report["address_width"]), (&Value::from(6), &Value::from(5)));
}

#[test]
fn inputs_weights_and_fusion_are_options() {
    let scratch = scratch();
    let outside = run(&scratch, &["--fusion", "none", "--boundary", "outside"]);
    assert_eq!(outside["transfer_ps"], 10_000_000 + 10_000_000 + 3_000_000 + 2_000_000);
    let weights = run(&scratch, &["--weights", "--fusion", "none"]);
    assert_eq!((&weights["tensors"], &weights["weight_traffic"]), (&Value::from(5), &Value::from(0)));
    let fused = run(&scratch, &["--fusion", "cross-unit", "--algorithm", "fused"]);
    assert_eq!((&fused["relations"], &fused["fusion"]), (&Value::from(3), &Value::from("cross-unit")));
    let counted = run(&scratch, &["--addresses", "counted", "--order", "exact"]);
    assert_eq!((&counted["fusion"], &counted["addresses"]), (&Value::from("none"), &Value::from("counted")));
}

#[test]
fn all_placements_are_compared() {
    let scratch = scratch();
    let report = run(&scratch, &["--compare", "--output", "rows.csv"]);
    let rows = report["rows"].as_array().unwrap();
    let gap = |name: &str| rows.iter().find(|row| row["algorithm"] == name).unwrap()["gap_percent"].as_f64();
    assert_eq!(gap("exact"), Some(0.0));
    assert!(gap("off-chip") > gap("greedy"), "{report}");
    assert_eq!(scratch.read("rows.csv").lines().count(), rows.len() + 1);
    let text =
        scratch.plimsoll(&["tiers", "net.json", "--machine", "unit.toml", "--compare"]).exits(0).stdout;
    assert!(text.contains("\nfused-printed ") && text.contains("optimal"), "{text}");
    assert!(scratch.plimsoll(&["list", "tiers"]).exits(0).stdout.contains("fused-printed"));
}

#[test]
fn exit_codes_distinguish_what_does_not_fit() {
    let scratch = scratch();
    let words = |machine: &str| {
        let text = scratch.read("unit.toml");
        scratch.write("small.toml", text.replace("capacity = 1000", machine));
        scratch.plimsoll(&["tiers", "net.json", "--machine", "small.toml", "--boundary", "outside"])
    };
    let never = words("capacity = 9").exits(1).stdout;
    assert!(
        never.contains("infeasible: tensor 'x' of 10 bytes fits into none of its allowed tiers"),
        "{never}"
    );
    words("capacity = 10").exits(0);
    words("capacity = 0").refuses(&["small.toml, line", "capacity must be positive"]);
    let bad = |more: &[&str], parts: &[&str]| {
        let line = ["tiers", "net.json", "--machine", "unit.toml"];
        scratch.plimsoll(&[&line[..], more].concat()).refuses(parts);
    };
    bad(&["--algorithm", "exakt"], &["unknown placement 'exakt'; did you mean 'exact'"]);
    bad(&["--fusion", "ordinary", "--order", "exact"], &["--order requires --fusion none"]);
    bad(&["--patterns", "nowhere"], &["nowhere"]);
    let gpu = ["tiers", "net.json", "--machine", "gpu"];
    scratch
        .plimsoll(&gpu)
        .refuses(&["no machine 'gpu': neither a file nor one of s3-platform, two-tier, generic"]);
    scratch.write("one.toml", scratch.read("unit.toml").replace("kinds = [\"*\"]", "kinds = [\"Sub\"]"));
    scratch
        .plimsoll(&["tiers", "net.json", "--machine", "one.toml"])
        .refuses(&["no processing unit can run", "add"]);
}

#[test]
fn degenerate_graphs_have_answers() {
    let scratch = scratch();
    let graph = |tensors: &str, inputs: &str, outputs: &str| {
        format!(
            r#"{{ "format": "plimsoll-graph", "version": 1, "name": "odd", "tensors": [{tensors}],
            "body": {{ "inputs": [{inputs}], "outputs": [{outputs}], "operators": [] }} }}"#
        )
    };
    let x = r#"{ "name": "x", "bytes": 8, "role": "input" }"#;
    let huge = r#"{ "name": "x", "bytes": 1152921504606846976, "role": "input" }"#;
    for (text, code) in [(graph("", "", ""), 0), (graph(x, "\"x\"", ""), 0), (graph(huge, "\"x\"", ""), 1)] {
        scratch.write("odd.json", text);
        for placement in ["exact", "greedy", "fused", "local-search", "off-chip"] {
            let words = ["tiers", "odd.json", "--machine", "unit.toml", "--algorithm", placement];
            scratch.plimsoll(&words).exits(code);
        }
        scratch.plimsoll(&["tiers", "odd.json", "--machine", "unit.toml", "--compare"]).exits(code);
    }
}

#[test]
fn regions_are_blocks() {
    let scratch = scratch();
    for family in ["nested-if", "loops", "control-mix"] {
        scratch.plimsoll(&["generate", family, "--out", "regions.json"]).exits(0);
        for machine in ["s3-platform", "two-tier", "generic"] {
            let words = ["tiers", "regions.json", "--machine", machine, "--json"];
            let report = scratch.plimsoll(&words).exits(0).json();
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
    let scratch = Scratch::new();
    scratch.write("mu.json", BRANCH);
    let run = scratch.plimsoll(&["tiers", "mu.json", "--machine", "s3-platform", "--json"]).exits(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(report["inference_ps"].as_u64().unwrap() > 51_000_000, "{}", run.stdout);
}

#[test]
fn input_files_are_never_overwritten() {
    let scratch = scratch();
    scratch.write("p.patterns", "pair = conv conv\n");
    let tiers = ["tiers", "net.json", "--machine", "unit.toml", "--output"];
    scratch.plimsoll(&[&tiers[..], &["unit.toml"]].concat()).refuses(&["unit.toml"]);
    let patterns = ["p.patterns", "--patterns", "p.patterns"];
    scratch.plimsoll(&[&tiers[..], &patterns].concat()).refuses(&["p.patterns"]);
    let fuse = ["fuse", "net.json", "--patterns", "p.patterns", "--output", "p.patterns"];
    scratch.plimsoll(&fuse).refuses(&["p.patterns"]);
    scratch.write("m.toml", "name = \"m\"\n[memory]\ncapacity = 1000\n[dma]\nbandwidth = 1e6\n[compute]\n");
    let overlap = ["overlap", "net.json", "--machine", "m.toml", "--output", "m.toml"];
    scratch.plimsoll(&overlap).refuses(&["m.toml"]);
    assert_eq!(scratch.read("unit.toml"), MACHINE);
    // Options that would have no effect are rejected.
    let tiers = ["tiers", "net.json", "--machine", "unit.toml"];
    scratch.plimsoll(&[&tiers[..], &["--align", "4"]].concat()).refuses(&["--align"]);
    scratch
        .plimsoll(&[&tiers[..], &["--fusion", "none", "--patterns", "s3"]].concat())
        .refuses(&["--patterns"]);
    let plan = ["plan", "net.json", "--conflicts", "reachable"];
    scratch.plimsoll(&[&plan[..], &["--runs", "5"]].concat()).refuses(&["--runs"]);
    scratch.plimsoll(&[&plan[..], &["--handover", "alias"]].concat()).refuses(&["--handover"]);
    let rate = MACHINE.replace("bandwidth = 1e6\n", "bandwidth = 0.5\n");
    scratch.write("slow.toml", rate);
    scratch
        .plimsoll(&["tiers", "net.json", "--machine", "slow.toml"])
        .refuses(&["slow.toml", "must be between 1 and 1e18"]);
}

#[cfg(feature = "ilp")]
#[test]
fn shared_objects_with_conflicts_have_their_own_default_solver() {
    let run =
        scratch().plimsoll(&["plan", "net.json", "--conflicts", "reachable", "--problem", "shared-objects"]);
    assert!(run.exits(0).stdout.contains("pool-ilp"));
}

/// Tests that `tiers` rejects machines for `overlap`, and vice versa, with a specific error message. This
/// holds for files and for built-in machines.
#[test]
fn errors_distinguish_machines_of_overlap_and_tiers() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    scratch.write("chip.toml", include_str!("../../../../model/src/timelines/presets/luna.toml"));
    scratch.write("tiers.toml", include_str!("../../../../model/src/tiers/presets/two-tier.toml"));
    for machine in ["chip.toml", "luna"] {
        let words = ["tiers", "net.json", "--machine", machine];
        scratch.plimsoll(&words).refuses(&[machine, "for overlap and measure; tiers requires [[unit]]"]);
    }
    for machine in ["tiers.toml", "two-tier"] {
        let words = ["overlap", "net.json", "--machine", machine];
        scratch.plimsoll(&words).refuses(&[machine, "for tiers; overlap and measure require [memory]"]);
        let words = ["measure", "run", "net.json", "--machine", machine];
        scratch.plimsoll(&words).refuses(&[machine, "for tiers; overlap"]);
    }
}

/// Tests that `overlap` and `tiers` read their own sections of the same machine file.
#[test]
fn one_file_describes_a_machine_for_both_commands() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let overlap = include_str!("../../../../model/src/timelines/presets/luna.toml");
    let tiers = include_str!("../../../../model/src/tiers/presets/two-tier.toml");
    let alone = |command: &str, preset: &str| {
        scratch.plimsoll(&[command, "net.json", "--machine", preset, "--json"]).exits(0).json()
    };
    let tiers = &tiers[tiers.find("[[unit]]").unwrap()..];
    let both = overlap.replacen("[memory]", "alignment = 16\n[memory]", 1) + "\n" + tiers;
    scratch.write("both.toml", both);
    for (command, preset, key) in
        [("overlap", "luna", "lower_bound_ps"), ("tiers", "two-tier", "lower_bound_ps")]
    {
        let (one, other) = (alone(command, "both.toml"), alone(command, preset));
        assert!(other[key].is_u64() && one[key] == other[key], "{command}: {one} {other}");
    }
    // In a file without tiers, an alignment outside of [memory] is an error.
    scratch.write("wrong.toml", overlap.replacen("[memory]", "alignment = 16\n[memory]", 1));
    let words = ["overlap", "net.json", "--machine", "wrong.toml"];
    scratch.plimsoll(&words).refuses(&["wrong.toml", "line 7", "alignment belongs in the section [memory]"]);
}

#[test]
fn sources_are_named() {
    let scratch = Scratch::new();
    let list = ["papers", "graphs", "examples", "algorithms", "suites"];
    let list = list.map(|topic| scratch.plimsoll(&["list", topic]).exits(0).stdout).concat();
    assert!(!list.contains("SOURCES"), "{list}");
    for part in [
        "LUNA: Wang, Shen, Jing, Lyu",
        "Mini-Infer: report on",
        "Patent on memory",
        "fusion across units",
        "CANN graph engine",
        "pisarchyk-lee",
        "xnnpack-leading-gap",
    ] {
        assert!(list.contains(part), "{part}");
    }
    let short = |line: &str| (0..5).find(|nth| line.contains(&format!("(S{nth}")));
    assert_eq!(list.lines().find_map(short), None);
}
