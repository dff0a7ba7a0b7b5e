//! Derives instances with attributes, such as alignments and gaps, that a known layout satisfies.

use crate::error::{GenerateError, at_least};
use plimsoll_model::{
    Buffer, BufferId, Bytes, Instance, InstanceBuilder, Interval, Layout, Lifespan, check_layout,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};

/// How many attributes of each kind are drawn. A number that the instance cannot provide is a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributedParams {
    /// The percentage of the buffers that get an alignment.
    pub aligned: u64,
    /// The largest alignment in bytes. The alignment of a buffer is the largest power of two up to this
    /// value that divides the offset of the buffer in the layout.
    pub alignment: u64,
    /// The percentage of the drawn alignments whose buffers shrink, by less than the alignment.
    pub ragged: u64,
    /// The number of rigid groups of 2 to 4 buffers, which keep their distances in the layout.
    pub groups: usize,
    /// The number of buffers that are fixed at their offset in the layout.
    pub pins: usize,
    /// The number of gaps inside an interval of a lifespan.
    pub gaps: usize,
    /// The maximum length of these gaps in steps, at least 1.
    pub gap_steps: u64,
    /// The number of gaps in which the layout places something else at the addresses of the buffer.
    pub binding_gaps: usize,
    /// The number of separated pairs. Their buffers are not simultaneously live.
    pub separations: usize,
    /// The number of excluded pairs whose buffers are simultaneously live.
    pub exclusions: usize,
    /// The number of excluded pairs whose buffers are simultaneously live and share addresses in the layout.
    pub binding_exclusions: usize,
}

impl AttributedParams {
    /// No attributes.
    pub const NONE: Self = Self {
        aligned: 0,
        alignment: 4096,
        ragged: 0,
        groups: 0,
        pins: 0,
        gaps: 0,
        gap_steps: 1,
        binding_gaps: 0,
        separations: 0,
        exclusions: 0,
        binding_exclusions: 0,
    };
}

/// Draws attributes that a layout satisfies, and returns the instance with these attributes and its layout.
/// The peak of the layout does not increase; it becomes the capacity, so the instance stays feasible.
///
/// All attributes of the given instance are kept. A binding gap needs two buffers that share addresses in the
/// layout, the second of which begins after the first has ended. The shared addresses become one buffer with
/// a gap, and the other addresses of the two become buffers of their own. A binding exclusion adds a copy of
/// a buffer that is excluded with it and has the same offset. The same arguments give the same result.
/// O(k n) for n buffers and k attributes, plus the time of the checker.
///
/// # Errors
/// [`GenerateError`] if the layout is not valid for the instance without its capacity, if a percentage
/// exceeds 100, if `alignment` or `gap_steps` is 0, or if the copies of buffers exceed the address space.
///
/// # Panics
/// Never: the parts of a lifespan stay apart.
pub fn attributed(
    instance: &Instance,
    layout: &Layout,
    params: &AttributedParams,
    seed: u64,
) -> Result<(Instance, Layout), GenerateError> {
    params.check()?;
    if let Some(violation) = check_layout(&instance.clone().with_capacity(None), layout).first() {
        return Err(GenerateError::InvalidLayout(violation.to_string()));
    }
    let mut draft = Draft::of(instance, layout, seed);
    // These two change the list of buffers.
    draft.join(params.binding_gaps);
    draft.copy(params.binding_exclusions);
    // From here on, the buffers are final.
    draft.interrupt(params.gaps, params.gap_steps);
    draft.align(params.aligned, params.alignment, params.ragged);
    draft.group(params.groups);
    draft.pin(params.pins);
    draft.separate(params.separations);
    draft.exclude(params.exclusions);
    draft.finish(format!("{}-attributed-{seed}", instance.name()))
}

impl AttributedParams {
    fn check(&self) -> Result<(), GenerateError> {
        for (name, value) in [("aligned", self.aligned), ("ragged", self.ragged)] {
            if value > 100 {
                return Err(GenerateError::TooBig { name, value, most: 100 });
            }
        }
        at_least("alignment", self.alignment, 1)?;
        at_least("gap_steps", self.gap_steps, 1)
    }
}

