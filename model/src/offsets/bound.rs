//! Lower bounds on the peak of layouts, and the confirmation of their witnesses.

use super::check::conflict::{conflict, share_a_step};
use crate::bound::{BoundError, LowerBound, Witness};
use crate::instance::{Buffer, Instance};
use crate::lifespan::{Interval, Lifespan};
use crate::load::{live_at, load};
use crate::units::{BufferId, Bytes};

impl Instance {
    /// If two conflicting buffers overlap in every layout, because both are fixed or because of their
    /// distance in a rigid group, returns a proof that no layout exists at any capacity. The value of this
    /// bound is one byte above the [ceiling](Self::ceiling).
    pub fn contradiction(&self) -> Option<LowerBound> {
        let buffers = self.contradiction?.to_vec();
        Some(LowerBound::new(self.beyond(), Witness::Contradiction { buffers }))
    }
}

/// Returns the simplest valid lower bound on the peak: the maximum of the load, the highest end of a fixed
/// buffer, and the highest end of a rigid group whose base is as low as possible.
///
/// With exclusions, the load is not a valid bound. It is replaced by a clique among the buffers live at the
/// most loaded step, or by the largest buffer if that gives a higher bound. If fixed offsets [contradict
/// each other](Instance::contradiction), the proof of the contradiction is returned instead. O(n log n) for
/// n buffers, plus O(n k) for a clique of k buffers if there are exclusions.
pub fn simple_bound(instance: &Instance) -> LowerBound {
    if let Some(bound) = instance.contradiction() {
        return bound;
    }
    let mut best = LowerBound::trivial();
    if instance.exclusions().is_empty() {
        let (value, step) = load(instance);
        best.raise(LowerBound::new(value, Witness::Load { step }));
    } else {
        best.raise(clique_at_load(instance));
    }
    for id in instance.ids() {
        let buffer = instance.buffer(id);
        if buffer.size() > best.value {
            best.raise(LowerBound::new(buffer.size(), Witness::Clique { buffers: vec![id] }));
        }
        let fixed = buffer.fixed().filter(|_| !buffer.is_empty());
        if let Some(end) = fixed.and_then(|offset| offset.checked_add(buffer.size())) {
            best.raise(LowerBound::new(end, Witness::Fixed { buffer: id }));
        }
        if let Some(end) = lowest_end(instance, id) {
            best.raise(LowerBound::new(end, Witness::Raised { buffer: id }));
        }
    }
    best
}

/// Returns the end of a member of a rigid group if the base of the group is as low as possible, in bytes.
fn lowest_end(instance: &Instance, id: BufferId) -> Option<Bytes> {
    let (group, distance) = instance.groups().of(id)?;
    let base = instance.groups().all()[group].residue();
    let size = Some(instance.buffer(id).size()).filter(|&size| size > Bytes::ZERO)?;
    base.checked_add(distance)?.checked_add(size)
}

/// The maximum number of buffers that are candidates for the clique.
const CLIQUE_CANDIDATES: usize = 1_000;

/// Grows a clique greedily among the buffers live at the most loaded step, largest buffer first.
fn clique_at_load(instance: &Instance) -> LowerBound {
    let mut live = live_at(instance, load(instance).1);
    live.sort_by_key(|&id| (std::cmp::Reverse(instance.buffer(id).size()), id));
    live.truncate(CLIQUE_CANDIDATES);
    let (mut members, mut value) = (Vec::new(), 0);
    for id in live {
        if members.iter().all(|&member| instance.conflict(member, id)) {
            members.push(id);
            value += instance.buffer(id).size().get();
        }
    }
    members.sort_unstable();
    LowerBound::new(Bytes::new(value), Witness::Clique { buffers: members })
}

/// Returns a lower bound on the height of a stack of pairwise conflicting buffers whose offsets are multiples
/// of `alignment`; `None` on overflow.
///
/// Every member except the topmost occupies its size rounded up. The topmost member occupies only its size,
/// which saves at most the largest amount by which a size is rounded up.
pub fn stack_height(instance: &Instance, buffers: &[BufferId], alignment: Bytes) -> Option<Bytes> {
    let (mut sum, mut saved) = (0u64, 0u64);
    for &id in buffers {
        let size = instance.buffer(id).size();
        let rounded = size.align_up(alignment)?;
        sum = sum.checked_add(rounded.get())?;
        saved = saved.max(rounded.get() - size.get());
    }
    Some(Bytes::new(sum - saved))
}

