//! Random instances of up to millions of plain buffers, with several distributions of sizes and lifespans.
//!
//! All arithmetic is on integers, so results do not depend on a math library. For n buffers, generation takes
//! O(n) time and memory, apart from the validation of the instance. With a disordered stack, freeing a buffer
//! also takes time linear in the number of live buffers.

use crate::error::{GenerateError, at_least, share};
use crate::rows::PlainBuffer;
use plimsoll_model::{Instance, InstanceBuilder, Interval};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The distribution of sizes, in bytes before rounding up to the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeLaw {
    /// A uniform distribution of sizes from `min` to `max`.
    Uniform {
        /// The smallest size in bytes, at least 1.
        min: u64,
        /// The largest size in bytes.
        max: u64,
    },
    /// A log-uniform distribution. First, a binary order of magnitude is drawn uniformly, and then a size of
    /// that magnitude.
    LogUniform {
        /// The smallest size in bytes, at least 1.
        min: u64,
        /// The largest size in bytes.
        max: u64,
    },
    /// Powers of two with uniformly distributed exponents.
    PowersOfTwo {
        /// The smallest exponent.
        min_exponent: u32,
        /// The largest exponent, at most 62.
        max_exponent: u32,
    },
}

/// The distribution of lifespans. Except for `Stack`, all positions at which a lifespan fits into `steps` are
/// equally likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LifeLaw {
    /// A uniform distribution of durations from 1 to `max_duration`.
    Uniform {
        /// The number of steps. All lifespans lie in `[0, steps)`.
        steps: u64,
        /// The longest duration in steps, at most `steps`.
        max_duration: u64,
    },
    /// A log-uniform distribution of durations from 1 to `max_duration`, like that of sizes.
    LogUniform {
        /// The number of steps. All lifespans lie in `[0, steps)`.
        steps: u64,
        /// The longest duration in steps, at most `steps`.
        max_duration: u64,
    },
    /// A heavy-tailed distribution. About half of the buffers live for less than twice `min_duration` steps.
    /// For every `k`, about one buffer in `k` lives for at least `k` times `min_duration` steps.
    HeavyTailed {
        /// The number of steps. All lifespans lie in `[0, steps)`.
        steps: u64,
        /// The shortest duration in steps, at least 1 and at most `steps`.
        min_duration: u64,
    },
    /// A distribution like that in the trace of an allocator under nested calls. Every step allocates a
    /// buffer or frees the newest live buffer, with equal probability if both are possible. There are twice
    /// as many steps as buffers.
    Stack {
        /// The probability, from 0 to 1, that the freed buffer is a random live one instead of the newest.
        disorder: f64,
    },
}

/// The parameters of a random instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalParams {
    /// The number of buffers, possibly zero.
    pub buffers: u64,
    /// The distribution of sizes.
    pub sizes: SizeLaw,
    /// The distribution of lifespans.
    pub lives: LifeLaw,
    /// Sizes are rounded up to multiples of this number of bytes, which is at least 1.
    pub unit: u64,
}

impl IntervalParams {
    /// Returns parameters for `buffers` buffers, with log-uniform sizes up to one MiB and durations up to a
    /// sixteenth of the steps.
    pub fn with_buffers(buffers: u64) -> Self {
        let steps = buffers.saturating_mul(2).max(16);
        Self {
            buffers,
            sizes: SizeLaw::LogUniform { min: 64, max: 1 << 20 },
            lives: LifeLaw::LogUniform { steps, max_duration: steps / 16 },
            unit: 64,
        }
    }

    fn validate(&self) -> Result<(), GenerateError> {
        at_least("unit", self.unit, 1)?;
        match self.sizes {
            SizeLaw::Uniform { min, max } | SizeLaw::LogUniform { min, max } => {
                at_least("min_size", min, 1)?;
                ordered(("min_size", min), ("max_size", max))?;
            }
            SizeLaw::PowersOfTwo { min_exponent, max_exponent } => {
                ordered(
                    ("min_exponent", u64::from(min_exponent)),
                    ("max_exponent", u64::from(max_exponent)),
                )?;
                ordered(("max_exponent", u64::from(max_exponent)), ("the largest exponent", 62))?;
            }
        }
        match self.lives {
            LifeLaw::Uniform { steps, max_duration } | LifeLaw::LogUniform { steps, max_duration } => {
                at_least("max_duration", max_duration, 1)?;
                ordered(("max_duration", max_duration), ("steps", steps))
            }
            LifeLaw::HeavyTailed { steps, min_duration } => {
                at_least("min_duration", min_duration, 1)?;
                ordered(("min_duration", min_duration), ("steps", steps))
            }
            LifeLaw::Stack { disorder } => share("disorder", disorder),
        }
    }
}

