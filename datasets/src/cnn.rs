//! Classic convolutional networks, layer by layer, from their published architectures.
//!
//! Shapes are `batch x channels x height x width`, elements `float32`. Convolution and its bias are one operator, activation
//! functions are operators of their own that can write in place. Padding and strides are as published; where a network is
//! published without ambiguity only up to padding, the sizes of its feature maps are.

use plimsoll_model::TensorId;
use plimsoll_model::graph::{AliasKind, Graph, GraphBuilder, Operator, Role, Tensor};

const ELEMENT_BYTES: u64 = 4;

/// Builds a network as a chain with branches: every layer is appended to a tensor and returns its output.
struct Net {
    graph: GraphBuilder,
    batch: u64,
}

/// A feature map under construction.
#[derive(Clone, Copy)]
struct Map {
    tensor: TensorId,
    channels: u64,
    side: u64,
}

impl Net {
    fn new(name: &str, batch: u64) -> Self {
        Self { graph: GraphBuilder::new(name), batch }
    }

    fn input(&mut self, channels: u64, side: u64) -> Map {
        let tensor = self.tensor("input", &[self.batch, channels, side, side], Role::Input);
        Map { tensor, channels, side }
    }

    fn tensor(&mut self, name: &str, shape: &[u64], role: Role) -> TensorId {
        let bytes = shape.iter().product::<u64>() * ELEMENT_BYTES;
        self.graph.tensor(Tensor::new(name, bytes, role).typed("float32", shape))
    }

    /// Appends an operator with one output of this shape.
    fn layer(&mut self, name: &str, kind: &str, reads: &[TensorId], channels: u64, side: u64) -> Map {
        self.layer_with(Operator::new(name, kind), reads, channels, side)
    }

    fn layer_with(&mut self, mut operator: Operator, reads: &[TensorId], channels: u64, side: u64) -> Map {
        let name = format!("{}_output", operator.name);
        let shape = [self.batch, channels, side, side];
        let tensor = self.tensor(&name, &shape, Role::Activation);
        operator.cost.get_or_insert(shape.iter().product());
        let body = self.graph.body();
        self.graph.operator(body, operator.reads(reads.iter().copied()).makes([tensor]));
        Map { tensor, channels, side }
    }

    /// A convolution with bias, `kernel` wide; the output is `side` wide.
    fn conv(&mut self, name: &str, from: Map, channels: u64, kernel: u64, side: u64) -> Map {
        let weight =
            self.tensor(&format!("{name}.weight"), &[channels, from.channels, kernel, kernel], Role::Weight);
        let bias = self.tensor(&format!("{name}.bias"), &[channels], Role::Weight);
        let mut operator = Operator::new(name, "Conv");
        operator.cost = Some(self.batch * channels * side * side * from.channels * kernel * kernel);
        self.layer_with(operator, &[from.tensor, weight, bias], channels, side)
    }

    fn relu(&mut self, name: &str, from: Map) -> Map {
        let to = self.layer(name, "Relu", &[from.tensor], from.channels, from.side);
        self.graph.alias_last(from.tensor, to.tensor, AliasKind::InPlace);
        to
    }

    fn pool(&mut self, name: &str, from: Map, side: u64) -> Map {
        self.layer(name, "MaxPool", &[from.tensor], from.channels, side)
    }

    /// A fully connected layer with bias; a feature map is read as one long vector.
    fn dense(&mut self, name: &str, from: Map, width: u64) -> Map {
        let inputs = from.channels * from.side * from.side;
        let weight = self.tensor(&format!("{name}.weight"), &[width, inputs], Role::Weight);
        let bias = self.tensor(&format!("{name}.bias"), &[width], Role::Weight);
        let mut operator = Operator::new(name, "Gemm");
        operator.cost = Some(self.batch * width * inputs);
        self.layer_with(operator, &[from.tensor, weight, bias], width, 1)
    }

    fn add(&mut self, name: &str, a: Map, b: Map) -> Map {
        let to = self.layer(name, "Add", &[a.tensor, b.tensor], a.channels, a.side);
        for from in [a, b] {
            self.graph.alias_last(from.tensor, to.tensor, AliasKind::InPlace);
        }
        to
    }

    /// The network, from its input to its output.
    fn finish(mut self, input: Map, output: Map) -> Graph {
        self.graph.tensor_mut(output.tensor).role = Role::Output;
        let body = self.graph.body();
        self.graph.interface(body, [input.tensor], [output.tensor]);
        self.graph.build().expect("published networks are graphs")
    }
}

