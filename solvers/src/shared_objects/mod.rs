//! Exact solvers for shared objects.

#[cfg(feature = "ilp")]
mod ilp;

#[cfg(feature = "ilp")]
pub use ilp::PoolIlp;

use plimsoll_model::{Entry, SharedObjects};
#[cfg(feature = "ilp")]
use plimsoll_model::{Kind, guarded};

/// Every exact solver for the shared-object problem.
pub const ENTRIES: &[Entry<SharedObjects>] = &[
    #[cfg(feature = "ilp")]
    Entry {
        name: "pool-ilp",
        kind: Kind::Exact,
        about: "integer program: the largest buffer of an object represents it, and an object contains at most one buffer of a clique",
        source: "asymmetric representatives for colouring (Campelo, Campos, Correa 2008); good_lp, HiGHS",
        time: "exponential in the number of conflicting pairs at worst",
        build: &|setup| guarded(PoolIlp::new(setup)),
    },
];
