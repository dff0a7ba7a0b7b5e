//! `plimsoll generate`: writes an instance or a graph of a family, or a small case by name.

use crate::cli::{GenerateArgs, once};
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::datasets::control_cases::{CONTROL_CASES, ControlCase};
use plimsoll::datasets::graphs::{GRAPH_FAMILIES, GraphFamily};
use plimsoll::datasets::{FAMILIES, Family};
use plimsoll::model::csv::write_instance;
use plimsoll::model::graph::{Graph, write_graph};
use plimsoll::model::load;
use std::path::PathBuf;

/// Buffers of an instance where no number is given.
const BUFFERS: u64 = 1000;

/// Runs the command.
pub fn main(args: &GenerateArgs) -> Result<u8, Failure> {
    if let Some(case) = ControlCase::named(&args.family) {
        return self::case(args, case);
    }
    match (Family::named(&args.family), GraphFamily::named(&args.family)) {
        (Some(family), _) => instance(args, family),
        (None, Some(family)) => graph(args, family),
        (None, None) => {
            let names = FAMILIES.iter().map(|family| family.name);
            let names = names.chain(GRAPH_FAMILIES.iter().map(|family| family.name));
            let names: Vec<&str> = names.chain(CONTROL_CASES.iter().map(|case| case.name)).collect();
            Err(Failure::input(format!("unknown family '{}'; known are {}", args.family, names.join(", "))))
        }
    }
}

fn instance(args: &GenerateArgs, family: &Family) -> Result<u8, Failure> {
    if let Some((name, _)) = args.param.first() {
        let message = format!("--param {name}: '{}' makes instances, which take --buffers only", family.name);
        return Err(Failure::input(message));
    }
    let buffers = args.buffers.unwrap_or(BUFFERS);
    let name = || PathBuf::from(format!("{}-{buffers}-{}.csv", family.name, args.seed));
    let path = args.out.clone().unwrap_or_else(name);
    output::check_target(&path, &[])?;
    let instance = family.make(buffers, args.seed).map_err(Failure::input)?;
    output::write_file(&path, |file| write_instance(&instance, file))?;
    output::print(&format!(
        "{}: {} buffers, load {}, written to {}\n",
        instance.name(),
        instance.len(),
        load(&instance).0,
        path.display()
    ))?;
    Ok(ANSWERED)
}

fn graph(args: &GenerateArgs, family: &GraphFamily) -> Result<u8, Failure> {
    if args.buffers.is_some() {
        let known: Vec<&str> = family.params.iter().map(|param| param.name).collect();
        let message =
            format!("--buffers: '{}' makes graphs, which take --param {}", family.name, known.join(", "));
        return Err(Failure::input(message));
    }
    let params = once("--param", &args.param)?.into_iter().collect();
    let graph = family.generate(args.seed, &params).map_err(Failure::input)?;
    write(args, &graph)
}

fn case(args: &GenerateArgs, case: &ControlCase) -> Result<u8, Failure> {
    let idle = [(args.buffers.is_some(), "--buffers"), (!args.param.is_empty(), "--param")];
    if let Some((_, option)) = idle.iter().find(|(given, _)| *given) {
        return Err(Failure::input(format!(
            "{option}: '{}' is one graph and takes no parameters",
            case.name
        )));
    }
    write(args, &(case.build)())
}

fn write(args: &GenerateArgs, graph: &Graph) -> Result<u8, Failure> {
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.json", graph.name())));
    output::check_target(&path, &[])?;
    output::write_file(&path, |file| write_graph(graph, file))?;
    output::print(&format!(
        "{}: {} operators, {} tensors, written to {}\n",
        graph.name(),
        graph.operators().len(),
        graph.tensors().len(),
        path.display()
    ))?;
    Ok(ANSWERED)
}
