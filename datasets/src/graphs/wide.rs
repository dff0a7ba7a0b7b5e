//! Networks for servers: `AlexNet`, deep residual and dense networks, `GoogLeNet`, Inception v3, U-Net.

use super::layers::{Layers, Window, same, valid};
use crate::error::{GenerateError, at_least};
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;

type Made = Result<Graph, GenerateError>;

/// Generates `AlexNet` on one device (Krizhevsky 2014), as in torchvision.
pub(super) fn alexnet(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::new(params, false)?;
    let x = n.image(3, 224);
    let first = Window { pad: [2; 2], ..valid(64, 11, 4) };
    let convs = [(first, true), (same(192, 5, 1), true), (same(384, 3, 1), false)];
    let mut x = x;
    for (at, (window, pooled)) in
        (1..).zip(convs.into_iter().chain([(same(256, 3, 1), false), (same(256, 3, 1), true)]))
    {
        x = n.active(&format!("conv{at}"), x, window, "Relu");
        if pooled {
            x = n.pool(&format!("pool{at}"), "MaxPool", x, valid(0, 3, 2), false);
        }
    }
    for at in [6, 7] {
        x = n.dense(&format!("fc{at}"), x, 4096);
        x = n.map(&format!("relu{at}"), "Relu", &[x]);
    }
    let y = n.dense("fc8", x, 1000);
    n.finish(y)
}

/// The parameters of a deep residual network. `groups` and `width` are the groups of the 3 x 3 convolutions
/// and their channels in the first stage. Without bottlenecks, a block consists of two 3 x 3 convolutions.
pub(super) struct Residual {
    blocks: [u64; 4],
    groups: u64,
    width: u64,
    bottleneck: bool,
}

const fn residual(blocks: [u64; 4], bottleneck: bool) -> Residual {
    Residual { blocks, groups: 1, width: 64, bottleneck }
}

/// `ResNet` (He et al. 2016) with 34 layers. The next two constants have 50 and 101 layers.
pub(super) const RESNET34: Residual = residual([3, 4, 6, 3], false);
pub(super) const RESNET50: Residual = residual([3, 4, 6, 3], true);
pub(super) const RESNET101: Residual = residual([3, 4, 23, 3], true);
/// `ResNeXt-50` 32 x 4d (Xie et al. 2017).
pub(super) const RESNEXT50: Residual = Residual { groups: 32, width: 128, ..residual([3, 4, 6, 3], true) };

/// Generates a deep residual network. In a stage that halves height and width, the first 3 x 3 convolution
/// does so.
pub(super) fn resnet(params: &Params, like: &Residual) -> Made {
    let mut n = Layers::normed(params)?;
    let x = n.image(3, 224);
    let x = n.active("conv1", x, same(64, 7, 2), "Relu");
    let mut x = n.pool("pool1", "MaxPool", x, same(0, 3, 2), false);
    for (stage, blocks) in (0..).zip(like.blocks) {
        let channels = (64 << stage) * if like.bottleneck { 4 } else { 1 };
        let wide = same(like.width << stage, 3, 1).grouped(like.groups);
        for block in 0..blocks {
            let named = |piece: &str| format!("s{}.{block}.{piece}", stage + 1);
            let stride = if block == 0 && stage > 0 { 2 } else { 1 };
            let wide = Window { stride, ..wide };
            let mut y = x;
            if like.bottleneck {
                y = n.active(&named("reduce"), y, same(wide.channels, 1, 1), "Relu");
                y = n.active(&named("wide"), y, wide, "Relu");
                y = n.layer(&named("expand"), y, same(channels, 1, 1));
            } else {
                y = n.active(&named("first"), y, wide, "Relu");
                y = n.layer(&named("second"), y, same(channels, 3, 1));
            }
            if n.channels(x) != channels {
                x = n.layer(&named("skip"), x, same(channels, 1, stride));
            }
            let sum = n.map(&named("add"), "Add", &[y, x]);
            x = n.map(&named("relu"), "Relu", &[sum]);
        }
    }
    n.classified(x)
}

