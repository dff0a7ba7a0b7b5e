//! A timeline as a list of instructions for a runtime, which [`replay`] makes a timeline again.
//!
//! The list is one stream, taken in order. `DMAStart` queues a transfer on its channel and goes on, `DMAWait` waits until the
//! transfer of an operator has ended, `Compute` and `Copy` take their time. A transfer starts when its channel is free and its
//! turn has come: [`replay`] runs the stream and gives a timeline that ends no later than the one it came from.

use super::problem::TimelineProblem;
use super::program::OverlapProgram;
use super::timeline::{Span, Timeline, Transfer};
use crate::time::Time;
use crate::units::{Bytes, OperatorId};
use std::io::{self, Write};

/// One instruction. Operators are positions in the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum Instruction {
    /// Fetch `bytes` of weights into a buffer of `size` at `offset`.
    DmaStart { operator: OperatorId, channel: u32, bytes: Bytes, offset: Bytes, size: Bytes },
    /// The same by the processor instead of a channel.
    Copy { operator: OperatorId, bytes: Bytes, offset: Bytes, size: Bytes },
    /// Wait until the weights of an operator are there.
    DmaWait { operator: OperatorId },
    /// Run an operator.
    Compute { operator: OperatorId },
}

/// A stream that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ReplayError {
    /// An instruction that names what is not there.
    #[error(
        "instruction {at} names an operator or a channel that is not there, or copies on a machine that does not"
    )]
    Unknown { at: usize },
    /// Operators that do not run once each, in order.
    #[error("instruction {at} runs operator {operator}, but operator {expected} is next")]
    Order { at: usize, operator: OperatorId, expected: usize },
    #[error("instruction {at} ends beyond the range of time")]
    TooLong { at: usize },
}

impl Timeline {
    /// The instructions, in the order a runtime takes them: every transfer is queued right before the first computation that starts
    /// after it has, or earlier where it waited for its channel while an operator computed. The timeline must
    /// be valid. O(n log n).
    ///
    /// # Panics
    /// If the timeline is not one of its problem; check it first.
    pub fn instructions(&self) -> Vec<Instruction> {
        let mut transfers: Vec<&Transfer> = self.transfers.iter().collect();
        // What starts during a copy is queued before it, as before a computation.
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

/// Runs a stream: the timeline it gives, which is still to be checked. O(n).
///
/// # Errors
/// [`ReplayError`] where it cannot be run.
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

/// Writes instructions as CSV: `segment,instruction,operator,name,channel,bytes,offset,size`, empty where it does not apply.
/// Operators are positions in their segment; `size` is that of the buffer, of which `bytes` are filled.
///
/// # Errors
/// What the writer reports.
///
/// # Panics
/// If they name operators the problem has not.
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

/// The same for a program with one timeline per segment. Weights that are resident come first, in segments that are called
/// `preload`, with transfers as in any other, or, where they stay from run to run, `resident`, with an instruction `Resident`
/// that says where they lie. Both name the operator that fetched them first and have no position.
///
/// # Errors
/// What the writer reports.
///
/// # Panics
/// If the timelines are not those of the program.
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
