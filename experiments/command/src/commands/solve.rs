//! `plimsoll solve`: plans the memory of one instance.

use super::choose::{Choice, choose, of_instances};
use super::fit::Fit;
use super::header::Header;
use super::proof::{self, ProofReport};
use super::subject::{About, Subject, SubjectArgs};
use crate::args::EffortArgs;
use crate::command::{Command, Main, Task};
use crate::failure::{Failure, code};
use crate::format;
use crate::output;
use crate::report::{self, Printed, Text, WithLayout, bytes, noted};
use crate::signals::First;
use clap::Args;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::csv::Pins;
use plimsoll::model::{
    Bytes, Certificate, Claim, Entry, Instance, InstanceProblem, Offsets, Outcome, Problem, SharedObjects,
    Silent, SplitBuffers, Stop, Witness, WitnessSummary, load,
};
use plimsoll::run::{Limits, RunError, run};
use plimsoll_lab::report::{gap_percent, map::Map};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct SolveArgs {
    /// Algorithm that solves the instance (see `plimsoll list`) [default: exact; if the problem has no
    /// algorithm of this name, its first exact algorithm]
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,
    /// Problem to solve: offsets, shared-objects or split-buffers [default: the first of these that has the
    /// algorithm]
    #[arg(long, value_name = "PROBLEM", value_parser = of_instances)]
    problem: Option<&'static str>,
    /// Stop at the first layout within the capacity instead of minimising the peak
    #[arg(long)]
    decide: bool,
    #[command(flatten)]
    effort: EffortArgs,
    /// Write the solution as CSV or, if the name ends in .h, as a C header with sizes, offsets and the
    /// alignment of the arena (offsets only)
    #[arg(long, short, value_name = "FILE.csv|FILE.h", value_parser = format::LAYOUT.file())]
    output: Option<PathBuf>,
    /// Write a certificate of the claim and the lower bound as JSON
    #[arg(long, value_name = "FILE.json", value_parser = format::JSON.file())]
    certificate: Option<PathBuf>,
    /// Write a proof of the lower bound. The search, the proof and its check share the time limit
    #[arg(long, value_name = "FILE.proof", value_parser = format::PROOF.file())]
    proof: Option<PathBuf>,
    /// Draw the solution as SVG or PNG
    #[arg(long, value_name = "FILE.svg", value_parser = format::PICTURE.file())]
    plot: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Add the layout to the JSON object: one object per row that --output writes
    #[arg(long, requires = "json")]
    with_layout: bool,
    #[command(flatten)]
    subject: SubjectArgs,
}

/// A function that writes a solution as a C header.
type Writer<P> = fn(&Instance, &<P as Problem>::Solution, &mut dyn Write) -> io::Result<()>;

impl Command for SolveArgs {
    const NAME: &str = "solve";
    const ABOUT: &str = "Plan the memory of one instance";
    const TASK: Task = Task::Instance;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate above-load --out a.csv && plimsoll solve a.csv",
            "Place the buffers of a generated instance, and prove the lowest peak",
        ),
        (
            "plimsoll solve a.csv --time-limit 5 --output layout.csv --plot layout.svg",
            "Write and draw the best layout found within 5 seconds",
        ),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const SOLVES: &[(&str, &str)] = &[
        (Offsets::NAME, "solve INSTANCE --algorithm "),
        (SplitBuffers::NAME, "solve INSTANCE --problem split-buffers --algorithm "),
        (SharedObjects::NAME, "solve INSTANCE --problem shared-objects --algorithm "),
    ];
    const MAIN: Main<Self> = |args, _| main(args);
}

pub fn main(args: &SolveArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let choice = choose(&registry, args.algorithm.as_deref(), args.problem)?;
    let is_header = args.output.as_deref().is_some_and(format::is_header);
    // The time limit includes the time to read the file.
    let limits = args.effort.limits();
    let subject = args.subject.read_for(Pins::Fixed, is_header)?;
    check(args, &subject.instance, &choice)?;
    match choice {
        Choice::Offsets(entry) => {
            let header: Writer<Offsets> = |instance, layout, file| Header::of(instance, layout).write(file);
            solve(args, &subject, limits, (entry, is_header.then_some(header)))
        }
        Choice::SplitBuffers(entry) => solve(args, &subject, limits, (entry, None)),
        Choice::SharedObjects(entry) => solve(args, &subject, limits, (entry, None)),
    }
}

