//! `plimsoll solve`: plans the memory of one instance.

use super::choose::{Choice, OF_INSTANCES, choose};
use crate::args::{EffortArgs, InstanceArgs};
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::format;
use crate::output;
use clap::Args;
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressStyle};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::{
    Bytes, Certificate, Claim, Entry, Instance, LowerBound, Observer, Offsets, Outcome, Problem, Witness,
    load,
};
use plimsoll::plan::Plan;
use plimsoll::run::{Limits, RunError, run};
use plimsoll_lab::report::{gap_percent, percent, svg};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
pub struct SolveArgs {
    /// The instance, a CSV file
    instance: PathBuf,
    /// The algorithm; `plimsoll list` names them all [default: exact, or the first exact one of the problem, or its first]
    #[arg(long, value_name = "NAME")]
    solver: Option<String>,
    /// offsets, pools or scattered; by default the first of them that knows the solver
    #[arg(long, value_name = "PROBLEM", value_parser = PossibleValuesParser::new(OF_INSTANCES))]
    problem: Option<String>,
    #[command(flatten)]
    input: InstanceArgs,
    /// Stop at the first layout within the capacity instead of looking for the lowest
    #[arg(long)]
    decide: bool,
    #[command(flatten)]
    effort: EffortArgs,
    /// Write the solution, a CSV file
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    output: Option<PathBuf>,
    /// Write what is proved and why, a JSON file
    #[arg(long, value_name = "FILE.json", value_parser = format::JSON.file())]
    certificate: Option<PathBuf>,
    /// Draw the solution, an SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = format::SVG.file())]
    plot: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

pub fn main(args: &SolveArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let choice = choose(&registry, args.solver.as_deref(), args.problem.as_deref())?;
    let instance = args.input.read(&args.instance)?;
    check(args, &instance, &choice)?;
    match choice {
        Choice::Offsets(entry) => solve(args, &instance, entry),
        Choice::Scattered(entry) => solve(args, &instance, entry),
        Choice::Pools(entry) => solve(args, &instance, entry),
    }
}

/// Refuses what cannot work, before any work.
fn check(args: &SolveArgs, instance: &Instance, choice: &Choice) -> Result<(), Failure> {
    if args.decide && instance.capacity().is_none() {
        return Err(Failure::input(
            "--decide needs a capacity: in the file name (X.1048576.csv) or with --capacity",
        ));
    }
    if args.certificate.is_some() && !matches!(choice, Choice::Offsets(_)) {
        return Err(Failure::input("--certificate goes with the problem offsets only"));
    }
    output::check_targets(&[&args.output, &args.certificate, &args.plot], &[&args.instance])
}

fn solve<P: Plan>(args: &SolveArgs, instance: &Instance, entry: &Entry<P>) -> Result<u8, Failure> {
    let target = if args.decide { instance.capacity() } else { None };
    let notes = P::notes(instance);
    for note in &notes {
        output::complain(&format!("note: {note}"));
    }
    let (setup, limits) = (args.effort.setup(), Limits { target, ..args.effort.limits() });
    let mut progress = Progress::start(entry.name);
    let attempt = run(entry, instance, setup, limits, &mut progress);
    progress.clear();
    let outcome = attempt.result.map_err(|error| match &error {
        RunError::Solve(plimsoll::model::SolveError::Unsupported { .. }) => Failure::input(error),
        _ => Failure::internal(error),
    })?;
    store(args, instance, entry, &outcome)?;
    let report = Report { notes, ..Report::new::<P>(args, instance, entry.name, &outcome, attempt.seconds) };
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.table())?;
    }
    Ok(match outcome.claim {
        Claim::Optimal | Claim::Feasible => ANSWERED,
        Claim::Infeasible => REFUTED,
        Claim::Unknown => NOTHING_FOUND,
    })
}

/// Writes the files asked for; `outcome` has passed the checker.
fn store<P: Plan>(
    args: &SolveArgs,
    instance: &Instance,
    entry: &Entry<P>,
    outcome: &Outcome<P>,
) -> Result<(), Failure> {
    if let Some(solution) = &outcome.solution {
        if let Some(path) = &args.output {
            output::write_file(path, |file| P::write(instance, solution, file))?;
        }
        if let Some(path) = &args.plot {
            let pieces = P::pieces(instance, solution);
            let map = svg::Map {
                instance,
                problem: P::NAME,
                algorithm: entry.name,
                pieces: &pieces,
                bound: outcome.lower_bound.value,
                groups: None,
            };
            output::write_file(path, |file| map.write(file))?;
        }
    } else if args.output.is_some() || args.plot.is_some() {
        output::complain("nothing was found, so neither a layout nor a map is written");
    }
    if let Some(path) = &args.certificate
        && P::NAME == Offsets::NAME
    {
        let certificate = Certificate::of(instance, outcome);
        let text = serde_json::to_string_pretty(&certificate).map_err(Failure::internal)?;
        output::write_file(path, |file| writeln!(file, "{text}"))?;
    }
    Ok(())
}

