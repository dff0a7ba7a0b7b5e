//! Tests on `TFLite` models: small ones written field by field, and real ones compared with an independent
//! reader.

use crate::tflite_plans::compiled;
use crate::tflite_writer::{
    BOOL, BufferSpec, FLOAT32, INT4, INT8, INT32, ModelSpec, OperatorSpec, STRING, TensorSpec, VARIANT,
    model, operator, subgraph, tensor,
};
use plimsoll_datasets::{CORPORA_VARIABLE, Import, ImportError, ImportOptions, import_file, read_tflite};
use plimsoll_model::graph::{AliasKind, Control, Flow, Graph, LivenessOptions, Role};
use plimsoll_model::{Bytes, OperatorId, load};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ADD: i32 = 0;
const CONV_2D: i32 = 3;
const FULLY_CONNECTED: i32 = 9;
const RESHAPE: i32 = 22;
const CUSTOM: i32 = 32;
const IF: i32 = 118;
const WHILE: i32 = 119;
const CALL_ONCE: i32 = 129;
const STABLEHLO_COMPOSITE: i32 = 206;
const STABLEHLO_CASE: i32 = 209;
const CONV_OPTIONS: u8 = 1;
const IF_OPTIONS: u8 = 92;
const WHILE_OPTIONS: u8 = 93;
const CALL_ONCE_OPTIONS: u8 = 103;

fn read(model: &ModelSpec, options: &ImportOptions) -> Result<Import, ImportError> {
    read_tflite(Path::new("tiny.tflite"), &model.write(), options)
}

fn plain(model: &ModelSpec) -> Import {
    read(model, &ImportOptions::default()).unwrap()
}

fn error(model: &ModelSpec) -> String {
    read(model, &ImportOptions::default()).unwrap_err().to_string()
}

fn one(tensors: Vec<TensorSpec>, inputs: &[i32], outputs: &[i32], operators: Vec<OperatorSpec>) -> ModelSpec {
    model(vec![subgraph("main", tensors, inputs, outputs, operators)])
}

/// Returns the model `x -conv(w, b)-> y -reshape(shape)-> z -add(z, z)-> out`, with a free batch dimension.
fn chain() -> ModelSpec {
    let tensors = vec![
        tensor("x", INT8, &[1, 6, 6, 3]).signed(&[-1, 6, 6, 3]),
        tensor("w", INT8, &[2, 3, 3, 3]).buffer(1),
        tensor("b", INT32, &[2]).buffer(2),
        tensor("y", INT8, &[1, 4, 4, 2]).signed(&[-1, 4, 4, 2]),
        tensor("shape", INT32, &[2]).buffer(3),
        tensor("z", INT8, &[1, 32]).signed(&[-1, 32]),
        tensor("out", INT8, &[1, 32]).signed(&[-1, 32]),
        tensor("unused", FLOAT32, &[1000]),
    ];
    let operators = vec![
        operator(CONV_2D, &[0, 1, 2], &[3]).options(false, CONV_OPTIONS, &[(0, 1), (1, 1), (2, 1)]),
        operator(RESHAPE, &[3, 4], &[5]),
        operator(ADD, &[5, 5, -1], &[6]),
    ];
    one(tensors, &[0], &[6], operators).data(54).data(8).values(&[-1, 32])
}

/// Returns a model with a conditional and a loop that share a subgraph.
fn regions() -> ModelSpec {
    let flag = || tensor("go", BOOL, &[1]);
    let value = |name: &str| tensor(name, FLOAT32, &[8]);
    let body = vec![
        operator(CALL_ONCE, &[], &[]).options(false, CALL_ONCE_OPTIONS, &[(0, 4)]),
        operator(IF, &[0, 1], &[2]).options(false, IF_OPTIONS, &[(0, 1), (1, 2)]),
        operator(WHILE, &[2], &[3]).options(false, WHILE_OPTIONS, &[(0, 3), (1, 1)]),
    ];
    let double = vec![operator(ADD, &[0, 1], &[2])];
    model(vec![
        subgraph("main", vec![flag(), value("x"), value("y"), value("z")], &[0, 1], &[3], body),
        subgraph("double", vec![value("in"), value("weight").buffer(1), value("sum")], &[0], &[2], double),
        subgraph("", vec![value("same")], &[0], &[0], vec![]),
        subgraph("", vec![value("in"), flag()], &[0], &[1], vec![operator(9999, &[0], &[1])]),
        subgraph("", vec![], &[], &[], vec![]),
        subgraph("other signature", vec![], &[], &[], vec![]),
    ])
    .data(32)
}

