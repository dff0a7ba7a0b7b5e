//! Row-by-row generation of instances, so that memory does not depend on storing whole buffers.
//!
//! A [`Generated`] instance is either collected as an [`Instance`] or streamed as CSV with the same bytes.
//! Streaming keeps two numbers per end of a lifespan, 32 bytes per buffer, to compute the load. Some families
//! keep as much themselves.

use crate::error::GenerateError;
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Lifespan};
use std::io::{self, Write};

/// A plain buffer. Its position in the sequence is its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// First step.
    pub lower: u64,
    /// Step after the last one.
    pub upper: u64,
    /// Size, bytes.
    pub size: u64,
}

impl Row {
    /// Returns the buffer `bN` for position N.
    pub(crate) fn buffer(self, at: usize) -> Buffer {
        let lifespan = Lifespan::single(self.lower, self.upper).expect("a life holds a step");
        Buffer::new(format!("b{at}"), self.size, lifespan)
    }
}

/// A generated instance and the bounds known by construction.
pub struct Generated {
    /// Family, parameters given, number of buffers, seed.
    pub name: String,
    /// The capacity in bytes, sufficient by construction. The file name ends in it.
    pub capacity: Option<Bytes>,
    /// A lower bound of the optimum by construction, bytes; not the load.
    pub at_least: Option<Bytes>,
    /// An upper bound of the optimum by construction, bytes.
    pub at_most: Option<Bytes>,
    pub(crate) rows: Box<dyn Iterator<Item = Row>>,
}

/// Facts collected while an instance was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Number of buffers.
    pub buffers: usize,
    /// Peak live bytes.
    pub load: Bytes,
    /// The optimum in bytes, if the lower and upper bounds by construction coincide.
    pub optimum: Option<Bytes>,
}

impl Generated {
    pub(crate) fn plain(rows: impl Iterator<Item = Row> + 'static) -> Self {
        let rows = Box::new(rows);
        Self { name: String::new(), capacity: None, at_least: None, at_most: None, rows }
    }

    /// Returns `NAME.csv` or `NAME.CAPACITY.csv`, the form that readers of instances expect.
    pub fn file_name(&self) -> String {
        match self.capacity {
            Some(capacity) => format!("{}.{}.csv", self.name, capacity.get()),
            None => format!("{}.csv", self.name),
        }
    }

    /// Collects all rows as an instance.
    ///
    /// # Errors
    /// [`GenerateError`] if the sizes exceed the address space.
    pub fn instance(self) -> Result<Instance, GenerateError> {
        let buffers = self.rows.enumerate().map(|(at, row)| row.buffer(at));
        Ok(InstanceBuilder::new(self.name).buffers(buffers).capacity(self.capacity).build()?)
    }

    /// Streams the rows as CSV, with the same bytes as writing the instance. O(n log n) time, 32 bytes of
    /// memory per buffer in addition to the family's.
    ///
    /// # Errors
    /// Errors of the output. If the sizes exceed the address space, an error of the kind `InvalidData` that
    /// contains a [`GenerateError`].
    pub fn write(self, mut output: impl Write) -> io::Result<Written> {
        writeln!(output, "id,lower,upper,size")?;
        let mut turns: Vec<(u64, i64)> = Vec::new();
        let (mut buffers, mut total) = (0, 0u64);
        for Row { lower, upper, size } in self.rows {
            // One more byte each, as for an instance, so that rounding up cannot leave the address space.
            let sum = size.checked_add(1).and_then(|size| total.checked_add(size));
            total = sum.filter(|&sum| i64::try_from(sum).is_ok()).ok_or_else(too_many_bytes)?;
            writeln!(output, "b{buffers},{lower},{upper},{size}")?;
            buffers += 1;
            turns.extend([(lower, size as i64), (upper, -(size as i64))]);
        }
        output.flush()?;
        // Ends precede starts at the same step because lifespans are half-open.
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
