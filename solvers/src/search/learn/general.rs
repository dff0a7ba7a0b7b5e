//! Problems of clause learning for any instance: with gaps, alignments, fixed offsets and pairs.

use super::problem::{Clique, Lit, MOST_TOGETHER, MOST_TRIANGLES, MOST_VARIABLES, Problem};
use plimsoll_model::{BufferId, ConflictGraph, Instance, sections};
use std::collections::HashMap;

impl Problem {
    /// Builds the problem of an instance whose sizes, alignments and fixed offsets are multiples of `grain`
    /// bytes. Conflicts need not be those of intervals, and cliques may be any cliques of conflicting
    /// buffers, so propagation may be weaker than in [`Problem::of`]. Returns `None` if there are too many
    /// variables or triangles. O(n^2 + c k^2) for c conflicts and cliques of k buffers.
    pub fn general(instance: &Instance, grain: u64) -> Option<Self> {
        let units = |bytes: u64| (bytes / grain) as i64;
        let graph = ConflictGraph::of(instance);
        if graph.edges() > MOST_VARIABLES {
            return None;
        }
        let n = instance.len();
        let mut others: Vec<Vec<(u32, Lit)>> = vec![Vec::new(); n];
        let (mut pairs, mut literal) = (Vec::new(), HashMap::new());
        for a in instance.ids() {
            for &b in graph.of_buffer(a).iter().filter(|&&b| a < b) {
                let lit = 2 * pairs.len() as Lit;
                pairs.push((a.get(), b.get()));
                literal.insert((a.get(), b.get()), lit);
                literal.insert((b.get(), a.get()), lit ^ 1);
                others[a.index()].push((b.get(), lit));
                others[b.index()].push((a.get(), lit ^ 1));
            }
        }
        let mut places = vec![Vec::new(); n];
        let cliques: Vec<Clique> = (0..)
            .zip(cliques(instance, &graph))
            .map(|(c, members)| {
                (0..).zip(&members).for_each(|(at, &b)| places[b as usize].push((c, at)));
                let all = members.iter().flat_map(|&a| members.iter().map(move |&b| (a, b)));
                let below = all.map(|pair| literal.get(&pair).copied().unwrap_or(0)).collect();
                Clique { members, below }
            })
            .collect();
        let rigid = if instance.has_alignment() || instance.has_fixed() {
            let rigid = |b: &plimsoll_model::Buffer| {
                // An alignment of 1 byte is no constraint on multiples of the grain.
                let alignment = units(b.alignment().get()).max(1);
                (alignment, b.fixed().map(|offset| units(offset.get())))
            };
            instance.buffers().iter().map(rigid).collect()
        } else {
            Vec::new()
        };
        let size = instance.buffers().iter().map(|b| units(b.size().get())).collect();
        let (vars, twin) = (pairs.len(), (0..n as u32).collect());
        let problem = Self { size, vars, pairs, others, cliques, places, twin, rigid };
        (problem.triangles().take(MOST_TRIANGLES + 1).count() <= MOST_TRIANGLES).then_some(problem)
    }
}

/// Returns cliques that contain every conflict: as much as possible of each section, then a clique for every
/// conflict that is not in one yet.
fn cliques(instance: &Instance, graph: &ConflictGraph) -> Vec<Vec<u32>> {
    let mut cliques: Vec<Vec<u32>> = Vec::new();
    let mut covered = std::collections::HashSet::new();
    let mut keep = |clique: Vec<BufferId>, covered: &mut std::collections::HashSet<(BufferId, BufferId)>| {
        covered.extend(clique.iter().flat_map(|&a| clique.iter().map(move |&b| (a, b))));
        cliques.push(clique.into_iter().map(BufferId::get).collect());
    };
    let grown = |mut clique: Vec<BufferId>, from: &[BufferId]| {
        for &b in from {
            if clique.len() < MOST_TOGETHER && clique.iter().all(|&a| graph.conflict(a, b)) {
                clique.push(b);
            }
        }
        clique
    };
    for section in sections(instance) {
        let mut live = section.buffers.clone();
        live.sort_unstable_by_key(|&b| (std::cmp::Reverse(instance.buffer(b).size()), b));
        keep(grown(Vec::new(), &live), &mut covered);
    }
    for a in instance.ids() {
        for &b in graph.of_buffer(a).iter().filter(|&&b| a < b) {
            if !covered.contains(&(a, b)) {
                keep(grown(vec![a, b], graph.of_buffer(a)), &mut covered);
            }
        }
    }
    cliques
}
