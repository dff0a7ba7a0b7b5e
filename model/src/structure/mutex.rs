//! The conflict rules of the memory-planning patent.

use super::memories::{Memory, Structure};
use super::relation::Conflicts;
use crate::budget::Budget;
use crate::units::OperatorId;
use plimsoll_support::BitMatrix;

/// A graph whose nodes are the operators, followed by the allocations held from the start.
struct Nodes {
    /// The transitive closure of the producer-consumer edges.
    reach: BitMatrix,
    /// Per node: the sources that reach the node. All allocations held from the start count as a single
    /// source, which has index 0.
    roots: BitMatrix,
}

impl Nodes {
    fn of(structure: &Structure<'_>, given: &[Option<usize>], watch: &mut Budget) -> Option<Self> {
        let (problem, n) = (structure.problem, structure.problem.len());
        let count = n + given.iter().flatten().count();
        let mut edge = BitMatrix::new(count, count);
        for id in problem.ids() {
            for after in problem.successors(id) {
                edge.set(id.index(), after.index());
            }
        }
        for (memory, node) in structure.memories.iter().zip(given) {
            for user in &memory.users {
                if let Some(node) = *node {
                    edge.set(node, user.index());
                }
            }
        }
        let mut reach = edge.clone();
        let backwards = structure.order.operators().iter().rev().map(|id| id.index()).chain(n..count);
        for at in backwards {
            if watch.check().is_some() {
                return None;
            }
            let after: Vec<usize> = edge.ones(at).collect();
            for after in after {
                reach.join(at, after);
            }
        }
        let mut has_predecessor = vec![false; count];
        (0..count).flat_map(|at| edge.ones(at)).for_each(|after| has_predecessor[after] = true);
        let sources: Vec<usize> = (0..count).filter(|&at| !has_predecessor[at]).collect();
        let mut roots = BitMatrix::new(count, sources.len() + 1);
        for (number, at) in sources.into_iter().enumerate() {
            if watch.check().is_some() {
                return None;
            }
            let root = if at < n { number + 1 } else { 0 };
            roots.set(at, root);
            for after in reach.ones(at) {
                roots.set(after, root);
            }
        }
        Some(Self { reach, roots })
    }

    /// Returns true if neither node reaches the other, and some source reaches both.
    fn parallel(&self, a: usize, b: usize) -> bool {
        let apart = a != b && !self.reach.get(a, b) && !self.reach.get(b, a);
        apart && self.roots.row(a).iter().zip(self.roots.row(b)).any(|(a, b)| a & b != 0)
    }
}

/// Computes the conflicts, or returns `None` if the budget `watch` is exhausted first.
pub(super) fn conflicts(structure: &Structure<'_>, watch: &mut Budget) -> Option<Conflicts> {
    let memories = &structure.memories;
    let mut next = structure.problem.len();
    let given: Vec<Option<usize>> = memories
        .iter()
        .map(|memory| {
            next += usize::from(memory.from_start);
            memory.from_start.then(|| next - 1)
        })
        .collect();
    let nodes = Nodes::of(structure, &given, watch)?;
    let owners: Vec<Vec<usize>> = memories
        .iter()
        .zip(&given)
        .map(|(memory, given)| memory.makers.iter().map(|id| id.index()).chain(*given).collect())
        .collect();
    let step = |id: &OperatorId| structure.step[id.index()];
    // An output precedes an operator if a producer of the output precedes this operator. Allocations held
    // from the start precede all operators.
    let begins: Vec<Option<usize>> = memories
        .iter()
        .map(|m| if m.from_start { Some(0) } else { m.makers.iter().map(step).min() })
        .collect();
    let ends: Vec<Option<usize>> =
        memories.iter().map(|m| m.makers.iter().map(step).max().or(m.from_start.then_some(0))).collect();
    let outlives = |a: usize, b: usize| memories[a].to_end && begins[a] < ends[b];
    let always = |m: &Memory| m.from_start && m.to_end;
    let joined = |one: &Memory, other: &Memory| one.makers.iter().any(|maker| other.users.contains(maker));
    Conflicts::where_true(memories.len(), watch, |a, b| {
        let (one, other) = (&memories[a], &memories[b]);
        if one.is_unused() || other.is_unused() {
            return one.from_start && other.from_start;
        }
        always(one)
            || always(other)
            || (one.to_end && other.to_end)
            || outlives(a, b)
            || outlives(b, a)
            || joined(one, other)
            || joined(other, one)
            || owners[a].iter().any(|&u| owners[b].iter().any(|&v| nodes.parallel(u, v)))
    })
}
