use crate::args::{EffortArgs, LivenessArgs, ModelArgs};
use crate::format;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct OrderArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The algorithm; `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub order: String,
    /// Run every algorithm, and compare with the best bound that any of them proved; --output takes the rows
    #[arg(long, conflicts_with_all = ["order", "instance", "plot"])]
    pub compare: bool,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the offset problem of the body under its order, a CSV file for any planner
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub instance: Option<PathBuf>,
    /// Write the order of every region, a CSV file: region, step, operator, kind, bytes alive
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Draw the bytes alive over time, in the order of the file and in the order found, an SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = format::SVG.file())]
    pub plot: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}
