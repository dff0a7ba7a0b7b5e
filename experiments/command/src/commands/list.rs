//! `plimsoll list`: lists all algorithms, suites and generated families.

use crate::failure::{ANSWERED, Failure};
use crate::output;
use crate::report::Report;
use clap::Args;
use plimsoll::branches::SCHEMES;
use plimsoll::datasets::control_cases::{CONTROL_CASES, ControlCase};
use plimsoll::datasets::graphs::GRAPH_FAMILIES;
use plimsoll::datasets::{FAMILIES, FamilyParam, KnownOperator, known_operators, worked_examples};
use plimsoll::model::structure::Relation;
use plimsoll::posed::{Facts, PROBLEMS, algorithms};
use plimsoll_lab::suite::{SUITES, Suite, corpora};
use plimsoll_papers::{PAPERS, Paper};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the rows of algorithms.
fn rows(facts: &[Facts]) -> Vec<Value> {
    let row = |one: &Facts| {
        let Facts { problem, name, kind, about, source } = one;
        json!({ "problem": problem, "name": name, "kind": kind.to_string(), "about": about, "source": source })
    };
    facts.iter().map(row).collect()
}

fn family(name: &str, about: &str, version: u32, params: &[FamilyParam]) -> Value {
    let row = |one: &FamilyParam| json!({ "name": one.name, "default": one.default, "about": one.about });
    let params: Vec<Value> = params.iter().map(row).collect();
    json!({ "name": name, "about": about, "version": version, "params": params })
}

fn instance_families() -> Vec<Value> {
    FAMILIES.iter().map(|one| family(one.name, one.about, one.version, one.params)).collect()
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
        let mut line = String::new();
        for name in names {
            if line.len() + name.len() > 100 {
                let _ = writeln!(text, " {line}");
                line.clear();
            }
            line = format!("{line} {name}");
        }
        let _ = writeln!(text, " {line}");
    }
    output::print(&text)?;
    Ok(ANSWERED)
}

/// Prints one family with its parameters.
fn one(name: &str, json: bool) -> Result<u8, Failure> {
    let mut all = instance_families().into_iter().chain(graph_families());
    let Some(family) = all.find(|family| family["name"] == name) else {
        return Err(Failure::input(format!("unknown family '{name}' (see `plimsoll list`)")));
    };
    let about = family["about"].as_str().unwrap_or_default().to_owned();
    let params = family["params"].as_array().cloned().unwrap_or_default();
    let mut report = Report::new(family);
    report.push(&format!("{name}: {about}\n"));
    report.table(&params, "--param = name, default, meaning = about");
    report.print(json)?;
    Ok(ANSWERED)
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// Family whose parameters to describe, or `operators` for the known model operators and how their
    /// outputs are sized
    #[arg(value_name = "FAMILY")]
    family: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn main(args: &ListArgs) -> Result<u8, Failure> {
    if args.family.as_deref() == Some("operators") {
        return operators(args.json);
    }
    if let Some(name) = &args.family {
        return one(name, args.json);
    }
    let registry = plimsoll::registry();
    let (mut problems, mut variants) = (Vec::new(), Vec::new());
    for problem in PROBLEMS {
        let [own, more] = algorithms(&registry, problem);
        problems.push((*problem, rows(&own)));
        variants.extend(rows(&more));
    }
    let suite = |suite: &Suite| {
        let available = suite.origin.folder().is_none() || corpora().is_some();
        json!({ "name": suite.name, "about": suite.about, "available": available })
    };
    let suites: Vec<Value> = SUITES.iter().map(suite).collect();
    let (families, graphs) = (instance_families(), graph_families());
    let paper = |one: &Paper| json!({ "name": one.name, "source": one.source, "title": one.title, "about": one.about });
    let papers: Vec<Value> = PAPERS.iter().map(paper).collect();
    let examples = worked_examples().into_iter().map(|one| entry(one.name, one.about, one.source));
    let examples: Vec<Value> = examples.collect();
    let schemes: Vec<Value> = SCHEMES.iter().map(|one| entry(one.name, one.about, one.source)).collect();
    let conflicts = Relation::ABOUT.map(|(name, about)| json!({ "name": name, "about": about }));
    // The optimum is the size of the smallest arena, in bytes.
    let case = |one: &ControlCase| json!({ "name": one.name, "about": one.about, "source": one.source, "optimum": one.optimum });
    let cases: Vec<Value> = CONTROL_CASES.iter().map(case).collect();
    let mut report = Report::new(json!({
        "algorithms": problems.iter().flat_map(|(_, rows)| rows).collect::<Vec<_>>(),
        "variants": variants,
        "suites": suites,
        "families": families,
        "graph_families": graphs,
        "papers": papers,
        "worked_examples": examples,
        "branches": schemes,
        "conflicts": conflicts,
        "control_cases": cases,
    }));
    for (heading, rows) in problems.into_iter().chain([("offsets for ablation", variants)]) {
        report.table(&rows, &format!("{heading} = name, kind, description = about, source"));
    }
    report.table(&schemes, "branches = name, sharing of memory across branches = about, source");
    report.table(&conflicts, "conflicts = name, two buffers may share memory = about");
    report.table(&with_notes(suites), "suite = name, instances = about");
    report.table(&with_params(families), "family = name, generated instances = about, --param = params");
    report.table(&with_params(graphs), "family = name, generated graphs = about, --param = params");
    report.table(&cases, "generated graph = name, difficulty for planners = about, optimum, source");
    report.table(&papers, "paper = name, short = source, document = title, reproduced results = about");
    report.table(&examples, "worked example (suite embedded) = name, description = about, source");
    report.print(args.json)?;
    Ok(ANSWERED)
}

/// Adds a note to each unavailable suite on where its files are expected.
fn with_notes(mut suites: Vec<Value>) -> Vec<Value> {
    for suite in suites.iter_mut().filter(|suite| suite["available"] == false) {
        let about = suite["about"].as_str().unwrap_or_default();
        suite["about"] = format!("{about} (set PLIMSOLL_CORPORA to the folder that contains it)").into();
    }
    suites
}

/// Replaces the parameters of each family by text.
fn with_params(mut families: Vec<Value>) -> Vec<Value> {
    for family in &mut families {
        let param = |one: &Value| format!("{}={}", one["name"].as_str().unwrap_or_default(), one["default"]);
        let params: Vec<String> = family["params"].as_array().into_iter().flatten().map(param).collect();
        family["params"] = params.join(" ").into();
    }
    families
}