/// Checks options and output files before any work.
fn check(args: &SolveArgs, instance: &Instance, choice: &Choice) -> Result<(), Failure> {
    if args.decide && instance.capacity().is_none() {
        return Err(Failure::input(
            "--decide requires a capacity, in the file name (X.1048576.csv) or with --capacity",
        ));
    }
    if args.certificate.is_some() && !matches!(choice, Choice::Offsets(_)) {
        return Err(Failure::input("--certificate supports only the problem offsets"));
    }
    if args.proof.is_some() && !matches!(choice, Choice::Offsets(_)) {
        return Err(Failure::input("--proof supports only the problem offsets"));
    }
    if args.output.as_deref().is_some_and(format::is_header) && !matches!(choice, Choice::Offsets(_)) {
        return Err(Failure::input("--output: a C header supports only the problem offsets"));
    }
    output::check_targets(&[&args.output, &args.certificate, &args.proof, &args.plot], &args.subject.files())
}

fn solve<P: InstanceProblem>(
    args: &SolveArgs,
    subject: &Subject,
    limits: Limits,
    (entry, header): (&Entry<P>, Option<Writer<P>>),
) -> Result<u8, Failure> {
    let instance = &subject.instance;
    let target = if args.decide { instance.capacity() } else { None };
    for note in P::notes(instance) {
        output::complain(&format!("note: {note}"));
    }
    let (setup, limits) = (args.effort.setup(), Limits { target, ..limits });
    // The search and the proof share the time limit.
    let own = if args.proof.is_some() { limits.share(2) } else { limits };
    let outcome = run(entry, instance, setup, own, &mut Silent).map_err(|error| match &error {
        RunError::Solve(plimsoll::model::SolveError::Unsupported { .. }) => Failure::input(error),
        _ => Failure::internal(error),
    })?;
    store(args, instance, (entry, header), &outcome)?;
    let mut report = SolveReport::new(args, subject, entry.name, (&outcome, outcome.stats.seconds));
    if let Some(path) = &args.proof {
        match proof::write(path, instance, &outcome.lower_bound, limits)? {
            Ok(accepted) => report.proof = Some(accepted.report(instance)),
            Err(reason) => output::complain(&format!("{reason}, so --proof writes nothing")),
        }
    }
    report::print(&report, args.json)?;
    Ok(code(outcome.claim))
}

/// Writes the requested files; `outcome` has passed the checker.
fn store<P: InstanceProblem>(
    args: &SolveArgs,
    instance: &Instance,
    (entry, header): (&Entry<P>, Option<Writer<P>>),
    outcome: &Outcome<P>,
) -> Result<(), Failure> {
    if let Some(solution) = &outcome.solution {
        if let Some(path) = &args.output {
            output::late(output::write_file(path, |file| match header {
                Some(header) => header(instance, solution, file),
                None => P::rows(instance, solution).write(file),
            }));
        }
        if let Some(path) = &args.plot {
            let pieces = P::pieces(instance, solution);
            let map = Map::new(instance, P::NAME, entry.name, &pieces, outcome.lower_bound.value);
            output::late(output::write_picture(path, |file| map.write(file)));
        }
    } else if args.output.is_some() || args.plot.is_some() {
        output::complain("no solution found, so --output and --plot write nothing");
    }
    if let Some(path) = &args.certificate
        && P::NAME == Offsets::NAME
    {
        let certificate = Certificate::of(instance, outcome);
        let text = serde_json::to_string_pretty(&certificate).map_err(Failure::internal)?;
        output::late(output::write_file(path, |file| writeln!(file, "{text}")));
    }
    Ok(())
}

/// The report on one run.
#[derive(Serialize)]
struct SolveReport<'a, P: InstanceProblem> {
    instance: &'a str,
    algorithm: &'static str,
    problem: &'static str,
    claim: Claim,
    stop: Stop,
    peak: Option<Bytes>,
    /// `None` if no layout exists.
    lower_bound: Option<Bytes>,
    witness: String,
    witness_summary: WitnessSummary,
    arithmetic: Arithmetic,
    gap_percent: Option<f64>,
    load: Bytes,
    capacity: Option<Bytes>,
    buffers: usize,
    seconds: f64,
    nodes: u64,
    seed: u64,
    threads: usize,
    time_limit: Option<f64>,
    node_limit: Option<u64>,
    decide: bool,
    notes: Vec<String>,
    #[serde(flatten)]
    about: About<'a>,
    #[serde(flatten)]
    fit: Option<Fit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofReport>,
    #[serde(flatten)]
    layout: Option<WithLayout<'a>>,
    #[serde(skip)]
    args: &'a SolveArgs,
    #[serde(skip)]
    subject: &'a Subject,
    #[serde(skip)]
    outcome: &'a Outcome<P>,
}

