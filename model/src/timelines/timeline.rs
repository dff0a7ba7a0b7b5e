//! When everything happens, and where weights lie.

use super::problem::TimelineProblem;
use crate::time::Time;
use crate::units::{Bytes, OperatorId};

/// From a start to an end, half-open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First moment.
    pub start: Time,
    /// First moment after.
    pub end: Time,
}

/// One fetch of weights. Its buffer is occupied from the start of the transfer to the end of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Whose weights, by position in the problem.
    pub operator: OperatorId,
    /// On which channel; none where the processor copies, which computes nothing meanwhile.
    pub channel: Option<u32>,
    /// How many bytes: all of them.
    pub bytes: Bytes,
    /// From start to end.
    pub span: Span,
    /// Where the buffer begins, bytes from the start of the memory on chip.
    pub offset: Bytes,
    /// Its size, at least `bytes`.
    pub size: Bytes,
}

/// Memory held for weights from start to end, whatever lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// First address, bytes.
    pub offset: Bytes,
    /// Size, bytes.
    pub size: Bytes,
}

/// Transfers, computations and fixed buffers of one problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// In the order they were scheduled.
    pub transfers: Vec<Transfer>,
    /// Per operator of the problem.
    pub computations: Vec<Span>,
    /// Buffers that are set aside all the time; transfers may use them or not.
    pub slots: Vec<Slot>,
}

impl Timeline {
    /// When the last operator has computed.
    pub fn makespan(&self) -> Time {
        self.computations.iter().map(|span| span.end).max().unwrap_or(Time::ZERO)
    }

    /// Bytes on chip over time: from each moment listed to the next, activations of the operator that computes or comes next,
    /// slots, and buffers outside of slots. Moments ascend; the last entry is the end. O(n log n).
    ///
    /// # Panics
    /// If the timeline is not one of this problem; check it first.
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

    /// The most bytes on chip at one moment. O(n log n).
    ///
    /// # Panics
    /// As [`Timeline::occupancy`].
    pub fn peak(&self, problem: &TimelineProblem) -> Bytes {
        let occupancy = self.occupancy(problem);
        let busy = occupancy.iter().map(|&(_, bytes)| bytes).max().unwrap_or(Bytes::ZERO);
        // An operator that takes no time holds its bytes all the same.
        busy.max(problem.activations())
    }
}
