//! The registry entries of the heuristics for shared objects.

use super::{Classes, PoolChoice, PoolGreedy, assigning, improved_by_size, least_cost_flow};
use crate::offsets::Order;
use crate::sources::{CANN, MINI_INFER, PISARCHYK};
use plimsoll_model::{Bytes, Entry, Kind, SharedObjects};

macro_rules! pools {
    ($name:literal, $order:ident, $choice:ident, $classes:expr, $alignment:literal, $source:expr, $about:literal) => {
        Entry {
            name: $name,
            kind: Kind::Heuristic,
            about: $about,
            source: $source,
            time: "O(n p log n) for n buffers and p objects; O(n^2) with gaps, separations or exclusions",
            build: &|setup| {
                let (order, choice) = (Order::$order, PoolChoice::$choice);
                PoolGreedy { order, choice, classes: $classes, alignment: Bytes::new($alignment) }
                    .solver($name, setup)
            },
        }
    };
}

/// The size classes that are powers of two, from 512 bytes.
const POWERS: Classes = Classes::PowersFrom(Bytes::new(512));

/// All heuristics for the shared-object problem.
pub const ENTRIES: &[Entry<SharedObjects>] = &[
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
        "max-block",
        Start,
        First,
        Classes::All,
        512,
        CANN,
        "in execution order, each buffer joins the first free object; sizes are rounded up to multiples of 512 bytes"
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
        build: &|setup| assigning("shared-greedy-by-size-improved", (Bytes::new(1), setup), improved_by_size),
    },
    Entry {
        name: "min-cost-flow",
        kind: Kind::Heuristic,
        about: "minimum-cost flow: each buffer reuses the memory of at most one dead buffer; cubic time",
        source: "Lee et al.: On-Device Neural Net Inference with Mobile GPUs, 2019",
        time: "O(n^3) for n buffers",
        build: &|setup| assigning("min-cost-flow", (Bytes::new(1), setup), least_cost_flow),
    },
];
