//! Reads memory snapshots of `PyTorch`, from pickles.
//!
//! `torch.cuda.memory._dump_snapshot` writes the state of the caching allocator, and the events that led to
//! it:
//!
//! ```text
//! {"segments": [{"device", "address", "total_size", "stream", "segment_pool_id",
//!                "blocks": [{"size", "requested_size", "address", "state"}, ..]}, ..],
//!  "device_traces": [[{"action", "addr", "size", "stream", "pool_id"}, ..], ..]}
//! ```
//!
//! The allocator reserves segments and places blocks in them. Blocks of different devices, memory pools or
//! streams never share a segment, so each combination of these is one capture. The planner's peak is the
//! largest number of bytes that the segments of a capture reserve at the same time.
//!
//! Event `i` of a device is step `i + 1`. A block is live from its event `alloc` to its event
//! `free_completed`, after which the allocator may reuse the memory; the interval is half-open. Blocks
//! without the first event are live from step 0, and blocks without the second event are live to the end.
//! Sizes are those requested; the allocator places blocks at multiples of 512 bytes.
//!
//! The addresses become offsets: all ranges that were ever reserved are laid end to end, in order of their
//! addresses. A capture has no layout if these ranges do not fit into the peak. This happens if the allocator
//! has returned segments to the device and then reserved others.
//!
//! Source: `torch/cuda/memory.py`, `c10/cuda/CUDACachingAllocator.cpp`,
//! `torch/csrc/cuda/memory_snapshot.cpp`.

use super::capture::{Block, Capture, alignment_of, instance_of, stem};
use super::error::CaptureProblem;
use super::pickle::{Id, Pickle};
use plimsoll_model::{Bytes, Layout};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The alignment of blocks, in bytes.
const ALIGNMENT: u64 = 512;

/// Stream and memory pool.
type Key = (i64, [i64; 2]);

/// The memory of a stream and pool on one device.
#[derive(Default)]
struct Memory {
    blocks: Vec<Block>,
    /// The block at each address, if it is live.
    live: HashMap<u64, usize>,
    /// The address and the size of all ranges that were ever reserved.
    reserved: Vec<(u64, u64)>,
    /// The bytes in segments at the end.
    total: i128,
    /// The change of the reserved bytes since the first event, and its maximum.
    change: i128,
    most: i128,
}

pub(super) fn read(path: &Path, data: &[u8]) -> Result<Vec<Capture>, CaptureProblem> {
    // Other pickles contain unsupported instructions. This check gives a clearer error for them.
    let head = String::from_utf8_lossy(&data[..data.len().min(4096)]);
    if !["segments", "device_traces"].iter().any(|key| head.contains(key)) {
        return Err(CaptureProblem::Nothing("the pickle is not a memory snapshot of PyTorch"));
    }
    let pickle = Pickle::read(data)?;
    let root = pickle.root();
    let list = |key: &str| pickle.member(root, key).and_then(|list| pickle.list(list));
    let (Some(segments), Some(traces)) = (list("segments"), list("device_traces")) else {
        let found = pickle.shown(root);
        let expected = "a dictionary with the lists segments and device_traces";
        return Err(CaptureProblem::at("snapshot".to_owned(), &found, expected));
    };
    let mut snapshot = Snapshot { pickle: &pickle, items: data.len() };
    let mut captures = Vec::new();
    let stem = stem(path, "");
    for (device, segments) in snapshot.devices(segments, traces.len())? {
        let events = match traces.get(device as usize) {
            Some(&trace) => pickle.list(trace).ok_or_else(|| {
                CaptureProblem::at(format!("device {device}"), &pickle.shown(trace), "a list of events")
            })?,
            None => &[],
        };
        for ((stream, pool), memory) in snapshot.memories(device, &segments, events)? {
            let pool = if pool == [0, 0] { String::new() } else { format!("-pool{}.{}", pool[0], pool[1]) };
            captures.extend(capture(&format!("{stem}:device{device}-stream{stream}{pool}"), memory)?);
        }
    }
    match &mut captures[..] {
        [] => return Err(CaptureProblem::Nothing("the snapshot contains no allocation")),
        [only] => only.instance = only.instance.clone().with_name(stem),
        _ => {}
    }
    Ok(captures)
}

struct Snapshot<'p, 'd> {
    pickle: &'p Pickle<'d>,
    /// The number of events and blocks that may still be read. A list can occur in a file several times, but
    /// no snapshot has more events and blocks than bytes.
    items: usize,
}

