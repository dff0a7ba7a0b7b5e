//! A greedy pass over the buffers. The choice of the shared object is a parameter.

use super::assigning;
use crate::offsets::Order;
use plimsoll_model::{Budget, BufferId, Bytes, Instance, PoolId, Setup, SharedObjects, Solver, Step, Stop};

/// The choice among the free objects for a buffer. If no object is free, the buffer opens a new one. Ties are
/// broken in favour of the object opened first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolChoice {
    /// The object opened first.
    First,
    /// The smallest object that is large enough. If there is none, the buffer opens a new object.
    Smallest,
    /// The smallest object that is large enough. If there is none, the largest free object grows.
    SmallestOrGrow,
}

/// The classes of sizes within which buffers may share an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Classes {
    /// All buffers.
    All,
    /// Buffers of equal size.
    Equal,
    /// Buffers with the same smallest sufficient power of two, which is at least this many bytes.
    PowersFrom(Bytes),
    /// Buffers with the same smallest sufficient size in this ascending list. Buffers larger than all of
    /// these sizes share no object.
    Listed(&'static [Bytes]),
}

impl Classes {
    /// Returns a number that identifies the class of a size, or [`u64::MAX`] if buffers of this size share no
    /// object.
    fn of(self, size: Bytes) -> u64 {
        match self {
            Self::All => 0,
            Self::Equal => size.get(),
            // Sizes fit into 63 bits, so the power of two exists.
            Self::PowersFrom(least) => size.max(least).get().next_power_of_two(),
            Self::Listed(list) => {
                list.iter().find(|&&class| class >= size).map_or(u64::MAX, |class| class.get())
            }
        }
    }
}

/// A heuristic that assigns buffers to shared objects in one pass. A node is one assigned buffer.
#[derive(Clone, Copy, Debug)]
pub struct PoolGreedy {
    /// The order in which buffers are assigned.
    pub order: Order,
    /// The rule that chooses the object.
    pub choice: PoolChoice,
    /// The classes of sizes within which buffers may share an object.
    pub classes: Classes,
    /// The alignment of the sizes of objects in bytes, at least 1.
    pub alignment: Bytes,
}

impl PoolGreedy {
    /// Returns the heuristic as a solver with the given name.
    pub fn solver(self, name: &'static str, setup: Setup) -> Box<dyn Solver<SharedObjects>> {
        assigning(name, (self.alignment, setup), move |instance, budget| self.assign(instance, budget))
    }

    fn assign(&self, instance: &Instance, budget: &mut Budget) -> Result<Vec<PoolId>, Stop> {
        let plain = instance.is_interval();
        let mut pools: Vec<Pool> = Vec::new();
        let mut assignment = vec![PoolId::new(0); instance.len()];
        for id in self.order.of(instance, &mut budget.without_node_limit())? {
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
            let size = instance.buffer(id).size();
            let class = self.classes.of(size);
            let free = pools.iter().enumerate().filter(|(_, pool)| {
                class != u64::MAX && pool.class == class && pool.takes(instance, plain, id)
            });
            let chosen = self.choose(free, size).unwrap_or_else(|| {
                pools.push(Pool { class, size, members: Vec::new() });
                pools.len() - 1
            });
            pools[chosen].add(instance, id);
            assignment[id.index()] = PoolId::at(chosen);
        }
        Ok(assignment)
    }

    fn choose<'a>(&self, mut free: impl Iterator<Item = (usize, &'a Pool)>, size: Bytes) -> Option<usize> {
        if self.choice == PoolChoice::First {
            return free.next().map(|(at, _)| at);
        }
        let mut holds: Option<(Bytes, usize)> = None;
        let mut grows: Option<(Bytes, usize)> = None;
        for (at, pool) in free {
            if pool.size >= size {
                if holds.is_none_or(|(smallest, _)| pool.size < smallest) {
                    holds = Some((pool.size, at));
                }
            } else if grows.is_none_or(|(largest, _)| pool.size > largest) {
                grows = Some((pool.size, at));
            }
        }
        let grows = grows.filter(|_| self.choice == PoolChoice::SmallestOrGrow);
        holds.or(grows).map(|(_, at)| at)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Pool {
    class: u64,
    /// Size of the largest member, without rounding.
    size: Bytes,
    /// The members in order of their first live step, each with the start and the end of its hull.
    members: Vec<(Step, Step, BufferId)>,
}

impl Pool {
    pub(super) fn empty(size: Bytes) -> Self {
        Self { class: 0, size, members: Vec::new() }
    }

    /// Returns the number of steps between the hull of a buffer and that of the member closest in time.
    pub(super) fn distance(&self, instance: &Instance, id: BufferId) -> u64 {
        self.members.iter().map(|&(.., member)| distance(instance, member, id)).min().unwrap_or(u64::MAX)
    }

    /// Returns true if no member conflicts with `id`. If conflicts are `plain` overlaps of single intervals,
    /// the members are disjoint in time. Then only the last member that starts before the end of `id` can
    /// conflict with it.
    pub(super) fn takes(&self, instance: &Instance, plain: bool, id: BufferId) -> bool {
        let hull = instance.buffer(id).lifespan().hull();
        if !plain {
            return self.members.iter().all(|&(.., member)| !instance.conflict(member, id));
        }
        let before = self.members.partition_point(|&(lower, ..)| lower < hull.upper);
        before == 0 || self.members[before - 1].1 <= hull.lower
    }

    pub(super) fn add(&mut self, instance: &Instance, id: BufferId) {
        let hull = instance.buffer(id).lifespan().hull();
        let at = self.members.partition_point(|&(lower, ..)| lower <= hull.lower);
        self.members.insert(at, (hull.lower, hull.upper, id));
        self.size = self.size.max(instance.buffer(id).size());
    }
}

/// Returns the number of steps between the hulls of two lifespans, which is zero if they touch or overlap.
pub(super) fn distance(instance: &Instance, a: BufferId, b: BufferId) -> u64 {
    let [a, b] = [a, b].map(|id| instance.buffer(id).lifespan().hull());
    a.lower.get().saturating_sub(b.upper.get()).max(b.lower.get().saturating_sub(a.upper.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[Bytes] = &[Bytes::new(4), Bytes::new(9)];

    #[test]
    fn classes_are_as_defined() {
        let powers = Classes::PowersFrom(Bytes::new(512));
        assert_eq!(powers.of(Bytes::new(1)), 512);
        assert_eq!(powers.of(Bytes::new(513)), 1024);
        assert_eq!(powers.of(Bytes::new(1024)), 1024);
        let listed = Classes::Listed(LIST);
        assert_eq!(listed.of(Bytes::new(5)), 9);
        assert_eq!(listed.of(Bytes::new(10)), u64::MAX);
        assert_ne!(Classes::Equal.of(Bytes::new(3)), Classes::Equal.of(Bytes::new(4)));
    }
}
