//! Determines which inputs may share their memory with the first output of an operator.

use super::Call;
use super::elementwise::trains;
use super::known::find;
use super::rules::Sharing;

/// The way in which the first output may use the memory of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// A view of this input: the elements and their order are the same, and nothing is computed.
    View(usize),
    /// The output may overwrite this input if shapes and sizes are equal. Each output element depends only
    /// on the input element at the same position.
    Over(usize),
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
