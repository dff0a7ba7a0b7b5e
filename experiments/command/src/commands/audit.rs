//! `plimsoll audit`: reports how far the memory plan of another planner is from the floor.

use super::best::{Best, BestReport};
use super::compare::draw;
use super::in_model;
use super::judge::judge;
use super::layouts::{Compared, Distance, lines_of, read};
use super::plan::{Tried, over_orders};
use super::subject::{About, Subject, SubjectArgs};
use crate::args::{EffortArgs, bytes as size_of};
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::format;
use crate::input::{input_file, shown};
use crate::output;
use crate::report::{self, Cell, Printed, Text, bytes, cells, noted, sized};
use crate::signals::First;
use clap::Args;
use plimsoll::datasets::captures::{Capture, CaptureProblem, capture_format, read_captures};
use plimsoll::model::csv::{
    CsvErrorKind, Given, Pins, ReadOptions, file_name, read_instance_file, write_instance, write_layout,
};
use plimsoll::model::{Bytes, Instance, Layout, Offsets, load};
use plimsoll_lab::report::{gap_percent, percent};
use plimsoll_lab::suite::without_exported;
use plimsoll_support::contents::has_suffix;
use plimsoll_support::printable::is_hidden;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum length of the stem of an exported file, in characters.
const LONGEST: usize = 100;

/// Default time limit of each search.
const TIME_LIMIT: Duration = Duration::from_secs(1);

#[derive(Args, Debug)]
#[command(mut_arg("instance", |arg| arg.value_name("FILE|FOLDER")
    .help("Captured plan (of XLA, IREE, PyTorch or idealloc, or .json), folder of captured plans, instance (.csv), \
        graph (.json) or model (.onnx, .tflite)")))]
pub struct AuditArgs {
    /// Layout of the planner: a CSV file with columns `id` and `offset`, or with `offset` alone in the order
    /// of the instance [default: the plan in the instance file if every buffer has an offset]
    #[arg(index = 2, value_name = "LAYOUT", value_parser = input_file())]
    layout: Option<PathBuf>,
    /// Peak that the planner reports, if its layout is not known
    #[arg(long, value_name = "BYTES", conflicts_with = "layout", value_parser = size_of)]
    planner_peak: Option<u64>,
    /// Exit with 1 if the peak exceeds the lower bound by more than this percentage, such as 5%
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    max_gap: Option<f64>,
    /// Draw the layout of the planner and the best known layout side by side as SVG or PNG
    #[arg(long, value_name = "FILE.svg", value_parser = format::PICTURE.file())]
    plot: Option<PathBuf>,
    /// Write each instance and the layout of its planner as NAME.csv (with a capacity: NAME.CAPACITY.csv) and
    /// NAME.layout.csv into this folder; equal names get a number
    #[arg(long, value_name = "FOLDER", value_parser = format::folder())]
    export: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    subject: SubjectArgs,
}

/// Parses a percentage such as `5%`, `5` or `0.5 %`.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse().ok();
    let valid = number.filter(|share: &f64| share.is_finite() && *share >= 0.0);
    valid.ok_or_else(|| "expected a non-negative percentage such as 5%".to_owned())
}

