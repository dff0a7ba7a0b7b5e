//! Tests the shape rules with the numbers and formulas of the ONNX operator specification.

use super::{floats, graph, import, info, int, ints, made, model, node, operator, read, shown, tensor, text};
use crate::import::ImportOptions;
use crate::onnx::proto::Attribute;
use crate::operators::element::Element;
use crate::operators::value::{Fact, Value};
use plimsoll_model::graph::{AliasKind, Role};

/// Checks a table with the columns operator, inputs, attributes and outputs.
fn rows(rows: &[(&str, &[&str], &[Attribute], &str)]) {
    for (kind, inputs, attributes, expected) in rows {
        let outputs = expected.split(' ').count();
        assert_eq!(made(kind, inputs, attributes, outputs), *expected, "{kind} {inputs:?}");
    }
}

#[test]
fn convolutions() {
    let seven = [ints("kernel_shape", &[7, 7]), ints("strides", &[2, 2]), ints("pads", &[3, 3, 3, 3])];
    let same = [text("auto_pad", "SAME_UPPER"), ints("strides", &[2, 2])];
    rows(&[
        ("Conv", &["1x3x224x224", "64x3x7x7"], &seven, "float32:1x64x112x112"),
        (
            "Conv",
            &["1x1x7x5", "1x1x3x3"],
            &[ints("pads", &[1, 0, 1, 0]), ints("strides", &[2, 2])],
            "float32:1x1x4x2",
        ),
        ("Conv", &["1x1x5x5", "1x1x3x3"], &same, "float32:1x1x3x3"),
        ("Conv", &["1x8x10", "8x1x3"], &[int("group", 8), ints("dilations", &[2])], "float32:1x8x6"),
        ("Conv", &["1x1x5x5", "1x1x3x3"], &[text("auto_pad", "VALID")], "float32:1x1x3x3"),
        ("ConvInteger", &["uint8:1x1x3x3", "uint8:1x1x2x2"], &[], "int32:1x1x2x2"),
        (
            "QLinearConv",
            &["uint8:1x1x7x7", "float32:", "uint8:", "uint8:1x1x1x1", "~1", "uint8:1", "float32:", "uint8:"],
            &[],
            "uint8:1x1x7x7",
        ),
        // The example in the specification: 2 * 2 + 3 - pads + output_padding.
        ("ConvTranspose", &["1x1x3x3", "1x2x3x3"], &[], "float32:1x2x5x5"),
        (
            "ConvTranspose",
            &["1x1x3x3", "1x2x3x3"],
            &[ints("strides", &[3, 2]), ints("pads", &[1, 2, 1, 2])],
            "float32:1x2x7x3",
        ),
        (
            "ConvTranspose",
            &["1x1x3x3", "1x2x3x3"],
            &[ints("strides", &[3, 2]), ints("output_shape", &[10, 8])],
            "float32:1x2x10x8",
        ),
        ("ConvTranspose", &["1x1x3x3", "1x2x3x3"], &[ints("dilations", &[2, 2])], "float32:1x2x7x7"),
        ("ConvTranspose", &["1x1x3x3", "1x2x3x3"], &same, "float32:1x2x6x6"),
        // The windows have gaps between them, so the extent is 4 * 5 + 2, although 4 * 6 is requested.
        (
            "ConvTranspose",
            &["1x1x6", "1x1x2"],
            &[text("auto_pad", "SAME_UPPER"), ints("strides", &[4])],
            "float32:1x1x22",
        ),
    ]);
}

#[test]
fn pools() {
    let ceil = [ints("kernel_shape", &[3, 3]), ints("strides", &[2, 2]), int("ceil_mode", 1)];
    rows(&[
        ("MaxPool", &["1x3x32x32"], &[ints("kernel_shape", &[2, 2])], "float32:1x3x31x31 int64:1x3x31x31"),
        ("MaxPool", &["1x1x4x4"], &ceil, "float32:1x1x2x2"),
        ("MaxPool", &["1x1x4x4"], &ceil[..2], "float32:1x1x1x1"),
        // A window that would start beyond the input and its first padding is omitted.
        (
            "AveragePool",
            &["1x1x2x2"],
            &[ints("kernel_shape", &[1, 1]), ints("strides", &[2, 2]), int("ceil_mode", 1)],
            "float32:1x1x1x1",
        ),
        (
            "MaxPool",
            &["1x1x4x4"],
            &[ints("kernel_shape", &[2, 2]), ints("dilations", &[2, 2])],
            "float32:1x1x2x2",
        ),
        (
            "MaxPool",
            &["1x3x32x32"],
            &[ints("kernel_shape", &[2, 2]), text("auto_pad", "SAME_LOWER")],
            "float32:1x3x32x32",
        ),
        ("GlobalAveragePool", &["1x3x5x5"], &[], "float32:1x3x1x1"),
        ("MaxRoiPool", &["1x3x9x9", "7x5"], &[ints("pooled_shape", &[2, 3])], "float32:7x3x2x3"),
    ]);
}

