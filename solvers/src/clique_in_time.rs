//! Finds a heavy clique of the conflict graph of an instance, by branch and bound over time. It is fast if
//! few buffers have gaps, separations or exclusions.
//!
//! **Definition.** A clique is a set of buffers that conflict pairwise. Its weight is the sum of their sizes.
//!
//! **Bound.** Every buffer gets one interval of steps that contains its lifespan. If two buffers are
//! separated and their lifespans do not even have overlapping hulls, the interval of the smaller one extends
//! to the other. The intervals of conflicting buffers therefore intersect. Intervals that intersect pairwise
//! have a common step (Helly), so no clique is heavier than the heaviest step of these intervals.
//!
//! **Branching.** If the buffers at the heaviest step conflict pairwise, they are a heaviest clique.
//! Otherwise, one of them, which does not conflict with all others, either belongs to the clique or does not.
//! If it does, only the buffers that conflict with it remain, and the common step lies in its interval. A
//! buffer without gaps, separations and exclusions never causes a branch.
//!
//! **Complexity.** A node takes O(n + s m) time for n buffers, if s of the m buffers at the heaviest step
//! have gaps, separations or exclusions. The number of nodes is exponential in the number of these buffers at
//! worst.
//!
//! **Source.** This project; Helly 1923 for intervals.

use crate::clique::Clique;
use plimsoll_model::{Budget, BufferId, Instance, Step};

/// Returns the heaviest clique found within the budget. A node of the budget is a node of the search, or as
/// many conflict tests as there are buffers.
pub(crate) fn heaviest_in_time(instance: &Instance, budget: &mut Budget) -> Clique {
    let vertices = vertices(instance);
    let mut events: Vec<Event> = Vec::with_capacity(2 * vertices.len());
    for (at, one) in vertices.iter().enumerate() {
        events.push(Event { step: one.lower, starts: true, at });
        events.push(Event { step: one.upper, starts: false, at });
    }
    // Ends precede starts, because intervals are half-open.
    events.sort_unstable_by_key(|event| (event.step, event.starts, event.at));
    let mut search = Search { instance, events, budget, best: (0, Vec::new()), chosen: Vec::new(), vertices };
    let mut all = vec![true; search.vertices.len()];
    search.drop_replaceable(&mut all);
    let window = search.events.first().zip(search.events.last()).map(|(a, b)| (a.step, b.step));
    let proved = window.is_none_or(|window| search.expand(all, 0, window));
    let (weight, mut members) = search.best;
    members.sort_unstable();
    Clique { members, weight, proved }
}

/// A buffer of non-zero size and the interval that stands for its lifespan.
struct Vertex {
    id: BufferId,
    weight: u64,
    lower: Step,
    upper: Step,
    /// Whether intersecting intervals do not imply a conflict with this buffer.
    special: bool,
}

fn vertices(instance: &Instance) -> Vec<Vertex> {
    let mut all: Vec<Vertex> = instance
        .ids()
        .map(|id| {
            let buffer = instance.buffer(id);
            let hull = buffer.lifespan().hull();
            let special = buffer.lifespan().has_gaps();
            Vertex { id, weight: buffer.size().get(), lower: hull.lower, upper: hull.upper, special }
        })
        .collect();
    for (a, b) in instance.exclusions().iter() {
        for id in [a, b] {
            all[id.index()].special = true;
        }
    }
    for (a, b) in instance.separations().iter() {
        let [one, other] = [a, b].map(|id| &all[id.index()]);
        if one.lower.max(other.lower) < one.upper.min(other.upper) {
            continue;
        }
        let (short, long) = if one.weight <= other.weight { (a, b) } else { (b, a) };
        let (lower, upper) = (all[long.index()].lower, all[long.index()].upper);
        let short = &mut all[short.index()];
        if short.lower < lower {
            short.upper = Step::new(lower.get() + 1);
        } else {
            short.lower = Step::new(upper.get() - 1);
        }
        short.special = true;
    }
    all.retain(|one| one.weight > 0 && one.lower < one.upper);
    all
}

#[derive(Clone, Copy)]
struct Event {
    step: Step,
    starts: bool,
    at: usize,
}

struct Search<'a> {
    instance: &'a Instance,
    vertices: Vec<Vertex>,
    events: Vec<Event>,
    budget: &'a mut Budget,
    best: (u64, Vec<BufferId>),
    /// The buffers that belong to the clique.
    chosen: Vec<BufferId>,
}

