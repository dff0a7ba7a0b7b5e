//! Tests the schedules, exit codes and files of `plimsoll overlap`.

use crate::common::Scratch;
use serde_json::Value;

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

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the makespan of a schedule in microseconds.
fn makespan(report: &Value, schedule: &str) -> u64 {
    let rows = report["schedules"].as_array().unwrap();
    let row = rows.iter().find(|row| row["algorithm"] == schedule).unwrap();
    row["makespan_ps"].as_u64().unwrap() / 1_000_000
}

#[test]
fn weight_transfers_overlap_computation() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    scratch.write("net.json", graph(false));
    let words = ["overlap", "net.json", "--machine", "unit.toml", "--json", "--trace", "trace.json"];
    let files = ["--gantt", "gantt.svg", "--instructions", "list.csv"];
    let report = json(&scratch.plimsoll(&[&words[..], &files[..]].concat()).exits(0).stdout);
    assert_eq!(makespan(&report, "synchronous"), 60);
    assert_eq!(makespan(&report, "ping-pong"), 40);
    assert_eq!(
        (&report["lower_bound_ps"], &report["best"]),
        (&Value::from(40_000_000), &Value::from("ping-pong"))
    );
    let ping_pong = &report["schedules"][1];
    assert_eq!((&ping_pong["claim"], &ping_pong["peak"]), (&Value::from("optimal"), &Value::from(28)));
    let trace = json(&scratch.read("trace.json"));
    assert_eq!(
        (&trace["otherData"]["segments"], &trace["otherData"]["segments_shown"]),
        (&1.into(), &1.into())
    );
    let events = trace["traceEvents"].as_array().unwrap();
    let transfer = events.iter().find(|event| event["cat"] == "transfer" && event["name"] == "two").unwrap();
    assert_eq!((&transfer["ts"], &transfer["dur"]), (&Value::from(10.0), &Value::from(10.0)));
    assert!(events.iter().any(|event| event["ph"] == "C"));
    assert!(scratch.read("gantt.svg").contains("two is fetched from 10.000 µs for 10.000 µs"));
    assert!(scratch.read("list.csv").contains("body#0,DMAWait,1,two,,,,\nbody#0,DMAStart,2,three,0,10,"));
    // Computation takes 30 of the 40 microseconds.
    assert_eq!((&ping_pong["stall_ps"], &ping_pong["waiting_percent"]), (&10_000_000.into(), &25.0.into()));
    let text = scratch.plimsoll(&["overlap", "net.json", "--machine", "unit.toml"]).exits(0).stdout;
    let stall = "\nstall        nothing computes for 10.000 µs of 40.000 µs (25.00 %) with ping-pong\n";
    assert!(text.contains(stall) && text.contains("makespan      stall  gap %"), "{text}");
    let text =
        scratch.plimsoll(&["overlap", "net.json", "--machine", "luna", "--algorithm", "eager"]).exits(0);
    assert!(text.stdout.contains("\neager "), "{}", text.stdout);
}

/// The processor copies 10 bytes per microsecond without setup latency, which is faster than overlapped DMA
/// transfers.
#[test]
fn the_processor_may_copy() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", format!("{MACHINE}[copy]\nbandwidth = 1e7\n"));
    scratch.write("net.json", graph(false));
    let words = ["overlap", "net.json", "--machine", "unit.toml", "--json"];
    let files = ["--gantt", "gantt.svg", "--trace", "trace.json", "--instructions", "list.csv"];
    let report = json(&scratch.plimsoll(&[&words[..], &files[..]].concat()).exits(0).stdout);
    assert_eq!(["synchronous", "ping-pong", "exact"].map(|name| makespan(&report, name)), [33, 40, 33]);
    assert_eq!(report["best"], "synchronous");
    assert!(report["lower_bound_ps"].as_u64().unwrap() <= 33_000_000);
    assert!(scratch.read("gantt.svg").contains("two is copied from 11.000 µs for 1.000 µs"));
    assert!(scratch.read("list.csv").contains("body#0,Copy,1,two,,10,"));
    assert!(scratch.read("trace.json").contains("transfer"));
}

