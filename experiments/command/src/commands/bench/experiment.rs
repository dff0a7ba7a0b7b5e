//! Builds the experiment that the options of `bench` describe.

use super::args::BenchArgs;
use crate::commands::choose::{leading, names, refused};
use crate::failure::Failure;
use plimsoll::model::{Kind, Offsets, Orders, Problem, Spilling};
use plimsoll::posed::{
    Facts, PROBLEMS, Subject, SubjectKind, TermError, Terms, algorithm, algorithms, check_terms,
    instance_terms, is_on_instances, profile, takes, terms_in_full,
};
use plimsoll::{Registry, registry};
use plimsoll_lab::experiment::{Experiment, Input, Task};
use plimsoll_lab::external::{External, VersionCommands};
use plimsoll_lab::row::AlgorithmKind;
use plimsoll_lab::suite::{Case, SUITES};
use std::collections::BTreeSet;
use std::fmt::Display;

/// Names of groups of algorithms.
const GROUPS: [&str; 3] = ["heuristics", "solvers", "all"];

/// The algorithms of a benchmark, before its inputs are known.
pub struct Selection<'a> {
    args: &'a BenchArgs,
    /// The selected algorithms of each problem.
    problems: Vec<(&'static str, Vec<Facts>)>,
    /// The terms of each question, as given.
    terms: Vec<Terms>,
    externals: Vec<External>,
}

impl<'a> Selection<'a> {
    /// Resolves all names in the arguments.
    pub fn resolve(args: &'a BenchArgs) -> Result<Self, Failure> {
        let registry = registry();
        let problems = problems(args)?;
        let known = names(&registry, &problems);
        for name in args.algorithms.iter().map(String::as_str).filter(|name| !GROUPS.contains(name)) {
            let Some(Err(error)) = algorithm(&registry, &problems, name) else { continue };
            let is_external = |text: &String| text.split_once('=').is_some_and(|(own, _)| own.trim() == name);
            if args.external.iter().any(is_external) {
                let message = format!(
                    "--algorithms '{name}': this external program always runs; --algorithms selects built-in algorithms"
                );
                return Err(Failure::input(message));
            }
            let all: Vec<&str> = GROUPS.into_iter().chain(known.iter().copied()).collect();
            return Err(refused(error, "algorithm", &all, "plimsoll list algorithms"));
        }
        let given = if args.terms.is_empty() { &[String::new()][..] } else { &args.terms };
        let terms = given.iter().map(|text| {
            let terms: Terms = text.parse()?;
            check_terms(&terms, &problems, !args.problems.is_empty()).map(|()| terms)
        });
        let terms: Vec<Terms> =
            terms.collect::<Result<_, TermError>>().map_err(|error| about_terms(args, error))?;
        let externals = externals(args, &known)?;
        let chosen: Vec<(&str, Vec<Facts>)> =
            problems.iter().map(|&problem| (problem, chosen(args, &registry, problem))).collect();
        let is_part = |name: &str| {
            chosen.iter().any(|(_, own)| own.iter().any(|facts| facts.name == name))
                || externals.iter().any(|peer| peer.name() == name)
        };
        if let Some(reference) = args.reference.as_deref().filter(|name| !is_part(name)) {
            let message = format!("--reference '{reference}': this algorithm is not part of the benchmark");
            return Err(Failure::input(message));
        }
        let externals = if problems.contains(&Offsets::NAME) { externals } else { Vec::new() };
        Ok(Self { args, problems: chosen, terms, externals })
    }

