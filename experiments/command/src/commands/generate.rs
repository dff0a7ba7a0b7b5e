//! `plimsoll generate`: writes instances or graphs of a family, or a single small graph by name.

use crate::args::{InstanceArgs, PLAN, dimension, once};
use crate::command::{Command, Main, Task};
use crate::digest::Hashing;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND};
use crate::format;
use crate::input::input_file;
use crate::output;
use clap::Args;
use plimsoll::Engine;
use plimsoll::datasets::control_cases::{CONTROL_CASES, ControlCase};
use plimsoll::datasets::graphs::{GRAPH_FAMILIES, GraphFamily};
use plimsoll::datasets::{DERIVATIONS, Derivation, FAMILIES, Family, Generated, Written};
use plimsoll::model::csv::{Noted, Pins, file_name, read_layout_file, write_instance};
use plimsoll::model::graph::{Graph, Role, write_graph};
use plimsoll::model::{Bytes, Instance, Layout, load};
use plimsoll::run::Limits;
use plimsoll_lab::report::human;
use plimsoll_support::contents::has_suffix;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// File name of a manifest.
pub(super) const MANIFEST: &str = "manifest.json";

/// Format name in a manifest.
pub(super) const FORMAT: &str = "plimsoll-manifest";
pub(super) const FORMAT_VERSION: u32 = 1;

/// The limit on the nodes of the search for a layout from which files are derived. A limit on the time would
/// make the files depend on the machine.
const NODES: u64 = 1_000_000;