#[test]
fn a_chain_has_sizes_roles_costs_and_sharing() {
    let Import { graph, assumed, places, .. } = plain(&chain());
    assert_eq!(graph.name(), "tiny");
    let facts: Vec<(&str, u64, Role)> =
        graph.tensors().iter().map(|t| (t.name.as_str(), t.bytes.get(), t.role)).collect();
    assert_eq!(
        facts,
        [
            ("x", 108, Role::Input),
            ("w", 54, Role::Weight),
            ("b", 8, Role::Weight),
            ("y", 32, Role::Activation),
            ("shape", 8, Role::Weight),
            ("z", 32, Role::Activation),
            ("out", 32, Role::Output),
        ]
    );
    let kinds: Vec<&str> = graph.operators().iter().map(|o| o.kind.as_str()).collect();
    assert_eq!(kinds, ["CONV_2D", "RESHAPE", "ADD"]);
    let called: Vec<String> = (0..3).map(|at| graph.called(OperatorId::at(at))).collect();
    assert_eq!(called, ["CONV_2D(y)", "RESHAPE(z)", "ADD(out)"]);
    let written: Vec<(usize, &[i32])> = places.iter().map(|one| (one.index, &one.outputs[..])).collect();
    assert_eq!(written, [(0, &[3][..]), (1, &[5]), (2, &[6])]);
    let costs: Vec<Option<u64>> = graph.operators().iter().map(|o| o.cost).collect();
    assert_eq!(costs, [Some(32 * 27), Some(0), Some(32)]);
    let aliases: Vec<(&str, AliasKind)> = graph
        .operators()
        .iter()
        .flat_map(|o| &o.aliases)
        .map(|a| (graph.tensor(a.input).name.as_str(), a.kind))
        .collect();
    assert_eq!(aliases, [("y", AliasKind::View), ("z", AliasKind::InPlace)]);
    assert_eq!(graph.weight_bytes(graph.file_order(Graph::BODY)[0]), Bytes::new(62));
    assert_eq!(graph.tensors()[0].element.as_deref(), Some("int8"));
    assert_eq!(graph.tensors()[0].shape.as_deref(), Some([1, 6, 6, 3].as_slice()));
    assert_eq!(
        assumed,
        [
            "input 'x': dimension 0 is free; 1 is used, as in its shape",
            "skipped: 1 tensors that nothing produces or consumes",
        ]
    );
}

#[test]
fn a_batch_is_inferred_through_all_tensors() {
    let options = ImportOptions { batch: Some(4), ..ImportOptions::default() };
    let Import { graph, assumed, sizes, .. } = read(&chain(), &options).unwrap();
    assert_eq!(graph.bytes(Role::Input), Bytes::new(4 * 108));
    assert_eq!(graph.bytes(Role::Activation), Bytes::new(4 * 64));
    assert_eq!(graph.bytes(Role::Output), Bytes::new(4 * 32));
    assert_eq!(graph.bytes(Role::Weight), Bytes::new(70));
    assert_eq!(graph.operators()[0].cost, Some(4 * 32 * 27));
    assert_eq!(assumed, ["skipped: 1 tensors that nothing produces or consumes"]);
    assert_eq!((sizes.inferred, sizes.declared.len(), sizes.assumed.len()), (7, 0, 0));
    // The dimensions that the file marks as free do not matter.
    let mut fixed = chain();
    fixed.subgraphs[0].tensors.iter_mut().for_each(|tensor| tensor.signature.clear());
    assert_eq!(read(&fixed, &options).unwrap().graph, graph);
    let same = ImportOptions { batch: Some(1), ..ImportOptions::default() };
    assert_eq!(read(&fixed, &same).unwrap().graph, plain(&fixed).graph);
    // A reshape to a fixed shape is not possible with another batch size.
    let mut file = chain();
    file.buffers[3] = BufferSpec::Data([1i32, 32].iter().flat_map(|i| i.to_le_bytes()).collect());
    assert_eq!(
        read(&file, &options).unwrap_err().to_string(),
        "tiny.tflite: operator 1 (RESHAPE): tensor 'z': shape 4x4x4x2 cannot be read as 1x32, and the shape in \
         the file may not hold: an option changes what it depends on; --tensor-shape z=AxB gives its shape; \
         --assume-bytes gives such tensors a size"
    );
}