/// Generates `DenseNet-121` (Huang et al. 2017). Many of its normalisations read concatenations that other
/// operators read too, and therefore cannot be folded into a convolution. All normalisations are separate
/// operators.
pub(super) fn densenet121(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::new(params, true)?;
    let ready = |n: &mut Layers, name: &str, x: TensorId| {
        let x = n.scaled(&format!("{name}.norm"), x);
        n.map(&format!("{name}.relu"), "Relu", &[x])
    };
    let x = n.image(3, 224);
    let x = n.active("conv0", x, same(64, 7, 2), "Relu");
    let mut x = n.pool("pool0", "MaxPool", x, same(0, 3, 2), false);
    for (stage, blocks) in (1..).zip([6, 12, 24, 16]) {
        for block in 0..blocks {
            let name = format!("d{stage}.{block}");
            let y = ready(&mut n, &format!("{name}.a"), x);
            let y = n.conv(&format!("{name}.a.conv"), y, same(128, 1, 1), false);
            let y = ready(&mut n, &format!("{name}.b"), y);
            let y = n.conv(&format!("{name}.b.conv"), y, same(32, 3, 1), false);
            x = n.concat(&format!("{name}.concat"), &[x, y]);
        }
        x = ready(&mut n, &format!("t{stage}"), x);
        if stage < 4 {
            let half = n.channels(x) / 2;
            x = n.conv(&format!("t{stage}.conv"), x, same(half, 1, 1), false);
            x = n.pool(&format!("t{stage}.pool"), "AveragePool", x, valid(0, 2, 2), false);
        }
    }
    n.classified(x)
}

/// The channels of the six convolutions of an inception block, branch by branch. The first branch has a 1 x
/// 1 convolution. The second and the third have a 1 x 1 and then a 3 x 3 or a 5 x 5 convolution. The fourth
/// has a 1 x 1 convolution after pooling.
type Block = [u64; 6];

/// Generates `GoogLeNet` (Szegedy et al. 2015) without its auxiliary classifiers.
pub(super) fn googlenet(params: &Params, _seed: u64) -> Made {
    let blocks: [&[Block]; 3] = [
        &[[64, 96, 128, 16, 32, 32], [128, 128, 192, 32, 96, 64]],
        &[
            [192, 96, 208, 16, 48, 64],
            [160, 112, 224, 24, 64, 64],
            [128, 128, 256, 24, 64, 64],
            [112, 144, 288, 32, 64, 64],
            [256, 160, 320, 32, 128, 128],
        ],
        &[[256, 160, 320, 32, 128, 128], [384, 192, 384, 48, 128, 128]],
    ];
    let mut n = Layers::new(params, false)?;
    let x = n.image(3, 224);
    let mut x = n.active("conv1", x, same(64, 7, 2), "Relu");
    x = n.pool("pool1", "MaxPool", x, valid(0, 3, 2), true);
    x = n.map("lrn1", "LRN", &[x]);
    x = n.active("conv2.reduce", x, same(64, 1, 1), "Relu");
    x = n.active("conv2", x, same(192, 3, 1), "Relu");
    x = n.map("lrn2", "LRN", &[x]);
    for (stage, blocks) in (3..).zip(blocks) {
        x = n.pool(&format!("pool{}", stage - 1), "MaxPool", x, valid(0, 3, 2), true);
        for (block, &[one, three_in, three, five_in, five, pooled]) in blocks.iter().enumerate() {
            let named = |piece: &str| format!("i{stage}.{block}.{piece}");
            let a = n.active(&named("1x1"), x, same(one, 1, 1), "Relu");
            let b = n.active(&named("3x3.reduce"), x, same(three_in, 1, 1), "Relu");
            let b = n.active(&named("3x3"), b, same(three, 3, 1), "Relu");
            let c = n.active(&named("5x5.reduce"), x, same(five_in, 1, 1), "Relu");
            let c = n.active(&named("5x5"), c, same(five, 5, 1), "Relu");
            let d = n.pool(&named("pool"), "MaxPool", x, same(0, 3, 1), false);
            let d = n.active(&named("pool.1x1"), d, same(pooled, 1, 1), "Relu");
            x = n.concat(&named("concat"), &[a, b, c, d]);
        }
    }
    n.classified(x)
}

