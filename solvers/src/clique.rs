//! Finds a heavy clique of the conflict graph. In graphs of at most 2000 buffers, also proves that no clique
//! is heavier, if the budget suffices.
//!
//! A greedy clique comes first, followed by branch and bound within a node limit. A node consists of a clique
//! and the set of candidates that can extend it. A greedy colouring bounds the weight that the candidates can
//! add: of every colour class, only the heaviest member counts. Candidates are tried from the last class to
//! the first. The attempts end when the weight of the clique plus the bound does not exceed the weight of the
//! best clique.
//!
//! Source: Tomita and Seki 2003, adapted to weights and bit vectors. The result is a valid clique even if
//! the budget runs out.

use plimsoll_model::{Budget, BufferId, ConflictGraph};

/// A clique, with a flag that states whether it is proved to be a heaviest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clique {
    /// The buffers of the clique, in ascending order.
    pub members: Vec<BufferId>,
    /// Sum of the weights of the members.
    pub weight: u64,
    /// Whether the search finished, which proves that no clique is heavier.
    pub proved: bool,
}

/// The maximum number of buffers of a graph for which branch and bound runs.
const EXACT_VERTICES: usize = 2_000;

const GREEDY_STARTS: usize = 64;

/// Returns the heaviest clique found within the budget. For graphs of more than 2000 buffers, only greedy
/// cliques are tried.
///
/// # Panics
/// If `weights` does not have one weight per buffer.
pub fn heaviest_clique(graph: &ConflictGraph, weights: &[u64], budget: &mut Budget) -> Clique {
    assert_eq!(graph.len(), weights.len(), "one weight per buffer");
    let greedy = greedy_clique(graph, weights, &mut budget.without_node_limit());
    if graph.len() > EXACT_VERTICES || budget.check().is_some() {
        return greedy;
    }
    let mut search = Search::new(graph, weights, budget, &greedy);
    let all = BitSet::full(graph.len());
    let mut clique = Vec::new();
    search.expand(&mut clique, 0, all);
    let proved = !search.stopped;
    let mut members: Vec<BufferId> = search.best.iter().map(|&at| BufferId::at(search.order[at])).collect();
    members.sort_unstable();
    Clique { members, weight: search.best_weight, proved }
}

/// Grows one clique from each of the [`GREEDY_STARTS`] buffers with the heaviest neighbourhoods, adding the
/// heaviest candidate first. Returns the heaviest of these cliques.
fn greedy_clique(graph: &ConflictGraph, weights: &[u64], watch: &mut Budget) -> Clique {
    let around = |id: BufferId| -> u64 {
        weights[id.index()] + graph.of_buffer(id).iter().map(|o| weights[o.index()]).sum::<u64>()
    };
    let mut starts: Vec<(u64, BufferId)> =
        (0..graph.len()).map(BufferId::at).map(|id| (around(id), id)).collect();
    starts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    starts.truncate(GREEDY_STARTS);
    let mut best = Clique { members: Vec::new(), weight: 0, proved: false };
    for &(_, start) in &starts {
        if watch.tick().is_some() {
            break;
        }
        let mut members = vec![start];
        let mut candidates = graph.of_buffer(start).to_vec();
        candidates.sort_unstable_by_key(|id| (std::cmp::Reverse(weights[id.index()]), *id));
        for id in candidates {
            if members[1..].iter().all(|&m| graph.conflict(m, id)) {
                members.push(id);
            }
        }
        let weight = members.iter().map(|m| weights[m.index()]).sum();
        if weight > best.weight {
            members.sort_unstable();
            best = Clique { members, weight, proved: false };
        }
    }
    best
}

#[derive(Clone, Debug)]
struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    fn empty(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)] }
    }

    fn full(len: usize) -> Self {
        let mut set = Self::empty(len);
        (0..len).for_each(|i| set.insert(i));
        set
    }

    fn insert(&mut self, i: usize) {
        self.words[i / 64] |= 1 << (i % 64);
    }

    fn remove(&mut self, i: usize) {
        self.words[i / 64] &= !(1 << (i % 64));
    }

    fn first(&self) -> Option<usize> {
        let word = self.words.iter().position(|&w| w != 0)?;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    fn and(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect() }
    }

    fn subtract(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= !b;
        }
    }
}

