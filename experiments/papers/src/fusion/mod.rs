//! Operator fusion across processing units (SOURCES S3): what it covers, and what the printed numbers amount to.

mod coverage;
mod estimate;
mod times;

pub use coverage::Subgraphs;
pub use times::{Measured, TABLE_1};

use super::{Context, ReproduceError, Reproduction};

/// What the paper prints, and the networks it prints it of.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Table 1, a network each.
    pub seconds: Vec<Measured>,
    /// Subgraphs before and after.
    pub subgraphs: Vec<Subgraphs>,
    /// Parameters of `vgg16`, the backbone of section 2.1.2.
    pub vgg16: Vec<(&'static str, u64)>,
    /// Parameters of `yolov5s`.
    pub yolov5s: Vec<(&'static str, u64)>,
    /// Clock of the logic in tables 1 and 3, hertz.
    pub clocks: (f64, f64),
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            seconds: TABLE_1.to_vec(),
            subgraphs: coverage::SUBGRAPHS.to_vec(),
            vgg16: vec![("classifier", 0)],
            yolov5s: Vec::new(),
            clocks: (200e6, 1e9),
        }
    }
}

/// Computes everything again.
pub(super) fn run(context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    reproduce(&Inputs::default(), context)
}

/// Computes everything again from these inputs.
///
/// # Errors
/// [`ReproduceError`]: a network cannot be generated, or a run failed.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    coverage::vgg(context, &inputs.vgg16, &mut found)?;
    coverage::yolo(context, &inputs.yolov5s, &mut found)?;
    coverage::subgraphs(context, &inputs.subgraphs, &mut found)?;
    coverage::greedy(context, &mut found)?;
    estimate::platform(context, &inputs.seconds, &mut found)?;
    times::ablation(&inputs.seconds, &mut found);
    times::performance(&inputs.seconds, &mut found);
    times::clock(inputs, &mut found);
    Ok(found)
}
