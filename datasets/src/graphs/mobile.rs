//! Networks for small devices: `SqueezeNet`, `MobileNet` V1 and V2, `ShuffleNet` and `EfficientNet`.

use super::layers::{Layers, same, valid};
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;

type Made = Result<Graph, GenerateError>;

/// The ONNX operator for `ReLU6`.
const RELU6: &str = "Clip";

/// Generates `SqueezeNet` 1.0 (Iandola et al. 2016). Its convolutions have biases and no normalisation.
pub(super) fn squeezenet(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::new(params, false)?;
    let x = n.image(3, 224);
    let mut x = n.active("conv1", x, valid(96, 7, 2), "Relu");
    x = n.pool("pool1", "MaxPool", x, valid(0, 3, 2), true);
    for (at, squeeze) in (2..).zip([16, 16, 32, 32, 48, 48, 64, 64]) {
        let name = format!("fire{at}");
        let s = n.active(&format!("{name}.squeeze"), x, same(squeeze, 1, 1), "Relu");
        let one = n.active(&format!("{name}.one"), s, same(4 * squeeze, 1, 1), "Relu");
        let three = n.active(&format!("{name}.three"), s, same(4 * squeeze, 3, 1), "Relu");
        x = n.concat(&format!("{name}.concat"), &[one, three]);
        if [4, 8].contains(&at) {
            x = n.pool(&format!("pool{at}"), "MaxPool", x, valid(0, 3, 2), true);
        }
    }
    x = n.active("conv10", x, same(1000, 1, 1), "Relu");
    let y = n.average("pool10", x);
    n.finish(y)
}

/// Generates `MobileNet` (Howard et al. 2017), width 1.
pub(super) fn mobilenet_v1(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::normed(params)?;
    let x = n.image(3, 224);
    let mut x = n.active("conv", x, same(32, 3, 2), RELU6);
    let five = [(512, 1); 5];
    let blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)];
    for (at, (channels, stride)) in blocks.into_iter().chain(five).chain([(1024, 2), (1024, 1)]).enumerate() {
        let groups = n.channels(x);
        x = n.active(&format!("b{at}.dw"), x, same(groups, 3, stride).grouped(groups), RELU6);
        x = n.active(&format!("b{at}.pw"), x, same(channels, 1, 1), RELU6);
    }
    n.classified(x)
}

/// Generates `MobileNetV2` (Sandler et al. 2018), width 1.
pub(super) fn mobilenet_v2(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::normed(params)?;
    let x = n.image(3, 224);
    let mut x = n.active("conv", x, same(32, 3, 2), RELU6);
    // The columns are expansion factor, channels, number of blocks, stride of the first block.
    let stages = [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ];
    for (stage, (expansion, channels, blocks, stride)) in stages.into_iter().enumerate() {
        for block in 0..blocks {
            let (name, stride) = (format!("b{stage}.{block}"), if block == 0 { stride } else { 1 });
            let wide = n.channels(x) * expansion;
            let mut y = x;
            if expansion > 1 {
                y = n.active(&format!("{name}.expand"), y, same(wide, 1, 1), RELU6);
            }
            y = n.active(&format!("{name}.dw"), y, same(wide, 3, stride).grouped(wide), RELU6);
            y = n.layer(&format!("{name}.project"), y, same(channels, 1, 1));
            x = if block > 0 { n.map(&format!("{name}.add"), "Add", &[y, x]) } else { y };
        }
    }
    x = n.active("last", x, same(1280, 1, 1), RELU6);
    n.classified(x)
}

/// Generates `ShuffleNetV2` (Ma et al. 2018), width 1.
pub(super) fn shufflenet_v2(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::normed(params)?;
    let x = n.image(3, 224);
    let x = n.active("conv1", x, same(24, 3, 2), "Relu");
    let mut x = n.pool("pool1", "MaxPool", x, same(0, 3, 2), false);
    for (stage, (channels, blocks)) in (2..).zip([(116, 4), (232, 8), (464, 4)]) {
        for block in 0..blocks {
            x = shuffled(&mut n, &format!("b{stage}.{block}"), x, channels, block == 0);
        }
    }
    x = n.active("conv5", x, same(1024, 1, 1), "Relu");
    n.classified(x)
}

