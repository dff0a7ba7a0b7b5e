//! The registry entries of the exact solvers for offsets.

use super::BruteForce;
use super::exact::Exact;
use super::search::Search;
use plimsoll_model::{Entry, Kind, Offsets, guarded};

/// Every exact solver for the offset problem, the default first.
pub const ENTRIES: &[Entry<Offsets>] = &[
    Entry {
        name: "exact",
        kind: Kind::Exact,
        about: "bounds and placement heuristics first; branch and bound only if they leave a gap",
        source: "this project",
        time: "exponential in the number of simultaneously live buffers at worst; O(n log n) for n buffers if the first layout meets the bound",
        build: &|setup| guarded(Exact::new(setup)),
    },
    Entry {
        name: "search",
        kind: Kind::Exact,
        about: "branch and bound over valleys (for intervals) or cliques (otherwise), with restarts and a memo",
        source: "this project; Moffitt 2023, MiniMalloc",
        time: "exponential in the number n of buffers at worst; O(n + overlaps) per node",
        build: &|setup| guarded(Search::new(setup)),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program with binary ordering variables, tight big-M constraints and stacking cuts, solved by HiGHS",
        source: "disjunctive formulation of dynamic storage allocation; good_lp, HiGHS",
        time: "exponential in the number of overlapping pairs of buffers at worst",
        build: &|setup| guarded(super::ilp::Ilp::new(setup)),
    },
    #[cfg(feature = "smt")]
    Entry {
        name: "smt",
        kind: Kind::Exact,
        about: "disjunctions over integer offsets, solved by z3 with bisection on the peak",
        source: "satisfiability modulo difference logic; z3 (de Moura and Bjorner 2008)",
        time: "exponential in the number of overlapping pairs of buffers at worst",
        build: &|setup| guarded(super::smt::Smt::new(setup)),
    },
    Entry {
        name: "brute-force",
        kind: Kind::Exact,
        about: "tries every order of at most nine buffers, to cross-check other solvers",
        source: "this project",
        time: "O(n! n^2) for n buffers, at most 9",
        build: &|_| guarded(BruteForce),
    },
];
