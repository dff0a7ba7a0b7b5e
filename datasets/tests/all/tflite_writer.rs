//! Writes small models field by field, so that tests do not depend on how the reader interprets the format.

use flatbuffers::{FlatBufferBuilder, TableFinishedWIPOffset, VOffsetT, Vector, WIPOffset};
use std::collections::HashMap;

type Table = WIPOffset<TableFinishedWIPOffset>;

/// Lists of operands that are already written. Equal lists are stored once.
type Written<'a> = HashMap<Vec<i32>, WIPOffset<Vector<'a, i32>>>;

/// A tensor with the fields of the schema's table.
#[derive(Clone, Debug, Default)]
pub struct TensorSpec {
    pub name: String,
    pub shape: Vec<i32>,
    pub element: i8,
    pub buffer: u32,
    pub variable: bool,
    pub signature: Vec<i32>,
    pub sparse: bool,
    pub external: u32,
    pub ranked: bool,
    /// The number of scales, and of zero points.
    pub scales: usize,
}

/// Options of an operator: whether they belong to the second union, the member, and the 32-bit fields.
pub type Options = (bool, u8, Vec<(u16, i32)>);

/// An operator with its own operator code.
#[derive(Clone, Debug, Default)]
pub struct OperatorSpec {
    pub code: i32,
    pub custom: Option<String>,
    pub inputs: Vec<i32>,
    pub outputs: Vec<i32>,
    pub options: Option<Options>,
    /// Vectors of 32-bit integers among the fields of the options.
    pub lists: Vec<(u16, Vec<i32>)>,
    /// Strings among the fields of the options.
    pub texts: Vec<(u16, String)>,
    /// Options of a custom operator.
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
pub struct SubgraphSpec {
    pub name: String,
    pub tensors: Vec<TensorSpec>,
    pub inputs: Vec<i32>,
    pub outputs: Vec<i32>,
    pub operators: Vec<OperatorSpec>,
}

/// Values in the table, or their location in the file.
#[derive(Clone, Debug)]
pub enum BufferSpec {
    Data(Vec<u8>),
    At(u64, u64),
}

#[derive(Clone, Debug)]
pub struct ModelSpec {
    pub version: u32,
    pub buffers: Vec<BufferSpec>,
    pub subgraphs: Vec<SubgraphSpec>,
    /// Names of metadata, with their buffers.
    pub metadata: Vec<(String, u32)>,
}

pub const FLOAT32: i8 = 0;
pub const INT32: i8 = 2;
pub const STRING: i8 = 5;
pub const BOOL: i8 = 6;
pub const INT8: i8 = 9;
pub const RESOURCE: i8 = 13;
pub const VARIANT: i8 = 14;
pub const INT4: i8 = 17;

pub fn tensor(name: &str, element: i8, shape: &[i32]) -> TensorSpec {
    TensorSpec { name: name.to_owned(), shape: shape.to_vec(), element, ..TensorSpec::default() }
}

impl TensorSpec {
    pub fn buffer(mut self, buffer: u32) -> Self {
        self.buffer = buffer;
        self
    }

    pub fn scaled(mut self, scales: usize) -> Self {
        self.scales = scales;
        self
    }

    pub fn variable(mut self) -> Self {
        self.variable = true;
        self
    }

    pub fn signed(mut self, signature: &[i32]) -> Self {
        self.signature = signature.to_vec();
        self
    }
}

pub fn operator(code: i32, inputs: &[i32], outputs: &[i32]) -> OperatorSpec {
    OperatorSpec { code, inputs: inputs.to_vec(), outputs: outputs.to_vec(), ..OperatorSpec::default() }
}

impl OperatorSpec {
    pub fn options(mut self, second: bool, tag: u8, fields: &[(u16, i32)]) -> Self {
        self.options = Some((second, tag, fields.to_vec()));
        self
    }

