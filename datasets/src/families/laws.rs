//! Families that draw buffers one at a time, and families whose generators are in other modules of the crate.

use crate::above_load::{AboveLoadParams, above_load_rows};
use crate::error::{GenerateError, at_least};
use crate::family::Params;
use crate::packing::{PackingParams, Rectangle, pieces};
use crate::random::{interval_rows, log_uniform_number};
use crate::rows::{Generated, PlainBuffer};
use crate::{IntervalParams, LifeLaw, SizeLaw};
use plimsoll_model::Bytes;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

type Made = Result<Generated, GenerateError>;

fn steps(params: &Params) -> Result<u64, GenerateError> {
    Ok(params.get("buffers").saturating_mul(params.at_least("spacing", 1)?).max(16))
}

fn intervals(params: &Params, lives: LifeLaw, seed: u64) -> Made {
    let (min, max) = (params.at_least("min_size", 1)?, params.get("max_size"));
    let sizes = match params.at_most("sizes", 2)? {
        0 => SizeLaw::Uniform { min, max },
        1 => SizeLaw::LogUniform { min, max },
        _ => powers_of_two(min, max)?,
    };
    let buffers = params.get("buffers");
    let unit = params.get("unit");
    Ok(Generated::plain(interval_rows(IntervalParams { buffers, sizes, lives, unit }, seed)?))
}

/// Returns the distribution over the powers of two from `min` >= 1 to `max`.
fn powers_of_two(min: u64, max: u64) -> Result<SizeLaw, GenerateError> {
    let lowest = min.checked_next_power_of_two().unwrap_or(u64::MAX);
    if lowest > max {
        let (low_name, high_name) = ("the smallest power of two at or above min_size", "max_size");
        return Err(GenerateError::Reversed { low_name, low: lowest, high_name, high: max });
    }
    Ok(SizeLaw::PowersOfTwo { min_exponent: lowest.ilog2(), max_exponent: max.ilog2() })
}

pub(super) fn uniform(params: &Params, seed: u64) -> Made {
    let steps = steps(params)?;
    let max_duration = params.at_least("max_duration", 1)?.min(steps);
    intervals(params, LifeLaw::Uniform { steps, max_duration }, seed)
}

pub(super) fn log_uniform(params: &Params, seed: u64) -> Made {
    let steps = steps(params)?;
    let max_duration = params.at_least("max_duration", 1)?.min(steps);
    intervals(params, LifeLaw::LogUniform { steps, max_duration }, seed)
}

pub(super) fn heavy_tailed(params: &Params, seed: u64) -> Made {
    let (steps, min_duration) = (steps(params)?, params.get("min_duration"));
    intervals(params, LifeLaw::HeavyTailed { steps, min_duration }, seed)
}

pub(super) fn stack(params: &Params, seed: u64) -> Made {
    let disorder = params.percent("disorder")? as f64 / 100.0;
    intervals(params, LifeLaw::Stack { disorder }, seed)
}

pub(super) fn trace(params: &Params, seed: u64) -> Made {
    let steps = steps(params)?;
    let old = 1000 - params.at_most("old", 1000)?;
    // The shares of short-lived and long-lived buffers are given per thousand. The others are medium-lived.
    let (young, old) = (params.at_most("young", old)? as u32, old as u32);
    let classes = params.at_most("classes", 10)? as u32;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    Ok(Generated::plain((0..params.get("buffers")).map(move |_| {
        let age = rng.random_range(0..1000u32);
        let duration = if age < young {
            log_uniform_number(1, 64, &mut rng)
        } else if age < old {
            log_uniform_number(64, 4096, &mut rng)
        } else {
            rng.random_range(steps / 4..=steps / 2)
        };
        let duration = duration.min(steps);
        let lower = rng.random_range(0..=steps - duration);
        let size = if rng.random_range(0..10u32) < classes {
            1 << rng.random_range(6..=14u32)
        } else {
            log_uniform_number(64, 1 << 22, &mut rng).next_multiple_of(64)
        };
        PlainBuffer { lower, upper: lower + duration, size }
    })))
}

const LAYER: u64 = 10;

pub(super) fn training(params: &Params, seed: u64) -> Made {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (rounds, activations) = (params.at_least("rounds", 1)?, params.get("activations"));
    let temporaries = params.get("temporaries");
    let (per_layer, buffers) = (activations + 2 * temporaries, params.get("buffers"));
    at_least("activations + 2 temporaries", per_layer, 1)?;
    let layers = buffers.div_ceil(per_layer * rounds);
    Ok(Generated::plain((0..buffers).map(move |at| {
        let (place, part) = (at / per_layer, at % per_layer);
        let (round, layer) = (place / layers, place % layers);
        let begin = round * 2 * layers * LAYER;
        let forward = begin + layer * LAYER;
        let back = begin + (2 * layers - 1 - layer) * LAYER;
        if part < activations {
            let lower = forward + rng.random_range(0..LAYER);
            let upper = back + rng.random_range(1..=LAYER);
            let size = log_uniform_number(1 << 12, 1 << 20, &mut rng).next_multiple_of(64);
            return PlainBuffer { lower, upper: upper.max(lower + 1), size };
        }
        let from = if part < activations + temporaries { forward } else { back };
        let lower = from + rng.random_range(0..LAYER);
        let duration = rng.random_range(1..=3 * LAYER / 2);
        let size = log_uniform_number(1 << 12, 1 << 24, &mut rng).next_multiple_of(64);
        PlainBuffer { lower, upper: lower + duration, size }
    })))
}

/// Returns the parameters of the rectangle that is cut. With the default parameters, about a million pieces
/// fit on top of each other.
pub(super) fn rectangle(params: &Params) -> Result<PackingParams, GenerateError> {
    Ok(PackingParams {
        buffers: params.get("buffers"),
        steps: steps(params)?,
        bytes: params.get("bytes"),
        min_duration: params.get("min_duration"),
        min_size: params.get("min_size"),
        unit: params.get("unit"),
        pinwheel_share: 0.0,
    })
}

fn cut(params: PackingParams, seed: u64) -> Made {
    let pieces = pieces(params, &mut Xoshiro256PlusPlus::seed_from_u64(seed))?;
    let row = move |r: Rectangle| PlainBuffer { lower: r.x, upper: r.x + r.w, size: r.h * params.unit };
    let at_most = Some(Bytes::new(params.bytes));
    Ok(Generated { at_most, ..Generated::plain(pieces.into_iter().map(row)) })
}

pub(super) fn packing(params: &Params, seed: u64) -> Made {
    let pinwheel_share = params.percent("pinwheels")? as f64 / 100.0;
    cut(PackingParams { pinwheel_share, ..rectangle(params)? }, seed)
}

pub(super) fn guillotine(params: &Params, seed: u64) -> Made {
    cut(rectangle(params)?, seed)
}

pub(super) fn above_load(params: &Params, seed: u64) -> Made {
    let late = params.at_most("late", 1)? == 1;
    let params = AboveLoadParams {
        buffers: params.get("buffers"),
        live: params.get("alive"),
        bytes: params.get("bytes"),
        unit: params.get("unit"),
        turnover: params.get("turnover"),
    };
    let (rows, proved) = above_load_rows(params, late, seed)?;
    let at_least = Some(Bytes::new(params.bytes + if proved { params.unit } else { 0 }));
    Ok(Generated { at_least, ..Generated::plain(rows) })
}