struct Search<'a, 'b> {
    weights: &'a [u64],
    /// Vertices by descending weight. All fields below use positions in this order.
    order: Vec<usize>,
    adjacent: Vec<BitSet>,
    best: Vec<usize>,
    best_weight: u64,
    budget: &'b mut Budget,
    stopped: bool,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(graph: &ConflictGraph, weights: &'a [u64], budget: &'b mut Budget, start: &Clique) -> Self {
        let n = graph.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(weights[i]), i));
        let mut position = vec![0; n];
        for (at, &i) in order.iter().enumerate() {
            position[i] = at;
        }
        let mut adjacent = vec![BitSet::empty(n); n];
        for (at, &i) in order.iter().enumerate() {
            for other in graph.of_buffer(BufferId::at(i)) {
                adjacent[at].insert(position[other.index()]);
            }
        }
        let best = start.members.iter().map(|id| position[id.index()]).collect();
        Self { weights, order, adjacent, best, best_weight: start.weight, budget, stopped: false }
    }

    fn weight(&self, at: usize) -> u64 {
        self.weights[self.order[at]]
    }

    fn expand(&mut self, clique: &mut Vec<usize>, weight: u64, mut candidates: BitSet) {
        if self.stopped || self.budget.tick().is_some() {
            self.stopped = true;
            return;
        }
        if weight > self.best_weight {
            self.best_weight = weight;
            self.best.clone_from(clique);
        }
        let coloured = self.colour(&candidates);
        for &(at, bound) in coloured.iter().rev() {
            if weight + bound <= self.best_weight {
                return;
            }
            clique.push(at);
            let next = candidates.and(&self.adjacent[at]);
            self.expand(clique, weight + self.weight(at), next);
            clique.pop();
            candidates.remove(at);
        }
    }

    /// Returns the candidates grouped by colour class. Each comes with the sum of the class maxima up to and
    /// including its own class.
    fn colour(&self, candidates: &BitSet) -> Vec<(usize, u64)> {
        let mut left = candidates.clone();
        let (mut coloured, mut bound) = (Vec::new(), 0);
        while left.first().is_some() {
            // Positions are sorted by descending weight, so the first member of a class is its heaviest.
            let mut class = left.clone();
            let mut heaviest = None;
            while let Some(at) = class.first() {
                bound += if heaviest.replace(at).is_none() { self.weight(at) } else { 0 };
                coloured.push((at, bound));
                left.remove(at);
                class.remove(at);
                class.subtract(&self.adjacent[at]);
            }
        }
        coloured
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};

    #[test]
    fn agrees_with_all_subsets() {
        for seed in 0..200 {
            let t = small_instance(SmallParams::with_features(9, seed % 16), seed);
            let graph = ConflictGraph::of(&t);
            let weights: Vec<u64> = t.buffers().iter().map(|b| b.size().get()).collect();
            let best = (0u32..1 << t.len())
                .filter(|set| {
                    let members: Vec<BufferId> = t.ids().filter(|id| set >> id.get() & 1 == 1).collect();
                    members.iter().all(|&a| members.iter().all(|&b| a == b || t.conflict(a, b)))
                })
                .map(|set| (0..t.len()).filter(|i| set >> i & 1 == 1).map(|i| weights[i]).sum::<u64>())
                .max();
            let found = heaviest_clique(&graph, &weights, &mut Budget::unlimited().with_node_limit(100_000));
            assert!(found.proved);
            assert_eq!(Some(found.weight), best, "seed {seed}");
        }
    }

    #[test]
    fn a_limit_still_gives_a_clique() {
        let t = small_instance(SmallParams::with_features(12, 15), 3);
        let graph = ConflictGraph::of(&t);
        let weights: Vec<u64> = t.buffers().iter().map(|b| b.size().get()).collect();
        let found = heaviest_clique(&graph, &weights, &mut Budget::unlimited().with_node_limit(0));
        assert!(!found.proved && found.weight > 0);
        let all_conflict = |a, b| a == b || graph.conflict(a, b);
        assert!(found.members.iter().all(|&a| found.members.iter().all(|&b| all_conflict(a, b))));
    }
}
