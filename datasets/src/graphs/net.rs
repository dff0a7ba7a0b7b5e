//! Shared parts of the graph generators. They create operators with one output, whose size follows from its
//! shape and its element type.

use crate::error::GenerateError;
use plimsoll_model::graph::{AliasKind, Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::{Bytes, OperatorId, RegionId, TensorId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F32,
    F16,
    I64,
    I8,
    Byte,
}

impl Element {
    const fn bytes(self) -> u64 {
        match self {
            Self::Byte | Self::I8 => 1,
            Self::F16 => 2,
            Self::F32 => 4,
            Self::I64 => 8,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Byte => "uint8",
            Self::F16 => "float16",
            Self::F32 => "float32",
            Self::I64 => "int64",
            Self::I8 => "int8",
        }
    }
}

/// Returns the number of elements. It saturates on overflow; sizes that are too large are rejected when the
/// graph is built.
pub(super) fn volume(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, &extent| product.saturating_mul(extent))
}

/// A graph under construction, with the shapes of its tensors.
pub(super) struct Net {
    graph: GraphBuilder,
    shapes: Vec<Vec<u64>>,
    inputs: Vec<TensorId>,
    region: RegionId,
}

impl Net {
    pub fn new(name: &str) -> Self {
        let graph = GraphBuilder::new(name);
        Self { region: graph.body(), graph, shapes: Vec::new(), inputs: Vec::new() }
    }

    pub fn shape(&self, id: TensorId) -> &[u64] {
        &self.shapes[id.index()]
    }

    fn tensor(&mut self, name: &str, role: Role, element: Element, shape: &[u64]) -> TensorId {
        let bytes = Bytes::new(volume(shape).saturating_mul(element.bytes()));
        self.shapes.push(shape.to_vec());
        self.graph.tensor(Tensor::new(name, bytes, role).typed(element.name(), shape))
    }

    pub fn input(&mut self, name: &str, element: Element, shape: &[u64]) -> TensorId {
        let id = self.tensor(name, Role::Input, element, shape);
        self.inputs.push(id);
        id
    }

    pub fn weight(&mut self, name: &str, element: Element, shape: &[u64]) -> TensorId {
        self.tensor(name, Role::Weight, element, shape)
    }

    pub fn state(&mut self, name: &str, element: Element, shape: &[u64]) -> TensorId {
        self.tensor(name, Role::State, element, shape)
    }

    /// Starts a new region of the operator `owner` and returns the previous region. Later operators belong to
    /// the new region.
    pub fn open(&mut self, owner: OperatorId, name: &str) -> RegionId {
        let region = self.graph.region(owner, name);
        std::mem::replace(&mut self.region, region)
    }

    /// Ends a region, which reads outer tensors directly and returns `output`. Later operators belong to
    /// `outer` again.
    pub fn close(&mut self, outer: RegionId, output: TensorId) {
        self.graph.interface(self.region, [], [output]);
        self.region = outer;
    }

    /// Returns the graph with these outputs.
    pub fn finish(mut self, outputs: &[TensorId]) -> Result<Graph, GenerateError> {
        for &output in outputs {
            self.graph.tensor_mut(output).role = Role::Output;
        }
        let body = self.graph.body();
        self.graph.interface(body, self.inputs, outputs.iter().copied());
        Ok(self.graph.build().map_err(Box::new)?)
    }
}

pub(super) struct Node(Operator, Vec<(TensorId, AliasKind)>);

impl Node {
    pub fn new(name: impl Into<String>, kind: &str) -> Self {
        Self(Operator::new(name, kind), Vec::new())
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn reads(mut self, inputs: &[TensorId]) -> Self {
        self.0 = self.0.reads(inputs.iter().copied());
        self
    }

    /// Allows the output to overwrite this input.
    pub fn over(mut self, input: TensorId) -> Self {
        self.1.push((input, AliasKind::InPlace));
        self
    }

    /// Makes the output a view of this input.
    pub fn view(mut self, input: TensorId) -> Self {
        self.1.push((input, AliasKind::View));
        self
    }

    pub fn cost(mut self, cost: u64) -> Self {
        self.0.cost = Some(cost);
        self
    }

    /// Adds the operator. Its output gets the name of the operator.
    pub fn makes(self, net: &mut Net, element: Element, shape: &[u64]) -> TensorId {
        self.owns(net, element, shape).0
    }

    /// Adds the operator. Returns its output, and its id so that the operator can own regions.
    pub fn owns(self, net: &mut Net, element: Element, shape: &[u64]) -> (TensorId, OperatorId) {
        let output = net.tensor(&self.0.name, Role::Activation, element, shape);
        let mut operator = self.0.makes([output]);
        for (input, kind) in self.1 {
            operator = operator.alias(input, output, kind);
        }
        let id = net.graph.operator(net.region, operator);
        (output, id)
    }
}
