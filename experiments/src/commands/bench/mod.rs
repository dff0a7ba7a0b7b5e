//! `plimsoll bench`: many algorithms on many instances, against the best proven bound.

mod store;

use super::choose::{default_entry, names, unknown};
use crate::cli::BenchArgs;
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use plimsoll::Registry;
use plimsoll::external::{External, quote};
use plimsoll::machine::Machine;
use plimsoll::model::{
    Bytes, Entry, Instance, Kind, LowerBound, Offsets, Outcome, Pools, Problem, Scattered, Setup, Silent,
    Stats, Stop,
};
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll::report::rows::{Row, content_hash, settle};
use plimsoll::report::summary::{self, Question};
use plimsoll::run::{Attempt, Limits, RunError, audit, run};
use plimsoll::suite::{CORPORA, Case, Origin, SUITES, Suite, cases, corpora};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use store::Store;

/// Groups that may be named instead of algorithms.
const GROUPS: [&str; 3] = ["heuristics", "solvers", "all"];

/// Runs the command.
pub fn main(args: &BenchArgs) -> Result<u8, Failure> {
    let bench = Bench::resolve(args)?;
    let (cases, notes) = collect(args)?;
    let mut store = args.out.as_deref().map(|folder| Store::open(folder, args.force)).transpose()?;
    for note in &notes {
        output::print(&format!("{note}\n"))?;
    }
    let bar = ProgressBar::new((cases.len() * bench.runs_per_case()) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    let mut rows = Vec::new();
    for case in &cases {
        let own = bench.case(case, &bar, store.as_mut())?;
        if let Some(store) = &mut store {
            store.append(&own)?;
        }
        rows.extend(own);
    }
    bar.finish_and_clear();
    report(&bench, &rows, &notes, store.as_ref())?;
    for case in &cases {
        if let Err(error) = &case.instance {
            output::complain(&format!("not read: {error}"));
        }
    }
    if !cases.is_empty() && cases.iter().all(|case| case.instance.is_err()) {
        return Err(Failure::input("none of the instances could be read"));
    }
    let refused = rows.iter().any(|row| row.status == "refused" && row.kind != "external");
    Ok(if refused { REFUTED } else { ANSWERED })
}

/// Prints the tables, writes the pages.
fn report(bench: &Bench, rows: &[Row], notes: &[String], store: Option<&Store>) -> Result<(), Failure> {
    let mut text = String::new();
    // The main problem last: it is what stays on the screen.
    for problem in ProblemKind::ALL.into_iter().rev() {
        for table in [summary::runs(rows, problem), summary::algorithms(rows, problem)].into_iter().flatten()
        {
            let _ = write!(text, "\n{problem}\n\n{}", table.text());
        }
    }
    for row in rows.iter().filter(|row| row.status == "unreadable") {
        let _ = write!(text, "\nnot read: {}\n", row.error);
    }
    output::print(&text)?;
    if let Some(store) = store {
        let command = command_line();
        let question = Question { command: &command, machine: &bench.machine, notes };
        store.finish(&question, rows)?;
        output::print(&format!("\nwritten to {}\n", store.folder().display()))?;
    }
    Ok(())
}

/// The command as it was typed, quoted so that it can be typed again.
fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| quote(&word));
    ["plimsoll".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// The instances asked for, and what the reader should know about them.
fn collect(args: &BenchArgs) -> Result<(Vec<Case>, Vec<String>), Failure> {
    let mut notes = Vec::new();
    let folder = |suite: &Suite| match suite.origin {
        Origin::Embedded(_) => None,
        Origin::Corpora(folder) => Some(folder),
    };
    let external = || SUITES.iter().filter(|suite| folder(suite).is_some());
    let suites: Vec<String> = if !args.suites.is_empty() {
        args.suites.clone()
    } else if let Some(root) = corpora() {
        // A folder of corpora need not hold all of them.
        let there = |folder: &str| root.join(folder).is_dir();
        let (present, absent): (Vec<&Suite>, Vec<&Suite>) =
            external().partition(|suite| folder(suite).is_some_and(there));
        notes.extend(absent.iter().map(|suite| format!("{CORPORA} has no folder {}", suite.name)));
        ["embedded"].into_iter().chain(present.iter().map(|suite| suite.name)).map(str::to_owned).collect()
    } else {
        notes.push(format!("{CORPORA} is not set: embedded instances only"));
        vec!["embedded".to_owned()]
    };
    let endpoints = args.endpoints.map(Into::into);
    let mut all = Vec::new();
    for suite in &suites {
        all.extend(cases(suite, endpoints).map_err(Failure::input)?);
    }
    if corpora().is_some() && suites.iter().any(|name| external().any(|suite| suite.name == name)) {
        notes.push(format!("external instances through {CORPORA}"));
    }
    Ok((all, notes))
}

/// What is asked of every instance.
struct Bench<'a> {
    args: &'a BenchArgs,
    machine: Machine,
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

impl<'a> Bench<'a> {
    fn resolve(args: &'a BenchArgs) -> Result<Self, Failure> {
        let registry = plimsoll::registry();
        let problems =
            if args.problems.is_empty() { ProblemKind::ALL.to_vec() } else { args.problems.clone() };
        let known = names(&registry, &problems);
        if let Some(bad) = args
            .solvers
            .iter()
            .map(String::as_str)
            .find(|name| !GROUPS.contains(name) && !known.contains(name))
        {
            let all: Vec<&str> = GROUPS.into_iter().chain(known.iter().copied()).collect();
            return Err(unknown(bad, &all));
        }
        let externals: Vec<External> = args
            .external
            .iter()
            .map(|text| External::parse(text))
            .collect::<Result<_, _>>()
            .map_err(Failure::input)?;
        let mut taken: BTreeSet<&str> = known.iter().copied().collect();
        if let Some(twice) = externals.iter().find(|external| !taken.insert(external.name())) {
            let name = twice.name();
            return Err(Failure::input(format!("external '{name}': the name is taken; choose another")));
        }
        Ok(Self {
            machine: Machine::here(),
            offsets: select(args, &registry, &problems),
            scattered: select(args, &registry, &problems),
            pools: select(args, &registry, &problems),
            externals: if problems.contains(&ProblemKind::Offsets) { externals } else { Vec::new() },
            args,
        })
    }

    fn runs_per_case(&self) -> usize {
        let own = self.offsets.len() + self.scattered.len() + self.pools.len();
        own * self.args.seeds as usize + self.externals.len()
    }

    /// All runs on one instance.
    fn case(
        &self,
        case: &Case,
        bar: &ProgressBar,
        mut store: Option<&mut Store>,
    ) -> Result<Vec<Row>, Failure> {
        let instance = match &case.instance {
            Ok(instance) if self.args.decide => instance.clone(),
            Ok(instance) => instance.clone().with_capacity(None),
            Err(error) => {
                bar.inc(self.runs_per_case() as u64);
                return Ok(vec![self.unreadable(case, error)]);
            }
        };
        let blank = Row::on(&self.machine).about(&case.suite, &instance, &content_hash(&instance)).limited(
            Some(self.args.time_limit),
            self.args.node_limit,
            self.args.decide,
        );
        let blank = Row { threads: self.args.threads, ..blank };
        let file_capacity = case.instance.as_ref().ok().and_then(Instance::capacity);
        let mut rows = self.problem(
            &instance,
            &self.offsets,
            &blank,
            bar,
            store.as_deref_mut(),
            |rows, best, bound| {
                self.peers(&instance, file_capacity, &blank, bar, (rows, best, bound));
            },
        )?;
        rows.extend(self.problem(
            &instance,
            &self.scattered,
            &blank,
            bar,
            store.as_deref_mut(),
            |_, _, _| (),
        )?);
        rows.extend(self.problem(&instance, &self.pools, &blank, bar, store, |_, _, _| ())?);
        Ok(rows)
    }

    fn unreadable(&self, case: &Case, error: &impl ToString) -> Row {
        Row {
            suite: case.suite.clone(),
            instance: case.name.clone(),
            status: "unreadable".to_owned(),
            error: error.to_string(),
            decide: self.args.decide,
            ..Row::on(&self.machine)
        }
    }

    /// All runs of one problem on one instance: our own, then whatever `more` adds; then bounds and gaps, and the map.
    fn problem<P: Plan>(
        &self,
        instance: &Instance,
        entries: &[&'static Entry<P>],
        blank: &Row,
        bar: &ProgressBar,
        store: Option<&mut Store>,
        more: impl FnOnce(&mut Vec<Row>, &mut Option<Best<P>>, Bytes),
    ) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        let mut best: Option<Best<P>> = None;
        for entry in entries {
            for seed in (0..self.args.seeds).map(|nth| self.args.seed.wrapping_add(nth)) {
                bar.set_message(format!("{} {}", instance.name(), entry.name));
                let attempt = self.attempt(instance, entry, seed);
                let kind = entry.kind.to_string();
                let named = Row { algorithm: entry.name.to_owned(), kind, seed, ..blank.clone() };
                rows.push(named.attempted::<P>(&attempt));
                if let Ok(Outcome { solution: Some(solution), value: Some(value), .. }) = attempt.result {
                    keep(&mut best, value, entry.name, solution);
                }
                bar.inc(1);
            }
        }
        let floor = P::floor(instance).value;
        let bound = settle(&mut rows, floor);
        more(&mut rows, &mut best, bound);
        settle(&mut rows, floor);
        if let (Some(store), Some(best)) = (store, best) {
            store.map::<P>(instance, &best.algorithm, &best.solution, bound)?;
        }
        Ok(rows)
    }

    fn attempt<P: Plan>(&self, instance: &Instance, entry: &Entry<P>, seed: u64) -> Attempt<P::Solution> {
        let limits = Limits {
            time: Some(self.args.time_limit),
            nodes: self.args.node_limit,
            target: if self.args.decide { instance.capacity() } else { None },
        };
        if self.args.decide && instance.capacity().is_none() {
            let reason = "the instance has no capacity to decide".to_owned();
            let error = plimsoll::model::SolveError::Unsupported { solver: entry.name, reason };
            return Attempt { result: Err(RunError::Solve(error)), seconds: 0.0, peak_memory: None };
        }
        run(entry, instance, Setup { seed, threads: self.args.threads }, limits, &mut Silent)
    }

    /// Runs the external binaries. Their capacity is the file's, or the load where there is none; unless a capacity
    /// is to be decided, an answer above it counts as well. They claim what their layout shows: feasible, or optimal
    /// where it meets the bound that our own runs proved.
    fn peers(
        &self,
        instance: &Instance,
        file_capacity: Option<Bytes>,
        blank: &Row,
        bar: &ProgressBar,
        (rows, best, bound): (&mut Vec<Row>, &mut Option<Best<Offsets>>, Bytes),
    ) {
        let capacity = file_capacity.unwrap_or_else(|| plimsoll::model::load(instance).0);
        for peer in &self.externals {
            bar.set_message(format!("{} {}", instance.name(), peer.name()));
            let mut row = Row {
                algorithm: peer.name().to_owned(),
                kind: "external".to_owned(),
                params: peer.line(),
                problem: Offsets::NAME.to_owned(),
                capacity: Some(capacity.get()),
                ..blank.clone()
            };
            if self.args.decide && file_capacity.is_none() {
                "skipped".clone_into(&mut row.status);
                "the instance has no capacity to decide".clone_into(&mut row.error);
            } else {
                let attempt = peer.run(instance, capacity, Some(self.args.time_limit));
                let layout = judge(&mut row, instance, bound, attempt);
                if let Some((layout, value)) = layout {
                    keep(best, value, peer.name(), layout);
                }
            }
            rows.push(row);
            bar.inc(1);
        }
    }
}

/// Puts an external answer through the checker and into its row; hands the layout back where it is valid.
fn judge(
    row: &mut Row,
    instance: &Instance,
    bound: Bytes,
    attempt: plimsoll::external::ExternalAttempt,
) -> Option<(plimsoll::model::Layout, Bytes)> {
    let stop = if attempt.timed_out { Stop::TimeLimit } else { Stop::Completed };
    row.seconds = Some(attempt.seconds);
    row.peak_memory_bytes = attempt.peak_memory;
    row.timestamp = plimsoll::machine::timestamp();
    stop.as_str().clone_into(&mut row.stop);
    let mut errors: Vec<String> = Vec::new();
    let mut valid = None;
    match attempt.layout {
        Err(why) => {
            let status = if attempt.timed_out { "done" } else { "failed" };
            status.clone_into(&mut row.status);
            if attempt.timed_out {
                "unknown".clone_into(&mut row.claim);
            }
            errors.push(why);
        }
        Ok(layout) => {
            let value = layout.peak(instance);
            // The bound is ours, not the peer's: it only says what the peak proves.
            let proved =
                LowerBound::new(bound, plimsoll::model::Witness::Search { solver: "bench".to_owned() });
            let best = Some((layout, value));
            if value < bound {
                errors.push(format!("its peak {value} is below the proven bound {bound}"));
            }
            let proved = if value < bound { LowerBound::trivial() } else { proved };
            let outcome = Outcome::conclude(best, proved, instance.capacity(), stop, Stats::default());
            errors.extend(audit::<Offsets>(instance, &outcome));
            if errors.is_empty() {
                "done".clone_into(&mut row.status);
                "valid".clone_into(&mut row.verdict);
                outcome.claim.as_str().clone_into(&mut row.claim);
                row.peak = Some(value.get());
                valid = outcome.solution.map(|layout| (layout, value));
            } else {
                "refused".clone_into(&mut row.status);
                "refused".clone_into(&mut row.verdict);
                errors.truncate(3);
            }
        }
    }
    errors.extend(attempt.remark);
    row.error = errors.join("; ");
    valid
}

fn keep<P: Plan>(best: &mut Option<Best<P>>, value: Bytes, algorithm: &str, solution: P::Solution) {
    if best.as_ref().is_none_or(|best| value < best.value) {
        *best = Some(Best { value, algorithm: algorithm.to_owned(), solution });
    }
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
