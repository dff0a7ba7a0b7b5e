//! Small graphs with control flow on which planners of memory have gone wrong, or fall short.
//!
//! [`ControlCase::optimum`] is the least arena over all layouts, operators in the order of the file. Two tensors may not
//! share a byte if both are alive at some point of the program. The points are the operators; an operator
//! that owns regions has one where it is entered and one where it is left, and each region one where it
//! begins and one where it has ended. At an operator everything it reads and makes is alive. What a region is
//! given is written when it begins, what it returns is copied when it has ended. Inputs are alive from the
//! start to their last use, outputs from their making to the end. Branches exclude each other: what is used
//! last in one of them is dead in the others from their beginning.
//!
//! [`ControlCase::merged`] is what is left of that where the regions of an operator are planned on their own, and held as one
//! contiguous block, as large as the largest, while the operator runs, beside everything it reads and makes
//! at its best: every region and the whole planned without loss.

#[cfg(test)]
mod check;
mod field;
mod merging;
mod sketch;

use plimsoll_model::Bytes;
use plimsoll_model::graph::Graph;

/// A small graph with control flow, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct ControlCase {
    /// What it is called; also the name of the graph.
    pub name: &'static str,
    /// What it shows: where a careless planner goes wrong.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Makes it.
    pub build: fn() -> Graph,
    /// Bytes of the least arena, where worked out.
    pub optimum: Option<Bytes>,
    /// Bytes of the least arena with one block per operator that owns regions, where worked out.
    pub merged: Option<Bytes>,
}

impl ControlCase {
    /// The case of this name.
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

/// Every case.
pub const CONTROL_CASES: &[ControlCase] = &[
    case(
        "cond-then-cond",
        "a result left in its branch's memory is overwritten by the next conditional while still needed",
        "ExecuTorch issue 21490: two conditionals in a row",
        field::cond_then_cond,
        (25, 33),
    ),
    case(
        "cond-in-cond",
        "a nested branch planned from offset 0 overwrites what the branch around it still needs",
        "ExecuTorch issue 21490: a conditional inside the second one",
        field::cond_in_cond,
        (32, 42),
    ),
    case(
        "copies-into-branch",
        "a branch's tensors laid over those of its conditional: copying arguments in overwrites later ones",
        "TensorFlow Lite Micro pull request 853: IF and its branches planned apart",
        field::copies_into_branch,
        (16, 25),
    ),
    case(
        "empty-branch",
        "a branch without operators hands its argument on; with no operator to name it, it gets no lifetime",
        "TensorFlow Lite Micro pull request 1575",
        field::empty_branch,
        (16, 25),
    ),
    ControlCase {
        name: "idle-argument",
        about: "what a loop's condition is given but never reads is copied all the same",
        source: "TensorFlow Lite Micro pull request 1194: a loop that carries a value past its condition",
        build: field::idle_argument,
        optimum: Some(Bytes::new(152)),
        // The body needs what the condition was given: the two cannot be planned apart.
        merged: None,
    },
    case(
        "both-branches-summed",
        "room for both branches of a conditional, although one of them runs",
        "onnxsim pull request 1094: every body of an operator gets room of its own",
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
        "B or C, then E or F: without merging all of them are alive at once",
        "the graph of figures 1 and 2 of the LUNA paper (Wang, Shen, Jing, Lyu), sizes chosen here",
        field::two_branches_in_a_row,
        (20, 25),
    ),
    case(
        "block-fills-no-holes",
        "two bytes of a branch fit two holes; a block of two fits none",
        "worked out here: a block must be contiguous",
        merging::block_fills_no_holes,
        (5, 6),
    ),
    case(
        "block-beside-its-input",
        "a branch may overwrite what it has read last; a block lies beside everything that its branches read",
        "worked out here: a block is held during the whole conditional",
        merging::block_beside_its_input,
        (8, 17),
    ),
    case(
        "block-behind-sequence",
        "laying both branches out one after the other, excluding nothing, beats merging them to a block",
        "worked out here: what one branch reads last dies in it",
        merging::block_behind_sequence,
        (8, 17),
    ),
];
