//! Rows of the operator tables: the sizing rule, and how the first output may share memory.

use super::call::{Call, Facts};

/// The precision of the sizes of an operator's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizing {
    /// Sizes follow from shapes, attributes and constant inputs.
    Inferred,
    /// Some extents depend on data. Unless the data are constant, an upper bound applies.
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

/// The inputs that the first output may overwrite, or is a view of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// None.
    Apart,
    /// A view of the first input.
    View,
    /// Over one of this number of leading inputs.
    Over(usize),
}

/// A rule, and the operators of one domain that follow it.
pub(super) struct Rule {
    /// Their domain; empty for ONNX's own.
    pub domain: &'static str,
    /// Their names, with spaces between them.
    pub kinds: &'static str,
    pub infer: fn(&Call) -> Facts,
    pub sizing: Sizing,
    pub sharing: Sharing,
}

/// A rule for operators of ONNX's own domain whose outputs have memory of their own.
pub(super) const fn rule(kinds: &'static str, infer: fn(&Call) -> Facts) -> Rule {
    Rule { domain: "", kinds, infer, sizing: Sizing::Inferred, sharing: Sharing::Apart }
}

impl Rule {
    pub const fn of(self, domain: &'static str) -> Self {
        Self { domain, ..self }
    }

    /// The first output may take the place of one of the first `inputs`.
    pub const fn over(self, inputs: usize) -> Self {
        Self { sharing: Sharing::Over(inputs), ..self }
    }

    /// The first output is a view of the first input.
    pub const fn view(self) -> Self {
        Self { sharing: Sharing::View, ..self }
    }

    /// Extents may be upper bounds.
    pub const fn bounded(self) -> Self {
        Self { sizing: Sizing::Bounded, ..self }
    }

    pub const fn opaque(self) -> Self {
        Self { sizing: Sizing::Opaque, ..self }
    }
}

/// Any number of inputs.
pub(super) const ANY: usize = usize::MAX;
