//! The view of an operator that its sizing rule receives.

use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, Value, misfit, show, unknown};
use std::borrow::Cow;

/// The result of a rule: one fact per output, in order.
pub type Facts = Result<Vec<Fact>, Reason>;

#[derive(Clone, Debug)]
pub enum Attribute<'a> {
    Int(i64),
    Text(&'a str),
    /// A list of integers, or an empty list of any type.
    Ints(Cow<'a, [i64]>),
    /// One or more floating-point numbers.
    Floats(Cow<'a, [f32]>),
    /// A constant, or the reason why it cannot be read.
    Constant(Result<Fact, Reason>),
    /// The number of strings in a list.
    Texts(usize),
}

/// An operator in ONNX terms, and the facts about its inputs.
pub struct Call<'a> {
    /// Type of the operator, as spelled in its domain.
    pub kind: &'a str,
    /// Domain of the operator; empty for the standard ONNX domain.
    pub domain: &'a str,
    pub attributes: Vec<(&'a str, Attribute<'a>)>,
    /// The inputs; `None` for an absent input.
    pub inputs: Vec<Option<&'a Fact>>,
    pub names: Vec<&'a str>,
    /// The number of outputs, including absent ones.
    pub outputs: usize,
    pub opset: i64,
}

impl<'a> Call<'a> {
    pub fn input(&self, at: usize) -> Option<&'a Fact> {
        self.inputs.get(at).copied().flatten()
    }

    /// Returns true if the extents of any input are upper bounds.
    pub fn bounded(&self) -> bool {
        self.inputs.iter().flatten().any(|fact| fact.bound)
    }

    /// Returns true if the extents of input `at` are upper bounds.
    pub fn bound(&self, at: usize) -> bool {
        self.input(at).is_some_and(|fact| fact.bound)
    }

    pub fn shape(&self, at: usize) -> Result<&'a [u64], Reason> {
        let fact = self.input(at).ok_or_else(|| format!("input {at} is missing"))?;
        fact.shape
            .as_deref()
            .ok_or_else(|| Reason::unknown(format!("the shape of input {} is not known", self.name(at))))
    }

    /// Returns the element type of input `at`, if it is known.
    pub fn element(&self, at: usize) -> Option<Element> {
        self.input(at).and_then(|fact| fact.element)
    }

    fn name(&self, at: usize) -> String {
        self.names.get(at).map_or_else(|| at.to_string(), |name| format!("'{name}'"))
    }

    /// Returns the elements of input `at`, if it is a small constant.
    pub fn value(&self, at: usize) -> Option<&'a Value> {
        self.input(at).and_then(|fact| fact.value.as_deref())
    }

    /// Returns the integers of input `at`, which must be a constant.
    pub fn ints(&self, at: usize) -> Result<&'a [i64], Reason> {
        match self.value(at) {
            Some(Value::Ints(list)) => Ok(list),
            Some(Value::Floats(_)) => misfit(format!("input {} contains no integers", self.name(at))),
            None if self.input(at).is_none() => misfit(format!("input {at} is missing")),
            // An empty input is fully known.
            None if self.input(at).and_then(|fact| fact.shape.as_deref()) == Some(&[0]) => Ok(&[]),
            None => unknown(format!(
                "it depends on the values of input {}, which is not a small constant",
                self.name(at)
            )),
        }
    }

    /// Returns the first integer of input `at`, which must be a constant.
    pub fn int(&self, at: usize) -> Result<i64, Reason> {
        self.ints(at)?.first().copied().ok_or_else(|| format!("input {} is empty", self.name(at)).into())
    }

    fn attribute(&self, wanted: &str) -> Option<&Attribute<'a>> {
        self.attributes.iter().find(|(name, _)| *name == wanted).map(|(_, attribute)| attribute)
    }

    pub fn attr(&self, name: &str) -> Option<i64> {
        match self.attribute(name)? {
            Attribute::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns an attribute that is a list of integers. An attribute of another type counts as an empty list.
    pub fn attr_ints(&self, name: &str) -> Option<&[i64]> {
        Some(match self.attribute(name)? {
            Attribute::Ints(list) => list,
            _ => &[],
        })
    }

    /// Returns an attribute that is a list of floating-point numbers. An attribute of another type counts as
    /// an empty list.
    pub fn attr_floats(&self, name: &str) -> Option<&[f32]> {
        Some(match self.attribute(name)? {
            Attribute::Floats(list) => list,
            _ => &[],
        })
    }

    pub fn attr_text(&self, name: &str) -> Option<&'a str> {
        match self.attribute(name)? {
            Attribute::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the length of the first nonempty list attribute among `names`.
    pub fn attr_count(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            let count = match self.attribute(name)? {
                Attribute::Texts(count) => *count,
                Attribute::Ints(list) => list.len(),
                Attribute::Floats(list) => list.len(),
                Attribute::Constant(Ok(fact)) => product(fact.shape.as_deref()?).ok()? as usize,
                _ => 0,
            };
            Some(count).filter(|&count| count > 0)
        })
    }

    /// Returns an attribute that is a constant, if it is present.
    ///
    /// # Errors
    /// The reason why the constant cannot be read.
    pub fn attr_constant(&self, name: &str) -> Result<Option<&Fact>, Reason> {
        match self.attribute(name) {
            Some(Attribute::Constant(constant)) => constant.as_ref().map(Some).map_err(Clone::clone),
            _ => Ok(None),
        }
    }

    /// Returns the element type that an attribute specifies. The value 0 stands for no type.
    pub fn attr_element(&self, name: &str) -> Result<Option<Element>, Reason> {
        // Before version 6, attributes contained the name of the type.
        if let Some(text) = self.attr_text(name) {
            let element = Element::in_capitals(text);
            return element.map(Some).ok_or_else(|| format!("{name}={text} is not an element type").into());
        }
        let Some(code) = self.attr(name).filter(|&code| code != 0) else { return Ok(None) };
        let element = i32::try_from(code).ok().and_then(Element::of);
        element.map(Some).ok_or_else(|| format!("{name}={code} is not an element type").into())
    }

    /// Returns integers that are an attribute in older versions of an operator and an input in newer ones.
    /// Returns `None` if neither is present.
    pub fn ints_or_attr(&self, at: usize, name: &str) -> Result<Option<Vec<i64>>, Reason> {
        if let Some(list) = self.attr_ints(name) {
            return Ok(Some(list.to_vec()));
        }
        if self.input(at).is_some() { self.ints(at).map(|list| Some(list.to_vec())) } else { Ok(None) }
    }
}

