//! The input of the execution checker: a graph, its placement in memory, and the selection of runs.

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

/// The memory of a tensor within a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seat {
    /// The index of the slot.
    pub slot: usize,
    /// The byte of the slot at which the tensor begins.
    pub offset: Bytes,
}

/// A graph with its orders and the placement of its tensors.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    /// The graph to run.
    pub graph: &'a Graph,
    /// The operators of each region in execution order, indexed by region.
    pub orders: &'a [Vec<OperatorId>],
    /// The slots. Their address ranges may overlap.
    pub slots: Vec<Slot>,
    /// The memory of each tensor; `None` for tensors outside the planned memory. Tensors may share a slot
    /// intentionally.
    pub tensors: Vec<Option<Seat>>,
    /// The slot of the scratch memory of each operator, if any. The memory begins where the slot begins.
    pub scratch: Vec<Option<usize>>,
}

/// Selects the runs to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionOptions {
    /// The maximum number of enumerated runs. If there are more combinations, the same number of further runs
    /// is drawn at random.
    pub runs: usize,
    /// The seed of the random runs.
    pub seed: u64,
    /// The maximum trip count of a loop. Every trip count from 0 to this number is tried.
    pub trips: usize,
    /// True if slots may be exchanged between the iterations of a loop, so that their contents need not be
    /// copied.
    pub swap: bool,
    /// True if the inputs of the body of the graph must still be intact at the end of the run.
    pub keep_inputs: bool,
    /// The step limit of a run. After this number of operators, every further loop runs zero iterations. This
    /// bounds the work of nested loops.
    pub steps: usize,
}

impl Default for ExecutionOptions {
    /// Selects 256 runs, at most 3 iterations per loop and a step limit of 65536 operators per run. Slots
    /// are never exchanged, and inputs need not be intact after their last read.
    fn default() -> Self {
        Self { runs: 256, seed: 0, trips: 3, swap: false, keep_inputs: false, steps: 1 << 16 }
    }
}
