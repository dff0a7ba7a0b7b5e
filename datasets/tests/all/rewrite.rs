//! Writes orders and plans into model files, and reads them back.

use crate::tflite_writer::*;
use plimsoll_datasets::{Import, ImportOptions, MicroArena, ModelFile, ModelFormat, Scratch};
use plimsoll_model::graph::AliasKind;
use plimsoll_model::{Bytes, Layout, OperatorId, load};
use std::path::Path;

const ADD: i32 = 0;
const CONV: i32 = 3;
const RESHAPE: i32 = 22;
const IF: i32 = 118;
const WHILE: i32 = 119;

fn file(spec: &ModelSpec) -> ModelFile<'static> {
    ModelFile::new(Path::new("tiny.tflite"), ModelFormat::TfLite, spec.write())
}

fn import(file: &ModelFile<'_>) -> Import {
    file.import(&ImportOptions::default()).unwrap()
}

/// Returns the names of the results of all operators, in the order of the file.
fn made(import: &Import) -> Vec<&str> {
    let operators = import.graph.operators().iter();
    operators.map(|operator| import.graph.tensor(operator.outputs[0]).name.as_str()).collect()
}

fn subgraph(
    name: &str,
    sizes: &[(&str, i32)],
    ends: [&[i32]; 2],
    operators: Vec<OperatorSpec>,
) -> SubgraphSpec {
    let tensors = sizes.iter().map(|(name, size)| tensor(name, INT8, &[*size])).collect();
    let [inputs, outputs] = ends.map(<[i32]>::to_vec);
    SubgraphSpec { name: name.to_owned(), tensors, inputs, outputs, operators }
}

/// Returns a model that adds the results of two chains of two operators.
fn chains() -> ModelSpec {
    let sizes = [("x", 16), ("a", 64), ("b", 64), ("c", 16), ("d", 16), ("y", 16)];
    let step = |inputs: &[i32], output: i32| operator(ADD, inputs, &[output]);
    let steps =
        vec![step(&[0, 0], 1), step(&[0, 0], 2), step(&[1, 1], 3), step(&[2, 2], 4), step(&[3, 4], 5)];
    model(vec![subgraph("main", &sizes, [&[0], &[5]], steps)])
}

/// Returns the offset problem in which a reshaped tensor shares the memory of the original.
fn micro(file: &ModelFile<'_>) -> MicroArena {
    file.micro_arena(&|how, _, _| how == AliasKind::View).unwrap()
}

#[test]
fn operators_are_reordered_and_the_rest_stays() {
    let spec = chains();
    let old = file(&spec);
    let read = import(&old);
    assert_eq!(made(&read), ["a", "b", "c", "d", "y"]);
    let order: Vec<OperatorId> = [0, 2, 1, 3, 4].map(OperatorId::new).into();
    let new = old.reordered(&read, &[order]).unwrap();
    assert_eq!(made(&import(&new)), ["a", "c", "b", "d", "y"]);
    let files = [import(&new), import(&old)];
    let tensors = files.each_ref().map(|import| {
        let mut tensors: Vec<_> = import.graph.tensors().iter().collect();
        tensors.sort_by_key(|tensor| &tensor.name);
        tensors
    });
    assert_eq!(tensors[0], tensors[1]);
    let changed = old.bytes().iter().zip(new.bytes()).filter(|(a, b)| a != b).count();
    assert!(old.bytes().len() == new.bytes().len() && changed <= 8, "{changed} bytes changed");
    // Restoring the order restores the same bytes.
    let back: Vec<OperatorId> = [0, 2, 1, 3, 4].map(OperatorId::new).into();
    assert_eq!(new.reordered(&import(&new), &[back]).unwrap().bytes(), old.bytes());
    let same = read.graph.region(plimsoll_model::graph::Graph::BODY).operators.clone();
    assert_eq!(old.reordered(&read, &[same]).unwrap().bytes(), old.bytes());
    let twice: Vec<OperatorId> = [0, 0, 1, 3, 4].map(OperatorId::new).into();
    let error = old.reordered(&read, &[twice]).unwrap_err().to_string();
    assert_eq!(error, "tiny.tflite: damaged: the order of subgraph 0 does not contain each operator once");
}

