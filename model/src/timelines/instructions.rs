//! Timelines as instruction lists for a runtime. [`replay`] converts a list back to a timeline.
//!
//! The list is a single sequential stream. `DMAStart` queues a transfer on its channel and continues.
//! `DMAWait` waits for the end of the transfer of an operator. `Compute` and `Copy` block for their duration.
//! A transfer starts as soon as all earlier transfers in the queue of its channel have ended. [`replay`]
//! executes the stream. The resulting timeline ends no later than the original one.

use super::problem::TimelineProblem;
use super::program::OverlapProgram;
use super::timeline::{Span, Timeline, Transfer};
use crate::time::Time;
use crate::units::{Bytes, OperatorId};
use std::io::{self, Write};

/// An instruction. An operator is identified by its position in the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum Instruction {
    /// Fetches `bytes` of weights into a buffer of `size` bytes at `offset`.
    DmaStart { operator: OperatorId, channel: u32, bytes: Bytes, offset: Bytes, size: Bytes },
    /// Copies `bytes` of weights with the processor instead of a channel.
    Copy { operator: OperatorId, bytes: Bytes, offset: Bytes, size: Bytes },
    /// Waits until the weights of an operator have arrived.
    DmaWait { operator: OperatorId },
    /// Runs an operator.
    Compute { operator: OperatorId },
}

/// The reason why a stream cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ReplayError {
    /// The instruction refers to an operator or channel that does not exist, or is a copy although the
    /// processor does not copy.
    #[error(
        "instruction {at} refers to an operator or channel that does not exist, or copies weights although the processor cannot"
    )]
    Unknown { at: usize },
    /// The instruction runs an operator other than the next one.
    #[error("instruction {at} runs operator {operator}, but operator {expected} is next")]
    Order { at: usize, operator: OperatorId, expected: usize },
    #[error("the end time of instruction {at} overflows (64-bit picoseconds)")]
    TooLong { at: usize },
}

impl Timeline {
    /// Converts the timeline to instructions in execution order. O(n log n) for n operators and transfers.
    ///
    /// Every transfer is queued before the first computation that ends after the start of the transfer. A
    /// transfer that starts while an operator computes is therefore queued before that computation.
    ///
    /// # Panics
    /// If the timeline is not valid for its problem. Check it first.
    pub fn instructions(&self) -> Vec<Instruction> {
        let mut transfers: Vec<&Transfer> = self.transfers.iter().collect();
        // A transfer that starts during a copy is queued before the copy, just as a transfer that starts
        // during a computation is queued before the computation.
        transfers.sort_by_key(|one| {
            let turn = if one.channel.is_some() { one.span.start } else { one.span.end };
            (turn, one.channel.is_some(), one.operator, one.channel)
        });
        let mut needs_wait = vec![false; self.computations.len()];
        for transfer in transfers.iter().filter(|transfer| transfer.channel.is_some()) {
            needs_wait[transfer.operator.index()] = true;
        }
        let mut list = Vec::with_capacity(self.computations.len() + 2 * transfers.len());
        let mut queue = transfers.into_iter().peekable();
        let mut start = |list: &mut Vec<Instruction>, ready: &dyn Fn(&Transfer) -> bool| {
            while let Some(one) = queue.next_if(|one| ready(one)) {
                let Transfer { operator, channel, bytes, offset, size, .. } = *one;
                list.push(match channel {
                    Some(channel) => Instruction::DmaStart { operator, channel, bytes, offset, size },
                    None => Instruction::Copy { operator, bytes, offset, size },
                });
            }
        };
        for (at, span) in self.computations.iter().enumerate() {
            let operator = OperatorId::at(at);
            start(&mut list, &|one| one.span.start < span.start || one.operator <= operator);
            if needs_wait[at] {
                list.push(Instruction::DmaWait { operator });
            }
            start(&mut list, &|one| one.span.start < span.end);
            list.push(Instruction::Compute { operator });
        }
        list
    }
}

