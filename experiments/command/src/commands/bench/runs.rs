//! The runs on one instance or graph: first built-in algorithms, in this process or in separate ones, then
//! external programs.

use super::args::{BenchArgs, Decide};
use super::store::Store;
use crate::commands::choose::{default_entry, names, unknown};
use crate::failure::Failure;
use indicatif::ProgressBar;
use plimsoll::Registry;
use plimsoll::interrupt;
use plimsoll::model::{Bytes, Entry, Instance, Kind, Offsets, Orders, Problem, Spilling, Value, load};
use plimsoll::plan::Plan;
use plimsoll::posed::{
    Facts, PROBLEMS, PoseError, Posed, Subject, SubjectKind, TermError, Terms, Visitor, algorithm,
    check_terms, instance, instance_terms, is_on_instances, profile, visit,
};
use plimsoll_lab::attempt::{NO_CAPACITY, attempt};
use plimsoll_lab::external::{External, Whose, answer};
use plimsoll_lab::machine::Machine;
use plimsoll_lab::record::{Record, settle};
use plimsoll_lab::report::summary::{Comparison, Peer};
use plimsoll_lab::suite::{Case, SUITES, sha256};
use std::collections::BTreeSet;
use std::fmt::Display;

/// Names of groups of algorithms.
const GROUPS: [&str; 3] = ["heuristics", "solvers", "all"];

/// The benchmark to run on every instance and graph.
pub struct Bench<'a> {
    pub args: &'a BenchArgs,
    pub machine: Machine,
    lanes: Vec<Box<dyn Lane>>,
    externals: Vec<External>,
    registry: Registry,
    /// The terms under which instances are derived from the models, one set per question. Empty if some input
    /// is an instance, or if no problem on instances is requested.
    posings: Vec<Terms>,
}

/// A problem with its selected algorithms.
trait Lane {
    fn problem(&self) -> &'static str;
    fn names(&self) -> Vec<&'static str>;
    /// Returns true if the problem is posed on subjects of this kind.
    fn takes(&self, kind: SubjectKind) -> bool;
    /// Returns the number of runs per seed on a subject of this kind.
    fn runs_on(&self, kind: SubjectKind) -> usize;
    /// Performs all runs on one subject.
    fn run(&self, bench: &Bench, ground: &Ground, store: Option<&mut Store>) -> Result<Vec<Record>, Failure>;
}

struct Chosen<P: Posed> {
    entries: Vec<&'static Entry<P>>,
    /// The complete terms of each question.
    terms: Vec<Terms>,
    /// True if instances are skipped, which is the default for spilling.
    graphs_only: bool,
    /// Performs additional runs, in separate processes.
    more: Option<More<P>>,
}

/// A function that adds runs in separate processes: runs of external programs and, with `--processes`, runs
/// of built-in algorithms.
type More<P> = fn(&Bench, &[&'static Entry<P>], &mut Field<P>);

/// The data shared by all runs on one subject.
struct Ground<'a> {
    /// An instance has the capacity to decide, or no capacity if the benchmark minimises.
    subject: &'a Subject,
    /// The capacity in the file name of an instance.
    file_capacity: Option<Bytes>,
    /// A record with the common columns of all runs.
    blank: Record,
    bar: &'a ProgressBar,
}

/// The question and the results of all runs of one problem on one subject.
struct Field<'a, 'q, P: Posed> {
    ground: &'a Ground<'a>,
    question: &'a P::Question<'q>,
    terms: String,
    rows: Vec<Record>,
    /// The best solution so far: value, algorithm, solution.
    best: Option<(P::Value, String, P::Solution)>,
}

impl<P: Posed> Field<'_, '_, P> {
    /// Returns the record of a run that has not started yet.
    fn asked(&self, algorithm: &str, kind: &str, repetition: u64, seed: u64) -> Record {
        self.ground.asked::<P>(&self.terms, algorithm, kind, repetition, seed)
    }

    /// Adds a completed run.
    fn done(&mut self, row: Record, solution: Option<P::Solution>) {
        if let (Some(value), Some(solution)) = (row.value.map(P::Value::of_number), solution)
            && self.best.as_ref().is_none_or(|best| value < best.0)
        {
            self.best = Some((value, row.algorithm.clone(), solution));
        }
        self.rows.push(row);
        self.ground.bar.inc(1);
    }
}

impl Ground<'_> {
    fn asked<P: Posed>(
        &self,
        terms: &str,
        algorithm: &str,
        kind: &str,
        repetition: u64,
        seed: u64,
    ) -> Record {
        self.bar.set_message(format!("{} {algorithm}", self.subject.name()));
        // The terms of an instance that was derived from a model are already set.
        let terms = if self.blank.terms.is_empty() { terms } else { &self.blank.terms };
        Record {
            problem: P::NAME.to_owned(),
            unit: P::Value::UNIT.to_owned(),
            terms: terms.to_owned(),
            algorithm: algorithm.to_owned(),
            kind: kind.to_owned(),
            seed,
            repetition,
            ..self.blank.clone()
        }
    }
}

