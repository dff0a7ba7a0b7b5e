//! Reads buffer assignments of XLA, from text.
//!
//! A module has two files, written with `XLA_FLAGS=--xla_dump_to=FOLDER`. The buffer assignment lists
//! allocations and, below each, its values:
//!
//! ```text
//! allocation 25: size 4096, preallocated-temp:
//!  value: <88 multiply_add_fusion.2 @0> (size=2048,offset=0): f32[8,64]{1,0}
//! ```
//!
//! The live ranges are the lines `    multiply_add_fusion.2{}:14-17` of the section `BufferLiveRange`. Their
//! numbers are steps of the instruction sequence. **Both ends are inclusive.** A value is still live while
//! the last instruction that reads it runs.
//!
//! Every allocation marked `preallocated-temp` is one capture: XLA packs its values into one block.
//! Parameters, constants, outputs and thread-local memory have allocations of their own, and are not part of
//! the capture.
//!
//! XLA intentionally lets some values overlap in both live ranges and addresses. The converted instance keeps
//! these decisions:
//!
//! - Two such values become one buffer if they have the same offset. If the later value begins at the last
//!   step of the earlier one, the two must also have the same size or the same first step. The buffer has the
//!   union of their ranges and the larger size, as in XLA's own heap simulator. Such values are one buffer
//!   under several names: a result that overwrites an operand, or the state of a loop.
//! - Otherwise, if the later value begins at the last step of the earlier one, and no other value begins at
//!   this step, the lifespan of the earlier value ends before this step.
//! - All other pairs become exclusions.
//!
//! Source: `xla/service/buffer_assignment.cc`, `xla/hlo/utils/hlo_live_range.cc`,
//! `xla/service/heap_simulator/heap_simulator.cc`.

use super::capture::{ALIGNMENT, Capture, alignment_of, stem, text_of};
use super::error::CaptureProblem;
use plimsoll_model::{Buffer, Bytes, InstanceBuilder, Layout, Lifespan};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const END: &str = "-buffer-assignment.txt";

/// The first and the last step of each value. The key is the name, followed by the index in braces.
pub(super) type Ranges = HashMap<String, (u64, u64)>;

/// Returns the file with the live ranges of a buffer assignment.
pub(super) fn live_ranges_of(path: &Path) -> Result<PathBuf, CaptureProblem> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(END).ok_or(CaptureProblem::NoLiveRanges)?;
    Ok(path.with_file_name(format!("{stem}-live-range.txt")))
}

/// Reads the section `BufferLiveRange`.
pub(super) fn read_live_ranges(data: &[u8]) -> Result<Ranges, CaptureProblem> {
    let mut lines = text_of(data)?.lines().zip(1..);
    if !lines.any(|(line, _)| line.trim() == "BufferLiveRange:") {
        return Err(CaptureProblem::Nothing("the section BufferLiveRange is missing"));
    }
    let mut ranges = Ranges::new();
    for (text, line) in lines {
        if !text.starts_with("    ") {
            break;
        }
        let wrong = || CaptureProblem::line(line, text, "a live range such as dot{}:16-26");
        let (name, range) = text.trim().rsplit_once(':').ok_or_else(wrong)?;
        let (first, last) = range.split_once('-').ok_or_else(wrong)?;
        let first: u64 = first.parse().map_err(|_| wrong())?;
        let last: u64 = last.parse().map_err(|_| wrong())?;
        if last < first || last == u64::MAX {
            return Err(wrong());
        }
        ranges.insert(name.to_owned(), (first, last));
    }
    Ok(ranges)
}

/// A value, or several values that form one buffer.
#[derive(Clone, Debug)]
struct Value {
    name: String,
    size: u64,
    offset: u64,
    /// The first step.
    first: u64,
    /// The last step.
    last: u64,
}

impl Value {
    fn overlaps(&self, other: &Self) -> bool {
        self.offset < other.offset.saturating_add(other.size)
            && other.offset < self.offset.saturating_add(self.size)
    }
}

/// Reads the buffer assignment.
pub(super) fn read(path: &Path, data: &[u8], ranges: &Ranges) -> Result<Vec<Capture>, CaptureProblem> {
    let mut captures = Vec::new();
    let mut open: Option<(u64, u64, Vec<Value>)> = None;
    let stem = stem(path, "-buffer-assignment");
    let mut close = |open: &mut Option<(u64, u64, Vec<Value>)>| match open.take() {
        Some((id, size, values)) if !values.is_empty() => {
            captures.push(capture(format!("{stem}:{id}"), size, values)?);
            Ok(())
        }
        _ => Ok::<(), CaptureProblem>(()),
    };
    for (text, line) in text_of(data)?.lines().zip(1..) {
        if let Some(rest) = text.strip_prefix("allocation ") {
            close(&mut open)?;
            let wrong = || CaptureProblem::line(line, text, "allocation ID: size BYTES, KIND:");
            let (id, rest) = rest.split_once(": size ").ok_or_else(wrong)?;
            let (size, kind) = rest.split_once([',', ':']).ok_or_else(wrong)?;
            let (id, size) = (id.parse().map_err(|_| wrong())?, size.parse().map_err(|_| wrong())?);
            if kind.contains("preallocated-temp") {
                open = Some((id, size, Vec::new()));
            }
        } else if let (Some((_, _, values)), Some(rest)) = (&mut open, text.strip_prefix(" value: ")) {
            values.push(value(rest, line, ranges)?);
        } else if !text.starts_with(' ') {
            close(&mut open)?;
        }
    }
    close(&mut open)?;
    if captures.is_empty() {
        return Err(CaptureProblem::Nothing("the module has no allocation marked preallocated-temp"));
    }
    let alone = captures.len() == 1;
    let named = |capture: Capture| {
        let name = if alone { stem.clone() } else { capture.instance.name().to_owned() };
        Capture { instance: capture.instance.with_name(name), ..capture }
    };
    Ok(captures.into_iter().map(named).collect())
}

