//! Sweeps over sets of arrangements, which refute capacities at and just above the load.
//!
//! # Definition
//!
//! A section is *full* if its live buffers fill the capacity exactly. An *arrangement* of a full section is
//! an order of these buffers from bottom to top, which determines all their offsets. From one full section to
//! a later one, the buffers that stay keep their offsets. The gaps between these buffers therefore do not
//! change: in every gap, the buffers that begin have the same total size as those that end. The buffers that
//! end in one gap are contiguous.
//!
//! A sweep visits the full sections in order. A state is a [PQ-tree](crate::pqtree) of the arrangements that
//! are still possible. A transition divides the buffers that end into groups. The *partner* of a group is a
//! group of beginning buffers of the same total size. The transition makes each ending group contiguous, and
//! replaces it with all permutations of its partner. If no state remains, the capacity is infeasible.
//!
//! ```text
//!            section 1     section 2
//!  capacity ─┬──────────┬─────────────┬─    b and c end, and their sizes add up to those of d and e.
//!            │    a                   │     So b and c are contiguous in section 1:
//!            ├──────────┬─────────────┤     {b, c} is reduced and replaced by {d, e}.
//!            │    b     │      d      │
//!            ├──────────┼─────────────┤
//!            │    c     │      e      │
//!    ground ─┴──────────┴─────────────┴─
//! ```
//!
//! **Waste.** All sizes are multiples of one unit. Suppose that the load of a section is `w` units below the
//! capacity. If a layout exists, some layout has all offsets at multiples of the unit. With `w` additional
//! buffers of one unit, which are live only in this section, the section is then full. Most of these *free
//! units* need no place. Instead, a state contains a number of free units that may be anywhere. A set counts
//! as contiguous if only such units lie between its members. A free unit gets a place only if a group that
//! ends is larger than its partner. It is then a leaf of the tree, a *hole*, beside the partner. If a group
//! that ends is smaller, holes that are contiguous with it, or free units, are added to it.
//!
//! # Why it is sound
//!
//! - *Sections that are not full* are skipped. From one full section to the next, only the buffers that are
//!   live in both matter. They keep their offsets, whatever happens in between. This is a relaxation.
//! - *Groups.* In each gap between buffers that stay, take the two largest groups. One consists of all
//!   buffers that end and all free units of the earlier section. The other consists of all buffers that begin
//!   and all free units of the later section. Both have the size of the gap, which does not change. The
//!   search for successors (`cover`) tries all divisions into groups, including this one. Buffers may also
//!   begin where only free units were, that is, at any place of the tree. All places are tried.
//! - *Atoms.* Buffers that end and are contiguous in every permutation of a state are in one gap. No group
//!   divides them.
//! - *Free units.* Suppose that a group that ends, including its holes, is `d` units smaller than its
//!   partner. It takes `d` free units, and the other free units may still be anywhere. If it is `d` units
//!   larger, `d` holes are added beside the partner. All other unused units of a layout in that gap are free
//!   units both before and after the transition.
//! - *Windows.* A sweep may start at any section, with all arrangements, and pass sections in either
//!   direction of time. If no state remains, it refutes the capacity for the sections that it passed. Trees
//!   have at most [`MOST_LEAVES`] leaves, so sweeps end between two full sections with too many live buffers.
//! - *Dominance.* A state is dropped if another state has all its permutations. Units without a place may be
//!   anywhere, so a state without holes is compared with another as if the other had no holes either.
//! - *Meeting.* If a layout exists, every sweep that reached a section has a state there that contains the
//!   arrangement of this layout. A state is dropped if it has no arrangement in common with any state of a
//!   sweep in the other direction. The refuted sections then include those of the other sweep. Holes are
//!   omitted from this comparison, and all exchanges of leaves with equal labels are tried. Both are
//!   relaxations.
//! - *Bonds.* Later exchanges make some sets of buffers contiguous (`bonds`). A state keeps only arrangements
//!   in which they are. The refuted sections then include those exchanges.
//! - *Labels.* Two buffers of equal size that end at the same step can be exchanged in a state without any
//!   effect on the rest of the sweep. In a backward sweep, they must begin at the same step. States that
//!   differ only by such exchanges count as equal.
//!
//! # Layouts
//!
//! If a sweep passes all full sections, its last states yield offsets (`trail`). A permutation of such a
//! state fixes the offsets of the live buffers. Each earlier state on the path to it has a permutation that
//! agrees with these offsets. Buffers that are live at no full section are placed beside the others if they
//! fit. A *beam* keeps only the states with the most permutations at each section, and only some successors
//! of each. A beam refutes nothing, but often finds a layout early. When permutations are counted, a free
//! unit counts as a leaf that may be anywhere.
//!
//! **Source.** This project. PQ-trees were introduced by Booth and Lueker 1976.

mod beam;
mod bonds;
mod certify;
mod cover;
mod exchange;
mod meet;
mod pass;
mod prove;
mod refute;
mod states;
mod steps;
mod trail;

use crate::pqtree::MOST_LEAVES;

pub(crate) use certify::{Swept, certify};
pub(crate) use prove::{Arrangements, Beside};

/// Settings for sweeps over arrangements, for ablation studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrangementRules {
    /// Maximum number of wasted units in a section.
    pub waste: usize,
    /// Maximum number of leaves of a tree, at most [`MOST_LEAVES`].
    pub leaves: usize,
    /// Maximum number of states per step in the first sweeps.
    pub first: usize,
    /// Maximum number of states per step in the last sweeps. This limits memory.
    pub last: usize,
    /// Whether to drop states that have no arrangement in common with sweeps in the other direction.
    pub meet: bool,
    /// Whether to drop arrangements that contradict [bonds](bonds).
    pub bonds: bool,
    /// Whether to search for layouts by beams.
    pub beam: bool,
    /// An unsound rule, with which tests show that the checker rejects unsound proofs.
    pub wrong: Option<Wrong>,
}

/// An unsound change of a rule for sweeps that become proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// One state counts as containing all others.
    Dominance,
    /// A group of leaves is never replaced by several buffers.
    Groups,
    /// Every section has one unit less waste.
    Waste,
    /// No buffer of a bond is loose.
    Bonds,
}

impl ArrangementRules {
    /// Returns true if a test has made this rule unsound.
    fn is_wrong(self, rule: Wrong) -> bool {
        cfg!(test) && self.wrong == Some(rule)
    }
}

impl Default for ArrangementRules {
    fn default() -> Self {
        Self {
            waste: 52,
            leaves: MOST_LEAVES,
            first: 256,
            last: 1 << 16,
            meet: true,
            bonds: true,
            beam: true,
            wrong: None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
