//! Tables and Markdown pages that are generated from rows.

use crate::analysis::distinct;
use crate::analysis::standing::mean;
use crate::machine::Machine;
use crate::record::{Record, failures, lines};
use crate::report::table::{Align, Column, Table};
use crate::report::times::{self, Clock};
use crate::report::{percent, ratios};
use plimsoll::arithmetic::Arithmetic;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The explanation of the table of ratios of self-reported times.
const OWN_TIMES: &str = "\
Self-reported times (columns `own ms`) are measured by each program itself, from the end of reading the instance to
the answer. They exclude process start, reading, checking and writing, and are shown as the program prints them.
Rounding limits their precision. A ratio therefore subtracts half a unit of the last printed digit, and is marked `>`
if that exceeds 1 % of the time. If all digits are zero, the ratio is computed from one unit, marked `<`, and excluded
from means. An unsolved run counts with its time limit. The cell of a solved run without a self-reported time is empty.";

/// Files that a record may contain, with descriptions. A name with `*` stands for any number of files.
const FILES: [(&str, &str); 6] = [
    ("rows.csv", "one row per attempted run, including skipped, failed and refused runs"),
    ("summary.md", "tables generated from the rows"),
    ("maps/*.svg", "the best solution of each instance; the axes are steps and addresses"),
    ("charts/profile.svg", "share of instances solved within a factor of the fastest time to solve"),
    (
        "trace.csv",
        "the times at which values and bounds improved; external programs report these times themselves",
    ),
    (
        "charts/gap*.svg",
        "the gap to the best bound over time, for all instances together and for each instance",
    ),
];

/// Maximum length of a remark in a table, in characters.
const REMARK: usize = 70;

/// Returns the problems of the rows, in order of first appearance.
pub fn problems(rows: &[Record]) -> Vec<&str> {
    distinct(rows.iter().map(|row| row.problem.as_str()).filter(|problem| !problem.is_empty()))
}

/// Groups the rows by question, which is the problem with its terms ("tiers, machine=b"). Questions are in
/// order of first appearance.
pub fn questions(rows: &[Record]) -> Vec<(String, Vec<Record>)> {
    let mut all: Vec<(String, Vec<Record>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.problem.is_empty()) {
        let words = match row.terms.as_str() {
            "" => row.problem.clone(),
            terms => format!("{}, {terms}", row.problem),
        };
        match all.iter_mut().find(|(known, _)| *known == words) {
            Some((_, own)) => own.push(row.clone()),
            None => all.push((words, vec![row.clone()])),
        }
    }
    all
}

/// Returns a table of the runs of a question, with instance, algorithm, value, gap to the best bound, claim
/// and seconds. Returns `None` without rows.
pub fn runs(rows: &[Record]) -> Option<Table> {
    let unit = &rows.first()?.unit;
    let (bound, value) = (format!("best bound, {unit}"), format!("value, {unit}"));
    let mut table = Table::new([
        ("instance", Align::Left),
        ("operators", Align::Right),
        ("load, bytes", Align::Right),
        (&*bound, Align::Right),
        ("algorithm", Align::Left),
        ("seed", Align::Right),
        (&*value, Align::Right),
        ("gap %", Align::Right),
        ("claim", Align::Left),
        ("stop", Align::Left),
        ("seconds", Align::Right),
        ("remark", Align::Left),
    ]);
    let seeds = rows.iter().any(|row| row.seed != rows[0].seed);
    let floating = floating(rows);
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let mut previous = None;
    for row in rows {
        let first = previous.replace(instance(row)) != Some(instance(row));
        let once = |text: String| if first { text } else { String::new() };
        let mark = if floating.contains(&instance(row)) { " (floating point)" } else { "" };
        let claim = if row.claim.is_empty() { &row.status } else { &row.claim };
        table.row([
            once(row.instance.clone()),
            once(number(row.operators.map(|count| count as u64))),
            once(number(row.load)),
            once(row.best_bound.map_or_else(String::new, |bound| format!("{bound}{mark}"))),
            row.algorithm.clone(),
            if seeds { row.seed.to_string() } else { String::new() },
            number(row.value),
            row.gap_percent.map_or_else(String::new, percent),
            row.arithmetic().mark(claim),
            row.stop.clone(),
            row.seconds.map_or_else(String::new, |seconds| format!("{seconds:.3}")),
            shorten(&row.error),
        ]);
    }
    Some(table.without_empty(&["operators", "load, bytes", "seed", "remark"]))
}

