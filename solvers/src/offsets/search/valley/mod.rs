//! Valley branching: an exact search for instances in which every lifespan is a single interval, and two
//! buffers conflict if and only if they are simultaneously live.
//!
//! # Definition
//!
//! Time is reduced to the *sections* of the instance, which correspond to the maximal sets of simultaneously
//! live buffers. A buffer covers a run of consecutive sections. For each section, a state has a *floor*,
//! below which no further buffer is placed. A floor is *real* if it is the ground or the top of a placed
//! buffer. It is *raised* if it is only a proved lower bound on the offsets of unplaced buffers. A *valley*
//! is a maximal run of sections of equal floor whose two neighbours, the *walls*, are strictly higher. The
//! border of an independent component is a wall of unlimited height.
//!
//! ```text
//! offset
//!   │   ┌────┐                 Walls at sections 0 and 4, valley 1..4:
//!   │███│    │███              which unplaced buffer lies on the floor at section 2?
//!   │███└────┘███              One branch for each buffer that fits between the walls,
//!   │████████████              and one without a buffer: the floor of section 2 is raised
//!   └─0───1─2─3──4── section
//! ```
//!
//! # Branching
//!
//! A layout is *bottom-justified* if every buffer lies on the ground or on top of a conflicting buffer.
//! Pushing buffers down shows that some optimal layout is bottom-justified. Consider any valley and any
//! section `s` in it. In a bottom-justified layout that continues the state, there are two cases for the
//! lowest unplaced buffer at `s`:
//! - It lies on the floor `F`. Then it fits between the walls, because every section that it covers has a
//!   floor of at most `F`. It covers a section with a real floor, because something must support it.
//! - It lies higher. Then it is supported by a wall, or by a buffer that lies in the valley and does not
//!   cover `s`. Let `m` be the size of the smallest buffer that fits between the walls and does not cover
//!   `s`. The floor of `s` can then be raised to the lower wall or to `F + m`, whichever is lower.
//!
//! The branches are disjoint and cover every bottom-justified layout, whichever section is chosen. Buffers
//! need not be placed in a global order of offsets. The search may therefore branch on the most constrained
//! section, and it may restart.
//!
//! # Pruning
//!
//! If `T` bytes remain to be placed at `s`, the *slack* of `s` is `capacity - F - T`. It must not become
//! negative. Placing a buffer preserves the slack, and raising a floor consumes it. Each further rule has a
//! switch and a soundness argument in [`Rules`](super::tree::Rules).
//!
//! # Finding layouts
//!
//! Run times are heavy-tailed, so the search restarts. The lengths of the runs, in nodes, follow Luby's
//! sequence. The first runs are *plain*: they order buffers by shape alone and settle easy instances. Later
//! runs use two techniques:
//! - *Lookahead* tries the most promising options for one step. The raises that an option forces consume
//!   slack, which lowers the score of the option. Consumed slack is measured as a difference of logarithms,
//!   summed over sections.
//! - *Levels* keep part of the path. A tight layout is a rare event that is reached in stages, so the search
//!   does not return to the root after every run. If the run from a point at which the path has placed a
//!   further tenth of the area is undecided, a second run starts from this point, as in splitting methods for
//!   rare events.
//!
//! At a capacity equal to the load, both techniques together reduce the mean number of nodes from 9 million
//! to 1 million on instance D of the `MiniMalloc` set. On instance J, they reduce it from more than 70
//! million to 3 million.
//!
//! **Source.** This project (valley branching, its lookahead and levels), Kahn and Harris 1951 (splitting),
//! Moffitt 2023 ("`MiniMalloc`", sections, decomposition), Luby, Sinclair, Zuckerman 1993 (restarts),
//! Boussemart et al. 2004 (failure weights).

mod analyse;
mod reduce;
mod skyline;
mod state;

pub(crate) use reduce::{Reduced, Span, lifespans};
pub(in crate::offsets::search) use skyline::Engine;
