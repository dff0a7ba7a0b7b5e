//! Determines which inputs may share their memory with outputs of an operator.

use super::Call;
use super::elementwise::trains;
use super::known::find;
use super::movement::selection;
use super::rules::Sharing;
use super::{axis, value::Fact};
use crate::operators::value::{count, strides};

/// The way in which an output may use the memory of an input: the first output, unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// A view of this input: the elements and their order are the same, and nothing is computed.
    View(usize),
    /// The output may overwrite this input if shapes and sizes are equal. Each output element depends only
    /// on the input element at the same position.
    Over(usize),
    /// The smaller one of an input and an output is a part of the larger one.
    Part {
        /// The position of the input.
        input: usize,
        /// The position of the output.
        output: usize,
        /// The element of the larger tensor at which the smaller one begins.
        first: u64,
    },
}

/// Returns the sharing that the kind of an operator allows. The caller must check that shapes and sizes are
/// equal.
pub fn shares(call: &Call) -> Vec<Share> {
    match (call.domain, call.kind) {
        ("", "Dropout") => return vec![if trains(call) { Share::Over(0) } else { Share::View(0) }],
        ("", "BatchNormalization") if call.attr("training_mode").unwrap_or(0) == 0 => {
            return vec![Share::Over(0)];
        }
        _ => {}
    }
    match find(call.domain, call.kind).map_or(Sharing::Apart, |rule| rule.sharing) {
        Sharing::Apart => Vec::new(),
        Sharing::View => vec![Share::View(0)],
        Sharing::Over(inputs) => (0..inputs.min(call.inputs.len())).map(Share::Over).collect(),
    }
}

/// Returns the inputs and outputs of `Concat`, `Split` and `Slice` that lie in each other, because their
/// elements are consecutive. `outputs` are the inferred facts.
pub fn parts(call: &Call, outputs: &[Fact]) -> Vec<Share> {
    let exact = call.domain.is_empty() && !call.bounded() && outputs.iter().all(|fact| !fact.bound);
    let found = match call.kind {
        "Concat" if exact => concatenated(call),
        "Split" if exact => divided(call, outputs),
        "Slice" if exact => sliced(call, outputs),
        _ => None,
    };
    found.unwrap_or_default()
}

/// Returns the byte at which the smaller of two tensors begins in the larger one, from the position `first`
/// of its first element. `tensors` are the sizes in bytes and the shapes. Returns `None` if the smaller one
/// is empty or does not lie in the larger one.
pub fn offset_of(first: u64, tensors: [(u64, &[u64]); 2]) -> Option<u64> {
    let [one, other] = tensors;
    let (part, whole) = if one.0 < other.0 { (one, other) } else { (other, one) };
    let elements = count(whole.1)?;
    let size = whole.0.checked_div(elements).filter(|size| size.checked_mul(elements) == Some(whole.0))?;
    let offset = first.checked_mul(size)?;
    Some(offset).filter(|offset| part.0 > 0 && offset.checked_add(part.0).is_some_and(|end| end <= whole.0))
}

/// Returns true if tensors that are adjacent along a dimension are consecutive in memory.
fn is_outermost(shape: &[u64], at: usize) -> bool {
    shape[..at].iter().all(|&extent| extent == 1)
}

fn concatenated(call: &Call) -> Option<Vec<Share>> {
    let shape = call.shape(0).ok()?;
    let at = axis(call.attr("axis").unwrap_or(1), shape.len()).ok()?;
    if !is_outermost(shape, at) {
        return None;
    }
    let counts = (0..call.inputs.len()).map(|input| count(call.shape(input).ok()?));
    in_sequence(counts, |input, first| Share::Part { input, output: 0, first })
}

fn divided(call: &Call, outputs: &[Fact]) -> Option<Vec<Share>> {
    let shape = call.shape(0).ok()?;
    let at = axis(call.attr("axis").unwrap_or(0), shape.len()).ok()?;
    if !is_outermost(shape, at) {
        return None;
    }
    let counts = outputs.iter().map(|fact| count(fact.shape.as_deref()?));
    in_sequence(counts, |output, first| Share::Part { input: 0, output, first })
}

/// Returns parts that follow each other. `counts` are their numbers of elements. `part` creates a part from
/// its position and its first element.
fn in_sequence(
    counts: impl Iterator<Item = Option<u64>>,
    part: impl Fn(usize, u64) -> Share,
) -> Option<Vec<Share>> {
    let (mut parts, mut first) = (Vec::new(), 0u64);
    for (at, count) in counts.enumerate() {
        parts.push(part(at, first));
        first = first.checked_add(count?)?;
    }
    Some(parts)
}

fn sliced(call: &Call, outputs: &[Fact]) -> Option<Vec<Share>> {
    let (shape, ranges) = selection(call).ok()??;
    let first = first_of(call.shape(0).ok()?, &shape, &ranges).filter(|_| outputs.len() == 1)?;
    Some(vec![Share::Part { input: 0, output: 0, first }])
}

/// Returns the first element of a selection if its elements are consecutive. `from` is the shape of the data.
/// `shape` has the numbers of selected indices, and `ranges` the first index and the step, per dimension.
pub fn first_of(from: &[u64], shape: &[u64], ranges: &[(i128, i128)]) -> Option<u64> {
    if shape.contains(&0) {
        return None;
    }
    // Inside the first dimension with several selected indices, all elements must be selected.
    let widest = shape.iter().position(|&extent| extent > 1).unwrap_or(shape.len());
    let is_whole = |at: usize| ranges[at] == (0, 1) && shape[at] == from[at];
    let consecutive = (widest + 1..shape.len()).all(is_whole);
    if !consecutive || widest < shape.len() && ranges[widest].1 != 1 {
        return None;
    }
    let starts = ranges.iter().zip(strides(from)).map(|(range, stride)| range.0 as u64 * stride as u64);
    Some(starts.sum())
}
