//! Random instances with every feature of the model, and a random number generator.

use plimsoll_model::{Buffer, Instance, InstanceBuilder, Interval, Lifespan};
use proptest::prelude::*;

/// Generates lifespans of one to three intervals within `0..steps`.
pub fn lifespan(steps: u64) -> impl Strategy<Value = Lifespan> {
    proptest::collection::btree_set(0..=steps, 2..=6).prop_map(|cuts| {
        let cuts: Vec<u64> = cuts.into_iter().collect();
        let parts = cuts.chunks_exact(2).map(|pair| Interval::new(pair[0], pair[1]));
        Lifespan::from_intervals(parts).expect("cuts ascend strictly")
    })
}

fn buffer(steps: u64, max_size: u64) -> impl Strategy<Value = Buffer> {
    let rare = |max: u64| proptest::option::weighted(0.2, 0..=max);
    (lifespan(steps), 1..=max_size, 1u64..=4, rare(max_size), rare(2 * max_size)).prop_map(
        |(lifespan, size, alignment, fixed, hint)| {
            let mut buffer = Buffer::new("", size, lifespan).aligned(alignment);
            if let Some(units) = fixed {
                buffer = buffer.fixed_at(units / alignment * alignment);
            }
            if let Some(offset) = hint {
                buffer = buffer.hinted(offset);
            }
            buffer
        },
    )
}

fn named(buffer: &Buffer, name: &str) -> Buffer {
    let mut copy = Buffer::new(name, buffer.size(), buffer.lifespan().clone()).aligned(buffer.alignment());
    if let Some(offset) = buffer.fixed() {
        copy = copy.fixed_at(offset);
    }
    if let Some(offset) = buffer.hint() {
        copy = copy.hinted(offset);
    }
    copy
}

/// Generates instances of up to `most` buffers with gaps, alignments, fixed offsets, hints, separations and
/// exclusions. Names match the regular expression `name`. If fixed offsets contradict each other, the fixed
/// buffers are omitted.
pub fn instance(
    most: usize,
    steps: u64,
    max_size: u64,
    name: &'static str,
) -> impl Strategy<Value = Instance> {
    let pairs = || proptest::collection::btree_set((0..most, 0..most), 0..4);
    let buffers = proptest::collection::vec(buffer(steps, max_size), 0..=most);
    let names = proptest::collection::btree_set(name, most..=most);
    (buffers, names, pairs(), pairs()).prop_map(move |(buffers, names, separate, exclude)| {
        let buffers: Vec<Buffer> = buffers.iter().zip(&names).map(|(b, name)| named(b, name)).collect();
        let build = |buffers: &[Buffer]| {
            let ordered = |&(a, b): &(usize, usize)| (a.min(b), a.max(b));
            let usable = |&(a, b): &(usize, usize)| a < b && b < buffers.len();
            let separate: Vec<_> = separate.iter().map(ordered).filter(usable).collect();
            let mut builder = InstanceBuilder::new("t").buffers(buffers.iter().cloned());
            for &(a, b) in &separate {
                builder = builder.separate(a, b);
            }
            for (a, b) in exclude.iter().map(ordered).filter(usable) {
                if !separate.contains(&(a, b)) {
                    builder = builder.exclude(a, b);
                }
            }
            builder.build()
        };
        let free: Vec<Buffer> = buffers.iter().filter(|b| b.fixed().is_none()).cloned().collect();
        let kept = build(&buffers).ok().filter(|instance| instance.contradiction().is_none());
        kept.unwrap_or_else(|| build(&free).expect("without fixed buffers nothing collides"))
    })
}

/// A stream of random numbers.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
