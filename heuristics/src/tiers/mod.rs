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

use plimsoll_model::tiers::{TierKind, TierPlan, TierProblem, Tiers, fitting_bound};
use plimsoll_model::{Budget, Entry, Kind, Observer, Outcome, Stats, Stop, guarded};

pub use fill::Fill;
pub use fused::Fused;
pub use greedy::{Greedy, OffChip, by_saving, greedy};
pub use local::{LocalSearch, moves};

/// Every heuristic placement, the simplest first.
pub const TIERS: &[Entry<Tiers>] = &[
    Entry {
        name: "off-chip",
        kind: Kind::Heuristic,
        about: "everything off chip, as without tiers",
        source: "the paper on cross-unit fusion, the reference",
        build: &|_| guarded(OffChip),
    },
    Entry {
        name: "fused",
        kind: Kind::Heuristic,
        about: "buffers, then memories between units inside a group; such memories between groups where all up to the reader fits",
        source: "the paper on cross-unit fusion, Alg. 1 to 3",
        build: &|_| guarded(Fused::RETURNING),
    },
    Entry {
        name: "fused-printed",
        kind: Kind::Heuristic,
        about: "the same, but memory once taken stays taken",
        source: "the paper on cross-unit fusion, Alg. 1 to 3 as printed",
        build: &|_| guarded(Fused::PRINTED),
    },
    Entry {
        name: "greedy",
        kind: Kind::Heuristic,
        about: "those that save most per byte and step first, each into the fastest tier with room",
        source: "textbook (density greedy for knapsacks)",
        build: &|_| guarded(Greedy),
    },
    Entry {
        name: "local-search",
        kind: Kind::Heuristic,
        about: "from the best of these: takes a few out and puts them in again in another order",
        source: "own, after ruin and recreate (Schrimpf et al. 2000)",
        build: &|setup| guarded(LocalSearch::new(setup)),
    },
];

/// The plans of all heuristics that need no search.
pub fn plans(problem: &TierProblem) -> Vec<TierPlan> {
    let fused = [Fused::RETURNING, Fused::PRINTED].map(|one| one.plan(problem));
    fused.into_iter().chain([greedy(problem)]).flatten().collect()
}

/// Puts a tensor off chip, into the fastest such tier with room.
fn off_chip(fill: &mut Fill<'_>, problem: &TierProblem, at: usize) -> bool {
    let options = problem.options(at);
    let mut outside = options.into_iter().filter(|&tier| problem.space(tier).kind == TierKind::Ddr);
    outside.any(|tier| fill.put(at, tier))
}

/// The outcome of a heuristic, with no bound but the simplest.
fn conclude(
    problem: &TierProblem,
    plan: Option<TierPlan>,
    budget: &mut Budget,
    observer: &mut dyn Observer<Tiers>,
) -> Outcome<Tiers> {
    let bound = fitting_bound(problem);
    observer.bound(&bound);
    let nodes = budget.nodes() + problem.tensors().len() as u64;
    let stop = budget.spend(problem.tensors().len() as u64).unwrap_or(Stop::Completed);
    let stats = Stats { nodes, ..Stats::default() };
    Outcome::of(problem, plan, bound, stop, stats)
}
