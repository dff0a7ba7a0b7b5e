//! Writes instances as documents, and layouts as answers.

use super::document::{Document, OWN, SCHEMA_VERSION};
use super::error::{DsaError, DsaErrorKind};
use super::node::sorted;
use super::split::Split;
use plimsoll_model::{Buffer, Bytes, Instance, Layout};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

/// The pool and the offset of a buffer of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Allocation {
    /// The id of the buffer in the file.
    pub buffer: u32,
    /// The id of the pool in the file.
    pub pool: u32,
    /// The offset in bytes.
    pub offset: Bytes,
}

impl Document {
    /// Combines one layout per pool into the allocations of all buffers, in the order of the document.
    /// [`Document::check`] determines whether they are valid.
    ///
    /// # Panics
    /// If `split` belongs to another document, or if there is not one layout per pool with one offset per
    /// buffer.
    pub fn allocations(&self, split: &Split, layouts: &[Layout]) -> Vec<Allocation> {
        assert_eq!(split.pools.len(), layouts.len(), "one layout per pool");
        let mut placed: Vec<(usize, Allocation)> = Vec::with_capacity(self.buffers.len());
        for (part, layout) in split.pools.iter().zip(layouts) {
            let pool = self.pools[part.pool].id;
            let offsets = part.offsets(layout).into_iter();
            placed.extend(
                offsets.map(|(at, offset)| (at, Allocation { buffer: self.buffers[at].id, pool, offset })),
            );
        }
        placed.sort_unstable();
        placed.into_iter().map(|(_, allocation)| allocation).collect()
    }
}

/// Writes an answer in the solution schema of dsa-solver. Its members are `schema_version`, `profile` and
/// `instance` of the document, `metadata`, `problem_fingerprint` and `placements`. dsa-solver rejects an
/// answer if the fingerprint is that of another document. Each placement contains the ids of the `buffer` and
/// the `pool`, and the `offset` in bytes.
///
/// # Errors
/// Any error from the writer.
pub fn write_allocations(
    document: &Document,
    allocations: &[Allocation],
    output: &mut dyn Write,
) -> io::Result<()> {
    let row = |a: &Allocation| json!({ "buffer": a.buffer, "pool": a.pool, "offset": a.offset.get() });
    let value = json!({
        "schema_version": SCHEMA_VERSION,
        "profile": document.profile,
        "instance": document.name,
        "problem_fingerprint": document.fingerprint,
        "metadata": { "solver": "plimsoll" },
        "placements": allocations.iter().map(row).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *output, &sorted(value))?;
    writeln!(output)
}

/// Writes instances as one document called `name`, with one pool per instance, in order. `origin` is used in
/// error messages.
///
/// A document with a single plain instance has the profile `standard_dsa`. All other documents have the
/// profile `pypto_research_v1`, with the metadata that this profile requires. Pools and buffers are numbered
/// consecutively. Fixed offsets become pins. Hints, and names that occur in several instances, are written to
/// `metadata`, so that reading and splitting restore the instances.
///
/// # Errors
/// [`DsaError`] for a step or a fixed offset that the schema cannot represent, and [`DsaError::Io`] for
/// errors from the writer.
pub fn write_dsa(
    origin: &Path,
    name: &str,
    instances: &[Instance],
    output: &mut dyn Write,
) -> Result<(), DsaError> {
    let mut writer = Writer::new(origin);
    for (pool, instance) in instances.iter().enumerate() {
        writer.instance(pool, instance)?;
    }
    let mut own = Map::new();
    for (kind, table) in [("hints", writer.hints), ("names", writer.names)] {
        if !table.is_empty() {
            own.insert(kind.to_owned(), Value::Object(table));
        }
    }
    let mut metadata = json!({ OWN: sorted(Value::Object(own)).to_string() });
    let profile = if instances.len() == 1 && instances.iter().all(is_plain) {
        "standard_dsa"
    } else {
        metadata["lifetime_ordering"] = "pypto_read_before_write".into();
        metadata["solver_input"] = "pre_memory_reuse".into();
        "pypto_research_v1"
    };
    let [separations, exclusions, pins] = [writer.separations, writer.exclusions, writer.pins];
    let value = json!({
        "schema_version": SCHEMA_VERSION,
        "profile": profile,
        "instance": if name.is_empty() { "unnamed" } else { name },
        "metadata": metadata,
        "problem": {
            "pools": writer.pools,
            "buffers": writer.buffers,
            "constraints": {
                "colocations": [],
                "separations": separations,
                "temporal_exclusions": exclusions,
                "pinned_allocations": pins,
            },
            "objective": { "aggregation": "lexicographic", "terms": ["total_peak", "max_peak"] },
        },
    });
    let written = serde_json::to_writer_pretty(&mut *output, &sorted(value)).map_err(io::Error::from);
    let written = written.and_then(|()| writeln!(output));
    written.map_err(|source| DsaError::Io { file: origin.to_owned(), source })
}

/// Returns true if no buffer has gaps, an alignment above 1 or a fixed offset, and no buffers are separated
/// or excluded.
fn is_plain(instance: &Instance) -> bool {
    let plain = |b: &Buffer| !b.lifespan().has_gaps() && b.alignment().get() == 1 && b.fixed().is_none();
    instance.buffers().iter().all(plain)
        && instance.separations().is_empty()
        && instance.exclusions().is_empty()
}

struct Writer<'a> {
    origin: &'a Path,
    pools: Vec<Value>,
    buffers: Vec<Value>,
    separations: Vec<Value>,
    exclusions: Vec<Value>,
    pins: Vec<Value>,
    hints: Map<String, Value>,
    names: Map<String, Value>,
    used: HashSet<String>,
}

