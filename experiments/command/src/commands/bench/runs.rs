//! The benchmark: the selected problems, algorithms and external programs, and their runs on every instance
//! and graph.

use super::args::{BenchArgs, Decide};
use super::lanes::{Ground, Lane, Select, Shared, on_instances};
use super::processes::processes;
use super::store::Store;
use crate::commands::choose::{names, unknown};
use crate::failure::Failure;
use indicatif::ProgressBar;
use plimsoll::Registry;
use plimsoll::model::{Bytes, Instance, Offsets, Orders, Problem, load};
use plimsoll::posed::{
    Facts, PROBLEMS, PoseError, Subject, SubjectKind, TermError, Terms, algorithm, check_terms, instance,
    instance_terms, profile, visit,
};
use plimsoll_lab::external::{External, VersionCommands};
use plimsoll_lab::machine::Machine;
use plimsoll_lab::record::Record;
use plimsoll_lab::report::summary::{Comparison, Peer};
use plimsoll_lab::suite::{Case, SUITES, sha256};
use std::collections::BTreeSet;
use std::fmt::Display;

/// Names of groups of algorithms.
const GROUPS: [&str; 3] = ["heuristics", "solvers", "all"];

/// The benchmark to run on every instance and graph.
pub struct Bench<'a> {
    pub shared: Shared<'a>,
    pub machine: Machine,
    lanes: Vec<Box<dyn Lane>>,
    registry: Registry,
    /// The terms under which instances are derived from the models, one set per question. Empty if
    /// [`Bench::check_cases`] decides that no instances are derived.
    posings: Vec<Terms>,
}

