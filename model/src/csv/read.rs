//! Reads instances, and the rows of any CSV file.

use super::error::{CsvError, CsvErrorKind};
use super::header::{ANSWER_COLUMNS, Column, Endpoints, Header};
use super::name::{self, checked_capacity, instance_name};
use super::number::{is_open, parse_number};
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::instance_error::InstanceError;
use crate::lifespan::{Interval, Lifespan, LifespanError};
use crate::offsets::Layout;
use crate::units::Bytes;
use plimsoll_support::contents::{Contents, ContentsError, FILE_LIMIT};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

/// Options for reading an instance.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Overrides the convention for interval ends that the column names imply.
    pub endpoints: Option<Endpoints>,
    /// Overrides the capacity given by the file name.
    pub capacity: Option<Bytes>,
    /// The meaning of the column `offset`.
    pub pins: Pins,
}

/// The meaning of the column `offset` of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pins {
    /// Each offset fixes its buffer.
    #[default]
    Fixed,
    /// Each offset fixes its buffer, unless every buffer has an offset. The file is then read as an instance
    /// with the plan of a planner, and its offsets fix nothing.
    UnlessPlan,
    /// Offsets fix nothing.
    Free,
}

/// The value read from a file, with the columns that were ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted<T> {
    /// The instance or the answer.
    pub value: T,
    /// The quoted names of the ignored columns in file order. If a name is similar to a known one, a
    /// suggestion follows it.
    pub ignored: Vec<String>,
    /// The name of the column with the ends of lifespans, if it is `end` or `finish`. Such a column contains
    /// the last live step of each buffer, unless the options override this convention.
    pub end: Option<&'static str>,
    /// The offsets in an instance file, if every buffer has one, whatever they mean.
    pub plan: Option<Layout>,
    /// True if the file contains an answer: an offset of every buffer, or a column that only answers have.
    pub is_answer: bool,
    /// Remarks on how the file was read, one line each.
    pub remarks: Vec<String>,
}

impl<T> Noted<T> {
    /// Converts the value and keeps the list of ignored columns.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Noted<U> {
        let Self { value, ignored, end, plan, is_answer, remarks } = self;
        Noted { value: change(value), ignored, end, plan, is_answer, remarks }
    }

    /// Returns a one-line note about the ignored columns, if there are any.
    pub fn note(&self) -> Option<String> {
        let s = if self.ignored.len() == 1 { "" } else { "s" };
        (!self.ignored.is_empty()).then(|| format!("column{s} {} ignored", self.ignored.join(", ")))
    }
}

impl Noted<Instance> {
    /// Returns one line per remark: one if columns are ignored, one if the file has no rows, and
    /// [`Noted::remarks`].
    pub fn notes(&self) -> Vec<String> {
        let rows = self.value.buffers().is_empty();
        let none = rows.then(|| "no rows below the header, so the instance has no buffers".to_owned());
        self.note().into_iter().chain(none).chain(self.remarks.iter().cloned()).collect()
    }
}

/// Reads an instance file. The file name determines the name of the instance and, unless overridden, its
/// capacity.
///
/// # Errors
/// [`CsvError`] if the file cannot be read or is not a valid instance. The error contains the file and, where
/// they apply, line, column and value.
pub fn read_instance_file(path: &Path, options: ReadOptions) -> Result<Instance, CsvError> {
    read_instance_file_noted(path, options).map(|noted| noted.value)
}

/// Reads an instance file as [`read_instance_file`] does, and also returns the ignored columns.
///
/// # Errors
/// The same as for [`read_instance_file`].
pub fn read_instance_file_noted(path: &Path, options: ReadOptions) -> Result<Noted<Instance>, CsvError> {
    let contents = open(path)?;
    let capacity = match options.capacity {
        Some(capacity) => Some(capacity),
        None => checked_capacity(&contents.name)?,
    };
    let remark = options.capacity.is_none().then(|| name::remark(&contents.name)).flatten();
    let options = ReadOptions { capacity, ..options };
    let mut read = read_instance_noted(&path.display().to_string(), &contents.bytes, options)?;
    read.remarks.extend(remark);
    Ok(read.map(|instance| instance.with_name(instance_name(&contents.name))))
}

