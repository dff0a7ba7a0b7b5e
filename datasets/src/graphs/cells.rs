//! Networks of cells found by architecture search: DARTS and NASNet-A. Activations are `float32`, and the
//! batch size is 1.
//!
//! A cell reads the outputs of the two preceding cells. The operators of a cell appear in the order of the
//! authors' models.

use super::layers::{Layers, Names, SHORT, same};
use super::net::Element;
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;

const NAMES: Names = Names { input: "x", ..SHORT };

/// The operation that a node of a DARTS cell applies to one of its inputs.
#[derive(Clone, Copy)]
enum Step {
    Separable,
    Dilated,
    Skip,
    MaxPool,
}

/// Nodes 2 to 5 of a cell. Each has two operations, and each operation reads the node with the given number.
/// Nodes 0 and 1 are the inputs of the cell.
type Genotype = [[(Step, usize); 2]; 4];

/// The normal cell of the published genotype `DARTS_V2` (Liu, Simonyan, Yang: DARTS, 2019).
const NORMAL: Genotype = [
    [(Step::Separable, 0), (Step::Separable, 1)],
    [(Step::Separable, 0), (Step::Separable, 1)],
    [(Step::Separable, 1), (Step::Skip, 0)],
    [(Step::Skip, 0), (Step::Dilated, 2)],
];

const REDUCTION: Genotype = [
    [(Step::MaxPool, 0), (Step::MaxPool, 1)],
    [(Step::Skip, 2), (Step::MaxPool, 1)],
    [(Step::MaxPool, 0), (Step::Skip, 2)],
    [(Step::Skip, 2), (Step::MaxPool, 1)],
];

/// Generates the CIFAR network: a stem with 3 times `channels` channels, `cells` cells, and ten classes.
/// If there are at least three cells, those at one third and two thirds of the depth halve the height and
/// the width and double the channels. The default network has 20 cells with 36 channels on 32 x 32 pixels,
/// and 3.35 million parameters.
pub(super) fn darts(params: &Params, _seed: u64) -> Result<Graph, GenerateError> {
    let (cells, size) = (params.at_least("cells", 1)?, params.at_least("size", 1)?);
    let mut channels = params.at_least("channels", 2)?;
    params.at_most("cells", 10_000)?;
    let mut net = Layers::named(params, false, NAMES, Element::F32)?;
    let x = net.image(3, size);
    let stem = net.conv("stem", x, same(3 * channels, 3, 1), false);
    let stem = net.scaled("stem.norm", stem);
    let (mut before, mut last, mut reduced) = (stem, stem, false);
    for at in 0..cells {
        let reduce = cells >= 3 && (at == cells / 3 || at == 2 * cells / 3);
        channels *= if reduce { 2 } else { 1 };
        let next = darts_cell(&mut net, &format!("c{at}"), (before, last), channels, (reduce, reduced));
        (before, last, reduced) = (last, next, reduce);
    }
    let y = net.classify(last, 10);
    net.finish(y)
}

fn darts_cell(
    net: &mut Layers,
    name: &str,
    (before, last): (TensorId, TensorId),
    channels: u64,
    (reduce, reduced): (bool, bool),
) -> TensorId {
    let first = if reduced {
        halve(net, &format!("{name}.pre0"), before, channels)
    } else {
        net.project(&format!("{name}.pre0"), before, channels)
    };
    let second = net.project(&format!("{name}.pre1"), last, channels);
    let mut nodes = vec![first, second];
    for (at, pair) in (if reduce { REDUCTION } else { NORMAL }).into_iter().enumerate() {
        let name = format!("{name}.n{}", at + 2);
        let made = [0, 1].map(|side| {
            let (step, from) = pair[side];
            let stride = if reduce && from < 2 { 2 } else { 1 };
            darts_step(net, &format!("{name}.{side}"), step, nodes[from], channels, stride)
        });
        nodes.push(net.map(&name, "Add", &made));
    }
    net.joined(&format!("{name}.concat"), &nodes[2..])
}

