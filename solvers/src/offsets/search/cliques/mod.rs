//! Branching over cliques: an exact search for instances with any constraint. It extends valley branching
//! ([`super::valley`]) to buffers with alignments, fixed offsets, gaps, separations and exclusions.
//!
//! # Definition
//!
//! *Sections* are cliques of the conflict graph that cover all conflicts. There is one for each section of
//! time, or several if some of its buffers exclude each other, and one for each separated pair that no other
//! section contains. A buffer covers a *set* of sections. It is *whole* if this set is one run of consecutive
//! sections, and *split* otherwise: a buffer with gaps has several runs, and one of a separated pair covers a
//! section of its own. Sizes are rounded up to the step of all offsets, so that a buffer has a *ceiling*, the
//! highest rounded top (see [`Cliques`]). Fixed buffers are obstacles.
//!
//! A state has, for each section, a *floor* below which no unplaced buffer lies, and a *base*, the top of the
//! highest placed or fixed buffer at or below the floor. The *place* of an unplaced buffer is the lowest
//! multiple of its alignment that is not below any floor of its sections and not in the way of a fixed
//! buffer. It is *level* if all its sections have its place as their floor.
//!
//! Two consecutive sections are *linked* if an unplaced buffer covers both. A *valley* is a maximal run of
//! linked sections of equal floor F. The sections linked to its ends, its *walls*, have higher floors. A
//! whole buffer that covers a section of the valley has the place F and is level, or lies higher because of
//! its alignment or a fixed buffer, or covers a wall. A split buffer whose place is F but which is not level
//! *blocks* its sections of the valley. In the valley with the lowest floor of a component, nothing is
//! blocked.
//!
//! # Branching
//!
//! A layout is *stable* if no single free buffer can be moved down. If there is a layout within the capacity,
//! there is a stable one. Let L be a stable layout that continues the state, and `s` a section of a valley
//! that is not blocked. Let T be the least of
//! - the walls of the valley,
//! - the places above F of the unplaced buffers of `s`,
//! - the tops, at their places, of the unplaced buffers of the valley that do not cover `s`,
//! - if a split buffer of `s` has the place F: its next possible offset, and the tops of the unplaced buffers
//!   that share a section outside the valley with it, whichever is higher. Such a top is one at the place of
//!   the buffer, or at the floor of that section.
//!
//! Let `x` be the lowest unplaced buffer of `s` in L. It is *supported* if its offset is the top, rounded up
//! to its alignment, of a placed or fixed buffer or of the ground. Then either `x` lies at F and is level and
//! supported, or it lies at T or higher.
//!
//! *Proof.* Let x lie above F. If its place exceeds F, then x covers a wall, or its place is among those that
//! T does not exceed. Now let its place be F. Nothing blocks `s`, so x is level. It cannot be moved down to
//! F, so it would overlap some conflicting `d` there. Placed buffers lie below the floors, and places avoid
//! fixed buffers, so `d` is unplaced. In `s`, everything else lies above x, so `d` does not cover `s`. It
//! shares another section with x, whose floor is F, and lies below x. If this section is in the valley, x
//! lies at or above the top of `d`, or `d` covers a wall. Otherwise, x is split, and `d` lies no lower than
//! at its place and at the floor of this section. Now let x lie at F > 0. It cannot be moved down by one
//! alignment, so F is the top, rounded up, of a conflicting buffer. The top of an unplaced one that shares a
//! section with x exceeds F. So that buffer is placed or fixed.
//!
//! There is one branch for each level and supported buffer with place F, and one in which the floor rises to
//! T. A placed buffer is level, and no other unplaced buffer of its sections lies below F. Everything else in
//! its sections therefore lies above it, and its top is the floor of all of them.
//!
//! # Rigid groups
//!
//! The members of a rigid group count as split buffers. The place of a member is the lowest one at which all
//! members of its group are possible. In a stable layout, no group can be moved down either. If a member is
//! placed, the others lie at their places. From then on, they are fixed in those of their sections whose
//! floors are lower. Two steps of the proof differ for a member x of a group. Whatever keeps x from lying at
//! F may lie under another member m. Then m lies at or above its top, and x moves with m. So the last item of
//! T regards the buffers beside all members. An unplaced buffer may also support m if m is not level. Such a
//! group therefore counts as supported, and so does a group in its lowest position.
//!
//! # Pruning and order
//!
//! The rules are those of valley branching (see [`Rules`](super::tree::Rules)): waste below walls, twins,
//! memo, restarts, levels, lookahead and failure weights. In the waste below a wall, fixed buffers count as
//! filled. The key of the memo contains the floors, the bases as far as they can support a buffer, and the
//! unplaced buffers and the placed members of groups above the floors. The *slack* of a section is its
//! highest ceiling less its floor and the sizes of what is still to come. It must not be negative.
//!
//! **Complexity.** A node takes time in proportion to the sections and buffers of the valleys that a decision
//! changes, and to the sections that split buffers cover.
//!
//! Two other forms of the analysis were tried. Lists of all members per section, with the place of every
//! buffer kept up to date, took 5 to 20 times as long per node. So did computing all places anew with tables
//! of minima over ranges. Sections of a separated pair that are grown to maximal cliques split more buffers
//! and save few nodes. So they are grown only if most conflicts are separations.
//!
//! **Source.** This project; Moffitt 2023 ("`MiniMalloc`", sections and canonical solutions).

mod analyse;
mod problem;
mod skyline;
mod split;
mod state;

pub(crate) use problem::Cliques;
pub(in crate::offsets::search) use skyline::Engine;
