//! The messages of an ONNX file, restricted to the fields that affect memory.
//!
//! Field numbers are those of `onnx.proto` (IR version 13). Raw bytes of weights remain slices of the file.

use bytes::Bytes;

macro_rules! message {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }
    };
}

message! {
    Model {
        #[prost(message, repeated, tag = "8")] opset_import: Vec<OperatorSet>,
        #[prost(message, optional, tag = "7")] graph: Option<Graph>,
        #[prost(message, repeated, tag = "25")] functions: Vec<Function>,
    }
}
message! {
    /// An operator set and its version.
    OperatorSet {
        #[prost(string, tag = "1")] domain: String,
        #[prost(int64, tag = "2")] version: i64,
    }
}
message! {
    /// An operator that the file defines in terms of other operators.
    Function {
        #[prost(string, tag = "1")] name: String,
        #[prost(string, repeated, tag = "4")] input: Vec<String>,
        #[prost(string, repeated, tag = "5")] output: Vec<String>,
        #[prost(message, repeated, tag = "7")] node: Vec<Node>,
        #[prost(message, repeated, tag = "9")] opset_import: Vec<OperatorSet>,
        #[prost(string, tag = "10")] domain: String,
        #[prost(message, repeated, tag = "11")] attribute_proto: Vec<Attribute>,
        #[prost(message, repeated, tag = "12")] value_info: Vec<ValueInfo>,
        #[prost(string, tag = "13")] overload: String,
    }
}
message! {
    /// The graph, or the body of an operator.
    Graph {
        #[prost(message, repeated, tag = "1")] node: Vec<Node>,
        #[prost(string, tag = "2")] name: String,
        #[prost(message, repeated, tag = "5")] initializer: Vec<Tensor>,
        #[prost(message, repeated, tag = "11")] input: Vec<ValueInfo>,
        #[prost(message, repeated, tag = "12")] output: Vec<ValueInfo>,
        #[prost(message, repeated, tag = "13")] value_info: Vec<ValueInfo>,
        #[prost(message, repeated, tag = "15")] sparse_initializer: Vec<SparseTensor>,
    }
}
message! {
    Node {
        #[prost(string, repeated, tag = "1")] input: Vec<String>,
        #[prost(string, repeated, tag = "2")] output: Vec<String>,
        #[prost(string, tag = "3")] name: String,
        #[prost(string, tag = "4")] op_type: String,
        #[prost(message, repeated, tag = "5")] attribute: Vec<Attribute>,
        #[prost(string, tag = "7")] domain: String,
        #[prost(string, tag = "8")] overload: String,
        /// The version of the ONNX operators in the function from which the node comes, if it differs from
        /// that of the model. The field is not part of the format, which does not use this number.
        #[prost(int64, optional, tag = "19000")] opset: Option<i64>,
        /// The position of the node in its list of nodes in the file. For a node from the body of a
        /// function, it is the position of the call. This field is not part of the format either.
        #[prost(uint32, tag = "19001")] index: u32,
    }
}
message! {
    /// An attribute. Its type follows from the field that is present.
    Attribute {
        #[prost(string, tag = "1")] name: String,
        #[prost(float, optional, tag = "2")] f: Option<f32>,
        #[prost(int64, optional, tag = "3")] i: Option<i64>,
        #[prost(bytes = "bytes", optional, tag = "4")] s: Option<Bytes>,
        #[prost(message, optional, boxed, tag = "5")] t: Option<Box<Tensor>>,
        #[prost(message, optional, boxed, tag = "6")] g: Option<Box<Graph>>,
        #[prost(float, repeated, tag = "7")] floats: Vec<f32>,
        #[prost(int64, repeated, tag = "8")] ints: Vec<i64>,
        #[prost(bytes = "bytes", repeated, tag = "9")] strings: Vec<Bytes>,
        #[prost(message, repeated, tag = "11")] graphs: Vec<Graph>,
        #[prost(string, tag = "21")] ref_attr_name: String,
        #[prost(message, optional, boxed, tag = "22")] sparse_tensor: Option<Box<SparseTensor>>,
    }
}
message! {
    Tensor {
        #[prost(int64, repeated, tag = "1")] dims: Vec<i64>,
        #[prost(int32, tag = "2")] data_type: i32,
        #[prost(float, repeated, tag = "4")] float_data: Vec<f32>,
        #[prost(int32, repeated, tag = "5")] int32_data: Vec<i32>,
        #[prost(int64, repeated, tag = "7")] int64_data: Vec<i64>,
        #[prost(string, tag = "8")] name: String,
        #[prost(bytes = "bytes", tag = "9")] raw_data: Bytes,
        #[prost(double, repeated, tag = "10")] double_data: Vec<f64>,
        #[prost(uint64, repeated, tag = "11")] uint64_data: Vec<u64>,
        #[prost(int32, tag = "14")] data_location: i32,
    }
}
message! {
    SparseTensor {
        #[prost(message, optional, tag = "1")] values: Option<Tensor>,
        #[prost(message, optional, tag = "2")] indices: Option<Tensor>,
        #[prost(int64, repeated, tag = "3")] dims: Vec<i64>,
    }
}
message! {
    ValueInfo {
        #[prost(string, tag = "1")] name: String,
        #[prost(message, optional, tag = "2")] r#type: Option<Type>,
    }
}
message! {
    /// The type of a value. For types other than dense tensors, only the presence of the field is read.
    Type {
        #[prost(message, optional, tag = "1")] tensor: Option<TensorType>,
        #[prost(bytes = "bytes", optional, tag = "4")] sequence: Option<Bytes>,
        #[prost(bytes = "bytes", optional, tag = "5")] map: Option<Bytes>,
        #[prost(bytes = "bytes", optional, tag = "8")] sparse: Option<Bytes>,
        #[prost(bytes = "bytes", optional, tag = "9")] optional: Option<Bytes>,
    }
}
message! {
    TensorType {
        #[prost(int32, tag = "1")] elem_type: i32,
        #[prost(message, optional, tag = "2")] shape: Option<Shape>,
    }
}
message! {
    /// A shape, some of whose extents may be unknown.
    Shape {
        #[prost(message, repeated, tag = "1")] dim: Vec<Dimension>,
    }
}
message! {
    /// An extent: a number, a name, or nothing.
    Dimension {
        #[prost(int64, optional, tag = "1")] value: Option<i64>,
        #[prost(string, optional, tag = "2")] param: Option<String>,
    }
}

