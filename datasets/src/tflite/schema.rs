//! Names and numbers of the format: `TFLite`'s public schema, version 3 (file identifier `TFL3`).
//!
//! The fields of a table are numbered in the order of the schema, including deprecated ones. A union field
//! has two numbers, first that of its type, then that of its value. This module contains only the parts that
//! the importer reads.

/// The file identifier, at bytes 4 to 7.
pub(super) const IDENTIFIER: &[u8; 4] = b"TFL3";

/// The version of the schema. Files with identifier `TFL3` have no other version.
pub(super) const VERSION: u32 = 3;

/// A field, among the options of an operator, that refers to one or more subgraphs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// True for union `BuiltinOptions2`, and false for `BuiltinOptions`.
    pub second: bool,
    pub tag: u8,
    /// Number of the field, whose value is a 32-bit integer.
    pub field: u16,
    /// True if the value is a vector of such integers instead.
    pub many: bool,
    /// The role of the subgraph, and the default name of its region.
    pub region: &'static str,
}

const fn call(second: bool, tag: u8, field: u16, region: &'static str) -> Call {
    Call { second, tag, field, many: false, region }
}

/// The number of `StableHLOCompositeOptions` in `BuiltinOptions2`. In these options, subgraph 0 means that
/// there is no decomposition.
pub(super) const COMPOSITE: u8 = 21;

/// All fields that refer to subgraphs, ordered by the table of options.
pub(super) const CALLS: &[Call] = &[
    // CallOptions, IfOptions, WhileOptions, CallOnceOptions
    call(false, 16, 0, "call"),
    call(false, 92, 0, "then"),
    call(false, 92, 1, "else"),
    call(false, 93, 0, "cond"),
    call(false, 93, 1, "body"),
    call(false, 103, 0, "init"),
    // StablehloReduceOptions, StablehloScatterOptions, StablehloReduceWindowOptions, StablehloSortOptions
    call(true, 6, 1, "body"),
    call(true, 7, 6, "update"),
    call(true, 13, 5, "body"),
    call(true, 14, 2, "comparator"),
    // StablehloWhileOptions, StableHLOCompositeOptions
    call(true, 15, 0, "cond"),
    call(true, 15, 1, "body"),
    call(true, COMPOSITE, 1, "decomposition"),
    // StablehloCaseOptions
    Call { second: true, tag: 23, field: 0, many: true, region: "case" },
];

/// The type in which a field of the options is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// One byte, for Boolean values and small enumerations.
    Byte,
    Int,
    Ints,
    Text,
}

/// A field of a table in union `BuiltinOptions` that shape inference reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub name: &'static str,
    pub tag: u8,
    pub id: u16,
    pub stored: Stored,
    /// The value of an absent field.
    pub default: i32,
}

/// Declares fields, and a list of all of them for the verifier.
macro_rules! fields {
    ($($name:ident = $text:literal, $tag:literal, $id:literal, $stored:ident, $default:literal;)*) => {
        $(pub const $name: Field =
            Field { name: $text, tag: $tag, id: $id, stored: Stored::$stored, default: $default };)*
        pub const ALL: &[Field] = &[$($name),*];
    };
}

/// Fields of options, with the columns name, member of the union, number, storage and default.
#[rustfmt::skip]
pub(super) mod options {
    use crate::tflite::schema::{Field, Stored};