#[test]
fn transfers_do_not_cross_the_border_of_a_branch() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    scratch.write("net.json", graph(true));
    let report =
        json(&scratch.plimsoll(&["overlap", "net.json", "--machine", "unit.toml", "--json"]).exits(0).stdout);
    assert_eq!(report["segments"], 4);
    // The run takes 10 + 10 + 10 microseconds before the branch, 10 + 20 + 10 in its longer region, and
    // 10 + 10 after it.
    assert_eq!(makespan(&report, "ping-pong"), 30 + 40 + 20);
    assert_eq!(makespan(&report, "synchronous"), 40 + 50 + 20);
    assert_eq!(report["lower_bound_ps"], 90_000_000);
}

#[test]
fn exit_codes_distinguish_what_does_not_fit() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    scratch.write("net.json", graph(false));
    let run = |more: &[&str]| {
        scratch.plimsoll(&[&["overlap", "net.json", "--machine", "unit.toml"], more].concat())
    };
    // 8 bytes of activations and two buffers of 10 bytes need 28.
    let tight = run(&["--capacity", "27"]).exits(0);
    assert!(
        tight.stdout.contains("buffers of 10 and 10 bytes and 8 bytes of activations do not fit into"),
        "{}",
        tight.stdout
    );
    run(&["--capacity", "27", "--algorithm", "ping-pong"]).exits(3);
    let never = run(&["--capacity", "17"]).exits(1);
    assert!(never.stdout.contains("infeasible") && never.stdout.contains("operator 'one' needs 8 bytes"));
    // The operators fit if their weights are sliced. The hint contains the largest slice size that fits.
    let hint = "\nhint: --slice 9 splits weights so that every operator fits\n";
    assert!(never.stdout.contains(hint), "{}", never.stdout);
    run(&["--capacity", "17", "--slice", "9"]).exits(0);
    run(&["--capacity", "17", "--slice", "10"]).exits(1);
    let none = run(&["--capacity", "7"]).exits(1).stdout;
    let hint = "hint: activations alone occupy up to 8 bytes; --order exact may lower this, and `plimsoll plan net.json";
    assert!(none.contains(hint), "{none}");
    let front = run(&["--capacity", "17", "--front"]).exits(1).stdout;
    assert!(front.contains("hint         --slice 9 splits weights"), "{front}");
    assert!(run(&["--algorithm", "pingpong"]).exits(2).stderr.contains("did you mean 'ping-pong'"));
    scratch.write("bad.toml", MACHINE.replace("1000", "0"));
    let bad = scratch.plimsoll(&["overlap", "net.json", "--machine", "bad.toml"]).exits(2);
    assert!(
        bad.stderr.contains("bad.toml, line 3: capacity must be positive: `capacity = 0`"),
        "{}",
        bad.stderr
    );
    let listed = scratch.plimsoll(&["list", "timelines"]).exits(0).stdout;
    assert!(listed.contains("timelines") && listed.contains("ping-pong-weighted"));
}

#[test]
fn the_front_spans_from_least_memory_to_least_time() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE.replace("[dma]", "resident_weights = true\n[dma]"));
    scratch.write("net.json", graph(false));
    let run = |more: &[&str]| {
        let words = ["overlap", "net.json", "--machine", "unit.toml", "--front"];
        scratch.plimsoll(&[&words[..], more].concat())
    };
    let files = ["--json", "--plot", "front.svg", "--output", "front.csv", "--gantt", "best.svg"];
    let report = json(&run(&files).exits(0).stdout);
    let points = report["points"].as_array().unwrap();
    let pairs: Vec<(u64, u64)> = points
        .iter()
        .map(|point| (point["memory"].as_u64().unwrap(), point["makespan_ps"].as_u64().unwrap() / 1_000_000))
        .collect();
    // The first point runs sequentially in 8 bytes of activations and 10 of weights. The last point
    // never waits.
    assert_eq!((pairs.first(), pairs.last()), (Some(&(18, 60)), Some(&(38, 30))));
    assert!(pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1), "{pairs:?}");
    assert!(points.iter().all(|point| point["bound_ps"].as_u64() <= point["makespan_ps"].as_u64()));
    let last = points.last().unwrap();
    // The weights of the first operator stay on chip, and the weights of the other operators use two
    // buffers.
    assert_eq!((&last["resident"], &last["gap_percent"]), (&Value::from(10), &Value::from(0.0)));
    assert_eq!(scratch.read("front.csv").lines().count(), points.len() + 1);
    assert!(scratch.read("best.svg").starts_with("<svg"));
    assert!(scratch.read("front.svg").contains("on-chip memory and makespan"));
    // The text shows the best schedule that fits.
    let text = run(&["--capacity", "37"]).exits(0).stdout;
    assert!(text.contains("best         40.000 µs") && !text.contains("30.000 µs"), "{text}");
    assert!(run(&["--capacity", "17"]).exits(1).stdout.contains("operator 'one' needs 8 bytes"));
    run(&["--order", "as-in-file,missing"]).exits(2);
    run(&["--resident", "3"]).exits(2);
}