enum Source {
    Instances(&'static Family, BTreeMap<String, u64>),
    Graphs(&'static GraphFamily, BTreeMap<String, u64>),
    Case(&'static ControlCase),
    /// A derivation, its parameters, the instance from which the files are derived, and its layout if the
    /// derivation needs one.
    Derived(&'static Derivation, BTreeMap<String, u64>, Box<Instance>, Option<Layout>),
}

enum Content {
    Instance(Generated),
    Derived(Box<Instance>),
    Graph(Graph, Option<u64>),
}

/// The known properties of a generated file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Facts {
    /// All fields but `buffers` are in bytes. The family may determine the optimal peak, bounds on it, and
    /// the capacity. The lower bound `at_least` is stored only if it exceeds the load.
    Instance {
        buffers: usize,
        load: u64,
        optimum: Option<u64>,
        at_least: Option<u64>,
        at_most: Option<u64>,
        capacity: Option<u64>,
    },
    /// `activations` and `weights` are total bytes. `optimum` is the size of the smallest arena in bytes, if
    /// it is known.
    Graph { operators: usize, tensors: usize, activations: u64, weights: u64, optimum: Option<u64> },
}

/// The content of `manifest.json`. It depends only on the arguments, the files of `--of` and `--layout` and
/// the version of the program.
#[derive(Debug, Serialize)]
struct Manifest {
    format: &'static str,
    version: u32,
    generator: Generator,
    family: String,
    /// Incremented with every change of the family that alters the bytes written for the same parameters and
    /// seed.
    family_version: u32,
    /// The name of the instance from which the files are derived.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    parameters: BTreeMap<String, u64>,
    files: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Generator {
    name: &'static str,
    version: &'static str,
}

#[derive(Debug, Serialize)]
struct Entry {
    file: String,
    seed: u64,
    sha256: String,
    #[serde(flatten)]
    facts: Facts,
}

#[derive(Args, Debug)]
pub struct GenerateArgs {
    /// Family of instances or graphs, or the name of a single small graph (see `plimsoll list`)
    #[arg(value_name = "FAMILY")]
    family: String,
    /// CSV instance from which the files are derived; required by `refilled`, `welded`, `thinned`, `reversed`
    /// and `attributed`
    #[arg(long, value_name = "FILE", value_parser = input_file())]
    of: Option<PathBuf>,
    /// Layout of that instance, for `attributed` [default: the plan in the instance file if every buffer has
    /// an offset; otherwise the best layout that `exact` finds within a million nodes]
    #[arg(long, value_name = "FILE", value_parser = input_file())]
    layout: Option<PathBuf>,
    /// Number of buffers of an instance; short for --param buffers=N [default: that of the family]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    buffers: Option<u64>,
    /// Set a parameter of the family (see `plimsoll list FAMILY`); may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = dimension)]
    param: Vec<(String, u64)>,
    /// Random seed; with --count, the first seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write this many files with consecutive seeds, and a manifest, into the folder of --out
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    count: Option<u64>,
    /// Write to this file (.csv for instances, .json for graphs; `-` is standard output), or into this folder
    /// together with a manifest; the folder is created if missing [default: FAMILY-..-SEED.csv or .json]
    #[arg(long, short, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
}

impl GenerateArgs {
    /// Returns the files that the command reads. Outputs must not overwrite them.
    fn inputs(&self) -> Vec<&Path> {
        self.of.iter().chain(&self.layout).map(AsRef::as_ref).collect()
    }
}

impl Command for GenerateArgs {
    const NAME: &str = "generate";
    const ABOUT: &str = "Generate an instance or a graph; the same seed gives the same file on every machine";
    const TASK: Task = Task::Reference;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate uniform --param buffers=20 --seed 7 --out a.csv",
            "Write an instance of 20 buffers",
        ),
        ("plimsoll generate squeezenet --count 3 --out nets", "Write three graphs and a manifest"),
    ];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &GenerateArgs) -> Result<u8, Failure> {
    let source = Source::of(args)?;
    // An existing folder, or a folder for many files, may have any name.
    if let Some(path) = args.out.as_deref().filter(|path| args.count.is_none() && !path.is_dir()) {
        output::check_format("--out", path, source.format())?;
    }
    match (&args.out, args.count) {
        (Some(path), Some(_)) if is_standard(path) => {
            Err(Failure::input("--count writes several files, so --out must be a folder instead of `-`"))
        }
        (Some(path), None) if is_standard(path) => one(args, &source),
        (Some(folder), Some(count)) => many(args, &source, folder, count),
        (Some(folder), None) if is_folder(folder) => many(args, &source, folder, 1),
        _ => one(args, &source),
    }
}

/// Returns true if a path stands for standard output.
fn is_standard(path: &Path) -> bool {
    path == Path::new(output::STANDARD)
}

/// Returns true if a path is a folder. A path that does not exist counts as a folder unless it ends in `.csv`
/// or `.json`.
fn is_folder(path: &Path) -> bool {
    if path.exists() {
        return path.is_dir();
    }
    !has_suffix(path, &["csv", "json"]) || path.as_os_str().to_string_lossy().ends_with('/')
}

fn one(args: &GenerateArgs, source: &Source) -> Result<u8, Failure> {
    if let Some(path) = &args.out {
        // An invalid target is rejected before any work.
        output::check_target(path, &args.inputs())?;
    }
    let content = source.make(args.seed)?;
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from(content.file_name()));
    let name = content.name().to_owned();
    let (_, facts) = content.write(&path, &args.inputs())?;
    let target = if is_standard(&path) { "standard output".to_owned() } else { path.display().to_string() };
    output::print(&output::filled(&format!("{name}: {}, written to {target}\n", facts.text())))?;
    Ok(ANSWERED)
}

fn many(args: &GenerateArgs, source: &Source, folder: &Path, count: u64) -> Result<u8, Failure> {
    if let (Source::Case(case), Some(_)) = (source, args.count) {
        return Err(Failure::input(format!("--count: '{}' is a single graph without seeds", case.name)));
    }
    let last = args.seed.checked_add(count - 1);
    let last =
        last.ok_or_else(|| Failure::input(format!("--count: {count} seeds from {} exceed 2^64", args.seed)))?;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::input(format!("cannot create the folder {}: {error}", folder.display())))?;
    output::check_target(&folder.join(MANIFEST), &args.inputs())?;
    keeps_all(&folder.join(MANIFEST), &args.family, source, args.seed..=last)?;
    let mut files: Vec<Entry> = Vec::new();
    for seed in args.seed..=last {
        let content = source.make(seed)?;
        let file = match content {
            Content::Instance(_) | Content::Derived(_) => content.file_name(),
            Content::Graph(..) if matches!(source, Source::Case(_)) => content.file_name(),
            Content::Graph(..) => format!("{}-{seed}.json", args.family),
        };
        let (sha256, facts) = content.write(&folder.join(&file), &args.inputs())?;
        files.push(Entry { file, seed, sha256, facts });
    }
    let generator = Generator { name: "plimsoll", version: env!("CARGO_PKG_VERSION") };
    let (family, family_version, parameters) = (args.family.clone(), source.version(), source.parameters());
    let manifest = Manifest {
        format: FORMAT,
        version: FORMAT_VERSION,
        generator,
        family,
        family_version,
        of: source.origin().map(str::to_owned),
        parameters,
        files,
    };
    let text = serde_json::to_string_pretty(&manifest).map_err(Failure::internal)?;
    output::write_file(&folder.join(MANIFEST), |file| writeln!(file, "{text}"))?;
    let what = match manifest.files.as_slice() {
        [only] => format!("{}, {}", only.file, only.facts.text()),
        _ => format!("{count} files, seeds {} to {last}", args.seed),
    };
    let text = format!("{}: {what}, and {MANIFEST}, written to {}\n", args.family, folder.display());
    output::print(&output::filled(&text))?;
    Ok(ANSWERED)
}

