//! The registry entries of all heuristics for the order problem.

use super::engine::Adjust;
use super::local::LocalSearch;
use super::rule::{Base, OrderRule};
use super::series::sethi_ullman;
use crate::report::{anytime, single};
use plimsoll_model::{Entry, Kind, Orders};

const CLASSICAL: &str = "classical graph traversal";
const CANN: &str = "CANN graph engine, topological order";
const INDUCTOR: &str = "PyTorch Inductor, reordering for peak memory";

macro_rules! rule {
    ($name:literal, $rule:expr, $source:expr, $about:literal) => {
        Entry {
            name: $name,
            kind: Kind::Heuristic,
            about: $about,
            source: $source,
            build: &|_| single($name, |problem, budget| $rule.of(problem, budget).map(Some)),
        }
    };
}

macro_rules! engine {
    ($name:literal, $base:ident, $adjust:ident, $about:literal) => {
        rule!($name, OrderRule::Engine { base: Base::$base, adjust: Adjust::$adjust }, CANN, $about)
    };
}

/// Every heuristic for the order problem.
pub const ORDERS: &[Entry<Orders>] = &[
    rule!("as-in-file", OrderRule::File, "baseline", "the file order as far as it is topological"),
    rule!(
        "bfs",
        OrderRule::Breadth,
        CLASSICAL,
        "breadth-first: the operator that became ready first runs first"
    ),
    rule!("dfs-left", OrderRule::DepthLeft, CLASSICAL, "depth-first from the sources, first branch first"),
    rule!("dfs-right", OrderRule::DepthRight, CLASSICAL, "depth-first from the sources, last branch first"),
    rule!("reverse-dfs", OrderRule::ReverseDepth, CLASSICAL, "depth-first from the sinks, reversed"),
    engine!(
        "ge-fixed",
        DepthLeft,
        Fixed,
        "dfs-left, then operators with constant inputs move to their first consumer"
    ),
    engine!(
        "ge-dynamic",
        DepthLeft,
        Dynamic,
        "dfs-left, then operators move later if an input stays live beyond the delay"
    ),
    engine!("ge", DepthLeft, Both, "dfs-left, then both rules of the graph engine"),
    engine!("ge-bfs", Breadth, Both, "bfs, then both rules of the graph engine"),
    engine!("ge-as-in-file", File, Both, "as-in-file, then both rules of the graph engine"),
    rule!(
        "greedy",
        OrderRule::Greedy,
        "classical list scheduling",
        "the ready operator with the least growth of live bytes"
    ),
    rule!(
        "lpmf",
        OrderRule::LeastPeak,
        INDUCTOR,
        "the ready operator with the least resulting peak, then the least growth"
    ),
    rule!(
        "inductor-bfs",
        OrderRule::PredecessorSteps,
        INDUCTOR,
        "the ready operator whose predecessors ran earliest"
    ),
    rule!(
        "inductor-dfs",
        OrderRule::LightReads,
        INDUCTOR,
        "depth-first postorder: producers first, in ascending order of bytes used"
    ),
    Entry {
        name: "sethi-ullman",
        kind: Kind::Heuristic,
        about: "merges branches by hills and valleys; optimal on trees and series-parallel graphs",
        source: "Liu 1987; Abdel-Wahab, Kameda 1978; after Sethi, Ullman 1970",
        build: &|_| anytime("sethi-ullman", sethi_ullman),
    },
    Entry {
        name: "local-search",
        kind: Kind::Heuristic,
        about: "simulated annealing that moves blocks of operators; anytime",
        source: "this project; after Kirkpatrick, Gelatt, Vecchi 1983",
        build: &|setup| {
            let search = LocalSearch::new(setup.seed);
            anytime("local-search", move |problem, budget, run| search.search(problem, budget, run))
        },
    },
];