impl<'a, P: InstanceProblem> SolveReport<'a, P> {
    fn new(
        args: &'a SolveArgs,
        subject: &'a Subject,
        algorithm: &'static str,
        attempt: (&'a Outcome<P>, f64),
    ) -> Self {
        let (instance, (outcome, seconds)) = (&subject.instance, attempt);
        let bound = &outcome.lower_bound;
        // If no layout exists, the bound is not a number of bytes but a value above every peak.
        let is_contradiction = matches!(bound.witness, Witness::Contradiction { .. });
        let (capacity, lower_bound) = (instance.capacity(), (!is_contradiction).then_some(bound.value));
        let layout = outcome.solution.as_ref();
        Self {
            instance: instance.name(),
            algorithm,
            problem: P::NAME,
            claim: outcome.claim,
            stop: outcome.stop,
            peak: outcome.value,
            lower_bound,
            witness: subject.explained(P::explain(instance, &bound.witness), &bound.witness),
            witness_summary: WitnessSummary::of::<P>(instance, &bound.witness),
            arithmetic: Arithmetic::of(&bound.witness),
            gap_percent: outcome.value.and_then(|value| gap_percent(value.get(), bound.value.get())),
            load: load(instance).0,
            capacity,
            buffers: instance.len(),
            seconds,
            nodes: outcome.stats.nodes,
            seed: args.effort.seed,
            threads: args.effort.threads,
            time_limit: args.effort.time_limit().map(|limit| limit.as_secs_f64()),
            node_limit: args.effort.node_limit,
            decide: args.decide,
            notes: P::notes(instance),
            about: subject.about(),
            fit: capacity.map(|capacity| Fit::new(capacity, outcome.value, lower_bound)),
            proof: None,
            layout: args.with_layout.then(|| WithLayout { layout: layout.map(|one| P::rows(instance, one)) }),
            args,
            subject,
            outcome,
        }
    }
}

impl<P: InstanceProblem> Printed for SolveReport<'_, P> {
    fn print(&self, text: &mut Text) {
        self.about.print(text);
        text.line("algorithm", format_args!("{} ({})", self.algorithm, self.problem));
        text.line("claim", self.claim);
        let (what, plan) =
            if P::NAME == SharedObjects::NAME { ("total", "plan") } else { ("peak", "layout") };
        text.line(what, self.peak.map_or_else(|| format!("no {plan} found"), bytes));
        let why = format!("{}{}", self.witness, self.arithmetic.remark());
        match self.lower_bound {
            None => text.line("lower bound", format_args!("no {plan} exists ({why})")),
            Some(bound) => text.line("lower bound", noted(&bytes(bound), &why)),
        }
        text.gap(self.gap_percent);
        if let Some(fit) = self.fit {
            fit.print(text, "fits", &shortfall(fit, self.outcome, plan));
        }
        text.line("stop", self.stop);
        text.search(self.seconds, self.nodes);
        let capacity = self.capacity.filter(|capacity| self.peak.is_none_or(|peak| peak > *capacity));
        if let Some(capacity) = capacity.filter(|_| P::NAME == Offsets::NAME) {
            help(self.subject, capacity, &self.args.subject, text);
        }
        if let Some(proof) = &self.proof {
            text.line("proof", &proof.line);
        }
    }
}

/// Describes the shortfall of every answer if no answer can fit the capacity, and otherwise the shortfall of
/// this answer.
fn shortfall<P: InstanceProblem>(fit: Fit, outcome: &Outcome<P>, plan: &str) -> String {
    match (outcome.claim, fit.shortfall_max) {
        (Claim::Infeasible, _) => match fit.shortfall_min {
            None => format!("no {plan} exists"),
            Some(least) => format!("no {plan} fits, at least {} short", bytes(least)),
        },
        (_, Some(most)) => format!("this {plan} is {} short; another may fit", bytes(most)),
        (_, None) => format!("no {plan} found that fits"),
    }
}

/// Adds a line with a command that may help if the capacity does not suffice.
fn help(subject: &Subject, capacity: Bytes, args: &SubjectArgs, text: &mut Text) {
    let (command, help) = if !subject.is_model() {
        ("spill", "`spill` chooses buffers to move to slower memory:")
    } else if args.has_model_options() {
        (
            "plan",
            "`plan`, with the same options for models, also tries other orders, smaller batches and spilling:",
        )
    } else {
        ("plan", "`plan` also tries other orders, smaller batches and spilling:")
    };
    text.line("would help", help);
    text.line("", format_args!("plimsoll {command} {} --capacity {capacity}", args.quoted()));
}
