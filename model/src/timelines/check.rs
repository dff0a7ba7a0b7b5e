//! The checker of timelines. It applies the definitions directly and shares no code with the schedulers.
//!
//! A timeline is *valid* if
//! - operators compute in order, one at a time, for exactly their computing time;
//! - an operator with weights has one transfer, which carries all of its weights, ends no later than the
//!   operator starts, and takes exactly the setup latency plus the bytes divided by the bandwidth;
//! - a channel carries one transfer at a time;
//! - a transfer without a channel is a copy by the processor, which the machine must support. The copy takes
//!   exactly the bytes divided by the copy rate, and the processor does nothing else meanwhile;
//! - a weight buffer is occupied from the start of its transfer to the end of its operator. During that time,
//!   it shares no address with another buffer, with a slot that does not contain it, or with the activations
//!   of an operator that computes. Activations occupy the lowest addresses;
//! - the offset and the size of a buffer are multiples of the alignment, and the buffer ends within the
//!   capacity.
//!
//! Between two computations, memory needs no further check, because a buffer that is occupied then is still
//! occupied while the next operator computes.

use super::problem::TimelineProblem;
use super::timeline::{Slot, Timeline, Transfer};
use crate::time::Time;
use crate::units::{Bytes, OperatorId};

/// A violation of the definition of a valid timeline. Operators and transfers are identified by position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum TimelineViolation {
    #[error("there are {given} computations, but {expected} operators")]
    Count { given: usize, expected: usize },
    #[error("transfer {transfer} is for operator {operator}, but there are only {operators} operators")]
    NoSuchOperator { transfer: usize, operator: OperatorId, operators: usize },
    /// The channel of the transfer does not exist.
    #[error("transfer {transfer} is on channel {channel}, but there are only {channels} channels")]
    NoSuchChannel { transfer: usize, channel: u32, channels: u32 },
    /// The transfer is a copy, but the processor of the machine does not copy.
    #[error("transfer {transfer} has no channel, but the processor of this machine cannot copy weights")]
    NoCopy { transfer: usize },
    /// The processor copies while it computes or performs another copy.
    #[error("at {time}, the processor copies transfer {transfer} and at the same time {what} {position}")]
    ProcessorBusy {
        transfer: usize,
        /// `computes operator` or `copies transfer`.
        what: &'static str,
        position: usize,
        time: Time,
    },
    #[error("operator '{name}' computes from {start} to {end}, but must take {expected}")]
    ComputeTime { operator: OperatorId, name: String, start: Time, end: Time, expected: Time },
    #[error("transfer {transfer} of {bytes} bytes runs from {start} to {end}, but must take {expected}")]
    TransferTime { transfer: usize, bytes: Bytes, start: Time, end: Time, expected: Time },
    /// The operator starts before the previous one has ended.
    #[error("operator {after} starts at {start}, before operator {before} ends at {end}")]
    Precedence { before: OperatorId, end: Time, after: OperatorId, start: Time },
    /// The weights arrive after the start of their operator.
    #[error("operator '{name}' starts at {start}, before its transfer {transfer} ends at {end}")]
    Late { operator: OperatorId, name: String, start: Time, transfer: usize, end: Time },
    /// The transfers of an operator carry more or fewer bytes than its weights have.
    #[error("transfers carry {given} bytes for operator '{name}', which has {expected} bytes of weights")]
    Carried { operator: OperatorId, name: String, given: u128, expected: Bytes },
    /// The operator has more than one transfer.
    #[error("transfers {first} and {second} are both for operator '{name}'")]
    Twice { operator: OperatorId, name: String, first: usize, second: usize },
    /// Two transfers on one channel overlap in time.
    #[error("transfers {first} and {second} both occupy channel {channel} at {time}")]
    ChannelBusy { first: usize, second: usize, channel: u32, time: Time },
    /// The buffer is too small, or the transfer carries no bytes.
    #[error("transfer {transfer} carries {bytes} bytes into a buffer of {size} bytes at {offset}")]
    BufferSize { transfer: usize, bytes: Bytes, size: Bytes, offset: Bytes },
    /// The buffer or slot begins at an unaligned address.
    #[error("{what} {position} begins at {offset}, which is not a multiple of {alignment}")]
    Misaligned {
        /// `transfer` or `slot`.
        what: &'static str,
        position: usize,
        offset: Bytes,
        alignment: Bytes,
    },
    /// The size of the buffer or slot is not a multiple of the alignment.
    #[error("{what} {position} occupies {size} bytes, which is not a multiple of {alignment}")]
    Ragged {
        /// `transfer` or `slot`.
        what: &'static str,
        position: usize,
        size: Bytes,
        alignment: Bytes,
    },
    /// Two buffers share addresses at the same time.
    #[error("the buffers of transfers {first} and {second} share addresses from {offset} at {time}")]
    Overlap {
        first: usize,
        second: usize,
        /// The first shared address.
        offset: Bytes,
        /// The first moment at which they are shared.
        time: Time,
    },
    /// Two slots share addresses, or a slot shares addresses with a buffer that is not inside it.
    #[error("slot {slot} shares addresses with {what} {position}")]
    SlotOverlap {
        slot: usize,
        /// `slot` or `transfer`.
        what: &'static str,
        position: usize,
    },
    #[error(
        "{what} {position} begins at {offset}, below the {activations} bytes of activations while operator {operator} computes"
    )]
    Activations {
        /// `transfer` or `slot`.
        what: &'static str,
        position: usize,
        offset: Bytes,
        operator: OperatorId,
        activations: Bytes,
    },
    /// The activations of the operator alone exceed the capacity.
    #[error(
        "operator '{name}' needs {activations} bytes of activations, more than the capacity of {capacity}"
    )]
    TooLarge { operator: OperatorId, name: String, activations: Bytes, capacity: Bytes },
    /// The buffer or slot ends above the capacity.
    #[error("{what} {position} ends at {end}, beyond the capacity of {capacity} bytes")]
    OverCapacity {
        /// `transfer` or `slot`.
        what: &'static str,
        position: usize,
        end: u128,
        capacity: Bytes,
    },
}

