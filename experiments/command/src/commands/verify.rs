//! `plimsoll verify`: checks an answer, its certificate and a proof of its bound.

use super::best::{BestArgs, BestReport};
use super::judge::judge;
use super::layouts::{Compared, Distance, lines_of, read};
use super::order;
use super::proof::{self, Refusal, Verdict};
use super::subject::{About, Subject, SubjectArgs};
use crate::args::EffortArgs;
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure, NOT_CHECKABLE, NOTHING_FOUND, REFUTED};
use crate::input::{input_file, shown};
use crate::output;
use crate::report::{self, Printed, Text, bytes};
use crate::signals::First;
use clap::Args;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::model::csv::{Given, Pins};
use plimsoll::model::{
    BoundError, Bytes, Certificate, CertificateError, CertifiedBound, Instance, InstanceProblem, Interval,
    Kind, Layout, Offsets, Problem, Setup, SharedObjects, Silent, SpillProblem, Spilling, SplitBuffers,
    Violation, Witness, live_within, load,
};
use plimsoll::run::Limits;
use plimsoll::solvers::offsets::Exact;
use plimsoll::{Listed, NameError};
use plimsoll_lab::report::human;
use serde::Serialize;
use std::path::Path;
use std::path::PathBuf;

/// Node limit of the search for a layout that refutes a bound.
const REFUTATION_NODES: u64 = 20_000;
/// Maximum number of buffers of an instance for which a layout that refutes a bound is searched.
const REFUTATION_BUFFERS: usize = 5_000;

/// The result of checking a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    /// Claim, peak and witness are correct.
    Confirmed,
    /// Claim and peak are correct; the bound rests on a search, which only a proof or a rerun can confirm.
    RestsOnSearch,
    /// Claim, peak or witness is wrong.
    Refused,
}

/// The result of checking an answer.
struct Checked {
    problem: &'static str,
    peak: Bytes,
    traffic: Option<Bytes>,
    violations: Vec<Violation>,
    /// The comparison with the best bound, for valid layouts and plans.
    compared: Option<Judged>,
}

/// A valid answer compared with the best bound.
struct Judged {
    compared: Compared,
    best: BestReport,
    /// How to close an open gap.
    hint: Option<&'static str>,
}

#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// Answer: a CSV file with the columns `id` and `offset`, or a file written by `solve`, `spill` or
    /// `order` [default: the plan in the instance file if every buffer has an offset]; optional for a
    /// certificate without a layout and for a proof
    #[arg(index = 2, value_parser = input_file())]
    layout: Option<PathBuf>,
    /// Check this certificate, written by `solve --certificate`
    #[arg(long, value_name = "FILE.json", value_parser = input_file())]
    certificate: Option<PathBuf>,
    /// Check this proof of a lower bound, written by `solve --proof` or `order --proof`
    #[arg(long, value_name = "FILE.proof", value_parser = input_file())]
    proof: Option<PathBuf>,
    /// Exit with 0 instead of 5 if the bound rests on a completed search, which only a proof or a rerun can
    /// confirm
    #[arg(long, requires = "certificate")]
    trust_search: bool,
    #[command(flatten)]
    best: BestArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    subject: SubjectArgs,
}

