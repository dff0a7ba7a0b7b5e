//! Tests the schedules, exit codes and files of `plimsoll overlap`.

use crate::common::{Run, Scratch, contains, has};
use serde_json::{Value, json};

/// A machine on which the transfer of a byte and a multiplication take one microsecond each.
const MACHINE: &str = "name = \"unit\"\n[memory]\ncapacity = 1000\n[dma]\nbandwidth = 1e6\n\
    [compute]\nmacs_per_second = 1e6\nbytes_per_second = 1e6\n";

/// Returns a graph of three convolutions, each with 10 microseconds of compute and 10 bytes of weights.
/// Optionally, a branch precedes the last convolution.
fn graph(branch: bool) -> String {
    let choose = r#"{ "name": "choose", "kind": "If", "inputs": ["b"], "outputs": ["c"], "regions": [
        { "name": "then", "outputs": ["p"], "operators": [
            { "name": "t", "kind": "Conv", "inputs": ["b", "w3"], "outputs": ["p"], "cost": 10 } ] },
        { "name": "else", "outputs": ["r"], "operators": [
            { "name": "e1", "kind": "Conv", "inputs": ["b", "w4"], "outputs": ["q"], "cost": 20 },
            { "name": "e2", "kind": "Conv", "inputs": ["q", "w5"], "outputs": ["r"], "cost": 10 } ] } ] },"#;
    let (choose, last) = if branch { (choose, "c") } else { ("", "b") };
    let weights: Vec<String> =
        (0..6).map(|at| format!(r#"{{ "name": "w{at}", "bytes": 10, "role": "weight" }}"#)).collect();
    let inner = r#"{ "name": "c", "bytes": 4 }, { "name": "p", "bytes": 4 }, { "name": "q", "bytes": 4 },
        { "name": "r", "bytes": 4 },"#;
    let inner = if branch { inner } else { "" };
    format!(
        r#"{{ "format": "plimsoll-graph", "version": 1, "name": "net", "tensors": [
        {{ "name": "x", "bytes": 4, "role": "input" }}, {{ "name": "y", "bytes": 4, "role": "output" }},
        {{ "name": "a", "bytes": 4 }}, {{ "name": "b", "bytes": 4 }}, {inner} {} ],
        "body": {{ "inputs": ["x"], "outputs": ["y"], "operators": [
        {{ "name": "one", "kind": "Conv", "inputs": ["x", "w0"], "outputs": ["a"], "cost": 10 }},
        {{ "name": "two", "kind": "Conv", "inputs": ["a", "w1"], "outputs": ["b"], "cost": 10 }},
        {choose}
        {{ "name": "three", "kind": "Conv", "inputs": ["{last}", "w2"], "outputs": ["y"], "cost": 10 }} ] }} }}"#,
        weights.join(", ")
    )
}

/// A loop whose condition takes 10 microseconds before every trip and at the end. Its body takes 10
/// microseconds and has 10 bytes of weights.
const LOOP: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "net", "tensors": [
    { "name": "go", "bytes": 4, "role": "input" }, { "name": "y", "bytes": 4, "role": "output" },
    { "name": "w", "bytes": 10, "role": "weight" }, { "name": "a", "bytes": 4 }, { "name": "b", "bytes": 4 },
    { "name": "p", "bytes": 4 }, { "name": "q", "bytes": 4 } ],
    "body": { "inputs": ["go"], "outputs": ["y"], "operators": [
    { "name": "again", "kind": "While", "inputs": ["go"], "outputs": ["y"], "regions": [
        { "name": "test", "inputs": ["p"], "outputs": ["a"], "operators": [
            { "name": "t", "kind": "Conv", "inputs": ["p"], "outputs": ["a"], "cost": 10 } ] },
        { "name": "step", "inputs": ["q"], "outputs": ["b"], "operators": [
            { "name": "s", "kind": "Conv", "inputs": ["q", "w"], "outputs": ["b"], "cost": 10 } ] } ] } ] } }"#;

