//! `plimsoll generate`: writes instances or graphs of a family, or a small case by name.

use crate::cli::{GenerateArgs, once};
use crate::commands::sha256;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::datasets::control_cases::{CONTROL_CASES, ControlCase};
use plimsoll::datasets::graphs::{GRAPH_FAMILIES, GraphFamily};
use plimsoll::datasets::{FAMILIES, Family};
use plimsoll::model::csv::write_instance;
use plimsoll::model::graph::write_graph;
use plimsoll::model::load;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Buffers of an instance where no number is given.
const BUFFERS: u64 = 1000;

/// The name of the manifest in its folder.
const MANIFEST: &str = "manifest.json";

/// Who makes a file.
enum Maker {
    Instances(&'static Family, u64),
    Graphs(&'static GraphFamily, BTreeMap<String, u64>),
    Case(&'static ControlCase),
}

/// A file that was made.
struct Made {
    name: String,
    extension: &'static str,
    text: Vec<u8>,
    facts: Facts,
}

/// What is known of a file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Facts {
    /// Load and optimum in bytes; the optimum where the law tells it.
    Instance { buffers: usize, load: u64, optimum: Option<u64> },
    /// Optimum: bytes of the least arena, where the case tells it.
    Graph { operators: usize, tensors: usize, optimum: Option<u64> },
}

/// What `manifest.json` says; the same for the same arguments.
#[derive(Debug, Serialize)]
struct Manifest {
    format: &'static str,
    version: u32,
    generator: Generator,
    family: String,
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

/// Runs the command.
pub fn main(args: &GenerateArgs) -> Result<u8, Failure> {
    let maker = Maker::of(args)?;
    match args.count {
        Some(count) => many(args, &maker, count),
        None => one(args, &maker),
    }
}

fn one(args: &GenerateArgs, maker: &Maker) -> Result<u8, Failure> {
    // An instance's name is known before it is made, so that a target that cannot be written costs no time.
    let early = match maker {
        Maker::Instances(family, buffers) => Some(format!("{}-{buffers}-{}.csv", family.name, args.seed)),
        _ => None,
    };
    let target = |name: Option<String>| args.out.clone().or_else(|| name.map(PathBuf::from));
    if let Some(path) = target(early) {
        output::check_target(&path, &[])?;
    }
    let made = maker.make(args.seed)?;
    let path = target(Some(format!("{}.{}", made.name, made.extension))).expect("a name is given");
    output::check_target(&path, &[])?;
    output::write_file(&path, |file| file.write_all(&made.text))?;
    output::print(&format!("{}: {}, written to {}\n", made.name, made.facts.text(), path.display()))?;
    Ok(ANSWERED)
}

fn many(args: &GenerateArgs, maker: &Maker, count: u64) -> Result<u8, Failure> {
    let folder: &Path = args.out.as_deref().expect("--count requires --out");
    if let Maker::Case(case) = maker {
        return Err(Failure::input(format!("--count: '{}' is one graph and has no seeds", case.name)));
    }
    let last = args.seed.checked_add(count - 1);
    let last = last
        .ok_or_else(|| Failure::input(format!("--count: seed {} and {count} more pass 2^64", args.seed)))?;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::input(format!("cannot make the folder {}: {error}", folder.display())))?;
    output::check_target(&folder.join(MANIFEST), &[])?;
    let mut files: Vec<Entry> = Vec::new();
    for seed in args.seed..=last {
        let made = maker.make(seed)?;
        let stem = match maker {
            Maker::Instances(..) => made.name.clone(),
            _ => format!("{}-{seed}", args.family),
        };
        let file = format!("{stem}.{}", made.extension);
        let path = folder.join(&file);
        output::check_target(&path, &[])?;
        output::write_file(&path, |file| file.write_all(&made.text))?;
        files.push(Entry { file, seed, sha256: sha256(&made.text), facts: made.facts });
    }
    let generator = Generator { name: "plimsoll", version: env!("CARGO_PKG_VERSION") };
    let (family, parameters) = (args.family.clone(), maker.parameters());
    let manifest = Manifest { format: "plimsoll-manifest", version: 1, generator, family, parameters, files };
    let text = serde_json::to_string_pretty(&manifest).map_err(Failure::internal)?;
    output::write_file(&folder.join(MANIFEST), |file| writeln!(file, "{text}"))?;
    output::print(&format!(
        "{}: {count} files, seeds {} to {last}, and {MANIFEST}, written to {}\n",
        args.family,
        args.seed,
        folder.display()
    ))?;
    Ok(ANSWERED)
}

impl Maker {
    /// Finds who is asked for, and refuses what it does not take.
    fn of(args: &GenerateArgs) -> Result<Self, Failure> {
        if let Some(case) = ControlCase::named(&args.family) {
            let idle = [(args.buffers.is_some(), "--buffers"), (!args.param.is_empty(), "--param")];
            return match idle.iter().find(|(given, _)| *given) {
                Some((_, option)) => Err(Failure::input(format!(
                    "{option}: '{}' is one graph and takes no parameters",
                    case.name
                ))),
                None => Ok(Self::Case(case)),
            };
        }
        if let Some(family) = Family::named(&args.family) {
            return match args.param.first() {
                Some((name, _)) => Err(Failure::input(format!(
                    "--param {name}: '{}' makes instances, which take --buffers only",
                    family.name
                ))),
                None => Ok(Self::Instances(family, args.buffers.unwrap_or(BUFFERS))),
            };
        }
        let Some(family) = GraphFamily::named(&args.family) else {
            let names = FAMILIES.iter().map(|family| family.name);
            let names = names.chain(GRAPH_FAMILIES.iter().map(|family| family.name));
            let names: Vec<&str> = names.chain(CONTROL_CASES.iter().map(|case| case.name)).collect();
            let names = names.join(", ");
            return Err(Failure::input(format!("unknown family '{}'; known are {names}", args.family)));
        };
        if args.buffers.is_some() {
            let known: Vec<&str> = family.params.iter().map(|param| param.name).collect();
            let known = known.join(", ");
            let message = format!("--buffers: '{}' makes graphs, which take --param {known}", family.name);
            return Err(Failure::input(message));
        }
        Ok(Self::Graphs(family, once("--param", &args.param)?.into_iter().collect()))
    }

    fn parameters(&self) -> BTreeMap<String, u64> {
        match self {
            Self::Instances(_, buffers) => [("buffers".to_owned(), *buffers)].into(),
            Self::Graphs(family, given) => {
                let default = family.params.iter().map(|param| (param.name.to_owned(), param.default));
                default.chain(given.clone()).collect()
            }
            Self::Case(_) => BTreeMap::new(),
        }
    }

    fn make(&self, seed: u64) -> Result<Made, Failure> {
        let mut text = Vec::new();
        let (graph, optimum) = match self {
            Self::Instances(family, buffers) => {
                let instance = family.make(*buffers, seed).map_err(Failure::input)?;
                write_instance(&instance, &mut text).map_err(Failure::internal)?;
                let load = load(&instance).0.get();
                let optimum = family.is_tight().then_some(load);
                let facts = Facts::Instance { buffers: instance.len(), load, optimum };
                return Ok(Made { name: instance.name().to_owned(), extension: "csv", text, facts });
            }
            Self::Graphs(family, params) => (family.generate(seed, params).map_err(Failure::input)?, None),
            Self::Case(case) => ((case.build)(), case.optimum.map(plimsoll::model::Bytes::get)),
        };
        write_graph(&graph, &mut text).map_err(Failure::internal)?;
        let (operators, tensors) = (graph.operators().len(), graph.tensors().len());
        let facts = Facts::Graph { operators, tensors, optimum };
        Ok(Made { name: graph.name().to_owned(), extension: "json", text, facts })
    }
}

impl Facts {
    fn text(&self) -> String {
        match self {
            Self::Instance { buffers, load, .. } => format!("{buffers} buffers, load {load}"),
            Self::Graph { operators, tensors, .. } => format!("{operators} operators, {tensors} tensors"),
        }
    }
}
