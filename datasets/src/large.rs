//! Families of large instances: several laws, one number of buffers, one seed.
//!
//! All are made in O(n) time and memory apart from sorting, and the number of buffers alive at once stays bounded or grows
//! slowly, as it does in programs. The *law* says how hard it is to reach the load: where the load is flat (`packing`), any
//! waste anywhere counts; where it peaks, only waste near the peak does.

use crate::error::{GenerateError, at_least};
use crate::{IntervalParams, LifeLaw, PackingParams, SizeLaw, guillotine, perfect_packing, random_intervals};
use plimsoll_model::{Buffer, Instance, InstanceBuilder, Lifespan};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// A law by name.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name users type.
    pub name: &'static str,
    /// What it is like, in one line.
    pub about: &'static str,
    make: fn(u64, u64) -> Result<Instance, GenerateError>,
}

impl Family {
    /// The instance of so many buffers with this seed, called `NAME-BUFFERS-SEED`; the same on any machine.
    ///
    /// # Errors
    /// [`GenerateError`] for a number of buffers that the law does not allow, or whose sizes leave the address space.
    pub fn make(&self, buffers: u64, seed: u64) -> Result<Instance, GenerateError> {
        at_least("buffers", buffers, 1)?;
        if buffers > MOST {
            return Err(GenerateError::TooBig { name: "buffers", value: buffers, most: MOST });
        }
        let made = (self.make)(buffers, seed)?;
        Ok(made.with_name(format!("{}-{buffers}-{seed}", self.name)))
    }

    /// True where the load of every instance is its optimum: those are cut from a full rectangle.
    pub fn is_tight(&self) -> bool {
        matches!(self.name, "packing" | "guillotine")
    }

    /// The family of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FAMILIES.iter().find(|family| family.name == name)
    }
}

/// Most buffers of an instance: gigabytes, as for operators of graphs.
const MOST: u64 = 1 << 24;

/// Every family.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "uniform",
        about: "begins anywhere, durations to 1000 steps, sizes to 1 MiB, all uniform",
        make: |buffers, seed| {
            let steps = steps(buffers);
            let lives = LifeLaw::Uniform { steps, max_duration: steps.min(1000) };
            let sizes = SizeLaw::Uniform { min: 64, max: 1 << 20 };
            intervals(IntervalParams { sizes, lives, ..IntervalParams::with_buffers(buffers) }, seed)
        },
    },
    Family {
        name: "log-uniform",
        about: "begins anywhere, durations to 4096 steps and sizes to 1 MiB, every power of two as likely",
        make: |buffers, seed| {
            let steps = steps(buffers);
            let lives = LifeLaw::LogUniform { steps, max_duration: steps.min(4096) };
            intervals(IntervalParams { lives, ..IntervalParams::with_buffers(buffers) }, seed)
        },
    },
    Family {
        name: "heavy-tailed",
        about: "most live four steps, one in k at least 4 k; sizes of every power of two to 1 MiB as likely",
        make: |buffers, seed| {
            let lives = LifeLaw::HeavyTailed { steps: steps(buffers), min_duration: 4 };
            intervals(IntervalParams { lives, ..IntervalParams::with_buffers(buffers) }, seed)
        },
    },
    Family {
        name: "stack",
        about: "a trace of nested calls: allocates or frees the newest, one free in ten is of any",
        make: |buffers, seed| {
            let lives = LifeLaw::Stack { disorder: 0.1 };
            intervals(IntervalParams { lives, ..IntervalParams::with_buffers(buffers) }, seed)
        },
    },
    Family {
        name: "trace",
        about: "a trace of a server: 90 % die young, 0.2 % live for a quarter to half of the run; size classes",
        make: trace,
    },
    Family {
        name: "training",
        about: "20 rounds forward and back through layers: nested activations, temporaries in every layer",
        make: training,
    },
    Family {
        name: "packing",
        about: "a full rectangle cut into pieces, pinwheels among them: the load is flat and the optimum",
        make: |buffers, seed| Ok(perfect_packing(packing(buffers), seed)?.instance),
    },
    Family {
        name: "guillotine",
        about: "a full rectangle cut from edge to edge again and again: the load is flat and the optimum",
        make: |buffers, seed| Ok(guillotine(packing(buffers), seed)?.instance),
    },
];

fn steps(buffers: u64) -> u64 {
    buffers.saturating_mul(2).max(16)
}

