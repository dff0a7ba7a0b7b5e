//! Timeline problems: a sequence of operators with their times and bytes.

use super::machine::Machine;
use crate::time::Time;
use crate::units::{Bytes, OperatorId};

/// An operator of the sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedOperator {
    /// The name. It need not be unique.
    pub name: String,
    /// The computing time.
    pub compute: Time,
    /// Bytes of weights to fetch before the operator runs; zero if it has no weights.
    pub weights: Bytes,
    /// Bytes of activations in on-chip memory while the operator runs. They occupy the lowest addresses.
    pub activations: Bytes,
}

/// The DMA engine that fetches weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dma {
    /// The number of channels. Each carries one transfer at a time.
    pub channels: u32,
    /// The setup latency of a transfer.
    pub startup: Time,
    /// The bandwidth of each channel in bytes per second.
    pub bandwidth: u64,
}

/// The reason why operators do not form a timeline problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum TimelineError {
    #[error("times up to operator '{name}' add up to more than 106 days (2^63 picoseconds)")]
    TooLong { operator: OperatorId, name: String },
    #[error("weights and activations up to operator '{name}' add up to 2^63 bytes or more")]
    TooLarge { operator: OperatorId, name: String },
    /// A parameter that must be positive is zero.
    #[error("{0} must not be zero")]
    Zero(&'static str),
}

/// Operators in a fixed order, a DMA engine, and on-chip memory. A timeline problem is validated and
/// immutable.
///
/// All times of a problem (computations, transfers and copies) add up to at most [`Time::LONGEST`]. All
/// rounded weights and the largest activations together have at most 2^63 - 1 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineProblem {
    name: String,
    operators: Vec<TimedOperator>,
    /// Per operator: the time to fetch its weights in one transfer; `None` if it has no weights.
    loads: Vec<Option<Time>>,
    /// The rate in bytes per second at which the processor copies weights; `None` if it does not copy.
    copy: Option<u64>,
    /// Per operator: the bytes of its weights, rounded up to the alignment.
    buffers: Vec<Bytes>,
    dma: Dma,
    capacity: Bytes,
    alignment: Bytes,
    /// The largest rounded weights of the operators at even positions, and of those at odd positions.
    parity: [Bytes; 2],
}

impl TimelineProblem {
    /// Creates a problem from its parts. O(n) for n operators.
    ///
    /// # Errors
    /// The first [`TimelineError`] found.
    pub fn new(
        name: impl Into<String>,
        operators: Vec<TimedOperator>,
        dma: Dma,
        capacity: Bytes,
        alignment: Bytes,
    ) -> Result<Self, TimelineError> {
        let zero = [
            (dma.channels == 0, "the number of channels"),
            (dma.bandwidth == 0, "the bandwidth"),
            (alignment == Bytes::ZERO, "the alignment"),
        ];
        if let Some((_, what)) = zero.iter().find(|(is_zero, _)| *is_zero) {
            return Err(TimelineError::Zero(what));
        }
        let mut loads = Vec::with_capacity(operators.len());
        let mut buffers = Vec::with_capacity(operators.len());
        let mut parity = [Bytes::ZERO; 2];
        let (mut time, mut bytes, mut highest) = (Time::ZERO, 0u64, 0u64);
        for (at, one) in operators.iter().enumerate() {
            let label = || (OperatorId::at(at), one.name.clone());
            let too_long = || {
                let (operator, name) = label();
                TimelineError::TooLong { operator, name }
            };
            let load = if one.weights == Bytes::ZERO {
                None
            } else {
                let bare = Time::at_rate(one.weights.get(), dma.bandwidth);
                Some(bare.and_then(|bare| bare.checked_add(dma.startup)).ok_or_else(too_long)?)
            };
            let sum = time.checked_add(one.compute).and_then(|sum| sum.checked_add(load.unwrap_or_default()));
            time = sum.filter(|sum| *sum <= Time::LONGEST).ok_or_else(too_long)?;
            highest = highest.max(one.activations.get());
            let buffer = one.weights.align_up(alignment);
            let sum = buffer.and_then(|buffer| bytes.checked_add(buffer.get()));
            let fits = |sum: &u64| sum.checked_add(highest).is_some_and(|all| i64::try_from(all).is_ok());
            let (Some(buffer), Some(sum)) = (buffer, sum.filter(fits)) else {
                let (operator, name) = label();
                return Err(TimelineError::TooLarge { operator, name });
            };
            bytes = sum;
            parity[at % 2] = parity[at % 2].max(buffer);
            loads.push(load);
            buffers.push(buffer);
        }
        let name = name.into();
        Ok(Self { name, operators, loads, copy: None, buffers, dma, capacity, alignment, parity })
    }

