//! Reads answers: layouts, shared-object plans, split layouts, and spill plans.

use super::error::{CsvError, CsvErrorKind};
use super::header::Column;
use super::number::parse_number;
use super::read::{Noted, OFFSET, Row, Rows, open, read_all};
use crate::instance::{Buffer, Instance};
use crate::offsets::{Layout, Piece, PoolPlan, SplitLayout};
use crate::spilling::Spill;
use crate::units::{Bytes, PoolId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::path::Path;

/// An answer to an instance. The columns of the file determine its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// One offset per buffer, in column `offset`.
    Layout(Layout),
    /// One shared object per buffer, in columns `pool` and `pool_size`.
    SharedObjects(PoolPlan),
    /// A list of address ranges per buffer, in column `pieces`.
    SplitBuffers(SplitLayout),
    /// The tier of each buffer, its offset if it stays on chip, and its traffic, in columns `tier`, `offset`
    /// and `traffic`.
    Spill {
        /// The offsets of the buffers that stay on chip.
        spill: Spill,
        /// The bytes moved for each buffer if it is spilled; `None` if it must stay on chip.
        traffic: Vec<Option<Bytes>>,
    },
}

/// Reads a layout file for `instance`.
///
/// # Errors
/// The same as for [`read_layout`].
pub fn read_layout_file(path: &Path, instance: &Instance) -> Result<Layout, CsvError> {
    read_layout(&path.display().to_string(), open(path)?.bytes.as_slice(), instance)
}

/// Reads a layout. If the file has the columns `id` and `offset`, its rows may be in any order. If it has a
/// column `offset` but no column `id`, its rows must be in the order of the instance.
///
/// The columns for size and lifespan are optional, but must match the instance. Unknown columns are ignored.
/// The layout itself is not validated; use [`check_layout`](crate::check_layout).
///
/// # Errors
/// [`CsvError`] if the input, the header or a row cannot be read, or if the rows do not correspond one to one
/// to the buffers of the instance.
pub fn read_layout(file: &str, input: impl Read, instance: &Instance) -> Result<Layout, CsvError> {
    let data = read_all(file, input)?;
    layout(&mut Rows::new(file, &data, "id, offset")?, instance)
}

/// Reads an answer of any kind from a file.
///
/// # Errors
/// The same as for [`read_answer`].
pub fn read_answer_file(path: &Path, instance: &Instance) -> Result<Noted<Given>, CsvError> {
    read_answer(&path.display().to_string(), open(path)?.bytes.as_slice(), instance)
}

/// Reads an answer. The columns determine its kind. An answer with none of the columns `tier`, `pool` and
/// `pieces` is a layout. In all other respects, the function behaves like [`read_layout`].
///
/// # Errors
/// [`CsvError`] if the input, the header or a row cannot be read, or if the rows do not correspond one to one
/// to the buffers of the instance.
pub fn read_answer(file: &str, input: impl Read, instance: &Instance) -> Result<Noted<Given>, CsvError> {
    let data = read_all(file, input)?;
    let mut rows = Rows::new(file, &data, "id, offset")?;
    let has = |column| rows.header.position(column).is_some();
    let value = if has(Column::Tier) {
        spill(&mut rows, instance)?
    } else if has(Column::Pool) {
        shared_objects(&mut rows, instance)?
    } else if has(Column::Pieces) {
        split_buffers(&mut rows, instance)?
    } else {
        Given::Layout(layout(&mut rows, instance)?)
    };
    let (ignored, end) = (rows.header.ignored(&[]), rows.header.inclusive_end());
    Ok(Noted { value, ignored, end, plan: None, is_answer: true, remarks: Vec::new() })
}

fn layout(rows: &mut Rows, instance: &Instance) -> Result<Layout, CsvError> {
    let offset = |row: &Row| row.number(Column::Offset, OFFSET).map(Bytes::new);
    each(rows, instance, &[Column::Offset], offset).map(Layout::new)
}

fn shared_objects(rows: &mut Rows, instance: &Instance) -> Result<Given, CsvError> {
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    let placed = each(rows, instance, &[Column::Pool, Column::PoolSize], |row| {
        let pool = row.number(Column::Pool, "the number of a pool (a non-negative integer)")?;
        let size = row.number(Column::PoolSize, "a size in bytes (a non-negative integer)")?;
        let first = *sizes.entry(pool).or_insert(size);
        if first == size {
            return Ok(pool);
        }
        let text = format!("value '{size}' differs from the size {first} of pool {pool} in an earlier row");
        Err(row.error(Column::PoolSize, CsvErrorKind::Layout(text)))
    })?;
    let rank: HashMap<u64, usize> = sizes.keys().enumerate().map(|(at, &pool)| (pool, at)).collect();
    let assignment = placed.iter().map(|pool| PoolId::at(rank[pool])).collect();
    let plan = PoolPlan::new(assignment, sizes.into_values().map(Bytes::new).collect());
    if plan.total() > PoolPlan::MOST {
        return Err(rows.error(None, Some(Column::PoolSize), CsvErrorKind::PoolsOverflow));
    }
    Ok(Given::SharedObjects(plan))
}

fn split_buffers(rows: &mut Rows, instance: &Instance) -> Result<Given, CsvError> {
    let pieces = each(rows, instance, &[Column::Pieces], |row| {
        let text = row.text(Column::Pieces).unwrap_or_default();
        text.split_ascii_whitespace().map(|range| piece(row, range)).collect::<Result<Vec<Piece>, _>>()
    })?;
    Ok(Given::SplitBuffers(SplitLayout::new(pieces)))
}