/// Returns the violations found in a timeline. The list is empty if the timeline is valid. For n
/// operators and transfers, k slots, and p pairs of a buffer and another buffer or operator that overlap in
/// time, O(n log n + p + k (k + n)).
///
/// Each use of a channel or of the processor is compared only with its neighbours in time, so not every pair
/// of overlapping uses is reported.
pub fn check_timeline(problem: &TimelineProblem, timeline: &Timeline) -> Vec<TimelineViolation> {
    if timeline.computations.len() != problem.len() {
        return vec![TimelineViolation::Count {
            given: timeline.computations.len(),
            expected: problem.len(),
        }];
    }
    let mut check = Check { problem, timeline, found: Vec::new() };
    check.computations();
    check.transfers();
    if !check.found.iter().any(|one| matches!(one, TimelineViolation::NoSuchOperator { .. })) {
        check.carried();
        check.channels();
        check.processor();
        check.memory();
    }
    check.found
}

struct Check<'a> {
    problem: &'a TimelineProblem,
    timeline: &'a Timeline,
    found: Vec<TimelineViolation>,
}

fn takes(start: Time, end: Time, expected: Time) -> bool {
    start.checked_add(expected) == Some(end)
}

fn top(offset: Bytes, size: Bytes) -> u128 {
    u128::from(offset.get()) + u128::from(size.get())
}

