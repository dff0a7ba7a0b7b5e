//! `plimsoll list`: every algorithm, every suite and every generated family.

use crate::failure::{ANSWERED, Failure};
use crate::output;
use clap::Args;
use plimsoll::branches::{SCHEMES, SchemeEntry};
use plimsoll::datasets::control_cases::{CONTROL_CASES, ControlCase};
use plimsoll::datasets::graphs::{GRAPH_FAMILIES, GraphFamily};
use plimsoll::datasets::{
    FAMILIES, Family, FamilyParam, KnownOperator, Worked, known_operators, worked_examples,
};
use plimsoll::model::structure::Relation;
use plimsoll::posed::{Facts, PROBLEMS, algorithms};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::suite::{SUITES, corpora};
use plimsoll_papers::PAPERS;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Debug, Serialize)]
struct Algorithm {
    problem: &'static str,
    name: &'static str,
    kind: String,
    about: &'static str,
    source: &'static str,
}

#[derive(Debug, Serialize)]
struct Suite {
    name: &'static str,
    about: &'static str,
    available: bool,
}

#[derive(Debug, Serialize)]
struct Operator {
    domain: &'static str,
    name: &'static str,
    sizing: &'static str,
}

#[derive(Debug, Serialize)]
struct Generated {
    name: &'static str,
    about: &'static str,
}

#[derive(Debug, Serialize)]
struct Listing {
    algorithms: Vec<Algorithm>,
    variants: Vec<Algorithm>,
    suites: Vec<Suite>,
    families: Vec<Parametric>,
    graph_families: Vec<Parametric>,
    papers: Vec<Reproduced>,
    worked_examples: Vec<Branches>,
    branches: Vec<Branches>,
    conflicts: Vec<Generated>,
    control_cases: Vec<Case>,
}

#[derive(Debug, Serialize)]
struct Case {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    /// Bytes of the least arena.
    optimum: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Branches {
    name: &'static str,
    about: &'static str,
    source: &'static str,
}

#[derive(Debug, Serialize)]
struct Parametric {
    name: &'static str,
    about: &'static str,
    version: u32,
    params: Vec<Param>,
}

#[derive(Debug, Serialize)]
struct Param {
    name: &'static str,
    default: u64,
    about: &'static str,
}

#[derive(Debug, Serialize)]
struct Reproduced {
    name: &'static str,
    source: &'static str,
    title: &'static str,
    about: &'static str,
}

impl From<Facts> for Algorithm {
    fn from(facts: Facts) -> Self {
        let Facts { problem, name, kind, about, source } = facts;
        Self { problem, name, kind: kind.to_string(), about, source }
    }
}

impl Parametric {
    fn instances(family: &Family) -> Self {
        let Family { name, about, version, params, .. } = *family;
        Self { name, about, version, params: params.iter().map(Param::of).collect() }
    }

