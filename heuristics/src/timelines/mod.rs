//! Timelines without proof: when to fetch the weights of each operator, operators in their fixed order.
//!
//! | schedule | fetches | memory for weights |
//! |---|---|---|
//! | `synchronous` | when the operator before has computed; the processor copies where the machine says at what rate | one buffer |
//! | `ping-pong` | when the operator before starts (SOURCES S0, Alg. 3) | two buffers, even and odd |
//! | `ping-pong-weighted` | when the operator with weights before starts | two buffers, in turn |
//! | `eager` | as soon as its buffer is free | two buffers, in turn |
//! | `k-buffers` | as soon as its buffer is free | k buffers, in turn |
//! | `prefetch` | as early as a channel is free and it fits | whatever activations leave |
//!
//! All of them fetch in the order of the operators, each operator's weights in one transfer. O(n), `prefetch` O(n k) for k
//! buffers on chip at a time.

mod growing;
mod prefetch;
mod residents;
mod turns;

use plimsoll_model::timelines::Timelines;
use plimsoll_model::{Entry, Kind, guarded};

pub use prefetch::Prefetch;
pub use residents::{Worth, fitting, resident_sets, residents};
pub use turns::{Fetch, Turns};

/// Every schedule, the simplest first.
pub const TIMELINES: &[Entry<Timelines>] = &[
    Entry {
        name: "synchronous",
        kind: Kind::Heuristic,
        about: "fetches (by the processor, where it copies), then computes, one operator after the other",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), the reference of table 3",
        build: &|_| guarded(Turns::SYNCHRONOUS),
    },
    Entry {
        name: "ping-pong",
        kind: Kind::Heuristic,
        about: "fetches for the next operator into the other of two buffers when an operator starts",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), Alg. 3",
        build: &|_| guarded(Turns::PING_PONG),
    },
    Entry {
        name: "ping-pong-weighted",
        kind: Kind::Heuristic,
        about: "ping-pong among operators with weights only: others neither take a turn nor start a fetch",
        source: "the LUNA paper (Wang, Shen, Jing, Lyu), Alg. 3, numbered otherwise",
        build: &|_| guarded(Turns::PING_PONG_WEIGHTED),
    },
    Entry {
        name: "eager",
        kind: Kind::Heuristic,
        about: "double buffering: fetches as soon as the buffer whose turn it is is free",
        source: "textbook",
        build: &|_| guarded(Turns::EAGER),
    },
    Entry {
        name: "k-buffers",
        kind: Kind::Heuristic,
        about: "the same with k buffers in turn (--buffers)",
        source: "textbook",
        build: &|setup| guarded(Turns::buffers(setup.buffers)),
    },
    Entry {
        name: "prefetch",
        kind: Kind::Heuristic,
        about: "fetches in order, each as early as a channel is free and memory fits it until its operator has run",
        source: "own",
        build: &|_| guarded(Prefetch),
    },
];
