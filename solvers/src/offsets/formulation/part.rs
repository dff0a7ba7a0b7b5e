//! Splits an instance into connected components and omits dominated buffers.

use crate::cover::cover;
use plimsoll_model::{Budget, BufferId, Bytes, ConflictGraph, Instance, RigidGroup, Section, sections};
use plimsoll_support::{gcd, root};

/// A rigid group of a part: each member lies at the base of the group plus its distance. The base is at least
/// the residue and differs from it by a multiple of the alignment. All numbers are in units.
#[derive(Clone, Debug)]
pub(crate) struct Rigid {
    /// The members, each with its distance from the base, by ascending distance.
    pub members: Vec<(usize, i64)>,
    pub align: i64,
    pub residue: i64,
}

impl Rigid {
    fn of(group: &RigidGroup, local: impl Fn(&BufferId) -> Option<usize>, grain: u64) -> Option<Self> {
        let units = |bytes: Bytes| (bytes.get() / grain) as i64;
        let member = |&(id, distance): &(BufferId, Bytes)| Some((local(&id)?, units(distance)));
        Some(Self {
            members: group.members().iter().map(member).collect::<Option<_>>()?,
            align: units(group.alignment()).max(1),
            residue: units(group.residue()),
        })
    }

    /// Returns the lowest base at or above `from`.
    pub fn base_from(&self, from: i64) -> i64 {
        let steps = (from - self.residue).max(0) as u64;
        self.residue + steps.next_multiple_of(self.align as u64) as i64
    }

    /// Returns the highest base at or below `to`. It is below the residue if there is none.
    pub fn base_to(&self, to: i64) -> i64 {
        (to - self.residue).div_euclid(self.align) * self.align + self.residue
    }
}

/// A connected component of the conflict graph. Its sizes and offsets are in units of the grain.
///
/// A *host* buffer *absorbs* a *guest* buffer if the host is at least as large as the guest, does not
/// conflict with it, and conflicts with all neighbours of the guest. The guest can always be placed at the
/// offset of the host because the neighbours of the guest do not overlap the host. Absorbed buffers are
/// omitted from the part and restored by [`Part::expand`]. The alignment of the guest must divide that of the
/// host, so that the guest may use the same offset. A fixed buffer is absorbed only by a host that is fixed
/// at the same offset. Members of rigid groups are never absorbed.
///
/// A rigid group lies in one part, because its members are connected as well.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The ids of the buffers, in ascending order. The fields below, except `absorbed`, identify a buffer by
    /// its position in this vector.
    pub ids: Vec<BufferId>,
    /// The sizes, in units.
    pub size: Vec<i64>,
    /// The alignments, in units.
    pub align: Vec<i64>,
    /// The fixed offsets, in units.
    pub fixed: Vec<Option<i64>>,
    /// The rigid groups.
    pub rigid: Vec<Rigid>,
    /// Per buffer: its rigid group, if any.
    pub rigid_of: Vec<Option<usize>>,
    /// Per buffer: the buffers that conflict with it, in ascending order.
    pub neighbours: Vec<Vec<usize>>,
    /// All conflicting pairs `(i, j)` with `i < j`, in ascending order.
    pub pairs: Vec<(usize, usize)>,
    /// Maximal cliques that cover all conflicting pairs. No clique contains another.
    pub cliques: Vec<Vec<usize>>,
    /// Per buffer: the index in `pairs` of the first pair that begins with it.
    starts: Vec<usize>,
    /// Pairs of an absorbed buffer and its host, in the order of absorption.
    absorbed: Vec<(BufferId, BufferId)>,
    /// Bytes per unit.
    grain: i64,
}

