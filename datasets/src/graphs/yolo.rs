//! Detectors of the YOLO family, layer by layer, from their published architectures; up to the last convolutions, whose results are the outputs.
//!
//! A *layer* here is a convolution, batch normalisation and `SiLU`, `x * sigmoid(x)`. With `norm` 0 the normalisation is folded into the
//! convolution, which then has a bias; with `split` 1 `SiLU` is a sigmoid and a product, as exporters write it. Batch 1.

use super::net::{Element, Net, Node, volume};
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;

struct Yolo {
    net: Net,
    element: Element,
    /// Normalisation by operators of its own.
    norm: bool,
    /// `SiLU` in two operators.
    split: bool,
    classes: u64,
}

/// What a layer is like beside its name and input.
#[derive(Clone, Copy)]
struct Layer {
    channels: u64,
    kernel: u64,
    stride: u64,
    groups: u64,
}

/// A layer of plain convolutions.
const fn layer(channels: u64, kernel: u64, stride: u64) -> Layer {
    Layer { channels, kernel, stride, groups: 1 }
}

impl Yolo {
    fn new(params: &Params) -> Result<(Self, TensorId), GenerateError> {
        let (size, classes) = (params.at_least("size", 32)?, params.at_least("classes", 1)?);
        params.at_most("size", 1 << 16)?;
        params.at_most("classes", 1 << 16)?;
        for switch in ["norm", "split", "int8"] {
            params.at_most(switch, 1)?;
        }
        if size % 32 != 0 {
            let (name, of_name) = ("size", "the coarsest stride");
            return Err(GenerateError::NoMultiple { name, value: size, of_name, of: 32 });
        }
        let element = if params.get("int8") == 1 { Element::I8 } else { Element::F32 };
        let mut net = Net::new(params.name());
        let x = net.input("images", element, &[1, 3, size, size]);
        let (norm, split) = (params.get("norm") == 1, params.get("split") == 1);
        Ok((Self { net, element, norm, split, classes }, x))
    }

    /// Appends an operator that makes as many elements as this shape has, at this cost each.
    fn add(&mut self, node: Node, shape: &[u64], each: u64) -> TensorId {
        let cost = volume(shape).saturating_mul(each);
        node.cost(cost).makes(&mut self.net, self.element, shape)
    }

    fn shape(&self, x: TensorId) -> [u64; 4] {
        self.net.shape(x).try_into().expect("batch, channels, height, width")
    }

    /// A convolution alone.
    fn conv(&mut self, name: &str, x: TensorId, layer: Layer, bias: bool) -> TensorId {
        let [_, from, height, width] = self.shape(x);
        let Layer { channels, kernel, stride, groups } = layer;
        let taps = [channels, from / groups, kernel, kernel];
        let mut reads = vec![x, self.net.weight(&format!("{name}.weight"), self.element, &taps)];
        if bias {
            reads.push(self.net.weight(&format!("{name}.bias"), self.element, &[channels]));
        }
        let shape = [1, channels, height.div_ceil(stride), width.div_ceil(stride)];
        self.add(Node::new(name, "Conv").reads(&reads), &shape, volume(&taps[1..]))
    }

    /// A convolution, its normalisation, `SiLU`.
    fn layer(&mut self, name: &str, x: TensorId, layer: Layer) -> TensorId {
        let mut x = self.conv(&format!("{name}.conv"), x, layer, !self.norm);
        let shape = self.shape(x);
        if self.norm {
            // Scale and shift; the running mean and variance are no parameters.
            let weight = self.net.weight(&format!("{name}.bn.weight"), self.element, &[2, layer.channels]);
            let node = Node::new(format!("{name}.bn"), "BatchNormalization").reads(&[x, weight]).over(x);
            x = self.add(node, &shape, 1);
        }
        if !self.split {
            return self.add(Node::new(format!("{name}.silu"), "SiLU").reads(&[x]).over(x), &shape, 1);
        }
        let gate = self.add(Node::new(format!("{name}.sigmoid"), "Sigmoid").reads(&[x]), &shape, 1);
        let node = Node::new(format!("{name}.mul"), "Mul").reads(&[x, gate]).over(x).over(gate);
        self.add(node, &shape, 1)
    }