    /// Lists the runs on the given cases. Returns the experiment, and a note if instances are derived or the
    /// problems are restricted.
    ///
    /// # Errors
    /// Fails if a requested problem applies to none of the cases.
    pub fn experiment(mut self, cases: Vec<Case>) -> Result<(Experiment, Option<String>), Failure> {
        let kinds: Vec<SubjectKind> =
            cases.iter().flat_map(|case| &case.subject).map(Subject::kind).collect();
        let (posings, note) = self.posings(&kinds)?;
        let mut inputs = Vec::new();
        // Without --problems, spilling is posed only on graphs.
        let spills = !self.args.problems.is_empty();
        let on_instance = |problem: &&'static str| spills || *problem != Spilling::NAME;
        let posed: Vec<&'static str> =
            self.problems.iter().map(|(problem, _)| *problem).filter(on_instance).collect();
        let derived: Vec<&'static str> = posed.iter().copied().filter(|name| is_on_instances(name)).collect();
        for case in cases {
            let input = Input::from_case(case);
            if input.kind == SubjectKind::Instance {
                inputs.push(input.only(posed.clone()));
                continue;
            }
            inputs.extend(posings.iter().map(|terms| input.derived(terms).only(derived.clone())));
            inputs.push(input);
        }
        let mut experiment = Experiment {
            name: "bench".to_owned(),
            extras: self.args.extras(),
            inputs,
            tasks: Vec::new(),
            ..Experiment::default()
        };
        self.add_tasks(&mut experiment);
        // The same file may be given twice, so runs may be equal.
        experiment.list_runs();
        Ok((experiment, note))
    }

    fn add_tasks(&self, experiment: &mut Experiment) {
        let args = self.args;
        for (problem, chosen) in &self.problems {
            let all = distinct(self.terms.iter().map(|terms| terms_in_full(terms, problem)));
            for (terms, facts) in all.iter().flat_map(|terms| chosen.iter().map(move |facts| (terms, facts)))
            {
                let peer = args.processes.then_some(experiment.peers.len());
                experiment.peers.extend(args.processes.then(|| self.as_process(facts.name)));
                let (algorithm, kind) = (facts.name.to_owned(), facts.kind.into());
                let blank = self.task(problem);
                experiment.tasks.push(Task { algorithm, kind, peer, terms: terms.clone(), ..blank });
            }
            if *problem != Offsets::NAME {
                continue;
            }
            for peer in &self.externals {
                let blank = self.task(problem);
                let (seeds, repetitions) =
                    if peer.is_seeded() { (blank.seeds.clone(), 1) } else { (vec![args.seed], args.repeat) };
                experiment.tasks.push(Task {
                    algorithm: peer.name().to_owned(),
                    kind: AlgorithmKind::External,
                    peer: Some(experiment.peers.len()),
                    nodes: vec![None],
                    seeds,
                    repetitions,
                    ..blank
                });
                experiment.peers.push(peer.clone());
            }
        }
    }

    fn task(&self, problem: &'static str) -> Task {
        let args = self.args;
        Task {
            problem,
            algorithm: String::new(),
            kind: AlgorithmKind::Heuristic,
            peer: None,
            threads: args.threads,
            terms: Terms::default(),
            decide: args.decide,
            times: vec![Some(args.time_limit)],
            nodes: vec![args.node_limit],
            seeds: (0..args.seeds).map(|nth| args.seed.wrapping_add(nth)).collect(),
            repetitions: 1,
        }
    }

    /// Returns a process of this command that runs one algorithm for offsets.
    fn as_process(&self, name: &str) -> External {
        let own = std::env::current_exe().unwrap_or_else(|_| "plimsoll".into());
        let mut words = vec![own.to_string_lossy().into_owned()];
        let line = "solve {input} --problem offsets --output {output} --seed {seed} --threads {threads} \
                    --time-limit {time_limit} --offsets fixed --json --algorithm";
        words.extend(line.split_whitespace().map(str::to_owned));
        words.push(name.to_owned());
        if let Some(nodes) = self.args.node_limit {
            words.extend(["--node-limit".to_owned(), nodes.to_string()]);
        }
        let capacity: &[&str] = if self.args.decide.is_some() {
            &["--decide", "--capacity", "{capacity}"]
        } else {
            &["--no-capacity"]
        };
        words.extend(capacity.iter().map(|word| (*word).to_owned()));
        External::own(name, words)
    }