#[test]
fn options_that_fit_nothing_are_refused() {
    let refused = |options: ImportOptions| read(&chain(), &options).unwrap_err().to_string();
    let default = ImportOptions::default;
    assert_eq!(
        refused(ImportOptions { dims: BTreeMap::from([("N".to_owned(), 2)]), ..default() }),
        "tiny.tflite: --dim N=2: TFLite files do not name dimensions; use --batch, --input-shape \
         or --dim-default"
    );
    assert_eq!(
        refused(ImportOptions { batch: Some(0), ..default() }),
        "tiny.tflite: --batch 0: must be at least 1"
    );
    let shapes = |name: &str, shape: &[u64]| BTreeMap::from([(name.to_owned(), shape.to_vec())]);
    assert_eq!(
        refused(ImportOptions { input_shapes: shapes("q", &[2]), ..default() }),
        "tiny.tflite: --input-shape q=2: no such input; the inputs are: x"
    );
    assert_eq!(
        refused(ImportOptions { input_shapes: shapes("x", &[8, 8, 3]), ..default() }),
        "tiny.tflite: --input-shape x=8x8x3: in the file the input has 4 dimensions: [1, 6, 6, 3]"
    );
    let larger = ImportOptions { input_shapes: shapes("x", &[1, 8, 10, 3]), ..default() };
    let sizes = |graph: &Graph| graph.tensors().iter().map(|t| t.bytes.get()).collect::<Vec<_>>();
    assert_eq!(sizes(&read(&chain(), &larger).unwrap().graph), [240, 54, 8, 96, 8, 96, 96]);
    let same = ImportOptions { input_shapes: shapes("x", &[1, 6, 6, 3]), ..default() };
    assert_eq!(read(&chain(), &same).unwrap().graph, plain(&chain()).graph);
    let element = refused(ImportOptions { element: Some("half".to_owned()), ..default() });
    let start = "tiny.tflite: --element half: no such element type; the types are: float32, float16, int32,";
    assert!(element.starts_with(start), "{element}");
}

#[test]
fn floating_point_takes_another_type() {
    let options = ImportOptions { element: Some("float16".to_owned()), ..ImportOptions::default() };
    let Import { graph, .. } = read(&regions(), &options).unwrap();
    assert_eq!(graph.bytes(Role::Weight), Bytes::new(16));
    assert!(graph.tensors().iter().all(|t| t.element.as_deref() != Some("float32")));
    assert_eq!(read(&chain(), &options).unwrap().graph, plain(&chain()).graph);
}

#[test]
fn subgraphs_become_regions_and_share_constants() {
    let Import { graph, assumed, .. } = plain(&regions());
    let names: Vec<(&str, usize)> =
        graph.regions().iter().map(|r| (r.name.as_str(), r.operators.len())).collect();
    assert_eq!(names, [("body", 3), ("init", 0), ("double", 1), ("else", 0), ("cond", 1), ("double", 1)]);
    assert_eq!(graph.bytes(Role::Weight), Bytes::new(32), "both copies read the same weight");
    let kinds: Vec<&str> = graph.operators().iter().map(|o| o.kind.as_str()).collect();
    assert_eq!(kinds, ["CALL_ONCE", "IF", "ADD", "WHILE", "BUILTIN_9999", "ADD"]);
    let costs: Vec<Option<u64>> = graph.operators().iter().map(|o| o.cost).collect();
    assert_eq!(costs, [None, None, Some(8), None, None, Some(8)]);
    assert_eq!(
        assumed,
        [
            "the declared shape is used for 1 tensors: 'go', operator 0 (BUILTIN_9999) of subgraph 3: operator \
             BUILTIN_9999 is not known",
            "skipped: 1 subgraphs that the body does not run",
        ]
    );
    let sums: Vec<&str> =
        graph.tensors().iter().filter(|t| t.name.starts_with("sum")).map(|t| t.name.as_str()).collect();
    assert_eq!(sums.len(), 2);
}