impl Part {
    /// Splits an instance into parts. Absorbs dominated buffers if `absorb` is true.
    ///
    /// Apart from absorption and the clique cover, the time is O(n + c) for n buffers and c conflicts. In
    /// each round of absorption, every buffer needs at most d subset tests in O(d log d) time each, where d
    /// is the largest degree. If the time of `watch` runs out, the cliques may not cover all pairs. No model
    /// may then be built from the parts.
    pub fn split(instance: &Instance, graph: &ConflictGraph, absorb: bool, watch: &mut Budget) -> Vec<Self> {
        let sections = sections(instance);
        let components = connected(instance, graph);
        let part = |ids| Self::of(instance, graph, &sections, (ids, absorb), watch);
        components.into_iter().map(part).collect()
    }

    fn of(
        instance: &Instance,
        graph: &ConflictGraph,
        sections: &[Section],
        (ids, absorb): (Vec<BufferId>, bool),
        watch: &mut Budget,
    ) -> Self {
        let allows = |guest: BufferId, host: BufferId| {
            let (g, h) = (instance.buffer(guest), instance.buffer(host));
            h.alignment().get().is_multiple_of(g.alignment().get())
                && g.fixed().is_none_or(|offset| h.fixed() == Some(offset))
                && instance.groups().of(guest).is_none()
        };
        let (ids, absorbed) =
            if absorb { absorb_dominated(instance, graph, ids, allows) } else { (ids, Vec::new()) };
        let local = |id: &BufferId| ids.binary_search(id).ok();
        let neighbours: Vec<Vec<usize>> =
            ids.iter().map(|&id| graph.of_buffer(id).iter().filter_map(local).collect()).collect();
        let mut pairs = Vec::new();
        let mut starts = Vec::with_capacity(ids.len());
        for (i, around) in neighbours.iter().enumerate() {
            starts.push(pairs.len());
            pairs.extend(around.iter().filter(|&&j| j > i).map(|&j| (i, j)));
        }
        let grain = instance.grain().get();
        let units = |bytes: Bytes| (bytes.get() / grain) as i64;
        let size: Vec<i64> = ids.iter().map(|&id| units(instance.buffer(id).size())).collect();
        let groups = instance.groups().all().iter();
        let rigid: Vec<Rigid> = groups.filter_map(|group| Rigid::of(group, local, grain)).collect();
        let mut rigid_of = vec![None; ids.len()];
        for (at, group) in rigid.iter().enumerate() {
            for &(i, _) in &group.members {
                rigid_of[i] = Some(at);
            }
        }
        let sets = sections.iter().map(|s| s.buffers.iter().filter_map(local).collect()).collect();
        Self {
            cliques: cover(&neighbours, &size, sets, watch),
            // An alignment below the grain has no effect, so it becomes one unit.
            align: ids.iter().map(|&id| units(instance.buffer(id).alignment()).max(1)).collect(),
            fixed: ids.iter().map(|&id| instance.buffer(id).fixed().map(units)).collect(),
            size,
            rigid,
            rigid_of,
            ids,
            neighbours,
            pairs,
            starts,
            absorbed,
            grain: grain as i64,
        }
    }

    /// Returns the number of buffers.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns the index of the pair of `i` and `j` in [`Part::pairs`], or `None` if they do not conflict.
    pub fn pair(&self, i: usize, j: usize) -> Option<usize> {
        let (i, j) = (i.min(j), i.max(j));
        let end = self.starts.get(i + 1).copied().unwrap_or(self.pairs.len());
        let found = self.pairs[self.starts[i]..end].binary_search(&(i, j));
        found.ok().map(|at| self.starts[i] + at)
    }

    /// Returns the minimum distance, in units, from the offset of `i` to that of a buffer `j` above it. This
    /// is the size of `i`, rounded up to the greatest common divisor of both alignments, because both offsets
    /// are multiples of this divisor.
    pub fn rise(&self, i: usize, j: usize) -> i64 {
        let common = gcd(self.align[i] as u64, self.align[j] as u64) as i64;
        // This cannot overflow because the ceiling of the instance leaves enough range for rounding.
        (self.size[i] + common - 1) / common * common
    }

    /// Returns true if no buffer is fixed, aligned to more than one unit, or in a rigid group. Every valid
    /// layout is then still valid when turned upside down.
    pub fn mirrors(&self) -> bool {
        self.rigid.is_empty()
            && self.fixed.iter().all(Option::is_none)
            && self.align.iter().all(|&align| align == 1)
    }

