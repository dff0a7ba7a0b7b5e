//! The runs on one instance: our own algorithms in this process or in processes of their own, then everybody else's.

use super::args::{BenchArgs, Decide};
use super::store::Store;
use crate::commands::choose::{default_entry, names, unknown};
use crate::failure::Failure;
use indicatif::ProgressBar;
use plimsoll::Registry;
use plimsoll::interrupt;
use plimsoll::model::csv::content_hash;
use plimsoll::model::{Bytes, Entry, Instance, Kind, Offsets, Pools, Scattered};
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll_lab::attempt::{NO_CAPACITY, attempt};
use plimsoll_lab::external::{External, Whose, answer};
use plimsoll_lab::machine::Machine;
use plimsoll_lab::record::{Record, settle};
use plimsoll_lab::report::summary::{Comparison, Peer};
use plimsoll_lab::suite::Case;
use std::collections::BTreeSet;

/// Groups that may be named instead of algorithms.
const GROUPS: [&str; 3] = ["heuristics", "solvers", "all"];

/// What is asked of every instance.
pub struct Bench<'a> {
    pub args: &'a BenchArgs,
    pub machine: Machine,
    offsets: Vec<&'static Entry<Offsets>>,
    scattered: Vec<&'static Entry<Scattered>>,
    pools: Vec<&'static Entry<Pools>>,
    externals: Vec<External>,
}

/// What the runs of one problem on one instance share and fill.
struct Field<'a, P: Plan> {
    /// With the capacity to decide, or without one.
    instance: &'a Instance,
    /// The capacity it came with.
    file_capacity: Option<Bytes>,
    /// A record with everything that its runs have in common.
    blank: &'a Record,
    bar: &'a ProgressBar,
    rows: Vec<Record>,
    /// The best solution so far: value, algorithm, solution.
    best: Option<(u64, String, P::Solution)>,
}

impl<P: Plan> Field<'_, P> {
    /// The record of a run before it begins.
    fn asked(&self, algorithm: &str, kind: &str, repetition: u64, seed: u64) -> Record {
        self.bar.set_message(format!("{} {algorithm}", self.instance.name()));
        Record {
            problem: P::NAME.to_owned(),
            algorithm: algorithm.to_owned(),
            kind: kind.to_owned(),
            seed,
            repetition,
            ..self.blank.clone()
        }
    }

    /// One run is complete.
    fn done(&mut self, row: Record, solution: Option<P::Solution>) {
        if let (Some(value), Some(solution)) = (row.value, solution)
            && self.best.as_ref().is_none_or(|best| value < best.0)
        {
            self.best = Some((value, row.algorithm.clone(), solution));
        }
        self.rows.push(row);
        self.bar.inc(1);
    }
}

impl<'a> Bench<'a> {
    /// Finds everything that the arguments name.
    pub fn resolve(args: &'a BenchArgs) -> Result<Self, Failure> {
        let registry = plimsoll::registry();
        let problems = problems(args)?;
        let known = names(&registry, &problems);
        let wanted = args.solvers.iter().map(String::as_str);
        if let Some(bad) = wanted.clone().find(|name| !GROUPS.contains(name) && !known.contains(name)) {
            let all: Vec<&str> = GROUPS.into_iter().chain(known.iter().copied()).collect();
            return Err(unknown("solver", bad, &all));
        }
        let bench = Self {
            machine: Machine::here(),
            offsets: select(args, &registry, &problems),
            scattered: select(args, &registry, &problems),
            pools: select(args, &registry, &problems),
            externals: externals(args, &known)?,
            args,
        };
        let takes_part = |name: &str| {
            let own = bench.offsets.iter().map(|entry| entry.name);
            let own = own.chain(bench.scattered.iter().map(|entry| entry.name));
            let mut own = own.chain(bench.pools.iter().map(|entry| entry.name));
            own.any(|own| own == name) || bench.externals.iter().any(|peer| peer.name() == name)
        };
        if let Some(reference) = args.reference.as_deref().filter(|name| !takes_part(name)) {
            return Err(Failure::input(format!("reference '{reference}' takes no part in this benchmark")));
        }
        let externals = if problems.contains(&ProblemKind::Offsets) { bench.externals } else { Vec::new() };
        Ok(Self { externals, ..bench })
    }

