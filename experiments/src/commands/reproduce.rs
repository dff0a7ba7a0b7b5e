//! `plimsoll reproduce`: published results, computed again.

use crate::cli::ReproduceArgs;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::model::Setup;
use plimsoll::reproduce::{Context, PAPERS, Paper};
use plimsoll::run::Limits;

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
    for paper in papers {
        let found = (paper.run)(&context).map_err(Failure::internal)?;
        output::print(&format!("{} ({}): {}\n\n{}\n", paper.name, paper.source, paper.about, found.text()))?;
        if let Some(folder) = &args.out {
            let head = format!("# {} ({})\n\n{}\n\n", paper.name, paper.source, paper.about);
            let path = folder.join(format!("{}.md", paper.name));
            let text = format!("{head}{}", found.markdown());
            output::write_file(&path, |file| file.write_all(text.as_bytes()))?;
            for (name, content) in &found.files {
                output::write_file(&folder.join(name), |file| file.write_all(content))?;
            }
        }
    }
    Ok(ANSWERED)
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
