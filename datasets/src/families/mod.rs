//! Families of instances. A family draws instances from a distribution with named parameters and a seed.
//!
//! All families need O(n log n) time and O(n) memory for n buffers, at most a hundred bytes per buffer. The
//! number of simultaneously live buffers stays bounded or grows slowly, as it does in programs. The
//! distribution determines how difficult it is to reach the load. If the live bytes are the same at all steps
//! (`packing`), waste at any step raises the peak. Otherwise, only waste near the steps with the most live
//! bytes raises it.

mod laws;
mod minimalloc;
mod perturbed;
mod recombined;

use crate::error::GenerateError;
use crate::family::{FamilyParam, Generator, family, param};
use crate::rows::Generated;
use plimsoll_model::Instance;
use std::collections::BTreeMap;

/// A family of instances.
pub type Family = Generator<Generated>;

impl Family {
    /// Generates the instance with this number of buffers and this seed, and with defaults for all other
    /// parameters.
    ///
    /// # Errors
    /// [`GenerateError`] if the family does not allow this number of buffers or has no parameter `buffers`,
    /// or if the sizes exceed the address space.
    pub fn make(&self, buffers: u64, seed: u64) -> Result<Instance, GenerateError> {
        self.generate(seed, &[("buffers".to_owned(), buffers)].into())?.instance()
    }

    /// Generates the instance for these parameters and this seed, row by row. Its name consists of the
    /// family, the given parameters except `buffers`, the number of buffers (if the family has that
    /// parameter) and the seed.
    ///
    /// # Errors
    /// [`GenerateError`] if a parameter is unknown or out of range.
    pub fn generate(&self, seed: u64, params: &BTreeMap<String, u64>) -> Result<Generated, GenerateError> {
        let (made, name) = self.make_named(seed, params)?;
        Ok(Generated { name, ..made })
    }

    /// Returns the family with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FAMILIES.iter().find(|family| family.name == name)
    }
}

/// The maximum value of parameters that are sizes or durations.
const WIDE: u64 = 1 << 60;

const BUFFERS: FamilyParam = param("buffers", 1000, "number of buffers");
const SPACING: FamilyParam = param("spacing", 2, "steps per buffer: higher values give sparser instances");
const MAX_DURATION: FamilyParam = param("max_duration", 1000, "longest lifespan, steps").up_to(WIDE);
const SIZES: FamilyParam = param("sizes", 1, "0: uniform; 1: log-uniform; 2: only powers of two");
const MIN_SIZE: FamilyParam = param("min_size", 64, "smallest size, bytes").up_to(WIDE);
const MAX_SIZE: FamilyParam = param("max_size", 1 << 20, "largest size, bytes").up_to(WIDE);
const UNIT: FamilyParam = param("unit", 64, "every size is a multiple of this, bytes").up_to(WIDE);
const HEIGHT: FamilyParam = param("bytes", 1 << 30, "height of the rectangle (the load), bytes").up_to(WIDE);
const PIECE: [FamilyParam; 3] = [
    param("min_duration", 2, "shortest lifespan, steps"),
    param("min_size", 1 << 10, "smallest size, bytes").up_to(WIDE),
    param("unit", 1 << 10, "every size is a multiple of this, bytes").up_to(WIDE),
];
const PINWHEELS: FamilyParam =
    param("pinwheels", 50, "percentage of the eligible rectangles that are cut into a pinwheel");

