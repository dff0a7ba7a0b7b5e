//! Reads the offline plan of a file.
//!
//! The plan is in a buffer of the metadata `OfflineMemoryAllocation`. It consists of 32-bit integers: the
//! version of the format, the number of subgraphs, the number of offsets, and the offsets. There is one
//! offset per tensor of all subgraphs.
//!
//! Sources: `memory_management.md` and `micro_allocation_info.cc` of `tflite-micro` (2026).

use super::reader::{Table, buffer, metadata, model};
use crate::import::ImportProblem;

/// The name of the offline plan among the metadata of a model.
pub(super) const PLAN: &str = "OfflineMemoryAllocation";

/// The offsets of an offline plan, by the numbers of tensors among those of all subgraphs; `None` for tensors
/// that the runtime places.
pub(super) type Offsets = Vec<Option<u64>>;

/// Checks the numbers of an offline plan. `tensors` is the number of tensors in all subgraphs.
///
/// # Errors
/// If the plan does not have one offset per tensor, or an offset is below -1.
pub(super) fn offsets(plan: &[i32], tensors: usize) -> Result<Offsets, ImportProblem> {
    let damaged = |what| Err(ImportProblem::Damaged(format!("the offline plan {what}")));
    let [_, _, count, offsets @ ..] = plan else {
        return damaged(format!("has {} numbers, but three precede the offsets", plan.len()));
    };
    if usize::try_from(*count) != Ok(tensors) || offsets.len() != tensors {
        let listed = offsets.len();
        return damaged(format!("lists {listed} of {count} offsets, but there are {tensors} tensors"));
    }
    match offsets.iter().position(|&offset| offset < -1) {
        Some(at) => damaged(format!("has offset {} for tensor {at}; only -1 is negative", offsets[at])),
        None => Ok(offsets.iter().map(|&offset| u64::try_from(offset).ok()).collect()),
    }
}

/// Returns the numbers of the offline plan: its version, the numbers of subgraphs and of offsets, and the
/// offsets.
pub(super) fn plan(table: Table<'_>) -> Option<Vec<i32>> {
    let number = |four: &[u8]| i32::from_le_bytes(four.try_into().unwrap_or_default());
    plan_of(table).map(|held| held.bytes(buffer::DATA).chunks_exact(4).map(number).collect())
}

/// Returns the buffer of the offline plan.
pub(super) fn plan_of(table: Table<'_>) -> Option<Table<'_>> {
    let entry = table.tables(model::METADATA).find(|entry| entry.text(metadata::NAME) == PLAN)?;
    table.tables(model::BUFFERS).nth(entry.u32(metadata::BUFFER) as usize)
}
