//! Tests the commands that read graphs: import, order, plan and reproduce.

use crate::common::Scratch;
use serde_json::Value;

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

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn import_summarises_a_graph_and_writes_it() {
    let scratch = Scratch::new();
    scratch.write("two.json", TWO_CHAINS);
    let run = scratch.plimsoll(&["import", "two.json", "-o", "again.json", "--dot", "two.dot"]).exits(0);
    assert!(run.stdout.starts_with("two-chains: 5 operators, 7 tensors, 1 region\n"), "{}", run.stdout);
    assert!(run.stdout.contains("weights 1000, activations 220, inputs 4, outputs 4, states 0"));
    assert!(run.stdout.contains("arithmetic   100 (3 operators unknown)"));
    let first = json(&scratch.plimsoll(&["import", "two.json", "--json"]).exits(0).stdout);
    let again = json(&scratch.plimsoll(&["import", "again.json", "--json"]).exits(0).stdout);
    assert_eq!(first, again);
    assert_eq!(first["kinds"][0]["kind"], "Conv");
    assert!(scratch.read("two.dot").contains("o0 -> o2 [label=\"a1 (100)\"]"));
}

#[test]
fn order_reduces_the_peak_of_the_file() {
    let scratch = Scratch::new();
    scratch.write("two.json", TWO_CHAINS);
    let words =
        ["order", "two.json", "--json", "--instance", "two.csv", "-o", "order.csv", "--plot", "two.svg"];
    let report = json(&scratch.plimsoll(&words).exits(0).stdout);
    assert_eq!(report["claim"], "optimal");
    // In the file order, both large tensors are simultaneously live. In the best order, one large tensor and
    // both small tensors are.
    assert_eq!((&report["file_peak"], &report["peak"]), (&Value::from(210), &Value::from(120)));
    assert_eq!(report["lower_bound"], 120);
    let order = scratch.read("order.csv");
    assert!(
        order.starts_with("region,step,operator,kind,live_bytes,index,reads,writes\n0:body,0,grow"),
        "{order}"
    );
    // The load of the written instance is the peak.
    let solved = json(&scratch.plimsoll(&["solve", "two.csv", "--json"]).exits(0).stdout);
    assert_eq!((&solved["load"], &solved["peak"]), (&Value::from(120), &Value::from(120)));
    assert!(scratch.read("two.svg").contains("as in file"));
    let file = json(
        &scratch.plimsoll(&["order", "two.json", "--algorithm", "as-in-file", "--json"]).exits(0).stdout,
    );
    assert_eq!((&file["peak"], &file["claim"]), (&Value::from(210), &Value::from("feasible")));
}

#[test]
fn plan_places_tensors_in_the_best_order() {
    let scratch = Scratch::new();
    scratch.write("two.json", TWO_CHAINS);
    let words =
        ["plan", "two.json", "--json", "--instance", "two.csv", "-o", "plan.csv", "--plot", "two.svg"];
    let report = json(&scratch.plimsoll(&words).exits(0).stdout);
    assert_eq!((&report["arena"], &report["joint_claim"]), (&Value::from(120), &Value::from("optimal")));
    assert_eq!(report["naive"], 228);
    scratch.plimsoll(&["verify", "two.csv", "plan.csv"]).exits(0);
    assert!(scratch.read("two.svg").contains(">a1<"));
    if plimsoll::excluded("ilp").is_none() {
        let joint = json(&scratch.plimsoll(&["plan", "two.json", "--joint=ilp", "--json"]).exits(0).stdout);
        assert_eq!((&joint["arena"], &joint["joint_claim"]), (&Value::from(120), &Value::from("optimal")));
    }
}