#[test]
fn a_composite_owns_its_decomposition() {
    let part = subgraph("part", vec![tensor("a", INT8, &[4])], &[0], &[0], vec![]);
    let compose = operator(STABLEHLO_COMPOSITE, &[0], &[1]).options(true, 21, &[(1, 1)]);
    let body =
        subgraph("main", vec![tensor("x", INT8, &[4]), tensor("y", INT8, &[4])], &[0], &[1], vec![compose]);
    let graph = plain(&model(vec![body, part])).graph;
    assert_eq!(graph.regions()[1].name, "part");
    assert_eq!(graph.operators()[0].kind, "STABLEHLO_COMPOSITE");
}

#[test]
fn a_case_owns_all_its_branches() {
    let branch = |name: &str| {
        let part = vec![operator(ADD, &[0, 0], &[1])];
        subgraph(name, vec![tensor("b", INT8, &[4]), tensor("c", INT8, &[4])], &[0], &[1], part)
    };
    let case = operator(STABLEHLO_CASE, &[0, 1], &[2]).options(true, 23, &[]).list(0, &[1, 3, 2, 1]);
    let tensors = vec![tensor("index", INT32, &[]), tensor("x", INT8, &[4]), tensor("y", INT8, &[4])];
    let body = subgraph("main", tensors, &[0, 1], &[2], vec![case]);
    let spec = model(vec![body, branch("one"), branch(""), branch("two")]);
    let graph = plain(&spec).graph;
    let names: Vec<&str> = graph.regions().iter().map(|region| region.name.as_str()).collect();
    assert_eq!(names, ["body", "one", "two", "case", "one"]);
    let flow = graph.flow(OperatorId::new(0)).unwrap().expect("it owns regions");
    assert_eq!((flow.control, flow.handovers.len()), (Control::Branch, 8));
    let mut missing = spec;
    missing.subgraphs[0].operators[0].lists = vec![(0, vec![1, 9])];
    assert_eq!(
        error(&missing),
        "tiny.tflite: damaged: operator 0 (STABLEHLO_CASE) runs subgraph 9, but there are only 4"
    );
}

#[test]
fn models_may_do_nothing_and_hold_nothing() {
    let empty = plain(&one(vec![], &[], &[], vec![])).graph;
    assert_eq!((empty.tensors().len(), empty.operators().len()), (0, 0));
    let through = plain(&one(vec![tensor("x", FLOAT32, &[2])], &[0], &[0], vec![])).graph;
    assert_eq!((through.bytes(Role::Input), through.operators().len()), (Bytes::new(8), 0));
    let tensors = vec![tensor("x", FLOAT32, &[0, 4]), tensor("y", FLOAT32, &[0, 4])];
    let none = plain(&one(tensors, &[0], &[1], vec![operator(ADD, &[0, 0], &[1])])).graph;
    let made = none.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
    assert_eq!((made.problem.storages().len(), made.empty.len()), (0, 2));
}

#[test]
fn a_variable_that_nothing_touches_is_kept() {
    let idle = [tensor("v", FLOAT32, &[3]).variable(), tensor("s", STRING, &[3]).variable()];
    let tensors = [vec![tensor("x", FLOAT32, &[2]), tensor("y", FLOAT32, &[2])], idle.to_vec()].concat();
    let Import { graph, assumed, .. } = plain(&one(tensors, &[0], &[1], vec![operator(ADD, &[0, 0], &[1])]));
    assert_eq!(graph.bytes(Role::State), Bytes::new(12));
    assert_eq!(assumed, ["skipped: 1 tensors that nothing produces or consumes"]);
}

/// Fields of options and their values.
type Fields = &'static [(u16, i32)];

