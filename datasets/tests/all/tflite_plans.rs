//! Reads offline plans of `TFLite` files, and keeps the addresses that compiled operators may contain.

use crate::tflite_writer::*;
use plimsoll_datasets::{Import, ImportOptions, ModelFile, ModelFormat, read_tflite};
use plimsoll_model::graph::{AliasKind, LivenessOptions, Role};
use plimsoll_model::{Buffer, Bytes, RegionId, check_layout};
use std::path::Path;

const ADD: i32 = 0;
const RESHAPE: i32 = 22;
const CUSTOM: i32 = 32;
const CALL_ONCE: i32 = 129;
const VAR_HANDLE: i32 = 142;
const READ_VARIABLE: i32 = 143;

fn file(spec: &ModelSpec) -> ModelFile<'static> {
    ModelFile::new(Path::new("npu.tflite"), ModelFormat::TfLite, spec.write())
}

fn import(spec: &ModelSpec) -> Import {
    read_tflite(Path::new("npu.tflite"), &spec.write(), &ImportOptions::default()).unwrap()
}

fn error(spec: &ModelSpec) -> String {
    read_tflite(Path::new("npu.tflite"), &spec.write(), &ImportOptions::default()).unwrap_err().to_string()
}

fn custom(name: &str, inputs: &[i32], outputs: &[i32]) -> OperatorSpec {
    OperatorSpec { custom: Some(name.to_owned()), ..operator(CUSTOM, inputs, outputs) }
}

fn body(sizes: &[(&str, i32)], ends: [&[i32]; 2], operators: Vec<OperatorSpec>) -> SubgraphSpec {
    let tensors = sizes.iter().map(|(name, size)| tensor(name, INT8, &[*size])).collect();
    let [inputs, outputs] = ends.map(<[i32]>::to_vec);
    SubgraphSpec { name: "main".to_owned(), tensors, inputs, outputs, operators }
}

/// Adds an offline plan.
fn planned(mut spec: ModelSpec, offsets: &[i32]) -> ModelSpec {
    let count = offsets.len() as i32;
    let plan = [&[0, spec.subgraphs.len() as i32, count], offsets].concat();
    spec.metadata.push(("OfflineMemoryAllocation".to_owned(), spec.buffers.len() as u32));
    spec.values(&plan)
}

/// Returns x -npu-> a -add-> b -npu-> y, with scratch memory s in which all of them lie, and t = x + x.
pub fn compiled(name: &str) -> ModelSpec {
    let sizes = [("s", 320), ("x", 96), ("a", 64), ("b", 64), ("y", 16), ("t", 96), ("z", 96)];
    let steps = vec![
        operator(ADD, &[1, 1], &[5]),
        custom(name, &[0, 0, 1], &[2]),
        operator(ADD, &[2, 2], &[3]),
        custom(name, &[0, 0, 3], &[4]),
        operator(ADD, &[5, 5], &[6]),
    ];
    planned(model(vec![body(&sizes, [&[1], &[4, 6]], steps)]), &[0, 208, 0, 64, 16, 320, 416])
}

