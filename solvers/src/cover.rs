//! An edge clique cover of the conflict graph.

use plimsoll_model::Budget;

/// Returns maximal cliques of the graph that together cover every edge. No clique contains another.
///
/// `sets` are the sections. Every section that is a clique is extended to a clique of the cover, unless
/// another clique contains it. Without exclusions, all sections are cliques. Further cliques start from the
/// remaining edges. Edges outside all sections come from separations. All these cliques are extended greedily
/// by buffers that conflict with all their members, in descending order of size. A buffer without neighbours
/// forms a clique of its own. The time is O(e n d) in the worst case for e edges and n buffers of degree at
/// most d. In practice, one pass over the sections suffices. If the budget `watch` runs out first, some edges
/// may be uncovered.
pub(crate) fn cover(
    neighbours: &[Vec<usize>],
    size: &[i64],
    sets: Vec<Vec<usize>>,
    watch: &mut Budget,
) -> Vec<Vec<usize>> {
    let mut graph =
        Covered { neighbours, size, seen: neighbours.iter().map(|n| vec![false; n.len()]).collect() };
    let mut cliques = Vec::new();
    for set in sets {
        if watch.tick().is_some() {
            break;
        }
        if !set.is_empty() && graph.is_clique(&set) {
            cliques.push(graph.grow(set));
        }
    }
    for (a, around) in neighbours.iter().enumerate() {
        for (at, &b) in around.iter().enumerate() {
            if !graph.seen[a][at] && watch.tick().is_none() {
                cliques.push(graph.grow(vec![a, b]));
            }
        }
    }
    maximal(cliques, neighbours.len())
}

struct Covered<'a> {
    neighbours: &'a [Vec<usize>],
    size: &'a [i64],
    /// For every entry of the neighbour lists, whether a clique covers it.
    seen: Vec<Vec<bool>>,
}

impl Covered<'_> {
    fn edge(&self, a: usize, b: usize) -> Option<usize> {
        self.neighbours[a].binary_search(&b).ok()
    }

    fn is_clique(&self, set: &[usize]) -> bool {
        set.iter().enumerate().all(|(at, &a)| set[at + 1..].iter().all(|&b| self.edge(a, b).is_some()))
    }

    /// Extends a clique until it is maximal, and marks its edges.
    fn grow(&mut self, mut clique: Vec<usize>) -> Vec<usize> {
        let first = clique[0];
        let mut candidates: Vec<usize> = self.neighbours[first].clone();
        candidates.retain(|c| !clique.contains(c));
        candidates.sort_by_key(|&c| (std::cmp::Reverse(self.size[c]), c));
        for c in candidates {
            if clique.iter().all(|&member| self.edge(c, member).is_some()) {
                clique.push(c);
            }
        }
        clique.sort_unstable();
        for &a in &clique {
            for &b in &clique {
                if let Some(at) = self.edge(a, b) {
                    self.seen[a][at] = true;
                }
            }
        }
        clique
    }
}

/// Removes cliques that are contained in others, and appends a singleton for each uncovered buffer. Sorts the
/// cliques by descending length and then by members.
fn maximal(mut cliques: Vec<Vec<usize>>, n: usize) -> Vec<Vec<usize>> {
    cliques.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    cliques.dedup();
    let mut of_member: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut kept: Vec<Vec<usize>> = Vec::new();
    for clique in cliques {
        let inside = |other: &usize| clique.iter().all(|m| kept[*other].binary_search(m).is_ok());
        if of_member[clique[0]].iter().any(inside) {
            continue;
        }
        for &member in &clique {
            of_member[member].push(kept.len());
        }
        kept.push(clique);
    }
    let alone = (0..n).filter(|&i| of_member[i].is_empty()).map(|i| vec![i]);
    kept.extend(alone.collect::<Vec<_>>());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_is_in_a_maximal_clique() {
        // A square 0-1-2-3 with the diagonal 0-2, and an isolated 4; the "section" {0,1,2,3} is not a clique.
        let neighbours = vec![vec![1, 2, 3], vec![0, 2], vec![0, 1, 3], vec![0, 2], vec![]];
        let cliques = cover(
            &neighbours,
            &[1, 1, 1, 1, 1],
            vec![vec![0, 1, 2, 3], vec![0, 1]],
            &mut Budget::unlimited(),
        );
        assert_eq!(cliques, [vec![0, 1, 2], vec![0, 2, 3], vec![4]]);
    }

    #[test]
    fn a_cover_without_time_holds_no_edge() {
        let mut over = Budget::unlimited().with_time_limit(std::time::Duration::ZERO);
        let cliques = cover(&[vec![1], vec![0]], &[1, 1], vec![vec![0, 1]], &mut over);
        assert_eq!(cliques, [vec![0], vec![1]]);
    }
}
