//! The registry entries of the exact solvers for orders with offsets.

use super::JointExact;
use plimsoll_model::{Entry, Joint, Kind, guarded};

/// Every exact solver that chooses order and offsets together, the default first.
pub const ENTRIES: &[Entry<Joint>] = &[
    Entry {
        name: "exact",
        kind: Kind::Exact,
        about: "places the best order; if a gap remains, tries all orders of small graphs or searches locally over good orders",
        source: "this project",
        time: "exponential in the number of operators at worst",
        build: &|setup| guarded(JointExact::new(setup)),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "one integer program for steps and offsets; only for small graphs",
        source: "after MODeL (Steiner et al. 2022); good_lp, HiGHS",
        time: "exponential in the number of operators and buffers at worst",
        build: &|setup| guarded(super::ilp::JointIlp::new(setup)),
    },
];
