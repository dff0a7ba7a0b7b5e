//! Groups of comparable runs, and the results of each algorithm on each instance.

use super::integral::{Integral, Traced, integrals};
use super::time::{Time, TimedRun, can_prove, median, median_time, solved};
use crate::row::{AlgorithmKind, Event, Known, Place, Row, Status, Unit, known};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::posed::Terms;
use plimsoll_model::{Offsets, Orders, Problem, SharedObjects, SplitBuffers, gap_percent};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// The order of algorithms in tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// In ascending order of the number of instances without an answer, and then of the mean gap. If the runs
    /// decide a capacity, the number of solved instances takes precedence, in descending order.
    #[default]
    Gap,
    /// In ascending order of the mean time spent.
    Time,
    /// In alphabetical order.
    Name,
}

/// Options of the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options<'a> {
    /// If set, a run that optimises also counts as solved if its gap in percent is at most this value.
    pub target_gap: Option<f64>,
    /// Shift of geometric means, in seconds.
    pub shift: f64,
    /// The algorithms to compare. If the list is empty, all algorithms are compared. Runs of other
    /// algorithms still count towards best bounds and best values.
    pub algorithms: &'a [String],
    /// The order of the algorithms in tables.
    pub sort: Sort,
    /// The algorithm with whose times those of the others are compared on every instance.
    pub reference: Option<&'a str>,
}

impl Options<'_> {
    /// Returns true if a run belongs to one of the algorithms to compare.
    pub fn keeps(&self, row: &Row) -> bool {
        self.algorithms.is_empty() || self.algorithms.contains(&row.algorithm)
    }
}

/// The properties that all runs of a group share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The name of the problem, such as `offsets`, `split-buffers`, `shared-objects` or `orders`.
    pub problem: String,
    /// The unit of values and bounds.
    pub unit: Unit,
    /// The terms of the question.
    pub terms: Terms,
    /// Whether a capacity is decided. Otherwise the value is optimised.
    pub decide: bool,
    /// Time limit of each run, in seconds.
    pub time_limit: Option<f64>,
    /// Node limit of each run. The algorithm defines the meaning of a node.
    pub node_limit: Option<u64>,
    /// Number of threads that a run may use.
    pub threads: usize,
    /// Model name of the processor.
    pub cpu: String,
    /// Number of hardware threads of the machine.
    pub cores: usize,
}

impl Question {
    fn of(row: &Row) -> Self {
        Self {
            problem: row.problem.clone(),
            unit: row.unit,
            terms: row.terms.clone(),
            decide: row.decides(),
            time_limit: row.time_limit,
            node_limit: row.node_limit,
            threads: row.threads,
            cpu: row.machine.cpu.clone(),
            cores: row.machine.cores,
        }
    }

    /// Returns the [`rank`](Unit::rank) of a number in the unit of the values.
    pub fn rank(&self, number: u64) -> u64 {
        self.unit.rank(number)
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = match (self.decide, self.rank(0) < self.rank(1)) {
            (true, _) => "decide the capacity",
            (_, true) => "minimise",
            (_, false) => "maximise",
        };
        write!(f, "{}, {task}", self.problem)?;
        if !self.terms.is_empty() {
            write!(f, ", {}", self.terms)?;
        }
        match self.time_limit {
            Some(seconds) => write!(f, ", {seconds} s")?,
            None => write!(f, ", no time limit")?,
        }
        if let Some(nodes) = self.node_limit {
            write!(f, ", {nodes} nodes")?;
        }
        write!(f, ", {} thread{}", self.threads, if self.threads == 1 { "" } else { "s" })?;
        match self.cpu.as_str() {
            "" => write!(f, ", machine unknown"),
            cpu => write!(f, ", {cpu} with {} thread{}", self.cores, if self.cores == 1 { "" } else { "s" }),
        }
    }
}

/// An instance of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceFacts {
    /// The suite of the instance.
    pub suite: String,
    /// The name of the instance.
    pub name: String,
    /// SHA-256 of the instance, or an empty string if it is unknown.
    pub sha256: String,
    /// The capacity to decide in bytes, or `None` if the value is optimised.
    pub capacity: Option<u64>,
    /// Number of buffers, if the subject is an instance.
    pub buffers: Option<usize>,
    /// Number of operators, if the subject is a graph.
    pub operators: Option<usize>,
    /// Load in bytes, if the subject is an instance.
    pub load: Option<u64>,
    /// The best proven bound that no valid value contradicts.
    pub best_bound: Option<u64>,
    /// The source of the bound: `run`, `load`, or an empty string without a bound.
    pub bound_from: &'static str,
    /// The arithmetic in which the bound was proved.
    pub arithmetic: Arithmetic,
    /// The best valid value of any run.
    pub best_value: Option<u64>,
}

