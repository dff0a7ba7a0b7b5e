//! Classic convolutional networks, layer by layer, from their published architectures.
//!
//! Shapes are `batch x channels x height x width`, elements `float32`. Convolution and its bias are one operator, activation
//! functions are operators of their own that can write in place. The sizes of feature maps are the published ones.

use super::net::{Element, Net, Node, volume};
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;

/// A network under construction: every layer is appended to a feature map and returns its own.
struct Classic {
    net: Net,
    batch: u64,
}

/// A feature map.
#[derive(Clone, Copy)]
struct Map {
    tensor: TensorId,
    channels: u64,
    side: u64,
}

impl Classic {
    fn new(params: &Params) -> Result<Self, GenerateError> {
        Ok(Self { net: Net::new(params.name()), batch: params.at_least("batch", 1)? })
    }

    fn input(&mut self, channels: u64, side: u64) -> Map {
        let tensor = self.net.input("input", Element::F32, &[self.batch, channels, side, side]);
        Map { tensor, channels, side }
    }

    /// Appends an operator whose output is called after it.
    fn layer(&mut self, node: Node, channels: u64, side: u64) -> Map {
        let tensor = node.makes(&mut self.net, Element::F32, &[self.batch, channels, side, side]);
        Map { tensor, channels, side }
    }

    /// An operator that costs as much as it makes elements.
    fn plain(&self, name: &str, kind: &str, from: &[Map], channels: u64, side: u64) -> Node {
        let reads: Vec<TensorId> = from.iter().map(|map| map.tensor).collect();
        Node::new(name, kind).reads(&reads).cost(volume(&[self.batch, channels, side, side]))
    }

    /// Reads a map, a weight of this shape and a bias of `channels`.
    fn weighted(&mut self, name: &str, kind: &str, from: Map, shape: &[u64], side: u64) -> Map {
        let weight = self.net.weight(&format!("{name}.weight"), Element::F32, shape);
        let bias = self.net.weight(&format!("{name}.bias"), Element::F32, &shape[..1]);
        let cost = [self.batch, side, side, volume(shape)];
        let node = Node::new(name, kind).reads(&[from.tensor, weight, bias]).cost(volume(&cost));
        self.layer(node, shape[0], side)
    }

    /// A convolution with bias, `kernel` wide; the output is `side` wide.
    fn conv(&mut self, name: &str, from: Map, channels: u64, kernel: u64, side: u64) -> Map {
        self.weighted(name, "Conv", from, &[channels, from.channels, kernel, kernel], side)
    }

    /// A fully connected layer with bias; a feature map is read as one long vector.
    fn dense(&mut self, name: &str, from: Map, width: u64) -> Map {
        self.weighted(name, "Gemm", from, &[width, from.channels * from.side * from.side], 1)
    }

    fn relu(&mut self, name: &str, from: Map) -> Map {
        let node = self.plain(name, "Relu", &[from], from.channels, from.side).over(from.tensor);
        self.layer(node, from.channels, from.side)
    }

    fn pool(&mut self, name: &str, kind: &str, from: Map, side: u64) -> Map {
        let node = self.plain(name, kind, &[from], from.channels, side);
        self.layer(node, from.channels, side)
    }

    fn add(&mut self, name: &str, a: Map, b: Map) -> Map {
        let node = self.plain(name, "Add", &[a, b], a.channels, a.side).over(a.tensor).over(b.tensor);
        self.layer(node, a.channels, a.side)
    }
}

/// `LeNet-5` as it is taught today: two convolutions, three fully connected layers, rectifiers (`LeCun` et al. 1998; 28 x 28 inputs padded
/// to 32 x 32 by the first convolution).
pub(super) fn lenet5(params: &Params) -> Result<Graph, GenerateError> {
    let mut net = Classic::new(params)?;
    let input = net.input(1, 28);
    let mut map = net.conv("conv1", input, 6, 5, 28);
    map = net.relu("relu1", map);
    map = net.pool("pool1", "MaxPool", map, 14);
    map = net.conv("conv2", map, 16, 5, 10);
    map = net.relu("relu2", map);
    map = net.pool("pool2", "MaxPool", map, 5);
    for (nth, width) in [(1, 120), (2, 84)] {
        map = net.dense(&format!("fc{nth}"), map, width);
        map = net.relu(&format!("relu{}", nth + 2), map);
    }
    let output = net.dense("fc3", map, 10);
    net.net.finish(&[output.tensor])
}

