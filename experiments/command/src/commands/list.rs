//! `plimsoll list`: lists all algorithms, suites and generated families.

use super::choose::unknown;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use crate::report::Report;
use clap::Args;
use plimsoll::branches::SCHEMES;
use plimsoll::datasets::control_cases::{CONTROL_CASES, ControlCase};
use plimsoll::datasets::graphs::GRAPH_FAMILIES;
use plimsoll::datasets::{
    DERIVATIONS, FAMILIES, FamilyParam, KnownOperator, known_operators, worked_examples,
};
use plimsoll::model::Parameter;
use plimsoll::model::structure::Relation;
use plimsoll::model::tiers::{TIER_PRESETS, TierMachine};
use plimsoll::model::timelines::{Machine, PRESETS};
use plimsoll::posed::{Facts, PROBLEMS, algorithms, problem};
use plimsoll_lab::report::table::wrapped;
use plimsoll_lab::suite::{SUITES, Suite, corpora};
use plimsoll_papers::{PAPERS, Paper};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Each problem with its objective and a command line whose last option selects the algorithm.
const QUESTIONS: [(&str, &str, &str); 9] = [
    ("offsets", "the lowest peak with one offset per buffer", "solve INSTANCE --algorithm"),
    (
        "split-buffers",
        "the lowest peak if buffers may be split",
        "solve INSTANCE --problem split-buffers --algorithm",
    ),
    (
        "shared-objects",
        "the fewest bytes in objects that buffers share",
        "solve INSTANCE --problem shared-objects --algorithm",
    ),
    ("orders", "the operator order with the lowest peak", "order MODEL --algorithm"),
    ("joint", "the lowest peak over orders and offsets together", "plan MODEL --joint"),
    (
        "spilling",
        "the fewest bytes moved if the buffers do not all fit",
        "spill INSTANCE --capacity BYTES --algorithm",
    ),
    ("timelines", "the shortest makespan with weight transfers", "overlap MODEL --machine NAME --algorithm"),
    (
        "tiers",
        "the tier of each tensor for the least transfer time",
        "tiers MODEL --machine NAME --algorithm",
    ),
    ("fusion", "the groups of operators to run as one", "fuse MODEL --algorithm"),
];

/// Arguments of `list` that are neither problems nor names of single entries.
const TOPICS: [&str; 10] = [
    "suites",
    "families",
    "graphs",
    "papers",
    "examples",
    "branches",
    "conflicts",
    "machines",
    "operators",
    "algorithms",
];

/// Returns one JSON object per algorithm.
fn rows(facts: &[Facts]) -> Vec<Value> {
    let row = |one: &Facts| {
        let Facts { problem, name, kind, about, source, time, parameters } = one;
        let parameter = |one: &Parameter| json!({ "name": one.name, "about": one.about });
        let parameters: Vec<Value> = parameters.iter().map(parameter).collect();
        json!({
            "problem": problem, "name": name, "kind": kind.to_string(), "about": about, "source": source,
            "time": time, "parameters": parameters,
        })
    };
    facts.iter().map(row).collect()
}

fn family(name: &str, about: &str, version: u32, params: &[FamilyParam]) -> Value {
    let row = |one: &FamilyParam| json!({ "name": one.name, "default": one.default, "about": one.about });
    let params: Vec<Value> = params.iter().map(row).collect();
    json!({ "name": name, "about": about, "version": version, "params": params })
}

fn instance_families() -> Vec<Value> {
    let derived = DERIVATIONS.iter().map(|one| family(one.name, one.about, one.version, one.params));
    let own = FAMILIES.iter().map(|one| family(one.name, one.about, one.version, one.params));
    own.chain(derived).collect()
}

fn graph_families() -> Vec<Value> {
    GRAPH_FAMILIES.iter().map(|one| family(one.name, one.about, one.version, one.params)).collect()
}

/// Returns a row with name, description and source.
fn entry(name: &str, about: &str, source: &str) -> Value {
    json!({ "name": name, "about": about, "source": source })
}

