//! Removes constraints that exclude no layout of interest, so that no algorithm pays for them.
//!
//! The *normal form* of an instance has the same buffers, sizes, fixed offsets, conflicts and optimum, but
//! fewer alignments, gaps, pairs and groups. [`rounded`] turns a layout of the normal form into a layout of
//! the instance with at most the same peak. The steps, with the reason why each is exact:
//! - *Alignments.* The *grain* G divides all sizes and all fixed offsets, and divides every free alignment
//!   that does not divide it. Round every offset of a layout down to a multiple of G. If `b` lies above `a`,
//!   then `offset(b) >= offset(a) + size(a)`. Because G divides `size(a)`, this remains true after rounding.
//!   Fixed offsets, and offsets at multiples of a multiple of G, do not change. Alignments that divide G are
//!   then met, and the peak does not rise, so they are removed. The alignment of a fixed buffer is met
//!   anyway.
//! - *Rigid groups.* G also divides the distances and the residues of all groups, and divides the alignment
//!   of each group that does not divide it. Rounding therefore moves the base and all members of a group by
//!   the same number of bytes. If the alignment of a group does not divide G, then the base is a multiple of
//!   G and does not move. Otherwise, the residue is 0, because it is a multiple of G below a divisor of G,
//!   and every multiple of G is a base. A group of one member at distance 0 and with residue 0 is an
//!   alignment. Fixed members have no group (see [`Instance::groups`]).
//! - *Gaps.* A gap of `b` is filled if every buffer that is live in it conflicts with `b` at another step, is
//!   separated from `b`, or is excluded with `b`. This adds no conflict between two buffers with overlapping
//!   gaps that are both filled. If the gaps begin together, both buffers are live at the step before.
//!   Otherwise, the later gap begins within the other, so its buffer is live in the other gap.
//! - *Pairs.* A separation of buffers that are simultaneously live is implied. An exclusion of buffers that
//!   are not simultaneously live has no effect.
//!
//! The time is O(n log n + p log n) for n buffers and p pairs, plus that of at most [`LOOKUPS`] lookups for
//! gaps. Gaps for which no lookups are left remain.

use crate::groups::{RigidGroup, RigidGroups};
use crate::instance::{Buffer, Instance};
use crate::lifespan::{Interval, Lifespan};
use crate::units::{BufferId, Bytes, Step};
use plimsoll_support::common_grain;

/// Maximum number of pairs of a gap and a buffer that are examined.
const LOOKUPS: u64 = 1_000_000;

/// Returns the normal form of an instance without empty buffers, or `None` if the instance is in normal form.
pub(crate) fn normalised(instance: &Instance) -> Option<Instance> {
    if instance.is_interval() && !instance.has_alignment() {
        return None;
    }
    let grain = grain(instance);
    let lifespans = filled(instance);
    let buffers = instance.ids().zip(&lifespans).map(|(id, filled)| {
        let b = instance.buffer(id);
        let alignment = b.alignment().get();
        let met = b.fixed().is_some() || grain.is_multiple_of(alignment);
        let b = if met { b.clone().aligned(1) } else { b.clone() };
        match filled {
            Some(lifespan) => b.during(lifespan.clone()),
            None => b,
        }
    });
    let mut buffers: Vec<Buffer> = buffers.collect();
    let groups = groups(instance, grain, &mut buffers);
    let together =
        |a: BufferId, b: BufferId| buffers[a.index()].lifespan().intersects(buffers[b.index()].lifespan());
    let separations = instance.separations().filtered(|a, b| !together(a, b));
    let exclusions = instance.exclusions().filtered(together);
    let normal = instance.with_constraints(buffers, separations, exclusions, groups);
    (normal != *instance).then_some(normal)
}

/// Returns the groups without conditions that multiples of the grain meet. Groups that amount to an alignment
/// become one.
fn groups(instance: &Instance, grain: u64, buffers: &mut [Buffer]) -> RigidGroups {
    let mut rest = Vec::with_capacity(instance.groups().all().len());
    for group in instance.groups().all() {
        let group = group.clone().on_grain(grain);
        match group.as_alignment() {
            Some((id, alignment)) => {
                let own = &mut buffers[id.index()];
                *own = own.clone().aligned(alignment);
            }
            None => rest.push(group),
        }
    }
    RigidGroups::new(rest, instance.len())
}

