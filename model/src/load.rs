//! Live bytes over time, and the sections of an instance: its maximal sets of simultaneously live buffers.

use crate::budget::Budget;
use crate::instance::Instance;
use crate::lifespan::Interval;
use crate::units::{BufferId, Bytes, Step};
use std::collections::BTreeSet;

/// The live bytes at every step, as a step function. It is built in O(n log n) for n lifespan intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadProfile {
    pieces: Vec<(Interval, Bytes)>,
}

impl LoadProfile {
    /// Computes the total size of the buffers live at each step. Separations and exclusions are ignored.
    pub fn of(instance: &Instance) -> Self {
        let mut events: Vec<(Step, i64)> = Vec::with_capacity(2 * instance.len());
        for buffer in instance.buffers() {
            // The ceiling of the instance fits into i64, and so does every size.
            let size = buffer.size().get() as i64;
            for part in buffer.lifespan().intervals() {
                events.push((part.lower, size));
                events.push((part.upper, -size));
            }
        }
        events.sort_unstable();
        let mut pieces = Vec::new();
        let (mut live, mut from) = (0i64, Step::default());
        for chunk in events.chunk_by(|a, b| a.0 == b.0) {
            let step = chunk[0].0;
            let change = chunk.iter().map(|&(_, change)| change).sum::<i64>();
            if change == 0 {
                continue;
            }
            if live > 0 {
                pieces.push((Interval::new(from, step), Bytes::new(live as u64)));
            }
            live += change;
            from = step;
        }
        Self { pieces }
    }

    /// Returns the maximal intervals of constant, positive load, in ascending order.
    pub fn pieces(&self) -> &[(Interval, Bytes)] {
        &self.pieces
    }

    /// Returns the *load*, which is the maximum number of live bytes at any step, and the first step at which
    /// it occurs. The load is zero if there are no buffers.
    pub fn peak(&self) -> (Bytes, Step) {
        let mut best = (Bytes::ZERO, Step::default());
        for &(interval, bytes) in &self.pieces {
            if bytes > best.0 {
                best = (bytes, interval.lower);
            }
        }
        best
    }

    /// Returns the live bytes at `step`. O(log n) for n intervals of constant load.
    pub fn at(&self, step: Step) -> Bytes {
        let next = self.pieces.partition_point(|(i, _)| i.upper <= step);
        match self.pieces.get(next) {
            Some((interval, bytes)) if interval.contains(step) => *bytes,
            _ => Bytes::ZERO,
        }
    }
}

/// Returns the load of an instance in bytes, and the first step at which it occurs. The first call takes O(n
/// log n) time for n lifespan intervals, and the instance keeps the result.
pub fn load(instance: &Instance) -> (Bytes, Step) {
    *instance.load.0.get_or_init(|| LoadProfile::of(instance).peak())
}

/// Returns the buffers of non-zero size that are live at `step`, ascending. O(n log g) for n buffers with at
/// most g intervals each.
pub fn live_at(instance: &Instance, step: Step) -> Vec<BufferId> {
    let holds = |id: &BufferId| {
        let buffer = instance.buffer(*id);
        !buffer.is_empty() && buffer.lifespan().contains(step)
    };
    instance.ids().filter(holds).collect()
}

/// A range of steps during which a maximal set of buffers is live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The steps as a half-open interval.
    pub interval: Interval,
    /// The buffers that are live in the interval, ascending.
    pub buffers: Vec<BufferId>,
}

/// Returns the sections of an instance: the sets of simultaneously live buffers that are not contained in a
/// neighbouring set. Buffers of size 0 belong to no section.
///
/// The starts and ends of all intervals are sorted by step. A set is recorded just before the first end that
/// follows a start. Any two buffers that are live at a common step belong to a common section, so the
/// sections cover all pairs of buffers that overlap in time. Time and memory are O(n log n + s) for n
/// lifespan intervals, where s is the number of buffers summed over all sections. The sum s is at most
/// quadratic in n.
///
/// ```text
/// a ████████        sections: {a, b} and {b, c}; the set {b}, live between them,
/// b    ██████████   is contained in both, so it is not a section
/// c          ██████
/// ```
pub fn sections(instance: &Instance) -> Vec<Section> {
    sections_within(instance, &mut Budget::unlimited())
}

/// Computes the sections. If the budget `watch` is exhausted first, only the sections found so far are
/// returned.
pub fn sections_within(instance: &Instance, watch: &mut Budget) -> Vec<Section> {
    let mut found = Vec::new();
    visit_sections(instance, watch, |interval, live, _| {
        found.push(Section { interval, buffers: live.iter().copied().collect() });
        true
    });
    found
}

