//! Facts about tensors during shape inference, and operations on small constants.

use super::element::Element;
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    pub text: String,
    /// True if the operator cannot run on its inputs. False if the missing facts may still become known.
    pub misfit: bool,
    /// True if the fact depends on the number of iterations of a loop, which is not known.
    pub iterations: bool,
}

impl Reason {
    pub fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), misfit: false, iterations: false }
    }
}

impl<T: Into<String>> From<T> for Reason {
    fn from(text: T) -> Self {
        Self { text: text.into(), misfit: true, iterations: false }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

pub fn misfit<T>(text: impl Into<Reason>) -> Result<T, Reason> {
    Err(text.into())
}

pub fn unknown<T>(text: impl Into<String>) -> Result<T, Reason> {
    Err(Reason::unknown(text))
}

/// The maximum number of elements of a tracked constant. Shapes, axes and scales have few elements.
pub const FOLD_LIMIT: u64 = 4096;

/// Maximum total number of elements of all tracked constants. Once it is exceeded, no further constants are
/// tracked.
pub const FOLD_TOTAL: u64 = 1 << 24;

/// The maximum number of dimensions of a shape.
pub const RANK_LIMIT: usize = 64;

/// The elements of a small constant, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Integers; Boolean values are 0 and 1.
    Ints(Vec<i64>),
    Floats(Vec<f64>),
}

impl Value {
    /// Reads little-endian elements. Returns `None` for types that are not used to compute shapes, and if
    /// an integer does not fit into `i64`.
    pub fn read(raw: &[u8], element: Element) -> Option<Self> {
        macro_rules! read {
            ($type:ty, $kind:ident, $to:ty) => {
                Self::$kind(
                    raw.as_chunks::<{ size_of::<$type>() }>()
                        .0
                        .iter()
                        .map(|chunk| <$to>::try_from(<$type>::from_le_bytes(*chunk)).ok())
                        .collect::<Option<_>>()?,
                )
            };
        }
        Some(match element.name {
            "float32" => read!(f32, Floats, f64),
            "float64" => read!(f64, Floats, f64),
            "int64" => read!(i64, Ints, i64),
            "int32" => read!(i32, Ints, i64),
            "int16" => read!(i16, Ints, i64),
            "int8" => read!(i8, Ints, i64),
            "uint64" => read!(u64, Ints, i64),
            "uint32" => read!(u32, Ints, i64),
            "uint16" => read!(u16, Ints, i64),
            "uint8" | "bool" => read!(u8, Ints, i64),
            _ => return None,
        })
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Ints(list) => list.len(),
            Self::Floats(list) => list.len(),
        }
    }

    /// Returns the elements at these positions, all of which must exist.
    pub fn pick(&self, at: &[usize]) -> Self {
        match self {
            Self::Ints(list) => Self::Ints(at.iter().map(|&i| list[i]).collect()),
            Self::Floats(list) => Self::Floats(at.iter().map(|&i| list[i]).collect()),
        }
    }

    pub fn floats(&self) -> Vec<f64> {
        match self {
            Self::Ints(list) => list.iter().map(|&i| i as f64).collect(),
            Self::Floats(list) => list.clone(),
        }
    }

    /// Converts the value to the precision of the given type. Shapes can depend on this precision: with
    /// `float32`, ten times 0.7 is 7. Returns `None` if integers are out of range.
    fn held_as(self, element: Option<Element>) -> Option<Self> {
        match (self, element) {
            (Self::Floats(list), Some(Element::FLOAT32)) => {
                Some(Self::Floats(list.into_iter().map(|f| f64::from(f as f32)).collect()))
            }
            (Self::Ints(list), Some(element)) if element.is_integer() => {
                let range = element.range()?;
                list.iter().all(|&i| range.contains(&i128::from(i))).then_some(Self::Ints(list))
            }
            (value, _) => Some(value),
        }
    }

