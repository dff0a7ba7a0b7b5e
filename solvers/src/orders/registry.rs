//! The registry entries of the exact solvers for orders.

use super::{Method, OrderBrute, OrderSolver};
use plimsoll_model::{Entry, Kind, Orders, guarded};

/// Every exact solver for the order problem, the default first.
pub const ENTRIES: &[Entry<Orders>] = &[
    Entry {
        name: "exact",
        kind: Kind::Exact,
        about: "reductions and cuts, then search and bidirectional dynamic programming with growing node limits",
        source: "this project",
        time: "exponential in the number of operators at worst (up to 2^n downsets)",
        build: &|setup| guarded(OrderSolver::new(setup, Method::Staged)),
    },
    Entry {
        name: "dp",
        kind: Kind::Exact,
        about: "dynamic programming over downsets, by increasing peak",
        source: "Ahn et al. 2020, SERENITY; bottleneck shortest paths",
        time: "O(2^n n) at worst for n operators, linear in the number of visited downsets",
        build: &|setup| guarded(OrderSolver::new(setup, Method::Paths)),
    },
    Entry {
        name: "search",
        kind: Kind::Exact,
        about: "depth-first branch and bound with forced safe runs and an exact memo of failed downsets",
        source: "this project; Liu 1987 for hills and valleys",
        time: "exponential in the number of operators at worst",
        build: &|setup| guarded(OrderSolver::new(setup, Method::Search)),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program with one operator per step and cumulative variables, solved by HiGHS",
        source: "Steiner et al. 2022 (OLLA), 2023 (MODeL); good_lp, HiGHS",
        time: "exponential in the number of operators at worst",
        build: &|setup| guarded(super::ilp::OrderIlp::new(setup)),
    },
    Entry {
        name: "brute-force",
        kind: Kind::Exact,
        about: "tries all downsets of at most twenty operators, to cross-check other solvers",
        source: "this project",
        time: "O(2^n n s) for n operators, at most 20, and a graph of size s",
        build: &|_| guarded(OrderBrute),
    },
];