/// Adds a sequence of layers with activations. The layers are named `NAME.0` and so on.
fn row(n: &mut Layers, name: &str, mut x: TensorId, windows: &[Window]) -> TensorId {
    for (at, &window) in windows.iter().enumerate() {
        x = n.active(&format!("{name}.{at}"), x, window, "Relu");
    }
    x
}

/// Returns a window with different height and width.
const fn oblong(channels: u64, kernel: [u64; 2]) -> Window {
    Window { channels, kernel, stride: 1, pad: [kernel[0] / 2, kernel[1] / 2], groups: 1 }
}

/// Generates Inception v3 (Szegedy et al. 2016) without its auxiliary classifier.
pub(super) fn inception_v3(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::normed(params)?;
    let x = n.image(3, 299);
    let mut x = row(&mut n, "stem", x, &[valid(32, 3, 2), valid(32, 3, 1), same(64, 3, 1)]);
    x = n.pool("stem.pool0", "MaxPool", x, valid(0, 3, 2), false);
    x = row(&mut n, "stem.b", x, &[valid(80, 1, 1), valid(192, 3, 1)]);
    x = n.pool("stem.pool1", "MaxPool", x, valid(0, 3, 2), false);
    let one = |channels| same(channels, 1, 1);
    for (at, pooled) in [32, 64, 64].into_iter().enumerate() {
        let rows: [&[Window]; 3] =
            [&[one(64)], &[one(48), same(64, 5, 1)], &[one(64), same(96, 3, 1), same(96, 3, 1)]];
        x = inception(&mut n, &format!("a{at}"), x, &rows, Some(pooled));
    }
    let rows: [&[Window]; 2] = [&[valid(384, 3, 2)], &[one(64), same(96, 3, 1), valid(96, 3, 2)]];
    x = inception(&mut n, "b", x, &rows, None);
    for (at, c) in [128, 160, 160, 192].into_iter().enumerate() {
        let (flat, tall) = (|channels| oblong(channels, [1, 7]), |channels| oblong(channels, [7, 1]));
        let rows: [&[Window]; 3] =
            [&[one(192)], &[one(c), flat(c), tall(192)], &[one(c), tall(c), flat(c), tall(c), flat(192)]];
        x = inception(&mut n, &format!("c{at}"), x, &rows, Some(192));
    }
    let rows: [&[Window]; 2] = [
        &[one(192), valid(320, 3, 2)],
        &[one(192), oblong(192, [1, 7]), oblong(192, [7, 1]), valid(192, 3, 2)],
    ];
    x = inception(&mut n, "d", x, &rows, None);
    for at in 0..2 {
        x = forked(&mut n, &format!("e{at}"), x);
    }
    n.classified(x)
}

/// Adds concatenated branches of layers, one of which begins with pooling. If `pooled` is `None`, this branch
/// is a single pooling operator that halves height and width.
fn inception(n: &mut Layers, name: &str, x: TensorId, rows: &[&[Window]], pooled: Option<u64>) -> TensorId {
    let mut made: Vec<TensorId> =
        rows.iter().enumerate().map(|(at, windows)| row(n, &format!("{name}.{at}"), x, windows)).collect();
    let name_of = |piece: &str| format!("{name}.{piece}");
    made.push(match pooled {
        Some(channels) => {
            let y = n.pool(&name_of("pool"), "AveragePool", x, same(0, 3, 1), false);
            n.active(&name_of("pool.1x1"), y, same(channels, 1, 1), "Relu")
        }
        None => n.pool(&name_of("pool"), "MaxPool", x, valid(0, 3, 2), false),
    });
    n.concat(&name_of("concat"), &made)
}

