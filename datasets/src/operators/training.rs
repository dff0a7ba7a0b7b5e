//! Losses and steps of optimisers.

use super::call::{Call, Facts, ranked};
use super::value::{Fact, misfit, unknown};

/// Losses: one per label, or one for all; `SoftmaxCrossEntropyLoss` also gives the logarithms.
pub fn loss(call: &Call) -> Facts {
    let (scores, labels) = (ranked(call.shape(0)?, 2)?, call.shape(1)?);
    let each = call.attr_text("reduction") == Some("none");
    let loss = Fact::new(call.element(0), if each { labels } else { &[] });
    Ok(vec![loss, Fact::new(call.element(0), scores)])
}

/// New values of tensors, then of what the optimiser keeps of each: like the inputs after rate and step.
pub fn optimizer(call: &Call) -> Facts {
    let kept = match call.kind {
        "Adam" => [0, 2, 3].as_slice(),
        _ => &[0, 2],
    };
    let groups = kept.len() + 1;
    let tensors = call.inputs.len().saturating_sub(2);
    if !tensors.is_multiple_of(groups) {
        return misfit(format!("{tensors} tensors are not a multiple of {groups}"));
    }
    let each = tensors / groups;
    let mut facts = Vec::new();
    for &group in kept {
        for at in 0..each {
            let input = 2 + group * each + at;
            facts.push(Fact::new(call.element(input), call.shape(input)?));
        }
    }
    Ok(facts)
}

/// Derivatives by the inputs that an attribute names, of which only the number is known: each is like its
/// input where all inputs are alike.
pub fn gradient(call: &Call) -> Facts {
    let count = call.attr_count(&["xs"]).unwrap_or(0);
    if count > call.inputs.len() {
        return misfit(format!("{count} variables, but {} inputs", call.inputs.len()));
    }
    match call.outputs.cmp(&count) {
        std::cmp::Ordering::Equal => {}
        _ => return unknown("it does not have one output per variable"),
    }
    (0..count).map(|at| Ok(Fact::new(call.element(at), call.shape(at)?))).collect()
}