    /// How times are compared.
    pub fn comparison(&self) -> Comparison<'a> {
        let decide = self.args.decide.is_some();
        Comparison {
            is_asked: decide || self.args.reference.is_some(),
            question: if decide { "decide the capacity" } else { "prove the optimum" },
            reference: self.args.reference.as_deref(),
            shift: self.args.shift.as_secs_f64(),
        }
    }

    /// The externals, for the record.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        self.externals.iter().map(|peer| Peer {
            name: peer.name().to_owned(),
            version: peer.version().map(str::to_owned),
            line: peer.line(),
        })
    }

    /// How often a peer runs on an instance.
    fn repetitions(&self, peer: &External) -> u64 {
        if peer.is_seeded() { self.args.seeds } else { self.args.repeat }
    }

    /// How many runs one instance takes.
    pub fn runs_per_case(&self) -> usize {
        let own = self.offsets.len() + self.scattered.len() + self.pools.len();
        let foreign: u64 = self.externals.iter().map(|peer| self.repetitions(peer)).sum();
        own * self.args.seeds as usize + foreign as usize
    }

    /// All runs on one instance.
    pub fn case(
        &self,
        case: &Case,
        bar: &ProgressBar,
        mut store: Option<&mut Store>,
    ) -> Result<Vec<Record>, Failure> {
        let (instance, file_capacity) = match &case.instance {
            Ok(instance) => (asked(instance, self.args.decide), instance.capacity()),
            Err(error) => {
                bar.inc(self.runs_per_case() as u64);
                return Ok(vec![self.unreadable(case, error)]);
            }
        };
        let blank = Record {
            threads: self.args.threads,
            time_limit: Some(self.args.time_limit.as_secs_f64()),
            node_limit: self.args.node_limit,
            decide: self.decide(),
            ..Record::on(&self.machine)
        };
        let blank = blank.about(&case.suite, &instance, &content_hash(&instance));
        let ground = (&instance, file_capacity, &blank, bar);
        let mut rows = self.problem(ground, &self.offsets, store.as_deref_mut(), |field| {
            self.processes(field);
        })?;
        rows.extend(self.problem(ground, &self.scattered, store.as_deref_mut(), |_| ())?);
        rows.extend(self.problem(ground, &self.pools, store, |_| ())?);
        Ok(rows)
    }

    /// The capacity to decide, as it is recorded.
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

    /// The seeds with the number of their runs, from 1.
    fn seeds(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.args.seeds).map(|nth| (nth + 1, self.args.seed.wrapping_add(nth)))
    }

    /// All runs of one problem on one instance: our own, then whatever `more` adds; then bounds and gaps, and the map.
    fn problem<P: Plan>(
        &self,
        (instance, file_capacity, blank, bar): (&Instance, Option<Bytes>, &Record, &ProgressBar),
        entries: &[&'static Entry<P>],
        store: Option<&mut Store>,
        more: impl FnOnce(&mut Field<P>),
    ) -> Result<Vec<Record>, Failure> {
        let mut field = Field { instance, file_capacity, blank, bar, rows: Vec::new(), best: None };
        if !self.args.processes {
            for entry in entries {
                for (nth, seed) in interrupt::until_requested(self.seeds()) {
                    let asked = field.asked(entry.name, &entry.kind.to_string(), nth, seed);
                    let (row, solution) = attempt(entry, instance, asked, self.args.trace);
                    field.done(row, solution);
                }
            }
        }
        more(&mut field);
        let bound = settle(&mut field.rows, Some(P::floor(instance).value.get()));
        if let (Some(store), Some((_, algorithm, solution))) = (store, field.best) {
            store.map::<P>(instance, &algorithm, &solution, bound.unwrap_or_default().into())?;
        }
        Ok(field.rows)
    }

    /// Runs the processes: our own where asked, then the externals, which are held against the best bound of ours.
    fn processes(&self, field: &mut Field<Offsets>) {
        if self.args.processes {
            for entry in &self.offsets {
                let process = self.as_process(entry);
                for (nth, seed) in interrupt::until_requested(self.seeds()) {
                    let asked = field.asked(entry.name, &entry.kind.to_string(), nth, seed);
                    self.process(field, &process, Whose::Own, asked);
                }
            }
        }
        let floor = Offsets::floor(field.instance).value.get();
        let bound = settle(&mut field.rows, Some(floor)).unwrap_or(floor).into();
        for peer in &self.externals {
            for nth in interrupt::until_requested(1..=self.repetitions(peer)) {
                let offset = if peer.is_seeded() { nth - 1 } else { 0 };
                let seed = self.args.seed.wrapping_add(offset);
                let asked = field.asked(peer.name(), "external", nth, seed);
                self.process(field, peer, Whose::Foreign(bound), asked);
            }
        }
    }

    /// This very binary, asked to solve with one algorithm.
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

    /// Runs a process once. Its capacity is the one to decide; where none is, a peer is told the file's, or the load
    /// where there is none, and an answer above it counts as well.
    fn process(&self, field: &mut Field<Offsets>, peer: &External, whose: Whose, asked: Record) {
        let instance = field.instance;
        let own = if asked.decides() { instance.capacity() } else { field.file_capacity };
        let capacity = own.unwrap_or_else(|| plimsoll::model::load(instance).0);
        let line = peer.line();
        let asked = if whose == Whose::Own {
            // Where the binary lies is of no interest to a reader of the record.
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

/// The problems asked for: all of them by default; processes leave layouts, so they solve for offsets only.
fn problems(args: &BenchArgs) -> Result<Vec<ProblemKind>, Failure> {
    match (args.processes, args.problems.as_slice()) {
        (false, []) => Ok(ProblemKind::ALL.to_vec()),
        (true, []) => Ok(vec![ProblemKind::Offsets]),
        (true, asked) if asked.iter().any(|&problem| problem != ProblemKind::Offsets) => {
            Err(Failure::input("--processes goes with the problem offsets only"))
        }
        (_, asked) => Ok(asked.to_vec()),
    }
}

/// The peers with their versions and patterns; `known` names are taken.
fn externals(args: &BenchArgs, known: &[&str]) -> Result<Vec<External>, Failure> {
    let peers = args.external.iter().map(|text| External::parse(text));
    let mut peers: Vec<External> = peers.collect::<Result<_, _>>().map_err(Failure::input)?;
    let mut taken: BTreeSet<&str> = known.iter().copied().collect();
    if let Some(twice) = peers.iter().find(|peer| !taken.insert(peer.name())) {
        let name = twice.name();
        return Err(Failure::input(format!("external '{name}': the name is taken; choose another")));
    }
    for text in &args.external_version {
        External::ask_version(&mut peers, text).map_err(Failure::input)?;
    }
    for text in &args.external_elapsed {
        External::tell_elapsed(&mut peers, text).map_err(Failure::input)?;
    }
    Ok(peers)
}

/// The entries of one problem that were asked for: by default every heuristic, and the exact method that leads.
fn select<P: Plan>(
    args: &BenchArgs,
    registry: &Registry,
    problems: &[ProblemKind],
) -> Vec<&'static Entry<P>> {
    if !problems.contains(&P::KIND) {
        return Vec::new();
    }
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
    P::entries(registry).iter().filter(chosen).chain(variants).copied().collect()
}

/// The instance with the capacity to decide, or with none.
fn asked(instance: &plimsoll::model::Instance, decide: Option<Decide>) -> plimsoll::model::Instance {
    use plimsoll::model::{Bytes, load};
    let capacity = match decide {
        None => None,
        Some(Decide::File) => instance.capacity(),
        Some(Decide::Load) => Some(load(instance).0),
        Some(Decide::Bytes(bytes)) => Some(Bytes::new(bytes)),
    };
    instance.clone().with_capacity(capacity)
}
