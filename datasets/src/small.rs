//! Generates small random instances with every feature of the model, for comparison with brute force.

use plimsoll_model::{Buffer, Instance, InstanceBuilder, Interval, Lifespan};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The features that a small random instance may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, one per feature")]
pub struct SmallParams {
    /// Number of buffers.
    pub buffers: usize,
    /// Number of steps, counted from 0.
    pub steps: u64,
    /// Maximum size in bytes; the minimum is 1.
    pub max_size: u64,
    /// Whether some lifespans have gaps.
    pub gaps: bool,
    /// Whether some buffers are aligned to 2, 3 or 4 bytes.
    pub alignment: bool,
    /// Whether some buffers have fixed offsets.
    pub fixed: bool,
    /// Whether some pairs are separated and some are excluded.
    pub pairs: bool,
    /// Whether some buffers lie at given distances above others.
    pub groups: bool,
    /// Whether some buffers have size 0.
    pub empty: bool,
}

impl SmallParams {
    /// Returns parameters with the features given by the bits of `mask`: 1 for `gaps`, 2 for `alignment`, 4
    /// for `fixed`, 8 for `pairs`.
    pub fn with_features(buffers: usize, mask: u64) -> Self {
        Self {
            buffers,
            steps: 8,
            max_size: 9,
            gaps: mask & 1 != 0,
            alignment: mask & 2 != 0,
            fixed: mask & 4 != 0,
            pairs: mask & 8 != 0,
            groups: false,
            empty: false,
        }
    }

    /// Returns parameters with rigid groups, and otherwise with the features given by the bits of `mask`: as
    /// in [`Self::with_features`], and 16 for `empty`.
    pub fn with_groups(buffers: usize, mask: u64) -> Self {
        Self { groups: true, empty: mask & 16 != 0, ..Self::with_features(buffers, mask) }
    }
}

/// Returns a small random instance. The same parameters and seed give the same instance.
///
/// # Panics
/// If `steps` or `max_size` is zero.
pub fn small_instance(params: SmallParams, seed: u64) -> Instance {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    // Fixed buffers may overlap, and statements about distances may exclude each other. In that case, draw
    // again.
    loop {
        let mut builder = InstanceBuilder::new(format!("small-{}-{seed}", params.buffers));
        for i in 0..params.buffers {
            let alignment =
                if params.alignment && rng.random_bool(0.4) { rng.random_range(2..=4) } else { 1 };
            let size = rng.random_range(1..=params.max_size);
            let size = if params.empty && rng.random_bool(0.2) { 0 } else { size };
            let mut buffer =
                Buffer::new(format!("b{i}"), size, lifespan(params, &mut rng)).aligned(alignment);
            if params.fixed && rng.random_bool(0.2) {
                buffer = buffer.fixed_at(alignment * rng.random_range(0..=2 * params.max_size / alignment));
            }
            builder = builder.buffer(buffer);
        }
        for a in 0..params.buffers {
            for b in a + 1..params.buffers {
                match if params.pairs { rng.random_range(0..8) } else { 8 } {
                    0 => builder = builder.separate(a, b),
                    1 => builder = builder.exclude(a, b),
                    _ => {}
                }
            }
        }
        if params.groups {
            builder = grouped(params, builder, &mut rng);
        }
        if let Ok(instance) = builder.build()
            && instance.contradiction().is_none()
        {
            return instance;
        }
    }
}

/// Places some buffers above others. Each lies above a buffer with a lower id, so there are no cycles.
fn grouped(
    params: SmallParams,
    mut builder: InstanceBuilder,
    rng: &mut Xoshiro256PlusPlus,
) -> InstanceBuilder {
    for upper in 1..params.buffers {
        if rng.random_bool(0.35) {
            let lower = rng.random_range(0..upper);
            builder = builder.above(upper, lower, rng.random_range(0..=2 * params.max_size));
        }
    }
    builder
}

fn lifespan(params: SmallParams, rng: &mut Xoshiro256PlusPlus) -> Lifespan {
    let lower = rng.random_range(0..params.steps);
    let upper = rng.random_range(lower + 1..=params.steps);
    let hull = Interval::new(lower, upper);
    if params.gaps && upper - lower >= 3 && rng.random_bool(0.5) {
        let from = rng.random_range(lower + 1..upper - 1);
        let to = rng.random_range(from + 1..upper);
        return Lifespan::with_gaps(hull, [Interval::new(from, to)]).expect("the gap lies inside the hull");
    }
    Lifespan::from_intervals([hull]).expect("the interval contains a step")
}
