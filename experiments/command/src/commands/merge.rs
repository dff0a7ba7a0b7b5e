//! `plimsoll merge`: joins the shards of a sweep.

use crate::failure::{Failure, code_of_runs};
use crate::format;
use crate::output;
use clap::Args;
use plimsoll_lab::experiment::merge;
use plimsoll_lab::report::human;
use plimsoll_lab::row::lines;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct MergeArgs {
    /// Folders of the shards
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Write rows.csv and sweep.json of the whole sweep into this folder
    #[arg(long, value_name = "DIR", value_parser = format::folder())]
    out: PathBuf,
    /// Join the shards even if runs are missing
    #[arg(long)]
    partial: bool,
    /// Replace rows that are already in the output folder, and allow other files there
    #[arg(long)]
    force: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn main(args: &MergeArgs) -> Result<u8, Failure> {
    let merged = merge(&args.folders, &args.out, args.partial, args.force)?;
    for note in &merged.notes {
        output::complain(note);
    }
    if args.json {
        output::print_json(&json!({
            "runs": merged.runs,
            "rows": merged.rows,
            "refused": merged.refused,
            "failures": merged.failures,
            "missing": merged.missing,
            "out": args.out.display().to_string(),
        }))?;
    } else {
        let missing = merged.missing.as_ref().map_or_else(String::new, |why| format!("missing      {why}\n"));
        let (rows, runs, out) = (merged.rows, human::count(merged.runs, "run"), args.out.display());
        let failures = lines(&merged.failures);
        let failures =
            failures.lines().fold(String::new(), |text, line| text + "failures     " + line + "\n");
        output::print(&format!("rows         {rows} of {runs}\n{failures}{missing}written to   {out}\n"))?;
    }
    Ok(code_of_runs(&merged.failures, merged.refused > 0))
}
