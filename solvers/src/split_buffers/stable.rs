//! Finds the heaviest stable set. The buffers of a stable set may all share one address.
//!
//! The algorithm is branch and bound over vertices in time order. Any stable set is a path in that order
//! whose consecutive vertices are compatible. Dynamic programming finds the heaviest such path, whose weight
//! is an upper bound on the weight of every stable set among the candidates. If compatibility is transitive,
//! the path is itself stable. If the path contains a conflicting pair, the search branches on one vertex of
//! the path, which is either in the set or not.

use plimsoll_model::Budget;
use plimsoll_support::{BitMatrix, ones};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stable {
    /// A stable set, in ascending order.
    pub members: Vec<usize>,
    pub weight: u64,
    /// Upper bound on the weight of any stable set. It equals `weight` if the search finished.
    pub upper: u64,
}

struct Node {
    chosen: Vec<usize>,
    weight: u64,
    candidates: Vec<u64>,
    upper: u64,
}

/// Limits of a search. The first node is always expanded.
pub(crate) struct Effort<'a> {
    pub nodes: u64,
    /// The weight above which a set ends the search.
    pub enough: u64,
    /// A budget that ends the search when it runs out. The nodes of the search are not charged to it.
    pub budget: &'a mut Budget,
}

impl<'a> Effort<'a> {
    /// Creates limits under which a search ends at the node limit, but not when it finds a heavy set.
    pub fn nodes(nodes: u64, budget: &'a mut Budget) -> Self {
        Self { nodes, enough: u64::MAX, budget }
    }

    fn is_over(&mut self, seen: u64, weight: u64) -> bool {
        seen > 0 && (seen >= self.nodes || weight > self.enough || self.budget.check().is_some())
    }
}

/// Returns the heaviest stable set found within the limits, without vertices of weight zero. The time is
/// O(n^2) per node for n vertices.
pub(crate) fn heaviest(compatible: &BitMatrix, weights: &[u64], mut effort: Effort<'_>) -> Stable {
    let mut all = vec![0u64; weights.len().div_ceil(64)];
    for at in (0..weights.len()).filter(|&at| weights[at] > 0) {
        all[at / 64] |= 1 << (at % 64);
    }
    let mut best = Stable { members: Vec::new(), weight: 0, upper: 0 };
    let mut todo = vec![Node { chosen: Vec::new(), weight: 0, candidates: all, upper: u64::MAX }];
    let mut seen = 0;
    let mut paths = Paths { best: vec![0; weights.len()], next: vec![None; weights.len()] };
    while let Some(mut node) = todo.pop() {
        if node.upper <= best.weight {
            continue;
        }
        if effort.is_over(seen, best.weight) {
            best.upper = best.upper.max(node.upper);
            continue;
        }
        seen += 1;
        let path = paths.heaviest(compatible, weights, &node.candidates);
        let upper = node.weight + path.iter().map(|&at| weights[at]).sum::<u64>();
        if upper <= best.weight {
            continue;
        }
        let members = keep(compatible, weights, &path);
        let weight = node.weight + members.iter().map(|&at| weights[at]).sum::<u64>();
        if weight > best.weight {
            best.weight = weight;
            best.members = node.chosen.iter().chain(&members).copied().collect();
        }
        if let Some(branch) = worst(compatible, weights, &path) {
            let with = node.candidates.iter().zip(compatible.row(branch)).map(|(a, b)| a & b).collect();
            node.candidates[branch / 64] &= !(1 << (branch % 64));
            let chosen = node.chosen.iter().copied().chain([branch]).collect();
            let inside = Node { chosen, weight: node.weight + weights[branch], candidates: with, upper };
            todo.push(Node { upper, ..node });
            todo.push(inside);
        }
    }
    best.members.sort_unstable();
    best.upper = best.upper.max(best.weight);
    best
}

struct Paths {
    best: Vec<u64>,
    next: Vec<Option<usize>>,
}

