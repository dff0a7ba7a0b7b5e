//! The operators for which `tflite-micro` has a kernel, and the data that it keeps for each of them.
//!
//! Sources: `micro_mutable_op_resolver.h`, `flatbuffer_conversions.cc`, `builtin_op_data.h` and the reference
//! kernels of `tflite-micro` (2026), including those of its signal library. Optimised kernels, such as those
//! of CMSIS-NN, keep other data.

use super::flex;
use super::model::{Info, Kind, Model, Step, Subgraph};
use super::schema::options::{ADJ_X, ADJ_Y};
use super::schema::{ELEMENTS, FLOAT32, INT4, INT8, INT16};
use crate::operators::is_listed;
use crate::operators::value::count;

/// The size of pointers of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pointers {
    /// Eight bytes, as on a host.
    #[default]
    Bits64,
    /// Four bytes, as on microcontrollers.
    Bits32,
}

impl Pointers {
    /// Selects one of the sizes of a structure for 64-bit and for 32-bit pointers.
    pub(super) const fn of(self, sizes: [u64; 2]) -> u64 {
        match self {
            Self::Bits64 => sizes[0],
            Self::Bits32 => sizes[1],
        }
    }

    /// Returns the size of a pointer in bytes.
    pub const fn bytes(self) -> u64 {
        self.of([8, 4])
    }
}

/// The structures that the runtime keeps for an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    /// Size and alignment in bytes of the options, which the runtime copies from the file.
    options: (u64, u64),
    /// Bytes that the kernel allocates in `Init`, for 64-bit and for 32-bit pointers.
    data: [u64; 2],
}

/// Returns the structures for an operator, or `None` if the runtime has no kernel for it.
pub(super) fn kernel(kind: &Kind) -> Option<Kernel> {
    let rows = if kind.builtin { BUILTIN } else { CUSTOM };
    let row = rows.iter().find(|(names, ..)| is_listed(names, &kind.name));
    row.map(|&(_, bytes, alignment, data)| Kernel { options: (bytes, alignment), data })
}

/// Returns the operators of all subgraphs, with the indices of their subgraphs and their own.
pub(super) fn nodes<'m, 'a>(model: &'m Model<'a>) -> impl Iterator<Item = (usize, usize, Node<'m, 'a>)> {
    model.subgraphs.iter().enumerate().flat_map(move |(at, subgraph)| {
        let steps = subgraph.operators.iter().enumerate();
        steps.map(move |(index, step)| {
            (at, index, Node { subgraph, step, kind: model.kinds.get(step.code as usize) })
        })
    })
}

/// An operator, its kind and its tensors.
#[derive(Clone, Copy)]
pub(super) struct Node<'m, 'a> {
    pub subgraph: &'m Subgraph<'a>,
    pub step: &'m Step<'a>,
    pub kind: Option<&'m Kind<'a>>,
}

