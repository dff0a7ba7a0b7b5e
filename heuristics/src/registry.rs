//! Every heuristic there is: the list that the command, the tables and the conformance tests read.

use crate::ejection::EjectionSearch;
use crate::hill_climb::HillClimb;
use crate::iterated::IteratedSearch;
use crate::naive::Naive;
use crate::ordered::Ordered;
use crate::orders::Order;
use crate::patent::{PatentDescending, PatentScattered};
use crate::placement::Fit;
use crate::pools::{Classes, ImprovedBySize, LeastCostFlow, PoolChoice, PoolGreedy};
use crate::two_level::TwoLevel;
use crate::valley::ValleyFit;
use plimsoll_model::{Bytes, Entry, Kind, Offsets, Pools, Scattered, guarded};

const LUNA: &str =
    "Wang, Shen, Jing, Lyu: memory optimisation for control-flow graphs, Alg. 1 (the LUNA paper)";
const PISARCHYK: &str = "Pisarchyk, Lee: Efficient Memory Management for Deep Neural Net Inference, 2020";
const CLASSICAL: &str = "classical list placement for dynamic storage allocation";

const MINI_INFER: &str = "Mini-Infer static memory planning";
const PATENT: &str = "patent on memory management by mutually exclusive operators";
const CANN: &str = "CANN graph engine, memory reuse";

macro_rules! ordered {
    ($name:literal, $order:ident, $fit:ident, $source:expr, $about:literal) => {
        Entry {
            name: $name,
            kind: Kind::Heuristic,
            about: $about,
            source: $source,
            build: &|_| guarded(Ordered { name: $name, order: Order::$order, fit: Fit::$fit }),
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
            build: &|_| {
                guarded(PoolGreedy {
                    name: $name,
                    order: Order::$order,
                    choice: PoolChoice::$choice,
                    classes: $classes,
                    alignment: Bytes::new($alignment),
                })
            },
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
        build: &|_| guarded(Naive),
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
    Entry {
        name: "patent-descending",
        kind: Kind::Heuristic,
        about: "size descending, into memory that one placed non-exclusive buffer uses",
        source: PATENT,
        build: &|_| guarded(PatentDescending),
    },
    Entry {
        name: "ge-two-level",
        kind: Kind::Heuristic,
        about: "merges equal sizes into blocks, packs smaller blocks into larger ones",
        source: CANN,
        build: &|_| guarded(TwoLevel),
    },
    Entry {
        name: "usmp-hill-climb",
        kind: Kind::Heuristic,
        about: "swaps buffers at the peak with earlier conflicting ones, lowest gap",
        source: "Apache TVM, unified static memory planner, hill_climb",
        build: &|setup| guarded(HillClimb::new(setup.seed)),
    },
    Entry {
        name: "iterated-search",
        kind: Kind::Heuristic,
        about: "many orders: a portfolio, random weights, blame; anytime",
        source: "ours; blame after Joslin, Clements: Squeaky Wheel Optimization, 1999",
        build: &|setup| guarded(IteratedSearch::new(setup.seed)),
    },
    Entry {
        name: "valley-fit",
        kind: Kind::Heuristic,
        about: "fills valleys of the skyline with the longest that fits; a million buffers in seconds",
        source: "ours; after Burke, Kendall, Whitwell: the orthogonal stock-cutting problem, 2004",
        build: &|_| guarded(ValleyFit::default()),
    },
    Entry {
        name: "ejection-search",
        kind: Kind::Heuristic,
        about: "puts what ends above a falling target elsewhere, throwing out who is in the way; anytime",
        source: "ours; after Nagata, Braysy: guided ejection search, 2009",
        build: &|setup| guarded(EjectionSearch::new(setup.seed)),
    },
];

/// Every heuristic for the offset problem with buffers cut into pieces.
pub const SCATTERED: &[Entry<Scattered>] = &[Entry {
    name: "patent-scattered",
    kind: Kind::Heuristic,
    about: "size descending, cut into free memory of placed non-exclusive buffers",
    source: PATENT,
    build: &|_| guarded(PatentScattered),
}];

/// Powers of two from 512 bytes up.
const POWERS: Classes = Classes::PowersFrom(Bytes::new(512));

/// Every heuristic for the shared-object problem.
pub const POOLS: &[Entry<Pools>] = &[
    pools!(
        "mini-infer",
        Size,
        First,
        Classes::All,
        256,
        MINI_INFER,
        "colours by size descending; sizes in units of 256 bytes"
    ),
    pools!("mini-infer-unaligned", Size, First, Classes::All, 1, MINI_INFER, "colours by size descending"),
    pools!(
        "max-block",
        Start,
        First,
        Classes::All,
        512,
        CANN,
        "execution order, first free pool; sizes in units of 512 bytes"
    ),
    pools!("max-block-unaligned", Start, First, Classes::All, 1, CANN, "execution order, first free pool"),
    pools!(
        "binary-block",
        Start,
        First,
        POWERS,
        512,
        CANN,
        "execution order, pools by power of two; sizes in units of 512 bytes"
    ),
    pools!("binary-block-unaligned", Start, First, POWERS, 1, CANN, "execution order, pools by power of two"),
    pools!("equality", Start, First, Classes::Equal, 1, PISARCHYK, "execution order, only equal sizes share"),
    pools!(
        "in-order",
        Start,
        SmallestOrGrow,
        Classes::All,
        1,
        PISARCHYK,
        "execution order, smallest sufficient pool or grow the largest"
    ),
    pools!(
        "shared-greedy-by-size",
        Size,
        Smallest,
        Classes::All,
        1,
        PISARCHYK,
        "size descending, smallest free pool"
    ),
    pools!(
        "shared-greedy-by-breadth",
        Breadth,
        SmallestOrGrow,
        Classes::All,
        1,
        PISARCHYK,
        "busiest steps first, smallest sufficient pool or grow the largest"
    ),
    Entry {
        name: ImprovedBySize::NAME,
        kind: Kind::Heuristic,
        about: "stages of sizes descending, in each who is closest in time to a free pool first",
        source: PISARCHYK,
        build: &|_| guarded(ImprovedBySize),
    },
    Entry {
        name: LeastCostFlow::NAME,
        kind: Kind::Heuristic,
        about: "everybody takes over the memory of at most one that has died, at least cost in all; cubic",
        source: "Lee et al.: On-Device Neural Net Inference with Mobile GPUs, 2019",
        build: &|_| guarded(LeastCostFlow),
    },
];
