//! `plimsoll reproduce`: recomputes published results and compares them with the printed numbers.

use crate::args::{seconds, threads};
use crate::command::{Command, Main, Task};
use crate::commands::choose::near;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED, REPRODUCE_CODES};
use crate::format;
use crate::output;
use clap::Args;
use plimsoll::model::Setup;
use plimsoll::run::Limits;
use plimsoll_lab::machine::Machine;
use plimsoll_lab::report::human;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::suite::{CORPORA, corpora};
use plimsoll_papers::{
    Context, PAPERS, Paper, ReproduceError, Reproduction, Row, Verdict, table, write_rows,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The environment variable that names a MiniMalloc binary.
const MINIMALLOC: &str = "PLIMSOLL_MINIMALLOC";

/// The name and the first line of the file that describes a record.
const README: &str = "README.md";
const TITLE: &str = "# Record of published results, recomputed";

#[derive(Args, Debug)]
pub struct ReproduceArgs {
    /// Paper: luna, mini-infer, patent, fusion, cann, pisarchyk-lee, minimalloc, or the source of one of
    /// these; `all` selects all papers
    #[arg(value_name = "PAPER")]
    paper: String,
    /// Write summary.md, rows.csv, README.md and one folder per paper (report, rows and figures) into this
    /// folder, created if missing
    #[arg(long, value_name = "DIR", value_parser = format::folder())]
    out: Option<PathBuf>,
    /// Print all rows and the reports instead of the row counts and the rows that differ
    #[arg(long, short)]
    verbose: bool,
    /// Maximum number of seeds per parameter set of generated graphs (luna)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// Stop each run after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    time_limit: Duration,
    /// Threads per algorithm
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    threads: usize,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl Command for ReproduceArgs {
    const NAME: &str = "reproduce";
    const ABOUT: &str = "Recompute published results and compare them with the printed numbers";
    const TASK: Task = Task::Algorithms;
    const EXAMPLES: &[(&str, &str)] = &[
        ("plimsoll reproduce patent", "Recompute the numbers of a patent"),
        (
            "plimsoll reproduce patent --out papers",
            "Write the report, the rows and the figures into a folder",
        ),
    ];
    const CODES: &str = REPRODUCE_CODES;
    const HAS_PROGRESS: bool = true;
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &ReproduceArgs) -> Result<u8, Failure> {
    let papers = choose(&args.paper)?;
    let corpora = corpora();
    if let Some(folder) = corpora.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::input(format!("{CORPORA}: {} is not a folder", folder.display())));
    }
    if let Some(folder) = &args.out {
        make(folder)?;
        check_own(folder)?;
    }
    let registry = plimsoll::registry();
    let context = Context {
        setup: Setup { seed: args.seed, threads: args.threads, ..Setup::default() },
        limits: Limits { time: Some(args.time_limit), ..Limits::default() },
        corpora,
        seeds: args.seeds.unwrap_or(u64::MAX),
        minimalloc: std::env::var_os(MINIMALLOC).filter(|value| !value.is_empty()).map(PathBuf::from),
        ..Context::new(&registry)
    };
    let (start, mut done) = (Instant::now(), Vec::<(&Paper, Reproduction)>::new());
    for paper in papers {
        let Paper { name, title, about, takes, .. } = paper;
        let text = format!("{name} ({title}): {about}\nThis takes {takes} with the default limits.\n\n");
        output::print(&output::filled(&text))?;
        let found = (paper.run)(&context).map_err(failure)?;
        let text = if args.verbose { found.text(output::width()) } else { found.brief() };
        output::print(&output::filled(&format!("{text}\n")))?;
        if let Some(folder) = &args.out {
            output::late(write(folder, paper, &found));
        }
        done.push((paper, found));
    }
    if done.len() > 1 {
        output::print(&format!("{}\n", tally(&done).text_within(output::width())))?;
    }
    if let Some(folder) = &args.out {
        output::late(write_all(args, &context, &done, folder));
    }
    if !args.verbose && args.out.is_none() {
        output::print("--verbose prints all rows and reports; --out DIR writes them\n")?;
    }
    if let Some(folder) = &args.out {
        output::print(&format!("written to {}: README.md lists the files\n", folder.display()))?;
    }
    // The time goes to standard error, so that standard output is the same in every run.
    output::complain(&format!("done in {}", human::seconds(start.elapsed().as_secs_f64())));
    let broken: usize = done.iter().map(|(_, found)| found.count(Verdict::Unexpected)).sum();
    if broken > 0 {
        output::complain(&format!(
            "{} from the expected result, marked {}",
            if broken == 1 { "1 row differs".to_owned() } else { format!("{broken} rows differ") },
            Verdict::Unexpected.as_str()
        ));
        return Ok(REFUTED);
    }
    Ok(ANSWERED)
}