/// Executes a stream and returns the resulting timeline, which is not checked. O(n) for n instructions.
///
/// # Errors
/// [`ReplayError`] if the stream cannot be executed.
pub fn replay(problem: &TimelineProblem, stream: &[Instruction]) -> Result<Timeline, ReplayError> {
    let dma = problem.dma();
    let mut free = vec![Time::ZERO; dma.channels as usize];
    let mut arrived = vec![Time::ZERO; problem.len()];
    let mut now = Time::ZERO;
    let mut timeline = Timeline::default();
    for (at, instruction) in stream.iter().enumerate() {
        let too_long = || ReplayError::TooLong { at };
        match *instruction {
            Instruction::DmaStart { operator, channel, bytes, offset, size } => {
                if operator.index() >= problem.len() || channel >= dma.channels {
                    return Err(ReplayError::Unknown { at });
                }
                let start = now.max(free[channel as usize]);
                let takes =
                    Time::at_rate(bytes.get(), dma.bandwidth).and_then(|t| t.checked_add(dma.startup));
                let end = takes.and_then(|takes| start.checked_add(takes)).ok_or_else(too_long)?;
                free[channel as usize] = end;
                arrived[operator.index()] = arrived[operator.index()].max(end);
                let (span, channel) = (Span { start, end }, Some(channel));
                timeline.transfers.push(Transfer { operator, channel, bytes, span, offset, size });
            }
            Instruction::Copy { operator, bytes, offset, size } => {
                let rate = problem.copy_rate().filter(|_| operator.index() < problem.len());
                let rate = rate.ok_or(ReplayError::Unknown { at })?;
                let end = Time::at_rate(bytes.get(), rate).and_then(|takes| now.checked_add(takes));
                let span = Span { start: now, end: end.ok_or_else(too_long)? };
                now = span.end;
                timeline.transfers.push(Transfer { operator, channel: None, bytes, span, offset, size });
            }
            Instruction::DmaWait { operator } => {
                let end = arrived.get(operator.index()).ok_or(ReplayError::Unknown { at })?;
                now = now.max(*end);
            }
            Instruction::Compute { operator } => {
                let expected = timeline.computations.len();
                if operator.index() != expected || expected >= problem.len() {
                    return Err(ReplayError::Order { at, operator, expected });
                }
                let end = now.checked_add(problem.operators()[expected].compute).ok_or_else(too_long)?;
                timeline.computations.push(Span { start: now, end });
                now = end;
            }
        }
    }
    Ok(timeline)
}

/// Writes instructions as CSV with the columns `segment,instruction,operator,name,channel,bytes,offset,size`.
/// Columns that do not apply are empty.
///
/// The column `operator` contains the position of the operator in its segment. `size` is the size of the
/// buffer, and `bytes` is the number of bytes written to it.
///
/// # Errors
/// Any error from the writer.
///
/// # Panics
/// If an instruction refers to an operator that the problem does not have.
pub fn write_instructions<'a>(
    segments: impl IntoIterator<Item = (&'a TimelineProblem, Vec<Instruction>)>,
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS)?;
    for (problem, stream) in segments {
        write_segment(problem, &stream, &mut writer)?;
    }
    writer.flush()
}

/// Writes the instructions of a program with one timeline per segment.
///
/// Resident weights come first. If they are fetched before the program, their transfers are in the segment
/// `preload`. If they stay from run to run, they are in the segment `resident`, with an instruction
/// `Resident` that states their address. In both segments, a row contains the name of the first operator that
/// fetches the weights, but no position.
///
/// # Errors
/// Any error from the writer.
///
/// # Panics
/// If the timelines do not belong to the program.
pub fn write_program(
    program: &OverlapProgram,
    timelines: &[Timeline],
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS)?;
    let residency = program.residency();
    let named = |resident: usize| (&program.blocks()[residency.blocks[resident]], residency.slots[resident]);
    let mut row = |segment: &str, word: &str, resident: usize, channel: &str| {
        let (block, slot) = named(resident);
        let [bytes, offset, size] = [block.bytes, slot.offset, slot.size].map(|bytes| bytes.to_string());
        writer.write_record([segment, word, "", &block.name, channel, &bytes, &offset, &size])
    };
    for load in &residency.loads {
        row("preload", "DMAStart", load.resident, &load.channel.to_string())?;
    }
    if residency.loads.is_empty() {
        for resident in 0..residency.blocks.len() {
            row("resident", "Resident", resident, "")?;
        }
    }
    for load in &residency.loads {
        let name = &named(load.resident).0.name;
        writer.write_record(["preload", "DMAWait", "", name, "", "", "", ""])?;
    }
    for (segment, timeline) in program.segments().iter().zip(timelines) {
        write_segment(&segment.problem, &timeline.instructions(), &mut writer)?;
    }
    writer.flush()
}

const COLUMNS: [&str; 8] =
    ["segment", "instruction", "operator", "name", "channel", "bytes", "offset", "size"];

fn write_segment(
    problem: &TimelineProblem,
    stream: &[Instruction],
    writer: &mut csv::Writer<&mut dyn Write>,
) -> io::Result<()> {
    for instruction in stream {
        let of = |channel: String, buffer: [Bytes; 3]| {
            let [bytes, offset, size] = buffer.map(|bytes| bytes.to_string());
            [channel, bytes, offset, size]
        };
        let (word, operator, rest) = match *instruction {
            Instruction::DmaStart { operator, channel, bytes, offset, size } => {
                ("DMAStart", operator, of(channel.to_string(), [bytes, offset, size]))
            }
            Instruction::Copy { operator, bytes, offset, size } => {
                ("Copy", operator, of(String::new(), [bytes, offset, size]))
            }
            Instruction::DmaWait { operator } => ("DMAWait", operator, Default::default()),
            Instruction::Compute { operator } => ("Compute", operator, Default::default()),
        };
        let (position, name) = (operator.to_string(), &problem.operators()[operator.index()].name);
        let [channel, bytes, offset, size] = rest;
        writer.write_record([problem.name(), word, &position, name, &channel, &bytes, &offset, &size])?;
    }
    Ok(())
}
