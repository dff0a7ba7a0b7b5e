//! The execution checker: runs a graph in its memory and reports every read that does not find the data
//! written.
//!
//! It does not use lifetimes. The memory records which value each address holds. Each write of a tensor
//! stores a new value at its addresses. A read is correct if all of them still hold that value. Runs differ
//! in the decisions of operators with regions ([`Graph::flow`](crate::graph::Graph::flow)): the branch taken
//! and the number of trips. All combinations are run, up to a limit; beyond the limit, further runs are drawn
//! at random.
//!
//! # Semantics
//!
//! - **Start**: inputs of the body, states and weights are written. **End**: outputs of the body are read.
//!   States and weights must still be intact, and so must inputs if the caller keeps them
//!   ([`ExecutionOptions::keep_inputs`]).
//! - **An operator** reads its inputs and writes outputs and scratch. All of them must then be intact,
//!   because it writes while it reads. An output declared as a [view](crate::graph::AliasKind) of an input in
//!   the same slot takes over the value of the input. An input that is declared to be overwritten in place
//!   need not be intact afterwards. Any other sharing of a slot overwrites its contents.
//! - **An operator with regions** reads its inputs once, when it is entered. Its scratch is held until it is
//!   left, and so are stacked outputs, from entry. Aliases have no effect on it.
//! - **Handovers** of one moment are copied simultaneously: all sources are read, then all destinations are
//!   written, then both must be intact. If both tensors share a slot, nothing is copied and the value passes
//!   on. A region that has not run hands over nothing. Outputs of the operator without a handover are written
//!   when it is left.
//! - **A region** receives its handovers each time it begins, and trip numbers, which have no source in
//!   memory.
//! - **Slots may be exchanged** ([`ExecutionOptions::swap`]): instead of copying a result of a loop body to
//!   the state, the two slots swap roles. This holds for everything inside the loop, until it is left. A
//!   handover out of the loop is copied from the current slot of the state, unless that is the destination.
//!
//! Tensors without a slot, or of zero bytes, occupy no memory. They are checked only for being written before
//! they are read. A value taken over by a larger tensor does not fill it, which is a violation when the
//! tensor is read.

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

/// The result of an execution check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionReport {
    /// The number of runs.
    pub runs: usize,
    /// True if every combination of decisions was run and no run was truncated.
    pub complete: bool,
    /// All violations, in the order found. A violation of the same operator at the same stage is reported for
    /// the first run only.
    pub violations: Vec<ExecutionViolation>,
}

/// Runs a graph in its memory. If slots, orders or sizes are inconsistent, the violations are reported and
/// nothing is run.
///
/// O(r n log t) for r runs of n operators and t tensors that are not split. The time does not depend on
/// tensor sizes.
///
/// # Errors
/// [`FlowError`] if the regions of an operator cannot be run.
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
