//! Every heuristic there is: the list that the command, the tables and the conformance tests read.

use crate::naive::Naive;
use crate::ordered::Ordered;
use crate::orders::Order;
use crate::placement::Fit;
use plimsoll_model::{Entry, Kind, Offsets, Pools, Scattered};

const LUNA: &str = "Wang, Shen, Jing, Lyu: memory optimisation for control-flow graphs, Alg. 1 (S0)";
const PISARCHYK: &str = "Pisarchyk, Lee: Efficient Memory Management for Deep Neural Net Inference, 2020";
const CLASSICAL: &str = "classical list placement for dynamic storage allocation";

macro_rules! ordered {
    ($name:literal, $order:ident, $fit:ident, $source:expr, $about:literal) => {
        Entry {
            name: $name,
            kind: Kind::Heuristic,
            about: $about,
            source: $source,
            build: |_| Box::new(Ordered { name: $name, order: Order::$order, fit: Fit::$fit }),
        }
    };
}

/// Every heuristic for the offset problem.
pub const OFFSETS: &[Entry<Offsets>] = &[
    Entry {
        name: "naive",
        kind: Kind::Heuristic,
        about: "no sharing: every buffer its own memory, end to end",
        source: "baseline of all five source documents",
        build: |_| Box::new(Naive),
    },
    ordered!("sequential", Start, First, LUNA, "execution order, lowest gap"),
    ordered!("large-first", Size, First, LUNA, "size descending, lowest gap"),
    ordered!("short-first", ShortDuration, First, LUNA, "duration ascending, lowest gap"),
    ordered!("first-fit-size", Size, First, CLASSICAL, "size descending, lowest gap"),
    ordered!("first-fit-area", Area, First, CLASSICAL, "size x duration descending, lowest gap"),
    ordered!("first-fit-duration", Duration, First, CLASSICAL, "duration descending, lowest gap"),
    ordered!("first-fit-start", Start, First, CLASSICAL, "execution order, lowest gap"),
    ordered!(
        "first-fit-conflicts",
        Conflicts,
        First,
        CLASSICAL,
        "number of conflicts descending, lowest gap"
    ),
    ordered!("best-fit-size", Size, Best, CLASSICAL, "size descending, tightest gap"),
    ordered!("best-fit-area", Area, Best, CLASSICAL, "size x duration descending, tightest gap"),
    ordered!("best-fit-duration", Duration, Best, CLASSICAL, "duration descending, tightest gap"),
    ordered!("best-fit-start", Start, Best, CLASSICAL, "execution order, tightest gap"),
    ordered!(
        "best-fit-conflicts",
        Conflicts,
        Best,
        CLASSICAL,
        "number of conflicts descending, tightest gap"
    ),
    ordered!("greedy-by-size", Size, Best, PISARCHYK, "size descending, tightest gap"),
    ordered!(
        "greedy-by-breadth",
        Breadth,
        Best,
        PISARCHYK,
        "busiest steps first, size descending in each, tightest gap"
    ),
    ordered!(
        "xla-best-fit",
        SizeDuration,
        Best,
        "XLA, GlobalDecreasingSizeBestFitHeap",
        "size then duration descending, tightest gap"
    ),
];

/// Every heuristic for the offset problem with buffers cut into pieces.
pub const SCATTERED: &[Entry<Scattered>] = &[];

/// Every heuristic for the shared-object problem.
pub const POOLS: &[Entry<Pools>] = &[];