impl<'a> Bench<'a> {
    /// Resolves all names in the arguments.
    pub fn resolve(args: &'a BenchArgs) -> Result<Self, Failure> {
        let registry = plimsoll::registry();
        let problems = problems(args)?;
        let known = names(&registry, &problems);
        let wanted = args.solvers.iter().map(String::as_str);
        if let Some(bad) = wanted.clone().find(|name| !GROUPS.contains(name) && !known.contains(name)) {
            let is_external =
                |text: &String| text.split_once('=').is_some_and(|(name, _)| name.trim() == bad);
            if args.external.iter().any(is_external) {
                let message = format!(
                    "--solvers '{bad}': this external program always runs; --solvers selects built-in algorithms"
                );
                return Err(Failure::input(message));
            }
            let all: Vec<&str> = GROUPS.into_iter().chain(known.iter().copied()).collect();
            return Err(unknown("solver", bad, &all, "plimsoll list algorithms"));
        }
        let given = if args.terms.is_empty() { &[String::new()][..] } else { &args.terms };
        let terms = given.iter().map(|text| {
            let terms: Terms = text.parse()?;
            check_terms(&terms, &problems, !args.problems.is_empty()).map(|()| terms)
        });
        let terms: Vec<Terms> =
            terms.collect::<Result<_, TermError>>().map_err(|error| about_terms(args, error))?;
        let mut select = Select { args, registry: &registry, terms: &terms };
        let lane = |problem: &&'static str| -> Option<Box<dyn Lane>> {
            if *problem == Offsets::NAME {
                return Some(Box::new(select.chosen::<Offsets>(Some(processes))));
            }
            visit(problem, &mut select)
        };
        let lanes: Vec<Box<dyn Lane>> = problems.iter().filter_map(lane).collect();
        let externals = externals(args, &known)?;
        let mut own = lanes.iter().flat_map(|lane| lane.names());
        if let Some(reference) = args
            .reference
            .as_deref()
            .filter(|&name| !own.any(|own| own == name) && !externals.iter().any(|peer| peer.name() == name))
        {
            let message = format!("--reference '{reference}': this algorithm is not part of the benchmark");
            return Err(Failure::input(message));
        }
        let externals = if problems.contains(&Offsets::NAME) { externals } else { Vec::new() };
        let mut posings: Vec<Terms> = Vec::new();
        for own in terms.iter().map(instance_terms) {
            if !posings.contains(&own) {
                posings.push(own);
            }
        }
        let machine = Machine::here();
        Ok(Self { shared: Shared { args, externals }, machine, lanes, registry, posings })
    }

    /// Decides whether to derive instances from models. With `--problems`, instances are derived if problems
    /// on instances are requested and all cases are graphs. Without `--problems`, `Bench::keep_defaults`
    /// decides. Returns a note if instances are derived or the problems are restricted.
    ///
    /// # Errors
    /// Fails if a requested problem applies to none of the cases.
    pub fn check_cases(&mut self, cases: &[Case]) -> Result<Option<String>, Failure> {
        let kinds: Vec<SubjectKind> =
            cases.iter().flat_map(|case| &case.subject).map(Subject::kind).collect();
        let own = std::mem::take(&mut self.posings);
        if self.shared.args.problems.is_empty() || kinds.is_empty() {
            return Ok(self.keep_defaults(&kinds, own));
        }
        let makes =
            !kinds.contains(&SubjectKind::Instance) && self.lanes.iter().any(|lane| on_instances(&**lane));
        self.posings = if makes { own } else { Vec::new() };
        let made = |lane: &dyn Lane| !self.posings.is_empty() && on_instances(lane);
        let idle = |lane: &&dyn Lane| !made(*lane) && !kinds.iter().any(|&kind| lane.takes(kind));
        if let Some(lane) = self.lanes.iter().map(AsRef::as_ref).find(idle) {
            let problem = lane.problem();
            return Err(Failure::input(format!("--problems {problem}: needs at least one graph or model")));
        }
        let terms: Vec<String> = self.posings.iter().map(Terms::to_string).collect();
        let note = || format!("instances are derived from the graphs, with {}", terms.join(" and with "));
        Ok((!terms.is_empty()).then(note))
    }

    /// If no input is a suite and no option refers to another problem, restricts the benchmark to offsets for
    /// instances, or to orders and offsets for graphs and models. If the inputs are of both kinds, the
    /// benchmark is not restricted. Returns a note if the benchmark is restricted. `posings` are
    /// the terms for deriving instances.
    fn keep_defaults(&mut self, kinds: &[SubjectKind], posings: Vec<Terms>) -> Option<String> {
        let args = self.shared.args;
        let is_suite = |name: &String| SUITES.iter().any(|suite| suite.name == name);
        let is_own = !args.suites.is_empty() && !args.suites.iter().any(is_suite);
        let all = |kind: SubjectKind| !kinds.is_empty() && kinds.iter().all(|own| *own == kind);
        let (instances, graphs) = (all(SubjectKind::Instance), all(SubjectKind::Graph));
        let defaults: &[&str] = if instances { &[Offsets::NAME] } else { &[Offsets::NAME, Orders::NAME] };
        let is_kept = |lane: &dyn Lane| defaults.contains(&lane.problem());
        let kept = || self.lanes.iter().filter(|lane| is_kept(&***lane));
        let names: Vec<&str> = kept().flat_map(|lane| lane.names()).collect();
        let known = |name: &String| {
            let name = name.as_str();
            GROUPS.contains(&name)
                || names.contains(&name)
                || self.shared.externals.iter().any(|peer| peer.name() == name)
        };
        let named = args.solvers.iter().chain(&args.reference).all(known);
        let is_less = kept().count() < self.lanes.len() || graphs;
        if !is_own || !(instances || graphs) || !named || !args.terms.is_empty() || !is_less {
            return None;
        }
        self.lanes.retain(|lane| is_kept(&**lane));
        if instances {
            return Some(
                "problem: offsets, because all inputs are instances (--problems selects others)".to_owned(),
            );
        }
        self.posings = posings;
        Some(
            "problems: orders, and offsets in the order of the file, because all inputs are graphs or models \
             (--problems selects others)"
                .to_owned(),
        )
    }

    /// Returns the settings for comparing times.
    pub fn comparison(&self) -> Comparison<'a> {
        let decide = self.shared.args.decide.is_some();
        Comparison {
            is_asked: decide || self.shared.args.reference.is_some(),
            question: if decide { "decide the capacity" } else { "prove the optimum" },
            reference: self.shared.args.reference.as_deref(),
            shift: self.shared.args.shift.as_secs_f64(),
        }
    }

    /// Returns the external programs, for the record.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        self.shared.externals.iter().map(|peer| Peer {
            name: peer.name().to_owned(),
            version: peer.version().map(str::to_owned),
            line: peer.line(),
        })
    }

    /// Returns the number of runs on a case.
    pub fn runs_on(&self, case: &Case) -> usize {
        let Ok(subject) = &case.subject else { return 0 };
        let seeds = self.shared.args.seeds as usize;
        let own: usize = self.lanes.iter().map(|lane| lane.runs_on(subject.kind())).sum();
        let foreign =
            self.shared.externals.iter().map(|peer| self.shared.repetitions(peer)).sum::<u64>() as usize;
        match subject {
            Subject::Instance(_) => own * seeds + foreign,
            Subject::Graph(_) => {
                let lanes = self.lanes.iter().filter(|lane| on_instances(&***lane));
                let made: usize = lanes.map(|lane| lane.runs_on(SubjectKind::Instance)).sum();
                own * seeds + (made * seeds + foreign) * self.posings.len()
            }
        }
    }

    /// Performs all runs on one instance or graph.
    pub fn case(&self, case: &Case, bar: &ProgressBar, mut store: Option<&mut Store>) -> Vec<Record> {
        let subject = match &case.subject {
            Ok(subject) => subject,
            Err(error) => return vec![self.unreadable(case, error)],
        };
        let mut rows = Vec::new();
        if let Subject::Graph(graph) = subject {
            for terms in &self.posings {
                let text = terms.to_string();
                rows.extend(match instance(graph, terms) {
                    Ok(made) => self.on(case, &Subject::Instance(made), &text, bar, store.as_deref_mut()),
                    Err(error) => self.not_made(case, subject, &text, &error),
                });
            }
        }
        rows.extend(self.on(case, subject, "", bar, store));
        rows
    }

    /// Returns the blank record of the runs on a subject.
    fn blank(&self, case: &Case, subject: &Subject, terms: &str) -> Record {
        let blank = Record {
            threads: self.shared.args.threads,
            seed: self.shared.args.seed,
            time_limit: Some(self.shared.args.time_limit.as_secs_f64()),
            node_limit: self.shared.args.node_limit,
            decide: self.decide(),
            terms: terms.to_owned(),
            ..Record::on(&self.machine)
        };
        blank.about(&case.suite, subject, &sha256(subject))
    }

    /// Performs all runs on one subject. `terms` are the terms under which the subject was derived from a
    /// model, and are empty if it was not derived.
    fn on(
        &self,
        case: &Case,
        subject: &Subject,
        terms: &str,
        bar: &ProgressBar,
        mut store: Option<&mut Store>,
    ) -> Vec<Record> {
        let decided;
        let (subject, file_capacity) = match subject {
            Subject::Instance(instance) => {
                decided = Subject::Instance(asked(instance, self.shared.args.decide));
                (&decided, instance.capacity())
            }
            Subject::Graph(_) => (subject, None),
        };
        let ground = Ground { subject, file_capacity, blank: self.blank(case, subject, terms), bar };
        let mut rows = Vec::new();
        for lane in self.lanes.iter().filter(|lane| terms.is_empty() || on_instances(&***lane)) {
            rows.extend(lane.run(&self.shared, &ground, store.as_deref_mut()));
        }
        rows
    }

    /// Returns one skipped row per algorithm, for a graph from which no instance could be derived.
    fn not_made(&self, case: &Case, graph: &Subject, terms: &str, error: &PoseError) -> Vec<Record> {
        let blank = self.blank(case, graph, terms);
        let lanes = self.lanes.iter().filter(|lane| on_instances(&***lane));
        let named = lanes.flat_map(|lane| lane.names().into_iter().map(|name| (lane.problem(), name)));
        let facts = named.filter_map(|(problem, name)| algorithm(&self.registry, problem, name));
        let row = |Facts { problem, name, kind, .. }: Facts| {
            let unit = profile(problem).map_or("", |own| own.unit).to_owned();
            let (problem, algorithm, kind) = (problem.to_owned(), name.to_owned(), kind.to_string());
            Record { problem, unit, algorithm, kind, ..blank.clone() }.without("skipped", error)
        };
        facts.map(row).collect()
    }

    /// Returns the capacity to decide, as written in the record.
    fn decide(&self) -> String {
        match self.shared.args.decide {
            None => String::new(),
            Some(Decide::File) => "file".to_owned(),
            Some(Decide::Load) => "load".to_owned(),
            Some(Decide::Bytes(bytes)) => bytes.to_string(),
        }
    }

    fn unreadable(&self, case: &Case, error: &impl ToString) -> Record {
        Record {
            suite: case.suite.clone(),
            instance: case.name.clone(),
            decide: self.decide(),
            ..Record::on(&self.machine).without("unreadable", &error.to_string())
        }
    }
}