    fields! {
        CONV_PADDING = "padding", 1, 0, Byte, 0;
        CONV_STRIDE_W = "stride_w", 1, 1, Int, 0;
        CONV_STRIDE_H = "stride_h", 1, 2, Int, 0;
        CONV_DILATION_W = "dilation_w_factor", 1, 4, Int, 1;
        CONV_DILATION_H = "dilation_h_factor", 1, 5, Int, 1;
        DEPTHWISE_PADDING = "padding", 2, 0, Byte, 0;
        DEPTHWISE_STRIDE_W = "stride_w", 2, 1, Int, 0;
        DEPTHWISE_STRIDE_H = "stride_h", 2, 2, Int, 0;
        DEPTHWISE_DILATION_W = "dilation_w_factor", 2, 5, Int, 1;
        DEPTHWISE_DILATION_H = "dilation_h_factor", 2, 6, Int, 1;
        POOL_PADDING = "padding", 5, 0, Byte, 0;
        POOL_STRIDE_W = "stride_w", 5, 1, Int, 0;
        POOL_STRIDE_H = "stride_h", 5, 2, Int, 0;
        POOL_WIDTH = "filter_width", 5, 3, Int, 0;
        POOL_HEIGHT = "filter_height", 5, 4, Int, 0;
        SVDF_RANK = "rank", 6, 0, Int, 0;
        KEEP_NUM_DIMS = "keep_num_dims", 8, 2, Byte, 0;
        ADD_FUSED = "fused_activation_function", 11, 0, Byte, 0;
        MUL_FUSED = "fused_activation_function", 21, 0, Byte, 0;
        SUB_FUSED = "fused_activation_function", 28, 0, Byte, 0;
        DIV_FUSED = "fused_activation_function", 29, 0, Byte, 0;
        CONCAT_AXIS = "axis", 10, 0, Int, 0;
        NEW_SHAPE = "new_shape", 17, 0, Ints, 0;
        SPACE_BLOCK = "block_size", 19, 0, Int, 0;
        GATHER_AXIS = "axis", 23, 0, Int, 0;
        GATHER_BATCH = "batch_dims", 23, 1, Int, 0;
        KEEP_DIMS = "keep_dims", 27, 0, Byte, 0;
        SQUEEZE_DIMS = "squeeze_dims", 30, 0, Ints, 0;
        BEGIN_MASK = "begin_mask", 32, 0, Int, 0;
        END_MASK = "end_mask", 32, 1, Int, 0;
        ELLIPSIS_MASK = "ellipsis_mask", 32, 2, Int, 0;
        NEW_AXIS_MASK = "new_axis_mask", 32, 3, Int, 0;
        SHRINK_AXIS_MASK = "shrink_axis_mask", 32, 4, Int, 0;
        SLICE_OFFSET = "offset", 32, 5, Byte, 0;
        NUM_SPLITS = "num_splits", 35, 0, Int, 0;
        TRANSPOSE_PADDING = "padding", 49, 0, Byte, 0;
        TRANSPOSE_STRIDE_W = "stride_w", 49, 1, Int, 0;
        TRANSPOSE_STRIDE_H = "stride_h", 49, 2, Int, 0;
        PACK_AXIS = "axis", 59, 1, Int, 0;
        ONE_HOT_AXIS = "axis", 61, 0, Int, 0;
        UNPACK_AXIS = "axis", 64, 1, Int, 0;
        LSTM_MERGE = "merge_outputs", 69, 3, Byte, 0;
        LSTM_TIME_MAJOR = "time_major", 69, 4, Byte, 1;
        RNN_TIME_MAJOR = "time_major", 70, 0, Byte, 0;
        RNN_MERGE = "merge_outputs", 70, 2, Byte, 0;
        SEQUENCE_LSTM_TIME_MAJOR = "time_major", 71, 3, Byte, 0;
        SEQUENCE_RNN_TIME_MAJOR = "time_major", 31, 0, Byte, 0;
        VARIABLE_CONTAINER = "container", 111, 0, Text, 0;
        VARIABLE_NAME = "shared_name", 111, 1, Text, 0;
        DEPTH_BLOCK = "block_size", 94, 0, Int, 0;
        ADJ_X = "adj_x", 101, 0, Byte, 0;
        ADJ_Y = "adj_y", 101, 1, Byte, 0;
        CONV_3D_PADDING = "padding", 106, 0, Byte, 0;
        CONV_3D_STRIDE_D = "stride_d", 106, 1, Int, 0;
        CONV_3D_STRIDE_W = "stride_w", 106, 2, Int, 0;
        CONV_3D_STRIDE_H = "stride_h", 106, 3, Int, 0;
        CONV_3D_DILATION_D = "dilation_d_factor", 106, 5, Int, 1;
        CONV_3D_DILATION_W = "dilation_w_factor", 106, 6, Int, 1;
        CONV_3D_DILATION_H = "dilation_h_factor", 106, 7, Int, 1;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// The name in the schema, in lower case.
    pub name: &'static str,
    /// Bits per element; `None` if elements have no fixed size. Types smaller than a byte are packed.
    pub bits: Option<u64>,
    pub floating: bool,
    /// The ONNX number of the type, or 0 if there is none.
    pub onnx: i32,
}

const fn element(name: &'static str, bits: u64, floating: bool, onnx: i32) -> Element {
    Element { name, bits: Some(bits), floating, onnx }
}

const fn loose(name: &'static str) -> Element {
    Element { name, bits: None, floating: false, onnx: 0 }
}

/// Numbers in enum `TensorType`.
pub(super) const FLOAT32: i8 = 0;
pub(super) const UINT8: i8 = 3;
pub(super) const INT16: i8 = 7;
pub(super) const INT8: i8 = 9;
pub(super) const INT4: i8 = 17;

/// Members of enum `TensorType`, by number.
pub(super) const ELEMENTS: &[Element] = &[
    element("float32", 32, true, 1),
    element("float16", 16, true, 10),
    element("int32", 32, false, 6),
    element("uint8", 8, false, 2),
    element("int64", 64, false, 7),
    loose("string"),
    element("bool", 8, false, 9),
    element("int16", 16, false, 5),
    element("complex64", 64, false, 14),
    element("int8", 8, false, 3),
    element("float64", 64, true, 11),
    element("complex128", 128, false, 15),
    element("uint64", 64, false, 13),
    // A handle is an integer.
    element("resource", 32, false, 0),
    loose("variant"),
    element("uint32", 32, false, 12),
    element("uint16", 16, false, 4),
    element("int4", 4, false, 22),
    element("bfloat16", 16, true, 16),
    element("int2", 2, false, 26),
    element("uint4", 4, false, 21),
    element("float8_e4m3fn", 8, true, 17),
    element("float8_e5m2", 8, true, 19),
];

pub(super) const CUSTOM: usize = 32;

/// Members of enum `BuiltinOperator`, by number.
#[rustfmt::skip]
pub(super) const OPERATORS: &[&str] = &[
    "ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE",
    "DEQUANTIZE", "EMBEDDING_LOOKUP", "FLOOR", "FULLY_CONNECTED", "HASHTABLE_LOOKUP", "L2_NORMALIZATION",
    "L2_POOL_2D", "LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "LSH_PROJECTION", "LSTM", "MAX_POOL_2D",
    "MUL", "RELU", "RELU_N1_TO_1", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RNN", "SOFTMAX",
    "SPACE_TO_DEPTH", "SVDF", "TANH", "CONCAT_EMBEDDINGS", "SKIP_GRAM", "CALL", "CUSTOM",
    "EMBEDDING_LOOKUP_SPARSE", "PAD", "UNIDIRECTIONAL_SEQUENCE_RNN", "GATHER", "BATCH_TO_SPACE_ND",
    "SPACE_TO_BATCH_ND", "TRANSPOSE", "MEAN", "SUB", "DIV", "SQUEEZE", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "STRIDED_SLICE", "BIDIRECTIONAL_SEQUENCE_RNN", "EXP", "TOPK_V2", "SPLIT", "LOG_SOFTMAX", "DELEGATE",
    "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST", "PRELU", "MAXIMUM", "ARG_MAX", "MINIMUM", "LESS", "NEG", "PADV2",
    "GREATER", "GREATER_EQUAL", "LESS_EQUAL", "SELECT", "SLICE", "SIN", "TRANSPOSE_CONV", "SPARSE_TO_DENSE",
    "TILE", "EXPAND_DIMS", "EQUAL", "NOT_EQUAL", "LOG", "SUM", "SQRT", "RSQRT", "SHAPE", "POW", "ARG_MIN",
    "FAKE_QUANT", "REDUCE_PROD", "REDUCE_MAX", "PACK", "LOGICAL_OR", "ONE_HOT", "LOGICAL_AND",
    "LOGICAL_NOT", "UNPACK", "REDUCE_MIN", "FLOOR_DIV", "REDUCE_ANY", "SQUARE", "ZEROS_LIKE", "FILL",
    "FLOOR_MOD", "RANGE", "RESIZE_NEAREST_NEIGHBOR", "LEAKY_RELU", "SQUARED_DIFFERENCE", "MIRROR_PAD",
    "ABS", "SPLIT_V", "UNIQUE", "CEIL", "REVERSE_V2", "ADD_N", "GATHER_ND", "COS", "WHERE", "RANK", "ELU",
    "REVERSE_SEQUENCE", "MATRIX_DIAG", "QUANTIZE", "MATRIX_SET_DIAG", "ROUND", "HARD_SWISH", "IF", "WHILE",
    "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SCATTER_ND", "SELECT_V2", "DENSIFY", "SEGMENT_SUM",
    "BATCH_MATMUL", "PLACEHOLDER_FOR_GREATER_OP_CODES", "CUMSUM", "CALL_ONCE", "BROADCAST_TO", "RFFT2D",
    "CONV_3D", "IMAG", "REAL", "COMPLEX_ABS", "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT",
    "HASHTABLE_SIZE", "REDUCE_ALL", "CONV_3D_TRANSPOSE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE",
    "BROADCAST_ARGS", "RANDOM_STANDARD_NORMAL", "BUCKETIZE", "RANDOM_UNIFORM", "MULTINOMIAL", "GELU",
    "DYNAMIC_UPDATE_SLICE", "RELU_0_TO_1", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX",
    "UNSORTED_SEGMENT_SUM", "ATAN2", "UNSORTED_SEGMENT_MIN", "SIGN", "BITCAST", "BITWISE_XOR",
    "RIGHT_SHIFT", "STABLEHLO_LOGISTIC", "STABLEHLO_ADD", "STABLEHLO_DIVIDE", "STABLEHLO_MULTIPLY",
    "STABLEHLO_MAXIMUM", "STABLEHLO_RESHAPE", "STABLEHLO_CLAMP", "STABLEHLO_CONCATENATE",
    "STABLEHLO_BROADCAST_IN_DIM", "STABLEHLO_CONVOLUTION", "STABLEHLO_SLICE", "STABLEHLO_CUSTOM_CALL",
    "STABLEHLO_REDUCE", "STABLEHLO_ABS", "STABLEHLO_AND", "STABLEHLO_COSINE", "STABLEHLO_EXPONENTIAL",
    "STABLEHLO_FLOOR", "STABLEHLO_LOG", "STABLEHLO_MINIMUM", "STABLEHLO_NEGATE", "STABLEHLO_OR",
    "STABLEHLO_POWER", "STABLEHLO_REMAINDER", "STABLEHLO_RSQRT", "STABLEHLO_SELECT", "STABLEHLO_SUBTRACT",
    "STABLEHLO_TANH", "STABLEHLO_SCATTER", "STABLEHLO_COMPARE", "STABLEHLO_CONVERT",
    "STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE", "STABLEHLO_PAD", "STABLEHLO_IOTA",
    "STABLEHLO_DOT_GENERAL", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SORT", "STABLEHLO_WHILE",
    "STABLEHLO_GATHER", "STABLEHLO_TRANSPOSE", "DILATE", "STABLEHLO_RNG_BIT_GENERATOR", "REDUCE_WINDOW",
    "STABLEHLO_COMPOSITE", "STABLEHLO_SHIFT_LEFT", "STABLEHLO_CBRT", "STABLEHLO_CASE",
];
