//! Tests operators of other domains, old operators, and operators on strings and sequences. The expected
//! values are those of onnxruntime 1.32.

use super::{
    Attribute, graph, import, int, ints, made, model, node, operator, read, shown, tensor, text, texts,
};
use crate::import::ImportOptions;
use crate::operators::known_operators;
use plimsoll_model::graph::AliasKind;

/// Checks a table with the columns operator, inputs, attributes and outputs. All operators belong to
/// `domain`.
fn rows(domain: &str, rows: &[(&str, &[&str], &[Attribute], &str)]) {
    for (kind, inputs, attributes, expected) in rows {
        let kind = if domain.is_empty() { (*kind).to_owned() } else { format!("{domain}.{kind}") };
        let outputs = expected.split(' ').count();
        assert_eq!(made(&kind, inputs, attributes, outputs), *expected, "{kind} {inputs:?}");
    }
}

const MICROSOFT: &str = "com.microsoft";
const LEARNING: &str = "ai.onnx.ml";

fn reals(name: &str, list: &[f32]) -> Attribute {
    Attribute { name: name.to_owned(), floats: list.to_vec(), ..Attribute::default() }
}

#[test]
fn quantised() {
    let (s, z) = ("float32:", "uint8:");
    let last = [int("channels_last", 1)];
    rows(
        MICROSOFT,
        &[
            ("QLinearAdd", &["uint8:2x3", s, z, "uint8:3", s, z, s, z], &[], "uint8:2x3"),
            ("QLinearMul", &["int8:2x1", s, z, "int8:3", s, z, s, z], &[], "int8:2x3"),
            ("QLinearLeakyRelu", &["uint8:2x3", s, z, s, z], &[], "uint8:2x3"),
            ("QLinearSoftmax", &["uint8:2x3", s, z, s, z], &[], "uint8:2x3"),
            ("QLinearConcat", &[s, z, "uint8:2x3", s, z, "uint8:2x4", s, z], &[int("axis", 1)], "uint8:2x7"),
            ("QLinearGlobalAveragePool", &["uint8:1x3x4x5", s, z, s, z], &[], "uint8:1x3x1x1"),
            ("QLinearGlobalAveragePool", &["uint8:1x4x5x3", s, z, s, z], &last, "uint8:1x1x1x3"),
            (
                "QLinearAveragePool",
                &["uint8:1x6x6x3", s, z, s, z],
                &[ints("kernel_shape", &[3, 3]), int("channels_last", 1)],
                "uint8:1x4x4x3",
            ),
            (
                "QLinearConv",
                &["uint8:1x6x6x3", s, z, "uint8:4x3x3x3", s, z, s, z],
                &[ints("pads", &[1, 1, 1, 1]), int("channels_last", 1)],
                "uint8:1x6x6x4",
            ),
            (
                "QLinearReduceMean",
                &["uint8:2x3x4", s, z, s, z],
                &[ints("axes", &[1]), int("keepdims", 0)],
                "uint8:2x4",
            ),
            ("QGemm", &["uint8:2x3", s, z, "uint8:3x4", s, z], &[], "float32:2x4"),
            ("QGemm", &["uint8:2x3", s, z, "uint8:3x4", s, z, "", s, z], &[], "uint8:2x4"),
            ("QuantizeLinear", &["2x3", s, "uint16:"], &[], "uint16:2x3"),
            ("DequantizeLinear", &["uint8:2x3", s, z], &[], "float32:2x3"),
            ("DynamicQuantizeMatMul", &["2x3", "uint8:3x4", s, z], &[], "float32:2x4"),
            ("MatMulIntegerToFloat", &["uint8:2x3", "uint8:3x4", s, s, z, z], &[], "float32:2x4"),
            ("MatMulInteger16", &["int16:2x3", "int16:3x4"], &[], "int32:2x4"),
            ("MulInteger", &["uint8:2x3", z, "uint8:3", z], &[], "int32:2x3"),
            ("MatMulNBits", &["2x5x32", "uint8:8x2x8", "8x2"], &[int("N", 8), int("K", 32)], "float32:2x5x8"),
            ("MatMulBnb4", &["2x32", "uint8:128", "16"], &[int("N", 8), int("K", 32)], "float32:2x8"),
        ],
    );
}