impl Command for AuditArgs {
    const NAME: &str = "audit";
    const ABOUT: &str = "Report how far the plan of another planner is from the floor";
    const TASK: Task = Task::Instance;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate above-load --out a.csv && plimsoll solve a.csv --algorithm greedy-by-size --output mine.csv && plimsoll audit a.csv mine.csv",
            "Report how far a layout is from the floor, and where it loses memory",
        ),
        (
            "plimsoll audit a.csv --planner-peak 400KiB --max-gap 100%",
            "Check a peak in continuous integration: exit with 1 if it is too high",
        ),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &AuditArgs) -> Result<u8, Failure> {
    let file = args.subject.instance.as_path();
    let inputs: Vec<&Path> = args.subject.files().into_iter().chain(args.layout.as_deref()).collect();
    output::check_targets(&[&args.plot], &inputs)?;
    let (cases, skipped) = cases(args)?;
    if let Some(folder) = &args.export {
        let stems = stems(&cases);
        cases.iter().zip(&stems).try_for_each(|(case, stem)| case.export(folder, stem, &inputs))?;
    }
    let audited = cases.iter().map(|case| Audited::of(case, args.effort)).collect::<Result<Vec<_>, _>>()?;
    // The plan with the largest gap. Plans that are invalid or below the floor come first.
    let key = |one: &Audited<'_>| (one.is_sound(), -one.gap_percent.unwrap_or(f64::MAX));
    let order =
        |a: &&Audited<'_>, b: &&Audited<'_>| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal);
    let worst = audited.iter().min_by(order).ok_or_else(|| Failure::internal("no plan was read"))?;
    if let Some(path) = &args.plot {
        worst.draw(path)?;
    }
    let (max_gap_percent, json) = (args.max_gap, args.json);
    let within = audited.iter().all(|one| one.meets(max_gap_percent));
    match &audited[..] {
        [one] if !file.is_dir() => {
            report::print(&AuditReport { content: one.report(json), max_gap_percent, within }, json)?;
        }
        _ => {
            let content = Summary::of(&audited, worst, skipped, json);
            report::print(&AuditReport { content, max_gap_percent, within }, json)?;
        }
    }
    Ok(if within { ANSWERED } else { REFUTED })
}

/// Returns the plans to be audited, and the number of files in the folder that contain no plan.
fn cases(args: &AuditArgs) -> Result<(Vec<Case>, usize), Failure> {
    let file = args.subject.instance.as_path();
    if !file.is_dir() {
        let is_capture = capture_format(file).map_err(Failure::input)?.is_some();
        if !is_capture {
            let name = shown(file);
            if let Some(stem) = name.strip_suffix("-live-range.txt") {
                let text =
                    format!("{name} contains only live ranges; audit {stem}-buffer-assignment.txt instead");
                return Err(Failure::input(text));
            }
            let is_alone = args.layout.is_none() && args.planner_peak.is_none();
            let in_file = if is_alone { in_model::plan(file)? } else { None };
            if in_file.is_some() && args.subject.has_model_options() {
                let text = "options for models do not apply to the plan in the file, which has the lifespans of tflite-micro";
                return Err(Failure::input(text).about(file));
            }
            let case = match in_file {
                Some(capture) => Case::captured(capture),
                None => Case::given(args, args.subject.read(Pins::UnlessPlan)?)?,
            };
            return Ok((vec![case], 0));
        }
        let mut captures = read_captures(file).map_err(Failure::input)?;
        if let [Capture { peak: None, .. }] = captures[..] {
            let buffers = Subject::of(captures.remove(0).instance);
            return Ok((vec![Case::given(args, buffers)?], 0));
        }
        let cases = own_plans_only(args).map(|()| captures.into_iter().map(Case::captured).collect());
        return Ok((cases?, 0));
    }
    own_plans_only(args)?;
    let wrong = |error: std::io::Error| Failure::input(format!("{}: cannot read: {error}", file.display()));
    let entries = std::fs::read_dir(file).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(wrong)?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let (exported, paths) = without_exported(paths);
    let (mut cases, mut skipped) = (Vec::new(), 0);
    for path in paths {
        if capture_format(&path).map_err(Failure::input)?.is_none() {
            if let Some(capture) = in_model::plan(&path)? {
                cases.push(Case::captured(capture));
                continue;
            }
            let layouts = exported.iter().filter(|(_, instance)| *instance == path);
            let own = in_csv(&args.subject, &path, layouts.map(|(layout, _)| layout))?;
            skipped += usize::from(own.is_empty());
            cases.extend(own);
            continue;
        }
        match read_captures(&path) {
            Ok(captures) if captures.iter().all(|capture| capture.peak.is_none()) => skipped += 1,
            Ok(captures) => cases.extend(captures.into_iter().map(Case::captured)),
            // Many compiled modules need no temporary memory.
            Err(error) if matches!(*error.problem, CaptureProblem::Nothing(_)) => skipped += 1,
            Err(error) => return Err(Failure::input(error)),
        }
    }
    if cases.is_empty() {
        let reason = "no file contains a plan; subfolders are not searched";
        return Err(Failure::input(format!("{}: {reason}", file.display())));
    }
    Ok((cases, skipped))
}