/// Reads the contents of a file, which may be compressed.
pub(super) fn open(path: &Path) -> Result<Contents, CsvError> {
    Contents::read(path, FILE_LIMIT).map_err(|error| CsvError {
        file: path.display().to_string(),
        line: None,
        column: None,
        kind: Box::new(match error {
            ContentsError::Io(error) => error.into(),
            other => CsvErrorKind::Contents(other),
        }),
    })
}

/// Reads an instance from any reader. `file` is used in error messages and as the name of the instance.
/// Unknown columns are ignored.
///
/// # Errors
/// The same as for [`read_instance_file`].
pub fn read_instance(file: &str, input: impl Read, options: ReadOptions) -> Result<Instance, CsvError> {
    read_instance_noted(file, &read_all(file, input)?, options).map(|noted| noted.value)
}

fn read_instance_noted(file: &str, data: &[u8], options: ReadOptions) -> Result<Noted<Instance>, CsvError> {
    let mut rows = Rows::new(file, data, "id, lower, upper, size")?;
    rows.header
        .require(&[Column::Id, Column::Lower, Column::Upper, Column::Size])
        .map_err(|kind| rows.error(Some(rows.line), None, kind))?;
    if let Some(endpoints) = options.endpoints {
        rows.header.endpoints = endpoints;
    }
    let table = Table::read(&mut rows)?;
    let Table { mut buffers, offsets, lines, pairs, above, open, last } = table;
    let is_plan = !offsets.is_empty() && offsets.iter().all(Option::is_some);
    let is_free = options.pins == Pins::Free || is_plan && options.pins == Pins::UnlessPlan;
    if !is_free {
        let fixed = |(buffer, offset): (Buffer, &Option<u64>)| match *offset {
            Some(offset) => buffer.fixed_at(offset),
            None => buffer,
        };
        buffers = buffers.into_iter().zip(&offsets).map(fixed).collect();
    }
    let by_name: HashMap<String, usize> = if pairs.is_empty() && above.is_empty() {
        HashMap::new()
    } else {
        buffers.iter().enumerate().map(|(i, b)| (b.name().to_owned(), i)).collect()
    };
    let mut builder = InstanceBuilder::new(file).capacity(options.capacity);
    let position = |column, from: usize, id: String| match by_name.get(&id) {
        Some(&to) if from == to => Err(rows.error(Some(lines[from]), Some(column), CsvErrorKind::OwnId(id))),
        Some(&to) => Ok(to),
        None => Err(rows.error(Some(lines[from]), Some(column), CsvErrorKind::UnknownId(id))),
    };
    for (column, from, id) in pairs {
        let to = position(column, from, id)?;
        builder = match column {
            Column::Separations => builder.separate(from, to),
            _ => builder.exclude(from, to),
        };
    }
    for (from, id, distance) in above {
        builder = builder.above(from, position(Column::Above, from, id)?, distance);
    }
    let built = builder.buffers(buffers).build();
    let value = built.map_err(|error| {
        let concerned = error.buffers();
        let line = concerned.first().map(|id| lines[id.index()]);
        let also = concerned.get(1).map(|id| lines[id.index()]);
        let column = column_of(&error);
        rows.error(line, column, CsvErrorKind::Instance { error, also })
    })?;
    let remark = (open > 0).then(|| {
        let ends = if open == 1 { "1 end is" } else { &format!("{open} ends are") };
        format!(
            "{ends} open (-1, empty or inf), so these buffers are live until step {last}, the end of the file"
        )
    });
    let plan = is_plan.then(|| Layout::from_raw(offsets.into_iter().flatten()));
    let (ignored, end) = (rows.header.ignored(&ANSWER_COLUMNS), rows.header.inclusive_end());
    let is_answer = is_plan || ANSWER_COLUMNS.iter().any(|&column| rows.header.position(column).is_some());
    Ok(Noted { value, ignored, end, plan, is_answer, remarks: remark.into_iter().collect() })
}