/// Rejects a folder whose manifest lists files that the new manifest would not list.
fn keeps_all(path: &Path, family: &str, source: &Source, seeds: RangeInclusive<u64>) -> Result<(), Failure> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
    let old: Value = serde_json::from_str(&text).unwrap_or_default();
    let same = old["family"] == family
        && old["parameters"] == json!(source.parameters())
        && old["of"] == json!(source.origin());
    let listed = old["files"].as_array().into_iter().flatten();
    let covers = |entry: &Value| entry["seed"].as_u64().is_some_and(|seed| seeds.contains(&seed));
    if old.is_object() && same && listed.into_iter().all(covers) {
        return Ok(());
    }
    let message = format!(
        "{} lists other files, which the new manifest would omit; choose another folder",
        path.display()
    );
    Err(Failure::input(message))
}

/// Returns an error if `--layout` is given to a family that ignores it.
fn refuse_layout(args: &GenerateArgs) -> Result<(), Failure> {
    if args.layout.is_none() {
        return Ok(());
    }
    let names: Vec<&str> = DERIVATIONS.iter().filter(|one| one.needs_layout()).map(|one| one.name).collect();
    let (family, names) = (&args.family, names.join(", "));
    Err(Failure::input(format!("--layout: '{family}' uses no layout; expected one of {names}")))
}

/// Returns the layout from which files are derived: that of `--layout`, the plan in the instance file, or the
/// best one that the default solver finds.
fn layout(args: &GenerateArgs, noted: &Noted<Instance>) -> Result<Layout, Failure> {
    if let Some(path) = &args.layout {
        return Ok(read_layout_file(path, &noted.value)?);
    }
    if let Some(plan) = &noted.plan {
        return Ok(plan.clone());
    }
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let found = Engine { limits, ..Engine::default() }.solve(&noted.value).map_err(Failure::input)?;
    found.solution.ok_or_else(|| {
        let message = format!("no layout of {} was found; use --layout FILE", noted.value.name());
        Failure { code: NOTHING_FOUND, message }
    })
}

impl Source {
    /// Returns the format of the generated files.
    fn format(&self) -> format::Format {
        match self {
            Self::Instances(..) | Self::Derived(..) => format::CSV,
            Self::Graphs(..) | Self::Case(_) => format::JSON,
        }
    }

