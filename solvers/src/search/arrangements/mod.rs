//! Sweeps over sets of arrangements, which refute capacities at and just above the load.
//!
//! # Definition
//!
//! An *arrangement* of a full section is the order of its live buffers from bottom to top. If they fill the
//! capacity exactly, the arrangement determines all offsets. From one full section to a later one, the
//! buffers that stay keep their offsets. So do the gaps between them: in every gap, the buffers that begin
//! have the same total size as those that end. The buffers that end in one gap are contiguous.
//!
//! A sweep passes the full sections in order. A state is a [PQ-tree](crate::pqtree) of the arrangements that
//! are still possible. A transition divides the buffers that end, and those that begin, into groups of equal
//! sizes. It makes each ending group contiguous, and replaces it by all permutations of its partner. If no
//! state is left, the capacity is infeasible.
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
//! **Waste.** Let a section be `w` units below the capacity, where the unit divides all sizes. Some layout
//! has all offsets at multiples of the unit. The section is then full with `w` further buffers of one unit,
//! which live only there. Most of these *free units* need no place: a state is also a number of free units
//! that may be anywhere, and a set is contiguous if only such units divide it. A free unit gets a place only
//! if a group that ends is larger than its partner. It is then a leaf of the tree, a *hole*, beside the
//! partner. If a group that ends is smaller, it takes holes that are contiguous with it, or free units.
//!
//! # Why it is sound
//!
//! - *Sections that are not full* are skipped. Between two sections, only the buffers that are live in both
//!   matter, and these keep their offsets, whatever happens in between. This is a relaxation.
//! - *Groups.* Take the largest groups: all buffers that end, all that begin, and all units in one gap
//!   between buffers that stay. The sizes are equal, because the ends of the gap are offsets and ends of
//!   buffers that stay, or the ground or the capacity. A cover tries all divisions into groups, so it tries
//!   this one. A group of free units alone may be at any place of the tree, and all places are tried.
//! - *Atoms.* Buffers that end and are contiguous in every permutation of a state are in one gap. No group
//!   divides them.
//! - *Free units.* Let a group need `d` units more than its holes. It takes `d` free units and leaves the
//!   others where they are, that is, anywhere. A group with `d` units to spare has `d` holes. Whatever
//!   units a layout has in a gap beyond these, they are free before and after.
//! - *Windows.* A sweep may start at any section, with all arrangements, and pass sections in either
//!   direction of time. It refutes the capacity for the sections that it passed.
//! - *Dominance.* A state is dropped if another one has all its permutations. Units without a place may be
//!   anywhere, so a state without holes is compared as if the other one had none.
//! - *Meeting.* An arrangement of a layout at a section is one of a state of every sweep that reached the
//!   section. A state is dropped if it has no arrangement in common with any state of a sweep in the other
//!   direction. The refuted sections then include those of the other sweep. Holes are omitted from this
//!   comparison, and all exchanges of leaves with equal labels are tried. Both are relaxations.
//! - *Labels.* Buffers of equal size that end at the same step (backwards: begin) can be exchanged from there
//!   on, and the sweep proceeds in the same way. States that differ only in this are equal.
//!
//! # Layouts
//!
//! If a sweep passes all full sections, each of its last states yields offsets (`trail`): a permutation of
//! the last state fixes those of the live buffers, and each state before it has a permutation with the same
//! offsets. Buffers that are live at no full section are placed beside the others if they fit. A *beam* keeps
//! only the states with most permutations at each section, and only some successors of each. It refutes
//! nothing, but often finds a layout early. Free units count as if each were placed anywhere.
//!
//! **Source.** This project. Booth and Lueker 1976 for PQ-trees.

mod beam;
mod cover;
mod exchange;
mod meet;
mod pass;
mod prove;
mod refute;
mod states;
mod steps;
mod trail;

pub(crate) use prove::Arrangements;

/// Switches of sweeps over arrangements, for ablation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrangementRules {
    /// Maximum number of wasted units of a section.
    pub waste: usize,
    /// Maximum number of states per step in the first sweeps.
    pub first: usize,
    /// The same for the last sweeps, which limits memory.
    pub last: usize,
    /// Drop states that have no arrangement in common with sweeps in the other direction.
    pub meet: bool,
    /// Search for layouts by beams.
    pub beam: bool,
}

impl Default for ArrangementRules {
    fn default() -> Self {
        Self { waste: 12, first: 256, last: 1 << 15, meet: true, beam: true }
    }
}

#[cfg(test)]
mod tests;
