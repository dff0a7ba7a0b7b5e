//! Runs schedules of weight transfers and computations on this machine and compares the times with the
//! predictions.
//!
//! Every operator of a graph without regions becomes a matrix product or a pass over its tensors (`work`).
//! The product has about the same number of multiply-accumulates and the same bytes of weights as the
//! operator. The weights are stored in a memory that is larger than any cache ([`Cold`]). One thread per
//! channel copies them into buffers, at full speed or at the speed of a slower memory ([`Link`]), while the
//! first thread computes.
//!
//! All threads follow the instruction list of a timeline (`execute`). They share a memory whose ranges are
//! lent to one thread at a time (`arena`). An incorrect list is therefore refused, and no result depends on
//! timing. Every run must return the same digest as a run without transfers.
//!
//! - [`take_samples`] measures the times of a calibration chain.
//! - [`conclude`] fits the setup latency, the bandwidth, the overhead and the compute rates to these times.
//!   The result is an ordinary [`Machine`](plimsoll_model::timelines::Machine).
//! - [`compare()`] schedules other graphs with that machine, runs them, and reports the prediction errors.

mod arena;
mod calibrate;
mod chains;
mod cold;
mod compare;
mod execute;
mod fit;
mod kernel;
mod report;
mod work;

pub use calibrate::{
    CalibrateError, Calibration, Fit, Inconclusive, Sample as CalibrationSample,
    Settings as CalibrationSettings, about, conclude, take_samples,
};
pub use chains::chain;
pub use cold::{Cold, Link};
pub use compare::{CompareError, Measured, Sample, ScheduleComparison, Settings, compare};
pub use execute::ExecuteError;
pub use report::{Question, Record};