    /// Finds the generator by name, and rejects arguments that it does not accept.
    fn of(args: &GenerateArgs) -> Result<Self, Failure> {
        if let Some(derivation) = Derivation::named(&args.family) {
            return Self::derived(derivation, args);
        }
        refuse_layout(args)?;
        if args.of.is_some() {
            let names = DERIVATIONS.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
            let message =
                format!("--of: '{}' derives nothing from an instance; expected one of {names}", args.family);
            return Err(Failure::input(message));
        }
        if let Some(case) = ControlCase::named(&args.family) {
            let idle = [(args.buffers.is_some(), "--buffers"), (!args.param.is_empty(), "--param")];
            return match idle.iter().find(|(given, _)| *given) {
                Some((_, option)) => Err(Failure::input(format!(
                    "{option}: '{}' is a single graph without parameters",
                    case.name
                ))),
                None => Ok(Self::Case(case)),
            };
        }
        let mut params: BTreeMap<String, u64> = once("--param", &args.param)?.into_iter().collect();
        if let Some(family) = Family::named(&args.family) {
            if let Some(buffers) = args.buffers
                && params.insert("buffers".to_owned(), buffers).is_some()
            {
                return Err(Failure::input("--buffers and --param buffers set the same parameter"));
            }
            return Ok(Self::Instances(family, params));
        }
        let Some(family) = GraphFamily::named(&args.family) else {
            let names = FAMILIES.iter().map(|family| family.name);
            let names = names.chain(GRAPH_FAMILIES.iter().map(|family| family.name));
            let names = names.chain(DERIVATIONS.iter().map(|one| one.name));
            let names: Vec<&str> = names.chain(CONTROL_CASES.iter().map(|case| case.name)).collect();
            let names = names.join(", ");
            return Err(Failure::input(format!("unknown family '{}' (known: {names})", args.family)));
        };
        if args.buffers.is_some() {
            let known: Vec<&str> = family.params.iter().map(|param| param.name).collect();
            let known = known.join(", ");
            let message = format!("--buffers: '{}' is a family of graphs with --param {known}", family.name);
            return Err(Failure::input(message));
        }
        Ok(Self::Graphs(family, params))
    }

    fn derived(derivation: &'static Derivation, args: &GenerateArgs) -> Result<Self, Failure> {
        if args.buffers.is_some() {
            let message = format!("--buffers: '{}' has no number of buffers", derivation.name);
            return Err(Failure::input(message));
        }
        let Some(path) = &args.of else {
            let message = format!("'{}' derives instances from a file; use --of FILE", derivation.name);
            return Err(Failure::input(message));
        };
        let noted = InstanceArgs::default().read(path, Pins::UnlessPlan)?;
        if noted.plan.is_some() {
            output::complain(&format!("note: {}: {PLAN}", path.display()));
        }
        let params = once("--param", &args.param)?.into_iter().collect();
        let layout = if derivation.needs_layout() {
            Some(layout(args, &noted)?)
        } else {
            refuse_layout(args)?;
            None
        };
        Ok(Self::Derived(derivation, params, Box::new(noted.value), layout))
    }

    /// Returns the name of the instance from which the files are derived, if there is one.
    fn origin(&self) -> Option<&str> {
        match self {
            Self::Derived(_, _, origin, _) => Some(origin.name()),
            _ => None,
        }
    }

    /// Returns all parameters: given values and defaults.
    fn parameters(&self) -> BTreeMap<String, u64> {
        let (known, given) = match self {
            Self::Instances(family, given) => (family.params, given),
            Self::Graphs(family, given) => (family.params, given),
            Self::Derived(derivation, given, ..) => (derivation.params, given),
            Self::Case(_) => return BTreeMap::new(),
        };
        let default = known.iter().map(|param| (param.name.to_owned(), param.default));
        default.chain(given.clone()).collect()
    }