/// Adds one of the last blocks, in which two branches fork into 1 x 3 and 3 x 1 convolutions.
fn forked(n: &mut Layers, name: &str, x: TensorId) -> TensorId {
    let named = |piece: &str| format!("{name}.{piece}");
    let fork = |n: &mut Layers, piece: &str, x: TensorId| {
        [("flat", [1, 3]), ("tall", [3, 1])].map(|(which, kernel)| {
            n.active(&format!("{name}.{piece}.{which}"), x, oblong(384, kernel), "Relu")
        })
    };
    let a = n.active(&named("0"), x, same(320, 1, 1), "Relu");
    let b = n.active(&named("1"), x, same(384, 1, 1), "Relu");
    let [b0, b1] = fork(n, "1", b);
    let c = row(n, &named("2"), x, &[same(448, 1, 1), same(384, 3, 1)]);
    let [c0, c1] = fork(n, "2", c);
    let d = n.pool(&named("pool"), "AveragePool", x, same(0, 3, 1), false);
    let d = n.active(&named("pool.1x1"), d, same(192, 1, 1), "Relu");
    n.concat(&named("concat"), &[a, b0, b1, c0, c1, d])
}

/// Generates U-Net (Ronneberger, Fischer, Brox 2015): an encoder and a decoder with `depth` levels, each with
/// two 3 x 3 convolutions. Pooling halves height and width, and transposed convolutions double them; the
/// number of channels changes inversely. The upsampled tensor is concatenated with the tensor before the
/// pooling of the same level. If convolutions do not pad, that tensor is cropped first, as in the paper.
pub(super) fn unet(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::normed(params)?;
    let (depth, channels) = (params.at_least("depth", 1)?, params.at_least("channels", 1)?);
    let (inputs, classes) = (params.at_least("inputs", 1)?, params.at_least("classes", 1)?);
    let (padded, size) = (params.at_most("padded", 1)? == 1, params.get("size"));
    params.at_most("depth", 10)?;
    sides_fit(size, depth, padded)?;
    let window = |channels| if padded { same(channels, 3, 1) } else { valid(channels, 3, 1) };
    let mut x = n.image(inputs, size);
    let mut kept = Vec::new();
    for level in 0..=depth {
        let named = |piece: &str| format!("down{level}.{piece}");
        x = n.active(&named("a"), x, window(channels << level), "Relu");
        x = n.active(&named("b"), x, window(channels << level), "Relu");
        if level < depth {
            kept.push(x);
            x = n.pool(&named("pool"), "MaxPool", x, valid(0, 2, 2), false);
        }
    }
    for (level, mut across) in kept.into_iter().enumerate().rev() {
        let (named, channels) = (|piece: &str| format!("up{level}.{piece}"), channels << level);
        x = n.double(&named("double"), x, channels);
        let side = n.side(x);
        if n.side(across) != side {
            let shape = [n.batch(), channels, side, side];
            across = n.moved(&named("crop"), "Slice", across, &shape);
        }
        x = n.concat(&named("concat"), &[across, x]);
        x = n.active(&named("a"), x, window(channels), "Relu");
        x = n.active(&named("b"), x, window(channels), "Relu");
    }
    let y = n.conv("head", x, same(classes, 1, 1), true);
    n.finish(y)
}

/// Rejects a size that becomes odd before a pooling operator, or that is too small for unpadded convolutions.
fn sides_fit(size: u64, depth: u64, padded: bool) -> Result<(), GenerateError> {
    let lost = if padded { 0 } else { 4 };
    let (mut side, mut level) = (size, 0);
    while level < depth {
        at_least("the size before a pooling operator", side, lost + 2)?;
        side -= lost;
        if side % 2 != 0 {
            let (name, of_name) = ("the size before a pooling operator", "the stride of pooling");
            return Err(GenerateError::NoMultiple { name, value: side, of_name, of: 2 });
        }
        (side, level) = (side / 2, level + 1);
    }
    // The remaining size must be large enough for the bottom and the decoder.
    let mut up = side;
    for _ in 0..=depth {
        at_least("the size in the decoder", up, lost + 1)?;
        up = 2 * (up - lost);
    }
    Ok(())
}