impl Graph {
    /// Sets [`Node::index`] in this graph and in all bodies.
    pub fn number(&mut self) {
        let mut todo = vec![self];
        while let Some(graph) = todo.pop() {
            for (index, node) in graph.node.iter_mut().enumerate() {
                node.index = index as u32;
                for attribute in &mut node.attribute {
                    todo.extend(attribute.g.iter_mut().map(AsMut::as_mut).chain(&mut attribute.graphs));
                }
            }
        }
    }
}

impl Node {
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attribute.iter().find(|attribute| attribute.name == name)
    }

    /// Returns the bodies of the operator, with the names of their attributes.
    pub fn bodies(&self) -> impl Iterator<Item = (&str, &Graph)> {
        self.attribute.iter().flat_map(|attribute| {
            let one = attribute.g.iter().map(AsRef::as_ref);
            one.chain(&attribute.graphs).map(|graph| (attribute.name.as_str(), graph))
        })
    }
}

/// Returns true for the standard ONNX domain.
pub fn plain(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// The maximum number of messages and strings in a file. An empty message occupies two bytes in the file and
/// a hundred times as much in memory.
pub const PART_LIMIT: u64 = 1 << 22;

#[derive(Clone, Copy)]
enum Part {
    Leaf,
    Model,
    Function,
    Graph,
    Node,
    Attribute,
    ValueInfo,
    Type,
    TensorType,
    Shape,
    Sparse,
}

impl Part {
    /// Returns the kind of message in field `tag`, if the field is relevant.
    fn field(self, tag: u64) -> Option<Self> {
        Some(match (self, tag) {
            (Self::Model, 7) | (Self::Attribute, 6 | 11) => Self::Graph,
            (Self::Model, 25) => Self::Function,
            (Self::Graph, 1) | (Self::Function, 7) => Self::Node,
            (Self::Graph, 11..=13) | (Self::Function, 12) => Self::ValueInfo,
            (Self::Graph, 15) | (Self::Attribute, 22) => Self::Sparse,
            (Self::Node, 5) | (Self::Function, 11) => Self::Attribute,
            (Self::ValueInfo, 2) => Self::Type,
            (Self::Type, 1) => Self::TensorType,
            (Self::TensorType, 2) => Self::Shape,
            (Self::Model, 8)
            | (Self::Function, 4 | 5 | 9)
            | (Self::Graph, 5)
            | (Self::Attribute, 5 | 9)
            | (Self::Shape, 1)
            | (Self::Node | Self::Sparse, 1 | 2) => Self::Leaf,
            _ => return None,
        })
    }
}

/// Counts messages and strings before decoding, up to `limit + 1`. Errors in damaged parts are left to the
/// decoder. The time is linear in the size of the structure, excluding the data of weights. There is no
/// recursion.
pub fn count_parts(bytes: &[u8], limit: u64) -> u64 {
    let mut count = 0;
    let mut todo = vec![(Part::Model, bytes)];
    while let Some((part, mut rest)) = todo.pop() {
        while count <= limit
            && let Some((tag, payload, after)) = field(rest)
        {
            rest = after;
            let (Some(payload), Some(inner)) = (payload, part.field(tag)) else { continue };
            count += 1;
            if !matches!(inner, Part::Leaf) {
                todo.push((inner, payload));
            }
        }
    }
    count
}

/// The number of a field, its bytes if it is length-delimited, and the bytes after it.
pub type Field<'a> = (u64, Option<&'a [u8]>, &'a [u8]);

/// Decodes the first field.
pub fn field(bytes: &[u8]) -> Option<Field<'_>> {
    let (key, rest) = varint(bytes)?;
    let (payload, rest) = match key & 7 {
        0 => (None, varint(rest)?.1),
        1 => (None, rest.get(8..)?),
        2 => {
            let (length, rest) = varint(rest)?;
            let (payload, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Some(payload), rest)
        }
        5 => (None, rest.get(4..)?),
        // The contents of a group are treated as if they were outside the group.
        3 | 4 => (None, rest),
        _ => return None,
    };
    Some((key >> 3, payload, rest))
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (at, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}
