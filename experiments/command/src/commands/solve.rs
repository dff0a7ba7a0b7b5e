//! `plimsoll solve`: plans the memory of one instance.

use super::choose::{Choice, choose, of_instances};
use super::fit::Fit;
use super::header::Header;
use super::proof;
use super::subject::{Subject, SubjectArgs};
use crate::args::EffortArgs;
use crate::failure::{Failure, code};
use crate::format;
use crate::output;
use crate::report::{Report, bytes, noted};
use clap::Args;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::csv::Pins;
use plimsoll::model::{
    Bytes, Certificate, Claim, Entry, Instance, InstanceProblem, Offsets, Outcome, Problem, SharedObjects,
    Silent, SplitBuffers, Witness, WitnessSummary, load,
};
use plimsoll::run::{Limits, RunError, run};
use plimsoll_lab::report::{gap_percent, map::Map};
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct SolveArgs {
    /// Algorithm that solves the instance (see `plimsoll list`) [default: exact; if the problem has no
    /// algorithm of this name, its first exact algorithm]
    #[arg(long = "algorithm", value_name = "NAME")]
    solver: Option<String>,
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

/// A function that writes a solution to the file of --output.
type Writer<P> = fn(&Instance, &<P as Problem>::Solution, &mut dyn Write) -> io::Result<()>;

pub fn main(args: &SolveArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let choice = choose(&registry, args.solver.as_deref(), args.problem)?;
    let is_header = args.output.as_deref().is_some_and(format::is_header);
    // The time limit includes the time to read the file.
    let limits = args.effort.limits();
    let subject = args.subject.read_for(Pins::Fixed, is_header)?;
    check(args, &subject.instance, &choice)?;
    match choice {
        Choice::Offsets(entry) => {
            let header: Writer<Offsets> = |instance, layout, file| Header::of(instance, layout).write(file);
            solve(args, &subject, limits, (entry, if is_header { header } else { Offsets::write }))
        }
        Choice::SplitBuffers(entry) => solve(args, &subject, limits, (entry, SplitBuffers::write)),
        Choice::SharedObjects(entry) => solve(args, &subject, limits, (entry, SharedObjects::write)),
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
    (entry, writer): (&Entry<P>, Writer<P>),
) -> Result<u8, Failure> {
    let instance = &subject.instance;
    let target = if args.decide { instance.capacity() } else { None };
    let notes = P::notes(instance);
    for note in &notes {
        output::complain(&format!("note: {note}"));
    }
    let (setup, limits) = (args.effort.setup(), Limits { target, ..limits });
    // The search and the proof share the time limit.
    let own = if args.proof.is_some() { limits.share(2) } else { limits };
    let outcome = run(entry, instance, setup, own, &mut Silent).map_err(|error| match &error {
        RunError::Solve(plimsoll::model::SolveError::Unsupported { .. }) => Failure::input(error),
        _ => Failure::internal(error),
    })?;
    store(args, instance, (entry, writer), &outcome)?;
    let mut report = report(args, subject, entry.name, &outcome, outcome.stats.seconds, &notes);
    if let Some(path) = &args.proof {
        match proof::write(path, instance, &outcome.lower_bound, limits)? {
            Ok(accepted) => {
                report.line("proof", accepted.line(instance));
                report.extend(json!({ "proof": accepted.members() }));
            }
            Err(reason) => output::complain(&format!("{reason}, so --proof writes nothing")),
        }
    }
    if args.with_layout {
        let solution = outcome.solution.as_ref();
        report.layout(solution.map(|solution| |file: &mut dyn Write| P::write(instance, solution, file)));
    }
    report.print(args.json)?;
    Ok(code(outcome.claim))
}

/// Writes the requested files; `outcome` has passed the checker.
fn store<P: InstanceProblem>(
    args: &SolveArgs,
    instance: &Instance,
    (entry, writer): (&Entry<P>, Writer<P>),
    outcome: &Outcome<P>,
) -> Result<(), Failure> {
    if let Some(solution) = &outcome.solution {
        if let Some(path) = &args.output {
            output::late(output::write_file(path, |file| writer(instance, solution, file)));
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

/// Returns the report on one run.
fn report<P: InstanceProblem>(
    args: &SolveArgs,
    subject: &Subject,
    solver: &str,
    outcome: &Outcome<P>,
    seconds: f64,
    notes: &[String],
) -> Report {
    let instance = &subject.instance;
    let (bound, load, capacity) = (&outcome.lower_bound, load(instance).0, instance.capacity());
    let witness = subject.explained(P::explain(instance, &bound.witness), &bound.witness);
    let arithmetic = Arithmetic::of(&bound.witness);
    let gap = outcome.value.and_then(|value| gap_percent(value.get(), bound.value.get()));
    // If no layout exists, the bound is not a number of bytes but a value above every peak.
    let is_contradiction = matches!(bound.witness, Witness::Contradiction { .. });
    let mut report = subject.report(json!({
        "instance": instance.name(),
        "solver": solver,
        "problem": P::NAME,
        "claim": outcome.claim,
        "stop": outcome.stop,
        "peak": outcome.value,
        "lower_bound": (!is_contradiction).then_some(bound.value),
        "witness": witness,
        "witness_summary": WitnessSummary::of::<P>(instance, &bound.witness),
        "arithmetic": arithmetic,
        "gap_percent": gap,
        "load": load,
        "capacity": capacity,
        "buffers": instance.len(),
        "seconds": seconds,
        "nodes": outcome.stats.nodes,
        "seed": args.effort.seed,
        "threads": args.effort.threads,
        "time_limit": args.effort.time_limit().map(|limit| limit.as_secs_f64()),
        "node_limit": args.effort.node_limit,
        "decide": args.decide,
        "notes": notes,
    }));
    report.show("solver", "{solver} ({problem})");
    report.lines(&["claim"]);
    let (what, plan) = if P::NAME == SharedObjects::NAME { ("total", "plan") } else { ("peak", "layout") };
    report.line(what, outcome.value.map_or_else(|| format!("no {plan} found"), bytes));
    let why = witness + arithmetic.remark();
    if is_contradiction {
        report.line("lower bound", format_args!("no {plan} exists ({why})"));
    } else {
        report.line("lower bound", noted(&bytes(bound.value), &why));
    }
    report.gap(gap);
    if let Some(capacity) = capacity {
        let fit = Fit { capacity, value: outcome.value, bound: bound.value };
        fit.report(&mut report, "fits", &shortfall(fit, outcome, plan));
        if is_contradiction {
            report.extend(json!({ "shortfall_min": null }));
        }
    }
    report.lines(&["stop", "seconds"]);
    if let Some(capacity) = capacity.filter(|capacity| outcome.value.is_none_or(|value| value > *capacity)) {
        help::<P>(subject, capacity, &args.subject, &mut report);
    }
    report
}

/// Describes the shortfall of every answer if no answer can fit the capacity, and otherwise the shortfall of
/// this answer.
fn shortfall<P: InstanceProblem>(fit: Fit, outcome: &Outcome<P>, plan: &str) -> String {
    match (outcome.claim, fit.most()) {
        (Claim::Infeasible, _) if matches!(outcome.lower_bound.witness, Witness::Contradiction { .. }) => {
            format!("no {plan} exists")
        }
        (Claim::Infeasible, _) => format!("no {plan} fits, at least {} short", bytes(fit.least())),
        (_, Some(most)) => format!("this {plan} is {} short; another may fit", bytes(most)),
        (_, None) => format!("no {plan} found that fits"),
    }
}

/// Adds a line with a command that may help if the capacity does not suffice.
fn help<P: InstanceProblem>(subject: &Subject, capacity: Bytes, args: &SubjectArgs, report: &mut Report) {
    if P::NAME != Offsets::NAME {
        return;
    }
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
    report.line("would help", help);
    report.line("", format_args!("plimsoll {command} {} --capacity {capacity}", args.quoted()));
}