    fn graphs(family: &GraphFamily) -> Self {
        let GraphFamily { name, about, version, params, .. } = *family;
        Self { name, about, version, params: params.iter().map(Param::of).collect() }
    }
}

impl Param {
    fn of(param: &FamilyParam) -> Self {
        let FamilyParam { name, default, about, .. } = *param;
        Self { name, default, about }
    }
}

/// Prints the operators whose outputs can be sized, a row per domain and manner.
fn operators(json: bool) -> Result<u8, Failure> {
    let all = known_operators();
    if json {
        let row = |one: &KnownOperator| Operator { domain: one.domain, name: one.name, sizing: one.sizing };
        output::print_json(&all.iter().map(row).collect::<Vec<_>>())?;
        return Ok(ANSWERED);
    }
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for one in &all {
        groups.entry((one.domain, one.sizing)).or_default().push(one.name);
    }
    let mut text = "inferred: sizes follow from shapes, attributes and constants\n\
                    bounded: where data decide, an upper bound is taken and noted\n\
                    opaque: outputs have no size unless an option gives one\n"
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
    let instances = FAMILIES.iter().map(Parametric::instances);
    let mut all = instances.chain(GRAPH_FAMILIES.iter().map(Parametric::graphs));
    let Some(family) = all.find(|family| family.name == name) else {
        return Err(Failure::input(format!("unknown family '{name}'; plimsoll list shows them all")));
    };
    if json {
        output::print_json(&family)?;
        return Ok(ANSWERED);
    }
    let mut table =
        Table::new([("--param", Align::Left), ("default", Align::Right), ("what it means", Align::Left)]);
    for param in &family.params {
        table.row([param.name.to_owned(), param.default.to_string(), param.about.to_owned()]);
    }
    output::print(&format!("{}: {}\n\n{}", family.name, family.about, table.text()))?;
    Ok(ANSWERED)
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// A family, by name: only its parameters, with their meaning; or `operators`: those of models that are known, and how
    /// their outputs are sized
    #[arg(value_name = "FAMILY")]
    family: Option<String>,
    /// Print one JSON object instead of tables
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
    let listed = PROBLEMS.iter().map(|problem| algorithms(&registry, problem));
    let (own, variants): (Vec<_>, Vec<_>) = listed.map(|[own, variants]| (own, variants)).unzip();
    let [algorithms, variants] = [own, variants]
        .map(|facts| facts.into_iter().flatten().map(Algorithm::from).collect::<Vec<Algorithm>>());
    let suites = SUITES.iter().map(|suite| Suite {
        name: suite.name,
        about: suite.about,
        available: suite.origin.folder().is_none() || corpora().is_some(),
    });
    let families = FAMILIES.iter().map(Parametric::instances);
    let (suites, families) = (suites.collect(), families.collect());
    let example = |one: Worked| Branches { name: one.name, about: one.about, source: one.source };
    let worked_examples: Vec<Branches> = worked_examples().into_iter().map(example).collect();
    let papers = PAPERS.iter();
    let papers = papers
        .map(|p| Reproduced { name: &p.name, source: &p.source, title: &p.title, about: &p.about })
        .collect();
    let graph_families = GRAPH_FAMILIES.iter().map(Parametric::graphs).collect();
    let branch =
        |entry: &SchemeEntry| Branches { name: entry.name, about: entry.about, source: entry.source };
    let branches = SCHEMES.iter().map(branch).collect();
    let conflicts = Relation::ABOUT.map(|(name, about)| Generated { name, about }).into();
    let case = |case: &ControlCase| Case {
        name: case.name,
        about: case.about,
        source: case.source,
        optimum: case.optimum.map(plimsoll::model::Bytes::get),
    };
    let control_cases = CONTROL_CASES.iter().map(case).collect();
    let listing = Listing {
        algorithms,
        variants,
        suites,
        families,
        graph_families,
        papers,
        worked_examples,
        branches,
        conflicts,
        control_cases,
    };
    if args.json {
        output::print_json(&listing)?;
    } else {
        output::print(&listing.text())?;
    }
    Ok(ANSWERED)
}

impl Listing {
    fn text(&self) -> String {
        let mut text = String::new();
        let of = |problem| self.algorithms.iter().filter(move |a| a.problem == problem);
        let mut groups: Vec<(&str, Vec<&Algorithm>)> =
            PROBLEMS.iter().map(|name| (*name, of(*name).collect())).collect();
        groups.push(("offsets, for ablation", self.variants.iter().collect()));
        for (title, group) in groups {
            let mut table = Table::new([
                (title, Align::Left),
                ("kind", Align::Left),
                ("what it does", Align::Left),
                ("source", Align::Left),
            ]);
            for a in group {
                table.row([a.name.to_owned(), a.kind.clone(), a.about.to_owned(), a.source.to_owned()]);
            }
            text.push_str(&table.text());
            text.push('\n');
        }
        let mut table = Table::new([
            ("branches", Align::Left),
            ("what may share memory", Align::Left),
            ("source", Align::Left),
        ]);
        for entry in &self.branches {
            table.row([entry.name.to_owned(), entry.about.to_owned(), entry.source.to_owned()]);
        }
        text.push_str(&table.text());
        text.push('\n');
        let mut table = Table::new([("conflicts", Align::Left), ("two may share memory", Align::Left)]);
        for relation in &self.conflicts {
            table.row([relation.name.to_owned(), relation.about.to_owned()]);
        }
        text.push_str(&table.text());
        text.push('\n');
        let mut table = Table::new([("suite", Align::Left), ("instances", Align::Left)]);
        for suite in &self.suites {
            let note =
                if suite.available { "" } else { " (set PLIMSOLL_CORPORA to the folder that holds it)" };
            table.row([suite.name.to_owned(), format!("{}{note}", suite.about)]);
        }
        text.push_str(&table.text());
        text.push('\n');
        for (what, families) in
            [("instances to generate", &self.families), ("graphs to generate", &self.graph_families)]
        {
            let columns = [("family", Align::Left), (what, Align::Left), ("--param", Align::Left)];
            let mut table = Table::new(columns);
            for family in families {
                let params: Vec<String> =
                    family.params.iter().map(|param| format!("{}={}", param.name, param.default)).collect();
                table.row([family.name.to_owned(), family.about.to_owned(), params.join(" ")]);
            }
            text.push_str(&table.text());
            text.push('\n');
        }
        let mut table = Table::new([
            ("graph to generate", Align::Left),
            ("what planners get wrong there", Align::Left),
            ("optimum", Align::Right),
            ("source", Align::Left),
        ]);
        for case in &self.control_cases {
            let optimum = case.optimum.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
            table.row([case.name.to_owned(), case.about.to_owned(), optimum, case.source.to_owned()]);
        }
        text.push_str(&table.text());
        text.push('\n');
        let mut table = Table::new([
            ("paper", Align::Left),
            ("short", Align::Left),
            ("document", Align::Left),
            ("what is reproduced", Align::Left),
        ]);
        for paper in &self.papers {
            table.row([paper.name, paper.source, paper.title, paper.about].map(ToOwned::to_owned));
        }
        text.push_str(&table.text());
        text.push('\n');
        let columns = [
            ("worked example (of the suite embedded)", Align::Left),
            ("what it shows", Align::Left),
            ("source", Align::Left),
        ];
        let mut table = Table::new(columns);
        for example in &self.worked_examples {
            table.row([example.name, example.about, example.source].map(ToOwned::to_owned));
        }
        text.push_str(&table.text());
        text
    }
}
