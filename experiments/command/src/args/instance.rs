use super::values::bytes;
use crate::failure::Failure;
use crate::output;
use clap::{Args, ValueEnum};
use plimsoll::model::csv::{Endpoints, Noted, ReadOptions, read_instance_file_noted};
use plimsoll::model::{Bytes, Instance};
use std::path::Path;

/// Options for reading an instance.
#[derive(Args, Debug)]
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
}

impl InstanceArgs {
    /// Reads the instance.
    pub fn read(&self, path: &Path) -> Result<Instance, Failure> {
        let options = ReadOptions {
            endpoints: self.endpoints.map(Into::into),
            capacity: self.capacity.map(Bytes::new),
        };
        let noted = read_instance_file_noted(path, options)?;
        note_instance(path, &noted, self.endpoints);
        let instance = noted.value;
        Ok(if self.no_capacity { instance.with_capacity(None) } else { instance })
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

/// Prints the notes about an instance file. If the file has a column `end` and `--endpoints` does not define
/// its meaning, also prints how that column is read.
pub fn note_instance(path: &Path, noted: &Noted<Instance>, endpoints: Option<EndpointsArg>) {
    for note in noted.notes() {
        output::complain(&format!("note: {}: {note}", path.display()));
    }
    if noted.has_end && endpoints.is_none() {
        output::complain(&format!("note: {}: {END}", path.display()));
    }
}

/// How the column `end` is read by default.
pub const END: &str = "'end' is read as the last live step; if it is the first step after the lifespan, use \
                       --endpoints half-open";
