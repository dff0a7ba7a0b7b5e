//! Tests that a build includes exactly the algorithms of its features. The tests pass in a build with any set
//! of features.

use crate::common::{Scratch, TINY, lean};
use plimsoll::solvers::LIBRARIES;
use plimsoll_model::{Offsets, Problem as _, SharedObjects, SplitBuffers};

#[test]
fn algorithms_missing_from_the_build_are_neither_listed_nor_run() {
    let scratch = Scratch::with("tiny.8.csv", TINY);
    let list = ["offsets", "shared-objects"].map(|name| scratch.ok(format!("list {name}")).stdout);
    let list = list.concat();
    for library in LIBRARIES {
        let is_present = library.is_present && lean().is_none();
        for &solver in library.solvers {
            let listed = list.lines().any(|line| line.split_whitespace().next() == Some(solver));
            assert_eq!(listed, is_present, "{solver}");
            let run = scratch.run(format!("solve tiny.8.csv --algorithm {solver}"));
            if is_present {
                run.exits(0);
                continue;
            }
            let reason =
                format!("this build does not include the solver '{solver}': it needs {}", library.name);
            run.refuses(&[&reason, library.feature]);
            scratch.refuses(format!("bench tiny.8.csv --algorithms {solver}"), &[&reason]);
        }
        let changed = format!("{}:-bridges", library.feature);
        let run = scratch.run(format!("solve tiny.8.csv --algorithm {changed}"));
        if is_present {
            run.exits(0);
        } else {
            run.refuses(&[library.name, library.feature]);
        }
    }
}

/// The names of shared libraries that a process loads at its start, as the dynamic linker prints them instead
/// of running the program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn processes_load_z3_and_the_cpp_runtime_only_when_used() {
    let program = lean().unwrap_or_else(|| env!("CARGO_BIN_EXE_plimsoll").into());
    let run = std::process::Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1").output().unwrap();
    let loaded = String::from_utf8(run.stdout).unwrap();
    assert!(loaded.contains("libc.so"), "{loaded}");
    for name in ["libz3", "libstdc++"] {
        assert!(!loaded.contains(name), "{loaded}\nA function of z3 may be missing in solvers/z3.c.");
    }
}

#[test]
fn every_problem_has_a_default_in_every_build() {
    let scratch = Scratch::with("tiny.csv", TINY);
    for problem in [Offsets::NAME, SplitBuffers::NAME, SharedObjects::NAME] {
        scratch.ok(format!("solve tiny.csv --problem {problem}"));
    }
}
