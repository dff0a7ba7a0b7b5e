//! Tests that output files are written atomically, that streams are written in place, and that inputs are
//! never overwritten.
use crate::common::{Run, Scratch, TINY, command};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

const SOLVED: &str = "id,lower,upper,size,offset\na,0,4,4,0\nb,0,2,4,4\nc,2,4,4,4\n";

fn tiny() -> Scratch {
    Scratch::with("tiny.csv", TINY)
}

/// Returns the sorted names of the files in the scratch folder.
fn names(scratch: &Scratch) -> Vec<String> {
    let entries = fs::read_dir(scratch.path("")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs a shell command with the binary as `$0`.
fn shell(scratch: &Scratch, line: &str) -> Run {
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_plimsoll")]).current_dir(scratch.path(""));
    Run::from(command.env_remove("PLIMSOLL_CORPORA").output().unwrap())
}

#[test]
fn standard_output_as_a_file_is_written_in_place() {
    let scratch = tiny();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        if !fs::exists(name).unwrap_or(false) {
            continue;
        }
        let line = format!("echo before > log; \"$0\" solve tiny.csv -o {name} >> log; echo after >> log");
        shell(&scratch, &line).exits(0);
        let log = scratch.read("log");
        assert!(log.starts_with(&format!("before\n{SOLVED}instance ")), "{log}");
        assert!(log.ends_with("after\n"), "{log}");
    }
    // The output is a file descriptor of the shell, then a pipe.
    shell(&scratch, "exec 3>>third; echo before >&3; \"$0\" solve tiny.csv -o /dev/fd/3; echo after >&3")
        .exits(0);
    assert_eq!(scratch.read("third"), format!("before\n{SOLVED}after\n"));
    let run = shell(&scratch, "\"$0\" solve tiny.csv -o /dev/stderr 2>&1 >/dev/null | cat").exits(0);
    assert_eq!(run.stdout, SOLVED);
    assert_eq!(names(&scratch), ["log", "third", "tiny.csv"]);
}

#[test]
fn links_are_followed_and_permissions_kept() {
    let scratch = tiny();
    symlink("far.csv", scratch.path("link")).unwrap();
    scratch.ok("solve tiny.csv -o link");
    fs::set_permissions(scratch.path("far.csv"), fs::Permissions::from_mode(0o640)).unwrap();
    scratch.ok("solve tiny.csv -o link");
    assert_eq!(scratch.read("far.csv"), SOLVED);
    assert_eq!(fs::metadata(scratch.path("far.csv")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(scratch.path("link")).unwrap().is_symlink());
    // A link to an input is rejected like the input itself.
    symlink("tiny.csv", scratch.path("own")).unwrap();
    scratch.refuses("solve tiny.csv -o own", &["own", "input of this command"]);
}

#[test]
fn targets_without_permission_are_rejected_before_any_work() {
    let scratch = tiny();
    scratch.write("kept.csv", "old");
    fs::set_permissions(scratch.path("kept.csv"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::create_dir(scratch.path("closed")).unwrap();
    fs::set_permissions(scratch.path("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write everywhere.
    if fs::write(scratch.path("closed/probe"), "").is_ok() {
        return;
    }
    scratch.refuses("solve tiny.csv -o kept.csv", &["kept.csv", "denied"]);
    assert_eq!(scratch.read("kept.csv"), "old");
    scratch.refuses("solve tiny.csv -o closed/a.csv", &["closed/a.csv", "denied"]);
}

#[test]
fn a_full_disk_keeps_the_old_file() {
    let scratch = tiny();
    scratch.ok("generate uniform --buffers 2000 -o many.csv");
    scratch.write("out.csv", "old");
    // Limits files to 8 blocks of 512 bytes; larger writes fail instead of ending the process.
    let run =
        shell(&scratch, "trap '' XFSZ; ulimit -f 8; exec \"$0\" solve many.csv --algorithm naive -o out.csv");
    // The answer is printed all the same.
    let run = run.exits(2);
    assert!(run.stderr.starts_with("plimsoll: cannot write out.csv"), "{}", run.stderr);
    run.prints(&["peak "]);
    assert_eq!(scratch.read("out.csv"), "old");
    assert_eq!(names(&scratch), ["many.csv", "out.csv", "tiny.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error_of_every_output() {
    let scratch = tiny();
    for words in ["--help", "--version", "solve --help", "list", "solve tiny.csv"] {
        let run = shell(&scratch, &format!("exec \"$0\" {words} > /dev/full")).exits(2);
        assert!(run.stderr.contains("cannot write to standard output"), "{words}: {}", run.stderr);
    }
    let run = scratch.run("solve tiny.csv -o /dev/full").exits(2);
    assert!(run.stderr.contains("cannot write /dev/full") && run.stdout.contains("peak "), "{}", run.stderr);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let scratch = tiny();
    for words in [&["list"][..], &["--help"], &["solve", "tiny.csv", "--json"]] {
        let mut command = command(&scratch.path(""));
        let mut child = command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_last_of_two_writers_leaves_a_complete_file() {
    let scratch = tiny();
    let reversed = "id,lower,upper,size\nc,2,4,4\nb,0,2,4\na,0,4,4\n";
    scratch.write("other.csv", reversed);
    for _ in 0..20 {
        let start = |input: &str| {
            let mut command = command(&scratch.path(""));
            command.args(["solve", input, "-o", "out.csv"]).stdout(Stdio::null()).spawn().unwrap()
        };
        let mut both = [start("tiny.csv"), start("other.csv")];
        assert!(both.iter_mut().all(|child| child.wait().unwrap().success()));
        let input = if scratch.read("out.csv") == SOLVED { "tiny.csv" } else { "other.csv" };
        scratch.ok(format!("verify {input} out.csv"));
    }
    assert_eq!(names(&scratch), ["other.csv", "out.csv", "tiny.csv"]);
}

#[test]
fn leftovers_of_a_killed_sweep_are_removed() {
    let scratch = tiny();
    scratch.write("s.toml", "[[instances]]\npath = \"tiny.csv\"\n[[algorithms]]\nnames = \"naive\"\n");
    scratch.ok("sweep s.toml --out o");
    scratch.write("o/.rows.csv.Ab12Cd.plimsoll-tmp", "half");
    scratch.ok("sweep s.toml --out o");
    assert!(!scratch.path("o/.rows.csv.Ab12Cd.plimsoll-tmp").exists());
}
