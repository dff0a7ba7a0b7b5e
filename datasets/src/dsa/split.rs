//! Splits a document into one instance per pool.

use super::document::{Demand, Document, Pin, Pool};
use super::error::{DsaError, DsaErrorKind};
use super::read::union;
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Interval, Layout, Lifespan};
use plimsoll_support::{lcm, root};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A problem split by pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// One entry per pool of the document, in the same order.
    pub pools: Vec<PoolInstance>,
    /// The pools that were chosen and the constraints that were ignored, one line each.
    pub notes: Vec<String>,
}

/// The problem of one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolInstance {
    /// The position of the pool in the document.
    pub pool: usize,
    /// The offset problem, with the name of the pool.
    pub instance: Instance,
    /// For each buffer of the instance, the positions in the document of the buffers that it represents. The
    /// list is empty for a reserved range.
    pub members: Vec<Vec<usize>>,
}

/// A class of colocated buffers.
struct Group {
    /// Positions of the buffers in the document, in ascending order.
    members: Vec<usize>,
    pool: usize,
    pin: Option<Pin>,
}

impl Document {
    /// Returns one instance per pool. Each buffer is bound to one pool. Reserved ranges become fixed buffers,
    /// pins become fixed offsets, and colocated buffers are merged. If several pools are allowed for a
    /// buffer, its pin determines the pool. Without a pin, exactly one of the allowed pools must be large
    /// enough. O(n log n + p m^2) for n buffers and p pairs in a bounded number of pools, with at most m
    /// buffers per class.
    ///
    /// # Errors
    /// [`DsaError`] for a buffer that cannot be bound or a pair that cannot be satisfied.
    pub fn split(&self) -> Result<Split, DsaError> {
        let mut notes = Vec::new();
        let (groups, group_of) = self.groups(&mut notes)?;
        let mut ranks = vec![0; groups.len()];
        let mut by_pool: Vec<Vec<usize>> = vec![Vec::new(); self.pools.len()];
        for (at, group) in groups.iter().enumerate() {
            ranks[at] = by_pool[group.pool].len();
            by_pool[group.pool].push(at);
        }
        let pairs = self.group_pairs(&groups, &group_of, &mut notes)?;
        let mut pools = Vec::with_capacity(by_pool.len());
        for (pool, own) in by_pool.iter().enumerate() {
            let own: Vec<&Group> = own.iter().map(|&at| &groups[at]).collect();
            let mut builder = self.pool(pool, &own)?;
            let of_pool = |pairs: &BTreeSet<(usize, usize)>| {
                let inside = pairs.iter().filter(|pair| groups[pair.0].pool == pool);
                inside.map(|pair| (ranks[pair.0], ranks[pair.1])).collect::<Vec<_>>()
            };
            for (a, b) in of_pool(&pairs.separations) {
                builder = builder.separate(a, b);
            }
            for (a, b) in of_pool(&pairs.exclusions) {
                builder = builder.exclude(a, b);
            }
            let at = || format!("pool {}", self.pools[pool].label());
            let instance = builder.build().map_err(|error| self.item(at(), error.into()))?;
            let mut members: Vec<Vec<usize>> = own.iter().map(|group| group.members.clone()).collect();
            members.resize(instance.len(), Vec::new());
            pools.push(PoolInstance { pool, instance, members });
        }
        Ok(Split { pools, notes })
    }

    fn item(&self, at: String, kind: DsaErrorKind) -> DsaError {
        DsaError::Item { file: self.origin.clone(), at, kind: Box::new(kind) }
    }

    /// Computes the classes of colocated buffers and their pools.
    fn groups(&self, notes: &mut Vec<String>) -> Result<(Vec<Group>, Vec<usize>), DsaError> {
        let mut parent: Vec<usize> = (0..self.buffers.len()).collect();
        for &(a, b) in &self.colocations {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            // The first buffer in the file remains the root.
            parent[a.max(b)] = a.min(b);
        }
        let pins: BTreeMap<usize, Pin> = self.pins.iter().map(|&pin| (pin.buffer, pin)).collect();
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..self.buffers.len() {
            members.entry(root(&mut parent, at)).or_default().push(at);
        }
        let mut group_of = vec![0; self.buffers.len()];
        let mut groups = Vec::with_capacity(members.len());
        for members in members.into_values() {
            for &at in &members {
                group_of[at] = groups.len();
            }
            groups.push(self.bind(members, &pins, notes)?);
        }
        Ok((groups, group_of))
    }