    /// Creates a problem on a machine. Operators are not sliced.
    ///
    /// # Errors
    /// The first [`TimelineError`] found.
    pub fn on(
        machine: &Machine,
        name: impl Into<String>,
        operators: Vec<TimedOperator>,
    ) -> Result<Self, TimelineError> {
        let dma = Dma { channels: machine.channels, startup: machine.startup, bandwidth: machine.bandwidth };
        Self::new(name, operators, dma, machine.capacity, machine.alignment)?.with_copy(machine.copy)
    }

    /// Creates a problem for the same machine with the given operators and capacity. O(n) for n operators.
    ///
    /// # Errors
    /// The first [`TimelineError`] found.
    pub fn with(&self, operators: Vec<TimedOperator>, capacity: Bytes) -> Result<Self, TimelineError> {
        Self::new(self.name.clone(), operators, self.dma, capacity, self.alignment)?.with_copy(self.copy)
    }

    /// Sets the rate in bytes per second at which the processor copies weights. `None` disables copies. O(n)
    /// for n operators.
    ///
    /// # Errors
    /// [`TimelineError`] if the rate is zero or times overflow.
    pub fn with_copy(mut self, rate: impl Into<Option<u64>>) -> Result<Self, TimelineError> {
        self.copy = rate.into();
        let Some(rate) = self.copy else { return Ok(self) };
        if rate == 0 {
            return Err(TimelineError::Zero("the rate of copies"));
        }
        let mut sum = Some(Time::ZERO);
        for (at, one) in self.operators.iter().enumerate() {
            let more = [
                Some(one.compute),
                self.loads[at].or(Some(Time::ZERO)),
                Time::at_rate(one.weights.get(), rate),
            ];
            sum = more.into_iter().fold(sum, |sum, more| sum?.checked_add(more?));
            if sum.is_none_or(|sum| sum > Time::LONGEST) {
                return Err(TimelineError::TooLong { operator: OperatorId::at(at), name: one.name.clone() });
            }
        }
        Ok(self)
    }

    /// Enlarges the two ping-pong buffers to at least the given sizes. All segments of a program share these
    /// buffers.
    #[must_use]
    pub fn with_parity(mut self, parity: [Bytes; 2]) -> Self {
        self.parity = [0, 1].map(|at| self.parity[at].max(parity[at]));
        self
    }

    /// Returns the name of the problem, used in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the operators in execution order.
    pub fn operators(&self) -> &[TimedOperator] {
        &self.operators
    }

    /// Returns the number of operators.
    pub fn len(&self) -> usize {
        self.operators.len()
    }

    /// Returns true if there are no operators.
    pub fn is_empty(&self) -> bool {
        self.operators.is_empty()
    }

    /// Returns the DMA engine.
    pub fn dma(&self) -> Dma {
        self.dma
    }

    /// Returns the size of on-chip memory in bytes.
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// Returns the alignment of buffers in bytes.
    pub fn alignment(&self) -> Bytes {
        self.alignment
    }

    /// Returns the time of the transfer that fetches the weights of the operator at a position; `None` if
    /// the operator has no weights.
    pub fn load(&self, at: usize) -> Option<Time> {
        self.loads[at]
    }

    /// Returns the rate in bytes per second at which the processor copies weights; `None` if it does not
    /// copy.
    pub fn copy_rate(&self) -> Option<u64> {
        self.copy
    }

