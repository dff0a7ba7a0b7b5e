//! Sizing rules of the operators. A rule computes facts about the outputs from facts about the inputs.
//!
//! Shapes are complete or unknown: free dimensions are bound before inference starts. Operators that compute
//! shapes also propagate the values of small integer and floating-point tensors
//! ([`FOLD_LIMIT`](value::FOLD_LIMIT) elements at most).
//!
//! Operators with the same rule share a row of a table. `plimsoll list operators` prints all operators.
//!
//! # Bounds
//!
//! If a data-dependent extent has an upper bound, it is replaced by the bound, and the fact is marked
//! ([`Fact::bound`]). Facts computed from a marked fact are marked as well, except for those about the
//! outputs of `Shape` and `Size`, whose own extents are exact. Values are not propagated through a marked
//! fact, because bounds are not constants. Rules are monotone in the extents of their inputs, or return no
//! fact.
//!
//! # Strings
//!
//! An element of a string tensor occupies [`STRING_BYTES`](element::STRING_BYTES) bytes, the size of the
//! object that ONNX Runtime stores per element on 64-bit platforms. Longer strings are stored outside the
//! tensor and are not counted.
//!
//! # Sequences
//!
//! The size of a sequence is the total size of its tensors. The size of an optional value is that of its
//! content.

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
pub use sharing::{Share, first_of, offset_of, parts, shares};

use known::{find, knows};
use rules::Sizing;
use value::{Fact, Reason, unknown};

/// Returns true if a space-separated list of kinds contains `kind`.
pub fn is_listed(kinds: &str, kind: &str) -> bool {
    kinds.split(' ').any(|one| one == kind)
}

/// Returns true if there is a rule for an operator. The standard ONNX domain is the empty string.
pub fn is_known(domain: &str, kind: &str) -> bool {
    find(domain, kind).is_some()
}

/// Returns the facts about the outputs of an operator without bodies.
///
/// # Errors
/// The reason why the outputs cannot be sized.
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
        return unknown("the file does not determine the sizes of its outputs");
    }
    if !call.bounded() {
        return (rule.infer)(call);
    }
    // Bounds need not satisfy the constraints on the exact extents.
    let facts = (rule.infer)(call).map_err(|reason| Reason {
        text: format!("{} (an input has extents that depend on data)", reason.text),
        misfit: false,
        ..reason
    })?;
    // The rank of the input is exact even if its extents are bounds.
    let exact = domain.is_empty() && matches!(kind, "Shape" | "Size");
    Ok(facts.into_iter().map(|fact| Fact { bound: !exact, ..fact.variable() }).collect())
}

/// Returns a warning if implementations of the operator behave differently.
pub fn doubt(call: &Call) -> Option<String> {
    match (call.domain, call.kind) {
        ("", "MaxPool" | "AveragePool" | "LpPool") => window::pool_doubt(call),
        _ => None,
    }
}
