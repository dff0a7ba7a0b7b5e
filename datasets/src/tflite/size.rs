//! Sizes of tensors in bytes.

use super::model::Info;
use super::schema::{ELEMENTS, Element};
use crate::import::{ImportOptions, ImportProblem};
use crate::operators::value::count;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    pub bytes: u64,
    pub element: Option<&'static str>,
    pub shape: Option<Vec<u64>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Unsized(String),
    Damaged(String),
}

/// Options that affect element types.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    element: Option<Element>,
}

impl Sizes {
    /// Checks the options.
    ///
    /// # Errors
    /// If the element type is unknown.
    pub(super) fn new(options: &ImportOptions) -> Result<Self, ImportProblem> {
        Ok(Self { element: options.element.as_deref().map(element).transpose()? })
    }

    /// Measures a tensor of this shape.
    pub(super) fn measure(&self, info: &Info, shape: Vec<u64>) -> Result<Measured, Trouble> {
        let unsized_ = |reason: String| Err(Trouble::Unsized(reason));
        let Some(&own) = usize::try_from(info.element).ok().and_then(|at| ELEMENTS.get(at)) else {
            return unsized_(format!("element type {} is not known", info.element));
        };
        let element = self.element.filter(|_| own.floating).unwrap_or(own);
        let packed = |element: Element| -> Option<u64> {
            let bytes = count(&shape)?.checked_mul(element.bits?)?.div_ceil(8);
            Some(bytes).filter(|&bytes| i64::try_from(bytes).is_ok())
        };
        let name = Some(element.name);
        if own.bits.is_none() {
            return match info.data {
                Some(data) => Ok(Measured { bytes: data.len() as u64, element: name, shape: Some(shape) }),
                None => unsized_(format!("elements of type {} have no fixed size", own.name)),
            };
        }
        let too_large =
            || Trouble::Damaged(format!("shape {shape:?} of {} takes 2^63 bytes or more", own.name));
        let dense = packed(own).ok_or_else(too_large)?;
        let data = info.data.map(|data| data.len() as u64);
        let bytes = match data {
            // The file contains the size of the stored data. Another element type scales it.
            Some(data) if info.sparse => {
                let (from, to) = (own.bits.unwrap_or(1), element.bits.unwrap_or(1));
                u64::try_from((u128::from(data) * u128::from(to)).div_ceil(u128::from(from)))
                    .unwrap_or(u64::MAX)
            }
            Some(data) if data != dense => {
                return Err(Trouble::Damaged(format!(
                    "shape {shape:?} of {} takes {dense} bytes, but its buffer has {data}",
                    own.name
                )));
            }
            _ => packed(element).ok_or_else(too_large)?,
        };
        Ok(Measured { bytes, element: name, shape: Some(shape) })
    }
}

fn element(name: &str) -> Result<Element, ImportProblem> {
    let known = || ELEMENTS.iter().filter(|element| element.bits.is_some());
    known().find(|element| element.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = known().map(|element| element.name).collect();
        let reason = format!("no such element type; the types are: {}", names.join(", "));
        ImportProblem::option(format!("--element {name}"), reason)
    })
}