    pub fn list(mut self, field: u16, values: &[i32]) -> Self {
        self.lists.push((field, values.to_vec()));
        self
    }
}

pub fn subgraph(
    name: &str,
    tensors: Vec<TensorSpec>,
    inputs: &[i32],
    outputs: &[i32],
    operators: Vec<OperatorSpec>,
) -> SubgraphSpec {
    let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
    SubgraphSpec { name: name.to_owned(), tensors, inputs, outputs, operators }
}

pub fn model(subgraphs: Vec<SubgraphSpec>) -> ModelSpec {
    let (buffers, metadata) = (vec![BufferSpec::Data(Vec::new())], Vec::new());
    ModelSpec { version: 3, buffers, subgraphs, metadata }
}

impl ModelSpec {
    /// Adds a buffer with this number of bytes.
    pub fn data(mut self, bytes: usize) -> Self {
        self.buffers.push(BufferSpec::Data(vec![7; bytes]));
        self
    }

    /// Adds a buffer with these 32-bit integers.
    pub fn values(mut self, values: &[i32]) -> Self {
        self.buffers.push(BufferSpec::Data(values.iter().flat_map(|value| value.to_le_bytes()).collect()));
        self
    }

    pub fn write(&self) -> Vec<u8> {
        let mut b = FlatBufferBuilder::new();
        let buffers: Vec<Table> = self.buffers.iter().map(|buffer| write_buffer(&mut b, buffer)).collect();
        let codes: Vec<&OperatorSpec> = self.subgraphs.iter().flat_map(|s| &s.operators).collect();
        let codes: Vec<Table> = codes.into_iter().map(|operator| write_code(&mut b, operator)).collect();
        let mut code = 0;
        let subgraphs: Vec<Table> =
            self.subgraphs.iter().map(|subgraph| write_subgraph(&mut b, subgraph, &mut code)).collect();
        let entries = self.metadata.iter().map(|(name, buffer)| {
            let name = b.create_string(name);
            let start = b.start_table();
            b.push_slot_always(slot(0), name);
            b.push_slot(slot(1), *buffer, 0u32);
            b.end_table(start)
        });
        let entries: Vec<Table> = entries.collect();
        let metadata = (!entries.is_empty()).then(|| b.create_vector(&entries));
        let (buffers, codes) = (b.create_vector(&buffers), b.create_vector(&codes));
        let subgraphs = b.create_vector(&subgraphs);
        let start = b.start_table();
        b.push_slot(slot(0), self.version, 0u32);
        b.push_slot_always(slot(1), codes);
        b.push_slot_always(slot(2), subgraphs);
        b.push_slot_always(slot(4), buffers);
        if let Some(metadata) = metadata {
            b.push_slot_always(slot(6), metadata);
        }
        let root = b.end_table(start);
        b.finish(root, Some("TFL3"));
        b.finished_data().to_vec()
    }
}

const fn slot(id: u16) -> VOffsetT {
    4 + 2 * id
}

fn write_buffer(b: &mut FlatBufferBuilder, buffer: &BufferSpec) -> Table {
    let data = match buffer {
        BufferSpec::Data(data) if !data.is_empty() => Some(b.create_vector(data)),
        _ => None,
    };
    let start = b.start_table();
    if let Some(data) = data {
        b.push_slot_always(slot(0), data);
    }
    if let BufferSpec::At(offset, size) = buffer {
        b.push_slot(slot(1), *offset, 0u64);
        b.push_slot(slot(2), *size, 0u64);
    }
    b.end_table(start)
}

fn write_code(b: &mut FlatBufferBuilder, operator: &OperatorSpec) -> Table {
    let custom = operator.custom.as_ref().map(|name| b.create_string(name));
    let start = b.start_table();
    // As the format requires, the old field contains the code if it fits, and the new field always contains
    // it.
    b.push_slot(slot(0), i8::try_from(operator.code).unwrap_or(127), 0i8);
    if let Some(custom) = custom {
        b.push_slot_always(slot(1), custom);
    }
    b.push_slot(slot(3), operator.code, 0i32);
    b.end_table(start)
}

fn write_subgraph(b: &mut FlatBufferBuilder, subgraph: &SubgraphSpec, code: &mut u32) -> Table {
    let tensors: Vec<Table> = subgraph.tensors.iter().map(|tensor| write_tensor(b, tensor)).collect();
    let (mut operators, mut written) = (Vec::new(), Written::new());
    for operator in &subgraph.operators {
        operators.push(write_operator(b, operator, *code, &mut written));
        *code += 1;
    }
    let (tensors, operators) = (b.create_vector(&tensors), b.create_vector(&operators));
    let (inputs, outputs) = (b.create_vector(&subgraph.inputs), b.create_vector(&subgraph.outputs));
    let name = b.create_string(&subgraph.name);
    let start = b.start_table();
    b.push_slot_always(slot(0), tensors);
    b.push_slot_always(slot(1), inputs);
    b.push_slot_always(slot(2), outputs);
    b.push_slot_always(slot(3), operators);
    b.push_slot_always(slot(4), name);
    b.end_table(start)
}

fn write_tensor(b: &mut FlatBufferBuilder, tensor: &TensorSpec) -> Table {
    let (shape, name) = (b.create_vector(&tensor.shape), b.create_string(&tensor.name));
    let signature = (!tensor.signature.is_empty()).then(|| b.create_vector(&tensor.signature));
    let sparsity = tensor.sparse.then(|| {
        let start = b.start_table();
        b.end_table(start)
    });
    let quantization = (tensor.scales > 0).then(|| {
        let (scales, zeros) = (vec![0.5f32; tensor.scales], vec![0i64; tensor.scales]);
        let (scales, zeros) = (b.create_vector(&scales), b.create_vector(&zeros));
        let start = b.start_table();
        b.push_slot_always(slot(2), scales);
        b.push_slot_always(slot(3), zeros);
        b.end_table(start)
    });
    let start = b.start_table();
    b.push_slot_always(slot(0), shape);
    if let Some(quantization) = quantization {
        b.push_slot_always(slot(4), quantization);
    }
    b.push_slot(slot(1), tensor.element, 0i8);
    b.push_slot(slot(2), tensor.buffer, 0u32);
    b.push_slot_always(slot(3), name);
    b.push_slot(slot(5), tensor.variable, false);
    if let Some(sparsity) = sparsity {
        b.push_slot_always(slot(6), sparsity);
    }
    if let Some(signature) = signature {
        b.push_slot_always(slot(7), signature);
    }
    b.push_slot(slot(8), tensor.ranked, false);
    b.push_slot(slot(10), tensor.external, 0u32);
    b.end_table(start)
}

fn write_operator<'a>(
    b: &mut FlatBufferBuilder<'a>,
    operator: &OperatorSpec,
    code: u32,
    written: &mut Written<'a>,
) -> Table {
    let mut list = |list: &Vec<i32>| *written.entry(list.clone()).or_insert_with(|| b.create_vector(list));
    let (inputs, outputs) = (list(&operator.inputs), list(&operator.outputs));
    let lists: Vec<_> = operator.lists.iter().map(|(field, values)| (*field, list(values))).collect();
    let texts = operator.texts.iter().map(|(field, text)| (*field, b.create_string(text)));
    let texts: Vec<_> = texts.collect();
    let options = operator.options.as_ref().map(|(second, tag, fields)| {
        let start = b.start_table();
        for &(field, value) in fields {
            b.push_slot_always(slot(field), value);
        }
        for &(field, values) in &lists {
            b.push_slot_always(slot(field), values);
        }
        for &(field, text) in &texts {
            b.push_slot_always(slot(field), text);
        }
        (*second, *tag, b.end_table(start))
    });
    let custom = (!operator.bytes.is_empty()).then(|| b.create_vector(&operator.bytes));
    let start = b.start_table();
    b.push_slot(slot(0), code, 0u32);
    if let Some(custom) = custom {
        b.push_slot_always(slot(5), custom);
    }
    b.push_slot_always(slot(1), inputs);
    b.push_slot_always(slot(2), outputs);
    if let Some((second, tag, options)) = options {
        let (type_at, value_at) = if second { (11, 12) } else { (3, 4) };
        b.push_slot(slot(type_at), tag, 0u8);
        b.push_slot_always(slot(value_at), options);
    }
    b.end_table(start)
}