/// Returns a scratch folder with the machine, the same machine with weights that stay, and a graph.
fn scratch(graph: &str) -> Scratch {
    let scratch = Scratch::with("unit.toml", MACHINE);
    scratch.write("stays.toml", MACHINE.replace("[dma]", "resident_weights = true\n[dma]"));
    scratch.write("net.json", graph);
    scratch
}

/// Runs `overlap` on the graph and the machine.
fn overlap(scratch: &Scratch, options: &str) -> Run {
    scratch.run(format!("overlap net.json --machine unit.toml {options}"))
}

/// Returns the report of a schedule that is found.
fn report(scratch: &Scratch, options: &str) -> Value {
    overlap(scratch, &format!("{options} --json")).exits(0).json()
}

/// Returns the makespan of a schedule in microseconds.
fn makespan(report: &Value, schedule: &str) -> u64 {
    let rows = report["schedules"].as_array().unwrap();
    let row = rows.iter().find(|row| row["algorithm"] == schedule).unwrap();
    row["makespan_ps"].as_u64().unwrap() / 1_000_000
}

#[test]
fn weight_transfers_overlap_computation() {
    let scratch = scratch(&graph(false));
    let report = report(&scratch, "--trace trace.json --gantt gantt.svg --instructions list.csv");
    assert_eq!(["synchronous", "ping-pong"].map(|name| makespan(&report, name)), [60, 40]);
    has(&report, &json!({ "lower_bound_ps": 40_000_000, "best": "ping-pong" }));
    // Computation takes 30 of the 40 microseconds.
    let waits = json!({ "claim": "optimal", "peak": 28, "stall_ps": 10_000_000, "waiting_percent": 25.0 });
    has(&report["schedules"][1], &waits);
    let trace = scratch.document("trace.json");
    has(&trace["otherData"], &json!({ "segments": 1, "segments_shown": 1 }));
    let events = trace["traceEvents"].as_array().unwrap();
    let transfer = events.iter().find(|event| event["cat"] == "transfer" && event["name"] == "two").unwrap();
    has(transfer, &json!({ "ts": 10.0, "dur": 10.0 }));
    assert!(events.iter().any(|event| event["ph"] == "C"));
    contains(&scratch.read("gantt.svg"), &["two is fetched from 10.000 µs for 10.000 µs"]);
    contains(&scratch.read("list.csv"), &["body#0,DMAWait,1,two,,,,\nbody#0,DMAStart,2,three,0,10,"]);
}

/// The processor copies 10 bytes per microsecond without setup latency, which is faster than overlapped DMA
/// transfers.
#[test]
fn the_processor_may_copy() {
    let scratch = scratch(&graph(false));
    scratch.write("unit.toml", format!("{MACHINE}[copy]\nbandwidth = 1e7\n"));
    let report = report(&scratch, "--gantt gantt.svg --trace trace.json --instructions list.csv");
    assert_eq!(["synchronous", "ping-pong", "exact"].map(|name| makespan(&report, name)), [33, 40, 33]);
    assert_eq!(report["best"], "synchronous");
    assert!(report["lower_bound_ps"].as_u64().unwrap() <= 33_000_000);
    contains(&scratch.read("gantt.svg"), &["two is copied from 11.000 µs for 1.000 µs"]);
    contains(&scratch.read("list.csv"), &["body#0,Copy,1,two,,10,"]);
    contains(&scratch.read("trace.json"), &["transfer"]);
}

#[test]
fn transfers_do_not_cross_the_border_of_a_branch() {
    let report = report(&scratch(&graph(true)), "");
    has(&report, &json!({ "segments": 4, "lower_bound_ps": 90_000_000 }));
    // The run takes 10 + 10 + 10 microseconds before the branch, 10 + 20 + 10 in its longer region, and
    // 10 + 10 after it.
    assert_eq!(makespan(&report, "ping-pong"), 30 + 40 + 20);
    assert_eq!(makespan(&report, "synchronous"), 40 + 50 + 20);
}