    /// Returns the peak of the offsets, in units.
    pub fn peak(&self, offsets: &[i64]) -> i64 {
        offsets.iter().zip(&self.size).map(|(offset, size)| offset + size).max().unwrap_or(0)
    }

    /// Returns the heaviest clique in [`Part::cliques`] and its weight in units, or `None` if there are no
    /// cliques.
    pub fn heaviest(&self) -> Option<(&[usize], i64)> {
        let weight = |clique: &[usize]| clique.iter().map(|&i| self.size[i]).sum::<i64>();
        let weighed = self.cliques.iter().map(|clique| (clique.as_slice(), weight(clique)));
        weighed.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Writes the offsets of the part and of its absorbed buffers into a layout of the instance.
    pub fn expand(&self, offsets: &[i64], layout: &mut [Bytes]) {
        for (&id, &offset) in self.ids.iter().zip(offsets) {
            layout[id.index()] = Bytes::new((offset * self.grain) as u64);
        }
        for &(guest, host) in self.absorbed.iter().rev() {
            layout[guest.index()] = layout[host.index()];
        }
    }

    /// Returns the number of absorbed buffers.
    pub fn absorbed(&self) -> usize {
        self.absorbed.len()
    }

    /// Turns approximate offsets into an exact layout by pushing every buffer down as far as the order of the
    /// offsets allows. Returns `None` if a buffer ends above the fixed offset of a conflicting buffer that
    /// comes later in this order, or if an offset overflows.
    ///
    /// In the result, each buffer that is not fixed lies at 0 or at the end of a conflicting one, rounded up
    /// to its alignment. The time is O(n log n + c) for n buffers and c conflicts. With rigid groups, which
    /// move as a whole, this time is needed several times. The result is then also `None` if the offsets do
    /// not settle after [`ROUNDS`] times.
    pub fn settle(&self, rough: &[f64]) -> Option<Vec<i64>> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| rough[a].total_cmp(&rough[b]).then(a.cmp(&b)));
        let mut rank = vec![0; self.len()];
        for (at, &i) in order.iter().enumerate() {
            rank[i] = at;
        }
        let mut offsets: Vec<i64> = self.fixed.iter().map(|fixed| fixed.unwrap_or(0)).collect();
        for group in &self.rigid {
            group.members.iter().for_each(|&(i, distance)| offsets[i] = group.residue + distance);
        }
        let rounds = if self.rigid.is_empty() { 1 } else { ROUNDS };
        for _ in 0..rounds {
            let mut changed = false;
            for &i in &order {
                changed |= self.lift(i, &rank, &mut offsets)?;
            }
            if !changed || self.rigid.is_empty() {
                return Some(offsets);
            }
        }
        None
    }

    /// Raises a buffer, with its rigid group, above the conflicting buffers of lower rank. Returns true if an
    /// offset changed, and `None` if the buffer is fixed too low or an offset overflows.
    fn lift(&self, i: usize, rank: &[usize], offsets: &mut [i64]) -> Option<bool> {
        let mut floor = 0_i64;
        for &j in self.neighbours[i].iter().filter(|&&j| rank[j] < rank[i]) {
            floor = floor.max(self.size[j].checked_add(offsets[j])?);
        }
        if floor <= offsets[i] {
            return Some(false);
        }
        match self.rigid_of[i] {
            _ if self.fixed[i].is_some() => return None,
            None => offsets[i] = floor.checked_add(self.align[i] - 1)? / self.align[i] * self.align[i],
            Some(group) => {
                let group = &self.rigid[group];
                let own = group.members.iter().find(|member| member.0 == i)?.1;
                let base = group.base_from(floor - own);
                for &(member, distance) in &group.members {
                    offsets[member] = base.checked_add(distance)?;
                }
            }
        }
        Some(true)
    }
}

