//! Sizing rules for losses, gradients and optimiser steps.

use super::call::{Call, Facts, ranked};
use super::value::{Fact, misfit, unknown};

/// Infers the outputs of a loss operator: one loss per label or, by default, a single loss.
/// `SoftmaxCrossEntropyLoss` also returns the log-probabilities.
pub fn loss(call: &Call) -> Facts {
    let (scores, labels) = (ranked(call.shape(0)?, 2)?, call.shape(1)?);
    let each = call.attr_text("reduction") == Some("none");
    let loss = Fact::new(call.element(0), if each { labels } else { &[] });
    Ok(vec![loss, Fact::new(call.element(0), scores)])
}

/// Infers the outputs of an optimiser: the new tensors, followed by their new optimiser states. Each output
/// has the shape and the type of the corresponding input. The first two inputs are the learning rate and the
/// step.
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

/// Infers the outputs of `Gradient`. There is one derivative per input named by the attribute `xs`. Only the
/// number of these names is known, so the rule assumes that they are the names of the first inputs, in order.
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
