use crate::args::{EffortArgs, LivenessArgs, ModelArgs};
use crate::format;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct OrderArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Algorithm that orders the operators (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub algorithm: String,
    /// Compare all algorithms with the best proven bound; --output writes the rows
    #[arg(long, conflicts_with_all = ["algorithm", "instance", "plot", "proof"])]
    pub compare: bool,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the offset problem of the body, in the order found, as a CSV instance
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub instance: Option<PathBuf>,
    /// Write the order of every region as CSV: region, step, operator, kind, live bytes, indices in the file
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Write a proof that no order has a lower peak. The search, the proof and its check share the time limit
    #[arg(long, value_name = "FILE.proof", value_parser = format::PROOF.file())]
    pub proof: Option<PathBuf>,
    /// Draw the live bytes over time in the file order and in the order found, as SVG or PNG
    #[arg(long, value_name = "FILE.svg", value_parser = format::PICTURE.file())]
    pub plot: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}
