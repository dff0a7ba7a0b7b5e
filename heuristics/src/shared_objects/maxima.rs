//! Positional maxima: how large the first, second, third .. largest pool must be.

use plimsoll_model::{Bytes, Instance, Step};

/// The positional maxima: at position k the largest, over all steps, of the k-th largest size alive, zero sizes included.
///
/// Buffers alive together need pools of their own, so the k-th largest pool of any plan is at least as large as entry k, and
/// their sum bounds the total where nothing is exclusive; it is at least the load. (Pisarchyk and Lee 2020, section 4.1.)
///
/// O(n log n + s a) for s pieces between two events and a buffers alive at a time.
///
/// ```
/// use plimsoll_heuristics::positional_maxima;
/// use plimsoll_model::{Buffer, Bytes, InstanceBuilder, Lifespan};
///
/// let instance = InstanceBuilder::new("two steps")
///     .buffer(Buffer::new("a", 5, Lifespan::single(0, 1)?))
///     .buffer(Buffer::new("b", 1, Lifespan::single(0, 1)?))
///     .buffer(Buffer::new("c", 3, Lifespan::single(1, 2)?))
///     .buffer(Buffer::new("d", 2, Lifespan::single(1, 2)?))
///     .build()?;
/// assert_eq!(positional_maxima(&instance), [Bytes::new(5), Bytes::new(2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn positional_maxima(instance: &Instance) -> Vec<Bytes> {
    // Ends come before beginnings at the same step: lifespans are half-open.
    let mut events: Vec<(Step, bool, Bytes)> = Vec::new();
    for buffer in instance.buffers() {
        for interval in buffer.lifespan().intervals() {
            events.push((interval.lower, true, buffer.size()));
            events.push((interval.upper, false, buffer.size()));
        }
    }
    events.sort_unstable();
    // Alive, ascending.
    let mut alive: Vec<Bytes> = Vec::new();
    let mut maxima: Vec<Bytes> = Vec::new();
    for (at, &(step, begins, size)) in events.iter().enumerate() {
        let place = alive.partition_point(|&other| other < size);
        if begins {
            alive.insert(place, size);
        } else {
            alive.remove(place);
        }
        if begins && events.get(at + 1).is_none_or(|next| next.0 != step || !next.1) {
            maxima.resize(maxima.len().max(alive.len()), Bytes::ZERO);
            for (most, &size) in maxima.iter_mut().zip(alive.iter().rev()) {
                *most = (*most).max(size);
            }
        }
    }
    maxima
}
