//! Writes instances as documents, and layouts as answers.

use super::document::{Document, OWN, SCHEMA_VERSION};
use super::error::{DsaError, DsaErrorKind};
use super::node::sorted;
use super::split::Split;
use plimsoll_model::{Buffer, Bytes, Instance, Interval, Layout};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
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
/// consecutively. Fixed offsets become pins, also those that follow from a distance to another fixed buffer.
/// The buffers are written one by one, so that the document is never in memory. Hints, and names that occur
/// in several instances, are written to `metadata`, so that reading and splitting restore the instances.
///
/// # Errors
/// [`DsaError`] for a step, a fixed offset or a rigid group that the schema cannot represent, and
/// [`DsaError::Io`] for errors from the writer.
pub fn write_dsa(
    origin: &Path,
    name: &str,
    instances: &[Instance],
    output: &mut dyn Write,
) -> Result<(), DsaError> {
    let names = checked_names(origin, instances)?;
    let written = write_document(name, instances, &names, output);
    written.map_err(|source| DsaError::Io { file: origin.to_owned(), source })
}

/// Writes a document with sorted members, as in [`sorted`]. `names` replaces the names that are not unique.
fn write_document(
    name: &str,
    instances: &[Instance],
    names: &BTreeMap<usize, String>,
    output: &mut dyn Write,
) -> io::Result<()> {
    let (metadata, profile) = head(instances, names);
    let mut json = Json::new(output);
    json.open("{")?;
    json.member("instance", &json!(if name.is_empty() { "unnamed" } else { name }))?;
    json.member("metadata", &sorted(metadata))?;
    json.key("problem")?;
    json.open("{")?;
    json.key("buffers")?;
    json.open("[")?;
    for (id, pool, buffer) in numbered(instances) {
        let name = names.get(&id).map_or(buffer.name(), String::as_str);
        json.item(&buffer_row(id, pool, name, buffer))?;
    }
    json.close("]")?;
    json.key("constraints")?;
    write_constraints(instances, &mut json)?;
    json.member(
        "objective",
        &json!({ "aggregation": "lexicographic", "terms": ["total_peak", "max_peak"] }),
    )?;
    json.key("pools")?;
    json.open("[")?;
    for (pool, instance) in instances.iter().enumerate() {
        json.item(&json!({
            "capacity": instance.capacity().map(Bytes::get),
            "id": pool,
            "name": instance.name(),
            "reserved_ranges": [],
        }))?;
    }
    json.close("]")?;
    json.close("}")?;
    json.member("profile", &json!(profile))?;
    json.member("schema_version", &json!(SCHEMA_VERSION))?;
    json.close("}")?;
    writeln!(output)
}

/// Writes the pairs of buffers with constraints, and the fixed offsets as pins.
fn write_constraints(instances: &[Instance], json: &mut Json<'_>) -> io::Result<()> {
    json.open("{")?;
    json.member("colocations", &json!([]))?;
    json.key("pinned_allocations")?;
    json.open("[")?;
    for (id, pool, buffer) in numbered(instances) {
        if let Some(offset) = buffer.fixed() {
            let offset = offset.get();
            json.item(
                &json!({ "buffer": id, "exclusive_for_all_time": false, "offset": offset, "pool": pool }),
            )?;
        }
    }
    json.close("]")?;
    for key in ["separations", "temporal_exclusions"] {
        json.key(key)?;
        json.open("[")?;
        let mut base = 0;
        for instance in instances {
            let pairs = if key == "separations" { instance.separations() } else { instance.exclusions() };
            for (a, b) in pairs.iter() {
                json.item(&json!({ "first": base + a.index(), "second": base + b.index() }))?;
            }
            base += instance.len();
        }
        json.close("]")?;
    }
    json.close("}")
}

/// Returns the metadata of a document and its profile.
fn head(instances: &[Instance], names: &BTreeMap<usize, String>) -> (Value, &'static str) {
    let mut own = Map::new();
    let hints = numbered(instances)
        .filter_map(|(id, _, buffer)| Some((id.to_string(), Value::from(buffer.hint()?.get()))));
    let renamed = numbered(instances)
        .filter(|(id, ..)| names.contains_key(id))
        .map(|(id, _, buffer)| (id.to_string(), Value::from(buffer.name())));
    for (kind, table) in [("hints", hints.collect::<Map<_, _>>()), ("names", renamed.collect())] {
        if !table.is_empty() {
            own.insert(kind.to_owned(), Value::Object(table));
        }
    }
    let mut metadata = json!({ OWN: sorted(Value::Object(own)).to_string() });
    if instances.len() == 1 && instances.iter().all(is_plain) {
        return (metadata, "standard_dsa");
    }
    metadata["lifetime_ordering"] = "pypto_read_before_write".into();
    metadata["solver_input"] = "pre_memory_reuse".into();
    (metadata, "pypto_research_v1")
}