/// Reads `<88 multiply_add_fusion.2 @0> (size=2048,offset=0): f32[8,64]{1,0}`.
fn value(text: &str, line: usize, ranges: &Ranges) -> Result<Value, CaptureProblem> {
    let wrong = || CaptureProblem::line(line, text, "<ID NAME @COLOR> (size=BYTES,offset=BYTES): SHAPE");
    let (label, rest) =
        text.strip_prefix('<').and_then(|text| text.split_once("> (size=")).ok_or_else(wrong)?;
    let (places, _) = rest.split_once(')').ok_or_else(wrong)?;
    let (size, offset) = places.split_once(",offset=").ok_or_else(wrong)?;
    let (size, offset) = (size.parse().map_err(|_| wrong())?, offset.parse().map_err(|_| wrong())?);
    let name = label.split(' ').nth(1).filter(|name| !name.is_empty()).ok_or_else(wrong)?.to_owned();
    let key = if name.ends_with('}') { name.clone() } else { format!("{name}{{}}") };
    let Some(&(first, last)) = ranges.get(&key) else {
        return Err(CaptureProblem::NoLiveRange { line, name });
    };
    Ok(Value { name, size, offset, first, last })
}

/// Converts an allocation.
fn capture(name: String, size: u64, values: Vec<Value>) -> Result<Capture, CaptureProblem> {
    let values = united(values);
    let mut starts: HashMap<u64, usize> = HashMap::new();
    for value in &values {
        *starts.entry(value.first).or_default() += 1;
    }
    let mut uppers: Vec<u64> = values.iter().map(|value| value.last + 1).collect();
    let mut exclusions = Vec::new();
    for (a, b) in overlapping(&values) {
        let (one, two) = (&values[a], &values[b]);
        if one.last == two.first && one.first < one.last && starts[&two.first] == 1 {
            uppers[a] = one.last;
        } else {
            exclusions.push((a, b));
        }
    }
    let alignment = alignment_of(ALIGNMENT, values.iter().map(|value| value.offset));
    let mut builder = InstanceBuilder::new(name.clone());
    for (value, &upper) in values.iter().zip(&uppers) {
        let lifespan = Lifespan::single(value.first, upper).expect("the last step is not before the first");
        builder = builder.buffer(Buffer::new(value.name.as_str(), value.size, lifespan).aligned(alignment));
    }
    for (a, b) in exclusions {
        builder = builder.exclude(a, b);
    }
    let instance = builder.build().map_err(|source| CaptureProblem::Instance { memory: name, source })?;
    let layout = Layout::from_raw(values.iter().map(|value| value.offset));
    Ok(Capture { planner: "XLA".to_owned(), instance, layout: Some(layout), peak: Some(Bytes::new(size)) })
}

/// Merges values that have the same offset and overlap in time. If the later value begins at the last step of
/// the earlier one, the two must also have the same size or the same first step.
fn united(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by(|a, b| (a.first, a.last, &a.name).cmp(&(b.first, b.last, &b.name)));
    let mut united: Vec<Value> = Vec::new();
    // The latest value at each offset. Earlier values at the same offset end no later.
    let mut latest: HashMap<u64, usize> = HashMap::new();
    let are_one = |a: &Value, b: &Value| {
        let several = a.last > b.first || a.first == b.first;
        a.overlaps(b) && (several || (a.last == b.first && a.size == b.size))
    };
    for value in values {
        match latest.get(&value.offset).map(|&at| &mut united[at]) {
            Some(other) if are_one(other, &value) => {
                other.last = other.last.max(value.last);
                other.size = other.size.max(value.size);
            }
            _ => {
                latest.insert(value.offset, united.len());
                united.push(value);
            }
        }
    }
    united
}

/// Returns the pairs of values that overlap in both steps and addresses. The values must be sorted by first
/// step.
fn overlapping(values: &[Value]) -> Vec<(usize, usize)> {
    let (mut live, mut pairs): (Vec<usize>, Vec<(usize, usize)>) = Default::default();
    for (at, value) in values.iter().enumerate() {
        live.retain(|&other| values[other].last >= value.first);
        pairs.extend(live.iter().filter(|&&other| values[other].overlaps(value)).map(|&other| (other, at)));
        live.push(at);
    }
    pairs
}
