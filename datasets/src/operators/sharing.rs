//! Which outputs may share the memory of which inputs.

use super::Call;
use super::elementwise::trains;
use super::known::find;
use super::rules::Sharing;

/// How the first output may use an input's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// The same elements in the same order: nothing is computed.
    View(usize),
    /// Each element is made from the one in the same place, if shapes and bytes are equal.
    Over(usize),
}

/// Returns the sharing that the kind of an operator allows. The caller checks shapes and bytes.
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