/// Returns all buffers with their numbers and the numbers of their pools.
fn numbered(instances: &[Instance]) -> impl Iterator<Item = (usize, usize, &Buffer)> {
    let buffers =
        instances.iter().enumerate().flat_map(|(pool, one)| one.buffers().iter().map(move |b| (pool, b)));
    buffers.enumerate().map(|(id, (pool, buffer))| (id, pool, buffer))
}

/// Returns true if no buffer has gaps, an alignment above 1 or a fixed offset, and no buffers are separated
/// or excluded.
fn is_plain(instance: &Instance) -> bool {
    let plain = |b: &Buffer| !b.lifespan().has_gaps() && b.alignment().get() == 1 && b.fixed().is_none();
    instance.buffers().iter().all(plain)
        && instance.separations().is_empty()
        && instance.exclusions().is_empty()
}

/// Checks that the schema can represent all buffers. Returns a unique name for each buffer whose name occurs
/// before it, by its number.
fn checked_names(origin: &Path, instances: &[Instance]) -> Result<BTreeMap<usize, String>, DsaError> {
    let mut used: HashSet<Cow<'_, str>> = HashSet::new();
    let mut names = BTreeMap::new();
    let ids = instances.iter().flat_map(Instance::ids);
    for ((id, pool, buffer), at) in numbered(instances).zip(ids) {
        let instance = &instances[pool];
        let wrong = |kind| DsaError::Item {
            file: origin.to_owned(),
            at: format!("instance '{}', buffer '{}'", instance.name(), buffer.name()),
            kind: Box::new(kind),
        };
        let mut name = Cow::Borrowed(buffer.name());
        while !used.insert(name.clone()) {
            name = Cow::Owned(format!("{name}#{id}"));
        }
        if let Cow::Owned(name) = name {
            names.insert(id, name);
        }
        let last = buffer.lifespan().hull().upper.get();
        if i64::try_from(last).is_err() {
            return Err(wrong(DsaErrorKind::LateStep(last)));
        }
        if let (None, Some((lower, distance))) = (buffer.fixed(), instance.above(at)) {
            let lower = instance.buffer(lower).name().to_owned();
            return Err(wrong(DsaErrorKind::Above { lower, distance }));
        }
        if let Some(offset) = buffer.fixed() {
            let end = Bytes::new(offset.get().saturating_add(buffer.size().get()));
            if let Some(capacity) =
                instance.capacity().filter(|&capacity| !buffer.is_empty() && end > capacity)
            {
                let pool = format!("'{}'", instance.name());
                return Err(wrong(DsaErrorKind::BeyondCapacity { begin: offset, end, capacity, pool }));
            }
        }
    }
    Ok(names)
}

fn buffer_row(id: usize, pool: usize, name: &str, buffer: &Buffer) -> Value {
    let interval = |i: &Interval| json!({ "lower": i.lower.get(), "upper": i.upper.get() });
    let life = buffer.lifespan();
    let hull = [life.hull()];
    let intervals = if life.is_empty() { &hull } else { life.intervals() };
    json!({
        "alignment": buffer.alignment().get(),
        "allowed_pools": [pool],
        "id": id,
        "live_intervals": intervals.iter().map(interval).collect::<Vec<_>>(),
        "name": name,
        "size": buffer.size().get(),
    })
}

/// Writes nested objects and lists member by member, with the layout of `serde_json::to_writer_pretty`.
struct Json<'a> {
    output: &'a mut dyn Write,
    depth: usize,
    /// True if the innermost object or list has no member yet.
    is_empty: bool,
}

impl<'a> Json<'a> {
    fn new(output: &'a mut dyn Write) -> Self {
        Self { output, depth: 0, is_empty: true }
    }

    fn open(&mut self, bracket: &str) -> io::Result<()> {
        (self.depth, self.is_empty) = (self.depth + 1, true);
        self.output.write_all(bracket.as_bytes())
    }

    fn close(&mut self, bracket: &str) -> io::Result<()> {
        self.depth -= 1;
        if !self.is_empty {
            write!(self.output, "\n{:1$}", "", 2 * self.depth)?;
        }
        self.is_empty = false;
        self.output.write_all(bracket.as_bytes())
    }

    /// Starts a new line for the next member.
    fn next(&mut self) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.is_empty, false) { "" } else { "," };
        write!(self.output, "{comma}\n{:1$}", "", 2 * self.depth)
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        self.next()?;
        write!(self.output, "{}: ", json!(key))
    }

    fn member(&mut self, key: &str, value: &Value) -> io::Result<()> {
        self.key(key)?;
        self.value(value)
    }

    fn item(&mut self, value: &Value) -> io::Result<()> {
        self.next()?;
        self.value(value)
    }

    /// Writes a small value, indented like its place.
    fn value(&mut self, value: &Value) -> io::Result<()> {
        let text = format!("{value:#}").replace('\n', &format!("\n{:1$}", "", 2 * self.depth));
        self.output.write_all(text.as_bytes())
    }
}
