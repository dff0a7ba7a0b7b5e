//! What is run: a graph in its memory, and how runs are chosen.

use crate::graph::Graph;
use crate::units::{Bytes, OperatorId};

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Where it begins, bytes.
    pub offset: Bytes,
    /// How long it is, bytes.
    pub size: Bytes,
}

/// A graph, the order of its operators, and where its tensors lie.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    /// The graph that runs in the slots.
    pub graph: &'a Graph,
    /// Per region: its operators in the order they run.
    pub orders: &'a [Vec<OperatorId>],
    /// Ranges of addresses; they may overlap.
    pub slots: Vec<Slot>,
    /// Per tensor: its slot, at whose start it lies; none where it lies outside. Tensors share a slot on purpose.
    pub tensors: Vec<Option<usize>>,
    /// Per operator: the slot of its scratch memory.
    pub scratch: Vec<Option<usize>>,
}

/// Which runs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionOptions {
    /// So many runs are taken in turn, and where there are more so many are drawn.
    pub runs: usize,
    /// What is drawn follows from this.
    pub seed: u64,
    /// Loops make `0..=trips` trips.
    pub trips: usize,
    /// True where slots change roles instead of being copied between the trips of a loop.
    pub swap: bool,
    /// True where inputs of the body must still be there at the end.
    pub keep_inputs: bool,
    /// A run of so many operators enters loops for no more trips: nested loops multiply.
    pub steps: usize,
}

impl Default for ExecutionOptions {
    /// 256 runs, loops of at most 3 trips, copies, inputs gone after their last read, 65536 operators.
    fn default() -> Self {
        Self { runs: 256, seed: 0, trips: 3, swap: false, keep_inputs: false, steps: 1 << 16 }
    }
}
