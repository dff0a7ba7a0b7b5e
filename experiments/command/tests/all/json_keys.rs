//! Tests that the page on JSON reports documents every key that the commands print.

use crate::common::Scratch;
use serde_json::Value;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../docs/src/formats/json.md");

/// The section of the page under a heading.
fn section(heading: &str) -> &str {
    let start = PAGE.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    let section = &PAGE[start + 4..];
    &section[..section.find("\n## ").unwrap_or(section.len())]
}

/// The words in backquotes.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Collects all keys of an object and of the objects in it, except the columns of CSV files.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                found.insert(key.clone());
                if !["layout", "rows", "witness_summary", "aligned"].contains(&key.as_str()) {
                    keys(member, found);
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| keys(member, found)),
        _ => {}
    }
}

/// Checks that all keys that a command prints are among the common keys or in one of these sections.
fn documented(scratch: &Scratch, sections: &[&str], line: &str) {
    let run = scratch.run(format!("{line} --json"));
    assert!(!run.stdout.is_empty(), "{line}: {}", run.stderr);
    let mut found = BTreeSet::new();
    keys(&run.json(), &mut found);
    let known: BTreeSet<&str> =
        ["Common keys"].iter().chain(sections).flat_map(|heading| quoted(section(heading))).collect();
    let missing: Vec<&String> = found
        .iter()
        .filter(|key| !known.contains(key.as_str()) && !["name", "region", "aligned"].contains(&key.as_str()))
        .collect();
    assert!(missing.is_empty(), "{line}: {missing:?} are not in the sections {sections:?}");
}

#[test]
fn every_key_is_documented() {
    let scratch = Scratch::with("free.12.csv", "id,lower,upper,size\na,0,4,4\nb,2,6,2\nc,4,8,3\n");
    scratch.write("plan.csv", "id,lower,upper,size,offset\na,0,4,4,0\nb,2,6,2,7\nc,4,8,3,0\n");
    scratch.ok("generate if-three-deep -o deep.json");
    scratch.ok("generate squeezenet -o net.json");
    let all: [(&[&str], &str); 29] = [
        (&["`solve`"], "solve free.12.csv --proof a.proof --certificate a.json --output a.csv --with-layout"),
        (&["`solve`"], "solve net.json --algorithm greedy-by-size --capacity 9"),
        (&["`verify`", "`compare`"], "verify free.12.csv a.csv --proof a.proof --certificate a.json"),
        (&["`verify`", "`compare`"], "verify plan.csv --best"),
        (&["`compare`"], "compare plan.csv"),
        (&["`audit`", "`compare`"], "audit plan.csv --max-gap 5%"),
        (&["`audit`", "`compare`"], "audit deep.json --planner-peak 99"),
        (&["`import`"], "import net.json"),
        (&["`order`"], "order deep.json --output deep.csv --proof deep.proof"),
        (&["Common keys"], "order deep.json --compare --node-limit 10"),
        (&["`verify`"], "verify deep.json deep.csv --proof deep.proof"),
        (&["`plan`"], "plan net.json --order as-in-file --algorithm greedy-by-size"),
        (&["`plan`"], "plan net.json --order greedy --capacity 9 --node-limit 10"),
        (&["`plan`"], "plan deep.json --capacity 30 --node-limit 10"),
        (&["`plan`"], "plan deep.json --capacity 82 --with-layout"),
        (&["`plan`"], "plan deep.json --compare --node-limit 10"),
        (&["`plan`"], "plan net.json --conflicts streams=2 --order greedy --node-limit 10"),
        (&["`spill`"], "spill free.12.csv --capacity 5"),
        (&["`spill`"], "spill net.json --order greedy --capacity 3000000 --node-limit 10"),
        (&["`overlap`"], "overlap deep.json --machine luna --speculate likely --node-limit 10"),
        (&["`overlap`"], "overlap net.json --machine luna --front --order as-in-file --node-limit 10"),
        (&["`overlap`"], "overlap net.json --machine luna --free-order --node-limit 10"),
        (&["`overlap`"], "overlap net.json --machine luna --capacity 100"),
        (&["`tiers`"], "tiers net.json --machine two-tier --algorithm greedy"),
        (&["`tiers`"], "tiers deep.json --machine generic --fusion none --algorithm greedy"),
        (&["`fuse`"], "fuse net.json --algorithm greedy"),
        (&["`fuse`"], "fuse deep.json --algorithm greedy --patterns chains"),
        (&["`tiers`"], "tiers net.json --machine two-tier --compare --node-limit 10"),
        (&["Common keys"], "spill free.12.csv --capacity 5 --compare"),
    ];
    for (sections, line) in all {
        documented(&scratch, sections, line);
    }
}
