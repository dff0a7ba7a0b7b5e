//! Computes the optimum of a tiny instance by enumerating orders. For tests only.

use plimsoll_model::{BufferId, Bytes, Instance};

/// Returns the minimum peak over all layouts. Takes exponential time, so it is practical only for up to
/// about twelve plain buffers.
pub(crate) fn optimum(instance: &Instance) -> Bytes {
    let total = instance.total_size().get();
    Bytes::new(optimum_up_to(instance, total).expect("placing all buffers end to end gives a layout"))
}

/// Returns the minimum peak over all layouts if it is at most `limit` bytes. A tighter limit makes the
/// search faster.
///
/// Some optimal layout has every buffer at address 0 or directly on top of a buffer that it conflicts with.
/// Placing buffers in order of offset, each on top of the conflicting buffers already placed, finds such a
/// layout.
pub(crate) fn optimum_up_to(instance: &Instance, limit: u64) -> Option<u64> {
    let plain = !instance.has_alignment() && !instance.has_fixed() && !instance.has_groups();
    assert!(plain, "plain buffers only");
    let mut search = Search { instance, placed: Vec::new(), best: limit + 1 };
    search.extend(0);
    (search.best <= limit).then_some(search.best)
}

struct Search<'a> {
    instance: &'a Instance,
    placed: Vec<(BufferId, u64, u64)>,
    best: u64,
}

impl Search<'_> {
    fn extend(&mut self, peak: u64) {
        if self.placed.len() == self.instance.len() {
            self.best = self.best.min(peak);
            return;
        }
        let lowest = self.placed.last().map_or((0, None), |&(id, offset, _)| (offset, Some(id)));
        let mut options = Vec::new();
        for id in self.instance.ids().filter(|id| !self.placed.iter().any(|p| p.0 == *id)) {
            let below = self.placed.iter().filter(|p| self.instance.conflict(id, p.0));
            let offset = below.map(|p| p.2).max().unwrap_or(0);
            let end = offset + self.instance.buffer(id).size().get();
            // Lower offsets were tried at an earlier position in the order. A buffer that cannot end below
            // the best peak here cannot do so later either.
            if end >= self.best {
                return;
            }
            // Break ties by id: buffers at the same offset do not conflict, so their order does not matter.
            if (offset, Some(id)) > lowest {
                options.push((id, offset, end));
            }
        }
        for option in options {
            self.placed.push(option);
            if self.may_fit() {
                self.extend(peak.max(option.2));
            }
            self.placed.pop();
        }
    }

    /// Returns false if, at some step, the unplaced buffers cannot all end below the best peak. Buffers that
    /// are live at a common step conflict, so the unplaced ones must lie on top of the placed ones. This does
    /// not hold for instances with gaps, separations or exclusions; for these, the result is always true.
    fn may_fit(&self) -> bool {
        let ids = || self.instance.ids();
        let hull = |id| self.instance.buffer(id).lifespan().hull();
        !self.instance.is_interval()
            || ids().map(|id| hull(id).lower).all(|step| {
                let live = |id: &BufferId| hull(*id).contains(step);
                let top = self.placed.iter().filter(|p| live(&p.0)).map(|p| p.2).max().unwrap_or(0);
                let unplaced = ids().filter(|id| live(id) && !self.placed.iter().any(|p| p.0 == *id));
                top + unplaced.map(|id| self.instance.buffer(id).size().get()).sum::<u64>() < self.best
            })
    }
}
