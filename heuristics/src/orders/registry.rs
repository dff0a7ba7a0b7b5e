//! The registry entries of all heuristics for the order problem.

use super::engine::Adjust;
use super::local::LocalSearch;
use super::rule::{Base, OrderRule};
use super::series::sethi_ullman;
use crate::offsets::report::{anytime, single};
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
            time: "O(s log s) for a graph of s operators and edges",
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
pub const ENTRIES: &[Entry<Orders>] = &[
    rule!("as-in-file", OrderRule::File, "baseline", "runs the first ready operator in file order"),
    rule!("bfs", OrderRule::Breadth, CLASSICAL, "breadth first: runs the operator that became ready first"),
    rule!("dfs-left", OrderRule::DepthLeft, CLASSICAL, "depth first from the sources, first branch first"),
    rule!("dfs-right", OrderRule::DepthRight, CLASSICAL, "depth first from the sources, last branch first"),
    rule!("reverse-dfs", OrderRule::ReverseDepth, CLASSICAL, "depth first from the sinks, reversed"),
    engine!(
        "ge-fixed",
        DepthLeft,
        Fixed,
        "dfs-left, then moves operators with only constant inputs to just before their first consumer"
    ),
    engine!(
        "ge-dynamic",
        DepthLeft,
        Dynamic,
        "dfs-left, then moves operators to just before their first consumer if an input is live beyond it anyway"
    ),
    engine!("ge", DepthLeft, Both, "dfs-left, then the rules of ge-fixed and ge-dynamic"),
    engine!("ge-bfs", Breadth, Both, "bfs, then the rules of ge-fixed and ge-dynamic"),
    engine!("ge-as-in-file", File, Both, "as-in-file, then the rules of ge-fixed and ge-dynamic"),
    rule!(
        "greedy",
        OrderRule::Greedy,
        "classical list scheduling",
        "runs the ready operator that increases the live bytes least"
    ),
    rule!(
        "lpmf",
        OrderRule::LeastPeak,
        INDUCTOR,
        "runs the ready operator with the lowest resulting peak, then the least growth of live bytes"
    ),
    rule!(
        "inductor-bfs",
        OrderRule::PredecessorSteps,
        INDUCTOR,
        "runs the ready operator whose predecessors ran earliest"
    ),
    rule!(
        "inductor-dfs",
        OrderRule::LightReads,
        INDUCTOR,
        "depth-first postorder, in ascending order of bytes used"
    ),
    Entry {
        name: "sethi-ullman",
        kind: Kind::Heuristic,
        about: "merges branches by hills and valleys; optimal on trees and series-parallel graphs",
        source: "Liu 1987; Abdel-Wahab, Kameda 1978; after Sethi, Ullman 1970",
        time: "O(e log n) per round for n operators and e edges",
        build: &|_| anytime("sethi-ullman", sethi_ullman),
    },
    Entry {
        name: "local-search",
        kind: Kind::Heuristic,
        about: "anytime: simulated annealing that moves blocks of operators",
        source: "this project; after Kirkpatrick, Gelatt, Vecchi 1983",
        time: "anytime: linear in the size of the graph per move, usually far less",
        build: &|setup| {
            let search = LocalSearch::new(setup.seed);
            anytime("local-search", move |problem, budget, run| search.search(problem, budget, run))
        },
    },
];