impl Snapshot<'_, '_> {
    /// Returns the segments of each device, with their numbers.
    fn devices(
        &self,
        segments: &[Id],
        traces: usize,
    ) -> Result<BTreeMap<u64, Vec<(usize, Id)>>, CaptureProblem> {
        let mut devices: BTreeMap<u64, Vec<(usize, Id)>> =
            (0..traces as u64).map(|device| (device, Vec::new())).collect();
        for (at, &segment) in segments.iter().enumerate() {
            let device = self.number(segment, "device", || format!("segment {at}"))?;
            devices.entry(device).or_default().push((at, segment));
        }
        Ok(devices)
    }

    /// Returns the memories of a device.
    fn memories(
        &mut self,
        device: u64,
        segments: &[(usize, Id)],
        events: &[Id],
    ) -> Result<BTreeMap<Key, Memory>, CaptureProblem> {
        self.spend(events.len(), || format!("device {device}"))?;
        let mut memories: BTreeMap<Key, Memory> = BTreeMap::new();
        // Older versions do not record the pool of an event.
        let has_pool = |&event: &Id| self.pickle.member(event, "pool_id").is_some();
        let pooled = events.is_empty() || events.iter().any(has_pool);
        for (at, &event) in events.iter().enumerate() {
            let place = || format!("device {device}, event {at}");
            self.event(event, at, pooled, &mut memories, &place)?;
        }
        let end = events.len() as u64 + 1;
        for memory in memories.values_mut() {
            memory.live.values().for_each(|&block| memory.blocks[block].upper = end);
        }
        for &(at, segment) in segments {
            let key = self.key(segment, pooled.then_some("segment_pool_id"), || format!("segment {at}"))?;
            self.segment(segment, at, end, memories.entry(key).or_default())?;
        }
        Ok(memories)
    }

    /// Reads an event.
    fn event(
        &self,
        event: Id,
        at: usize,
        pooled: bool,
        memories: &mut BTreeMap<Key, Memory>,
        place: &impl Fn() -> String,
    ) -> Result<(), CaptureProblem> {
        let action = self.member(event, "action", place)?;
        let action = self.pickle.text(action).unwrap_or_default();
        if matches!(action, "free_requested" | "oom" | "snapshot" | "annotate" | "user_defined") {
            return Ok(());
        }
        let (address, size) = (self.number(event, "addr", place)?, self.number(event, "size", place)?);
        let key = self.key(event, pooled.then_some("pool_id"), place)?;
        let memory = memories.entry(key).or_default();
        let step = at as u64 + 1;
        let block =
            |name: String, lower, upper| Block { name, size, lower, upper, address, alignment: ALIGNMENT };
        match action {
            "alloc" => {
                let found = format!("alloc at the live address 0x{address:x}");
                if memory.live.insert(address, memory.blocks.len()).is_some() {
                    return Err(CaptureProblem::at(place(), &found, "a free address"));
                }
                memory.blocks.push(block(format!("event{at}"), step, step + 1));
            }
            "free_completed" => match memory.live.remove(&address) {
                Some(live) => memory.blocks[live].upper = step,
                None => memory.blocks.push(block(format!("early{at}"), 0, step)),
            },
            "segment_alloc" | "segment_map" => memory.reserve(address, size, 1),
            "segment_free" | "segment_unmap" => memory.reserve(address, size, -1),
            _ => return Err(CaptureProblem::at(place(), action, "a known action, such as alloc")),
        }
        Ok(())
    }

    /// Reads a segment, and adds its blocks that are live from the first step to the last.
    fn segment(
        &mut self,
        segment: Id,
        at: usize,
        end: u64,
        memory: &mut Memory,
    ) -> Result<(), CaptureProblem> {
        let place = || format!("segment {at}");
        let mut next = self.number(segment, "address", place)?;
        let total = self.number(segment, "total_size", place)?;
        memory.reserved.push((next, total));
        memory.total += i128::from(total);
        let blocks = self.member(segment, "blocks", place)?;
        let blocks = self
            .pickle
            .list(blocks)
            .ok_or_else(|| CaptureProblem::at(place(), &self.pickle.shown(blocks), "a list of blocks"))?;
        self.spend(blocks.len(), place)?;
        for (number, &block) in blocks.iter().enumerate() {
            let place = || format!("segment {at}, block {number}");
            // Older versions do not record the address of a block.
            let address = match self.pickle.member(block, "address") {
                Some(_) => self.number(block, "address", place)?,
                None => next,
            };
            let size = self.number(block, "size", place)?;
            next = address.saturating_add(size);
            let state = self.member(block, "state", place)?;
            if self.pickle.text(state) == Some("inactive") || memory.live.contains_key(&address) {
                continue;
            }
            let size = self.number(block, "requested_size", place)?;
            let name = format!("block{at}.{number}");
            memory.blocks.push(Block { name, size, lower: 0, upper: end, address, alignment: ALIGNMENT });
        }
        Ok(())
    }