#[test]
fn exit_codes_distinguish_what_does_not_fit() {
    let scratch = scratch(&graph(false));
    let run = |options: &str| overlap(&scratch, options);
    // 8 bytes of activations and two buffers of 10 bytes need 28.
    let tight = "buffers of 10 and 10 bytes and 8 bytes of activations do not fit into";
    run("--capacity 27").exits(0).prints(&[tight]);
    run("--capacity 27 --algorithm ping-pong").exits(3);
    // The operators fit if their weights are sliced. The hint contains the largest slice size that fits.
    let hint = "\nhint: --slice 9 splits weights so that every operator fits\n";
    run("--capacity 17").exits(1).prints(&["infeasible", "operator 'one' needs 8 bytes", hint]);
    run("--capacity 17 --slice 9").exits(0);
    run("--capacity 17 --slice 10").exits(1);
    let hint = "hint: activations alone occupy up to 8 bytes; --order exact may lower this, and `plimsoll plan net.json";
    run("--capacity 7").exits(1).prints(&[hint]);
    run("--capacity 17 --front").exits(1).prints(&["hint         --slice 9 splits weights"]);
    run("--algorithm pingpong").refuses(&["did you mean 'ping-pong'"]);
    scratch.write("unit.toml", MACHINE.replace("1000", "0"));
    run("").refuses(&["unit.toml, line 3: capacity must be positive: `capacity = 0`"]);
}

#[test]
fn the_front_spans_from_least_memory_to_least_time() {
    let scratch = scratch(&graph(false));
    scratch.write("unit.toml", scratch.read("stays.toml"));
    let front = |options: &str| overlap(&scratch, &format!("--front {options}"));
    let report = front("--json --plot front.svg --output front.csv --gantt best.svg").exits(0).json();
    let points = report["points"].as_array().unwrap();
    let number = |point: &Value, key: &str| point[key].as_u64().unwrap();
    let pair = |point: &Value| (number(point, "memory"), number(point, "makespan_ps") / 1_000_000);
    let pairs: Vec<(u64, u64)> = points.iter().map(pair).collect();
    // The first point runs sequentially in 8 bytes of activations and 10 of weights. The last point
    // never waits.
    assert_eq!((pairs.first(), pairs.last()), (Some(&(18, 60)), Some(&(38, 30))));
    assert!(pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1), "{pairs:?}");
    assert!(points.iter().all(|point| number(point, "bound_ps") <= number(point, "makespan_ps")));
    // The weights of the first operator stay on chip, and the weights of the other operators use two
    // buffers.
    has(points.last().unwrap(), &json!({ "resident": 10, "gap_percent": 0.0 }));
    assert_eq!(scratch.read("front.csv").lines().count(), points.len() + 1);
    assert!(scratch.read("best.svg").starts_with("<svg"));
    contains(&scratch.read("front.svg"), &["on-chip memory and makespan"]);
    // The text shows the best schedule that fits.
    let text = front("--capacity 37").exits(0).stdout;
    assert!(text.contains("best         40.000 µs") && !text.contains("30.000 µs"), "{text}");
    front("--capacity 17").exits(1).prints(&["operator 'one' needs 8 bytes"]);
    front("--order as-in-file,missing").exits(2);
    front("--resident 3").exits(2);
}

#[test]
fn resident_weights_stay_on_chip() {
    let scratch = scratch(&graph(false));
    let run = |machine: &str, bytes: u64| {
        scratch.run(format!("overlap net.json --machine {machine}.toml --resident {bytes} --json"))
    };
    let report = run("stays", 25).exits(0).json();
    has(&report, &json!({ "resident": 20, "resident_blocks": 2 }));
    assert_eq!((makespan(&report, "synchronous"), makespan(&report, "prefetch")), (40, 30));
    // Fetching weights before the run saves nothing if they are used only once per run.
    let report = run("unit", 25).exits(0).json();
    assert_eq!((&report["resident_blocks"], makespan(&report, "prefetch")), (&json!(0), 40));
    run("stays", 1001).refuses(&["the machine has only 1000 bytes of on-chip memory"]);
}

