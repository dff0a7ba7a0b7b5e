//! Layers of image networks: convolution with normalisation and activation, pooling, and dense layers.
//!
//! Shapes are `batch x channels x height x width`, and elements are `float32` by default. An extent of `n`
//! becomes `(n + 2 pad - kernel) / stride + 1`, rounded down unless a pooling operator rounds up. Activations
//! can run in place.

use super::net::{Element, Net, Node, volume};
use crate::error::{GenerateError, at_least};
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;

pub(super) struct Layers {
    pub net: Net,
    batch: u64,
    /// Whether batch normalisation has operators of its own. Otherwise, it is folded into biases.
    norm: bool,
    names: Names,
    element: Element,
}

/// The name of the graph input, and the suffixes that turn the name of a layer into the names of its weight,
/// bias and normalisation.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub input: &'static str,
    pub weight: &'static str,
    pub bias: &'static str,
    pub norm: &'static str,
}

pub(super) const SHORT: Names = Names { input: "input", weight: ".w", bias: ".b", norm: ".norm" };

/// The window of a convolution or of a pooling operator.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub channels: u64,
    /// Height and width.
    pub kernel: [u64; 2],
    pub stride: u64,
    pub pad: [u64; 2],
    pub groups: u64,
}

/// Returns a window of odd size with padding, so that each extent of the output is that of the input divided
/// by the stride, rounded up.
pub(super) const fn same(channels: u64, kernel: u64, stride: u64) -> Window {
    Window { channels, kernel: [kernel; 2], stride, pad: [kernel / 2; 2], groups: 1 }
}

/// Returns a window without padding.
pub(super) const fn valid(channels: u64, kernel: u64, stride: u64) -> Window {
    Window { pad: [0; 2], ..same(channels, kernel, stride) }
}

impl Window {
    /// Splits the channels into groups.
    pub const fn grouped(self, groups: u64) -> Self {
        Self { groups, ..self }
    }

    fn extent(self, axis: usize, from: u64, round_up: bool) -> u64 {
        let spare = (from + 2 * self.pad[axis]).saturating_sub(self.kernel[axis]);
        1 + if round_up { spare.div_ceil(self.stride) } else { spare / self.stride }
    }
}

impl Layers {
    pub fn new(params: &Params, norm: bool) -> Result<Self, GenerateError> {
        Self::named(params, norm, SHORT, Element::F32)
    }

    /// Creates the layers of a family with the given tensor names and element type. Without a parameter
    /// `batch`, the batch size is 1.
    pub fn named(params: &Params, norm: bool, names: Names, element: Element) -> Result<Self, GenerateError> {
        let batch = params.get_or("batch", 1);
        at_least("batch", batch, 1)?;
        Ok(Self { net: Net::new(params.name()), batch, norm, names, element })
    }

    /// Creates the layers of a family with the parameter `norm`.
    pub fn normed(params: &Params) -> Result<Self, GenerateError> {
        let norm = params.at_most("norm", 1)? == 1;
        Self::new(params, norm)
    }

    pub fn image(&mut self, channels: u64, side: u64) -> TensorId {
        self.net.input(self.names.input, self.element, &[self.batch, channels, side, side])
    }

    pub fn batch(&self) -> u64 {
        self.batch
    }

    pub fn channels(&self, x: TensorId) -> u64 {
        self.net.shape(x)[1]
    }

    pub fn side(&self, x: TensorId) -> u64 {
        self.net.shape(x)[2]
    }

    fn makes(&mut self, node: Node, shape: &[u64]) -> TensorId {
        node.makes(&mut self.net, self.element, shape)
    }

    fn weight(&mut self, name: &str, shape: &[u64]) -> TensorId {
        self.net.weight(&format!("{name}{}", self.names.weight), self.element, shape)
    }

    fn bias(&mut self, name: &str, channels: u64) -> TensorId {
        self.net.weight(&format!("{name}{}", self.names.bias), self.element, &[channels])
    }

    /// Adds an operator with a weight of shape `taps`, and optionally a bias. Each output element costs one
    /// multiply-accumulate per weight of its output channel.
    pub fn weighted(&mut self, node: Node, x: TensorId, taps: &[u64], bias: bool, shape: &[u64]) -> TensorId {
        let mut reads = vec![x, self.weight(node.name(), taps)];
        if bias {
            reads.push(self.bias(node.name(), taps[0]));
        }
        let cost = volume(shape).saturating_mul(volume(&taps[1..]));
        self.makes(node.reads(&reads).cost(cost), shape)
    }

    fn shape(&self, x: TensorId, window: Window, round_up: bool) -> [u64; 4] {
        let shape = self.net.shape(x);
        let side = |axis: usize| window.extent(axis, shape[2 + axis], round_up);
        [shape[0], window.channels, side(0), side(1)]
    }

    /// Adds a convolution, optionally with a bias.
    pub fn conv(&mut self, name: &str, x: TensorId, window: Window, bias: bool) -> TensorId {
        let shape = self.shape(x, window, false);
        let taps = [window.channels, self.channels(x) / window.groups, window.kernel[0], window.kernel[1]];
        self.weighted(Node::new(name, "Conv"), x, &taps, bias, &shape)
    }

    /// Adds a convolution and its normalisation, which is an operator or folded into a bias.
    pub fn layer(&mut self, name: &str, x: TensorId, window: Window) -> TensorId {
        let y = self.conv(&format!("{name}.conv"), x, window, !self.norm);
        if self.norm { self.scaled(&format!("{name}{}", self.names.norm), y) } else { y }
    }

