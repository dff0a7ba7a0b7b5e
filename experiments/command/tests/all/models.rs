//! Tests real models from the file to the plan. The tests are skipped if `PLIMSOLL_CORPORA` is not set.

use plimsoll::branches::{Planner, SCHEMES, Scheme, ordered_program};
use plimsoll::datasets::{Import, ImportOptions, import_file};
use plimsoll::graphs::{GraphRun, Placement};
use plimsoll::model::execution::ExecutionOptions;
use plimsoll::model::graph::{Boundary, LivenessOptions};
use plimsoll::model::program::ProgramOptions;
use plimsoll::model::{Bytes, Claim, Entry, Problem, Setup};
use plimsoll::run::Limits;
use std::path::{Path, PathBuf};

/// Returns the models of one format, sorted by name.
fn models(extension: &str) -> Vec<PathBuf> {
    let Some(corpora) = std::env::var_os("PLIMSOLL_CORPORA").filter(|folder| !folder.is_empty()) else {
        eprintln!("skipped: PLIMSOLL_CORPORA is not set");
        return Vec::new();
    };
    let folder = Path::new(&corpora).join(extension);
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    assert!(!files.is_empty(), "{}", folder.display());
    files
}

/// Imports a model. The free dimensions of Silero's voice models are set to one sequence of 512 samples
/// with its context.
fn import(path: &Path) -> Import {
    let mut options = ImportOptions::default();
    if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("silero")) {
        options.input_shapes.insert("input".to_owned(), vec![1, 576]);
        options.input_shapes.insert("state".to_owned(), vec![2, 1, 128]);
    }
    import_file(path, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn entry<P: Problem>(entries: &[&'static Entry<P>], name: &str) -> &'static Entry<P> {
    entries.iter().copied().find(|entry| entry.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_best_order_of_every_model_is_proved() {
    let registry = plimsoll::registry();
    let boundaries = [Boundary::Arena, Boundary::Persistent, Boundary::Outside];
    for path in [models("onnx"), models("tflite")].concat() {
        let import = import(&path);
        for (boundary, in_place) in boundaries.iter().flat_map(|&b| [(b, false), (b, true)]) {
            let liveness = LivenessOptions { boundary, in_place, ..LivenessOptions::default() };
            let order = entry(&registry.orders, "exact");
            let run = GraphRun { liveness, order, setup: Setup::default(), limits: Limits::default() };
            for region in run.order(&import.graph).unwrap() {
                let (name, at) = (path.display(), region.region);
                assert_eq!(
                    region.outcome.claim,
                    Claim::Optimal,
                    "{name}, region {at}, {boundary:?}, {in_place}"
                );
            }
        }
    }
}

#[test]
fn arenas_are_optimal_and_at_most_those_of_greedy_by_size() {
    let registry = plimsoll::registry();
    // As in TFLite's runtime for microcontrollers, operators are in file order, and offsets are multiples of
    // 16 bytes.
    let liveness = LivenessOptions { align: Bytes::new(16), ..LivenessOptions::default() };
    let order = entry(&registry.orders, "as-in-file");
    let run = GraphRun { liveness, order, setup: Setup::default(), limits: Limits::default() };
    let (mut met, mut count) = (0, 0);
    for path in models("tflite") {
        let import = import(&path);
        let arena = |solver: &str| {
            let plan = run.plan(&import.graph, Placement::After(entry(&registry.offsets, solver))).unwrap();
            let body = plan.last().unwrap();
            (body.arena(), body.load(), body.layout.claim)
        };
        let (greedy, _, _) = arena("greedy-by-size");
        let (exact, load, claim) = arena("exact");
        assert!(exact <= greedy, "{}: {exact} against {greedy}", path.display());
        assert_eq!(claim, Claim::Optimal, "{}", path.display());
        met += usize::from(exact == load);
        count += 1;
    }
    assert!(met * 4 >= count * 3, "only {met} of {count} arenas meet the load");
}

/// Returns all models in a folder and its subfolders.
fn models_below(folder: &Path) -> Vec<PathBuf> {
    let (mut todo, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == "onnx" || e == "tflite") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Executes plans: every read must return the value written, including reads in branches and loops. Free
/// dimensions are set to 1. Models that cannot be imported or run are counted and skipped.
#[test]
#[ignore = "takes a long time, depending on the number of models in PLIMSOLL_MODELS"]
fn plans_of_all_models_are_replayed() {
    let Some(folder) = std::env::var_os("PLIMSOLL_MODELS") else {
        eprintln!("skipped: PLIMSOLL_MODELS is not set");
        return;
    };
    let registry = plimsoll::registry();
    let options = ImportOptions { dim_default: Some(1), ..ImportOptions::default() };
    let limits = Limits { nodes: Some(2_000), ..Limits::default() };
    let order = entry(&registry.orders, "as-in-file");
    let (setup, liveness) = (Setup::default(), LivenessOptions::default());
    let run = GraphRun { liveness, order, setup, limits };
    let scheme = SCHEMES.iter().find(|entry| entry.scheme == Scheme::Exclusive).unwrap();
    let execution = ExecutionOptions { runs: 50, ..ExecutionOptions::default() };
    let planner = Planner { scheme, solver: entry(&registry.offsets, "exact"), setup, limits, execution };
    let (mut refused, mut replayed, mut runs, mut bad) = (0, 0, 0, Vec::new());
    for path in models_below(Path::new(&folder)) {
        let Ok(import) = import_file(&path, &options) else {
            refused += 1;
            continue;
        };
        let options = ProgramOptions { liveness, ..ProgramOptions::default() };
        let Ok(ordered) = ordered_program(&import.graph, &run, options) else {
            // The kind of an operator does not determine how it runs its regions.
            refused += 1;
            continue;
        };
        match planner.plan(&ordered.program) {
            Ok(plan) => {
                replayed += 1;
                runs += plan.runs;
            }
            Err(error) => bad.push(format!("{}: {error}", path.display())),
        }
    }
    println!("{replayed} models replayed in {runs} runs, {refused} not imported or not run");
    assert!(bad.is_empty(), "{} plans: {bad:#?}", bad.len());
}
