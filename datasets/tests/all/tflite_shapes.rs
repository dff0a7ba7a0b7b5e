//! Tests shapes of `TFLite` models: first every rule separately, then declared shapes of operators without a
//! rule.
//!
//! Expected shapes are those that the interpreter (`ai-edge-litert` 2.3.0) reports for these files, if it can
//! run them.

use crate::tflite_writer::{
    BOOL, BufferSpec, FLOAT32, INT8, INT32, ModelSpec, OperatorSpec, RESOURCE, SubgraphSpec, TensorSpec,
    model, operator, subgraph, tensor,
};
use plimsoll_datasets::{Import, ImportOptions, SizeSources, read_tflite};
use plimsoll_model::Bytes;
use plimsoll_model::graph::{AliasKind, Graph, Role};
use std::collections::BTreeMap;
use std::path::Path;

/// An input of an operator.
#[derive(Clone, Copy)]
enum In<'a> {
    /// Data in `float32`.
    Data(&'a [i32]),
    /// Integers with unknown values.
    Ints(&'a [i32]),
    /// A constant vector.
    Vector(&'a [i32]),
    /// A constant matrix with two columns.
    Pairs(&'a [i32]),
    /// A constant number.
    Number(i32),
    /// A state, which is kept between runs.
    State(&'a [i32]),
    Absent,
}

use In::{Absent, Data, Ints, Number, Pairs, State, Vector};

/// A member of the union of options, and its fields.
type Fields<'a> = Option<(u8, &'a [(u16, i32)])>;

fn read(model: &ModelSpec, options: &ImportOptions) -> Result<Import, String> {
    read_tflite(Path::new("tiny.tflite"), &model.write(), options).map_err(|error| error.to_string())
}

fn plain(model: &ModelSpec) -> Import {
    read(model, &ImportOptions::default()).unwrap()
}

/// Returns a file with one operator, whose outputs have no shape.
fn file(code: i32, options: Fields, inputs: &[In], outputs: usize) -> ModelSpec {
    let (mut tensors, mut given, mut buffers) = (Vec::new(), Vec::new(), Vec::new());
    let mut read = Vec::new();
    for input in inputs {
        let at = tensors.len() as i32;
        let name = format!("in{at}");
        let mut constant = |shape: &[i32], values: &[i32]| {
            buffers.push(BufferSpec::Data(values.iter().flat_map(|value| value.to_le_bytes()).collect()));
            tensor(&name, INT32, shape).buffer(buffers.len() as u32)
        };
        let spec = match *input {
            Data(shape) => tensor(&name, FLOAT32, shape),
            Ints(shape) => tensor(&name, INT32, shape),
            Vector(list) => constant(&[list.len() as i32], list),
            Pairs(list) => constant(&[list.len() as i32 / 2, 2], list),
            Number(number) => constant(&[], &[number]),
            State(shape) => tensor(&name, FLOAT32, shape).variable(),
            Absent => {
                read.push(-1);
                continue;
            }
        };
        if matches!(input, Data(_) | Ints(_)) {
            given.push(at);
        }
        read.push(at);
        tensors.push(spec);
    }
    let made: Vec<i32> = (0..outputs).map(|at| (tensors.len() + at) as i32).collect();
    tensors.extend((0..outputs).map(|at| tensor(&format!("out{at}"), FLOAT32, &[])));
    let mut step = operator(code, &read, &made);
    step.options = options.map(|(tag, fields)| (false, tag, fields.to_vec()));
    let mut file = model(vec![subgraph("", tensors, &given, &made, vec![step])]);
    file.buffers.extend(buffers);
    file
}

/// Returns the shapes of the tensors whose names begin with `start`.
fn shapes(graph: &Graph, start: &str) -> Vec<Vec<u64>> {
    let tensors = graph.tensors().iter().filter(|tensor| tensor.name.starts_with(start));
    tensors.map(|tensor| tensor.shape.clone().unwrap()).collect()
}

/// Checks that an operator has outputs with these shapes.
fn makes(code: i32, options: Fields, inputs: &[In], expected: &[&[u64]]) {
    let file = file(code, options, inputs, expected.len());
    let import = read(&file, &ImportOptions::default());
    let import = import.unwrap_or_else(|error| panic!("operator {code}: {error}"));
    assert_eq!(shapes(&import.graph, "out"), expected, "operator {code}");
    let total = import.graph.tensors().len();
    assert_eq!(import.sizes, SizeSources { inferred: total, ..SizeSources::default() }, "operator {code}");
}

#[test]
fn windows_over_the_plane() {
    let image = Data(&[2, 7, 9, 4]);
    // CONV_2D with padding SAME and VALID, with dilation, and with groups.
    makes(
        3,
        Some((1, &[(0, 0), (1, 2), (2, 3)])),
        &[image, Data(&[5, 3, 3, 4]), Data(&[5])],
        &[&[2, 3, 5, 5]],
    );
    let image = Data(&[2, 7, 9, 4]);
    makes(3, Some((1, &[(0, 1), (1, 2), (2, 3)])), &[image, Data(&[5, 3, 3, 4])], &[&[2, 2, 4, 5]]);
    let dilated = &[(0, 1), (1, 1), (2, 1), (4, 4), (5, 2)];
    makes(3, Some((1, dilated)), &[Data(&[1, 7, 9, 4]), Data(&[6, 3, 2, 2])], &[&[1, 3, 5, 6]]);
    // DEPTHWISE_CONV_2D, with and without dilation.
    let fields = &[(0, 0), (1, 2), (2, 2), (3, 2)];
    makes(4, Some((2, fields)), &[Data(&[1, 7, 9, 4]), Data(&[1, 3, 3, 8])], &[&[1, 4, 5, 8]]);
    let fields = &[(0, 1), (1, 1), (2, 1), (3, 1), (5, 2), (6, 3)];
    makes(4, Some((2, fields)), &[Data(&[1, 9, 9, 4]), Data(&[1, 3, 3, 4])], &[&[1, 3, 5, 4]]);
    // AVERAGE_POOL_2D, MAX_POOL_2D.
    makes(1, Some((5, &[(0, 1), (1, 2), (2, 1), (3, 3), (4, 4)])), &[Data(&[1, 7, 9, 4])], &[&[1, 4, 4, 4]]);
    makes(17, Some((5, &[(0, 0), (1, 2), (2, 2), (3, 3), (4, 4)])), &[Data(&[1, 7, 9, 4])], &[&[1, 4, 5, 4]]);
    // CONV_3D, TRANSPOSE_CONV.
    let fields = &[(0, 1), (1, 1), (2, 2), (3, 1)];
    makes(132, Some((106, fields)), &[Data(&[1, 4, 5, 6, 2]), Data(&[2, 2, 2, 2, 3])], &[&[1, 3, 4, 3, 3]]);
    let inputs = [Vector(&[1, 10, 10, 6]), Data(&[6, 2, 2, 3]), Data(&[1, 5, 5, 3])];
    makes(67, Some((49, &[(0, 0), (1, 2), (2, 2)])), &inputs, &[&[1, 10, 10, 6]]);
    // RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR.
    makes(23, None, &[Data(&[2, 4, 4, 3]), Vector(&[8, 6])], &[&[2, 8, 6, 3]]);
    makes(97, None, &[Data(&[2, 4, 4, 3]), Vector(&[2, 9])], &[&[2, 2, 9, 3]]);
    // SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND.
    makes(26, Some((19, &[(0, 2)])), &[Data(&[1, 4, 6, 3])], &[&[1, 2, 3, 12]]);
    makes(5, Some((94, &[(0, 2)])), &[Data(&[1, 2, 3, 12])], &[&[1, 4, 6, 3]]);
    makes(38, None, &[Data(&[1, 5, 4, 3]), Vector(&[2, 2]), Pairs(&[0, 1, 0, 0])], &[&[4, 3, 2, 3]]);
    makes(37, None, &[Data(&[4, 3, 2, 3]), Vector(&[2, 2]), Pairs(&[0, 1, 0, 0])], &[&[1, 5, 4, 3]]);
}

#[test]
fn matrices_and_cells() {
    // FULLY_CONNECTED: two dimensions, unless they are kept.
    makes(9, Some((8, &[])), &[Data(&[2, 3, 8]), Data(&[5, 4])], &[&[12, 5]]);
    makes(9, Some((8, &[(2, 1)])), &[Data(&[2, 3, 8]), Data(&[5, 8]), Absent], &[&[2, 3, 5]]);
    // BATCH_MATMUL, also with both matrices transposed.
    makes(126, Some((101, &[])), &[Data(&[4, 1, 2, 3]), Data(&[5, 3, 7])], &[&[4, 5, 2, 7]]);
    makes(126, Some((101, &[(0, 1), (1, 1)])), &[Data(&[2, 3, 5]), Data(&[2, 7, 3])], &[&[2, 5, 7]]);
    // SVDF, RNN, UNIDIRECTIONAL_SEQUENCE_RNN.
    let svdf = [Data(&[2, 3]), Data(&[8, 3]), Data(&[8, 10]), Absent, State(&[2, 80])];
    makes(27, Some((6, &[(0, 2)])), &svdf, &[&[2, 4]]);
    let rnn = [Data(&[2, 3]), Data(&[4, 3]), Data(&[4, 4]), Data(&[4]), State(&[2, 4])];
    makes(24, Some((7, &[])), &rnn, &[&[2, 4]]);
    let rnn = [Data(&[2, 6, 3]), Data(&[4, 3]), Data(&[4, 4]), Data(&[4]), State(&[2, 4])];
    makes(35, Some((31, &[])), &rnn, &[&[2, 6, 4]]);
    let rnn = [
        Data(&[2, 6, 3]),
        Data(&[4, 3]),
        Data(&[4, 4]),
        Data(&[4]),
        State(&[2, 4]),
        Data(&[5, 3]),
        Data(&[5, 5]),
        Data(&[5]),
        State(&[2, 5]),
        Absent,
        Absent,
        Absent,
    ];
    makes(46, Some((70, &[(2, 1)])), &rnn, &[&[2, 6, 9]]);
    makes(46, Some((70, &[])), &rnn, &[&[2, 6, 4], &[2, 6, 5]]);
    // UNIDIRECTIONAL_SEQUENCE_LSTM, and LSTM with one matrix for all gates.
    makes(44, Some((71, &[])), &lstm(&[2, 6, 3]), &[&[2, 6, 4]]);
    let basic = [Data(&[2, 3]), Data(&[2, 4]), Data(&[16, 7]), Data(&[16]), Data(&[2, 4])];
    makes(16, Some((14, &[(3, 1)])), &basic, &[&[2, 4], &[2, 4], &[2, 7], &[2, 16]]);
    // RFFT2D.
    makes(131, None, &[Data(&[3, 8, 9]), Vector(&[8, 8])], &[&[3, 8, 5]]);
}

/// Returns the inputs of an LSTM with four cells, three features and two sequences.
fn lstm(input: &'static [i32]) -> Vec<In<'static>> {
    let mut inputs = vec![Data(input)];
    inputs.extend((0..4).map(|_| Data(&[4, 3])));
    inputs.extend((0..4).map(|_| Data(&[4, 4])));
    inputs.extend((0..3).map(|_| Absent));
    inputs.extend((0..4).map(|_| Data(&[4])));
    inputs.extend([Absent, Absent, State(&[2, 4]), State(&[2, 4])]);
    inputs
}

#[test]
fn parts_and_wholes() {
    // CONCATENATION, SPLIT, SPLIT_V, PACK, UNPACK.
    makes(2, Some((10, &[(0, -1)])), &[Data(&[2, 3]), Data(&[2, 5])], &[&[2, 8]]);
    makes(49, Some((35, &[(0, 2)])), &[Number(1), Data(&[2, 6])], &[&[2, 3], &[2, 3]]);
    makes(
        102,
        Some((79, &[(0, 3)])),
        &[Data(&[7, 2]), Vector(&[1, -1, 2]), Number(0)],
        &[&[1, 2], &[4, 2], &[2, 2]],
    );
    makes(83, Some((59, &[(0, 2), (1, 1)])), &[Data(&[2, 3]), Data(&[2, 3])], &[&[2, 2, 3]]);
    makes(88, Some((64, &[(0, 2), (1, 1)])), &[Data(&[3, 2, 5])], &[&[3, 5], &[3, 5]]);
    // GATHER along an axis and per batch element, GATHER_ND.
    makes(36, Some((23, &[(0, 1)])), &[Data(&[2, 5, 3]), Ints(&[4, 2])], &[&[2, 4, 2, 3]]);
    makes(36, Some((23, &[(0, 1), (1, 1)])), &[Data(&[2, 5, 3]), Ints(&[2, 4])], &[&[2, 4, 3]]);
    makes(107, None, &[Data(&[2, 5, 3]), Ints(&[4, 2])], &[&[4, 3]]);
    // SLICE. The beginning of the slice does not matter.
    makes(65, None, &[Data(&[4, 5]), Vector(&[1, 2]), Vector(&[2, -1])], &[&[2, 3]]);
    makes(65, None, &[Data(&[4, 5]), Ints(&[2]), Vector(&[2, 3])], &[&[2, 3]]);
    // EMBEDDING_LOOKUP, SEGMENT_SUM, UNSORTED_SEGMENT_SUM.
    makes(7, None, &[Ints(&[3]), Data(&[10, 4, 2])], &[&[3, 4, 2]]);
    makes(125, None, &[Data(&[4, 3]), Vector(&[0, 0, 1, 2])], &[&[3, 3]]);
    makes(155, None, &[Data(&[4, 3]), Ints(&[4]), Number(6)], &[&[6, 3]]);
    // PAD, MIRROR_PAD, TILE, TRANSPOSE, EXPAND_DIMS, SQUEEZE, RESHAPE with options and with a vector.
    makes(34, None, &[Data(&[2, 3]), Pairs(&[1, 2, 0, 4])], &[&[5, 7]]);
    makes(100, Some((77, &[])), &[Data(&[4, 3]), Pairs(&[1, 2, 0, 1])], &[&[7, 4]]);
    makes(69, None, &[Data(&[2, 3]), Vector(&[2, 3])], &[&[4, 9]]);
    makes(39, None, &[Data(&[2, 3, 4]), Vector(&[2, 0, 1])], &[&[4, 2, 3]]);
    makes(70, None, &[Data(&[2, 3]), Number(-1)], &[&[2, 3, 1]]);
    makes(43, Some((30, &[])), &[Data(&[1, 2, 1, 3])], &[&[2, 3]]);
    makes(22, None, &[Data(&[2, 3, 4]), Vector(&[4, -1])], &[&[4, 6]]);
    // TOPK_V2, ONE_HOT, MATRIX_DIAG, REVERSE_V2.
    makes(48, None, &[Data(&[2, 9]), Number(4)], &[&[2, 4], &[2, 4]]);
    makes(85, Some((61, &[(0, -1)])), &[Ints(&[2, 3]), Number(5), Data(&[]), Data(&[])], &[&[2, 3, 5]]);
    makes(113, None, &[Data(&[2, 3])], &[&[2, 3, 3]]);
    makes(105, None, &[Data(&[2, 3]), Vector(&[1])], &[&[2, 3]]);
    // BROADCAST_TO, FILL, SCATTER_ND, SPARSE_TO_DENSE.
    makes(130, None, &[Data(&[3, 1]), Vector(&[2, 3, 4])], &[&[2, 3, 4]]);
    makes(94, None, &[Vector(&[2, 5]), Data(&[])], &[&[2, 5]]);
    makes(122, None, &[Ints(&[2, 1]), Data(&[2, 4]), Vector(&[6, 4])], &[&[6, 4]]);
}

/// Checks the positions of the parts of an operator: pairs of an input and an output, with the byte at which
/// the smaller one begins in the larger one.
fn parts(code: i32, options: Fields, inputs: &[In], outputs: usize, expected: &[(&str, &str, u64)]) {
    let file = file(code, options, inputs, outputs);
    let import = read(&file, &ImportOptions { parts: true, ..ImportOptions::default() }).unwrap();
    let name = |id| import.graph.tensor(id).name.clone();
    let aliases = &import.graph.operators()[0].aliases;
    assert!(aliases.iter().all(|alias| alias.kind == AliasKind::Part));
    let found: Vec<(String, String, u64)> =
        aliases.iter().map(|alias| (name(alias.input), name(alias.output), alias.offset.get())).collect();
    let expected: Vec<_> = expected.iter().map(|&(a, b, at)| (a.to_owned(), b.to_owned(), at)).collect();
    assert_eq!(found, expected, "operator code {code}");
    assert_eq!(plain(&file).graph.operators()[0].aliases, [], "operator code {code}");
}

#[test]
fn consecutive_parts_share_memory() {
    // CONCATENATION of rows; of columns, which are not consecutive.
    let (outermost, last): (Fields, Fields) = (Some((10, &[(0, 0)])), Some((10, &[(0, -1)])));
    parts(2, outermost, &[Data(&[2, 3]), Data(&[4, 3])], 1, &[("in0", "out0", 0), ("in1", "out0", 24)]);
    parts(2, last, &[Data(&[2, 3]), Data(&[2, 5])], 1, &[]);
    let both = [("in0", "out0", 0), ("in1", "out0", 12)];
    parts(2, last, &[Data(&[1, 3]), Data(&[1, 5])], 1, &both);
    // SPLIT, SPLIT_V, PACK and UNPACK along the outermost dimension, and along an inner one.
    let split = [("in1", "out0", 0), ("in1", "out1", 36)];
    parts(49, Some((35, &[(0, 2)])), &[Number(0), Data(&[6, 3])], 2, &split);
    parts(49, Some((35, &[(0, 2)])), &[Number(1), Data(&[2, 6])], 2, &[]);
    let sizes = [Data(&[7, 2]), Vector(&[1, -1, 2]), Number(0)];
    let expected = [("in0", "out0", 0), ("in0", "out1", 8), ("in0", "out2", 40)];
    parts(102, Some((79, &[(0, 3)])), &sizes, 3, &expected);
    let (outer, inner) = (&[(0, 2), (1, 0)], &[(0, 2), (1, 1)]);
    let rows = [Data(&[2, 3]), Data(&[2, 3])];
    parts(83, Some((59, outer)), &rows, 1, &[("in0", "out0", 0), ("in1", "out0", 24)]);
    parts(83, Some((59, inner)), &rows, 1, &[]);
    parts(88, Some((64, outer)), &[Data(&[2, 5])], 2, &[("in0", "out0", 0), ("in0", "out1", 20)]);
    parts(88, Some((64, inner)), &[Data(&[3, 2])], 2, &[]);
    // SLICE of rows, of columns, and with an unknown beginning.
    let whole = [Data(&[4, 5]), Vector(&[1, 0]), Vector(&[2, -1])];
    parts(65, None, &whole, 1, &[("in0", "out0", 20)]);
    parts(65, None, &[Data(&[4, 5]), Vector(&[1, 2]), Vector(&[2, 3])], 1, &[]);
    parts(65, None, &[Data(&[4, 5]), Vector(&[3, 1]), Vector(&[1, 3])], 1, &[("in0", "out0", 64)]);
    parts(65, None, &[Data(&[4, 5]), Ints(&[2]), Vector(&[2, 5])], 1, &[]);
    // STRIDED_SLICE with a removed dimension, with a step, and backwards.
    let cut = |masks: &[(u16, i32)], from: [&[i32]; 4], expected: &[(&str, &str, u64)]| {
        let [shape, begin, end, step] = from;
        let inputs = [Data(shape), Vector(begin), Vector(end), Vector(step)];
        parts(45, Some((32, masks)), &inputs, 1, expected);
    };
    cut(&[(4, 1)], [&[5, 7], &[-1], &[0], &[1]], &[("in0", "out0", 112)]);
    cut(&[], [&[5, 7], &[1, 0], &[3, 7], &[1, 1]], &[("in0", "out0", 28)]);
    cut(&[], [&[5, 7], &[0, 0], &[4, 7], &[2, 1]], &[]);
    cut(&[], [&[5], &[4], &[1], &[-1]], &[]);
}

#[test]
fn strided_slices() {
    let cut = |masks: &[(u16, i32)], from: [&[i32]; 4], expected: &[u64]| {
        let [shape, begin, end, step] = from;
        makes(45, Some((32, masks)), &[Data(shape), Vector(begin), Vector(end), Vector(step)], &[expected]);
    };
    cut(&[], [&[5, 7], &[1, -3], &[4, 7], &[2, 1]], &[2, 3]);
    cut(&[(0, 1), (1, 2)], [&[5, 7], &[3, 2], &[4, 3], &[1, 2]], &[4, 3]);
    cut(&[], [&[5, 7], &[4, 6], &[0, -8], &[-1, -2]], &[4, 4]);
    // An index removes a dimension, regardless of its value; the other dimension is whole.
    cut(&[(4, 1)], [&[5, 7], &[-1], &[0], &[1]], &[7]);
    // An ellipsis and a new dimension.
    cut(&[(2, 1)], [&[4, 5, 6], &[0, 1], &[0, 3], &[1, 1]], &[4, 5, 2]);
    cut(&[(3, 1), (1, 2)], [&[5, 7], &[0, 2], &[0, 0], &[1, 1]], &[1, 3, 7]);
    // The dimension is removed even if the index is unknown.
    let inputs = [Data(&[5, 7]), Ints(&[1]), Ints(&[1]), Vector(&[1])];
    makes(45, Some((32, &[(4, 1)])), &inputs, &[&[7]]);
}

#[test]
fn elements_and_sums() {
    // ADD, SELECT_V2 and MAXIMUM broadcast. SELECT has a condition per row.
    makes(0, None, &[Data(&[4, 1, 3]), Data(&[5, 1])], &[&[4, 5, 3]]);
    makes(55, None, &[Data(&[]), Data(&[5, 1])], &[&[5, 1]]);
    // Unary operators: RELU, LOGISTIC, EXP, HARD_SWISH, GELU, SOFTMAX, L2_NORMALIZATION.
    for code in [19, 14, 47, 117, 150, 25, 11] {
        makes(code, None, &[Data(&[2, 3])], &[&[2, 3]]);
    }
    // PRELU, CUMSUM, ADD_N, ZEROS_LIKE.
    makes(54, None, &[Data(&[1, 4, 4, 3]), Data(&[1, 1, 3])], &[&[1, 4, 4, 3]]);
    makes(128, None, &[Data(&[2, 3]), Number(1)], &[&[2, 3]]);
    makes(106, None, &[Data(&[2, 3]), Data(&[2, 3]), Data(&[2, 3])], &[&[2, 3]]);
    makes(93, None, &[Data(&[2, 3])], &[&[2, 3]]);
    // MEAN, SUM and REDUCE_MAX over some dimensions, with and without keeping them.
    makes(40, Some((27, &[(0, 1)])), &[Data(&[2, 3, 4]), Vector(&[1, -1])], &[&[2, 1, 1]]);
    makes(74, Some((27, &[])), &[Data(&[2, 3, 4]), Vector(&[1])], &[&[2, 4]]);
    makes(82, Some((27, &[])), &[Data(&[2, 3, 4]), Number(0)], &[&[3, 4]]);
    // ARG_MAX, SHAPE, RANK, RANGE.
    makes(56, Some((40, &[(0, 2)])), &[Data(&[2, 3, 4]), Number(1)], &[&[2, 4]]);
    makes(77, Some((55, &[(0, 2)])), &[Data(&[2, 3, 4])], &[&[3]]);
    makes(110, None, &[Data(&[2, 3, 4])], &[&[]]);
    makes(96, None, &[Number(3), Number(18), Number(4)], &[&[4]]);
}

/// Returns a model with these tensors and operators. The last tensor is the output.
fn body(tensors: Vec<TensorSpec>, inputs: &[i32], operators: Vec<OperatorSpec>) -> ModelSpec {
    let last = tensors.len() as i32 - 1;
    model(vec![subgraph("", tensors, inputs, &[last], operators)])
}

fn batch(batch: u64) -> ImportOptions {
    ImportOptions { batch: Some(batch), ..ImportOptions::default() }
}

fn custom(name: &str, inputs: &[i32], outputs: &[i32]) -> OperatorSpec {
    OperatorSpec { custom: Some(name.to_owned()), ..operator(32, inputs, outputs) }
}

fn named(pairs: &[(&str, &[u64])]) -> BTreeMap<String, Vec<u64>> {
    pairs.iter().map(|&(name, shape)| (name.to_owned(), shape.to_vec())).collect()
}

fn counts(sizes: &SizeSources) -> [usize; 3] {
    [sizes.inferred, sizes.declared.len(), sizes.assumed.len()]
}

/// The first extent of the input determines the new shape of a `RESHAPE` operator, as in `flatten`
/// operators written by converters.
#[test]
fn values_are_followed_from_shapes_to_shapes() {
    let tensors = vec![
        tensor("x", FLOAT32, &[1, 4, 4, 3]),
        tensor("zero", INT32, &[1]).buffer(1),
        tensor("one", INT32, &[1]).buffer(2),
        tensor("width", INT32, &[]).buffer(3),
        tensor("shape", INT32, &[4]),
        tensor("first", INT32, &[]),
        tensor("wanted", INT32, &[2]),
        tensor("out", FLOAT32, &[1, 48]),
    ];
    let operators = vec![
        operator(77, &[0], &[4]),
        operator(45, &[4, 1, 2, 2], &[5]).options(false, 32, &[(4, 1)]),
        operator(83, &[5, 3], &[6]).options(false, 59, &[(0, 2)]),
        operator(22, &[0, 6], &[7]),
    ];
    let file = body(tensors, &[0], operators).values(&[0]).values(&[1]).values(&[48]);
    assert_eq!(shapes(&plain(&file).graph, "out"), [[1, 48]]);
    let import = read(&file, &batch(3)).unwrap();
    assert_eq!(shapes(&import.graph, "out"), [[3, 48]]);
    assert_eq!(counts(&import.sizes), [8, 0, 0]);
    assert!(import.assumed.is_empty(), "{:?}", import.assumed);
}

/// Returns the model `x -Magic-> y -ADD-> out`.
fn magic() -> ModelSpec {
    let tensors =
        vec![tensor("x", FLOAT32, &[2, 3]), tensor("y", FLOAT32, &[2, 4]), tensor("out", FLOAT32, &[2, 4])];
    body(tensors, &[0], vec![custom("Magic", &[0], &[1]), operator(0, &[1, 1], &[2])])
}

#[test]
fn declared_shapes_count_only_where_nothing_has_changed() {
    let import = plain(&magic());
    assert_eq!(counts(&import.sizes), [1, 2, 0]);
    assert_eq!(
        import.assumed,
        ["the declared shape is used for 1 tensors: 'y', operator 0 (Magic): operator Magic is not known"]
    );
    // An option that repeats the batch size of the file has no effect.
    assert_eq!(read(&magic(), &batch(2)).unwrap(), import);
    assert_eq!(
        read(&magic(), &batch(4)).unwrap_err(),
        "tiny.tflite: operator 0 (Magic): tensor 'y': operator Magic is not known, and the shape in the file may \
         not hold: an option changes what it depends on; --tensor-shape y=AxB gives its shape; --assume-bytes gives \
         such tensors a size"
    );
    let with = |pairs: &[(&str, &[u64])]| ImportOptions { tensor_shapes: named(pairs), ..batch(4) };
    let import = read(&magic(), &with(&[("y", &[4, 4])])).unwrap();
    assert_eq!(shapes(&import.graph, "out"), [[4, 4]]);
    assert_eq!(counts(&import.sizes), [1, 0, 2]);
    let refused = |pairs: &[(&str, &[u64])]| read(&magic(), &with(pairs)).unwrap_err();
    assert_eq!(
        refused(&[("z", &[4, 4])]),
        "tiny.tflite: --tensor-shape z=4x4: no operator produces a tensor of that name"
    );
    // The declared shape is stale: the input does not have the shape for which it was declared.
    let mut stale = magic();
    stale.subgraphs[0].operators.swap(0, 1);
    stale.subgraphs[0].operators[0] = operator(0, &[0, 0], &[1]);
    stale.subgraphs[0].operators[1] = custom("Magic", &[1], &[2]);
    let error = read(&stale, &ImportOptions::default()).unwrap_err();
    assert!(error.contains("the shape in the file may not hold: its input 'y' is 2x3, not 2x4"), "{error}");
}

#[test]
fn what_operators_make_counts_against_the_file() {
    let tensors = vec![tensor("x", FLOAT32, &[2, 3]), tensor("out", FLOAT32, &[1, 1])];
    let mut file = body(tensors, &[0], vec![operator(0, &[0, 0], &[1])]);
    let import = plain(&file);
    assert_eq!(import.graph.bytes(Role::Output), Bytes::new(24));
    assert_eq!(
        import.assumed,
        ["the inferred shape differs from the declared shape of 1 tensors: 'out' is 2x3, not 1x1"]
    );
    // A dimension that is marked as free is not a contradiction.
    file.subgraphs[0].tensors[1] = tensor("out", FLOAT32, &[1, 3]).signed(&[-1, 3]);
    assert!(plain(&file).assumed.is_empty());
    let option = ImportOptions { tensor_shapes: named(&[("out", &[7, 3])]), ..ImportOptions::default() };
    assert_eq!(
        read(&file, &option).unwrap_err(),
        "tiny.tflite: --tensor-shape out=7x3: the inputs of operator 0 (ADD) imply 2x3"
    );
}

#[test]
fn a_missing_shape_is_inferred_or_refused() {
    let tensors = vec![tensor("x", FLOAT32, &[2, 3]), tensor("y", FLOAT32, &[]), tensor("out", FLOAT32, &[])];
    let mut file = body(tensors, &[0], vec![operator(19, &[0], &[1]), custom("Magic", &[1], &[2])]);
    assert_eq!(
        read(&file, &ImportOptions::default()).unwrap_err(),
        "tiny.tflite: operator 1 (Magic): tensor 'out': operator Magic is not known, and the file declares no \
         shape for it; --tensor-shape out=AxB gives its shape; --assume-bytes gives such tensors a size"
    );
    let given = ImportOptions { tensor_shapes: named(&[("out", &[5])]), ..ImportOptions::default() };
    let import = read(&file, &given).unwrap();
    assert_eq!(shapes(&import.graph, "y"), [[2, 3]]);
    assert_eq!(import.graph.bytes(Role::Output), Bytes::new(20));
    // The file declares the output as a scalar.
    file.subgraphs[0].tensors[2].ranked = true;
    assert_eq!(plain(&file).graph.bytes(Role::Output), Bytes::new(4));
    // A dimension of the input is free in the file.
    file.subgraphs[0].tensors[0].shape = vec![-1, 3];
    let error = read(&file, &ImportOptions::default()).unwrap_err();
    let start = "tiny.tflite: input 0 of subgraph 0: tensor 'x': its dimension 0 is -1; --input-shape x=AxB";
    assert!(error.replace("operator input", "input").starts_with(start), "{error}");
    file.subgraphs[0].operators[1] = operator(19, &[1], &[2]);
    let default = ImportOptions { dim_default: Some(6), ..ImportOptions::default() };
    assert_eq!(shapes(&read(&file, &default).unwrap().graph, "out"), [[6, 3]]);
}

#[test]
fn what_data_decide_has_a_bound() {
    // WHERE, SEGMENT_SUM, UNIQUE, a slice of unknown length, and NON_MAX_SUPPRESSION_V5.
    let bound = |code: i32, options: Fields, inputs: &[In], expected: &[&[u64]]| {
        let import = plain(&file(code, options, inputs, expected.len()));
        assert_eq!(shapes(&import.graph, "out"), expected, "operator {code}");
        assert_eq!(import.sizes.assumed.len(), expected.len(), "operator {code}");
        assert!(import.assumed.iter().any(|line| line.starts_with("the shape depends on data")), "{code}");
    };
    bound(109, None, &[Data(&[4, 5])], &[&[20, 2]]);
    bound(125, None, &[Data(&[4, 3]), Ints(&[4])], &[&[4, 3]]);
    bound(103, None, &[Data(&[9])], &[&[9], &[9]]);
    bound(65, None, &[Data(&[4, 5]), Vector(&[0, 0]), Ints(&[2])], &[&[4, 5]]);
    bound(
        45,
        Some((32, &[(0, 2), (1, 2)])),
        &[Data(&[4, 5]), Ints(&[2]), Ints(&[2]), Vector(&[2, 1])],
        &[&[2, 5]],
    );
    let boxes = [Data(&[30, 4]), Data(&[30]), Number(7), Number(0), Number(0), Number(0)];
    makes(121, None, &boxes, &[&[7], &[7], &[]]);
    // The value of an input may be given.
    let file = file(22, None, &[Data(&[2, 6]), Ints(&[2])], 1);
    let values = |list: &[i64]| ImportOptions {
        values: BTreeMap::from([("in1".to_owned(), list.to_vec())]),
        ..ImportOptions::default()
    };
    assert_eq!(shapes(&read(&file, &values(&[3, -1])).unwrap().graph, "out"), [[3, 4]]);
    assert_eq!(
        read(&file, &values(&[3])).unwrap_err(),
        "tiny.tflite: --value in1=3: the shape of the input is 2"
    );
    let error = read(&file, &ImportOptions::default()).unwrap_err();
    assert!(
        error.contains("it depends on the values of input 'in1', which is not a small constant"),
        "{error}"
    );
}

/// Returns a `FlexBuffers` map with one-byte integers.
fn map(pairs: &[(&str, u8)]) -> Vec<u8> {
    let (mut bytes, mut at) = (Vec::new(), Vec::new());
    for (name, _) in pairs {
        at.push(bytes.len());
        bytes.extend(name.bytes().chain([0]));
    }
    let count = pairs.len() as u8;
    bytes.push(count);
    let keys = bytes.len();
    for at in at {
        bytes.push((bytes.len() - at) as u8);
    }
    bytes.push((bytes.len() - keys) as u8);
    bytes.extend([1, count]);
    let values = bytes.len();
    bytes.extend(pairs.iter().map(|&(_, value)| value));
    bytes.extend(pairs.iter().map(|_| 1 << 2));
    bytes.extend([(bytes.len() - values) as u8, 9 << 2, 1]);
    bytes
}

#[test]
fn detections_have_the_shapes_of_their_options() {
    let mut tensors = vec![
        tensor("boxes", FLOAT32, &[1, 90, 4]),
        tensor("scores", FLOAT32, &[1, 90, 7]),
        tensor("anchors", FLOAT32, &[90, 4]),
    ];
    tensors.extend((0..4).map(|at| tensor(&format!("out{at}"), FLOAT32, &[])));
    let mut step = custom("TFLite_Detection_PostProcess", &[0, 1, 2], &[3, 4, 5, 6]);
    step.bytes = map(&[("max_classes_per_detection", 2), ("max_detections", 10)]);
    let mut file = model(vec![subgraph("", tensors, &[0, 1, 2], &[3, 4, 5, 6], vec![step])]);
    let expected: [&[u64]; 4] = [&[1, 20, 4], &[1, 20], &[1, 20], &[1]];
    assert_eq!(shapes(&plain(&file).graph, "out"), expected);
    for length in (0..file.subgraphs[0].operators[0].bytes.len()).rev() {
        file.subgraphs[0].operators[0].bytes.truncate(length);
        assert!(read(&file, &ImportOptions::default()).is_err(), "{length}");
    }
}

#[test]
fn states_do_not_grow() {
    let file = file(44, Some((71, &[])), &lstm(&[2, 6, 3]), 1);
    assert_eq!(shapes(&plain(&file).graph, "out"), [[2, 6, 4]]);
    let longer = ImportOptions { input_shapes: named(&[("in0", &[2, 9, 3])]), ..ImportOptions::default() };
    assert_eq!(shapes(&read(&file, &longer).unwrap().graph, "out"), [[2, 9, 4]]);
    let wider = ImportOptions { input_shapes: named(&[("in0", &[5, 6, 3])]), ..ImportOptions::default() };
    let error = read(&file, &wider).unwrap_err();
    assert!(error.contains("is 2x4, but must have the size of 5x4"), "{error}");
}

/// Returns a model whose body has one operator, which runs these subgraphs on `x`.
fn runs(code: i32, tag: u8, parts: &[SubgraphSpec; 2]) -> ModelSpec {
    let flag = || tensor("go", BOOL, &[]);
    let inputs: &[i32] = if code == 118 { &[0, 1] } else { &[1] };
    let step = operator(code, inputs, &[2]).options(false, tag, &[(0, 1), (1, 2)]);
    let tensors = vec![flag(), tensor("x", FLOAT32, &[1, 3]), tensor("out", FLOAT32, &[1, 3])];
    let main = subgraph("", tensors, &[0, 1], &[2], vec![step]);
    model([vec![main], parts.to_vec()].concat()).values(&[1])
}

fn part(operator_: OperatorSpec, names: [&str; 2]) -> SubgraphSpec {
    let tensors = vec![
        tensor(names[0], FLOAT32, &[1, 3]),
        tensor(names[1], FLOAT32, &[1, 3]),
        tensor("", INT32, &[]).buffer(1),
    ];
    subgraph("", tensors, &[0], &[1], vec![operator_])
}

#[test]
fn branches_are_given_what_their_operator_reads() {
    let same = || part(operator(19, &[0], &[1]), ["a", "b"]);
    let twice = || part(operator(2, &[0, 0], &[1]).options(false, 10, &[(0, 1)]), ["c", "d"]);
    let import = read(&runs(118, 92, &[same(), same()]), &batch(4)).unwrap();
    assert_eq!(shapes(&import.graph, "b"), [[4, 3], [4, 3]]);
    assert_eq!(shapes(&import.graph, "out"), [[4, 3]]);
    let import = read(&runs(118, 92, &[same(), twice()]), &batch(4)).unwrap();
    assert_eq!(shapes(&import.graph, "out"), [[4, 6]]);
    assert_eq!(counts(&import.sizes), [6, 0, 1]);
    let line = "the branches differ, and the larger shape is used for 1 tensors: 'out' is 4x3 or 4x6";
    assert_eq!(import.assumed[0], line);
}

#[test]
fn loops_carry_tensors_of_one_shape() {
    let condition = || {
        let tensors = vec![tensor("p", FLOAT32, &[1, 3]), tensor("q", BOOL, &[])];
        subgraph("", tensors, &[0], &[1], vec![custom("Less", &[0], &[1])])
    };
    let mut keeps = runs(119, 93, &[condition(), part(operator(19, &[0], &[1]), ["a", "b"])]);
    keeps.subgraphs[1].tensors[1].ranked = true;
    assert_eq!(shapes(&plain(&keeps).graph, "out"), [[1, 3]]);
    keeps.subgraphs[1].operators[0] = operator(58, &[0, 0], &[1]);
    let import = read(&keeps, &batch(4)).unwrap();
    assert_eq!(shapes(&import.graph, "out"), [[4, 3]]);
    assert_eq!(shapes(&import.graph, "b"), [[4, 3]]);
    let grows = part(operator(2, &[0, 0], &[1]).options(false, 10, &[(0, 1)]), ["a", "b"]);
    keeps.subgraphs[2] = grows;
    let error = read(&keeps, &ImportOptions::default()).unwrap_err();
    assert!(error.contains("its shape changes between iterations: 1x3, then 1x6"), "{error}");
}

#[test]
fn scratch_of_custom_operators_is_theirs() {
    let tensors = vec![
        tensor("x", INT8, &[8]),
        tensor("commands", INT8, &[4]).buffer(1),
        tensor("work", INT8, &[100]),
        tensor("y", INT8, &[8]),
        tensor("fast", INT8, &[30]),
        tensor("out", INT8, &[8]),
    ];
    let operators = vec![custom("ethos-u", &[1, 2, 4, 0], &[3]), custom("ethos-u", &[1, 2, 3], &[5])];
    let mut file = body(tensors, &[0], operators).values(&[0]);
    let import = plain(&file);
    let scratch: Vec<u64> = import.graph.operators().iter().map(|one| one.scratch.get()).collect();
    assert_eq!(scratch, [130, 100]);
    assert!(import.graph.tensors().iter().all(|tensor| tensor.name != "work"));
    assert_eq!(
        import.assumed[1..],
        [
            "tensor 'work', which nothing produces, is scratch memory: each of the 2 operators that use it holds a copy while \
             it runs",
            "tensor 'fast', which nothing produces, is scratch memory: held while its operator runs",
        ]
    );
    // Operators that the schema defines have no scratch memory.
    file.subgraphs[0].operators[0] = operator(0, &[0, 2], &[3]);
    let error = read(&file, &ImportOptions::default()).unwrap_err();
    assert!(error.contains("tensor 'work' has role activation, but no operator produces it"), "{error}");
}

/// If any single byte of a file is changed, reading it yields an error or a graph, but never a panic.
#[test]
fn damage_is_refused_or_read() {
    let slices = [Data(&[5, 7]), Vector(&[1, -3]), Vector(&[4, 7]), Vector(&[2, 1])];
    let files = [
        file(45, Some((32, &[(0, 1), (1, 2), (2, 0), (3, 0), (4, 0)])), &slices, 1),
        file(22, None, &[Data(&[2, 3, 4]), Vector(&[4, -1])], 1),
        file(38, None, &[Data(&[1, 5, 4, 3]), Vector(&[2, 2]), Pairs(&[0, 1, 0, 0])], 1),
        file(69, None, &[Vector(&[2, 3]), Vector(&[3])], 1),
        file(3, Some((1, &[(0, 0), (1, 2), (2, 3)])), &[Data(&[2, 7, 9, 4]), Data(&[5, 3, 3, 4])], 1),
        file(96, None, &[Number(3), Number(18), Number(4)], 1),
        file(102, None, &[Data(&[7, 2]), Vector(&[1, -1, 2]), Number(0)], 3),
    ];
    let assuming = ImportOptions { assume_bytes: Some(8), dim_default: Some(3), ..batch(4) };
    for model in files {
        let bytes = model.write();
        for at in 0..bytes.len() {
            for bit in [0x01, 0x80, 0xff] {
                let mut bent = bytes.clone();
                bent[at] ^= bit;
                for options in [&ImportOptions::default(), &assuming] {
                    let _ = read_tflite(Path::new("x"), &bent, options);
                }
            }
        }
    }
}

/// Returns a streaming model. The first run assigns two numbers to a variable. Each run reads the variable,
/// appends the input and assigns the last two numbers.
fn streams(input: &[i32]) -> ModelSpec {
    let handle = |made: i32| operator(142, &[], &[made]).options(false, 111, &[]);
    let joined = operator(2, &[1, 2], &[3]).options(false, 10, &[(0, 1)]);
    let last = operator(65, &[3, 4, 5], &[6]);
    let steps = vec![
        operator(129, &[], &[]).options(false, 103, &[(0, 1)]),
        handle(0),
        operator(143, &[0], &[1]),
        joined,
        last,
        operator(144, &[0, 6], &[]),
    ];
    let free = |name: &str| tensor(name, FLOAT32, &[]);
    let tensors = vec![
        tensor("handle", RESOURCE, &[]),
        free("held"),
        tensor("x", FLOAT32, input),
        free("joined"),
        tensor("begin", INT32, &[2]).buffer(1),
        tensor("size", INT32, &[2]).buffer(2),
        free("last"),
    ];
    let main = subgraph("", tensors, &[2], &[3], steps);
    let first = vec![tensor("handle", RESOURCE, &[]), tensor("zero", FLOAT32, &[1, 2]).buffer(3)];
    let first = subgraph("", first, &[], &[], vec![handle(0), operator(144, &[0, 1], &[])]);
    let mut file = model(vec![main, first]);
    let ints = |list: [i32; 2]| BufferSpec::Data(list.into_iter().flat_map(i32::to_le_bytes).collect());
    file.buffers.extend([ints([0, 1]), ints([1, 2]), BufferSpec::Data(vec![0; 8])]);
    file
}

#[test]
fn variables_are_states_as_large_as_what_is_assigned() {
    let import = plain(&streams(&[1, 3]));
    let graph = &import.graph;
    assert_eq!(
        [shapes(graph, "held"), shapes(graph, "joined"), shapes(graph, "last")],
        [[[1, 2]], [[1, 5]], [[1, 2]]]
    );
    assert_eq!(shapes(graph, "variable"), [[1, 2]]);
    assert_eq!(graph.bytes(Role::State).get(), 8);
    assert_eq!(counts(&import.sizes)[1..], [0, 0]);
    // A handle is an integer.
    let handle = graph.tensors().iter().find(|tensor| tensor.name == "handle").unwrap();
    assert_eq!(handle.bytes.get(), 4);
    // The variable is read before any assignment, and the file declares no shape.
    let mut early = streams(&[1, 3]);
    early.subgraphs[0].operators.remove(0);
    let error = read(&early, &ImportOptions::default()).unwrap_err();
    assert!(error.contains("no value was assigned to its variable before"), "{error}");
}