impl Paths {
    /// Returns the heaviest path of candidates in which consecutive vertices are compatible.
    fn heaviest(&mut self, compatible: &BitMatrix, weights: &[u64], candidates: &[u64]) -> Vec<usize> {
        let list: Vec<usize> = ones(candidates).collect();
        let mut first = None;
        for &at in list.iter().rev() {
            let (mut best, mut next) = (0, None);
            let row = compatible.row(at);
            for word in at / 64..candidates.len() {
                let above = if word == at / 64 { !0u64 << (at % 64) << 1 } else { !0 };
                let above = if word == at / 64 && at % 64 == 63 { 0 } else { above };
                let mut left = candidates[word] & row[word] & above;
                while left != 0 {
                    let other = word * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    if self.best[other] > best {
                        (best, next) = (self.best[other], Some(other));
                    }
                }
            }
            self.best[at] = weights[at] + best;
            self.next[at] = next;
            if first.is_none_or(|first: usize| self.best[at] >= self.best[first]) {
                first = Some(at);
            }
        }
        std::iter::successors(first, |&at| self.next[at]).collect()
    }
}

/// Returns a stable subset of a path, chosen greedily by descending weight.
fn keep(compatible: &BitMatrix, weights: &[u64], path: &[usize]) -> Vec<usize> {
    let mut by_weight = path.to_vec();
    by_weight.sort_by_key(|&at| (std::cmp::Reverse(weights[at]), at));
    let mut kept: Vec<usize> = Vec::new();
    for at in by_weight {
        if kept.iter().all(|&other| compatible.get(at, other)) {
            kept.push(at);
        }
    }
    kept
}

/// Returns the member of a path that conflicts with the most other members, or `None` if there are no
/// conflicts. Ties are broken in favour of the larger weight.
fn worst(compatible: &BitMatrix, weights: &[u64], path: &[usize]) -> Option<usize> {
    let rivals = |at: usize| path.iter().filter(|&&other| other != at && !compatible.get(at, other)).count();
    let found = path.iter().map(|&at| (rivals(at), weights[at], at)).filter(|&(rivals, ..)| rivals > 0);
    found.max().map(|(_, _, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn agrees_with_all_subsets() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for round in 0..400 {
            let n = rng.random_range(0..=11usize);
            let density = rng.random_range(0.0..1.0);
            let mut compatible = BitMatrix::new(n, n);
            for a in 0..n {
                for b in 0..a {
                    if rng.random_bool(density) {
                        compatible.set(a, b);
                        compatible.set(b, a);
                    }
                }
            }
            let weights: Vec<u64> = (0..n).map(|_| rng.random_range(0..20)).collect();
            let stable = |set: &u32| {
                let inside = |at: usize| set >> at & 1 == 1;
                (0..n).all(|a| !inside(a) || (0..a).all(|b| !inside(b) || compatible.get(a, b)))
            };
            let weight = |set: u32| (0..n).filter(|at| set >> at & 1 == 1).map(|at| weights[at]).sum::<u64>();
            let best = (0..1u32 << n).filter(stable).map(weight).max().unwrap();
            let found = heaviest(&compatible, &weights, Effort::nodes(10_000, &mut Budget::unlimited()));
            assert_eq!((found.weight, found.upper), (best, best), "round {round}");
            assert!(stable(&found.members.iter().fold(0, |set, at| set | 1 << at)));
            let hurried = heaviest(&compatible, &weights, Effort::nodes(1, &mut Budget::unlimited()));
            assert!(hurried.weight <= best && hurried.upper >= best, "round {round}");
        }
    }

    #[test]
    fn long_rows_are_read_to_the_end() {
        let n = 200;
        let mut compatible = BitMatrix::new(n, n);
        for a in 0..n {
            (0..n).filter(|&b| a != b).for_each(|b| compatible.set(a, b));
        }
        let found = heaviest(&compatible, &vec![1; n], Effort::nodes(1, &mut Budget::unlimited()));
        assert_eq!((found.weight, found.upper), (200, 200));
    }
}