/// Adds a hint to an error about `--terms`. Every selected problem must accept the terms, so the hint is to
/// select fewer problems.
fn about_terms(args: &BenchArgs, error: impl Display) -> Failure {
    let hint = if args.problems.is_empty() { "; select the problems with --problems" } else { "" };
    Failure::input(format!("--terms: {error}{hint}"))
}

/// Returns the problems that `--problems` requests. Without `--problems`, the default depends on the other
/// options. With `--processes`, it is only `offsets`, because a separate process returns its answer as a
/// layout. Otherwise, with `--decide`, it is every problem with a capacity to decide, and without `--decide`,
/// every problem. Fails if a requested problem does not support `--decide` or `--processes`.
fn problems(args: &BenchArgs) -> Result<Vec<&'static str>, Failure> {
    let decides = |problem: &str| profile(problem).is_some_and(|own| own.decides);
    let is_asked = |problem: &&str| match args.problems.as_slice() {
        [] if args.processes => *problem == Offsets::NAME,
        [] => args.decide.is_none() || decides(problem),
        asked => asked.iter().any(|one| one == problem),
    };
    let asked: Vec<&str> = PROBLEMS.iter().copied().filter(|problem| is_asked(problem)).collect();
    if args.processes && asked.iter().any(|&problem| problem != Offsets::NAME) {
        return Err(Failure::input("--processes supports only the problem offsets"));
    }
    if let Some(other) = asked.iter().find(|problem| args.decide.is_some() && !decides(problem)) {
        return Err(Failure::input(format!("--decide: {other} has no capacity to decide")));
    }
    Ok(asked)
}

