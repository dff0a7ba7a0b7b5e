//! Problems of clause learning for any instance, including those with gaps, alignments, fixed offsets,
//! separations, exclusions or rigid groups.

use super::problem::{MOST_TOGETHER, MOST_VARIABLES, Place, Problem};
use crate::cover::cover;
use crate::offsets::bounds::has_few_conflicts;
use plimsoll_model::{Budget, Buffer, BufferId, Bytes, ConflictGraph, Instance, sections};

impl Problem {
    /// Builds the problem of an instance whose sizes, alignments, fixed offsets and distances are multiples
    /// of `grain` bytes. The conflicts need not form an interval graph, and triangles outside the cliques are
    /// ignored, so propagation may be weaker than in [`Problem::of`]. Returns `None` if there are too many
    /// variables or triangles, or if the budget `watch` runs out first. The time is that of [`cover`].
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
        let groups = instance.groups().all().iter();
        let groups = groups.map(|group| {
            group.members().iter().map(|&(id, distance)| (id.get(), units(distance.get()))).collect()
        });
        let twin = (0..instance.len() as u32).collect();
        Self::assembled(size, pairs, cliques, twin, (restrictions(instance, units), groups.collect()))
    }
}

/// Returns the restrictions of the offsets, or an empty list if there are none.
fn restrictions(instance: &Instance, units: impl Fn(u64) -> i64) -> Vec<Place> {
    if !instance.has_alignment() && !instance.has_fixed() && !instance.has_groups() {
        return Vec::new();
    }
    // An alignment of 1 byte is no constraint on multiples of the grain.
    let at_least_one = |alignment: Bytes| units(alignment.get()).max(1);
    let place = |(id, b): (BufferId, &Buffer)| {
        if let Some((at, distance)) = instance.groups().of(id) {
            let group = &instance.groups().all()[at];
            let alignment = at_least_one(group.alignment());
            let (residue, distance) = (units(group.residue().get()), units(distance.get()));
            let over = units(group.extent().get()) - distance - units(b.size().get());
            let residue = (residue + distance) % alignment;
            return Place { alignment, residue, fixed: None, group: Some((at, distance)), over };
        }
        let fixed = b.fixed().map(|offset| units(offset.get()));
        Place { alignment: at_least_one(b.alignment()), residue: 0, fixed, group: None, over: 0 }
    };
    instance.ids().zip(instance.buffers()).map(place).collect()
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
