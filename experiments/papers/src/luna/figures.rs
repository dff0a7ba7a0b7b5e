//! Figures 1, 2, 5 and 6 of the LUNA paper.

use super::measured::{Measured, branches, in_order};
use super::memory::{BEFORE, arena};
use super::models::StandIn;
use super::printed::{Printed, STRATEGIES, registered};
use crate::{Context, ReproduceError, Reproduction, missing, named};
use minijinja::context;
use plimsoll::branches::{Planner, SCHEMES, Scheme, program_groups};
use plimsoll_datasets::control_cases::ControlCase;
use plimsoll_lab::report::bars::Panel;
use plimsoll_lab::report::map::{Groups, Map};
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::graph::{Boundary, Graph};
use plimsoll_model::{InstanceProblem, Offsets, Problem};

/// The graph of figures 1 and 2. Its inputs and outputs are in the arena.
const SMALL: &str = "two-branches-in-a-row";
/// The memory maps of figures 1 and 2.
const SMALL_MAPS: [(&str, Scheme, &str, &str); 4] = [
    ("1b", Scheme::Flat, "sequential", "before merging"),
    ("1c", Scheme::Flat, "large-first", "before merging"),
    ("1d", Scheme::Flat, "short-first", "before merging"),
    ("2", Scheme::Nested, "large-first", "branches merged into blocks"),
];
/// The graph of figure 6. It has a trunk, so some buffers are outside the branches.
const LARGE: &str = "fusion-trunk";
/// The memory maps of figure 6.
const LARGE_MAPS: [(&str, Scheme, &str, &str); 4] = [
    ("6a-conflict", Scheme::Flat, "large-first", "before, conflicting branches"),
    ("6a-in-turn", Scheme::Sequential, "large-first", "before, sequential branches"),
    ("6b-merged", Scheme::Nested, "large-first", "after, branches merged into a block"),
    ("6c-optimum", Scheme::Exclusive, "exact", "no blocks, the optimum"),
];

/// Draws all figures.
pub(super) fn draw(
    context: &Context<'_>,
    tables: &[Printed],
    stand_ins: &[StandIn],
    measured: &[Measured],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let case = ControlCase::named(SMALL).ok_or_else(|| missing(SMALL, "graphs with control flow"))?;
    maps(context, (&(case.build)(), Boundary::Arena), SMALL_MAPS, found)?;
    bars(tables, stand_ins, measured, found)?;
    let large = stand_ins.iter().find(|one| one.graph.name() == LARGE);
    found.fact("figure_6", large.map(|_| LARGE));
    large.map_or(Ok(()), |large| maps(context, (&large.graph, Boundary::Outside), LARGE_MAPS, found))
}

/// Draws memory maps of a graph. Each is given by the number of the figure, a scheme, a strategy and a
/// description.
fn maps(
    context: &Context<'_>,
    (graph, boundary): (&Graph, Boundary),
    maps: [(&str, Scheme, &str, &str); 4],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let program = in_order(context, graph, boundary)?.program;
    let (names, of) = program_groups(&program);
    for (number, scheme, strategy, about) in maps {
        let solver = named(&context.registry.offsets, registered(strategy))?;
        let scheme = SCHEMES.iter().find(|entry| entry.scheme == scheme).expect("every scheme is listed");
        let execution = ExecutionOptions { seed: context.setup.seed, ..ExecutionOptions::default() };
        let planner = Planner { scheme, solver, setup: context.setup, limits: context.limits, execution };
        let plan = planner.plan(&program).map_err(|error| branches(graph, &error))?;
        let pieces = Offsets::pieces(program.instance(), &plan.layout);
        let algorithm = format!("{} with {strategy}", scheme.name);
        let (instance, bound) = (program.instance(), plan.bound);
        let map = Map::new(instance, Offsets::NAME, &algorithm, &pieces, bound);
        let map = map.grouped(Groups { names: &names, of: &of });
        let it = context! { number, graph => graph.name(), about, solver => strategy };
        found.map("map", &it, &map)?;
    }
    Ok(())
}

/// Draws figure 5: the peaks before and after merging, as printed and for the stand-ins.
fn bars(
    tables: &[Printed],
    stand_ins: &[StandIn],
    measured: &[Measured],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let group = |strategy: &str, bars: Vec<u64>| (strategy.to_owned(), bars.into_iter().map(Some).collect());
    let printed = tables.iter().filter_map(|one| {
        let pairs = STRATEGIES.iter().zip(one.before).zip(one.after?);
        let groups = pairs.map(|((strategy, before), after)| group(strategy, vec![before, after]));
        Some(Panel { name: one.model.clone(), groups: groups.collect(), mark: None })
    });
    found.bars("printed", &().into(), printed.collect())?;
    let branched = stand_ins.iter().zip(measured).filter(|(_, one)| one.comparison.regions > 1);
    let panels = branched.map(|(stand_in, Measured { comparison, .. })| {
        let schemes = [BEFORE[1].0, BEFORE[0].0, Scheme::Nested];
        let heights = |strategy| schemes.map(|scheme| arena(comparison, scheme, strategy)).to_vec();
        let groups = STRATEGIES.into_iter().chain(["exact"]);
        let groups = groups.map(|strategy| group(strategy, heights(strategy))).collect();
        Panel { name: stand_in.graph.name().to_owned(), groups, mark: comparison.optimum() }
    });
    found.bars("arenas", &().into(), panels.collect())
}