    /// Returns the time that the processor needs to copy the weights of the operator at a position. Returns
    /// `None` if the operator has no weights or the processor does not copy.
    pub fn copy(&self, at: usize) -> Option<Time> {
        self.loads[at]?;
        Time::at_rate(self.operators[at].weights.get(), self.copy?)
    }

    /// Returns the size in bytes of the weight buffer of the operator at a position, rounded up to the
    /// alignment.
    pub fn buffer(&self, at: usize) -> Bytes {
        self.buffers[at]
    }

    /// Returns the sizes of the two ping-pong buffers: the first serves the operators at even positions, and
    /// the second serves those at odd positions.
    pub fn parity(&self) -> [Bytes; 2] {
        self.parity
    }

    /// Returns the positions of the operators with weights, ascending.
    pub fn weighted(&self) -> Vec<usize> {
        (0..self.len()).filter(|&at| self.loads[at].is_some()).collect()
    }

    /// Returns the maximum of the activations over all operators, in bytes.
    pub fn activations(&self) -> Bytes {
        self.operators.iter().map(|one| one.activations).max().unwrap_or(Bytes::ZERO)
    }

    /// Returns the highest aligned offset at which a buffer of `size` bytes ends at or below `end`, if any.
    pub fn below(&self, end: Bytes, size: Bytes) -> Option<Bytes> {
        let top = end.get().checked_sub(size.get())?;
        Some(Bytes::new(top - top % self.alignment.get()))
    }

    /// Returns the highest aligned offset at which a buffer of `size` bytes ends within the capacity and
    /// overlaps no range in `taken`, if any. O(n log n) for n ranges.
    ///
    /// Each range is given as a pair: the first address above the range, then the first address of the range.
    /// Ranges may overlap each other.
    pub fn highest_free(&self, size: Bytes, mut taken: Vec<(u64, Bytes)>) -> Option<Bytes> {
        taken.sort_unstable_by(|a, b| b.cmp(a));
        let mut end = self.capacity;
        for (above, offset) in taken {
            let candidate = self.below(end, size)?;
            if candidate.get() >= above {
                return Some(candidate);
            }
            end = end.min(offset);
        }
        self.below(end, size)
    }

    /// Returns the first operator whose activations and weights do not fit into on-chip memory together, if
    /// any. If there is one, no timeline exists.
    pub fn too_large(&self) -> Option<usize> {
        (0..self.len()).find(|&at| self.is_too_large(at))
    }

    /// Returns true if the activations and weights of an operator do not fit into on-chip memory together.
    pub(crate) fn is_too_large(&self, at: usize) -> bool {
        if self.loads[at].is_none() {
            return self.operators[at].activations > self.capacity;
        }
        let free = self.below(self.capacity, self.buffers[at]);
        free.is_none_or(|free| free < self.operators[at].activations)
    }
}