#[test]
fn metadata_by_index_keep_the_order() {
    let mut spec = chains().data(4);
    spec.metadata.push(("model_control_dependencies".to_owned(), 1));
    let old = file(&spec);
    let order: Vec<OperatorId> = [0, 2, 1, 3, 4].map(OperatorId::new).into();
    let error = old.reordered(&import(&old), &[order]).unwrap_err().to_string();
    assert!(error.contains("--order as-in-file"), "{error}");
}

#[test]
fn a_plan_comes_before_the_file_and_is_replaced_in_place() {
    let mut spec = chains().data(64).values(&[1, 2, 3]);
    spec.metadata.push(("min_runtime_version".to_owned(), 2));
    let old = file(&spec);
    assert_eq!(old.offsets().unwrap(), None);
    let offsets = [0, 16, 80, 144, 160, -1];
    let new = old.with_offsets(&offsets).unwrap();
    assert_eq!(new.offsets().unwrap().as_deref(), Some(&offsets[..]));
    assert!(new.bytes().ends_with(old.bytes()), "the old file is kept");
    assert_eq!((new.bytes().len() - old.bytes().len()) % 64, 0);
    assert_eq!(import(&new).graph, import(&old).graph);
    let again = new.with_offsets(&[-1; 6]).unwrap();
    assert_eq!(again.bytes().len(), new.bytes().len());
    assert_eq!(again.offsets().unwrap().as_deref(), Some(&[-1; 6][..]));
    assert_eq!(again.with_offsets(&offsets).unwrap().bytes(), new.bytes());
    // A plan of another length gets a new buffer.
    let longer = new.with_offsets(&[-1; 7]).unwrap();
    assert_eq!(longer.offsets().unwrap().as_deref(), Some(&[-1; 7][..]));
    let error = longer.import(&ImportOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("the offline plan lists 7 of 7 offsets, but there are 6 tensors"), "{error}");
}

#[test]
fn positions_from_the_start_of_the_file_move() {
    let mut spec = model(vec![subgraph(
        "main",
        &[("x", 16), ("w", 16), ("y", 16)],
        [&[0], &[2]],
        vec![operator(ADD, &[0, 1], &[2])],
    )]);
    spec.subgraphs[0].tensors[1].buffer = 1;
    spec.buffers.push(BufferSpec::At(0, 16));
    let length = spec.write().len() as u64 + 16;
    spec.buffers[1] = BufferSpec::At(length, 16);
    let mut bytes = spec.write();
    bytes.resize(length as usize, 0);
    bytes.extend(0..16);
    let old = ModelFile::new(Path::new("tiny.tflite"), ModelFormat::TfLite, bytes);
    let new = old.with_offsets(&[0, -1, 16]).unwrap();
    assert_eq!(import(&new).graph, import(&old).graph);
    assert_eq!(micro(&new).instance.len(), 2, "the weight is not placed");
}

#[test]
fn lifespans_are_those_of_the_runtime() {
    let arena = micro(&file(&chains()));
    let instance = &arena.instance;
    let lives = instance.buffers().iter().map(|buffer| {
        let hull = buffer.lifespan().hull();
        (buffer.size().get(), hull.lower.get(), hull.upper.get())
    });
    // Step 1 is the start, and operator i runs at step i + 2.
    let expected = [(16, 1, 4), (64, 2, 5), (64, 3, 6), (16, 4, 7), (16, 5, 7), (16, 6, 7)];
    assert_eq!(lives.collect::<Vec<_>>(), expected);
    assert!(instance.buffers().iter().all(|buffer| buffer.alignment() == Bytes::new(16)));
    let layout = Layout::from_raw([0, 16, 80, 0, 16, 32]);
    assert_eq!(arena.offsets(&layout).unwrap(), [0, 16, 80, 0, 16, 32]);
    let same = arena.layout(|tensor| Some(layout.offsets()[tensor]));
    assert_eq!(same, Some(layout));
    assert!(arena.layout(|_| None).is_none());
}