/// An instance, identified by problem, terms, suite and name.
type Instance<'a> = [&'a str; 4];

fn instance(row: &Record) -> Instance<'_> {
    [&row.problem, &row.terms, &row.suite, &row.instance]
}

/// Returns the instances whose best bound is proved only in floating-point arithmetic.
pub fn floating(rows: &[Record]) -> BTreeSet<Instance<'_>> {
    let best =
        |row: &&Record| row.status == "done" && row.best_bound.is_some() && row.lower_bound == row.best_bound;
    let by = |arithmetic: Arithmetic| -> BTreeSet<Instance<'_>> {
        rows.iter().filter(best).filter(|row| row.arithmetic() == arithmetic).map(instance).collect()
    };
    &by(Arithmetic::FloatingPoint) - &by(Arithmetic::Exact)
}

/// The runs of one algorithm on all instances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally<'a> {
    /// The name of the algorithm.
    pub algorithm: &'a str,
    /// The kind of the algorithm: `heuristic`, `exact` or `external`.
    pub kind: &'a str,
    /// Number of runs, with or without a value.
    pub runs: usize,
    /// Number of runs with a value.
    pub answered: usize,
    /// Number of runs that claim an optimum.
    pub optimal: usize,
    /// Gaps to the best bound in percent, for the runs with a gap.
    pub gaps: Vec<f64>,
    /// Total time of all runs, in seconds.
    pub seconds: f64,
}

impl Tally<'_> {
    /// Returns the mean gap in percent, over the runs with a gap.
    pub fn mean_gap(&self) -> Option<f64> {
        mean(&self.gaps)
    }

    /// Returns the largest gap in percent, over the runs with a gap.
    pub fn worst_gap(&self) -> Option<f64> {
        self.gaps.iter().copied().reduce(f64::max)
    }

    /// Returns the number of runs whose value equals the best bound.
    pub fn at_bound(&self) -> usize {
        self.gaps.iter().filter(|&&gap| gap == 0.0).count()
    }
}

/// Returns one tally per algorithm, in order of first appearance. The rows must belong to one problem.
pub fn tallies<'a>(rows: impl IntoIterator<Item = &'a Record>) -> Vec<Tally<'a>> {
    let mut all: Vec<Tally> = Vec::new();
    for row in rows {
        let (algorithm, kind) = (row.algorithm.as_str(), row.kind.as_str());
        let known = all.iter().position(|one| (one.algorithm, one.kind) == (algorithm, kind));
        let at = known.unwrap_or_else(|| {
            all.push(Tally { algorithm, kind, ..Tally::default() });
            all.len() - 1
        });
        let own = &mut all[at];
        own.runs += 1;
        own.answered += usize::from(row.value.is_some());
        own.optimal += usize::from(row.claim == "optimal");
        own.gaps.extend(row.gap_percent);
        own.seconds += row.seconds.unwrap_or_default();
    }
    all
}

/// Returns a table with one row per algorithm over all instances: answers, optima, gaps and time. Returns
/// `None` without rows.
pub fn algorithms(rows: &[Record]) -> Option<Table> {
    let gap = |gap: Option<f64>| gap.map_or_else(String::new, percent);
    let columns: [Column<'_, Tally>; 9] = [
        ("algorithm", Align::Left, &|own| own.algorithm.to_owned()),
        ("kind", Align::Left, &|own| own.kind.to_owned()),
        ("runs", Align::Right, &|own| own.runs.to_string()),
        ("answered", Align::Right, &|own| own.answered.to_string()),
        ("at the bound", Align::Right, &|own| own.at_bound().to_string()),
        ("claimed optimal", Align::Right, &|own| own.optimal.to_string()),
        ("mean gap %", Align::Right, &|own| gap(own.mean_gap())),
        ("worst gap %", Align::Right, &|own| gap(own.worst_gap())),
        ("seconds", Align::Right, &|own| format!("{:.3}", own.seconds)),
    ];
    let table = Table::of(&columns, tallies(rows));
    (!table.is_empty()).then_some(table)
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= REMARK {
        return text.to_owned();
    }
    let kept: String = text.chars().take(REMARK - 1).collect();
    format!("{}…", kept.trim_end())
}