/// Returns the plans for a CSV instance in a folder: the given layouts and the plan in the file itself. There
/// are none if the file is not an instance.
fn in_csv<'a>(
    args: &SubjectArgs,
    path: &Path,
    layouts: impl Iterator<Item = &'a PathBuf>,
) -> Result<Vec<Case>, Failure> {
    let is_csv = has_suffix(path, &["csv"]);
    let free = ReadOptions { pins: Pins::Free, ..ReadOptions::default() };
    let is_other = || match read_instance_file(path, free) {
        Err(error) => matches!(*error.kind, CsvErrorKind::MissingColumn { .. } | CsvErrorKind::Empty(_)),
        Ok(_) => false,
    };
    if !is_csv || is_other() {
        return Ok(Vec::new());
    }
    let subject = args.read_csv(path, Pins::UnlessPlan)?;
    let of = |planner: &Path, layout| Case {
        subject: subject.clone(),
        planner: shown(planner),
        layout: Some(layout),
        peak: None,
    };
    let given = layouts.map(|layout| Ok(of(layout, offsets(layout, &subject.instance)?)));
    let own = subject.plan.clone().map(|plan| Ok(of(path, plan)));
    given.chain(own).collect()
}

/// Returns the stems of the exported files of each case: the name of the instance, in which characters that
/// file names should not contain become hyphens. If a file of an earlier case has the same name, also if only
/// the case of letters differs, a number follows.
fn stems(cases: &[Case]) -> Vec<String> {
    let plain = |c: char| if c.is_whitespace() || is_hidden(c) || ":/\\".contains(c) { '-' } else { c };
    let mut taken = HashSet::new();
    let mut stem = |case: &Case| {
        let name: String = case.subject.instance.name().chars().map(plain).take(LONGEST).collect();
        let mut stem = name.clone();
        for nth in 2.. {
            let files = case.files(&stem).map(|file| file.to_lowercase());
            if !files.iter().any(|file| taken.contains(file)) {
                taken.extend(files);
                break;
            }
            stem = format!("{name}-{nth}");
        }
        stem
    };
    cases.iter().map(&mut stem).collect()
}

/// Rejects a layout or a peak if the input contains captured plans.
fn own_plans_only(args: &AuditArgs) -> Result<(), Failure> {
    if args.layout.is_none() && args.planner_peak.is_none() {
        return Ok(());
    }
    let file = shown(&args.subject.instance);
    Err(Failure::input(format!(
        "{file} already contains captured plans; LAYOUT and --planner-peak are not allowed"
    )))
}

/// The report on one plan.
#[derive(Serialize)]
struct PlanReport<'a> {
    instance: &'a str,
    buffers: usize,
    planner: &'a str,
    planner_peak: Bytes,
    load: Bytes,
    #[serde(flatten)]
    about: About<'a>,
    #[serde(flatten)]
    checked: Option<Checked<'a>>,
    #[serde(flatten)]
    best: BestReport,
    /// The gap and the verdict, if only the peak of the planner is known.
    #[serde(flatten)]
    gap: Option<Gap>,
    /// Bytes that the planner reserves above the highest buffer.
    unused: Option<Bytes>,
    orders: Option<OrdersReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    paragraph: String,
    #[serde(skip)]
    audited: &'a Audited<'a>,
}

/// The layout of a planner. The gap is that of the peak that the planner uses, minus the bound; it is negative
/// if the peak is below the bound.
#[derive(Serialize)]
struct Checked<'a> {
    valid: bool,
    violations: Vec<String>,
    peak: Bytes,
    #[serde(flatten)]
    distance: Distance<'a>,
}

#[derive(Serialize)]
struct Gap {
    gap_bytes: Option<i64>,
    gap_percent: Option<f64>,
}

/// The best plan over all orders.
#[derive(Serialize)]
struct OrdersReport<'a> {
    peak: Bytes,
    lower_bound: Bytes,
    witness: &'a str,
}

impl Printed for PlanReport<'_> {
    fn print(&self, text: &mut Text) {
        self.about.print(text);
        text.line("planner", noted(&bytes(self.planner_peak), self.planner));
        self.best.print(text);
        if let Some(OrdersReport { peak, lower_bound, witness }) = self.orders {
            let floor = noted(&bytes(lower_bound), witness);
            text.line("all orders", format_args!("no order needs less than {floor}"));
            text.line("", format_args!("best known: {}", sized(peak, " bytes")));
        }
        if let Some(compared) = &self.audited.compared {
            for line in lines_of(&compared.violations) {
                text.line("violation", line);
            }
            if let Some(unused) = self.unused {
                let unused = bytes(unused);
                text.line(
                    "unused",
                    format_args!("{unused} above the highest buffer are reserved, but never used"),
                );
            }
            compared.reasons(&self.audited.case.subject.instance, text);
        }
        text.line("verdict", &self.paragraph);
    }
}

