//! Tests that the example with a custom heuristic runs, compares the heuristic, and is short.

use std::path::Path;
use std::process::Command;

#[test]
fn the_custom_heuristic_is_in_the_table() {
    // `cargo test` builds examples next to the folder of this test binary.
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().and_then(Path::parent).unwrap().join("examples");
    let program = folder.join(format!("own_heuristic{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("\nlargest-area ") && table.contains("\nexact "), "{table}");
    assert!(!table.contains("failed") && !table.contains("refused"), "{table}");
}

#[test]
fn the_example_is_short() {
    let text = include_str!("../examples/own_heuristic.rs");
    let code = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//"));
    assert!(code.count() <= 40);
}
