//! The same seed gives the same bytes on every machine. Only a new version of a family may change them.

use plimsoll_datasets::FAMILIES;
use plimsoll_datasets::graphs::GRAPH_FAMILIES;
use plimsoll_model::graph::write_graph;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

fn line(name: &str, version: u32, bytes: &[u8]) -> String {
    let digest: Vec<String> = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}  {name} {version}", digest.concat())
}

/// Each line of `families.sha256` contains a SHA-256 digest, a family and its version. The digest is that of
/// the output for default parameters and seed zero. If the bytes of a family change, increase its version and
/// insert the line that this test prints.
#[test]
fn every_family_makes_the_bytes_on_record() {
    let none = BTreeMap::new();
    let mut made = Vec::new();
    for family in FAMILIES {
        let mut text = Vec::new();
        family.generate(0, &none).unwrap().write(&mut text).unwrap();
        made.push(line(family.name, family.version, &text));
    }
    for family in GRAPH_FAMILIES {
        let mut text = Vec::new();
        write_graph(&family.generate(0, &none).unwrap(), &mut text).unwrap();
        made.push(line(family.name, family.version, &text));
    }
    let stored: Vec<&str> = include_str!("../data/families.sha256").lines().collect();
    let new: Vec<&str> = made.iter().map(String::as_str).filter(|line| !stored.contains(line)).collect();
    assert!(new.is_empty() && made.len() == stored.len(), "not on record:\n{}\n", new.join("\n"));
}