/// Calls `visit` for every section in ascending order of time, with its interval, its buffers and their total
/// size in bytes. Ends early if `visit` returns false or if the budget `watch` is exhausted. O(n log n) for n
/// lifespan intervals, with linear memory.
pub fn visit_sections(
    instance: &Instance,
    watch: &mut Budget,
    mut visit: impl FnMut(Interval, &BTreeSet<BufferId>, Bytes) -> bool,
) {
    let mut live = BTreeSet::new();
    let mut bytes = 0;
    let mut last_start = None;
    for (step, starts, id) in section_events(instance) {
        if watch.tick().is_some() {
            return;
        }
        // The ceiling of the instance limits the sum of all sizes.
        let size = instance.buffer(id).size().get();
        if starts {
            live.insert(id);
            bytes += size;
            last_start = Some(step);
        } else {
            if let Some(lower) = last_start.take()
                && !visit(Interval::new(lower, step), &live, Bytes::new(bytes))
            {
                return;
            }
            live.remove(&id);
            bytes -= size;
        }
    }
}

/// Returns the intervals of all sections, without their buffers. O(n log n) for n lifespan intervals, with
/// linear memory.
pub fn section_intervals(instance: &Instance) -> Vec<Interval> {
    let mut found = Vec::new();
    let mut last_start = None;
    for (step, starts, _) in section_events(instance) {
        if starts {
            last_start = Some(step);
        } else if let Some(lower) = last_start.take() {
            found.push(Interval::new(lower, step));
        }
    }
    found
}

/// Returns the starts and ends of the lifespan intervals of all buffers of non-zero size, in ascending order.
/// At the same step, ends come before starts, because intervals are half-open.
fn section_events(instance: &Instance) -> Vec<(Step, bool, BufferId)> {
    let mut events = Vec::with_capacity(2 * instance.len());
    for id in instance.ids().filter(|&id| !instance.buffer(id).is_empty()) {
        for part in instance.buffer(id).lifespan().intervals() {
            events.push((part.lower, true, id));
            events.push((part.upper, false, id));
        }
    }
    events.sort_unstable();
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Buffer, InstanceBuilder};
    use crate::lifespan::Lifespan;

    fn instance(rows: &[(u64, u64, u64)]) -> Instance {
        let buffers = rows.iter().enumerate().map(|(i, &(lower, upper, size))| {
            Buffer::new(i.to_string(), size, Lifespan::single(lower, upper).unwrap())
        });
        InstanceBuilder::new("t").buffers(buffers).build().unwrap()
    }

    #[test]
    fn load_is_witnessed_by_its_first_step() {
        let t = instance(&[(0, 4, 5), (2, 6, 7), (6, 9, 11)]);
        assert_eq!(load(&t), (Bytes::new(12), Step::new(2)));
        let profile = LoadProfile::of(&t);
        assert_eq!(profile.at(Step::new(5)).get(), 7);
        assert_eq!(profile.at(Step::new(6)).get(), 11);
        assert_eq!(profile.at(Step::new(9)).get(), 0);
        assert_eq!(load(&instance(&[])).0.get(), 0);
    }

    #[test]
    fn pieces_are_maximal() {
        let t = instance(&[(0, 4, 5), (4, 6, 2), (4, 6, 3), (7, 8, 5)]);
        let five = Bytes::new(5);
        assert_eq!(LoadProfile::of(&t).pieces(), [(Interval::new(0, 6), five), (Interval::new(7, 8), five)]);
    }

    #[test]
    fn sections_are_maximal() {
        let t = instance(&[(0, 4, 1), (2, 8, 1), (6, 9, 1)]);
        let sets: Vec<Vec<usize>> =
            sections(&t).iter().map(|s| s.buffers.iter().map(|b| b.index()).collect()).collect();
        assert_eq!(sets, [vec![0, 1], vec![1, 2]]);
        let intervals: Vec<Interval> = sections(&t).iter().map(|section| section.interval).collect();
        assert_eq!(section_intervals(&t), intervals);
        visit_sections(&t, &mut Budget::unlimited(), |_, live, bytes| {
            assert_eq!((live.len(), bytes.get()), (2, 2));
            true
        });
    }

    #[test]
    fn touching_lifespans_do_not_intersect() {
        let t = instance(&[(0, 4, 3), (4, 8, 5)]);
        assert_eq!(load(&t).0.get(), 5);
        assert_eq!(sections(&t).len(), 2);
    }
}