    /// Finds the pool of a class of colocated buffers.
    fn bind(
        &self,
        members: Vec<usize>,
        pins: &BTreeMap<usize, Pin>,
        notes: &mut Vec<String>,
    ) -> Result<Group, DsaError> {
        let first = &self.buffers[members[0]];
        let wrong = |kind| Err(self.item(first.label(), kind));
        let mut pin: Option<Pin> = None;
        for own in members.iter().filter_map(|at| pins.get(at)) {
            let merged = pin.get_or_insert(*own);
            if (merged.pool, merged.offset) != (own.pool, own.offset) {
                let place =
                    |pin: &Pin| format!("offset {} of pool {}", pin.offset, self.pools[pin.pool].label());
                return wrong(DsaErrorKind::PinnedTwice(place(merged), place(own)));
            }
            merged.exclusive |= own.exclusive;
        }
        let allowed = |pool: &usize| members.iter().all(|&at| self.buffers[at].pools.contains(pool));
        let common: Vec<usize> = first.pools.iter().copied().filter(allowed).collect();
        let size = members.iter().map(|&at| self.buffers[at].size).max().unwrap_or_default();
        let pool = match (pin, common.as_slice()) {
            (_, []) => return wrong(DsaErrorKind::NoCommonPool(members.len())),
            (Some(pin), _) if common.contains(&pin.pool) => pin.pool,
            (Some(_), _) => return wrong(DsaErrorKind::NoCommonPool(members.len())),
            (None, &[pool]) => pool,
            (None, _) => {
                let holds = |pool: &&usize| self.pools[**pool].capacity.is_none_or(|c| size <= c);
                let large: Vec<usize> = common.iter().filter(holds).copied().collect();
                let list = |pools: &[usize]| {
                    pools.iter().map(|&pool| self.pools[pool].label()).collect::<Vec<_>>().join(", ")
                };
                match large.as_slice() {
                    [] => return wrong(DsaErrorKind::TooLarge { size, pools: list(&common) }),
                    &[pool] => pool,
                    _ => return wrong(DsaErrorKind::SeveralPools(list(&large))),
                }
            }
        };
        if members.iter().any(|&at| self.buffers[at].pools.len() > 1) {
            let (subject, pool) = (first.label(), self.pools[pool].label());
            notes.push(format!(
                "{subject}: bound to pool {pool}, the only one that pins, colocations and capacities allow"
            ));
        }
        Ok(Group { members, pool, pin })
    }

    /// Returns the pairs of groups in the same pool that are separated, and those that may share addresses
    /// even if both groups are live.
    fn group_pairs(
        &self,
        groups: &[Group],
        group_of: &[usize],
        notes: &mut Vec<String>,
    ) -> Result<GroupPairs, DsaError> {
        let mut pairs = GroupPairs::default();
        let (mut across, mut beaten) = (0, 0);
        let ordered = |a: usize, b: usize| (group_of[a].min(group_of[b]), group_of[a].max(group_of[b]));
        for &(a, b) in &self.separations {
            let (low, high) = ordered(a, b);
            if low == high {
                let kind = DsaErrorKind::SeparatedColocated(self.buffers[a].id, self.buffers[b].id);
                return Err(self.item("problem.constraints.separations".to_owned(), kind));
            }
            if groups[low].pool == groups[high].pool {
                pairs.separations.insert((low, high));
            } else {
                across += 1;
            }
        }
        let excluded: HashSet<(usize, usize)> =
            self.exclusions.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        for &(a, b) in &self.exclusions {
            let (low, high) = ordered(a, b);
            if low == high {
                continue;
            }
            if groups[low].pool != groups[high].pool {
                across += 1;
                continue;
            }
            let exclusive = |group: &Group| group.pin.is_some_and(|pin| pin.exclusive);
            let conflict = |&a: &usize| {
                groups[high].members.iter().any(|&b| {
                    !excluded.contains(&(a.min(b), a.max(b)))
                        && self.buffers[a].size.min(self.buffers[b].size) > Bytes::ZERO
                        && self.buffers[a].lifespan.intersects(&self.buffers[b].lifespan)
                })
            };
            let stands = !pairs.separations.contains(&(low, high))
                && !exclusive(&groups[low])
                && !exclusive(&groups[high])
                && !groups[low].members.iter().any(conflict);
            if stands {
                pairs.exclusions.insert((low, high));
            } else {
                beaten += 1;
            }
        }
        if across > 0 {
            notes
                .push(format!("{across} pairs of buffers in different pools have no effect and are ignored"));
        }
        if beaten > 0 {
            notes.push(format!(
                "{beaten} temporal exclusions have no effect: separations, exclusive pins or colocated buffers \
                 keep the two buffers apart"
            ));
        }
        Ok(pairs)
    }

