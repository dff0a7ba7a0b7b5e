//! The registry entries of all heuristics for instance problems.

use crate::buffer_orders::Order;
use crate::ejection::EjectionSearch;
use crate::hill_climb::climb;
use crate::iterated::IteratedSearch;
use crate::naive::end_to_end;
use crate::ordered::ordered;
use crate::patent::{patent_descending, patent_split};
use crate::placement::Fit;
use crate::report::{anytime_with_groups, single, single_with_groups};
use crate::shared_objects::{Classes, PoolChoice, PoolGreedy, assigning, improved_by_size, least_cost_flow};
use crate::two_level::two_level;
use crate::valley::{ValleyWeights, valley_fit};
use plimsoll_model::{Bytes, Entry, Kind, Offsets, SharedObjects, SplitBuffers, guarded};

const LUNA: &str =
    "Wang, Shen, Jing, Lyu: memory optimisation for control-flow graphs, Alg. 1 (the LUNA paper)";
const PISARCHYK: &str = "Pisarchyk, Lee: Efficient Memory Management for Deep Neural Net Inference, 2020";
const CLASSICAL: &str = "classical list placement for dynamic storage allocation";

const MINI_INFER: &str = "Mini-Infer report, static memory planning";
const PATENT: &str = "memory-planning patent, mutually exclusive operators";
const CANN: &str = "CANN graph engine, memory reuse";

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

macro_rules! pools {
    ($name:literal, $order:ident, $choice:ident, $classes:expr, $alignment:literal, $source:expr, $about:literal) => {
        Entry {
            name: $name,
            kind: Kind::Heuristic,
            about: $about,
            source: $source,
            time: "O(n p log n) for n buffers and p objects; O(n^2) with gaps, separations or exclusions",
            build: &|_| {
                let (order, choice) = (Order::$order, PoolChoice::$choice);
                PoolGreedy { order, choice, classes: $classes, alignment: Bytes::new($alignment) }
                    .solver($name)
            },
        }
    };
}

/// All heuristics for the offset problem.
pub const OFFSETS: &[Entry<Offsets>] = &[
    Entry {
        name: "naive",
        kind: Kind::Heuristic,
        about: "no sharing: lays all buffers end to end",
        source: "common baseline",
        time: "O(n log n) for n buffers",
        build: &|_| single_with_groups("naive", end_to_end),
    },
    ordered!("sequential", Start, First, LUNA, "first fit in execution order"),
    ordered!("large-first", Size, First, LUNA, "first fit by descending size"),
    ordered!("short-first", ShortDuration, First, LUNA, "first fit by ascending duration"),
    ordered!("first-fit-size", Size, First, CLASSICAL, "first fit by descending size"),
    ordered!("first-fit-area", Area, First, CLASSICAL, "first fit by descending size x duration"),
    ordered!("first-fit-duration", Duration, First, CLASSICAL, "first fit by descending duration"),
    ordered!("first-fit-start", Start, First, CLASSICAL, "first fit in execution order"),
    ordered!(
        "first-fit-conflicts",
        Conflicts,
        First,
        CLASSICAL,
        "first fit by descending number of conflicts"
    ),
    ordered!("best-fit-size", Size, Best, CLASSICAL, "best fit by descending size"),
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
        name: "patent-descending",
        kind: Kind::Heuristic,
        about: "places buffers by descending size, preferably into the memory of one placed buffer without a conflict",
        source: PATENT,
        time: "O(n^2 log n) for n buffers",
        build: &|_| single("patent-descending", patent_descending),
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

/// All heuristics for split buffers.
pub const SPLIT_BUFFERS: &[Entry<SplitBuffers>] = &[Entry {
    name: "patent-scattered",
    kind: Kind::Heuristic,
    about: "places buffers by descending size, split over the memory of placed buffers without a conflict",
    source: PATENT,
    time: "O(n^2 log n) for n buffers",
    build: &|_| single("patent-scattered", |instance, budget| patent_split(instance, budget).map(Some)),
}];

/// The size classes that are powers of two, from 512 bytes.
const POWERS: Classes = Classes::PowersFrom(Bytes::new(512));

/// All heuristics for the shared-object problem.
pub const SHARED_OBJECTS: &[Entry<SharedObjects>] = &[
    pools!(
        "mini-infer",
        Size,
        First,
        Classes::All,
        256,
        MINI_INFER,
        "greedy colouring by descending size; sizes are rounded up to multiples of 256 bytes"
    ),
    pools!(
        "mini-infer-unaligned",
        Size,
        First,
        Classes::All,
        1,
        MINI_INFER,
        "like mini-infer, but sizes are not rounded up"
    ),
    pools!(
        "max-block",
        Start,
        First,
        Classes::All,
        512,
        CANN,
        "in execution order, each buffer joins the first free object; sizes are rounded up to multiples of 512 bytes"
    ),
    pools!(
        "max-block-unaligned",
        Start,
        First,
        Classes::All,
        1,
        CANN,
        "like max-block, but sizes are not rounded up"
    ),
    pools!(
        "binary-block",
        Start,
        First,
        POWERS,
        512,
        CANN,
        "like max-block, but buffers share objects only within a power-of-two size class"
    ),
    pools!(
        "binary-block-unaligned",
        Start,
        First,
        POWERS,
        1,
        CANN,
        "like binary-block, but sizes are not rounded up"
    ),
    pools!(
        "equality",
        Start,
        First,
        Classes::Equal,
        1,
        PISARCHYK,
        "in execution order; only buffers of equal size share an object"
    ),
    pools!(
        "in-order",
        Start,
        SmallestOrGrow,
        Classes::All,
        1,
        PISARCHYK,
        "in execution order, each buffer joins the smallest sufficient object; if there is none, the largest grows"
    ),
    pools!(
        "shared-greedy-by-size",
        Size,
        Smallest,
        Classes::All,
        1,
        PISARCHYK,
        "by descending size, each buffer joins the smallest sufficient object"
    ),
    pools!(
        "shared-greedy-by-breadth",
        Breadth,
        SmallestOrGrow,
        Classes::All,
        1,
        PISARCHYK,
        "most loaded steps first, each buffer joins the smallest sufficient object; if there is none, the largest grows"
    ),
    Entry {
        name: "shared-greedy-by-size-improved",
        kind: Kind::Heuristic,
        about: "in stages of descending size; within a stage, the buffer closest in time to a free object comes first",
        source: PISARCHYK,
        time: "O(n^2) distances for n buffers, more if the closest object of a buffer is taken",
        build: &|_| assigning("shared-greedy-by-size-improved", Bytes::new(1), improved_by_size),
    },
    Entry {
        name: "min-cost-flow",
        kind: Kind::Heuristic,
        about: "minimum-cost flow: each buffer reuses the memory of at most one dead buffer; cubic time",
        source: "Lee et al.: On-Device Neural Net Inference with Mobile GPUs, 2019",
        time: "O(n^3) for n buffers",
        build: &|_| assigning("min-cost-flow", Bytes::new(1), least_cost_flow),
    },
];