impl Command for VerifyArgs {
    const NAME: &str = "verify";
    const ABOUT: &str = "Check an answer and its certificate";
    const TASK: Task = Task::Instance;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate above-load --out a.csv && plimsoll solve a.csv --algorithm greedy-by-size --output layout.csv && plimsoll verify a.csv layout.csv",
            "Check a layout, and report the buffers above the lower bound",
        ),
        (
            "plimsoll verify a.csv layout.csv --best --time-limit 5",
            "Also search for the optimum for at most 5 seconds",
        ),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &VerifyArgs) -> Result<u8, Failure> {
    if order::verify::is_order(args.layout.as_deref(), args.proof.as_deref())? {
        if args.certificate.is_some() {
            return Err(Failure::input(
                "--certificate supports only layouts, but this is an answer for orders",
            ));
        }
        let limits = check_limits(args.best.effort, args.best.effort.limits());
        return order::verify::main(
            &args.subject,
            args.layout.as_deref(),
            args.proof.as_deref(),
            limits,
            args.json,
        );
    }
    let subject = args.subject.read(Pins::UnlessPlan)?;
    // The check of the proof and the search share the time limit.
    let (effort, limits) = (args.best.effort, args.best.effort.limits());
    let search = args.best.searches(false).then(|| (effort.setup(), limits));
    let read_proof = |path| proof::read(path, &subject.instance, check_limits(effort, limits));
    let proof = args.proof.as_deref().map(read_proof).transpose()?;
    let proved = proof.as_ref().and_then(|proof| Some(proof.as_ref().ok()?.bound()));
    let answer = match &args.layout {
        Some(path) => Some((read(path, &subject.instance)?, path.as_path())),
        None => subject.plan.clone().map(|plan| (Given::Layout(plan), args.subject.instance.as_path())),
    };
    if answer.is_none() && args.certificate.is_none() && args.proof.is_none() {
        let file = shown(&args.subject.instance);
        let message =
            "specify LAYOUT, --certificate or --proof; not every buffer of the instance has an offset";
        return Err(Failure::input(format!("{file}: {message}")));
    }
    let checked = answer.map(|answer| check(answer, &subject, (search, proved))).transpose()?;
    let certificate = args.certificate.as_deref().map(read_certificate).transpose()?;
    if let (Some(checked), Some(_)) = (&checked, &certificate)
        && checked.problem != Offsets::NAME
    {
        let problem = checked.problem;
        return Err(Failure::input(format!(
            "--certificate supports only layouts, but this is an answer for {problem}"
        )));
    }
    if let (None, Some(peak)) = (&checked, certificate.as_ref().and_then(|certificate| certificate.peak)) {
        let message = format!("the certificate is for a layout with peak {peak}, so the layout is required");
        return Err(Failure::input(message));
    }
    let standing =
        certificate.map(|certificate| check_certificate(&certificate, &subject, checked.as_ref(), proved));
    let is_refuted = checked.as_ref().is_some_and(|checked| !checked.violations.is_empty())
        || matches!(&proof, Some(Err(error)) if error.reason.is_verdict());
    let is_open = matches!(proof, Some(Err(_)));
    let judged = checked.as_ref().and_then(|checked| checked.compared.as_ref());
    let report = VerifyReport {
        instance: subject.instance.name(),
        buffers: subject.instance.len(),
        problem: checked.as_ref().map_or(Offsets::NAME, |checked| checked.problem),
        valid: checked.as_ref().map(|checked| checked.violations.is_empty()),
        peak: checked.as_ref().map(|checked| checked.peak),
        traffic: checked.as_ref().and_then(|checked| checked.traffic),
        load: load(&subject.instance).0,
        capacity: subject.instance.capacity(),
        violations: checked.iter().flat_map(|one| &one.violations).map(ToString::to_string).collect(),
        certificate: standing.as_ref().map(|(standing, _)| *standing),
        certificate_message: standing.as_ref().map(|(_, message)| message.as_str()),
        about: subject.about(),
        distance: judged.map(|judged| judged.compared.distance(&subject.instance, args.json)),
        best: judged.map(|judged| &judged.best),
        proof: proof.map(|proof| match proof {
            Ok(accepted) => Verdict::Accepted(accepted.report(&subject.instance)),
            Err(error) => Verdict::Refused(Refusal {
                line: Some(error.line),
                reason: error.reason.to_string(),
                rejected: error.reason.is_verdict(),
            }),
        }),
        subject: &subject,
        checked: checked.as_ref(),
    };
    report::print(&report, args.json)?;
    Ok(match standing.map(|(standing, _)| standing) {
        _ if is_refuted => REFUTED,
        Some(Standing::Refused) => REFUTED,
        _ if is_open => NOTHING_FOUND,
        Some(Standing::RestsOnSearch) if !args.trust_search => NOT_CHECKABLE,
        _ => ANSWERED,
    })
}

/// Returns the limits of the check of a proof. The default time limit does not apply, because the length of
/// the proof limits the time of its check.
fn check_limits(effort: EffortArgs, limits: Limits) -> Limits {
    if effort.time_limit.is_some() { limits } else { Limits::default() }
}

/// Checks the answer in a file against the constraints of its problem. If the answer is valid and not a
/// spill, compares it with the best bound.
fn check(
    (answer, path): (Given, &Path),
    subject: &Subject,
    (search, proved): (Option<(Setup, Limits)>, Option<Bytes>),
) -> Result<Checked, Failure> {
    let instance = &subject.instance;
    Ok(match answer {
        Given::Layout(layout) => compared::<Offsets>(subject, &layout, (search, proved))?,
        Given::SharedObjects(plan) => compared::<SharedObjects>(subject, &plan, (search, None))?,
        Given::SplitBuffers(layout) => compared::<SplitBuffers>(subject, &layout, (search, None))?,
        Given::Spill { spill, traffic } => {
            if instance.capacity().is_none() {
                return Err(Failure::input(format!(
                    "{}: a spill requires a capacity, in the file name of the instance (X.1048576.csv) or with --capacity",
                    path.display()
                )));
            }
            let problem = SpillProblem::new(instance.clone(), traffic).map_err(Failure::input)?;
            let traffic = Some(spill.traffic(&problem));
            Checked { peak: spill.peak(&problem), traffic, ..checked::<Spilling>(&problem, &spill) }
        }
    })
}