impl<'a> Writer<'a> {
    fn new(origin: &'a Path) -> Self {
        Self {
            origin,
            pools: Vec::new(),
            buffers: Vec::new(),
            separations: Vec::new(),
            exclusions: Vec::new(),
            pins: Vec::new(),
            hints: Map::new(),
            names: Map::new(),
            used: HashSet::new(),
        }
    }

    fn instance(&mut self, pool: usize, instance: &Instance) -> Result<(), DsaError> {
        self.pools.push(json!({
            "id": pool,
            "name": instance.name(),
            "capacity": instance.capacity().map(Bytes::get),
            "reserved_ranges": [],
        }));
        let base = self.buffers.len();
        for buffer in instance.buffers() {
            self.buffer(pool, instance, buffer)?;
        }
        for (pairs, rows) in
            [(instance.separations(), &mut self.separations), (instance.exclusions(), &mut self.exclusions)]
        {
            let row = |(a, b): (plimsoll_model::BufferId, plimsoll_model::BufferId)| json!({ "first": base + a.index(), "second": base + b.index() });
            rows.extend(pairs.iter().map(row));
        }
        Ok(())
    }

    fn buffer(&mut self, pool: usize, instance: &Instance, buffer: &Buffer) -> Result<(), DsaError> {
        let id = self.buffers.len();
        let wrong = |kind| DsaError::Item {
            file: self.origin.to_owned(),
            at: format!("instance '{}', buffer '{}'", instance.name(), buffer.name()),
            kind: Box::new(kind),
        };
        let mut name = buffer.name().to_owned();
        while !self.used.insert(name.clone()) {
            name = format!("{name}#{id}");
        }
        if name != buffer.name() {
            self.names.insert(id.to_string(), buffer.name().into());
        }
        if let Some(hint) = buffer.hint() {
            self.hints.insert(id.to_string(), hint.get().into());
        }
        let last = buffer.lifespan().hull().upper.get();
        if i64::try_from(last).is_err() {
            return Err(wrong(DsaErrorKind::LateStep(last)));
        }
        if let Some(offset) = buffer.fixed() {
            let end = Bytes::new(offset.get().saturating_add(buffer.size().get()));
            if let Some(capacity) =
                instance.capacity().filter(|&capacity| !buffer.is_empty() && end > capacity)
            {
                let pool = format!("'{}'", instance.name());
                return Err(wrong(DsaErrorKind::BeyondCapacity { begin: offset, end, capacity, pool }));
            }
            self.pins.push(json!({
                "buffer": id,
                "pool": pool,
                "offset": offset.get(),
                "exclusive_for_all_time": false,
            }));
        }
        let interval =
            |i: &plimsoll_model::Interval| json!({ "lower": i.lower.get(), "upper": i.upper.get() });
        let life = buffer.lifespan();
        let hull = [life.hull()];
        let intervals = if life.is_empty() { &hull } else { life.intervals() };
        self.buffers.push(json!({
            "id": id,
            "name": name,
            "size": buffer.size().get(),
            "alignment": buffer.alignment().get(),
            "live_intervals": intervals.iter().map(interval).collect::<Vec<_>>(),
            "allowed_pools": [pool],
        }));
        Ok(())
    }
}