/// The maximum number of random pairs that are examined to find a suitable one.
const TRIES: usize = 1 << 14;

/// A buffer and its offset in the layout. The key does not change if other buffers are removed.
#[derive(Clone)]
struct Placed {
    key: usize,
    buffer: Buffer,
    offset: u64,
}

impl Placed {
    fn end(&self) -> u64 {
        self.offset + self.buffer.size().get()
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }

    fn lives_with(&self, other: &Self) -> bool {
        self.buffer.lifespan().intersects(other.buffer.lifespan())
    }

    /// Returns true if nothing restricts the offset of the buffer by itself.
    fn is_free(&self) -> bool {
        self.buffer.fixed().is_none() && self.buffer.alignment() == Bytes::new(1)
    }
}

/// An instance that is changed, and a layout that stays valid.
struct Draft {
    rng: Xoshiro256PlusPlus,
    placed: Vec<Placed>,
    /// Pairs of keys, the smaller key first.
    separations: BTreeSet<(usize, usize)>,
    exclusions: BTreeSet<(usize, usize)>,
    /// Pairs of keys whose first buffer lies the given distance above the second one.
    above: Vec<(usize, usize, Bytes)>,
    names: BTreeSet<String>,
    next_key: usize,
}

impl Draft {
    fn of(instance: &Instance, layout: &Layout, seed: u64) -> Self {
        let placed = |id: BufferId| {
            let offset = layout.offset(id).get();
            Placed { key: id.index(), buffer: instance.buffer(id).clone(), offset }
        };
        let keys = |(a, b): (BufferId, BufferId)| (a.index(), b.index());
        let above = |id: BufferId| {
            let (lower, distance) = instance.above(id)?;
            Some((id.index(), lower.index(), distance))
        };
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            placed: instance.ids().map(placed).collect(),
            separations: instance.separations().iter().map(keys).collect(),
            exclusions: instance.exclusions().iter().map(keys).collect(),
            above: instance.ids().filter_map(above).collect(),
            names: instance.buffers().iter().map(|b| b.name().to_owned()).collect(),
            next_key: instance.len(),
        }
    }

    fn finish(self, name: String) -> Result<(Instance, Layout), GenerateError> {
        let place: BTreeMap<usize, usize> =
            self.placed.iter().enumerate().map(|(at, one)| (one.key, at)).collect();
        let layout = Layout::from_raw(self.placed.iter().map(|one| one.offset));
        let mut builder = InstanceBuilder::new(name).buffers(self.placed.into_iter().map(|one| one.buffer));
        for (a, b) in self.separations {
            builder = builder.separate(place[&a], place[&b]);
        }
        for (a, b) in self.exclusions {
            builder = builder.exclude(place[&a], place[&b]);
        }
        for (upper, lower, distance) in self.above {
            builder = builder.above(place[&upper], place[&lower], distance);
        }
        let instance = builder.build()?;
        let peak = layout.peak(&instance);
        Ok((instance.with_capacity(Some(peak)), layout))
    }

    /// Adds a buffer with a name that is not yet used.
    fn add(&mut self, name: String, size: u64, lifespan: Lifespan, offset: u64) -> usize {
        let mut name = name;
        while !self.names.insert(name.clone()) {
            name.push('-');
        }
        let key = self.next_key;
        self.next_key += 1;
        self.placed.push(Placed { key, buffer: Buffer::new(name, size, lifespan), offset });
        self.placed.len() - 1
    }

    /// Returns the places of all buffers of non-zero size that `fits` accepts, in random order.
    fn chosen(&mut self, fits: impl Fn(&Placed) -> bool) -> Vec<usize> {
        let fits = |&at: &usize| !self.placed[at].buffer.is_empty() && fits(&self.placed[at]);
        let mut chosen: Vec<usize> = (0..self.placed.len()).filter(fits).collect();
        chosen.shuffle(&mut self.rng);
        chosen
    }

    /// Draws pairs of different buffers of non-zero size until `fits` accepts one, and returns their places.
    fn pair(&mut self, fits: impl Fn(&Self, &Placed, &Placed) -> bool) -> Option<(usize, usize)> {
        let places: Vec<usize> = self.chosen(|_| true);
        for _ in 0..TRIES {
            let (&a, &b) = (places.choose(&mut self.rng)?, places.choose(&mut self.rng)?);
            if a != b && fits(self, &self.placed[a], &self.placed[b]) {
                return Some((a, b));
            }
        }
        None
    }

    fn is_paired(&self, a: &Placed, b: &Placed) -> bool {
        let pair = ordered(a.key, b.key);
        self.separations.contains(&pair) || self.exclusions.contains(&pair)
    }

    /// Returns true if a constraint links the buffer to another one.
    fn is_linked(&self, one: &Placed) -> bool {
        let pairs = self.separations.iter().chain(&self.exclusions).copied();
        let above = self.above.iter().map(|&(upper, lower, _)| (upper, lower));
        pairs.chain(above).any(|(a, b)| a == one.key || b == one.key)
    }

    /// Joins buffers to buffers with a gap in which something else lies at their addresses.
    fn join(&mut self, count: usize) {
        for _ in 0..count {
            let Some((first, second)) = self.pair(Self::can_join) else { return };
            let (a, b) = (self.placed[first].clone(), self.placed[second].clone());
            let (low, high) = (a.offset.max(b.offset), a.end().min(b.end()));
            let parts = [&a, &b].map(|one| one.buffer.lifespan().intervals());
            let lifespan = Lifespan::from_intervals(parts.concat()).expect("one begins after the other");
            for place in [first.max(second), first.min(second)] {
                self.placed.remove(place);
            }
            self.add(format!("{}.{}", a.buffer.name(), b.buffer.name()), high - low, lifespan, low);
            for one in [a, b] {
                for (part, from, to) in [("low", one.offset, low), ("high", high, one.end())] {
                    if from < to {
                        let name = format!("{}.{part}", one.buffer.name());
                        self.add(name, to - from, one.buffer.lifespan().clone(), from);
                    }
                }
            }
        }
    }

    /// Returns true if the shared addresses of two buffers can become one buffer with a binding gap.
    fn can_join(&self, a: &Placed, b: &Placed) -> bool {
        let gap = Interval::new(a.buffer.lifespan().hull().upper, b.buffer.lifespan().hull().lower);
        if gap.is_empty() || !a.overlaps(b) || !a.is_free() || !b.is_free() {
            return false;
        }
        let (low, high) = (a.offset.max(b.offset), a.end().min(b.end()));
        let between = |one: &Placed| {
            let is_live = one.buffer.lifespan().intervals().iter().any(|part| part.intersects(gap));
            is_live && !one.buffer.is_empty() && one.offset < high && low < one.end()
        };
        self.placed.iter().any(between) && !self.is_linked(a) && !self.is_linked(b)
    }

    /// Adds copies of buffers that are excluded with their originals.
    fn copy(&mut self, count: usize) {
        for place in self.chosen(|one| one.buffer.fixed().is_none()).into_iter().take(count) {
            let Placed { key, buffer, offset } = self.placed[place].clone();
            let name = format!("{}.copy", buffer.name());
            let added = self.add(name, buffer.size().get(), buffer.lifespan().clone(), offset);
            let copy = &mut self.placed[added];
            copy.buffer = copy.buffer.clone().aligned(buffer.alignment());
            let own = copy.key;
            for pairs in [&mut self.separations, &mut self.exclusions] {
                let partners = pairs.iter().filter_map(|&(a, b)| match key {
                    _ if key == a => Some(b),
                    _ if key == b => Some(a),
                    _ => None,
                });
                let copied: Vec<_> = partners.map(|partner| ordered(own, partner)).collect();
                pairs.extend(copied);
            }
            self.exclusions.insert(ordered(key, own));
        }
    }

    /// Removes steps from the inside of lifespans.
    fn interrupt(&mut self, count: usize, longest: u64) {
        // The first and the last step of the interval stay live.
        let space = |part: &Interval| part.duration().saturating_sub(2);
        let is_long = |one: &Placed| one.buffer.lifespan().intervals().iter().any(|part| space(part) > 0);
        for place in self.chosen(is_long).into_iter().take(count) {
            let buffer = &self.placed[place].buffer;
            let parts = buffer.lifespan().intervals();
            let long: Vec<Interval> = parts.iter().copied().filter(|part| space(part) > 0).collect();
            let Some(part) = long.choose(&mut self.rng) else { continue };
            let (lower, upper) = (part.lower.get(), part.upper.get());
            let steps = self.rng.random_range(1..=longest.min(space(part)));
            let from = self.rng.random_range(lower + 1..upper - steps);
            let halves = [Interval::new(lower, from), Interval::new(from + steps, upper)];
            let kept = parts.iter().copied().filter(|other| other != part).chain(halves);
            let lifespan = Lifespan::from_intervals(kept).expect("the parts stay apart");
            self.placed[place].buffer = buffer.clone().during(lifespan);
        }
    }

    /// Aligns a share of the buffers, and shrinks a share of these.
    fn align(&mut self, percent: u64, most: u64, ragged: u64) {
        let divisor = |one: &Placed| {
            let largest = 1 << most.ilog2();
            if one.offset == 0 { largest } else { largest.min(1 << one.offset.trailing_zeros()) }
        };
        let count = percent_of(self.placed.len(), percent);
        let chosen = self.chosen(|one| one.is_free() && divisor(one) > 1);
        let aligned: Vec<usize> = chosen.into_iter().take(count).collect();
        let shrunk = percent_of(aligned.len(), ragged);
        for (at, place) in aligned.into_iter().enumerate() {
            let Placed { buffer, .. } = self.placed[place].clone();
            let (size, alignment) = (buffer.size().get(), divisor(&self.placed[place]));
            let loss =
                if at < shrunk && size > 1 { self.rng.random_range(1..size.min(alignment)) } else { 0 };
            let smaller = Buffer::new(buffer.name(), size - loss, buffer.lifespan().clone());
            self.placed[place].buffer = smaller.aligned(alignment);
        }
    }

    /// Joins free buffers to rigid groups of 2 to 4 members, stated above the lowest member.
    fn group(&mut self, count: usize) {
        let grouped = self.above.iter().flat_map(|&(upper, lower, _)| [upper, lower]);
        let grouped: BTreeSet<usize> = grouped.collect();
        let chosen = self.chosen(|one| one.buffer.fixed().is_none() && !grouped.contains(&one.key));
        let mut rest = chosen.as_slice();
        for _ in 0..count {
            let members = self.rng.random_range(2..=4);
            let Some((own, others)) = rest.split_at_checked(members) else { return };
            let mut places: Vec<(u64, usize)> =
                own.iter().map(|&at| (self.placed[at].offset, self.placed[at].key)).collect();
            places.sort_unstable();
            let (base, lowest) = places[0];
            let above = |&(offset, key): &(u64, usize)| (key, lowest, Bytes::new(offset - base));
            self.above.extend(places[1..].iter().map(above));
            rest = others;
        }
    }

    /// Fixes buffers at their offsets.
    fn pin(&mut self, count: usize) {
        for place in self.chosen(|one| one.buffer.fixed().is_none()).into_iter().take(count) {
            let one = &mut self.placed[place];
            one.buffer = one.buffer.clone().fixed_at(one.offset);
        }
    }

    /// Separates buffers that are not simultaneously live and share no address.
    fn separate(&mut self, count: usize) {
        let fits = |draft: &Self, a: &Placed, b: &Placed| {
            !a.lives_with(b) && !a.overlaps(b) && !draft.is_paired(a, b)
        };
        for _ in 0..count {
            let Some((a, b)) = self.pair(fits) else { return };
            self.separations.insert(ordered(self.placed[a].key, self.placed[b].key));
        }
    }

    /// Excludes buffers that are simultaneously live.
    fn exclude(&mut self, count: usize) {
        let fits = |draft: &Self, a: &Placed, b: &Placed| a.lives_with(b) && !draft.is_paired(a, b);
        for _ in 0..count {
            let Some((a, b)) = self.pair(fits) else { return };
            self.exclusions.insert(ordered(self.placed[a].key, self.placed[b].key));
        }
    }
}

