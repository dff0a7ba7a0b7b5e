//! The registry entries of the heuristics for offsets.

use super::ejection::EjectionSearch;
use super::hill_climb::climb;
use super::iterated::IteratedSearch;
use super::naive::end_to_end;
use super::ordered::ordered;
use super::two_level::two_level;
use super::valley::{ValleyWeights, valley_fit};
use super::{Fit, Order};
use crate::offsets::descending::descending_contiguous;
use crate::offsets::report::{anytime_with_groups, single, single_with_groups};
use crate::sources::{CANN, CLASSICAL, LUNA, PATENT, PISARCHYK};
use plimsoll_model::{Entry, Kind, Offsets, guarded};

macro_rules! ordered {
    ($name:literal, $order:ident, $fit:ident, $source:expr, $about:literal) => {
        Entry {
            name: $name,
            kind: Kind::Heuristic,
            about: $about,
            source: $source,
            time: "O(n^2) for n buffers, usually close to O(n log n) with first fit",
            build: &|_| {
                single_with_groups($name, |instance, budget| {
                    ordered(instance, (Order::$order, Fit::$fit), budget)
                })
            },
        }
    };
}

/// All heuristics for the offset problem.
pub const ENTRIES: &[Entry<Offsets>] = &[
    Entry {
        name: "naive",
        kind: Kind::Heuristic,
        about: "no sharing: lays all buffers end to end",
        source: "common baseline",
        time: "O(n log n) for n buffers",
        build: &|_| single_with_groups("naive", end_to_end),
    },
    ordered!("short-first", ShortDuration, First, LUNA, "first fit by ascending duration"),
    ordered!("first-fit-size", Size, First, CLASSICAL, "first fit by descending size; large-first of LUNA"),
    ordered!("first-fit-area", Area, First, CLASSICAL, "first fit by descending size x duration"),
    ordered!("first-fit-duration", Duration, First, CLASSICAL, "first fit by descending duration"),
    ordered!("first-fit-start", Start, First, CLASSICAL, "first fit in execution order; sequential of LUNA"),
    ordered!(
        "first-fit-conflicts",
        Conflicts,
        First,
        CLASSICAL,
        "first fit by descending number of conflicts"
    ),
    ordered!("best-fit-area", Area, Best, CLASSICAL, "best fit by descending size x duration"),
    ordered!("best-fit-duration", Duration, Best, CLASSICAL, "best fit by descending duration"),
    ordered!("best-fit-start", Start, Best, CLASSICAL, "best fit in execution order"),
    ordered!("best-fit-conflicts", Conflicts, Best, CLASSICAL, "best fit by descending number of conflicts"),
    ordered!("greedy-by-size", Size, Best, PISARCHYK, "best fit by descending size"),
    ordered!(
        "greedy-by-breadth",
        Breadth,
        Best,
        PISARCHYK,
        "best fit, most loaded steps first, and by descending size within a step"
    ),
    ordered!(
        "xla-best-fit",
        SizeDuration,
        Best,
        "XLA, GlobalDecreasingSizeBestFitHeap",
        "best fit by descending size, then descending duration"
    ),
    Entry {
        name: "reuse-by-size",
        kind: Kind::Heuristic,
        about: "places buffers by descending size, preferably into the memory of one placed buffer without a conflict",
        source: PATENT,
        time: "O(n^2 log n) for n buffers",
        build: &|_| single("reuse-by-size", descending_contiguous),
    },
    Entry {
        name: "ge-two-level",
        kind: Kind::Heuristic,
        about: "merges buffers of equal size into blocks, then packs smaller blocks into larger ones",
        source: CANN,
        time: "O(n b) for n buffers and b blocks, plus a search for gaps per pair of blocks",
        build: &|_| single("ge-two-level", two_level),
    },
    Entry {
        name: "usmp-hill-climb",
        kind: Kind::Heuristic,
        about: "hill climbing over first-fit orders: swaps a buffer at the peak with an earlier conflicting one",
        source: "Apache TVM, unified static memory planner, hill_climb",
        time: "at most 500 placements of O(n^2) each for n buffers",
        build: &|setup| {
            anytime_with_groups("usmp-hill-climb", move |instance, budget, run| {
                climb((500, setup.seed), instance, budget, run)
            })
        },
    },
    Entry {
        name: "iterated-search",
        kind: Kind::Heuristic,
        about: "anytime: tries a portfolio of orders, random orders, and orders in which high buffers come earlier",
        source: "this project; based on Joslin, Clements: Squeaky Wheel Optimization, 1999",
        time: "anytime: O(n^2) per placement of n buffers, usually far less",
        build: &|setup| guarded(IteratedSearch::new(setup.seed)),
    },
    Entry {
        name: "valley-fit",
        kind: Kind::Heuristic,
        about: "fills valleys of the skyline with the longest buffer that fits; takes seconds for a million buffers",
        source: "this project; after Burke, Kendall, Whitwell: the orthogonal stock-cutting problem, 2004",
        time: "O(n log n) in practice for n buffers",
        build: &|_| {
            single("valley-fit", |instance, budget| {
                valley_fit(instance, ValleyWeights::default(), budget).map(Some)
            })
        },
    },
    Entry {
        name: "ejection-search",
        kind: Kind::Heuristic,
        about: "anytime: moves buffers that exceed a falling target into gaps, and ejects buffers that are in the way",
        source: "this project; after Nagata, Braysy: guided ejection search, 2009",
        time: "anytime: O(m log m) per move, for m placed buffers that conflict with the moved one",
        build: &|setup| guarded(EjectionSearch::new(setup.seed)),
    },
];
