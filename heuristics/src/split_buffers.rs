//! Heuristics for split buffers.

use crate::offsets::descending::descending_split;
use crate::offsets::report::single;
use crate::sources::PATENT;
use plimsoll_model::{Entry, Kind, SplitBuffers};

/// All heuristics for split buffers.
pub const ENTRIES: &[Entry<SplitBuffers>] = &[Entry {
    name: "split-by-size",
    kind: Kind::Heuristic,
    about: "places buffers by descending size, split over the memory of placed buffers without a conflict",
    source: PATENT,
    time: "O(n^2 log n) for n buffers",
    build: &|_| single("split-by-size", |instance, budget| descending_split(instance, budget).map(Some)),
}];