#[test]
fn weights_are_fetched_speculatively_before_a_branch() {
    let scratch = scratch(&graph(true));
    let guessed = |options: &str| report(&scratch, &format!("--speculate {options}"))["speculation"].clone();
    // The channel is free while `two` computes, so it can fetch weights of one region for 10 microseconds.
    let best = guessed("best --chance else=0.6");
    has(&best, &json!({ "longest_ps": 80_000_000, "longest_before_ps": 90_000_000 }));
    // The run takes 30 microseconds before and 20 after the branch. With probability 0.6, the branch takes
    // 40 microseconds, or 30 with speculation. Otherwise, it takes 20.
    for (key, micros) in [("expected_before_seconds", 50 + 8 + 24), ("expected_seconds", 50 + 8 + 18)] {
        assert_eq!((best[key].as_f64().unwrap() * 1e6).round() as u64, micros, "{key}");
    }
    has(&best["guesses"][0], &json!({ "fetched": "e1", "cost_ps": 0 }));
    let likely = guessed("likely --chance then=0.9");
    assert_eq!([&likely["guesses"][0]["fetched"], &likely["longest_ps"]], [&json!("t"), &json!(90_000_000)]);
    assert_eq!(guessed("cheap --chance 1=1 --chance 2=0")["guesses"][0]["wasted"], 0.0);
    // If the most probable region has nothing to fetch, no other region is chosen.
    let bare = graph(true).replace("[\"b\", \"w4\"]", "[\"b\"]").replace("[\"q\", \"w5\"]", "[\"q\"]");
    let bare = self::scratch(&bare);
    for (chance, guesses) in [("0", 0), ("0.4", 0), ("0.5", 1)] {
        let found = report(&bare, &format!("--speculate likely --chance then={chance}"));
        assert_eq!(found["speculation"]["guesses"].as_array().map(Vec::len), Some(guesses), "{chance}");
    }
    overlap(&scratch, "--speculate likely --chance nope=0.5 --trace s.json --output s.csv").exits(2);
    assert!(!scratch.path("s.json").exists());
    for (chances, why) in [
        ("then=2", "expected a probability from 0 to 1"),
        ("then", "expected REGION=P"),
        ("neither=0.5", "no such region (regions of branches: 1:then, 2:else)"),
        ("net=0.5", "net"),
        ("then=0.7 --chance else=0.7", "of 'choose' add up to 1.4, not 1"),
    ] {
        overlap(&scratch, &format!("--speculate best --chance {chances}")).exits(2).warns(&[why]);
    }
}

#[test]
fn activations_may_occupy_a_layout() {
    for branch in [false, true] {
        let scratch = scratch(&graph(branch));
        let [placed, live] =
            ["placed", "live"].map(|what| report(&scratch, &format!("--activations {what}")));
        // With a branch, the live bytes may exceed the peak of a layout of the whole graph. They count the
        // regions of the branch as one block.
        let of = |report: &Value| report["activations"].as_u64().unwrap();
        assert!(branch || of(&live) <= of(&placed), "{live} {placed}");
        assert_eq!(makespan(&placed, "exact"), makespan(&live, "exact"));
    }
}

#[test]
fn a_front_that_starts_at_zero_bytes_is_drawn() {
    let empty = r#"{ "format": "plimsoll-graph", "version": 1, "name": "net", "tensors": [
        { "name": "x", "bytes": 4, "role": "input" }, { "name": "y", "bytes": 4, "role": "output" } ],
        "body": { "inputs": ["x"], "outputs": ["y"], "operators": [
        { "name": "one", "kind": "Relu", "inputs": ["x"], "outputs": ["y"] } ] } }"#;
    let scratch = scratch(empty);
    let report = scratch.json("overlap net.json --boundary outside --machine luna --front --plot x.svg");
    assert_eq!([&report["points"][0]["memory"], &report["claim"]], [&json!(0), &json!("optimal")]);
    contains(&scratch.read("x.svg"), &["on-chip memory and makespan"]);
}

