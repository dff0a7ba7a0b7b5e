//! Reads binary traces and placements of `idealloc`.
//!
//! Both formats consist of words of 64 bits in big-endian order, without a header.
//!
//! A file `.plc` contains 8 words per block: id, birth, death, size, address of the mapping, offset in the
//! mapping, alignment (0: none), requested size. Both ends of a lifespan are exclusive. Half-open lifespans
//! with the same ends have the same conflicts. If all mappings and offsets are 0, the file contains no
//! placement.
//!
//! A file `.trc` contains one record per call of a memory function. The upper 4 bits of its first byte are
//! the function, and the lower 4 bits are the number of words that follow:
//!
//! | byte | function | words |
//! |---|---|---|
//! | `0x05` | `malloc` | size, then the result |
//! | `0x12` | `free` | address, thread |
//! | `0x26` | `calloc` | number, size, then the result |
//! | `0x36` | `realloc` | address, size, then the result |
//! | `0x46` | `aligned_alloc` | alignment, size, then the result |
//! | `0x56` | `memalign` | alignment, size, then the result |
//! | `0x67` | `posix_memalign` | address of the pointer, alignment, size, then the result |
//!
//! The result consists of 4 words: address, usable size of the block, thread, address of the mapping.
//!
//! Each allocation is one step. A block is live from its step to the next allocation after its release, or to
//! the end. `idealloc` itself advances the time by the requested size, which gives the same conflicts. The
//! size of a block is its usable size. With several threads, a trace can allocate an address twice. As in
//! `idealloc`, the first block then ends at the second allocation, and the next release of the address is
//! ignored.
//!
//! Each mapping is one capture. Offsets are counted from the first page of the mapping that contains a block.
//! The planner's peak is the end of the highest block.
//!
//! Source: `README.md`, `sanity/src/lib.rs`, `coreba/src/helpe.rs` and `uncore/src/lib/tracer.rs` of
//! `cappadokes/idealloc`.

use super::capture::{Block, Capture, alignment_of, instance_of, stem};
use super::error::CaptureProblem;
use plimsoll_model::{Bytes, Layout};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The number of bytes of a record in a file `.plc`.
const RECORD: usize = 64;
/// The number of bytes of a memory page.
const PAGE: u64 = 4096;
/// The alignment of `malloc`, in bytes.
const ALIGNMENT: u64 = 16;

/// The blocks of each mapping, by the address of the mapping.
type Mappings = BTreeMap<u64, Vec<Block>>;

/// Reads a file `.plc`.
pub(super) fn read_placement(path: &Path, data: &[u8]) -> Result<Vec<Capture>, CaptureProblem> {
    let mut mappings = Mappings::new();
    let records = data.chunks_exact(RECORD);
    let rest = records.remainder().len();
    if rest > 0 {
        let place = format!("byte {}", data.len() - rest);
        return Err(CaptureProblem::at(place, &format!("{rest} bytes"), "a record of 64 bytes"));
    }
    let mut is_placed = false;
    for (at, record) in records.enumerate() {
        let [id, lower, upper, size, mapping, offset, alignment, _] = words(record);
        let address = mapping.checked_add(offset).ok_or_else(|| {
            CaptureProblem::at(format!("record {at}"), &format!("offset {offset}"), "an address of 64 bits")
        })?;
        is_placed |= address != 0;
        let block = Block { name: id.to_string(), size, lower, upper, address, alignment: alignment.max(1) };
        mappings.entry(mapping).or_default().push(block);
    }
    captures(path, mappings, is_placed)
}

