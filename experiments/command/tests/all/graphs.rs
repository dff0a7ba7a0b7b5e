//! Tests the commands that read graphs: import, order and plan.

use crate::common::{Scratch, contains, has};
use serde_json::{Value, json};

/// Two chains from one input. The file interleaves them, so that both large tensors are simultaneously live.
///
/// ```text
/// x -> a1 (100) -> b1 (10) ─┐
/// x -> a2 (100) -> b2 (10) ─┴-> y
/// ```
const TWO_CHAINS: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "two-chains",
    "tensors": [ { "name": "x", "bytes": 4, "role": "input" }, { "name": "y", "bytes": 4, "role": "output" },
                 { "name": "w", "bytes": 1000, "role": "weight" },
                 { "name": "a1", "bytes": 100 }, { "name": "a2", "bytes": 100 },
                 { "name": "b1", "bytes": 10 }, { "name": "b2", "bytes": 10 } ],
    "body": { "inputs": ["x"], "outputs": ["y"], "operators": [
        { "name": "grow1", "kind": "Conv", "inputs": ["x", "w"], "outputs": ["a1"], "cost": 50 },
        { "name": "grow2", "kind": "Conv", "inputs": ["x", "w"], "outputs": ["a2"], "cost": 50 },
        { "name": "shrink1", "kind": "Pool", "inputs": ["a1"], "outputs": ["b1"] },
        { "name": "shrink2", "kind": "Pool", "inputs": ["a2"], "outputs": ["b2"] },
        { "name": "join", "kind": "Add", "inputs": ["b1", "b2"], "outputs": ["y"] } ] } }"#;

/// An `If` with branches that need 50 and 70 bytes.
const BRANCHES: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "branches",
    "tensors": [ { "name": "c", "bytes": 1, "role": "input" }, { "name": "x", "bytes": 8, "role": "input" },
                 { "name": "y", "bytes": 8, "role": "output" }, { "name": "p", "bytes": 42 }, { "name": "q", "bytes": 8 },
                 { "name": "r", "bytes": 62 }, { "name": "s", "bytes": 8 } ],
    "body": { "inputs": ["c", "x"], "outputs": ["y"], "operators": [
        { "name": "choose", "kind": "If", "inputs": ["c"], "outputs": ["y"], "regions": [
            { "name": "then", "outputs": ["q"], "operators": [
                { "name": "t1", "kind": "F", "inputs": ["x"], "outputs": ["p"] },
                { "name": "t2", "kind": "G", "inputs": ["p"], "outputs": ["q"] } ] },
            { "name": "else", "outputs": ["s"], "operators": [
                { "name": "e1", "kind": "F", "inputs": ["x"], "outputs": ["r"] },
                { "name": "e2", "kind": "G", "inputs": ["r"], "outputs": ["s"] } ] } ] } ] } }"#;

#[test]
fn an_imported_graph_is_written_and_read_again() {
    let scratch = Scratch::with("two.json", TWO_CHAINS);
    scratch
        .ok("import two.json -o again.json --dot two.dot")
        .prints(&["arithmetic   100 (3 operators unknown)"]);
    let first = scratch.json("import two.json");
    assert_eq!(first, scratch.json("import again.json"));
    assert_eq!(first["kinds"][0]["kind"], "Conv");
    contains(&scratch.read("two.dot"), &["o0 -> o2 [label=\"a1 (100)\"]"]);
}

#[test]
fn orders_and_plans_reduce_the_peak_of_the_file() {
    let scratch = Scratch::with("two.json", TWO_CHAINS);
    // In the file order, both large tensors are simultaneously live. In the best order, one large tensor and
    // both small tensors are.
    let report = scratch.json("order two.json --instance two.csv");
    has(&report, &json!({ "claim": "optimal", "file_peak": 210, "peak": 120, "lower_bound": 120 }));
    // The load of the written instance is the peak.
    has(&scratch.json("solve two.csv"), &json!({ "load": 120, "peak": 120 }));
    let file = scratch.json("order two.json --algorithm as-in-file");
    has(&file, &json!({ "peak": 210, "claim": "feasible" }));
    let plan = json!({ "arena": 120, "joint_claim": "optimal", "naive": 228 });
    has(&scratch.json("plan two.json"), &plan);
    if plimsoll::excluded("ilp").is_none() {
        has(&scratch.json("plan two.json --joint=ilp"), &plan);
    }
    for (options, peak) in [
        ("--boundary outside", 120),
        ("--boundary persistent", 128),
        ("--weights", 1120),
        ("--align 16", 144),
    ] {
        assert_eq!(scratch.json(format!("order two.json {options}"))["peak"], peak, "{options}");
    }
}

