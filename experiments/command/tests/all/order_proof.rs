//! Tests `order --proof`, `verify` of orders and their proofs, and the rejection of altered orders and
//! proofs.

use crate::common::Scratch;
use plimsoll_proof::check_orders;

/// Writes an order and its proof for a generated graph.
fn ordered(family: &str, seed: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", family, "--seed", seed, "--out", "g.json"]).exits(0);
    let words = ["order", "g.json", "--output", "o.csv", "--proof", "g.proof"];
    let run = scratch.plimsoll(&words).exits(0);
    assert!(run.words().contains("proof no order below"), "{}{}", run.stdout, run.stderr);
    scratch
}

const VERIFY: [&str; 5] = ["verify", "g.json", "o.csv", "--proof", "g.proof"];

#[test]
fn a_proof_confirms_an_optimal_order() {
    let scratch = ordered("hourglass", "0");
    let run = scratch.plimsoll(&VERIFY).exits(0);
    for part in ["order valid", "checked proof)", "gap 0.00 %", "proof accepted: no order below"] {
        assert!(run.words().contains(part), "{}", run.stdout);
    }
    let json = scratch.plimsoll(&[&VERIFY[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&json["valid"], &json["peak"]), (&true.into(), &json["proof"]["bound"]), "{json}");
    // Either file alone can be checked.
    scratch.plimsoll(&["verify", "g.json", "--proof", "g.proof"]).exits(0);
    let alone = scratch.plimsoll(&["verify", "g.json", "o.csv"]).exits(0);
    assert!(!alone.words().contains("proof"), "{}", alone.stdout);
}

#[test]
fn simple_bounds_have_proofs_of_one_line() {
    let scratch = ordered("lenet5", "0");
    assert!(scratch.read("g.proof").lines().last().unwrap().starts_with("x "));
    scratch.plimsoll(&VERIFY).exits(0);
}

#[test]
fn graphs_with_regions_have_one_section_per_region() {
    for seed in 0..4 {
        let scratch = ordered("control-mix", &seed.to_string());
        let run = scratch.plimsoll(&VERIFY).exits(0);
        assert!(run.words().contains("order valid"), "{}", run.stdout);
        let proof = scratch.read("g.proof");
        let regions = check_orders(proof.as_bytes(), &|| false).unwrap();
        assert!(regions.len() > 1, "{proof}");
        // Without the section of an inner region, the block of that region is unknown.
        let start = proof.match_indices("region ").nth(1).unwrap().0;
        let inner: String = ["plimsoll-proof 1 orders\n", &proof[start..]].concat();
        scratch.write("g.proof", inner);
        let code = scratch.plimsoll(&VERIFY).stdout;
        assert!(code.contains("accepted") || code.contains("another problem"), "{code}");
    }
}

#[test]
fn inner_regions_without_an_optimal_order_have_no_proof() {
    let scratch = Scratch::new();
    let params = ["--param", "operators=60", "--param", "control=8", "--param", "depth=2"];
    let words = ["generate", "control-mix", "--seed", "1", "--out", "g.json"];
    scratch.plimsoll(&[&words[..], &params].concat()).exits(0);
    let run = scratch.plimsoll(&["order", "g.json", "--proof", "g.proof", "--node-limit", "1"]);
    let errors = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let why =
        "proofs do not support bounds by the peak of region 'callee of f48', which is not proved optimal";
    assert!(errors.contains(why), "{errors}");
}

#[test]
fn altered_orders_and_proofs_are_rejected() {
    let scratch = ordered("hourglass", "0");
    let (order, proof) = (scratch.read("o.csv"), scratch.read("g.proof"));
    let refused = |part: &str| {
        let run = scratch.plimsoll(&VERIFY).exits(1);
        assert!(run.words().contains(part), "{}", run.stdout);
    };
    let bound = proof.lines().find(|line| line.starts_with("bound ")).unwrap();
    let higher = format!("bound {}", bound[6..].parse::<u64>().unwrap() + 1);
    scratch.write("g.proof", proof.replace(bound, &higher));
    refused("proof rejected: line");
    scratch.write("g.proof", proof.replacen("storage ", "storage 1", 1));
    refused("rejected: ");
    scratch.write("g.proof", &proof[..proof.len() - 2]);
    refused("proof rejected: line");
    scratch.write("g.proof", &proof);
    // Exchanges the first and the last operator; the steps stay in ascending order.
    let mut rows: Vec<&str> = order.lines().collect();
    let end = rows.len() - 1;
    let swapped = [rows[1], rows[end]].map(|row| row.splitn(3, ',').last().unwrap().to_owned());
    let (first, last) = (format!("0:body,0,{}", swapped[1]), format!("0:body,{},{}", end - 1, swapped[0]));
    let key = rows[1].split(',').next().unwrap().to_owned();
    let (first, last) = (first.replacen("0:body", &key, 1), last.replacen("0:body", &key, 1));
    (rows[1], rows[end]) = (&first, &last);
    scratch.write("o.csv", rows.join("\n") + "\n");
    refused("order invalid");
    scratch.write("o.csv", order.lines().take(3).collect::<Vec<_>>().join("\n") + "\n");
    refused("order invalid");
    scratch.write("o.csv", order.replacen(",0,", ",0,no ", 1));
    scratch.plimsoll(&VERIFY).refuses(&["o.csv: line 2", "no further operator 'no "]);
    // The proof is for another graph.
    let other = ordered("lenet5", "0");
    scratch.write("o.csv", &order);
    scratch.write("g.proof", other.read("g.proof"));
    refused("another problem");
    scratch.plimsoll(&["verify", "g.json", "o.csv", "--certificate", "g.json"]).exits(2);
}

#[test]
fn a_proof_that_is_not_found_is_reported() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "layered", "--seed", "2", "--out", "g.json"]).exits(0);
    let run = scratch.plimsoll(&["order", "g.json", "--proof", "g.proof", "--node-limit", "5000"]).exits(0);
    assert!(run.stderr.contains("so --proof writes nothing"), "{}", run.stderr);
    assert!(!scratch.path("g.proof").exists());
    scratch.plimsoll(&["order", "g.json", "--proof", "g.json"]).exits(2);
}

