//! Compiles programs in C and C++ against the header and the shared library, and runs them.
//!
//! If `PLIMSOLL_SANITIZE` is set, as in `make test-c`, the programs run under `AddressSanitizer` and
//! `UndefinedBehaviorSanitizer`, on 100,000 random instances instead of 300.

use plimsoll::model::{Bytes, Claim, Instance};
use plimsoll_datasets::{SmallParams, small_instance};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The minimum and the maximum number of rounds per instance. Each round measures C and then Rust. After
/// the minimum, the rounds end as soon as the instance has taken longer than [`ENOUGH`].
const ROUNDS: Range<usize> = 3..200;

/// The time per instance after which no further round begins.
const ENOUGH: Duration = Duration::from_secs(4);

/// The number of runs of an instance in one process and round. In the first run, caches are cold.
const RUNS: usize = 4;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn is_sanitized() -> bool {
    std::env::var_os("PLIMSOLL_SANITIZE").is_some()
}

/// Compiles a program and returns its path. Returns `None` if there is no compiler for its language.
fn compiled(source: &Path, folder: &Path) -> Option<PathBuf> {
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    let (compiler, standard) = if is_c { ("cc", "-std=c11") } else { ("c++", "-std=c++17") };
    let program = folder.join(source.file_stem().unwrap());
    let tests = std::env::current_exe().unwrap();
    // Cargo puts the library beside the tests. Programs look for it under the name that build.rs sets.
    let library = folder.join("libplimsoll.so.0");
    std::fs::copy(tests.with_file_name("libplimsoll_capi.so"), &library).unwrap();
    let sanitizers = is_sanitized().then_some("-fsanitize=address,undefined,leak");
    let mut command = Command::new(compiler);
    command.args([standard, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g"]);
    command.args(sanitizers).arg("-I").arg(here("include")).arg(source).arg(&library);
    command.args(["-lpthread", "-lm"]).arg(format!("-Wl,-rpath,{}", folder.display()));
    let status = command.arg("-o").arg(&program).status();
    if let Err(error) = &status {
        eprintln!("no {compiler}: {error}; {} is not tested", source.display());
        return None;
    }
    assert!(status.unwrap().success(), "{} does not compile", source.display());
    Some(program)
}

fn run(program: impl AsRef<OsStr>, input: &str) -> Output {
    run_command(&mut Command::new(program), input)
}

fn run_command(command: &mut Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    // The program may end before it has read its whole input; the status is checked below.
    let _ = writer.join().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    output
}

fn output(source: &str, input: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&here(source), folder.path())?;
    Some(String::from_utf8(run(program, input).stdout).unwrap())
}

/// Writes an instance in the format of `replay.c`.
fn replayed(instance: &Instance, text: &mut String) {
    let capacity = instance.capacity().map_or(u64::MAX, Bytes::get);
    let mut rules = Vec::new();
    let mut rows = String::new();
    for (at, buffer) in instance.buffers().iter().enumerate() {
        let hull = buffer.lifespan().hull();
        let (size, alignment) = (buffer.size(), buffer.alignment());
        writeln!(rows, "{size} {} {} {alignment}", hull.lower, hull.upper).unwrap();
        rules.extend(buffer.fixed().map(|offset| format!("f {at} {offset} 0")));
        let parts = buffer.lifespan().intervals();
        rules.extend(parts.windows(2).map(|pair| format!("g {at} {} {}", pair[0].upper, pair[1].lower)));
    }
    rules.extend(instance.separations().iter().map(|(a, b)| format!("s {} {} 0", a.index(), b.index())));
    rules.extend(instance.exclusions().iter().map(|(a, b)| format!("x {} {} 0", a.index(), b.index())));
    writeln!(text, "{} {} {capacity}", instance.len(), rules.len()).unwrap();
    text.push_str(&rows);
    for rule in &rules {
        writeln!(text, "{rule}").unwrap();
    }
}

#[test]
fn answers_equal_those_of_rust() {
    let count = if is_sanitized() { 100_000 } else { 300 };
    let instances = (0..count).map(|seed| {
        let params = SmallParams::with_features(2 + (seed / 16 % 7) as usize, seed % 16);
        let instance = small_instance(params, seed);
        // Every third instance has a capacity around its load, so that some are infeasible.
        let load = plimsoll::model::load(&instance).0.get();
        let capacity = seed.is_multiple_of(3).then(|| Bytes::new((load + seed % 4).saturating_sub(1)));
        instance.with_capacity(capacity)
    });
    let instances: Vec<Instance> = instances.collect();
    let mut input = String::new();
    for instance in &instances {
        replayed(instance, &mut input);
    }
    let Some(output) = output("tests/replay.c", &input) else { return };
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), instances.len() + 1);
    for (instance, line) in instances.iter().zip(lines) {
        let own = plimsoll::solve(instance).unwrap();
        let status = [Claim::Optimal, Claim::Feasible, Claim::Infeasible, Claim::Unknown]
            .iter()
            .position(|&claim| claim == own.claim)
            .unwrap();
        let mut expected =
            format!("{status} {} {}", own.value.map_or(u64::MAX, Bytes::get), own.lower_bound.value);
        for offset in own.solution.iter().flat_map(plimsoll::model::Layout::offsets) {
            write!(expected, " {offset}").unwrap();
        }
        assert_eq!(line, expected, "{}", instance.name());
    }
}

