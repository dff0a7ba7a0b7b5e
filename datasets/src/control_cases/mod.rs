//! Small graphs with control flow for which some memory planners produce wrong or wasteful plans.
//!
//! [`ControlCase::optimum`] is the minimum arena over all layouts, with the operators in file order. Two
//! tensors must not share a byte if both are live at the same point of the program.
//!
//! Every operator is a point of the program. An operator that owns regions has one point at its entry and one
//! at its exit, and each region has one at its start and one at its end. At an operator, its inputs and
//! outputs are live. Inputs of a region are written when it begins. Its results are copied when it has ended.
//! Inputs of the graph are live from the start to their last use, and outputs from their production to the
//! end. Branches exclude each other: a tensor whose last use is in one branch is dead in the others from
//! their beginning.
//!
//! [`ControlCase::merged`] is the minimum arena if every operator that owns regions gets a contiguous block.
//! Each region is planned on its own. The block has the size of the largest region. It is allocated while the
//! operator runs, together with all inputs and outputs of the operator. All regions and the whole program are
//! planned optimally.

#[cfg(test)]
mod check;
mod field;
mod merging;
mod sketch;

use plimsoll_model::Bytes;
use plimsoll_model::graph::Graph;

/// A small graph with control flow and its known results.
#[derive(Clone, Copy, Debug)]
pub struct ControlCase {
    /// The name of the case and of its graph.
    pub name: &'static str,
    /// The planning error that the case reveals.
    pub about: &'static str,
    /// The origin of the case.
    pub source: &'static str,
    /// Builds the graph.
    pub build: fn() -> Graph,
    /// The minimum arena in bytes, if known.
    pub optimum: Option<Bytes>,
    /// The minimum arena in bytes with one block per operator that owns regions, if known.
    pub merged: Option<Bytes>,
}

impl ControlCase {
    /// Returns the case with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CONTROL_CASES.iter().find(|case| case.name == name)
    }
}

const fn case(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    build: fn() -> Graph,
    (optimum, merged): (u64, u64),
) -> ControlCase {
    let (optimum, merged) = (Some(Bytes::new(optimum)), Some(Bytes::new(merged)));
    ControlCase { name, about, source, build, optimum, merged }
}

/// All cases.
pub const CONTROL_CASES: &[ControlCase] = &[
    case(
        "cond-then-cond",
        "the next conditional overwrites a result that lies in the memory of its branch and is still needed",
        "ExecuTorch issue 21490: two conditionals in a row",
        field::cond_then_cond,
        (25, 33),
    ),
    case(
        "cond-in-cond",
        "a nested branch planned from offset 0 overwrites tensors that the enclosing branch still needs",
        "ExecuTorch issue 21490: a conditional inside the second one",
        field::cond_in_cond,
        (32, 42),
    ),
    case(
        "copies-into-branch",
        "the tensors of a branch overlap those of its conditional: a copied argument overwrites later ones",
        "TensorFlow Lite Micro pull request 853: IF and its branches planned separately",
        field::copies_into_branch,
        (16, 25),
    ),
    case(
        "empty-branch",
        "a branch without operators passes its argument on; no operator uses this argument, so it gets no lifespan",
        "TensorFlow Lite Micro pull request 1575",
        field::empty_branch,
        (16, 25),
    ),
    ControlCase {
        name: "idle-argument",
        about: "a loop copies an argument of its condition even if the condition never reads it",
        source: "TensorFlow Lite Micro pull request 1194: a loop carries a value that its condition does not read",
        build: field::idle_argument,
        optimum: Some(Bytes::new(152)),
        // The body needs the inputs of the condition, so the two cannot be planned separately.
        merged: None,
    },
    case(
        "both-branches-summed",
        "both branches of a conditional get memory, although only one of them runs",
        "onnxsim pull request 1094: every body of an operator gets its own memory",
        field::both_branches_summed,
        (500, 701),
    ),
    case(
        "if-three-deep",
        "a buffer freed in the innermost branch is held to the end of the outermost conditional",
        "LLVM pull requests 213634 and 216610: static memory planning of scf.if, nested three deep",
        field::if_three_deep,
        (83, 211),
    ),
    case(
        "two-branches-in-a-row",
        "two conditionals in a row, B or C and then E or F: without merging, all four are simultaneously live",
        "the graph of figures 1 and 2 of the LUNA paper (Wang, Shen, Jing, Lyu), with sizes chosen for this project",
        field::two_branches_in_a_row,
        (20, 25),
    ),
    case(
        "block-fills-no-holes",
        "two one-byte tensors of a branch fit into two holes; a block of two bytes fits into neither",
        "this project: a block must be contiguous",
        merging::block_fills_no_holes,
        (5, 6),
    ),
    case(
        "block-beside-its-input",
        "a branch may overwrite a tensor after its last use; a block may not overlap any input of its branches",
        "this project: a block is live during the whole conditional",
        merging::block_beside_its_input,
        (8, 17),
    ),
    case(
        "block-behind-sequence",
        "running both branches sequentially, without exclusion, needs less memory than merging them into a block",
        "this project: a tensor is dead after the branch that reads it last",
        merging::block_behind_sequence,
        (8, 17),
    ),
];
