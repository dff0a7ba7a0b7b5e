//! Heuristics that assign tensors to tiers of memory.
//!
//! | heuristic | placement |
//! |---|---|
//! | `off-chip` | every tensor in off-chip memory |
//! | `fused` | cross-unit fusion, Alg. 1 to 3: buffers and RAMs inside fused operators, RAMs between them |
//! | `fused-printed` | the same with Alg. 1 as printed: memory is never released |
//! | `greedy` | most time saved per byte and step first, each tensor in the fastest tier with enough space |
//! | `local-search` | starts from the best of these; removes a few tensors and places them again |

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

/// All heuristics for the tier problem, the simplest first.
pub const ENTRIES: &[Entry<Tiers>] = &[
    Entry {
        name: "off-chip",
        kind: Kind::Heuristic,
        about: "places every tensor off chip",
        source: "cross-unit fusion, the baseline",
        time: "O(n) for n tensors",
        build: &|_| planner("off-chip", |problem, _| all_off_chip(problem)),
    },
    Entry {
        name: "fused",
        kind: Kind::Heuristic,
        about: "inside groups, unit buffers, then RAM between units; between groups, RAM if all bytes up to the last consumer fit",
        source: "cross-unit fusion, Alg. 1 to 3",
        time: "O(n T) for n tensors and T steps",
        build: &|_| planner("fused", |problem, _| Fused::RETURNING.plan(problem)),
    },
    Entry {
        name: "fused-printed",
        kind: Kind::Heuristic,
        about: "like fused, but never releases memory",
        source: "cross-unit fusion, Alg. 1 to 3 as printed",
        time: "O(n T) for n tensors and T steps",
        build: &|_| planner("fused-printed", |problem, _| Fused::PRINTED.plan(problem)),
    },
    Entry {
        name: "greedy",
        kind: Kind::Heuristic,
        about: "places tensors by descending time saved per byte and step, each in the fastest tier with enough space",
        source: "textbook (density greedy for knapsacks)",
        time: "O(n (t + T)) for n tensors, t tiers and T steps",
        build: &|_| planner("greedy", |problem, _| greedy(problem)),
    },
    Entry {
        name: "local-search",
        kind: Kind::Heuristic,
        about: "starts from the best of the other heuristics; removes a few tensors and places them again in another order",
        source: "this project; after ruin and recreate (Schrimpf et al. 2000)",
        time: "anytime: O(n T) per move for n tensors and T steps",
        build: &|setup| {
            planner("local-search", move |problem, budget| LocalSearch::new(setup).plan(problem, budget))
        },
    },
];
