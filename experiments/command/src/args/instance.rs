use super::values::bytes;
use crate::failure::Failure;
use crate::input::shown;
use crate::output;
use clap::{Args, ValueEnum};
use plimsoll::model::csv::{Endpoints, Noted, Pins, ReadOptions, read_instance_file_noted};
use plimsoll::model::{Bytes, Instance};
use std::path::Path;

/// Options for reading an instance.
#[derive(Args, Debug, Default)]
pub struct InstanceArgs {
    /// Capacity in bytes; overrides the number in the file name (X.1048576.csv)
    #[arg(long, value_name = "BYTES", conflicts_with = "no_capacity", value_parser = bytes)]
    pub capacity: Option<u64>,
    /// Ignore the capacity in the file name
    #[arg(long)]
    pub no_capacity: bool,
    /// Whether lifespans in the CSV file include their end [default: by column name; `upper` is half-open,
    /// and `end` is inclusive]
    #[arg(long, value_name = "CONVENTION")]
    pub endpoints: Option<EndpointsArg>,
    /// Whether the offsets in the CSV file fix its buffers [default: fixed; if every buffer has an offset,
    /// `audit`, `compare` and `verify` read a plan, which fixes nothing, and other commands refuse the file]
    #[arg(long, value_name = "MEANING")]
    pub offsets: Option<OffsetsArg>,
}

impl InstanceArgs {
    /// Reads the instance. `pins` is the meaning of its offsets unless an option sets another. If it is
    /// [`Pins::Fixed`], a file that may be a plan is refused.
    pub fn read(&self, path: &Path, pins: Pins) -> Result<Noted<Instance>, Failure> {
        let options = ReadOptions {
            endpoints: self.endpoints.map(Into::into),
            capacity: self.capacity.map(Bytes::new),
            pins: self.offsets.map_or(pins, Into::into),
        };
        let noted = read_instance_file_noted(path, options)?;
        if noted.plan.is_some() && self.offsets.is_none() && pins == Pins::Fixed {
            return Err(Failure::input(format!("{}: {AMBIGUOUS}", shown(path))));
        }
        note_instance(path, &noted, self.endpoints);
        let capacity = noted.value.capacity().filter(|_| !self.no_capacity);
        Ok(noted.map(|instance| instance.with_capacity(capacity)))
    }

    /// Returns the origin of the capacity of an instance file, if it has one.
    pub fn capacity_from(&self, instance: &Instance) -> Option<&'static str> {
        instance.capacity()?;
        Some(if self.capacity.is_some() { "--capacity" } else { "file name" })
    }
}

/// The error for a file in which every buffer has an offset, if both readings are possible.
const AMBIGUOUS: &str = "every buffer has an offset; if the offsets are a plan, `audit` checks it, and \
                             --offsets free places all buffers anew; if they are requirements, --offsets fixed \
                             pins all buffers";

/// The meaning of the column `offset`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OffsetsArg {
    /// Each offset fixes its buffer
    Fixed,
    /// Offsets fix nothing
    Free,
}

impl From<OffsetsArg> for Pins {
    fn from(meaning: OffsetsArg) -> Self {
        match meaning {
            OffsetsArg::Fixed => Self::Fixed,
            OffsetsArg::Free => Self::Free,
        }
    }
}

/// Whether a lifespan includes its end.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum EndpointsArg {
    /// The end is the first step after the lifespan
    HalfOpen,
    /// The end is the last step of the lifespan
    Inclusive,
}

impl From<EndpointsArg> for Endpoints {
    fn from(how: EndpointsArg) -> Self {
        match how {
            EndpointsArg::HalfOpen => Self::HalfOpen,
            EndpointsArg::Inclusive => Self::Inclusive,
        }
    }
}

/// Prints a note about the ignored columns of a file, if there are any.
pub fn note_columns<T>(path: &Path, noted: &Noted<T>) {
    if let Some(note) = noted.note() {
        output::complain(&format!("note: {}: {note}", path.display()));
    }
}

/// Prints the notes about an instance file. If the file has a column `end` or `finish` and `--endpoints` does
/// not define its meaning, also prints how that column is read.
fn note_instance(path: &Path, noted: &Noted<Instance>, endpoints: Option<EndpointsArg>) {
    for note in noted.notes() {
        output::complain(&format!("note: {}: {note}", path.display()));
    }
    if let Some(end) = noted.end.filter(|_| endpoints.is_none()) {
        output::complain(&format!("note: {}: {}", path.display(), end_note(end)));
    }
}

/// Returns a note on how the column `end` or `finish` is read by default.
pub fn end_note(column: &str) -> String {
    format!(
        "'{column}' is read as the last live step; if it is the first step after the lifespan, use --endpoints \
         half-open"
    )
}
