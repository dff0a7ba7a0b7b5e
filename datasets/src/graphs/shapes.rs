//! Graphs with simple structures: chains, trees, layers, hourglasses, parallel branches.

use super::layers::{Layers, Names, SHORT, same};
use super::net::{Element, Net, Node};
use crate::error::{GenerateError, at_least};
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Adds an operator whose output has a uniformly random size of 1 to `kib` KiB.
fn any(net: &mut Net, name: String, reads: &[TensorId], kib: u64, rng: &mut Xoshiro256PlusPlus) -> TensorId {
    let bytes = 1024 * rng.random_range(1..=kib);
    Node::new(name, "Any").reads(reads).makes(net, Element::Byte, &[bytes])
}

/// Generates `n` operators in sequence. Each reads the output of its predecessor.
pub(super) fn chain(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (n, kib) = (params.at_least("n", 1)?, params.at_least("kib", 1)?);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut net = Net::new(params.name());
    let mut x = net.input("x", Element::Byte, &[1024 * kib]);
    for at in 0..n {
        x = any(&mut net, format!("f{at}"), &[x], kib, &mut rng);
    }
    net.finish(&[x])
}

/// Generates an in-tree of `n` operators. The output of each operator except the last is read by one
/// operator, at most `window` positions later. Leaves have no inputs.
pub(super) fn in_tree(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (n, kib) = (params.at_least("n", 1)?, params.at_least("kib", 1)?);
    let window = params.at_least("window", 1)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut net = Net::new(params.name());
    let mut reads: Vec<Vec<TensorId>> = vec![Vec::new(); n as usize];
    let mut last = Vec::new();
    for at in 0..n {
        let x = any(&mut net, format!("f{at}"), &reads[at as usize], kib, &mut rng);
        if at + 1 == n {
            last = vec![x];
        } else {
            reads[rng.random_range(at + 1..=(at + window).min(n - 1)) as usize].push(x);
        }
    }
    net.finish(&last)
}

/// Generates layers of `width` operators. Operators of the first layer read the input of the graph. Each
/// other operator reads the tensor at its position in the previous layer, and up to `reads` - 1 other
/// tensors. Nine in ten of the other tensors come from the previous layer, and the rest from any of the eight
/// preceding layers. The last `width` tensors are outputs.
pub(super) fn layered(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (n, kib) = (params.at_least("n", 1)?, params.at_least("kib", 1)?);
    let (width, most) = (params.at_least("width", 1)?, params.at_least("reads", 1)?);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut net = Net::new(params.name());
    let x = net.input("x", Element::Byte, &[1024 * kib]);
    let mut made: Vec<TensorId> = Vec::new();
    for at in 0..n {
        let layer = at / width;
        let mut reads = vec![if layer == 0 { x } else { made[(at - width) as usize] }];
        for _ in 0..if layer == 0 { 0 } else { rng.random_range(0..most) } {
            let near = rng.random_bool(0.9);
            let from = if near { layer - 1 } else { rng.random_range(layer.saturating_sub(8)..layer) };
            reads.push(made[(from * width + rng.random_range(0..width)) as usize]);
        }
        reads.sort_unstable();
        reads.dedup();
        made.push(any(&mut net, format!("f{at}"), &reads, kib, &mut rng));
    }
    let wanted = made.split_off((n - n.min(width)) as usize);
    net.finish(&wanted)
}

/// Generates `n` operators between one input and one output, composed in series and in parallel. The
/// branches of a parallel composition read the same tensor, and one operator reads the results of all
/// branches. A part with at least three operators is parallel with a probability of `parallel` percent, and
/// then has up to `branches` branches.
pub(super) fn series_parallel(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (n, kib) = (params.at_least("n", 1)?, params.at_least("kib", 1)?);
    let (parallel, branches) = (params.percent("parallel")?, params.at_least("branches", 2)?);
    let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut weaver = Weaver { net: Net::new(params.name()), kib, parallel, branches, made: 0, rng };
    let x = weaver.net.input("x", Element::Byte, &[1024 * kib]);
    let y = weaver.part(x, n);
    weaver.net.finish(&[y])
}

