//! The optimum of a tiny instance, by trying every order: for tests only.

use plimsoll_model::{BufferId, Bytes, Instance};

/// The least peak of any layout. Exponential; meant for up to about twelve plain buffers.
///
/// Some optimal layout has every buffer resting on the floor or on a buffer it conflicts with; placing in order of
/// offset, each on top of the conflicting ones placed before it, finds it.
pub(crate) fn optimum(instance: &Instance) -> Bytes {
    assert!(!instance.has_alignment() && !instance.has_fixed(), "plain buffers only");
    let mut search = Search { instance, placed: Vec::new(), best: instance.total_size().get() + 1 };
    search.extend(0);
    Bytes::new(search.best)
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
        let lowest = self.placed.last().map_or(0, |&(_, offset, _)| offset);
        let mut options = Vec::new();
        for id in self.instance.ids().filter(|id| !self.placed.iter().any(|p| p.0 == *id)) {
            let below = self.placed.iter().filter(|p| self.instance.conflict(id, p.0));
            let offset = below.map(|p| p.2).max().unwrap_or(0);
            let end = offset + self.instance.buffer(id).size().get();
            // What rests lower was the business of an earlier place in the order, and what cannot end below
            // the best here never will.
            if end >= self.best {
                return;
            }
            if offset >= lowest {
                options.push((id, offset, end));
            }
        }
        for option in options {
            self.placed.push(option);
            self.extend(peak.max(option.2));
            self.placed.pop();
        }
    }
}
