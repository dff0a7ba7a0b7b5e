//! `plimsoll merge`: joins the shards of a sweep.

use crate::cli::MergeArgs;
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::output;
use plimsoll::sweep::merge;
use serde_json::json;

/// Runs the command.
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
            "missing": merged.missing,
            "out": args.out.display().to_string(),
        }))?;
    } else {
        let missing = merged.missing.as_ref().map_or_else(String::new, |why| format!("missing      {why}\n"));
        let (rows, runs, out) = (merged.rows, merged.runs, args.out.display());
        output::print(&format!("rows         {rows} of {runs} runs\n{missing}written to   {out}\n"))?;
    }
    Ok(if merged.refused > 0 { REFUTED } else { ANSWERED })
}
