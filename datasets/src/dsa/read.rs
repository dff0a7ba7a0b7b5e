//! Reads and validates documents.

use super::document::{Demand, Document, OWN, Pin, Pool, SCHEMA_VERSION};
use super::error::{DsaError, DsaErrorKind};
use super::node::{Node, sorted};
use plimsoll_model::{Bytes, Interval, Lifespan};
use plimsoll_support::contents::{Contents, FILE_LIMIT};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Reads a problem from a file.
///
/// # Errors
/// See [`DsaError`].
pub fn read_dsa_file(path: &Path) -> Result<Document, DsaError> {
    let contents = Contents::read(path, FILE_LIMIT)
        .map_err(|source| DsaError::Contents { file: path.to_owned(), source })?;
    read_dsa(path, &contents.bytes)
}

/// Reads a problem. `origin` is used in error messages. O(n log n) for n members in the file.
///
/// # Errors
/// See [`DsaError`]. JSON nested more than 127 levels deep is rejected.
pub fn read_dsa(origin: &Path, data: &[u8]) -> Result<Document, DsaError> {
    let value: Value =
        serde_json::from_slice(data).map_err(|source| DsaError::Json { file: origin.to_owned(), source })?;
    let value = sorted(value);
    let document = document(origin, &value)?;
    Ok(Document { fingerprint: fingerprint(value), ..document })
}

fn document(origin: &Path, value: &Value) -> Result<Document, DsaError> {
    let root = Node::root(origin, value);
    let version = root.member("schema_version")?;
    if version.written() != SCHEMA_VERSION.to_string() {
        return Err(version.error(DsaErrorKind::Version(version.written())));
    }
    let own = ["schema_version", "profile", "instance", "relaxed_from", "relaxed_features", "metadata"];
    root.only(&[&own[..], &["problem"]].concat())?;
    let problem = root.member("problem")?;
    problem.only(&["pools", "buffers", "constraints", "cost_model", "pypto_structure", "objective"])?;
    let constraints = problem.member("constraints")?;
    constraints.only(&["colocations", "separations", "temporal_exclusions", "pinned_allocations"])?;
    let mut ids = Ids::default();
    let mut notes = Vec::new();
    let pools = pools(&problem, &mut ids, &mut notes)?;
    let mut buffers = buffers(&problem, &mut ids, &mut notes)?;
    let exported = extras(&root, &ids, &mut buffers)?;
    let pair = |name, own| pairs(&constraints, name, own, &ids);
    let mut document = Document {
        origin: origin.to_owned(),
        name: root.member("instance")?.text()?.to_owned(),
        profile: root.member("profile")?.text()?.to_owned(),
        colocations: pair("colocations", true)?,
        separations: pair("separations", false)?,
        exclusions: pair("temporal_exclusions", false)?,
        pins: pins(&constraints, &ids, &pools, &buffers)?,
        pools,
        buffers,
        notes: Vec::new(),
        fingerprint: String::new(),
        exported,
    };
    costs(&problem, &mut notes)?;
    document.notes = notes;
    Ok(document)
}

/// Returns the hash by which dsa-solver identifies the problem to which an answer belongs. It is the 64-bit
/// FNV-1a hash of the document as dsa-solver writes it: with sorted members, an indentation of two spaces and
/// a final line break. That text always contains `metadata`, but no empty `relaxed_features` or `reasons`.
///
/// Source: tonibohnlein/dsa-solver, `FingerprintStructuredProblem`, `SerializeDocument`.
fn fingerprint(mut value: Value) -> String {
    if let Some(root) = value.as_object_mut() {
        root.entry("metadata").or_insert_with(|| Value::Object(serde_json::Map::new()));
        if root.get("relaxed_features").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            root.remove("relaxed_features");
        }
    }
    let separations = value.pointer_mut("/problem/constraints/separations").and_then(Value::as_array_mut);
    for separation in separations.into_iter().flatten().filter_map(Value::as_object_mut) {
        if separation.get("reasons").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            separation.remove("reasons");
        }
    }
    let text = format!("{:#}\n", sorted(value));
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[derive(Default)]
struct Ids {
    pools: HashMap<u32, usize>,
    buffers: HashMap<u32, usize>,
}

/// Registers an id, which must be new.
fn new_id(node: &Node, kind: &'static str, ids: &mut HashMap<u32, usize>) -> Result<u32, DsaError> {
    let member = node.member("id")?;
    let id = member.id()?;
    let at = ids.len();
    let first = *ids.entry(id).or_insert(at);
    if first == at { Ok(id) } else { Err(member.error(DsaErrorKind::DuplicateId { kind, id, first })) }
}

/// Returns the position of the pool or buffer with this id.
fn known(node: &Node, kind: &'static str, ids: &HashMap<u32, usize>) -> Result<usize, DsaError> {
    let id = node.id()?;
    ids.get(&id).copied().ok_or_else(|| node.error(DsaErrorKind::UnknownId { kind, id }))
}