    fn version(&self) -> u32 {
        match self {
            Self::Instances(family, _) => family.version,
            Self::Graphs(family, _) => family.version,
            Self::Derived(derivation, ..) => derivation.version,
            Self::Case(_) => 1,
        }
    }

    fn make(&self, seed: u64) -> Result<Content, Failure> {
        Ok(match self {
            Self::Instances(family, params) => {
                Content::Instance(family.generate(seed, params).map_err(Failure::input)?)
            }
            Self::Graphs(family, params) => {
                Content::Graph(family.generate(seed, params).map_err(Failure::input)?, None)
            }
            Self::Derived(derivation, params, origin, layout) => {
                let derived = derivation.derive(origin, layout.as_ref(), seed, params);
                let derived = derived.map_err(Failure::input)?;
                Content::Derived(Box::new(derived))
            }
            Self::Case(case) => Content::Graph((case.build)(), case.optimum.map(Bytes::get)),
        })
    }
}

impl Content {
    fn name(&self) -> &str {
        match self {
            Self::Instance(generated) => &generated.name,
            Self::Derived(instance) => instance.name(),
            Self::Graph(graph, _) => graph.name(),
        }
    }

    fn file_name(&self) -> String {
        match self {
            Self::Instance(generated) => generated.file_name(),
            Self::Derived(instance) => file_name(instance.name(), instance.capacity()),
            Self::Graph(graph, _) => format!("{}.json", graph.name()),
        }
    }

    /// Generates and writes the file, which must not be one of the `inputs`; returns its SHA-256 and its
    /// properties.
    fn write(self, path: &Path, inputs: &[&Path]) -> Result<(String, Facts), Failure> {
        output::check_target(path, inputs)?;
        let mut found = None;
        match self {
            Self::Instance(generated) => {
                let bytes = |known: Option<Bytes>| known.map(Bytes::get);
                let (capacity, at_most) = (bytes(generated.capacity), bytes(generated.at_most));
                let bound = bytes(generated.at_least);
                output::write_file(path, |file| {
                    let mut file = Hashing::new(file);
                    let Written { buffers, load, optimum } = generated.write(&mut file)?;
                    let load = load.get();
                    let at_least = bound.filter(|&bound| bound > load);
                    let optimum = bytes(optimum);
                    let facts = Facts::Instance { buffers, load, optimum, at_least, at_most, capacity };
                    found = Some((file.digest(), facts));
                    Ok(())
                })?;
            }
            Self::Derived(instance) => output::write_file(path, |file| {
                let mut file = Hashing::new(file);
                write_instance(&instance, &mut file)?;
                let (buffers, load) = (instance.len(), load(&instance).0.get());
                let (optimum, at_least, at_most, capacity) =
                    (None, None, None, instance.capacity().map(Bytes::get));
                let facts = Facts::Instance { buffers, load, optimum, at_least, at_most, capacity };
                found = Some((file.digest(), facts));
                Ok(())
            })?,
            Self::Graph(graph, optimum) => output::write_file(path, |file| {
                let mut file = Hashing::new(file);
                write_graph(&graph, &mut file)?;
                let (operators, tensors) = (graph.operators().len(), graph.tensors().len());
                let (activations, weights) =
                    (graph.bytes(Role::Activation).get(), graph.bytes(Role::Weight).get());
                let facts = Facts::Graph { operators, tensors, activations, weights, optimum };
                found = Some((file.digest(), facts));
                Ok(())
            })?,
        }
        Ok(found.expect("written"))
    }
}

impl Facts {
    fn text(&self) -> String {
        match self {
            Self::Instance { buffers, load, .. } => {
                format!("{}, load {}", human::count(*buffers, "buffer"), human::sized(*load, ""))
            }
            Self::Graph { operators, tensors, .. } => {
                format!("{}, {}", human::count(*operators, "operator"), human::count(*tensors, "tensor"))
            }
        }
    }
}
