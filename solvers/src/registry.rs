//! Every exact solver by name.

use crate::ilp::{Ilp, PoolIlp};
use crate::search::Search;
use crate::smt::Smt;
use crate::{BruteForce, Exact};
use plimsoll_model::{Entry, Kind, Offsets, Pools};

/// Every exact solver for the offset problem, the default first.
pub const OFFSETS: &[Entry<Offsets>] = &[
    Entry {
        name: "exact",
        kind: Kind::Exact,
        about: "cheap orders and bounds first; search only where they leave a gap",
        source: "this project",
        build: |setup| Box::new(Exact::new(setup)),
    },
    Entry {
        name: "search",
        kind: Kind::Exact,
        about: "branch and bound on valleys (intervals) or canonical orders (all else), restarts, exact memo",
        source: "this project; Moffitt 2023, MiniMalloc",
        build: |setup| Box::new(Search::new(setup)),
    },
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program with ordering binaries, tight big-M and stacking cuts, solved by HiGHS",
        source: "disjunctive formulation of dynamic storage allocation; good_lp, HiGHS",
        build: |setup| Box::new(Ilp::new(setup)),
    },
    Entry {
        name: "smt",
        kind: Kind::Exact,
        about: "disjunctions over integer offsets, closed in on the peak by z3",
        source: "satisfiability modulo difference logic; z3 (de Moura and Bjorner 2008)",
        build: |setup| Box::new(Smt::new(setup)),
    },
    Entry {
        name: "brute-force",
        kind: Kind::Exact,
        about: "every order of at most nine buffers, as the judge of the others",
        source: "this project",
        build: |_| Box::new(BruteForce),
    },
];

/// Every exact solver for the shared-object problem.
pub const POOLS: &[Entry<Pools>] = &[Entry {
    name: "pool-ilp",
    kind: Kind::Exact,
    about: "integer program: every pool is led by its largest buffer, one member alive per pool and clique",
    source: "asymmetric representatives for colouring (Campelo, Campos, Correa 2008); good_lp, HiGHS",
    build: |setup| Box::new(PoolIlp::new(setup)),
}];