/// Splits operators with more than `slice` bytes of weights into parts of equal size, at most `slice` bytes
/// each. Only the last part may be smaller. O(n) for n parts in total.
///
/// Parts are named like `conv[1/3]`. The computing time is divided equally, to within a picosecond.
///
/// # Panics
/// If `slice` is zero.
pub fn sliced(operators: Vec<TimedOperator>, slice: Bytes) -> Vec<TimedOperator> {
    let mut all = Vec::with_capacity(operators.len());
    for one in operators {
        let parts = one.weights.get().div_ceil(slice.get());
        if parts <= 1 {
            all.push(one);
            continue;
        }
        // Differences of cumulative shares add up exactly to the whole.
        let share = |whole: u64, part: u64| (u128::from(whole) * u128::from(part) / u128::from(parts)) as u64;
        let each = one.weights.get().div_ceil(parts);
        for part in 0..parts {
            let weights = each.min(one.weights.get() - each * part);
            let compute = share(one.compute.get(), part + 1) - share(one.compute.get(), part);
            all.push(TimedOperator {
                name: format!("{}[{}/{parts}]", one.name, part + 1),
                compute: Time::new(compute),
                weights: Bytes::new(weights),
                activations: one.activations,
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(compute: u64, weights: u64, activations: u64) -> TimedOperator {
        let (weights, activations) = (Bytes::new(weights), Bytes::new(activations));
        TimedOperator { name: "o".into(), compute: Time::new(compute), weights, activations }
    }

    const DMA: Dma = Dma { channels: 1, startup: Time::new(10), bandwidth: 1_000_000_000_000 };

    #[test]
    fn loads_and_buffers_are_derived() {
        let operators = vec![operator(5, 100, 8), operator(5, 0, 8), operator(5, 33, 8)];
        let p = TimelineProblem::new("p", operators, DMA, Bytes::new(120), Bytes::new(16)).unwrap();
        assert_eq!([p.load(0), p.load(1), p.load(2)], [Some(Time::new(110)), None, Some(Time::new(43))]);
        assert_eq!([0, 1, 2].map(|at| p.buffer(at).get()), [112, 0, 48]);
        assert_eq!(p.parity().map(Bytes::get), [112, 0]);
        assert_eq!(p.weighted(), [0, 2]);
        // The highest aligned address for 112 bytes below 120 is 0, which is within the 8 bytes of
        // activations.
        assert_eq!(p.too_large(), Some(0));
        assert_eq!(p.below(Bytes::new(120), Bytes::new(48)), Some(Bytes::new(64)));
    }

    #[test]
    fn overflows_are_rejected() {
        let new = |one: TimedOperator, dma| {
            TimelineProblem::new("p", vec![operator(0, 0, 0), one], dma, Bytes::new(1), Bytes::new(16))
                .unwrap_err()
                .to_string()
        };
        assert!(new(operator(u64::MAX, 0, 0), DMA).contains("operator 'o' add up to more than 106 days"));
        assert!(new(operator(0, 1 << 40, 0), Dma { bandwidth: 1, ..DMA }).contains("106 days"));
        assert!(
            new(operator(0, u64::MAX, 0), Dma { bandwidth: u64::MAX, ..DMA })
                .contains("add up to 2^63 bytes or more")
        );
        assert!(new(operator(0, 1, 0), Dma { channels: 0, ..DMA }).contains("channels must not be zero"));
    }

    #[test]
    fn the_processor_copies_at_its_rate() {
        let operators = vec![operator(5, 100, 8), operator(5, 0, 8)];
        let p = TimelineProblem::new("p", operators, DMA, Bytes::new(120), Bytes::new(16)).unwrap();
        assert_eq!(p.copy(0), None);
        let copying = p.clone().with_copy(500_000_000_000).unwrap();
        assert_eq!([copying.copy(0), copying.copy(1)], [Some(Time::new(200)), None]);
        assert_eq!(p.clone().with_copy(0), Err(TimelineError::Zero("the rate of copies")));
        let long = vec![operator(0, 1 << 30, 0)];
        let p = TimelineProblem::new("p", long, DMA, Bytes::new(1), Bytes::new(1)).unwrap();
        assert!(p.with_copy(1).unwrap_err().to_string().contains("106 days"));
    }

    #[test]
    fn slices_add_up() {
        let all = sliced(vec![operator(10, 7, 3), operator(1, 2, 0)], Bytes::new(3));
        let parts: Vec<_> = all.iter().map(|o| (o.compute.get(), o.weights.get(), o.name.as_str())).collect();
        assert_eq!(parts, [(3, 3, "o[1/3]"), (3, 3, "o[2/3]"), (4, 1, "o[3/3]"), (1, 2, "o")]);
        for bytes in 1..60 {
            for slice in 1..20 {
                let all = sliced(vec![operator(11, bytes, 0)], Bytes::new(slice));
                assert_eq!(all.iter().map(|o| o.weights.get()).sum::<u64>(), bytes);
                assert!(all.iter().all(|o| (1..=slice).contains(&o.weights.get())), "{bytes} by {slice}");
                assert_eq!(all.iter().map(|o| o.compute.get()).sum::<u64>(), 11);
            }
        }
    }
}