    /// Returns a builder with the buffers of a pool, but without separations and exclusions.
    fn pool(&self, pool: usize, groups: &[&Group]) -> Result<InstanceBuilder, DsaError> {
        let Pool { name, capacity, reserved, .. } = &self.pools[pool];
        let always =
            always(groups.iter().flat_map(|group| group.members.iter().map(|&at| &self.buffers[at])));
        let mut used = HashSet::new();
        let mut builder = InstanceBuilder::new(name.as_str()).capacity(*capacity);
        for group in groups {
            let first = &self.buffers[group.members[0]];
            let wrong = |kind| self.item(first.label(), kind);
            let members = || group.members.iter().map(|&at| &self.buffers[at]);
            let size = members().map(|b| b.size).max().unwrap_or_default();
            let alignment = members().try_fold(1u64, |all, b| lcm(all, b.alignment.get()));
            let alignment = alignment.ok_or_else(|| wrong(DsaErrorKind::Alignment))?;
            let exclusive = group.pin.is_some_and(|pin| pin.exclusive);
            // A buffer of size 0 does not restrict others.
            let sized = || members().filter(|b| b.size == size || b.size > Bytes::ZERO);
            let lifespan = if exclusive { always.clone() } else { united(sized()) };
            let name = unique(&first.name, &format!("buffer-{}", first.id), first.id, &mut used);
            let mut buffer = Buffer::new(name, size, lifespan).aligned(alignment);
            if let Some(pin) = group.pin {
                if pin.offset.get() % alignment != 0 {
                    let (offset, alignment) = (pin.offset, Bytes::new(alignment));
                    return Err(wrong(DsaErrorKind::Misaligned { offset, alignment }));
                }
                buffer = buffer.fixed_at(pin.offset);
            }
            if let ([_], Some(hint)) = (group.members.as_slice(), first.hint) {
                buffer = buffer.hinted(hint);
            }
            builder = builder.buffer(buffer);
        }
        for (at, &(begin, end)) in (0u32..).zip(reserved) {
            let name = unique(&format!("reserved-{at}"), "", at, &mut used);
            let size = end.get() - begin.get();
            builder = builder.buffer(Buffer::new(name, size, always.clone()).fixed_at(begin));
        }
        Ok(builder)
    }
}

#[derive(Default)]
struct GroupPairs {
    separations: BTreeSet<(usize, usize)>,
    exclusions: BTreeSet<(usize, usize)>,
}

/// Returns the steps at which any of the buffers is live.
fn united<'a>(buffers: impl Iterator<Item = &'a Demand> + Clone) -> Lifespan {
    let parts = buffers.clone().flat_map(|b| b.lifespan.intervals()).map(|i| (i.lower.get(), i.upper.get()));
    let parts = union(parts.collect()).into_iter().map(|(lower, upper)| Interval::new(lower, upper));
    // If there is no live interval, all buffers have size 0.
    let first = buffers.map(|b| b.lifespan.hull().lower).min().unwrap_or_default();
    Lifespan::from_intervals(parts).unwrap_or_else(|_| Lifespan::empty_at(first))
}

/// Returns the interval from the first to the last step of all buffers, or [0, 1) if no buffer is live.
fn always<'a>(buffers: impl Iterator<Item = &'a Demand> + Clone) -> Lifespan {
    let hulls = buffers.map(|b| b.lifespan.hull()).filter(|hull| !hull.is_empty());
    let lower = hulls.clone().map(|hull| hull.lower.get()).min().unwrap_or(0);
    let upper = hulls.map(|hull| hull.upper.get()).max().unwrap_or(1);
    Lifespan::single(lower, upper).expect("every combined lifespan has a step")
}

/// Returns a name that is unique and valid in CSV: `name` without surrounding spaces, or `nameless` if
/// nothing remains. If the name is used already, `#` and the id are appended.
fn unique(name: &str, nameless: &str, id: u32, used: &mut HashSet<String>) -> String {
    let name = name.trim();
    let mut name = if name.is_empty() { nameless.to_owned() } else { name.to_owned() };
    while !used.insert(name.clone()) {
        name = format!("{name}#{id}");
    }
    name
}

impl PoolInstance {
    /// Returns the position in the document and the offset of every buffer in this pool.
    ///
    /// # Panics
    /// If the layout does not have one offset per buffer of the instance.
    pub fn offsets(&self, layout: &Layout) -> Vec<(usize, Bytes)> {
        assert_eq!(self.instance.len(), layout.offsets().len(), "one offset per buffer");
        let each = self.members.iter().zip(layout.offsets());
        each.flat_map(|(members, &offset)| members.iter().map(move |&at| (at, offset))).collect()
    }
}
