//! Writes instances and layouts, with half-open intervals.

use crate::instance::Instance;
use crate::offsets::Layout;
use crate::units::BufferId;
use crate::words::hexadecimal;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// Writes an instance: the columns `id,lower,upper,size`, followed by the optional columns that it needs.
///
/// The capacity is not written, because it is part of the file name.
///
/// # Errors
/// Any error from the writer, and [`io::ErrorKind::InvalidInput`] for an id that is empty, or that begins or
/// ends with a blank. Such an id could not be read back unchanged.
pub fn write_instance(instance: &Instance, output: impl Write) -> io::Result<()> {
    write_rows(instance, None, &[], output)
}

/// Returns the SHA-256 hash of an instance as written by [`write_instance`], in hexadecimal.
///
/// The hash covers the buffers, separations, exclusions and distances. It does not depend on the name or the
/// capacity of the instance, or on the layout of columns in the original file. For a file in the exact form
/// that [`write_instance`] writes, the result equals the hash of the file.
pub fn content_hash(instance: &Instance) -> String {
    let mut hasher = Sha256::new();
    // Writing to a hasher never fails. `write_instance` fails only for ids that no file can contain.
    let written = write_instance(instance, &mut hasher);
    debug_assert!(written.is_ok());
    hexadecimal(&hasher.finalize())
}

/// Writes a layout: the columns of the instance and the column `offset`.
///
/// # Errors
/// The same as for [`write_instance`].
///
/// # Panics
/// If the layout does not have one offset per buffer. Check the layout first.
pub fn write_layout(instance: &Instance, layout: &Layout, output: impl Write) -> io::Result<()> {
    assert_eq!(instance.len(), layout.offsets().len(), "one offset per buffer");
    write_rows(instance, Some(layout), &[], output)
}

/// Writes an instance with additional columns. Each additional column has a name and one cell per buffer.
///
/// # Errors
/// The same as for [`write_instance`].
///
/// # Panics
/// If a column has fewer cells than there are buffers.
pub fn write_with_columns(
    instance: &Instance,
    columns: &[(&str, Vec<String>)],
    output: impl Write,
) -> io::Result<()> {
    write_rows(instance, None, columns, output)
}

fn write_rows(
    instance: &Instance,
    layout: Option<&Layout>,
    columns: &[(&str, Vec<String>)],
    output: impl Write,
) -> io::Result<()> {
    if let Some(b) = instance.buffers().iter().find(|b| b.name().is_empty() || b.name().trim() != b.name()) {
        let why =
            format!("id '{}' cannot be written: it is empty, or begins or ends with whitespace", b.name());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let any = |test: fn(&crate::instance::Buffer) -> bool| instance.buffers().iter().any(test);
    let alignment = any(|b| b.alignment().get() != 1);
    let gaps = any(|b| b.lifespan().has_gaps());
    let hint = any(|b| b.hint().is_some());
    let offset = layout.is_some() || any(|b| b.fixed().is_some());
    let separations = !instance.separations().is_empty();
    let exclusions = !instance.exclusions().is_empty();
    let mut writer = csv::Writer::from_writer(output);
    let optional = [
        (alignment, "alignment"),
        (gaps, "gaps"),
        (hint, "hint"),
        (separations, "separations"),
        (exclusions, "exclusions"),
        (instance.has_above(), "above"),
        (offset, "offset"),
    ];
    let names = optional.into_iter().filter(|&(wanted, _)| wanted).map(|(_, name)| name);
    let own = columns.iter().map(|(name, _)| *name);
    writer.write_record(["id", "lower", "upper", "size"].into_iter().chain(names).chain(own))?;
    for id in instance.ids() {
        let b = instance.buffer(id);
        let hull = b.lifespan().hull();
        let number = |n: Option<crate::units::Bytes>| n.map_or_else(String::new, |n| n.to_string());
        let mut row =
            vec![b.name().to_owned(), hull.lower.to_string(), hull.upper.to_string(), b.size().to_string()];
        for (wanted, name) in optional {
            if !wanted {
                continue;
            }
            row.push(match name {
                "alignment" => b.alignment().to_string(),
                "gaps" => gap_text(b.lifespan().intervals()),
                "hint" => b.hint().map_or_else(|| "-1".to_owned(), |n| n.to_string()),
                "separations" => pair_text(instance, instance.separations().of(id)),
                "exclusions" => pair_text(instance, instance.exclusions().of(id)),
                "above" => above_text(instance, id),
                _ => layout.map_or_else(|| number(b.fixed()), |layout| layout.offset(id).to_string()),
            });
        }
        row.extend(columns.iter().map(|(_, cells)| cells[id.index()].clone()));
        writer.write_record(&row)?;
    }
    writer.flush()
}

fn gap_text(intervals: &[crate::lifespan::Interval]) -> String {
    let gaps = intervals.windows(2).map(|w| format!("{}-{}", w[0].upper, w[1].lower));
    gaps.collect::<Vec<_>>().join(" ")
}

fn pair_text(instance: &Instance, partners: &[BufferId]) -> String {
    let names = partners.iter().map(|&id| super::pair_ids::encode(instance.buffer(id).name()));
    names.collect::<Vec<_>>().join(" ")
}

fn above_text(instance: &Instance, id: BufferId) -> String {
    let text =
        |(lower, distance)| format!("{}+{distance}", super::pair_ids::encode(instance.buffer(lower).name()));
    instance.above(id).map_or_else(String::new, text)
}
