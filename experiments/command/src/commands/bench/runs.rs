//! The runs on one instance: our own algorithms in this process or in processes of their own, then everybody else's.

use super::args::{BenchArgs, Decide};
use super::record::Record;
use super::store::Store;
use crate::commands::choose::{default_entry, names, unknown};
use crate::failure::Failure;
use indicatif::ProgressBar;
use plimsoll::Registry;
use plimsoll::interrupt;
use plimsoll::model::{
    Bytes, Entry, Instance, Kind, Offsets, Outcome, Pools, Problem, Scattered, Setup, Silent, SolveError,
};
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll::run::{Attempt, Limits, RunError};
use plimsoll_lab::external::judge::{Whose, judge};
use plimsoll_lab::external::{External, Task};
use plimsoll_lab::machine::Machine;
use plimsoll_lab::measured::run_measured;
use plimsoll_lab::report::rows::{Row, content_hash, settle};
use plimsoll_lab::report::summary::{Comparison, Peer};
use plimsoll_lab::report::trace::{Recorder, TraceRow, of_process};
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

/// The best solution of a problem so far.
struct Best<P: Plan> {
    value: Bytes,
    algorithm: String,
    solution: P::Solution,
}

/// What the runs of one problem on one instance share and fill.
struct Field<'a, P: Plan> {
    /// With the capacity to decide, or without one.
    instance: &'a Instance,
    /// The capacity it came with.
    file_capacity: Option<Bytes>,
    /// A row with all that its runs have in common.
    blank: &'a Row,
    bar: &'a ProgressBar,
    record: Record,
    best: Option<Best<P>>,
}

