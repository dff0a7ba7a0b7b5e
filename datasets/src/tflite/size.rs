//! How many bytes a tensor takes, and what the options change about it.

use super::model::{Info, Model};
use super::schema::{ELEMENTS, Element};
use crate::import::{ImportError, ImportOptions};
use std::path::Path;

/// What a tensor takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    pub bytes: u64,
    pub element: Option<&'static str>,
    pub shape: Option<Vec<u64>>,
}

/// Why a tensor has no size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The file does not say it.
    Unsized(String),
    /// The file contradicts itself.
    Damaged(String),
}

/// Options, resolved against a model.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// What floating-point tensors become.
    element: Option<Element>,
    /// Batch of the file and batch wanted, where they differ.
    batch: Option<(u64, u64)>,
}

impl Sizes {
    /// Checks the options.
    ///
    /// # Errors
    /// [`ImportError::Option`].
    pub(super) fn new(origin: &Path, model: &Model, options: &ImportOptions) -> Result<Self, ImportError> {
        let refuse = |(option, reason)| ImportError::Option { path: origin.to_path_buf(), option, reason };
        let element = options.element.as_deref().map(element).transpose().map_err(refuse)?;
        if let Some((name, value)) = options.dims.first_key_value() {
            let reason = "TFLite files do not name dimensions; the batch alone can be set".to_owned();
            return Err(refuse((format!("--dim {name}={value}"), reason)));
        }
        let inputs = inputs(model);
        for (name, shape) in &options.input_shapes {
            let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
            let option = format!("--input-shape {name}={}", extents.join("x"));
            let Some((_, info)) = inputs.iter().find(|(_, info)| info.name == name.as_str()) else {
                let names: Vec<&str> = inputs.iter().map(|(_, info)| info.name.as_ref()).collect();
                return Err(refuse((option, format!("no such input; there are: {}", names.join(", ")))));
            };
            if !info.shape.iter().eq(shape.iter().map(|&extent| i32::try_from(extent).unwrap_or(-1))) {
                let reason = format!(
                    "the file fixes the shape of every tensor for {:?}; the batch alone can be set",
                    info.shape.iter().collect::<Vec<_>>()
                );
                return Err(refuse((option, reason)));
            }
        }
        let given: Vec<&Info> = inputs
            .iter()
            .map(|&(_, info)| info)
            .filter(|info| info.shape.len() > 0 && !options.input_shapes.contains_key(info.name.as_ref()))
            .collect();
        let batch = options.batch.map(|wanted| batch(wanted, &given)).transpose().map_err(refuse)?.flatten();
        Ok(Self { element, batch })
    }

    /// The batch of the file and the one wanted instead, if it is another.
    pub(super) const fn batch(&self) -> Option<(u64, u64)> {
        self.batch
    }

    /// True where a tensor's first dimension follows the batch.
    pub(super) fn scaled(&self, info: &Info) -> bool {
        self.batch.is_some() && info.held.is_none() && !info.variable && free_first(info)
    }

