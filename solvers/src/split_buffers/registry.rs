//! The registry entries of the exact solvers for split buffers.

use super::SplitExact;
use plimsoll_model::{Entry, Kind, SplitBuffers, guarded};

/// Every exact solver for split buffers.
pub const ENTRIES: &[Entry<SplitBuffers>] = &[Entry {
    name: "exact",
    kind: Kind::Exact,
    about: "maximum flow if compatibility is a partial order, otherwise column generation over stable sets",
    source: "this project; Dilworth 1950, Gilmore and Gomory 1961, Farley 1990",
    time: "polynomial if compatibility is a partial order, otherwise exponential at worst",
    build: &|setup| guarded(SplitExact::new(setup)),
}];
