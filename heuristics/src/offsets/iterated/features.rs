//! The features of buffers from which weighted random orders are computed.

use crate::offsets::buffer_orders::log2;
use crate::offsets::heat::Heat;
use plimsoll_model::{Budget, BufferId, Instance, Stop};

/// Number of buffers between two checks of the budget.
const POLLED: usize = 1 << 12;

/// The exponents in the product of features by which buffers are ordered, largest product first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub size: f64,
    pub duration: f64,
    pub heat: f64,
}

/// The logarithms of the size, the duration and the heat of every buffer.
#[derive(Clone, Debug)]
pub(super) struct Features {
    logs: Vec<[f64; 3]>,
}

impl Features {
    /// Computes the features. O(n log n) for n buffers, plus the time for the profile of the load.
    ///
    /// # Errors
    /// If the budget ends first.
    pub(super) fn of(instance: &Instance, watch: &mut Budget) -> Result<Self, Stop> {
        let heat = Heat::of(instance);
        let mut logs = Vec::with_capacity(instance.len());
        for buffers in instance.buffers().chunks(POLLED) {
            if let Some(stop) = watch.check() {
                return Err(stop);
            }
            logs.extend(buffers.iter().map(|buffer| {
                let lifespan = buffer.lifespan();
                [buffer.size().get(), lifespan.duration(), heat.during(lifespan).load.get()].map(log2)
            }));
        }
        Ok(Self { logs })
    }

    /// Returns the buffers in descending order of the weighted sum of the logarithms of their features,
    /// plus noise. Ties are broken by id. Only multiplication and addition are used, so the result is
    /// identical on every machine.
    pub(super) fn order(&self, weights: Weights, mut noise: impl FnMut(BufferId) -> f64) -> Vec<BufferId> {
        let score = |(at, [size, duration, heat]): (usize, &[f64; 3])| {
            let id = BufferId::at(at);
            let sum = weights.size * size + weights.duration * duration + weights.heat * heat;
            (sum + noise(id), id)
        };
        let mut scored: Vec<(f64, BufferId)> = self.logs.iter().enumerate().map(score).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().map(|(_, id)| id).collect()
    }
}
