//! `plimsoll reproduce`: published results, computed again.

use super::command_line;
use crate::cli::ReproduceArgs;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::machine::Machine;
use plimsoll::model::Setup;
use plimsoll::reproduce::{Context, PAPERS, Paper, Reproduction};
use plimsoll::run::Limits;
use plimsoll::suite::{CORPORA, corpora};
use std::fmt::Write as _;

/// Runs the command.
pub fn main(args: &ReproduceArgs) -> Result<u8, Failure> {
    let papers = choose(&args.paper)?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::input(format!("cannot make {}: {error}", folder.display())))?;
    }
    let registry = plimsoll::registry();
    let context = Context {
        registry: &registry,
        setup: Setup { seed: args.seed, threads: args.threads },
        limits: Limits { time: Some(args.time_limit), ..Limits::default() },
    };
    let mut holds = String::new();
    for paper in papers {
        let found = (paper.run)(&context).map_err(Failure::internal)?;
        output::print(&format!("{} ({}): {}\n\n{}\n", paper.name, paper.source, paper.about, found.text()))?;
        if let Some(folder) = &args.out {
            let head = format!("# {} ({})\n\n{}\n\n", paper.name, paper.source, paper.about);
            let path = folder.join(format!("{}.md", paper.name));
            let text = format!("{head}{}", found.markdown());
            output::write_file(&path, |file| file.write_all(text.as_bytes()))?;
            for one in &found.files {
                output::write_file(&folder.join(&one.name), |file| file.write_all(&one.content))?;
            }
            list(&mut holds, paper, &found);
        }
    }
    if let Some(folder) = &args.out {
        let text = readme(args, &holds);
        output::write_file(&folder.join("README.md"), |file| file.write_all(text.as_bytes()))?;
    }
    Ok(ANSWERED)
}

/// What a paper has left in the folder, rows of a table.
fn list(holds: &mut String, paper: &Paper, found: &Reproduction) {
    let _ = writeln!(holds, "| `{}.md` | {}: tables and text |", paper.name, paper.source);
    for one in &found.files {
        let _ = writeln!(holds, "| `{}` | {} |", one.name, one.about);
    }
}

/// What lies in the folder and how it came about.
fn readme(args: &ReproduceArgs, holds: &str) -> String {
    let real = if corpora().is_some() { "set: real models took part" } else { "not set: no real models" };
    format!(
        "# Record of published results, computed again\n\nMade by\n\n    {}\n\n{}- seed {}, {} s per run, {} threads\n- \
         {CORPORA} was {real}\n\n| file | holds |\n|---|---|\n{holds}",
        command_line(),
        Machine::here().facts(),
        args.seed,
        args.time_limit.as_secs_f64(),
        args.threads,
    )
}

fn choose(name: &str) -> Result<Vec<&'static Paper>, Failure> {
    if name == "all" {
        return Ok(PAPERS.iter().collect());
    }
    let found = PAPERS.iter().find(|paper| paper.name == name || paper.source.eq_ignore_ascii_case(name));
    found.map(|paper| vec![paper]).ok_or_else(|| {
        let known: Vec<String> =
            PAPERS.iter().map(|paper| format!("{} ({})", paper.name, paper.source)).collect();
        Failure::input(format!("unknown paper '{name}'; known are all, {}", known.join(", ")))
    })
}