/// An external program, as listed in a record.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The name of the program.
    pub name: String,
    /// The first line that its version command prints, if it has such a command.
    pub version: Option<String>,
    /// The command line with its placeholders.
    pub line: String,
}

/// The parameters of the comparison of times.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// Whether the benchmark compares times. The tables of times are shown only in this case.
    pub is_asked: bool,
    /// The task of a run, as a completion of "Each run has to ...".
    pub question: &'a str,
    /// The algorithm to which ratios are relative.
    pub reference: Option<&'a str>,
    /// Shift of geometric means, in seconds.
    pub shift: f64,
}

/// A benchmark as described by the README and the summary of a record.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The command line, ready to be run again.
    pub command: &'a str,
    /// The machine of the runs.
    pub machine: &'a Machine,
    /// Notes shown with the results.
    pub notes: &'a [String],
    /// The external programs of the benchmark.
    pub peers: &'a [Peer],
    /// The comparison of times.
    pub comparison: Comparison<'a>,
}

impl Question<'_> {
    fn facts(&self) -> String {
        let mut text = format!("    {}\n\n{}", self.command, self.machine.facts());
        for note in self.notes {
            let _ = writeln!(text, "- {note}");
        }
        for Peer { name, version, line } in self.peers {
            let version = version.as_deref().unwrap_or("version unknown");
            let _ = writeln!(text, "- external {name}: {version}; run as `{line}`");
        }
        text
    }

    /// Returns the text of `summary.md`, which contains the tables.
    pub fn summary(&self, rows: &[Record]) -> String {
        let mut text = format!("# Summary\n\nGenerated from `rows.csv` by\n\n{}", self.facts());
        for (title, own) in &questions(rows) {
            if self.comparison.is_asked {
                text.push_str(&self.times(title, own));
            }
            if let Some(table) = algorithms(own) {
                let _ = write!(text, "\n## {title}: algorithms\n\n{}", table.markdown());
            }
            if let Some(table) = runs(own) {
                let _ = write!(text, "\n## {title}: runs\n\n{}", table.markdown());
            }
        }
        let failures = failures(rows);
        if !failures.is_empty() {
            text.push_str("\n## Failed algorithms\n\n");
            for line in lines(&failures).lines() {
                let _ = writeln!(text, "- {line}");
            }
        }
        let unreadable: Vec<&Record> = rows.iter().filter(|row| row.status == "unreadable").collect();
        if !unreadable.is_empty() {
            text.push_str("\n## Unreadable instances\n\n");
            for row in unreadable {
                let _ = writeln!(text, "- {}", row.error);
            }
        }
        text
    }

    /// Returns the tables of times of one question, with an explanation.
    fn times(&self, title: &str, rows: &[Record]) -> String {
        let Comparison { question, reference, shift, .. } = self.comparison;
        let group = times::of(rows);
        let Some(table) = times::table(&group, shift) else { return String::new() };
        let mut text = format!(
            "\n## {title}: times\n\n\
             Each run has to {question}. The time spent on an instance is the median over all runs, solved or not. The \
             time to\nsolve is the median as well. If the median run is unsolved, it is the limit, marked `>`, and \
             every figure derived\nfrom it is a lower bound. Means are geometric, shifted by {shift} s, over all \
             instances. PAR-2 is the mean time to\nsolve, with unsolved instances counted as twice the limit. Wins are \
             instances with the shortest time to solve. A\nheuristic proves an optimum only if it meets a bound. \
             Otherwise it has no time to solve, and its means are shown as\n`-`.\n\n{}",
            table.markdown()
        );
        if let Some(reference) = reference
            && let Some(table) = ratios::ratios(&group, reference, Clock::Bench)
        {
            let _ = write!(
                text,
                "\n## {title}: ratios to {reference}\n\nIf a ratio is above 1, {reference} is faster.\n\n{}",
                table.markdown()
            );
        }
        if let Some(table) = reference.and_then(|reference| ratios::own_ratios(rows, reference)) {
            let _ = write!(
                text,
                "\n## {title}: ratios of self-reported times\n\n{OWN_TIMES}\n\n{}",
                table.markdown()
            );
        }
        text
    }

    /// Returns the text of `README.md`, which lists the files of the folder and how they were produced.
    /// `is_there` is called with each name in the list of files. It must return whether that file or folder
    /// of pictures was written.
    pub fn readme(&self, is_there: impl Fn(&str) -> bool) -> String {
        let held = FILES.iter().filter(|(name, _)| is_there(name));
        let held = held.fold(String::new(), |mut text, (name, holds)| {
            let _ = writeln!(text, "| `{name}` | {holds} |");
            text
        });
        format!(
            "# Benchmark record\n\nGenerated by\n\n{}\n\
             | file | contents |\n|---|---|\n\
             {held}\n\
             Values and bounds are in the unit given in the column `unit`, and sizes are in bytes. `seconds` is\n\
             wall-clock time. It is that of the whole process if `whole_process` is set, as it always is for external\n\
             programs, and otherwise that of the algorithm alone. `own_seconds` is the time that a program measures\n\
             itself, from the end of reading the instance to the answer. `own_resolution` is the resolution of that\n\
             time if it was printed. Every solution passed the checker. The best bound of an instance is the best one\n\
             proved by any run, and the gap is the distance from it. `peak_memory_bytes` is the high-water mark of the\n\
             process. It is reset before each run and includes memory that was resident before the run.\n",
            self.facts()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Record> {
        let row = |instance: &str, algorithm: &str, peak, gap| Record {
            suite: "s".into(),
            instance: instance.into(),
            load: Some(10),
            best_bound: Some(10),
            problem: "offsets".into(),
            algorithm: algorithm.into(),
            kind: "heuristic".into(),
            claim: "feasible".into(),
            status: "done".into(),
            value: peak,
            gap_percent: gap,
            seconds: Some(0.5),
            ..Record::default()
        };
        let mut failed = row("b", "y", None, None);
        failed.claim.clear();
        failed.status = "failed".into();
        failed.error = "a long story | ".repeat(9);
        vec![row("a", "x", Some(10), Some(0.0)), row("a", "y", Some(12), Some(20.0)), failed]
    }

    #[test]
    fn runs_are_grouped_by_instance() {
        let text = runs(&rows()).unwrap().text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("remark") && !lines[0].contains("seed"));
        assert!(lines[2].starts_with("a ") && lines[3].starts_with("  ") && lines[4].starts_with("b "));
        assert!(lines[3].contains("20.00") && lines[4].contains("failed") && lines[4].contains('…'));
        assert!(runs(&[]).is_none());
    }

    #[test]
    fn questions_are_problems_on_their_terms() {
        let on = |terms: &str| Record { problem: "tiers".into(), terms: terms.into(), ..Record::default() };
        let rows = [on("machine=b"), on(""), on("machine=b"), Record::default()];
        let found: Vec<_> = questions(&rows).into_iter().map(|(words, own)| (words, own.len())).collect();
        assert_eq!(found, [("tiers, machine=b".to_owned(), 2), ("tiers".to_owned(), 1)]);
        assert_eq!(problems(&rows), ["tiers"]);
    }

    #[test]
    fn algorithms_are_compared() {
        let text = algorithms(&rows()).unwrap().text();
        let y: Vec<&str> = text.lines().nth(3).unwrap().split_whitespace().collect();
        assert_eq!(y, ["y", "heuristic", "2", "1", "0", "0", "20.00", "20.00", "1.000"]);
    }

    #[test]
    fn pages_contain_the_command() {
        let machine = Machine::here();
        let notes = ["no corpora".to_owned()];
        let peers =
            [Peer { name: "p".into(), version: Some("1.2".into()), line: "./p {input} {output}".into() }];
        let comparison = Comparison { is_asked: true, question: "decide", reference: Some("x"), shift: 0.01 };
        let question = Question {
            command: "plimsoll bench",
            machine: &machine,
            notes: &notes,
            peers: &peers,
            comparison,
        };
        let readme = question.readme(|name| name != "trace.csv" && !name.starts_with("charts"));
        assert!(readme.contains("    plimsoll bench\n"));
        assert!(readme.contains("- external p: 1.2; run as `./p {input} {output}`\n"));
        assert!(readme.contains("| `rows.csv` |") && readme.contains("| `maps/*.svg` |"));
        assert!(!readme.contains("trace.csv") && !readme.contains("charts/"), "{readme}");
        let summary = question.summary(&rows());
        assert!(summary.contains("## offsets: times") && summary.contains("## offsets: ratios to x"));
        assert!(!summary.contains("## pools"));
        assert!(summary.contains("## offsets: runs") && summary.contains("no corpora"));
        assert!(summary.contains("a long story \\|"));
    }
}