#[test]
fn attention() {
    let (heads, packed) = ([int("num_heads", 2)], ints("qkv_hidden_sizes", &[8, 8, 4]));
    let grouped = [int("num_heads", 2), int("kv_num_heads", 1)];
    rows(
        MICROSOFT,
        &[
            ("Attention", &["2x5x8", "8x24", "24"], &heads, "float32:2x5x8 float32:2x2x2x5x4"),
            ("Attention", &["2x5x8", "8x20", "20"], &[int("num_heads", 2), packed], "float32:2x5x4"),
            (
                "Attention",
                &["2x5x8", "8x24", "24", "", "2x2x2x3x4"],
                &heads,
                "float32:2x5x8 float32:2x2x2x8x4",
            ),
            ("QAttention", &["uint8:2x5x8", "uint8:8x24", "24", "float32:"], &heads, "float32:2x5x8"),
            ("MultiHeadAttention", &["2x5x8", "2x7x8", "2x7x12"], &heads, "float32:2x5x12"),
            (
                "MultiHeadAttention",
                &["2x5x8", "2x5x8", "2x5x8", "", "", "", "2x2x3x4", "2x2x3x4"],
                &heads,
                "float32:2x5x8 float32:2x2x8x4 float32:2x2x8x4 float32:2x2x5x8",
            ),
            ("MultiHeadAttention", &["2x5x2x3x4"], &heads, "float32:2x5x8"),
            ("MultiHeadAttention", &["2x5x8", "2x7x2x2x4"], &heads, "float32:2x5x8"),
            ("MultiHeadAttention", &["2x5x8", "2x2x7x4", "2x2x7x4"], &heads, "float32:2x5x8"),
            (
                "DecoderMaskedMultiHeadAttention",
                &["2x1x8", "2x1x8", "2x1x8", "", "", "2x2x6x4", "2x2x6x4", "int32:1"],
                &[int("num_heads", 2), int("past_present_share_buffer", 1)],
                "float32:2x1x8 float32:2x2x6x4 float32:2x2x6x4",
            ),
            (
                "GroupQueryAttention",
                &["2x1x16", "2x1x8", "2x1x8", "2x1x6x8", "2x1x6x8", "int32:2", "#4"],
                &grouped,
                "float32:2x1x16 float32:2x1x6x8 float32:2x1x6x8",
            ),
            (
                "GroupQueryAttention",
                &["1x5x32", "", "", "", "", "int32:1", "#5"],
                &grouped,
                "float32:1x5x16 float32:1x1x5x8 float32:1x1x5x8",
            ),
            (
                "SkipLayerNormalization",
                &["2x5x8", "2x5x8", "8", "8"],
                &[],
                "float32:2x5x8 float32:2x5x1 float32:2x5x1 float32:2x5x8",
            ),
            (
                "EmbedLayerNormalization",
                &["int32:2x3", "int32:2x3", "9x8", "9x8", "2x8", "8", "8"],
                &[],
                "float32:2x3x8 int32:2",
            ),
            ("RotaryEmbedding", &["1x5x8", "int64:1x5", "9x2", "9x2"], &heads, "float32:1x5x8"),
            ("BeamSearch", &["int32:2x3", "=9", "=1", "=4", "=2"], &[], "int32:2x2x9 float32:2x2"),
            ("GreedySearch", &["int32:2x3", "=9"], &[], "int32:2x9"),
        ],
    );
    // The number of keys is not a constant. It is at most the number of earlier and new keys together.
    let query = ["2x1x16", "2x1x8", "2x1x8", "2x1x6x8", "2x1x6x8", "int32:2", "int32:"];
    let import = import(operator("com.microsoft.GroupQueryAttention", &query, &grouped, 3));
    assert_eq!(shown(&import, "o1"), "float32:2x1x7x8");
    assert!(import.assumed[0].contains("'o1' has at most 448 bytes"), "{:?}", import.assumed);
}

