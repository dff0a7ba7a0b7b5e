//! Runs with their memory measured.

use crate::machine::MemoryMeter;
use plimsoll_model::run::{Attempt, Limits};
use plimsoll_model::{Entry, Observer, Problem, Setup, interrupt};
use std::time::{Duration, Instant};

/// Time that a run which is measured waits for solvers that runs before it left behind.
const SETTLING: Duration = Duration::from_secs(10);

/// [`run`](plimsoll_model::run::run), with memory measured. Waits first for solvers that runs before left behind: they would share its processor.
pub fn run_measured<P: Problem>(
    entry: &Entry<P>,
    input: &P::Input,
    setup: Setup,
    limits: Limits,
    observer: &mut dyn Observer<P>,
) -> Attempt<P> {
    settle();
    let meter = MemoryMeter::start();
    plimsoll_model::run::run_measured(entry, input, setup, limits, observer, || meter.peak())
}

/// Waits until no solver that was left behind computes any more, at most [`SETTLING`].
fn settle() {
    let started = Instant::now();
    while plimsoll_solvers::abandoned() > 0 && started.elapsed() < SETTLING && !interrupt::is_requested() {
        std::thread::sleep(Duration::from_millis(5));
    }
}
