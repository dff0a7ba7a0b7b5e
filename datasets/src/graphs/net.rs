//! What the generators of graphs share: operators that make one tensor, sized by shape and element type.

use crate::error::GenerateError;
use plimsoll_model::graph::{AliasKind, Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::{Bytes, OperatorId, RegionId, TensorId};

/// An element type.
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

/// Number of elements; saturates, so that building refuses what is too large.
pub(super) fn volume(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, &extent| product.saturating_mul(extent))
}

/// A graph in the making, with the shapes of its tensors.
pub(super) struct Net {
    graph: GraphBuilder,
    shapes: Vec<Vec<u64>>,
    inputs: Vec<TensorId>,
    /// Where operators are added.
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

    /// Adds what is made next to a new region of this operator; the region it was added to before is returned.
    pub fn open(&mut self, owner: OperatorId, name: &str) -> RegionId {
        let region = self.graph.region(owner, name);
        std::mem::replace(&mut self.region, region)
    }

    /// Ends a region, which reads tensors around it where they are and returns one; what comes next belongs to `outer` again.
    pub fn close(&mut self, outer: RegionId, output: TensorId) {
        self.graph.interface(self.region, [], [output]);
        self.region = outer;
    }

    /// The graph, with these tensors wanted of it.
    pub fn finish(mut self, outputs: &[TensorId]) -> Result<Graph, GenerateError> {
        for &output in outputs {
            self.graph.tensor_mut(output).role = Role::Output;
        }
        let body = self.graph.body();
        self.graph.interface(body, self.inputs, outputs.iter().copied());
        Ok(self.graph.build().map_err(Box::new)?)
    }
}

/// An operator in the making.
pub(super) struct Node(Operator, Vec<(TensorId, AliasKind)>);

impl Node {
    pub fn new(name: impl Into<String>, kind: &str) -> Self {
        Self(Operator::new(name, kind), Vec::new())
    }

    pub fn reads(mut self, inputs: &[TensorId]) -> Self {
        self.0 = self.0.reads(inputs.iter().copied());
        self
    }

    /// Its output can be written over this input.
    pub fn over(mut self, input: TensorId) -> Self {
        self.1.push((input, AliasKind::InPlace));
        self
    }

    /// Its output is this input, read another way.
    pub fn view(mut self, input: TensorId) -> Self {
        self.1.push((input, AliasKind::View));
        self
    }

    pub fn cost(mut self, cost: u64) -> Self {
        self.0.cost = Some(cost);
        self
    }

    /// Adds it to the net; its output is called as it is.
    pub fn makes(self, net: &mut Net, element: Element, shape: &[u64]) -> TensorId {
        self.owns(net, element, shape).0
    }

    /// The same, and the operator, which can be given regions.
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

/// Convolutional layers: activations are `float32`, shaped batch 1, channels, height, width.
impl Net {
    fn pixels(&self, x: TensorId) -> [u64; 3] {
        let shape = self.shape(x);
        [shape[1], shape[2], shape[3]]
    }

    pub fn channels(&self, x: TensorId) -> u64 {
        self.shape(x)[1]
    }

    pub fn image(&mut self, channels: u64, size: u64) -> TensorId {
        self.input("x", Element::F32, &[1, channels, size, size])
    }

    /// A convolution with as many groups as given, no bias; extents divided by the stride and rounded up.
    pub fn conv(
        &mut self,
        name: &str,
        x: TensorId,
        channels: u64,
        kernel: u64,
        stride: u64,
        groups: u64,
    ) -> TensorId {
        let [from, height, width] = self.pixels(x);
        let taps = [channels, from / groups, kernel, kernel];
        let weight = self.weight(&format!("{name}.w"), Element::F32, &taps);
        let shape = [1, channels, height.div_ceil(stride), width.div_ceil(stride)];
        let cost = volume(&taps).saturating_mul(volume(&shape[2..]));
        Node::new(name, "Conv").reads(&[x, weight]).cost(cost).makes(self, Element::F32, &shape)
    }

    /// Depthwise, then pointwise.
    pub fn separable(
        &mut self,
        name: &str,
        x: TensorId,
        channels: u64,
        kernel: u64,
        stride: u64,
    ) -> TensorId {
        let from = self.channels(x);
        let deep = self.conv(&format!("{name}.dw"), x, from, kernel, stride, from);
        self.conv(&format!("{name}.pw"), deep, channels, 1, 1, 1)
    }

    /// Scale and shift per channel, which can be done in place.
    pub fn norm(&mut self, name: &str, x: TensorId) -> TensorId {
        let channels = self.channels(x);
        let weight = self.weight(&format!("{name}.w"), Element::F32, &[2, channels]);
        let node = Node::new(name, "BatchNormalization").reads(&[x, weight]).over(x);
        self.same(node, x)
    }

    pub fn relu(&mut self, name: &str, x: TensorId) -> TensorId {
        self.same(Node::new(name, "Relu").reads(&[x]).over(x), x)
    }

    fn same(&mut self, node: Node, x: TensorId) -> TensorId {
        let shape = self.shape(x).to_vec();
        node.cost(volume(&shape)).makes(self, Element::F32, &shape)
    }

    pub fn pool(&mut self, name: &str, kind: &str, x: TensorId, stride: u64) -> TensorId {
        let [channels, height, width] = self.pixels(x);
        let shape = [1, channels, height.div_ceil(stride), width.div_ceil(stride)];
        Node::new(name, kind).reads(&[x]).cost(volume(&shape).saturating_mul(9)).makes(
            self,
            Element::F32,
            &shape,
        )
    }

    /// Elementwise, of any number of operands; can be written over any of them.
    pub fn join(&mut self, name: &str, kind: &str, xs: &[TensorId]) -> TensorId {
        let node = xs.iter().fold(Node::new(name, kind).reads(xs), |node, &x| node.over(x));
        self.same(node, xs[0])
    }

    /// One after the other, by channels.
    pub fn concat(&mut self, name: &str, xs: &[TensorId]) -> TensorId {
        let [_, height, width] = self.pixels(xs[0]);
        let channels = xs.iter().map(|&x| self.channels(x)).sum();
        Node::new(name, "Concat").reads(xs).makes(self, Element::F32, &[1, channels, height, width])
    }

    /// Relu, a 1 x 1 convolution, norm.
    pub fn project(&mut self, name: &str, x: TensorId, channels: u64) -> TensorId {
        let x = self.relu(&format!("{name}.relu"), x);
        let x = self.conv(&format!("{name}.conv"), x, channels, 1, 1, 1);
        self.norm(&format!("{name}.norm"), x)
    }

    /// Average over all pixels, then a linear layer with bias.
    pub fn classify(&mut self, x: TensorId, classes: u64) -> TensorId {
        let channels = self.channels(x);
        let x = Node::new("pool", "GlobalAveragePool").reads(&[x]).makes(self, Element::F32, &[1, channels]);
        let weight = self.weight("fc.w", Element::F32, &[classes, channels]);
        let bias = self.weight("fc.b", Element::F32, &[classes]);
        let node = Node::new("fc", "Gemm").reads(&[x, weight, bias]).cost(classes.saturating_mul(channels));
        node.makes(self, Element::F32, &[1, classes])
    }
}
