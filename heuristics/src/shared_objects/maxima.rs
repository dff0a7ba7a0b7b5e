//! Positional maxima, which are lower bounds on the size of the largest, second largest, third largest, ...
//! shared object.

use plimsoll_model::{Bytes, Instance, Step};

/// Returns the positional maxima. Entry k is the maximum, over all steps, of the k-th largest size of a live
/// buffer. Buffers of size zero also count.
///
/// Without exclusions, simultaneously live buffers need different objects. The k-th largest object of any
/// plan is then at least as large as entry k. The sum of the entries is therefore a lower bound on the total.
/// This sum is at least the load (Pisarchyk and Lee 2020, section 4.1).
///
/// O(s log s + s k) for s starts and ends of intervals of lifespans, if at most k buffers are simultaneously
/// live.
///
/// ```
/// use plimsoll_heuristics::shared_objects::positional_maxima;
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
    // Lifespans are half-open, so ends sort before starts at the same step.
    let mut events: Vec<(Step, bool, Bytes)> = Vec::new();
    for buffer in instance.buffers() {
        for interval in buffer.lifespan().intervals() {
            events.push((interval.lower, true, buffer.size()));
            events.push((interval.upper, false, buffer.size()));
        }
    }
    events.sort_unstable();
    // The sizes of the live buffers, ascending.
    let mut live: Vec<Bytes> = Vec::new();
    let mut maxima: Vec<Bytes> = Vec::new();
    for (at, &(step, begins, size)) in events.iter().enumerate() {
        let place = live.partition_point(|&other| other < size);
        if begins {
            live.insert(place, size);
        } else {
            live.remove(place);
        }
        if begins && events.get(at + 1).is_none_or(|next| next.0 != step || !next.1) {
            maxima.resize(maxima.len().max(live.len()), Bytes::ZERO);
            for (most, &size) in maxima.iter_mut().zip(live.iter().rev()) {
                *most = (*most).max(size);
            }
        }
    }
    maxima
}