struct Weaver {
    net: Net,
    kib: u64,
    parallel: u64,
    branches: u64,
    made: u64,
    rng: Xoshiro256PlusPlus,
}

impl Weaver {
    fn step(&mut self, reads: &[TensorId]) -> TensorId {
        self.made += 1;
        any(&mut self.net, format!("f{}", self.made - 1), reads, self.kib, &mut self.rng)
    }

    /// Adds `n` operators between `x` and the returned tensor. Parts have similar sizes, so the nesting
    /// depth is about log n.
    fn part(&mut self, x: TensorId, n: u64) -> TensorId {
        if n == 1 {
            return self.step(&[x]);
        }
        if n < 3 || self.rng.random_range(0..100) >= self.parallel {
            let first = self.share(n, 2);
            let y = self.part(x, first);
            return self.part(y, n - first);
        }
        let count = self.rng.random_range(2..=self.branches.min(n - 1));
        let (mut left, mut ends) = (n - 1, Vec::new());
        for later in (1..=count).rev() {
            let share = if later == 1 { left } else { self.share(left, later) };
            ends.push(self.part(x, share));
            left -= share;
        }
        self.step(&ends)
    }

    /// Draws the size of one of the `parts` parts into which `n` operators are divided: from 1 to twice the
    /// fair share. At least one operator remains for each of the other parts.
    fn share(&mut self, n: u64, parts: u64) -> u64 {
        self.rng.random_range(1..=(2 * n / parts).min(n - (parts - 1)).max(1))
    }
}

/// Generates `n` operators in sequence, most of which read a weight of about `weight` KiB. These operators
/// perform about `intensity` multiply-accumulates per byte of the weight. The size of the weight and the
/// intensity vary independently, each by at most `spread` percent. `free` percent of the operators have no
/// weight and perform one multiply-accumulate per output byte.
pub(super) fn weight_chain(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (n, kib) = (params.at_least("n", 1)?, params.at_least("kib", 1)?);
    let (weight, intensity) = (1024 * params.at_least("weight", 1)?, params.at_least("intensity", 1)?);
    let (spread, free) = (params.percent("spread")?, params.percent("free")?);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut net = Net::new(params.name());
    let mut x = net.input("x", Element::Byte, &[1024 * kib]);
    for at in 0..n {
        let name = format!("f{at}");
        let made = [1024 * kib];
        if rng.random_range(0..100) < free {
            x = Node::new(name, "Any").reads(&[x]).cost(made[0]).makes(&mut net, Element::Byte, &made);
            continue;
        }
        let bytes = around(weight, spread, &mut rng);
        // The intensity is drawn in thousandths, so that an intensity of 1 can vary too.
        let each = around(1000 * intensity, spread, &mut rng);
        let cost = u64::try_from(u128::from(bytes) * u128::from(each) / 1000).unwrap_or(u64::MAX);
        let w = net.weight(&format!("{name}.w"), Element::Byte, &[bytes]);
        x = Node::new(name, "MatMul").reads(&[x, w]).cost(cost).makes(&mut net, Element::Byte, &made);
    }
    net.finish(&[x])
}

/// Draws a number that deviates from `middle` by at most `percent` percent.
fn around(middle: u64, percent: u64, rng: &mut Xoshiro256PlusPlus) -> u64 {
    let most = middle * percent / 100;
    rng.random_range((middle - most).max(1)..=middle + most)
}

