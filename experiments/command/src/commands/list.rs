//! `plimsoll list`: lists all algorithms, suites and generated families.

use super::choose::unknown;
use crate::command::{Command, Commands, Main, Task};
use crate::failure::{ANSWERED, Failure};
use crate::report::{self, Printed, Text, cells};
use clap::Args;
use plimsoll::branches::SCHEMES;
use plimsoll::datasets::control_cases::{CONTROL_CASES, ControlCase};
use plimsoll::datasets::graphs::GRAPH_FAMILIES;
use plimsoll::datasets::{
    DERIVATIONS, FAMILIES, FamilyParam, KnownOperator, known_operators, worked_examples,
};
use plimsoll::model::structure::Relation;
use plimsoll::model::tiers::{TIER_PRESETS, TierMachine};
use plimsoll::model::timelines::{Machine, PRESETS};
use plimsoll::model::{Bytes, Parameter};
use plimsoll::posed::{Facts, PROBLEMS, algorithms, problem, profile};
use plimsoll_lab::report::table::wrapped;
use plimsoll_lab::row::AlgorithmKind;
use plimsoll_lab::suite::{SUITES, Suite, corpora};
use plimsoll_papers::{PAPERS, Paper};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Returns what the algorithms of a problem seek.
fn objective(problem: &str) -> &'static str {
    profile(problem).map_or("", |own| own.objective)
}

/// The kind of the algorithms that prove their answers.
const EXACT: &str = AlgorithmKind::Exact.as_str();

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

/// One entry of the list.
#[derive(Clone, Default, Serialize)]
struct Item {
    #[serde(skip_serializing_if = "str::is_empty")]
    problem: &'static str,
    name: &'static str,
    /// The kind of an algorithm.
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'static str,
    /// The title of a paper.
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'static str,
    /// The commands that accept a machine.
    #[serde(skip_serializing_if = "str::is_empty")]
    commands: &'static str,
    about: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    source: &'static str,
    /// The running time of an algorithm in the worst case.
    #[serde(skip_serializing_if = "str::is_empty")]
    time: &'static str,
    /// The parameters of an algorithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Vec<Parameter>>,
    #[serde(flatten)]
    case: Option<Case>,
    /// Whether the files of a suite are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    available: Option<bool>,
    /// The version and the parameters of a family.
    #[serde(flatten)]
    family: Option<Family>,
}

/// A graph that is hard for planners.
#[derive(Clone, Serialize)]
struct Case {
    /// The size of the smallest arena, if it is known.
    optimum: Option<Bytes>,
}

#[derive(Clone, Serialize)]
struct Family {
    version: u32,
    params: &'static [FamilyParam],
}

impl Item {
    fn new(name: &'static str, about: impl Into<String>, source: &'static str) -> Self {
        Self { name, about: about.into(), source, ..Self::default() }
    }

    fn algorithm(one: Facts) -> Self {
        let Facts { problem, name, kind, about, source, time, parameters } = one;
        let kind = AlgorithmKind::from(kind).as_str();
        Self { problem, kind, time, parameters: Some(parameters), ..Self::new(name, about, source) }
    }

    fn family(name: &'static str, about: &str, version: u32, params: &'static [FamilyParam]) -> Self {
        Self { family: Some(Family { version, params }), ..Self::new(name, about, "") }
    }

    fn optimum(&self) -> Option<Bytes> {
        self.case.as_ref()?.optimum
    }

    /// Appends a note on the required folder to an unavailable suite.
    fn noted(mut self) -> Self {
        if self.available == Some(false) {
            self.about += " (set PLIMSOLL_CORPORA to the folder that contains it)";
        }
        self
    }
}

fn instance_families() -> Vec<Item> {
    let derived = DERIVATIONS.iter().map(|one| Item::family(one.name, one.about, one.version, one.params));
    let own = FAMILIES.iter().map(|one| Item::family(one.name, one.about, one.version, one.params));
    own.chain(derived).collect()
}

/// Lists of entries by name.
struct Lists<'a>(Vec<(&'static str, Vec<&'a Item>)>);