#[test]
fn variables_unused_tensors_and_reshapes_follow_the_kernels() {
    let sizes = [("x", 20), ("r", 20), ("state", 8), ("unused", 40), ("y", 20), ("empty", 0)];
    let steps = vec![operator(RESHAPE, &[0], &[1]), operator(ADD, &[1, 2], &[4])];
    let mut spec = model(vec![subgraph("main", &sizes, [&[0], &[4]], steps)]);
    spec.subgraphs[0].tensors[2].variable = true;
    let arena = micro(&file(&spec));
    let sizes: Vec<u64> = arena.instance.buffers().iter().map(|buffer| buffer.size().get()).collect();
    assert_eq!(sizes, [32, 32], "sizes are multiples of 16, and x and r are one buffer");
    let offsets = arena.offsets(&Layout::from_raw([0, 32])).unwrap();
    assert_eq!(offsets, [0, 0, -1, 0, 32, -1]);
    // With sums in place, all tensors of the body are one buffer.
    let one = file(&spec).micro_arena(&|_, _, _| true).unwrap();
    assert_eq!((arena.instance.len(), one.instance.len()), (2, 1));
    let none = file(&spec).micro_arena(&|_, _, _| false).unwrap();
    assert_eq!(none.instance.len(), 3);
    let apart = arena.layout(|tensor| Some(Bytes::new(tensor as u64 * 32)));
    assert_eq!(apart, None, "x and r have different offsets");
    let huge = arena.offsets(&Layout::from_raw([0, 1 << 31])).unwrap_err().to_string();
    assert_eq!(huge, "offset 2147483648 is not supported: the runtime stores offsets in 31 bits");
}

fn requests(list: &[[u64; 3]]) -> Vec<Scratch> {
    let one = |&[subgraph, operator, bytes]: &[u64; 3]| Scratch {
        subgraph: subgraph as usize,
        operator: operator as usize,
        bytes,
    };
    list.iter().map(one).collect()
}

