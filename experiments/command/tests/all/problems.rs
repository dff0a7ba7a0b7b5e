//! Tests that all problems run in the same benchmark, sweep, recheck and report.

use crate::common::{Scratch, TINY};
use plimsoll::posed::PROBLEMS;
use std::collections::{BTreeMap, BTreeSet};

type Row = BTreeMap<String, String>;

fn rows(scratch: &Scratch, file: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(scratch.path(file)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// Creates a folder with an instance, a graph without branches, and a graph with branches.
fn subjects() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tiny.csv", TINY);
    scratch.plimsoll(&["generate", "lenet5", "-o", "straight.json"]).exits(0);
    scratch.plimsoll(&["generate", "cond-in-cond", "-o", "branched.json"]).exits(0);
    scratch
}

const NODES: &str = "20000";

#[test]
fn every_problem_is_benchmarked_swept_and_rechecked() {
    let scratch = subjects();
    let files = ["tiny.csv", "straight.json", "branched.json"];
    let problems = PROBLEMS.join(",");
    let words = ["bench", files[0], files[1], files[2], "--problems", &problems, "--algorithms", "all"];
    let options = ["--node-limit", NODES, "--time-limit", "60", "--out", "rec", "--report"];
    let screen = scratch.plimsoll(&[&words[..], &options].concat()).exits(0).stdout;
    assert!(screen.starts_with(&format!("1 instance, 2 graphs, {} problems, ", PROBLEMS.len())), "{screen}");
    let measured = rows(&scratch, "rec/rows.csv");
    let mut units: BTreeMap<&str, &str> = BTreeMap::new();
    for row in &measured {
        units.insert(&row["problem"], &row["unit"]);
        assert!(["done", "skipped"].contains(&row["status"].as_str()), "{row:?}");
        assert!(row["status"] == "done" || row["value"].is_empty(), "{row:?}");
        if row["claim"] == "optimal" {
            assert_eq!((&row["value"], row["gap_percent"].as_str()), (&row["lower_bound"], "0"), "{row:?}");
        }
    }
    assert_eq!(units.keys().copied().collect::<BTreeSet<_>>(), PROBLEMS.iter().copied().collect());
    let other: Vec<_> = units.iter().filter(|(_, unit)| **unit != "bytes").collect();
    assert_eq!(
        other,
        [(&"fusion", &"relations"), (&"tiers", &"picoseconds"), (&"timelines", &"picoseconds")]
    );
    let rechecked = scratch.plimsoll(&["recheck", "rec", "--slowest", "60"]).exits(0).stdout;
    assert!(rechecked.contains("rec"), "{rechecked}");
    for problem in PROBLEMS {
        assert!(scratch.read("rec/report/report.html").contains(problem), "{problem}");
    }

    // The same runs give the same results in the processes of a sweep.
    let algorithms: String = PROBLEMS
        .iter()
        .flat_map(|problem| ["[[algorithms]]\nnames = \"all\"\nproblem = \"", problem, "\"\n"])
        .collect();
    let instances = "[[instances]]\npath = \"tiny.csv\"\n[[instances]]\ngraph = \"*d.json\"\n\
                     [[instances]]\ngraph = \"straight.json\"\n";
    scratch.write("s.toml", format!("limits.nodes = {NODES}\nlimits.time = 60\n{instances}{algorithms}"));
    scratch.plimsoll(&["sweep", "s.toml", "--out", "swept"]).exits(0);
    let key = |row: &Row| ["instance", "problem", "algorithm"].map(|column| row[column].clone());
    let swept: BTreeMap<_, Row> =
        rows(&scratch, "swept/rows.csv").into_iter().map(|row| (key(&row), row)).collect();
    assert_eq!(swept.len(), measured.len());
    for row in &measured {
        let other = &swept[&key(row)];
        for column in
            ["sha256", "unit", "terms", "status", "claim", "value", "lower_bound", "capacity", "nodes"]
        {
            assert_eq!(row[column], other[column], "{column} of {:?}", key(row));
        }
    }
}

#[test]
fn a_benchmark_agrees_with_the_commands() {
    let scratch = subjects();
    for graph in ["straight.json", "branched.json"] {
        let words = ["bench", graph, "--algorithms", "exact", "--node-limit", NODES, "--time-limit", "60"];
        let problems = ["--problems", "orders,spilling,timelines,tiers,fusion"];
        scratch.plimsoll(&[&words[..], &problems, &["--out", "rec", "--force"]].concat()).exits(0);
        let found: BTreeMap<String, Row> =
            rows(&scratch, "rec/rows.csv").into_iter().map(|row| (row["problem"].clone(), row)).collect();
        let reported = |words: &[&str], key: &str| {
            let limits = ["--node-limit", NODES, "--json"];
            let run = scratch.plimsoll(&[words, &limits[..]].concat());
            run.json()[key].as_u64().unwrap_or_else(|| panic!("{key} of {words:?}"))
        };
        let capacity = &found["spilling"]["capacity"];
        for (problem, words, key) in [
            ("orders", vec!["order", graph], "peak"),
            ("spilling", vec!["spill", graph, "--capacity", capacity], "traffic"),
            ("timelines", vec!["overlap", graph, "--machine", "generic"], "lower_bound_ps"),
            ("tiers", vec!["tiers", graph, "--machine", "generic"], "transfer_ps"),
            ("fusion", vec!["fuse", graph], "optimised"),
        ] {
            let value = if problem == "timelines" { "lower_bound" } else { "value" };
            assert_eq!(found[problem][value], reported(&words, key).to_string(), "{problem} of {graph}");
        }
    }
}

#[test]
fn terms_define_the_question() {
    let scratch = subjects();
    let bench = |more: &[&str]| {
        scratch.plimsoll(&[&["bench", "straight.json", "--out", "rec", "--force"], more].concat())
    };
    let timelines = ["--problems", "timelines", "--algorithms", "prefetch"];
    let value = |terms: &str| {
        bench(&[&timelines[..], &["--terms", terms]].concat()).exits(0);
        let row = rows(&scratch, "rec/rows.csv").remove(0);
        assert_eq!(row["terms"], format!("{terms} order=as-in-file"));
        row["value"].clone()
    };
    assert_ne!(value("machine=luna"), value("machine=ethos-u"));
    for (terms, part) in [
        ("machine", "'machine': expected KEY=VALUE"),
        ("machine=nowhere", "term machine=nowhere"),
        ("colour=red", "unknown term 'colour' for timelines"),
        ("machine=luna machine=luna", "given twice"),
        ("order=fast", "expected an order algorithm"),
        ("boundary=there", "expected arena, held, persistent, outside"),
        ("weights=yes", "timelines always fetch weights"),
    ] {
        bench(&[&timelines[..], &["--terms", terms]].concat()).refuses(&["--terms", part]);
    }
    bench(&["--problems", "spilling", "--terms", "capacity=much"]).refuses(&["capacity=much"]);
    bench(&["--problems", "orders", "--decide"]).refuses(&["orders has no capacity to decide"]);
    bench(&["--problems", "knots"]).refuses(&["knots"]);
    scratch.plimsoll(&["bench", "tiny.csv", "--problems", "orders"]).refuses(&["orders", "graph"]);
    // The row of an instance derived from a graph contains the terms under which it was derived.
    bench(&["--problems", "orders,offsets", "--algorithms", "exact"]).exits(0);
    let questions: Vec<[String; 2]> = rows(&scratch, "rec/rows.csv")
        .into_iter()
        .map(|row| ["problem", "terms"].map(|column| row[column].clone()))
        .collect();
    assert_eq!(questions, [["offsets", "order=as-in-file"], ["orders", ""]]);
    bench(&["--terms", "machine=luna"]).refuses(&["tiers requires [[unit]]", "--problems"]);
    let sweep = "[[instances]]\ngraph = \"straight.json\"\n[[algorithms]]\nnames = \"prefetch\"\n";
    scratch.write("s.toml", format!("{sweep}terms = \"machine=nowhere\"\n"));
    scratch.plimsoll(&["sweep", "s.toml", "--dry-run"]).refuses(&["s.toml: line 3", "machine=nowhere"]);
}
