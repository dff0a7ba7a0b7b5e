//! `plimsoll compare`: compares layouts with each other and with the best bound.

use super::best::{Best, BestArgs};
use super::judge::judge;
use super::layouts::{Compared, lines_of, read};
use super::subject::{Subject, SubjectArgs};
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::format;
use crate::input::{input_file, shown};
use crate::output;
use crate::report::Report;
use clap::Args;
use plimsoll::Listed;
use plimsoll::model::csv::{Given, Pins};
use plimsoll::model::{Instance, InstanceProblem, Offsets, SharedObjects, SplitBuffers, load};
use plimsoll_lab::report::map::{Map, write_maps};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct CompareArgs {
    /// Layouts of the instance: CSV files with the columns `id` and `offset`, CSV files with only the column
    /// `offset` in the order of the instance, or files written by `solve`
    /// [default: the plan in the instance file, in which every buffer then has an offset]
    #[arg(index = 2, value_name = "LAYOUT", value_parser = input_file())]
    layouts: Vec<PathBuf>,
    #[command(flatten)]
    best: BestArgs,
    /// Draw the layouts and the best known layout side by side as SVG or PNG
    #[arg(long, value_name = "FILE.svg", value_parser = format::PICTURE.file())]
    plot: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn main(args: &CompareArgs) -> Result<u8, Failure> {
    let layouts = args.layouts.iter().map(PathBuf::as_path);
    let inputs: Vec<&Path> = args.subject.files().into_iter().chain(layouts).collect();
    output::check_targets(&[&args.plot], &inputs)?;
    let subject = args.subject.read(Pins::UnlessPlan)?;
    let instance = &subject.instance;
    let mut answers = args.layouts.iter().map(|path| read(path, instance)).collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<&Path> = args.layouts.iter().map(PathBuf::as_path).collect();
    if paths.is_empty() {
        let plan = subject.plan.clone().ok_or_else(|| {
            let file = shown(&args.subject.instance);
            Failure::input(format!("{file}: not every buffer has an offset; specify at least one LAYOUT"))
        })?;
        answers.push(Given::Layout(plan));
        paths.push(&args.subject.instance);
    }
    let solutions = Solutions { args, paths, answers: &answers };
    match &answers[0] {
        Given::Layout(_) => solutions.compare::<Offsets>(&subject, |one| match one {
            Given::Layout(layout) => Some(layout),
            _ => None,
        }),
        Given::SharedObjects(_) => solutions.compare::<SharedObjects>(&subject, |one| match one {
            Given::SharedObjects(plan) => Some(plan),
            _ => None,
        }),
        Given::SplitBuffers(_) => solutions.compare::<SplitBuffers>(&subject, |one| match one {
            Given::SplitBuffers(layout) => Some(layout),
            _ => None,
        }),
        Given::Spill { .. } => {
            let first = solutions.paths[0].display();
            Err(Failure::input(format!("{first}: `compare` does not compare spills")))
        }
    }
}

/// The answers given on the command line.
struct Solutions<'a> {
    args: &'a CompareArgs,
    /// The file of each answer.
    paths: Vec<&'a Path>,
    answers: &'a [Given],
}

impl Solutions<'_> {
    /// Compares the answers as solutions of the problem `P`. `of` extracts the solution from an answer, or
    /// returns `None` if the answer is for another problem.
    fn compare<P>(&self, subject: &Subject, of: fn(&Given) -> Option<&P::Solution>) -> Result<u8, Failure>
    where
        P: InstanceProblem + Listed,
    {
        let (args, instance) = (self.args, &subject.instance);
        let mut solutions = Vec::new();
        for (path, answer) in self.paths.iter().zip(self.answers) {
            let solution = of(answer).ok_or_else(|| {
                let (path, first) = (path.display(), self.paths[0].display());
                Failure::input(format!("{path}: not an answer for {}, unlike {first}", P::NAME))
            })?;
            solutions.push((path, solution));
        }
        let effort = args.best.effort;
        let search = args.best.searches(true).then(|| (effort.setup(), effort.limits()));
        let given: Vec<&P::Solution> = solutions.iter().map(|(_, solution)| *solution).collect();
        let (best, compared) = judge::<P>(instance, &given, None, search, None)?;
        if let Some(path) = &args.plot {
            let mut drawn: Vec<(String, &P::Solution)> =
                solutions.iter().map(|(path, solution)| (title(path), *solution)).collect();
            if let Some((solver, _, solution)) = best.solution() {
                drawn.push((solver.to_owned(), solution));
            }
            output::late(draw::<P>(instance, &drawn, &best, path));
        }
        self.report(subject, &best, &compared).print(args.json)?;
        let is_refuted = compared.iter().any(|one| !one.violations.is_empty());
        Ok(if is_refuted { REFUTED } else { ANSWERED })
    }

    fn report<P: InstanceProblem>(&self, subject: &Subject, best: &Best<P>, compared: &[Compared]) -> Report {
        let instance = &subject.instance;
        let (load, capacity) = (load(instance).0, instance.capacity());
        let row = |(path, one): (&&Path, &Compared)| {
            let mut row = one.members(instance, self.args.json);
            row["layout"] = shown(path).into();
            row
        };
        let mut rows: Vec<Value> = self.paths.iter().zip(compared).map(row).collect();
        let mut report = subject.report(json!({
            "instance": instance.name(),
            "buffers": instance.len(),
            "problem": P::NAME,
            "load": load,
            "capacity": capacity,
            "layouts": rows,
        }));
        report.extend(best.members(subject));
        best.lines(subject, &mut report);
        if let Some((solver, peak, _)) = best.solution() {
            let verdict = if best.is_optimal() { "optimal" } else { "best known" };
            let excess = peak.get() - best.bound.value.get();
            let gap_percent = plimsoll_lab::report::gap_percent(peak.get(), best.bound.value.get());
            rows.push(json!({
                "layout": format!("({solver})"), "peak": peak, "gap_bytes": excess, "gap_percent": gap_percent,
                "verdict": verdict,
            }));
        }
        report.table(&rows, "layout, peak, above bound = gap_bytes, gap % = gap_percent, verdict");
        for (path, one) in self.paths.iter().zip(compared) {
            if one.verdict() == "optimal" {
                continue;
            }
            report.push(&format!("\n{}\n", shown(path)));
            for line in lines_of(&one.violations) {
                report.line("violation", line);
            }
            one.reasons(instance, &mut report);
        }
        report
    }
}

/// Returns the name of a file without its folder or suffix.
fn title(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// Draws named layouts side by side, with the best lower bound.
pub fn draw<P: InstanceProblem>(
    instance: &Instance,
    drawn: &[(String, &P::Solution)],
    best: &Best<P>,
    path: &Path,
) -> Result<(), Failure> {
    let pieces: Vec<_> = drawn.iter().map(|(_, solution)| P::pieces(instance, solution)).collect();
    let (problem, bound) = (P::NAME, best.bound.value);
    let named = drawn.iter().map(|(name, _)| name).zip(&pieces);
    let maps: Vec<Map<'_>> =
        named.map(|(algorithm, pieces)| Map::new(instance, problem, algorithm, pieces, bound)).collect();
    output::write_picture(path, |file| write_maps(&maps, file))
}