#[test]
fn resident_weights_stay_on_chip() {
    let scratch = Scratch::new();
    scratch.write("stays.toml", MACHINE.replace("[dma]", "resident_weights = true\n[dma]"));
    scratch.write("goes.toml", MACHINE);
    scratch.write("net.json", graph(false));
    let run = |machine: &str, bytes: &str| {
        scratch.plimsoll(&["overlap", "net.json", "--machine", machine, "--resident", bytes, "--json"])
    };
    let report = json(&run("stays.toml", "25").exits(0).stdout);
    assert_eq!((&report["resident"], &report["resident_blocks"]), (&Value::from(20), &Value::from(2)));
    assert_eq!((makespan(&report, "synchronous"), makespan(&report, "prefetch")), (40, 30));
    // Fetching weights before the run saves nothing if they are used only once per run.
    let report = json(&run("goes.toml", "25").exits(0).stdout);
    assert_eq!((&report["resident_blocks"], makespan(&report, "prefetch")), (&Value::from(0), 40));
    assert!(
        run("stays.toml", "1001")
            .exits(2)
            .stderr
            .contains("the machine has only 1000 bytes of on-chip memory")
    );
}

#[test]
fn weights_are_fetched_speculatively_before_a_branch() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    scratch.write("net.json", graph(true));
    let run = |more: &[&str]| {
        let words = ["overlap", "net.json", "--machine", "unit.toml", "--json"];
        scratch.plimsoll(&[&words[..], more].concat())
    };
    let guessed = |more: &[&str]| json(&run(more).exits(0).stdout)["speculation"].clone();
    // The channel is free while `two` computes, so it can fetch weights of one region for 10 microseconds.
    let best = guessed(&["--speculate", "best", "--chance", "else=0.6"]);
    assert_eq!(
        (&best["longest_ps"], &best["longest_before_ps"]),
        (&Value::from(80_000_000), &Value::from(90_000_000))
    );
    let micros = |value: &Value| (value.as_f64().unwrap() * 1e6).round() as u64;
    let expected =
        |report: &Value| [&report["expected_before_seconds"], &report["expected_seconds"]].map(micros);
    // The run takes 30 microseconds before and 20 after the branch. With probability 0.6, the branch takes
    // 40 microseconds, or 30 with speculation. Otherwise, it takes 20.
    assert_eq!(expected(&best), [50 + 8 + 24, 50 + 8 + 18]);
    assert_eq!(
        (&best["guesses"][0]["fetched"], &best["guesses"][0]["cost_ps"]),
        (&Value::from("e1"), &Value::from(0))
    );
    let likely = guessed(&["--speculate", "likely", "--chance", "then=0.9"]);
    assert_eq!(
        (&likely["guesses"][0]["fetched"], &likely["longest_ps"]),
        (&Value::from("t"), &Value::from(90_000_000))
    );
    assert_eq!(
        guessed(&["--speculate", "cheap", "--chance", "1=1", "--chance", "2=0"])["guesses"][0]["wasted"],
        0.0
    );
    // If the most probable region has nothing to fetch, no other region is chosen.
    scratch.write(
        "bare.json",
        graph(true).replace("[\"b\", \"w4\"]", "[\"b\"]").replace("[\"q\", \"w5\"]", "[\"q\"]"),
    );
    let words = ["overlap", "bare.json", "--machine", "unit.toml", "--json", "--speculate", "likely"];
    let likely = |chance: &str| {
        let report = json(&scratch.plimsoll(&[&words[..], &["--chance", chance]].concat()).exits(0).stdout);
        report["speculation"]["guesses"].as_array().unwrap().len()
    };
    assert_eq!([likely("then=0"), likely("then=0.4"), likely("then=0.5")], [0, 0, 1]);
    run(&["--speculate", "likely", "--chance", "nope=0.5", "--trace", "s.json", "--output", "s.csv"])
        .exits(2);
    assert!(!scratch.path("s.json").exists());
    for (chance, why) in [
        ("then=2", "expected a probability from 0 to 1"),
        ("then", "expected REGION=P"),
        ("neither=0.5", "no such region (regions of branches: 1:then, 2:else)"),
        ("net=0.5", "does not belong to a branch"),
    ] {
        let stderr = run(&["--speculate", "best", "--chance", chance]).exits(2).stderr;
        assert!(stderr.contains(why) || chance.starts_with("net"), "{chance}: {stderr}");
    }
    let sum = run(&["--speculate", "best", "--chance", "then=0.7", "--chance", "else=0.7"]).exits(2).stderr;
    assert!(sum.contains("of 'choose' add up to 1.4, not 1"), "{sum}");
}