/// The expected shapes are those of onnxruntime 1.23. They do not depend on the version of the operator
/// set.
#[test]
fn pools_that_round_up() {
    let pool = |kernel, stride, dilation, pads: [i64; 2]| {
        let [kernel, stride, dilation] =
            [("kernel_shape", kernel), ("strides", stride), ("dilations", dilation)]
                .map(|(name, value)| ints(name, &[value]));
        [kernel, stride, dilation, ints("pads", &pads), int("ceil_mode", 1)]
    };
    rows(&[
        // A window that extends beyond the padding has one position.
        ("MaxPool", &["1x1x4"], &pool(3, 3, 2, [0, 0]), "float32:1x1x1"),
        ("AveragePool", &["1x1x1"], &pool(3, 4, 1, [1, 0]), "float32:1x1x1"),
        ("LpPool", &["1x1x2"], &pool(3, 4, 2, [0, 1]), "float32:1x1x1"),
        // A window that would start after the only element has no position.
        ("MaxPool", &["1x1x1"], &pool(3, 3, 2, [0, 0]), "float32:1x1x0"),
        ("AveragePool", &["1x1x6"], &pool(3, 3, 1, [2, 2]), "float32:1x1x3"),
        ("MaxPool", &["1x1x5"], &pool(2, 3, 1, [1, 1]), "float32:1x1x2"),
    ]);
    let below = made("LpPool", &["1x1x1"], &pool(3, 1, 2, [1, 0]), 1);
    assert!(below.contains("a window of 5 does not fit into the padded extent 2"), "{below}");
}

#[test]
fn pools_of_which_versions_think_otherwise_are_noted() {
    let attributes = [ints("kernel_shape", &[2]), ints("strides", &[3]), int("ceil_mode", 1)];
    let assumed = |version: i64, attributes: &[Attribute], length: &str| {
        let mut model = model(operator("MaxPool", &[length], attributes, 1));
        model.opset_import[0].version = version;
        read(&model, &ImportOptions::default()).unwrap().assumed
    };
    assert_eq!(
        assumed(17, &attributes, "1x1x6"),
        [
            "operator 0 'o0' (MaxPool): the formula of operator set 17 counts a window that starts in the padding; \
          as in runtimes, it is not counted"
        ]
    );
    assert_eq!(assumed(22, &attributes, "1x1x6"), [""; 0]);
    assert_eq!(assumed(17, &attributes, "1x1x5"), [""; 0]);
    assert_eq!(assumed(17, &attributes[..2], "1x1x6"), [""; 0]);
}

#[test]
fn fourier_transforms() {
    let (half, back) = ([int("onesided", 1)], [int("onesided", 1), int("inverse", 1)]);
    rows(&[
        ("DFT", &["1x10x10x1"], &[], "float32:1x10x10x2"),
        ("DFT", &["1x10x10x1"], &half, "float32:1x6x10x2"),
        ("DFT", &["1x10x10x1", "#7"], &half, "float32:1x4x10x2"),
        ("DFT", &["1x6x10x2"], &back, "float32:1x10x10x1"),
        ("DFT", &["1x6x10x2", "#11"], &back, "float32:1x11x10x1"),
        ("DFT", &["1x10x10x2"], &back[1..], "float32:1x10x10x2"),
        ("DFT", &["1x10x10x2", "#16"], &[int("axis", -2)], "float32:1x10x16x2"),
    ]);
    let last = made("DFT", &["1x10x10x2"], &[int("axis", 3)], 1);
    assert!(last.contains("its axis is the dimension of real and imaginary parts"), "{last}");
    let mut later = model(operator("DFT", &["6x10x2", "", "#0"], &back, 1));
    later.opset_import[0].version = 20;
    let made = read(&later, &ImportOptions::default()).unwrap();
    assert_eq!(shown(&made, "o0"), "float32:10x10x1");
}

