//! `plimsoll fuse`: fuses operators into groups and bounds the coverage.

mod args;
mod report;

use crate::command::{Command, Main, Task};
use crate::commands::{choose, contest};
use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::output;
use crate::signals::First;
pub use args::FuseArgs;
use plimsoll::fusion::{FuseError, FuseRun};
use plimsoll::model::fusion::{Fusion, Fusions, Patterns, UnitRule, Units, contracted};
use plimsoll::model::graph::write_graph;
use plimsoll::model::{Problem as _, SolveError};
use plimsoll::posed::{Terms, ToFuse};
use plimsoll::run::RunError;
use plimsoll_lab::report::Basis;
use plimsoll_lab::row::Row;
use report::FuseReport;

/// The keyword for the units named in the graph.
const GRAPH: &str = "graph";

impl Command for FuseArgs {
    const NAME: &str = "fuse";
    const ABOUT: &str = "Fuse operators into groups, and bound the coverage";
    const TASK: Task = Task::Model;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate squeezenet --out net.json && plimsoll fuse net.json",
            "Fuse operators, and bound the number of optimised relations",
        ),
        ("plimsoll fuse net.json --compare --time-limit 1", "Compare all algorithms for fusion"),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const SOLVES: &[(&str, &str)] = &[(Fusions::NAME, "fuse MODEL --algorithm ")];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &FuseArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let mut inputs = output::files_among([args.patterns.as_str(), args.units.as_str()]);
    inputs.extend(args.model.files());
    if let Some(path) = &args.output {
        let format = if args.compare { format::CSV } else { format::JSON };
        output::check_format("--output", path, format)?;
    }
    output::check_targets(&[&args.output, &args.graph], &inputs)?;
    let patterns = Patterns::find(&args.patterns).map_err(Failure::input)?;
    let own = args.units == GRAPH;
    let units = if own { None } else { Some(Units::find(&args.units).map_err(Failure::input)?) };
    let entry = choose::named(&registry.fusion, &args.algorithm, "algorithm")?;
    let import = args.model.read()?;
    let graph = &import.graph;
    let units = units.unwrap_or_else(|| Units::of_graph(graph));
    let rule = if args.cross_unit { UnitRule::Any } else { UnitRule::Same };
    let (setup, limits) = (args.effort.setup(), args.effort.limits());
    let run = FuseRun { patterns: &patterns, units: &units, rule, entry, setup, limits };
    if args.compare {
        let mut records = Vec::new();
        for rule in [UnitRule::Same, UnitRule::Any] {
            let question = ToFuse { graph, patterns: patterns.clone(), units: units.clone(), rule };
            let about = Row { terms: Terms::one("fusion", rule), ..contest::about(graph) };
            let limits = || args.effort.limits_each_from_now();
            records.extend(contest::compare::<Fusions>(
                &registry,
                &question,
                &about,
                (args.effort, contest::Stops::AtLimits),
                limits,
            )?);
        }
        let (patterns, units) = (Some(args.patterns.as_str()), Some(args.units.as_str()));
        let head = contest::Head { patterns, units, ..contest::Head::of(&import) };
        return contest::print::<Fusions>(head, &records, args.output.as_ref(), args.json);
    }
    let regions = run.fuse(graph)?;
    let report = FuseReport::new(args, graph, &run, &regions, Basis::of(&import));
    if let Some(path) = &args.output {
        let text = serde_json::to_string_pretty(&report).map_err(Failure::internal)?;
        output::late(output::write_file(path, |file| writeln!(file, "{text}")));
    }
    if let Some(path) = &args.graph {
        let fusions: Vec<Fusion> = regions.iter().map(|one| one.fused.fusion.clone()).collect();
        let whole = contracted(graph, &fusions).map_err(Failure::internal)?;
        output::late(output::write_file(path, |file| write_graph(&whole, file)));
    }
    crate::report::print(&report, args.json)?;
    Ok(ANSWERED)
}

impl From<FuseError> for Failure {
    fn from(error: FuseError) -> Self {
        match &error {
            FuseError::Units(_)
            | FuseError::TooMany(_)
            | FuseError::Run { source: RunError::Solve(SolveError::Unsupported { .. }), .. } => {
                Self::input(error)
            }
            _ => Self::internal(error),
        }
    }
}