#[test]
fn branches_are_planned_by_scheme() {
    let scratch = Scratch::with("b.json", BRANCHES);
    // In the larger branch, x and r are live, then r and s; c is no longer live, and y is not live yet.
    let best = scratch.json("plan b.json --tensors tensors.csv --instance b.csv -o layout.csv --plot b.svg");
    has(&best, &json!({ "arena": 70, "claim": "optimal", "runs": 2, "all_runs": true }));
    let owner = json!({ "index": 0, "operator": "choose", "region": 0, "control": "branch" });
    let owners: Vec<&Value> = best["regions"].as_array().unwrap().iter().map(|one| &one["owner"]).collect();
    assert!(owners.len() == 3 && owners[0].is_null() && *owners[2] == owner, "{owners:?}");
    contains(&scratch.read("tensors.csv"), &["1:then,p,42,"]);
    scratch.ok("verify b.csv layout.csv");
    let joint = json!({ "order": "joint exact", "arena": 70, "claim": "optimal", "joint_claim": "optimal",
        "joint_bound": 70, "joint_witness": "live while 'e2' runs" });
    for (options, expected) in [
        // In the body, c, x and y are live together with the larger branch. Nested blocks exceed the joint
        // bound, so their plan is optimal for these orders but not over all orders.
        ("--branches nested", json!({ "arena": 17 + 70, "claim": "optimal", "joint_claim": "feasible" })),
        // x is live throughout both branches. y is live from the end of the first branch, together with r
        // and s.
        ("--branches sequential-branches --orders orders.csv", json!({ "arena": 70 + 8 })),
        ("--branches naive", json!({ "arena": 1 + 8 + 8 + 42 + 8 + 62 + 8 })),
        ("--boundary outside", json!({ "arena": 70 })),
        ("--handover alias", json!({ "arena": 70 })),
        ("--joint --orders orders.csv", joint),
    ] {
        let line = format!("plan b.json {options} --instance i.csv -o l.csv");
        has(&scratch.json(line), &expected);
        scratch.ok("verify i.csv l.csv");
    }
    contains(&scratch.read("orders.csv"), &["1:then,0,t1,F,"]);
    let chain = "chain   optimum 70 <= nested-exact 87 <= nested 87 <= naive 137";
    scratch.ok("plan b.json --compare --output rows.csv").prints(&[chain]);
    let rows = scratch.read("rows.csv");
    assert!(rows.contains("branches,3,7,70,exclusive,exact,70,70,"), "{rows}");
    assert_eq!(rows.lines().count(), 1 + 1 + 4 * 4);
    scratch.write("odd.json", BRANCHES.replace("\"If\"", "\"Odd\""));
    for (line, why) in [
        ("plan b.json --runs 0", "--runs"),
        ("plan b.json --batch 2", "b.json: --batch 2: the option does not apply to a graph"),
        ("plan b.json --branches magic", "--branches: unknown scheme 'magic' (known: naive,"),
        (
            "plan odd.json",
            "odd.json: operator 0 'choose' (Odd) owns regions, but its kind 'Odd' implies no control flow",
        ),
        ("generate cond-in-cond --param x=1", "a single graph without parameters"),
    ] {
        scratch.refuses(line, &[why]);
    }
}

#[test]
fn unreadable_files_and_bad_options_are_reported() {
    let scratch = Scratch::with("two.json", TWO_CHAINS);
    let reads = "\"inputs\": [\"x\", \"w\"], \"outputs\": [\"a1\"]";
    let cycle = TWO_CHAINS.replace(reads, "\"inputs\": [\"b1\"], \"outputs\": [\"a1\"]");
    scratch.write("cycle.json", cycle);
    scratch.write("model.bin", "nothing known");
    scratch.write("cut.json", &TWO_CHAINS[..300]);
    scratch.write("t.csv", "id,lower,upper,size\n");
    for (line, message) in [
        ("import none.onnx", "none.onnx: "),
        ("import model.bin", "model.bin: unknown model format"),
        ("plan t.csv", "graphs as .json; `solve` reads instances (.csv)"),
        ("import cut.json", ": the file ends too early"),
        ("order cycle.json", "form a cycle: operator 2 'shrink1' (Pool) -> operator 0 'grow1' (Conv)"),
        ("order two.json --algorithm bfz", "unknown order 'bfz'; did you mean 'bfs'?"),
        ("plan two.json --algorithm exakt", "unknown algorithm 'exakt'; did you mean 'exact'?"),
        ("import two.json -o two.json", "it is an input of this command"),
        ("import two.json --dim n", "expected NAME=VALUE"),
        ("import two.json --dim n=1 --dim n=2", "--dim 'n' is given twice"),
    ] {
        scratch.refuses(line, &[message]);
    }
    assert_eq!(scratch.read("two.json"), TWO_CHAINS);
}