impl Serialize for Lists<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, items)| (name, items)))
    }
}

/// The report on everything or on some entries, with its text.
#[derive(Serialize)]
struct Listing<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    #[serde(flatten)]
    one: Option<Item>,
    #[serde(flatten)]
    lists: Lists<'a>,
    #[serde(skip)]
    text: Text,
}

impl<'a> Listing<'a> {
    fn new(lists: Vec<(&'static str, &'a [Item])>) -> Self {
        let lists = lists.into_iter().map(|(name, items)| (name, items.iter().collect())).collect();
        Self { problem: None, one: None, lists: Lists(lists), text: Text::default() }
    }
}

impl Printed for Listing<'_> {
    fn print(&self, text: &mut Text) {
        text.append(&self.text);
    }
}

/// The known operators.
#[derive(Serialize)]
#[serde(transparent)]
struct Operators(Vec<KnownOperator>);

impl Printed for Operators {
    /// Lists the operators, grouped by domain and by how their outputs are sized.
    fn print(&self, text: &mut Text) {
        let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for one in &self.0 {
            groups.entry((one.domain, one.sizing)).or_default().push(one.name);
        }
        text.verbatim(
            "inferred: output sizes follow from shapes, attributes and constants\n\
             bounded: output sizes depend on data; an upper bound is used and reported\n\
             opaque: output sizes are unknown unless an option gives them\n",
        );
        for ((domain, sizing), names) in groups {
            text.verbatim(&format!("\n{domain}, {sizing} ({}):\n", names.len()));
            for line in wrapped(&names.join(" "), 78) {
                text.verbatim(&format!("  {line}\n"));
            }
        }
    }
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

impl Command for ListArgs {
    const NAME: &str = "list";
    const ABOUT: &str = "List all algorithms, suites of instances and generated families";
    const TASK: Task = Task::Reference;
    const EXAMPLES: &[(&str, &str)] = &[
        ("plimsoll list", "Give an overview of problems, suites and families"),
        (
            "plimsoll list offsets && plimsoll list exact",
            "List the algorithms of a problem, and describe one",
        ),
    ];
    const MAIN: Main<Self> = |args, all| main(args, all);
}

fn main(args: &ListArgs, commands: &Commands) -> Result<u8, Failure> {
    let all = All::new(commands);
    let listing = match args.name.as_deref() {
        None => Some(all.overview()),
        Some("operators") => {
            report::print(&Operators(known_operators()), args.json)?;
            return Ok(ANSWERED);
        }
        Some(name) => match problem(name) {
            Some(problem) => Some(all.problem(problem)),
            None => all.topic(name).or_else(|| all.one(name)),
        },
    };
    let listing = listing.ok_or_else(|| all.unknown(args.name.as_deref().unwrap_or_default()))?;
    report::print(&listing, args.json)?;
    Ok(ANSWERED)
}

/// Everything that can be listed.
struct All {
    algorithms: Vec<Item>,
    suites: Vec<Item>,
    families: Vec<Item>,
    graphs: Vec<Item>,
    papers: Vec<Item>,
    examples: Vec<Item>,
    schemes: Vec<Item>,
    conflicts: Vec<Item>,
    cases: Vec<Item>,
    machines: Vec<Item>,
    /// For each problem, the arguments of a command before the name of an algorithm.
    usages: Vec<(&'static str, &'static str)>,
}

/// The commands that accept the two kinds of machines.
const OF_MACHINES: [&str; 2] = ["overlap, measure", "tiers"];

/// Returns the built-in machines: those of `overlap` and `measure`, and those of `tiers`. Each of the two
/// groups has its own file format and its own machine called `generic`.
fn machines() -> Vec<Item> {
    let item = |name, commands, about: Option<String>| Item {
        commands,
        ..Item::new(name, about.unwrap_or_default(), "")
    };
    let own = PRESETS
        .map(|(name, _)| item(name, OF_MACHINES[0], Machine::find(name).ok().map(|machine| machine.about)));
    let tiers = TIER_PRESETS.map(|(name, _)| {
        item(name, OF_MACHINES[1], TierMachine::find(name).ok().map(|machine| machine.about))
    });
    own.into_iter().chain(tiers).collect()
}

/// Returns the papers. A build for browsers excludes `reproduce`, so it has none.
fn papers() -> Vec<Item> {
    if cfg!(target_family = "wasm") {
        return Vec::new();
    }
    let item =
        |one: &'static Paper| Item { title: &one.title, ..Item::new(&one.name, &one.about, &one.source) };
    PAPERS.iter().map(item).collect()
}

impl All {
    fn new(commands: &Commands) -> Self {
        let registry = plimsoll::registry();
        let own = PROBLEMS.iter().flat_map(|problem| algorithms(&registry, problem)).map(Item::algorithm);
        let suite = |suite: &Suite| {
            let available = suite.origin.folder().is_none() || corpora().is_some();
            Item { available: Some(available), ..Item::new(suite.name, suite.about, "") }
        };
        let case = |one: &ControlCase| Item {
            case: Some(Case { optimum: one.optimum }),
            ..Item::new(one.name, one.about, one.source)
        };
        let graphs = GRAPH_FAMILIES.iter();
        let examples = worked_examples().into_iter().map(|one| Item::new(one.name, one.about, one.source));
        Self {
            algorithms: own.collect(),
            suites: SUITES.iter().map(suite).collect(),
            families: instance_families(),
            graphs: graphs.map(|one| Item::family(one.name, one.about, one.version, one.params)).collect(),
            papers: papers(),
            examples: examples.collect(),
            schemes: SCHEMES.iter().map(|one| Item::new(one.name, one.about, one.source)).collect(),
            conflicts: Relation::ABOUT.map(|(name, about)| Item::new(name, about, "")).to_vec(),
            cases: CONTROL_CASES.iter().map(case).collect(),
            machines: machines(),
            usages: commands.iter().flat_map(|entry| entry.solves).copied().collect(),
        }
    }