#[test]
fn subgraphs_of_every_operator_can_be_run() {
    let graph = plain(&regions()).graph;
    let flows: Vec<Option<Flow>> =
        (0..graph.operators().len()).map(|at| graph.flow(OperatorId::at(at)).unwrap()).collect();
    let count = flows.iter().flatten().map(|flow| (flow.control, flow.handovers.len())).collect::<Vec<_>>();
    assert_eq!(count, [(Control::Call, 0), (Control::Branch, 4), (Control::Loop, 4)]);
    // The subgraphs are a reducer of elements, the condition of a loop, and the body of a loop or a call.
    let value = |name: &str| tensor(name, FLOAT32, &[8]);
    let element = |name: &str| tensor(name, FLOAT32, &[]);
    let inner = || {
        let add = vec![operator(ADD, &[0, 1], &[2])];
        let elements = vec![element("p"), element("q"), element("sum")];
        let less = vec![operator(9999, &[0], &[1])];
        let part = vec![operator(ADD, &[0, 0], &[1])];
        [
            subgraph("reducer", elements, &[0, 1], &[2], add),
            subgraph("cond", vec![value("a"), tensor("go", BOOL, &[1])], &[0], &[1], less),
            subgraph("part", vec![value("b"), value("c")], &[0], &[1], part),
        ]
    };
    // A case has a code, a member of the second union of options, and the fields of this member that refer to
    // subgraphs.
    let cases: [(i32, u8, Fields, Control, usize); 6] = [
        (174, 6, &[(1, 1)], Control::Loop, 0),
        (190, 7, &[(6, 1)], Control::Loop, 0),
        (198, 13, &[(5, 1)], Control::Loop, 0),
        (199, 14, &[(2, 1)], Control::Loop, 0),
        (200, 15, &[(0, 2), (1, 3)], Control::Loop, 4),
        (STABLEHLO_COMPOSITE, 21, &[(1, 3)], Control::Call, 2),
    ];
    for (code, member, fields, control, handovers) in cases {
        let step = operator(code, &[0], &[1]).options(true, member, fields);
        let main = subgraph("main", vec![value("x"), value("y")], &[0], &[1], vec![step]);
        let graph = plain(&model([vec![main], inner().to_vec()].concat())).graph;
        let flow = graph.flow(OperatorId::new(0)).unwrap().expect("it owns regions");
        assert_eq!((flow.control, flow.handovers.len()), (control, handovers), "{code}");
    }
}

#[test]
fn loops_of_subgraphs_are_refused() {
    let mut endless = regions();
    endless.subgraphs[1].operators[0] =
        operator(IF, &[0], &[2]).options(false, IF_OPTIONS, &[(0, 2), (1, 1)]);
    assert_eq!(
        error(&endless),
        "tiny.tflite: subgraph 1 'double', which calls itself (1 -> 1) is not supported: \
         such a program has no bounded memory"
    );
    // Without options, fields are zero and refer to the body itself.
    let mut itself = regions();
    itself.subgraphs[1].operators[0] = operator(IF, &[0], &[2]).options(false, IF_OPTIONS, &[]);
    assert!(error(&itself).contains("subgraph 0 'main', which calls itself (0 -> 1 -> 0)"));
    let mut missing = regions();
    missing.subgraphs[0].operators[0] =
        operator(CALL_ONCE, &[], &[]).options(false, CALL_ONCE_OPTIONS, &[(0, -7)]);
    assert_eq!(
        error(&missing),
        "tiny.tflite: damaged: operator 0 (CALL_ONCE) runs subgraph -7, but there are only 6"
    );
}

/// Returns a model with `depth` subgraphs, each of which runs the next one `width` times.
fn tower(depth: usize, width: usize) -> ModelSpec {
    let level = |at: usize| {
        let next = i32::try_from(at + 1).unwrap();
        let once = operator(CALL_ONCE, &[], &[]).options(false, CALL_ONCE_OPTIONS, &[(0, next)]);
        let operators = if at + 1 < depth { vec![once; width] } else { Vec::new() };
        subgraph(&format!("level {at}"), vec![], &[], &[], operators)
    };
    model((0..depth).map(level).collect())
}

#[test]
fn copies_are_limited() {
    assert_eq!(plain(&tower(31, 1)).graph.regions().len(), 31);
    assert_eq!(
        error(&tower(3000, 1)),
        "tiny.tflite: region 'subgraph 31 'level 31'' is nested more than 30 regions deep"
    );
    let error = error(&tower(24, 4));
    assert!(error.contains("copies of subgraphs may have 1048576 operators and tensors together"), "{error}");
}

#[test]
fn shared_parts_do_not_multiply_work() {
    let many: Vec<i32> = vec![0; 100_000];
    let step = |at: i32| operator(CUSTOM, &many, &[at]);
    let tensors = (0..2000).map(|_| tensor("", INT8, &[1])).collect();
    let error = error(&one(tensors, &[0], &[], (1..2000).map(step).collect()));
    assert_eq!(error, "tiny.tflite: damaged: Apparent size too large");
}

