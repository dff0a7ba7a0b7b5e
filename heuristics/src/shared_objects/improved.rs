//! Greedy by size, improved. Buffers are assigned in stages of similar size. Within a stage, the buffers
//! closest in time to an object come first.
//!
//! **Definition** (Pisarchyk and Lee 2020, section 4.4). The positional maxima, in descending order, divide
//! the buffers into stages. A buffer belongs to the stage of the last maximum that is not below the size of
//! the buffer. Stages are processed in descending order of the maxima. Within a stage, the next buffer is the
//! one with the smallest distance in time to a member of a free object. Ties are broken in favour of the
//! larger buffer and then of the lower id. The buffer joins that object, and the object grows if necessary.
//! Of several such objects, the buffer joins the one that was opened first. If no object is free for any
//! buffer of the stage, the largest buffer opens a new one. The distance between two lifespans is the number
//! of steps between their hulls. It is zero if the hulls touch, or if they overlap without a conflict.
//!
//! **Complexity.** For n buffers, O(n^2) distances are computed if conflicts are overlaps in time. If the
//! closest object of a buffer is no longer free, the distances of the buffer to all objects are computed
//! again, with an additional logarithmic factor. Memory is linear.

use super::pool::{Pool, distance};
use super::positional_maxima;
use plimsoll_model::{Budget, BufferId, Instance, PoolId, Stop};
use std::cmp::Reverse;

/// Returns the buffers by stage. Stages are in descending order of their maxima, and buffers within a stage
/// are in ascending order of id.
pub(super) fn stages(instance: &Instance) -> Vec<Vec<BufferId>> {
    let maxima = positional_maxima(instance);
    let mut stages = vec![Vec::new(); maxima.len()];
    for id in instance.ids() {
        // The first maximum is the largest of all sizes.
        let at = maxima.partition_point(|&most| most >= instance.buffer(id).size());
        stages[at.saturating_sub(1)].push(id);
    }
    stages
}

/// The closest free object of a buffer, as its distance in steps and its index.
type Closest = Option<(u64, usize)>;

/// A buffer of the stage that is not assigned yet.
struct Pending {
    id: BufferId,
    closest: Closest,
}

/// Assigns buffers by the improved greedy-by-size heuristic. A node is one assigned buffer.
pub(crate) fn improved_by_size(instance: &Instance, budget: &mut Budget) -> Result<Vec<PoolId>, Stop> {
    let plain = instance.is_interval();
    let mut watch = budget.without_node_limit();
    let mut pools: Vec<Pool> = Vec::new();
    let mut assignment = vec![PoolId::new(0); instance.len()];
    for stage in stages(instance) {
        let mut pending: Vec<Pending> = Vec::with_capacity(stage.len());
        for id in stage {
            if let Some(stop) = watch.tick() {
                return Err(stop);
            }
            pending.push(Pending { id, closest: closest(instance, plain, &pools, id) });
        }
        while !pending.is_empty() {
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
            let Pending { id, closest: found } = pending.remove(next(instance, &pending));
            let size = instance.buffer(id).size();
            let chosen = found.map_or(pools.len(), |(_, at)| at);
            if chosen == pools.len() {
                pools.push(Pool::empty(size));
            }
            pools[chosen].add(instance, id);
            assignment[id.index()] = PoolId::at(chosen);
            for other in &mut pending {
                if let Some(stop) = watch.tick() {
                    return Err(stop);
                }
                other.update(instance, plain, &pools, (chosen, id));
            }
        }
    }
    Ok(assignment)
}

fn next(instance: &Instance, pending: &[Pending]) -> usize {
    let key = |one: &Pending| {
        let distance = one.closest.map_or(u64::MAX, |(distance, _)| distance);
        (one.closest.is_none(), distance, Reverse(instance.buffer(one.id).size()), one.id)
    };
    (0..pending.len()).min_by_key(|&at| key(&pending[at])).unwrap_or(0)
}

