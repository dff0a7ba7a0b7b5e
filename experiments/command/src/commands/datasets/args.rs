use clap::{Args, Subcommand};
use std::path::PathBuf;

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
    /// Compare the files below `PLIMSOLL_CORPORA` with the list, or generated folders with their manifests; exits with 1 where something differs
    Verify(DatasetsVerifyArgs),
    /// Download what is missing or differs, with curl (packages: pip), each file checked by its SHA-256; exits with 1 where bytes are not those
    /// listed, with 3 where something could not be had
    Fetch(DatasetsFetchArgs),
}

#[derive(Args, Debug, Default)]
pub struct DatasetsListArgs {
    /// Every file with its SHA-256
    #[arg(long)]
    pub files: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct DatasetsVerifyArgs {
    /// Corpora to look at [default: all], or folders that `generate --count` wrote
    #[arg(value_name = "CORPUS|DIR")]
    pub corpora: Vec<String>,
    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct DatasetsFetchArgs {
    /// Corpora or files (CORPUS/FILE) to get [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// The folder of all corpora, made where it is not there [default: the one that `PLIMSOLL_CORPORA` names]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// Get everything from here instead of its upstream place, as URL/REPOSITORY/COMMIT/PATH or URL/PACKAGE/VERSION/PATH
    #[arg(long, value_name = "URL", value_parser = web_address)]
    pub mirror: Option<String>,
    /// Print what would be downloaded from where, and download nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}

/// What curl is asked for must say how, and whom.
fn web_address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => Ok(text.to_owned()),
        _ => Err("expected http://HOST.. or https://HOST..".to_owned()),
    }
}