fn checked<P: Problem<Value = Bytes, Violation = Violation>>(
    input: &P::Input,
    answer: &P::Solution,
) -> Checked {
    let (peak, violations) = (P::value(input, answer), P::check(input, answer));
    Checked { problem: P::NAME, peak, traffic: None, violations, compared: None }
}

fn compared<P>(
    subject: &Subject,
    answer: &P::Solution,
    (search, proved): (Option<(Setup, Limits)>, Option<Bytes>),
) -> Result<Checked, Failure>
where
    P: InstanceProblem + Listed,
{
    let instance = &subject.instance;
    let checked = checked::<P>(instance, answer);
    if !checked.violations.is_empty() {
        return Ok(checked);
    }
    let (best, mut compared) = judge::<P>(instance, &[answer], None, search, proved)?;
    let compared = compared.remove(0);
    let hint = (compared.verdict() == "open").then_some(match search {
        None => "--best or --time-limit SECONDS searches for the optimum, as `compare` does",
        Some(_) => "a longer --time-limit may close the gap",
    });
    Ok(Checked { compared: Some(Judged { compared, best: best.report(subject), hint }), ..checked })
}

fn read_certificate(path: &Path) -> Result<Certificate, Failure> {
    let fail = |why: String| Failure::input(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fail(format!("cannot read: {error}")))?;
    Certificate::from_json(&text).map_err(|error| fail(error.to_string()))
}

fn check_certificate(
    certificate: &Certificate,
    subject: &Subject,
    answer: Option<&Checked>,
    proved: Option<Bytes>,
) -> (Standing, String) {
    let instance = &subject.instance;
    if certificate.instance != instance.name() {
        let (own, other) = (instance.name(), &certificate.instance);
        output::complain(&format!("note: the certificate names the instance '{other}', not '{own}'"));
    }
    let bound = &certificate.lower_bound;
    let what = match bound.witness {
        Witness::Contradiction { .. } => format!("claim '{}', no layout exists", certificate.claim),
        _ => format!("claim '{}', lower bound {}", certificate.claim, bound.value),
    };
    let peak = answer.map(|checked| checked.peak);
    match certificate.verify(instance, peak) {
        Ok(()) => (Standing::Confirmed, format!("{what} by {}", reason(bound, subject))),
        Err(CertificateError::Bound(BoundError::NotCheckable(_)))
            if proved.is_some_and(|proved| proved >= bound.value) =>
        {
            (Standing::Confirmed, format!("{what} by the proof"))
        }
        Err(CertificateError::Bound(BoundError::NotCheckable(solver))) => refutation(bound, instance).map_or_else(
            || {
                let floating = bound.witness.solver().map_or(Arithmetic::Exact, Arithmetic::by).remark();
                let message = format!(
                    "{what} rests on a completed search by {solver}{floating}, which only a proof or a rerun can confirm"
                );
                (Standing::RestsOnSearch, message)
            },
            |why| (Standing::Refused, why),
        ),
        Err(error) => (Standing::Refused, error.to_string()),
    }
}

fn reason(bound: &CertifiedBound, subject: &Subject) -> String {
    let instance = &subject.instance;
    match bound.resolved(instance) {
        Ok(bound) => subject.explained(bound.witness.in_words(instance), &bound.witness),
        Err(error) => error.to_string(),
    }
}

/// Returns evidence against a bound that rests on a search: the solver cannot prove bounds, or a layout of
/// the searched buffers has a peak below the bound.
fn refutation(bound: &CertifiedBound, instance: &Instance) -> Option<String> {
    let (solver, searched) = match &bound.witness {
        Witness::Search { solver } => (solver, instance.clone()),
        Witness::Window { lower, upper, solver } => {
            (solver, live_within(instance, Interval::new(*lower, *upper)))
        }
        _ => return None,
    };
    if let Err(why) = proves(solver, instance) {
        return Some(why);
    }
    let peak = low_peak(&searched.with_capacity(None), bound.value)?;
    (peak < bound.value).then(|| {
        let value = bound.value;
        format!("the bound {value} rests on a search by {solver}, but a layout of the searched buffers has peak {peak}")
    })
}

