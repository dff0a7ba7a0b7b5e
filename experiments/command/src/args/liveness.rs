use clap::{Args, ValueEnum};
use plimsoll::model::Bytes;
use plimsoll::model::graph::{Boundary, LivenessOptions};

/// What liveness assumes.
#[derive(Args, Clone, Copy, Debug)]
pub struct LivenessArgs {
    #[command(flatten)]
    pub activations: ActivationLivenessArgs,
    /// Weights take room in the arena too, all the time
    #[arg(long)]
    pub weights: bool,
}

impl LivenessArgs {
    /// The same for the library.
    pub fn options(self) -> LivenessOptions {
        LivenessOptions { weights: self.weights, ..self.activations.options() }
    }
}

/// What liveness assumes of all but weights.
#[derive(Args, Clone, Copy, Debug)]
pub struct ActivationLivenessArgs {
    /// Where graph inputs and outputs live
    #[arg(long, value_name = "WHERE", default_value = "arena")]
    pub boundary: BoundaryArg,
    /// Variable tensors, kept from run to run, live outside of the arena
    #[arg(long)]
    pub no_states: bool,
    /// Reshape and its like copy instead of sharing their input's memory
    #[arg(long)]
    pub no_views: bool,
    /// Elementwise operators write over an input that nobody else reads
    #[arg(long)]
    pub in_place: bool,
    /// Round sizes up to a multiple of this, and place tensors at multiples of it
    #[arg(long, value_name = "BYTES", default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    pub align: u64,
}

impl ActivationLivenessArgs {
    /// The same for the library.
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
            in_place: self.in_place,
            align: Bytes::new(self.align),
        }
    }
}

/// Where inputs and outputs live.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BoundaryArg {
    /// In the arena while needed; an input that nothing reads, at the start only
    Arena,
    /// In the arena: inputs all the time, outputs from their making to the end
    Held,
    /// In the arena all the time, never reused
    Persistent,
    /// Not in the arena
    Outside,
}
