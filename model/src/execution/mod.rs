//! The execution checker: runs a graph in its memory and reports every read that does not find what was written.
//!
//! It knows nothing of lifetimes. Memory remembers which value lies at which address; each time a tensor is written its
//! addresses carry a new value, and a read is right where all of them still carry the one written last. Runs differ in
//! what operators with regions do ([`Graph::flow`](crate::graph::Graph::flow)): which branch, how many trips. All combinations are run, one by one,
//! or as many as allowed and then others drawn at random.
//!
//! # What runs
//! - **Start**: inputs of the body, states and weights are written. **End**: outputs of the body are read, and states and
//!   weights must still be there, inputs too where the caller keeps them ([`ExecutionOptions::keep_inputs`]).
//! - **An operator** reads its inputs, writes outputs and scratch, and must then find all of them, for it writes while it
//!   reads. Where an output shares its slot with an input of which it is declared a [view](crate::graph::AliasKind), it
//!   takes over that one's value; where it is declared to be written in place, that input need not be found again.
//!   Everything else that shares a slot without being declared is written over.
//! - **An operator with regions** reads its inputs once, when it is entered. Its scratch is held until it is left, its
//!   outputs that are written part by part from its entry on; aliases mean nothing to it.
//! - **Handovers** of one moment are copied all at once: everything is read, then written, then both must be found. Where
//!   both tensors share a slot nothing is copied: the value passes on. What a region that has not run would hand is not
//!   handed; outputs of the operator that nothing was handed to are written when it is left.
//! - **A region** is given what is handed to it, and numbers of trips, which come from nowhere, each time it begins.
//! - **Roles may change** ([`ExecutionOptions::swap`]): instead of copying what the body of a loop made to the state, the
//!   two slots change roles for all that lies inside the loop, until it is left. What is handed out of the loop is copied
//!   from where the state lies then, unless that is the very slot it goes to.
//!
//! Tensors without a slot, or of zero bytes, take no memory; of them only that they were written before they are read is
//! checked. A value that a larger tensor takes over does not fill it: that is a violation when it is read.

mod decisions;
mod machine;
mod memory;
mod placed;
mod prepared;
#[cfg(test)]
mod tests;
mod violation;

pub use placed::{ExecutionOptions, Placed, Slot};
pub use violation::{ExecutionViolation, Holder, Stage};

use crate::graph::FlowError;
use machine::Machine;
use prepared::{Prepared, malformed};

/// What was run and found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionReport {
    /// Runs made.
    pub runs: usize,
    /// True where every combination of decisions was run, and none cut short.
    pub complete: bool,
    /// All that is wrong, in the order found; what one operator misses at one moment is told for the first run only.
    pub violations: Vec<ExecutionViolation>,
}

/// Runs a graph in its memory. Where slots, orders or sizes make no sense nothing is run, and that is reported.
///
/// O(runs · operators run · log tensors) for tensors that do not lie in pieces; none of it depends on their sizes.
///
/// # Errors
/// Where an operator's regions cannot be run.
pub fn check_execution(placed: &Placed, options: &ExecutionOptions) -> Result<ExecutionReport, FlowError> {
    let violations = malformed(placed);
    if !violations.is_empty() {
        return Ok(ExecutionReport { runs: 0, complete: false, violations });
    }
    let prepared = Prepared::new(placed)?;
    let mut machine = Machine::new(&prepared, options);
    let (mut runs, mut more) = (0, true);
    while more && runs < options.runs {
        machine.run();
        runs += 1;
        more = machine.decisions.advance();
    }
    if more {
        machine.decisions.draw(options.seed);
        (0..options.runs).for_each(|_| machine.run());
        runs += options.runs;
    }
    let complete = !more && !machine.clipped;
    Ok(ExecutionReport { runs, complete, violations: machine.violations })
}