#[test]
fn matrices() {
    rows(&[
        ("MatMul", &["3x4", "4x3"], &[], "float32:3x3"),
        ("MatMul", &["1x2x3x4", "2x1x4x3"], &[], "float32:2x2x3x3"),
        ("MatMul", &["4", "2x4x5"], &[], "float32:2x5"),
        ("MatMul", &["2x3x4", "4"], &[], "float32:2x3"),
        ("MatMul", &["4", "4"], &[], "float32:scalar"),
        ("MatMulInteger", &["uint8:4x3", "uint8:3x2"], &[], "int32:4x2"),
        ("Gemm", &["6x3", "6x4", "3x4"], &[int("transA", 1)], "float32:3x4"),
        ("Gemm", &["3x6", "4x6"], &[int("transB", 1)], "float32:3x4"),
        ("Einsum", &["5x2x3", "5x3x4"], &[text("equation", "bij, bjk -> bik")], "float32:5x2x4"),
        ("Einsum", &["3x4"], &[text("equation", "ij->j")], "float32:4"),
        ("Einsum", &["5x6x3x3"], &[text("equation", "...ii ->...i")], "float32:5x6x3"),
        ("Einsum", &["2x3", "3x4"], &[text("equation", "ij,jk")], "float32:2x4"),
    ]);
}

#[test]
fn normalisations_and_reductions() {
    rows(&[
        ("BatchNormalization", &["2x3x4x5", "3", "3", "3", "3"], &[], "float32:2x3x4x5"),
        ("LayerNormalization", &["2x3x4", "4"], &[], "float32:2x3x4 float32:2x3x1 float32:2x3x1"),
        ("LRN", &["5x5x5x5"], &[int("size", 3)], "float32:5x5x5x5"),
        ("Softmax", &["float16:3x4"], &[], "float16:3x4"),
        ("ReduceSum", &["3x2x2", "=1"], &[int("keepdims", 0)], "float32:3x2"),
        ("ReduceSum", &["3x2x2", "=1"], &[], "float32:3x1x2"),
        ("ReduceMean", &["3x2x2"], &[ints("axes", &[1, -1]), int("keepdims", 0)], "float32:3"),
        ("ReduceMax", &["3x2x2"], &[], "float32:1x1x1"),
        ("ReduceL2", &["3x2x2"], &[int("noop_with_empty_axes", 1)], "float32:3x2x2"),
        ("ArgMax", &["2x3"], &[int("axis", 1), int("keepdims", 0)], "int64:2"),
        ("TopK", &["3x4", "=2"], &[], "float32:3x2 int64:3x2"),
        ("CumSum", &["2x3", "#0"], &[], "float32:2x3"),
    ]);
}

#[test]
fn recurrent_cells() {
    let lstm = [int("hidden_size", 7)];
    let both = [int("hidden_size", 5), int("layout", 1)];
    rows(&[
        ("LSTM", &["10x4x3", "1x28x3", "1x28x7"], &lstm, "float32:10x1x4x7 float32:1x4x7 float32:1x4x7"),
        ("GRU", &["10x4x3", "2x15x3", "2x15x5"], &lstm[..0], "float32:10x2x4x5 float32:2x4x5"),
        ("RNN", &["4x10x3", "1x5x3", "1x5x5"], &both, "float32:4x10x1x5 float32:4x1x5"),
    ]);
}