impl<P: Posed> Lane for Chosen<P> {
    fn problem(&self) -> &'static str {
        P::NAME
    }

    fn names(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.name).collect()
    }

    fn takes(&self, kind: SubjectKind) -> bool {
        P::takes(kind)
    }

    fn runs_on(&self, kind: SubjectKind) -> usize {
        let is_posed = P::takes(kind) && !(self.graphs_only && kind == SubjectKind::Instance);
        if is_posed { self.entries.len() * self.terms.len() } else { 0 }
    }

    fn run(
        &self,
        bench: &Bench,
        ground: &Ground,
        mut store: Option<&mut Store>,
    ) -> Result<Vec<Record>, Failure> {
        let kind = ground.subject.kind();
        let mut rows = Vec::new();
        if self.runs_on(kind) > 0 || P::takes(kind) && self.more.is_some() {
            for terms in &self.terms {
                rows.extend(self.run_under(terms, bench, ground, store.as_deref_mut())?);
            }
        }
        Ok(rows)
    }
}

impl<P: Posed> Chosen<P> {
    /// Performs all runs of one question: first the runs of built-in algorithms, then those of `more`.
    /// Finally, cross-checks the bounds, computes the gaps and draws the map.
    fn run_under(
        &self,
        terms: &Terms,
        bench: &Bench,
        ground: &Ground,
        store: Option<&mut Store>,
    ) -> Result<Vec<Record>, Failure> {
        let own = || {
            let seeded = |entry: &&'static Entry<P>| {
                let entry = *entry;
                bench.seeds().map(move |(nth, seed)| (entry, nth, seed))
            };
            self.entries.iter().flat_map(seeded).filter(|_| !bench.args.processes)
        };
        let question = match P::pose(ground.subject, terms, ground.blank.setup(), ground.blank.limits()) {
            Ok(question) => question,
            Err(error) => {
                let skipped = |(entry, nth, seed): (&Entry<P>, u64, u64)| {
                    ground.bar.inc(1);
                    let kind = entry.kind.to_string();
                    let asked = ground.asked::<P>(&terms.to_string(), entry.name, &kind, nth, seed);
                    asked.without("skipped", &error)
                };
                return Ok(own().map(skipped).collect());
            }
        };
        let (rows, best, terms) = (Vec::new(), None, terms.to_string());
        let mut field = Field::<P> { ground, question: &question, terms, rows, best };
        for (entry, nth, seed) in own() {
            if interrupt::is_requested() {
                break;
            }
            let asked = field.asked(entry.name, &entry.kind.to_string(), nth, seed);
            let limits = asked.limits();
            let (row, solution) = attempt::<P>(entry, &question, asked, limits, bench.args.trace);
            field.done(row, solution);
        }
        if let Some(more) = self.more {
            more(bench, &self.entries, &mut field);
        }
        let bound = settle(&mut field.rows, P::floor_of(&question).map(Value::number));
        if let (Some(store), Some((_, algorithm, solution))) = (store, field.best) {
            store.map::<P>(&question, &algorithm, &solution, bound.unwrap_or_default().into())?;
        }
        Ok(field.rows)
    }
}

/// Selects the algorithms of each problem.
struct Select<'a> {
    args: &'a BenchArgs,
    registry: &'a Registry,
    terms: &'a [Terms],
}

impl Select<'_> {
    /// Returns the requested algorithms: by default every heuristic and the default exact method.
    fn chosen<P: Posed>(&self, more: Option<More<P>>) -> Chosen<P> {
        let (args, registry) = (self.args, self.registry);
        let leading = default_entry::<P>(registry).map(|entry| entry.name);
        let chosen = |entry: &&&'static Entry<P>| {
            let group = match entry.kind {
                Kind::Heuristic => "heuristics",
                Kind::Exact => "solvers",
            };
            if args.solvers.is_empty() {
                return group == "heuristics" || leading == Some(entry.name);
            }
            args.solvers.iter().any(|name| name == entry.name || name == "all" || name == group)
        };
        let named = |entry: &&&'static Entry<P>| args.solvers.iter().any(|name| name == entry.name);
        let variants = P::variants(registry).iter().filter(named);
        let entries = P::entries(registry).iter().filter(chosen).chain(variants).copied().collect();
        let mut terms: Vec<Terms> = Vec::new();
        for own in self.terms.iter().map(P::terms) {
            if !terms.contains(&own) {
                terms.push(own);
            }
        }
        Chosen { entries, terms, graphs_only: args.problems.is_empty() && P::NAME == Spilling::NAME, more }
    }
}