/// All families of instances.
pub const FAMILIES: &[Family] = &[
    family(
        "uniform",
        "uniform starts, durations up to 1000 steps, sizes up to 1 MiB",
        &[BUFFERS, SPACING, MAX_DURATION, SIZES.or(0), MIN_SIZE, MAX_SIZE, UNIT],
        laws::uniform,
    ),
    family(
        "log-uniform",
        "uniform starts, log-uniform durations up to 4096 steps, log-uniform sizes up to 1 MiB",
        &[BUFFERS, SPACING, MAX_DURATION.or(4096), SIZES, MIN_SIZE, MAX_SIZE, UNIT],
        laws::log_uniform,
    ),
    family(
        "heavy-tailed",
        "heavy-tailed durations: one in k is at least 4k steps; log-uniform sizes up to 1 MiB",
        &[
            BUFFERS,
            SPACING,
            param("min_duration", 4, "shortest lifespan, steps").up_to(WIDE),
            SIZES,
            MIN_SIZE,
            MAX_SIZE,
            UNIT,
        ],
        laws::heavy_tailed,
    ),
    family(
        "stack",
        "a trace of nested calls: frees the newest buffer or, in one of ten cases, a random one",
        &[
            BUFFERS,
            param("disorder", 10, "percentage of the frees that free a random buffer"),
            SIZES,
            MIN_SIZE,
            MAX_SIZE,
            UNIT,
        ],
        laws::stack,
    ),
    family(
        "trace",
        "a server trace with size classes: 90 % of the buffers are short-lived, 0.2 % live for a quarter to half of the run",
        &[
            BUFFERS,
            SPACING,
            param("young", 900, "buffers per thousand that live for at most 64 steps"),
            param("old", 2, "buffers per thousand that live for a quarter to half of the run"),
            param(
                "classes",
                7,
                "buffers in ten whose size is a power of two from 64 bytes to 16 KiB; the others have up to 4 MiB",
            ),
        ],
        laws::trace,
    ),
    family(
        "training",
        "20 forward and backward passes through layers: nested activations, temporaries in every layer",
        &[
            BUFFERS,
            param("rounds", 20, "forward and backward passes"),
            param("activations", 20, "buffers per layer that live until its backward pass"),
            param("temporaries", 40, "temporary buffers per layer and direction"),
        ],
        laws::training,
    ),
    family(
        "packing",
        "a full rectangle cut into pieces, with pinwheels: the live bytes are constant and equal the optimum",
        &[BUFFERS, SPACING.or(4), HEIGHT, PIECE[0], PIECE[1], PIECE[2], PINWHEELS],
        laws::packing,
    ),
    family(
        "guillotine",
        "a full rectangle cut repeatedly from edge to edge: the live bytes are constant and equal the optimum",
        &[BUFFERS, SPACING.or(4), HEIGHT, PIECE[0], PIECE[1], PIECE[2]],
        laws::guillotine,
    ),
    family(
        "perturbed",
        "a full rectangle cut into pieces, half of which shrink slightly: the optimum is at most the height of the rectangle",
        &[
            BUFFERS,
            SPACING.or(4),
            HEIGHT.or(1 << 20),
            PIECE[0],
            PIECE[1],
            PIECE[2],
            PINWHEELS,
            param("share", 50, "percentage of the buffers that shrink"),
            param("sizes", 10, "maximum percentage of its bytes that a buffer loses"),
            param("lives", 10, "maximum percentage of its steps that a buffer loses at each end"),
        ],
        perturbed::perturbed,
    ),
    family(
        "above-load",
        "constant live bytes, usually below the optimum: buffers freed together leave holes that fit no successor",
        &[
            BUFFERS.or(100),
            param("alive", 6, "approximate number of simultaneously live buffers"),
            param("bytes", 1 << 18, "live bytes at every step").up_to(WIDE),
            param("unit", 1 << 10, "every size is a multiple of this, bytes").up_to(WIDE),
            param("turnover", 3, "maximum number of buffers freed together, and of their successors"),
            param("late", 0, "1: only the last buffers rule out a layout at the load; 0: any buffers may"),
        ],
        laws::above_load,
    ),
    family(
        "recombined",
        "constant live bytes: the bytes freed at a step are divided at random among new buffers; the optimum may exceed the load",
        &[
            param(
                "alive",
                12,
                "number of buffers live at the first step; the number of live buffers changes slowly",
            )
            .up_to(1 << 12),
            param("steps", 20, "number of steps").up_to(1 << 14),
            param("continue", 70, "percentage of the live buffers that continue at the next step"),
            param("unit", 1, "every size is a multiple of this, bytes; the first sizes are 3 to 17 units")
                .up_to(1 << 30),
        ],
        recombined::recombined,
    ),
    family(
        "minimalloc-like",
        "like the challenging instances A to K of google/minimalloc: nearly full, with sizes of all magnitudes or bricks of similar size",
        &[
            BUFFERS.or(250),
            param(
                "law",
                0,
                "0: sizes of all magnitudes, like A to E and I to K; 1: bricks of similar size, like F to H",
            ),
            param("holes", 5, "law 0: pieces omitted per hundred buffers"),
            param("full", 10, "percentage of the steps at which no piece is omitted"),
            param("cuts", 40, "law 0: percentage of the cuts that split time; the others split addresses"),
            PINWHEELS.or(20),
        ],
        minimalloc::minimalloc_like,
    ),
];