/// Parses `a-b` as a half-open range of addresses.
fn piece(row: &Row, range: &str) -> Result<Piece, CsvError> {
    let expected = "a range of addresses 'a-b' in bytes, with a below b";
    let wrong = || CsvErrorKind::BadValue { value: range.to_owned(), expected };
    let ends = range.split_once('-').ok_or_else(|| row.error(Column::Pieces, wrong()))?;
    let number = |text| parse_number(text, expected).map_err(|kind| row.error(Column::Pieces, kind));
    let (start, end) = (number(ends.0)?, number(ends.1)?);
    let length = end.checked_sub(start).filter(|&length| length > 0);
    let length = length.ok_or_else(|| row.error(Column::Pieces, wrong()))?;
    Ok(Piece { start: Bytes::new(start), length: Bytes::new(length) })
}

fn spill(rows: &mut Rows, instance: &Instance) -> Result<Given, CsvError> {
    let required = [Column::Tier, Column::Offset, Column::Traffic];
    let each = each(rows, instance, &required, |row| {
        let moved = "bytes of traffic (a non-negative integer), or empty";
        let traffic = row.optional(Column::Traffic, false, moved)?.map(Bytes::new);
        let tier = row.text(Column::Tier).unwrap_or_default();
        let offset = match tier {
            "chip" => Some(Bytes::new(row.number(Column::Offset, OFFSET)?)),
            "slow" => None,
            _ => {
                let (value, expected) = (tier.to_owned(), "'chip' or 'slow'");
                return Err(row.error(Column::Tier, CsvErrorKind::BadValue { value, expected }));
            }
        };
        let value = row.text(Column::Offset).unwrap_or_default();
        if offset.is_none() && !value.is_empty() {
            let (value, expected) = (value.to_owned(), "empty, as required in tier 'slow'");
            return Err(row.error(Column::Offset, CsvErrorKind::BadValue { value, expected }));
        }
        Ok((offset, traffic))
    })?;
    let (offsets, traffic) = each.into_iter().unzip();
    Ok(Given::Spill { spill: Spill::new(offsets), traffic })
}

/// Returns the first step after all lifespans of an instance.
fn last_step(instance: &Instance) -> u64 {
    instance.buffers().iter().map(|buffer| buffer.lifespan().hull().upper.get()).max().unwrap_or_default()
}

/// Reads one value per row of a file without ids: the rows are in the order of the instance.
fn in_order<T>(
    rows: &mut Rows,
    instance: &Instance,
    mut read: impl FnMut(&Row) -> Result<T, CsvError>,
) -> Result<Vec<T>, CsvError> {
    let last = last_step(instance);
    let mut found = Vec::with_capacity(instance.len());
    let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let value = read(&row)?;
        for (name, field) in row.unknown() {
            others.entry(name.to_owned()).or_default().push(field.to_owned());
        }
        if let Some(buffer) = instance.buffers().get(found.len()) {
            row.matches(buffer, last)?;
        }
        found.push(value);
    }
    if found.len() != instance.len() {
        let (count, buffers) = (found.len(), instance.len());
        let text =
            format!("found {count} rows without a column 'id', but the instance has {buffers} buffers");
        return Err(rows.error(None, None, CsvErrorKind::Layout(text)));
    }
    // A column that contains all ids in another order contradicts the order of the rows.
    let names: Vec<&str> = instance.buffers().iter().map(Buffer::name).collect();
    let all: BTreeSet<&str> = names.iter().copied().collect();
    let permutes = |fields: &[String]| {
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        fields != names && fields.iter().copied().collect::<BTreeSet<_>>() == all
    };
    match others.iter().find(|(_, fields)| permutes(fields)) {
        None => Ok(found),
        Some((name, _)) => {
            let text =
                format!("column '{name}' contains the ids of the buffers in another order; name it 'id'");
            Err(rows.error(None, None, CsvErrorKind::Layout(text)))
        }
    }
}

/// Reads one value per row and returns the values in the order of the buffers of the instance. Each buffer
/// must have exactly one row. Without a column `id`, the rows must be in that order.
fn each<T>(
    rows: &mut Rows,
    instance: &Instance,
    required: &[Column],
    mut read: impl FnMut(&Row) -> Result<T, CsvError>,
) -> Result<Vec<T>, CsvError> {
    let has_ids = rows.header.position(Column::Id).is_some() || rows.header.likely(Column::Id).is_some();
    let ids: &[Column] = if has_ids { &[Column::Id] } else { &[] };
    let missing = rows.header.require(&[ids, required].concat());
    missing.map_err(|kind| rows.error(Some(rows.line), None, kind))?;
    if !has_ids {
        return in_order(rows, instance, read);
    }
    let by_name: HashMap<&str, usize> =
        instance.buffers().iter().enumerate().map(|(i, b)| (b.name(), i)).collect();
    let last = last_step(instance);
    let mut found: Vec<Option<(T, u64)>> = instance.ids().map(|_| None).collect();
    while let Some(row) = rows.next()? {
        let name = row.text(Column::Id).unwrap_or_default();
        let Some(&at) = by_name.get(name) else {
            let kind = CsvErrorKind::Layout(format!("the instance has no buffer '{name}'"));
            return Err(row.error(Column::Id, kind));
        };
        let value = read(&row)?;
        if let Some((_, line)) = found[at] {
            let kind = CsvErrorKind::Layout(format!("buffer '{name}' is already placed on line {line}"));
            return Err(row.error(Column::Id, kind));
        }
        row.matches(&instance.buffers()[at], last)?;
        found[at] = Some((value, row.line));
    }
    if let Some(at) = found.iter().position(Option::is_none) {
        let name = instance.buffers()[at].name();
        let kind = CsvErrorKind::Layout(format!("buffer '{name}' of the instance is not placed"));
        return Err(rows.error(None, None, kind));
    }
    Ok(found.into_iter().flatten().map(|(value, _)| value).collect())
}
