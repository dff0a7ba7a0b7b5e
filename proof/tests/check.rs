//! Runs the program `plimsoll-check` on proofs about orders and about offsets.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the program and returns its exit status, standard output and standard error.
fn run(arguments: &[&Path]) -> (i32, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_plimsoll-check")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (run.status.code().unwrap(), text(run.stdout), text(run.stderr))
}

fn written(name: &str, text: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn seed(target: &str, name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    std::fs::read(folder.join(name)).unwrap()
}

#[test]
fn proofs_about_orders_need_no_other_file() {
    let proof = String::from_utf8(seed("order_proof_text", "keep.proof")).unwrap();
    let bound = proof.lines().find_map(|line| line.strip_prefix("bound ")).unwrap();
    let path = written("orders.proof", proof.as_bytes());
    let (code, stdout, stderr) = run(&[&path]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let claim = format!("accepted: no order of '0:main' has a peak below {bound} bytes");
    assert!(stdout.starts_with(&claim), "{stdout}");
    // A larger bound, and the same proof without its last line.
    let larger = format!("bound {}", bound.parse::<u64>().unwrap() + 1);
    let cut = proof.lines().count() - 1;
    let shorter: Vec<&str> = proof.lines().take(cut).collect();
    for altered in [proof.replace(&format!("bound {bound}"), &larger), shorter.join("\n")] {
        let path = written("altered.proof", altered.as_bytes());
        let (code, stdout, stderr) = run(&[&path]);
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        assert!(stderr.contains("altered.proof: rejected: line "), "{stderr}");
    }
    // The program does not accept a proof about orders together with an instance.
    let (code, _, stderr) = run(&[&written("empty.csv", b"id,lower,upper,size\n"), &path]);
    assert_eq!(code, 2, "{stderr}");
    let why = "orders.proof: not a proof of this kind: line 1: expected 'plimsoll-proof 1'";
    assert!(stderr.contains(why), "{stderr}");
}

#[test]
fn proofs_about_offsets_need_their_instance() {
    let seed = seed("proof_text", "own.bin");
    let end = seed.iter().position(|&byte| byte == 0).unwrap();
    let (instance, proof) = (written("own.csv", &seed[..end]), written("own.proof", &seed[end + 1..]));
    let (code, stdout, stderr) = run(&[&instance, &proof]);
    assert!(code == 0 && stdout.starts_with("accepted: no layout has a peak below "), "{stdout}{stderr}");
    let (code, _, stderr) = run(&[&proof]);
    assert_eq!((code, stderr.contains("expected 'plimsoll-proof 1 orders'")), (2, true), "{stderr}");
    let limited = |seconds: &str| run(&[Path::new("--time-limit"), Path::new(seconds), &instance, &proof]);
    let (code, stdout, stderr) = limited("0");
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.contains("own.proof: not checked: line 1: the check was stopped"), "{stderr}");
    assert_eq!((limited("60").0, limited("soon").0), (0, 2));
    assert_eq!(run(&[&proof, &instance]).0, 2);
    assert_eq!(run(&[Path::new("no such file")]).0, 2);
    assert_eq!(run(&[]).0, 2);
}