/// Reads a file `.trc`.
pub(super) fn read_trace(path: &Path, data: &[u8]) -> Result<Vec<Capture>, CaptureProblem> {
    let mut trace = Trace::default();
    let mut at = 0;
    for record in 0.. {
        let Some(&code) = data.get(at) else { break };
        let count = match code {
            0x05 | 0x12 | 0x26 | 0x36 | 0x46 | 0x56 | 0x67 => usize::from(code & 0xf),
            _ => {
                let found = format!("0x{code:02x}");
                return Err(CaptureProblem::at(
                    format!("byte {at}"),
                    &found,
                    "the code of a memory function",
                ));
            }
        };
        let found = data.get(at + 1..at + 1 + 8 * count).ok_or_else(|| {
            let expected = "all words of the last record";
            CaptureProblem::at(format!("byte {}", data.len()), "end of the file", expected)
        })?;
        let words: [u64; 7] = words(found);
        trace.call(code, &words[..count], record);
        at += 1 + found.len();
    }
    let mut mappings = Mappings::new();
    for (mapping, mut block) in trace.blocks {
        // Blocks that are never released end after the last step.
        block.upper = block.upper.min(trace.steps);
        mappings.entry(mapping).or_default().push(block);
    }
    captures(path, mappings, true)
}

/// Decodes words. Missing words are 0.
fn words<const N: usize>(data: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(data.chunks_exact(8)) {
        *word = bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}

/// The state while a trace is read.
#[derive(Default)]
struct Trace {
    /// The number of allocations.
    steps: u64,
    /// The blocks with the addresses of their mappings. The upper end of a live block is `u64::MAX`.
    blocks: Vec<(u64, Block)>,
    /// The live block at each address.
    live: HashMap<u64, usize>,
    /// Addresses whose next release is ignored.
    ignored: HashSet<u64>,
}

impl Trace {
    /// Adds a call to an allocation or release function.
    fn call(&mut self, code: u8, words: &[u64], record: usize) {
        let [request @ .., address, size, _, mapping] = words else { return self.release(words[0]) };
        let alignment = match code {
            0x46 | 0x56 => request[0],
            0x67 => request[1],
            _ => ALIGNMENT,
        };
        let is_freed = *address != 0 || request.last() == Some(&0);
        if code == 0x36 && is_freed {
            self.release(request[0]);
        }
        if *address == 0 {
            return;
        }
        if let Some(&block) = self.live.get(address) {
            self.blocks[block].1.upper = self.steps;
            self.ignored.insert(*address);
        }
        self.live.insert(*address, self.blocks.len());
        let block = Block {
            name: format!("call{record}"),
            size: *size,
            lower: self.steps,
            upper: u64::MAX,
            address: *address,
            alignment: alignment.max(1),
        };
        self.blocks.push((*mapping, block));
        self.steps += 1;
    }

    /// Releases an address. Blocks that were allocated before the trace are not known.
    fn release(&mut self, address: u64) {
        if !self.ignored.remove(&address)
            && let Some(block) = self.live.remove(&address)
        {
            self.blocks[block].1.upper = self.steps;
        }
    }
}

/// Converts the blocks of all mappings.
fn captures(path: &Path, mappings: Mappings, is_placed: bool) -> Result<Vec<Capture>, CaptureProblem> {
    let stem = stem(path, "");
    let is_single = mappings.len() == 1;
    let mut captures = Vec::new();
    for (mapping, mut blocks) in mappings {
        let name = if is_single { stem.clone() } else { format!("{stem}:0x{mapping:x}") };
        let lowest = blocks.iter().map(|block| block.address).min().unwrap_or_default();
        let base = lowest - lowest % PAGE;
        let highest = blocks.iter().map(|block| block.address.saturating_add(block.size)).max();
        // Addresses may be aligned to more than a page, but offsets are aligned to at most a page.
        for block in blocks.iter_mut().filter(|block| block.alignment.is_power_of_two()) {
            block.alignment = alignment_of(block.alignment, [block.address - base]);
        }
        let instance = instance_of(&name, &blocks)?;
        captures.push(Capture {
            planner: "idealloc trace".to_owned(),
            instance,
            layout: is_placed.then(|| Layout::from_raw(blocks.iter().map(|block| block.address - base))),
            peak: is_placed.then(|| Bytes::new(highest.unwrap_or_default() - base)),
        });
    }
    if captures.is_empty() {
        Err(CaptureProblem::Nothing("the file contains no block"))
    } else {
        Ok(captures)
    }
}
