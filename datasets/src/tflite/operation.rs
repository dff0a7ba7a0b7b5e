//! The view of an operator that its shape rule receives.

use super::reader::Options;
use super::schema::Field;
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, extents, show};
use crate::operators::{self, Attribute, Call, Facts, Share};

/// Facts about the outputs of an operator.
pub(super) struct Made {
    pub facts: Vec<Fact>,
    /// The data-dependent quantity, if the shapes are only upper bounds.
    pub bound: Option<&'static str>,
    /// Inputs and outputs that lie in each other, because their elements are consecutive.
    pub parts: Vec<Share>,
}

impl Made {
    pub(super) const fn at_most(facts: Vec<Fact>, why: &'static str) -> Self {
        Self { facts, bound: Some(why), parts: Vec::new() }
    }
}

impl From<Vec<Fact>> for Made {
    fn from(facts: Vec<Fact>) -> Self {
        Self { facts, bound: None, parts: Vec::new() }
    }
}

fn parted(call: &Call) -> Result<Made, Reason> {
    let made = Made::from(operators::infer(call)?);
    Ok(Made { parts: operators::parts(call, &made.facts), ..made })
}

/// An operator and the facts about its inputs.
pub(super) struct Operation<'c> {
    /// Kind, inputs, names and number of outputs. The attributes are in `options`.
    pub call: Call<'c>,
    /// False if the schema does not define the operator.
    pub builtin: bool,
    pub options: Options<'c>,
    pub custom: &'c [u8],
    /// Type of the first output.
    pub element: Option<Element>,
}

impl<'c> Operation<'c> {
    /// Applies an ONNX rule to some of the inputs.
    pub(super) fn onnx(&self, kind: &str, inputs: &[usize], attributes: Vec<(&str, Attribute<'_>)>) -> Facts {
        operators::infer(&self.chosen(kind, inputs, attributes))
    }

    /// Applies an ONNX rule to modified inputs.
    pub(super) fn onnx_of(
        &self,
        kind: &str,
        facts: &[Fact],
        attributes: Vec<(&str, Attribute<'_>)>,
    ) -> Facts {
        operators::infer(&self.modified(kind, facts, attributes))
    }

    /// Applies the ONNX rule for a slice or a split of an input, or for a concatenation of all inputs, and
    /// determines which tensors lie in each other.
    pub(super) fn onnx_parts(
        &self,
        kind: &str,
        inputs: &[usize],
        attributes: Vec<(&str, Attribute<'_>)>,
    ) -> Result<Made, Reason> {
        let mut made = parted(&self.chosen(kind, inputs, attributes))?;
        for part in &mut made.parts {
            if let Share::Part { input, .. } = part {
                *input = inputs[*input];
            }
        }
        Ok(made)
    }

    /// Does the same as [`Operation::onnx_parts`] for all inputs, which are modified.
    pub(super) fn onnx_parts_of(
        &self,
        kind: &str,
        facts: &[Fact],
        attributes: Vec<(&str, Attribute<'_>)>,
    ) -> Result<Made, Reason> {
        parted(&self.modified(kind, facts, attributes))
    }

    fn chosen<'a>(
        &'a self,
        kind: &'a str,
        inputs: &[usize],
        attributes: Vec<(&'a str, Attribute<'a>)>,
    ) -> Call<'a> {
        let facts = inputs.iter().map(|&at| self.call.input(at)).collect();
        let names = inputs.iter().map(|&at| self.call.names.get(at).copied().unwrap_or_default()).collect();
        let outputs = self.call.outputs;
        Call { domain: "", kind, attributes, inputs: facts, names, outputs, opset: OPSET }
    }

    fn modified<'a>(
        &'a self,
        kind: &'a str,
        facts: &'a [Fact],
        attributes: Vec<(&'a str, Attribute<'a>)>,
    ) -> Call<'a> {
        let (inputs, outputs) = (facts.iter().map(Some).collect(), self.call.outputs);
        let names = self.call.names.clone();
        Call { domain: "", kind, attributes, inputs, names, outputs, opset: OPSET }
    }

    pub(super) fn shape(&self, at: usize) -> Result<&'c [u64], Reason> {
        self.call.shape(at)
    }

    pub(super) fn ranked<const N: usize>(&self, at: usize) -> Result<&'c [u64; N], Reason> {
        let shape = self.shape(at)?;
        shape.try_into().map_err(|_| format!("shape {} does not have {N} dimensions", show(shape)).into())
    }

    /// Returns a fact with the type of the first output and the given shape.
    pub(super) fn fact(&self, shape: impl Into<Vec<u64>>) -> Fact {
        Fact::new(self.element, shape)
    }

    /// Returns the result for a single output with this shape.
    #[expect(clippy::unnecessary_wraps, reason = "rules end with it")]
    pub(super) fn one(&self, shape: impl Into<Vec<u64>>) -> Result<Made, Reason> {
        Ok(vec![self.fact(shape)].into())
    }

    /// Returns the values of an input as extents.
    pub(super) fn extents(&self, at: usize) -> Result<Vec<u64>, Reason> {
        extents(self.call.ints(at)?)
    }

    pub(super) fn int(&self, field: Field) -> i64 {
        self.options.int(field).into()
    }

    pub(super) fn all(&self) -> Vec<usize> {
        (0..self.call.inputs.len()).collect()
    }
}

/// The operator set version of the ONNX rules. In this version, former attributes are inputs, or the rules
/// accept both.
const OPSET: i64 = 18;

pub(super) fn int(name: &'static str, value: i64) -> (&'static str, Attribute<'static>) {
    (name, Attribute::Int(value))
}

pub(super) fn ints(name: &'static str, list: impl Into<Vec<i64>>) -> (&'static str, Attribute<'static>) {
    (name, Attribute::Ints(list.into().into()))
}