#[test]
fn branches_are_planned_by_scheme() {
    let scratch = Scratch::new();
    scratch.write("b.json", BRANCHES);
    let plan = |more: &[&str]| {
        let words = [&["plan", "b.json", "--json", "--tensors", "tensors.csv"], more].concat();
        json(&scratch.plimsoll(&words).exits(0).stdout)
    };
    // In the larger branch, x and r are live, then r and s; c is no longer live, and y is not live yet.
    let best = plan(&["--instance", "b.csv", "-o", "layout.csv", "--plot", "b.svg"]);
    assert_eq!((&best["arena"], &best["claim"]), (&Value::from(70), &Value::from("optimal")));
    assert_eq!((&best["runs"], &best["all_runs"]), (&Value::from(2), &Value::from(true)));
    assert_eq!(best["regions"].as_array().unwrap().len(), 3);
    assert_eq!(best["regions"][0]["owner"], Value::Null);
    let owner = serde_json::json!({ "index": 0, "operator": "choose", "region": 0, "control": "branch" });
    assert_eq!(best["regions"][2]["owner"], owner);
    let tensors = scratch.read("tensors.csv");
    assert!(tensors.contains("1:then,p,42,"), "{tensors}");
    assert!(scratch.plimsoll(&["verify", "b.csv", "layout.csv"]).exits(0).stdout.contains("valid"));
    // In the body, c, x and y are live together with the larger branch.
    assert_eq!(plan(&["--branches", "nested"])["arena"], 17 + 70);
    // x is live throughout both branches. y is live from the end of the first branch, together with r and s.
    assert_eq!(plan(&["--branches", "sequential-branches"])["arena"], 70 + 8);
    assert_eq!(plan(&["--branches", "naive"])["arena"], 1 + 8 + 8 + 42 + 8 + 62 + 8);
    assert_eq!(plan(&["--boundary", "outside"])["arena"], 70);
    assert_eq!(plan(&["--handover", "alias"])["arena"], 70);
    assert_eq!(plan(&["--joint"])["arena"], 70);
    plan(&[
        "--orders",
        "orders.csv",
        "--branches",
        "sequential-branches",
        "--instance",
        "s.csv",
        "-o",
        "l.csv",
    ]);
    assert!(scratch.read("orders.csv").contains("1:then,0,t1,F,"));
    scratch.plimsoll(&["verify", "s.csv", "l.csv"]).exits(0);
    scratch.plimsoll(&["plan", "b.json", "--runs", "0"]).exits(2);
    let refused = scratch.plimsoll(&["plan", "b.json", "--batch", "2"]).exits(2);
    assert!(
        refused.stderr.contains("b.json: --batch 2: the option does not apply to a graph"),
        "{}",
        refused.stderr
    );
}

#[test]
fn schemes_are_compared() {
    let scratch = Scratch::new();
    scratch.write("b.json", BRANCHES);
    let run = scratch.plimsoll(&["plan", "b.json", "--compare", "--output", "rows.csv"]).exits(0);
    assert!(
        run.stdout.contains("chain   optimum 70 <= nested-exact 87 <= nested 87 <= naive 137"),
        "{}",
        run.stdout
    );
    let rows = scratch.read("rows.csv");
    assert!(rows.contains("branches,3,7,70,exclusive,exact,70,70,"), "{rows}");
    assert_eq!(rows.lines().count(), 1 + 1 + 4 * 4);
    let refused = scratch.plimsoll(&["plan", "b.json", "--branches", "magic"]).exits(2);
    assert!(
        refused.stderr.contains("--branches: unknown scheme 'magic' (known: naive,"),
        "{}",
        refused.stderr
    );
    scratch.write("odd.json", BRANCHES.replace("\"If\"", "\"Odd\""));
    let refused = scratch.plimsoll(&["plan", "odd.json"]).exits(2);
    assert!(
        refused.stderr.contains(
            "odd.json: operator 0 'choose' (Odd) owns regions, but its kind 'Odd' implies no control flow"
        ),
        "{}",
        refused.stderr
    );
}

#[test]
fn small_cases_are_written_by_name() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "cond-in-cond"]).exits(0);
    let report = json(&scratch.plimsoll(&["plan", "cond-in-cond.json", "--json"]).exits(0).stdout);
    assert_eq!(report["arena"], 32);
    scratch.plimsoll(&["generate", "cond-in-cond", "--param", "x=1"]).exits(2);
}

