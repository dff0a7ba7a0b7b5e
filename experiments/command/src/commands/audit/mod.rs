//! `plimsoll audit`: reports how far the memory plan of another planner is from the floor.

mod args;
mod cases;

pub use self::args::AuditArgs;

use self::cases::{Case, cases, stems};
use super::best::{Best, BestReport};
use super::compare::draw;
use super::judge::judge;
use super::layouts::{Compared, Distance, lines_of};
use super::plan::{Tried, over_orders};
use super::subject::About;
use crate::args::EffortArgs;
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::output;
use crate::report::{self, Cell, Printed, Text, bytes, cells, noted, sized};
use crate::signals::First;
use plimsoll::model::{Bytes, Offsets, load};
use plimsoll::verdict;
use plimsoll_lab::report::{gap_percent, human, percent};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// Default time limit of each search.
const TIME_LIMIT: Duration = Duration::from_secs(1);

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
        [one] if !file.is_dir() => report::print(&one.against(max_gap_percent, json), json)?,
        _ => {
            let content = Summary::of(&audited, worst, skipped, args);
            report::print(&AuditReport { content, max_gap_percent, within }, json)?;
        }
    }
    Ok(if within { ANSWERED } else { REFUTED })
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
    cases: Vec<AuditReport<PlanReport<'a>>>,
    #[serde(skip)]
    details: &'a Audited<'a>,
}

impl<'a> Summary<'a> {
    fn of(audited: &'a [Audited<'a>], worst: &'a Audited<'a>, skipped: usize, args: &AuditArgs) -> Self {
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
            cases: audited.iter().map(|one| one.against(args.max_gap, args.json)).collect(),
            details: worst,
        }
    }
}

impl Printed for Summary<'_> {
    fn print(&self, text: &mut Text) {
        let Self { plans, files_without_plan, at_floor, optimum_known, mean_gap_percent, worst, .. } = self;
        let proved = format_args!("the optimum of {optimum_known} is proved");
        text.line("plans", format_args!("{plans}, of which {at_floor} at the floor; {proved}"));
        if *files_without_plan > 0 {
            text.line("skipped", human::count(*files_without_plan, "file") + " without a plan");
        }
        text.line("mean gap", format_args!("{} %", percent(*mean_gap_percent)));
        let row = |one: &AuditReport<PlanReport<'_>>| {
            let (plan, limit) = (&one.content, one.max_gap_percent.map(|_| one.limit()));
            let Audited { gap_percent, peak, .. } = *plan.audited;
            let (gap, verdict) = (Cell::percent(gap_percent), plan.audited.verdict());
            let mut row =
                cells![plan.instance, plan.buffers, peak, plan.best.lower_bound, gap, verdict].to_vec();
            row.extend(limit.map(Cell::from));
            row
        };
        let mut columns = vec!["instance", "buffers", "planner", "bound", "gap %", "verdict"];
        columns.extend(self.cases.iter().any(|one| one.max_gap_percent.is_some()).then_some("limit"));
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

impl<T> AuditReport<T> {
    /// Returns whether `--max-gap` is met, as one word.
    fn limit(&self) -> &'static str {
        if self.within { "met" } else { "exceeded" }
    }
}

impl<T: Printed> Printed for AuditReport<T> {
    fn print(&self, text: &mut Text) {
        self.content.print(text);
        if let Some(most) = self.max_gap_percent {
            text.line("limit", format_args!("{most} % above the lower bound: {}", self.limit()));
        }
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
        let violations = self.compared.as_ref().map_or(&[][..], |compared| &compared.violations);
        if violations.is_empty() && !self.best.exists() {
            return "impossible";
        }
        verdict(violations, self.peak, self.best.bound.value, self.best.is_optimal())
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

    /// Returns the report on this plan, compared with `--max-gap`.
    fn against(&self, max_gap_percent: Option<f64>, is_json: bool) -> AuditReport<PlanReport<'_>> {
        AuditReport { content: self.report(is_json), max_gap_percent, within: self.meets(max_gap_percent) }
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