#[test]
fn misuse_has_a_code_and_a_message() {
    output("tests/misuse.c", "");
}

#[test]
fn threads_do_not_disturb_each_other() {
    output("tests/threads.c", "");
}

#[test]
fn the_examples_run() {
    if let Some(text) = output("examples/plan.c", "") {
        assert!(text.starts_with("peak 8, at least 8: load"), "{text}");
        assert_eq!(text.lines().count(), 4);
    }
    if let Some(text) = output("examples/mlir.cpp", "") {
        assert!(text.ends_with("arena 5184\n") || text.contains("arena "), "{text}");
    }
}

/// Compares the time through C with the time in Rust on the instances of `MiniMalloc`, and prints the
/// shortest times of each instance. `make overhead-c` runs it, with the folder of the corpora in
/// `PLIMSOLL_CORPORA`.
#[test]
#[ignore = "needs the corpora and an idle machine"]
fn overhead() {
    let Some(corpora) = std::env::var_os("PLIMSOLL_CORPORA").filter(|folder| !folder.is_empty()) else {
        return eprintln!("skipped: PLIMSOLL_CORPORA is not set");
    };
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&here("tests/replay.c"), folder.path()).expect("no compiler");
    let entries = std::fs::read_dir(Path::new(&corpora).join("minimalloc")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "csv")).collect();
    files.sort();
    let (mut all_c, mut all_rust) = (0.0, 0.0);
    for file in files {
        let options = plimsoll::model::csv::ReadOptions::default();
        let instance = plimsoll::model::csv::read_instance_file(&file, options).unwrap();
        let (mut c, mut rust) = (f64::INFINITY, f64::INFINITY);
        let started = Instant::now();
        for round in 0..ROUNDS.end {
            if round >= ROUNDS.start && started.elapsed() > ENOUGH {
                break;
            }
            c = c.min(through_c(&program, &instance));
            rust = rust.min(in_rust(&instance));
        }
        println!("{}: {c:.6} s through C, {rust:.6} s in Rust, ratio {:.3}", instance.name(), c / rust);
        (all_c, all_rust) = (all_c + c, all_rust + rust);
    }
    println!("sum: {all_c:.4} s through C, {all_rust:.4} s in Rust, ratio {:.3}", all_c / all_rust);
}

/// Returns the time in seconds that all C calls for an instance take: the shortest of [`RUNS`] runs.
///
/// After each call, glibc returns the free memory of a main thread to the system, but not that of other
/// threads. In the next call, the main thread of a C program would therefore incur page faults, but the
/// thread of a test would not. These page faults account for 2 to 4 % of the time of calls that take 1 to
/// 6 ms. Two settings of glibc avoid the difference.
fn through_c(program: &Path, instance: &Instance) -> f64 {
    let mut input = String::new();
    (0..RUNS).for_each(|_| replayed(instance, &mut input));
    let mut command = Command::new(program);
    command.envs(["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"].map(|name| (name, "268435456")));
    let text = String::from_utf8(run_command(&mut command, &input).stdout).unwrap();
    text.lines().last().unwrap().parse().unwrap()
}

/// Returns the time in seconds that the same work takes without the C interface: the shortest of [`RUNS`]
/// runs.
fn in_rust(instance: &Instance) -> f64 {
    let once = |_| {
        let started = Instant::now();
        // Calls through C build the instance too.
        let rebuilt = plimsoll::model::InstanceBuilder::new("instance")
            .buffers(instance.buffers().iter().cloned())
            .capacity(instance.capacity())
            .build()
            .unwrap();
        plimsoll::solve(&rebuilt).unwrap();
        started.elapsed().as_secs_f64()
    };
    (0..RUNS).map(once).fold(f64::INFINITY, f64::min)
}
