//! Tables and pages made from rows.

use crate::analysis::standing::mean;
use crate::machine::Machine;
use crate::record::{Record, failures, lines};
use crate::report::table::{Align, Column, Table};
use crate::report::times::{self, Clock, Times, remember};
use crate::report::{percent, ratios};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::plan::ProblemKind;
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
    ("trace.csv", "when layouts and bounds improved; of other processes by their own word"),
    ("charts/gap*.svg", "the gap to the best bound over time, of all instances and of each"),
];

/// Longest remark in a table, letters.
const REMARK: usize = 70;

/// Instance by algorithm: peak, gap to the best proven bound, claim, seconds. `None` where no row is of `problem`.
pub fn runs(rows: &[Record], problem: ProblemKind) -> Option<Table> {
    let own = || rows.iter().filter(|row| row.problem == problem.as_str());
    let seeds = own().any(|row| row.seed != own().next().map_or(0, |first| first.seed));
    let remarks = own().any(|row| !row.error.is_empty());
    let mut columns = vec![
        ("instance", Align::Left),
        ("load", Align::Right),
        ("best bound", Align::Right),
        ("algorithm", Align::Left),
        ("seed", Align::Right),
        (if problem == ProblemKind::Pools { "total" } else { "peak" }, Align::Right),
        ("gap %", Align::Right),
        ("claim", Align::Left),
        ("stop", Align::Left),
        ("seconds", Align::Right),
        ("remark", Align::Left),
    ];
    let kept: Vec<bool> =
        columns.iter().map(|&(name, _)| (name != "seed" || seeds) && (name != "remark" || remarks)).collect();
    let mut keep = kept.iter();
    columns.retain(|_| keep.next() == Some(&true));
    let mut table = Table::new(columns);
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let mut previous: Option<(&str, &str)> = None;
    for row in own() {
        let first = previous.replace((&row.suite, &row.instance)) != Some((&row.suite, &row.instance));
        let once = |text: String| if first { text } else { String::new() };
        let claim = if row.claim.is_empty() { &row.status } else { &row.claim };
        let claim = row.arithmetic().mark(claim);
        let cells = [
            once(row.instance.clone()),
            once(number(row.load)),
            once(best_bound(row, rows)),
            row.algorithm.clone(),
            row.seed.to_string(),
            number(row.value),
            row.gap_percent.map_or_else(String::new, percent),
            claim,
            row.stop.clone(),
            row.seconds.map_or_else(String::new, |seconds| format!("{seconds:.3}")),
            shorten(&row.error),
        ];
        table.row(cells.into_iter().zip(&kept).filter(|&(_, &kept)| kept).map(|(cell, _)| cell));
    }
    (!table.is_empty()).then_some(table)
}

/// The best bound of the instance and problem of a row; marked where it rests on floating point alone.
fn best_bound(row: &Record, rows: &[Record]) -> String {
    let same = |other: &&Record| {
        (&other.suite, &other.instance, &other.problem) == (&row.suite, &row.instance, &row.problem)
    };
    let its = rows.iter().filter(same).filter(|other| other.status == "done");
    let best = its.filter_map(|other| Some((other.lower_bound?, other.arithmetic())));
    row.best_bound.map_or_else(String::new, |bound| {
        let floating = Arithmetic::of_best(best.filter(|one| one.0 >= bound)) == Arithmetic::FloatingPoint;
        format!("{bound}{}", if floating { " (floating point)" } else { "" })
    })
}