#[test]
fn scratch_follows_its_operator() {
    let old = file(&chains()).with_scratch(requests(&[[0, 1, 100], [0, 1, 16], [0, 3, 64]]));
    let order: Vec<OperatorId> = [0, 2, 1, 3, 4].map(OperatorId::new).into();
    let new = old.reordered(&import(&old), &[order]).unwrap();
    let scratch = |file| {
        let buffers = micro(file).instance.buffers()[6..].to_vec();
        let row =
            |buffer: &plimsoll_model::Buffer| (buffer.size().get(), buffer.lifespan().hull().lower.get());
        buffers.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(scratch(&old), [(112, 3), (16, 3), (64, 5)]);
    assert_eq!(scratch(&new), [(112, 4), (16, 4), (64, 5)]);
    assert_eq!(micro(&new).offsets(&micro(&new).in_runtime(&Layout::from_raw([0; 9]))).unwrap(), [0; 6]);
    // The importer adds up the scratch requests of an operator.
    let options = ImportOptions { scratch: requests(&[[0, 1, 100], [0, 1, 16]]), ..ImportOptions::default() };
    let graph = old.import(&options).unwrap().graph;
    let scratch: Vec<u64> = graph.operators().iter().map(|one| one.scratch.get()).collect();
    assert_eq!(scratch, [0, 128, 0, 0, 0]);
    for (row, reason) in
        [([0, 5, 1], "the subgraph has 5 operators"), ([1, 0, 1], "the file has 1 subgraphs")]
    {
        let options = ImportOptions { scratch: requests(&[row]), ..ImportOptions::default() };
        let error = old.import(&options).unwrap_err().to_string();
        assert!(error.ends_with(reason), "{error}");
    }
}

#[test]
fn the_planner_of_the_runtime_is_simulated() {
    // Of a and b, which are equally large, b comes first; c and x are above both.
    assert_eq!(micro(&file(&chains())).greedy(), Bytes::new(144));
    // With an offline plan, only scratch buffers move: the larger one comes first, into the lowest gap.
    let arena = micro(&file(&chains()).with_scratch(requests(&[[0, 2, 32], [0, 2, 48]])));
    let offsets = [96, 0, 176, 64, 80, 0];
    let layout = arena.layout(|tensor| Some(Bytes::new(offsets[tensor]))).unwrap();
    assert_eq!(layout.offsets()[6..], [128, 80].map(Bytes::new), "a, c and b are live");
    assert_eq!((arena.arena(&layout), layout.peak(&arena.instance)), (Bytes::new(240), Bytes::new(240)));
    // An unused tensor occupies memory too.
    let sizes = [("x", 16), ("u", 500), ("v", 400), ("y", 16)];
    let body = subgraph("main", &sizes, [&[0], &[3]], vec![operator(ADD, &[0, 0], &[3])]);
    let arena = micro(&file(&model(vec![body])));
    let layout = arena.layout(|_| Some(Bytes::ZERO)).unwrap();
    assert_eq!((arena.arena(&layout), arena.greedy()), (Bytes::new(512), Bytes::new(912)));
}

#[test]
fn subgraphs_are_planned_together() {
    let inner = |name: &str, size: i32| {
        let sizes = [("in", 16), ("large", size), ("out", 16)];
        let steps = vec![operator(CONV, &[0], &[1]), operator(CONV, &[1], &[2])];
        subgraph(name, &sizes, [&[0], &[2]], steps)
    };
    let choose = operator(IF, &[0, 1], &[2]).options(false, 92, &[(0, 1), (1, 2)]);
    let repeat = operator(WHILE, &[2], &[3]).options(false, 93, &[(0, 3), (1, 1)]);
    let mut body = subgraph("main", &[("c", 1), ("x", 16), ("m", 16), ("y", 16)], [&[0, 1], &[3]], vec![]);
    body.tensors[0].element = BOOL;
    body.operators = vec![choose, repeat];
    let condition = subgraph("cond", &[("v", 16), ("go", 1)], [&[0], &[1]], vec![operator(CONV, &[0], &[1])]);
    let never = inner("never", 512);
    let spec = model(vec![body, inner("then", 256), inner("else", 128), condition, never]);
    let arena = micro(&file(&spec));
    // The instance contains all tensors except those of the subgraph that nothing runs.
    assert_eq!(arena.instance.len(), 4 + 3 + 3 + 2);
    // 'large' of 'then' is live from its first use, in `IF`, to its last, in `WHILE`.
    let large = arena.instance.buffers()[5].lifespan().hull();
    let start = arena.instance.buffers()[3].lifespan().hull();
    assert!(large.lower < start.lower && large.upper > start.lower, "{large:?} {start:?}");
    // The scratch buffer in 'then' is likewise live from the first use of its operator to the last.
    let scratch = file(&spec).with_scratch(requests(&[[1, 0, 16], [4, 0, 16]]));
    let with_scratch = micro(&scratch).instance;
    assert_eq!(with_scratch.len(), 4 + 3 + 3 + 2 + 1);
    let hull = with_scratch.buffers()[12].lifespan().hull();
    assert!(hull.lower == large.lower && start.lower < hull.upper && hull.upper < large.upper, "{hull:?}");
    // The most bytes are live in 'else': three tensors of the body, those of 'then', and two of its own.
    assert_eq!(load(&arena.instance).0.get(), 3 * 16 + (256 + 32) + (128 + 16));
    let layout = Layout::from_raw((0..12).map(|at| at * 256));
    let offsets = arena.offsets(&layout).unwrap();
    assert_eq!(offsets[12..], [0, 0, 0], "tensors that are never used");
    // A subgraph that runs itself has no lifespans.
    let mut endless = spec.clone();
    endless.subgraphs[1].operators[0] = operator(IF, &[0, 0], &[1]).options(false, 92, &[(0, 1), (1, 2)]);
    let error = file(&endless).micro_arena(&|_, _, _| true).unwrap_err().to_string();
    assert_eq!(error, "tiny.tflite: damaged: an operator cannot run subgraph 1");
}

#[test]
fn tensors_without_a_size_have_no_offline_plan() {
    let mut spec = chains();
    spec.subgraphs[0].tensors[1].element = STRING;
    let error = file(&spec).micro_arena(&|_, _, _| true).unwrap_err().to_string();
    let what = "an offline plan with tensor 1 of subgraph 0 ('a')";
    assert_eq!(error, format!("tiny.tflite: {what} is not supported: elements of type 5 have no size"));
}

#[test]
fn formats_are_recognised() {
    let of = |name: &str, bytes: &[u8]| ModelFormat::of(Path::new(name), bytes);
    let bytes = chains().write();
    assert_eq!(of("a.onnx", &[]), Some(ModelFormat::Onnx));
    assert_eq!(of("a.TFLITE", &[]), Some(ModelFormat::TfLite));
    assert_eq!(of("a.bin", &bytes), Some(ModelFormat::TfLite));
    assert_eq!((of("a.json", &bytes), of("a.bin", &[])), (None, None));
}