/// The results of an algorithm on an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Number of runs, with or without an answer.
    pub runs: usize,
    /// Number of solved runs.
    pub solved: usize,
    /// The median value over the runs, or `None` if the median run has no value.
    pub value: Option<u64>,
    /// The gap of the median value, in percent.
    pub gap: Option<f64>,
    /// The median time to solve, or `None` if the time of a solved run is unknown.
    pub time: Option<Time>,
    /// Whether the algorithm can be expected to prove its answer; see [`can_prove`].
    pub proves: bool,
    /// Median time of the completed runs in seconds, solved or not.
    pub spent: Option<f64>,
    /// Median time to the best answer in seconds, over the runs with an answer.
    pub to_best: Option<f64>,
    /// Number of runs with each status other than `done`.
    pub troubles: BTreeMap<Status, usize>,
    /// Mean primal integral of the runs, if they were traced.
    pub integral: Option<Integral>,
    /// Number of runs that proved their answer. Runs of external programs do not count.
    pub proved: usize,
    /// Number of the runs in `proved` that a proof or a witness certifies.
    pub certified: usize,
}

impl Cell {
    /// Returns the time to solve. Returns `None` if this time is unknown, or if the median run is unsolved
    /// and a proof cannot be expected. In the latter case, the run usually ends long before its limit, so the
    /// limit is not a time to solve.
    pub fn time_to_solve(&self) -> Option<Time> {
        self.time.filter(|time| self.proves || !time.censored)
    }
}

/// The runs of one question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The question that all runs of the group share.
    pub question: Question,
    /// The instances, in order of first appearance.
    pub instances: Vec<InstanceFacts>,
    /// The name and the kind of each algorithm, in order of first appearance.
    pub algorithms: Vec<(String, AlgorithmKind)>,
    /// One cell per algorithm and instance, or `None` if there was no run.
    pub cells: Vec<Vec<Option<Cell>>>,
    /// Runs without an answer, in the order of the rows.
    pub troubles: Vec<Row>,
    /// The traced runs of the group, in the order of the rows.
    pub traced: Vec<Traced>,
    /// Whether any bound of the group is certified.
    pub certifies: bool,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Group {
    /// Returns the time to solve of an algorithm on an instance, both given by index. Returns `None` if there
    /// was no run or its time is unknown, or if the median run is unsolved and a proof cannot be expected.
    pub fn time_to_solve(&self, algorithm: usize, instance: usize) -> Option<Time> {
        self.cells[algorithm][instance].as_ref()?.time_to_solve()
    }
}

/// Problems whose values are at least the load.
const LOADED: [&str; 3] = [Offsets::NAME, SplitBuffers::NAME, SharedObjects::NAME];

/// Returns true if a row has a problem and an algorithm. Rows of unreadable instances may have neither.
pub(super) fn has_question(row: &Row) -> bool {
    !row.problem.is_empty() && !row.algorithm.is_empty()
}

/// Groups the runs by question, in order of first appearance. Rows without a problem (unreadable instances)
/// belong to no group. O(rows * (log(rows) + questions + algorithms) + events + algorithms * instances).
pub fn groups(rows: &[Row], options: Options<'_>) -> Vec<Group> {
    let mut known = known(rows);
    // A stored best bound usually comes from a row of the same file. `known` then already contains that row's
    // bound and its arithmetic.
    for row in rows {
        let own = known.entry(row.place()).or_default();
        let stated = row.best_bound.filter(|&bound| own.contradiction(row, bound).is_none());
        if stated.map(|bound| row.unit.rank(bound)) > own.bound.map(|bound| row.unit.rank(bound)) {
            (own.bound, own.arithmetic) = (stated, Arithmetic::Exact);
        }
    }
    let mut questions: Vec<(Question, Vec<&Row>)> = Vec::new();
    for row in rows.iter().filter(|row| has_question(row) && options.keeps(row)) {
        let question = Question::of(row);
        match questions.iter_mut().find(|(other, _)| *other == question) {
            Some((_, own)) => own.push(row),
            None => questions.push((question, vec![row])),
        }
    }
    let builder = Builder { known: &known, options };
    questions.into_iter().map(|(question, own)| builder.group(question, &own)).collect()
}