fn darts_step(net: &mut Layers, name: &str, step: Step, x: TensorId, channels: u64, stride: u64) -> TensorId {
    match step {
        Step::Skip if stride == 1 => x,
        Step::Skip => halve(net, name, x, channels),
        Step::MaxPool => net.pool(name, "MaxPool", x, same(0, 3, stride), false),
        Step::Separable => {
            let x = activated(net, &format!("{name}.a"), x, channels, 3, stride);
            activated(net, &format!("{name}.b"), x, channels, 3, 1)
        }
        Step::Dilated => activated(net, name, x, channels, 3, stride),
    }
}

/// Adds a `ReLU`, a separable convolution and a normalisation.
fn activated(net: &mut Layers, name: &str, x: TensorId, channels: u64, kernel: u64, stride: u64) -> TensorId {
    let x = net.map(&format!("{name}.relu"), "Relu", &[x]);
    let x = net.separable(name, x, channels, kernel, stride);
    net.scaled(&format!("{name}.norm"), x)
}

/// Halves the height and the width, like `FactorizedReduce` in DARTS. Adds a `ReLU`, two concatenated 1 x 1
/// convolutions with stride 2, and a normalisation. In DARTS, one of the convolutions is shifted by a pixel.
fn halve(net: &mut Layers, name: &str, x: TensorId, channels: u64) -> TensorId {
    let x = net.map(&format!("{name}.relu"), "Relu", &[x]);
    let even = net.conv(&format!("{name}.even"), x, same(channels / 2, 1, 2), false);
    let odd = net.conv(&format!("{name}.odd"), x, same(channels / 2, 1, 2), false);
    let x = net.joined(&format!("{name}.concat"), &[even, odd]);
    net.scaled(&format!("{name}.norm"), x)
}

/// Generates NASNet-A (Zoph, Vasudevan, Shlens, Le: Learning transferable architectures, 2018) for
/// `ImageNet`, with 1000 classes. It consists of a stem convolution, two reduction cells, and three groups of
/// `cells` normal cells, separated by reduction cells. By default, a group has 4 cells, the first group has
/// 44 filters, and `size` is 224. This is the mobile network NASNet-A (4 @ 1056) with 5.29 million
/// parameters.
pub(super) fn nasnet(params: &Params, _seed: u64) -> Result<Graph, GenerateError> {
    let (cells, filters) = (params.at_least("cells", 1)?, params.at_least("filters", 4)?);
    params.at_least("size", 3)?;
    params.at_most("cells", 10_000)?;
    let mut net = Layers::named(params, false, NAMES, Element::F32)?;
    let stem = params.at_least("stem", 1)?;
    // The published stem convolution has no padding. Here, the convolution is padded, and the input is one
    // pixel smaller in height and width: 223 pixels become 112.
    let inner = params.get("size") - 1;
    let x = net.image(3, inner);
    let x = net.conv("stem", x, same(stem, 3, 2), false);
    let x = net.scaled("stem.norm", x);
    let mut pair = (None, x);
    for (at, divisor) in [4, 2].into_iter().enumerate() {
        let y = reduction(&mut net, &format!("stem{at}"), pair, (filters / divisor).max(1));
        pair = (Some(pair.1), y);
    }
    for part in 0..3u64 {
        let filters = filters << part;
        if part > 0 {
            let y = reduction(&mut net, &format!("r{part}"), pair, filters);
            pair = (Some(pair.1), y);
        }
        for at in 0..cells {
            let y = normal(&mut net, &format!("n{part}.{at}"), pair, filters);
            pair = (Some(pair.1), y);
        }
    }
    let x = net.map("head.relu", "Relu", &[pair.1]);
    let y = net.classify(x, 1000);
    net.finish(y)
}