    /// A layer by depth, then one by points.
    fn separable(&mut self, name: &str, x: TensorId, channels: u64, stride: u64) -> TensorId {
        let groups = self.shape(x)[1];
        let deep = Layer { channels: groups, kernel: 3, stride, groups };
        let x = self.layer(&format!("{name}.dconv"), x, deep);
        self.layer(&format!("{name}.pconv"), x, layer(channels, 1, 1))
    }

    fn sum(&mut self, name: &str, a: TensorId, b: TensorId) -> TensorId {
        let shape = self.shape(a);
        self.add(Node::new(name, "Add").reads(&[a, b]).over(a).over(b), &shape, 1)
    }

    fn concat(&mut self, name: &str, xs: &[TensorId]) -> TensorId {
        let [_, _, height, width] = self.shape(xs[0]);
        let channels = xs.iter().map(|&x| self.shape(x)[1]).sum();
        self.add(Node::new(name, "Concat").reads(xs), &[1, channels, height, width], 1)
    }

    /// The greatest of a neighbourhood; the size stays.
    fn pool(&mut self, name: &str, x: TensorId, kernel: u64) -> TensorId {
        let shape = self.shape(x);
        self.add(Node::new(name, "MaxPool").reads(&[x]), &shape, kernel * kernel)
    }

    fn double(&mut self, name: &str, x: TensorId) -> TensorId {
        let [_, channels, height, width] = self.shape(x);
        self.add(Node::new(name, "Resize").reads(&[x]), &[1, channels, 2 * height, 2 * width], 1)
    }

    /// Every second pixel, four times, on top of each other.
    fn focus(&mut self, name: &str, x: TensorId) -> TensorId {
        let [_, channels, height, width] = self.shape(x);
        let parts = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(row, column)| {
            let node = Node::new(format!("{name}.slice{row}{column}"), "Slice").reads(&[x]);
            self.add(node, &[1, channels, height / 2, width / 2], 1)
        });
        self.concat(&format!("{name}.concat"), &parts)
    }

    /// A layer of half the channels, poolings of it or of each other (by position, and how wide), all concatenated, and a layer.
    fn pyramid(&mut self, name: &str, x: TensorId, pools: &[(usize, u64)]) -> TensorId {
        let channels = self.shape(x)[1];
        let mut maps = vec![self.layer(&format!("{name}.cv1"), x, layer(channels / 2, 1, 1))];
        for (at, &(from, kernel)) in pools.iter().enumerate() {
            maps.push(self.pool(&format!("{name}.m.{at}"), maps[from], kernel));
        }
        let joined = self.concat(&format!("{name}.concat"), &maps);
        self.layer(&format!("{name}.cv2"), joined, layer(channels, 1, 1))
    }

    /// Two branches of half the channels, one through `blocks` bottlenecks, concatenated, and a layer: C3 of `YOLOv5`,
    /// the CSP layer of YOLOX.
    fn c3(&mut self, name: &str, x: TensorId, c3: C3) -> TensorId {
        let half = c3.channels / 2;
        let mut inner = self.layer(&format!("{name}.cv1"), x, layer(half, 1, 1));
        let side = |own: &mut Self| own.layer(&format!("{name}.cv2"), x, layer(half, 1, 1));
        let early = c3.separable.then(|| side(self));
        for at in 0..c3.blocks {
            let block = format!("{name}.m.{at}");
            let mut y = self.layer(&format!("{block}.cv1"), inner, layer(half, 1, 1));
            y = if c3.separable {
                self.separable(&format!("{block}.cv2"), y, half, 1)
            } else {
                self.layer(&format!("{block}.cv2"), y, layer(half, 3, 1))
            };
            inner = if c3.residual { self.sum(&format!("{block}.add"), inner, y) } else { y };
        }
        let side = early.unwrap_or_else(|| side(self));
        let joined = self.concat(&format!("{name}.concat"), &[inner, side]);
        self.layer(&format!("{name}.cv3"), joined, layer(c3.channels, 1, 1))
    }
}

/// What a [`Yolo::c3`] is like.
#[derive(Clone, Copy)]
struct C3 {
    channels: u64,
    blocks: u64,
    residual: bool,
    separable: bool,
}

const fn c3(channels: u64, blocks: u64, residual: bool) -> C3 {
    C3 { channels, blocks, residual, separable: false }
}

