//! Whether buffers conflict, straight from the definition.

use crate::instance::{Buffer, Instance};
use crate::units::{BufferId, Bytes};

/// Conflict straight from the definition, on raw intervals. What has no byte shares none.
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

/// True where one step shows at once that all of these conflict with each other: all are alive there, none takes no
/// byte, and nothing is exclusive. O(k) for single intervals; then false means that some do not conflict, or that some
/// pairs are exclusive or separated.
pub(crate) fn share_a_step(instance: &Instance, buffers: &[BufferId]) -> bool {
    let Some(all) = buffers.iter().map(|id| instance.buffers().get(id.index())).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let Some(step) = all.iter().map(|b| b.lifespan().hull().lower).max() else { return true };
    let alive =
        |b: &&Buffer| b.lifespan().intervals().iter().any(|one| one.lower <= step && step < one.upper);
    instance.exclusions().is_empty() && all.iter().all(|b| alive(b) && b.size() > Bytes::ZERO)
}