/// The rows of an instance file.
#[derive(Default)]
struct Table {
    /// Buffers without fixed offsets.
    buffers: Vec<Buffer>,
    /// The field in the column `offset` of each buffer.
    offsets: Vec<Option<u64>>,
    /// The line of each buffer.
    lines: Vec<u64>,
    /// Separations and exclusions: the column, the buffer of the row, and the other id.
    pairs: Vec<(Column, usize, String)>,
    /// The column `above`: the buffer of the row, the id of the lower buffer, and the distance in bytes.
    above: Vec<(usize, String, u64)>,
    /// The number of open ends.
    open: usize,
    /// The first step after all lifespans, if there are open ends.
    last: u64,
}

impl Table {
    fn read(rows: &mut Rows) -> Result<Self, CsvError> {
        let mut table = Self::default();
        let mut last =
            Last::Unknown { file: rows.file.clone(), data: rows.data, endpoints: rows.header.endpoints };
        while let Some(row) = rows.next()? {
            for column in [Column::Separations, Column::Exclusions] {
                let ids = row.text(column).unwrap_or_default().split_ascii_whitespace();
                let own = table.buffers.len();
                table.pairs.extend(ids.map(|id| (column, own, super::pair_ids::decode(id))));
            }
            if let Some((id, distance)) = row.above()? {
                table.above.push((table.buffers.len(), id, distance));
            }
            table.buffers.push(row.buffer(&mut last)?);
            table.offsets.push(row.optional(Column::Offset, false, OFFSET)?);
            table.lines.push(row.line);
            table.open += usize::from(is_open(row.text(Column::Upper).unwrap_or_default()));
        }
        // All separations come before all exclusions.
        table.pairs.sort_by_key(|&(column, ..)| column == Column::Exclusions);
        table.last = if table.open > 0 { last.get()? } else { 0 };
        Ok(table)
    }
}

/// The first step after all lifespans of a file, at which open lifespans end. It is computed at the first
/// open end.
pub(super) enum Last<'a> {
    Unknown { file: String, data: &'a [u8], endpoints: Endpoints },
    Known(u64),
}

impl Last<'_> {
    fn get(&mut self) -> Result<u64, CsvError> {
        let (file, data, endpoints) = match self {
            Self::Known(last) => return Ok(*last),
            Self::Unknown { file, data, endpoints } => (file, data, *endpoints),
        };
        let mut rows = Rows::new(file, data, "")?;
        rows.header.endpoints = endpoints;
        let mut last = 0;
        while let Some(row) = rows.next()? {
            last = last.max(row.last()?);
        }
        *self = Self::Known(last);
        Ok(last)
    }
}

fn column_of(error: &InstanceError) -> Option<Column> {
    match error {
        InstanceError::NeverLive { .. } => Some(Column::Upper),
        InstanceError::TotalOverflow { column, .. } => Column::named(column),
        InstanceError::ZeroAlignment { .. } => Some(Column::Alignment),
        InstanceError::DuplicateName { .. } => Some(Column::Id),
        InstanceError::FixedMisaligned { .. } | InstanceError::FixedApart { .. } => Some(Column::Offset),
        InstanceError::Contradiction { .. } => Some(Column::Exclusions),
        InstanceError::AboveTwo { .. }
        | InstanceError::AboveItself { .. }
        | InstanceError::AlignmentsExclude { .. }
        | InstanceError::BelowZero { .. } => Some(Column::Above),
        InstanceError::SelfPair { .. }
        | InstanceError::UnknownBuffer { .. }
        | InstanceError::TooMany { .. } => None,
    }
}

pub(super) fn read_all(file: &str, mut input: impl Read) -> Result<Vec<u8>, CsvError> {
    let mut data = Vec::new();
    input.read_to_end(&mut data).map_err(|error| CsvError {
        file: file.to_owned(),
        line: None,
        column: None,
        kind: Box::new(error.into()),
    })?;
    Ok(data)
}

