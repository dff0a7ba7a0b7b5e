//! Figures 1, 2, 5 and 6 again.

use super::models::StandIn;
use super::printed::{Printed, STRATEGIES};
use super::tables::{BEFORE, arena};
use super::{Measured, branches, in_order};
use crate::{Context, ReproduceError, Reproduction, named};
use plimsoll::branches::{Planner, SCHEMES, Scheme, program_groups};
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll_datasets::control_cases::ControlCase;
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::svg::{Groups, Map};
use plimsoll_model::Offsets;
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::graph::{Boundary, Graph};

/// The graph of figures 1 and 2.
const SMALL: &str = "two-branches-in-a-row";
/// The graph of figure 6: with a trunk, so that something lies outside of the branches.
const LARGE: &str = "fusion-trunk";

/// Draws all of them.
pub(super) fn draw(
    context: &Context<'_>,
    tables: &[Printed],
    stand_ins: &[StandIn],
    measured: &[Measured],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    found.section("Figures");
    small(context, found)?;
    bars(tables, stand_ins, measured, found);
    let large = stand_ins.iter().find(|one| one.graph.name() == LARGE);
    if let Some(large) = large {
        let maps = [
            ("a-conflict", Scheme::Flat, "before, branches conflict"),
            ("a-in-turn", Scheme::Sequential, "before, branches in turn"),
            ("b-merged", Scheme::Nested, "after, branches merged into a block"),
            ("c-optimum", Scheme::Exclusive, "no blocks, the optimum"),
        ];
        for (suffix, scheme, about) in maps {
            let solver = if scheme == Scheme::Exclusive { "exact" } else { STRATEGIES[0] };
            let (name, about) = (format!("figure-6{suffix}.svg"), format!("{LARGE}: {about}, {solver}"));
            map(context, (&large.graph, Boundary::Outside), (scheme, solver), (name, about), found)?;
        }
        found.line(format!("figure 6: maps of {LARGE}; colours are branches, grey is what lies outside of them; steps are points of the program, one branch after the other though one of them runs"));
    }
    Ok(())
}

/// Figures 1 and 2: the small graph, inputs and outputs in the arena.
fn small(context: &Context<'_>, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let missing = ReproduceError::Missing { name: SMALL, problem: "graphs with control flow" };
    let case = ControlCase::named(SMALL).ok_or(missing)?;
    let graph = (case.build)();
    let flat = [("1b", "sequential"), ("1c", "large-first"), ("1d", "short-first")];
    let flat = flat.map(|(figure, solver)| (figure, Scheme::Flat, solver, "before merging"));
    let merged = [("2", Scheme::Nested, "large-first", "branches merged into blocks")];
    for (figure, scheme, solver, about) in flat.into_iter().chain(merged) {
        let (name, about) = (format!("figure-{figure}.svg"), format!("{SMALL}: {about}, {solver}"));
        map(context, (&graph, Boundary::Arena), (scheme, solver), (name, about), found)?;
    }
    found.line(
        "figures 1 and 2: A, then B or C, D, then E or F, G; sizes are ours, for the paper prints none",
    );
    Ok(())
}

/// One map: a graph, who plans it, and the file.
fn map(
    context: &Context<'_>,
    (graph, boundary): (&Graph, Boundary),
    (scheme, solver): (Scheme, &'static str),
    (file, about): (String, String),
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let program = in_order(context, graph, boundary)?.program;
    let solver = named(&context.registry.offsets, solver)?;
    let scheme = SCHEMES.iter().find(|entry| entry.scheme == scheme).expect("every scheme is listed");
    let execution = ExecutionOptions { seed: context.setup.seed, ..ExecutionOptions::default() };
    let planner = Planner { scheme, solver, setup: context.setup, limits: context.limits, execution };
    let plan = planner.plan(&program).map_err(|source| branches(graph, source))?;
    let pieces = Offsets::pieces(program.instance(), &plan.layout);
    let (names, of) = program_groups(&program);
    let algorithm = format!("{} with {}", scheme.name, solver.name);
    let map = Map {
        instance: program.instance(),
        problem: ProblemKind::Offsets,
        algorithm: &algorithm,
        pieces: &pieces,
        bound: plan.bound,
        groups: Some(Groups { names: &names, of: &of }),
    };
    found.file(file, about, |file| map.write(file));
    Ok(())
}

/// Figure 5: peaks before and after, printed and of stand-ins.
fn bars(tables: &[Printed], stand_ins: &[StandIn], measured: &[Measured], found: &mut Reproduction) {
    let group = |strategy: &str, bars: Vec<u64>| (strategy.to_owned(), bars.into_iter().map(Some).collect());
    let printed = tables.iter().filter_map(|one| {
        let pairs = STRATEGIES.iter().zip(one.before).zip(one.after?);
        let groups = pairs.map(|((strategy, before), after)| group(strategy, vec![before, after]));
        Some(Panel { name: one.model.to_owned(), groups: groups.collect(), mark: None })
    });
    let chart = Bars {
        title: "Figure 5 as printed: peaks before and after merging branches".to_owned(),
        caption: "bytes, by strategy, from tables 1 and 2".to_owned(),
        series: vec!["before".to_owned(), "after".to_owned()],
        mark: String::new(),
        unit: "bytes",
        panels: printed.collect(),
    };
    found.file("figure-5-printed.svg", "peaks before and after, from the printed tables", |file| {
        chart.write(file)
    });
    let branched = stand_ins.iter().zip(measured).filter(|(_, one)| one.comparison.regions > 1);
    let panels = branched.map(|(stand_in, Measured { comparison, .. })| {
        let heights = |strategy: &str| {
            let schemes = [BEFORE[1].0, BEFORE[0].0, Scheme::Nested];
            schemes.map(|scheme| arena(comparison, scheme, strategy)).to_vec()
        };
        let groups = STRATEGIES.iter().copied().chain(["exact"]);
        let groups = groups.map(|strategy| group(strategy, heights(strategy))).collect();
        Panel { name: stand_in.graph.name().to_owned(), groups, mark: comparison.optimum() }
    });
    let chart = Bars {
        title: "Figure 5 with public models: arenas before and after merging branches".to_owned(),
        caption: "bytes, by strategy; the two readings of \"before\" are told at table 1".to_owned(),
        series: ["before: branches conflict", "before: branches in turn", "after: branches merged"]
            .map(str::to_owned)
            .to_vec(),
        mark: "proved optimum".to_owned(),
        unit: "bytes",
        panels: panels.collect(),
    };
    found.file("figure-5.svg", "arenas before and after, of the graphs with branches", |file| {
        chart.write(file)
    });
    found.line("figure 5: one panel per graph, each on its own scale");
}
