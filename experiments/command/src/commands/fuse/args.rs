use crate::args::{EffortArgs, ModelArgs};
use crate::format;
use crate::input::input_name;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct FuseArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Patterns of operators to fuse: a file, or `default`, `s3`, `s3-joined`, `chains`
    #[arg(long, value_name = "FILE|NAME", default_value = "default", value_parser = input_name())]
    pub patterns: String,
    /// Processing units and the operator kinds they run: a TOML file, `one`, `nvdla`, `dla-gpu-cpu`, or
    /// `graph` for the units named in the graph
    #[arg(long, value_name = "FILE.toml|NAME", default_value = "graph", value_parser = input_name())]
    pub units: String,
    /// Allow groups that span several units
    #[arg(long)]
    pub cross_unit: bool,
    /// Algorithm that chooses the groups (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub algorithm: String,
    /// Compare all algorithms, within units and across units; --output writes the rows
    #[arg(long, conflicts_with_all = ["cross_unit", "algorithm", "graph"])]
    pub compare: bool,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the groups as JSON, or with --compare the rows as CSV
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write the graph as JSON, with one operator per group
    #[arg(long, value_name = "GRAPH.json", value_parser = format::JSON.file(), help_heading = "Output")]
    pub graph: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}
