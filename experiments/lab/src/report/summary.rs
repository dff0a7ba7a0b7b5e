//! Tables and pages made from rows.

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

/// How to read ratios of own times.
const OWN_TIMES: &str = "\
Own times run from after reading the instance to the answer, as each program measures itself: start-up, reading,
checking and writing are left out. They are the word of who prints them. A time is as good as its digits: a ratio is made
from half a unit of the last digit less, marked `>` where that is more than 1 % of the time; where all digits are zero
the ratio is at most what one unit gives, marked `<`, and no part of a mean. Runs that did not solve count as the limit.
A solved run without a time of its own leaves the cell empty.";

/// What a record may hold, and what that is. A name with `*` stands for any number of files.
const FILES: [(&str, &str); 6] = [
    ("rows.csv", "one row per attempted run, also skipped, failed and refused ones"),
    ("summary.md", "the tables, generated from the rows"),
    ("maps/*.svg", "the best solution per instance, step by address"),
    ("charts/profile.svg", "share of instances solved within a factor of the fastest time to solve"),
    ("trace.csv", "when values and bounds improved; of other processes by their own word"),
    ("charts/gap*.svg", "the gap to the best bound over time, of all instances and of each"),
];

/// Longest remark in a table, letters.
const REMARK: usize = 70;

/// The problems that occur in rows, in the order of their first.
pub fn problems(rows: &[Record]) -> Vec<&str> {
    distinct(rows.iter().map(|row| row.problem.as_str()).filter(|problem| !problem.is_empty()))
}

/// The rows of each question, by its words: a problem, and its terms where it has any; in the order of the first rows.
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

/// Instance by algorithm, of one question: value, gap to the best proven bound, claim, seconds. `None` without rows.
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

/// Problem and terms, suite and name of an instance.
type Instance<'a> = [&'a str; 4];

fn instance(row: &Record) -> Instance<'_> {
    [&row.problem, &row.terms, &row.suite, &row.instance]
}

/// Instances whose best bounds rest on floating point alone.
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
    /// Its name.
    pub algorithm: &'a str,
    /// `heuristic`, `exact`, `external`.
    pub kind: &'a str,
    /// Runs.
    pub runs: usize,
    /// Runs with a value.
    pub answered: usize,
    /// Runs that claim an optimum.
    pub optimal: usize,
    /// Gaps to the best bounds of the runs that have one, percent.
    pub gaps: Vec<f64>,
    /// Seconds of all runs.
    pub seconds: f64,
}

impl Tally<'_> {
    /// The mean gap, percent.
    pub fn mean_gap(&self) -> Option<f64> {
        mean(&self.gaps)
    }

    /// The largest gap, percent.
    pub fn worst_gap(&self) -> Option<f64> {
        self.gaps.iter().copied().reduce(f64::max)
    }

    /// Runs whose values meet the best bounds.
    pub fn at_bound(&self) -> usize {
        self.gaps.iter().filter(|&&gap| gap == 0.0).count()
    }
}

/// The algorithms of rows of one problem, in the order of the first.
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

/// Per algorithm over all instances: how often it answered, met the best bound, how far it was off, how long it took.
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

/// An external binary, for the record.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its version, where it was asked.
    pub version: Option<String>,
    /// Its command line.
    pub line: String,
}

/// How times are compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// True where the question is one of time; the tables of times are shown then.
    pub is_asked: bool,
    /// What a run has to do, in words.
    pub question: &'a str,
    /// The algorithm whose times others are divided by.
    pub reference: Option<&'a str>,
    /// Shift of geometric means, seconds.
    pub shift: f64,
}

/// What was asked, for the pages.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The command line, ready to be repeated.
    pub command: &'a str,
    /// The machine.
    pub machine: &'a Machine,
    /// What the reader should know beside.
    pub notes: &'a [String],
    /// Who else took part.
    pub peers: &'a [Peer],
    /// How times are compared.
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

    /// `summary.md`: the tables.
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
            text.push_str("\n## Algorithms that failed\n\n");
            for line in lines(&failures).lines() {
                let _ = writeln!(text, "- {line}");
            }
        }
        let unreadable: Vec<&Record> = rows.iter().filter(|row| row.status == "unreadable").collect();
        if !unreadable.is_empty() {
            text.push_str("\n## Instances that could not be read\n\n");
            for row in unreadable {
                let _ = writeln!(text, "- {}", row.error);
            }
        }
        text
    }

    /// The tables of times of one question, and how to read them.
    fn times(&self, title: &str, rows: &[Record]) -> String {
        let Comparison { question, reference, shift, .. } = self.comparison;
        let group = times::of(rows);
        let Some(table) = times::table(&group, shift) else { return String::new() };
        let mut text = format!(
            "\n## {title}: times\n\n\
             Asked was to {question}. The time spent on an instance is the median over the runs, solved or not. The \
             time to solve is the\nmedian too; where the median run did not solve, it is the limit, marked `>`, and all \
             made from it are lower bounds.\nMeans are geometric, shifted by {shift} s, over all instances; PAR-2 is the \
             mean of times to solve with unsolved instances\ncounted as twice the limit; wins are instances with the \
             least time to solve. Heuristics prove no optimum, except where they\nhappen to meet a bound: their means are \
             left out (`-`), and so are their times to solve where they have none.\n\n{}",
            table.markdown()
        );
        if let Some(reference) = reference
            && let Some(table) = ratios::ratios(&group, reference, Clock::Bench)
        {
            let _ = write!(
                text,
                "\n## {title}: ratios to {reference}\n\nAbove 1, {reference} is faster.\n\n{}",
                table.markdown()
            );
        }
        if let Some(table) = reference.and_then(|reference| ratios::own_ratios(rows, reference)) {
            let _ = write!(text, "\n## {title}: ratios of own times\n\n{OWN_TIMES}\n\n{}", table.markdown());
        }
        text
    }

    /// `README.md`: what lies in the folder and how it came about. `is_there` tells which files and folders of pictures were
    /// written, by their names in the table.
    pub fn readme(&self, is_there: impl Fn(&str) -> bool) -> String {
        let held = FILES.iter().filter(|(name, _)| is_there(name));
        let held = held.fold(String::new(), |mut text, (name, holds)| {
            let _ = writeln!(text, "| `{name}` | {holds} |");
            text
        });
        format!(
            "# Benchmark record\n\nMade by\n\n{}\n\
             | file | holds |\n|---|---|\n\
             {held}\n\
             Values and bounds are in the unit that the column `unit` names, sizes are bytes. Seconds are wall-clock\n\
             seconds: of whole processes where the column `whole_process` says so (externals always), of the algorithm\n\
             alone otherwise; `own_seconds` are those that a program measures itself, from after reading the instance to\n\
             its answer, with `own_resolution` where it printed them. Every solution passed the checker. The best bound of\n\
             an instance is the best that any run proved, the gap is the distance from it. `peak_memory_bytes` is the\n\
             process's high-water mark, reset before each run, so it includes what was resident before.\n",
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
    fn pages_hold_the_command() {
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