#[test]
fn fused_and_other() {
    rows(
        MICROSOFT,
        &[
            ("FusedMatMul", &["2x4x3", "2x4x5"], &[int("transA", 1)], "float32:2x3x5"),
            ("FusedMatMul", &["3x2x4", "2x4x5"], &[int("transBatchA", 1)], "float32:2x3x5"),
            ("FusedMatMul", &["2x3x4", "2x5x4"], &[int("transB", 1)], "float32:2x3x5"),
            ("FusedGemm", &["3x2", "3x4"], &[int("transA", 1)], "float32:2x4"),
            ("FusedConv", &["1x3x6x6", "4x3x3x3"], &[text("activation", "Relu")], "float32:1x4x4x4"),
            ("NhwcConv", &["1x6x6x3", "4x3x2x3"], &[], "float32:1x5x4x4"),
            ("NhwcFusedConv", &["float16:1x6x6x3", "float16:4x2x3x3"], &[], "float16:1x5x4x4"),
            ("NhwcMaxPool", &["uint8:1x6x6x3"], &[ints("kernel_shape", &[2, 2])], "uint8:1x5x5x3"),
            ("FastGelu", &["2x3", "3"], &[], "float32:2x3"),
            ("BiasSplitGelu", &["2x3x8", "8"], &[], "float32:2x3x4"),
            ("BiasDropout", &["2x3", "3"], &[], "float32:2x3 bool:2x3"),
            ("BitmaskDropout", &["5x20"], &[], "float32:5x20 uint32:4"),
            ("CDist", &["2x3", "4x3"], &[], "float32:2x4"),
            ("Range", &["#1", "#9"], &[], "int64:8"),
            ("ExpandDims", &["2x3", "#-1"], &[], "float32:2x3x1"),
            ("CropAndResize", &["1x2x6x6", "3x4", "int32:3", "=2,5"], &[], "float32:3x2x2x5"),
            ("MurmurHash3", &["int32:2x3"], &[int("positive", 0)], "int32:2x3"),
            ("Rfft", &["2x8"], &[int("onesided", 1)], "float32:2x5x2"),
            ("Irfft", &["2x5x2"], &[int("onesided", 1)], "float32:2x8"),
            ("ConvTransposeWithDynamicPads", &["1x3x4x4", "3x2x3x3", "=1,1,1,1"], &[], "float32:1x2x4x4"),
            ("UnfoldTensor", &["2x8"], &[int("dim", 1), int("size", 3), int("step", 2)], "float32:2x3x3"),
            ("RemovePadding", &["2x5x8", "int32:2"], &[], "float32:10x8 int32:2x5 int32:3 int32:1"),
        ],
    );
    rows(
        "com.microsoft.nchwc",
        &[
            ("Conv", &["1x16x6x6", "32x3x3x3"], &[], "float32:1x32x4x4"),
            ("ReorderOutput", &["1x16x6x6"], &[int("channels", 10)], "float32:1x10x6x6"),
        ],
    );
}