#[test]
fn an_input_of_unknown_rank_is_a_scalar() {
    let mut file = one(
        vec![tensor("x", INT8, &[]), tensor("y", INT32, &[])],
        &[0],
        &[1],
        vec![operator(ADD, &[0, 0], &[1])],
    );
    assert!(plain(&file).assumed.is_empty());
    file.subgraphs[0].tensors[1].ranked = true;
    let import = plain(&file);
    assert_eq!(import.assumed, ["input 'x': the file does not declare its rank; read as a scalar"]);
    assert_eq!(import.graph.bytes(Role::Output), Bytes::new(4));
}

#[test]
fn what_has_no_size_is_named_or_assumed() {
    let unsized_ = |tensor: TensorSpec| {
        one(vec![self::tensor("x", INT8, &[1]), tensor], &[0], &[1], vec![operator(CUSTOM, &[0], &[1])])
    };
    let strings = unsized_(tensor("words", STRING, &[2]));
    assert_eq!(
        error(&strings),
        "tiny.tflite: operator 0 (CUSTOM): tensor 'words': elements of type string have no fixed size; \
         --assume-bytes gives such tensors a size"
    );
    let options = ImportOptions { assume_bytes: Some(64), ..ImportOptions::default() };
    let import = read(&strings, &options).unwrap();
    assert_eq!(import.graph.bytes(Role::Output), Bytes::new(64));
    assert_eq!(
        import.assumed[1..],
        ["tensor 'words': elements of type string have no fixed size; 64 bytes assumed"]
    );
    assert!(error(&unsized_(tensor("r", VARIANT, &[1]))).contains("type variant"));
    assert!(error(&unsized_(tensor("n", INT8, &[2, -3]))).contains("its dimension 1 is -3"));
    assert!(error(&unsized_(tensor("u", 99, &[2]))).contains("element type 99 is not known"));
    let constant = unsized_(tensor("words", STRING, &[2])).data(11);
    let mut constant = constant;
    constant.subgraphs[0].tensors.push(tensor("text", STRING, &[3]).buffer(1));
    constant.subgraphs[0].operators[0].inputs.push(2);
    constant.subgraphs[0].tensors[1].element = INT8;
    assert_eq!(plain(&constant).graph.bytes(Role::Weight), Bytes::new(11));
}

#[test]
fn values_may_lie_elsewhere() {
    let tensors = vec![
        tensor("x", INT8, &[4]),
        tensor("v", INT4, &[5]).buffer(1),
        tensor("same", INT4, &[5]).buffer(1),
        tensor("state", INT8, &[3]).variable(),
        TensorSpec { external: 9, ..tensor("far", INT8, &[100]) },
        TensorSpec { sparse: true, ..tensor("few", INT8, &[50]).buffer(2) },
        tensor("empty", INT32, &[0]),
        tensor("y", INT8, &[4]),
    ];
    let mut custom = operator(CUSTOM, &[0, 1, 2, 3, 4, 5, 6], &[7]);
    custom.custom = Some("Magic".to_owned());
    let mut model = one(tensors, &[0], &[7], vec![custom]);
    model.buffers.push(BufferSpec::At(64, 3));
    let model = model.data(5);
    let Import { graph, assumed, .. } = plain(&model);
    assert_eq!(graph.bytes(Role::Weight), Bytes::new(3 + 100 + 5));
    assert_eq!(graph.bytes(Role::State), Bytes::new(3));
    assert_eq!(graph.operators()[0].kind, "Magic");
    assert_eq!(graph.operators()[0].cost, None);
    assert_eq!(graph.operators()[0].inputs[1], graph.operators()[0].inputs[2]);
    assert_eq!(assumed[1..], ["tensor 'few' is sparse: counted as stored, 5 bytes"]);
    let mut beyond = model;
    beyond.buffers[1] = BufferSpec::At(1 << 40, 3);
    assert!(
        error(&beyond).contains("damaged: buffer 1 holds 3 bytes at 1099511627776, but the file ends at")
    );
}