#[test]
fn tensors_in_scratch_memory_count_once() {
    // The name of the operator does not matter.
    for name in ["ethos-u", "some-npu"] {
        let read = import(&compiled(name));
        let [segment] = read.graph.segments() else { panic!("{:?}", read.graph.segments()) };
        assert_eq!((segment.name.as_str(), segment.bytes), ("s", Bytes::new(320)));
        let inside = segment.tensors.iter().map(|&(id, at)| (&*read.graph.tensor(id).name, at.get()));
        assert_eq!(inside.collect::<Vec<_>>(), [("x", 208), ("a", 0), ("b", 64), ("y", 16)]);
        let made =
            read.graph.storages(RegionId::at(0), &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
        let sizes = made.problem.storages().iter().map(|one| (one.name.as_str(), one.size.get()));
        assert_eq!(sizes.collect::<Vec<_>>(), [("t", 96), ("z", 96), ("s", 320)]);
        let note =
            "offline plan in the file: 7 tensors in 512 bytes; 5 of them keep their relative addresses";
        assert!(
            read.assumed.iter().any(|line| line.starts_with(note) && line.contains(name)),
            "{:?}",
            read.assumed
        );
    }
}

#[test]
fn written_plans_keep_compiled_addresses() {
    let spec = compiled("npu");
    let micro = file(&spec).micro_arena(&|how, _, _| how == AliasKind::View).unwrap();
    assert!(micro.is_compiled());
    // t and z may move, and so may s with everything inside it. The offset of s itself need not be known.
    let offsets = [None, Some(304), Some(96), Some(160), Some(112), Some(0), Some(416)];
    let layout = micro.layout(|tensor| offsets[tensor].map(Bytes::new)).unwrap();
    assert_eq!(check_layout(&micro.instance, &layout), []);
    assert_eq!(micro.offsets(&layout).unwrap(), [96, 304, 96, 160, 112, 0, 416]);
    // No tensor may move inside s.
    let moved = |tensor: usize| offsets[tensor].map(|at| Bytes::new(at + if tensor == 4 { 16 } else { 0 }));
    assert_eq!(micro.layout(moved), None);
    let (_, in_file) = file(&spec).planned().unwrap().unwrap();
    assert_eq!(micro.offsets(&in_file).unwrap(), [0, 208, 0, 64, 16, 320, 416]);
}

#[test]
fn code_without_scratch_memory_needs_absolute_addresses() {
    let sizes = [("x", 32), ("a", 48), ("y", 48), ("t", 32)];
    let steps = vec![operator(ADD, &[0, 0], &[3]), custom("npu", &[0], &[1]), operator(ADD, &[1, 1], &[2])];
    let spec = planned(model(vec![body(&sizes, [&[0], &[2, 3]], steps)]), &[64, 80, 0, 128]);
    let read = import(&spec);
    let [segment] = read.graph.segments() else { panic!("{:?}", read.graph.segments()) };
    assert_eq!((segment.name.as_str(), segment.bytes), ("compiled memory", Bytes::new(64)));
    let micro = file(&spec).micro_arena(&|_, _, _| false).unwrap();
    let fixed: Vec<Option<Bytes>> = micro.instance.buffers().iter().map(Buffer::fixed).collect();
    assert_eq!(fixed.iter().flatten().collect::<Vec<_>>(), [&Bytes::new(64)]);
}

#[test]
fn kernels_of_the_runtime_accept_any_addresses() {
    let sizes = [("x", 32), ("a", 48), ("y", 16)];
    for name in ["CIRCULAR_BUFFER", "SignalWindow", "FlexErf"] {
        let steps = vec![custom(name, &[0], &[1]), operator(ADD, &[1, 1], &[2])];
        let spec = planned(model(vec![body(&sizes, [&[0], &[2]], steps)]), &[48, 0, 48]);
        let read = import(&spec);
        assert!(read.graph.segments().is_empty(), "{name}");
        let note = "offline plan in the file: 3 tensors in 80 bytes; no operator contains its addresses, so another plan may replace it";
        assert!(read.assumed.iter().any(|line| line == note), "{:?}", read.assumed);
        assert!(!file(&spec).micro_arena(&|_, _, _| false).unwrap().is_compiled());
    }
}

#[test]
fn a_plan_in_a_file_has_the_lifespans_of_the_runtime() {
    // r is a view of x, so both may have the same offset. The runtime places u, which has no offset.
    let sizes = [("x", 48), ("r", 48), ("y", 16), ("u", 32), ("z", 16)];
    let steps = vec![
        operator(RESHAPE, &[0], &[1]),
        operator(ADD, &[1, 1], &[2]),
        operator(ADD, &[2, 2], &[3]),
        operator(ADD, &[3, 2], &[4]),
    ];
    let spec = model(vec![body(&sizes, [&[0], &[4]], steps)]);
    let check = |offsets: &[i32]| {
        let (micro, layout) = file(&planned(spec.clone(), offsets)).planned().unwrap().unwrap();
        let found = check_layout(&micro.instance, &layout).len();
        (micro.instance.len(), micro.arena(&layout).get(), found)
    };
    assert_eq!(check(&[0, 0, 64, -1, 80]), (4, 96, 0));
    assert_eq!(check(&[0, 48, 96, 0, 112]), (5, 128, 0));
    assert_eq!(check(&[0, 0, 32, -1, 80]).2, 1, "x and y overlap");
    assert!(file(&spec).planned().unwrap().is_none());
}

#[test]
fn invalid_plans_are_refused() {
    let spec = || model(vec![body(&[("x", 8), ("y", 8)], [&[0], &[1]], vec![operator(ADD, &[0, 0], &[1])])]);
    let refused = error(&planned(spec(), &[0, 16, 32]));
    assert!(refused.ends_with("the offline plan lists 3 of 3 offsets, but there are 2 tensors"), "{refused}");
    let refused = error(&planned(spec(), &[0, -2]));
    assert!(
        refused.ends_with("the offline plan has offset -2 for tensor 1; only -1 is negative"),
        "{refused}"
    );
    let mut short = spec();
    short.metadata.push(("OfflineMemoryAllocation".to_owned(), 1));
    let refused = error(&short.values(&[1]));
    assert!(refused.ends_with("the offline plan has 1 numbers, but three precede the offsets"), "{refused}");
    // The options may not change the size of a tensor with a fixed address.
    let options = ImportOptions { batch: Some(192), ..ImportOptions::default() };
    let refused =
        read_tflite(Path::new("npu.tflite"), &compiled("npu").write(), &options).unwrap_err().to_string();
    assert!(refused.contains("it has 96 bytes in the file, but 192 with the options"), "{refused}");
}

#[test]
fn variables_in_scratch_memory_keep_their_offsets() {
    let sizes = [("s", 128), ("state", 32), ("x", 16), ("next", 32), ("y", 16)];
    let mut spec = model(vec![body(&sizes, [&[2], &[4]], vec![custom("npu", &[0, 1, 2], &[3, 4])])]);
    for at in [1, 3] {
        spec.subgraphs[0].tensors[at].variable = true;
    }
    let spec = planned(spec, &[16, 48, 80, 48, 16]);
    let read = import(&spec);
    assert_eq!(read.graph.segments()[0].tensors.len(), 4);
    assert_eq!(read.graph.bytes(Role::State), Bytes::new(32), "an operator produces the other variable");
    let micro = file(&spec).micro_arena(&|_, _, _| false).unwrap();
    let layout = micro.layout(|tensor| (tensor == 2).then_some(Bytes::new(64))).unwrap();
    assert_eq!(micro.offsets(&layout).unwrap(), [0, 32, 64, 32, 0]);
}

#[test]
fn addresses_are_kept_across_subgraphs() {
    // The initialisation writes into the scratch memory of the body.
    let main = body(
        &[("s", 96), ("x", 16), ("y", 16)],
        [&[1], &[2]],
        vec![operator(CALL_ONCE, &[], &[]).options(false, 103, &[(0, 1)]), custom("npu", &[0, 1], &[2])],
    );
    let init = body(&[("s1", 64), ("a", 32)], [&[], &[]], vec![custom("npu", &[0], &[1])]);
    let spec = planned(model(vec![main, init]), &[0, 80, 64, 0, 32]);
    let read = import(&spec);
    let [segment] = read.graph.segments() else { panic!("{:?}", read.graph.segments()) };
    assert_eq!((segment.bytes, segment.tensors.len()), (Bytes::new(96), 3));
    let micro = file(&spec).micro_arena(&|_, _, _| false).unwrap();
    assert_eq!(micro.instance.len(), 1);
    let layout = micro.layout(|tensor| (tensor == 1).then_some(Bytes::new(80))).unwrap();
    assert_eq!(micro.offsets(&layout).unwrap(), [0, 80, 64, 0, 32]);
}

#[test]
fn handles_of_variables_are_not_in_the_arena() {
    let mut main = body(&[("h", 1), ("v", 40), ("x", 40), ("y", 40)], [&[2], &[3]], Vec::new());
    main.tensors[0] = tensor("h", RESOURCE, &[]);
    main.operators = vec![
        operator(VAR_HANDLE, &[], &[0]),
        operator(READ_VARIABLE, &[0], &[1]),
        operator(ADD, &[1, 2], &[3]),
    ];
    let spec = model(vec![main]);
    let micro = file(&spec).micro_arena(&|_, _, _| false).unwrap();
    assert_eq!(micro.instance.len(), 3);
    assert_eq!(micro.offsets(&micro.layout(|at| Some(Bytes::new(at as u64 * 48))).unwrap()).unwrap()[0], -1);
    let read = import(&spec);
    let made = read.graph.storages(RegionId::at(0), &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
    let names: Vec<&str> = made.problem.storages().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["x", "v", "y"]);
    // The interpreter reports four bytes for a handle.
    let handle = read.graph.tensors().iter().find(|tensor| tensor.name == "h").unwrap();
    assert_eq!(handle.bytes, Bytes::new(4));
}
