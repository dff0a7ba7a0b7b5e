//! Fast answers, no proof.

use plimsoll_model::{Entry, Offsets, Pools, Scattered};

/// Every heuristic for the offset problem.
pub const OFFSETS: &[Entry<Offsets>] = &[];

/// Every heuristic for the offset problem with buffers cut into pieces.
pub const SCATTERED: &[Entry<Scattered>] = &[];

/// Every heuristic for the shared-object problem.
pub const POOLS: &[Entry<Pools>] = &[];