/// What is printed of one run.
#[derive(Debug, Serialize)]
struct Report {
    instance: String,
    solver: &'static str,
    problem: &'static str,
    claim: &'static str,
    stop: &'static str,
    peak: Option<u64>,
    lower_bound: u64,
    witness: String,
    arithmetic: Arithmetic,
    gap_percent: Option<f64>,
    load: u64,
    #[serde(skip)]
    exclusions: bool,
    #[serde(skip)]
    contradiction: bool,
    capacity: Option<u64>,
    buffers: usize,
    seconds: f64,
    nodes: u64,
    seed: u64,
    threads: usize,
    time_limit: Option<f64>,
    node_limit: Option<u64>,
    decide: bool,
    notes: Vec<String>,
}

impl Report {
    fn new<P: Plan>(
        args: &SolveArgs,
        instance: &Instance,
        solver: &'static str,
        outcome: &Outcome<P>,
        seconds: f64,
    ) -> Self {
        Self {
            instance: instance.name().to_owned(),
            solver,
            problem: P::NAME,
            claim: outcome.claim.as_str(),
            stop: outcome.stop.as_str(),
            peak: outcome.value.map(Bytes::get),
            lower_bound: outcome.lower_bound.value.get(),
            witness: P::explain(instance, &outcome.lower_bound.witness),
            arithmetic: Arithmetic::of(&outcome.lower_bound.witness),
            gap_percent: outcome.gap_percent(),
            load: load(instance).0.get(),
            exclusions: !instance.exclusions().is_empty(),
            contradiction: matches!(outcome.lower_bound.witness, Witness::Contradiction { .. }),
            capacity: instance.capacity().map(Bytes::get),
            buffers: instance.len(),
            seconds,
            nodes: outcome.stats.nodes,
            seed: args.effort.seed,
            threads: args.effort.threads,
            time_limit: args.effort.time_limit().map(|limit| limit.as_secs_f64()),
            node_limit: args.effort.node_limit,
            decide: args.decide,
            notes: Vec::new(),
        }
    }

    fn table(&self) -> String {
        let capacity = self.capacity.map_or_else(String::new, |bytes| format!(", capacity {bytes}"));
        // With exclusions more may be alive than the peak.
        let note = if self.exclusions { " (no bound: exclusions)" } else { "" };
        let what = if self.problem == "pools" { "total" } else { "peak" };
        let peak = match (self.peak, self.capacity) {
            (None, _) if self.problem == "pools" => "no plan was found".to_owned(),
            (None, _) => "no layout was found".to_owned(),
            (Some(peak), Some(capacity)) if peak > capacity => {
                format!("{peak} bytes, above the capacity of {capacity}")
            }
            (Some(peak), _) => format!("{peak} bytes"),
        };
        let bound = if self.contradiction {
            format!("no {what} at all ({})", self.witness)
        } else {
            format!("{} bytes ({}{})", self.lower_bound, self.witness, self.arithmetic.remark())
        };
        let mut rows = vec![
            (
                "instance",
                format!("{}: {} buffers, load {}{note}{capacity}", self.instance, self.buffers, self.load),
            ),
            ("solver", format!("{} ({})", self.solver, self.problem)),
            ("claim", self.claim.to_owned()),
            (what, peak),
            ("lower bound", bound),
        ];
        if let Some(gap) = self.gap_percent {
            rows.push(("gap", format!("{} %", percent(gap))));
        }
        rows.push(("stop", self.stop.to_owned()));
        rows.push(("time", format!("{:.3} s, {} nodes", self.seconds, self.nodes)));
        rows.iter().fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "{name:<12} {value}");
            text
        })
    }
}

/// A line on standard error, where that is a terminal: best value and bound as they improve.
struct Progress {
    bar: Option<ProgressBar>,
    best: Option<Bytes>,
    bound: Bytes,
    phase: String,
}

impl Progress {
    fn start(solver: &str) -> Self {
        // A bar that nobody sees would still cost a thread.
        let bar = std::io::stderr().is_terminal().then(|| Self::bar(solver));
        Self { bar, best: None, bound: Bytes::ZERO, phase: String::new() }
    }

    fn bar(solver: &str) -> ProgressBar {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(solver.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&self) {
        let Some(bar) = &self.bar else {
            return;
        };
        let best = self.best.map_or_else(|| "none".to_owned(), |value| value.to_string());
        let gap = self.best.and_then(|value| gap_percent(value.get(), self.bound.get()));
        let gap = gap.map_or_else(String::new, |gap| format!(", gap {} %", percent(gap)));
        bar.set_message(format!("best {best}, bound {}{gap} {}", self.bound, self.phase));
    }
}

impl<P: Plan> Observer<P> for Progress {
    fn incumbent(&mut self, _: &P::Solution, value: Bytes) {
        if self.best.is_none_or(|best| value < best) {
            self.best = Some(value);
            self.show();
        }
    }

    fn bound(&mut self, bound: &LowerBound) {
        if bound.value > self.bound {
            self.bound = bound.value;
            self.show();
        }
    }

    fn phase(&mut self, name: &str) {
        name.clone_into(&mut self.phase);
        self.show();
    }
}
