//! Detectors of the YOLO family, built layer by layer from their published architectures. The outputs are the
//! results of the last convolutions.
//!
//! A *layer* here is a convolution, batch normalisation and `SiLU`, `x * sigmoid(x)`. With `norm` 0, the
//! normalisation is folded into the convolution, which then has a bias. With `split` 1, `SiLU` is a sigmoid
//! and a product, as exporters write it. The batch size is 1.

use super::layers::{Layers, Names, Window, same};
use super::net::Element;
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;

const NAMES: Names = Names { input: "images", weight: ".weight", bias: ".bias", norm: ".bn" };

struct Yolo {
    n: Layers,
    /// Whether `SiLU` is split into two operators (sigmoid and product).
    split: bool,
    classes: u64,
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
        let mut n = Layers::named(params, params.get("norm") == 1, NAMES, element)?;
        let x = n.image(3, size);
        Ok((Self { n, split: params.get("split") == 1, classes }, x))
    }

    /// Adds a convolution, its normalisation and `SiLU`.
    fn layer(&mut self, name: &str, x: TensorId, window: Window) -> TensorId {
        if !self.split {
            return self.n.active(name, x, window, "SiLU");
        }
        let x = self.n.layer(name, x, window);
        let shape = self.n.net.shape(x).to_vec();
        let gate = self.n.moved(&format!("{name}.sigmoid"), "Sigmoid", x, &shape);
        self.n.map(&format!("{name}.mul"), "Mul", &[x, gate])
    }

    /// Adds a depthwise and a pointwise layer.
    fn separable(&mut self, name: &str, x: TensorId, channels: u64, stride: u64) -> TensorId {
        let groups = self.n.channels(x);
        let x = self.layer(&format!("{name}.dconv"), x, same(groups, 3, stride).grouped(groups));
        self.layer(&format!("{name}.pconv"), x, same(channels, 1, 1))
    }

    fn double(&mut self, name: &str, x: TensorId) -> TensorId {
        let side = 2 * self.n.side(x);
        let shape = [1, self.n.channels(x), side, side];
        self.n.moved(name, "Resize", x, &shape)
    }

    /// Moves 2 x 2 blocks of pixels into channels by concatenating four slices of every second pixel.
    fn focus(&mut self, name: &str, x: TensorId) -> TensorId {
        let side = self.n.side(x) / 2;
        let shape = [1, self.n.channels(x), side, side];
        let parts = [(0, 0), (1, 0), (0, 1), (1, 1)]
            .map(|(row, column)| self.n.moved(&format!("{name}.slice{row}{column}"), "Slice", x, &shape));
        self.n.concat(&format!("{name}.concat"), &parts)
    }

    /// Adds a layer with half the channels, pooling operators, the concatenation of their outputs, and a
    /// final layer. `pools` contains the input of each pooling operator (0 for the first layer, `n` for the
    /// `n`-th pooling operator) and its kernel size.
    fn pyramid(&mut self, name: &str, x: TensorId, pools: &[(usize, u64)]) -> TensorId {
        let channels = self.n.channels(x);
        let mut maps = vec![self.layer(&format!("{name}.cv1"), x, same(channels / 2, 1, 1))];
        for (at, &(from, kernel)) in pools.iter().enumerate() {
            let window = same(0, kernel, 1);
            maps.push(self.n.pool(&format!("{name}.m.{at}"), "MaxPool", maps[from], window, false));
        }
        let joined = self.n.concat(&format!("{name}.concat"), &maps);
        self.layer(&format!("{name}.cv2"), joined, same(channels, 1, 1))
    }

    /// Adds two branches, each with half the channels. One branch contains `blocks` bottlenecks. The branches
    /// are concatenated and followed by a layer. This is C3 of `YOLOv5` and the CSP layer of YOLOX.
    fn c3(&mut self, name: &str, x: TensorId, c3: C3) -> TensorId {
        let half = c3.channels / 2;
        let mut inner = self.layer(&format!("{name}.cv1"), x, same(half, 1, 1));
        let side = |own: &mut Self| own.layer(&format!("{name}.cv2"), x, same(half, 1, 1));
        let early = c3.separable.then(|| side(self));
        for at in 0..c3.blocks {
            let block = format!("{name}.m.{at}");
            let mut y = self.layer(&format!("{block}.cv1"), inner, same(half, 1, 1));
            y = if c3.separable {
                self.separable(&format!("{block}.cv2"), y, half, 1)
            } else {
                self.layer(&format!("{block}.cv2"), y, same(half, 3, 1))
            };
            inner = if c3.residual { self.n.map(&format!("{block}.add"), "Add", &[inner, y]) } else { y };
        }
        let side = early.unwrap_or_else(|| side(self));
        let joined = self.n.concat(&format!("{name}.concat"), &[inner, side]);
        self.layer(&format!("{name}.cv3"), joined, same(c3.channels, 1, 1))
    }
}

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

