//! Tests that the example with a custom heuristic runs in `bench` and `sweep`, and is short.

use std::path::Path;
use std::process::Command;

#[test]
fn the_custom_heuristic_is_in_the_table() {
    // `cargo test` builds examples next to the folder of this test binary.
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().and_then(Path::parent).unwrap().join("examples");
    let program = folder.join(format!("own_heuristic{}", std::env::consts::EXE_SUFFIX));
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &str| {
        let output =
            Command::new(&program).args(words.split(' ')).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let table = run("bench embedded --problems offsets --algorithms largest-area,exact");
    assert!(table.contains("\nlargest-area ") && table.contains("\nexact "), "{table}");
    assert!(!table.contains("failed") && !table.contains("refused"), "{table}");

    // The workers of a sweep are processes of the same program.
    let sweep = "[[instances]]\nsuite = \"embedded\"\n\n[[algorithms]]\nnames = [\"largest-area\"]\n";
    std::fs::write(folder.path().join("sweep.toml"), sweep).unwrap();
    run("sweep sweep.toml --out record");
    let rows = std::fs::read_to_string(folder.path().join("record/rows.csv")).unwrap();
    assert!(rows.contains("largest-area") && !rows.contains("failed"), "{rows}");
}

#[test]
fn the_example_is_short() {
    let text = include_str!("../examples/own_heuristic.rs");
    let code = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//"));
    assert!(code.count() <= 40);
}
