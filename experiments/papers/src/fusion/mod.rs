//! Operator fusion across processing units: what it covers, and what the printed numbers amount to.

mod coverage;
mod estimate;
mod times;

use crate::{Context, Params, ReproduceError, Reproduction, sheet};
use serde::{Deserialize, Serialize};

/// What tables 1 to 3 print of one network.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Measured {
    /// Its name.
    pub network: String,
    /// The family that generates it.
    pub family: String,
    /// Table 1, seconds of inference: baseline, algorithm, hardware, both.
    pub inference: [f64; 4],
    /// Table 1, seconds in total.
    pub total: [f64; 4],
    /// Table 2: gain of the total and of inference in percent, speed-up of the total and of inference.
    pub performance: [f64; 4],
    /// Table 2: how much faster a subgraph is on average, percent.
    pub subgraph_gain: f64,
    /// Table 3, seconds at 1 GHz: inference, total.
    pub fast: (f64, f64),
}

/// Subgraphs before and after, as the experiments count them.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Subgraphs {
    /// The network's name in the paper.
    pub network: String,
    /// The family that generates it.
    pub family: String,
    /// Subgraphs without fusion across units.
    pub before: usize,
    /// And with it.
    pub after: usize,
    /// Coverage as printed, percent.
    pub coverage: f64,
}

/// What the paper prints, and the networks it prints it of.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Inputs {
    /// Tables 1 to 3, a network each.
    pub seconds: Vec<Measured>,
    /// Subgraphs before and after.
    pub subgraphs: Vec<Subgraphs>,
    /// Parameters of `vgg16`, the backbone of section 2.1.2.
    pub vgg16: Params,
    /// Parameters of `yolov5s`.
    pub yolov5s: Params,
    /// Clock of the logic in tables 1 and 3, hertz.
    pub clocks: (f64, f64),
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("fusion")
    }
}

/// Computes everything again from these inputs.
///
/// # Errors
/// [`ReproduceError`]: a network cannot be generated, or a run failed.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::of("fusion");
    coverage::vgg(context, &inputs.vgg16, &mut found)?;
    coverage::yolo(context, &inputs.yolov5s, &mut found)?;
    coverage::subgraphs(context, &inputs.subgraphs, &mut found)?;
    coverage::greedy(context, &inputs.vgg16, &mut found)?;
    estimate::platform(context, &inputs.seconds, &mut found)?;
    times::tables(inputs, &mut found);
    found.finish()
}
