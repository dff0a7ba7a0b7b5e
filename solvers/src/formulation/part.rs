//! Connected components in units of the grain, without absorbed buffers.

use super::cliques::cover;
use plimsoll_model::{Budget, BufferId, Bytes, ConflictGraph, Instance, Section, gcd, sections};

/// A connected component of the conflict graph; everything is counted in units of the grain.
///
/// A buffer is *absorbed* by a host that is at least as large, does not conflict with it, and conflicts with
/// everybody it conflicts with: wherever the host lies, the absorbed buffer can lie at the same offset,
/// because all its neighbours keep clear of the host. Absorbed buffers are left out of the part and put
/// back by [`Part::expand`]. An alignment must divide the host's, so that the shared offset is allowed; a
/// fixed buffer is absorbed only by one fixed at the same offset.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The buffers, ascending; all vectors below follow this order.
    pub ids: Vec<BufferId>,
    /// Sizes, units.
    pub size: Vec<i64>,
    /// Offsets are multiples of this, units.
    pub align: Vec<i64>,
    /// Offsets that are given, units.
    pub fixed: Vec<Option<i64>>,
    /// Who conflicts with whom, ascending.
    pub neighbours: Vec<Vec<usize>>,
    /// All conflicting pairs `(i, j)` with `i < j`, ascending.
    pub pairs: Vec<(usize, usize)>,
    /// Cliques of the conflict graph that cover all pairs, none inside another.
    pub cliques: Vec<Vec<usize>>,
    /// Where the pairs of each first member start.
    starts: Vec<usize>,
    /// Absorbed buffer and host, in the order of absorption.
    absorbed: Vec<(BufferId, BufferId)>,
    /// Bytes per unit.
    grain: i64,
}

impl Part {
    /// Splits an instance; `absorb` leaves out absorbed buffers.
    ///
    /// O(n + c) for n buffers and c conflicts without absorption; with it, up to O(d) subset tests of O(d)
    /// per conflict, for degrees d.
    /// Where the time of `watch` ends, cliques do not cover all pairs: no model may be made of such parts.
    pub fn split(instance: &Instance, graph: &ConflictGraph, absorb: bool, watch: &mut Budget) -> Vec<Self> {
        let sections = sections(instance);
        let components = graph.components();
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
        let sets = sections.iter().map(|s| s.buffers.iter().filter_map(local).collect()).collect();
        Self {
            cliques: cover(&neighbours, &size, sets, watch),
            // An alignment of one byte divides every grain.
            align: ids.iter().map(|&id| units(instance.buffer(id).alignment()).max(1)).collect(),
            fixed: ids.iter().map(|&id| instance.buffer(id).fixed().map(units)).collect(),
            size,
            ids,
            neighbours,
            pairs,
            starts,
            absorbed,
            grain: grain as i64,
        }
    }

    /// Number of buffers.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Position of the pair of `i` and `j` in [`Part::pairs`], if they conflict.
    pub fn pair(&self, i: usize, j: usize) -> Option<usize> {
        let (i, j) = (i.min(j), i.max(j));
        let end = self.starts.get(i + 1).copied().unwrap_or(self.pairs.len());
        let found = self.pairs[self.starts[i]..end].binary_search(&(i, j));
        found.ok().map(|at| self.starts[i] + at)
    }

    /// How far above `i` a buffer `j` on top of it starts at least: the size of `i`, rounded up to what
    /// divides both alignments, because both offsets are multiples of that. Units.
    pub fn rise(&self, i: usize, j: usize) -> i64 {
        let common = gcd(self.align[i] as u64, self.align[j] as u64) as i64;
        // The ceiling of the instance leaves room for rounding.
        (self.size[i] + common - 1) / common * common
    }

    /// True where turning a layout upside down gives a layout: no offset is fixed and none is aligned.
    pub fn mirrors(&self) -> bool {
        self.fixed.iter().all(Option::is_none) && self.align.iter().all(|&align| align == 1)
    }

    /// The highest end, units.
    pub fn peak(&self, offsets: &[i64]) -> i64 {
        offsets.iter().zip(&self.size).map(|(offset, size)| offset + size).max().unwrap_or(0)
    }

    /// The heaviest clique and its weight in units.
    pub fn heaviest(&self) -> Option<(&[usize], i64)> {
        let weight = |clique: &[usize]| clique.iter().map(|&i| self.size[i]).sum::<i64>();
        let weighed = self.cliques.iter().map(|clique| (clique.as_slice(), weight(clique)));
        weighed.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Writes offsets of the part, and of whom it absorbed, into a layout of the instance.
    pub fn expand(&self, offsets: &[i64], layout: &mut [Bytes]) {
        for (&id, &offset) in self.ids.iter().zip(offsets) {
            layout[id.index()] = Bytes::new((offset * self.grain) as u64);
        }
        for &(guest, host) in self.absorbed.iter().rev() {
            layout[guest.index()] = layout[host.index()];
        }
    }

    /// Number of buffers left out.
    pub fn absorbed(&self) -> usize {
        self.absorbed.len()
    }

    /// Pushes every buffer down as far as the given order of offsets allows: the exact layout that an
    /// approximate one stands for. `None` where a fixed offset is in the way or two buffers at one place
    /// conflict.
    ///
    /// In the result each buffer lies at 0 or, up to alignment, on top of a conflicting one. O(n log n + c).
    pub fn settle(&self, rough: &[f64]) -> Option<Vec<i64>> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| rough[a].total_cmp(&rough[b]).then(a.cmp(&b)));
        let mut offsets = vec![None; self.len()];
        for &i in &order {
            let below = self.neighbours[i].iter().filter_map(|&j| offsets[j].map(|o: i64| o + self.size[j]));
            let floor = below.max().unwrap_or(0);
            let offset = floor.checked_add(self.align[i] - 1)? / self.align[i] * self.align[i];
            offsets[i] = match self.fixed[i] {
                Some(fixed) if fixed < floor => return None,
                fixed => fixed.or(Some(offset)),
            };
        }
        offsets.into_iter().collect()
    }
}

/// With more conflicts than this nothing is absorbed: looking for hosts would take longer than it saves.
const ABSORB_CONFLICTS: usize = 200_000;

/// Splits buffers into those kept and those absorbed, with their hosts, in the order of absorption.
///
/// A host is at least as large, conflicts with everybody the guest conflicts with but not with the guest, and
/// `allows` says whether it may host it otherwise. Each absorption is judged among those still there, so a
/// solution is completed by undoing them in reverse: at that moment all neighbours of the guest are
/// neighbours of the host. Buffers without conflicts are left alone.
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
    // A host conflicts with all of them, so with the one that has the fewest neighbours.
    let pivot = around.iter().min_by_key(|id| (graph.of_buffer(**id).len(), **id))?;
    graph.of_buffer(*pivot).iter().filter(stays).copied().find(|&host| {
        host != guest
            && instance.buffer(host).size() >= instance.buffer(guest).size()
            && allows(guest, host)
            && around.iter().all(|&other| graph.conflict(host, other))
            && !graph.conflict(host, guest)
    })
}
