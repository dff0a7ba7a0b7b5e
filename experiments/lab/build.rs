//! Stores the commit, a flag for local changes, the compiler and the build profile in the binary. The rows of
//! records contain these facts.

use std::path::Path;
use std::process::Command;

/// The number of digits of a commit.
const DIGITS: usize = 12;

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn git(arguments: &[&str]) -> Option<String> {
    output(Command::new("git").arg("-C").arg("../..").args(arguments))
}

/// Returns the commit from which Cargo packed these sources, and whether they had local changes.
fn packed() -> Option<(String, &'static str)> {
    let info = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = info.split_once("\"sha1\": \"")?;
    let is_dirty = info.contains("\"dirty\": true");
    Some((rest.get(..DIGITS)?.to_owned(), if is_dirty { "true" } else { "false" }))
}

/// Returns the commit of the repository and whether its sources differ from it, and lets Cargo repeat this when
/// one of them changes.
fn checked_out() -> (String, &'static str) {
    let sources =
        ["Cargo.toml", "Cargo.lock", "model", "heuristics", "solvers", "datasets", "src", "experiments"];
    for source in sources {
        println!("cargo::rerun-if-changed=../../{source}");
    }
    for file in ["HEAD", "logs/HEAD", "index"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", file])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(&["rev-parse", &format!("--short={DIGITS}"), "HEAD"]);
    let mut status = vec!["status", "--porcelain", "--untracked-files=no", "--"];
    status.extend(sources);
    let dirty = git(&status).map_or("unknown", |changes| if changes.is_empty() { "false" } else { "true" });
    (commit.unwrap_or_else(|| "unknown".to_owned()), dirty)
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let (commit, dirty) = packed().unwrap_or_else(checked_out);
    let changed = if dirty == "true" { ", with local changes" } else { "" };
    let version = env!("CARGO_PKG_VERSION");
    println!("cargo::rustc-env=PLIMSOLL_VERSION={version} (commit {commit}{changed})");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let rustc = output(Command::new(rustc).arg("--version")).unwrap_or_else(|| "unknown".to_owned());
    // target/PROFILE/build/CRATE/out
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&out).ancestors().nth(3).and_then(Path::file_name);
    let profile = profile.map_or_else(|| "unknown".into(), std::ffi::OsStr::to_string_lossy);
    println!("cargo::rustc-env=PLIMSOLL_PROFILE={profile}");
    println!("cargo::rustc-env=PLIMSOLL_COMMIT={commit}");
    println!("cargo::rustc-env=PLIMSOLL_DIRTY={dirty}");
    println!("cargo::rustc-env=PLIMSOLL_RUSTC={rustc}");
}
