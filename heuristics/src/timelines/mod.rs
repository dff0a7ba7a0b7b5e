//! Heuristic schedules. They determine when the weights of each operator are fetched, for a fixed order of
//! operators.
//!
//! | schedule | start of a transfer | memory for weights |
//! |---|---|---|
//! | `synchronous` | after the previous operator (a copy if there is a copy rate) | one buffer |
//! | `ping-pong` | when the previous operator starts (LUNA, Alg. 3) | two buffers, even and odd |
//! | `ping-pong-weighted` | when the previous operator with weights starts | two buffers, alternating |
//! | `eager` | when the buffer and a channel are free | two buffers, alternating |
//! | `k-buffers` | when the buffer and a channel are free | k buffers, round robin |
//! | `prefetch` | when a channel is free and the weights fit | all memory not used by activations |
//!
//! All schedules fetch in the order of the operators, with one transfer for each operator that has weights.
//! They take O(n) time for n operators, except that `prefetch` takes O(n k) time for k buffers that are on
//! chip at the same time.

mod growing;
mod prefetch;
mod residents;
mod turns;

use plimsoll_model::timelines::Timelines;
use plimsoll_model::{Entry, Kind, guarded};

pub use prefetch::Prefetch;
pub use residents::{Worth, fitting, resident_sets, residents};
pub use turns::{Fetch, Turns};

/// All heuristic schedules, the simplest first.
pub const ENTRIES: &[Entry<Timelines>] = &[
    Entry {
        name: "synchronous",
        kind: Kind::Heuristic,
        about: "one operator at a time: fetches its weights (or lets the processor copy them), then computes",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), baseline of table 3",
        time: "O(n) for n operators",
        build: &|_| guarded(Turns::SYNCHRONOUS),
    },
    Entry {
        name: "ping-pong",
        kind: Kind::Heuristic,
        about: "when an operator starts, fetches the weights of the next one into the other of two buffers",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), Alg. 3",
        time: "O(n) for n operators",
        build: &|_| guarded(Turns::PING_PONG),
    },
    Entry {
        name: "ping-pong-weighted",
        kind: Kind::Heuristic,
        about: "ping-pong over only the operators with weights; the others neither use a buffer nor start a transfer",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), Alg. 3, with another numbering",
        time: "O(n) for n operators",
        build: &|_| guarded(Turns::PING_PONG_WEIGHTED),
    },
    Entry {
        name: "eager",
        kind: Kind::Heuristic,
        about: "double buffering: fetches as soon as the next of two buffers is free",
        source: "textbook",
        time: "O(n) for n operators",
        build: &|_| guarded(Turns::EAGER),
    },
    Entry {
        name: "k-buffers",
        kind: Kind::Heuristic,
        about: "like eager, but with k buffers in round-robin order (--buffers)",
        source: "textbook",
        time: "O(n) for n operators",
        build: &|setup| guarded(Turns::buffers(setup.buffers)),
    },
    Entry {
        name: "prefetch",
        kind: Kind::Heuristic,
        about: "fetches in order, each as soon as a channel is free and the memory suffices until its operator has run",
        source: "this project",
        time: "O(n k) for n operators and k buffers on chip at the same time",
        build: &|_| guarded(Prefetch),
    },
];