#[test]
fn movement() {
    rows(&[
        ("Reshape", &["2x3x4", "=0,-1"], &[], "float32:2x12"),
        ("Reshape", &["2x3x4", "=4,2,3"], &[], "float32:4x2x3"),
        ("Reshape", &["0x3x4", "=3,4,0"], &[int("allowzero", 1)], "float32:3x4x0"),
        ("Flatten", &["2x3x4x5"], &[int("axis", 2)], "float32:6x20"),
        ("Flatten", &["2x3"], &[int("axis", 0)], "float32:1x6"),
        ("Squeeze", &["1x3x1x5", "=0"], &[], "float32:3x1x5"),
        ("Squeeze", &["1x3x1x5"], &[], "float32:3x5"),
        ("Unsqueeze", &["3x4x5", "=2,4,5"], &[], "float32:3x4x1x5x1x1"),
        ("Unsqueeze", &["3x4"], &[ints("axes", &[0])], "float32:1x3x4"),
        ("Transpose", &["2x3x4"], &[], "float32:4x3x2"),
        ("Transpose", &["2x3x4"], &[ints("perm", &[0, 2, 1])], "float32:2x4x3"),
        ("Concat", &["2x3", "2x4"], &[int("axis", -1)], "float32:2x7"),
        ("Split", &["6"], &[], "float32:2 float32:2 float32:2"),
        ("Split", &["7"], &[int("num_outputs", 3)], "float32:3 float32:3 float32:1"),
        ("Split", &["2x6", "=2,4"], &[int("axis", 1)], "float32:2x2 float32:2x4"),
        ("Slice", &["20x10x5", "=0,0", "=3,10", "=0,1", "=1,1"], &[], "float32:3x10x5"),
        ("Slice", &["20x10x5", "=20,10,4", "=0,0,1", "=0,1,2", "=-1,-3,-2"], &[], "float32:19x3x2"),
        ("Slice", &["20x10x5", "=1", "=1000", "=1"], &[], "float32:20x9x5"),
        ("Slice", &["4", "=-1", "=-9223372036854775808", "=0", "=-1"], &[], "float32:4"),
        ("ReverseSequence", &["4x3", "=1,2,3"], &[], "float32:4x3"),
        ("Slice", &["0x3", "=-1", "=-9223372036854775808", "=0", "=-1"], &[], "float32:0x3"),
        ("Slice", &["=", "=-1", "=-9223372036854775808", "=0", "=-1"], &[], "int64:0"),
        ("Gather", &["5x4x3x2", "int64:7x8"], &[int("axis", 1)], "float32:5x7x8x3x2"),
        ("GatherElements", &["3x3", "int64:2x3"], &[], "float32:2x3"),
        ("GatherND", &["2x2x2", "int64:2x1x2"], &[], "float32:2x1x2"),
        ("GatherND", &["2x2x2", "int64:2x1"], &[int("batch_dims", 1)], "float32:2x2"),
        ("Expand", &["3x1", "=2,1,6"], &[], "float32:2x3x6"),
        ("Tile", &["2x3", "=2,2"], &[], "float32:4x6"),
        ("Pad", &["3x2", "=0,2,0,0"], &[], "float32:3x4"),
        ("Pad", &["1x3x4x5", "=-1,1", "", "=-1"], &[], "float32:1x3x4x5"),
        ("DepthToSpace", &["1x8x2x3"], &[int("blocksize", 2)], "float32:1x2x4x6"),
        ("SpaceToDepth", &["1x2x4x6"], &[int("blocksize", 2)], "float32:1x8x2x3"),
        ("Resize", &["1x1x2x4", "", "~1,1,0.6,0.6"], &[], "float32:1x1x1x2"),
        ("Resize", &["1x1x2x4", "", "", "=1,1,3,3"], &[], "float32:1x1x3x3"),
        ("Upsample", &["1x1x2x2", "~1,1,2,3"], &[], "float32:1x1x4x6"),
        ("OneHot", &["int64:3", "#12", "2"], &[], "float32:3x12"),
    ]);
}

#[test]
fn elements() {
    rows(&[
        ("Add", &["2x3x4x5", "5"], &[], "float32:2x3x4x5"),
        ("Add", &["3x4x1", "2x1x1x5"], &[], "float32:2x3x4x5"),
        ("Less", &["2x1", "3"], &[], "bool:2x3"),
        ("Where", &["bool:3x1", "float16:4", "float16:"], &[], "float16:3x4"),
        ("Cast", &["2x3"], &[int("to", 16)], "bfloat16:2x3"),
        ("IsNaN", &["2"], &[], "bool:2"),
        ("Dropout", &["2x3"], &[], "float32:2x3 bool:2x3"),
        ("Sum", &["3", "2x1", "1x1"], &[], "float32:2x3"),
        ("PRelu", &["2x3x4", "3x1"], &[], "float32:2x3x4"),
        ("QuantizeLinear", &["2x3", "~1", "int8:"], &[], "int8:2x3"),
        ("QuantizeLinear", &["2x3", "~1", "int8:"], &[int("output_dtype", 0)], "int8:2x3"),
        ("QuantizeLinear", &["2x3", "~1"], &[int("output_dtype", 0)], "uint8:2x3"),
        ("Cast", &["2x3"], &[text("to", "DOUBLE")], "float64:2x3"),
        ("DequantizeLinear", &["int8:2x3", "float16:"], &[], "float16:2x3"),
        ("DynamicQuantizeLinear", &["6"], &[], "uint8:6 float32:scalar uint8:scalar"),
        ("Range", &["#1", "#10", "#2"], &[], "int64:5"),
        ("ConstantOfShape", &["=2,3"], &[], "float32:2x3"),
        ("STFT", &["1x128x1", "#8", "", "#16"], &[], "float32:1x15x9x2"),
    ]);
}