/// Prints the known operators, grouped by domain and by how their outputs are sized.
fn operators(json: bool) -> Result<u8, Failure> {
    let all = known_operators();
    if json {
        let row =
            |one: &KnownOperator| json!({ "domain": one.domain, "name": one.name, "sizing": one.sizing });
        output::print_json(&all.iter().map(row).collect::<Vec<_>>())?;
        return Ok(ANSWERED);
    }
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for one in &all {
        groups.entry((one.domain, one.sizing)).or_default().push(one.name);
    }
    let mut text = "inferred: output sizes follow from shapes, attributes and constants\n\
                    bounded: output sizes depend on data; an upper bound is used and reported\n\
                    opaque: output sizes are unknown unless an option gives them\n"
        .to_owned();
    for ((domain, sizing), names) in groups {
        let _ = write!(text, "\n{domain}, {sizing} ({}):\n", names.len());
        for line in wrapped(&names.join(" "), 78) {
            let _ = writeln!(text, "  {line}");
        }
    }
    output::print(&text)?;
    Ok(ANSWERED)
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// A problem, an algorithm, a suite, a family or another name; or `suites`, `families`, `graphs`,
    /// `papers`, `examples`, `branches`, `conflicts`, `machines`, `operators` or `algorithms`
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn main(args: &ListArgs) -> Result<u8, Failure> {
    let all = All::new();
    let Some(name) = args.name.as_deref() else {
        all.overview().print(args.json)?;
        return Ok(ANSWERED);
    };
    if name == "operators" {
        return operators(args.json);
    }
    let report = match problem(name) {
        Some(problem) => Some(all.problem(problem)),
        None => all.topic(name).or_else(|| all.one(name)),
    };
    report.ok_or_else(|| all.unknown(name))?.print(args.json)?;
    Ok(ANSWERED)
}

/// Everything that can be listed, as rows.
struct All {
    algorithms: Vec<Value>,
    suites: Vec<Value>,
    families: Vec<Value>,
    graphs: Vec<Value>,
    papers: Vec<Value>,
    examples: Vec<Value>,
    schemes: Vec<Value>,
    conflicts: Vec<Value>,
    cases: Vec<Value>,
    machines: Vec<Value>,
}

/// Returns the built-in machines: those of `overlap` and `measure`, and those of `tiers`. Each of the two
/// groups has its own file format and its own machine called `generic`.
fn machines() -> Vec<Value> {
    let row = |name: &str, commands: &str, about: Option<String>| json!({ "name": name, "commands": commands, "about": about.unwrap_or_default() });
    let own = PRESETS.map(|(name, _)| {
        row(name, "overlap, measure", Machine::find(name).ok().map(|machine| machine.about))
    });
    let tiers = TIER_PRESETS
        .map(|(name, _)| row(name, "tiers", TierMachine::find(name).ok().map(|machine| machine.about)));
    own.into_iter().chain(tiers).collect()
}

impl All {
    fn new() -> Self {
        let registry = plimsoll::registry();
        let own = PROBLEMS.iter().flat_map(|problem| rows(&algorithms(&registry, problem)));
        let suite = |suite: &Suite| {
            let available = suite.origin.folder().is_none() || corpora().is_some();
            json!({ "name": suite.name, "about": suite.about, "available": available })
        };
        let paper = |one: &Paper| json!({ "name": one.name, "source": one.source, "title": one.title, "about": one.about });
        let examples = worked_examples().into_iter().map(|one| entry(one.name, one.about, one.source));
        let conflict = |(name, about)| json!({ "name": name, "about": about });
        // The optimum is the size of the smallest arena, in bytes.
        let case = |one: &ControlCase| json!({ "name": one.name, "about": one.about, "source": one.source, "optimum": one.optimum });
        Self {
            algorithms: own.collect(),
            suites: SUITES.iter().map(suite).collect(),
            families: instance_families(),
            graphs: graph_families(),
            papers: PAPERS.iter().map(paper).collect(),
            examples: examples.collect(),
            schemes: SCHEMES.iter().map(|one| entry(one.name, one.about, one.source)).collect(),
            conflicts: Relation::ABOUT.map(conflict).to_vec(),
            cases: CONTROL_CASES.iter().map(case).collect(),
            machines: machines(),
        }
    }

    /// Returns the algorithms of a problem.
    fn of(&self, problem: &str) -> Vec<Value> {
        self.algorithms.iter().filter(|row| row["problem"] == problem).cloned().collect()
    }

    /// Returns the report on everything. Its JSON contains all rows. Its text contains only names and numbers
    /// of rows.
    fn overview(&self) -> Report {
        let mut report = Report::new(json!({
            "algorithms": self.algorithms,
            "suites": self.suites,
            "families": self.families,
            "graph_families": self.graphs,
            "papers": self.papers,
            "worked_examples": self.examples,
            "branches": self.schemes,
            "conflicts": self.conflicts,
            "control_cases": self.cases,
            "machines": self.machines,
        }));
        let problem = |(name, about, _): &(&str, &str, &str)| {
            let own = self.of(name);
            let exact = own.iter().filter(|row| row["kind"] == "exact").count();
            json!({ "problem": name, "about": about, "exact": exact, "heuristic": own.len() - exact })
        };
        let problems: Vec<Value> = QUESTIONS.iter().map(problem).collect();
        report.table(&problems, "problem, exact, heuristic, seeks = about");
        report.push("\n");
        report.line("suites", names(&self.suites));
        report.line("families", names(&self.families));
        report.line("of graphs", names(&self.graphs));
        report.line("papers", names(&self.papers));
        let of = |commands: &str| -> Vec<Value> {
            self.machines.iter().filter(|row| row["commands"] == commands).cloned().collect()
        };
        let (own, tiers) = (names(&of("overlap, measure")), names(&of("tiers")));
        report.line("machines", format_args!("{own}; of `tiers`: {tiers}"));
        for (topic, rows) in [("graphs", &self.cases), ("examples", &self.examples)] {
            report.line(topic, format_args!("{} (see `plimsoll list {topic}`)", rows.len()));
        }
        report.line("operators", format_args!("{} (see `plimsoll list operators`)", known_operators().len()));
        report.push(
            "\nplimsoll list offsets      the algorithms of a problem\n\
             plimsoll list exact        an algorithm, with its source\n\
             plimsoll list suites       also: families, graphs, papers, examples, branches, conflicts, machines\n\
             plimsoll list uniform      a family with its parameters, or any other name\n\
             plimsoll list --json       everything\n",
        );
        report
    }

    /// Returns the report on one problem.
    fn problem(&self, problem: &str) -> Report {
        let own = self.of(problem);
        let mut report = Report::new(json!({ "problem": problem, "algorithms": own }));
        if let Some((_, about, usage)) = QUESTIONS.iter().find(|(name, ..)| *name == problem) {
            report.push(&format!("{problem}: {about}\n"));
            report.line("used by", format_args!("plimsoll {usage} NAME"));
        }
        report.table(&own, "name, kind, description = about");
        report.push("\n`plimsoll list NAME` describes one algorithm and its parameters.\n");
        report
    }

    /// Returns the report on a topic.
    fn topic(&self, topic: &str) -> Option<Report> {
        let (key, rows, columns) = match topic {
            "algorithms" => {
                ("algorithms", self.algorithms.clone(), "problem, name, kind, description = about")
            }
            "suites" => ("suites", with_notes(self.suites.clone()), "suite = name, instances = about"),
            "families" => {
                let mut report =
                    Report::new(json!({ "families": self.families, "graph_families": self.graphs }));
                report.table(&self.families, "family = name, generated instances = about");
                report.table(&self.graphs, "family = name, generated graphs = about");
                report.push("\n`plimsoll list FAMILY` describes the parameters of a family.\n");
                return Some(report);
            }
            "graphs" => (
                "control_cases",
                self.cases.clone(),
                "graph = name, difficulty for planners = about, optimum",
            ),
            "papers" => {
                ("papers", self.papers.clone(), "paper = name, document = title, reproduced results = about")
            }
            "examples" => ("worked_examples", self.examples.clone(), "example = name, description = about"),
            "branches" => ("branches", self.schemes.clone(), "branches = name, sharing of memory = about"),
            "machines" => {
                ("machines", self.machines.clone(), "machine = name, commands, description = about")
            }
            "conflicts" => (
                "conflicts",
                self.conflicts.clone(),
                "conflicts = name, two buffers may share memory = about",
            ),
            _ => return None,
        };
        let mut report = Report::new(json!({ key: rows }));
        report.table(&rows, columns);
        Some(report)
    }

    /// Returns the report on everything with this name.
    fn one(&self, name: &str) -> Option<Report> {
        let is_it = |row: &&Value| row["name"] == name;
        if let Some(family) = self.families.iter().chain(&self.graphs).find(is_it) {
            return Some(family_report(name, family));
        }
        let found: Vec<Value> = self.algorithms.iter().filter(is_it).cloned().collect();
        if !found.is_empty() {
            return Some(algorithm_report(name, &found));
        }
        let others = [
            ("suite", with_notes(self.suites.clone()), "plimsoll bench"),
            ("graph", self.cases.clone(), "plimsoll generate"),
            ("paper", self.papers.clone(), "plimsoll reproduce"),
            ("example", self.examples.clone(), "plimsoll bench embedded --only"),
            ("branches", self.schemes.clone(), "plimsoll plan MODEL --branches"),
            ("conflicts", self.conflicts.clone(), "plimsoll plan MODEL --conflicts"),
        ];
        let other = others.into_iter().find_map(|(what, rows, usage)| {
            let row = rows.iter().find(is_it)?;
            let mut report = Report::new(row.clone());
            report.line(what, name);
            for (label, key) in [("title", "title"), ("description", "about"), ("source", "source")] {
                if let Some(text) = row[key].as_str() {
                    report.line(label, text);
                }
            }
            if let Some(optimum) = row["optimum"].as_u64() {
                report.line("optimum", format_args!("{optimum} bytes"));
            }
            report.line("used by", format_args!("{usage} {name}"));
            Some(report)
        });
        let machines: Vec<Value> = self.machines.iter().filter(is_it).cloned().collect();
        if machines.is_empty() {
            return other;
        }
        let mut report = other.unwrap_or_else(|| Report::new(json!({})));
        report.extend(json!({ "machines": machines }));
        report.table(&machines, "machine = name, commands, description = about");
        Some(report)
    }

    /// Returns the error for an unknown name, with the nearest names.
    fn unknown(&self, name: &str) -> Failure {
        let rows = [
            &self.algorithms,
            &self.suites,
            &self.families,
            &self.graphs,
            &self.papers,
            &self.examples,
            &self.schemes,
            &self.conflicts,
            &self.cases,
            &self.machines,
        ];
        let names = rows.into_iter().flatten().filter_map(|row| row["name"].as_str());
        let known: Vec<&str> = PROBLEMS.iter().copied().chain(TOPICS).chain(names).collect();
        unknown("name", name, &known, "plimsoll list")
    }
}

/// Returns the names of rows, separated by commas.
fn names(rows: &[Value]) -> String {
    rows.iter().filter_map(|row| row["name"].as_str()).collect::<Vec<_>>().join(", ")
}

fn family_report(name: &str, family: &Value) -> Report {
    let about = family["about"].as_str().unwrap_or_default();
    let params = family["params"].as_array().cloned().unwrap_or_default();
    let mut report = Report::new(family.clone());
    report.push(&format!("{name}: {about}\n"));
    report.table(&params, "--param = name, default, meaning = about");
    report
}

/// Returns the report on the algorithms that share a name, one per problem.
fn algorithm_report(name: &str, found: &[Value]) -> Report {
    let mut report = Report::new(json!({ "algorithms": found }));
    for (at, row) in found.iter().enumerate() {
        if at > 0 {
            report.push("\n");
        }
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let question = QUESTIONS.iter().find(|(problem, ..)| *problem == text("problem"));
        let (about, usage) = question.map_or(("", ""), |(_, about, usage)| (*about, *usage));
        report.line("algorithm", name);
        report.line("problem", format_args!("{}: {about}", text("problem")));
        report.line("kind", text("kind"));
        report.line("description", text("about"));
        report.line("source", text("source"));
        report.line("time", text("time"));
        let guarantee = if text("kind") == "exact" {
            "proves its answer if it completes; stopped by a limit, it returns its best answer and a bound"
        } else {
            "none; its answer is checked, and counts as optimal only if it meets a lower bound"
        };
        report.line("guarantee", guarantee);
        report.line(
            "supports",
            "every valid input; an algorithm with a size limit rejects larger inputs and reports the limit",
        );
        let own = if name == "k-buffers" { ", --buffers" } else { "" };
        report.line("options", format_args!("--time-limit, --node-limit, --threads, --seed{own}"));
        let parameters = row["parameters"].as_array().cloned().unwrap_or_default();
        let more = if parameters.is_empty() { "" } else { "[:PARAMETER..]" };
        report.line("used by", format_args!("plimsoll {usage} {name}{more}"));
        if !parameters.is_empty() {
            report.table(&parameters, "parameter = name, effect = about");
        }
    }
    report
}

/// Appends a note on the required folder to each unavailable suite.
fn with_notes(mut suites: Vec<Value>) -> Vec<Value> {
    for suite in suites.iter_mut().filter(|suite| suite["available"] == false) {
        let about = suite["about"].as_str().unwrap_or_default();
        suite["about"] = format!("{about} (set PLIMSOLL_CORPORA to the folder that contains it)").into();
    }
    suites
}