fn intervals(params: IntervalParams, seed: u64) -> Result<Instance, GenerateError> {
    random_intervals(params, seed)
}

/// A gibibyte in units of a kibibyte, so that a thousand pieces fit on top of each other with room to spare.
fn packing(buffers: u64) -> PackingParams {
    PackingParams { bytes: 1 << 30, ..PackingParams::with_buffers(buffers) }
}

/// From `min` >= 1 to `max`, every power of two as likely.
fn any_magnitude(min: u64, max: u64, rng: &mut Xoshiro256PlusPlus) -> u64 {
    let lowest = 1u64 << rng.random_range(min.ilog2()..=max.ilog2());
    rng.random_range(lowest.max(min)..=(2 * lowest - 1).min(max))
}

fn buffer(at: usize, lower: u64, upper: u64, size: u64) -> Buffer {
    let lifespan = Lifespan::single(lower, upper).expect("a life holds a step");
    Buffer::new(format!("b{at}"), size, lifespan)
}

fn trace(buffers: u64, seed: u64) -> Result<Instance, GenerateError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let steps = steps(buffers);
    let made = (0..buffers as usize).map(|at| {
        let duration = match rng.random_range(0..1000u32) {
            0..900 => any_magnitude(1, 64, &mut rng),
            900..998 => any_magnitude(64, 4096, &mut rng),
            _ => rng.random_range(steps / 4..=steps / 2),
        };
        let duration = duration.min(steps);
        let lower = rng.random_range(0..=steps - duration);
        let size = if rng.random_range(0..10u32) < 7 {
            1 << rng.random_range(6..=14u32)
        } else {
            any_magnitude(64, 1 << 22, &mut rng).next_multiple_of(64)
        };
        buffer(at, lower, lower + duration, size)
    });
    Ok(InstanceBuilder::new("trace").buffers(made).build()?)
}

/// Rounds, steps per layer, activations per layer, temporaries per layer and direction.
const ROUNDS: u64 = 20;
const LAYER: u64 = 10;
const ACTIVATIONS: u64 = 20;
const TEMPORARIES: u64 = 40;

fn training(buffers: u64, seed: u64) -> Result<Instance, GenerateError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let per_layer = ACTIVATIONS + 2 * TEMPORARIES;
    let layers = buffers.div_ceil(per_layer * ROUNDS);
    let made = (0..buffers).map(|at| {
        let (place, part) = (at / per_layer, at % per_layer);
        let (round, layer) = (place / layers, place % layers);
        let begin = round * 2 * layers * LAYER;
        let forward = begin + layer * LAYER;
        let back = begin + (2 * layers - 1 - layer) * LAYER;
        if part < ACTIVATIONS {
            let lower = forward + rng.random_range(0..LAYER);
            let upper = back + rng.random_range(1..=LAYER);
            let size = any_magnitude(1 << 12, 1 << 20, &mut rng).next_multiple_of(64);
            return buffer(at as usize, lower, upper.max(lower + 1), size);
        }
        let from = if part < ACTIVATIONS + TEMPORARIES { forward } else { back };
        let lower = from + rng.random_range(0..LAYER);
        let duration = rng.random_range(1..=3 * LAYER / 2);
        let size = any_magnitude(1 << 12, 1 << 24, &mut rng).next_multiple_of(64);
        buffer(at as usize, lower, lower + duration, size)
    });
    Ok(InstanceBuilder::new("training").buffers(made).build()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::load;

    #[test]
    fn families_keep_their_promises() {
        for family in FAMILIES {
            for buffers in [1, 7, 100, 3000] {
                let made = family.make(buffers, 3).unwrap();
                assert_eq!(made.len() as u64, buffers, "{}", family.name);
                assert_eq!(made, family.make(buffers, 3).unwrap(), "{}", family.name);
                assert_eq!(made.name(), format!("{}-{buffers}-3", family.name));
                assert!(load(&made).0 < made.total_size() || buffers < 100, "{}", family.name);
            }
            assert_ne!(family.make(100, 1).unwrap(), family.make(100, 2).unwrap().with_name("x"));
            assert!(family.make(0, 1).is_err());
            assert_eq!(Family::named(family.name).unwrap().about, family.about);
        }
        assert!(Family::named("none").is_none());
    }

    #[test]
    #[ignore = "takes some seconds per family"]
    fn families_reach_a_million() {
        for family in FAMILIES {
            assert_eq!(family.make(1_000_000, 1).unwrap().len(), 1_000_000, "{}", family.name);
        }
    }
}