#[test]
fn activations_may_occupy_a_layout() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    for branch in [false, true] {
        scratch.write("net.json", graph(branch));
        let report = |what: &str| {
            let words = ["overlap", "net.json", "--machine", "unit.toml", "--json", "--activations", what];
            json(&scratch.plimsoll(&words).exits(0).stdout)
        };
        let of = |what: &str| report(what)["activations"].as_u64().unwrap();
        // With a branch, the live bytes may exceed the peak of a layout of the whole graph. They count the
        // regions of the branch as one block.
        assert!(branch || of("live") <= of("placed"), "{} {}", of("live"), of("placed"));
        assert_eq!(makespan(&report("placed"), "exact"), makespan(&report("live"), "exact"));
    }
}

#[test]
fn a_front_that_starts_at_zero_bytes_is_drawn() {
    let scratch = Scratch::new();
    let empty = r#"{ "format": "plimsoll-graph", "version": 1, "name": "net", "tensors": [
        { "name": "x", "bytes": 4, "role": "input" }, { "name": "y", "bytes": 4, "role": "output" } ],
        "body": { "inputs": ["x"], "outputs": ["y"], "operators": [
        { "name": "one", "kind": "Relu", "inputs": ["x"], "outputs": ["y"] } ] } }"#;
    scratch.write("net.json", empty);
    let words = ["overlap", "net.json", "--boundary", "outside", "--machine", "luna", "--front"];
    let report =
        json(&scratch.plimsoll(&[&words[..], &["--plot", "x.svg", "--json"]].concat()).exits(0).stdout);
    assert_eq!(
        (&report["points"][0]["memory"], &report["claim"]),
        (&Value::from(0), &Value::from("optimal"))
    );
    assert!(scratch.read("x.svg").contains("on-chip memory and makespan"));
}

#[test]
fn fronts_report_infeasible_and_unknown_cases() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    scratch.write("net.json", graph(false));
    let run = |more: &[&str]| {
        let words = ["overlap", "net.json", "--machine", "unit.toml", "--front"];
        scratch.plimsoll(&[&words[..], more].concat())
    };
    let alone = json(&run(&["--algorithm", "exact", "--json", "--trace", "t.json"]).exits(0).stdout);
    assert_eq!(
        (&alone["claim"], &alone["lower_bound_ps"]),
        (&Value::from("optimal"), &Value::from(40_000_000))
    );
    assert!(scratch.read("t.json").contains("traceEvents"));
    // 8 bytes of activations and two buffers of 10 bytes need 28.
    let none = run(&["--algorithm", "ping-pong", "--capacity", "27"]).exits(3).stdout;
    assert!(none.contains("unknown      no schedule fits into on-chip memory"), "{none}");
    let never = json(&run(&["--capacity", "17", "--json"]).exits(1).stdout);
    assert_eq!((&never["claim"], &never["points"]), (&Value::from("infeasible"), &Value::Array(Vec::new())));
    assert!(never["reason"].as_str().unwrap().contains("operator 'one' needs 8 bytes"), "{never}");
    // Options without effect are rejected.
    assert!(run(&["--buffers", "4"]).exits(2).stderr.contains("--buffers"));
    assert!(run(&["--solver", "exact"]).exits(2).stderr.contains("--activations placed"));
    let words = ["overlap", "net.json", "--machine", "unit.toml", "--free-order"];
    let free = |more: &[&str]| scratch.plimsoll(&[&words[..], more].concat());
    for option in [["--buffers", "4"], ["--algorithm", "exact"], ["--iterations", "3"]] {
        free(&option).exits(2);
    }
    let never = free(&["--capacity", "17"]).exits(1).stdout;
    assert!(never.contains("infeasible   in the file order, operator 'one' needs 8 bytes"), "{never}");
    assert!(!scratch.plimsoll(&["overlap", "--help"]).exits(0).stdout.contains("--weights"));
}

