//! Checks allocations directly against the rules of a document, without instances or merging.

use super::document::Document;
use super::write::Allocation;
use plimsoll_model::Bytes;
use std::collections::{HashMap, HashSet};

impl Document {
    /// Returns every error in an answer, one line each. The list is empty if the answer is valid. Colocated
    /// buffers occupy the bytes of the largest of them, as in the schema's own checker. Buffers of size 0
    /// occupy none. O(n^2 + n p) for n buffers and p pairs.
    pub fn check(&self, allocations: &[Allocation]) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut places: Vec<Option<&Allocation>> = vec![None; self.buffers.len()];
        let ids: HashMap<u32, usize> = self.buffers.iter().enumerate().map(|(at, b)| (b.id, at)).collect();
        for allocation in allocations {
            match ids.get(&allocation.buffer) {
                None => wrong.push(format!("there is no buffer {}", allocation.buffer)),
                Some(&at) if places[at].is_some() => {
                    wrong.push(format!("{} is placed twice", self.buffers[at].label()));
                }
                Some(&at) => places[at] = Some(allocation),
            }
        }
        let missing = places.iter().zip(&self.buffers).filter(|(place, _)| place.is_none());
        wrong.extend(missing.map(|(_, buffer)| format!("{} has no offset", buffer.label())));
        let placed: Vec<(usize, &Allocation)> =
            places.iter().enumerate().filter_map(|(at, place)| Some((at, (*place)?))).collect();
        for &(at, place) in &placed {
            self.check_place(at, place, &mut wrong);
        }
        self.check_pairs(&placed, &places, &mut wrong);
        wrong
    }

    fn check_place(&self, at: usize, place: &Allocation, wrong: &mut Vec<String>) {
        let buffer = &self.buffers[at];
        let mut complain = |what: String| wrong.push(format!("{}: {what}", buffer.label()));
        let Some(pool) = self.pools.iter().position(|pool| pool.id == place.pool) else {
            return complain(format!("there is no pool {}", place.pool));
        };
        if !buffer.pools.contains(&pool) {
            complain(format!("pool {} is not one of its allowed pools", self.pools[pool].label()));
        }
        if !place.offset.get().is_multiple_of(buffer.alignment.get()) {
            complain(format!("offset {} is not a multiple of {}", place.offset, buffer.alignment));
        }
        let (begin, end) = (place.offset.get(), place.offset.get().saturating_add(buffer.size.get()));
        let takes_bytes = begin < end;
        let capacity = self.pools[pool].capacity.filter(|_| takes_bytes);
        if let Some(capacity) = capacity.filter(|capacity| end > capacity.get()) {
            complain(format!("[{begin}, {end}) extends beyond the capacity {capacity}"));
        }
        for (from, to) in &self.pools[pool].reserved {
            if takes_bytes && begin < to.get() && from.get() < end {
                complain(format!("[{begin}, {end}) overlaps the reserved range [{from}, {to})"));
            }
        }
        for pin in self.pins.iter().filter(|pin| pin.buffer == at) {
            if (pin.pool, pin.offset) != (pool, place.offset) {
                let pool = self.pools[pin.pool].label();
                complain(format!("the buffer is pinned to offset {} of pool {pool}", pin.offset));
            }
        }
    }

    fn check_pairs(
        &self,
        placed: &[(usize, &Allocation)],
        places: &[Option<&Allocation>],
        wrong: &mut Vec<String>,
    ) {
        let count = self.buffers.len();
        let both_ways = |pairs: &[(usize, usize)]| -> HashSet<(usize, usize)> {
            pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect()
        };
        let (separations, exclusions) = (both_ways(&self.separations), both_ways(&self.exclusions));
        let pinned_alone: HashSet<usize> =
            self.pins.iter().filter(|pin| pin.exclusive).map(|pin| pin.buffer).collect();
        // Find the classes by propagating numbers until nothing changes. This is slow, but obviously correct.
        let mut class: Vec<usize> = (0..count).collect();
        loop {
            let before = class.clone();
            for &(a, b) in &self.colocations {
                let least = class[a].min(class[b]);
                (class[a], class[b]) = (least, least);
            }
            if before == class {
                break;
            }
        }
        let extent = |at: usize| {
            let own = (0..count).filter(|&other| class[other] == class[at]);
            own.map(|other| self.buffers[other].size.get()).max().unwrap_or(0)
        };
        let extents: Vec<u64> = (0..count).map(extent).collect();
        for &(a, b) in &self.colocations {
            if let (Some(x), Some(y)) = (places[a], places[b])
                && (x.pool, x.offset) != (y.pool, y.offset)
            {
                let (a, b) = (self.buffers[a].label(), self.buffers[b].label());
                wrong.push(format!("{a} and {b} are colocated, but have different pools or offsets"));
            }
        }
        let alone = |at: usize| pinned_alone.contains(&at);
        for (i, &(a, x)) in placed.iter().enumerate() {
            for &(b, y) in &placed[i + 1..] {
                let apart = x.pool != y.pool
                    || x.offset.get().saturating_add(extents[a]) <= y.offset.get()
                    || y.offset.get().saturating_add(extents[b]) <= x.offset.get();
                let separated = separations.contains(&(a, b));
                let takes_none = |at: usize| self.buffers[at].size == Bytes::ZERO;
                if takes_none(a) || takes_none(b) || apart || (class[a] == class[b] && !separated) {
                    continue;
                }
                let both = self.buffers[a].lifespan.intersects(&self.buffers[b].lifespan)
                    && !exclusions.contains(&(a, b));
                if separated || both || alone(a) || alone(b) {
                    let (a, b) = (self.buffers[a].label(), self.buffers[b].label());
                    wrong.push(format!("{a} and {b} conflict, but share addresses"));
                }
            }
        }
    }
}
