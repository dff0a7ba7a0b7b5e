use crate::args::{EffortArgs, ModelArgs};
use crate::format;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct FuseArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// What may run as one: a file of patterns, or `default`, `s3`, `s3-joined`, `chains`
    #[arg(long, value_name = "FILE|NAME", default_value = "default")]
    pub patterns: String,
    /// Which unit runs which kinds: a TOML file, `one`, `nvdla`, `dla-gpu-cpu`, or `graph`: the units that the graph names
    #[arg(long, value_name = "FILE.toml|NAME", default_value = "graph")]
    pub units: String,
    /// Groups may span several units
    #[arg(long)]
    pub cross_unit: bool,
    /// The algorithm; `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub method: String,
    /// Every algorithm, within units and across them
    #[arg(long, conflicts_with_all = ["cross_unit", "method", "graph"])]
    pub compare: bool,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the groups (JSON); with --compare the table (CSV)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the graph in which every group is one operator
    #[arg(long, value_name = "GRAPH.json", value_parser = format::JSON.file())]
    pub graph: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}
