//! Runs external planners, and built-in algorithms in processes of their own.

use crate::experiment::{Experiment, Run};
use crate::external;
use crate::row::{Row, Status};
use plimsoll_model::{Instance, Layout, Offsets, Problem};

/// The row of a process, and its layout if that is valid.
pub(super) struct Peered {
    pub row: Row,
    /// The instance with the capacity to decide.
    pub instance: Option<Instance>,
    pub layout: Option<Layout>,
}

/// Runs the planner of a run in its own process group. Returns `None` if a request to stop ended it.
pub(super) fn ask_peer(experiment: &Experiment, run: &Run, asked: Row) -> Option<Peered> {
    let input = &experiment.inputs[run.input];
    let (Some(peer), Some(instance), Some(capacity)) =
        (experiment.peer(run.task), input.instance(), experiment.passed_capacity(run))
    else {
        let row = asked.without(Status::Failed, "an external planner requires an instance");
        return Some(Peered { row, instance: None, layout: None });
    };
    let instance = instance.clone().with_capacity(experiment.capacity(run));
    let asked = Row { floor: Some(Offsets::floor(&instance).value.get()), ..asked };
    let blank = asked.clone();
    let (row, layout) = external::answer(peer, &instance, capacity, asked, experiment.extras.trace)?;
    let (seconds, peak) = (row.seconds, row.peak_memory_bytes);
    if let Some(bytes) = peak.filter(|&peak| experiment.memory.is_some_and(|most| peak > most)) {
        let why = format!("resident memory of {bytes} bytes exceeds the limit");
        let row = Row { seconds, peak_memory_bytes: peak, ..blank.without(Status::OutOfMemory, &why) };
        return Some(Peered { row, instance: None, layout: None });
    }
    Some(Peered { row, instance: Some(instance), layout })
}
