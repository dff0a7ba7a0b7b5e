//! Changes the order of the operators in a file, and the offline plan for `tflite-micro`.
//!
//! Existing tables are not rebuilt, so fields that this importer does not support are kept. In a
//! `FlatBuffers` file, references point forward and are relative to their own position. Operators are
//! therefore reordered by exchanging the references in a vector. New tables and vectors, and a new root that
//! refers to them, are written before the old file. In the old file, only positions that count from the start
//! of the file change.
//!
//! Sources: page "Internals" of the documentation of `FlatBuffers`; `memory_management.md` and
//! `micro_allocation_info.cc` of `tflite-micro` (2026) for the format of the plan.

use super::plan::{PLAN, plan, plan_of};
use super::reader::{Table, buffer, metadata, model, operator, root, subgraph};
use super::schema::IDENTIFIER;
use crate::import::ImportProblem;
use std::collections::HashSet;

/// Metadata that refer to operators by their index.
const BY_INDEX: &str = "model_control_dependencies";

/// The version of the format of the offline plan.
const PLAN_VERSION: i32 = 1;

/// The number of fields of the root table.
const ROOT_FIELDS: u16 = 8;

/// The alignment in bytes of the old file within the new file. It is at least the alignment of every vector
/// in the old file.
const SHIFT: usize = 64;

fn damaged(what: impl Into<String>) -> ImportProblem {
    ImportProblem::Damaged(what.into())
}

fn unsupported(what: impl Into<String>, reason: impl Into<String>) -> ImportProblem {
    ImportProblem::Unsupported { what: what.into(), reason: reason.into() }
}

/// Returns the file with the operators of each subgraph in another order. `orders` contains, for each
/// subgraph, the old indices in the new order; an empty order keeps that of the file.
///
/// # Errors
/// If the file is damaged, if an order is not a permutation, if two reordered subgraphs share one list of
/// operators, or if metadata refer to operators by index.
pub(crate) fn reordered(bytes: &[u8], orders: &[Vec<usize>]) -> Result<Vec<u8>, ImportProblem> {
    let table = root(bytes).map_err(damaged)?;
    let (mut changed, mut seen) = (bytes.to_vec(), HashSet::new());
    for (at, (subgraph, order)) in table.tables(model::SUBGRAPHS).zip(orders).enumerate() {
        if order.iter().enumerate().all(|(to, &from)| to == from) {
            continue;
        }
        if table.tables(model::METADATA).any(|entry| entry.text(metadata::NAME) == BY_INDEX) {
            let reason = "they refer to operators by index, so the order is fixed (--order as-in-file)";
            return Err(unsupported(format!("a new order with metadata '{BY_INDEX}'"), reason));
        }
        let operators: Vec<Table> = subgraph.tables(subgraph::OPERATORS).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..operators.len()) {
            return Err(damaged(format!("the order of subgraph {at} does not contain each operator once")));
        }
        let start = subgraph.target(subgraph::OPERATORS).unwrap_or_default() + 4;
        if !seen.insert(start) {
            let reason = "they share one list of operators in the file";
            return Err(unsupported("separate orders of two subgraphs", reason));
        }
        for (to, &from) in order.iter().enumerate() {
            put_reference(&mut changed, start + 4 * to, operators[from].position())?;
        }
    }
    Ok(changed)
}

/// Returns the file with an offline plan: an offset in the arena for each tensor of each subgraph, or -1
/// for a tensor without a planned offset. An existing plan is replaced.
///
/// # Errors
/// If the file is damaged, or if its root has fields that the schema of this importer does not contain.
pub(crate) fn with_offsets(bytes: &[u8], offsets: &[i32]) -> Result<Vec<u8>, ImportProblem> {
    let table = root(bytes).map_err(damaged)?;
    let subgraphs = table.tables(model::SUBGRAPHS).len() as i32;
    let head = [PLAN_VERSION, subgraphs, offsets.len() as i32];
    let plan: Vec<u8> = head.iter().chain(offsets).flat_map(|number| number.to_le_bytes()).collect();
    match plan_of(table) {
        Some(held) if held.bytes(buffer::DATA).len() == plan.len() => {
            let start = held.target(buffer::DATA).unwrap_or_default() + 4;
            let mut changed = bytes.to_vec();
            changed[start..start + plan.len()].copy_from_slice(&plan);
            Ok(changed)
        }
        _ => with_front(bytes, table, &plan),
    }
}

/// Returns the offsets of the offline plan in a file; `None` if the file has no such plan.
///
/// # Errors
/// If the file is damaged.
pub(crate) fn offsets(bytes: &[u8]) -> Result<Option<Vec<i32>>, ImportProblem> {
    let table = root(bytes).map_err(damaged)?;
    Ok(plan(table).map(|plan| plan.into_iter().skip(3).collect()))
}