impl Search<'_> {
    /// Drops every buffer that excludes another one which is at least as large and conflicts with everything
    /// with which the first one conflicts: in any clique, the other one can replace it. O(n) for each
    /// exclusion; those for which the budget does not suffice are skipped.
    fn drop_replaceable(&mut self, is_candidate: &mut [bool]) {
        let mut at_of = vec![None; self.instance.len()];
        for (at, one) in self.vertices.iter().enumerate() {
            at_of[one.id.index()] = Some(at);
        }
        for (a, b) in self.instance.exclusions().iter() {
            let (Some(one), Some(other)) = (at_of[a.index()], at_of[b.index()]) else { continue };
            let (small, large) = if self.vertices[one].weight <= self.vertices[other].weight {
                (one, other)
            } else {
                (other, one)
            };
            if !is_candidate[small] || !is_candidate[large] {
                continue;
            }
            if self.budget.tick().is_some() {
                return;
            }
            let conflicts =
                |at: usize, third: &Vertex| self.instance.conflict(self.vertices[at].id, third.id);
            let is_replaceable =
                self.vertices.iter().all(|third| !conflicts(small, third) || conflicts(large, third));
            is_candidate[small] = !is_replaceable;
        }
    }

    /// Finds the heaviest clique that consists of the chosen buffers, of total size `weight`, and of some
    /// candidates. Every candidate conflicts with all chosen buffers, and the common step lies in `window`.
    /// Returns false if the budget runs out first.
    fn expand(&mut self, mut is_candidate: Vec<bool>, weight: u64, window: (Step, Step)) -> bool {
        loop {
            if self.budget.tick().is_some() {
                return false;
            }
            let (load, step) = self.heaviest(&is_candidate, window);
            if weight + load <= self.best.0 {
                return true;
            }
            let is_live = |&at: &usize| {
                let one = &self.vertices[at];
                is_candidate[at] && one.lower <= step && step < one.upper
            };
            let live: Vec<usize> = (0..is_candidate.len()).filter(is_live).collect();
            let special = live.iter().filter(|&&at| self.vertices[at].special).count();
            if self.budget.spend((special * live.len() / self.vertices.len()) as u64).is_some() {
                return false;
            }
            let Some(branch) = self.settle(&live, weight) else { return true };
            let one = &self.vertices[branch];
            let within = (window.0.max(one.lower), window.1.min(one.upper));
            let id = one.id;
            let beside = |(at, other): (usize, &Vertex)| {
                is_candidate[at]
                    && at != branch
                    && other.lower < within.1
                    && within.0 < other.upper
                    && self.instance.conflict(id, other.id)
            };
            let rest = self.vertices.iter().enumerate().map(beside).collect();
            let with = weight + one.weight;
            self.chosen.push(id);
            let finished = self.expand(rest, with, within);
            self.chosen.pop();
            if !finished {
                return false;
            }
            is_candidate[branch] = false;
        }
    }

    /// Returns the largest total size of candidates whose intervals contain a common step of the window, and
    /// that step.
    fn heaviest(&self, is_candidate: &[bool], (lower, upper): (Step, Step)) -> (u64, Step) {
        let change = |sum: u64, event: &Event| match (is_candidate[event.at], event.starts) {
            (false, _) => sum,
            (true, true) => sum + self.vertices[event.at].weight,
            (true, false) => sum - self.vertices[event.at].weight,
        };
        let (before, after) = self.events.split_at(self.events.partition_point(|event| event.step <= lower));
        let mut sum = before.iter().fold(0, change);
        let mut best = (sum, lower);
        for event in after.iter().take_while(|event| event.step < upper) {
            sum = change(sum, event);
            if sum > best.0 {
                best = (sum, event.step);
            }
        }
        best
    }

    /// Derives a clique from buffers whose intervals have a common step, and keeps it if it is heavier than
    /// the best one. Returns the buffer to branch on, or `None` if all of these buffers conflict pairwise.
    fn settle(&mut self, live: &[usize], weight: u64) -> Option<usize> {
        let (vertices, instance) = (&self.vertices, self.instance);
        let apart = |a: usize, b: usize| a != b && !instance.conflict(vertices[a].id, vertices[b].id);
        let mut kept: Vec<usize> = live.to_vec();
        let mut branch: Option<(u64, usize)> = None;
        let mut special: Vec<usize> = live.iter().copied().filter(|&at| vertices[at].special).collect();
        special.sort_by_key(|&at| (vertices[at].weight, at));
        // The lightest buffers are the first to be dropped from the clique.
        for at in special {
            let lost: u64 = live.iter().filter(|&&other| apart(at, other)).map(|&b| vertices[b].weight).sum();
            if lost > 0 && branch.is_none_or(|(most, _)| lost > most) {
                branch = Some((lost, at));
            }
            if lost > 0 && kept.iter().any(|&other| apart(at, other)) {
                kept.retain(|&other| other != at);
            }
        }
        let sum = weight + kept.iter().map(|&at| vertices[at].weight).sum::<u64>();
        if sum > self.best.0 {
            let members = self.chosen.iter().copied().chain(kept.iter().map(|&at| vertices[at].id));
            self.best = (sum, members.collect());
        }
        branch.map(|(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clique::heaviest_clique;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::ConflictGraph;

    #[test]
    fn cliques_are_as_heavy_as_those_of_the_graph() {
        for seed in 0..3000 {
            let instance =
                small_instance(SmallParams::with_features(4 + seed as usize % 12, seed % 16), seed);
            let weights: Vec<u64> = instance.buffers().iter().map(|b| b.size().get()).collect();
            let graph = ConflictGraph::of(&instance);
            let expected = heaviest_clique(&graph, &weights, &mut Budget::unlimited());
            let found = heaviest_in_time(&instance, &mut Budget::unlimited());
            assert!(expected.proved && found.proved);
            assert_eq!(found.weight, expected.weight, "seed {seed}");
            assert_eq!(found.members.iter().map(|id| weights[id.index()]).sum::<u64>(), found.weight);
            for (at, &a) in found.members.iter().enumerate() {
                assert!(found.members[..at].iter().all(|&b| instance.conflict(a, b)), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_search_without_nodes_proves_nothing() {
        let instance = small_instance(SmallParams::with_features(9, 15), 3);
        let found = heaviest_in_time(&instance, &mut Budget::unlimited().with_node_limit(0));
        assert!(!found.proved && found.members.is_empty());
    }
}
