//! Links z3 and the C++ runtime in such a way that a process that uses neither does not load them. On systems
//! other than Linux, and if a tool or a library is not found, both are linked as usual.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    for file in ["build.rs", "z3.c"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // In a build for another machine, the paths below belong to the wrong one.
    if target("OS") != "linux" || target("ENV") != "gnu" || env::var("HOST") != env::var("TARGET") {
        return;
    }
    if has("ILP") {
        link_runtime();
    }
    if has("SMT") && !has("BUNDLED_Z3") && ["x86_64", "aarch64"].contains(&target("ARCH").as_str()) {
        defer_z3();
    }
}

/// Returns the path of a library in a folder that the linker searches, if there is one.
fn library(name: &str) -> Option<PathBuf> {
    let output = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_absolute().then_some(path)
}

fn out_folder() -> PathBuf {
    env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR").into()
}

/// Links the static C++ runtime. It is copied into a folder that the linker searches before its own ones,
/// because HiGHS requests the runtime by a name that stands for both the shared and the static library.
fn link_runtime() {
    let Some(archive) = library("libstdc++.a") else { return };
    let folder = out_folder().join("static");
    if std::fs::create_dir_all(&folder).is_ok() && std::fs::copy(archive, folder.join("libstdc++.a")).is_ok()
    {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

/// Links the functions of `z3.c`, which load z3 with the first call.
fn defer_z3() {
    let Some(name) = library("libz3.so").and_then(shared_name) else { return };
    cc::Build::new()
        .file("z3.c")
        .define("PLIMSOLL_Z3", format!("\"{name}\"").as_str())
        .cargo_metadata(false)
        .compile("plimsoll_z3");
    println!("cargo::rustc-link-search=native={}", out_folder().display());
    println!("cargo::rustc-link-lib=static:-bundle,+whole-archive=plimsoll_z3");
}

/// Returns the name by which programs load a shared library.
fn shared_name(path: PathBuf) -> Option<String> {
    let output = Command::new("readelf").arg("-d").arg(path).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().find(|line| line.contains("(SONAME)"))?;
    Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())
}
