//! Tests `plimsoll fuse`.

use crate::common::{Scratch, contains, has};
use serde_json::json;

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
    let scratch = Scratch::with("g.json", BRANCHED);
    let run = scratch.ok("fuse g.json --graph fused.json --output groups.json");
    run.prints(&["coverage     2 of 3 relations, 66.7 %"]);
    run.prints(&["in 3 regions, fused separately"]);
    let groups: serde_json::Value = serde_json::from_str(&scratch.read("groups.json")).unwrap();
    assert_eq!(groups["regions"][0]["groups"][0]["names"], serde_json::json!(["a \"b\"", "r"]));
    assert_eq!(groups["regions"][1]["groups"][0]["pattern"], "conv-act");
    let whole = scratch.read("fused.json");
    assert!(whole.contains(r#"a \"b\"+r"#) && !whole.contains(r#""name":"y""#), "{whole}");
    // The written graph, whose operators are the groups, can be read like any other graph.
    scratch.ok("fuse fused.json").prints(&["coverage     0 of 1 relation, 0.0 %"]);
    scratch.ok("plan fused.json");
}

#[test]
fn greedy_and_exact_are_compared() {
    let scratch = Scratch::with("g.json", BRANCHED);
    scratch.write("p.txt", "pair = Conv Relu\n");
    scratch.ok("fuse g.json --patterns p.txt --compare --output rows.csv");
    let rows = scratch.read("rows.csv");
    assert!(rows.starts_with("schema_version,"), "{rows}");
    let own = [",fusion,relations,fusion=ordinary,greedy,", ",fusion,relations,fusion=cross-unit,exact,"];
    contains(&rows, &own);
    has(&scratch.json("fuse g.json --algorithm greedy"), &json!({ "claim": "optimal", "optimised": 2 }));
}

#[test]
fn bad_input_is_reported() {
    let scratch = Scratch::with("g.json", BRANCHED);
    scratch.write("p.txt", "fine = A B\nbad = A\n");
    scratch.write("u.toml", "[[unit]]\nname = \"dla\"\nkinds = [\"conv\"]\n");
    for (options, message) in [
        ("--patterns p.txt", "p.txt, line 2: a pattern must have 2 to 16 steps; found 1: `bad = A`"),
        ("--patterns none", "no patterns 'none'"),
        ("--units u.toml", "no processing unit can run operator 1 'r' (Relu); the units are dla"),
        ("--units gone.toml", "gone.toml: cannot read"),
        ("--algorithm exakt", "did you mean 'exact'?"),
        ("--output g.json", "it is an input of this command"),
    ] {
        scratch.run(format!("fuse g.json {options}")).exits(2).warns(&[message]);
    }
}

#[test]
fn empty_graphs_are_fused() {
    let scratch = Scratch::new();
    let empty = r#"{"format":"plimsoll-graph","version":1,"name":"e","tensors":[],"body":{"name":"body","inputs":[],"outputs":[],"operators":[]}}"#;
    scratch.write("e.json", empty);
    scratch.ok("fuse e.json --graph f.json").prints(&["coverage     0 of 0 relations\n"]);
    scratch.ok("fuse e.json --compare");
}