impl<'m, 'a> Node<'m, 'a> {
    /// Returns the name of a known operator, or an empty string.
    pub(super) fn name(&self) -> &'m str {
        self.kind.filter(|kind| kernel(kind).is_some()).map_or("", |kind| kind.name.as_ref())
    }

    pub(super) fn input(&self, at: usize) -> Option<&'m Info<'a>> {
        self.subgraph.tensor(self.step.inputs.get(at)?)
    }

    pub(super) fn output(&self, at: usize) -> Option<&'m Info<'a>> {
        self.subgraph.tensor(self.step.outputs.get(at)?)
    }

    /// Returns true if input `at` has this element type.
    pub(super) fn takes(&self, at: usize, elements: &[i8]) -> bool {
        self.input(at).is_some_and(|info| elements.contains(&info.element))
    }

    /// Returns true if the first output has this element type.
    fn makes(&self, element: i8) -> bool {
        self.output(0).is_some_and(|info| info.element == element)
    }

    /// Returns an option of a custom operator; 0 if it is absent or negative.
    fn option(&self, name: &str) -> u64 {
        flex::int(self.step.custom, name).and_then(|value| value.try_into().ok()).unwrap_or(0)
    }

    /// Returns size and alignment of the options of the operator.
    pub(super) fn options(&self, pointers: Pointers) -> (u64, u64) {
        match self.name() {
            "VAR_HANDLE" => (2 * pointers.bytes(), pointers.bytes()),
            _ => self.kind.and_then(kernel).map_or((0, 1), |kernel| kernel.options),
        }
    }

    /// Returns the sizes of the buffers that the kernel allocates in `Init`, after the data itself.
    pub(super) fn initial(&self, pointers: Pointers) -> Vec<u64> {
        let data = self.kind.and_then(kernel).map_or(0, |kernel| pointers.of(kernel.data));
        let more = match self.name() {
            "SignalFilterBank" => 8 * self.option("num_channels").saturating_add(1),
            "SignalFilterBankSpectralSubtraction" => self.option("num_channels").saturating_mul(4),
            "SignalIrfft" | "SignalRfft" => self.transform(pointers),
            "SignalStacker" => {
                let context = ["stacker_left_context", "stacker_right_context"].map(|name| self.option(name));
                let frames = context[0].saturating_add(context[1]).saturating_add(1);
                ring(self.option("num_channels").saturating_mul(frames), pointers)
            }
            _ => return if data > 0 { vec![data] } else { Vec::new() },
        };
        vec![data, more]
    }

    /// Returns the sizes of the buffers that the kernel allocates in `Prepare`.
    pub(super) fn prepared(&self, pointers: Pointers) -> Vec<u64> {
        let is_quantised = self.takes(0, &[INT8, INT16]);
        let channels = |at: usize| {
            let extent = self.input(1).and_then(|filter| filter.shape.get(at)).unwrap_or(0);
            vec![4 * u64::try_from(extent).unwrap_or(0); 2]
        };
        match self.name() {
            "ADD_N" if self.makes(INT8) => vec![40],
            "BATCH_MATMUL" => self.transposed(pointers),
            "CONV_2D" | "TRANSPOSE_CONV" => channels(0),
            "CUMSUM" if self.makes(INT8) => vec![36],
            "DEPTHWISE_CONV_2D" => channels(3),
            "DEPTH_TO_SPACE" | "GATHER" | "GATHER_ND" | "L2_POOL_2D" | "SPACE_TO_DEPTH" => {
                vec![extents(self.output(0))]
            }
            "EMBEDDING_LOOKUP" => vec![extents(self.output(0)), pointers.of([16, 8])],
            "FULLY_CONNECTED" if is_quantised => match self.input(1).map_or(0, |filter| filter.scales) {
                0 | 1 => Vec::new(),
                scales => vec![4 * u64::from(scales); 2],
            },
            "LOG_SOFTMAX" if self.takes(0, &[INT8]) => vec![pointers.of([40, 28])],
            "RESHAPE" if self.output(0).is_some_and(|info| info.shape.iter().any(|extent| extent < 0)) => {
                vec![extents(self.output(0))]
            }
            "SOFTMAX" if self.takes(0, &[INT16]) => vec![2 * LOOKUP; 2],
            "SignalDelay" | "SignalFramer" | "SignalOverlapAdd" => self.states(pointers),
            _ => Vec::new(),
        }
    }

    /// Returns the buffers of a matrix multiplication: its quantisation, and the transposed operands.
    fn transposed(&self, pointers: Pointers) -> Vec<u64> {
        let mut sizes = if self.takes(0, &[INT8, INT16]) { vec![28] } else { Vec::new() };
        let operands = [(0, self.step.options.int(ADJ_X) != 0), (1, self.step.options.int(ADJ_Y) == 0)];
        for (at, _) in operands.into_iter().filter(|(_, is_transposed)| *is_transposed) {
            let info = self.input(at);
            sizes.extend([pointers.of([24, 12]), extents(info), info.map_or(0, bytes)]);
        }
        sizes.push(extents(self.output(0)));
        sizes
    }

    /// Returns the buffers of a signal operator: arrays of pointers, and one state per row of the input.
    fn states(&self, pointers: Pointers) -> Vec<u64> {
        let shape = self.input(0).and_then(Info::declared).unwrap_or_default();
        let last = shape.last().copied().unwrap_or(1).max(1);
        let rows = count(&shape).unwrap_or(0) / last;
        let step = self.option("frame_step");
        let (arrays, rows, state) = match self.name() {
            "SignalDelay" => (2, rows, ring(last.saturating_add(self.option("delay_length")), pointers)),
            "SignalFramer" if step > 0 => {
                let frames = self.option("frame_size").div_ceil(step);
                (2, rows, ring(frames.saturating_mul(step), pointers))
            }
            "SignalFramer" => return Vec::new(),
            _ => {
                let frames = shape.len().checked_sub(2).map_or(1, |at| shape[at].max(1));
                let element = self.input(0).map_or(0, element_bytes);
                (1, rows / frames, last.saturating_mul(element))
            }
        };
        // The input is a tensor in the arena, so the number of its rows is limited by the arena.
        let states = usize::try_from(rows.min(MOST_STATES)).unwrap_or(0);
        let mut sizes = vec![pointers.bytes().saturating_mul(rows); arrays];
        sizes.extend(std::iter::repeat_n(state, states));
        sizes
    }

    /// Returns the bytes of the state of a real Fourier transform (`kiss_fftr_alloc`).
    fn transform(&self, pointers: Pointers) -> u64 {
        let value = flex::int(self.step.custom, "T").and_then(|element| usize::try_from(element).ok());
        let element = value.and_then(|at| ELEMENTS.get(at)?.bits).unwrap_or(0) / 8;
        let points = self.option("fft_length") / 2;
        let values = points.saturating_add(points.saturating_mul(3) / 2);
        pointers.of([24, 12]).saturating_add(264).saturating_add(values.saturating_mul(2 * element))
    }

    /// Returns the sizes of the scratch buffers that the reference kernel requests.
    pub(super) fn requests(&self, pointers: Pointers) -> Vec<u64> {
        let is = |at, element| self.takes(at, &[element]);
        let words = |info: Option<&Info>| info.map_or(0, elements).saturating_mul(4);
        let rank = 4 * self.input(0).map_or(0, |info| info.shape.len() as u64);
        let operands = (self.step.inputs.len() + self.step.outputs.len()) as u64;
        match self.name() {
            "ADD_N" if self.makes(FLOAT32) || self.makes(INT8) => {
                vec![pointers.bytes() * self.step.inputs.len() as u64]
            }
            "CONV_2D" | "DEPTHWISE_CONV_2D" | "FULLY_CONNECTED" if is(1, INT4) => {
                vec![words(self.input(1)) / 4]
            }
            "MEAN" | "SUM" if is(0, INT8) || is(0, INT16) => {
                vec![words(self.output(0)), rank, words(self.input(1))]
            }
            "MEAN" | "SUM" | "REDUCE_ALL" | "REDUCE_MAX" | "REDUCE_MIN" => vec![rank, words(self.input(1))],
            "MIRROR_PAD" => vec![rank; 2],
            "SVDF" => {
                let rows = self.input(0).and_then(|info| info.shape.get(0)).unwrap_or(0);
                let filters = self.input(1).and_then(|info| info.shape.get(0)).unwrap_or(0);
                let [rows, filters] = [rows, filters].map(|extent| u64::try_from(extent).unwrap_or(0));
                let first = rows.saturating_mul(filters).saturating_mul(4);
                if is(0, INT8) { vec![first, words(self.output(0))] } else { vec![first] }
            }
            "TFLite_Detection_PostProcess" => self.detections(),
            "TRANSPOSE_CONV" if is(2, INT8) => vec![words(self.output(0))],
            "TRANSPOSE_CONV" if is(2, INT16) => {
                let bias = is(3, INT16).then(|| 2 * words(self.input(3)));
                bias.into_iter().chain([2 * words(self.output(0))]).collect()
            }
            "UNIDIRECTIONAL_SEQUENCE_LSTM" => vec![self.input(19).map_or(0, bytes); 4],
            "SignalRfft" => {
                let element = self.input(0).map_or(0, element_bytes);
                vec![self.option("fft_length").saturating_mul(element)]
            }
            "ethos-u" => vec![8 * operands, pointers.bytes() * operands],
            _ => Vec::new(),
        }
    }

    /// Returns the sizes of the scratch buffers of the detection postprocessing.
    fn detections(&self) -> Vec<u64> {
        let boxes = self.input(0).and_then(|info| info.shape.get(1)).unwrap_or(0);
        let boxes = u64::try_from(boxes).unwrap_or(0);
        let (most, classes) = (self.option("max_detections"), self.option("num_classes"));
        let scores = self.input(1).map_or(0, elements);
        let words = [4 * boxes, scores, boxes, boxes, most.saturating_mul(boxes), most.saturating_mul(boxes)];
        let rest = [
            boxes,
            most.saturating_mul(boxes),
            most.max(classes).saturating_mul(boxes),
            most.min(boxes).saturating_mul(boxes),
        ];
        let sizes = words.into_iter().chain(rest).map(|words| words.saturating_mul(4));
        [boxes].into_iter().chain(sizes).collect()
    }

    /// Returns the bytes of the temporary `TfLiteTensor`s while the kernel prepares itself. Convolutions and
    /// reductions create those of their operands twice, except for the bias.
    pub(super) fn temporary(&self, pointers: Pointers) -> u64 {
        let bytes = |info| tensor(info, pointers).iter().map(|(bytes, _)| bytes).sum::<u64>();
        let operands = self.step.inputs.iter().chain(self.step.outputs.iter());
        let sum: u64 = operands.filter_map(|at| self.subgraph.tensor(at)).map(bytes).sum();
        let bias = |at| self.input(at).map_or(0, bytes);
        match self.name() {
            "CONV_2D" | "DEPTHWISE_CONV_2D" => 2 * sum - bias(2),
            "TRANSPOSE_CONV" => 2 * sum - bias(3),
            "MEAN" | "REDUCE_ALL" | "REDUCE_MAX" | "REDUCE_MIN" | "SUM" => 2 * sum,
            _ => sum,
        }
    }
}