/// `YOLOv5s` (Jocher et al., models/yolov5s.yaml) of release 6.0 or 5.0: 7.2 or 7.3 million parameters with 80 classes. Release 6.0 begins with a wide
/// convolution and pools in a row; 5.0 takes every second pixel first and pools side by side.
pub(super) fn yolov5s(params: &Params) -> Result<Graph, GenerateError> {
    let is_sixth = params.at_least("release", 5)? == 6;
    params.at_most("release", 6)?;
    let (mut y, images) = Yolo::new(params)?;
    let mut x = if is_sixth {
        y.layer("model.0", images, layer(32, 6, 2))
    } else {
        let pixels = y.focus("model.0", images);
        y.layer("model.0", pixels, layer(32, 3, 1))
    };
    let mut kept = Vec::new();
    let blocks = if is_sixth { [1, 2, 3] } else { [1, 3, 3] };
    for ((at, channels), blocks) in [(1, 64), (3, 128), (5, 256)].into_iter().zip(blocks) {
        x = y.layer(&format!("model.{at}"), x, layer(channels, 3, 2));
        x = y.c3(&format!("model.{}", at + 1), x, c3(channels, blocks, true));
        kept.push(x);
    }
    x = y.layer("model.7", x, layer(512, 3, 2));
    if is_sixth {
        x = y.c3("model.8", x, c3(512, 1, true));
        x = y.pyramid("model.9", x, &[(0, 5), (1, 5), (2, 5)]);
    } else {
        x = y.pyramid("model.8", x, &[(0, 5), (0, 9), (0, 13)]);
        x = y.c3("model.9", x, c3(512, 1, false));
    }
    // Up,
    let mut across = Vec::new();
    for (at, channels, other) in [(10, 256, kept[2]), (14, 128, kept[1])] {
        x = y.layer(&format!("model.{at}"), x, layer(channels, 1, 1));
        across.push(x);
        x = y.double(&format!("model.{}", at + 1), x);
        x = y.concat(&format!("model.{}", at + 2), &[x, other]);
        x = y.c3(&format!("model.{}", at + 3), x, c3(channels, 1, false));
    }
    // and down again.
    let mut levels = vec![x];
    for (at, channels) in [(18, 128), (21, 256)] {
        x = y.layer(&format!("model.{at}"), x, layer(channels, 3, 2));
        let other = across.pop().expect("one per level");
        x = y.concat(&format!("model.{}", at + 1), &[x, other]);
        x = y.c3(&format!("model.{}", at + 2), x, c3(2 * channels, 1, false));
        levels.push(x);
    }
    let channels = 3 * (5 + y.classes);
    let outputs: Vec<TensorId> = (0..)
        .zip(levels)
        .map(|(at, x): (u32, _)| y.conv(&format!("model.24.m.{at}"), x, layer(channels, 1, 1), true))
        .collect();
    y.net.finish(&outputs)
}

/// `YOLOX-Nano` (Ge et al. 2021): depth 0.33, width 0.25, convolutions by depth; 0.91 million parameters with 80 classes.
pub(super) fn yolox_nano(params: &Params) -> Result<Graph, GenerateError> {
    let (mut y, images) = Yolo::new(params)?;
    let csp = |channels, blocks, residual| C3 { separable: true, ..c3(channels, blocks, residual) };
    let mut x = y.focus("stem", images);
    x = y.layer("stem.conv", x, layer(16, 3, 1));
    let mut kept = Vec::new();
    for (at, channels, blocks) in [(2, 32, 1), (3, 64, 3), (4, 128, 3)] {
        x = y.separable(&format!("dark{at}.down"), x, channels, 2);
        x = y.c3(&format!("dark{at}.csp"), x, csp(channels, blocks, true));
        kept.push(x);
    }
    x = y.separable("dark5.down", x, 256, 2);
    x = y.pyramid("dark5.spp", x, &[(0, 5), (0, 9), (0, 13)]);
    x = y.c3("dark5.csp", x, csp(256, 1, false));
    let mut across = Vec::new();
    for (name, next, channels, other) in [("lateral0", "p4", 128, kept[2]), ("reduce1", "p3", 64, kept[1])] {
        x = y.layer(&format!("neck.{name}"), x, layer(channels, 1, 1));
        across.push(x);
        x = y.double(&format!("neck.{next}.resize"), x);
        x = y.concat(&format!("neck.{next}.join"), &[x, other]);
        x = y.c3(&format!("neck.{next}"), x, csp(channels, 1, false));
    }
    let mut levels = vec![x];
    for (name, channels) in [("n3", 64), ("n4", 128)] {
        x = y.separable(&format!("neck.{name}.down"), x, channels, 2);
        let other = across.pop().expect("one per level");
        x = y.concat(&format!("neck.{name}.join"), &[x, other]);
        x = y.c3(&format!("neck.{name}"), x, csp(2 * channels, 1, false));
        levels.push(x);
    }
    let mut outputs = Vec::new();
    for (at, x) in levels.into_iter().enumerate() {
        outputs.push(decoupled_head(&mut y, &format!("head.{at}"), x));
    }
    y.net.finish(&outputs)
}

