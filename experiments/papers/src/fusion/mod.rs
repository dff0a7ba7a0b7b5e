//! Operator fusion across processing units (fusion paper): its coverage, and the consistency of the printed
//! numbers.

mod coverage;
mod estimate;
mod inputs;
mod times;

use crate::{Context, ReproduceError, Reproduction};

pub use inputs::{Inputs, Measured, Subgraphs};

/// Recomputes the results from these inputs.
///
/// # Errors
/// [`ReproduceError`] if a network cannot be generated or a run fails.
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