fn ordered(low: (&'static str, u64), high: (&'static str, u64)) -> Result<(), GenerateError> {
    if low.1 <= high.1 {
        return Ok(());
    }
    Err(GenerateError::Reversed { low_name: low.0, low: low.1, high_name: high.0, high: high.1 })
}

/// Generates a random instance of plain buffers. The same parameters and seed give the same instance.
///
/// # Errors
/// [`GenerateError`] for parameters out of range, and if the sizes add up to more than 2^63 - 1 bytes.
pub fn random_intervals(params: IntervalParams, seed: u64) -> Result<Instance, GenerateError> {
    let name = format!("random-{}-{seed}", params.buffers);
    let buffers = interval_rows(params, seed)?.enumerate().map(|(at, row)| row.buffer(at));
    Ok(InstanceBuilder::new(name).buffers(buffers).build()?)
}

/// Generates the instance of [`random_intervals`] row by row. All lifespans are drawn before the first row;
/// they need 16 bytes each.
pub(crate) fn interval_rows(
    params: IntervalParams,
    seed: u64,
) -> Result<impl Iterator<Item = PlainBuffer>, GenerateError> {
    params.validate()?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let lives = match params.lives {
        LifeLaw::Stack { disorder } => stack_lives(params.buffers, disorder, &mut rng),
        law => (0..params.buffers).map(|_| independent_life(law, &mut rng)).collect(),
    };
    Ok(lives.into_iter().map(move |life| {
        let size = size(params.sizes, &mut rng);
        // A size that overflows when it is rounded up is rejected later, with the sum of all sizes.
        let size = size.checked_next_multiple_of(params.unit).unwrap_or(u64::MAX);
        PlainBuffer { lower: life.lower.get(), upper: life.upper.get(), size }
    }))
}

fn size(law: SizeLaw, rng: &mut Xoshiro256PlusPlus) -> u64 {
    match law {
        SizeLaw::Uniform { min, max } => rng.random_range(min..=max),
        SizeLaw::LogUniform { min, max } => log_uniform_number(min, max, rng),
        SizeLaw::PowersOfTwo { min_exponent, max_exponent } => {
            1 << rng.random_range(min_exponent..=max_exponent)
        }
    }
}

/// Draws a log-uniform number from `min` >= 1 to `max`: first the binary order of magnitude, then a number of
/// that magnitude.
pub(crate) fn log_uniform_number(min: u64, max: u64, rng: &mut Xoshiro256PlusPlus) -> u64 {
    let lowest = 1u64 << rng.random_range(min.ilog2()..=max.ilog2());
    let highest = lowest - 1 + lowest;
    rng.random_range(lowest.max(min)..=highest.min(max))
}

fn independent_life(law: LifeLaw, rng: &mut Xoshiro256PlusPlus) -> Interval {
    let (steps, duration) = match law {
        LifeLaw::Uniform { steps, max_duration } => (steps, rng.random_range(1..=max_duration)),
        LifeLaw::LogUniform { steps, max_duration } => (steps, log_uniform_number(1, max_duration, rng)),
        LifeLaw::HeavyTailed { steps, min_duration } => {
            // Computes min / u for u uniform in (0, 1], in steps of 2^-32.
            let share = u128::from(rng.random_range(1..=1u64 << 32));
            let duration = (u128::from(min_duration) << 32) / share;
            (steps, duration.min(u128::from(steps)) as u64)
        }
        LifeLaw::Stack { .. } => unreachable!("stacked lives depend on each other"),
    };
    let lower = rng.random_range(0..=steps - duration);
    Interval::new(lower, lower + duration)
}