/// Maximum number of rounds in which buffers and groups push each other up.
const ROUNDS: usize = 1_000;

/// Returns the connected components of the conflict graph and the rigid groups, ordered by their smallest id.
/// Each component lists its ids in ascending order.
fn connected(instance: &Instance, graph: &ConflictGraph) -> Vec<Vec<BufferId>> {
    let components = graph.components();
    if !instance.has_groups() {
        return components;
    }
    let mut home = vec![0; instance.len()];
    for (at, component) in components.iter().enumerate() {
        for id in component {
            home[id.index()] = at;
        }
    }
    let mut parent: Vec<usize> = (0..components.len()).collect();
    for group in instance.groups().all() {
        let mut roots: Vec<usize> =
            group.members().iter().map(|(id, _)| root(&mut parent, home[id.index()])).collect();
        roots.sort_unstable();
        for &other in &roots[1..] {
            parent[other] = roots[0];
        }
    }
    let mut merged: Vec<Vec<BufferId>> = vec![Vec::new(); components.len()];
    for (at, component) in components.into_iter().enumerate() {
        merged[root(&mut parent, at)].extend(component);
    }
    merged.retain(|component| !component.is_empty());
    for component in &mut merged {
        component.sort_unstable();
    }
    merged
}

/// Maximum number of conflicts of the instance. Above this number, nothing is absorbed because the search for
/// hosts would cost more time than it saves.
const ABSORB_CONFLICTS: usize = 200_000;

/// Returns the buffers that are kept, and the pairs of an absorbed buffer and its host, in the order of
/// absorption.
///
/// A host is at least as large as the guest and conflicts with all neighbours of the guest, but not with the
/// guest itself. `allows` checks all other conditions. Each absorption considers only the remaining buffers.
/// A solution is therefore completed by undoing the absorptions in reverse order: when a guest is restored,
/// all of its neighbours that are present are neighbours of its host. Buffers without conflicts are never
/// absorbed.
pub(crate) fn absorb_dominated(
    instance: &Instance,
    graph: &ConflictGraph,
    ids: Vec<BufferId>,
    allows: impl Fn(BufferId, BufferId) -> bool,
) -> (Vec<BufferId>, Vec<(BufferId, BufferId)>) {
    if graph.edges() > ABSORB_CONFLICTS {
        return (ids, Vec::new());
    }
    let mut here = vec![false; instance.len()];
    for id in &ids {
        here[id.index()] = true;
    }
    let mut absorbed = Vec::new();
    let mut order = ids.clone();
    order.sort_by_key(|&id| (instance.buffer(id).size(), std::cmp::Reverse(id)));
    loop {
        let before = absorbed.len();
        for &guest in &order {
            if !here[guest.index()] {
                continue;
            }
            if let Some(host) = host_of(instance, graph, guest, &here, &allows) {
                here[guest.index()] = false;
                absorbed.push((guest, host));
            }
        }
        if absorbed.len() == before {
            break;
        }
    }
    let kept = ids.into_iter().filter(|id| here[id.index()]).collect();
    (kept, absorbed)
}

fn host_of(
    instance: &Instance,
    graph: &ConflictGraph,
    guest: BufferId,
    here: &[bool],
    allows: &impl Fn(BufferId, BufferId) -> bool,
) -> Option<BufferId> {
    let stays = |id: &&BufferId| here[id.index()];
    let around: Vec<BufferId> = graph.of_buffer(guest).iter().filter(stays).copied().collect();
    // A host conflicts with all neighbours of the guest. It is therefore a neighbour of the pivot, which is
    // the neighbour of the guest with the fewest neighbours.
    let pivot = around.iter().min_by_key(|id| (graph.of_buffer(**id).len(), **id))?;
    graph.of_buffer(*pivot).iter().filter(stays).copied().find(|&host| {
        host != guest
            && instance.buffer(host).size() >= instance.buffer(guest).size()
            && allows(guest, host)
            && around.iter().all(|&other| graph.conflict(host, other))
            && !graph.conflict(host, guest)
    })
}
