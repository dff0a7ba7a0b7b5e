use super::values::bytes_within;
use clap::{Args, ValueEnum};
use plimsoll::model::Bytes;
use plimsoll::model::graph::{Boundary, LivenessOptions};

/// Assumptions about liveness.
#[derive(Args, Clone, Copy, Debug)]
pub struct LivenessArgs {
    #[command(flatten)]
    pub activations: ActivationLivenessArgs,
    /// Keep weights in the arena for the whole run
    #[arg(long, help_heading = "Options for models")]
    pub weights: bool,
}

impl LivenessArgs {
    /// Converts the arguments to the options of the library.
    pub fn options(self) -> LivenessOptions {
        LivenessOptions { weights: self.weights, ..self.activations.options() }
    }
}

/// Assumptions about the liveness of all tensors except weights.
#[derive(Args, Clone, Copy, Debug)]
pub struct ActivationLivenessArgs {
    /// Where graph inputs and outputs are stored, and for how long
    #[arg(long, value_name = "STORAGE", default_value = "arena", help_heading = "Options for models")]
    pub boundary: BoundaryArg,
    /// Keep variable tensors, which persist between runs, outside the arena
    #[arg(long, help_heading = "Options for models")]
    pub no_states: bool,
    /// Let reshape and similar operators copy instead of sharing the memory of their input
    #[arg(long, help_heading = "Options for models")]
    pub no_views: bool,
    /// Let slices and splits lie in their input, and let concatenations consist of their inputs, wherever the
    /// elements are consecutive. The operators then copy nothing
    #[arg(long, conflicts_with = "no_views", help_heading = "Options for models")]
    pub parts: bool,
    /// Let elementwise operators overwrite an input of equal size if they are its last reader in every order;
    /// with `--order as-in-file`, if they are its last reader in the file
    #[arg(long, help_heading = "Options for models")]
    pub in_place: bool,
    /// Round sizes and offsets up to multiples of this many bytes
    #[arg(long, value_name = "BYTES", default_value = "1", value_parser = bytes_within(1..=u64::MAX), help_heading = "Options for models")]
    pub align: u64,
}

impl ActivationLivenessArgs {
    /// Converts the arguments to the options of the library, with weights outside the arena.
    pub fn options(self) -> LivenessOptions {
        LivenessOptions {
            boundary: match self.boundary {
                BoundaryArg::Arena => Boundary::Arena,
                BoundaryArg::Held => Boundary::Held,
                BoundaryArg::Persistent => Boundary::Persistent,
                BoundaryArg::Outside => Boundary::Outside,
            },
            weights: false,
            states: !self.no_states,
            views: !self.no_views,
            parts: self.parts,
            in_place: self.in_place,
            align: Bytes::new(self.align),
            ..LivenessOptions::default()
        }
    }
}

/// Storage of graph inputs and outputs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BoundaryArg {
    /// In the arena while needed; an unread input is live only at the start
    Arena,
    /// In the arena: inputs for the whole run, outputs from their producer to the end
    Held,
    /// In the arena for the whole run, never reused
    Persistent,
    /// Outside the arena
    Outside,
}