impl Visitor for Select<'_> {
    type Output = Box<dyn Lane>;

    fn visit<P: Posed>(&mut self) -> Box<dyn Lane> {
        Box::new(self.chosen::<P>(None))
    }
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
        Ok(Self { args, machine, lanes, externals, registry, posings })
    }

    /// Decides whether to derive instances from models, and returns a note if so. Instances are derived if
    /// problems on instances are requested and all cases are graphs. Fails if a requested problem applies to
    /// none of the cases.
    pub fn check_cases(&mut self, cases: &[Case]) -> Result<Option<String>, Failure> {
        let kinds: Vec<SubjectKind> =
            cases.iter().flat_map(|case| &case.subject).map(Subject::kind).collect();
        let own = std::mem::take(&mut self.posings);
        if self.args.problems.is_empty() || kinds.is_empty() {
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

    /// Restricts a benchmark whose inputs are all files of the user, unless an option refers to another
    /// problem: to offsets if all inputs are instances, and to orders and offsets if all are graphs or
    /// models. Returns a note if it does so. `posings` are the terms for deriving instances.
    fn keep_defaults(&mut self, kinds: &[SubjectKind], posings: Vec<Terms>) -> Option<String> {
        let args = self.args;
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
                || self.externals.iter().any(|peer| peer.name() == name)
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
        let decide = self.args.decide.is_some();
        Comparison {
            is_asked: decide || self.args.reference.is_some(),
            question: if decide { "decide the capacity" } else { "prove the optimum" },
            reference: self.args.reference.as_deref(),
            shift: self.args.shift.as_secs_f64(),
        }
    }

    /// Returns the external programs, for the record.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        self.externals.iter().map(|peer| Peer {
            name: peer.name().to_owned(),
            version: peer.version().map(str::to_owned),
            line: peer.line(),
        })
    }

    /// Returns the number of runs of an external program per instance.
    fn repetitions(&self, peer: &External) -> u64 {
        if peer.is_seeded() { self.args.seeds } else { self.args.repeat }
    }

    /// Returns the number of runs on a case.
    pub fn runs_on(&self, case: &Case) -> usize {
        let Ok(subject) = &case.subject else { return 0 };
        let seeds = self.args.seeds as usize;
        let own: usize = self.lanes.iter().map(|lane| lane.runs_on(subject.kind())).sum();
        let foreign = self.externals.iter().map(|peer| self.repetitions(peer)).sum::<u64>() as usize;
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
    pub fn case(
        &self,
        case: &Case,
        bar: &ProgressBar,
        mut store: Option<&mut Store>,
    ) -> Result<Vec<Record>, Failure> {
        let subject = match &case.subject {
            Ok(subject) => subject,
            Err(error) => return Ok(vec![self.unreadable(case, error)]),
        };
        let mut rows = Vec::new();
        if let Subject::Graph(graph) = subject {
            for terms in &self.posings {
                let text = terms.to_string();
                rows.extend(match instance(graph, terms) {
                    Ok(made) => self.on(case, &Subject::Instance(made), &text, bar, store.as_deref_mut())?,
                    Err(error) => self.not_made(case, subject, &text, &error),
                });
            }
        }
        rows.extend(self.on(case, subject, "", bar, store)?);
        Ok(rows)
    }

    /// Returns the blank record of the runs on a subject.
    fn blank(&self, case: &Case, subject: &Subject, terms: &str) -> Record {
        let blank = Record {
            threads: self.args.threads,
            seed: self.args.seed,
            time_limit: Some(self.args.time_limit.as_secs_f64()),
            node_limit: self.args.node_limit,
            decide: self.decide(),
            terms: terms.to_owned(),
            ..Record::on(&self.machine)
        };
        blank.about(&case.suite, subject, &sha256(subject))
    }

    /// Performs all runs on one subject. `terms` are those of an instance that was derived from a model.
    fn on(
        &self,
        case: &Case,
        subject: &Subject,
        terms: &str,
        bar: &ProgressBar,
        mut store: Option<&mut Store>,
    ) -> Result<Vec<Record>, Failure> {
        let decided;
        let (subject, file_capacity) = match subject {
            Subject::Instance(instance) => {
                decided = Subject::Instance(asked(instance, self.args.decide));
                (&decided, instance.capacity())
            }
            Subject::Graph(_) => (subject, None),
        };
        let ground = Ground { subject, file_capacity, blank: self.blank(case, subject, terms), bar };
        let mut rows = Vec::new();
        for lane in self.lanes.iter().filter(|lane| terms.is_empty() || on_instances(&***lane)) {
            rows.extend(lane.run(self, &ground, store.as_deref_mut())?);
        }
        Ok(rows)
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
        match self.args.decide {
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

    /// Returns the number of each repetition, counted from 1, with its seed.
    fn seeds(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.args.seeds).map(|nth| (nth + 1, self.args.seed.wrapping_add(nth)))
    }

    /// Returns the command line that runs one algorithm of this binary in a separate process.
    fn as_process(&self, entry: &Entry<Offsets>) -> External {
        let own = std::env::current_exe().unwrap_or_else(|_| "plimsoll".into());
        let mut words = vec![own.to_string_lossy().into_owned()];
        let line = "solve {input} --problem offsets --output {output} --seed {seed} --threads {threads} \
                    --time-limit {time_limit} --json --solver";
        words.extend(line.split_whitespace().map(str::to_owned));
        words.push(entry.name.to_owned());
        if let Some(nodes) = self.args.node_limit {
            words.extend(["--node-limit".to_owned(), nodes.to_string()]);
        }
        let capacity: &[&str] = if self.args.decide.is_some() {
            &["--decide", "--capacity", "{capacity}"]
        } else {
            &["--no-capacity"]
        };
        words.extend(capacity.iter().map(|word| (*word).to_owned()));
        External::new(entry.name, words)
    }

    /// Runs a process once with the capacity to decide. When minimising, the process gets the capacity in the
    /// file name or, if there is none, the load; an answer above this capacity is valid too.
    fn process(&self, field: &mut Field<Offsets>, peer: &External, whose: Whose, asked: Record) {
        let instance: &Instance = field.question;
        let own = if asked.decides() { instance.capacity() } else { field.ground.file_capacity };
        let capacity = own.unwrap_or_else(|| load(instance).0);
        let line = peer.line();
        let asked = if whose == Whose::Own {
            // The record omits the location of the binary.
            let params =
                line.split_once(' ').map_or_else(String::new, |(_, rest)| format!("plimsoll {rest}"));
            Record { params, ..asked }
        } else {
            let version = peer.version().unwrap_or_default().to_owned();
            Record { params: line, capacity: Some(capacity.get()), version, ..asked }
        };
        if asked.decides() && own.is_none() {
            field.done(asked.without("skipped", NO_CAPACITY), None);
        } else if let Some((row, layout)) = answer(peer, instance, capacity, whose, asked, self.args.trace) {
            field.done(row, layout);
        }
    }
}

/// Runs the processes: built-in algorithms with `--processes`, then external programs, whose answers are
/// compared with the best bound proved so far.
fn processes(bench: &Bench, own: &[&'static Entry<Offsets>], field: &mut Field<Offsets>) {
    if bench.args.processes {
        for entry in own {
            let process = bench.as_process(entry);
            for (nth, seed) in interrupt::until_requested(bench.seeds()) {
                let asked = field.asked(entry.name, &entry.kind.to_string(), nth, seed);
                bench.process(field, &process, Whose::Own, asked);
            }
        }
    }
    let floor = <Offsets as Plan>::floor(field.question).value.get();
    let bound = settle(&mut field.rows, Some(floor)).unwrap_or(floor).into();
    for peer in &bench.externals {
        for nth in interrupt::until_requested(1..=bench.repetitions(peer)) {
            let offset = if peer.is_seeded() { nth - 1 } else { 0 };
            let seed = bench.args.seed.wrapping_add(offset);
            let asked = field.asked(peer.name(), "external", nth, seed);
            bench.process(field, peer, Whose::Foreign(bound), asked);
        }
    }
}

/// Returns true if the problem is posed only on instances.
fn on_instances(lane: &dyn Lane) -> bool {
    is_on_instances(lane.problem())
}

/// Adds a hint to an error about `--terms`. Every selected problem must accept the terms, so the hint is to
/// select fewer problems.
fn about_terms(args: &BenchArgs, error: impl Display) -> Failure {
    let hint = if args.problems.is_empty() { "; select the problems with --problems" } else { "" };
    Failure::input(format!("--terms: {error}{hint}"))
}

/// Returns the requested problems. The default is all problems; with `--decide`, only those with a capacity;
/// with `--processes`, only offsets, because processes write layouts.
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
        External::ask_version(&mut peers, text).map_err(Failure::input)?;
    }
    for text in &args.external_elapsed {
        External::set_elapsed_pattern(&mut peers, text).map_err(Failure::input)?;
    }
    Ok(peers)
}

/// Returns the instance with the capacity to decide, or without one.
fn asked(instance: &Instance, decide: Option<Decide>) -> Instance {
    let capacity = match decide {
        None => None,
        Some(Decide::File) => instance.capacity(),
        Some(Decide::Load) => Some(load(instance).0),
        Some(Decide::Bytes(bytes)) => Some(Bytes::new(bytes)),
    };
    instance.clone().with_capacity(capacity)
}
