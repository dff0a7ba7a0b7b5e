use crate::args::{EffortArgs, InstanceArgs, LivenessArgs, ModelArgs};
use crate::failure::Failure;
use crate::format;
use crate::input::input_file;
use clap::Args;
use plimsoll::model::graph::LivenessOptions;
use plimsoll_support::contents::{has_suffix, name_of};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(mut_arg("model", |arg| arg.value_name("INSTANCE.csv|GRAPH|MODEL")
    .help("Instance (.csv), graph (.json, as written by `import`) or model (.onnx, .tflite)")))]
pub struct SpillArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub input: InstanceArgs,
    /// Algorithm that orders the operators of a graph (see `plimsoll list`) [default: exact]
    #[arg(long, value_name = "NAME", help_heading = "Options for models")]
    pub order: Option<String>,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    /// Algorithm that chooses the buffers to spill (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub algorithm: String,
    /// Compare all algorithms with the best proven bound; --output writes the rows
    #[arg(long, conflicts_with_all = ["algorithm", "plot"])]
    pub compare: bool,
    /// Keep this buffer in on-chip memory; may be repeated
    #[arg(long, value_name = "ID")]
    pub keep: Vec<String>,
    /// CSV file with the bytes moved per spilled buffer: id, traffic (empty if the buffer must stay)
    /// [default: in a graph, the bytes that operators write and read; in an instance, each buffer is written
    /// and read once]
    #[arg(long, value_name = "FILE.csv", value_parser = input_file())]
    pub traffic: Option<PathBuf>,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the placement as CSV: id, lower, upper, size, traffic, tier, offset
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file(), help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Draw the on-chip layout as SVG or PNG
    #[arg(long, value_name = "FILE.svg", value_parser = format::PICTURE.file(), help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Add the layout to the JSON object: one object per row that --output writes
    #[arg(long, requires = "json", conflicts_with = "compare", help_heading = "Output")]
    pub with_layout: bool,
}

impl SpillArgs {
    /// Returns true if the input is a CSV instance rather than a graph.
    pub fn is_instance(&self) -> bool {
        has_suffix(&name_of(&self.model.model), &["csv"])
    }

    /// Rejects options that would be ignored.
    pub fn check(&self) -> Result<(), Failure> {
        let of_model = !self.model.import.is_default()
            || self.order.is_some()
            || self.liveness.options() != LivenessOptions::default();
        if self.is_instance() && of_model {
            return Err(Failure::input("options for graphs and models are not allowed with a CSV instance"));
        }
        if !self.is_instance() && (self.input.no_capacity || self.input.endpoints.is_some()) {
            return Err(Failure::input("--no-capacity and --endpoints are allowed only with a CSV instance"));
        }
        Ok(())
    }
}
