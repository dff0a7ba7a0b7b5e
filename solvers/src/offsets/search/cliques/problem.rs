//! Converts an instance to buffers that cover sets of sections, with sizes in units of the grain.

use crate::offsets::search::peaks::Peaks;
use plimsoll_model::{Budget, BufferId, Bytes, Instance, Layout, sections_within};
use plimsoll_support::{common_grain, gcd};
use std::collections::{BTreeSet, HashMap};

/// Maximum number of pairs of a buffer and a section that it covers. Larger instances are not searched.
const MOST_COVERS: usize = 4_000_000;

/// Maximum number of conflict lookups while cliques are built.
const LOOKUPS: usize = 50_000_000;

/// Lists of items, stored sequentially.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Lists<T> {
    fn of(lists: impl IntoIterator<Item = impl IntoIterator<Item = T>>) -> Self {
        let mut all = Self { starts: vec![0], items: Vec::new() };
        for list in lists {
            all.items.extend(list);
            all.starts.push(all.items.len() as u32);
        }
        all
    }

    /// Returns the list at an index.
    #[inline]
    pub fn of_index(&self, at: usize) -> &[T] {
        &self.items[self.range(at)]
    }

    /// Returns the positions of the items of the list at an index.
    #[inline]
    pub fn range(&self, at: usize) -> std::ops::Range<usize> {
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// Returns the items of all lists.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

/// The addresses of a fixed buffer, in units: its offset and its end.
pub(super) type Pin = (i64, i64);

/// The rigid groups of free buffers.
#[derive(Clone, Debug)]
pub(super) struct Rigid {
    /// Per free buffer: its group. All members have the alignment of the group.
    pub of: Vec<Option<u32>>,
    /// Per group: its members, each with its distance from the base in units.
    pub groups: Vec<Vec<(u32, i64)>>,
    /// Per section: the members of groups that it contains.
    pub in_section: Lists<u32>,
    /// Per free buffer: the members of other groups with which it conflicts.
    pub beside: Lists<u32>,
}

impl Rigid {
    fn of(
        instance: &Instance,
        free: &[BufferId],
        cover: &Lists<u32>,
        members: &Lists<u32>,
        grain: u64,
    ) -> Self {
        let of: Vec<Option<u32>> = free.iter().map(|&id| group_of(instance, id)).collect();
        let rigid = |list: &[u32]| -> Vec<u32> {
            list.iter().copied().filter(|&b| of[b as usize].is_some()).collect()
        };
        let in_section = Lists::of((0..members.starts.len() - 1).map(|s| rigid(members.of_index(s))));
        let beside = |b: usize| {
            let all = cover.of_index(b).iter().flat_map(|&s| in_section.of_index(s as usize)).copied();
            all.filter(|&m| of[m as usize] != of[b]).collect::<BTreeSet<u32>>()
        };
        let beside = Lists::of((0..free.len()).map(beside));
        let mut groups = vec![Vec::new(); instance.groups().all().len()];
        for (b, &id) in (0..).zip(free) {
            if let Some((group, distance)) = instance.groups().of(id) {
                groups[group].push((b, (distance.get() / grain) as i64));
            }
        }
        Self { of, groups, in_section, beside }
    }
}

fn group_of(instance: &Instance, id: BufferId) -> Option<u32> {
    instance.groups().of(id).map(|(group, _)| group as u32)
}

/// An instance reduced to cliques. Each free buffer covers a set of sections and has a size in units.
///
/// Every offset of a layout is a multiple of the *step*, the greatest common divisor of all alignments of
/// free buffers and all fixed offsets. Two buffers that do not overlap still do not overlap if their sizes
/// are rounded up to multiples of the step, so sizes are rounded up. Only the upper end differs: a buffer of
/// `size` bytes at offset `p` ends within `C` bytes if and only if `p <= C - size`. In units of the grain G,
/// the rounded top is then at most `floor((C + excess) / G)`, where `excess` is the difference between the
/// rounded and the real size. This is the *ceiling* of the buffer.
///
/// Buffers that cover one run of sections come first, by start, end and descending size. The others, and the
/// members of rigid groups, are *split*.
#[derive(Clone, Debug)]
pub(crate) struct Cliques {
    /// Bytes per unit.
    pub grain: u64,
    /// Per free buffer: its size in units.
    pub size: Vec<i64>,
    /// Per free buffer: its alignment in units, at least 1. `widest` is the largest of all.
    pub alignment: Vec<i64>,
    pub widest: i64,
    /// Per free buffer: its offset modulo its alignment, and its lowest offset. It is 0 outside rigid groups.
    pub residue: Vec<i64>,
    pub(super) rigid: Rigid,
    /// Per free buffer: the bytes by which its rounded size exceeds its size.
    pub excess: Vec<u64>,
    /// Per free buffer: the sections that it covers, ascending.
    pub(super) cover: Lists<u32>,
    /// Per free buffer: the same sections as half-open ranges, ascending, and the shortest range that
    /// contains all of them.
    pub(super) runs: Lists<(u32, u32)>,
    pub hull: Vec<(u32, u32)>,
    /// Number of free buffers that are not split. Those that start at section `s` are
    /// `first_at[s]..first_at[s + 1]`.
    pub whole: usize,
    pub first_at: Vec<u32>,
    /// Per section: its free buffers, by ascending size.
    pub(super) members: Lists<u32>,
    /// Per section: its split buffers.
    pub(super) split_in: Lists<u32>,
    /// Per section: its fixed buffers, ascending.
    pub(super) pins: Lists<Pin>,
    /// Whether buffers may lie above floors: fixed buffers, and placed members of rigid groups.
    pub has_pins: bool,
    /// Per free buffer: the addresses of all fixed buffers with which it conflicts, merged and ascending.
    pub(super) walls: Lists<Pin>,
    /// Per free buffer: whether its place in a valley is always the floor: it has no alignment, and no fixed
    /// buffer or member of a rigid group is in its way.
    pub is_plain: Vec<bool>,
    /// Per free buffer: the first buffer with the same sections, size, alignment and excess.
    pub twin: Vec<u32>,
    /// Per free buffer: its id in the instance.
    origin: Vec<BufferId>,
    /// The offsets of fixed buffers and of buffers of size 0, in bytes; 0 for all others.
    rest: Vec<Bytes>,
    /// The highest end of a fixed buffer, in bytes.
    pub fixed_end: u64,
}

impl Cliques {
    /// Reduces an instance. Returns `None` if the budget `watch` runs out first, or if the instance is too
    /// large. The time is that of the sections, plus that of at most [`LOOKUPS`] lookups of conflicts.
    pub fn within(instance: &Instance, watch: &mut Budget) -> Option<Self> {
        let sections = cover(instance, watch)?;
        let covers = positions(instance, &sections);
        let sized = instance.ids().filter(|&id| !instance.buffer(id).is_empty());
        let (mut free, fixed): (Vec<BufferId>, Vec<BufferId>) =
            sized.partition(|&id| instance.buffer(id).fixed().is_none());
        let step = step(instance, &free, &fixed);
        let rounded = |id: BufferId| instance.buffer(id).size().get().next_multiple_of(step);
        let grain = grain(instance, &free, &fixed, step);
        let units = |id: BufferId| (rounded(id) / grain) as i64;
        let pin = |id: BufferId| {
            let low = (instance.buffer(id).fixed()?.get() / grain) as i64;
            Some((low, low + units(id)))
        };
        let pins = Lists::of(sections.iter().map(|section| {
            let mut pins: Vec<Pin> = section.iter().filter_map(|&id| pin(id)).collect();
            pins.sort_unstable();
            pins
        }));
        free.sort_by_cached_key(|&id| {
            let cover = &covers[id.index()];
            let (start, end) = (cover[0], cover[cover.len() - 1] + 1);
            let is_split = (end - start) as usize != cover.len() || group_of(instance, id).is_some();
            (is_split, start, end, std::cmp::Reverse(units(id)), id)
        });
        let cover = Lists::of(free.iter().map(|id| covers[id.index()].iter().copied()));
        let runs = Lists::of((0..free.len()).map(|b| runs(cover.of_index(b))));
        let hull: Vec<(u32, u32)> = (0..free.len()).map(|b| hull(runs.of_index(b))).collect();
        let is_whole = |&b: &usize| runs.of_index(b).len() == 1 && group_of(instance, free[b]).is_none();
        let whole = (0..free.len()).take_while(is_whole).count();
        let first_at = |s: usize| hull[..whole].partition_point(|&(start, _)| (start as usize) < s) as u32;
        let walls = Lists::of((0..free.len()).map(|b| merged(cover.of_index(b), &pins)));
        let lattices = free.iter().map(|&id| lattice(instance, id));
        let (alignment, residue): (Vec<i64>, Vec<i64>) = lattices
            .map(|(alignment, residue)| ((alignment / grain).max(1) as i64, (residue / grain) as i64))
            .unzip();
        let size: Vec<i64> = free.iter().map(|&id| units(id)).collect();
        let excess: Vec<u64> =
            free.iter().map(|&id| rounded(id) - instance.buffer(id).size().get()).collect();
        let mut first = HashMap::new();
        let member = |b: usize| group_of(instance, free[b]).map(|_| b);
        let twin = (0..free.len())
            .map(|b| {
                *first
                    .entry((cover.of_index(b), size[b], alignment[b], excess[b], member(b)))
                    .or_insert(b as u32)
            })
            .collect();
        let mut by_size: Vec<usize> = (0..free.len()).collect();
        by_size.sort_by_key(|&b| size[b]);
        let split_in = members(sections.len(), &cover, whole..free.len());
        let members = members(sections.len(), &cover, by_size);
        let rigid = Rigid::of(instance, &free, &cover, &members, grain);
        let is_plain = |b: usize| {
            alignment[b] == 1
                && rigid.of[b].is_none()
                && walls.of_index(b).is_empty()
                && rigid.beside.of_index(b).is_empty()
        };
        let end = |&id: &BufferId| {
            let b = instance.buffer(id);
            b.fixed().map(|at| at.get() + b.size().get())
        };
        Some(Self {
            grain,
            widest: alignment.iter().copied().max().unwrap_or(1),
            split_in,
            members,
            is_plain: (0..free.len()).map(is_plain).collect(),
            walls,
            first_at: (0..=sections.len()).map(first_at).collect(),
            runs,
            hull,
            whole,
            twin,
            rest: instance.buffers().iter().map(|b| b.fixed().unwrap_or_default()).collect(),
            fixed_end: fixed.iter().filter_map(end).max().unwrap_or(0),
            size,
            alignment,
            excess,
            has_pins: !fixed.is_empty() || !rigid.groups.is_empty(),
            rigid,
            residue,
            cover,
            pins,
            origin: free,
        })
    }

    /// Returns the number of free buffers.
    pub fn len(&self) -> usize {
        self.size.len()
    }

    /// Returns the distance of a member of a rigid group from the base of the group.
    pub(super) fn distance(&self, b: usize, group: u32) -> i64 {
        let members = &self.rigid.groups[group as usize];
        members.iter().find(|member| member.0 as usize == b).map_or(0, |member| member.1)
    }

    /// Returns the members of the rigid group of a free buffer, or the buffer alone.
    pub(super) fn together(&self, b: usize) -> impl Iterator<Item = usize> {
        let group = self.rigid.of[b].map_or(&[][..], |group| &self.rigid.groups[group as usize]);
        let alone = group.is_empty().then_some(b);
        group.iter().map(|&(m, _)| m as usize).chain(alone)
    }

    /// Returns the number of sections.
    pub fn sections(&self) -> usize {
        self.pins.starts.len() - 1
    }

    /// Returns the highest rounded top of a buffer, in units, if the capacity is `bytes`.
    pub fn ceiling(&self, b: usize, bytes: u64) -> i64 {
        ((bytes + self.excess[b]) / self.grain) as i64
    }

    /// Returns the peaks that a layout can have: tops of free buffers, and the highest end of a fixed buffer.
    pub(in crate::offsets::search) fn peaks(&self) -> Peaks {
        let fixed = (self.fixed_end > 0).then(|| self.grain - self.fixed_end % self.grain);
        Peaks::new(self.grain, self.excess.iter().copied().chain(fixed))
    }

    /// Converts offsets in units to a layout of the instance.
    pub fn layout(&self, offsets: &[i64]) -> Layout {
        let mut all = self.rest.clone();
        for (&offset, id) in offsets.iter().zip(&self.origin) {
            all[id.index()] = Bytes::new(offset as u64 * self.grain);
        }
        Layout::new(all)
    }
}

/// Returns the alignment of a free buffer and its residue, in bytes. The members of a rigid group have its
/// alignment, and a residue that is their lowest offset.
fn lattice(instance: &Instance, id: BufferId) -> (u64, u64) {
    match instance.groups().of(id) {
        Some((group, distance)) => {
            let group = &instance.groups().all()[group];
            (group.alignment().get(), group.residue().get() + distance.get())
        }
        None => (instance.buffer(id).alignment().get(), 0),
    }
}

/// Returns the greatest common divisor of all possible offsets of free buffers and of the fixed offsets; at
/// least 1.
fn step(instance: &Instance, free: &[BufferId], fixed: &[BufferId]) -> u64 {
    let lattices = free.iter().map(|&id| lattice(instance, id));
    let divisors = lattices.map(|(alignment, residue)| gcd(alignment, residue));
    let offsets = fixed.iter().filter_map(|&id| instance.buffer(id).fixed()).map(Bytes::get);
    if free.is_empty() { 1 } else { divisors.chain(offsets).fold(0, gcd).max(1) }
}

/// Returns the greatest number of bytes of which all rounded sizes, fixed offsets, distances and residues are
/// multiples, and which each alignment divides or is a multiple of.
fn grain(instance: &Instance, free: &[BufferId], fixed: &[BufferId], step: u64) -> u64 {
    let sized = free.iter().chain(fixed);
    let sizes = sized.map(|&id| instance.buffer(id).size().get().next_multiple_of(step));
    let offsets = fixed.iter().filter_map(|&id| instance.buffer(id).fixed()).map(Bytes::get);
    // Fixed buffers have no group.
    let distances =
        free.iter().filter_map(|&id| instance.groups().of(id)).map(|(_, distance)| distance.get());
    let lattices = free.iter().map(|&id| lattice(instance, id));
    let (alignments, residues): (Vec<u64>, Vec<u64>) = lattices.unzip();
    let lengths = sizes.chain(offsets).chain(distances).chain(residues);
    common_grain(lengths, &alignments.into_iter())
}

/// Returns, for each buffer, the positions of the sections that contain it, ascending.
fn positions(instance: &Instance, sections: &[Vec<BufferId>]) -> Vec<Vec<u32>> {
    let mut positions = vec![Vec::new(); instance.len()];
    for (at, section) in (0..).zip(sections) {
        for id in section {
            positions[id.index()].push(at);
        }
    }
    positions
}

/// Returns ascending sections as half-open ranges.
fn runs(sections: &[u32]) -> Vec<(u32, u32)> {
    sections.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run[0] + run.len() as u32)).collect()
}