/// Confirms a bound by recomputing its witness from the definitions. A clique of k among n buffers takes
/// O(n log n + k^2) time, and a load without exclusions takes O(n) time.
///
/// # Errors
/// The first reason why the witness does not prove the bound. For a bound that rests on a search, the error
/// is [`BoundError::NotCheckable`], unless the bound is impossible or its window is empty.
pub fn verify_bound(instance: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
    let shown = match &bound.witness {
        Witness::Trivial => Bytes::ZERO,
        Witness::Load { step } if instance.exclusions().is_empty() => {
            // Buffers live at one step conflict by definition. The sum cannot overflow, because the total of
            // all buffers does not.
            let live = live_at(instance, *step);
            Bytes::new(live.iter().map(|&id| instance.buffer(id).size().get()).sum())
        }
        Witness::Load { step } => clique_height(instance, &live_at(instance, *step), Bytes::new(1))?,
        Witness::Clique { buffers } => clique_height(instance, buffers, Bytes::new(1))?,
        Witness::AlignedClique { buffers, alignment } => clique_height(instance, buffers, *alignment)?,
        Witness::Fixed { buffer } => {
            let (b, offset) = fixed(instance, *buffer)?;
            let end = offset.checked_add(b.size()).unwrap_or(Bytes::ZERO);
            if b.is_empty() { Bytes::ZERO } else { end }
        }
        Witness::Raised { buffer } => {
            let _ = instance
                .buffers()
                .get(buffer.index())
                .ok_or_else(|| BoundError::bad_buffer(instance, *buffer))?;
            lowest_end(instance, *buffer).unwrap_or(Bytes::ZERO)
        }
        Witness::Contradiction { buffers } => {
            confirm_contradiction(instance, buffers)?;
            instance.beyond()
        }
        Witness::Start
        | Witness::End
        | Witness::Around { .. }
        | Witness::Excess { .. }
        | Witness::Without { .. } => {
            return Err(BoundError::Foreign(bound.witness.to_string()));
        }
        Witness::Search { solver } => {
            possible(bound.value, instance.ceiling())?;
            return Err(BoundError::NotCheckable(solver.clone()));
        }
        Witness::Window { lower, upper, solver } => {
            let window = Interval::new(*lower, *upper);
            if window.is_empty() {
                return Err(BoundError::EmptyWindow(window));
            }
            possible(bound.value, live_within(instance, window).ceiling())?;
            return Err(BoundError::NotCheckable(format!("{solver} on steps {lower}..{upper}")));
        }
    };
    bound.shown_by(shown)
}

/// Returns the part of an instance that is live within a window of steps, with lifespans clipped to the
/// window. The optimal peak of the part is a lower bound on the peak of the whole.
///
/// # Panics
/// Never: a part of a valid instance is valid.
pub fn live_within(instance: &Instance, window: Interval) -> Instance {
    let clipped = |b: &Buffer| {
        let parts = b.lifespan().intervals().iter();
        let inside = parts.map(|i| Interval::new(i.lower.max(window.lower), i.upper.min(window.upper)));
        Lifespan::from_intervals(inside.filter(|part| !part.is_empty())).ok()
    };
    let live: Vec<(BufferId, Lifespan)> =
        instance.ids().filter_map(|id| Some((id, clipped(instance.buffer(id))?))).collect();
    let kept: Vec<BufferId> = live.iter().map(|(id, _)| *id).collect();
    let mut lifespans = live.into_iter().map(|(_, lifespan)| lifespan);
    instance.induced_with(&kept, |b| b.during(lifespans.next().expect("one per buffer kept")))
}

/// Rejects a bound above `most`, the total that the searched buffers need if they are laid end to end.
fn possible(claimed: Bytes, most: Bytes) -> Result<(), BoundError> {
    if claimed > most { Err(BoundError::Impossible { claimed, most }) } else { Ok(()) }
}

fn fixed(instance: &Instance, id: BufferId) -> Result<(&Buffer, Bytes), BoundError> {
    let b = instance.buffers().get(id.index()).ok_or_else(|| BoundError::bad_buffer(instance, id))?;
    Ok((b, b.fixed().ok_or_else(|| BoundError::NotFixed(b.name().to_owned()))?))
}

/// Checks that two conflicting buffers overlap, because both are fixed or because of their distance.
fn confirm_contradiction(instance: &Instance, buffers: &[BufferId]) -> Result<(), BoundError> {
    let [a, b] = *buffers else { return Err(BoundError::NoContradiction) };
    let place = |id: BufferId| match instance.groups().of(id) {
        Some((group, distance)) => Ok((instance.buffer(id), Some(group), distance)),
        None => fixed(instance, id).map(|(buffer, offset)| (buffer, None, offset)),
    };
    let ((one, group, low), (other, other_group, high)) = (place(a)?, place(b)?);
    if a == b {
        return Err(BoundError::bad_buffer(instance, a));
    }
    if !conflict(instance, a, b) {
        return Err(BoundError::no_conflict(instance, a, b));
    }
    let end = |b: &Buffer, offset: Bytes| u128::from(offset.get()) + u128::from(b.size().get());
    let lowest_end = end(one, low).min(end(other, high));
    let overlap = group == other_group && u128::from(low.max(high).get()) < lowest_end;
    if overlap { Ok(()) } else { Err(BoundError::NoContradiction) }
}