impl Check<'_> {
    fn computations(&mut self) {
        let spans = &self.timeline.computations;
        for (at, (one, span)) in self.problem.operators().iter().zip(spans).enumerate() {
            let operator = OperatorId::at(at);
            if !takes(span.start, span.end, one.compute) {
                let (name, start, end, expected) = (one.name.clone(), span.start, span.end, one.compute);
                self.found.push(TimelineViolation::ComputeTime { operator, name, start, end, expected });
            }
            if at > 0 && span.start < spans[at - 1].end {
                let (before, end) = (OperatorId::at(at - 1), spans[at - 1].end);
                self.found.push(TimelineViolation::Precedence {
                    before,
                    end,
                    after: operator,
                    start: span.start,
                });
            }
            if one.activations > self.problem.capacity() {
                let (name, activations, capacity) =
                    (one.name.clone(), one.activations, self.problem.capacity());
                self.found.push(TimelineViolation::TooLarge { operator, name, activations, capacity });
            }
        }
    }

    /// Checks each transfer individually.
    fn transfers(&mut self) {
        let (dma, operators) = (self.problem.dma(), self.problem.len());
        for (transfer, one) in self.timeline.transfers.iter().enumerate() {
            let (start, end) = (one.span.start, one.span.end);
            let expected = match (one.channel, self.problem.copy_rate()) {
                (Some(_), _) => Time::at_rate(one.bytes.get(), dma.bandwidth)
                    .and_then(|bare| bare.checked_add(dma.startup)),
                (None, Some(rate)) => Time::at_rate(one.bytes.get(), rate),
                (None, None) => {
                    self.found.push(TimelineViolation::NoCopy { transfer });
                    Some(end.saturating_sub(start))
                }
            };
            let expected = expected.unwrap_or(Time::MAX);
            if !takes(start, end, expected) {
                let bytes = one.bytes;
                self.found.push(TimelineViolation::TransferTime { transfer, bytes, start, end, expected });
            }
            if let Some(channel) = one.channel.filter(|&channel| channel >= dma.channels) {
                let channels = dma.channels;
                self.found.push(TimelineViolation::NoSuchChannel { transfer, channel, channels });
            }
            if one.size < one.bytes || one.bytes == Bytes::ZERO {
                let (bytes, size, offset) = (one.bytes, one.size, one.offset);
                self.found.push(TimelineViolation::BufferSize { transfer, bytes, size, offset });
            }
            self.place("transfer", transfer, one.offset, one.size);
            if one.operator.index() >= operators {
                let operator = one.operator;
                self.found.push(TimelineViolation::NoSuchOperator { transfer, operator, operators });
                continue;
            }
            let computation = self.timeline.computations[one.operator.index()];
            if computation.start < end {
                let name = self.problem.operators()[one.operator.index()].name.clone();
                let (operator, start) = (one.operator, computation.start);
                self.found.push(TimelineViolation::Late { operator, name, start, transfer, end });
            }
        }
    }

    /// Checks the alignment and the end of a buffer or slot.
    fn place(&mut self, what: &'static str, position: usize, offset: Bytes, size: Bytes) {
        let (alignment, capacity) = (self.problem.alignment(), self.problem.capacity());
        if !offset.get().is_multiple_of(alignment.get()) {
            self.found.push(TimelineViolation::Misaligned { what, position, offset, alignment });
        }
        if !size.get().is_multiple_of(alignment.get()) {
            self.found.push(TimelineViolation::Ragged { what, position, size, alignment });
        }
        let end = top(offset, size);
        if end > u128::from(capacity.get()) {
            self.found.push(TimelineViolation::OverCapacity { what, position, end, capacity });
        }
    }

    fn carried(&mut self) {
        let mut carried = vec![0u128; self.problem.len()];
        let mut first = vec![None; self.problem.len()];
        for (second, one) in self.timeline.transfers.iter().enumerate() {
            carried[one.operator.index()] += u128::from(one.bytes.get());
            if let Some(first) = first[one.operator.index()].replace(second) {
                let (operator, name) =
                    (one.operator, self.problem.operators()[one.operator.index()].name.clone());
                self.found.push(TimelineViolation::Twice { operator, name, first, second });
            }
        }
        for (at, (one, given)) in self.problem.operators().iter().zip(carried).enumerate() {
            if given != u128::from(one.weights.get()) {
                let (operator, name, expected) = (OperatorId::at(at), one.name.clone(), one.weights);
                self.found.push(TimelineViolation::Carried { operator, name, given, expected });
            }
        }
    }

    fn channels(&mut self) {
        let span = |&at: &usize| self.timeline.transfers[at].span;
        let mut order: Vec<usize> = (0..self.timeline.transfers.len()).collect();
        order.retain(|&at| self.timeline.transfers[at].channel.is_some());
        order.sort_by_key(|at| (self.timeline.transfers[*at].channel, span(at).start));
        for pair in order.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|at| &self.timeline.transfers[at]);
            if let Some(channel) = a.channel.filter(|_| a.channel == b.channel && b.span.start < a.span.end) {
                let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
                let time = b.span.start;
                self.found.push(TimelineViolation::ChannelBusy { first, second, channel, time });
            }
        }
    }

    /// Checks that the processor does only one thing at a time. Overlapping computations are already reported
    /// by the check of the order.
    fn processor(&mut self) {
        let copies = self.timeline.transfers.iter().enumerate();
        let copies = copies.filter(|(_, one)| one.channel.is_none()).map(|(at, one)| (one.span, at, true));
        let computations = self.timeline.computations.iter().enumerate().map(|(at, span)| (*span, at, false));
        // A computation of zero duration may coincide with the start or the end of a copy, but must not be
        // inside it.
        let mut doing: Vec<_> = copies.chain(computations).collect();
        doing.sort_by_key(|(span, ..)| (span.start, span.end));
        for pair in doing.windows(2) {
            let [(first, a, a_copies), (second, b, b_copies)] = [pair[0], pair[1]];
            if second.start >= first.end || !(a_copies || b_copies) {
                continue;
            }
            let what = if a_copies && b_copies { "copies transfer" } else { "computes operator" };
            let (transfer, position) = if a_copies { (a, b) } else { (b, a) };
            let time = second.start;
            self.found.push(TimelineViolation::ProcessorBusy { transfer, what, position, time });
        }
    }

    fn memory(&mut self) {
        let end = |one: &Transfer| self.timeline.computations[one.operator.index()].end;
        let transfers = &self.timeline.transfers;
        let mut order: Vec<usize> = (0..transfers.len()).collect();
        order.sort_by_key(|&at| transfers[at].span.start);
        for (rank, &a) in order.iter().enumerate() {
            let one = &transfers[a];
            for &b in &order[rank + 1..] {
                let other = &transfers[b];
                if other.span.start >= end(one) {
                    break;
                }
                let below = one.offset.max(other.offset);
                let shared = top(one.offset, one.size).min(top(other.offset, other.size));
                if u128::from(below.get()) < shared {
                    let (first, second) = (a.min(b), a.max(b));
                    let time = other.span.start;
                    self.found.push(TimelineViolation::Overlap { first, second, offset: below, time });
                }
            }
            self.above_activations(a);
        }
        self.slots();
    }

    /// Compares an occupied buffer with the activations of every operator that computes meanwhile. The
    /// activations must lie below the buffer.
    fn above_activations(&mut self, position: usize) {
        let one = &self.timeline.transfers[position];
        let last = one.operator.index();
        for at in (0..=last).rev() {
            if at < last && self.timeline.computations[at].end <= one.span.start {
                break;
            }
            self.beside(("transfer", position), one.offset, at);
        }
    }

    /// Reports a buffer or slot that begins below the end of the activations of an operator.
    fn beside(&mut self, (what, position): (&'static str, usize), offset: Bytes, at: usize) {
        let (operator, activations) = (OperatorId::at(at), self.problem.operators()[at].activations);
        if offset < activations {
            let found = TimelineViolation::Activations { what, position, offset, operator, activations };
            self.found.push(found);
        }
    }

    fn slots(&mut self) {
        let meet = |slot: &Slot, offset, size| {
            u128::from(slot.offset.get()) < top(offset, size)
                && u128::from(offset.get()) < top(slot.offset, slot.size)
        };
        for (at, slot) in self.timeline.slots.iter().enumerate() {
            self.place("slot", at, slot.offset, slot.size);
            for (position, other) in self.timeline.slots.iter().enumerate().skip(at + 1) {
                if meet(slot, other.offset, other.size) {
                    self.found.push(TimelineViolation::SlotOverlap { slot: at, what: "slot", position });
                }
            }
            for (position, other) in self.timeline.transfers.iter().enumerate() {
                let inside = slot.offset <= other.offset
                    && top(other.offset, other.size) <= top(slot.offset, slot.size);
                if !inside && meet(slot, other.offset, other.size) {
                    self.found.push(TimelineViolation::SlotOverlap { slot: at, what: "transfer", position });
                }
            }
            if slot.size > Bytes::ZERO {
                (0..self.problem.len()).for_each(|operator| self.beside(("slot", at), slot.offset, operator));
            }
        }
    }
}