/// Generates an encoder and a decoder with `depth` levels. Each encoder level halves height and width and
/// doubles the channels; the decoder reverses this. Every level has `convs` convolutions in the encoder and
/// as many in the decoder. The skip branch of a level has `skip` convolutions. Their number of channels is
/// that of the level divided by `narrow`. A `skip` of 0 gives a plain U-Net. The upsampled tensor is
/// concatenated with the skip branch. In file order, all skip branches follow the bottom level.
pub(super) fn hourglass(params: &Params, _seed: u64) -> Result<Graph, GenerateError> {
    let (depth, convs) = (params.at_least("depth", 1)?, params.at_least("convs", 1)?);
    let (channels, size) = (params.at_least("channels", 1)?, params.at_least("size", 1)?);
    let (skip, narrow) = (params.get("skip"), params.at_least("narrow", 1)?);
    params.at_most("depth", 20)?;
    let mut net = Layers::named(params, false, Names { input: "x", ..SHORT }, Element::F32)?;
    let mut x = net.image(3, size);
    let stage = |net: &mut Layers, name: &str, mut x: TensorId, channels: u64, convs: u64| {
        for at in 0..convs {
            x = net.conv(&format!("{name}.conv{at}"), x, same(channels, 3, 1), false);
            x = net.map(&format!("{name}.relu{at}"), "Relu", &[x]);
        }
        x
    };
    let mut across = Vec::new();
    for level in 0..depth {
        x = stage(&mut net, &format!("down{level}"), x, channels << level, convs);
        across.push(x);
        x = net.pool(&format!("down{level}.pool"), "MaxPool", x, same(0, 3, 2), false);
    }
    x = stage(&mut net, "bottom", x, channels << depth, convs);
    for (level, x) in across.iter_mut().enumerate() {
        *x = stage(&mut net, &format!("across{level}"), *x, (channels << level).div_ceil(narrow), skip);
    }
    for (level, across) in across.into_iter().enumerate().rev() {
        let shape = net.net.shape(across).to_vec();
        x = Node::new(format!("up{level}.resize"), "Resize").reads(&[x]).makes(
            &mut net.net,
            Element::F32,
            &[1, channels << (level + 1), shape[2], shape[3]],
        );
        x = net.conv(&format!("up{level}.halve"), x, same(channels << level, 1, 1), false);
        x = net.joined(&format!("up{level}.concat"), &[across, x]);
        x = stage(&mut net, &format!("up{level}"), x, channels << level, convs);
    }
    let x = net.conv("head", x, same(1, 1, 1), false);
    net.finish(x)
}

/// Generates blocks of four branches with concatenated outputs. The first branch is a 1 x 1 convolution. In
/// the second and the third branch, a 3 x 3 or a 5 x 5 convolution follows a 1 x 1 convolution. In the
/// fourth, a 1 x 1 convolution follows pooling. The numbers of channels are those of block 3a of
/// `GoogLeNet`, times `channels` / 16.
pub(super) fn inception(params: &Params, _seed: u64) -> Result<Graph, GenerateError> {
    let (blocks, unit) = (params.at_least("blocks", 1)?, params.at_least("channels", 1)?);
    at_least("size", params.get("size"), 1)?;
    let mut net = Layers::named(params, false, Names { input: "x", ..SHORT }, Element::F32)?;
    let mut x = net.image(12 * unit, params.get("size"));
    for block in 0..blocks {
        let mut branch = |from: TensorId, name: &str, steps: &[(u64, u64)]| {
            let mut x = from;
            for (at, &(channels, kernel)) in steps.iter().enumerate() {
                let name = format!("b{block}.{name}.{at}");
                x = net.conv(&name, x, same(channels * unit, kernel, 1), false);
                x = net.map(&format!("{name}.relu"), "Relu", &[x]);
            }
            x
        };
        let one = branch(x, "1x1", &[(4, 1)]);
        let three = branch(x, "3x3", &[(6, 1), (8, 3)]);
        let five = branch(x, "5x5", &[(1, 1), (2, 5)]);
        let pooled = net.pool(&format!("b{block}.pool"), "MaxPool", x, same(0, 3, 1), false);
        let pooled = net.conv(&format!("b{block}.pool.0"), pooled, same(2 * unit, 1, 1), false);
        let pooled = net.map(&format!("b{block}.pool.0.relu"), "Relu", &[pooled]);
        x = net.joined(&format!("b{block}.concat"), &[one, three, five, pooled]);
    }
    net.finish(x)
}