/// Classes by one branch, box and objectness by another, one on top of the other.
fn decoupled_head(y: &mut Yolo, name: &str, x: TensorId) -> TensorId {
    let x = y.layer(&format!("{name}.stem"), x, layer(64, 1, 1));
    let branch = |y: &mut Yolo, which: &str| {
        let once = y.separable(&format!("{name}.{which}.0"), x, 64, 1);
        y.separable(&format!("{name}.{which}.1"), once, 64, 1)
    };
    let classes = branch(y, "cls");
    let classes = y.conv(&format!("{name}.cls_pred"), classes, layer(y.classes, 1, 1), true);
    let boxes = branch(y, "reg");
    let place = y.conv(&format!("{name}.reg_pred"), boxes, layer(4, 1, 1), true);
    let object = y.conv(&format!("{name}.obj_pred"), boxes, layer(1, 1, 1), true);
    let gated = [("obj", object), ("cls", classes)].map(|(which, x)| {
        let shape = y.shape(x);
        y.add(Node::new(format!("{name}.{which}_sigmoid"), "Sigmoid").reads(&[x]).over(x), &shape, 1)
    });
    y.concat(&format!("{name}.concat"), &[place, gated[0], gated[1]])
}

#[cfg(test)]
mod tests {
    use super::super::GraphFamily;
    use plimsoll_model::graph::{Graph, Role};

    fn make(family: &str, params: &[(&str, u64)]) -> Graph {
        let params = params.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        GraphFamily::named(family).unwrap().generate(0, &params).unwrap()
    }

    fn parameters(graph: &Graph) -> u64 {
        graph.bytes(Role::Weight).get() / 4
    }

    fn count(graph: &Graph, kind: &str) -> usize {
        graph.operators().iter().filter(|operator| operator.kind == kind).count()
    }

    fn outputs(graph: &Graph) -> Vec<Vec<u64>> {
        let outputs = graph.region(Graph::BODY).outputs.iter();
        outputs.map(|&id| graph.tensor(id).shape.clone().unwrap()[1..].to_vec()).collect()
    }

    #[test]
    fn yolov5s_is_the_published_one() {
        // Folded, 19 008 scales and shifts become 9504 biases.
        assert_eq!(parameters(&make("yolov5s", &[("norm", 1)])), 7_235_389);
        let graph = make("yolov5s", &[]);
        assert_eq!(parameters(&graph), 7_225_885);
        assert_eq!(outputs(&graph), [[255, 80, 80], [255, 40, 40], [255, 20, 20]]);
        let counts = ["Conv", "Sigmoid", "Mul", "Add", "Concat", "MaxPool", "Resize"];
        assert_eq!(counts.map(|kind| count(&graph, kind)), [60, 57, 57, 7, 13, 3, 2]);
        let former = make("yolov5s", &[("norm", 1), ("release", 5)]);
        assert_eq!((parameters(&former), count(&former, "Mul")), (7_276_605, 59));
        let whole = make("yolov5s", &[("split", 0), ("int8", 1)]);
        assert_eq!((count(&whole, "SiLU"), whole.bytes(Role::Weight).get()), (57, 7_225_885));
    }

    #[test]
    fn yolox_nano_is_the_published_one() {
        let trained = parameters(&make("yolox-nano", &[("norm", 1)]));
        assert_eq!(trained, 912_159);
        let graph = make("yolox-nano", &[]);
        assert_eq!(outputs(&graph), [[85, 52, 52], [85, 26, 26], [85, 13, 13]]);
        assert_eq!((count(&graph, "Conv"), count(&graph, "Mul"), count(&graph, "Concat")), (113, 104, 17));
    }

    #[test]
    fn sizes_that_do_not_halve_are_refused() {
        let params = [("size".to_owned(), 100)].into();
        let error = GraphFamily::named("yolov5s").unwrap().generate(0, &params).unwrap_err();
        assert!(error.to_string().contains("size"), "{error}");
    }
}