/// The report on several plans: one row per plan, and the details of the worst plan.
#[derive(Serialize)]
struct Summary<'a> {
    plans: usize,
    files_without_plan: usize,
    at_floor: usize,
    optimum_known: usize,
    mean_gap_percent: f64,
    worst: &'a str,
    worst_gap_percent: Option<f64>,
    cases: Vec<PlanReport<'a>>,
    #[serde(skip)]
    details: &'a Audited<'a>,
}

impl<'a> Summary<'a> {
    fn of(audited: &'a [Audited<'a>], worst: &'a Audited<'a>, skipped: usize, is_json: bool) -> Self {
        let gaps: Vec<f64> = audited.iter().filter_map(|one| one.gap_percent).collect();
        let count = |verdict| audited.iter().filter(|one| one.verdict() == verdict).count();
        Self {
            plans: audited.len(),
            files_without_plan: skipped,
            at_floor: count("optimal"),
            optimum_known: count("optimal") + count("above the optimum"),
            mean_gap_percent: gaps.iter().sum::<f64>() / gaps.len().max(1) as f64,
            worst: worst.case.subject.instance.name(),
            worst_gap_percent: worst.gap_percent,
            cases: audited.iter().map(|one| one.report(is_json)).collect(),
            details: worst,
        }
    }
}

impl Printed for Summary<'_> {
    fn print(&self, text: &mut Text) {
        let Self { plans, at_floor, optimum_known, mean_gap_percent, worst, .. } = self;
        let proved = format_args!("the optimum of {optimum_known} is proved");
        text.line("plans", format_args!("{plans}, of which {at_floor} at the floor; {proved}"));
        text.line("mean gap", format_args!("{} %", percent(*mean_gap_percent)));
        let row = |one: &PlanReport<'_>| {
            let Audited { gap_percent, peak, .. } = *one.audited;
            let (gap, verdict) = (Cell::percent(gap_percent), one.audited.verdict());
            cells![one.instance, one.buffers, peak, one.best.lower_bound, gap, verdict]
        };
        let columns = ["instance", "buffers", "planner", "bound", "gap %", "verdict"];
        text.table(&columns, self.cases.iter().map(row));
        text.push(&format!("\n{worst}\n"));
        self.details.report(false).print(text);
    }
}

/// The report on one or several plans, compared with `--max-gap`.
#[derive(Serialize)]
struct AuditReport<T> {
    #[serde(flatten)]
    content: T,
    max_gap_percent: Option<f64>,
    within: bool,
}

impl<T: Printed> Printed for AuditReport<T> {
    fn print(&self, text: &mut Text) {
        self.content.print(text);
    }
}

/// The plan of another planner.
struct Case {
    subject: Subject,
    /// The planner of a captured plan. For other plans, the name of the layout file, or `--planner-peak` if
    /// only the peak is known.
    planner: String,
    layout: Option<Layout>,
    /// The peak that the planner reports. Without it, the peak of the layout is used.
    peak: Option<Bytes>,
}

impl Case {
    /// Creates a case from the layout file or the reported peak (`--planner-peak`).
    fn given(args: &AuditArgs, subject: Subject) -> Result<Self, Failure> {
        let peak = args.planner_peak.map(Bytes::new);
        let (planner, layout) = match (&args.layout, peak) {
            (Some(path), _) => (shown(path), Some(offsets(path, &subject.instance)?)),
            (None, Some(_)) => ("--planner-peak".to_owned(), None),
            (None, None) => {
                let file = shown(&args.subject.instance);
                let plan = subject.plan.clone().ok_or_else(|| {
                    Failure::input(format!(
                        "{file}: there is no plan to audit; specify LAYOUT, or the peak with --planner-peak"
                    ))
                })?;
                (file, Some(plan))
            }
        };
        Ok(Self { subject, planner, layout, peak })
    }

