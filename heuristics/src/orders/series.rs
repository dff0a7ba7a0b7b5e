//! Orders that are computed from hills and valleys. They are optimal on trees and other series-parallel
//! graphs, and heuristic elsewhere.
//!
//! **Definition.** Every operator is a job with a hill (allocated bytes plus scratch) and a net (allocated
//! minus freed bytes). The graph is then reduced by three rules. Each node of the reduced graph represents a
//! [sequence](super::strings) of jobs.
//!
//! - *Series*: let a node have only one successor, and let that successor have only this predecessor. The two
//!   nodes become one, and their sequences are concatenated.
//! - *Parallel*: two nodes with the same predecessors and the same successors become one node, and their
//!   sequences are merged.
//! - *Triangle*: an edge parallel to a path through a node with one predecessor and one successor is
//!   redundant and is removed.
//!
//! If one node remains, its sequence is the order. Otherwise, list scheduling orders the remaining nodes:
//! among the next segments of all ready nodes, the one that sorts first is scheduled. List scheduling may run
//! operators with only constant inputs earlier than necessary. Therefore, each order is also tried with these
//! operators moved to just before their first consumer by the [fixed rule](super::engine).
//!
//! **Optimality.** The order is optimal if the graph reduces to one node and every storage is freed by the
//! same operator in every order. Graphs that reduce to one node include in-trees, out-trees, chains with
//! skips, and nested branches that fork and join. Several users of a storage can be the last one, for example
//! if parallel branches read a tensor. The last of them in the previous order is then assumed to free the
//! storage. The first round uses the file order. The reduction is repeated until the order is stable or for
//! [`ROUNDS`] rounds, and the best order is kept. The reported solution status relies on the lower bound, not
//! on this argument.
//!
//! **Complexity.** O(e log n) per round for n operators and e edges. If long sequences are merged one by
//! one, each merge costs O(n) moves.
//!
//! **Source.** See [strings](super::strings). For expressions: Sethi, Ullman: The generation of optimal code
//! for arithmetic expressions, 1970. The extension beyond series-parallel graphs was developed in this
//! project.

use super::costs::{Costs, ended};
use super::engine::{Adjust, adjust};
use super::rule::OrderRule;
use super::strings::{Chains, Segment, Sequence};
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{Budget, OperatorId, Orders, Stop, Tracker};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};

const ROUNDS: usize = 8;

/// Computes orders by merging hills and valleys. A node is one operator in one round.
pub(super) fn sethi_ullman(
    problem: &OrderProblem,
    budget: &mut Budget,
    run: &mut Tracker<Orders>,
) -> Result<(), Stop> {
    if problem.is_empty() {
        run.offer(Order::new(Vec::new()));
        return Ok(());
    }
    let problem = &*problem.with_first_users();
    let mut order = OrderRule::File.of(problem, &mut Budget::unlimited())?;
    for _ in 0..ROUNDS {
        let next = merged(problem, &order, budget)?;
        run.offer(next.clone());
        run.offer(adjust(problem, &next, Adjust::Fixed));
        if let Some(stop) = run.enough(budget) {
            return Err(stop);
        }
        if next == order {
            break;
        }
        order = next;
    }
    Ok(())
}

/// Runs one round, in which `order` determines the last user of every storage.
pub(super) fn merged(problem: &OrderProblem, order: &Order, budget: &mut Budget) -> Result<Order, Stop> {
    let mut reduction = Reduction::new(problem, order);
    reduction.reduce(budget)?;
    Ok(reduction.schedule())
}

/// A node of the reduced graph, which is a set of operators with their sequence. `gone` is set once the
/// node has been merged into another one.
#[derive(Default)]
struct Node {
    gone: bool,
    before: BTreeSet<u32>,
    after: BTreeSet<u32>,
    /// The exclusive or of the [`mark`]s of all predecessors, and that of all successors. Equal sets have
    /// equal marks.
    marks: (u64, u64),
    sequence: Sequence,
}