#[test]
fn contradictions_are_named() {
    let with = |change: &dyn Fn(&mut ModelSpec)| {
        let mut model = chain();
        change(&mut model);
        error(&model)
    };
    assert_eq!(
        with(&|m| m.subgraphs[0].operators[0].inputs[1] = 77),
        "tiny.tflite: damaged: operator 0 (CONV_2D) refers to tensor 77, but there are only 8"
    );
    assert_eq!(
        with(&|m| m.subgraphs[0].outputs[0] = -3),
        "tiny.tflite: damaged: output 0 of subgraph 0 refers to tensor -3, but there are only 8"
    );
    assert_eq!(
        with(&|m| m.subgraphs[0].tensors[1].buffer = 12),
        "tiny.tflite: damaged: tensor 1 of subgraph 0: it refers to buffer 12, but there are only 4"
    );
    assert_eq!(
        with(&|m| m.subgraphs[0].tensors[1].shape = vec![2, 3, 3]),
        "tiny.tflite: damaged: tensor 'w': shape [2, 3, 3] of int8 takes 18 bytes, but its buffer has 54"
    );
    assert_eq!(
        with(&|m| m.subgraphs[0].tensors[0].shape = vec![i32::MAX; 3]),
        "tiny.tflite: damaged: tensor 'x': shape [2147483647, 2147483647, 2147483647] of int8 takes 2^63 bytes or more"
    );
    assert_eq!(
        with(&|m| m.subgraphs[0].operators[1].outputs = vec![1]),
        "tiny.tflite: tensor 'w' has role weight, but operator 1 (RESHAPE) produces it"
    );
    assert_eq!(
        with(&|m| m.version = 2),
        "tiny.tflite: version 2 of the TFLite schema is not supported: the only supported version is 3"
    );
    assert_eq!(with(&|m| m.subgraphs.clear()), "tiny.tflite: damaged: there are no subgraphs");
    let short = read_tflite(Path::new("x"), b"\0\0\0\0TFL", &ImportOptions::default()).unwrap_err();
    assert_eq!(short.to_string(), "x: damaged: bytes 4 to 7 are not 'TFL3'");
}

#[test]
fn truncated_files_are_refused_or_read() {
    let bytes = regions().write();
    let mut refused = 0;
    for length in 0..bytes.len() {
        refused +=
            usize::from(read_tflite(Path::new("x"), &bytes[..length], &ImportOptions::default()).is_err());
    }
    assert!(refused > bytes.len() / 2);
    let mut far = bytes;
    far[0..4].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read_tflite(Path::new("x"), &far, &ImportOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("x: damaged: ") && !error.contains('\n'), "{error}");
}

#[test]
fn layers_with_weights_count_multiply_accumulates() {
    let cost = |code: i32, shapes: &[&[i32]], made: &[i32], options: Option<(u8, u16)>| {
        let mut tensors: Vec<TensorSpec> = shapes.iter().map(|shape| tensor("", INT8, shape)).collect();
        tensors.push(tensor("", INT8, made));
        let inputs: Vec<i32> = (0..shapes.len() as i32).collect();
        let outputs = [shapes.len() as i32];
        let mut operator = operator(code, &inputs, &outputs);
        operator.options = options.map(|(tag, field)| (false, tag, vec![(field, 1)]));
        plain(&one(tensors, &inputs, &outputs, vec![operator])).graph.operators()[0].cost
    };
    // DEPTHWISE_CONV_2D, FULLY_CONNECTED, TRANSPOSE_CONV.
    assert_eq!(cost(4, &[&[1, 8, 8, 4], &[1, 3, 3, 8]], &[1, 6, 6, 8], None), Some(288 * 9));
    assert_eq!(cost(FULLY_CONNECTED, &[&[5, 7], &[3, 7]], &[5, 3], None), Some(105));
    assert_eq!(cost(67, &[&[4], &[6, 2, 2, 3], &[1, 5, 5, 3]], &[1, 10, 10, 6], None), Some(75 * 24));
    // BATCH_MATMUL, plain and transposed.
    assert_eq!(cost(126, &[&[2, 3, 5], &[2, 5, 7]], &[2, 3, 7], None), Some(2 * 3 * 5 * 7));
    assert_eq!(cost(126, &[&[2, 5, 3], &[2, 5, 7]], &[2, 3, 7], Some((101, 0))), Some(2 * 3 * 5 * 7));
    // CONV_3D, CONV_3D_TRANSPOSE.
    assert_eq!(cost(132, &[&[1, 4, 4, 4, 2], &[2, 2, 2, 2, 6]], &[1, 3, 3, 3, 6], None), Some(162 * 16));
    assert_eq!(cost(141, &[&[5], &[2, 2, 2, 6, 3], &[1, 3, 3, 3, 3]], &[1, 6, 6, 6, 6], None), Some(81 * 48));
    // SVDF, basic LSTM, MAX_POOL_2D.
    assert_eq!(cost(27, &[&[2, 9], &[4, 9], &[4, 6]], &[2, 4], None), Some(2 * 60));
    assert_eq!(cost(16, &[&[2, 3], &[2, 4], &[16, 7], &[16], &[2, 4]], &[2, 4], None), Some(2 * 112));
    assert_eq!(cost(17, &[&[1, 8, 8, 4]], &[1, 4, 4, 4], None), Some(64));
    // Too few weights to determine the cost.
    assert_eq!(cost(CONV_2D, &[&[1, 8, 8, 4]], &[1, 4, 4, 4], None), None);
}