/// The rows of one file.
///
/// Line numbers are derived from the bytes, because the CSV reader reports the position at which it began to
/// search for a record. This position precedes any blank lines before the record. It also precedes the LF if
/// the previous record ends in CR LF.
pub(super) struct Rows<'a> {
    file: String,
    data: &'a [u8],
    reader: csv::Reader<&'a [u8]>,
    pub(super) header: Header,
    record: csv::StringRecord,
    /// The line at which the record begins, counted from 1.
    pub(super) line: u64,
    byte: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(file: &str, data: &'a [u8], columns: &'static str) -> Result<Self, CsvError> {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(data);
        let (file, record) = (file.to_owned(), csv::StringRecord::new());
        let mut rows = Self { file, data, reader, header: Header::default(), record, line: 1, byte: 0 };
        if !rows.advance()? {
            return Err(rows.error(None, None, CsvErrorKind::Empty(columns)));
        }
        rows.header =
            Header::parse(rows.record.iter()).map_err(|kind| rows.error(Some(rows.line), None, kind))?;
        Ok(rows)
    }

    /// Reads the next record that is not a blank line. Returns false at the end of the file.
    fn advance(&mut self) -> Result<bool, CsvError> {
        loop {
            let byte = self.reader.position().byte() as usize;
            let read = self.reader.read_record(&mut self.record);
            if !matches!(read, Ok(false)) {
                self.count_lines(byte);
            }
            match read {
                Ok(false) => return Ok(false),
                Ok(true) if self.record.len() == 1 && self.record[0].is_empty() => {}
                Ok(true) => return Ok(true),
                Err(error) => return Err(self.error(Some(self.line), None, malformed(error))),
            }
        }
    }

    /// Updates the line and the byte position to the start of the current record. The search for the record
    /// started at `byte`.
    fn count_lines(&mut self, byte: usize) {
        let ends = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let begin = byte + self.data[byte..].iter().take_while(ends).count();
        let passed = &self.data[self.byte..begin];
        let ended = |at: &usize| match passed[*at] {
            b'\r' => passed.get(at + 1) != Some(&b'\n'),
            byte => byte == b'\n',
        };
        self.line += (0..passed.len()).filter(ended).count() as u64;
        self.byte = begin;
    }

    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>, CsvError> {
        if !self.advance()? {
            return Ok(None);
        }
        let (expected, found, line) = (self.header.len(), self.record.len(), self.line);
        if expected != found {
            return Err(self.error(Some(line), None, CsvErrorKind::FieldCount { expected, found }));
        }
        Ok(Some(Row { file: &self.file, header: &self.header, record: &self.record, line }))
    }

    pub(super) fn error(&self, line: Option<u64>, column: Option<Column>, kind: CsvErrorKind) -> CsvError {
        let column = column.map(|column| self.header.written(column).to_owned());
        CsvError { file: self.file.clone(), line, column, kind: Box::new(kind) }
    }
}

fn malformed(error: csv::Error) -> CsvErrorKind {
    if let csv::ErrorKind::Utf8 { err, .. } = error.kind() {
        return CsvErrorKind::Malformed(format!("field {} is not valid UTF-8", err.field() + 1));
    }
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => CsvErrorKind::Io(error),
        _ => CsvErrorKind::Malformed(text),
    }
}

/// One row, with the context for error messages.
pub(super) struct Row<'a> {
    file: &'a str,
    header: &'a Header,
    record: &'a csv::StringRecord,
    pub(super) line: u64,
}

impl<'a> Row<'a> {
    pub(super) fn error(&self, column: Column, kind: CsvErrorKind) -> CsvError {
        CsvError {
            file: self.file.to_owned(),
            line: Some(self.line),
            column: Some(self.header.written(column).to_owned()),
            kind: Box::new(kind),
        }
    }