/// Generates `YOLOv5s` (Jocher et al., models/yolov5s.yaml) of release 6.0 or 5.0. It has 7.2 or 7.3 million
/// parameters with 80 classes. Release 6.0 begins with a wide convolution and has sequential pooling
/// operators (`SPPF`). Release 5.0 begins with a space-to-depth slice (`Focus`) and has parallel pooling
/// operators (`SPP`).
pub(super) fn yolov5s(params: &Params) -> Result<Graph, GenerateError> {
    let is_sixth = params.at_least("release", 5)? == 6;
    params.at_most("release", 6)?;
    let (mut y, images) = Yolo::new(params)?;
    let mut x = if is_sixth {
        y.layer("model.0", images, Window { pad: [2; 2], ..same(32, 6, 2) })
    } else {
        let pixels = y.focus("model.0", images);
        y.layer("model.0", pixels, same(32, 3, 1))
    };
    let mut kept = Vec::new();
    let blocks = if is_sixth { [1, 2, 3] } else { [1, 3, 3] };
    for ((at, channels), blocks) in [(1, 64), (3, 128), (5, 256)].into_iter().zip(blocks) {
        x = y.layer(&format!("model.{at}"), x, same(channels, 3, 2));
        x = y.c3(&format!("model.{}", at + 1), x, c3(channels, blocks, true));
        kept.push(x);
    }
    x = y.layer("model.7", x, same(512, 3, 2));
    if is_sixth {
        x = y.c3("model.8", x, c3(512, 1, true));
        x = y.pyramid("model.9", x, &[(0, 5), (1, 5), (2, 5)]);
    } else {
        x = y.pyramid("model.8", x, &[(0, 5), (0, 9), (0, 13)]);
        x = y.c3("model.9", x, c3(512, 1, false));
    }
    // The top-down path.
    let mut across = Vec::new();
    for (at, channels, other) in [(10, 256, kept[2]), (14, 128, kept[1])] {
        x = y.layer(&format!("model.{at}"), x, same(channels, 1, 1));
        across.push(x);
        x = y.double(&format!("model.{}", at + 1), x);
        x = y.n.concat(&format!("model.{}", at + 2), &[x, other]);
        x = y.c3(&format!("model.{}", at + 3), x, c3(channels, 1, false));
    }
    // The bottom-up path.
    let mut levels = vec![x];
    for (at, channels) in [(18, 128), (21, 256)] {
        x = y.layer(&format!("model.{at}"), x, same(channels, 3, 2));
        let other = across.pop().expect("one per level");
        x = y.n.concat(&format!("model.{}", at + 1), &[x, other]);
        x = y.c3(&format!("model.{}", at + 2), x, c3(2 * channels, 1, false));
        levels.push(x);
    }
    let channels = 3 * (5 + y.classes);
    let outputs: Vec<TensorId> = (0..)
        .zip(levels)
        .map(|(at, x): (u32, _)| y.n.conv(&format!("model.24.m.{at}"), x, same(channels, 1, 1), true))
        .collect();
    y.n.net.finish(&outputs)
}

/// Generates `YOLOX-Nano` (Ge et al. 2021): depth 0.33, width 0.25, depthwise convolutions. It has 0.91
/// million parameters with 80 classes.
pub(super) fn yolox_nano(params: &Params) -> Result<Graph, GenerateError> {
    let (mut y, images) = Yolo::new(params)?;
    let csp = |channels, blocks, residual| C3 { separable: true, ..c3(channels, blocks, residual) };
    let mut x = y.focus("stem", images);
    x = y.layer("stem.conv", x, same(16, 3, 1));
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
        x = y.layer(&format!("neck.{name}"), x, same(channels, 1, 1));
        across.push(x);
        x = y.double(&format!("neck.{next}.resize"), x);
        x = y.n.concat(&format!("neck.{next}.join"), &[x, other]);
        x = y.c3(&format!("neck.{next}"), x, csp(channels, 1, false));
    }
    let mut levels = vec![x];
    for (name, channels) in [("n3", 64), ("n4", 128)] {
        x = y.separable(&format!("neck.{name}.down"), x, channels, 2);
        let other = across.pop().expect("one per level");
        x = y.n.concat(&format!("neck.{name}.join"), &[x, other]);
        x = y.c3(&format!("neck.{name}"), x, csp(2 * channels, 1, false));
        levels.push(x);
    }
    let mut outputs = Vec::new();
    for (at, x) in levels.into_iter().enumerate() {
        outputs.push(decoupled_head(&mut y, &format!("head.{at}"), x));
    }
    y.n.net.finish(&outputs)
}

/// Adds a head in which one branch computes the classes, and another the box and the objectness. The results
/// are concatenated.
fn decoupled_head(y: &mut Yolo, name: &str, x: TensorId) -> TensorId {
    let x = y.layer(&format!("{name}.stem"), x, same(64, 1, 1));
    let branch = |y: &mut Yolo, which: &str| {
        let once = y.separable(&format!("{name}.{which}.0"), x, 64, 1);
        y.separable(&format!("{name}.{which}.1"), once, 64, 1)
    };
    let classes = branch(y, "cls");
    let classes = y.n.conv(&format!("{name}.cls_pred"), classes, same(y.classes, 1, 1), true);
    let boxes = branch(y, "reg");
    let place = y.n.conv(&format!("{name}.reg_pred"), boxes, same(4, 1, 1), true);
    let object = y.n.conv(&format!("{name}.obj_pred"), boxes, same(1, 1, 1), true);
    let gated = [("obj", object), ("cls", classes)]
        .map(|(which, x)| y.n.map(&format!("{name}.{which}_sigmoid"), "Sigmoid", &[x]));
    y.n.concat(&format!("{name}.concat"), &[place, gated[0], gated[1]])
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
        // Folding turns 19,008 scales and shifts into 9,504 biases.
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
