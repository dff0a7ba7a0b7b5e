//! Stores the commit, a flag for local changes, the compiler and the build profile in the binary. The rows of
//! records contain these facts.

use std::path::Path;
use std::process::Command;

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn git(arguments: &[&str]) -> Option<String> {
    output(Command::new("git").arg("-C").arg("../..").args(arguments))
}

fn main() {
    let sources =
        ["Cargo.toml", "Cargo.lock", "model", "heuristics", "solvers", "datasets", "src", "experiments"];
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let mut status = vec!["status", "--porcelain", "--untracked-files=no", "--"];
    status.extend(sources);
    let dirty = git(&status).map_or("unknown", |changes| if changes.is_empty() { "false" } else { "true" });
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
}
