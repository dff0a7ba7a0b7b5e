//! `plimsoll tiers`: assigns tensors to memory tiers to minimise transfer time, and bounds that time.

mod args;
mod report;

use crate::args::BoundaryArg;
use crate::command::{Command, Main, Task};
use crate::commands::{choose, contest};
use crate::failure::{Failure, code};
use crate::output;
use crate::signals::First;
use args::FusionArg;
pub use args::TiersArgs;
use plimsoll::graphs::GraphRun;
use plimsoll::model::fusion::{Patterns, UnitRule};
use plimsoll::model::graph::{Boundary, LivenessOptions};
use plimsoll::model::tiers::{TIER_PRESETS, TierMachine, Tiers};
use plimsoll::model::{Entry, Kind, Problem as _, Silent};
use plimsoll::run::{Limits, RunError, run};
use plimsoll::tiers::{Fusing, TierCaseError, TierSetting, tier_case};
use plimsoll_lab::report::Basis;
use report::About;

/// Default limits of an exact placement: the number of nodes, and the product of nodes and tensors. Reaching
/// them takes a few seconds.
const NODES: (u64, u64) = (5_000_000, 5_000_000_000);

impl Command for TiersArgs {
    const NAME: &str = "tiers";
    const ABOUT: &str = "Assign tensors to memory tiers to minimise transfer time, and bound that time";
    const TASK: Task = Task::Model;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate lenet5 --out net.json && plimsoll tiers net.json --machine generic",
            "Assign the tensors of a model to the memories of a machine",
        ),
        (
            "plimsoll tiers net.json --machine generic --compare --time-limit 1",
            "Compare all algorithms for tiers",
        ),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const SOLVES: &[(&str, &str)] = &[(Tiers::NAME, "tiers MODEL --machine NAME --algorithm ")];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &TiersArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entry = choose::named(&registry.tiers, &args.algorithm, "placement")?;
    let order = choose::named(&registry.orders, args.order.as_deref().unwrap_or("as-in-file"), "order")?;
    let mut inputs = output::files_among([args.machine.as_str(), patterns_of(args)]);
    inputs.extend(args.model.files());
    output::check_targets(&[&args.output], &inputs)?;
    let machine = TierMachine::find(&args.machine)
        .map_err(|error| choose::no_machine(error, &args.machine, &TIER_PRESETS))?;
    let patterns = Patterns::find(patterns_of(args)).map_err(Failure::input)?;
    let import = args.model.read()?;
    let graph = &import.graph;
    let fusion = fusion(args)?;
    if args.liveness.activations.align.is_some_and(|align| align != 1) {
        return Err(Failure::input("--align is not supported: the machine determines the alignment"));
    }
    let rule = match fusion {
        FusionArg::None => None,
        FusionArg::Ordinary => Some(UnitRule::Same),
        FusionArg::CrossUnit => Some(UnitRule::Any),
    };
    let effort = args.effort;
    let limits = if args.compare { effort.limits_each().from_now() } else { effort.limits() };
    let run = GraphRun { liveness: liveness(args), order, setup: effort.setup(), limits };
    let setting = TierSetting {
        machine: &machine,
        run,
        fusing: rule.map(|rule| Fusing { patterns: &patterns, rule }),
        addresses: args.addresses.into(),
        boundary_off_chip: matches!(args.liveness.activations.boundary, BoundaryArg::Outside),
    };
    let case = tier_case(graph, &setting).map_err(|error| match error {
        TierCaseError::Order(error) => error.into(),
        error @ (TierCaseError::Fusion(_) | TierCaseError::NoBody) => Failure::internal(error),
        error => Failure::input(error),
    })?;
    let about = About { graph, machine: &machine, case: &case, rule, basis: Basis::of(&import) };
    if args.compare {
        let limits = || effort.limits_each().from_now();
        let own = contest::about(graph);
        let records =
            contest::compare::<Tiers>(&registry, &case, &own, (effort, contest::Stops::AtLimits), limits)?;
        contest::print::<Tiers>(about.head(), &records, args.output.as_ref(), args.json)
    } else {
        single(args, entry, limits, &about)
    }
}

fn patterns_of(args: &TiersArgs) -> &str {
    args.patterns.as_deref().unwrap_or("default")
}

/// Returns the liveness options. Inputs and outputs of the graph always count as tensors to place; the
/// problem restricts their tiers.
fn liveness(args: &TiersArgs) -> LivenessOptions {
    let options = args.liveness.options();
    let boundary = if options.boundary == Boundary::Outside { Boundary::Arena } else { options.boundary };
    LivenessOptions { boundary, ..options }
}

fn fusion(args: &TiersArgs) -> Result<FusionArg, Failure> {
    match (args.fusion, &args.order) {
        (Some(FusionArg::Ordinary | FusionArg::CrossUnit), Some(_)) => {
            Err(Failure::input("--order requires --fusion none, as fused groups have their own order"))
        }
        (Some(FusionArg::None), _) if args.patterns.is_some() => {
            Err(Failure::input("--patterns has no effect with --fusion none"))
        }
        (None, Some(_)) if args.patterns.is_some() => {
            Err(Failure::input("--patterns has no effect with --order, which disables fusion"))
        }
        (None, None) => Ok(FusionArg::CrossUnit),
        (None, Some(_)) => Ok(FusionArg::None),
        (Some(fusion), _) => Ok(fusion),
    }
}

fn single(args: &TiersArgs, entry: &Entry<Tiers>, limits: Limits, about: &About<'_>) -> Result<u8, Failure> {
    let bare = args.effort.is_default() && entry.kind == Kind::Exact;
    let nodes = NODES.0.min(NODES.1 / about.case.problem.tensors().len().max(1) as u64);
    let limits = if bare { Limits { nodes: Some(nodes), ..limits } } else { limits };
    let outcome = run(entry, &about.case.problem, args.effort.setup(), limits, &mut Silent);
    let outcome = outcome.map_err(refused)?;
    match (&args.output, &outcome.solution) {
        (Some(path), Some(plan)) => {
            output::late(output::write_file(path, |file| {
                report::write_plan(&about.case.problem, plan, file)
            }));
        }
        (Some(_), None) => output::complain("no plan found, so --output writes nothing"),
        (None, _) => {}
    }
    crate::report::print(&about.report(entry.name, &outcome, outcome.stats.seconds), args.json)?;
    Ok(code(outcome.claim))
}

fn refused(error: RunError) -> Failure {
    match error {
        RunError::Solve(error) => Failure::input(error),
        error => Failure::internal(error),
    }
}