    fn spend(&mut self, items: usize, place: impl Fn() -> String) -> Result<(), CaptureProblem> {
        let left = self.items.checked_sub(items);
        self.items = left.ok_or_else(|| CaptureProblem::at(place(), "a repeated list", "separate lists"))?;
        Ok(())
    }

    fn member(&self, map: Id, key: &'static str, place: impl Fn() -> String) -> Result<Id, CaptureProblem> {
        self.pickle.member(map, key).ok_or_else(|| {
            let found = format!("{} without {key}", self.pickle.shown(map));
            CaptureProblem::at(place(), &found, "a snapshot of PyTorch")
        })
    }

    /// Returns a number that is not negative.
    fn number(&self, map: Id, key: &'static str, place: impl Fn() -> String) -> Result<u64, CaptureProblem> {
        let member = self.member(map, key, &place)?;
        let number = self.pickle.integer(member).and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| {
            let found = format!("{key} = {}", self.pickle.shown(member));
            CaptureProblem::at(place(), &found, "a non-negative integer")
        })
    }

    /// Returns the stream and the pool of an event or segment.
    fn key(&self, map: Id, pool: Option<&str>, place: impl Fn() -> String) -> Result<Key, CaptureProblem> {
        let stream = self.member(map, "stream", &place)?;
        let wrong = || CaptureProblem::at(place(), &self.pickle.shown(stream), "a stream number");
        let stream = self.pickle.integer(stream).ok_or_else(wrong)?;
        let pool = pool.and_then(|key| self.pickle.member(map, key)).and_then(|pool| self.pickle.list(pool));
        let part = |at: usize| pool.and_then(|pool| self.pickle.integer(*pool.get(at)?)).unwrap_or(0);
        Ok((stream, [part(0), part(1)]))
    }
}

impl Memory {
    fn reserve(&mut self, address: u64, size: u64, sign: i128) {
        self.reserved.push((address, size));
        self.change += sign * i128::from(size);
        self.most = self.most.max(self.change);
    }

    /// Returns the largest number of bytes that are reserved at the same time.
    fn peak(&self) -> u64 {
        // The number of bytes before the first event is the total minus the change.
        u64::try_from((self.total - self.change).max(0) + self.most).unwrap_or(u64::MAX)
    }

    /// Returns the offsets of all blocks, or `None` if the reserved ranges exceed the peak or a block lies
    /// outside of them.
    fn offsets(&mut self, peak: u64) -> Option<Vec<u64>> {
        self.reserved.sort_unstable();
        // First address, first address after the range, offset.
        let mut ranges: Vec<(u64, u64, u64)> = Vec::new();
        let mut total: u64 = 0;
        for &(address, size) in &self.reserved {
            let end = address.checked_add(size)?;
            match ranges.last_mut() {
                Some((_, last, _)) if address < *last => {
                    total = total.checked_add(end.saturating_sub(*last))?;
                    *last = end.max(*last);
                }
                _ => {
                    ranges.push((address, end, total));
                    total = total.checked_add(size)?;
                }
            }
        }
        let offset = |block: &Block| {
            let at = ranges.partition_point(|&(first, ..)| first <= block.address).checked_sub(1)?;
            let (first, end, offset) = ranges[at];
            (block.address.checked_add(block.size)? <= end).then(|| offset + (block.address - first))
        };
        if total <= peak { self.blocks.iter().map(offset).collect() } else { None }
    }
}

fn capture(name: &str, mut memory: Memory) -> Result<Option<Capture>, CaptureProblem> {
    if memory.blocks.is_empty() {
        return Ok(None);
    }
    let peak = memory.peak();
    let offsets = memory.offsets(peak);
    let alignment = alignment_of(ALIGNMENT, offsets.iter().flatten().copied());
    memory.blocks.iter_mut().for_each(|block| block.alignment = alignment);
    let instance = instance_of(name, &memory.blocks)?;
    let (planner, layout) = ("PyTorch caching allocator".to_owned(), offsets.map(Layout::from_raw));
    Ok(Some(Capture { planner, instance, layout, peak: Some(Bytes::new(peak)) }))
}