#[test]
fn learning() {
    let regression = [reals("coefficients", &[1.0; 6]), int("targets", 2)];
    let three = [ints("classlabels_ints", &[0, 1, 2]), reals("intercepts", &[0.0; 3])];
    let two = [texts("classlabels_strings", &["no", "yes"]), reals("intercepts", &[0.0])];
    let tree = [texts("classlabels_strings", &["a", "b", "c"])];
    let machine = |more: &[Attribute]| {
        let own = [ints("classlabels_ints", &[0, 1, 2, 3]), ints("vectors_per_class", &[1; 4])];
        [own.as_slice(), more].concat()
    };
    let kinds = [ints("cats_int64s", &[1, 2, 3, 4])];
    rows(
        LEARNING,
        &[
            ("LinearRegressor", &["4x3"], &regression, "float32:4x2"),
            ("LinearClassifier", &["4x3"], &three, "int64:4 float32:4x3"),
            ("LinearClassifier", &["4x3"], &two, "string:4 float32:4x2"),
            ("TreeEnsembleClassifier", &["float64:4x3"], &tree, "string:4 float32:4x3"),
            ("TreeEnsembleRegressor", &["4x3"], &[int("n_targets", 2)], "float32:4x2"),
            ("SVMRegressor", &["4x3"], &[], "float32:4x1"),
            ("SVMClassifier", &["4x3"], &machine(&[]), "int64:4 float32:4x6"),
            ("SVMClassifier", &["4x3"], &machine(&[reals("prob_a", &[0.1; 6])]), "int64:4 float32:4x4"),
            ("Scaler", &["int64:4x3"], &[], "float32:4x3"),
            ("Imputer", &["float64:4x3"], &[], "float64:4x3"),
            ("OneHotEncoder", &["int64:4x3"], &kinds, "float32:4x3x4"),
            ("ArrayFeatureExtractor", &["4x3", "=0,2"], &[], "float32:4x2"),
            ("ArrayFeatureExtractor", &["3", "=0,2"], &[], "float32:1x2"),
            ("FeatureVectorizer", &["4x3", "4x2"], &[ints("inputdimensions", &[3, 2])], "float32:4x5"),
            ("LabelEncoder", &["int64:4x3"], &[reals("values_floats", &[1.0])], "float32:4x3"),
            ("LabelEncoder", &["int64:4"], &[texts("classes_strings", &["a"])], "string:4"),
        ],
    );
    // There is one dictionary per row, with one number and one key per class.
    let import = import(operator("ai.onnx.ml.ZipMap", &["4x3"], &tree, 1));
    assert_eq!(import.graph.tensors()[1].bytes.get(), 4 * 3 * (32 + 4));
}

#[test]
fn old_and_rare() {
    let border = [ints("border", &[1, 2, 1, 1])];
    rows(
        "",
        &[
            ("Affine", &["2x3"], &[], "float32:2x3"),
            ("Crop", &["1x2x6x7"], &border, "float32:1x2x3x5"),
            ("SimplifiedLayerNormalization", &["2x5x8", "8"], &[], "float32:2x5x8 float32:2x5x1"),
            ("LayerNormalization", &["float16:2x8", "8"], &[], "float32:2x8 float32:2x1 float32:2x1"),
            ("AffineGrid", &["2x2x3", "=2,3,4,5"], &[], "float32:2x4x5x2"),
            ("Col2Im", &["1x5x5", "=5,5", "=1,5"], &[], "float32:1x1x5x5"),
            ("CenterCropPad", &["20x10x3", "=10,9"], &[ints("axes", &[0, 1])], "float32:10x9x3"),
            ("Det", &["2x3x3"], &[], "float32:2"),
            ("Multinomial", &["2x3"], &[int("sample_size", 4)], "int32:2x4"),
            ("MelWeightMatrix", &["#8", "#17", "#8192", "float32:", "float32:"], &[], "float32:9x8"),
            ("TfIdfVectorizer", &["int64:2x3"], &[ints("ngram_indexes", &[0, 1, 2])], "float32:2x3"),
            (
                "NegativeLogLikelihoodLoss",
                &["2x3x4", "int64:2x4"],
                &[text("reduction", "none")],
                "float32:2x4",
            ),
            ("SoftmaxCrossEntropyLoss", &["2x3", "int64:2"], &[], "float32:scalar float32:2x3"),
            ("ReduceSum", &["3x2", "int64:0"], &[], "float32:1x1"),
            ("Concat", &["4x0x3", "4x2x5"], &[int("axis", 1)], "float32:4x2x5"),
            ("Concat", &["2x3", "0x5"], &[int("axis", 1)], "float32:2x8"),
            ("Concat", &["2x0", "3x0"], &[int("axis", 1)], "float32:2x0"),
            ("BitCast", &["2x3"], &[int("to", 6)], "int32:2x3"),
            ("RegexFullMatch", &["2x1"], &[], "bool:2x1"),
        ],
    );
    rows(
        "ai.onnx.preview.training",
        &[("Momentum", &["float32:", "int64:", "2x3", "2x3", "2x3"], &[], "float32:2x3 float32:2x3")],
    );
}

