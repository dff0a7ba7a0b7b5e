//! Rows of the operator tables. A row contains the sizing rule and states whether the first output can share
//! memory with an input.

use super::call::{Call, Facts};

/// Precision of the output sizes of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizing {
    /// Sizes follow from shapes, attributes and constant inputs.
    Inferred,
    /// Some extents depend on data. If the data are not constant, an upper bound is used.
    Bounded,
    /// The file does not determine the sizes of the outputs.
    Opaque,
}

impl Sizing {
    pub fn name(self) -> &'static str {
        match self {
            Self::Inferred => "inferred",
            Self::Bounded => "bounded",
            Self::Opaque => "opaque",
        }
    }
}

/// Inputs whose memory the first output may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// No input.
    Apart,
    /// The first output is a view of the first input.
    View,
    /// The first output may overwrite any of the first inputs; the field is the number of these inputs.
    Over(usize),
}

/// A rule and the operators of one domain that follow it.
pub(super) struct Rule {
    /// The domain; empty for the standard ONNX domain.
    pub domain: &'static str,
    /// The names of the operators, separated by spaces.
    pub kinds: &'static str,
    pub infer: fn(&Call) -> Facts,
    pub sizing: Sizing,
    pub sharing: Sharing,
}

/// Creates a rule for operators of the standard ONNX domain. Their outputs share no memory with inputs.
pub(super) const fn rule(kinds: &'static str, infer: fn(&Call) -> Facts) -> Rule {
    Rule { domain: "", kinds, infer, sizing: Sizing::Inferred, sharing: Sharing::Apart }
}

impl Rule {
    pub const fn of(self, domain: &'static str) -> Self {
        Self { domain, ..self }
    }

    /// Lets the first output overwrite one of the first `inputs` inputs.
    pub const fn over(self, inputs: usize) -> Self {
        Self { sharing: Sharing::Over(inputs), ..self }
    }

    /// Makes the first output a view of the first input.
    pub const fn view(self) -> Self {
        Self { sharing: Sharing::View, ..self }
    }

    /// Declares that extents of outputs may be upper bounds.
    pub const fn bounded(self) -> Self {
        Self { sizing: Sizing::Bounded, ..self }
    }

    pub const fn opaque(self) -> Self {
        Self { sizing: Sizing::Opaque, ..self }
    }
}

/// The argument of [`Rule::over`] that stands for any number of inputs.
pub(super) const ANY: usize = usize::MAX;
