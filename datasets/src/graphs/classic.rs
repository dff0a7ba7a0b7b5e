//! Classic convolutional networks, built layer by layer from their published architectures.
//!
//! Shapes are `batch x channels x height x width`, and elements are `float32`. A convolution and its bias are
//! one operator. An activation function is a separate operator that can run in place. The cost of pooling is
//! one operation per output element.

use super::layers::{Layers, Names, SHORT, same, valid};
use super::net::{Element, Node, volume};
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;

const NAMES: Names = Names { weight: ".weight", bias: ".bias", ..SHORT };

fn layers(params: &Params) -> Result<Layers, GenerateError> {
    Layers::named(params, false, NAMES, Element::F32)
}

/// Adds a pooling operator with an output of `side` x `side`.
fn pool(n: &mut Layers, name: &str, kind: &str, x: TensorId, side: u64) -> TensorId {
    let shape = [n.batch(), n.channels(x), side, side];
    n.moved(name, kind, x, &shape)
}

/// Adds a fully connected layer with bias. The input is flattened, and the output has the shape of a 1 x 1
/// feature map.
fn dense(n: &mut Layers, name: &str, x: TensorId, width: u64) -> TensorId {
    let taps = [width, volume(&n.net.shape(x)[1..])];
    let shape = [n.batch(), width, 1, 1];
    n.weighted(Node::new(name, "Gemm"), x, &taps, true, &shape)
}

/// Generates `LeNet-5` in its modern form: two convolutions, three fully connected layers, and `ReLU`
/// activations (`LeCun` et al. 1998). The first convolution pads the 28 x 28 input to 32 x 32.
pub(super) fn lenet5(params: &Params) -> Result<Graph, GenerateError> {
    let mut n = layers(params)?;
    let mut x = n.image(1, 28);
    for (nth, window, side) in [(1, same(6, 5, 1), 14), (2, valid(16, 5, 1), 5)] {
        x = n.conv(&format!("conv{nth}"), x, window, true);
        x = n.map(&format!("relu{nth}"), "Relu", &[x]);
        x = pool(&mut n, &format!("pool{nth}"), "MaxPool", x, side);
    }
    for (nth, width) in [(1, 120), (2, 84)] {
        x = dense(&mut n, &format!("fc{nth}"), x, width);
        x = n.map(&format!("relu{}", nth + 2), "Relu", &[x]);
    }
    x = dense(&mut n, "fc3", x, 10);
    n.finish(x)
}

/// Generates VGG-16, configuration D (Simonyan and Zisserman 2015).
pub(super) fn vgg16(params: &Params) -> Result<Graph, GenerateError> {
    let mut n = layers(params)?;
    let mut x = n.image(3, 224);
    for (block, (convs, channels)) in (1..).zip([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]) {
        for nth in 1..=convs {
            x = n.conv(&format!("conv{block}_{nth}"), x, same(channels, 3, 1), true);
            x = n.map(&format!("relu{block}_{nth}"), "Relu", &[x]);
        }
        let side = n.side(x) / 2;
        x = pool(&mut n, &format!("pool{block}"), "MaxPool", x, side);
    }
    if params.at_most("classifier", 1)? == 0 {
        return n.finish(x);
    }
    for nth in [6, 7] {
        x = dense(&mut n, &format!("fc{nth}"), x, 4096);
        x = n.map(&format!("relu{nth}"), "Relu", &[x]);
    }
    x = dense(&mut n, "fc8", x, 1000);
    n.finish(x)
}

/// Generates `ResNet-18` with batch normalisation folded into the convolutions (He et al. 2016).
pub(super) fn resnet18(params: &Params) -> Result<Graph, GenerateError> {
    let mut n = layers(params)?;
    let mut x = n.image(3, 224);
    x = n.conv("conv1", x, same(64, 7, 2), true);
    x = n.map("relu1", "Relu", &[x]);
    x = pool(&mut n, "pool1", "MaxPool", x, 56);
    for (stage, channels) in (2..).zip([64, 128, 256, 512]) {
        for block in 1..=2 {
            let name = |part: &str| format!("{part}{stage}_{block}");
            let stride = if n.channels(x) == channels { 1 } else { 2 };
            let mut branch = n.conv(&name("conv_a"), x, same(channels, 3, stride), true);
            branch = n.map(&name("relu_a"), "Relu", &[branch]);
            branch = n.conv(&name("conv_b"), branch, same(channels, 3, 1), true);
            if stride > 1 {
                x = n.conv(&name("down"), x, same(channels, 1, stride), true);
            }
            x = n.map(&name("add"), "Add", &[branch, x]);
            x = n.map(&name("relu_b"), "Relu", &[x]);
        }
    }
    x = pool(&mut n, "pool5", "GlobalAveragePool", x, 1);
    x = dense(&mut n, "fc", x, 1000);
    n.finish(x)
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
        // The network has 11,689,512 parameters with batch normalisation. Folding turns its 9,600 scales and
        // shifts into 4,800 biases.
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