/// Per algorithm over all instances: how often it answered, met the best bound, how far it was off, how long it took.
pub fn algorithms(rows: &[Record], problem: ProblemKind) -> Option<Table> {
    let own = || rows.iter().filter(|row| row.problem == problem.as_str());
    let mut names: Vec<(&str, &str)> = Vec::new();
    for row in own() {
        remember(&mut names, (row.algorithm.as_str(), row.kind.as_str()));
    }
    let its = |(name, kind): (&str, &str)| -> (Vec<&Record>, Vec<f64>) {
        let rows: Vec<&Record> = own().filter(|row| row.algorithm == name && row.kind == kind).collect();
        let gaps = rows.iter().filter_map(|row| row.gap_percent).collect();
        (rows, gaps)
    };
    let count = |count: usize| count.to_string();
    let gap = |gap: Option<f64>| gap.map_or_else(String::new, percent);
    let columns: [Column<'_, (Vec<&Record>, Vec<f64>)>; 9] = [
        ("algorithm", Align::Left, &|(rows, _)| rows[0].algorithm.clone()),
        ("kind", Align::Left, &|(rows, _)| rows[0].kind.clone()),
        ("runs", Align::Right, &|(rows, _)| count(rows.len())),
        ("answered", Align::Right, &|(rows, _)| count(rows.iter().filter(|row| row.value.is_some()).count())),
        ("at the bound", Align::Right, &|(_, gaps)| count(gaps.iter().filter(|&&gap| gap == 0.0).count())),
        ("claimed optimal", Align::Right, &|(rows, _)| {
            count(rows.iter().filter(|row| row.claim == "optimal").count())
        }),
        ("mean gap %", Align::Right, &|(_, gaps)| gap(mean(gaps))),
        ("worst gap %", Align::Right, &|(_, gaps)| gap(gaps.iter().copied().reduce(f64::max))),
        ("seconds", Align::Right, &|(rows, _)| {
            format!("{:.3}", rows.iter().filter_map(|row| row.seconds).sum::<f64>())
        }),
    ];
    let table = Table::of(&columns, names.into_iter().map(its));
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
        for problem in ProblemKind::ALL {
            if self.comparison.is_asked {
                text.push_str(&self.times(rows, problem));
            }
            if let Some(table) = algorithms(rows, problem) {
                let _ = write!(text, "\n## {problem}: algorithms\n\n{}", table.markdown());
            }
            if let Some(table) = runs(rows, problem) {
                let _ = write!(text, "\n## {problem}: runs\n\n{}", table.markdown());
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

    /// The tables of times of one problem, and how to read them.
    fn times(&self, rows: &[Record], problem: ProblemKind) -> String {
        let Comparison { question, reference, shift, .. } = self.comparison;
        let times = Times::of(rows, problem);
        let Some(table) = times::table(&times, shift) else { return String::new() };
        let mut text = format!(
            "\n## {problem}: times\n\n\
             Asked was to {question}. The time spent on an instance is the median over the runs, solved or not. The \
             time to solve is the\nmedian too; where the median run did not solve, it is the limit, marked `>`, and all \
             made from it are lower bounds.\nMeans are geometric, shifted by {shift} s, over all instances; PAR-2 is the \
             mean of times to solve with unsolved instances\ncounted as twice the limit; wins are instances with the \
             least time to solve. Heuristics prove no optimum, except where they\nhappen to meet a bound: their means are \
             left out (`-`), and so are their times to solve where they have none.\n\n{}",
            table.markdown()
        );
        if let Some(reference) = reference
            && let Some(table) = ratios::ratios(&times, reference, Clock::Bench)
        {
            let _ = write!(
                text,
                "\n## {problem}: ratios to {reference}\n\nAbove 1, {reference} is faster.\n\n{}",
                table.markdown()
            );
        }
        if let Some(table) = reference.and_then(|reference| ratios::own_ratios(rows, problem, reference)) {
            let _ =
                write!(text, "\n## {problem}: ratios of own times\n\n{OWN_TIMES}\n\n{}", table.markdown());
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
             Sizes are bytes, times are wall-clock seconds: of whole processes where the column `whole_process` says so\n\
             (externals always), of the algorithm alone otherwise; `own_seconds` are those that a program measures itself,\n\
             from after reading the instance to its answer, with `own_resolution` where it printed them. Every solution\n\
             passed the checker; the best bound of an instance is the highest that any run proved, the gap is measured\n\
             against it. `peak_memory_bytes` is the\n\
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
        let text = runs(&rows(), ProblemKind::Offsets).unwrap().text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("remark") && !lines[0].contains("seed"));
        assert!(lines[2].starts_with("a ") && lines[3].starts_with("  ") && lines[4].starts_with("b "));
        assert!(lines[3].contains("20.00") && lines[4].contains("failed") && lines[4].contains('…'));
        assert!(runs(&rows(), ProblemKind::Pools).is_none());
    }

    #[test]
    fn algorithms_are_compared() {
        let text = algorithms(&rows(), ProblemKind::Offsets).unwrap().text();
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