/// Returns the outputs of the two preceding cells, the earlier one first. Both are converted to the channels
/// of this cell, and the earlier output also to the size of the later one. Before the first cell, there is
/// only the stem. Its output is then returned unconverted in place of the earlier output.
fn adjusted(
    net: &mut Layers,
    name: &str,
    (before, last): (Option<TensorId>, TensorId),
    filters: u64,
) -> (TensorId, TensorId) {
    let p = match before {
        None => last,
        Some(p) if net.net.shape(p)[2] != net.net.shape(last)[2] => {
            let x = net.map(&format!("{name}.p.relu"), "Relu", &[p]);
            let halves = [("even", filters / 2), ("odd", filters.div_ceil(2))].map(|(side, filters)| {
                let pooled =
                    net.pool(&format!("{name}.p.{side}.pool"), "AveragePool", x, same(0, 3, 2), false);
                net.conv(&format!("{name}.p.{side}"), pooled, same(filters, 1, 1), false)
            });
            let x = net.joined(&format!("{name}.p.concat"), &halves);
            net.scaled(&format!("{name}.p.norm"), x)
        }
        Some(p) if net.channels(p) != filters => net.project(&format!("{name}.p"), p, filters),
        Some(p) => p,
    };
    (p, net.project(&format!("{name}.h"), last, filters))
}

/// Adds the operators of [`activated`] twice. Only the first convolution has stride `stride`; the second has
/// stride 1.
fn twice(net: &mut Layers, name: &str, x: TensorId, filters: u64, kernel: u64, stride: u64) -> TensorId {
    let x = activated(net, &format!("{name}.a"), x, filters, kernel, stride);
    activated(net, &format!("{name}.b"), x, filters, kernel, 1)
}

fn normal(net: &mut Layers, name: &str, pair: (Option<TensorId>, TensorId), filters: u64) -> TensorId {
    let (p, h) = adjusted(net, name, pair, filters);
    let named = |piece: &str| format!("{name}.{piece}");
    let a = twice(net, &named("1l"), h, filters, 5, 1);
    let b = twice(net, &named("1r"), p, filters, 3, 1);
    let one = net.map(&named("1"), "Add", &[a, b]);
    let a = twice(net, &named("2l"), p, filters, 5, 1);
    let b = twice(net, &named("2r"), p, filters, 3, 1);
    let two = net.map(&named("2"), "Add", &[a, b]);
    let a = net.pool(&named("3l"), "AveragePool", h, same(0, 3, 1), false);
    let three = net.map(&named("3"), "Add", &[a, p]);
    let a = net.pool(&named("4l"), "AveragePool", p, same(0, 3, 1), false);
    let b = net.pool(&named("4r"), "AveragePool", p, same(0, 3, 1), false);
    let four = net.map(&named("4"), "Add", &[a, b]);
    let a = twice(net, &named("5l"), h, filters, 3, 1);
    let five = net.map(&named("5"), "Add", &[a, h]);
    net.joined(&named("concat"), &[p, one, two, three, four, five])
}

fn reduction(net: &mut Layers, name: &str, pair: (Option<TensorId>, TensorId), filters: u64) -> TensorId {
    let (p, h) = adjusted(net, name, pair, filters);
    let named = |piece: &str| format!("{name}.{piece}");
    let a = twice(net, &named("1l"), h, filters, 5, 2);
    let b = twice(net, &named("1r"), p, filters, 7, 2);
    let one = net.map(&named("1"), "Add", &[a, b]);
    let a = net.pool(&named("2l"), "MaxPool", h, same(0, 3, 2), false);
    let b = twice(net, &named("2r"), p, filters, 7, 2);
    let two = net.map(&named("2"), "Add", &[a, b]);
    let a = net.pool(&named("3l"), "AveragePool", h, same(0, 3, 2), false);
    let b = twice(net, &named("3r"), p, filters, 5, 2);
    let three = net.map(&named("3"), "Add", &[a, b]);
    let a = net.pool(&named("4l"), "AveragePool", one, same(0, 3, 1), false);
    let four = net.map(&named("4"), "Add", &[a, two]);
    let a = twice(net, &named("5l"), one, filters, 3, 1);
    let b = net.pool(&named("5r"), "MaxPool", h, same(0, 3, 2), false);
    let five = net.map(&named("5"), "Add", &[a, b]);
    net.joined(&named("concat"), &[two, three, four, five])
}
