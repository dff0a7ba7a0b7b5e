//! `plimsoll solve`: plans the memory of one instance.

use super::choose::{Choice, choose, of_instances};
use super::proof;
use super::subject::{Subject, SubjectArgs};
use crate::args::EffortArgs;
use crate::failure::{Failure, code};
use crate::format;
use crate::output;
use crate::report::{Report, bytes, noted};
use clap::Args;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::{
    Certificate, Claim, Entry, Instance, Offsets, Outcome, Problem as _, SharedObjects, Silent, Witness, load,
};
use plimsoll::plan::Plan;
use plimsoll::run::{Limits, RunError, run};
use plimsoll_lab::report::{gap_percent, map::Map};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct SolveArgs {
    /// Algorithm that solves the instance (see `plimsoll list`) [default: exact; if the problem has no
    /// algorithm of this name, its first exact algorithm]
    #[arg(long, value_name = "NAME")]
    solver: Option<String>,
    /// Problem to solve: offsets, shared-objects or split-buffers [default: the first of these that has the
    /// algorithm of --solver]
    #[arg(long, value_name = "PROBLEM", value_parser = of_instances)]
    problem: Option<&'static str>,
    /// Stop at the first layout within the capacity instead of minimising the peak
    #[arg(long)]
    decide: bool,
    #[command(flatten)]
    effort: EffortArgs,
    /// Write the solution as CSV
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    output: Option<PathBuf>,
    /// Write a certificate of the claim and the lower bound as JSON
    #[arg(long, value_name = "FILE.json", value_parser = format::JSON.file())]
    certificate: Option<PathBuf>,
    /// Write a proof of the lower bound. If the bound rests on a search, the limits apply to the proof again
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

pub fn main(args: &SolveArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let choice = choose(&registry, args.solver.as_deref(), args.problem)?;
    let subject = args.subject.read()?;
    check(args, &subject.instance, &choice)?;
    match choice {
        Choice::Offsets(entry) => solve(args, &subject, entry),
        Choice::SplitBuffers(entry) => solve(args, &subject, entry),
        Choice::SharedObjects(entry) => solve(args, &subject, entry),
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
    output::check_targets(
        &[&args.output, &args.certificate, &args.proof, &args.plot],
        &[&args.subject.instance],
    )
}

fn solve<P: Plan>(args: &SolveArgs, subject: &Subject, entry: &Entry<P>) -> Result<u8, Failure> {
    let instance = &subject.instance;
    let target = if args.decide { instance.capacity() } else { None };
    let notes = P::notes(instance);
    for note in &notes {
        output::complain(&format!("note: {note}"));
    }
    let (setup, limits) = (args.effort.setup(), Limits { target, ..args.effort.limits() });
    let attempt = run(entry, instance, setup, limits, &mut Silent);
    let outcome = attempt.result.map_err(|error| match &error {
        RunError::Solve(plimsoll::model::SolveError::Unsupported { .. }) => Failure::input(error),
        _ => Failure::internal(error),
    })?;
    store(args, instance, entry, &outcome)?;
    let mut report = report(args, subject, entry.name, &outcome, attempt.seconds, &notes);
    if let Some(path) = &args.proof {
        match proof::write(path, instance, &outcome.lower_bound, limits)? {
            Ok(accepted) => {
                report.line("proof", accepted.line());
                report.extend(json!({ "proof": accepted.members() }));
            }
            Err(reason) => output::complain(&format!("{reason}, so --proof writes nothing")),
        }
    }
    if args.with_layout {
        let solution = outcome.solution.as_ref();
        report.layout(solution.map(|solution| |file: &mut dyn Write| P::write(instance, solution, file)))?;
    }
    report.print(args.json)?;
    Ok(code(outcome.claim))
}

/// Writes the requested files; `outcome` has passed the checker.
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
            let map = Map::new(instance, P::NAME, entry.name, &pieces, outcome.lower_bound.value);
            output::write_picture(path, |file| map.write(file))?;
        }
    } else if args.output.is_some() || args.plot.is_some() {
        output::complain("no solution found, so --output and --plot write nothing");
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

/// Returns the report on one run.
fn report<P: Plan>(
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
    let mut report = subject.report(json!({
        "instance": instance.name(),
        "solver": solver,
        "problem": P::NAME,
        "claim": outcome.claim,
        "stop": outcome.stop,
        "peak": outcome.value,
        "lower_bound": bound.value,
        "witness": witness,
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
    let peak = match (outcome.value, capacity) {
        (None, _) => format!("no {plan} found"),
        (Some(peak), Some(capacity)) if peak > capacity => {
            format!("{}, above the capacity of {}", bytes(peak), bytes(capacity))
        }
        (Some(peak), _) => bytes(peak),
    };
    report.line(what, peak);
    let why = witness + arithmetic.remark();
    match bound.witness {
        Witness::Contradiction { .. } => {
            report.line("lower bound", format_args!("no {plan} exists ({why})"));
        }
        _ => report.line("lower bound", noted(&bytes(bound.value), &why)),
    }
    report.gap(gap);
    report.lines(&["stop", "seconds"]);
    if outcome.claim == Claim::Infeasible && P::NAME == Offsets::NAME {
        let help = if subject.is_model() {
            "`plimsoll plan --capacity` tries other orders, smaller batches and spilling"
        } else {
            "`plimsoll spill` chooses the buffers to move to slower memory"
        };
        report.line("would help", help);
    }
    report
}