/// Writes a new root before the file, with one more buffer and its metadata.
fn with_front(bytes: &[u8], table: Table<'_>, plan: &[u8]) -> Result<Vec<u8>, ImportProblem> {
    if table.has_fields_beyond(ROOT_FIELDS) {
        let reason = "its schema is newer than the supported one";
        return Err(unsupported("the root table of the file", reason));
    }
    let kept = table.tables(model::METADATA).filter(|entry| entry.text(metadata::NAME) != PLAN);
    let metadata: Vec<usize> = kept.map(Table::position).collect();
    let buffers: Vec<usize> = table.tables(model::BUFFERS).map(Table::position).collect();
    let mut front = Front { bytes: [0; 4].into_iter().chain(*IDENTIFIER).collect() };
    let wide = front.vtable(ROOT_FIELDS);
    let (of_metadata, of_buffer) = (front.vtable(2), front.vtable(1));
    let new_root = front.table(wide, ROOT_FIELDS);
    let metadata_at = front.vector(metadata.len() + 1);
    let buffers_at = front.vector(buffers.len() + 1);
    let entry = front.table(of_metadata, 2);
    let name = front.data(PLAN.as_bytes(), 4);
    let new_buffer = front.table(of_buffer, 1);
    let data = front.data(plan, 16);
    let shift = front.bytes.len().next_multiple_of(SHIFT);
    let Front { bytes: mut changed } = front;
    changed.resize(shift, 0);
    changed.extend_from_slice(bytes);
    put_reference(&mut changed, 0, new_root)?;
    let number = |number: u32| number.to_le_bytes();
    for field in 0..ROOT_FIELDS {
        let to = new_root + 4 + 4 * usize::from(field);
        match field {
            model::VERSION => put(&mut changed, to, &number(table.u32(model::VERSION)))?,
            model::METADATA => put_reference(&mut changed, to, metadata_at)?,
            model::BUFFERS => put_reference(&mut changed, to, buffers_at)?,
            _ => match table.target(field) {
                Some(target) => put_reference(&mut changed, to, target + shift)?,
                None => put(&mut changed, wide + 4 + 2 * usize::from(field), &[0; 2])?,
            },
        }
    }
    let tables = [(metadata_at, &metadata, entry), (buffers_at, &buffers, new_buffer)];
    for (vector, old, new) in tables {
        let targets = old.iter().map(|at| at + shift).chain([new]);
        for (at, target) in targets.enumerate() {
            put_reference(&mut changed, vector + 4 + 4 * at, target)?;
        }
    }
    put_reference(&mut changed, entry + 4, name)?;
    put(&mut changed, entry + 8, &number(buffers.len() as u32))?;
    put_reference(&mut changed, new_buffer + 4, data)?;
    shift_positions(&mut changed, table, shift)?;
    Ok(changed)
}

/// Adds `shift` to the positions that count from the start of the file. They refer to buffers, and to
/// options of custom operators, that are stored outside the tables.
fn shift_positions(changed: &mut [u8], table: Table<'_>, shift: usize) -> Result<(), ImportProblem> {
    let mut seen = HashSet::new();
    let mut add = |table: Table<'_>, field: u16| match table.field(field) {
        // 0 and 1 mean that the values are in the table itself.
        Some(at) if table.u64(field) > 1 && seen.insert(at) => {
            put(changed, at + shift, &(table.u64(field) + shift as u64).to_le_bytes())
        }
        _ => Ok(()),
    };
    for held in table.tables(model::BUFFERS) {
        add(held, buffer::OFFSET)?;
    }
    for subgraph in table.tables(model::SUBGRAPHS) {
        for one in subgraph.tables(subgraph::OPERATORS) {
            add(one, operator::LARGE_CUSTOM_OPTIONS_OFFSET)?;
        }
    }
    Ok(())
}

/// The start of a new file. All fields of its tables have four bytes.
struct Front {
    bytes: Vec<u8>,
}

impl Front {
    fn align(&mut self, to: usize) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
        self.bytes.len()
    }

    /// Adds the vtable of a table whose fields are all present.
    fn vtable(&mut self, fields: u16) -> usize {
        let at = self.align(2);
        let distances = (0..fields).map(|field| 4 + 4 * field);
        let numbers = [4 + 2 * fields, 4 + 4 * fields].into_iter().chain(distances);
        self.bytes.extend(numbers.flat_map(u16::to_le_bytes));
        at
    }

    fn table(&mut self, vtable: usize, fields: u16) -> usize {
        let at = self.align(4);
        self.bytes.extend(((at - vtable) as i32).to_le_bytes());
        self.bytes.resize(at + 4 + 4 * usize::from(fields), 0);
        at
    }

    /// Adds a vector of references.
    fn vector(&mut self, count: usize) -> usize {
        let at = self.align(4);
        self.bytes.extend((count as u32).to_le_bytes());
        self.bytes.resize(at + 4 + 4 * count, 0);
        at
    }

    /// Adds a vector of bytes that starts at a multiple of `alignment`, followed by a zero byte.
    fn data(&mut self, data: &[u8], alignment: usize) -> usize {
        let at = (self.bytes.len() + 4).next_multiple_of(alignment) - 4;
        self.bytes.resize(at, 0);
        self.bytes.extend((data.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(data);
        self.bytes.push(0);
        at
    }
}

fn put(bytes: &mut [u8], at: usize, data: &[u8]) -> Result<(), ImportProblem> {
    let place = bytes
        .get_mut(at..at + data.len())
        .ok_or_else(|| damaged(format!("the file ends before byte {at}")))?;
    place.copy_from_slice(data);
    Ok(())
}

/// Writes a reference to a later position.
fn put_reference(bytes: &mut [u8], at: usize, target: usize) -> Result<(), ImportProblem> {
    let distance = target.checked_sub(at).and_then(|distance| u32::try_from(distance).ok());
    let distance = distance.ok_or_else(|| damaged(format!("byte {at} cannot refer to byte {target}")))?;
    put(bytes, at, &distance.to_le_bytes())
}
