//! Arguments of `convert` and `datasets`.

use super::EndpointsArg;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// One JSON document, or instances (CSV) that become the pools of one
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// From JSON: the folder for one instance per pool, made where it is not there, or for a single pool a file (.csv). From CSV,
    /// and with --layout: the JSON file
    #[arg(long, short, value_name = "DIR|FILE")]
    pub output: PathBuf,
    /// A layout of one pool's instance (CSV, as `solve --output` writes it), to go back as allocations of the document; once
    /// per pool. Without a pool, by name or id, it is that of the one pool whose buffers it places
    #[arg(long, value_name = "[POOL=]FILE")]
    pub layout: Vec<String>,
    /// How CSV writes ends of lifespans; by default the column names say (`end` is inclusive)
    #[arg(long, value_name = "HOW")]
    pub endpoints: Option<EndpointsArg>,
}

/// Arguments of `datasets`.
#[derive(Args, Debug)]
pub struct DatasetsArgs {
    /// What to do [default: list]
    #[command(subcommand)]
    pub command: Option<DatasetsCommand>,
}

/// What `datasets` does.
#[derive(Debug, Subcommand)]
pub enum DatasetsCommand {
    /// List the external corpora: where they come from, version, licence, files
    List(DatasetsListArgs),
    /// Compare the files below `PLIMSOLL_CORPORA` with the list; exits with 1 where something differs
    Verify(DatasetsVerifyArgs),
}

/// Arguments of `datasets list`.
#[derive(Args, Debug, Default)]
pub struct DatasetsListArgs {
    /// Every file with its SHA-256
    #[arg(long)]
    pub files: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `datasets verify`.
#[derive(Args, Debug)]
pub struct DatasetsVerifyArgs {
    /// Folders of corpora to look at [default: all]
    #[arg(value_name = "CORPUS")]
    pub corpora: Vec<String>,
    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}