/// Data-dependent extents are replaced by upper bounds, with a note.
#[test]
fn bounds_are_taken_and_noted() {
    let bound = |kind: &str, inputs: &[&str], attributes: &[Attribute], outputs: usize| {
        let import = import(operator(kind, inputs, attributes, outputs));
        assert!(import.assumed.iter().any(|line| line.contains("at most")), "{kind}: {:?}", import.assumed);
        let outputs: Vec<String> = (0..outputs).map(|at| shown(&import, &format!("o{at}"))).collect();
        outputs.join(" ")
    };
    assert_eq!(bound("NonZero", &["2x3"], &[], 1), "int64:2x6");
    assert_eq!(bound("NonZero", &["float32:"], &[], 1), "int64:1x1");
    assert_eq!(bound("Compress", &["2x3", "bool:2"], &[int("axis", 1)], 1), "float32:2x2");
    assert_eq!(bound("Compress", &["2x3", "bool:9"], &[], 1), "float32:6");
    assert_eq!(bound("Unique", &["2x3"], &[], 4), "float32:6 int64:6 int64:6 int64:6");
    let boxes = ["1x6x4", "1x2x6", "=3"];
    assert_eq!(bound("NonMaxSuppression", &boxes, &[], 1), "int64:6x3");
    assert_eq!(bound("NonMaxSuppression", &["1x6x4", "1x2x6", "int64:1"], &[], 1), "int64:12x3");
    assert_eq!(bound("Slice", &["4x5", "int64:1", "int64:1"], &[], 1), "float32:4x5");
    assert_eq!(bound("ReduceSum", &["3x5x4", "int64:1"], &[], 1), "float32:3x5x4");
    assert_eq!(bound("ReduceSum", &["3x5x4", "int64:1"], &[int("keepdims", 0)], 1), "float32:5x5");
    assert_eq!(bound("ReduceSum", &["2x0x4", "int64:1"], &[], 1), "float32:2x1x4");
    assert_eq!(bound("TopK", &["4x5", "int64:1"], &[], 2), "float32:4x5 int64:4x5");
}

/// A bound propagates to dependent tensors, but the bounded extents do not become constants.
#[test]
fn bounds_go_on() {
    let mut chain = graph(
        &[("x", "2x3"), ("z", "5x1")],
        [
            node("NonZero", "x", "n", []),
            node("Transpose", "n", "t", []),
            node("Reshape", "t five", "r", []),
            node("Add", "n m", "a", []),
            node("Shape", "n", "s", []),
            node("Compress", "x c", "m0", []),
            node("Cast", "m0", "m", [int("to", 7)]),
        ],
        "r a s",
    );
    chain.input.push(super::info("c", "bool:4"));
    chain.initializer = vec![tensor("five", &[2], &[-1, 5])];
    let import = import(chain);
    // Twelve elements contain two whole rows of five.
    assert_eq!(shown(&import, "r"), "int64:2x5");
    assert_eq!(shown(&import, "a"), "int64:2x6");
    assert_eq!(shown(&import, "s"), "int64:2");
    assert_eq!(import.assumed.len(), 2, "only where they begin: {:?}", import.assumed);
    let nodes =
        [node("NonZero", "x", "n", []), node("Shape", "n", "s", []), node("ConstantOfShape", "s", "y", [])];
    let error = super::error(graph(&[("x", "2x3")], nodes, "y"));
    assert!(error.contains("it depends on the values of input 's'"), "{error}");
}