    /// Returns the field, or `None` if the file has no such column.
    pub(super) fn text(&self, column: Column) -> Option<&'a str> {
        self.record.get(self.header.position(column)?)
    }

    /// Returns the fields in unknown columns, each with the name of its column.
    pub(super) fn unknown(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.header.unknown().filter_map(|(at, name)| Some((name, self.record.get(at)?)))
    }

    pub(super) fn number(&self, column: Column, expected: &'static str) -> Result<u64, CsvError> {
        let text = self.text(column).unwrap_or_default();
        parse_number(text, expected).map_err(|kind| self.error(column, kind))
    }

    /// Parses an optional number. A missing column or an empty field stands for no number, and so does `-1`
    /// if `minus_one` is true.
    pub(super) fn optional(
        &self,
        column: Column,
        minus_one: bool,
        expected: &'static str,
    ) -> Result<Option<u64>, CsvError> {
        match self.text(column) {
            None | Some("") => Ok(None),
            Some("-1") if minus_one => Ok(None),
            Some(_) => self.number(column, expected).map(Some),
        }
    }

    fn lower(&self) -> Result<u64, CsvError> {
        self.number(Column::Lower, STEP)
    }

    /// Returns the first step after the lifespan. The lifespan of a buffer with an open end has at least one
    /// step after its start and after each of its gaps.
    fn last(&self) -> Result<u64, CsvError> {
        let text = self.text(Column::Upper).unwrap_or_default();
        if !is_open(text) {
            return self.upper(Column::Upper, text);
        }
        let gaps = self.gaps()?;
        let start = gaps.iter().map(|gap| gap.upper.get()).chain([self.lower()?]).max().unwrap_or_default();
        self.after(Column::Upper, start, text)
    }

    fn upper(&self, column: Column, text: &str) -> Result<u64, CsvError> {
        let end = parse_number(text, STEP).map_err(|kind| self.error(column, kind))?;
        match self.header.endpoints {
            Endpoints::HalfOpen => Ok(end),
            Endpoints::Inclusive => self.after(column, end, text),
        }
    }

    /// Returns the step after `step`, which is written as `text`.
    fn after(&self, column: Column, step: u64, text: &str) -> Result<u64, CsvError> {
        step.checked_add(1).ok_or_else(|| {
            let (value, expected) = (text.to_owned(), "a step below the largest 64-bit integer");
            self.error(column, CsvErrorKind::BadValue { value, expected })
        })
    }

    /// Parses the lifespan of a buffer of `size` bytes. The lifespan may be empty if `size` is 0. An open end
    /// is `last`.
    fn lifespan(&self, size: u64, last: &mut Last) -> Result<Lifespan, CsvError> {
        let lower = self.lower()?;
        let upper_text = self.text(Column::Upper).unwrap_or_default();
        let upper = if is_open(upper_text) { last.get()? } else { self.upper(Column::Upper, upper_text)? };
        let hull = Interval::new(lower, upper);
        let bad = |column, value: &str| {
            let value = value.to_owned();
            move |error| self.error(column, CsvErrorKind::BadLifespan { value, error })
        };
        let gaps_text = self.text(Column::Gaps).unwrap_or_default();
        if size == 0 && hull.lower == hull.upper && gaps_text.is_empty() {
            return Ok(Lifespan::empty_at(hull.lower));
        }
        if gaps_text.is_empty() {
            return Lifespan::from_intervals([hull]).map_err(bad(Column::Upper, upper_text));
        }
        if hull.is_empty() {
            let error = LifespanError::EmptyInterval(hull);
            return Err(bad(Column::Upper, upper_text)(error));
        }
        match Lifespan::with_gaps(hull, self.gaps()?) {
            Err(LifespanError::NothingLive(_)) if size == 0 => Ok(Lifespan::empty_at(hull.lower)),
            other => other.map_err(bad(Column::Gaps, gaps_text)),
        }
    }

    fn gaps(&self) -> Result<Vec<Interval>, CsvError> {
        let gaps = self.text(Column::Gaps).unwrap_or_default().split_ascii_whitespace();
        gaps.map(|text| self.gap(text)).collect()
    }

    fn gap(&self, text: &str) -> Result<Interval, CsvError> {
        let wrong = || {
            let expected = "a gap 'a-b' between two steps (or 'a-b@lo:hi')";
            self.error(Column::Gaps, CsvErrorKind::BadValue { value: text.to_owned(), expected })
        };
        let (steps, window) = match text.split_once('@') {
            Some((steps, window)) => (steps, Some(window)),
            None => (text, None),
        };
        let (from, to) = steps.split_once('-').ok_or_else(wrong)?;
        let number = |text| {
            parse_number(text, "").map_err(|kind| match kind {
                CsvErrorKind::TooLarge(_) => self.error(Column::Gaps, kind),
                _ => wrong(),
            })
        };
        let lower = number(from)?;
        number(to)?;
        let gap = Interval::new(lower, self.upper(Column::Gaps, to)?);
        if let Some(window) = window {
            let (low, high) = window.split_once(':').ok_or_else(wrong)?;
            number(low)?;
            number(high)?;
            return Err(self.error(Column::Gaps, CsvErrorKind::Window(text.to_owned())));
        }
        Ok(gap)
    }

    /// Parses the id of the lower buffer and the distance in the column `above`. The id may contain plus
    /// signs.
    fn above(&self) -> Result<Option<(String, u64)>, CsvError> {
        let Some(text) = self.text(Column::Above).filter(|text| !text.is_empty()) else { return Ok(None) };
        let expected = "the id of a buffer and a distance in bytes, such as 'a+64'";
        let bad = || CsvErrorKind::BadValue { value: text.to_owned(), expected };
        let (id, distance) = text.rsplit_once('+').ok_or_else(|| self.error(Column::Above, bad()))?;
        if id.is_empty() {
            return Err(self.error(Column::Above, bad()));
        }
        let distance = parse_number(distance, expected).map_err(|kind| {
            let is_large = matches!(kind, CsvErrorKind::TooLarge(_));
            self.error(Column::Above, if is_large { kind } else { bad() })
        })?;
        Ok(Some((super::pair_ids::decode(id), distance)))
    }

    /// Parses a buffer without its fixed offset.
    fn buffer(&self, last: &mut Last) -> Result<Buffer, CsvError> {
        let name = self.text(Column::Id).unwrap_or_default();
        if name.is_empty() {
            let value = String::new();
            return Err(self.error(Column::Id, CsvErrorKind::BadValue { value, expected: "an id" }));
        }
        let size = self.number(Column::Size, "a size in bytes (a non-negative integer)")?;
        let mut buffer = Buffer::new(name, size, self.lifespan(size, last)?);
        let alignment = "an alignment in bytes (a positive integer)";
        if let Some(alignment) = self.optional(Column::Alignment, false, alignment)? {
            buffer = buffer.aligned(alignment);
        }
        if let Some(hint) = self.optional(Column::Hint, true, OFFSET)? {
            buffer = buffer.hinted(hint);
        }
        Ok(buffer)
    }

    /// Checks that the size and the lifespan in the row of an answer, if given, are those of `buffer`. An
    /// open end is `last`, the first step after all lifespans of the instance.
    pub(super) fn matches(&self, buffer: &Buffer, last: u64) -> Result<(), CsvError> {
        let differs = |column: Column, has: String| {
            let value = self.text(column).unwrap_or_default();
            let name = buffer.name();
            let mut text =
                format!("value '{value}' of buffer '{name}' differs from the instance, which has {has}");
            if column != Column::Size {
                text += OTHER_ORDER;
            }
            Err(self.error(column, CsvErrorKind::Layout(text)))
        };
        if self.text(Column::Size).is_some() {
            let size = self.number(Column::Size, "a size in bytes")?;
            if size != buffer.size().get() {
                return differs(Column::Size, buffer.size().to_string());
            }
        }
        if let (Some(_), Some(_), Some(gaps)) =
            (self.text(Column::Lower), self.text(Column::Upper), self.text(Column::Gaps))
            && !gaps.is_empty()
        {
            // Lifespans are compared as a whole, because gaps at either end are trimmed.
            if self.lifespan(buffer.size().get(), &mut Last::Known(last))? == *buffer.lifespan() {
                return Ok(());
            }
            return differs(Column::Gaps, format!("lifespan {}", buffer.lifespan()));
        }
        let hull = buffer.lifespan().hull();
        if self.text(Column::Lower).is_some() {
            let lower = self.lower()?;
            if lower != hull.lower.get() {
                return differs(Column::Lower, hull.lower.to_string());
            }
        }
        if let Some(text) = self.text(Column::Upper) {
            let upper = if is_open(text) { last } else { self.upper(Column::Upper, text)? };
            if upper != hull.upper.get() {
                return differs(Column::Upper, format!("{} (first step after the lifespan)", hull.upper));
            }
        }
        Ok(())
    }
}

const STEP: &str = "a step (a non-negative integer)";
pub(super) const OFFSET: &str = "an offset in bytes (a non-negative integer)";

/// A likely reason why the lifespans in an answer differ from those in the instance.
const OTHER_ORDER: &str =
    "; the layout may be for another order of the operators: `plan --instance` writes the matching instance";