#[test]
fn benchmarks_prove_bounds_of_orders() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "hourglass", "--out", "hard.json"]).exits(0);
    scratch.plimsoll(&["generate", "lenet5", "--out", "easy.json"]).exits(0);
    scratch.plimsoll(&["generate", "control-mix", "--seed", "1", "--out", "inner.json"]).exits(0);
    let files = ["hard.json", "easy.json", "inner.json"];
    let words = ["--problems", "orders", "--algorithms", "exact,as-in-file", "--proofs", "--out", "r"];
    scratch.plimsoll(&[&["bench"], &files[..], &words[..]].concat()).exits(0);
    let rows = scratch.read("r/rows.csv");
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let header = reader.headers().unwrap().clone();
    let cell = |row: &csv::StringRecord, name: &str| {
        row[header.iter().position(|own| own == name).unwrap()].to_owned()
    };
    let mut proofs = 0;
    for row in reader.records().map(Result::unwrap) {
        let claim = cell(&row, "claim");
        let what = if claim == "optimal" { "optimal" } else { "bound" };
        match cell(&row, "certified_by").as_str() {
            "proof" => {
                let number = |name| cell(&row, name).parse::<f64>().unwrap();
                assert!(number("proof_bytes") > 100.0 && number("proof_seconds") > 0.0, "{row:?}");
                proofs += 1;
            }
            // The bound assumes orders of inner regions that are not proved optimal.
            "" if claim == "feasible" => continue,
            by => assert_eq!((by, cell(&row, "proof_bytes").as_str()), ("witness", ""), "{row:?}"),
        }
        assert_eq!(cell(&row, "certified"), what, "{row:?}");
    }
    assert!(proofs > 0, "{rows}");
    scratch.plimsoll(&["report", "r", "--out", "page"]).exits(0);
    assert!(scratch.read("page/summary.md").contains("### Certificates"));
}