    /// Returns the terms under which instances are derived from models, one set per question, and a note if
    /// there are any. With `--problems`, instances are derived if problems on instances are requested and all
    /// cases are graphs. Without `--problems`, [`Self::keep_defaults`] decides.
    fn posings(&mut self, kinds: &[SubjectKind]) -> Result<(Vec<Terms>, Option<String>), Failure> {
        let own = distinct(self.terms.iter().map(instance_terms));
        if self.args.problems.is_empty() || kinds.is_empty() {
            return Ok(self.keep_defaults(kinds, own));
        }
        let on_instances = |(problem, _): &&(&str, Vec<Facts>)| is_on_instances(problem);
        let makes =
            !kinds.contains(&SubjectKind::Instance) && self.problems.iter().any(|own| on_instances(&own));
        let idle = |own: &&(&'static str, Vec<Facts>)| {
            let derives = makes && on_instances(own);
            !derives && !kinds.iter().any(|&kind| takes(own.0, kind))
        };
        if let Some((problem, _)) = self.problems.iter().find(idle) {
            return Err(Failure::input(format!("--problems {problem}: needs at least one graph or model")));
        }
        if !makes {
            return Ok((Vec::new(), None));
        }
        let terms: Vec<String> = own.iter().map(Terms::to_string).collect();
        let note = format!("instances are derived from the graphs, with {}", terms.join(" and with "));
        Ok((own, Some(note)))
    }

    /// If no input is a suite and no option refers to another problem, restricts the benchmark to offsets for
    /// instances, or to orders and offsets for graphs and models. If the inputs are of both kinds, the
    /// benchmark is not restricted. `posings` are the terms for deriving instances.
    fn keep_defaults(&mut self, kinds: &[SubjectKind], posings: Vec<Terms>) -> (Vec<Terms>, Option<String>) {
        let args = self.args;
        let is_suite = |name: &String| SUITES.iter().any(|suite| suite.name == name);
        let is_own = !args.suites.is_empty() && !args.suites.iter().any(is_suite);
        let all = |kind: SubjectKind| !kinds.is_empty() && kinds.iter().all(|own| *own == kind);
        let (instances, graphs) = (all(SubjectKind::Instance), all(SubjectKind::Graph));
        let defaults: &[&str] = if instances { &[Offsets::NAME] } else { &[Offsets::NAME, Orders::NAME] };
        let kept = || self.problems.iter().filter(|(problem, _)| defaults.contains(problem));
        let names: Vec<&str> = kept().flat_map(|(_, own)| own.iter().map(|facts| facts.name)).collect();
        let known = |name: &String| {
            let name = name.as_str();
            GROUPS.contains(&name)
                || names.contains(&name)
                || self.externals.iter().any(|peer| peer.name() == name)
        };
        let named = args.algorithms.iter().chain(&args.reference).all(known);
        let is_less = kept().count() < self.problems.len() || graphs;
        if !is_own || !(instances || graphs) || !named || !args.terms.is_empty() || !is_less {
            return (Vec::new(), None);
        }
        self.problems.retain(|(problem, _)| defaults.contains(problem));
        if instances {
            let note = "problem: offsets, because all inputs are instances (--problems selects others)";
            return (Vec::new(), Some(note.to_owned()));
        }
        let note = "problems: orders, and offsets in the order of the file, because all inputs are graphs or \
                    models (--problems selects others)";
        (posings, Some(note.to_owned()))
    }
}

/// Returns the terms without repetitions, in order of first occurrence.
fn distinct(given: impl Iterator<Item = Terms>) -> Vec<Terms> {
    let mut all: Vec<Terms> = Vec::new();
    for terms in given {
        if !all.contains(&terms) {
            all.push(terms);
        }
    }
    all
}

/// Returns the requested algorithms of a problem: by default every heuristic and the default exact method.
fn chosen(args: &BenchArgs, registry: &Registry, problem: &str) -> Vec<Facts> {
    let own = algorithms(registry, problem);
    let default = leading(&own).map(|facts| facts.name);
    let is_chosen = |facts: &Facts| {
        let group = match facts.kind {
            Kind::Heuristic => "heuristics",
            Kind::Exact => "solvers",
        };
        if args.algorithms.is_empty() {
            return group == "heuristics" || default == Some(facts.name);
        }
        args.algorithms.iter().any(|name| name == facts.name || name == "all" || name == group)
    };
    let mut chosen: Vec<Facts> = own.into_iter().filter(is_chosen).collect();
    for facts in args.algorithms.iter().filter_map(|name| algorithm(registry, &[problem], name)?.ok()) {
        if !chosen.contains(&facts) {
            chosen.push(facts);
        }
    }
    chosen
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