/// Adds a block of two branches, whose channels are shuffled at the end. The first block of a stage halves
/// height and width and processes all channels in both branches. In the other blocks, one half of the
/// channels bypasses the operators.
fn shuffled(n: &mut Layers, name: &str, x: TensorId, channels: u64, first: bool) -> TensorId {
    let half = channels / 2;
    let named = |piece: &str| format!("{name}.{piece}");
    let (stride, from, side) = (if first { 2 } else { 1 }, n.channels(x), n.side(x));
    let (left, right) = if first {
        let y = n.layer(&named("left.dw"), x, same(from, 3, 2).grouped(from));
        (n.active(&named("left.pw"), y, same(half, 1, 1), "Relu"), x)
    } else {
        let part = [n.batch(), half, side, side];
        (n.moved(&named("left"), "Slice", x, &part), n.moved(&named("right"), "Slice", x, &part))
    };
    let y = n.active(&named("right.pw1"), right, same(half, 1, 1), "Relu");
    let y = n.layer(&named("right.dw"), y, same(half, 3, stride).grouped(half));
    let right = n.active(&named("right.pw2"), y, same(half, 1, 1), "Relu");
    let x = n.concat(&named("concat"), &[left, right]);
    let (batch, side) = (n.batch(), n.side(x));
    let x = n.moved(&named("split"), "Reshape", x, &[batch, 2, half, side, side]);
    let x = n.moved(&named("mix"), "Transpose", x, &[batch, half, 2, side, side]);
    n.moved(&named("join"), "Reshape", x, &[batch, channels, side, side])
}

/// Generates `EfficientNet-B0` (Tan, Le 2019).
pub(super) fn efficientnet_b0(params: &Params, _seed: u64) -> Made {
    let mut n = Layers::normed(params)?;
    let x = n.image(3, 224);
    let mut x = n.active("stem", x, same(32, 3, 2), "SiLU");
    // The columns are expansion factor, kernel, stride of the first block, channels, number of blocks.
    let stages = [
        (1, 3, 1, 16, 1),
        (6, 3, 2, 24, 2),
        (6, 5, 2, 40, 2),
        (6, 3, 2, 80, 3),
        (6, 5, 1, 112, 3),
        (6, 5, 2, 192, 4),
        (6, 3, 1, 320, 1),
    ];
    for (stage, (expansion, kernel, stride, channels, blocks)) in stages.into_iter().enumerate() {
        for block in 0..blocks {
            let (name, stride) = (format!("b{stage}.{block}"), if block == 0 { stride } else { 1 });
            let (from, wide) = (n.channels(x), n.channels(x) * expansion);
            let mut y = x;
            if expansion > 1 {
                y = n.active(&format!("{name}.expand"), y, same(wide, 1, 1), "SiLU");
            }
            y = n.active(&format!("{name}.dw"), y, same(wide, kernel, stride).grouped(wide), "SiLU");
            y = gated(&mut n, &name, y, from / 4);
            y = n.layer(&format!("{name}.project"), y, same(channels, 1, 1));
            x = if block > 0 { n.map(&format!("{name}.add"), "Add", &[y, x]) } else { y };
        }
    }
    x = n.active("head", x, same(1280, 1, 1), "SiLU");
    n.classified(x)
}

/// Adds a squeeze-and-excitation block: every channel is multiplied by a factor between 0 and 1, which two
/// small layers compute from the averages of all channels.
fn gated(n: &mut Layers, name: &str, x: TensorId, squeeze: u64) -> TensorId {
    let channels = n.channels(x);
    let y = n.average(&format!("{name}.se.pool"), x);
    let y = n.conv(&format!("{name}.se.reduce"), y, same(squeeze, 1, 1), true);
    let y = n.map(&format!("{name}.se.silu"), "SiLU", &[y]);
    let y = n.conv(&format!("{name}.se.expand"), y, same(channels, 1, 1), true);
    let y = n.map(&format!("{name}.se.sigmoid"), "Sigmoid", &[y]);
    n.map(&format!("{name}.se.mul"), "Mul", &[x, y])
}