#[test]
fn families_of_graphs_are_generated() {
    let scratch = Scratch::new();
    scratch
        .ok("generate randwire-ws --seed 3 --param nodes=12 -o g.json")
        .prints(&["randwire-ws-nodes-12-3: "]);
    let compared = scratch.json("order g.json --compare");
    let rows = compared["rows"].as_array().unwrap();
    let exact = rows.iter().find(|row| row["algorithm"] == "exact").unwrap();
    assert_eq!(exact["claim"], "optimal");
    assert!(rows.iter().all(|row| row["value"].as_u64() >= exact["value"].as_u64()));
    for (line, part) in [
        ("generate chain --param m=3", "has no parameter 'm'"),
        ("generate chain --buffers 3", "'chain' is a family of graphs with --param n, kib"),
        ("generate uniform --param n=3", "uniform has no parameter 'n'; it has buffers"),
    ] {
        scratch.refuses(line, &[part]);
    }
}

#[test]
fn a_plan_is_compared_with_a_capacity() {
    let scratch = Scratch::after("generate lenet5 --out net.json");
    let arena = scratch.json("plan net.json")["arena"].as_u64().unwrap();
    let line = format!("plan net.json --capacity {arena}");
    let fits = format!("capacity {arena} bytes (36.8 KiB): fits without the weights, 0 bytes to spare");
    scratch.ok(&line).reports(&[&fits]);
    assert_eq!(scratch.json(line)["fits"], true);
    let line = format!("plan net.json --capacity {}", arena - 1);
    let short = "no order and no layout fits, at least 1 byte short (live while '";
    let assumed = "), assuming that no operator writes an output over an input";
    scratch.run(&line).exits(1).reports(&[short, assumed]);
    let json = scratch.run(line + " --json").exits(1).json();
    has(&json, &json!({ "fits": false, "shortfall_min": 1 }));
    assert_eq!(json["assumptions"][0]["assumption"], "outputs-apart");
    assert_eq!([&json["needs"]["live"], &json["spill"]["claim"]], [&json!(arena), &json!("optimal")]);
    // For the same order, `spill` spills the same buffers.
    let spill = scratch.json(format!("spill net.json --capacity {}", arena - 1));
    assert_eq!(spill["traffic"], json["spill"]["traffic"]);
    scratch.refuses("plan net.json --capacity 0.5", &["expected a whole number of bytes"]);
}

/// The output of a convolution may overlap its input by the bytes that options or the graph state.
#[test]
fn outputs_overlap_inputs_by_the_given_bytes() {
    let scratch = Scratch::new();
    let net = |alias: &Value| {
        let step = |kind: &str, from: &str, to: &str, aliases: Value| json!({ "name": to, "kind": kind, "inputs": [from], "outputs": [to], "aliases": aliases });
        let tensors =
            [("x", 8, "input"), ("a", 50, "activation"), ("b", 60, "activation"), ("y", 4, "output")]
                .map(|(name, bytes, role)| json!({ "name": name, "bytes": bytes, "role": role }));
        let operators = [
            step("Expand", "x", "a", json!([])),
            step("Conv", "a", "b", alias.clone()),
            step("Pool", "b", "y", json!([])),
        ];
        let body = json!({ "inputs": ["x"], "outputs": ["y"], "operators": operators });
        let graph = json!({ "format": "plimsoll-graph", "version": 1, "name": "net", "tensors": tensors, "body": body });
        scratch.write("net.json", graph.to_string());
    };
    let arena = |options: &str| scratch.json(format!("plan net.json --boundary outside {options}"));
    net(&json!([]));
    assert_eq!(arena("--in-place --overlap Conv=6")["assumptions"][0]["assumption"], "partly-in-place");
    for (options, bytes) in [
        ("", 110),
        // `b` is 10 bytes larger, so it begins 16 bytes before `a`.
        (" --overlap Conv=6", 66),
        (" --overlap Conv=0", 60),
        (" --overlap Conv=0+7", 67),
        // Aligned, it begins 24 bytes before `a`.
        (" --overlap Conv=7 --align 8", 80),
    ] {
        assert_eq!(arena(&format!("--in-place{options}"))["arena"], bytes, "{options}");
    }
    for (options, parts) in [
        ("--overlap Conv=6", &["--in-place"][..]),
        ("--in-place --overlap Gemm=6", &["Gemm", "Conv, Expand, Pool"]),
        ("--in-place --overlap Conv=50", &["Conv", "50 bytes"]),
        ("--in-place --overlap Conv", &["KIND=BYTES"]),
    ] {
        scratch.refuses(format!("plan net.json {options}"), parts);
    }
    // The same overlap in a graph file: `b` ends 54 bytes after the start of `a`.
    let mut alias = json!([{ "input": "a", "output": "b", "kind": "in-place", "offset": 6 }]);
    net(&alias);
    assert_eq!([arena("--in-place")["arena"].clone(), arena("")["arena"].clone()], [60, 110]);
    alias[0]["offset"] = json!(60);
    net(&alias);
    scratch.refuses("plan net.json", &["at byte 60", "no bytes in common"]);
    alias[0].as_object_mut().unwrap().remove("offset");
    net(&alias);
    scratch.refuses("plan net.json", &["'a' (50 bytes)", "'b' (60 bytes)", "`offset`"]);
}
