//! The input of the execution checker: a graph in its memory, and the selection of runs.

use crate::graph::Graph;
use crate::units::{Bytes, OperatorId};

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The start address, in bytes.
    pub offset: Bytes,
    /// The size in bytes.
    pub size: Bytes,
}

/// A graph with its orders and the placement of its tensors.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    /// The graph to run.
    pub graph: &'a Graph,
    /// The operators of each region in execution order, indexed by region.
    pub orders: &'a [Vec<OperatorId>],
    /// Ranges of addresses, which may overlap.
    pub slots: Vec<Slot>,
    /// The slot of each tensor, which begins at the start of the slot; `None` for tensors outside. Tensors
    /// may share a slot intentionally.
    pub tensors: Vec<Option<usize>>,
    /// The slot of the scratch memory of each operator, if any.
    pub scratch: Vec<Option<usize>>,
}

/// Selects the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionOptions {
    /// The maximum number of enumerated runs. If there are more combinations, as many runs again are drawn at
    /// random.
    pub runs: usize,
    /// The seed of the random runs.
    pub seed: u64,
    /// Loops run `0..=trips` trips.
    pub trips: usize,
    /// True if slots are exchanged between the trips of a loop instead of copied.
    pub swap: bool,
    /// True if inputs of the body must still be intact at the end.
    pub keep_inputs: bool,
    /// After this number of operators, a run enters loops for zero trips. This bounds nested loops.
    pub steps: usize,
}

impl Default for ExecutionOptions {
    /// 256 runs, at most 3 trips per loop, copies, inputs discarded after their last read, 65536 operators.
    fn default() -> Self {
        Self { runs: 256, seed: 0, trips: 3, swap: false, keep_inputs: false, steps: 1 << 16 }
    }
}
