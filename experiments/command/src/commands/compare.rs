//! `plimsoll compare`: compares layouts with each other and with the best bound.

use super::best::{Best, BestArgs, BestReport};
use super::judge::judge;
use super::layouts::{Compared, Distance, lines_of, read};
use super::subject::{About, Subject, SubjectArgs};
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::format;
use crate::input::{input_file, shown};
use crate::output;
use crate::report::{self, Cell, Printed, Text, cells};
use crate::signals::First;
use clap::Args;
use plimsoll::Listed;
use plimsoll::model::InstanceProblem;
use plimsoll::model::csv::{Given, Pins};
use plimsoll::model::{Bytes, Instance, Offsets, SharedObjects, SplitBuffers, load};
use plimsoll_lab::report::gap_percent;
use plimsoll_lab::report::map::{Map, write_maps};
use serde::Serialize;
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

impl Command for CompareArgs {
    const NAME: &str = "compare";
    const ABOUT: &str = "Compare layouts with each other and with the proven optimum";
    const TASK: Task = Task::Instance;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate above-load --out a.csv && plimsoll solve a.csv --algorithm greedy-by-size --output mine.csv && plimsoll compare a.csv mine.csv",
            "Compare a layout with the proven optimum",
        ),
        (
            "plimsoll solve a.csv --output best.csv && plimsoll compare a.csv mine.csv best.csv --plot both.svg",
            "Compare two layouts, and draw them side by side",
        ),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &CompareArgs) -> Result<u8, Failure> {
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
            if let Some((algorithm, _, solution)) = best.solution() {
                drawn.push((algorithm.to_owned(), solution));
            }
            output::late(draw::<P>(instance, &drawn, &best, path));
        }
        report::print(&self.report(subject, &best, &compared), args.json)?;
        let is_refuted = compared.iter().any(|one| !one.violations.is_empty());
        Ok(if is_refuted { REFUTED } else { ANSWERED })
    }

    fn report<'a, P: InstanceProblem>(
        &'a self,
        subject: &'a Subject,
        best: &Best<P>,
        compared: &'a [Compared],
    ) -> CompareReport<'a> {
        let instance = &subject.instance;
        let row = |(path, one): (&&Path, &'a Compared)| LayoutRow {
            valid: one.violations.is_empty(),
            violations: one.violations(),
            peak: one.peak(),
            distance: one.distance(instance, self.args.json),
            layout: shown(path),
        };
        let search = best.solution().map(|(algorithm, peak, _)| {
            let bound = best.bound.value.get();
            let verdict = if best.is_optimal() { "optimal" } else { "best known" };
            let gap = Cell::percent(gap_percent(peak.get(), bound));
            cells![format!("({algorithm})"), peak, peak.get() - bound, gap, verdict]
        });
        CompareReport {
            instance: instance.name(),
            buffers: instance.len(),
            problem: P::NAME,
            load: load(instance).0,
            capacity: instance.capacity(),
            layouts: self.paths.iter().zip(compared).map(row).collect(),
            about: subject.about(),
            best: best.report(subject),
            search,
            subject,
            compared,
        }
    }
}

/// The report of `compare`.
#[derive(Serialize)]
struct CompareReport<'a> {
    instance: &'a str,
    buffers: usize,
    problem: &'static str,
    load: Bytes,
    capacity: Option<Bytes>,
    layouts: Vec<LayoutRow<'a>>,
    #[serde(flatten)]
    about: About<'a>,
    #[serde(flatten)]
    best: BestReport,
    /// The row of the table on the layout that the search found.
    #[serde(skip)]
    search: Option<[Cell; 5]>,
    #[serde(skip)]
    subject: &'a Subject,
    #[serde(skip)]
    compared: &'a [Compared],
}

/// One layout, compared with the best bound.
#[derive(Serialize)]
struct LayoutRow<'a> {
    valid: bool,
    violations: Vec<String>,
    peak: Bytes,
    #[serde(flatten)]
    distance: Distance<'a>,
    layout: String,
}

impl Printed for CompareReport<'_> {
    fn print(&self, text: &mut Text) {
        self.about.print(text);
        self.best.print(text);
        let row = |one: &LayoutRow<'_>| {
            let Distance { gap_bytes, gap_percent, verdict, .. } = one.distance;
            cells![&one.layout, one.peak, gap_bytes, Cell::percent(gap_percent), verdict]
        };
        let rows = self.layouts.iter().map(row).chain(self.search.clone());
        text.table(&["layout", "peak", "above bound", "gap %", "verdict"], rows);
        for (row, one) in self.layouts.iter().zip(self.compared) {
            if one.verdict() == "optimal" {
                continue;
            }
            text.push(&format!("\n{}\n", row.layout));
            for line in lines_of(&one.violations) {
                text.line("violation", line);
            }
            one.reasons(&self.subject.instance, text);
        }
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