/// Returns two keys with the smaller one first.
fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// Returns a percentage of a number, rounded up.
fn percent_of(whole: usize, percent: u64) -> usize {
    (whole as u64 * percent).div_ceil(100) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PackingParams, SmallParams, perfect_packing, small_instance};
    use proptest::prelude::*;

    /// Returns a layout in which the buffers lie one above the other, beyond all fixed buffers.
    fn stacked(instance: &Instance) -> Layout {
        let fixed = |b: &Buffer| b.fixed().map(|offset| offset.get() + b.size().get());
        let mut top = instance.buffers().iter().filter_map(fixed).max().unwrap_or(0);
        let offsets = instance.buffers().iter().map(|b| {
            b.fixed().map_or_else(
                || {
                    let offset = top.next_multiple_of(b.alignment().get());
                    top = offset + b.size().get();
                    offset
                },
                Bytes::get,
            )
        });
        Layout::from_raw(offsets)
    }

    fn some(seed: u64) -> AttributedParams {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut up_to = |most: u64| rng.random_range(0..=most);
        AttributedParams {
            aligned: up_to(100),
            alignment: 1 + up_to(16),
            ragged: up_to(100),
            groups: up_to(3) as usize,
            pins: up_to(3) as usize,
            gaps: up_to(3) as usize,
            gap_steps: 1 + up_to(3),
            binding_gaps: up_to(3) as usize,
            separations: up_to(4) as usize,
            exclusions: up_to(4) as usize,
            binding_exclusions: up_to(3) as usize,
        }
    }

    proptest! {
        #[test]
        fn the_layout_stays_valid(buffers in 0usize..12, mask in 0u64..16, seed: u64) {
            let origin = small_instance(SmallParams::with_features(buffers, mask), seed);
            let before = stacked(&origin);
            let made = attributed(&origin, &before, &some(seed), seed).unwrap();
            prop_assert_eq!(check_layout(&made.0, &made.1), []);
            prop_assert!(made.1.peak(&made.0) <= before.peak(&origin));
            prop_assert!(made.0.contradiction().is_none());
            prop_assert_eq!(attributed(&origin, &before, &some(seed), seed).unwrap(), made);
        }

        #[test]
        fn the_layout_of_a_packing_stays_valid(buffers in 5u64..60, seed: u64) {
            let origin = perfect_packing(PackingParams::with_buffers(buffers), seed).unwrap();
            let (made, layout) = attributed(&origin.instance, &origin.layout, &some(seed), seed).unwrap();
            prop_assert_eq!(check_layout(&made, &layout), []);
            prop_assert_eq!(made.capacity(), Some(layout.peak(&made)));
        }
    }

    #[test]
    fn distances_are_kept() {
        let origin = perfect_packing(PackingParams::with_buffers(30), 7).unwrap();
        let offset = |id: usize| origin.layout.offset(BufferId::at(id)).get();
        let buffers = origin.instance.buffers().iter().cloned();
        let mut builder = InstanceBuilder::new("grouped").buffers(buffers);
        for (a, b) in [(0, 1), (8, 9), (20, 25)] {
            let (upper, lower) = if offset(a) < offset(b) { (b, a) } else { (a, b) };
            builder = builder.above(upper, lower, offset(upper) - offset(lower));
        }
        let grouped = builder.build().unwrap();
        let stated = |instance: &Instance| instance.ids().filter(|&id| instance.above(id).is_some()).count();
        for seed in 0..50 {
            let (made, layout) = attributed(&grouped, &origin.layout, &some(seed), seed).unwrap();
            assert_eq!(check_layout(&made, &layout), [], "seed {seed}");
            let drawn = 0..=3 * some(seed).groups;
            assert!(drawn.contains(&(stated(&made) - stated(&grouped))), "seed {seed}");
        }
    }

    /// Derives an instance of a packing of 60 buffers.
    fn packed(params: AttributedParams) -> (Instance, Layout) {
        let origin = perfect_packing(PackingParams::with_buffers(60), 3).unwrap();
        attributed(&origin.instance, &origin.layout, &params, 5).unwrap()
    }

    #[test]
    fn nothing_is_drawn_without_attributes() {
        let origin = perfect_packing(PackingParams::with_buffers(60), 3).unwrap();
        let (made, layout) = packed(AttributedParams::NONE);
        assert_eq!((made.buffers(), &layout), (origin.instance.buffers(), &origin.layout));
    }

    #[test]
    fn every_option_has_its_effect() {
        let none = AttributedParams::NONE;
        let count =
            |made: &Instance, is: fn(&Buffer) -> bool| made.buffers().iter().filter(|b| is(b)).count();
        let is_aligned = |b: &Buffer| b.alignment().get() > 1;
        let (made, layout) = packed(AttributedParams { aligned: 50, alignment: 5000, ..none });
        assert_eq!(count(&made, is_aligned), 30);
        assert!(made.ids().all(|id| layout.offset(id).get() % made.buffer(id).alignment().get() == 0));
        assert_eq!(made.buffers().iter().map(|b| b.alignment().get()).max(), Some(4096));

        let (made, _) = packed(AttributedParams { aligned: 100, alignment: 1024, ragged: 50, ..none });
        assert_eq!(count(&made, |b| b.size().get() % 1024 != 0), 30);

        assert_eq!(count(&packed(AttributedParams { pins: 7, ..none }).0, |b| b.fixed().is_some()), 7);

        let (made, layout) = packed(AttributedParams { groups: 5, ..none });
        let tied: Vec<_> = made.ids().filter_map(|id| Some((id, made.above(id)?))).collect();
        assert!((5..=15).contains(&tied.len()));
        for (id, (lower, distance)) in tied {
            assert_eq!(layout.offset(id), layout.offset(lower).checked_add(distance).unwrap());
        }

        let (made, _) = packed(AttributedParams { gaps: 8, gap_steps: 3, ..none });
        assert_eq!(count(&made, |b| b.lifespan().has_gaps()), 8);
        let lost = |b: &Buffer| b.lifespan().hull().duration() - b.lifespan().duration();
        assert_eq!(made.buffers().iter().map(lost).max(), Some(3));

        let (made, _) = packed(AttributedParams { separations: 9, ..none });
        assert_eq!((made.separations().iter().count(), made.exclusions().iter().count()), (9, 0));
        let (made, _) = packed(AttributedParams { exclusions: 6, ..none });
        assert_eq!((made.separations().iter().count(), made.exclusions().iter().count()), (0, 6));
    }

    #[test]
    fn binding_attributes_bind() {
        let (made, layout) = packed(AttributedParams { binding_gaps: 4, ..AttributedParams::NONE });
        assert_eq!(made.buffers().iter().filter(|b| b.lifespan().has_gaps()).count(), 4);
        let filled = |buffer: &Buffer| Buffer::clone(buffer).during(hull(buffer));
        let whole = InstanceBuilder::new("filled").buffers(made.buffers().iter().map(filled));
        assert!(!check_layout(&whole.build().unwrap(), &layout).is_empty(), "the gaps are needed");

        let (made, layout) = packed(AttributedParams { binding_exclusions: 4, ..AttributedParams::NONE });
        assert_eq!((made.len(), made.exclusions().iter().count()), (64, 4));
        let free = InstanceBuilder::new("free").buffers(made.buffers().iter().cloned()).build().unwrap();
        assert_eq!(check_layout(&free, &layout).len(), 4, "the exclusions are needed");
    }

    fn hull(buffer: &Buffer) -> Lifespan {
        Lifespan::from_intervals([buffer.lifespan().hull()]).unwrap()
    }

    #[test]
    fn bad_arguments_are_refused() {
        let origin = perfect_packing(PackingParams::with_buffers(9), 3).unwrap();
        let refused = |layout: &Layout, params: AttributedParams| {
            attributed(&origin.instance, layout, &params, 5).unwrap_err().to_string()
        };
        let none = AttributedParams::NONE;
        assert!(
            refused(&origin.layout, AttributedParams { aligned: 101, ..none }).contains("aligned is 101")
        );
        assert!(
            refused(&origin.layout, AttributedParams { gap_steps: 0, ..none }).contains("gap_steps is 0")
        );
        assert!(refused(&Layout::from_raw([0; 9]), none).contains("the layout is not valid"));
    }
}
