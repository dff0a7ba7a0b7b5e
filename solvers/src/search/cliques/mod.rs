//! Branching over cliques: an exact search for instances with any constraint. It extends valley branching
//! ([`super::valley`]) to buffers with alignments, fixed offsets, gaps, separations and exclusions.
//!
//! # Definition
//!
//! *Sections* are cliques of the conflict graph that cover all conflicts. There is one for each section of
//! time, or several if some of its buffers exclude each other, and one around each separated pair that no
//! other section contains. A buffer covers a *set* of sections: with gaps, several runs; with separations, a
//! section of its own. Sizes are rounded up to the step of all offsets, so that a buffer has a *ceiling*, the
//! highest rounded top (see [`Cliques`]). Fixed buffers are obstacles.
//!
//! A state has, for each section, a *floor* below which no unplaced buffer lies, and a *base*, the top of the
//! highest placed or fixed buffer at or below the floor. The *place* of an unplaced buffer is the lowest
//! multiple of its alignment that is not below any floor of its sections and not in the way of a fixed
//! buffer. After each decision:
//! - a buffer whose place exceeds its ceiling ends the state,
//! - the floor of a section rises to the lowest place of its unplaced buffers,
//! - the *slack* of a section, which is its highest ceiling less its floor and the sizes of what is still to
//!   come, must not be negative.
//!
//! # Branching
//!
//! A layout is *stable* if no single free buffer can be moved down. If there is a layout within the capacity,
//! there is a stable one. Let L be a stable layout that continues the state. An unplaced buffer `x` is
//! *closed* if every other unplaced buffer of its sections, at its place, ends above the place of `x`. A
//! section is *ready* if all its unplaced buffers whose place is its floor are closed. The section with the
//! lowest floor of a component is always ready. Let `s` be a ready section with floor F, and let T be the
//! least of
//! - the places above F of the unplaced buffers of `s`,
//! - the tops, at their places, of unplaced buffers outside `s` that conflict with an unplaced buffer of `s`
//!   whose place is F.
//!
//! Let `x` be the lowest unplaced buffer of `s` in L. It is *supported* if its offset is the top, rounded up
//! to its alignment, of a placed or fixed buffer or of the ground. Then either `x` lies at F and is
//! supported, or it lies at T or higher.
//!
//! *Proof.* Let x lie above F. If its place exceeds F, that place is at least T. Now let its place be F. It
//! cannot be moved down to F, so it would overlap some conflicting `d` there. Placed buffers lie below the
//! floors, and places avoid fixed buffers, so `d` is unplaced. In `s`, everything else lies above x, so `d`
//! does not belong to `s`. It lies below x, and x lies at or above the top of `d`, which is at least T. Now
//! let x lie at F > 0. It cannot be moved down by one alignment, so F is the top, rounded up, of a
//! conflicting buffer. An unplaced one would lie outside `s`, so its top would be at least T, which exceeds F
//! because x is closed. So that buffer is placed or fixed.
//!
//! There is one branch for each closed and supported buffer with place F, and one in which the floor rises to
//! T. Because a placed buffer is closed, everything else in its sections lies above it. Its top is therefore
//! the floor of all of them, even if the buffer lies above a gap. The last branch is omitted if an unplaced
//! buffer of `s` with place F fits between F and T and nothing outside `s` can be in its way: it could be
//! moved down, so L would not be stable.
//!
//! # Pruning and order
//!
//! The rules are those of valley branching (see [`Rules`](super::valley::Rules)): waste below walls, twins,
//! memo, restarts, levels, lookahead and failure weights. In the waste below a wall, fixed buffers count as
//! filled. The key of the memo contains the floors, the bases as far as they can support a buffer, and the
//! unplaced buffers.
//!
//! **Complexity.** A node takes time in proportion to the members of the sections that a decision changes.
//!
//! **Source.** This project; Moffitt 2023 ("`MiniMalloc`", sections and canonical solutions).

mod analyse;
mod engine;
mod problem;
mod state;

pub(crate) use engine::Engine;
pub(crate) use problem::Cliques;
