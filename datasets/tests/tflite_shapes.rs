//! Shapes of `TFLite` models: one rule after the other, then what the file says where no rule tells.
//!
//! Expected shapes are those that the interpreter (`ai-edge-litert` 2.3.0) gives these files, where it runs them.

mod common {
    pub mod tflite_writer;
}

use common::tflite_writer::{
    BOOL, BufferSpec, FLOAT32, INT8, INT32, ModelSpec, OperatorSpec, SubgraphSpec, TensorSpec, model,
    operator, tensor,
};
use plimsoll_datasets::{Import, ImportOptions, SizeSources, read_tflite};
use plimsoll_model::Bytes;
use plimsoll_model::graph::{Graph, Role};
use std::collections::BTreeMap;
use std::path::Path;

/// An input of an operator.
#[derive(Clone, Copy)]
enum In<'a> {
    /// Data in `float32`.
    Data(&'a [i32]),
    /// Integers that are not known.
    Ints(&'a [i32]),
    /// A constant vector.
    Vector(&'a [i32]),
    /// A constant matrix of two columns.
    Pairs(&'a [i32]),
    /// A constant number.
    Number(i32),
    /// Kept from run to run.
    State(&'a [i32]),
    Absent,
}

use In::{Absent, Data, Ints, Number, Pairs, State, Vector};

/// Member of the union of options and its fields.
type Fields<'a> = Option<(u8, &'a [(u16, i32)])>;

fn read(model: &ModelSpec, options: &ImportOptions) -> Result<Import, String> {
    read_tflite(Path::new("tiny.tflite"), &model.write(), options).map_err(|error| error.to_string())
}

fn plain(model: &ModelSpec) -> Import {
    read(model, &ImportOptions::default()).unwrap()
}

fn subgraph(tensors: Vec<TensorSpec>, inputs: &[i32], outputs: &[i32], operators: Vec<OperatorSpec>) -> SubgraphSpec {
    let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
    SubgraphSpec { name: String::new(), tensors, inputs, outputs, operators }
}

/// A file with one operator, whose outputs have no shape.
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
    let mut file = model(vec![subgraph(tensors, &given, &made, vec![step])]);
    file.buffers.extend(buffers);
    file
}

/// Shapes of the tensors whose names begin so.
fn shapes(graph: &Graph, start: &str) -> Vec<Vec<u64>> {
    let tensors = graph.tensors().iter().filter(|tensor| tensor.name.starts_with(start));
    tensors.map(|tensor| tensor.shape.clone().unwrap()).collect()
}

/// The one operator makes outputs of these shapes.
fn makes(code: i32, options: Fields, inputs: &[In], expected: &[&[u64]]) {
    let file = file(code, options, inputs, expected.len());
    if let Some(folder) = std::env::var_os("TMP_DUMP") {
        let k = std::fs::read_dir(&folder).unwrap().count();
        std::fs::write(Path::new(&folder).join(format!("{k:03}-{code}.tflite")), file.write()).unwrap();
    }
    let import = read(&file, &ImportOptions::default());
    let import = import.unwrap_or_else(|error| panic!("operator {code}: {error}"));
    assert_eq!(shapes(&import.graph, "out"), expected, "operator {code}");
    let total = import.graph.tensors().len();
    assert_eq!(import.sizes, SizeSources { inferred: total, ..SizeSources::default() }, "operator {code}");
}

#[test]
fn windows_over_the_plane() {
    let image = Data(&[2, 7, 9, 4]);
    // CONV_2D with padding SAME and VALID, with dilation, in groups.
    makes(3, Some((1, &[(0, 0), (1, 2), (2, 3)])), &[image, Data(&[5, 3, 3, 4]), Data(&[5])], &[&[2, 3, 5, 5]]);
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
    // BATCH_MATMUL, with both turned.
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
        Data(&[2, 6, 3]), Data(&[4, 3]), Data(&[4, 4]), Data(&[4]), State(&[2, 4]),
        Data(&[5, 3]), Data(&[5, 5]), Data(&[5]), State(&[2, 5]), Absent, Absent, Absent,
    ];
    makes(46, Some((70, &[(2, 1)])), &rnn, &[&[2, 6, 9]]);
    makes(46, Some((70, &[])), &rnn, &[&[2, 6, 4], &[2, 6, 5]]);
    // UNIDIRECTIONAL_SEQUENCE_LSTM, LSTM with one matrix for all gates.
    makes(44, Some((71, &[])), &lstm(&[2, 6, 3]), &[&[2, 6, 4]]);
    let basic = [Data(&[2, 3]), Data(&[2, 4]), Data(&[16, 7]), Data(&[16]), Data(&[2, 4])];
    makes(16, Some((14, &[(3, 1)])), &basic, &[&[2, 4], &[2, 4], &[2, 7], &[2, 16]]);
    // RFFT2D.
    makes(131, None, &[Data(&[3, 8, 9]), Vector(&[8, 8])], &[&[3, 8, 5]]);
}

/// Inputs of an LSTM of four cells over three features, two sequences at a time.
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
    makes(102, Some((79, &[(0, 3)])), &[Data(&[7, 2]), Vector(&[1, -1, 2]), Number(0)], &[&[1, 2], &[4, 2], &[2, 2]]);
    makes(83, Some((59, &[(0, 2), (1, 1)])), &[Data(&[2, 3]), Data(&[2, 3])], &[&[2, 2, 3]]);
    makes(88, Some((64, &[(0, 2), (1, 1)])), &[Data(&[3, 2, 5])], &[&[3, 5], &[3, 5]]);
    // GATHER, along an axis and per element of a batch; GATHER_ND.
    makes(36, Some((23, &[(0, 1)])), &[Data(&[2, 5, 3]), Ints(&[4, 2])], &[&[2, 4, 2, 3]]);
    makes(36, Some((23, &[(0, 1), (1, 1)])), &[Data(&[2, 5, 3]), Ints(&[2, 4])], &[&[2, 4, 3]]);
    makes(107, None, &[Data(&[2, 5, 3]), Ints(&[4, 2])], &[&[4, 3]]);
    // SLICE; where it begins does not matter.
    makes(65, None, &[Data(&[4, 5]), Vector(&[1, 2]), Vector(&[2, -1])], &[&[2, 3]]);
    makes(65, None, &[Data(&[4, 5]), Ints(&[2]), Vector(&[2, 3])], &[&[2, 3]]);
    // EMBEDDING_LOOKUP, SEGMENT_SUM, UNSORTED_SEGMENT_SUM.
    makes(7, None, &[Ints(&[3]), Data(&[10, 4, 2])], &[&[3, 4, 2]]);
    makes(125, None, &[Data(&[4, 3]), Vector(&[0, 0, 1, 4])], &[&[5, 3]]);
    makes(155, None, &[Data(&[4, 3]), Ints(&[4]), Number(6)], &[&[6, 3]]);
    // PAD, MIRROR_PAD, TILE, TRANSPOSE, EXPAND_DIMS, SQUEEZE, RESHAPE by options and by a vector.
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

#[test]
fn strided_slices() {
    let cut = |masks: &[(u16, i32)], from: [&[i32]; 4], expected: &[u64]| {
        let [shape, begin, end, step] = from;
        makes(45, Some((32, masks)), &[Data(shape), Vector(begin), Vector(end), Vector(step)], &[expected]);
    };
    cut(&[], [&[5, 7], &[1, -3], &[4, 7], &[2, 1]], &[2, 3]);
    cut(&[(0, 1), (1, 2)], [&[5, 7], &[3, 2], &[4, 3], &[1, 2]], &[4, 3]);
    cut(&[], [&[5, 7], &[4, 6], &[0, -8], &[-1, -2]], &[4, 4]);
    // An index takes a dimension away, wherever it is; the rest is whole.
    cut(&[(4, 1)], [&[5, 7], &[-1], &[0], &[1]], &[7]);
    // An ellipsis, a new dimension.
    cut(&[(2, 1)], [&[4, 5, 6], &[0, 1], &[0, 3], &[1, 1]], &[4, 5, 2]);
    cut(&[(3, 1), (1, 2)], [&[5, 7], &[0, 2], &[0, 0], &[1, 1]], &[1, 3, 7]);
    // Where the index is not known, the dimension is gone all the same.
    let inputs = [Data(&[5, 7]), Ints(&[1]), Ints(&[1]), Vector(&[1])];
    makes(45, Some((32, &[(4, 1)])), &inputs, &[&[7]]);
}

#[test]
fn elements_and_sums() {
    // ADD, SELECT_V2, MAXIMUM stretch; SELECT has a condition per row.
    makes(0, None, &[Data(&[4, 1, 3]), Data(&[5, 1])], &[&[4, 5, 3]]);
    makes(55, None, &[Data(&[]), Data(&[5, 1])], &[&[5, 1]]);
    // Unary: RELU, LOGISTIC, EXP, HARD_SWISH, GELU, SOFTMAX, L2_NORMALIZATION.
    for code in [19, 14, 47, 117, 150, 25, 11] {
        makes(code, None, &[Data(&[2, 3])], &[&[2, 3]]);
    }
    // PRELU, CUMSUM, ADD_N, ZEROS_LIKE.
    makes(54, None, &[Data(&[1, 4, 4, 3]), Data(&[1, 1, 3])], &[&[1, 4, 4, 3]]);
    makes(128, None, &[Data(&[2, 3]), Number(1)], &[&[2, 3]]);
    makes(106, None, &[Data(&[2, 3]), Data(&[2, 3]), Data(&[2, 3])], &[&[2, 3]]);
    makes(93, None, &[Data(&[2, 3])], &[&[2, 3]]);
    // MEAN, SUM, REDUCE_MAX, of some dimensions, kept or not, of none.
    makes(40, Some((27, &[(0, 1)])), &[Data(&[2, 3, 4]), Vector(&[1, -1])], &[&[2, 1, 1]]);
    makes(74, Some((27, &[])), &[Data(&[2, 3, 4]), Vector(&[1])], &[&[2, 4]]);
    makes(82, Some((27, &[])), &[Data(&[2, 3, 4]), Number(0)], &[&[3, 4]]);
    // ARG_MAX, SHAPE, RANK, RANGE.
    makes(56, Some((40, &[(0, 2)])), &[Data(&[2, 3, 4]), Number(1)], &[&[2, 4]]);
    makes(77, Some((55, &[(0, 2)])), &[Data(&[2, 3, 4])], &[&[3]]);
    makes(110, None, &[Data(&[2, 3, 4])], &[&[]]);
    makes(96, None, &[Number(3), Number(18), Number(4)], &[&[4]]);
}
