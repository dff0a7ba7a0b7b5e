//! Writes instances and layouts, with half-open intervals.

use crate::instance::Instance;
use crate::offsets::Layout;
use crate::units::{BufferId, Bytes};
use plimsoll_support::hexadecimal;
use serde::{Serialize, Serializer, ser::SerializeSeq as _};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::{self, Write};

/// A cell of a row: empty in a CSV file and null in JSON, a number, or text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cell<'a> {
    /// No value.
    Empty,
    /// A whole number.
    Number(i128),
    /// Text.
    Text(Cow<'a, str>),
}

impl From<Bytes> for Cell<'_> {
    fn from(bytes: Bytes) -> Self {
        Self::Number(bytes.get().into())
    }
}

impl From<Option<Bytes>> for Cell<'_> {
    fn from(bytes: Option<Bytes>) -> Self {
        bytes.map_or(Self::Empty, Self::from)
    }
}

/// Text; empty text counts as no value.
impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::Empty } else { Self::Text(text.into()) }
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

/// A column: its name, and the function that returns the cell of a buffer.
type Column<'a> = (&'static str, Box<dyn Fn(BufferId) -> Cell<'a> + 'a>);

/// One row per buffer of an instance, with named columns. Serialised as one map per row, and written as CSV by
/// [`Rows::write`].
pub struct Rows<'a> {
    instance: &'a Instance,
    columns: Vec<Column<'a>>,
}

impl<'a> Rows<'a> {
    /// Creates rows with the columns `id,lower,upper,size`.
    pub fn new(instance: &'a Instance) -> Self {
        let hull = |id| instance.buffer(id).lifespan().hull();
        Self { instance, columns: Vec::new() }
            .with("id", |id| instance.buffer(id).name().into())
            .with("lower", move |id| Cell::Number(hull(id).lower.get().into()))
            .with("upper", move |id| Cell::Number(hull(id).upper.get().into()))
            .with("size", |id| instance.buffer(id).size().into())
    }

    /// Creates rows with all columns that the instance needs. The column `offset` contains the fixed offsets.
    pub fn of_instance(instance: &'a Instance) -> Self {
        let rows = Self::with_attributes(instance);
        let is_fixed = instance.buffers().iter().any(|b| b.fixed().is_some());
        if is_fixed { rows.with("offset", |id| instance.buffer(id).fixed().into()) } else { rows }
    }

    /// Creates rows with all columns that the instance needs and the column `offset` of a layout.
    ///
    /// # Panics
    /// If the layout does not have one offset per buffer. Check the layout first.
    pub fn of_layout(instance: &'a Instance, layout: &'a Layout) -> Self {
        assert_eq!(instance.len(), layout.offsets().len(), "one offset per buffer");
        Self::with_attributes(instance).with("offset", |id| layout.offset(id).into())
    }

    fn with_attributes(instance: &'a Instance) -> Self {
        let any = |test: fn(&crate::instance::Buffer) -> bool| instance.buffers().iter().any(test);
        let mut rows = Self::new(instance);
        if any(|b| b.alignment().get() != 1) {
            rows = rows.with("alignment", |id| instance.buffer(id).alignment().into());
        }
        if any(|b| b.lifespan().has_gaps()) {
            rows = rows.with("gaps", |id| gap_text(instance.buffer(id).lifespan().intervals()).into());
        }
        if any(|b| b.hint().is_some()) {
            rows = rows.with("hint", |id| instance.buffer(id).hint().map_or(Cell::Number(-1), Cell::from));
        }
        if !instance.separations().is_empty() {
            rows = rows.with("separations", |id| pair_text(instance, instance.separations().of(id)).into());
        }
        if !instance.exclusions().is_empty() {
            rows = rows.with("exclusions", |id| pair_text(instance, instance.exclusions().of(id)).into());
        }
        if instance.has_above() {
            rows = rows.with("above", |id| above_text(instance, id).into());
        }
        rows
    }

    /// Adds a column.
    #[must_use]
    pub fn with(mut self, name: &'static str, cell: impl Fn(BufferId) -> Cell<'a> + 'a) -> Self {
        self.columns.push((name, Box::new(cell)));
        self
    }

    /// Writes the rows as CSV, with a header.
    ///
    /// # Errors
    /// Any error from the writer, and [`io::ErrorKind::InvalidInput`] for an id that is empty, or that begins
    /// or ends with a blank. Such an id could not be read back unchanged.
    pub fn write(&self, output: impl Write) -> io::Result<()> {
        let is_odd = |name: &str| name.is_empty() || name.trim() != name;
        if let Some(b) = self.instance.buffers().iter().find(|b| is_odd(b.name())) {
            let why = format!(
                "id '{}' cannot be written: it is empty, or begins or ends with whitespace",
                b.name()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(self.columns.iter().map(|(name, _)| name))?;
        for id in self.instance.ids() {
            for (_, cell) in &self.columns {
                match cell(id) {
                    Cell::Empty => writer.write_field("")?,
                    Cell::Number(number) => writer.write_field(number.to_string())?,
                    Cell::Text(text) => writer.write_field(&*text)?,
                }
            }
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.instance.len()))?;
        for id in self.instance.ids() {
            list.serialize_element(&Row(&self.columns, id))?;
        }
        list.end()
    }
}

/// One row.
struct Row<'r, 'a>(&'r [Column<'a>], BufferId);

impl Serialize for Row<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, cell)| (name, cell(self.1))))
    }
}

/// Writes an instance: the columns `id,lower,upper,size`, followed by the optional columns that it needs.
///
/// The capacity is not written, because it is part of the file name.
///
/// # Errors
/// The same as for [`Rows::write`].
pub fn write_instance(instance: &Instance, output: impl Write) -> io::Result<()> {
    Rows::of_instance(instance).write(output)
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
/// The same as for [`Rows::write`].
///
/// # Panics
/// If the layout does not have one offset per buffer. Check the layout first.
pub fn write_layout(instance: &Instance, layout: &Layout, output: impl Write) -> io::Result<()> {
    Rows::of_layout(instance, layout).write(output)
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