#[test]
fn liveness_is_a_choice() {
    let scratch = Scratch::new();
    scratch.write("two.json", TWO_CHAINS);
    let peak = |more: &[&str]| {
        let words = [&["order", "two.json", "--json"], more].concat();
        json(&scratch.plimsoll(&words).exits(0).stdout)["peak"].as_u64().unwrap()
    };
    assert_eq!(peak(&[]), 120);
    assert_eq!(peak(&["--boundary", "outside"]), 120);
    assert_eq!(peak(&["--boundary", "persistent"]), 128);
    assert_eq!(peak(&["--weights"]), 1120);
    assert_eq!(peak(&["--align", "16"]), 144);
}

#[test]
fn unreadable_files_and_bad_options_are_reported() {
    let scratch = Scratch::new();
    scratch.write("two.json", TWO_CHAINS);
    scratch.write(
        "cycle.json",
        TWO_CHAINS.replace(
            "\"inputs\": [\"x\", \"w\"], \"outputs\": [\"a1\"]",
            "\"inputs\": [\"b1\"], \"outputs\": [\"a1\"]",
        ),
    );
    scratch.write("model.bin", "nothing known");
    scratch.write("cut.json", &TWO_CHAINS[..300]);
    scratch.write("t.csv", "id,lower,upper,size\n");
    let cases: [(&[&str], &str); 10] = [
        (&["import", "none.onnx"], "none.onnx: "),
        (&["import", "model.bin"], "model.bin: unknown model format"),
        (&["plan", "t.csv"], "graphs as .json; `solve` reads instances (.csv)"),
        (&["import", "cut.json"], ": the file ends too early"),
        (&["order", "cycle.json"], "form a cycle: operator 2 'shrink1' (Pool) -> operator 0 'grow1' (Conv)"),
        (&["order", "two.json", "--algorithm", "bfz"], "unknown order 'bfz'; did you mean 'bfs'?"),
        (&["plan", "two.json", "--algorithm", "exakt"], "unknown algorithm 'exakt'; did you mean 'exact'?"),
        (&["import", "two.json", "-o", "two.json"], "it is an input of this command"),
        (&["import", "two.json", "--dim", "n"], "expected NAME=VALUE"),
        (&["import", "two.json", "--dim", "n=1", "--dim", "n=2"], "--dim 'n' is given twice"),
    ];
    for (words, message) in cases {
        let run = scratch.plimsoll(words).exits(2);
        assert!(run.stderr.contains(message), "{words:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{words:?}: {}", run.stderr);
    }
    assert_eq!(scratch.read("two.json"), TWO_CHAINS);
}

#[test]
fn published_results_are_recomputed() {
    let scratch = Scratch::new();
    let run = scratch.plimsoll(&["reproduce", "S1", "--out", "found", "--verbose"]).exits(0);
    assert!(run.stdout.contains("Memory Saving:"), "{}", run.stdout);
    assert!(scratch.read("found/mini-infer/report.md").contains("| vgg16 "));
    let record = scratch.read("found/README.md");
    assert!(
        record.contains("    plimsoll reproduce S1 --out found --verbose\n") && record.contains("commit "),
        "{record}"
    );
    let run = scratch.plimsoll(&["reproduce", "S9"]).exits(2);
    assert!(
        run.stderr.contains("unknown paper 'S9' (known: all, luna (S0), mini-infer (S1), patent (S2), fusion (S3), cann (S4), pisarchyk-lee (Pisarchyk, Lee 2020), minimalloc (Moffitt 2023))"),
        "{}",
        run.stderr
    );
}

