//! One rule per operator: from what is known of the inputs to what is known of the outputs.
//!
//! Shapes are complete or unknown: free dimensions have their values before inference starts. Small integers
//! and floating-point numbers are followed as values through the operators that compute shapes
//! ([`FOLD_LIMIT`](value::FOLD_LIMIT) elements at most).
//!
//! Operators that share a rule stand in one row of a table; `plimsoll list operators` prints all of them.
//!
//! # Bounds
//!
//! Where an extent depends on data but has an upper bound, the bound is taken and the fact says so
//! ([`Fact::bound`]). What is computed from such a tensor is bounded as well, and no values are followed
//! through it: extents that are bounds are no constants. Rules are monotone in the extents of their inputs,
//! or give no fact.
//!
//! # Strings
//!
//! An element of a string tensor counts [`STRING_BYTES`](element::STRING_BYTES): the object that ONNX Runtime
//! holds per element on 64-bit platforms. Longer texts lie outside the tensor and are not counted.
//!
//! # Sequences
//!
//! A sequence holds the bytes of its tensors; an optional value is what it holds.

mod algebra;
mod call;
mod container;
mod cost;
pub mod element;
mod elementwise;
mod fold;
mod known;
mod learning;
mod legacy;
mod microsoft;
mod movement;
mod onnx;
mod quantized;
mod rules;
mod selection;
mod sharing;
mod text;
mod training;
mod transformer;
pub mod value;
mod window;

pub use call::{Attribute, Call, Facts, axis, extent};
pub use cost::cost;
pub use known::{KnownOperator, known_operators};
pub use sharing::{Share, shares};

use known::{find, knows};
use rules::Sizing;
use value::{Fact, Reason, unknown};

/// True where a list of kinds, with spaces between them, has this one.
pub fn is_listed(kinds: &str, kind: &str) -> bool {
    kinds.split(' ').any(|one| one == kind)
}

/// True where there is a rule for an operator; ONNX's own domain is empty.
pub fn is_known(domain: &str, kind: &str) -> bool {
    find(domain, kind).is_some()
}

/// What is known of the outputs of a plain operator.
///
/// # Errors
/// Why the outputs cannot be sized, for people.
pub fn infer(call: &Call) -> Facts {
    let (kind, domain) = (call.kind, call.domain);
    let Some(rule) = find(domain, kind) else {
        return unknown(match domain {
            "" => format!("operator {kind} is not known"),
            _ if knows(domain) => format!("operator {kind} of domain {domain} is not known"),
            _ => format!("operators of domain {domain} are not known"),
        });
    };
    if rule.sizing == Sizing::Opaque {
        return unknown("nothing that the file contains says how large its outputs are");
    }
    if !call.bounded() {
        return (rule.infer)(call);
    }
    // Extents that are bounds need not fit what they would have to fit.
    let facts = (rule.infer)(call).map_err(|reason| Reason {
        text: format!("{} (an input has extents that depend on data)", reason.text),
        misfit: false,
    })?;
    // The rank is known all the same.
    let exact = domain.is_empty() && matches!(kind, "Shape" | "Size");
    Ok(facts.into_iter().map(|fact| Fact { bound: !exact, ..fact.variable() }).collect())
}

/// What others may make otherwise of an operator.
pub fn doubt(call: &Call) -> Option<String> {
    match (call.domain, call.kind) {
        ("", "MaxPool" | "AveragePool" | "LpPool") => window::pool_doubt(call),
        _ => None,
    }
}
