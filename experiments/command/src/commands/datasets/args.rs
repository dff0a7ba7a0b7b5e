use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct DatasetsArgs {
    /// The action [default: list]
    #[command(subcommand)]
    pub command: Option<DatasetsCommand>,
}

/// The actions of `datasets`.
#[derive(Debug, Subcommand)]
pub enum DatasetsCommand {
    /// List the external corpora with source, version, licence and number of files
    List(DatasetsListArgs),
    /// Compare the files in `PLIMSOLL_CORPORA` with the list of corpora, or generated folders with their
    /// manifests; exit with 1 if any file differs
    Verify(DatasetsVerifyArgs),
    /// Download missing or changed files with curl (packages: pip) and check their SHA-256; exit with 1 if a
    /// checksum differs, with 3 if a download fails
    Fetch(DatasetsFetchArgs),
}

#[derive(Args, Debug, Default)]
pub struct DatasetsListArgs {
    /// Also list every file with its SHA-256
    #[arg(long)]
    pub files: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct DatasetsVerifyArgs {
    /// Corpora, or folders with a manifest written by `generate` [default: all corpora]
    #[arg(value_name = "CORPUS|DIR")]
    pub corpora: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct DatasetsFetchArgs {
    /// Corpora or files (CORPUS/FILE) to download [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Write into this folder of corpora, created if missing [default: `PLIMSOLL_CORPORA`]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// Download from this server instead of the upstream ones, as URL/REPOSITORY/COMMIT/PATH or
    /// URL/PACKAGE/VERSION/PATH
    #[arg(long, value_name = "URL", value_parser = web_address)]
    pub mirror: Option<String>,
    /// Print the URL of every file without downloading it
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Parses an address that has a scheme and a host.
fn web_address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => Ok(text.to_owned()),
        _ => Err("expected http://HOST.. or https://HOST..".to_owned()),
    }
}
