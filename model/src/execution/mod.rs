//! The execution checker. It simulates a run of a graph in its planned memory and reports every read that
//! does not find the expected data.
//!
//! The checker does not use lifespans. Each tensor in memory lies in a *slot*, which is an address range that
//! several tensors may share, each at its own byte. The checker records which value each address contains.
//! Each write of a tensor stores a new value at its addresses. A read is correct if all of these addresses
//! still contain the bytes of the value that they should contain: a view consists of bytes of values that
//! were written for other tensors. Runs differ in the decisions of operators with regions
//! ([`Graph::flow`](crate::graph::Graph::flow)): the branches taken and the trip counts. All combinations are
//! run, up to a limit. If there are more, further runs are drawn at random.
//!
//! # Semantics
//!
//! - **Start**: states, weights and the inputs of the body are written. **End**: outputs of the body are
//!   read. States and weights must still be intact, and so must inputs if the caller keeps them
//!   ([`ExecutionOptions::keep_inputs`]).
//! - **An operator** reads its inputs and writes its outputs and its scratch. All of them must then be
//!   intact, because the operator writes while it reads. An output declared as a
//!   [view](crate::graph::AliasKind) of an input takes over the bytes of the input if both lie in the same
//!   slot at the declared distance. The operator writes the other bytes of the output. If an output declared
//!   to be written in place of an input begins at the same byte of the same slot, the input need not be
//!   intact afterwards. Any other sharing of a slot overwrites its contents.
//! - **An operator with regions** reads its inputs once, when it is entered. Its scratch and its stacked
//!   outputs are held from its entry to its exit. Its aliases have no effect.
//! - **Handovers** at the same moment are performed simultaneously: all sources are read, then all
//!   destinations are written, and then all of these tensors must be intact. If a handover concerns a whole
//!   tensor, and its source and destination begin at the same byte of a slot, nothing is copied, and the
//!   destination takes over the value. A region that has not run hands over nothing. Outputs of the operator
//!   that no handover has written are written at its exit.
//! - **When a region begins**, its handovers for that moment are performed. Inputs without a source in
//!   memory, such as the iteration number, are written at the same time.
//! - **Slots may be exchanged** ([`ExecutionOptions::swap`]). A result of a loop body is then not copied to
//!   the state. Instead, the slots of the result and the state swap roles. The exchange applies to
//!   everything inside the loop until the loop ends. A handover out of the loop is copied from the current
//!   slot of the state, unless the destination is in that slot.
//!
//! Tensors without a slot or of zero bytes occupy no memory. For them, the checker only verifies that they
//! are written before they are read. If a tensor takes over the value of a smaller tensor, the value does
//! not fill it, and reading it is a violation.

mod decisions;
mod machine;
mod memory;
mod placed;
mod prepared;
#[cfg(test)]
mod tests;
mod violation;

pub use placed::{ExecutionOptions, Placed, Seat, Slot};
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
    /// All violations, in the order found. A violation of the same tensor or scratch memory by the same
    /// operator at the same stage is reported only once.
    pub violations: Vec<ExecutionViolation>,
}

/// Simulates runs of a graph in its planned memory. If slots, orders or sizes are inconsistent, the function
/// reports the violations and runs nothing.
///
/// O(r n log t) for r runs of n operators and t tensors, if ranges are not split. The time does not depend on
/// the sizes of tensors.
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