/// The seeds of the fuzz target are these models. `PLIMSOLL_WRITE_SEEDS=1` rewrites them.
#[test]
fn seeds_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/tflite_model");
    for (name, model) in [("chain", chain()), ("regions", regions()), ("npu", compiled("npu"))] {
        let path = folder.join(format!("{name}.tflite"));
        if std::env::var_os("PLIMSOLL_WRITE_SEEDS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, model.write()).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == model.write(), "{} differs from the model", path.display());
        let import = import_file(&path, &ImportOptions::default()).unwrap();
        assert_eq!(import.graph.operators().len(), plain(&model).graph.operators().len());
    }
}

/// Returns the folder of real models. Without one, prints that the test is skipped.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(CORPORA_VARIABLE).filter(|folder| !folder.is_empty());
    if folder.is_none() {
        eprintln!("skipped: {CORPORA_VARIABLE} is not set");
    }
    folder.map(|folder| Path::new(&folder).join("tflite")).filter(|folder| folder.is_dir())
}

/// Returns the facts that `scripts/reference/tflite_facts.py` reports, computed from a graph.
fn facts(graph: &Graph) -> Value {
    const LAYERS: &[&str] =
        &["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"];
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut layers = 0;
    for operator in graph.operators() {
        *kinds.entry(&operator.kind).or_default() += 1;
        if LAYERS.contains(&operator.kind.as_str()) {
            layers += operator.cost.unwrap();
        }
    }
    let ends = |tensors: &[plimsoll_model::TensorId]| -> Vec<Value> {
        tensors.iter().map(|&t| json!([graph.tensor(t).element, graph.tensor(t).shape])).collect()
    };
    let body = graph.region(Graph::BODY);
    let align = Bytes::new(16);
    let options = LivenessOptions { align, ..LivenessOptions::default() };
    let problem = graph.storages(Graph::BODY, &options, |_| Bytes::ZERO).unwrap().problem;
    json!({
        "kinds": kinds,
        "constants": graph.bytes(Role::Weight),
        "inputs": graph.bytes(Role::Input),
        "outputs": graph.bytes(Role::Output),
        "activations": graph.bytes(Role::Activation),
        "states": graph.bytes(Role::State),
        "input_shapes": ends(&body.inputs),
        "output_shapes": ends(&body.outputs),
        "multiply_accumulates": layers,
        "alive": load(&problem.instance(&problem.as_in_file(), align).unwrap()).0,
    })
}

#[test]
fn real_models_match_an_independent_reader() {
    let Some(folder) = folder() else { return };
    let expected: Value = serde_json::from_str(include_str!("../data/tflite_facts.json")).unwrap();
    let models = expected["models"].as_object().unwrap();
    let mut read = 0;
    for (name, expected) in models {
        let path = folder.join(name);
        if !path.is_file() {
            eprintln!("not found: {name}");
            continue;
        }
        let import = import_file(&path, &ImportOptions::default()).unwrap();
        assert_eq!(&facts(&import.graph), expected, "{name}");
        read += 1;
    }
    assert_eq!(read, models.len(), "every model with facts must be in the folder");
}

#[test]
fn real_models_survive_damage() {
    let Some(folder) = folder() else { return };
    let bytes = std::fs::read(folder.join("keyword_scrambled.tflite")).unwrap();
    let options = ImportOptions::default();
    for at in (0..bytes.len()).step_by(997) {
        let _ = read_tflite(Path::new("x"), &bytes[..at], &options);
        let mut bent = bytes.clone();
        bent[at] ^= 0x55;
        let _ = read_tflite(Path::new("x"), &bent, &options);
    }
}
