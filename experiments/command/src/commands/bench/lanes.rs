//! The runs of one problem on one instance or graph.

use super::args::BenchArgs;
use super::store::Store;
use crate::commands::choose::default_entry;
use indicatif::ProgressBar;
use plimsoll::Registry;
use plimsoll::interrupt;
use plimsoll::model::printable::printable_line;
use plimsoll::model::{Bytes, Entry, Kind, Problem, Spilling, Value};
use plimsoll::posed::{Posed, Subject, SubjectKind, Terms, Visitor, is_on_instances};
use plimsoll_lab::attempt::attempt;
use plimsoll_lab::external::External;
use plimsoll_lab::record::{Record, settle};

/// The options and external programs that all runs share.
pub struct Shared<'a> {
    pub args: &'a BenchArgs,
    pub externals: Vec<External>,
}

impl Shared<'_> {
    /// Returns the numbers of the repetitions, counted from 1, each with its seed.
    pub fn seeds(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.args.seeds).map(|nth| (nth + 1, self.args.seed.wrapping_add(nth)))
    }

    /// Returns the number of runs of an external program per instance.
    pub fn repetitions(&self, peer: &External) -> u64 {
        if peer.is_seeded() { self.args.seeds } else { self.args.repeat }
    }
}

/// A problem with its selected algorithms.
pub trait Lane {
    fn problem(&self) -> &'static str;
    fn names(&self) -> Vec<&'static str>;
    /// Returns true if the problem is posed on subjects of this kind.
    fn takes(&self, kind: SubjectKind) -> bool;
    /// Returns the number of runs of built-in algorithms per seed on a subject of this kind.
    fn runs_on(&self, kind: SubjectKind) -> usize;
    /// Performs all runs on one subject.
    fn run(&self, shared: &Shared, ground: &Ground, store: Option<&mut Store>) -> Vec<Record>;
}

pub struct Chosen<P: Posed> {
    entries: Vec<&'static Entry<P>>,
    /// The complete terms of each question.
    terms: Vec<Terms>,
    /// True if instances are skipped, which is the default for spilling.
    graphs_only: bool,
    /// A function that performs additional runs in separate processes, if there are any.
    more: Option<More<P>>,
}

/// A function that adds runs in separate processes: runs of external programs and, with `--processes`, runs
/// of built-in algorithms.
pub type More<P> = fn(&Shared, &[&'static Entry<P>], &mut Field<P>);

/// The data shared by all runs on one subject.
pub struct Ground<'a> {
    /// The instance or graph. The capacity of an instance is the capacity that `--decide` selects. An
    /// instance has no capacity if the benchmark minimises, or if its file name contains no capacity.
    pub subject: &'a Subject,
    /// The capacity in the file name of an instance.
    pub file_capacity: Option<Bytes>,
    /// A record with the columns that all runs have in common.
    pub blank: Record,
    pub bar: &'a ProgressBar,
}

/// The question and the results of all runs of one problem on one subject.
pub struct Field<'a, 'q, P: Posed> {
    pub ground: &'a Ground<'a>,
    pub question: &'a P::Question<'q>,
    terms: String,
    pub rows: Vec<Record>,
    /// The best solution so far: value, index of its row, solution.
    best: Option<(P::Value, usize, P::Solution)>,
}

impl<P: Posed> Field<'_, '_, P> {
    /// Returns the record of a run that has not started yet.
    pub fn asked(&self, algorithm: &str, kind: &str, repetition: u64, seed: u64) -> Record {
        self.ground.asked::<P>(&self.terms, algorithm, kind, repetition, seed)
    }

    /// Adds a completed run.
    pub fn done(&mut self, row: Record, solution: Option<P::Solution>) {
        if let (Some(value), Some(solution)) = (row.value.map(P::Value::of_number), solution)
            && self.best.as_ref().is_none_or(|best| value < best.0)
        {
            self.best = Some((value, self.rows.len(), solution));
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
        self.bar.set_message(format!("{} {algorithm}", printable_line(self.subject.name())));
        // For an instance derived from a model, the blank record already contains the terms.
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

    fn run(&self, shared: &Shared, ground: &Ground, mut store: Option<&mut Store>) -> Vec<Record> {
        let kind = ground.subject.kind();
        let mut rows = Vec::new();
        if self.runs_on(kind) > 0 || P::takes(kind) && self.more.is_some() {
            for terms in &self.terms {
                rows.extend(self.run_under(terms, shared, ground, store.as_deref_mut()));
            }
        }
        rows
    }
}

impl<P: Posed> Chosen<P> {
    /// Performs all runs of one question: first the runs of built-in algorithms, then those of `more`.
    /// Finally, cross-checks the bounds, computes the gaps and, with a `store`, stores the best solution and
    /// draws its memory map.
    fn run_under(
        &self,
        terms: &Terms,
        shared: &Shared,
        ground: &Ground,
        store: Option<&mut Store>,
    ) -> Vec<Record> {
        let own = || {
            let seeded = |entry: &&'static Entry<P>| {
                let entry = *entry;
                shared.seeds().map(move |(nth, seed)| (entry, nth, seed))
            };
            self.entries.iter().flat_map(seeded).filter(|_| !shared.args.processes)
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
                return own().map(skipped).collect();
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
            let (row, solution) = attempt::<P>(entry, &question, asked, limits, shared.args.extras());
            field.done(row, solution);
        }
        if let Some(more) = self.more {
            more(shared, &self.entries, &mut field);
        }
        let bound = settle(&mut field.rows, P::floor_of(&question).map(Value::number));
        if let (Some(store), Some((_, at, solution))) = (store, field.best) {
            let run = std::mem::take(&mut field.rows[at]);
            field.rows[at] = store.keep::<P>(&question, run, &solution, bound.unwrap_or_default().into());
        }
        field.rows
    }
}

/// Selects the algorithms of each problem.
pub struct Select<'a> {
    pub args: &'a BenchArgs,
    pub registry: &'a Registry,
    pub terms: &'a [Terms],
}

impl Select<'_> {
    /// Returns the requested algorithms: by default every heuristic and the default exact method.
    pub fn chosen<P: Posed>(&self, more: Option<More<P>>) -> Chosen<P> {
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

/// Returns true if the problem is posed only on instances.
pub fn on_instances(lane: &dyn Lane) -> bool {
    is_on_instances(lane.problem())
}
