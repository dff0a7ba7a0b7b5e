//! Tiers for tensors, without proof.
//!
//! | placement | how |
//! |---|---|
//! | `off-chip` | everything off chip |
//! | `fused` | Algs. 1 to 3 of SOURCES S3: buffers and memories inside fused operators, memories between them |
//! | `fused-printed` | the same with Alg. 1 as printed: memory once taken stays taken |
//! | `greedy` | those that save most per byte and step first, each into the fastest tier with room |
//! | `local-search` | from the best of these: a few out, and in again in another order |

mod fill;
mod fused;
mod greedy;
mod local;

use fill::planner;
use greedy::all_off_chip;
use plimsoll_model::tiers::Tiers;
use plimsoll_model::{Entry, Kind};

pub use fill::Fill;
pub use fused::Fused;
pub use greedy::{by_saving, greedy};
pub use local::{LocalSearch, moves, plans};

/// Every heuristic placement, the simplest first.
pub const TIERS: &[Entry<Tiers>] = &[
    Entry {
        name: "off-chip",
        kind: Kind::Heuristic,
        about: "everything off chip, as without tiers",
        source: "the paper on cross-unit fusion, the reference",
        build: &|_| planner("off-chip", |problem, _| all_off_chip(problem)),
    },
    Entry {
        name: "fused",
        kind: Kind::Heuristic,
        about: "buffers, then memories between units inside a group; such memories between groups where all up to the reader fits",
        source: "the paper on cross-unit fusion, Alg. 1 to 3",
        build: &|_| planner("fused", |problem, _| Fused::RETURNING.plan(problem)),
    },
    Entry {
        name: "fused-printed",
        kind: Kind::Heuristic,
        about: "the same, but memory once taken stays taken",
        source: "the paper on cross-unit fusion, Alg. 1 to 3 as printed",
        build: &|_| planner("fused-printed", |problem, _| Fused::PRINTED.plan(problem)),
    },
    Entry {
        name: "greedy",
        kind: Kind::Heuristic,
        about: "those that save most per byte and step first, each into the fastest tier with room",
        source: "textbook (density greedy for knapsacks)",
        build: &|_| planner("greedy", |problem, _| greedy(problem)),
    },
    Entry {
        name: "local-search",
        kind: Kind::Heuristic,
        about: "from the best of these: takes a few out and puts them in again in another order",
        source: "own, after ruin and recreate (Schrimpf et al. 2000)",
        build: &|setup| {
            planner("local-search", move |problem, budget| LocalSearch::new(setup).plan(problem, budget))
        },
    },
];