/// Converts an axis to a position below `rank`. A negative axis counts from the end.
pub fn axis(axis: i64, rank: usize) -> Result<usize, Reason> {
    let from_end = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    from_end
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|&axis| axis < rank)
        .ok_or_else(|| format!("axis {axis} does not fit {rank} dimensions").into())
}

/// Converts a list of axes to one flag per dimension.
pub fn axes(list: &[i64], rank: usize) -> Result<Vec<bool>, Reason> {
    let mut flags = vec![false; rank];
    for &one in list {
        flags[axis(one, rank)?] = true;
    }
    Ok(flags)
}

pub fn extent(value: i128, what: &str) -> Result<u64, Reason> {
    u64::try_from(value)
        .ok()
        .filter(|&extent| i64::try_from(extent).is_ok())
        .ok_or_else(|| format!("{what} would be {value}").into())
}

pub fn product(shape: &[u64]) -> Result<u64, Reason> {
    crate::operators::value::count(shape)
        .filter(|&count| i64::try_from(count).is_ok())
        .ok_or_else(|| format!("{} elements are more than 2^63 - 1", show(shape)).into())
}

/// Returns the shape that results from broadcasting two shapes, which are aligned at their last dimensions.
/// Two aligned extents must be equal, or one of them must be 1. If extents are upper bounds and neither
/// condition holds, the larger extent is an upper bound on the result.
pub fn broadcast(call: &Call, a: &[u64], b: &[u64]) -> Result<Vec<u64>, Reason> {
    let bounded = call.bounded();
    let rank = a.len().max(b.len());
    let at = |shape: &[u64], i: usize| (i + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    let extent = |i: usize| match (at(a, i), at(b, i)) {
        (x, y) if x == y || y == 1 => Ok(x),
        (1, y) => Ok(y),
        (x, y) if bounded => Ok(x.max(y)),
        _ => misfit(format!("shapes {} and {} do not fit together", show(a), show(b))),
    };
    (0..rank).map(extent).collect()
}

/// Returns `shape` if it has at least `least` dimensions, and an error otherwise.
pub fn ranked(shape: &[u64], least: usize) -> Result<&[u64], Reason> {
    if shape.len() < least {
        return misfit(format!("shape {} has fewer than {least} dimensions", show(shape)));
    }
    Ok(shape)
}
