//! Instances: buffers to be placed.

use crate::border::{array, place};
use crate::error::{Failure, call, plimsoll_code, plimsoll_code as Code};
use crate::handle::Table;
use plimsoll::model::{Buffer, Bytes, Instance, InstanceBuilder, Interval, Lifespan, LifespanError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A list of buffers with an optional capacity. Free it with `plimsoll_instance_free`.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct plimsoll_instance {
    /// The number of the handle; 0 is never valid.
    pub handle: u64,
}

pub static INSTANCES: Table<Arc<Mutex<Draft>>> = Table::new("instance");

/// An instance under construction. It is validated as a whole when it is first used.
#[derive(Default)]
pub struct Draft {
    buffers: Vec<Buffer>,
    separations: Vec<(usize, usize)>,
    exclusions: Vec<(usize, usize)>,
    above: Vec<(usize, usize, u64)>,
    capacity: Option<u64>,
    /// The bytes that all buffers need.
    needed: u128,
    /// The highest end of a fixed buffer, in bytes.
    fixed_end: u128,
    built: Option<Arc<Instance>>,
}

/// The highest address, as in the Rust library: no sum of addresses overflows.
const MOST: u64 = i64::MAX as u64;

/// Returns the bytes that a buffer needs, with those that its alignment may waste. A buffer of size 0 needs
/// none.
fn needed(buffer: &Buffer) -> u128 {
    let [size, alignment] = [buffer.size(), buffer.alignment()].map(|bytes| u128::from(bytes.get()));
    if buffer.is_empty() { 0 } else { size + alignment - 1 }
}

/// Returns the end of a fixed buffer of non-zero size, and 0 for all other buffers.
fn fixed_end(buffer: &Buffer) -> u128 {
    let offset = buffer.fixed().filter(|_| !buffer.is_empty());
    offset.map_or(0, |offset| u128::from(offset.get()) + u128::from(buffer.size().get()))
}

/// Refuses the buffer `index`, which is added or fixed, if all buffers then need too many addresses. No
/// instance with these buffers would be valid, and buffers cannot be removed.
fn check_total(index: usize, fixed_end: u128, needed: u128) -> Result<(), Failure> {
    let total = fixed_end + needed;
    if total <= u128::from(MOST) {
        return Ok(());
    }
    let message = format!(
        "buffer {index}: all buffers, aligned and laid end to end above the highest fixed one, need {total} \
         bytes; expected at most {MOST} (2^63 - 1)"
    );
    Err(Failure::new(Code::PLIMSOLL_INVALID_INSTANCE, message))
}

/// Refuses a number of bytes above every address.
fn bytes(index: usize, name: &str, value: u64) -> Result<u64, Failure> {
    if value <= MOST {
        return Ok(value);
    }
    let message = format!("buffer {index}: the {name} is {value} bytes; expected at most {MOST} (2^63 - 1)");
    Err(Failure::argument(message))
}

/// Creates the buffer with the index `index`. Checks what can be checked without the other buffers.
fn buffer(index: usize, size: u64, lower: u64, upper: u64, alignment: u64) -> Result<Buffer, Failure> {
    if alignment == 0 {
        return Err(Failure::argument(format!("buffer {index}: the alignment is 0; expected at least 1")));
    }
    let (size, alignment) = (bytes(index, "size", size)?, bytes(index, "alignment", alignment)?);
    let is_empty = size == 0 && lower == upper;
    let lifespan = if is_empty { Ok(Lifespan::empty_at(lower)) } else { Lifespan::single(lower, upper) };
    let lifespan = lifespan.map_err(|error| Failure::argument(format!("buffer {index}: {error}")))?;
    Ok(Buffer::new(index.to_string(), size, lifespan).aligned(alignment))
}

/// Returns the lifespan with one more gap.
fn with_gap(lifespan: &Lifespan, gap: Interval) -> Result<Lifespan, LifespanError> {
    let known = lifespan.intervals().windows(2).map(|pair| Interval::new(pair[0].upper, pair[1].lower));
    let mut gaps: Vec<Interval> = known.chain([gap]).collect();
    gaps.sort_unstable_by_key(|gap| (gap.lower, gap.upper));
    Lifespan::with_gaps(lifespan.hull(), gaps)
}

impl Draft {
    fn buffer(&mut self, index: usize, name: &str) -> Result<&mut Buffer, Failure> {
        let count = self.buffers.len();
        let missing =
            || Failure::argument(format!("'{name}' is {index}, but the instance has {count} buffers"));
        self.buffers.get_mut(index).ok_or_else(missing)
    }

    fn pair(&mut self, [a, b]: [(usize, &str); 2]) -> Result<(usize, usize), Failure> {
        self.buffer(a.0, a.1)?;
        self.buffer(b.0, b.1)?;
        if a.0 == b.0 {
            return Err(Failure::argument(format!(
                "'{}' and '{}' are both {}; expected two different buffers",
                a.1, b.1, a.0
            )));
        }
        Ok((a.0, b.0))
    }

    /// Returns the validated instance. O(n log n) for n buffers after a change, O(1) otherwise.
    pub fn instance(&mut self) -> Result<Arc<Instance>, Failure> {
        if let Some(built) = &self.built {
            return Ok(Arc::clone(built));
        }
        let mut builder = InstanceBuilder::new("instance")
            .buffers(self.buffers.iter().cloned())
            .capacity(self.capacity.map(Bytes::new));
        for &(a, b) in &self.separations {
            builder = builder.separate(a, b);
        }
        for &(a, b) in &self.exclusions {
            builder = builder.exclude(a, b);
        }
        for &(upper, lower, distance) in &self.above {
            builder = builder.above(upper, lower, distance);
        }
        let built = builder.build().map_err(|error| {
            let index = error.buffers().first().map(|id| format!("buffer {}: ", id.index()));
            Failure::new(Code::PLIMSOLL_INVALID_INSTANCE, index.unwrap_or_default() + &error.to_string())
        })?;
        Ok(Arc::clone(self.built.insert(Arc::new(built))))
    }
}

/// Locks a draft. A panic cannot leave the draft half changed, because changes are checked before they are
/// made.
pub fn lock(draft: &Mutex<Draft>) -> MutexGuard<'_, Draft> {
    draft.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes an instance, or leaves it unchanged if the change is invalid.
fn change(
    instance: plimsoll_instance,
    work: impl FnOnce(&mut Draft) -> Result<(), Failure>,
) -> plimsoll_code {
    call(|| {
        let draft = INSTANCES.get(instance.handle)?;
        let mut draft = lock(&draft);
        work(&mut draft)?;
        draft.built = None;
        Ok(())
    })
}

/// Creates an empty instance without a capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_instance_new(instance: *mut plimsoll_instance) -> plimsoll_code {
    call(|| {
        // SAFETY: guaranteed by the caller.
        let place = unsafe { place(instance, "instance") }?;
        place.handle = INSTANCES.insert(Arc::default());
        Ok(())
    })
}

