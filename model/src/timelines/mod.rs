//! Timelines: the times at which weights are fetched and operators compute.
//!
//! Activations and weight buffers share a small on-chip memory. All weights are in off-chip memory, and DMA
//! fetches them before their operator runs. A [`TimelineProblem`] is a sequence of operators with their
//! times and bytes on one [`Machine`]. A [`Timeline`] contains the start and the end of every transfer and
//! every computation, and the addresses of the weights. The value of a timeline is its *makespan*, an exact
//! [`Time`].
//!
//! [`check_timeline`] reports the violations of a timeline, and [`time_bound`] returns a lower bound on the
//! makespan of every timeline. [`Timeline::instructions`] converts a timeline to instructions for a runtime.
//! The weights of an operator are fetched in one transfer. To fetch them in parts, split the operator with
//! [`sliced`].
//!
//! ```text
//! channel 0  |load a|load b   |  |load c|
//! compute           |a|        b    |   |c      |      load b overlaps a; c waits until a buffer is free
//! ```
//!
//! A graph with branches and loops is an [`OverlapProgram`]. It consists of segments, which end where regions
//! begin and end, and of a [`ControlTree`] that connects the segments. A transfer never overlaps a
//! computation or transfer of another segment (LUNA, rules 1 to 5).
//!
//! The model does not cover fetching the inputs and storing the outputs of the network, copies between
//! regions, memory banks, or contention between channels.

mod bound;
mod check;
mod instructions;
pub(crate) mod machine;
mod prefix_sums;
mod problem;
mod program;
mod residency;
mod resident;
mod timeline;

pub use crate::presets::PRESETS;
pub use crate::time::Time;
pub use bound::{
    TimeBound, TimeWitness, compute_bound, confirm_time_bound, fitting_bound, memory_bound, time_bound,
    transfer_bound,
};
pub use check::{TimelineViolation, check_timeline};
pub use instructions::{Instruction, ReplayError, replay, write_instructions, write_program};
pub use machine::{Machine, Rates, read_times};
pub use problem::{Dma, TimedOperator, TimelineError, TimelineProblem, sliced};
pub use program::{
    Activations, ControlTree, OverlapError, OverlapOptions, OverlapProgram, OverlapSegment, Piece,
    RegionOrder, WeightBlock,
};
pub use residency::residency_bound;
pub use resident::{Preload, Residency};
pub use timeline::{Slot, Span, Timeline, Transfer};

use crate::bound::BoundError;
use crate::problem::{Bound, Problem};

/// The timeline problem: schedule transfers and computations, and minimise the makespan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timelines {}

impl Problem for Timelines {
    type Input = TimelineProblem;
    type Solution = Timeline;
    type Value = Time;
    type Witness = TimeWitness;
    type Violation = TimelineViolation;
    const NAME: &'static str = "timelines";

    fn value(_: &TimelineProblem, timeline: &Timeline) -> Time {
        timeline.makespan()
    }

    /// Returns an upper limit on the makespan of any timeline. A lower bound above this limit means that some
    /// operator does not fit into on-chip memory.
    fn limit(_: &TimelineProblem) -> Option<Time> {
        Some(Time::LONGEST)
    }

    fn floor(problem: &TimelineProblem) -> Bound<Self> {
        fitting_bound(problem)
    }

    fn explain(problem: &TimelineProblem, witness: &TimeWitness) -> String {
        witness.in_words(problem)
    }

    fn name_of<'a>(problem: &'a TimelineProblem, member: &str, index: usize) -> Option<&'a str> {
        problem.operators().get(index).filter(|_| member == "operator").map(|operator| operator.name.as_str())
    }

    fn check(problem: &TimelineProblem, timeline: &Timeline) -> Vec<TimelineViolation> {
        check_timeline(problem, timeline)
    }

    fn confirm(problem: &TimelineProblem, bound: &Bound<Self>) -> Result<(), BoundError> {
        confirm_time_bound(problem, bound)
    }
}
