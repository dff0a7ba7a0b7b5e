//! Tests that every example runs and prints an answer.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder of the example binaries, next to the folder of this test binary. `cargo test` builds
/// them first.
fn folder() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().join("examples")
}

fn output(example: &str) -> String {
    let program = folder().join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
    let output =
        Command::new(&program).output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_example_prints_an_answer() {
    for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
        let name = file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(!output(&name).is_empty(), "{name}");
    }
    assert!(output("solve").starts_with("optimal: load at step "));
    assert!(output("spill").starts_with("optimal: "));
}

#[test]
fn examples_are_short() {
    for (name, most) in [("solve", 16), ("plan", 10)] {
        let text = std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}.rs")),
        );
        let text = text.unwrap();
        let code = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//"));
        assert!(code.count() <= most, "{name}");
    }
}
