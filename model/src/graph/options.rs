//! The assumptions of a liveness analysis.

use super::Graph;
use crate::units::{Bytes, RegionId};

/// Where the inputs and outputs of a region are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// In the arena while needed. Inputs are held from the start to their last use, and outputs from their
    /// producer to the end. An input without readers is held before the first operator, together with all
    /// other inputs, and is then released.
    #[default]
    Arena,
    /// In the arena. Inputs are held from the first step to the last, and outputs from their producer to the
    /// end.
    Held,
    /// In the arena from the first step to the last. Their memory is never reused (Mini-Infer).
    Persistent,
    /// Outside the arena, in memory provided by the caller (LUNA).
    Outside,
}

impl Boundary {
    /// Returns true if inputs must still be intact in the arena at the end.
    pub fn keeps_inputs(self) -> bool {
        matches!(self, Self::Held | Self::Persistent)
    }
}

/// The assumptions of a liveness analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivenessOptions {
    /// Where inputs and outputs are stored.
    pub boundary: Boundary,
    /// True if weights occupy the arena for the whole run.
    pub weights: bool,
    /// True if states (variable tensors) occupy the arena for the whole run, even if nothing uses them.
    pub states: bool,
    /// True if views share memory with their inputs.
    pub views: bool,
    /// True if tensors of inner regions may lie in tensors that the region captures.
    pub captured: bool,
    /// True if operators write in place where the rules allow it.
    pub in_place: bool,
    /// True if the operators of every region run in file order. Operators may then write in place more often.
    pub file_order: bool,
    /// The alignment in bytes to which sizes are rounded up.
    pub align: Bytes,
}

impl Default for LivenessOptions {
    /// Returns the options with inputs and outputs in the arena while they are needed, and states in the
    /// arena for the whole run. Weights are outside the arena. Views share memory, and no operator writes
    /// in place. Operators may run in any order.
    fn default() -> Self {
        Self {
            boundary: Boundary::Arena,
            weights: false,
            states: true,
            views: true,
            captured: false,
            in_place: false,
            file_order: false,
            align: Bytes::new(1),
        }
    }
}

impl LivenessOptions {
    /// Returns the options for a region. No enclosing region provides memory for the inputs and outputs of
    /// an inner region. They therefore occupy memory in the arena, but only while they are needed.
    #[must_use]
    pub fn inside(self, region: RegionId) -> Self {
        if region == Graph::BODY { self } else { Self { boundary: Boundary::Arena, ..self } }
    }
}