#[test]
fn measured_times_must_belong_to_existing_operators() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    scratch.write("net.json", graph(false).replace("\"name\": \"two\", ", ""));
    let run = |machine: &str, more: &[&str]| {
        let words = ["overlap", "net.json", "--machine", machine, "--algorithm", "synchronous"];
        scratch.plimsoll(&[&words[..], more].concat())
    };
    scratch.write("times.csv", "operator,seconds\nConv#1,1e-3\n");
    let report = json(&run("unit.toml", &["--times", "times.csv", "--json"]).exits(0).stdout);
    assert_eq!(makespan(&report, "synchronous"), 50 + 1000);
    scratch.write("wrong.csv", "operator,seconds\nConv#1,1e-3\nConv#7,1\nConv#8,1\n");
    let wrong = run("unit.toml", &["--times", "wrong.csv"]).exits(2).stderr;
    assert!(
        wrong.contains("wrong.csv: no operator with a compute time is called 'Conv#7' (and 1 more)"),
        "{wrong}"
    );
    // Several graphs may use the same machine, so an unknown operator in its times is only noted.
    scratch.write("timed.toml", format!("{MACHINE}times = \"wrong.csv\"\n"));
    let noted = run("timed.toml", &[]).exits(0).stdout;
    assert!(
        noted.starts_with("assumed      no operator with a compute time is called 'Conv#7' (and 1 more)"),
        "{noted}"
    );
}

/// The loop has more trips than a picture can show.
#[test]
fn percentages_cover_the_whole_run() {
    let scratch = Scratch::new();
    scratch.write("unit.toml", MACHINE);
    scratch.write("net.json", LOOP);
    let words = ["overlap", "net.json", "--machine", "unit.toml", "--algorithm", "synchronous"];
    let more = ["--iterations", "60000", "--json", "--gantt", "g.svg"];
    let report = json(&scratch.plimsoll(&[&words[..], &more].concat()).exits(0).stdout);
    // The processor waits for 10 of the 30 microseconds of a trip. The last evaluation of the condition adds
    // no wait and is negligible.
    let waiting = report["schedules"][0]["waiting_percent"].as_f64().unwrap();
    assert!((waiting - 100.0 / 3.0).abs() < 0.01, "{waiting}");
    assert!(scratch.read("g.svg").contains("100\u{2009}000 of 120\u{2009}001 segments"));
}

/// Transfers before the run count towards the makespan. Traces, pictures and lists of instructions show them.
#[test]
fn resident_weights_are_fetched_before_the_run() {
    let scratch = Scratch::new();
    scratch.write("goes.toml", MACHINE);
    scratch.write("stays.toml", MACHINE.replace("[dma]", "resident_weights = true\n[dma]"));
    scratch.write("net.json", LOOP);
    let run = |machine: &str| {
        let words =
            ["overlap", "net.json", "--machine", machine, "--algorithm", "prefetch", "--iterations", "3"];
        let files = ["--resident", "10", "--trace", "t.json", "--gantt", "g.svg", "--instructions", "i.csv"];
        scratch.plimsoll(&[&words[..], &files].concat()).exits(0).stdout
    };
    let text = run("goes.toml");
    let bound =
        "lower bound  80.000 µs (10.000 µs to preload resident weights, then compute 70.000 µs, transfers";
    assert!(text.contains(bound), "{text}");
    let trace = json(&scratch.read("t.json"));
    let ends = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let ends = ends.map(|event| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap());
    let last = ends.fold(0.0, f64::max);
    assert!((last - 80.0).abs() < 1e-9, "{last}");
    assert!(
        scratch.read("g.svg").contains("s is fetched from 0 ps for 10.000 µs"),
        "{}",
        scratch.read("g.svg")
    );
    let list = scratch.read("i.csv");
    let head = "segment,instruction,operator,name,channel,bytes,offset,size\npreload,DMAStart,,s,0,10,990,10\n\
                preload,DMAWait,,s,,,,\n";
    assert!(list.starts_with(head), "{list}");
    assert!(run("stays.toml").contains("lower bound  70.000 µs (compute 70.000 µs"));
    assert!(scratch.read("i.csv").contains("\nresident,Resident,,s,,10,990,10\n"));
}