    /// Returns the names of the files for the instance and its layout.
    fn files(&self, stem: &str) -> [String; 2] {
        [file_name(stem, self.subject.instance.capacity()), format!("{stem}.layout.csv")]
    }

    /// Writes the instance and its layout as CSV files.
    fn export(&self, folder: &Path, stem: &str, inputs: &[&Path]) -> Result<(), Failure> {
        let fail = |error| format!("cannot create the folder {}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(|error| Failure::input(fail(error)))?;
        let instance = &self.subject.instance;
        let [own, placed] = self.files(stem);
        let file = folder.join(own);
        output::check_target(&file, inputs)?;
        output::write_file(&file, |file| write_instance(instance, file))?;
        let Some(layout) = &self.layout else { return Ok(()) };
        let file = folder.join(placed);
        output::check_target(&file, inputs)?;
        output::write_file(&file, |file| write_layout(instance, layout, file))
    }

    fn captured(capture: Capture) -> Self {
        let Capture { planner, instance, layout, peak } = capture;
        Self { subject: Subject::of(instance), planner, layout, peak }
    }
}

/// Reads a layout with one offset per buffer.
fn offsets(path: &Path, instance: &Instance) -> Result<Layout, Failure> {
    match read(path, instance)? {
        Given::Layout(layout) => Ok(layout),
        _ => Err(Failure::input(format!(
            "{}: `audit` reads only layouts with one offset per buffer; `compare` also reads other answers",
            path.display()
        ))),
    }
}

/// A plan, compared with the floor.
struct Audited<'a> {
    case: &'a Case,
    /// The bytes that the planner uses.
    peak: Bytes,
    best: Best<Offsets>,
    compared: Option<Compared>,
    /// For a graph: the best plan that was found over all orders, and the bound over all orders.
    orders: Option<Tried>,
    gap_percent: Option<f64>,
}

impl<'a> Audited<'a> {
    fn of(case: &'a Case, effort: EffortArgs) -> Result<Self, Failure> {
        let instance = &case.subject.instance;
        let default = effort.is_default().then_some(TIME_LIMIT);
        let effort = EffortArgs { time_limit: effort.time_limit.or(default), ..effort };
        let layout = case.layout.as_ref();
        let peak = case.peak.or_else(|| layout.map(|layout| layout.peak(instance))).unwrap_or_default();
        let search = Some((effort.setup(), effort.limits()));
        let (best, compared) = judge::<Offsets>(instance, layout.as_slice(), Some(peak), search, None)?;
        let compared = compared.into_iter().next();
        let orders = case.subject.graph().map(|(graph, liveness)| over_orders(graph, liveness, effort));
        let gap_percent = gap_percent(peak.get(), best.bound.value.get()).filter(|_| best.exists());
        Ok(Self { case, peak, best, compared, orders: orders.transpose()?, gap_percent })
    }