#[test]
fn fronts_report_infeasible_and_unknown_cases() {
    let scratch = scratch(&graph(false));
    let run = |options: &str| overlap(&scratch, options);
    let alone = report(&scratch, "--front --algorithm exact --trace t.json");
    has(&alone, &json!({ "claim": "optimal", "lower_bound_ps": 40_000_000 }));
    contains(&scratch.read("t.json"), &["traceEvents"]);
    // 8 bytes of activations and two buffers of 10 bytes need 28.
    let none = run("--front --algorithm ping-pong --capacity 27").exits(3);
    none.prints(&["unknown      no schedule fits into on-chip memory"]);
    let never = run("--front --capacity 17 --json").exits(1).json();
    has(&never, &json!({ "claim": "infeasible", "points": [] }));
    contains(never["reason"].as_str().unwrap(), &["operator 'one' needs 8 bytes"]);
    // Options without effect are rejected.
    run("--front --buffers 4").exits(2).warns(&["--buffers"]);
    run("--front --solver exact").exits(2).warns(&["--activations placed"]);
    run("--weights").exits(2);
    for option in ["--buffers 4", "--algorithm exact", "--iterations 3"] {
        run(&format!("--free-order {option}")).exits(2);
    }
    let never = run("--free-order --capacity 17").exits(1);
    never.prints(&["infeasible   in the file order, operator 'one' needs 8 bytes"]);
}

#[test]
fn measured_times_must_belong_to_existing_operators() {
    let scratch = scratch(&graph(false).replace("\"name\": \"two\", ", ""));
    scratch.write("times.csv", "operator,seconds\nConv#1,1e-3\n");
    let found = report(&scratch, "--algorithm synchronous --times times.csv");
    assert_eq!(makespan(&found, "synchronous"), 50 + 1000);
    scratch.write("wrong.csv", "operator,seconds\nConv#1,1e-3\nConv#7,1\nConv#8,1\n");
    let why = "no operator with a compute time is called 'Conv#7' (and 1 more)";
    let wrong = overlap(&scratch, "--algorithm synchronous --times wrong.csv").exits(2);
    wrong.warns(&[&format!("wrong.csv: {why}")]);
    // Several graphs may use the same machine, so an unknown operator in its times is only noted.
    scratch.write("unit.toml", format!("{MACHINE}times = \"wrong.csv\"\n"));
    let noted = overlap(&scratch, "--algorithm synchronous").exits(0).stdout;
    assert!(noted.starts_with(&format!("assumed      {why}")), "{noted}");
}

/// The loop has more trips than a picture can show.
#[test]
fn percentages_cover_the_whole_run() {
    let scratch = scratch(LOOP);
    let report = report(&scratch, "--algorithm synchronous --iterations 60000 --gantt g.svg");
    // The processor waits for 10 of the 30 microseconds of a trip. The last evaluation of the condition adds
    // no wait and is negligible.
    let waiting = report["schedules"][0]["waiting_percent"].as_f64().unwrap();
    assert!((waiting - 100.0 / 3.0).abs() < 0.01, "{waiting}");
    contains(&scratch.read("g.svg"), &["100\u{2009}000 of 120\u{2009}001 segments"]);
}

/// Transfers before the run count towards the makespan. Traces, pictures and lists of instructions show them.
#[test]
fn resident_weights_are_fetched_before_the_run() {
    let scratch = scratch(LOOP);
    let run = |machine: &str| {
        let files = "--trace t.json --gantt g.svg --instructions i.csv";
        let options = format!("--algorithm prefetch --iterations 3 --resident 10 {files}");
        scratch.ok(format!("overlap net.json --machine {machine}.toml {options}"))
    };
    let bound =
        "lower bound  80.000 µs (10.000 µs to preload resident weights, then compute 70.000 µs, transfers";
    run("unit").prints(&[bound]);
    let trace = scratch.document("t.json");
    let ends = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let ends = ends.map(|event| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap());
    let last = ends.fold(0.0, f64::max);
    assert!((last - 80.0).abs() < 1e-9, "{last}");
    contains(&scratch.read("g.svg"), &["s is fetched from 0 ps for 10.000 µs"]);
    let list = scratch.read("i.csv");
    let head = "segment,instruction,operator,name,channel,bytes,offset,size\npreload,DMAStart,,s,0,10,990,10\n\
                preload,DMAWait,,s,,,,\n";
    assert!(list.starts_with(head), "{list}");
    run("stays").prints(&["lower bound  70.000 µs (compute 70.000 µs"]);
    contains(&scratch.read("i.csv"), &["\nresident,Resident,,s,,10,990,10\n"]);
}