/// Returns a pseudo-random number that represents a node in hashes (splitmix64).
fn mark(node: u32) -> u64 {
    let mut z = u64::from(node).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

struct Reduction {
    nodes: Vec<Node>,
    chains: Chains,
    todo: VecDeque<u32>,
    queued: Vec<bool>,
    /// Nodes by marks. Matches are verified because marks can collide.
    twins: HashMap<(u64, u64), u32>,
}

impl Reduction {
    fn new(problem: &OrderProblem, order: &Order) -> Self {
        let costs = Costs::of(problem);
        let ended = ended(problem, order);
        let node = |id: OperatorId| {
            let at = id.index();
            let (hill, net) = (costs.need[at] as i64, costs.begun[at] as i64 - ended[at] as i64);
            let before: BTreeSet<u32> = problem.predecessors(id).iter().map(|id| id.get()).collect();
            let after: BTreeSet<u32> = problem.successors(id).iter().map(|id| id.get()).collect();
            let sum = |set: &BTreeSet<u32>| set.iter().fold(0, |sum, &node| sum ^ mark(node));
            let marks = (sum(&before), sum(&after));
            Node { gone: false, before, after, marks, sequence: Sequence::single(id.get(), hill, net) }
        };
        Self {
            nodes: problem.ids().map(node).collect(),
            chains: Chains::new(problem.len()),
            // The nodes are queued in the given order, which therefore breaks ties.
            todo: order.operators().iter().map(|id| id.get()).collect(),
            queued: vec![true; problem.len()],
            twins: HashMap::new(),
        }
    }

    fn enqueue(&mut self, node: u32) {
        if !std::mem::replace(&mut self.queued[node as usize], true) {
            self.todo.push_back(node);
        }
    }

    fn unlink(&mut self, a: u32, b: u32) {
        if self.nodes[a as usize].after.remove(&b) {
            self.nodes[a as usize].marks.1 ^= mark(b);
            self.nodes[b as usize].before.remove(&a);
            self.nodes[b as usize].marks.0 ^= mark(a);
            self.enqueue(a);
            self.enqueue(b);
        }
    }

    fn link(&mut self, a: u32, b: u32) {
        if self.nodes[a as usize].after.insert(b) {
            self.nodes[a as usize].marks.1 ^= mark(b);
            self.nodes[b as usize].before.insert(a);
            self.nodes[b as usize].marks.0 ^= mark(a);
            self.enqueue(a);
            self.enqueue(b);
        }
    }

    fn reduce(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        for _ in 0..self.nodes.len() {
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
        }
        while let Some(node) = self.todo.pop_front() {
            self.queued[node as usize] = false;
            if !self.nodes[node as usize].gone {
                self.triangle(node);
                self.parallel(node);
                self.series(node);
            }
        }
        Ok(())
    }

    fn only(set: &BTreeSet<u32>) -> Option<u32> {
        if set.len() == 1 { set.first().copied() } else { None }
    }

    fn triangle(&mut self, node: u32) {
        let one = &self.nodes[node as usize];
        if let (Some(before), Some(after)) = (Self::only(&one.before), Self::only(&one.after)) {
            self.unlink(before, after);
        }
    }

    /// Merges a node into its twin, if it has one. A twin is a node with the same predecessors and the same
    /// successors.
    fn parallel(&mut self, node: u32) {
        if self.nodes[node as usize].gone {
            return;
        }
        let marks = self.nodes[node as usize].marks;
        let twin = *self.twins.entry(marks).or_insert(node);
        if twin == node {
            return;
        }
        let (one, two) = (&self.nodes[node as usize], &self.nodes[twin as usize]);
        if two.gone || two.marks != marks || one.before != two.before || one.after != two.after {
            self.twins.insert(marks, node);
            return;
        }
        let sequence = self.dissolve(node);
        let own = std::mem::take(&mut self.nodes[twin as usize].sequence);
        self.nodes[twin as usize].sequence = own.beside(sequence);
        self.enqueue(twin);
    }

    /// Joins a node to its only successor if that successor has no other predecessor. Then, if the node still
    /// exists, tries to join it to its only predecessor in the same way.
    fn series(&mut self, node: u32) {
        if self.nodes[node as usize].gone {
            return;
        }
        if let Some(after) = Self::only(&self.nodes[node as usize].after) {
            self.join(node, after);
        }
        if !self.nodes[node as usize].gone
            && let Some(before) = Self::only(&self.nodes[node as usize].before)
        {
            self.join(before, node);
        }
    }

    /// Joins `a` and its successor `b` into one node, if the series rule applies. The new node keeps the id
    /// of the node with more other edges.
    fn join(&mut self, a: u32, b: u32) {
        let (one, two) = (&self.nodes[a as usize], &self.nodes[b as usize]);
        if one.after.len() != 1 || two.before.len() != 1 {
            return;
        }
        let (befores, afters) = (one.before.len(), two.after.len());
        self.unlink(a, b);
        if befores <= afters {
            let befores: Vec<u32> = self.nodes[a as usize].before.iter().copied().collect();
            let first = self.dissolve(a);
            for before in befores {
                self.link(before, b);
            }
            let second = std::mem::take(&mut self.nodes[b as usize].sequence);
            self.nodes[b as usize].sequence = first.then(second, &mut self.chains);
            self.enqueue(b);
        } else {
            let afters: Vec<u32> = self.nodes[b as usize].after.iter().copied().collect();
            let second = self.dissolve(b);
            for after in afters {
                self.link(a, after);
            }
            let first = std::mem::take(&mut self.nodes[a as usize].sequence);
            self.nodes[a as usize].sequence = first.then(second, &mut self.chains);
            self.enqueue(a);
        }
    }

    /// Removes a node and returns its sequence.
    fn dissolve(&mut self, node: u32) -> Sequence {
        for before in self.nodes[node as usize].before.clone() {
            self.unlink(before, node);
        }
        for after in self.nodes[node as usize].after.clone() {
            self.unlink(node, after);
        }
        self.nodes[node as usize].gone = true;
        std::mem::take(&mut self.nodes[node as usize].sequence)
    }

    /// Returns the order of list scheduling: among the next segments of all ready nodes, the one that sorts
    /// first is scheduled. Ties are broken by id.
    fn schedule(&self) -> Order {
        let mut left: Vec<usize> = self.nodes.iter().map(|node| node.before.len()).collect();
        let segments: Vec<Vec<Segment>> =
            self.nodes.iter().map(|node| node.sequence.segments().copied().collect()).collect();
        let entry = |node: u32, at: usize| Reverse((segments[node as usize][at].rank(), node, at));
        let live = (0..self.nodes.len() as u32).filter(|&node| !self.nodes[node as usize].gone);
        let mut heap: BinaryHeap<_> =
            live.filter(|&node| left[node as usize] == 0).map(|node| entry(node, 0)).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(Reverse((_, node, at))) = heap.pop() {
            order.extend(self.chains.jobs(&segments[node as usize][at]).map(OperatorId::new));
            if at + 1 < segments[node as usize].len() {
                heap.push(entry(node, at + 1));
                continue;
            }
            for &after in &self.nodes[node as usize].after {
                left[after as usize] -= 1;
                if left[after as usize] == 0 {
                    heap.push(entry(after, 0));
                }
            }
        }
        Order::new(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::report::anytime;
    use plimsoll_datasets::graphs::min_peak_brute;
    use plimsoll_model::orders::{Storage, check_order};
    use plimsoll_model::{Bytes, Silent};
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};

    /// Returns a random problem in which every storage belongs to an edge or has only one user. Some
    /// operators have scratch.
    fn per_edge(n: usize, edges: &[(usize, usize)], rng: &mut Xoshiro256PlusPlus) -> OrderProblem {
        let mut storages = Vec::new();
        let mut add = |users: &[usize], from_start, to_end, rng: &mut Xoshiro256PlusPlus| {
            let mut users: Vec<_> = users.iter().map(|&user| OperatorId::at(user)).collect();
            users.sort_unstable();
            let size = Bytes::new(rng.random_range(1..12));
            storages.push(Storage { name: storages.len().to_string(), size, users, from_start, to_end });
        };
        for &(a, b) in edges {
            if rng.random_bool(0.9) {
                add(&[a, b], false, false, rng);
            }
        }
        for at in 0..n {
            for (chance, from_start, to_end) in [(0.3, true, false), (0.3, false, true), (0.1, false, false)]
            {
                if rng.random_bool(chance) {
                    add(&[at], from_start, to_end, rng);
                }
            }
        }
        let scratch = (0..n)
            .map(|_| Bytes::new(if rng.random_bool(0.3) { rng.random_range(1..9) } else { 0 }))
            .collect();
        let edges = edges.iter().map(|&(a, b)| (OperatorId::at(a), OperatorId::at(b)));
        OrderProblem::new("tree", vec![String::new(); n], edges, storages, scratch).unwrap()
    }

    fn assert_optimal(problem: &OrderProblem, what: &str) {
        let order = merged(problem, &problem.as_in_file(), &mut Budget::unlimited()).unwrap();
        assert_eq!(check_order(problem, &order), [], "{what}");
        assert_eq!(order.peak(problem), min_peak_brute(problem), "{what}");
    }

    #[test]
    fn trees_are_solved_to_optimality() {
        for seed in 0..600 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let n = rng.random_range(1..=11);
            // Some of the graphs are forests.
            let up: Vec<_> = (1..n).filter(|_| rng.random_bool(0.95)).collect();
            let in_tree: Vec<_> = up.iter().map(|&at| (at, rng.random_range(0..at))).collect();
            assert_optimal(&per_edge(n, &in_tree, &mut rng), &format!("in-tree {seed}"));
            let out_tree: Vec<_> = in_tree.iter().map(|&(a, b)| (b, a)).collect();
            assert_optimal(&per_edge(n, &out_tree, &mut rng), &format!("out-tree {seed}"));
        }
    }

    /// The graphs are random series-parallel graphs.
    #[test]
    fn chains_with_skips_and_nested_branches_are_solved_to_optimality() {
        for seed in 0..600 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut edges = Vec::new();
            let mut n = 2;
            grow(0, 1, rng.random_range(1..9), &mut n, &mut edges, &mut rng);
            edges.sort_unstable();
            edges.dedup();
            assert_optimal(&per_edge(n, &edges, &mut rng), &format!("series-parallel {seed}"));
        }
    }

    /// Inserts a series-parallel subgraph with `size` operators between two operators.
    fn grow(
        a: usize,
        b: usize,
        size: usize,
        n: &mut usize,
        edges: &mut Vec<(usize, usize)>,
        rng: &mut Xoshiro256PlusPlus,
    ) {
        edges.push((a, b));
        if size == 0 {
            return;
        }
        if rng.random_bool(0.5) || size == 1 {
            let middle = *n;
            *n += 1;
            let left = rng.random_range(0..size);
            grow(a, middle, left, n, edges, rng);
            grow(middle, b, size - 1 - left, n, edges, rng);
        } else {
            let left = rng.random_range(1..size);
            grow(a, b, left, n, edges, rng);
            grow(a, b, size - left, n, edges, rng);
        }
    }

    #[test]
    fn shared_tensors_settle_after_some_rounds() {
        // Three branches read storage 0, and all of them feed the last operator.
        let users: [&[u32]; 5] = [&[0, 1, 2, 3], &[1, 4], &[2, 4], &[3, 4], &[4]];
        let storage = |(at, users): (usize, &&[u32])| Storage {
            name: at.to_string(),
            size: Bytes::new([10, 3, 2, 1, 1][at]),
            users: users.iter().copied().map(OperatorId::new).collect(),
            from_start: false,
            to_end: false,
        };
        let storages = users.iter().enumerate().map(storage).collect();
        let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)];
        let edges = edges.map(|(a, b)| (OperatorId::new(a), OperatorId::new(b)));
        let problem =
            OrderProblem::new("fan", vec![String::new(); 5], edges, storages, vec![Bytes::ZERO; 5]).unwrap();
        let outcome = anytime("sethi-ullman", sethi_ullman)
            .solve(&problem, &mut Budget::unlimited(), &mut Silent)
            .unwrap();
        assert_eq!(outcome.value, Some(min_peak_brute(&problem)));
    }
}