/// The number of elements of a lookup table for 16-bit values.
const LOOKUP: u64 = 513;

/// The maximum number of rows with separate states that are counted.
const MOST_STATES: u64 = 1 << 16;

/// Returns the sizes and alignments of a `TfLiteTensor` with its quantisation.
pub(super) fn tensor(info: &Info, pointers: Pointers) -> Vec<(u64, u64)> {
    let mut parts = vec![(pointers.of([64, 40]), pointers.bytes())];
    if info.scales > 0 {
        parts.extend([(pointers.of([24, 12]), pointers.bytes()), (4 + 4 * u64::from(info.scales), 4)]);
    }
    parts
}

/// Returns the bytes of an array with the extents of a tensor.
fn extents(info: Option<&Info>) -> u64 {
    4 + 4 * info.map_or(0, |info| info.shape.len() as u64)
}

/// Returns the bytes of a ring buffer for 16-bit samples.
fn ring(capacity: u64, pointers: Pointers) -> u64 {
    pointers.of([40, 24]).saturating_add(capacity.saturating_mul(4))
}

fn element_bytes(info: &Info) -> u64 {
    let element = usize::try_from(info.element).ok().and_then(|at| ELEMENTS.get(at));
    element.and_then(|element| element.bits).map_or(0, |bits| bits.div_ceil(8))
}

