//! Tests `plimsoll fuse`, and `plimsoll reproduce` for the fusion paper and the patent.

use crate::common::Scratch;

/// A graph with a convolution and a rectifier in its body and in a branch. One operator is called `a "b"`.
const BRANCHED: &str = r#"{"format":"plimsoll-graph","version":1,"name":"branched","tensors":[
{"name":"c","bytes":1,"role":"input"},{"name":"x","bytes":4,"role":"input"},{"name":"y","bytes":4,"role":"activation"},
{"name":"z","bytes":4,"role":"activation"},{"name":"w","bytes":4,"role":"output"},
{"name":"p","bytes":4,"role":"activation"},{"name":"q","bytes":4,"role":"activation"}],
"body":{"name":"body","inputs":["c","x"],"outputs":["w"],"operators":[
{"name":"a \"b\"","kind":"Conv","inputs":["x"],"outputs":["y"]},
{"name":"r","kind":"Relu","inputs":["y"],"outputs":["z"]},
{"name":"if","kind":"If","inputs":["c"],"outputs":["w"],"regions":[
{"name":"then","inputs":[],"outputs":["q"],"operators":[
{"name":"ic","kind":"Conv","inputs":["z"],"outputs":["p"]},{"name":"ir","kind":"Relu","inputs":["p"],"outputs":["q"]}]},
{"name":"else","inputs":[],"outputs":["z"],"operators":[]}]}]}}"#;

#[test]
fn regions_are_fused_separately() {
    let scratch = Scratch::new();
    scratch.write("g.json", BRANCHED);
    let run =
        scratch.plimsoll(&["fuse", "g.json", "--graph", "fused.json", "--output", "groups.json"]).exits(0);
    assert!(run.stdout.contains("coverage     2 of 3 relations, 66.7 %"), "{}", run.stdout);
    assert!(run.stdout.contains("in 3 regions, fused separately"), "{}", run.stdout);
    let groups: serde_json::Value = serde_json::from_str(&scratch.read("groups.json")).unwrap();
    assert_eq!(groups["regions"][0]["groups"][0]["names"], serde_json::json!(["a \"b\"", "r"]));
    assert_eq!(groups["regions"][1]["groups"][0]["pattern"], "conv-act");
    let whole = scratch.read("fused.json");
    assert!(whole.contains(r#"a \"b\"+r"#) && !whole.contains(r#""name":"y""#), "{whole}");
    // The written graph, whose operators are the groups, can be read like any other graph.
    let run = scratch.plimsoll(&["fuse", "fused.json"]).exits(0);
    assert!(run.stdout.contains("coverage     0 of 1 relation, 0.0 %"), "{}", run.stdout);
    scratch.plimsoll(&["plan", "fused.json"]).exits(0);
}

#[test]
fn greedy_and_exact_are_compared() {
    let scratch = Scratch::new();
    scratch.write("g.json", BRANCHED);
    scratch.write("p.txt", "pair = Conv Relu\n");
    let words = ["fuse", "g.json", "--patterns", "p.txt", "--compare", "--output", "rows.csv"];
    scratch.plimsoll(&words).exits(0);
    let rows = scratch.read("rows.csv");
    assert!(rows.starts_with("schema_version,"), "{rows}");
    for own in [",fusion,relations,fusion=ordinary,greedy,", ",fusion,relations,fusion=cross-unit,exact,"] {
        assert!(rows.lines().any(|line| line.contains(own)), "{rows}");
    }
    let again = scratch.plimsoll(&["fuse", "g.json", "--algorithm", "greedy", "--json"]).exits(0);
    let report: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&report["claim"], &report["optimised"]), (&"optimal".into(), &2.into()));
}

#[test]
fn bad_input_is_reported() {
    let scratch = Scratch::new();
    scratch.write("g.json", BRANCHED);
    scratch.write("p.txt", "fine = A B\nbad = A\n");
    scratch.write("u.toml", "[[unit]]\nname = \"dla\"\nkinds = [\"conv\"]\n");
    let cases: [(&[&str], &str); 6] = [
        (&["--patterns", "p.txt"], "p.txt, line 2: a pattern must have 2 to 16 steps; found 1: `bad = A`"),
        (&["--patterns", "none"], "no patterns 'none'"),
        (&["--units", "u.toml"], "no processing unit can run operator 1 'r' (Relu); the units are dla"),
        (&["--units", "gone.toml"], "gone.toml: cannot read"),
        (&["--algorithm", "exakt"], "did you mean 'exact'?"),
        (&["--output", "g.json"], "it is an input of this command"),
    ];
    for (words, message) in cases {
        let run = scratch.plimsoll(&[&["fuse", "g.json"], words].concat()).exits(2);
        assert!(run.stderr.contains(message), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn empty_graphs_are_fused() {
    let scratch = Scratch::new();
    let empty = r#"{"format":"plimsoll-graph","version":1,"name":"e","tensors":[],"body":{"name":"body","inputs":[],"outputs":[],"operators":[]}}"#;
    scratch.write("e.json", empty);
    let run = scratch.plimsoll(&["fuse", "e.json", "--graph", "f.json"]).exits(0);
    assert!(run.stdout.contains("coverage     0 of 0 relations\n"), "{}", run.stdout);
    scratch.plimsoll(&["fuse", "e.json", "--compare"]).exits(0);
}

#[test]
fn the_numbers_of_the_papers_are_recomputed() {
    let scratch = Scratch::new();
    let printed = scratch.plimsoll(&["reproduce", "S3", "--verbose"]).exits(0).stdout;
    for line in [
        "18 of 30 (60.0 %)",
        "171 of 277 (61.7 %)",
        "57 x 3 operators and 17 that join them; 188 - 114 = 74, 188 - 131 = 57",
        "75.1 % of 241 would be 181 fewer, 241 to 58 are 183",
        "outside of inference 0.114 s become 0.195 s",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert_eq!(scratch.plimsoll(&["reproduce", "fusion", "--verbose"]).exits(0).stdout, printed);
    let printed = scratch.plimsoll(&["reproduce", "S2", "--verbose"]).exits(0).stdout;
    for line in [
        "4 7 2 3 6 1 8 5  4 7 2 3 6 1 8 5",
        "operators 4, 5, 6, 7, exclusive in pairs",
        "46 M, the optimum is 43 M",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
}
