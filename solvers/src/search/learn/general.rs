//! Problems of clause learning for any instance, including those with gaps, alignments, fixed offsets,
//! separations or exclusions.

use super::problem::{MOST_TOGETHER, MOST_VARIABLES, Problem};
use crate::bounds::has_few_conflicts;
use crate::cover::cover;
use plimsoll_model::{Budget, Buffer, BufferId, ConflictGraph, Instance, sections};

impl Problem {
    /// Builds the problem of an instance whose sizes, alignments and fixed offsets are multiples of `grain`
    /// bytes. The conflicts need not form an interval graph, and triangles outside the cliques are ignored,
    /// so propagation may be weaker than in [`Problem::of`]. Returns `None` if there are too many variables
    /// or triangles, or if the budget `watch` runs out first. The time is that of [`cover`].
    pub fn general(instance: &Instance, grain: u64, watch: &mut Budget) -> Option<Self> {
        if !has_few_conflicts(instance, MOST_VARIABLES as u64, watch) {
            return None;
        }
        let graph = ConflictGraph::within(instance, watch)?;
        let units = |bytes: u64| (bytes / grain) as i64;
        let around = |id| graph.of_buffer(id).iter().map(|other: &BufferId| other.index());
        let neighbours: Vec<Vec<usize>> = instance.ids().map(|id| around(id).collect()).collect();
        let above =
            |a: usize| neighbours[a].iter().filter(move |&&b| a < b).map(move |&b| (a as u32, b as u32));
        let pairs = (0..instance.len()).flat_map(above).collect();
        let size: Vec<i64> = instance.buffers().iter().map(|b| units(b.size().get())).collect();
        let sections = sections(instance);
        let sets =
            sections.iter().map(|section| section.buffers.iter().map(|id| id.index()).collect()).collect();
        let cliques = cover(&neighbours, &size, sets, watch);
        let cliques = cliques.iter().flat_map(|clique| parts(clique)).collect();
        let rigid = |b: &Buffer| {
            // An alignment of 1 byte is no constraint on multiples of the grain.
            let alignment = units(b.alignment().get()).max(1);
            (alignment, b.fixed().map(|offset| units(offset.get())))
        };
        let is_rigid = instance.has_alignment() || instance.has_fixed();
        let rigid = instance.buffers().iter().filter(|_| is_rigid).map(rigid).collect();
        let twin = (0..instance.len() as u32).collect();
        Self::assembled(size, pairs, cliques, twin, rigid)
    }
}

/// Returns cliques of at most [`MOST_TOGETHER`] members that together contain all pairs of a clique.
fn parts(clique: &[usize]) -> Vec<Vec<u32>> {
    let members: Vec<u32> = clique.iter().map(|&b| b as u32).collect();
    if members.len() <= MOST_TOGETHER {
        return vec![members];
    }
    let blocks: Vec<&[u32]> = members.chunks(MOST_TOGETHER / 2).collect();
    let pairs = (0..blocks.len()).flat_map(|a| (a + 1..blocks.len()).map(move |b| (a, b)));
    pairs.map(|(a, b)| [blocks[a], blocks[b]].concat()).collect()
}
