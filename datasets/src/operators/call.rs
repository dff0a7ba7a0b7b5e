//! An operator as its rule sees it.

use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, Value, misfit, show, unknown};
use std::borrow::Cow;

/// The result of a rule: facts about the outputs, in order.
pub type Facts = Result<Vec<Fact>, Reason>;

#[derive(Clone, Debug)]
pub enum Attribute<'a> {
    Int(i64),
    Text(&'a str),
    /// Integers; also an empty list of anything.
    Ints(Cow<'a, [i64]>),
    /// Floating-point numbers, also a single one.
    Floats(Cow<'a, [f32]>),
    /// A constant, or the reason why it cannot be read.
    Constant(Result<Fact, Reason>),
    /// The number of strings in a list.
    Texts(usize),
}

/// An operator in ONNX terms, and the facts about its inputs.
pub struct Call<'a> {
    /// What it is called in its domain.
    pub kind: &'a str,
    /// Its domain; empty for ONNX's own.
    pub domain: &'a str,
    pub attributes: Vec<(&'a str, Attribute<'a>)>,
    /// The inputs; `None` if one is absent.
    pub inputs: Vec<Option<&'a Fact>>,
    pub names: Vec<&'a str>,
    /// The number of outputs, absent ones among them.
    pub outputs: usize,
    pub opset: i64,
}

impl<'a> Call<'a> {
    pub fn input(&self, at: usize) -> Option<&'a Fact> {
        self.inputs.get(at).copied().flatten()
    }

    /// True where the extents of an input are upper bounds.
    pub fn bounded(&self) -> bool {
        self.inputs.iter().flatten().any(|fact| fact.bound)
    }

    /// True where the extents of that input are upper bounds.
    pub fn bound(&self, at: usize) -> bool {
        self.input(at).is_some_and(|fact| fact.bound)
    }

    pub fn shape(&self, at: usize) -> Result<&'a [u64], Reason> {
        let fact = self.input(at).ok_or_else(|| format!("input {at} is missing"))?;
        fact.shape
            .as_deref()
            .ok_or_else(|| Reason::unknown(format!("the shape of input {} is not known", self.name(at))))
    }

    /// The element type of an input, where known.
    pub fn element(&self, at: usize) -> Option<Element> {
        self.input(at).and_then(|fact| fact.element)
    }

    fn name(&self, at: usize) -> String {
        self.names.get(at).map_or_else(|| at.to_string(), |name| format!("'{name}'"))
    }

    /// The elements of an input, where it is a small constant.
    pub fn value(&self, at: usize) -> Option<&'a Value> {
        self.input(at).and_then(|fact| fact.value.as_deref())
    }

    /// The integers of an input, which must be a constant.
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

    /// The one integer of an input, which must be a constant.
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

    /// A list of integers; empty where it holds anything else.
    pub fn attr_ints(&self, name: &str) -> Option<&[i64]> {
        Some(match self.attribute(name)? {
            Attribute::Ints(list) => list,
            _ => &[],
        })
    }

    /// A list of floating-point numbers; empty where it holds anything else.
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

    /// How many numbers or texts a list has, by the first of these names that has any.
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

    /// A constant.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn attr_constant(&self, name: &str) -> Result<Option<&Fact>, Reason> {
        match self.attribute(name) {
            Some(Attribute::Constant(constant)) => constant.as_ref().map(Some).map_err(Clone::clone),
            _ => Ok(None),
        }
    }

    /// The element type an attribute names; 0 stands for none.
    pub fn attr_element(&self, name: &str) -> Result<Option<Element>, Reason> {
        // Before version 6, types were given by name.
        if let Some(text) = self.attr_text(name) {
            let element = Element::in_capitals(text);
            return element.map(Some).ok_or_else(|| format!("{name}={text} is not an element type").into());
        }
        let Some(code) = self.attr(name).filter(|&code| code != 0) else { return Ok(None) };
        let element = i32::try_from(code).ok().and_then(Element::of);
        element.map(Some).ok_or_else(|| format!("{name}={code} is not an element type").into())
    }

    /// Integers that older versions have as an attribute, newer ones as an input; none where neither is
    /// given.
    pub fn ints_or_attr(&self, at: usize, name: &str) -> Result<Option<Vec<i64>>, Reason> {
        if let Some(list) = self.attr_ints(name) {
            return Ok(Some(list.to_vec()));
        }
        if self.input(at).is_some() { self.ints(at).map(|list| Some(list.to_vec())) } else { Ok(None) }
    }
}

/// An axis counted from the end where negative, as a position below `rank`.
pub fn axis(axis: i64, rank: usize) -> Result<usize, Reason> {
    let from_end = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    from_end
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|&axis| axis < rank)
        .ok_or_else(|| format!("axis {axis} does not fit {rank} dimensions").into())
}

/// Axes as flags, one per dimension.
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
        .ok_or_else(|| format!("{} elements are more than 2^63", show(shape)).into())
}

/// Returns the broadcast shape of two shapes: from the last dimension on, extents are equal or one of them is
/// 1. Of bounds that are neither, the larger is a bound of the result.
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

/// The rank must be at least `least`.
pub fn ranked(shape: &[u64], least: usize) -> Result<&[u64], Reason> {
    if shape.len() < least {
        return misfit(format!("shape {} has fewer than {least} dimensions", show(shape)));
    }
    Ok(shape)
}