/// Returns the shortest range that contains some runs.
fn hull(runs: &[(u32, u32)]) -> (u32, u32) {
    runs.first().zip(runs.last()).map_or((0, 0), |(first, last)| (first.0, last.1))
}

/// Returns, for each section, those of some free buffers that cover it, in the same order.
fn members(sections: usize, cover: &Lists<u32>, buffers: impl IntoIterator<Item = usize>) -> Lists<u32> {
    let mut members = vec![Vec::new(); sections];
    for b in buffers {
        for &s in cover.of_index(b) {
            members[s as usize].push(b as u32);
        }
    }
    Lists::of(members)
}

/// Merges the pins of several sections.
fn merged(sections: &[u32], pins: &Lists<Pin>) -> Vec<Pin> {
    let mut all: Vec<Pin> = sections.iter().flat_map(|&s| pins.of_index(s as usize)).copied().collect();
    all.sort_unstable();
    let mut merged: Vec<Pin> = Vec::new();
    for pin in all {
        match merged.last_mut() {
            Some(last) if pin.0 <= last.1 => last.1 = last.1.max(pin.1),
            _ => merged.push(pin),
        }
    }
    merged
}

/// Returns cliques that cover every buffer and every conflict, without those that another one contains. Those
/// of sections of time come first, in ascending order of time.
fn cover(instance: &Instance, watch: &mut Budget) -> Option<Vec<Vec<BufferId>>> {
    let mut cliques: Vec<Vec<BufferId>> = Vec::new();
    let (mut lookups, mut covers) = (LOOKUPS, MOST_COVERS);
    for section in sections_within(instance, watch) {
        watch.tick().is_none().then_some(())?;
        covers = covers.checked_sub(section.buffers.len())?;
        let excluded = |&id: &BufferId| {
            instance.exclusions().of(id).iter().any(|other| section.buffers.binary_search(other).is_ok())
        };
        let (loose, common): (Vec<BufferId>, Vec<BufferId>) =
            section.buffers.iter().copied().partition(|id| !instance.exclusions().is_empty() && excluded(id));
        if loose.is_empty() {
            cliques.push(section.buffers);
            continue;
        }
        for clique in edge_cover(instance, &loose, &mut lookups)? {
            let mut members: Vec<BufferId> = common.iter().copied().chain(clique).collect();
            members.sort_unstable();
            covers = covers.checked_sub(members.len())?;
            cliques.push(members);
        }
    }
    // A larger clique bounds more, but splits more buffers. If most conflicts are separations, the bounds
    // matter.
    let few = instance.separations().iter().count() < instance.len() / 4;
    let mut of_buffer = positions(instance, &cliques);
    for (a, b) in instance.separations().iter() {
        watch.tick().is_none().then_some(())?;
        let meet = |x: &[u32], y: &[u32]| x.iter().any(|at| y.binary_search(at).is_ok());
        if instance.conflict(a, b) && !meet(&of_buffer[a.index()], &of_buffer[b.index()]) {
            let clique = if few { vec![a.min(b), a.max(b)] } else { grown(instance, [a, b], &mut lookups)? };
            covers = covers.checked_sub(clique.len())?;
            for id in &clique {
                of_buffer[id.index()].push(cliques.len() as u32);
            }
            cliques.push(clique);
        }
    }
    // An incomplete list would lack conflicts.
    watch.check().is_none().then_some(())?;
    // A clique with a member in no other clique is not contained in another one.
    let contained = |at: usize| {
        let rarest = cliques[at].iter().min_by_key(|id| of_buffer[id.index()].len());
        let others = rarest.map_or(&[][..], |id| &of_buffer[id.index()]);
        let holds = |&other: &u32| {
            let larger = &cliques[other as usize];
            let after = larger.len() > cliques[at].len()
                || larger.len() == cliques[at].len() && (other as usize) < at;
            other as usize != at && after && cliques[at].iter().all(|id| larger.binary_search(id).is_ok())
        };
        others.iter().any(holds)
    };
    let kept: Vec<bool> = (0..cliques.len()).map(|at| !contained(at)).collect();
    Some(cliques.into_iter().zip(kept).filter_map(|(clique, kept)| kept.then_some(clique)).collect())
}