#[test]
fn sequences_hold_their_tensors() {
    let nodes = [
        node("SequenceConstruct", "x y", "s", []),
        node("SequenceInsert", "s y zero", "t", []),
        node("SequenceAt", "t one", "a", []),
        node("SequenceAt", "t k", "b", []),
        node("SequenceLength", "t", "l", []),
        node("SequenceErase", "t", "e", []),
        node("ConcatFromSequence", "e", "c", [int("axis", 0)]),
        node("SplitToSequence", "c three", "p", []),
        node("Optional", "p", "o", []),
        node("OptionalGetElement", "o", "q", []),
        node("SequenceAt", "q one", "d", []),
        node("ConstantOfShape", "l1", "w", []),
        node("Reshape", "l minus", "l1", []),
    ];
    let mut graph = graph(&[("x", "2x3"), ("y", "4x3"), ("k", "int64:")], nodes, "a b c d e o w");
    graph.initializer = vec![
        tensor("zero", &[], &[0]),
        tensor("one", &[], &[1]),
        tensor("three", &[], &[3]),
        tensor("minus", &[1], &[-1]),
    ];
    let import = import(graph);
    let bytes = |name: &str| import.graph.tensors().iter().find(|t| t.name == name).unwrap().bytes.get();
    assert_eq!((bytes("s"), bytes("t"), bytes("e"), bytes("p")), (72, 120, 72, 72));
    assert_eq!(shown(&import, "a"), "float32:2x3");
    assert_eq!(shown(&import, "b"), "float32:4x3", "the largest");
    assert_eq!(shown(&import, "c"), "float32:6x3");
    assert_eq!(shown(&import, "d"), "float32:3x3");
    assert_eq!(shown(&import, "w"), "float32:3");
    assert_eq!(
        import.assumed,
        ["operator 3 'b' (SequenceAt): 'b' has at most 48 bytes (its extent depends on data)"]
    );
}

/// A loop-carried value that never changes stays a constant and determines shapes.
#[test]
fn loops_keep_constants() {
    let inside = graph(
        &[("i", "int64:"), ("go", "bool:"), ("n", "int64:1"), ("v", "3")],
        [
            node("Identity", "go", "on", []),
            node("Identity", "n", "same", []),
            node("ConstantOfShape", "n", "row", []),
            node("Add", "v row", "w", []),
        ],
        "on same w row",
    );
    let nodes = [
        node("Shape", "x", "s", []),
        node("Slice", "s zero one", "m1", []),
        node("Squeeze", "m1", "m", []),
        node("Loop", "m _ n0 v0", "n1 v1 rows", [super::body("body", inside)]),
    ];
    let mut outer = graph(&[("x", "7x2"), ("v0", "3")], nodes, "n1 v1 rows");
    outer.initializer = vec![tensor("zero", &[1], &[0]), tensor("one", &[1], &[1]), tensor("n0", &[1], &[3])];
    let import = import(outer);
    assert_eq!(shown(&import, "rows"), "float32:7x3");
    assert_eq!(import.assumed, [""; 0], "it runs to the end");
}

