//! Timelines: the time spans of transfers and computations, and the addresses of weights.

use super::problem::TimelineProblem;
use crate::time::Time;
use crate::units::{Bytes, OperatorId};

/// A half-open span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first moment.
    pub start: Time,
    /// The first moment after the span.
    pub end: Time,
}

/// A fetch of weights. Its buffer is occupied from the start of the transfer to the end of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// The operator that uses the weights, as its position in the problem.
    pub operator: OperatorId,
    /// The channel; `None` if the processor copies the weights. The processor does not compute during the
    /// copy.
    pub channel: Option<u32>,
    /// The number of bytes: the size of all weights of the operator.
    pub bytes: Bytes,
    /// The time span of the transfer.
    pub span: Span,
    /// The first address of the buffer in on-chip memory, in bytes.
    pub offset: Bytes,
    /// The size of the buffer in bytes, which is at least `bytes`.
    pub size: Bytes,
}

/// Memory that is reserved for weights during the whole timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The first address, in bytes.
    pub offset: Bytes,
    /// The size in bytes.
    pub size: Bytes,
}

/// The transfers and computations of a problem, and the slots reserved for weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The transfers, in scheduling order.
    pub transfers: Vec<Transfer>,
    /// The computations, indexed by operator.
    pub computations: Vec<Span>,
    /// Address ranges that are reserved during the whole timeline. Transfers need not use them.
    pub slots: Vec<Slot>,
}

impl Timeline {
    /// Returns the makespan: the end of the last computation.
    pub fn makespan(&self) -> Time {
        self.computations.iter().map(|span| span.end).max().unwrap_or(Time::ZERO)
    }

    /// Returns the occupied on-chip bytes over time: slots, buffers outside slots, and the activations of
    /// the operator that computes now or next. O(n log n) for n operators and transfers.
    ///
    /// Each entry is valid from its time to that of the next entry. Times are ascending, and the last entry
    /// marks the end of the timeline.
    ///
    /// # Panics
    /// If the timeline is not valid for this problem. Check it first.
    pub fn occupancy(&self, problem: &TimelineProblem) -> Vec<(Time, Bytes)> {
        let fixed: u64 = self.slots.iter().map(|slot| slot.size.get()).sum();
        let mut changes: Vec<(Time, i128)> = vec![(Time::ZERO, i128::from(fixed))];
        let in_slot = |transfer: &Transfer| {
            let begins = |slot: &Slot| slot.offset <= transfer.offset;
            let ends = |slot: &Slot| {
                transfer.offset.get() + transfer.size.get() <= slot.offset.get() + slot.size.get()
            };
            self.slots.iter().any(|slot| begins(slot) && ends(slot))
        };
        for transfer in self.transfers.iter().filter(|transfer| !in_slot(transfer)) {
            let size = i128::from(transfer.size.get());
            changes.push((transfer.span.start, size));
            changes.push((self.computations[transfer.operator.index()].end, -size));
        }
        let mut from = Time::ZERO;
        for (span, operator) in self.computations.iter().zip(problem.operators()) {
            let size = i128::from(operator.activations.get());
            if span.end > from {
                changes.push((from, size));
                changes.push((span.end, -size));
            }
            from = span.end;
        }
        changes.sort_by_key(|&(time, _)| time);
        let mut profile: Vec<(Time, Bytes)> = Vec::new();
        let mut held = 0i128;
        for (time, change) in changes {
            held += change;
            let bytes = Bytes::new(u64::try_from(held.max(0)).unwrap_or(u64::MAX));
            match profile.last_mut() {
                Some(last) if last.0 == time => last.1 = bytes,
                _ => profile.push((time, bytes)),
            }
        }
        profile
    }

    /// Returns the peak of the occupied on-chip bytes. O(n log n) for n operators and transfers.
    ///
    /// # Panics
    /// If the timeline is not valid for this problem. Check it first.
    pub fn peak(&self, problem: &TimelineProblem) -> Bytes {
        let occupancy = self.occupancy(problem);
        let busy = occupancy.iter().map(|&(_, bytes)| bytes).max().unwrap_or(Bytes::ZERO);
        // An operator of zero duration still occupies its bytes.
        busy.max(problem.activations())
    }
}
