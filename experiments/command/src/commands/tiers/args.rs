use crate::args::{EffortArgs, LivenessArgs, ModelArgs};
use crate::format;
use crate::input::input_name;
use clap::{Args, ValueEnum};
use plimsoll::model::tiers::Addresses;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct TiersArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Machine: s3-platform, two-tier, generic, or a TOML file with [[unit]] and [[tier]]; the command
    /// `overlap` reads other sections of such a file
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = input_name())]
    pub machine: String,
    /// Algorithm that assigns tensors to tiers (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub algorithm: String,
    /// Compare all algorithms with the best proven bound; --output writes the rows
    #[arg(long, conflicts_with = "algorithm")]
    pub compare: bool,
    /// Which operators to fuse. Groups run in topological order; among the groups that are ready, the one
    /// with the earliest operator in the file runs next [default: cross-unit; with --order, none]
    #[arg(long, value_name = "RULE")]
    pub fusion: Option<FusionArg>,
    /// Patterns of operators to fuse: a file, or `default`, `s3`, `s3-joined`, `chains` [default: default]
    #[arg(long, value_name = "NAME|FILE", value_parser = input_name())]
    pub patterns: Option<String>,
    /// Algorithm that orders the operators if none are fused (see `plimsoll list`) [default: as-in-file]
    #[arg(long, value_name = "NAME")]
    pub order: Option<String>,
    /// Whether tensors get addresses in their tier, or only their bytes are counted
    #[arg(long, value_name = "MODE", default_value = "placed")]
    pub addresses: AddressesArg,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the plan as CSV: tensor, bytes, lower, upper, tier, offset, `transfer_ps`, traffic; with
    /// --compare, one row per algorithm
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// The operators to fuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FusionArg {
    /// No operators
    None,
    /// Operators on the same unit that match a pattern
    Ordinary,
    /// Operators on any units that match a pattern
    CrossUnit,
}

/// How the capacity of a tier is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AddressesArg {
    /// The live bytes of a tier fit its capacity at every step
    Counted,
    /// Every tensor has an address in its tier
    Placed,
}

impl From<AddressesArg> for Addresses {
    fn from(how: AddressesArg) -> Self {
        match how {
            AddressesArg::Counted => Self::Counted,
            AddressesArg::Placed => Self::Placed,
        }
    }
}
