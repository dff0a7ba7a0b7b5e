//! Instances as streams of rows, so that a large instance can be written without collecting its buffers.
//!
//! A [`Generated`] instance is either collected into an [`Instance`] or written as a stream. The stream is
//! identical to the file of the collected instance. To compute the load, the writer keeps two numbers for the
//! start and two for the end of each lifespan, which takes 32 bytes per buffer. Some generators need about as
//! much memory in addition.

use crate::error::GenerateError;
use plimsoll_model::csv::file_name;
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Lifespan};
use std::io::{self, Write};

/// A plain buffer. Its number is its position in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainBuffer {
    /// The first live step.
    pub lower: u64,
    /// The step after the last live one.
    pub upper: u64,
    /// The size in bytes.
    pub size: u64,
}

impl PlainBuffer {
    /// Returns buffer `bN` for number N.
    pub(crate) fn buffer(self, at: usize) -> Buffer {
        let lifespan = Lifespan::single(self.lower, self.upper).expect("a lifespan contains a step");
        Buffer::new(format!("b{at}"), self.size, lifespan)
    }
}

/// A generated instance and the facts known from its construction.
pub struct Generated {
    /// The family, the given parameters, the number of buffers and the seed.
    pub name: String,
    /// The capacity in bytes, if the family defines one. By construction, a layout within the capacity
    /// exists. The capacity is part of the file name.
    pub capacity: Option<Bytes>,
    /// A further lower bound on the peak of every layout, in bytes, besides the load.
    pub at_least: Option<Bytes>,
    /// An upper bound on the optimum, in bytes: the peak of a known layout.
    pub at_most: Option<Bytes>,
    pub(crate) rows: Box<dyn Iterator<Item = PlainBuffer>>,
}

/// A summary of an instance that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The number of buffers.
    pub buffers: usize,
    /// The load: the peak live bytes.
    pub load: Bytes,
    /// The minimum peak in bytes, if the larger of the load and the lower bound from the construction equals
    /// the upper bound.
    pub optimum: Option<Bytes>,
}

impl Generated {
    pub(crate) fn plain(rows: impl Iterator<Item = PlainBuffer> + 'static) -> Self {
        let rows = Box::new(rows);
        Self { name: String::new(), capacity: None, at_least: None, at_most: None, rows }
    }

    /// Returns `NAME.csv` or, with a capacity, `NAME.CAPACITY.csv`, as expected by readers of instances.
    pub fn file_name(&self) -> String {
        file_name(&self.name, self.capacity)
    }

    /// Collects all rows into an instance.
    ///
    /// # Errors
    /// [`GenerateError`] if the sizes exceed the address space.
    pub fn instance(self) -> Result<Instance, GenerateError> {
        let buffers = self.rows.enumerate().map(|(at, row)| row.buffer(at));
        Ok(InstanceBuilder::new(self.name).buffers(buffers).capacity(self.capacity).build()?)
    }

    /// Writes the rows as CSV in a single pass. The file is identical to that of the collected instance.
    /// For n buffers, this takes O(n log n) time, and 32 n bytes of memory in addition to the memory of the
    /// generator.
    ///
    /// # Errors
    /// Errors from the output, and a [`GenerateError`] inside an `InvalidData` error if the sizes exceed the
    /// address space.
    pub fn write(self, mut output: impl Write) -> io::Result<Written> {
        writeln!(output, "id,lower,upper,size")?;
        let mut turns: Vec<(u64, i64)> = Vec::new();
        let (mut buffers, mut total) = (0, 0u64);
        for PlainBuffer { lower, upper, size } in self.rows {
            // Add one byte per buffer, as for an instance, so that rounding up cannot exceed the address
            // space.
            let sum = size.checked_add(1).and_then(|size| total.checked_add(size));
            total = sum.filter(|&sum| i64::try_from(sum).is_ok()).ok_or_else(too_many_bytes)?;
            writeln!(output, "b{buffers},{lower},{upper},{size}")?;
            buffers += 1;
            turns.extend([(lower, size as i64), (upper, -(size as i64))]);
        }
        output.flush()?;
        // At the same step, ends precede starts, because lifespans are half-open.
        turns.sort_unstable();
        let (mut live, mut load) = (0, 0);
        for (_, change) in turns {
            live += change;
            load = load.max(live);
        }
        let load = Bytes::new(load as u64);
        let least = self.at_least.map_or(load, |bound| bound.max(load));
        Ok(Written { buffers, load, optimum: self.at_most.filter(|&most| most == least) })
    }
}

fn too_many_bytes() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, GenerateError::TooManyBytes)
}
