//! Valley branching: exact search for instances whose conflicts are those of plain intervals.
//!
//! # Definition
//!
//! Time is reduced to the *sections* of the instance, the maximal sets alive together; a buffer covers a run of
//! sections. A state has a *floor* per section, below which nothing more is placed, and knows whether the floor is
//! *real*, the ground or the top of a placed buffer, or only *raised*, a bound that was proved. A *valley* is a
//! maximal run of sections of equal floor whose two neighbours, the *walls*, are strictly higher; the border of an
//! independent component is a wall without top.
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
//! A layout is *bottom-justified* where every buffer lies on the ground or on top of a buffer it conflicts with;
//! pushing buffers down shows that some optimal layout is. Take any valley and any section `s` in it. In a
//! bottom-justified layout that continues the state, the lowest unplaced buffer at `s`
//! - either lies on the floor `F`; then it fits between the walls, for every section it covers has a floor of at
//!   most `F`, and it covers a section with a real floor, for something must carry it;
//! - or lies higher. What carries it is then a wall, or the top of a buffer that lies in the valley and does not
//!   cover `s`. So the floor of `s` can be raised to the lower wall or to `F` plus the smallest buffer that fits
//!   between the walls and does not cover `s`, whichever is less.
//!
//! The branches exclude each other and leave out no bottom-justified layout, whatever section is picked: no global
//! order of offsets is needed, so the most constrained section may be branched on, and the search may be restarted.
//!
//! # Pruning
//!
//! With `T` bytes left to place at `s`, *slack* `= capacity - F - T` must not become negative; placing keeps it,
//! raising burns it. Further rules have a switch in `Rules` and an argument there.
//!
//! # Finding layouts
//!
//! Run times are heavy-tailed, so the search starts over, in runs of Luby-long numbers of nodes. The first runs, the
//! plain ones, order buffers by shape alone and settle easy instances. Later runs
//! - *look ahead*: the most attractive options are tried for one step, and the slack that the floors they force burn, as
//!   a difference of logarithms over sections, lowers their attraction;
//! - *keep their path*: reaching a tight layout is a rare event in stages, so a run that is over is not always followed
//!   by one from the ground. Wherever the path first passed another tenth of the area it gets a second run from there,
//!   at every level, as in splitting methods for rare events: a path that came far is worth more attempts than one
//!   that did not.
//!
//! On the instances D and J of the `MiniMalloc` set, at the load, both together take the mean number of nodes from
//! 9 and more than 70 million to 1 and 3 million.
//!
//! Sources: our own (valley branching, its look ahead and levels); Kahn and Harris 1951 (splitting); Moffitt 2023 ("`MiniMalloc`",
//! sections, decomposition); Luby, Sinclair, Zuckerman 1993 (restarts); Boussemart et al. 2004 (failure weights).

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
