//! Families of instances: several laws, parameters by name, one seed.
//!
//! All are made in O(n log n) time and O(n) memory of at most a hundred bytes per buffer, and the number of
//! simultaneously live buffers stays bounded or grows slowly, as it does in programs. The *law* determines how
//! hard it is to reach the load: where the load is flat (`packing`), any waste anywhere counts; where it peaks, only
//! waste near the peak does.

mod laws;
mod minimalloc;
mod perturbed;

use crate::error::GenerateError;
use crate::family::{FamilyParam, Generator, family, param};
use crate::rows::Generated;
use plimsoll_model::Instance;
use std::collections::BTreeMap;

/// A family of instances.
pub type Family = Generator<Generated>;

impl Family {
    /// The instance with this many buffers and this seed, other parameters by default.
    ///
    /// # Errors
    /// [`GenerateError`] for a number of buffers that the law does not allow, or whose sizes leave the address space.
    pub fn make(&self, buffers: u64, seed: u64) -> Result<Instance, GenerateError> {
        self.generate(seed, &[("buffers".to_owned(), buffers)].into())?.instance()
    }

    /// The instance of these parameters and this seed, row by row, called after the family, the other
    /// parameters given, the number of buffers and the seed.
    ///
    /// # Errors
    /// [`GenerateError`] for parameters the family does not have or allow.
    pub fn generate(&self, seed: u64, params: &BTreeMap<String, u64>) -> Result<Generated, GenerateError> {
        let (made, name) = self.make_named(seed, params)?;
        Ok(Generated { name, ..made })
    }

    /// The family of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FAMILIES.iter().find(|family| family.name == name)
    }
}

/// Largest sizes and durations that can be asked for.
const WIDE: u64 = 1 << 60;

const BUFFERS: FamilyParam = param("buffers", 1000, "number of buffers");
const SPACING: FamilyParam = param("spacing", 2, "steps per buffer: more make it sparser");
const MAX_DURATION: FamilyParam = param("max_duration", 1000, "longest life, steps").up_to(WIDE);
const SIZES: FamilyParam =
    param("sizes", 1, "0: every size as likely; 1: every power of two; 2: powers of two only");
const MIN_SIZE: FamilyParam = param("min_size", 64, "least size, bytes").up_to(WIDE);
const MAX_SIZE: FamilyParam = param("max_size", 1 << 20, "largest size, bytes").up_to(WIDE);
const UNIT: FamilyParam = param("unit", 64, "sizes are multiples of this, bytes").up_to(WIDE);
const HEIGHT: FamilyParam = param("bytes", 1 << 30, "height of the rectangle, bytes: the load").up_to(WIDE);
const PIECE: [FamilyParam; 3] = [
    param("min_duration", 2, "shortest life, steps"),
    param("min_size", 1 << 10, "least size, bytes").up_to(WIDE),
    param("unit", 1 << 10, "sizes are multiples of this, bytes").up_to(WIDE),
];
const PINWHEELS: FamilyParam =
    param("pinwheels", 50, "percent of the places where one fits that are cut into a pinwheel");

/// Every family.
pub const FAMILIES: &[Family] = &[
    family(
        "uniform",
        "begins anywhere, durations to 1000 steps, sizes to 1 MiB, all uniform",
        &[BUFFERS, SPACING, MAX_DURATION, SIZES.or(0), MIN_SIZE, MAX_SIZE, UNIT],
        laws::uniform,
    ),
    family(
        "log-uniform",
        "begins anywhere, durations to 4096 steps and sizes to 1 MiB, every power of two as likely",
        &[BUFFERS, SPACING, MAX_DURATION.or(4096), SIZES, MIN_SIZE, MAX_SIZE, UNIT],
        laws::log_uniform,
    ),
    family(
        "heavy-tailed",
        "most live four steps, one in k at least 4 k; sizes of every power of two to 1 MiB as likely",
        &[
            BUFFERS,
            SPACING,
            param("min_duration", 4, "shortest life, steps").up_to(WIDE),
            SIZES,
            MIN_SIZE,
            MAX_SIZE,
            UNIT,
        ],
        laws::heavy_tailed,
    ),
    family(
        "stack",
        "a trace of nested calls: allocates or frees the newest, one free in ten is of any",
        &[
            BUFFERS,
            param("disorder", 10, "percent of the frees that free any buffer"),
            SIZES,
            MIN_SIZE,
            MAX_SIZE,
            UNIT,
        ],
        laws::stack,
    ),
    family(
        "trace",
        "a trace of a server: 90 % die young, 0.2 % live for a quarter to half of the run; size classes",
        &[
            BUFFERS,
            SPACING,
            param("young", 900, "so many of a thousand live for 64 steps at most"),
            param("old", 2, "so many of a thousand live for a quarter to half of the run"),
            param(
                "classes",
                7,
                "so many of ten have a size of a power of two, 64 bytes to 16 KiB; the others take up to 4 MiB",
            ),
        ],
        laws::trace,
    ),
    family(
        "training",
        "20 rounds forward and back through layers: nested activations, temporaries in every layer",
        &[
            BUFFERS,
            param("rounds", 20, "rounds forward and back"),
            param("activations", 20, "buffers per layer that live until it is met again on the way back"),
            param("temporaries", 40, "buffers per layer and direction that do not"),
        ],
        laws::training,
    ),
    family(
        "packing",
        "a full rectangle cut into pieces, pinwheels among them: the load is flat and the optimum",
        &[BUFFERS, SPACING.or(4), HEIGHT, PIECE[0], PIECE[1], PIECE[2], PINWHEELS],
        laws::packing,
    ),
    family(
        "guillotine",
        "a full rectangle cut from edge to edge again and again: the load is flat and the optimum",
        &[BUFFERS, SPACING.or(4), HEIGHT, PIECE[0], PIECE[1], PIECE[2]],
        laws::guillotine,
    ),
    family(
        "perturbed",
        "a full rectangle cut into pieces, half of which shrink a little: the optimum is at most its height",
        &[
            BUFFERS,
            SPACING.or(4),
            HEIGHT.or(1 << 20),
            PIECE[0],
            PIECE[1],
            PIECE[2],
            PINWHEELS,
            param("share", 50, "percent of the buffers that shrink"),
            param("sizes", 10, "they lose up to so many percent of their bytes"),
            param("lives", 10, "and up to so many percent of their steps, at either end"),
        ],
        perturbed::perturbed,
    ),
    family(
        "above-load",
        "the load is flat and tends to lie below the optimum: those that die together leave holes that no heir fits",
        &[
            BUFFERS.or(100),
            param("alive", 6, "about so many are alive at a step"),
            param("bytes", 1 << 18, "the load at every step, bytes").up_to(WIDE),
            param("unit", 1 << 10, "sizes are multiples of this, bytes").up_to(WIDE),
            param("turnover", 3, "most that die together, and most heirs"),
            param("late", 0, "1: the contradiction comes with the last buffers; 0: anywhere"),
        ],
        laws::above_load,
    ),
    family(
        "minimalloc-like",
        "like the challenging instances A to K of google/minimalloc: nearly full, sizes of all magnitudes or bricks",
        &[
            BUFFERS.or(250),
            param("law", 0, "0: of all magnitudes, like A to E and I to K; 1: bricks, like F to H"),
            param("holes", 5, "law 0: so many pieces are left out for each hundred buffers"),
            param("full", 10, "percent of the steps at which no piece is left out"),
            param("cuts", 40, "law 0: percent of the cuts that part steps; the others part bytes"),
            PINWHEELS.or(20),
        ],
        minimalloc::minimalloc_like,
    ),
];
