//! `plimsoll merge`: joins the shards of a sweep.

use crate::command::{Command, Main, Task};
use crate::failure::{Failure, RUNS_CODES, code_of_runs};
use crate::format;
use crate::output;
use crate::report::{self, Printed, Text};
use clap::Args;
use plimsoll_lab::experiment::{Merge, merge};
use plimsoll_lab::report::human;
use plimsoll_lab::row::lines;
use serde::Serialize;
use std::path::{Path, PathBuf};

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

impl Command for MergeArgs {
    const NAME: &str = "merge";
    const ABOUT: &str = "Join the shards of a sweep";
    const TASK: Task = Task::Algorithms;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "printf '%s\\n' 'instances=[{suite=\"embedded\"}]' 'algorithms=[{names=\"greedy-by-size\"}]' > s.toml && plimsoll sweep s.toml --shard 1/2 --out one && plimsoll sweep s.toml --shard 2/2 --out two && plimsoll merge one two --out all",
            "Join the two shards of a sweep",
        ),
        ("plimsoll merge one --out part --partial", "Join the shards that are available"),
    ];
    const CODES: &str = RUNS_CODES;
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &MergeArgs) -> Result<u8, Failure> {
    let merged = merge(&args.folders, &args.out, args.partial, args.force)?;
    for note in &merged.notes {
        output::complain(note);
    }
    let code = code_of_runs(&merged.failures, merged.refused > 0);
    report::print(&MergeReport { merged, out: &args.out }, args.json)?;
    Ok(code)
}

/// The report on the joined shards.
#[derive(Serialize)]
struct MergeReport<'a> {
    #[serde(flatten)]
    merged: Merge,
    out: &'a Path,
}

impl Printed for MergeReport<'_> {
    fn print(&self, text: &mut Text) {
        let Merge { runs, rows, failures, missing, .. } = &self.merged;
        text.verbatim(&format!("rows         {rows} of {}\n", human::count(*runs, "run")));
        lines(failures).lines().for_each(|line| text.verbatim(&format!("failures     {line}\n")));
        if let Some(why) = missing {
            text.verbatim(&format!("missing      {why}\n"));
        }
        text.verbatim(&format!("written to   {}\n", self.out.display()));
    }
}