/// VGG-16, configuration D (Simonyan and Zisserman 2015).
pub(super) fn vgg16(params: &Params) -> Result<Graph, GenerateError> {
    let mut net = Classic::new(params)?;
    let input = net.input(3, 224);
    let mut map = input;
    for (block, (convs, channels)) in (1..).zip([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]) {
        for nth in 1..=convs {
            map = net.conv(&format!("conv{block}_{nth}"), map, channels, 3, map.side);
            map = net.relu(&format!("relu{block}_{nth}"), map);
        }
        map = net.pool(&format!("pool{block}"), "MaxPool", map, map.side / 2);
    }
    params.at_most("classifier", 1)?;
    if params.get("classifier") == 0 {
        return net.net.finish(&[map.tensor]);
    }
    for nth in [6, 7] {
        map = net.dense(&format!("fc{nth}"), map, 4096);
        map = net.relu(&format!("relu{nth}"), map);
    }
    let output = net.dense("fc8", map, 1000);
    net.net.finish(&[output.tensor])
}

/// `ResNet-18` with batch normalisation folded into the convolutions (He et al. 2016).
pub(super) fn resnet18(params: &Params) -> Result<Graph, GenerateError> {
    let mut net = Classic::new(params)?;
    let input = net.input(3, 224);
    let mut map = net.conv("conv1", input, 64, 7, 112);
    map = net.relu("relu1", map);
    map = net.pool("pool1", "MaxPool", map, 56);
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
    map = net.pool("pool5", "GlobalAveragePool", map, 1);
    let output = net.dense("fc", map, 1000);
    net.net.finish(&[output.tensor])
}

#[cfg(test)]
mod tests {
    use super::super::GraphFamily;
    use plimsoll_model::OperatorId;
    use plimsoll_model::graph::{Graph, Role};

    fn make(family: &str, batch: u64) -> Graph {
        let params = [("batch".to_owned(), batch)].into();
        GraphFamily::named(family).unwrap().generate(0, &params).unwrap()
    }

    fn parameters(graph: &Graph) -> u64 {
        graph.bytes(Role::Weight).get() / 4
    }

    fn arithmetic(graph: &Graph, kinds: &[&str]) -> u64 {
        let own = graph.operators().iter().filter(|operator| kinds.contains(&operator.kind.as_str()));
        own.filter_map(|operator| operator.cost).sum()
    }

    #[test]
    fn parameters_and_arithmetic_are_the_published_ones() {
        let weighty = ["Conv", "Gemm"];
        let lenet = make("lenet5", 1);
        assert_eq!(parameters(&lenet), 61_706);
        assert_eq!(arithmetic(&lenet, &weighty), 416_520);
        let vgg = make("vgg16", 1);
        assert_eq!(parameters(&vgg), 138_357_544);
        assert_eq!(arithmetic(&vgg, &weighty), 15_470_264_320);
        let params = [("classifier".to_owned(), 0)].into();
        let convolutions = GraphFamily::named("vgg16").unwrap().generate(0, &params).unwrap();
        assert_eq!((parameters(&convolutions), convolutions.operators().len()), (14_714_688, 31));
        // 11 689 512 with batch normalisation, whose 9600 scales and shifts become the 4800 biases.
        assert_eq!(parameters(&make("resnet18", 1)), 11_689_512 - 4_800);
        assert_eq!(arithmetic(&make("resnet18", 1), &weighty), 1_814_073_344);
    }

    #[test]
    fn activations_grow_with_the_batch_and_weights_do_not() {
        let (one, four) = (make("vgg16", 1), make("vgg16", 4));
        assert_eq!(one.bytes(Role::Activation).get() * 4, four.bytes(Role::Activation).get());
        assert_eq!(one.bytes(Role::Weight), four.bytes(Role::Weight));
        assert_eq!(one.weight_bytes(OperatorId::new(0)).get(), (3 * 64 * 9 + 64) * 4);
    }
}