impl<P: Plan> Field<'_, P> {
    fn keep(&mut self, value: Bytes, algorithm: &str, solution: P::Solution) {
        if self.best.as_ref().is_none_or(|best| value < best.value) {
            self.best = Some(Best { value, algorithm: algorithm.to_owned(), solution });
        }
    }

    /// Row and events of one run are complete.
    fn done(&mut self, row: Row) {
        self.record.rows.push(row);
        self.bar.inc(1);
    }

    fn announce(&self, algorithm: &str) {
        self.bar.set_message(format!("{} {algorithm}", self.instance.name()));
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
    ) -> Result<Record, Failure> {
        let (instance, file_capacity) = match &case.instance {
            Ok(instance) => (asked(instance, self.args.decide), instance.capacity()),
            Err(error) => {
                bar.inc(self.runs_per_case() as u64);
                return Ok(Record { rows: vec![self.unreadable(case, error)], trace: Vec::new() });
            }
        };
        let limit = Some(self.args.time_limit);
        let blank = Row::on(&self.machine).about(&case.suite, &instance, &content_hash(&instance)).limited(
            limit,
            self.args.node_limit,
            self.args.decide.is_some(),
        );
        let blank = Row { threads: self.args.threads, ..blank };
        let ground = (&instance, file_capacity, &blank, bar);
        let mut record = self.problem(ground, &self.offsets, store.as_deref_mut(), |field| {
            self.processes(field);
        })?;
        record.extend(self.problem(ground, &self.scattered, store.as_deref_mut(), |_| ())?);
        record.extend(self.problem(ground, &self.pools, store, |_| ())?);
        Ok(record)
    }

    fn unreadable(&self, case: &Case, error: &impl ToString) -> Row {
        Row {
            suite: case.suite.clone(),
            instance: case.name.clone(),
            status: "unreadable".to_owned(),
            error: error.to_string(),
            decide: self.args.decide.is_some(),
            ..Row::on(&self.machine)
        }
    }

    /// The seeds with the number of their runs, from 1.
    fn seeds(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.args.seeds).map(|nth| (nth + 1, self.args.seed.wrapping_add(nth)))
    }

    /// All runs of one problem on one instance: our own, then whatever `more` adds; then bounds and gaps, and the map.
    fn problem<P: Plan>(
        &self,
        (instance, file_capacity, blank, bar): (&Instance, Option<Bytes>, &Row, &ProgressBar),
        entries: &[&'static Entry<P>],
        store: Option<&mut Store>,
        more: impl FnOnce(&mut Field<P>),
    ) -> Result<Record, Failure> {
        let mut field = Field { instance, file_capacity, blank, bar, record: Record::default(), best: None };
        if !self.args.processes {
            for entry in entries {
                for (nth, seed) in interrupt::until_requested(self.seeds()) {
                    self.own(&mut field, entry, nth, seed);
                }
            }
        }
        more(&mut field);
        let bound = settle(&mut field.record.rows, P::floor(instance).value);
        if let (Some(store), Some(best)) = (store, field.best) {
            store.map::<P>(instance, &best.algorithm, &best.solution, bound)?;
        }
        Ok(field.record)
    }

    /// One run of our own in this process.
    fn own<P: Plan>(&self, field: &mut Field<P>, entry: &Entry<P>, nth: u64, seed: u64) {
        field.announce(entry.name);
        let mut recorder = Recorder::start();
        let attempt = self.attempt(field.instance, entry, seed, self.args.trace.then_some(&mut recorder));
        let kind = entry.kind.to_string();
        let named = Row { algorithm: entry.name.to_owned(), kind, seed, run: nth, ..field.blank.clone() };
        let row = named.attempted::<P>(field.instance, &attempt);
        if self.args.trace && row.status == "done" {
            let events = recorder.finish(attempt.seconds, row.peak, row.lower_bound);
            let line = TraceRow::of(&row);
            field.record.trace.extend(events.iter().map(|event| line.with(event, false)));
        }
        if let Ok(Outcome { solution: Some(solution), value: Some(value), .. }) = attempt.result {
            field.keep(value, entry.name, solution);
        }
        field.done(row);
    }

    fn attempt<P: Plan>(
        &self,
        instance: &Instance,
        entry: &Entry<P>,
        seed: u64,
        recorder: Option<&mut Recorder>,
    ) -> Attempt<P> {
        let deciding = self.args.decide.is_some();
        let limits = Limits {
            time: Some(self.args.time_limit),
            nodes: self.args.node_limit,
            target: if deciding { instance.capacity() } else { None },
            deadline: None,
        };
        if deciding && instance.capacity().is_none() {
            let reason = "the instance has no capacity to decide".to_owned();
            let error = SolveError::Unsupported { solver: entry.name, reason };
            return Attempt { result: Err(RunError::Solve(error)), seconds: 0.0, peak_memory: None };
        }
        let setup = Setup { seed, threads: self.args.threads, ..Setup::default() };
        match recorder {
            Some(recorder) => run_measured(entry, instance, setup, limits, recorder),
            None => run_measured(entry, instance, setup, limits, &mut Silent),
        }
    }

    /// Runs the processes: our own where asked, then the externals, which are held against the best bound of ours.
    fn processes(&self, field: &mut Field<Offsets>) {
        if self.args.processes {
            for entry in &self.offsets {
                let process = self.as_process(entry);
                for (nth, seed) in interrupt::until_requested(self.seeds()) {
                    self.process(field, &process, entry.kind.to_string(), Whose::Own, nth, seed);
                }
            }
        }
        let bound = settle(&mut field.record.rows, Offsets::floor(field.instance).value);
        for peer in &self.externals {
            for nth in interrupt::until_requested(1..=self.repetitions(peer)) {
                let offset = if peer.is_seeded() { nth - 1 } else { 0 };
                let seed = self.args.seed.wrapping_add(offset);
                self.process(field, peer, "external".to_owned(), Whose::Foreign(bound), nth, seed);
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
    fn process(
        &self,
        field: &mut Field<Offsets>,
        peer: &External,
        kind: String,
        whose: Whose,
        nth: u64,
        seed: u64,
    ) {
        field.announce(peer.name());
        let deciding = self.args.decide.is_some();
        let instance = field.instance;
        let own = if deciding { instance.capacity() } else { field.file_capacity };
        let capacity = own.unwrap_or_else(|| plimsoll::model::load(instance).0);
        let line = peer.line();
        let mut row = Row {
            algorithm: peer.name().to_owned(),
            kind,
            problem: Offsets::NAME.to_owned(),
            seed,
            run: nth,
            ..field.blank.clone()
        };
        if whose == Whose::Own {
            // Where the binary lies is of no interest to a reader of the record.
            row.params =
                line.split_once(' ').map_or_else(String::new, |(_, rest)| format!("plimsoll {rest}"));
        } else {
            row.params = line;
            row.capacity = Some(capacity.get());
            peer.version().unwrap_or_default().clone_into(&mut row.version);
        }
        if deciding && own.is_none() {
            "skipped".clone_into(&mut row.status);
            "the instance has no capacity to decide".clone_into(&mut row.error);
        } else {
            let (limit, threads) = (Some(self.args.time_limit), self.args.threads);
            let attempt = peer.run(&Task { instance, capacity, limit, seed, threads });
            if attempt.interrupted {
                return;
            }
            let said = self.args.trace.then(|| attempt.course());
            let seconds = attempt.seconds;
            if let Some((layout, value)) = judge(&mut row, instance, whose, attempt) {
                field.keep(value, peer.name(), layout);
            }
            if let Some(said) = said {
                field.record.trace.extend(of_process(&row, &said, seconds));
            }
        }
        field.done(row);
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
