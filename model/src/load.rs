//! Bytes alive over time, and the sections of steps at which they peak.

use crate::budget::Budget;
use crate::instance::Instance;
use crate::lifespan::Interval;
use crate::units::{BufferId, Bytes, Step};

/// The bytes alive at every step, as a step function. Built in O(n log n).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadProfile {
    pieces: Vec<(Interval, Bytes)>,
}

impl LoadProfile {
    /// Sums the sizes of all buffers alive at each step; separations and exclusions play no part.
    pub fn of(instance: &Instance) -> Self {
        let mut events: Vec<(Step, i64)> = Vec::with_capacity(2 * instance.len());
        for buffer in instance.buffers() {
            // The instance's ceiling fits i64, so does every size.
            let size = buffer.size().get() as i64;
            for part in buffer.lifespan().intervals() {
                events.push((part.lower, size));
                events.push((part.upper, -size));
            }
        }
        events.sort_unstable();
        let mut pieces = Vec::new();
        let (mut alive, mut from) = (0i64, Step::default());
        for chunk in events.chunk_by(|a, b| a.0 == b.0) {
            let step = chunk[0].0;
            let change = chunk.iter().map(|&(_, change)| change).sum::<i64>();
            if change == 0 {
                continue;
            }
            if alive > 0 {
                pieces.push((Interval::new(from, step), Bytes::new(alive as u64)));
            }
            alive += change;
            from = step;
        }
        Self { pieces }
    }

    /// Maximal intervals of constant, positive load, ascending.
    pub fn pieces(&self) -> &[(Interval, Bytes)] {
        &self.pieces
    }

    /// The *load*: the most bytes alive at one step, and the first such step. Zero for no buffers.
    pub fn peak(&self) -> (Bytes, Step) {
        let mut best = (Bytes::ZERO, Step::default());
        for &(interval, bytes) in &self.pieces {
            if bytes > best.0 {
                best = (bytes, interval.lower);
            }
        }
        best
    }

    /// Bytes alive at `step`. O(log n).
    pub fn at(&self, step: Step) -> Bytes {
        let next = self.pieces.partition_point(|(i, _)| i.upper <= step);
        match self.pieces.get(next) {
            Some((interval, bytes)) if interval.contains(step) => *bytes,
            _ => Bytes::ZERO,
        }
    }
}

/// The load of an instance and the first step that shows it.
pub fn load(instance: &Instance) -> (Bytes, Step) {
    LoadProfile::of(instance).peak()
}

/// The buffers with bytes alive at `step`, ascending. O(n log gaps).
pub fn alive_at(instance: &Instance, step: Step) -> Vec<BufferId> {
    let holds = |id: &BufferId| {
        let buffer = instance.buffer(*id);
        !buffer.is_empty() && buffer.lifespan().contains(step)
    };
    instance.ids().filter(holds).collect()
}

/// A run of steps over which a set of buffers, maximal in time, is alive together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The steps, half-open.
    pub interval: Interval,
    /// The buffers live there, ascending.
    pub buffers: Vec<BufferId>,
}

/// The sections of an instance: the sets alive together that no neighbouring set contains. Buffers of size 0 are in
/// none.
///
/// Buffers that start during a run of ends and starts join the set once; a set is recorded just before the
/// first end that follows a start. Every two buffers alive at a common step meet in some section, so sections
/// cover all conflicts that come from time. O(n log n + total size of the sections) time and memory, up to
/// quadratic.
///
/// ```text
/// a ████████        sections: {a, b} and {b, c}; the step at which only b is
/// b    ██████████   alive is contained in both and is none
/// c          ██████
/// ```
pub fn sections(instance: &Instance) -> Vec<Section> {
    sections_within(instance, &mut Budget::unlimited())
}

/// The same within the time of `watch`: where that ends, only the first sections.
pub fn sections_within(instance: &Instance, watch: &mut Budget) -> Vec<Section> {
    // Ends sort before starts at the same step: intervals are half-open.
    let mut events: Vec<(Step, bool, BufferId)> = Vec::with_capacity(2 * instance.len());
    for id in instance.ids().filter(|&id| !instance.buffer(id).is_empty()) {
        for part in instance.buffer(id).lifespan().intervals() {
            events.push((part.lower, true, id));
            events.push((part.upper, false, id));
        }
    }
    events.sort_unstable();
    let mut alive: std::collections::BTreeSet<BufferId> = std::collections::BTreeSet::new();
    let mut found = Vec::new();
    let mut last_start = None;
    for (step, starts, id) in events {
        if watch.tick().is_some() {
            break;
        }
        if starts {
            alive.insert(id);
            last_start = Some(step);
        } else {
            if let Some(lower) = last_start.take() {
                found.push(Section {
                    interval: Interval::new(lower, step),
                    buffers: alive.iter().copied().collect(),
                });
            }
            alive.remove(&id);
        }
    }
    found
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
    }

    #[test]
    fn touching_lifespans_do_not_meet() {
        let t = instance(&[(0, 4, 3), (4, 8, 5)]);
        assert_eq!(load(&t).0.get(), 5);
        assert_eq!(sections(&t).len(), 2);
    }
}