/// Rounds the offsets of a layout of the normal form down to multiples of the grain if an alignment is not
/// met. The offsets of buffers of size 0 do not change. The time is linear.
pub(crate) fn rounded(instance: &Instance, mut offsets: Vec<Bytes>) -> Vec<Bytes> {
    let sized = || instance.buffers().iter().enumerate().filter(|(_, b)| !b.is_empty());
    let is_met = |group: &RigidGroup| {
        let member = group.members().iter().find(|(id, _)| !instance.buffer(*id).is_empty());
        let base = member.and_then(|(id, distance)| offsets[id.index()].get().checked_sub(distance.get()));
        base.is_none_or(|base| group.is_base(Bytes::new(base)))
    };
    if sized().any(|(at, b)| !offsets[at].get().is_multiple_of(b.alignment().get()))
        || !instance.groups().all().iter().all(is_met)
    {
        let grain = grain(instance);
        for (at, _) in sized() {
            offsets[at] = Bytes::new(offsets[at].get() / grain * grain);
        }
    }
    offsets
}

/// Returns the grain of the sizes, fixed offsets and free alignments of an instance, and of its groups.
fn grain(instance: &Instance) -> u64 {
    let is_sized = |id: BufferId| !instance.buffer(id).is_empty();
    let sized = || instance.buffers().iter().filter(|b| !b.is_empty());
    let groups = || instance.groups().all().iter();
    let groups = || groups().filter(|group| group.members().iter().any(|&(id, _)| is_sized(id)));
    let distances = |group: &RigidGroup| {
        let members = group.members().iter().filter(|&&(id, _)| is_sized(id));
        members.map(|&(_, distance)| distance).chain([group.residue()]).collect::<Vec<_>>()
    };
    let lengths = sized().flat_map(|b| [b.size(), b.fixed().unwrap_or_default()]);
    let lengths = lengths.chain(groups().flat_map(distances)).map(Bytes::get);
    let alignments = sized().filter(|b| b.fixed().is_none()).map(Buffer::alignment);
    let alignments = alignments.chain(groups().map(RigidGroup::alignment)).map(Bytes::get);
    common_grain(lengths, &alignments)
}

/// Returns, for each buffer, its lifespan without the gaps that have no effect, or `None` if all remain.
fn filled(instance: &Instance) -> Vec<Option<Lifespan>> {
    let mut lifespans = vec![None; instance.len()];
    if !instance.buffers().iter().any(|b| b.lifespan().has_gaps()) {
        return lifespans;
    }
    let runs = Runs::of(instance);
    let mut lookups = LOOKUPS;
    for id in instance.ids() {
        let own = instance.buffer(id).lifespan();
        let mut intervals: Vec<Interval> = Vec::with_capacity(own.intervals().len());
        for &next in own.intervals() {
            match intervals.last_mut() {
                Some(last) if runs.is_idle(instance, id, last.upper, next.lower, &mut lookups) => {
                    last.upper = next.upper;
                }
                _ => intervals.push(next),
            }
        }
        if intervals.len() < own.intervals().len() {
            lifespans[id.index()] =
                Some(Lifespan::from_intervals(intervals).expect("the intervals are disjoint"));
        }
    }
    lifespans
}

/// The intervals of all lifespans, sorted by start, each with the latest end so far.
struct Runs(Vec<(Interval, BufferId, Step)>);

impl Runs {
    fn of(instance: &Instance) -> Self {
        let of_buffer =
            |id: BufferId| instance.buffer(id).lifespan().intervals().iter().map(move |&run| (run, id));
        let mut runs: Vec<_> =
            instance.ids().flat_map(of_buffer).map(|(run, id)| (run, id, run.upper)).collect();
        runs.sort_unstable_by_key(|&(run, id, _)| (run.lower, id));
        for at in 1..runs.len() {
            runs[at].2 = runs[at].2.max(runs[at - 1].2);
        }
        Self(runs)
    }

    /// Returns true if a gap of `id` has no effect. Returns false if no lookups are left.
    fn is_idle(
        &self,
        instance: &Instance,
        id: BufferId,
        lower: Step,
        upper: Step,
        lookups: &mut u64,
    ) -> bool {
        let before = self.0.partition_point(|(run, ..)| run.lower < upper);
        for &(run, other, latest) in self.0[..before].iter().rev() {
            if latest <= lower {
                break;
            }
            if *lookups == 0 {
                return false;
            }
            *lookups -= 1;
            let harmless = run.upper <= lower
                || other == id
                || instance.conflict(id, other)
                || instance.exclusions().contains(id, other);
            if !harmless {
                return false;
            }
        }
        true
    }
}
