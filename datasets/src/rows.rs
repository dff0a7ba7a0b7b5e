//! Instances row by row, so that a million buffers need no more memory than their law does.
//!
//! A [`Generated`] instance is either collected as an [`Instance`] or written as it comes, in the same bytes.
//! Writing keeps two numbers per end of a lifespan, 32 bytes per buffer, to tell the load; some laws keep as
//! much themselves.

use crate::error::GenerateError;
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Lifespan};
use std::io::{self, Write};

/// A plain buffer; where it stands is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// First step.
    pub lower: u64,
    /// Step after the last.
    pub upper: u64,
    /// Bytes.
    pub size: u64,
}

impl Row {
    /// The buffer `bN` for number N.
    pub(crate) fn buffer(self, at: usize) -> Buffer {
        let lifespan = Lifespan::single(self.lower, self.upper).expect("a life holds a step");
        Buffer::new(format!("b{at}"), self.size, lifespan)
    }
}

/// A generated instance and what is known of it by construction.
pub struct Generated {
    /// Family, parameters given, buffers, seed.
    pub name: String,
    /// Bytes that are enough by construction and asked to be: the name of the file ends in them.
    pub capacity: Option<Bytes>,
    /// No layout is lower, bytes; the load aside.
    pub at_least: Option<Bytes>,
    /// There is a layout as low as this, bytes.
    pub at_most: Option<Bytes>,
    pub(crate) rows: Box<dyn Iterator<Item = Row>>,
}

/// What was seen while an instance was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Buffers.
    pub buffers: usize,
    /// Most bytes alive at a step.
    pub load: Bytes,
    /// The least peak, bytes, where construction tells it: what no layout is below is reached.
    pub optimum: Option<Bytes>,
}

impl Generated {
    pub(crate) fn plain(rows: impl Iterator<Item = Row> + 'static) -> Self {
        let rows = Box::new(rows);
        Self { name: String::new(), capacity: None, at_least: None, at_most: None, rows }
    }

    /// `NAME.csv`, or `NAME.CAPACITY.csv`, as readers of instances expect it.
    pub fn file_name(&self) -> String {
        match self.capacity {
            Some(capacity) => format!("{}.{}.csv", self.name, capacity.get()),
            None => format!("{}.csv", self.name),
        }
    }

    /// All rows as an instance.
    ///
    /// # Errors
    /// [`GenerateError`] where the sizes leave the address space.
    pub fn instance(self) -> Result<Instance, GenerateError> {
        let buffers = self.rows.enumerate().map(|(at, row)| row.buffer(at));
        Ok(InstanceBuilder::new(self.name).buffers(buffers).capacity(self.capacity).build()?)
    }

    /// Writes the rows as CSV as they come: the bytes that the instance would be written as. O(n log n) time,
    /// 32 bytes of memory per buffer beside the law's.
    ///
    /// # Errors
    /// What the output says, and [`GenerateError`] within an error of the kind `InvalidData` where sizes
    /// leave the address space.
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
        // Ends come before begins of the same step: lifespans are half-open.
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
