//! [`Diagnosis`]: shows where and why a layout exceeds its lower bound.

use plimsoll_model::{BufferId, Bytes, Instance, Interval, Piece, Step, Violation, live_at, load};
use std::collections::BinaryHeap;

/// Returns the verdict on a plan with this peak, compared with a lower bound on all peaks: `invalid` or `too
/// large` if it has violations, and otherwise `below the floor`, `optimal`, `above the optimum` if the bound is
/// known to be the lowest peak, or `open`. O(n) for n violations.
pub fn verdict(violations: &[Violation], peak: Bytes, bound: Bytes, is_optimum_known: bool) -> &'static str {
    match () {
        () if !violations.is_empty() => Violation::verdict(violations),
        () if peak < bound => "below the floor",
        () if peak == bound => "optimal",
        () if is_optimum_known => "above the optimum",
        () => "open",
    }
}

/// The shape of a layout over time, compared with a lower bound on its peak.
///
/// At every step, the *extent* is the highest address in use. Bytes below the extent that no live buffer
/// occupies are *free*: they are lost to fragmentation and alignment.
///
/// ```
/// use plimsoll::Diagnosis;
/// use plimsoll::model::csv::{ReadOptions, read_instance};
/// use plimsoll::model::{Bytes, InstanceProblem, Layout, Offsets};
///
/// let rows = "id,lower,upper,size\na,0,2,4\nb,0,4,2\nc,2,4,4\n";
/// let instance = read_instance("t", rows.as_bytes(), ReadOptions::default())?;
/// let pieces = Offsets::pieces(&instance, &Layout::from_raw([0, 4, 6]));
/// let found = Diagnosis::of(&instance, &pieces, Bytes::new(6));
/// assert_eq!(found.excess(), Bytes::new(4));
/// assert_eq!(found.worst().map(|section| section.free()), Some(Bytes::new(4)));
/// # Ok::<(), plimsoll::model::csv::CsvError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The highest address in use at any step, in bytes.
    pub peak: Bytes,
    /// The lower bound that the layout is compared with, in bytes.
    pub bound: Bytes,
    /// The buffers that end above the bound, those with the highest end first.
    pub above: Vec<BufferId>,
    /// Maximal intervals of steps with constant extent and constant live bytes, in order of time. Steps
    /// at which no placed buffer is live are omitted.
    pub sections: Vec<ExtentSection>,
    /// The buffers that are live at the first step whose extent is the peak, in descending order of their
    /// lowest address.
    pub at_peak: Vec<BufferId>,
    /// The first step with the most live bytes.
    pub load_step: Step,
    /// The buffers that are live at [`load_step`](Self::load_step), in ascending order of their lowest
    /// address.
    pub at_load: Vec<BufferId>,
}

/// An interval of steps with constant extent and constant live bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtentSection {
    /// The steps, half-open.
    pub steps: Interval,
    /// The highest address in use, in bytes.
    pub extent: Bytes,
    /// The sum of the sizes of the live buffers that have an address, in bytes.
    pub live: Bytes,
}

impl ExtentSection {
    /// Returns the bytes below the extent that no live buffer occupies. Mutually exclusive buffers may share
    /// addresses, but each of them is counted in full. With exclusions, the result may therefore be too low.
    pub fn free(&self) -> Bytes {
        Bytes::new(self.extent.get().saturating_sub(self.live.get()))
    }
}

impl Diagnosis {
    /// Diagnoses a layout. `pieces` contains the address ranges of every buffer, as returned by
    /// [`InstanceProblem::pieces`](plimsoll_model::InstanceProblem::pieces). `bound` is a lower bound on the
    /// peak, in bytes.
    ///
    /// Takes O(n log n) time, where n is the sum, over all buffers, of the number of address ranges times the
    /// number of lifespan intervals.
    pub fn of(instance: &Instance, pieces: &[Vec<Piece>], bound: Bytes) -> Self {
        let end = |id: BufferId| pieces[id.index()].iter().map(|piece| piece.end()).max().unwrap_or_default();
        let start = |id: BufferId| pieces[id.index()].iter().map(|piece| piece.start).min();
        let mut above: Vec<BufferId> = instance.ids().filter(|&id| end(id) > bound).collect();
        above.sort_by_key(|&id| (std::cmp::Reverse(end(id)), id));
        let load_step = load(instance).1;
        let mut at_load = live_at(instance, load_step);
        at_load.sort_by_key(|&id| (start(id), id));
        let peak = instance.ids().map(end).max().unwrap_or_default();
        let placed = |id: BufferId| !pieces[id.index()].is_empty();
        let sections = sections(instance, placed, end);
        let worst = sections.iter().find(|section| section.extent == peak);
        let mut at_peak = worst.map_or_else(Vec::new, |worst| live_at(instance, worst.steps.lower));
        at_peak.sort_by_key(|&id| (std::cmp::Reverse(start(id)), id));
        Self { peak, bound, above, sections, at_peak, load_step, at_load }
    }