fn pools(problem: &Node, ids: &mut Ids, notes: &mut Vec<String>) -> Result<Vec<Pool>, DsaError> {
    let mut pools = Vec::new();
    for node in problem.list("pools")? {
        node.only(&["id", "name", "capacity", "reserved_ranges", "bank_geometry"])?;
        let id = new_id(&node, "pool", &mut ids.pools)?;
        let name = node.member("name")?.text()?.to_owned();
        let capacity = node.member("capacity")?;
        let capacity = if capacity.is_null() { None } else { Some(Bytes::new(capacity.bytes()?)) };
        let mut pool = Pool { id, name, capacity, reserved: Vec::new() };
        let mut ranges = Vec::new();
        for range in node.list("reserved_ranges")? {
            range.only(&["begin", "end"])?;
            let (begin, end) = (range.member("begin")?.bytes()?, range.member("end")?.bytes()?);
            if end <= begin {
                return Err(range.error(DsaErrorKind::EmptyRange { lower: begin, upper: end }));
            }
            if let Some(kind) = beyond(&pool, begin, end) {
                return Err(range.error(kind));
            }
            ranges.push((begin, end));
        }
        pool.reserved =
            union(ranges).into_iter().map(|(begin, end)| (Bytes::new(begin), Bytes::new(end))).collect();
        if node.optional("bank_geometry")?.is_some() {
            notes.push(format!("pool {}: its banks are ignored", pool.label()));
        }
        pools.push(pool);
    }
    Ok(pools)
}

/// Returns an error if the addresses exceed the capacity of the pool.
fn beyond(pool: &Pool, begin: u64, end: u64) -> Option<DsaErrorKind> {
    let capacity = pool.capacity.filter(|capacity| end > capacity.get())?;
    let (begin, end) = (Bytes::new(begin), Bytes::new(end));
    Some(DsaErrorKind::BeyondCapacity { begin, end, capacity, pool: pool.label() })
}

/// Returns the union of the ranges as disjoint, non-adjacent ranges in ascending order.
pub(super) fn union(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (begin, end) in ranges {
        match joined.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((begin, end)),
        }
    }
    joined
}

fn buffers(problem: &Node, ids: &mut Ids, notes: &mut Vec<String>) -> Result<Vec<Demand>, DsaError> {
    let mut buffers = Vec::new();
    let nodes = problem.list("buffers")?;
    let first = first_step(&nodes)?;
    if first < 0 {
        notes.push(format!("steps are counted from {first}, the first step in the file"));
    }
    for node in nodes {
        node.only(&["id", "name", "size", "alignment", "live_intervals", "allowed_pools"])?;
        let id = new_id(&node, "buffer", &mut ids.buffers)?;
        let mut pools = Vec::new();
        let allowed = node.member("allowed_pools")?;
        for pool in allowed.entries()? {
            let pool = known(&pool, "pool", &ids.pools)?;
            if !pools.contains(&pool) {
                pools.push(pool);
            }
        }
        if pools.is_empty() {
            return Err(allowed.error(DsaErrorKind::NoPool));
        }
        let size = Bytes::new(node.member("size")?.bytes()?);
        buffers.push(Demand {
            id,
            name: node.member("name")?.text()?.to_owned(),
            size,
            alignment: Bytes::new(node.member("alignment")?.positive()?),
            lifespan: lifespan(&node.member("live_intervals")?, first, size)?,
            pools,
            hint: None,
        });
    }
    Ok(buffers)
}

/// Returns the earliest step of any buffer, or 0 if no step is negative.
fn first_step(buffers: &[Node]) -> Result<i64, DsaError> {
    let mut first = 0;
    for buffer in buffers {
        for interval in buffer.list("live_intervals")? {
            first = first.min(interval.member("lower")?.step()?);
        }
    }
    Ok(first)
}

/// Returns the union of the intervals, which may overlap, with steps counted from `first`. No interval may
/// begin before `first`. A buffer of size 0 may have empty intervals or none.
fn lifespan(node: &Node, first: i64, size: Bytes) -> Result<Lifespan, DsaError> {
    let (mut parts, mut begin) = (Vec::new(), None);
    for interval in node.entries()? {
        interval.only(&["lower", "upper"])?;
        let (lower, upper) = (interval.member("lower")?.step()?, interval.member("upper")?.step()?);
        if size == Bytes::ZERO && upper == lower {
            begin.get_or_insert(lower.abs_diff(first));
            continue;
        }
        if upper <= lower {
            return Err(interval.error(DsaErrorKind::EmptyLife { lower, upper }));
        }
        parts.push((lower.abs_diff(first), upper.abs_diff(first)));
    }
    if size == Bytes::ZERO && parts.is_empty() {
        return Ok(Lifespan::empty_at(begin.unwrap_or(0)));
    }
    let parts = union(parts).into_iter().map(|(lower, upper)| Interval::new(lower, upper));
    Lifespan::from_intervals(parts).map_err(|_| node.error(DsaErrorKind::NeverLive))
}