/// Without corpora, the comparison covers generated graphs and small cases. Every plan must pass both
/// checkers.
#[test]
fn merging_branches_is_compared_with_the_optimum() {
    let scratch = Scratch::new();
    let words = ["reproduce", "luna", "--out", "found", "--time-limit", "600", "--seeds", "1", "--verbose"];
    let run = scratch.plimsoll(&words).exits(0);
    let printed = run.stdout;
    for part in [
        "The best gain is 5.88 % (FusionDetect)",
        "98304, the same digits in another order",
        "PLIMSOLL_CORPORA is not set: generated graphs stand in",
        "Table 2 recomputed: branches merged into blocks",
        "fusion-trunk-handed",
        "The synchronous time of BodyDetect equals the ping-pong time of FaceAlign",
        "Table 3 recomputed: ping-pong on a machine similar to that of the paper",
        "When ping-pong loses: setup latency",
        "Conclusion",
    ] {
        assert!(printed.contains(part), "{part} is missing: {printed}");
    }
    assert_eq!(scratch.read("found/luna/table-3-splits.csv").lines().count(), 6);
    assert!(scratch.read("found/luna/table-3.csv").contains("\nFaceAlign,lenet5-0,"));
    assert!(scratch.read("found/luna/table-3-startup.csv").contains("\nlenet5-0,20000000,"));
    let rows = scratch.read("found/luna/comparison.csv");
    for graph in
        ["two-branches-in-a-row,", "unbalanced-if-ratio-16-", "loops-loops-2-", "control-mix-operators-40-"]
    {
        assert!(rows.contains(graph), "{graph}");
    }
    for figure in [
        "1b",
        "1c",
        "1d",
        "2",
        "5",
        "5-printed",
        "6a-conflict",
        "6a-in-turn",
        "6b-merged",
        "6c-optimum",
        "startup",
    ] {
        let svg = scratch.read(&format!("found/luna/figure-{figure}.svg"));
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{figure}");
    }
    let record = scratch.read("found/README.md");
    assert!(
        record.contains("- seed 0, 600 s per run") && record.contains("| `luna/comparison.csv` |"),
        "{record}"
    );
}