/// Frees an instance. Its solutions remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_instance_free(instance: plimsoll_instance) -> plimsoll_code {
    call(|| INSTANCES.remove(instance.handle))
}

/// Appends `count` buffers, which get the next free indices. `sizes` are in bytes. Buffer `i` is live from
/// step `lower[i]` up to, but not including, step `upper[i]`. `alignments` are in bytes; if the pointer is
/// null, every alignment is 1. At most 2^32 - 1 buffers are allowed.
///
/// The call fails with `PLIMSOLL_INVALID_INSTANCE` if all buffers, aligned and laid end to end above the
/// highest fixed one, then need more than 2^63 - 1 bytes.
///
/// Every array is null or has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_instance_add(
    instance: plimsoll_instance,
    count: usize,
    sizes: *const u64,
    lower: *const u64,
    upper: *const u64,
    alignments: *const u64,
) -> plimsoll_code {
    change(instance, |draft| {
        let first = draft.buffers.len();
        let most = u32::MAX as usize - first;
        if count > most {
            return Err(Failure::argument(format!("'count' is {count}; expected at most {most}")));
        }
        // SAFETY: guaranteed by the caller.
        let [sizes, lower, upper] = unsafe {
            [array(sizes, count, "sizes")?, array(lower, count, "lower")?, array(upper, count, "upper")?]
        };
        let given = if alignments.is_null() { 0 } else { count };
        // SAFETY: guaranteed by the caller.
        let alignments = unsafe { array(alignments, given, "alignments") }?;
        let mut total = draft.needed;
        let added = (0..count).map(|at| {
            let alignment = alignments.get(at).copied().unwrap_or(1);
            let added = buffer(first + at, sizes[at], lower[at], upper[at], alignment)?;
            total += needed(&added);
            check_total(first + at, draft.fixed_end, total)?;
            Ok(added)
        });
        let added = added.collect::<Result<Vec<_>, _>>()?;
        draft.buffers.extend(added);
        draft.needed = total;
        Ok(())
    })
}