/// Returns the number of elements of a tensor; 0 if its shape is unknown.
fn elements(info: &Info) -> u64 {
    info.declared().and_then(|shape| count(&shape)).unwrap_or(0)
}

/// Returns the bytes of a tensor with at least one byte per element; 0 if its shape is unknown.
pub(super) fn bytes(info: &Info) -> u64 {
    elements(info).saturating_mul(element_bytes(info))
}

/// Operators, separated by spaces, size and alignment of their options, and the sizes of their data.
type Row = (&'static str, u64, u64, [u64; 2]);

/// Operators of the schema. The options of `VAR_HANDLE` are two pointers, which are not in the table.
const BUILTIN: &[Row] = &[
    (
        "ADD_N BATCH_TO_SPACE_ND BROADCAST_ARGS BROADCAST_TO CEIL COS DYNAMIC_UPDATE_SLICE \
         EMBEDDING_LOOKUP EXP EXPAND_DIMS FILL FLOOR FLOOR_DIV FLOOR_MOD GATHER_ND LOG LOGICAL_AND \
         LOGICAL_NOT LOGICAL_OR LOG_SOFTMAX MAXIMUM MINIMUM NEG READ_VARIABLE REVERSE_V2 ROUND SIN SLICE \
         SQRT SQUARE TRANSPOSE ZEROS_LIKE",
        0,
        1,
        [0, 0],
    ),
    ("ABS RSQRT", 0, 1, [28, 28]),
    ("ADD", 8, 4, [60, 60]),
    ("ARG_MAX ARG_MIN DEPTH_TO_SPACE SHAPE SPACE_TO_DEPTH SPLIT SPLIT_V", 4, 4, [0, 0]),
    ("ASSIGN_VARIABLE", 0, 1, [4, 4]),
    ("AVERAGE_POOL_2D MAX_POOL_2D", 40, 4, [32, 32]),
    ("BATCH_MATMUL", 3, 1, [32, 16]),
    ("CALL_ONCE", 4, 4, [8, 8]),
    ("CAST GATHER PACK UNPACK", 8, 4, [0, 0]),
    ("CONCATENATION", 8, 4, [80, 64]),
    ("CONV_2D DEPTHWISE_CONV_2D", 28, 4, [80, 64]),
    ("CUMSUM RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR", 2, 1, [0, 0]),
    ("DEQUANTIZE QUANTIZE", 0, 1, [32, 32]),
    ("DIV", 4, 4, [28, 28]),
    ("ELU", 0, 1, [256, 256]),
    ("EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL NOT_EQUAL", 0, 1, [32, 32]),
    ("FULLY_CONNECTED", 32, 8, [72, 56]),
    ("HARD_SWISH", 0, 1, [20, 20]),
    ("IF WHILE", 8, 4, [8, 8]),
    ("L2_NORMALIZATION", 4, 4, [4, 4]),
    ("L2_POOL_2D", 40, 4, [0, 0]),
    ("LEAKY_RELU", 4, 4, [24, 24]),
    ("LOGISTIC TANH", 0, 1, [16, 16]),
    ("MEAN REDUCE_ALL REDUCE_MAX REDUCE_MIN SUM", 1, 1, [44, 44]),
    ("MIRROR_PAD", 4, 4, [20, 20]),
    ("MUL", 4, 4, [36, 36]),
    ("PAD PADV2", 0, 1, [56, 56]),
    ("PRELU RELU", 0, 1, [28, 28]),
    ("RELU6", 0, 1, [8, 8]),
    ("RESHAPE SQUEEZE", 36, 4, [0, 0]),
    ("SELECT_V2", 0, 1, [1, 1]),
    ("SOFTMAX", 4, 4, [80, 56]),
    ("SPACE_TO_BATCH_ND", 0, 1, [4, 4]),
    ("SQUARED_DIFFERENCE", 0, 1, [112, 112]),
    ("STRIDED_SLICE", 24, 4, [84, 84]),
    ("SUB", 8, 4, [52, 52]),
    ("SVDF", 12, 4, [36, 36]),
    ("TRANSPOSE_CONV", 20, 4, [96, 88]),
    ("UNIDIRECTIONAL_SEQUENCE_LSTM", 16, 4, [688, 688]),
    ("VAR_HANDLE", 0, 1, [4, 4]),
];

/// Custom operators for which the runtime has a kernel whose data is known. Names are compared exactly.
const CUSTOM: &[Row] = &[
    ("CIRCULAR_BUFFER SignalEnergy SignalFilterBankLog SignalWindow", 0, 1, [8, 8]),
    ("SignalDelay", 0, 1, [32, 20]),
    ("SignalFftAutoScale SignalFilterBankSquareRoot", 0, 1, [0, 0]),
    ("SignalFilterBank", 0, 1, [64, 36]),
    ("SignalFilterBankSpectralSubtraction", 0, 1, [56, 44]),
    ("SignalFramer", 0, 1, [40, 28]),
    ("SignalIrfft SignalOverlapAdd", 0, 1, [32, 24]),
    ("SignalPCAN", 0, 1, [4, 4]),
    ("SignalRfft", 0, 1, [48, 32]),
    ("SignalStacker", 0, 1, [56, 36]),
    ("TFLite_Detection_PostProcess", 0, 1, [112, 112]),
    ("ethos-u", 0, 1, [12, 12]),
];