fn closest(instance: &Instance, plain: bool, pools: &[Pool], id: BufferId) -> Closest {
    let free = pools.iter().enumerate().filter(|(_, pool)| pool.takes(instance, plain, id));
    free.map(|(at, pool)| (pool.distance(instance, id), at)).min()
}

impl Pending {
    /// Updates the closest object after the object at `chosen` received `taken`.
    fn update(
        &mut self,
        instance: &Instance,
        plain: bool,
        pools: &[Pool],
        (chosen, taken): (usize, BufferId),
    ) {
        if instance.conflict(self.id, taken) {
            if self.closest.is_some_and(|(_, at)| at == chosen) {
                self.closest = closest(instance, plain, pools, self.id);
            }
            return;
        }
        let now = (distance(instance, self.id, taken), chosen);
        let better = self.closest.is_none_or(|best| now < best);
        if better && pools[chosen].takes(instance, plain, self.id) {
            self.closest = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assigning;
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{Bytes, PoolPlan, Problem, Setup, SharedObjects, Silent};

    /// Implements the definition, evaluated from scratch for every buffer.
    fn by_definition(instance: &Instance) -> Vec<PoolId> {
        let mut pools: Vec<Vec<BufferId>> = Vec::new();
        let mut assignment = vec![PoolId::new(0); instance.len()];
        for mut stage in stages(instance) {
            while !stage.is_empty() {
                let mut best: Option<(u64, Reverse<Bytes>, BufferId, usize)> = None;
                for &id in &stage {
                    for (at, pool) in pools.iter().enumerate() {
                        if pool.iter().any(|&member| instance.conflict(member, id)) {
                            continue;
                        }
                        let gap = pool.iter().map(|&member| distance(instance, member, id)).min();
                        let key = (gap.unwrap(), Reverse(instance.buffer(id).size()), id, at);
                        best = Some(best.map_or(key, |old| old.min(key)));
                    }
                }
                let largest = |&&id: &&BufferId| (Reverse(instance.buffer(id).size()), id);
                let (id, at) = best.map_or_else(
                    || (*stage.iter().min_by_key(largest).unwrap(), pools.len()),
                    |(_, _, id, at)| (id, at),
                );
                if at == pools.len() {
                    pools.push(Vec::new());
                }
                pools[at].push(id);
                assignment[id.index()] = PoolId::at(at);
                stage.retain(|&other| other != id);
            }
        }
        assignment
    }

    #[test]
    fn assignment_agrees_with_the_definition() {
        for seed in 0..400 {
            let instance =
                small_instance(SmallParams::with_features(1 + seed as usize % 14, seed % 16), seed);
            let assigned = improved_by_size(&instance, &mut Budget::unlimited()).unwrap();
            assert_eq!(assigned, by_definition(&instance), "{instance:?}");
            let plan = PoolPlan::fitted(&instance, assigned, Bytes::new(1));
            assert_eq!(SharedObjects::check(&instance, &plan), [], "{instance:?}");
            let bound: u64 = positional_maxima(&instance).iter().map(|bytes| bytes.get()).sum();
            if instance.exclusions().is_empty() {
                assert!(bound >= SharedObjects::floor(&instance).value.get());
                assert!(plan.total().get() >= bound, "{instance:?}");
            }
        }
    }

    #[test]
    fn node_limit_ends_the_run() {
        let instance = small_instance(SmallParams::with_features(8, 0), 3);
        let mut budget = Budget::unlimited().with_node_limit(3);
        let solver = assigning("improved", (Bytes::new(1), Setup::default()), improved_by_size);
        let outcome = solver.solve(&instance, &mut budget, &mut Silent).unwrap();
        assert_eq!(outcome.stop, Stop::NodeLimit);
        // Without an assignment, every buffer has an object of its own.
        assert_eq!(outcome.value, Some(instance.total_size()));
    }
}
