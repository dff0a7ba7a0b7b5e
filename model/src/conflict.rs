//! The conflict relation of an instance as a graph.

use crate::budget::Budget;
use crate::instance::Instance;
use crate::units::BufferId;

/// The conflict relation as sorted neighbour lists.
///
/// It is meant for algorithms that look up neighbours repeatedly. Memory use is linear in the number of
/// buffers and conflicts. If all buffers are simultaneously live, the number of conflicts is quadratic in the
/// number of buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictGraph {
    starts: Vec<usize>,
    neighbours: Vec<BufferId>,
}

impl ConflictGraph {
    /// Builds the graph by a sweep over the steps. O(n log n + c log c) for n buffers and c conflicts. If
    /// there are gaps or exclusions, n counts intervals and c counts pairs of overlapping intervals.
    ///
    /// # Panics
    /// Never: an unlimited budget is never exhausted.
    pub fn of(instance: &Instance) -> Self {
        Self::within(instance, &mut Budget::unlimited()).expect("an unlimited budget does not run out")
    }

    /// Builds the graph, or returns `None` if the budget `watch` is exhausted first.
    pub fn within(instance: &Instance, watch: &mut Budget) -> Option<Self> {
        let mut lists = vec![Vec::new(); instance.len()];
        let is_empty = |id: BufferId| instance.has_empty() && instance.buffer(id).is_empty();
        let mut parts: Vec<(u64, u64, BufferId)> = instance
            .ids()
            .filter(|&id| !is_empty(id))
            .flat_map(|id| {
                let parts = instance.buffer(id).lifespan().intervals();
                parts.iter().map(move |p| (p.lower.get(), p.upper.get(), id))
            })
            .collect();
        parts.sort_unstable();
        let mut active: Vec<(u64, BufferId)> = Vec::new();
        for (lower, upper, id) in parts {
            if watch.tick().is_some() {
                return None;
            }
            active.retain(|&(end, _)| end > lower);
            for &(_, other) in &active {
                if !instance.exclusions().contains(id, other) {
                    lists[id.index()].push(other);
                    lists[other.index()].push(id);
                }
            }
            active.push((upper, id));
        }
        for (a, b) in instance.separations().iter().filter(|&(a, b)| !is_empty(a) && !is_empty(b)) {
            lists[a.index()].push(b);
            lists[b.index()].push(a);
        }
        let mut graph = Self { starts: Vec::with_capacity(instance.len() + 1), neighbours: Vec::new() };
        graph.starts.push(0);
        for mut list in lists {
            if watch.tick().is_some() {
                return None;
            }
            list.sort_unstable();
            list.dedup();
            graph.neighbours.extend(list);
            graph.starts.push(graph.neighbours.len());
        }
        Some(graph)
    }

    /// Returns the number of buffers.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns true if there are no buffers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of conflicting pairs.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Returns the buffers that conflict with `id`, ascending.
    #[inline]
    pub fn of_buffer(&self, id: BufferId) -> &[BufferId] {
        &self.neighbours[self.starts[id.index()]..self.starts[id.index() + 1]]
    }

    /// Returns true if the two buffers conflict. O(log degree).
    pub fn conflict(&self, a: BufferId, b: BufferId) -> bool {
        self.of_buffer(a).binary_search(&b).is_ok()
    }

    /// Returns the connected components, ordered by their smallest id. Each component lists its ids in
    /// ascending order. No constraint connects buffers of different components.
    pub fn components(&self) -> Vec<Vec<BufferId>> {
        let mut seen = vec![false; self.len()];
        let mut components = Vec::new();
        for start in (0..self.len()).map(BufferId::at) {
            if std::mem::replace(&mut seen[start.index()], true) {
                continue;
            }
            let mut component = vec![start];
            let mut next = 0;
            while let Some(&id) = component.get(next) {
                next += 1;
                for &other in self.of_buffer(id) {
                    if !std::mem::replace(&mut seen[other.index()], true) {
                        component.push(other);
                    }
                }
            }
            component.sort_unstable();
            components.push(component);
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Buffer, InstanceBuilder};
    use crate::lifespan::{Interval, Lifespan};

    #[test]
    fn graph_agrees_with_the_relation() {
        let spans = [vec![(0, 4), (6, 9)], vec![(4, 6)], vec![(3, 7)], vec![(8, 12)], vec![(0, 12)]];
        let buffers = spans.iter().enumerate().map(|(i, parts)| {
            let parts = parts.iter().map(|&(l, u)| Interval::new(l, u));
            Buffer::new(i.to_string(), 1, Lifespan::from_intervals(parts).unwrap())
        });
        let empty = Buffer::new("empty", 0, Lifespan::single(0, 12).unwrap());
        let builder = InstanceBuilder::new("t").buffers(buffers).buffer(empty);
        let instance = builder.separate(1, 3).exclude(0, 4).separate(2, 5).build().unwrap();
        let graph = ConflictGraph::of(&instance);
        for a in instance.ids() {
            for b in instance.ids() {
                assert_eq!(graph.conflict(a, b), instance.conflict(a, b), "{a} {b}");
            }
        }
        assert_eq!(graph.components().len(), 2, "the buffer of size 0 is alone");
    }
}
