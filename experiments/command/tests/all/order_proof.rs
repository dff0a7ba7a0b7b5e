//! Tests `order --proof`, `verify` of orders and their proofs, and the rejection of altered orders and
//! proofs.

use crate::common::{Scratch, pick};
use plimsoll_proof::check_orders;

/// Writes an order and its proof for a generated graph.
fn ordered(family: &str, seed: u64) -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(format!("generate {family} --seed {seed} --out g.json"));
    scratch.ok("order g.json --output o.csv --proof g.proof").reports(&["proof no order below"]);
    scratch
}

const VERIFY: &str = "verify g.json o.csv --proof g.proof";

#[test]
fn a_proof_confirms_an_optimal_order() {
    let scratch = ordered("hourglass", 0);
    let accepted = "proof accepted: no order below";
    scratch.ok(VERIFY).reports(&["order valid", "checked proof)", "gap 0.00 %", accepted]);
    let json = scratch.json(VERIFY);
    assert!(json["valid"] == true && json["peak"] == json["proof"]["bound"], "{json}");
    // Either file alone can be checked.
    scratch.ok("verify g.json --proof g.proof");
    let alone = scratch.ok("verify g.json o.csv");
    assert!(!alone.words().contains("proof"), "{}", alone.stdout);
    // Simple bounds have proofs of one line.
    let scratch = ordered("lenet5", 0);
    assert!(scratch.read("g.proof").lines().last().unwrap().starts_with("x "));
    scratch.ok(VERIFY);
}

#[test]
fn graphs_with_regions_have_one_section_per_region() {
    for seed in 0..4 {
        let scratch = ordered("control-mix", seed);
        scratch.ok(VERIFY).reports(&["order valid"]);
        let proof = scratch.read("g.proof");
        let regions = check_orders(proof.as_bytes(), &|| false).unwrap();
        assert!(regions.len() > 1, "{proof}");
        // Without the section of an inner region, the block of that region is unknown.
        let start = proof.match_indices("region ").nth(1).unwrap().0;
        scratch.write("g.proof", ["plimsoll-proof 1 orders\n", &proof[start..]].concat());
        let text = scratch.run(VERIFY).stdout;
        assert!(text.contains("accepted") || text.contains("another problem"), "{text}");
    }
}

#[test]
fn inner_regions_without_an_optimal_order_have_no_proof() {
    let scratch = Scratch::new();
    let params = "--param operators=60 --param control=8 --param depth=2";
    scratch.ok(format!("generate control-mix --seed 1 --out g.json {params}"));
    let run = scratch.run("order g.json --proof g.proof --node-limit 1");
    let errors = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let why =
        "proofs do not support bounds by the peak of region 'callee of f48', which is not proved optimal";
    assert!(errors.contains(why), "{errors}");
}

#[test]
fn altered_orders_and_proofs_are_rejected() {
    let scratch = ordered("hourglass", 0);
    let (order, proof) = (scratch.read("o.csv"), scratch.read("g.proof"));
    let refused = |file: &str, text: &str, part: &str| {
        scratch.write(file, text);
        scratch.run(VERIFY).exits(1).reports(&[part]);
    };
    let bound = proof.lines().find(|line| line.starts_with("bound ")).unwrap();
    let higher = format!("bound {}", bound[6..].parse::<u64>().unwrap() + 1);
    refused("g.proof", &proof.replace(bound, &higher), "proof rejected: line");
    refused("g.proof", &proof.replacen("storage ", "storage 1", 1), "rejected: ");
    refused("g.proof", &proof[..proof.len() - 2], "proof rejected: line");
    scratch.write("g.proof", &proof);
    // Exchanges the first and the last operator; the steps stay in ascending order.
    let mut rows: Vec<String> = order.lines().map(str::to_owned).collect();
    let end = rows.len() - 1;
    let [first, last] = [1, end].map(|at| rows[at].splitn(3, ',').map(str::to_owned).collect::<Vec<_>>());
    rows[1] = [&*first[0], &first[1], &last[2]].join(",");
    rows[end] = [&*last[0], &last[1], &first[2]].join(",");
    refused("o.csv", &(rows.join("\n") + "\n"), "order invalid");
    let short: String = order.split_inclusive('\n').take(3).collect();
    refused("o.csv", &short, "order invalid");
    scratch.write("o.csv", order.replacen(",0,", ",0,no ", 1));
    scratch.refuses(VERIFY, &["o.csv: line 2", "no further operator 'no "]);
    // The proof is for another graph.
    scratch.write("o.csv", &order);
    refused("g.proof", &ordered("lenet5", 0).read("g.proof"), "another problem");
    scratch.run("verify g.json o.csv --certificate g.json").exits(2);
}

#[test]
fn a_proof_that_is_not_found_is_reported() {
    let scratch = Scratch::after("generate layered --seed 2 --out g.json");
    let run = scratch.ok("order g.json --proof g.proof --node-limit 5000");
    run.warns(&["so --proof writes nothing"]);
    assert!(!scratch.path("g.proof").exists());
    scratch.run("order g.json --proof g.json").exits(2);
}

#[test]
fn benchmarks_prove_bounds_of_orders() {
    let scratch = Scratch::after("generate hourglass --out hard.json");
    scratch.ok("generate lenet5 --out easy.json");
    scratch.ok("generate control-mix --seed 1 --out inner.json");
    let line = "bench hard.json easy.json inner.json --problems orders --proofs --out r";
    scratch.ok(format!("{line} --algorithms exact,as-in-file"));
    let mut proofs = 0;
    for row in scratch.cells("r/rows.csv") {
        let claim = row["claim"].as_str();
        match row["certified_by"].as_str() {
            "proof" => {
                let number = |name: &str| row[name].parse::<f64>().unwrap();
                assert!(number("proof_bytes") > 100.0 && number("proof_seconds") > 0.0, "{row:?}");
                proofs += 1;
            }
            // The bound assumes orders of inner regions that are not proved optimal.
            "" if claim == "feasible" => continue,
            _ => assert_eq!(pick(&row, ["certified_by", "proof_bytes"]), ["witness", ""], "{row:?}"),
        }
        assert_eq!(row["certified"], if claim == "optimal" { "optimal" } else { "bound" }, "{row:?}");
    }
    assert!(proofs > 0);
    scratch.ok("report r --out page");
    assert!(scratch.read("page/summary.md").contains("### Certificates"));
}