/// Small constants are tracked through the operators that compute shapes. Here, the result of each operator
/// is used as the shape of a tensor.
#[test]
fn constants_are_followed() {
    let shape = |kind: &str, inputs: &[&str], attributes: &[Attribute]| {
        let mut graph = operator(kind, inputs, attributes, 1);
        graph.node.push(node("Reshape", "o0 minus", "flat", []));
        graph.node.push(node("Cast", "flat", "wanted", [int("to", 7)]));
        graph.node.push(node("ConstantOfShape", "wanted", "y", []));
        graph.initializer.push(tensor("minus", &[1], &[-1]));
        graph.output = vec![super::info("y", "*")];
        match read(&model(graph), &ImportOptions::default()) {
            Ok(import) => shown(&import, "y").replace("float32:", ""),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(shape("ReduceSum", &["=2,3,4"], &[]), "9");
    assert_eq!(shape("ReduceMean", &["=2,3,4"], &[]), "3");
    assert_eq!(shape("ArgMax", &["=2,9,4"], &[]), "1");
    assert_eq!(shape("CumSum", &["=2,3,4", "#0"], &[]), "2x5x9");
    assert_eq!(shape("CumSum", &["=2,3,4", "#0"], &[int("exclusive", 1), int("reverse", 1)]), "7x4x0");
    assert_eq!(shape("Pad", &["=2,3", "=1,2", "#7"], &[]), "7x2x3x7x7");
    assert_eq!(shape("GatherElements", &["=2,3,4", "=2,-3"], &[]), "4x2");
    assert_eq!(shape("ScatterElements", &["=2,3,4", "=1", "=9"], &[]), "2x9x4");
    assert_eq!(shape("TopK", &["=2,9,4", "=2"], &[]), "9x4");
    assert_eq!(shape("Unique", &["=4,2,4"], &[]), "2x4");
    assert_eq!(shape("OneHot", &["=1", "#3", "=2,7"], &[]), "2x7x2");
    assert_eq!(shape("Max", &["=2,9", "=5,5", "=1,1"], &[]), "5x9");
    assert_eq!(shape("Clip", &["=2,9", "#3", "#8"], &[]), "3x8");
    assert_eq!(shape("Cast", &["=4294967298"], &[int("to", 6)]), "2", "the lowest bits");
    assert_eq!(shape("Range", &["~1", "~2", "~0.5"], &[]), "1x1");
}

#[test]
fn constants_in_two_dimensions() {
    let matrix = |list: &[i64]| tensor("m", &[2, 2], list);
    let one = |kind: &str, inputs: &str, attributes: &[Attribute]| {
        let nodes = [
            node(kind, inputs, "o", attributes),
            node("Reshape", "o minus", "flat", []),
            node("ConstantOfShape", "flat", "y", []),
        ];
        let mut graph = graph(&[], nodes, "y");
        graph.initializer = vec![
            matrix(&[1, 2, 3, 4]),
            tensor("minus", &[1], &[-1]),
            tensor("at", &[1, 2], &[1, 0]),
            tensor("row", &[1, 1], &[1]),
            tensor("nine", &[1], &[9]),
            tensor("zero", &[1], &[0]),
            tensor("column", &[2, 1], &[5, 6]),
        ];
        shown(&import(graph), "y").replace("float32:", "")
    };
    assert_eq!(one("ReduceSum", "m", &[ints("axes", &[0])]), "4x6");
    assert_eq!(one("ReduceProd", "m", &[ints("axes", &[1])]), "2x12");
    assert_eq!(one("Concat", "m column", &[int("axis", 1)]), "1x2x5x3x4x6");
    assert_eq!(one("GatherND", "m at", &[]), "3");
    assert_eq!(one("GatherND", "m row", &[]), "3x4");
    assert_eq!(one("ScatterND", "m at nine", &[]), "1x2x9x4");
    assert_eq!(one("Trilu", "m", &[int("upper", 0)]), "1x0x3x4");
    assert_eq!(one("CumSum", "m zero", &[]), "1x2x4x6");
}

#[test]
fn every_operator_listed_has_a_rule() {
    let all = known_operators();
    assert!(all.len() > 300, "{}", all.len());
    for one in all {
        let domain = if one.domain == "ai.onnx" { "" } else { one.domain };
        let kind = if domain.is_empty() { one.name.to_owned() } else { format!("{domain}.{}", one.name) };
        let message = made(&kind, &["2x3x4x5", "2x3x4x5"], &[], 1);
        let unknown = [format!("operator {} is not known", one.name), "of domain".to_owned()];
        assert!(!unknown.iter().any(|text| message.contains(text)), "{kind}: {message}");
    }
}

#[test]
fn memory_is_shared_by_functions_of_one_element() {
    let kinds = |kind: &str, inputs: &[&str]| {
        let import = import(operator(kind, inputs, &[], 1));
        import.graph.operators()[0].aliases.iter().map(|alias| alias.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds("com.microsoft.QuickGelu", &["2x3"]), [AliasKind::InPlace]);
    assert_eq!(kinds("com.microsoft.SkipLayerNormalization", &["2x3", "2x3", "3"]), []);
    assert_eq!(kinds("Affine", &["2x3"]), [AliasKind::InPlace]);
    assert_eq!(kinds("Optional", &["2x3"]), [AliasKind::View]);
}