fn clique_height(instance: &Instance, buffers: &[BufferId], alignment: Bytes) -> Result<Bytes, BoundError> {
    let divides = |id: BufferId| {
        let own = instance.buffer(id).alignment().get();
        alignment.get() != 0 && own.is_multiple_of(alignment.get())
    };
    let together = share_a_step(instance, buffers);
    for (i, &a) in buffers.iter().enumerate() {
        if a.index() >= instance.len() || buffers[..i].contains(&a) {
            return Err(BoundError::bad_buffer(instance, a));
        }
        if !divides(a) {
            return Err(BoundError::NotAligned(instance.buffer(a).name().to_owned(), alignment));
        }
        let apart = |&&b: &&BufferId| !conflict(instance, a, b);
        if !together && let Some(&b) = buffers[..i].iter().find(apart) {
            return Err(BoundError::no_conflict(instance, b, a));
        }
    }
    // The topmost buffer needs no rounding. Minimise over all choices of the topmost buffer.
    let size = |id: &BufferId| u128::from(instance.buffer(*id).size().get());
    let rounded = |id: &BufferId| size(id).next_multiple_of(u128::from(alignment.get()));
    let sum: u128 = buffers.iter().map(rounded).sum();
    let height = buffers.iter().map(|top| sum - rounded(top) + size(top)).min().unwrap_or(0);
    Ok(Bytes::new(u64::try_from(height).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::InstanceBuilder;

    fn instance() -> Instance {
        let buffer = |name: &str, size: u64, lower: u64, upper: u64| {
            Buffer::new(name, size, Lifespan::single(lower, upper).unwrap()).aligned(4)
        };
        InstanceBuilder::new("t")
            .buffers([buffer("a", 5, 0, 4), buffer("b", 6, 2, 6), buffer("c", 9, 4, 8)])
            .build()
            .unwrap()
    }

    #[test]
    fn witnesses_are_confirmed_and_rejected() {
        let t = instance();
        let bound = simple_bound(&t);
        assert_eq!(bound.value.get(), 15);
        assert_eq!(verify_bound(&t, &bound), Ok(()));
        let ids = |list: &[u32]| list.iter().copied().map(BufferId::new).collect::<Vec<_>>();
        let aligned = |list: &[u32], value: u64| {
            let witness = Witness::AlignedClique { buffers: ids(list), alignment: Bytes::new(4) };
            verify_bound(&t, &LowerBound::new(Bytes::new(value), witness))
        };
        // b and c occupy 8 + 12 bytes when rounded up. Of this, 3 bytes are subtracted, because c grows by 3
        // and b by 2.
        assert_eq!(aligned(&[1, 2], 17), Ok(()));
        assert!(matches!(aligned(&[1, 2], 18), Err(BoundError::TooWeak { .. })));
        assert!(matches!(aligned(&[0, 2], 1), Err(BoundError::NoConflict(..))));
        assert!(matches!(aligned(&[1, 1], 1), Err(BoundError::BadBuffer(_))));
        assert!(matches!(aligned(&[7], 1), Err(BoundError::BadBuffer(_))));
        let search = Witness::Search { solver: "search".into() };
        let bound = |value| verify_bound(&t, &LowerBound::new(Bytes::new(value), search.clone()));
        assert!(matches!(bound(t.ceiling().get()), Err(BoundError::NotCheckable(_))));
        assert!(matches!(bound(t.ceiling().get() + 1), Err(BoundError::Impossible { .. })));
        let window = |lower: u64, upper: u64, value| {
            let solver = "search".into();
            let witness = Witness::Window { lower: lower.into(), upper: upper.into(), solver };
            verify_bound(&t, &LowerBound::new(Bytes::new(value), witness))
        };
        // The ceiling of b and c is 28 bytes: 8 + 12 bytes of rounded sizes, plus 4 bytes for each
        // alignment.
        assert!(matches!(window(4, 8, 20), Err(BoundError::NotCheckable(_))));
        assert!(matches!(window(4, 8, 29), Err(BoundError::Impossible { .. })));
        assert!(matches!(window(8, 9, 1), Err(BoundError::Impossible { .. })), "nothing is live");
        assert!(matches!(window(4, 4, 1), Err(BoundError::EmptyWindow(_))));
        assert!(matches!(window(9, 2, 0), Err(BoundError::EmptyWindow(_))));
    }
}