struct Builder<'a> {
    known: &'a HashMap<Place, Known>,
    options: Options<'a>,
}

impl Builder<'_> {
    fn group(&self, question: Question, rows: &[&Row]) -> Group {
        let mut instances: Vec<InstanceFacts> = Vec::new();
        let mut places: BTreeMap<(&str, &str, &str, Option<u64>), usize> = BTreeMap::new();
        let mut algorithms: Vec<(String, AlgorithmKind)> = Vec::new();
        let mut ranks: BTreeMap<(&str, AlgorithmKind), usize> = BTreeMap::new();
        let mut runs: BTreeMap<(usize, usize), Vec<&Row>> = BTreeMap::new();
        let mut traced: Vec<Traced> = Vec::new();
        for row in rows {
            let capacity = row.capacity.filter(|_| question.decide);
            let key = (row.suite.as_str(), row.instance.as_str(), row.sha256.as_str(), capacity);
            let at = *places.entry(key).or_insert_with(|| {
                instances.push(self.facts(row, capacity));
                instances.len() - 1
            });
            // Only the rows of unreadable instances may lack a kind.
            let kind = row.kind.unwrap_or(AlgorithmKind::External);
            let nth = *ranks.entry((row.algorithm.as_str(), kind)).or_insert_with(|| {
                algorithms.push((row.algorithm.clone(), kind));
                algorithms.len() - 1
            });
            runs.entry((nth, at)).or_default().push(row);
            if !row.trace.is_empty() {
                traced.push(Traced { algorithm: nth, instance: at, events: row.trace.clone() });
            }
        }
        let timed = rows.iter().any(|row| row.seconds.is_some());
        let proving: BTreeSet<usize> = runs
            .iter()
            .filter(|(_, own)| own.iter().any(|row| can_prove(row)))
            .map(|(key, _)| key.0)
            .collect();
        let mut cells: Vec<Vec<Option<Cell>>> = vec![vec![None; instances.len()]; algorithms.len()];
        for ((nth, at), own) in &runs {
            let to_best =
                |row: &&Row| row.time_to_best().or_else(|| found(&row.trace)).filter(|_| row.is_done());
            cells[*nth][*at] = Some(Cell {
                proves: proving.contains(nth),
                to_best: median(own.iter().filter_map(to_best)),
                ..self.cell(&instances[*at], own, timed)
            });
        }
        let best: Vec<Option<u64>> = instances.iter().map(|instance| instance.best_value).collect();
        for ((nth, at), integral) in integrals(&traced, &best, question.time_limit) {
            if let Some(cell) = &mut cells[nth][at] {
                cell.integral = Some(integral);
            }
        }
        let mut notes = Vec::new();
        for (name, _) in &algorithms {
            let floating = |row: &&&Row| {
                row.algorithm == *name && row.arithmetic() == Arithmetic::FloatingPoint && row.is_proved()
            };
            let count = rows.iter().filter(floating).count();
            if count > 0 {
                notes.push(format!(
                    "claims of {name} that rest on floating-point arithmetic alone (HiGHS) because no exact bound or \
                     search of the same run confirms them: {count}"
                ));
            }
        }
        if !timed {
            notes.push("the rows contain no times, so the report shows none".to_owned());
        }
        if rows.iter().any(|row| row.whole_process) && rows.iter().any(|row| !row.whole_process) {
            notes.push(
                "some times cover a whole process and others only the algorithm, so they are not strictly comparable"
                    .to_owned(),
            );
        }
        if cells.iter().flatten().any(Option::is_none) {
            notes.push(
                "not every algorithm ran on every instance: means cover the instances on which an algorithm ran, but shares in curves refer to all instances"
                    .to_owned(),
            );
        }
        let troubles = rows.iter().filter_map(|row| self.trouble(row)).collect();
        let certifies = rows.iter().any(|row| row.certified.is_some());
        Group { question, instances, algorithms, cells, troubles, traced, certifies, notes }
    }

    fn facts(&self, row: &Row, capacity: Option<u64>) -> InstanceFacts {
        let known = self.known.get(&row.place()).copied().unwrap_or_default();
        // With exclusions, the load may exceed the peak.
        let is_bound =
            |load: &u64| LOADED.contains(&&*row.problem) && known.contradiction(row, *load).is_none();
        let load = row.load.filter(is_bound);
        let (best_bound, bound_from) = match (known.bound, load) {
            (Some(bound), _) => (Some(bound), "run"),
            (None, Some(load)) => (Some(load), "load"),
            (None, None) => (None, ""),
        };
        InstanceFacts {
            suite: row.suite.clone(),
            name: row.instance.clone(),
            sha256: row.sha256.clone(),
            capacity,
            buffers: row.buffers,
            operators: row.operators,
            load: row.load,
            best_bound,
            bound_from,
            arithmetic: if known.bound.is_some() { known.arithmetic } else { Arithmetic::Exact },
            best_value: known.value,
        }
    }

    /// Returns an error message if the bound of a run is contradicted by a valid value.
    fn wrong(&self, row: &Row) -> Option<String> {
        // For a graph with regions, a run computes its bound under the orders that it found for the inner
        // regions. The value of another run with other inner orders may lie below that bound.
        if row.problem == Orders::NAME || !row.is_done() {
            return None;
        }
        self.known.get(&row.place())?.contradiction(row, row.lower_bound?)
    }

    /// Returns the run with its status and error if it has no valid answer.
    fn trouble(&self, row: &Row) -> Option<Row> {
        match self.wrong(row) {
            Some(error) => Some(row.clone().without(Status::Refused, &error)),
            None => (!row.is_done()).then(|| row.clone()),
        }
    }

    fn solved(&self, row: &Row, bound: Option<u64>) -> bool {
        if self.wrong(row).is_some() {
            return false;
        }
        let within = |target: f64| {
            let gap = row.value.zip(bound).and_then(|(value, bound)| gap_percent(value, bound));
            !row.decides() && row.is_done() && gap.is_some_and(|gap| gap <= target)
        };
        solved(row) || self.options.target_gap.is_some_and(within)
    }

    fn cell(&self, instance: &InstanceFacts, rows: &[&Row], timed: bool) -> Cell {
        let values = rows.iter().map(|row| row.value.filter(|_| row.is_done() && self.wrong(row).is_none()));
        let value = median_value(values, |value| rows[0].unit.rank(value));
        let mut troubles: BTreeMap<Status, usize> = BTreeMap::new();
        for trouble in rows.iter().filter_map(|row| self.trouble(row)) {
            *troubles.entry(trouble.status).or_default() += 1;
        }
        let run = |row: &&Row| {
            let solved = self.solved(row, instance.best_bound);
            let seconds = if solved { row.seconds } else { row.seconds.or(Some(0.0)) };
            // Seconds printed by an external program are only as precise as their last digit.
            let resolution = row.own_resolution.filter(|_| row.seconds == row.own_seconds).unwrap_or(0.0);
            TimedRun { seconds, solved, limit: row.time_limit, resolution }
        };
        let is_proved =
            |row: &&&Row| !row.is_external() && row.is_done() && row.is_proved() && self.wrong(row).is_none();
        let spent = rows.iter().filter(|row| row.is_done()).filter_map(|row| row.seconds);
        Cell {
            runs: rows.len(),
            solved: rows.iter().filter(|row| self.solved(row, instance.best_bound)).count(),
            value,
            gap: value.zip(instance.best_bound).and_then(|(value, bound)| gap_percent(value, bound)),
            time: if timed { median_time(rows.iter().map(run)) } else { None },
            spent: median(spent),
            troubles,
            proved: rows.iter().filter(is_proved).count(),
            certified: rows.iter().filter(is_proved).filter(|row| row.is_certified()).count(),
            ..Cell::default()
        }
    }
}

/// Returns the time in seconds at which a traced run found its last value.
fn found(trace: &[Event]) -> Option<f64> {
    let last = trace.iter().rev().find_map(|event| event.value)?;
    trace.iter().find(|event| event.value == Some(last)).map(|event| event.seconds)
}

/// Returns the median of values. A run without a value counts as worse than all others. For an even number of
/// runs, the median is the worse of the two middle values.
fn median_value(values: impl Iterator<Item = Option<u64>>, rank: impl Fn(u64) -> u64) -> Option<u64> {
    let mut values: Vec<Option<u64>> = values.collect();
    values.sort_by_key(|value| value.map_or((true, 0), |value| (false, rank(value))));
    values.get(values.len() / 2).copied().flatten()
}