/// `LeNet-5` as it is taught today: two convolutions, three fully connected layers, rectifiers (`LeCun` et al. 1998; 28 x 28 inputs padded
/// to 32 x 32 by the first convolution).
///
/// # Panics
/// Never: it is a graph.
pub fn lenet5(batch: u64) -> Graph {
    let mut net = Net::new("lenet5", batch);
    let input = net.input(1, 28);
    let mut map = net.conv("conv1", input, 6, 5, 28);
    map = net.relu("relu1", map);
    map = net.pool("pool1", map, 14);
    map = net.conv("conv2", map, 16, 5, 10);
    map = net.relu("relu2", map);
    map = net.pool("pool2", map, 5);
    for (nth, width) in [(1, 120), (2, 84)] {
        map = net.dense(&format!("fc{nth}"), map, width);
        map = net.relu(&format!("relu{}", nth + 2), map);
    }
    let output = net.dense("fc3", map, 10);
    net.finish(input, output)
}

/// VGG-16, configuration D (Simonyan and Zisserman 2015).
///
/// # Panics
/// Never: it is a graph.
pub fn vgg16(batch: u64) -> Graph {
    let mut net = Net::new("vgg16", batch);
    let input = net.input(3, 224);
    let mut map = input;
    for (block, (convs, channels)) in (1..).zip([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]) {
        for nth in 1..=convs {
            map = net.conv(&format!("conv{block}_{nth}"), map, channels, 3, map.side);
            map = net.relu(&format!("relu{block}_{nth}"), map);
        }
        map = net.pool(&format!("pool{block}"), map, map.side / 2);
    }
    for nth in [6, 7] {
        map = net.dense(&format!("fc{nth}"), map, 4096);
        map = net.relu(&format!("relu{nth}"), map);
    }
    let output = net.dense("fc8", map, 1000);
    net.finish(input, output)
}

/// `ResNet-18` with batch normalisation folded into the convolutions (He et al. 2016).
///
/// # Panics
/// Never: it is a graph.
pub fn resnet18(batch: u64) -> Graph {
    let mut net = Net::new("resnet18", batch);
    let input = net.input(3, 224);
    let mut map = net.conv("conv1", input, 64, 7, 112);
    map = net.relu("relu1", map);
    map = net.pool("pool1", map, 56);
    for (stage, (channels, side)) in (2..).zip([(64, 56), (128, 28), (256, 14), (512, 7)]) {
        for block in 1..=2 {
            let name = |part: &str| format!("{part}{stage}_{block}");
            let mut branch = net.conv(&name("conv_a"), map, channels, 3, side);
            branch = net.relu(&name("relu_a"), branch);
            branch = net.conv(&name("conv_b"), branch, channels, 3, side);
            let skip =
                if map.channels == channels { map } else { net.conv(&name("down"), map, channels, 1, side) };
            map = net.add(&name("add"), branch, skip);
            map = net.relu(&name("relu_b"), map);
        }
    }
    map = net.layer("pool5", "GlobalAveragePool", &[map.tensor], map.channels, 1);
    let output = net.dense("fc", map, 1000);
    net.finish(input, output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::OperatorId;

    fn parameters(graph: &Graph) -> u64 {
        graph.bytes(Role::Weight).get() / ELEMENT_BYTES
    }

    fn arithmetic(graph: &Graph, kinds: &[&str]) -> u64 {
        let own = graph.operators().iter().filter(|operator| kinds.contains(&operator.kind.as_str()));
        own.filter_map(|operator| operator.cost).sum()
    }

    #[test]
    fn parameters_and_arithmetic_are_the_published_ones() {
        let weighty = ["Conv", "Gemm"];
        let lenet = lenet5(1);
        assert_eq!(parameters(&lenet), 61_706);
        assert_eq!(arithmetic(&lenet, &weighty), 416_520);
        let vgg = vgg16(1);
        assert_eq!(parameters(&vgg), 138_357_544);
        assert_eq!(arithmetic(&vgg, &weighty), 15_470_264_320);
        // 11 689 512 with batch normalisation, whose 9600 scales and shifts become the 4800 biases.
        assert_eq!(parameters(&resnet18(1)), 11_689_512 - 4_800);
        assert_eq!(arithmetic(&resnet18(1), &weighty), 1_814_073_344);
    }

    #[test]
    fn activations_grow_with_the_batch_and_weights_do_not() {
        let (one, four) = (vgg16(1), vgg16(4));
        assert_eq!(one.bytes(Role::Activation).get() * 4, four.bytes(Role::Activation).get());
        assert_eq!(one.bytes(Role::Weight), four.bytes(Role::Weight));
        assert_eq!(one.weight_bytes(OperatorId::new(0)).get(), (3 * 64 * 9 + 64) * 4);
    }
}
