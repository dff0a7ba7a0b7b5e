//! Tests all stages from the file to the arena with real `TFLite` models. The models must be in the folder
//! `PLIMSOLL_CORPORA`.

use plimsoll_datasets::{CORPORA_VARIABLE, ImportOptions, import_file};
use plimsoll_heuristics::offsets::ENTRIES as OFFSETS;
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::{Budget, Bytes, Instance, Offsets, Problem, Setup, Silent, load};
use std::path::Path;

/// The name of each model, and its load and arena size in bytes with operators in file order. Offsets are
/// multiples of 16, and weights are outside the arena.
const ARENAS: &[(&str, u64, u64)] = &[
    ("ad01_int8", 768, 768),
    ("dtln_noise_suppression", 1282, 1312),
    ("keyword_scrambled", 10_528, 10_528),
    ("kws_ref_model", 16_000, 16_000),
    ("micro_speech_lstm", 16_753, 16_768),
    ("micro_speech_quantized", 5960, 5960),
    ("mobilenet_v2_quantized_1x3x224x224", 2_451_840, 2_451_840),
    ("person_detect", 55_296, 55_296),
    ("pretrainedResnet_quant", 49_152, 49_152),
    ("str_ww_ref_model", 6656, 6656),
    ("trained_lstm", 5536, 5536),
    ("vww_96_int8", 55_296, 64_512),
];

fn instance(path: &Path) -> Instance {
    let graph = import_file(path, &ImportOptions::default()).unwrap().graph;
    let storages = graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
    storages.problem.instance(&storages.problem.as_in_file(), Bytes::new(16)).unwrap()
}

#[test]
fn greedy_by_size_reproduces_the_arenas_of_small_models() {
    let Some(folder) = std::env::var_os(CORPORA_VARIABLE).filter(|folder| !folder.is_empty()) else {
        eprintln!("skipped: {CORPORA_VARIABLE} is not set");
        return;
    };
    let folder = Path::new(&folder).join("tflite");
    let greedy = OFFSETS.iter().find(|entry| entry.name == "greedy-by-size").unwrap();
    for &(name, least, expected) in ARENAS {
        let path = folder.join(format!("{name}.tflite"));
        if !path.is_file() {
            eprintln!("skipped, file not found: {name}");
            continue;
        }
        let instance = instance(&path);
        let solver = (greedy.build)(Setup::default());
        let outcome = solver.solve(&instance, &mut Budget::unlimited(), &mut Silent).unwrap();
        let layout = outcome.solution.unwrap();
        assert_eq!(Offsets::check(&instance, &layout), [], "{name}");
        assert_eq!(
            (load(&instance).0.get(), Offsets::value(&instance, &layout).get()),
            (least, expected),
            "{name}"
        );
    }
}