/// Writes the rows of all papers, the summary and the README.
fn write_all(
    args: &ReproduceArgs,
    context: &Context<'_>,
    done: &[(&Paper, Reproduction)],
    folder: &Path,
) -> Result<(), Failure> {
    let rows = done.iter().flat_map(|(paper, found)| found.rows.iter().map(|row| (paper.name.as_str(), row)));
    let mut text = Vec::new();
    write_rows(rows, &mut text).map_err(Failure::internal)?;
    output::write_file(&folder.join("rows.csv"), |file| file.write_all(&text))?;
    let text = summary(done);
    output::write_file(&folder.join("summary.md"), |file| file.write_all(text.as_bytes()))?;
    let text = readme(args, context, done);
    output::write_file(&folder.join(README), |file| file.write_all(text.as_bytes()))?;
    Ok(())
}

/// Converts an error. Unreadable input is a user error, a reached limit means that nothing was found, and any
/// other error is a defect.
fn failure(error: ReproduceError) -> Failure {
    match error {
        ReproduceError::Input(message) => Failure::input(message),
        ReproduceError::Limit(message) => Failure { code: NOTHING_FOUND, message },
        defect @ ReproduceError::Defect(_) => Failure::internal(defect),
    }
}

fn make(folder: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::input(format!("cannot create the folder {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)
}

/// Refuses a folder that contains other files than an earlier record or, without its README, the folders of
/// papers that an interrupted run wrote.
fn check_own(folder: &Path) -> Result<(), Failure> {
    if std::fs::read_to_string(folder.join(README)).is_ok_and(|text| text.starts_with(TITLE)) {
        return Ok(());
    }
    let wrong = |error| Failure::input(format!("cannot read {}: {error}", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let name = entry.map_err(wrong)?.file_name();
        if !PAPERS.iter().any(|paper| name == paper.name.as_str()) {
            let why = "it is neither empty nor an earlier record of `reproduce`";
            return Err(Failure::input(format!("cannot write {}: {why}", folder.display())));
        }
    }
    Ok(())
}

/// Writes the report, the rows and the figures of one paper into its own folder.
fn write(folder: &Path, paper: &Paper, found: &Reproduction) -> Result<(), Failure> {
    let folder = folder.join(&paper.name);
    make(&folder)?;
    let head = format!("# {} ({})\n\n{}\n\n", paper.name, paper.title, paper.about);
    let text = format!("{head}{}", found.markdown());
    output::write_file(&folder.join("report.md"), |file| file.write_all(text.as_bytes()))?;
    let mut text = Vec::new();
    write_rows(found.rows.iter().map(|row| (paper.name.as_str(), row)), &mut text)
        .map_err(Failure::internal)?;
    output::write_file(&folder.join("rows.csv"), |file| file.write_all(&text))?;
    for one in &found.files {
        output::write_file(&folder.join(&one.name), |file| file.write_all(&one.content))?;
    }
    Ok(())
}

/// Counts the rows of each paper by verdict.
fn tally(done: &[(&Paper, Reproduction)]) -> Table {
    let columns = [("paper", Align::Left), ("source", Align::Left), ("rows", Align::Right)];
    let verdicts = Verdict::ALL.iter().map(|verdict| (verdict.as_str(), Align::Right));
    let mut table = Table::new(columns.into_iter().chain(verdicts).chain([("skipped", Align::Right)]));
    for (paper, found) in done {
        let counts = Verdict::ALL.iter().map(|verdict| found.count(*verdict).to_string());
        let head = [paper.name.clone(), paper.source.clone(), found.rows.len().to_string()];
        table.row(head.into_iter().chain(counts).chain([found.skipped.len().to_string()]));
    }
    table
}

/// Returns a page on all papers: counts, skipped parts, figures, and the rows that differ from the printed
/// ones or are missing.
fn summary(done: &[(&Paper, Reproduction)]) -> String {
    let mut text = format!("# Published results, recomputed\n\n{}\n", tally(done).markdown());
    text.push_str(
        "- same: our number, rounded to the printed digits, equals the printed one.\n\
         - differs: our number differs for a known reason.\n\
         - other input: our number is for another model, network or machine.\n\
         - ours alone: the paper prints no such number.\n\
         - not computed: the number cannot be computed, or its input is missing here.\n\
         - UNEXPECTED: the result contradicts the expectation and needs an explanation.\n",
    );
    for (paper, found) in done {
        let _ = writeln!(text, "\n## {} ({})\n\n{}\n", paper.name, paper.title, paper.about);
        for line in &found.skipped {
            let _ = writeln!(text, "- skipped: {line}");
        }
        let telling = [Verdict::Explained, Verdict::Missing, Verdict::Unexpected];
        let rows: Vec<Row> =
            found.rows.iter().filter(|row| telling.contains(&row.verdict())).cloned().collect();
        if !rows.is_empty() {
            let _ = writeln!(
                text,
                "\nRows that differ from the printed ones or are missing:\n\n{}",
                table(&rows).markdown()
            );
        }
        for one in found.files.iter().filter(|one| one.is_figure()) {
            let _ = writeln!(text, "![{}]({}/{})\n*{}*\n", one.about, paper.name, one.name, one.about);
        }
    }
    text
}

/// Describes the files of the record and the command that wrote them.
fn readme(args: &ReproduceArgs, context: &Context<'_>, done: &[(&Paper, Reproduction)]) -> String {
    let real =
        if context.corpora.is_some() { "set: with real models" } else { "not set: without real models" };
    let peer = if context.minimalloc.is_some() { "set" } else { "not set: without MiniMalloc" };
    let mut holds = String::from(
        "| `summary.md` | all papers: counts, rows that differ from the printed ones, figures |\n| `rows.csv` | all rows of all papers |\n",
    );
    for (paper, found) in done {
        let name = &paper.name;
        let _ = writeln!(holds, "| `{name}/report.md` | {}: rows, tables and text |", paper.title);
        let _ = writeln!(holds, "| `{name}/rows.csv` | rows as CSV |");
        for one in &found.files {
            let _ = writeln!(holds, "| `{name}/{}` | {} |", one.name, one.about);
        }
    }
    format!(
        "{TITLE}\n\nWritten by\n\n    {}\n\n{}- seed {}, {} s per run, {} threads\n- \
         {CORPORA} was {real}\n- {MINIMALLOC} was {peer}\n\n| file | contents |\n|---|---|\n{holds}",
        output::command_line(),
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
        let names: Vec<&str> = PAPERS.iter().map(|paper| paper.name.as_str()).chain(["all"]).collect();
        let near = near(name, &names).map_or_else(String::new, |near| format!("; {near}"));
        Failure::input(format!("unknown paper '{name}' (known: all, {}){near}", known.join(", ")))
    })
}