    /// Returns all lists with their names.
    fn lists(&self) -> Vec<(&'static str, &[Item])> {
        vec![
            ("algorithms", &self.algorithms),
            ("suites", &self.suites),
            ("families", &self.families),
            ("graph_families", &self.graphs),
            ("papers", &self.papers),
            ("worked_examples", &self.examples),
            ("branches", &self.schemes),
            ("conflicts", &self.conflicts),
            ("control_cases", &self.cases),
            ("machines", &self.machines),
        ]
    }

    /// Returns the arguments of a command that answers a problem, before the name of an algorithm.
    fn usage(&self, problem: &str) -> Option<&'static str> {
        self.usages.iter().find(|(name, _)| *name == problem).map(|(_, usage)| *usage)
    }

    /// Returns the algorithms of a problem.
    fn of(&self, problem: &str) -> Vec<&Item> {
        self.algorithms.iter().filter(|item| item.problem == problem).collect()
    }

    /// Returns the report on everything. Its text contains only names and numbers of entries.
    fn overview(&self) -> Listing<'_> {
        let mut listing = Listing::new(self.lists());
        let text = &mut listing.text;
        let problem = |name: &&'static str| {
            let own = self.of(name);
            let exact = own.iter().filter(|item| item.kind == EXACT).count();
            cells![*name, exact, own.len() - exact, objective(name)]
        };
        text.table(&["problem", "exact", "heuristic", "seeks"], PROBLEMS.iter().map(problem));
        text.push("\n");
        text.line("suites", names(&self.suites));
        text.line("families", names(&self.families));
        text.line("of graphs", names(&self.graphs));
        text.line("papers", names(&self.papers));
        let [own, tiers] =
            OF_MACHINES.map(|commands| names(self.machines.iter().filter(|item| item.commands == commands)));
        text.line("machines", format_args!("{own}; of `tiers`: {tiers}"));
        for (topic, items) in [("graphs", &self.cases), ("examples", &self.examples)] {
            text.line(topic, format_args!("{} (see `plimsoll list {topic}`)", items.len()));
        }
        text.line("operators", format_args!("{} (see `plimsoll list operators`)", known_operators().len()));
        text.push(
            "\nplimsoll list offsets      the algorithms of a problem\n\
             plimsoll list exact        an algorithm, with its source\n\
             plimsoll list suites       also: families, graphs, papers, examples, branches, conflicts, machines\n\
             plimsoll list uniform      a family with its parameters, or any other name\n\
             plimsoll list --json       everything\n",
        );
        listing
    }

    /// Returns the report on one problem.
    fn problem<'a>(&'a self, problem: &'a str) -> Listing<'a> {
        let own = self.of(problem);
        let mut listing = Listing { problem: Some(problem), ..Listing::new(Vec::new()) };
        let text = &mut listing.text;
        text.push(&format!("{problem}: {}\n", objective(problem)));
        if let Some(usage) = self.usage(problem) {
            text.line("used by", format_args!("plimsoll {usage}NAME"));
        }
        let row = |item: &&Item| cells![item.name, item.kind, &item.about];
        text.table(&["name", "kind", "description"], own.iter().map(row));
        text.push("\n`plimsoll list NAME` describes one algorithm and its parameters.\n");
        listing.lists = Lists(vec![("algorithms", own)]);
        listing
    }

    /// Returns the report on a topic.
    fn topic(&self, topic: &str) -> Option<Listing<'_>> {
        let pair = |item: &Item| cells![item.name, &item.about].to_vec();
        let (key, items, columns): (_, &[Item], &[&str]) = match topic {
            "algorithms" => ("algorithms", &self.algorithms, &["problem", "name", "kind", "description"]),
            "suites" => ("suites", &self.suites, &["suite", "instances"]),
            "families" => {
                let lists = vec![("families", &self.families[..]), ("graph_families", &self.graphs)];
                let mut listing = Listing::new(lists);
                let text = &mut listing.text;
                text.table(&["family", "generated instances"], self.families.iter().map(pair));
                text.table(&["family", "generated graphs"], self.graphs.iter().map(pair));
                text.push("\n`plimsoll list FAMILY` describes the parameters of a family.\n");
                return Some(listing);
            }
            "graphs" => ("control_cases", &self.cases, &["graph", "difficulty for planners", "optimum"]),
            "papers" => ("papers", &self.papers, &["paper", "document", "reproduced results"]),
            "examples" => ("worked_examples", &self.examples, &["example", "description"]),
            "branches" => ("branches", &self.schemes, &["branches", "sharing of memory"]),
            "machines" => ("machines", &self.machines, &["machine", "commands", "description"]),
            "conflicts" => ("conflicts", &self.conflicts, &["conflicts", "two buffers may share memory"]),
            _ => return None,
        };
        let row = |item: Item| match topic {
            "algorithms" => cells![item.problem, item.name, item.kind, item.about].to_vec(),
            "graphs" => cells![item.name, &item.about, item.optimum()].to_vec(),
            "papers" => cells![item.name, item.title, item.about].to_vec(),
            "machines" => cells![item.name, item.commands, item.about].to_vec(),
            _ => pair(&item),
        };
        let mut listing = Listing::new(vec![(key, items)]);
        listing.text.table(columns, items.iter().map(|item| row(item.clone().noted())));
        Some(listing)
    }

    /// Returns the report on everything with this name.
    fn one(&self, name: &str) -> Option<Listing<'_>> {
        let is_it = |item: &&Item| item.name == name;
        if let Some(family) = self.families.iter().chain(&self.graphs).find(is_it) {
            return Some(family_listing(family));
        }
        let found: Vec<&Item> = self.algorithms.iter().filter(is_it).collect();
        if !found.is_empty() {
            return Some(self.algorithms_of(found));
        }
        let others = [
            ("suite", &self.suites, "plimsoll bench"),
            ("graph", &self.cases, "plimsoll generate"),
            ("paper", &self.papers, "plimsoll reproduce"),
            ("example", &self.examples, "plimsoll bench embedded --only"),
            ("branches", &self.schemes, "plimsoll plan MODEL --branches"),
            ("conflicts", &self.conflicts, "plimsoll plan MODEL --conflicts"),
        ];
        let mut listing = Listing::new(Vec::new());
        let text = &mut listing.text;
        for (what, items, usage) in others {
            let Some(item) = items.iter().find(is_it) else { continue };
            let about = item.clone().noted().about;
            text.line(what, name);
            for (label, words) in
                [("title", item.title), ("description", about.as_str()), ("source", item.source)]
            {
                if !words.is_empty() {
                    text.line(label, words);
                }
            }
            if let Some(optimum) = item.optimum() {
                text.line("optimum", format_args!("{optimum} bytes"));
            }
            text.line("used by", format_args!("{usage} {name}"));
            listing.one = Some(item.clone());
            break;
        }
        let machines: Vec<&Item> = self.machines.iter().filter(is_it).collect();
        if !machines.is_empty() {
            let row = |item: &&Item| cells![item.name, item.commands, &item.about];
            listing.text.table(&["machine", "commands", "description"], machines.iter().map(row));
            listing.lists = Lists(vec![("machines", machines)]);
        }
        (listing.one.is_some() || !listing.lists.0.is_empty()).then_some(listing)
    }

    /// Returns the error for an unknown name, with the nearest names.
    fn unknown(&self, name: &str) -> Failure {
        let lists = self.lists();
        let names = lists.iter().flat_map(|(_, items)| *items).map(|item| item.name);
        let known: Vec<&str> = PROBLEMS.iter().copied().chain(TOPICS).chain(names).collect();
        unknown("name", name, &known, "plimsoll list")
    }

    /// Returns the report on the algorithms that share a name, one per problem.
    fn algorithms_of<'a>(&self, found: Vec<&'a Item>) -> Listing<'a> {
        let mut listing = Listing::new(Vec::new());
        let text = &mut listing.text;
        for (at, Item { problem, name, kind, about, source, time, parameters, .. }) in
            found.iter().enumerate()
        {
            if at > 0 {
                text.push("\n");
            }
            text.line("algorithm", name);
            text.line("problem", format_args!("{problem}: {}", objective(problem)));
            text.line("kind", kind);
            text.line("description", about);
            text.line("source", source);
            text.line("time", time);
            let guarantee = if *kind == EXACT {
                "proves its answer if it completes; stopped by a limit, it returns its best answer and a bound"
            } else {
                "none; its answer is checked, and counts as optimal only if it meets a lower bound"
            };
            text.line("guarantee", guarantee);
            text.line(
                "supports",
                "every valid input; an algorithm with a size limit rejects larger inputs and reports the limit",
            );
            let own = if *name == "k-buffers" { ", --buffers" } else { "" };
            text.line("options", format_args!("--time-limit, --node-limit, --threads, --seed{own}"));
            let parameters = parameters.as_deref().unwrap_or_default();
            let more = if parameters.is_empty() { "" } else { "[:PARAMETER..]" };
            if let Some(usage) = self.usage(problem) {
                text.line("used by", format_args!("plimsoll {usage}{name}{more}"));
            }
            if !parameters.is_empty() {
                let row = |one: &Parameter| cells![one.name, one.about];
                text.table(&["parameter", "effect"], parameters.iter().map(row));
            }
        }
        listing.lists = Lists(vec![("algorithms", found)]);
        listing
    }
}

/// Returns the names of entries, separated by commas.
fn names<'a>(items: impl IntoIterator<Item = &'a Item>) -> String {
    items.into_iter().map(|item| item.name).collect::<Vec<_>>().join(", ")
}

fn family_listing(item: &Item) -> Listing<'_> {
    let mut listing = Listing { one: Some(item.clone()), ..Listing::new(Vec::new()) };
    listing.text.push(&format!("{}: {}\n", item.name, item.about));
    let params = item.family.iter().flat_map(|family| family.params);
    let row = |one: &FamilyParam| cells![one.name, one.default, one.about];
    listing.text.table(&["--param", "default", "meaning"], params.map(row));
    listing
}