/// Fixes a buffer at an offset in bytes. The limit of `plimsoll_instance_add` applies.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_instance_fix(
    instance: plimsoll_instance,
    buffer: usize,
    offset: u64,
) -> plimsoll_code {
    change(instance, |draft| {
        let place = draft.buffer(buffer, "buffer")?;
        let alignment = place.alignment().get();
        if !offset.is_multiple_of(alignment) {
            let message =
                format!("buffer {buffer}: offset {offset} is not a multiple of its alignment {alignment}");
            return Err(Failure::argument(message));
        }
        let fixed = place.clone().fixed_at(bytes(buffer, "offset", offset)?);
        let others = if place.fixed().is_some() {
            let others = draft.buffers.iter().enumerate().filter(|&(at, _)| at != buffer);
            others.map(|(_, other)| fixed_end(other)).max().unwrap_or(0)
        } else {
            draft.fixed_end
        };
        let end = fixed_end(&fixed).max(others);
        check_total(buffer, end, draft.needed)?;
        draft.fixed_end = end;
        draft.buffers[buffer] = fixed;
        Ok(())
    })
}

/// Adds the gap `[lower, upper)`, in steps, to the lifespan of a buffer. During the gap, other buffers may
/// use the bytes of this buffer.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_instance_add_gap(
    instance: plimsoll_instance,
    buffer: usize,
    lower: u64,
    upper: u64,
) -> plimsoll_code {
    change(instance, |draft| {
        let place = draft.buffer(buffer, "buffer")?;
        let lifespan = with_gap(place.lifespan(), Interval::new(lower, upper));
        let lifespan = lifespan.map_err(|error| Failure::argument(format!("buffer {buffer}: {error}")))?;
        *place = place.clone().during(lifespan);
        Ok(())
    })
}

/// Forbids two buffers from sharing bytes, even if they are never live at the same step.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_instance_separate(
    instance: plimsoll_instance,
    a: usize,
    b: usize,
) -> plimsoll_code {
    change(instance, |draft| {
        let pair = draft.pair([(a, "a"), (b, "b")])?;
        draft.separations.push(pair);
        Ok(())
    })
}

/// Allows two buffers to share bytes even if their lifespans overlap, for example because they belong to two
/// branches of which only one runs.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_instance_exclude(
    instance: plimsoll_instance,
    a: usize,
    b: usize,
) -> plimsoll_code {
    change(instance, |draft| {
        let pair = draft.pair([(a, "a"), (b, "b")])?;
        draft.exclusions.push(pair);
        Ok(())
    })
}

/// Requires a buffer to lie exactly `distance` bytes above another one: the offset of `upper` is the offset
/// of `lower` plus the distance. Each buffer may be the `upper` one of at most one call. Not all algorithms
/// support such instances.
///
/// `plimsoll_solve` and `plimsoll_check` report distances that contradict each other, or that add up to more
/// than 2^63 - 1 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_instance_above(
    instance: plimsoll_instance,
    upper: usize,
    lower: usize,
    distance: u64,
) -> plimsoll_code {
    change(instance, |draft| {
        let (upper, lower) = draft.pair([(upper, "upper"), (lower, "lower")])?;
        if draft.above.iter().any(|above| above.0 == upper) {
            let message = format!("buffer {upper} already lies above another buffer; only one is allowed");
            return Err(Failure::argument(message));
        }
        draft.above.push((upper, lower, bytes(upper, "distance", distance)?));
        Ok(())
    })
}

/// Sets the capacity in bytes, which no layout may exceed. `UINT64_MAX` removes the capacity.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_instance_set_capacity(
    instance: plimsoll_instance,
    capacity: u64,
) -> plimsoll_code {
    change(instance, |draft| {
        draft.capacity = (capacity != u64::MAX).then_some(capacity);
        Ok(())
    })
}