    /// Returns the verdict in a few words.
    fn verdict(&self) -> &'static str {
        let floor = self.best.bound.value;
        match &self.compared {
            Some(compared) if !compared.violations.is_empty() => compared.verdict(),
            _ if !self.best.exists() => "impossible",
            _ if self.peak < floor => "below the floor",
            _ if self.peak == floor => "optimal",
            _ if self.best.is_optimal() => "above the optimum",
            _ => "open",
        }
    }

    /// Returns true if the plan is valid, possible and not below the floor.
    fn is_sound(&self) -> bool {
        matches!(self.verdict(), "optimal" | "above the optimum" | "open")
    }

    /// Returns true if the plan is sound and its gap is at most `most` percent.
    fn meets(&self, most: Option<f64>) -> bool {
        self.is_sound() && most.is_none_or(|most| self.gap_percent.is_some_and(|gap| gap <= most))
    }

    /// Returns the bytes that the planner reserves above the highest buffer, if there are any.
    fn unused(&self) -> Option<Bytes> {
        let used = self.case.layout.as_ref()?.peak(&self.case.subject.instance);
        let unused = self.peak.get().checked_sub(used.get())?;
        (unused > 0).then(|| Bytes::new(unused))
    }

    /// Returns the verdict as a paragraph.
    fn paragraph(&self) -> String {
        let (floor, verdict) = (self.best.bound.value, self.verdict());
        let used = format!("The planner uses {}.", bytes(self.peak));
        let lost = Bytes::new(self.peak.get().abs_diff(floor.get()));
        let lost = format!("{}, {} %", bytes(lost), percent(self.gap_percent.unwrap_or_default()));
        let more = match (verdict, self.best.solution()) {
            ("optimal", _) => "This is the floor for this order, so no layout can need less.".to_owned(),
            ("above the optimum", Some((solver, ..))) => format!(
                "It loses {lost}: {solver} found a layout of {}, and no layout for this order can need less.",
                bytes(floor)
            ),
            ("below the floor", _) => format!(
                "No layout of these buffers needs less than {}, so the planner assumed other lifespans or sizes. \
                 It may share memory between buffers that this file lists separately.",
                bytes(floor)
            ),
            ("impossible", _) => format!("No layout exists: {}.", self.best.why(&self.case.subject)),
            ("open", Some((solver, peak, _))) if peak < self.peak => format!(
                "It is at most {lost} above the floor, which is at least {}. {solver} found a layout of {}; \
                 a longer --time-limit may close the rest of the gap.",
                bytes(floor),
                bytes(peak)
            ),
            ("open", _) => format!(
                "It is at most {lost} above the floor, which is at least {}. The search found no better layout; \
                 a longer --time-limit may decide whether there is one.",
                bytes(floor)
            ),
            (verdict, _) => format!("The layout is {verdict}."),
        };
        let orders = self.orders.as_ref().map(|orders| self.other_orders(orders)).unwrap_or_default();
        format!("{used} {more}{orders}")
    }

    /// Returns a sentence about other orders of the operators.
    fn other_orders(&self, orders: &Tried) -> String {
        match () {
            () if self.verdict() == "below the floor" => String::new(),
            () if orders.bound >= self.peak => " No other order of the operators needs less.".to_owned(),
            () if orders.arena < self.peak.min(self.best.bound.value) => {
                format!(" With another order of the operators, {} suffice.", bytes(orders.arena))
            }
            () => String::new(),
        }
    }

    /// Returns the report on this plan. JSON lists all sections above the bound.
    fn report(&self, is_json: bool) -> PlanReport<'_> {
        let (subject, instance) = (&self.case.subject, &self.case.subject.instance);
        let gap = self.peak.get() as i64 - self.best.bound.value.get() as i64;
        let gap_bytes = self.best.exists().then_some(gap);
        let (gap_percent, verdict) = (self.gap_percent, self.verdict());
        let checked = self.compared.as_ref().map(|one| Checked {
            valid: one.violations.is_empty(),
            violations: one.violations(),
            peak: one.peak(),
            distance: Distance { gap_bytes, gap_percent, verdict, ..one.distance(instance, is_json) },
        });
        PlanReport {
            instance: instance.name(),
            buffers: instance.len(),
            planner: &self.case.planner,
            planner_peak: self.peak,
            load: load(instance).0,
            about: subject.about(),
            gap: checked.is_none().then_some(Gap { gap_bytes, gap_percent }),
            verdict: checked.is_none().then_some(verdict),
            checked,
            best: self.best.report(subject),
            unused: self.unused(),
            orders: self.orders.as_ref().map(|orders| OrdersReport {
                peak: orders.arena,
                lower_bound: orders.bound,
                witness: &orders.reason,
            }),
            paragraph: self.paragraph(),
            audited: self,
        }
    }

    fn draw(&self, path: &Path) -> Result<(), Failure> {
        let instance = &self.case.subject.instance;
        let mut drawn = Vec::new();
        drawn.extend(self.case.layout.as_ref().map(|layout| ("planner".to_owned(), layout)));
        drawn.extend(self.best.solution().map(|(name, _, layout)| (name.to_owned(), layout)));
        if drawn.is_empty() {
            return Err(Failure::input(
                "--plot requires a layout, but only the peak of the planner is known",
            ));
        }
        output::late(draw::<Offsets>(instance, &drawn, &self.best, path));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages() {
        for (text, number) in [("5%", 5.0), ("0", 0.0), ("0.5 %", 0.5), ("12.5", 12.5)] {
            assert_eq!(share(text), Ok(number), "{text}");
        }
        for text in ["", "%", "-1", "nan", "inf", "five"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
