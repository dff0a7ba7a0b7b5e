//! Schedules of weights and computations, run on this machine and held against what was predicted.
//!
//! Every operator of a straight graph becomes a product with as many multiply-accumulates and as many bytes of weights
//! (`work`). The weights lie in memory larger than any cache ([`Cold`]); a second thread copies them into buffers, at
//! full speed or at the pace of a slower memory ([`Link`]), while the first computes. Both follow
//! the instruction list of a timeline (`execute`) in a memory whose ranges are lent to one of them at a time (`arena`), so
//! that a wrong list is refused and no result depends on times; every run must give the digest of one without
//! transfers.
//!
//! [`take_samples`] runs a chain of its own, and [`conclude`] fits start-up, bandwidth, overhead and rates to its times: an ordinary
//! [`Machine`](plimsoll_model::timelines::Machine). [`compare()`] schedules other graphs with it, runs them, and says how far off the predictions are.

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
pub use compare::{CompareError, Comparison, Measured, Sample, Settings, compare};
pub use execute::ExecuteError;
pub use report::{Question, Record};