/// Values that are tracked through arithmetic determine a shape.
#[test]
fn shapes_that_are_computed() {
    let nodes = [
        node("Shape", "x", "s", []),
        node("Gather", "s zero", "batch", []),
        node("Slice", "s one end", "rest", []),
        node("ReduceProd", "rest", "product", [int("keepdims", 1)]),
        node("Unsqueeze", "batch none", "b", []),
        node("Div", "product two", "half", []),
        node("Concat", "b half two", "wanted", [int("axis", 0)]),
        node("Reshape", "x wanted", "y", []),
        node("Equal", "wanted wanted", "same", []),
        node("Cast", "same", "ones", [int("to", 7)]),
        node("Where", "same wanted ones", "chosen", []),
        node("ConstantOfShape", "chosen", "z", []),
        node("NonZero", "chosen", "all", []),
    ];
    let mut graph = graph(&[("x", "4x3x6x2")], nodes, "y z all");
    graph.initializer = vec![
        tensor("zero", &[], &[0]),
        tensor("none", &[1], &[0]),
        tensor("one", &[1], &[1]),
        tensor("end", &[1], &[i64::MAX]),
        tensor("two", &[1], &[2]),
    ];
    let import = import(graph);
    assert_eq!(shown(&import, "y"), "float32:4x18x2");
    assert_eq!(shown(&import, "z"), "float32:4x18x2");
    assert_eq!(shown(&import, "all"), "int64:1x3");
    assert_eq!(import.graph.operators().len(), 13, "all stay");
    assert_eq!(import.graph.bytes(Role::Weight).get(), 5 * 8);
}

/// Ten times 0.7 is 7 in `float32`, although the `float32` number nearest to 0.7 is slightly less than 0.7.
#[test]
fn constants_are_rounded_as_their_type_is() {
    let nodes = [
        node("Shape", "x", "s", []),
        node("Cast", "s", "extents", [int("to", 1)]),
        node("Mul", "extents scale", "scaled", []),
        node("Floor", "scaled", "whole", []),
        node("Cast", "whole", "wanted", [int("to", 7)]),
        node("ConstantOfShape", "wanted", "y", []),
    ];
    let mut graph = graph(&[("x", "10x5")], nodes, "y");
    graph.initializer = vec![floats("scale", &[], &[0.7])];
    assert_eq!(shown(&import(graph), "y"), "float32:7x3");
    let held = |element, i| Fact::new(Some(element), [1]).with(Some(Value::Ints(vec![i]))).value.is_some();
    assert!(held(Element::UINT8, 255) && !held(Element::UINT8, 256) && !held(Element::UINT8, -1));
    assert!(held(Element::INT32, i64::from(i32::MIN)) && !held(Element::INT32, 1 << 31));
    assert!(held(Element::INT64, i64::MIN) && held(Element::BOOL, 1));
}

#[test]
fn memory_is_shared_where_nothing_is_lost() {
    let aliases = |kind: &str, inputs: &[&str], attributes: &[Attribute]| {
        let import = import(operator(kind, inputs, attributes, 1));
        let aliases = import.graph.operators()[0].aliases.clone();
        aliases.iter().map(|alias| (alias.input.index(), alias.kind)).collect::<Vec<_>>()
    };
    let (view, over) = (AliasKind::View, AliasKind::InPlace);
    assert_eq!(aliases("Identity", &["2x3"], &[]), [(0, view)]);
    assert_eq!(aliases("Flatten", &["2x3"], &[]), [(0, view)]);
    assert_eq!(aliases("Dropout", &["2x3"], &[]), [(0, view)]);
    assert_eq!(aliases("Cast", &["2x3"], &[int("to", 1)]), [(0, view)]);
    assert_eq!(aliases("Cast", &["2x3"], &[int("to", 6)]), [(0, over)]);
    assert_eq!(aliases("Cast", &["2x3"], &[int("to", 10)]), []);
    assert_eq!(aliases("Relu", &["2x3"], &[]), [(0, over)]);
    assert_eq!(aliases("Add", &["2x3", "2x3"], &[]), [(0, over), (1, over)]);
    assert_eq!(aliases("Add", &["3", "2x3"], &[]), [(1, over)]);
    assert_eq!(aliases("Less", &["2x3", "2x3"], &[]), []);
    assert_eq!(aliases("Softmax", &["2x3"], &[]), []);
    assert_eq!(aliases("BatchNormalization", &["2x3", "3", "3", "3", "3"], &[]), [(0, over)]);
}