    /// Concatenates values. Returns `None` if some are integers and others floating-point numbers.
    pub fn chain(parts: &[&Self]) -> Option<Self> {
        let ints = parts.iter().map(|part| match part {
            Self::Ints(list) => Some(list.as_slice()),
            Self::Floats(_) => None,
        });
        if let Some(lists) = ints.collect::<Option<Vec<_>>>() {
            return Some(Self::Ints(lists.concat()));
        }
        let floats = parts.iter().map(|part| match part {
            Self::Floats(list) => Some(list.as_slice()),
            Self::Ints(_) => None,
        });
        floats.collect::<Option<Vec<_>>>().map(|lists| Self::Floats(lists.concat()))
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fact {
    pub element: Option<Element>,
    pub shape: Option<Vec<u64>>,
    /// The elements of a small constant.
    pub value: Option<Rc<Value>>,
    /// Size in bytes, if it does not follow from the type and the shape.
    pub bytes: Option<u64>,
    /// Whether the extents are upper bounds because the actual size depends on data.
    pub bound: bool,
    /// The tensors of a sequence.
    pub items: Option<Rc<[Rc<Fact>]>>,
}

impl Fact {
    pub fn new(element: Option<Element>, shape: impl Into<Vec<u64>>) -> Self {
        Self { element, shape: Some(shape.into()), ..Self::default() }
    }

    /// Returns the fact with `value` as the values of its elements. The values are dropped if there are
    /// more than [`FOLD_LIMIT`], or if they do not match the shape and the type.
    pub fn with(mut self, value: Option<Value>) -> Self {
        let count = self.shape.as_deref().and_then(count);
        self.value = value
            .filter(|v| Some(v.len() as u64) == count && v.len() as u64 <= FOLD_LIMIT)
            .and_then(|value| value.held_as(self.element))
            .map(Rc::new);
        self
    }

    pub fn sequence(items: impl Into<Rc<[Rc<Self>]>>) -> Self {
        let items = items.into();
        Self { bound: items.iter().any(|item| item.bound), items: Some(items), ..Self::default() }
    }

    /// Returns true if both facts have the same shape, or are about sequences of the same tensors.
    pub fn is_alike(&self, other: &Self) -> bool {
        self.shape == other.shape && self.items == other.items
    }

    /// Returns the fact without the values of its elements, and with its extents marked as upper bounds.
    pub fn bounded(self) -> Self {
        Self { bound: true, ..self.variable() }
    }

    /// Returns the fact without the values of its elements, for a tensor that changes from run to run.
    pub fn variable(mut self) -> Self {
        self.value = None;
        self
    }

    /// Returns the size in bytes. If `float` is given, it replaces every floating-point type. Elements
    /// smaller than a byte are packed, and the last byte is padded.
    ///
    /// # Errors
    /// If the size is unknown, or if it is 2^63 bytes or more.
    pub fn size(&self, float: Option<Element>) -> Result<u64, Reason> {
        if let Some(bytes) = self.bytes {
            return Ok(bytes);
        }
        if let Some(items) = &self.items {
            return items.iter().try_fold(0u64, |sum, item| {
                let sum = sum.checked_add(item.size(float)?).filter(|&sum| i64::try_from(sum).is_ok());
                sum.ok_or_else(|| "its tensors have more than 2^63 - 1 bytes".into())
            });
        }
        let shape = self.shape.as_deref().ok_or_else(|| Reason::unknown("its shape is not known"))?;
        let element = self.element.ok_or_else(|| Reason::unknown("its element type is not known"))?;
        let element = effective(element, float);
        let bits =
            element.bits.ok_or_else(|| format!("elements of type {} have no fixed size", element.name))?;
        let held = count(shape).map(|count| (u128::from(count) * u128::from(bits)).div_ceil(8));
        held.and_then(|bytes| i64::try_from(bytes).ok()).map(i64::cast_unsigned).ok_or_else(|| {
            format!("{} elements of type {} occupy more than 2^63 - 1 bytes", show(shape), element.name)
                .into()
        })
    }
}

/// Returns the element type that determines the size of a tensor: `float`, if given, for floating-point
/// types, and `element` for all others.
pub fn effective(element: Element, float: Option<Element>) -> Element {
    float.filter(|_| element.float).unwrap_or(element)
}

/// Returns the number of elements, or `None` on overflow.
pub fn count(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent))
}

/// Formats a shape, as in `1x3x224x224`.
pub fn show(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    extents.join("x")
}

/// Converts extents to unsigned integers. Negative extents are an error.
pub fn extents(dims: &[i64]) -> Result<Vec<u64>, Reason> {
    if dims.len() > RANK_LIMIT {
        return misfit(format!("{} dimensions exceed the limit of {RANK_LIMIT}", dims.len()));
    }
    dims.iter()
        .map(|&dim| u64::try_from(dim).map_err(|_| format!("extent {dim} is negative").into()))
        .collect()
}

/// Returns the stride of every dimension, in elements. The result is only meaningful for small shapes without
/// an extent of 0.
pub fn strides(shape: &[u64]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at].wrapping_mul(shape[at] as usize);
    }
    strides
}

/// Returns the sum of `offset(dimension, index)` over the dimensions, for every element of `shape` in order.
/// Returns `None` for more than [`FOLD_LIMIT`] elements.
pub fn gather_positions(shape: &[u64], offset: impl Fn(usize, usize) -> usize) -> Option<Vec<usize>> {
    let total = count(shape).filter(|&count| count <= FOLD_LIMIT)? as usize;
    let strides = strides(shape);
    let position = |flat: usize| {
        let indices = strides.iter().zip(shape).map(|(&stride, &extent)| flat / stride % extent as usize);
        indices.enumerate().map(|(dimension, index)| offset(dimension, index)).sum()
    };
    Some((0..total).map(position).collect())
}