    /// Adds a convolution, its normalisation and an activation function.
    pub fn active(&mut self, name: &str, x: TensorId, window: Window, kind: &str) -> TensorId {
        let y = self.layer(name, x, window);
        self.map(&format!("{name}.{}", kind.to_lowercase()), kind, &[y])
    }

    /// Adds an operator that scales and shifts every channel.
    pub fn scaled(&mut self, name: &str, x: TensorId) -> TensorId {
        let channels = self.channels(x);
        let weight = self.weight(name, &[2, channels]);
        let shape = self.net.shape(x).to_vec();
        let node = Node::new(name, "BatchNormalization").reads(&[x, weight]).over(x).cost(volume(&shape));
        self.makes(node, &shape)
    }

    /// Adds an elementwise operator. The output has the shape of the first operand and can overwrite any
    /// operand of that shape.
    pub fn map(&mut self, name: &str, kind: &str, xs: &[TensorId]) -> TensorId {
        let shape = self.net.shape(xs[0]).to_vec();
        let like = xs.iter().filter(|&&x| self.net.shape(x) == shape);
        let node = like.fold(Node::new(name, kind).reads(xs), |node, &x| node.over(x));
        self.makes(node.cost(volume(&shape)), &shape)
    }

    pub fn pool(&mut self, name: &str, kind: &str, x: TensorId, window: Window, round_up: bool) -> TensorId {
        let window = Window { channels: self.channels(x), ..window };
        let shape = self.shape(x, window, round_up);
        let cost = volume(&shape).saturating_mul(volume(&window.kernel));
        self.makes(Node::new(name, kind).reads(&[x]).cost(cost), &shape)
    }

    /// Adds global average pooling.
    pub fn average(&mut self, name: &str, x: TensorId) -> TensorId {
        let shape = self.net.shape(x).to_vec();
        let node = Node::new(name, "GlobalAveragePool").reads(&[x]).cost(volume(&shape));
        self.makes(node, &[shape[0], shape[1], 1, 1])
    }

    /// Adds an operator that concatenates tensors along their channels.
    pub fn concat(&mut self, name: &str, xs: &[TensorId]) -> TensorId {
        let channels = xs.iter().map(|&x| self.channels(x)).sum();
        let shape = [self.batch, channels, self.side(xs[0]), self.net.shape(xs[0])[3]];
        self.makes(Node::new(name, "Concat").reads(xs).cost(volume(&shape)), &shape)
    }

    /// Adds a view if `kind` is `Reshape`, and otherwise an operator that costs one operation per output
    /// element.
    pub fn moved(&mut self, name: &str, kind: &str, x: TensorId, shape: &[u64]) -> TensorId {
        let node = Node::new(name, kind).reads(&[x]);
        self.makes(if kind == "Reshape" { node.view(x) } else { node.cost(volume(shape)) }, shape)
    }

    /// Adds a transposed 2 x 2 convolution with bias, which doubles height and width.
    pub fn double(&mut self, name: &str, x: TensorId, channels: u64) -> TensorId {
        let taps = [self.channels(x), channels, 2, 2];
        let reads = [x, self.weight(name, &taps), self.bias(name, channels)];
        let shape = [self.batch, channels, 2 * self.side(x), 2 * self.side(x)];
        let cost = volume(&shape).saturating_mul(taps[0]);
        self.makes(Node::new(name, "ConvTranspose").reads(&reads).cost(cost), &shape)
    }

    /// Adds a dense layer with bias. The features of each image are flattened.
    pub fn dense(&mut self, name: &str, x: TensorId, width: u64) -> TensorId {
        let from = volume(&self.net.shape(x)[1..]);
        self.weighted(Node::new(name, "Gemm"), x, &[width, from], true, &[self.batch, width])
    }

    /// Adds global average pooling and a dense layer for 1000 classes. Returns the finished graph.
    pub fn classified(mut self, x: TensorId) -> Result<Graph, GenerateError> {
        let x = self.average("pool", x);
        let y = self.dense("fc", x, 1000);
        self.finish(y)
    }

    /// Adds a depthwise and a pointwise convolution, both without bias.
    pub fn separable(
        &mut self,
        name: &str,
        x: TensorId,
        channels: u64,
        kernel: u64,
        stride: u64,
    ) -> TensorId {
        let from = self.channels(x);
        let deep = self.conv(&format!("{name}.dw"), x, same(from, kernel, stride).grouped(from), false);
        self.conv(&format!("{name}.pw"), deep, same(channels, 1, 1), false)
    }

    /// Adds a `ReLU`, a 1 x 1 convolution and a normalisation.
    pub fn project(&mut self, name: &str, x: TensorId, channels: u64) -> TensorId {
        let x = self.map(&format!("{name}.relu"), "Relu", &[x]);
        let x = self.conv(&format!("{name}.conv"), x, same(channels, 1, 1), false);
        self.scaled(&format!("{name}.norm"), x)
    }

    /// Adds the operator of [`Self::concat`] with an unknown cost.
    pub fn joined(&mut self, name: &str, xs: &[TensorId]) -> TensorId {
        let channels = xs.iter().map(|&x| self.channels(x)).sum();
        let shape = [self.batch, channels, self.side(xs[0]), self.net.shape(xs[0])[3]];
        self.makes(Node::new(name, "Concat").reads(xs), &shape)
    }

    /// Adds global average pooling, whose output is a vector, and a dense layer.
    pub fn classify(&mut self, x: TensorId, classes: u64) -> TensorId {
        let shape = [self.batch, self.channels(x)];
        let x = self.makes(Node::new("pool", "GlobalAveragePool").reads(&[x]), &shape);
        self.dense("fc", x, classes)
    }

    pub fn finish(self, output: TensorId) -> Result<Graph, GenerateError> {
        self.net.finish(&[output])
    }
}
