//! Sweep: an exact optimum by dynamic programming over time, for instances with few buffers alive at a time.
//!
//! # Definition
//!
//! A layout orders the buffers alive in a section from bottom to top. Conversely, take one order per section such
//! that neighbouring sections agree on the buffers they share. Together the orders say who lies above whom, without
//! contradiction: conflicts of intervals form a chordal graph, so a shortest circle of "lies above" would be three
//! buffers, which are alive together in some section, whose order has no circle. The lowest layout with these orders
//! puts every buffer at the length of the longest path from the ground to it, and its peak is the longest path to the
//! top.
//!
//! ```text
//!  ceiling ─┬──────────           The sweep passes a border between two sections. b, d and e cross it. Whatever
//!        ┌──┴──┬──┐ │ e           happened before shows only in distances: the top of b must be at least this far
//!    ┌───┤  d  │  └─┤             below the bottom of d, d so far below e, b so far below e, and likewise for
//!    │ c ├─────┤    │             ground and ceiling. A state is the order (b, d, e) with these distances.
//!    ├───┤  b  └────┤
//!    │ a │          │
//!  ──┴───┴──────────┴─ ground
//! ```
//!
//! The sections are swept one after the other. At a border only the buffers that cross it matter: a path through a
//! buffer that died is kept as the least *distance* between the top of one crossing buffer and the bottom of a higher
//! one, ground and ceiling included. These distances are exactly the projection of all constraints so far, because
//! constraints are differences. The next section puts its newborn buffers at every position of the order, updates the
//! longest paths, and forgets who dies. A state whose longest path exceeds the capacity is dropped; the least such
//! path is a lower bound on the next capacity worth asking for.
//!
//! # Pruning
//!
//! - *Dominance.* Of two states with the same order, the one whose distances are all at most those of the other
//!   suffices: every continuation of the other continues it too, with longest paths that are no longer. The
//!   distance from ground to ceiling is the peak so far, so that the least peak is found in one pass.
//! - *Mirror.* Upside down, a layout is a layout of the same peak: an order and its reverse, with distances reversed,
//!   are one state.
//! - *Brief lives.* Neighbours in the order that are born and die in the same section leave the same distances either way
//!   round: one way is tried. The same holds for twins wherever they lie.
//! - *Look-ahead.* The buffers alive in a later section that are not yet born must fill the distances left between
//!   those that are; what cannot be filled is lost, and more than the slack of that section must not be lost.
//!
//! Time O(states · alive^2) per section. The number of states grows with the orders of those that cross a border,
//! k!/2, times the distances that differ: eight crossing are quick, twelve are hopeless unless slack is short.
//! What is swept may be a *window* of sections: lifespans are clipped to it and what lies outside is left out, which
//! is a relaxation, so that a capacity impossible for the window is impossible for the whole.
//!
//! Sources: our own; the projection is that of difference bounds (Dill 1989, zones of timed automata), the sweep that
//! of dynamic programs over path decompositions, the longest paths those of the disjunctive graph of shop scheduling.

mod ahead;
mod border;
mod pass;
mod section;
mod step;

pub use pass::{Pass, SweepEnd};
pub use section::Sections;