fn stack_lives(buffers: u64, disorder: f64, rng: &mut Xoshiro256PlusPlus) -> Vec<Interval> {
    let mut lives: Vec<Interval> = Vec::with_capacity(buffers as usize);
    let mut live: Vec<usize> = Vec::new();
    for step in 0..2 * buffers {
        let started = lives.len() as u64;
        if live.is_empty() || (started < buffers && rng.random_bool(0.5)) {
            live.push(lives.len());
            lives.push(Interval::new(step, step + 1));
            continue;
        }
        let newest = live.len() - 1;
        let ends =
            if rng.random_bool(disorder) { rng.random_range(0..=newest as u64) as usize } else { newest };
        lives[live.remove(ends)].upper = step.into();
    }
    lives
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size_law() -> impl Strategy<Value = SizeLaw> {
        prop_oneof![
            (1u64..50, 0u64..1000).prop_map(|(min, more)| SizeLaw::Uniform { min, max: min + more }),
            (1u64..50, 0u64..1000).prop_map(|(min, more)| SizeLaw::LogUniform { min, max: min + more }),
            (0u32..20, 0u32..20).prop_map(|(min_exponent, more)| SizeLaw::PowersOfTwo {
                min_exponent,
                max_exponent: min_exponent + more
            }),
        ]
    }

    fn life_law() -> impl Strategy<Value = LifeLaw> {
        prop_oneof![
            (1u64..50, 0u64..50).prop_map(|(d, more)| LifeLaw::Uniform { steps: d + more, max_duration: d }),
            (1u64..50, 0u64..50)
                .prop_map(|(d, more)| LifeLaw::LogUniform { steps: d + more, max_duration: d }),
            (1u64..50, 0u64..50)
                .prop_map(|(d, more)| LifeLaw::HeavyTailed { steps: d + more, min_duration: d }),
            (0.0..=1.0f64).prop_map(|disorder| LifeLaw::Stack { disorder }),
        ]
    }

    fn within(law: SizeLaw, unit: u64) -> (u64, u64) {
        let (low, high) = match law {
            SizeLaw::Uniform { min, max } | SizeLaw::LogUniform { min, max } => (min, max),
            SizeLaw::PowersOfTwo { min_exponent, max_exponent } => (1 << min_exponent, 1 << max_exponent),
        };
        (low.next_multiple_of(unit), high.next_multiple_of(unit))
    }

    proptest! {
        #[test]
        fn laws_are_kept(
            buffers in 0u64..200, sizes in size_law(), lives in life_law(), unit in 1u64..70, seed: u64,
        ) {
            let params = IntervalParams { buffers, sizes, lives, unit };
            let instance = random_intervals(params, seed).unwrap();
            prop_assert_eq!(&random_intervals(params, seed).unwrap(), &instance);
            prop_assert_eq!(instance.len() as u64, buffers);
            let (low, high) = within(sizes, unit);
            for b in instance.buffers() {
                let (size, life) = (b.size().get(), b.lifespan());
                prop_assert!(size.is_multiple_of(unit) && (low..=high).contains(&size));
                match lives {
                    LifeLaw::Uniform { steps, max_duration } | LifeLaw::LogUniform { steps, max_duration } => {
                        prop_assert!(life.duration() <= max_duration && life.hull().upper.get() <= steps);
                    }
                    LifeLaw::HeavyTailed { steps, min_duration } => {
                        prop_assert!(life.duration() >= min_duration && life.hull().upper.get() <= steps);
                    }
                    LifeLaw::Stack { .. } => prop_assert!(life.hull().upper.get() <= 2 * buffers),
                }
            }
        }
    }

    #[test]
    fn an_orderly_stack_nests() {
        let params =
            IntervalParams { lives: LifeLaw::Stack { disorder: 0.0 }, ..IntervalParams::with_buffers(300) };
        let instance = random_intervals(params, 3).unwrap();
        let hulls: Vec<Interval> = instance.buffers().iter().map(|b| b.lifespan().hull()).collect();
        for (i, a) in hulls.iter().enumerate() {
            for b in &hulls[i + 1..] {
                assert!(b.lower >= a.upper || b.upper <= a.upper, "{a} {b}");
            }
        }
    }

    #[test]
    fn heavy_tails_are_heavy() {
        let lives = LifeLaw::HeavyTailed { steps: 1 << 20, min_duration: 2 };
        let params = IntervalParams { lives, ..IntervalParams::with_buffers(10_000) };
        let instance = random_intervals(params, 5).unwrap();
        let long = instance.buffers().iter().filter(|b| b.lifespan().duration() >= 200).count();
        assert!((60..=140).contains(&long), "about one in a hundred, not {long} of 10000");
    }

    #[test]
    fn a_million_buffers_are_drawn() {
        let instance = random_intervals(IntervalParams::with_buffers(1_000_000), 1).unwrap();
        assert_eq!(instance.len(), 1_000_000);
    }

    #[test]
    fn bad_parameters_are_named() {
        let params = IntervalParams::with_buffers(10);
        let error = |params| random_intervals(params, 0).unwrap_err().to_string();
        let sizes = SizeLaw::Uniform { min: 9, max: 8 };
        assert_eq!(
            error(IntervalParams { sizes, ..params }),
            "min_size is 9, but must not exceed max_size, which is 8"
        );
        let lives = LifeLaw::Uniform { steps: 4, max_duration: 5 };
        assert_eq!(
            error(IntervalParams { lives, ..params }),
            "max_duration is 5, but must not exceed steps, which is 4"
        );
        let sizes = SizeLaw::Uniform { min: u64::MAX, max: u64::MAX };
        assert!(error(IntervalParams { sizes, ..params }).contains("laid end to end"));
        let lives = LifeLaw::Stack { disorder: f64::NAN };
        assert_eq!(
            error(IntervalParams { lives, ..params }),
            "disorder is NaN, but must lie between 0 and 1"
        );
    }
}