/// Reads the hints and names that [`write_dsa`](super::write_dsa) stored in `metadata`. Returns true if
/// `write_dsa` wrote the file.
fn extras(root: &Node, ids: &Ids, buffers: &mut [Demand]) -> Result<bool, DsaError> {
    let Some(metadata) = root.optional("metadata")? else { return Ok(false) };
    let Some((_, own)) = metadata.members()?.into_iter().find(|(name, _)| *name == OWN) else {
        return Ok(false);
    };
    let text = own.text()?;
    let wrong = || {
        let expected = "a JSON object with hints and names by buffer id";
        own.error(DsaErrorKind::Value { found: format!("'{text}'"), expected })
    };
    let table: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(text).map_err(|_| wrong())?;
    for (kind, values) in &table {
        for (id, value) in values {
            let at = id.parse().ok().and_then(|id: u32| ids.buffers.get(&id)).ok_or_else(wrong)?;
            match kind.as_str() {
                "hints" => buffers[*at].hint = Some(Bytes::new(value.as_u64().ok_or_else(wrong)?)),
                "names" => value.as_str().ok_or_else(wrong)?.clone_into(&mut buffers[*at].name),
                _ => return Err(wrong()),
            }
        }
    }
    Ok(true)
}

/// Reads pairs of buffers and returns their positions. A pair of a buffer with itself is allowed only if
/// `own` is true.
fn pairs(
    constraints: &Node,
    name: &'static str,
    own: bool,
    ids: &Ids,
) -> Result<Vec<(usize, usize)>, DsaError> {
    let mut pairs = Vec::new();
    for node in constraints.list(name)? {
        node.only(&["first", "second", "reasons"])?;
        let (first, second) = (node.member("first")?, node.member("second")?);
        let pair = (known(&first, "buffer", &ids.buffers)?, known(&second, "buffer", &ids.buffers)?);
        if pair.0 == pair.1 && !own {
            return Err(node.error(DsaErrorKind::OwnPair(first.id()?)));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

fn pins(constraints: &Node, ids: &Ids, pools: &[Pool], buffers: &[Demand]) -> Result<Vec<Pin>, DsaError> {
    let mut pins: Vec<Pin> = Vec::new();
    let mut of: HashMap<usize, Pin> = HashMap::new();
    for node in constraints.list("pinned_allocations")? {
        node.only(&["buffer", "pool", "offset", "exclusive_for_all_time"])?;
        let exclusive = node.optional("exclusive_for_all_time")?.map(|node| node.flag()).transpose()?;
        let pin = Pin {
            buffer: known(&node.member("buffer")?, "buffer", &ids.buffers)?,
            pool: known(&node.member("pool")?, "pool", &ids.pools)?,
            offset: Bytes::new(node.member("offset")?.bytes()?),
            exclusive: exclusive.unwrap_or(false),
        };
        if let Some(kind) = misplaced(&pin, &pools[pin.pool], &buffers[pin.buffer]) {
            return Err(node.error(kind));
        }
        let place = |pin: &Pin| format!("offset {} of pool {}", pin.offset, pools[pin.pool].label());
        if let Some(other) = of.insert(pin.buffer, pin) {
            return Err(node.error(DsaErrorKind::PinnedTwice(place(&other), place(&pin))));
        }
        pins.push(pin);
    }
    Ok(pins)
}

/// Returns an error if the pin is infeasible. A buffer of size 0 occupies no address of its pool.
fn misplaced(pin: &Pin, pool: &Pool, buffer: &Demand) -> Option<DsaErrorKind> {
    if !buffer.pools.contains(&pin.pool) {
        return Some(DsaErrorKind::PinnedElsewhere(pool.label()));
    }
    let (offset, alignment) = (pin.offset, buffer.alignment);
    if offset.get() % alignment.get() != 0 {
        return Some(DsaErrorKind::Misaligned { offset, alignment });
    }
    if buffer.size == Bytes::ZERO {
        return None;
    }
    let end = offset.get().saturating_add(buffer.size.get());
    if let Some(kind) = beyond(pool, offset.get(), end) {
        return Some(kind);
    }
    let (begin, end) = (offset, Bytes::new(end));
    let meets = |range: &&(Bytes, Bytes)| range.0 < end && begin < range.1;
    let reserved = *pool.reserved.iter().find(meets)?;
    Some(DsaErrorKind::Reserved { begin, end, reserved, pool: pool.label() })
}

fn costs(problem: &Node, notes: &mut Vec<String>) -> Result<(), DsaError> {
    if let Some(model) = problem.optional("cost_model")? {
        model.only(&["reuse_penalties"])?;
        let penalties = model.list("reuse_penalties")?.len();
        if penalties > 0 {
            notes.push(format!("{penalties} reuse costs are ignored, because only peaks are minimised"));
        }
    }
    let objective = problem.member("objective")?;
    objective.only(&["aggregation", "terms"])?;
    let mut other = Vec::new();
    for term in objective.list("terms")? {
        let term = term.text()?;
        if !["capacity_overflow", "total_peak", "max_peak"].contains(&term) {
            other.push(term);
        }
    }
    if !other.is_empty() {
        notes.push(format!(
            "terms of the objective are ignored, because only peaks are minimised: {}",
            other.join(", ")
        ));
    }
    Ok(())
}