    /// Returns the bytes by which the peak exceeds the bound.
    pub fn excess(&self) -> Bytes {
        Bytes::new(self.peak.get().saturating_sub(self.bound.get()))
    }

    /// Returns the sections whose extent exceeds the bound, in order of time.
    pub fn above_bound(&self) -> impl Iterator<Item = &ExtentSection> {
        self.sections.iter().filter(|section| section.extent > self.bound)
    }

    /// Returns the first section whose extent is the peak, or `None` if no buffer has bytes.
    pub fn worst(&self) -> Option<&ExtentSection> {
        self.sections.iter().find(|section| section.extent == self.peak)
    }
}

/// Returns the sections of the placed buffers, where buffer `id` ends at address `end(id)`.
fn sections(
    instance: &Instance,
    placed: impl Fn(BufferId) -> bool,
    end: impl Fn(BufferId) -> Bytes,
) -> Vec<ExtentSection> {
    // The event at the start of an interval contains the end of the interval; the event at the end contains
    // `None`. At the same step, ends precede starts.
    let mut events: Vec<(Step, Option<Step>, BufferId)> = Vec::with_capacity(2 * instance.len());
    for id in instance.ids().filter(|&id| placed(id)) {
        for part in instance.buffer(id).lifespan().intervals() {
            events.push((part.lower, Some(part.upper), id));
            events.push((part.upper, None, id));
        }
    }
    events.sort_unstable();
    // The highest address of each buffer, with the first step after its interval. Buffers that are no
    // longer live are removed when they reach the top.
    let mut ends: BinaryHeap<(Bytes, Step)> = BinaryHeap::new();
    let mut live = 0u64;
    let mut found: Vec<ExtentSection> = Vec::new();
    for (at, &(step, upper, id)) in events.iter().enumerate() {
        let size = instance.buffer(id).size().get();
        match upper {
            Some(upper) => {
                live += size;
                ends.push((end(id), upper));
            }
            None => live -= size,
        }
        let Some(next) = events.get(at + 1).map(|event| event.0).filter(|next| *next > step) else {
            continue;
        };
        while ends.peek().is_some_and(|&(_, upper)| upper <= step) {
            ends.pop();
        }
        let Some(&(extent, _)) = ends.peek() else { continue };
        let one = ExtentSection { steps: Interval::new(step, next), extent, live: Bytes::new(live) };
        match found.last_mut() {
            Some(last) if (last.steps.upper, last.extent, last.live) == (step, extent, one.live) => {
                last.steps.upper = next;
            }
            _ => found.push(one),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{Buffer, InstanceBuilder, InstanceProblem, Layout, Lifespan, Offsets};

    fn instance(rows: &[(u64, u64, u64)]) -> Instance {
        let buffer = |(at, &(lower, upper, size)): (usize, &(u64, u64, u64))| {
            Buffer::new(format!("b{at}"), size, Lifespan::single(lower, upper).unwrap())
        };
        InstanceBuilder::new("t").buffers(rows.iter().enumerate().map(buffer)).build().unwrap()
    }

    #[test]
    fn the_sections_agree_with_every_step() {
        let rows = [(0, 4, 3), (2, 6, 5), (4, 9, 3), (6, 7, 2), (12, 14, 1), (3, 4, 0)];
        let t = instance(&rows);
        let offsets = [0, 3, 8, 0, 4, 0];
        let pieces = Offsets::pieces(&t, &Layout::from_raw(offsets));
        let found = Diagnosis::of(&t, &pieces, Bytes::new(8));
        for step in 0..16 {
            let live =
                rows.iter().zip(offsets).filter(|((lower, upper, _), _)| (*lower..*upper).contains(&step));
            let (bytes, extent) = live.fold((0, 0), |(sum, top), ((_, _, size), offset)| {
                (sum + size, std::cmp::max(top, offset + size))
            });
            let section = found.sections.iter().find(|section| section.steps.contains(step.into()));
            assert_eq!(
                section.map_or((0, 0), |one| (one.live.get(), one.extent.get())),
                (bytes, extent),
                "{step}"
            );
        }
        assert_eq!(found.peak.get(), 11);
        assert_eq!(found.above, [BufferId::new(2)]);
        assert_eq!(found.load_step, Step::new(2));
        assert_eq!(found.at_load, [BufferId::new(0), BufferId::new(1)]);
        assert_eq!(found.above_bound().map(|one| one.free().get()).collect::<Vec<_>>(), [3, 6, 8]);
        assert_eq!(found.worst().map(|one| one.steps), Some(Interval::new(4, 6)));
    }

    #[test]
    fn a_layout_without_bytes_has_no_section() {
        let t = instance(&[(0, 2, 0)]);
        let found = Diagnosis::of(&t, &Offsets::pieces(&t, &Layout::from_raw([7])), Bytes::ZERO);
        assert_eq!((found.peak, found.worst(), found.above.len()), (Bytes::ZERO, None, 0));
    }
}
