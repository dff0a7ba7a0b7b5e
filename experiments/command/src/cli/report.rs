//! Arguments of `report`.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// What to analyse: a folder that `bench --out`, `sweep --out` or `merge` wrote, a file of rows (CSV), or a folder of
    /// such folders
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Folder for the report; one that holds an earlier report is replaced, any other must be empty or not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// A run that minimises also counts as solved where its peak is at most P percent above the best bound [default: only
    /// where it proved its answer]
    #[arg(long, value_name = "P", value_parser = percent)]
    pub target_gap: Option<f64>,
    /// Shift of geometric means of times, seconds
    #[arg(long, value_name = "S", default_value_t = plimsoll_lab::report::times::SHIFT, value_parser = seconds)]
    pub shift: f64,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "Plimsoll report")]
    pub title: String,
    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    at_least_zero(text, "a percentage")
}

fn seconds(text: &str) -> Result<f64, String> {
    at_least_zero(text, "a number of seconds")
}

fn at_least_zero(text: &str, what: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("not {what}"))?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err(format!("not {what} from 0")) }
}