/// Checks that a solver can prove bounds on this instance.
fn proves(solver: &str, instance: &Instance) -> Result<(), String> {
    let registry = plimsoll::registry();
    match registry.find::<Offsets>(solver) {
        Ok(entry) if entry.kind == Kind::Exact => {
            let built = (entry.build)(Setup::default());
            built.supports(instance).map_err(|error| format!("the bound cannot rest on a search: {error}"))
        }
        Ok(_) => Err(format!(
            "the bound cannot rest on a search by '{solver}', a heuristic, which proves no bounds"
        )),
        // The solver may be part of another build.
        Err(NameError::Excluded(_)) => Ok(()),
        Err(_) => {
            Err(format!("the bound cannot rest on a search by '{solver}', which is not a known solver"))
        }
    }
}

/// Searches briefly for layouts, and returns the lowest peak of the valid layouts. The search stops at a peak
/// below `bound`. Returns `None` if no valid layout is found or a solver fails.
fn low_peak(instance: &Instance, bound: Bytes) -> Option<Bytes> {
    let entry = plimsoll::heuristics::offsets::ENTRIES.iter().find(|entry| entry.name == "valley-fit")?;
    let mut best: Option<Bytes> = None;
    let mut offer = |layout: Option<Layout>| {
        let layout = layout.filter(|layout| Offsets::check(instance, layout).is_empty());
        let peak = layout.map(|layout| layout.peak(instance));
        best = [best, peak].into_iter().flatten().min();
        best.is_some_and(|best| best < bound)
    };
    let solved =
        (entry.build)(Setup::default()).solve(instance, &mut Limits::default().budget(), &mut Silent);
    if offer(solved.ok()?.solution) || instance.len() > REFUTATION_BUFFERS {
        return best;
    }
    let below = Bytes::new(bound.get().saturating_sub(1));
    let limits = Limits { nodes: Some(REFUTATION_NODES), target: Some(below), ..Limits::default() };
    let mut budget = limits.budget();
    let solved =
        plimsoll::model::guarded(Exact::new(Setup::default())).solve(instance, &mut budget, &mut Silent);
    offer(solved.ok()?.solution);
    best
}

/// The report on an answer, a certificate and a proof.
#[derive(Serialize)]
struct VerifyReport<'a> {
    instance: &'a str,
    buffers: usize,
    problem: &'static str,
    /// `None` without an answer.
    valid: Option<bool>,
    /// The highest address in use; for shared objects, the sum of their sizes; for a spill, the on-chip peak.
    peak: Option<Bytes>,
    /// Bytes moved by spilled buffers.
    traffic: Option<Bytes>,
    load: Bytes,
    capacity: Option<Bytes>,
    violations: Vec<String>,
    certificate: Option<Standing>,
    certificate_message: Option<&'a str>,
    #[serde(flatten)]
    about: About<'a>,
    #[serde(flatten)]
    distance: Option<Distance<'a>>,
    #[serde(flatten)]
    best: Option<&'a BestReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Verdict>,
    #[serde(skip)]
    subject: &'a Subject,
    #[serde(skip)]
    checked: Option<&'a Checked>,
}

impl Printed for VerifyReport<'_> {
    fn print(&self, text: &mut Text) {
        self.about.print(text);
        if let Some(Checked { violations, compared, peak, .. }) = self.checked {
            let is_plan = self.problem == SharedObjects::NAME;
            let (what, answer) = if is_plan { ("total", "plan") } else { ("peak", "layout") };
            text.line(what, bytes(*peak));
            if let Some(traffic) = self.traffic {
                text.line("traffic", bytes(traffic));
            }
            match violations.len() {
                0 => text.line(answer, "valid"),
                n => {
                    let count = human::count(n, "violation");
                    text.line(answer, format_args!("{}, {count}", Violation::verdict(violations)));
                }
            }
            for line in lines_of(violations) {
                text.line("violation", line);
            }
            if let Some(Judged { compared, best, hint }) = compared {
                best.print(text);
                compared.gap(text);
                compared.reasons(&self.subject.instance, text);
                if let Some(hint) = hint {
                    text.line("hint", hint);
                }
            }
        }
        if let (Some(standing), Some(message)) = (self.certificate, self.certificate_message) {
            let word = match standing {
                Standing::Confirmed => "confirmed",
                Standing::RestsOnSearch => "not checkable",
                Standing::Refused => "refused",
            };
            text.line("certificate", format_args!("{word}: {message}"));
        }
        if let Some(proof) = &self.proof {
            proof.print(text);
        }
    }
}