#[test]
fn arithmetic_is_counted() {
    let cost = |kind: &str, inputs: &[&str], attributes: &[Attribute]| {
        import(operator(kind, inputs, attributes, 1)).graph.operators()[0].cost
    };
    assert_eq!(cost("Conv", &["1x4x8x8", "6x2x3x3"], &[int("group", 2)]), Some(6 * 36 * 2 * 9));
    assert_eq!(cost("ConvTranspose", &["1x4x8x8", "4x6x3x3"], &[]), Some(4 * 64 * 6 * 9));
    assert_eq!(cost("MatMul", &["5x2x3", "3x4"], &[]), Some(5 * 2 * 3 * 4));
    assert_eq!(cost("Gemm", &["3x2", "3x4"], &[int("transA", 1)]), Some(2 * 3 * 4));
    assert_eq!(cost("LSTM", &["10x4x3", "1x28x3", "1x28x7"], &[]), Some(10 * 4 * 4 * 7 * (3 + 7)));
    assert_eq!(cost("Relu", &["2x3"], &[]), Some(6));
    assert_eq!(cost("Flatten", &["2x3"], &[]), Some(0));
}

#[test]
fn element_types_have_their_bytes() {
    let bytes = |kind: &str, options: &ImportOptions| {
        let graph = graph(&[("x", kind)], [node("Identity", "x", "y", [])], "y");
        let import = read(&model(graph), options).unwrap();
        import.graph.bytes(Role::Output).get()
    };
    let plain = ImportOptions::default();
    for (kind, expected) in [
        ("float32:3", 12),
        ("float16:3", 6),
        ("bfloat16:3", 6),
        ("float64:3", 24),
        ("int8:3", 3),
        ("bool:3", 3),
        ("uint4:3", 2),
        ("int2:5", 2),
        ("complex64:3", 24),
        ("float8e5m2:3", 3),
        ("int64:scalar", 8),
        ("int64:0x3", 0),
    ] {
        assert_eq!(bytes(kind, &plain), expected, "{kind}");
    }
    let half = ImportOptions { element: Some("float16".to_owned()), ..plain };
    assert_eq!(bytes("float32:3", &half), 6);
    assert_eq!(bytes("int32:3", &half), 12);
}

#[test]
fn weights_are_constants_from_wherever() {
    let value = |name: &str, attribute: Attribute| node("Constant", "", name, [attribute]);
    let held = Attribute {
        t: Some(Box::new(floats("", &[2, 2], &[0.0; 4]))),
        name: "value".to_owned(),
        ..Attribute::default()
    };
    let nodes = [
        value("c", held),
        value("d", ints("value_ints", &[1, 2, 3])),
        node("Add", "x c", "a", []),
        node("Add", "a w", "b", []),
        node("Add", "b e", "y", []),
    ];
    let mut graph = graph(&[("x", "2x2"), ("w", "2x2")], nodes, "y");
    // This tensor has no data, as in a file whose weights are stored in a separate file.
    let outside = crate::onnx::proto::Tensor { data_location: 1, ..floats("e", &[2, 2], &[]) };
    graph.initializer = vec![floats("w", &[2, 2], &[1.0; 4]), outside];
    graph.value_info = vec![info("a", "9x9")];
    let import = import(graph);
    assert_eq!(import.graph.bytes(Role::Weight).get(), 3 * 16 + 24);
    assert_eq!(import.graph.bytes(Role::Input).get(), 16, "w is no input");
    assert_eq!(import.graph.operators().len(), 3);
    assert_eq!(shown(&import, "a"), "float32:2x2", "inference wins");
    let adds: Vec<u64> =
        (0..3).map(|at| import.graph.weight_bytes(plimsoll_model::OperatorId::at(at)).get()).collect();
    assert_eq!(adds, [16, 16, 16]);
}
