//! Operator fusion across processing units (SOURCES S3): what it covers, and what the printed numbers amount to.

mod coverage;
mod estimate;
mod times;

use super::{Context, ReproduceError, Reproduction};

/// Computes everything again.
pub(super) fn run(context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    coverage::vgg(context, &mut found)?;
    coverage::yolo(context, &mut found)?;
    coverage::subgraphs(context, &mut found)?;
    coverage::greedy(context, &mut found)?;
    estimate::platform(context, &mut found)?;
    times::ablation(&mut found);
    times::performance(&mut found);
    times::clock(&mut found);
    Ok(found)
}