/// Returns the external programs with their versions and patterns. Fails if two programs have the same name,
/// or if a program has one of the `known` names.
fn externals(args: &BenchArgs, known: &[&str]) -> Result<Vec<External>, Failure> {
    let peers = args.external.iter().map(|text| External::parse(text));
    let mut peers: Vec<External> = peers.collect::<Result<_, _>>().map_err(Failure::input)?;
    let mut taken: BTreeSet<&str> = known.iter().copied().collect();
    if let Some(twice) = peers.iter().find(|peer| !taken.insert(peer.name())) {
        let name = twice.name();
        return Err(Failure::input(format!(
            "--external '{name}': this name is already taken; choose another"
        )));
    }
    for text in &args.external_version {
        External::ask_version(&mut peers, text, VersionCommands::Run).map_err(Failure::input)?;
    }
    for text in &args.external_elapsed {
        External::set_elapsed_pattern(&mut peers, text).map_err(Failure::input)?;
    }
    Ok(peers)
}

/// Returns the instance with the capacity that `decide` selects, or without a capacity.
fn asked(instance: &Instance, decide: Option<Decide>) -> Instance {
    let capacity = match decide {
        None => None,
        Some(Decide::File) => instance.capacity(),
        Some(Decide::Load) => Some(load(instance).0),
        Some(Decide::Bytes(bytes)) => Some(Bytes::new(bytes)),
    };
    instance.clone().with_capacity(capacity)
}