/// Returns cliques of `loose` that cover its buffers and all conflicts between them. Each is grown from an
/// uncovered conflict or buffer, large buffers first. Returns `None` if no lookups are left.
fn edge_cover(instance: &Instance, loose: &[BufferId], lookups: &mut usize) -> Option<Vec<Vec<BufferId>>> {
    let mut by_size = loose.to_vec();
    by_size.sort_by_key(|&id| (std::cmp::Reverse(instance.buffer(id).size()), id));
    let n = by_size.len();
    *lookups = lookups.checked_sub(n * n)?;
    let conflict: Vec<bool> =
        (0..n * n).map(|at| instance.conflict(by_size[at / n], by_size[at % n])).collect();
    let mut open: Vec<bool> = (0..n * n).map(|at| conflict[at] || at / n == at % n).collect();
    let mut cliques = Vec::new();
    while let Some(at) = open.iter().position(|&open| open) {
        let mut members = vec![at / n];
        if at % n != at / n {
            members.push(at % n);
        }
        // Buffers with uncovered conflicts come first.
        for fresh in [true, false] {
            for c in 0..n {
                let joins = !members.contains(&c) && members.iter().all(|&m| conflict[m * n + c]);
                if joins && (!fresh || members.iter().any(|&m| open[m * n + c])) {
                    members.push(c);
                }
            }
        }
        *lookups = lookups.checked_sub(n * members.len())?;
        for &a in &members {
            for &b in &members {
                open[a * n + b] = false;
            }
        }
        cliques.push(members.into_iter().map(|at| by_size[at]).collect());
    }
    Some(cliques)
}

/// Returns a maximal clique that contains two conflicting buffers, in ascending order, grown from large
/// buffers first. Returns `None` if no lookups are left.
fn grown(instance: &Instance, pair: [BufferId; 2], lookups: &mut usize) -> Option<Vec<BufferId>> {
    *lookups = lookups.checked_sub(2 * instance.len())?;
    let common = |&c: &BufferId| pair.iter().all(|&member| instance.conflict(member, c));
    let mut candidates: Vec<BufferId> = instance.ids().filter(common).collect();
    candidates.sort_by_key(|&id| (std::cmp::Reverse(instance.buffer(id).size()), id));
    let mut members = pair.to_vec();
    for id in candidates {
        *lookups = lookups.checked_sub(members.len())?;
        if members.iter().all(|&member| instance.conflict(member, id)) {
            members.push(id);
        }
    }
    members.sort_unstable();
    Some(members)
}
