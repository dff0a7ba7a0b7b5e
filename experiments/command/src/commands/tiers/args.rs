use crate::args::{EffortArgs, LivenessArgs, ModelArgs};
use crate::format;
use clap::{Args, ValueEnum};
use plimsoll::model::tiers::Addresses;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct TiersArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The machine: s3-platform, two-tier, generic, or a TOML file with [[unit]] and [[tier]] (not one of `overlap`)
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub machine: String,
    /// Who chooses tiers; `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub placement: String,
    /// Run every placement, each for at most 10 s unless limits are given, and compare with the best bound that any of them
    /// proved; --output takes the rows
    #[arg(long, conflicts_with = "placement")]
    pub compare: bool,
    /// Whether operators run as one, in the order in which groups are complete [default: cross-unit, or none where
    /// --order is given]
    #[arg(long, value_name = "RULE")]
    pub fusion: Option<FusionArg>,
    /// What may be fused: default, s3, s3-joined, chains, or a file [default: default]
    #[arg(long, value_name = "NAME|FILE")]
    pub patterns: Option<String>,
    /// Who orders the operators where nothing is fused; `plimsoll list` names them all [default: as-in-file]
    #[arg(long, value_name = "NAME")]
    pub order: Option<String>,
    /// Whether tensors have addresses in their tiers, or bytes are only counted
    #[arg(long, value_name = "HOW", default_value = "placed")]
    pub addresses: AddressesArg,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the plan, a CSV file: tensor, bytes, lower, upper, tier, offset, `transfer_ps`, traffic; with --compare, one row
    /// per placement
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Which operators run as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FusionArg {
    /// None
    None,
    /// Neighbours on one unit that match a pattern
    Ordinary,
    /// Neighbours that match a pattern, on whichever units
    CrossUnit,
}

/// What plans say of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AddressesArg {
    /// Nothing: bytes are counted at every step
    Counted,
    /// The address of every tensor
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
