//! Valley branching: exact search for instances whose conflicts are those of plain intervals.
//!
//! # Definition
//!
//! Time is reduced to the *sections* of the instance, the maximal sets of simultaneously live buffers; a
//! buffer covers a run of sections. A state has a *floor* per section, below which nothing more is placed. A
//! floor is *real* if it is the ground or the top of a placed buffer, and *raised* if it is only a proved
//! bound. A *valley* is a maximal run of sections of equal floor whose two neighbours, the *walls*, are
//! strictly higher. The border of an independent component is a wall of unlimited height.
//!
//! ```text
//! offset
//!   │   ┌────┐                 walls at sections 0 and 4; the valley is 1..4
//!   │███│    │███              "which unplaced buffer lies on the floor at section 2?"
//!   │███└────┘███              one branch for each that fits between the walls,
//!   │████████████              one for none: the floor of section 2 is raised
//!   └─0───1─2─3──4── section
//! ```
//!
//! # Branching
//!
//! A layout is *bottom-justified* if every buffer lies on the ground or on top of a buffer it conflicts with.
//! Pushing buffers down shows that some optimal layout is bottom-justified. Take any valley and any section
//! `s` in it. In a bottom-justified layout that continues the state, the lowest unplaced buffer at `s`
//! - either lies on the floor `F`. Then it fits between the walls, because every section it covers has a
//!   floor of at most `F`. It covers a section with a real floor, because something must support it;
//! - or lies higher. Then it is supported by a wall, or by a buffer that lies in the valley and does not
//!   cover `s`. The floor of `s` can therefore be raised to the lower wall, or to `F` plus the smallest
//!   buffer that fits between the walls and does not cover `s`, whichever is less.
//!
//! The branches are disjoint and cover every bottom-justified layout, whichever section is picked. No global
//! order of offsets is needed, so the search may branch on the most constrained section and may be restarted.
//!
//! # Pruning
//!
//! With `T` bytes left to place at `s`, *slack* `= capacity - F - T` must not become negative. Placing
//! preserves slack; raising consumes it. Further rules have a switch and a soundness argument in `Rules`.
//!
//! # Finding layouts
//!
//! Run times are heavy-tailed, so the search restarts, with run lengths in nodes after Luby's sequence. The
//! first, plain runs order buffers by shape alone and settle easy instances. Later runs
//! - *look ahead*: the most promising options are tried for one step. The slack consumed by the floors they
//!   force, as a difference of logarithms summed over sections, lowers their score;
//! - *keep their path*: reaching a tight layout is a rare event in stages, so a finished run does not always
//!   restart from the root. Wherever the path first placed another tenth of the area, it gets a second run
//!   from there, at every level, as in splitting methods for rare events.
//!
//! On the instances D and J of the `MiniMalloc` set, at the load, both together reduce the mean number of
//! nodes from 9 and more than 70 million to 1 and 3 million.
//!
//! Sources: this project (valley branching, its lookahead and levels); Kahn and Harris 1951 (splitting);
//! Moffitt 2023 ("`MiniMalloc`", sections, decomposition); Luby, Sinclair, Zuckerman 1993 (restarts);
//! Boussemart et al. 2004 (failure weights).

mod analyse;
mod engine;
mod options;
mod reduce;
mod rules;
mod state;

pub(crate) use engine::Engine;
pub(super) use engine::luby;
pub(crate) use reduce::Reduced;
pub(crate) use rules::Rules;
