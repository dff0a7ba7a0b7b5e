use crate::args::{EffortArgs, InstanceArgs, LivenessArgs, ModelArgs};
use crate::failure::Failure;
use crate::format;
use clap::Args;
use plimsoll::model::graph::LivenessOptions;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct SpillArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub input: InstanceArgs,
    /// Who orders the operators of a graph; `plimsoll list` names them all [default: exact]
    #[arg(long, value_name = "NAME")]
    pub order: Option<String>,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    /// Who chooses what is spilled; `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub solver: String,
    /// Run every algorithm, each for at most 10 s unless limits are given; --output takes the rows
    #[arg(long, conflicts_with_all = ["solver", "plot"])]
    pub compare: bool,
    /// This one stays on chip; may be repeated
    #[arg(long, value_name = "ID")]
    pub keep: Vec<String>,
    /// Bytes moved where a buffer is spilled, a CSV file: id, traffic (empty: it stays). By default what operators of a graph
    /// write and read; of an instance, every buffer is written once and read once
    #[arg(long, value_name = "FILE.csv")]
    pub traffic: Option<PathBuf>,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write where everything goes, a CSV file: id, lower, upper, size, traffic, tier, offset
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Draw what stays on chip, an SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = format::SVG.file())]
    pub plot: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

impl SpillArgs {
    /// Whether the input is an offset problem and no graph.
    pub fn is_instance(&self) -> bool {
        self.model.model.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
    }

    /// Refuses options that would be ignored.
    pub fn check(&self) -> Result<(), Failure> {
        let of_model = !self.model.import.is_default()
            || self.order.is_some()
            || self.liveness.options() != LivenessOptions::default();
        if self.is_instance() && of_model {
            return Err(Failure::input("options for graphs and models do not go with an instance (CSV)"));
        }
        if !self.is_instance() && (self.input.no_capacity || self.input.endpoints.is_some()) {
            return Err(Failure::input("--no-capacity and --endpoints go with an instance (CSV) only"));
        }
        Ok(())
    }
}
