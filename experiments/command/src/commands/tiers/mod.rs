//! `plimsoll tiers`: which tensor lives in which memory, and how far from the least transfer time that is.

mod args;
mod report;

use crate::args::BoundaryArg;
use crate::commands::choose;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output;
use args::FusionArg;
pub use args::TiersArgs;
use plimsoll::graphs::GraphRun;
use plimsoll::interrupt;
use plimsoll::model::fusion::{Patterns, UnitRule};
use plimsoll::model::graph::{Boundary, LivenessOptions};
use plimsoll::model::overlap::Time;
use plimsoll::model::tiers::{PlacerEntry, TierMachine};
use plimsoll::model::{Claim, Kind};
use plimsoll::run::Limits;
use plimsoll::tiers::{Fusing, PlaceError, Placed, TierCaseError, TierSetting, place, tier_case};
use plimsoll_lab::report::Basis;
use report::{Comparison, Report};

/// Nodes of an exact placement where no limit is given, and the same times tensors: some seconds.
const NODES: (u64, u64) = (5_000_000, 5_000_000_000);

pub fn main(args: &TiersArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entry = named(&registry.placers, &args.placement)?;
    let order = choose::named(&registry.orders, args.order.as_deref().unwrap_or("as-in-file"), "order")?;
    let mut inputs = output::files_among([args.machine.as_str(), patterns_of(args)]);
    inputs.push(&args.model.model);
    output::check_targets(&[&args.output], &inputs)?;
    let machine = TierMachine::find(&args.machine).map_err(Failure::input)?;
    let patterns = Patterns::find(patterns_of(args)).map_err(Failure::input)?;
    let import = args.model.read()?;
    let graph = &import.graph;
    let fusion = fusion(args)?;
    if args.liveness.activations.align != 1 {
        return Err(Failure::input("--align: the machine says at what multiples tensors lie"));
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
    let about = report::About { graph, machine: &machine, case: &case, rule, basis: Basis::of(&import) };
    if args.compare { compare(args, &registry.placers, &about) } else { single(args, entry, limits, &about) }
}

fn patterns_of(args: &TiersArgs) -> &str {
    args.patterns.as_deref().unwrap_or("default")
}

/// Inputs and outputs are always among the tensors; where they may live is for the problem to say.
fn liveness(args: &TiersArgs) -> LivenessOptions {
    let options = args.liveness.options();
    let boundary = if options.boundary == Boundary::Outside { Boundary::Arena } else { options.boundary };
    LivenessOptions { boundary, ..options }
}

fn fusion(args: &TiersArgs) -> Result<FusionArg, Failure> {
    match (args.fusion, &args.order) {
        (Some(FusionArg::Ordinary | FusionArg::CrossUnit), Some(_)) => {
            Err(Failure::input("--order: groups have an order of their own; use --fusion none with it"))
        }
        (Some(FusionArg::None), _) if args.patterns.is_some() => {
            Err(Failure::input("--patterns: nothing is fused with --fusion none"))
        }
        (None, Some(_)) if args.patterns.is_some() => {
            Err(Failure::input("--patterns: nothing is fused with --order"))
        }
        (None, None) => Ok(FusionArg::CrossUnit),
        (None, Some(_)) => Ok(FusionArg::None),
        (Some(fusion), _) => Ok(fusion),
    }
}

/// The placement of a name.
fn named(all: &[&'static PlacerEntry], name: &str) -> Result<&'static PlacerEntry, Failure> {
    let known: Vec<&str> = all.iter().map(|entry| entry.name).collect();
    let found = all.iter().copied().find(|entry| entry.name == name);
    found.ok_or_else(|| choose::unknown("placement", name, &known))
}

fn single(
    args: &TiersArgs,
    entry: &PlacerEntry,
    limits: Limits,
    about: &report::About<'_>,
) -> Result<u8, Failure> {
    let bare = args.effort.is_default() && entry.kind == Kind::Exact;
    let nodes = NODES.0.min(NODES.1 / about.case.problem.tensors().len().max(1) as u64);
    let limits = if bare { Limits { nodes: Some(nodes), ..limits } } else { limits };
    let placed = place(&about.case.problem, entry, args.effort.setup(), limits).map_err(refused)?;
    let report = Report::new(about, entry.name, &placed);
    match (&args.output, &placed.outcome.plan) {
        (Some(path), Some(plan)) => {
            output::write_file(path, |file| report::write_plan(&about.case.problem, plan, file))?;
        }
        (Some(_), None) => output::complain("there is no plan, so none is written"),
        (None, _) => {}
    }
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(code(placed.outcome.claim))
}

fn code(claim: Claim) -> u8 {
    match claim {
        Claim::Optimal | Claim::Feasible => ANSWERED,
        Claim::Infeasible => REFUTED,
        Claim::Unknown => NOTHING_FOUND,
    }
}

fn refused(error: PlaceError) -> Failure {
    match error {
        PlaceError::Refused { .. } => Failure::internal(error),
        PlaceError::Solve(error) => Failure::input(error),
    }
}

fn compare(
    args: &TiersArgs,
    entries: &[&'static PlacerEntry],
    about: &report::About<'_>,
) -> Result<u8, Failure> {
    let mut rows: Vec<(&'static PlacerEntry, Result<Placed, PlaceError>)> = Vec::new();
    for entry in interrupt::until_requested(entries) {
        let limits = args.effort.limits_each().from_now();
        let result = place(&about.case.problem, entry, args.effort.setup(), limits);
        if let Err(error @ PlaceError::Refused { .. }) = result {
            return Err(Failure::internal(error));
        }
        // Who declines by size is not worth a line.
        if !matches!(&result, Err(PlaceError::Solve(plimsoll::model::SolveError::Unsupported { .. }))) {
            rows.push((entry, result));
        }
    }
    contradiction(&rows)?;
    let report = Comparison::new(about, &rows);
    if let Some(path) = &args.output {
        output::write_file(path, |file| report.write_rows(file))?;
    }
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    let claims =
        rows.iter().filter_map(|(_, row)| row.as_ref().ok()).map(|placed| code(placed.outcome.claim));
    Ok(claims.min().unwrap_or(NOTHING_FOUND))
}

/// Refuses a bound of one placement above the plan of another.
fn contradiction(rows: &[(&'static PlacerEntry, Result<Placed, PlaceError>)]) -> Result<(), Failure> {
    let outcomes = || rows.iter().filter_map(|(entry, row)| Some((entry.name, &row.as_ref().ok()?.outcome)));
    let bound = outcomes().max_by_key(|(_, outcome)| outcome.lower_bound.value);
    let plan = outcomes().filter_map(|(name, outcome)| Some((outcome.time?, name))).min();
    match (bound, plan) {
        (Some((who, outcome)), Some((time, name))) if outcome.lower_bound.value > time => {
            let bound: Time = outcome.lower_bound.value;
            Err(Failure::internal(format!("{who} proves {bound} where {name} has a plan of {time}")))
        }
        _ => Ok(()),
    }
}
