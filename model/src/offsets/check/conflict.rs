//! The conflict relation, computed directly from the definition.

use crate::instance::{Buffer, Instance};
use crate::units::{BufferId, Bytes};

/// Returns true if `a` and `b` conflict. The test uses the raw intervals. A buffer of size 0 conflicts with
/// no other buffer.
pub(crate) fn conflict(instance: &Instance, a: BufferId, b: BufferId) -> bool {
    if instance.buffer(a).size() == Bytes::ZERO || instance.buffer(b).size() == Bytes::ZERO {
        return false;
    }
    let listed = |pairs: &crate::pairs::Pairs| {
        !pairs.is_empty() && (pairs.of(a).contains(&b) || pairs.of(b).contains(&a))
    };
    let mine = instance.buffer(a).lifespan().intervals();
    let theirs = instance.buffer(b).lifespan().intervals();
    let together = mine.iter().any(|x| theirs.iter().any(|y| x.lower.max(y.lower) < x.upper.min(y.upper)));
    if together { !listed(instance.exclusions()) } else { listed(instance.separations()) }
}

/// Returns true if a single step proves that all given buffers conflict pairwise. This is so if all
/// are live at that step, none has size 0, and the instance has no exclusions.
///
/// O(k) for k buffers with one interval each. For such buffers, false means that some pair does not conflict,
/// or that the instance has exclusions or separations.
pub(crate) fn share_a_step(instance: &Instance, buffers: &[BufferId]) -> bool {
    let Some(all) = buffers.iter().map(|id| instance.buffers().get(id.index())).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let Some(step) = all.iter().map(|b| b.lifespan().hull().lower).max() else { return true };
    let live = |b: &&Buffer| b.lifespan().intervals().iter().any(|one| one.lower <= step && step < one.upper);
    instance.exclusions().is_empty() && all.iter().all(|b| live(b) && b.size() > Bytes::ZERO)
}