    /// What a tensor takes.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub(super) fn measure(&self, info: &Info) -> Result<Measured, Trouble> {
        let unsized_ = |reason: String| Err(Trouble::Unsized(reason));
        let Some(&own) = usize::try_from(info.element).ok().and_then(|at| ELEMENTS.get(at)) else {
            return unsized_(format!("element type {} is not known", info.element));
        };
        let element = self.element.filter(|_| own.floating).unwrap_or(own);
        let shape = self.shape(info)?;
        let packed = |element: Element| -> Option<u64> {
            // An extent of zero makes it empty, however large the others.
            let elements = if shape.contains(&0) {
                0
            } else {
                shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent))?
            };
            Some(elements.checked_mul(element.bits?)?.div_ceil(8))
                .filter(|&bytes| i64::try_from(bytes).is_ok())
        };
        let name = Some(element.name);
        if own.bits.is_none() {
            return match info.data {
                Some(bytes) => Ok(Measured { bytes, element: name, shape: Some(shape) }),
                None => unsized_(format!("elements of type {} have no fixed size", own.name)),
            };
        }
        let too_large = || Trouble::Damaged(format!("shape {shape:?} of {} leaves 63 bits", own.name));
        let dense = packed(own).ok_or_else(too_large)?;
        let bytes = match info.data {
            // The file says what is stored; another element type changes it in proportion.
            Some(data) if info.sparse => {
                let (from, to) = (own.bits.unwrap_or(1), element.bits.unwrap_or(1));
                u64::try_from((u128::from(data) * u128::from(to)).div_ceil(u128::from(from)))
                    .unwrap_or(u64::MAX)
            }
            Some(data) if data != dense => {
                return Err(Trouble::Damaged(format!(
                    "shape {shape:?} of {} takes {dense} bytes, but its buffer holds {data}",
                    own.name
                )));
            }
            _ => packed(element).ok_or_else(too_large)?,
        };
        Ok(Measured { bytes, element: name, shape: Some(shape) })
    }

    fn shape(&self, info: &Info) -> Result<Vec<u64>, Trouble> {
        let mut shape = Vec::with_capacity(info.shape.len());
        for (at, extent) in info.shape.iter().enumerate() {
            let Ok(extent) = u64::try_from(extent) else {
                return Err(Trouble::Unsized(format!("its dimension {at} is {extent}")));
            };
            shape.push(extent);
        }
        if let (Some((from, to)), Some(first)) = (self.batch, shape.first_mut())
            && self.scaled(info)
        {
            let whole = *first % from == 0;
            let scaled = (*first / from).checked_mul(to).filter(|_| whole);
            *first = scaled.ok_or_else(|| {
                Trouble::Unsized(format!(
                    "its first dimension of {first} is no multiple of the batch, {from}"
                ))
            })?;
        }
        Ok(shape)
    }
}

/// The inputs of the body that exist.
fn inputs<'m, 'a>(model: &'m Model<'a>) -> Vec<(usize, &'m Info<'a>)> {
    let body = &model.subgraphs[0];
    let known = |at: i32| {
        let at = usize::try_from(at).ok()?;
        Some((at, body.tensors.get(at)?))
    };
    body.inputs.iter().filter_map(known).collect()
}

/// True where the file leaves the first dimension free.
fn free_first(info: &Info) -> bool {
    info.signature.len() == info.shape.len() && info.signature.get(0) == Some(-1)
}

type Refusal = (String, String);

fn element(name: &str) -> Result<Element, Refusal> {
    let known = || ELEMENTS.iter().filter(|element| element.bits.is_some());
    known().find(|element| element.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = known().map(|element| element.name).collect();
        (format!("--element {name}"), format!("no such element type; there are: {}", names.join(", ")))
    })
}

/// The batch the inputs have in the file and the one wanted, if they differ.
fn batch(wanted: u64, inputs: &[&Info]) -> Result<Option<(u64, u64)>, Refusal> {
    let option = format!("--batch {wanted}");
    let first = |info: &Info| info.shape.get(0).and_then(|extent| u64::try_from(extent).ok()).unwrap_or(0);
    if wanted == 0 {
        return Err((option, "a batch has at least one".to_owned()));
    }
    let Some(&one) = inputs.first() else {
        return Err((option, "no input has a first dimension".to_owned()));
    };
    if inputs.iter().all(|&info| first(info) == wanted) {
        return Ok(None);
    }
    if let Some(other) = inputs.iter().find(|&&info| first(info) != first(one)) {
        let reason = format!(
            "inputs '{}' and '{}' have first dimensions of {} and {}; which is the batch is not said",
            one.name,
            other.name,
            first(one),
            first(other)
        );
        return Err((option, reason));
    }
    if let Some(fixed) = inputs.iter().find(|info| !free_first(info)) {
        let reason = format!(
            "input '{}' has a first dimension of {}, which the file does not mark as free (-1 in its signature)",
            fixed.name,
            first(fixed)
        );
        return Err((option, reason));
    }
    match first(one) {
        0 => Err((option, format!("input '{}' has a first dimension of 0", one.name))),
        from => Ok(Some((from, wanted))),
    }
}