#[test]
fn families_of_graphs_are_generated() {
    let scratch = Scratch::new();
    let words = ["generate", "randwire-ws", "--seed", "3", "--param", "nodes=12", "-o", "g.json"];
    let run = scratch.plimsoll(&words).exits(0);
    assert!(run.stdout.starts_with("randwire-ws-nodes-12-3: "), "{}", run.stdout);
    let compared = json(&scratch.plimsoll(&["order", "g.json", "--compare", "--json"]).exits(0).stdout);
    let rows = compared["rows"].as_array().unwrap();
    let exact = rows.iter().find(|row| row["algorithm"] == "exact").unwrap();
    assert_eq!(exact["claim"], "optimal");
    assert!(rows.iter().all(|row| row["value"].as_u64() >= exact["value"].as_u64()));
    for (words, part) in [
        (&["generate", "chain", "--param", "m=3"][..], "has no parameter 'm'"),
        (&["generate", "chain", "--buffers", "3"], "'chain' is a family of graphs with --param n, kib"),
        (&["generate", "uniform", "--param", "n=3"], "uniform has no parameter 'n'; it has buffers"),
    ] {
        let run = scratch.plimsoll(words).exits(2);
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn a_plan_is_compared_with_a_capacity() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let arena = scratch.plimsoll(&["plan", "net.json", "--json"]).exits(0).json()["arena"].as_u64().unwrap();
    let plan = |capacity: u64| {
        let bytes = capacity.to_string();
        let run = scratch.plimsoll(&["plan", "net.json", "--capacity", &bytes]);
        let json = scratch.plimsoll(&["plan", "net.json", "--capacity", &bytes, "--json"]).json();
        (run.code, run.words(), json)
    };
    let (code, text, json) = plan(arena);
    assert_eq!((code, &json["fits"]), (0, &Value::Bool(true)));
    let fits = format!("capacity {arena} bytes (36.8 KiB): fits without the weights, 0 bytes to spare");
    assert!(text.contains(&fits), "{text}");
    let (code, text, json) = plan(arena - 1);
    assert_eq!((code, &json["fits"], &json["shortfall_min"]), (1, &Value::Bool(false), &Value::from(1)));
    assert!(text.contains("no order and no layout fits, at least 1 byte short (live while '"), "{text}");
    assert!(text.contains("), assuming that no operator writes an output over an input"), "{text}");
    assert_eq!(json["assumptions"][0]["assumption"], "outputs-apart");
    assert_eq!(json["needs"]["live"].as_u64(), Some(arena));
    assert_eq!(json["spill"]["claim"], "optimal");
    // For the same order, `spill` spills the same buffers.
    let spill = scratch.plimsoll(&["spill", "net.json", "--capacity", &(arena - 1).to_string(), "--json"]);
    assert_eq!(spill.exits(0).json()["traffic"], json["spill"]["traffic"]);
    scratch
        .plimsoll(&["plan", "net.json", "--capacity", "0.5"])
        .refuses(&["expected a whole number of bytes"]);
}

/// The output of a convolution may overlap its input by the bytes that options or the graph state.
#[test]
fn outputs_overlap_inputs_by_the_given_bytes() {
    let scratch = Scratch::new();
    let net = |offset: &str| {
        let tensors = r#""tensors": [{"name": "x", "bytes": 8, "role": "input"}, {"name": "a", "bytes": 50, "role": "activation"},
            {"name": "b", "bytes": 60, "role": "activation"}, {"name": "y", "bytes": 4, "role": "output"}]"#;
        let step = |kind: &str, from: &str, to: &str, alias: &str| {
            format!(
                r#"{{"name": "{to}", "kind": "{kind}", "inputs": ["{from}"], "outputs": ["{to}"]{alias}}}"#
            )
        };
        let alias = match offset {
            "" => String::new(),
            _ => format!(r#", "aliases": [{{"input": "a", "output": "b", "kind": "in-place"{offset}}}]"#),
        };
        format!(
            r#"{{"format": "plimsoll-graph", "version": 1, "name": "net", {tensors}, "body": {{"inputs": ["x"], "outputs": ["y"],
            "operators": [{}, {}, {}]}}}}"#,
            step("Expand", "x", "a", ""),
            step("Conv", "a", "b", &alias),
            step("Pool", "b", "y", ""),
        )
    };
    let arena = |more: &[&str]| {
        let words = [&["plan", "net.json", "--boundary", "outside", "--json"], more].concat();
        scratch.plimsoll(&words).exits(0).json()
    };
    scratch.write("net.json", net(""));
    assert_eq!(arena(&["--in-place"])["arena"], 110);
    let json = arena(&["--in-place", "--overlap", "Conv=6"]);
    // `b` is 10 bytes larger, so it begins 16 bytes before `a`.
    assert_eq!(json["arena"], 66);
    assert_eq!(json["assumptions"][0]["assumption"], "partly-in-place");
    assert_eq!(arena(&["--in-place", "--overlap", "Conv=0"])["arena"], 60);
    assert_eq!(arena(&["--in-place", "--overlap", "Conv=0+7"])["arena"], 67);
    // Aligned, it begins 24 bytes before `a`.
    assert_eq!(arena(&["--in-place", "--overlap", "Conv=7", "--align", "8"])["arena"], 80);
    scratch.plimsoll(&["plan", "net.json", "--overlap", "Conv=6"]).refuses(&["--in-place"]);
    scratch
        .plimsoll(&["plan", "net.json", "--in-place", "--overlap", "Gemm=6"])
        .refuses(&["Gemm", "Conv, Expand, Pool"]);
    scratch
        .plimsoll(&["plan", "net.json", "--in-place", "--overlap", "Conv=50"])
        .refuses(&["Conv", "50 bytes"]);
    scratch.plimsoll(&["plan", "net.json", "--in-place", "--overlap", "Conv"]).refuses(&["KIND=BYTES"]);
    // The same overlap in a graph file.
    scratch.write("net.json", net(r#", "offset": 6"#));
    // `b` ends 54 bytes after the start of `a`.
    assert_eq!(arena(&["--in-place"])["arena"], 60);
    assert_eq!(arena(&[])["arena"], 110);
    scratch.write("net.json", net(" "));
    scratch.plimsoll(&["plan", "net.json"]).refuses(&["'a' (50 bytes)", "'b' (60 bytes)", "`offset`"]);
    scratch.write("net.json", net(r#", "offset": 60"#));
    scratch.plimsoll(&["plan", "net.json"]).refuses(&["at byte 60", "no bytes in common"]);
}
