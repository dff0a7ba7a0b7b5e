//! Tests that every solver returns valid solutions and bounds, however early it is stopped or cancelled.

use plimsoll_datasets::graphs::{SmallOrderParams, small_order_problem};
use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_model::{
    Budget, Buffer, Bytes, Claim, ConflictGraph, Entry, Instance, InstanceBuilder, InstanceProblem,
    JointProblem, Lifespan, Outcome, Problem, Setup, Silent, SolveError, SpillProblem, Spilling, Stop,
    sections_within,
};
use plimsoll_solvers::clique::heaviest_clique;
use plimsoll_solvers::joint::ENTRIES as JOINT;
use plimsoll_solvers::offsets::ENTRIES as OFFSETS;
use plimsoll_solvers::offsets::bounds::{clique_bound, quick_bound};
use plimsoll_solvers::orders::ENTRIES as ORDERS;
use plimsoll_solvers::shared_objects::ENTRIES as SHARED_OBJECTS;
use plimsoll_solvers::spilling::ENTRIES as SPILLING;
use plimsoll_solvers::split_buffers::ENTRIES as SPLIT_BUFFERS;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Returns two budgets that are exhausted from the start: one has no time, and the other is cancelled.
fn ended() -> [Budget; 2] {
    let flag = Arc::new(AtomicBool::new(true));
    [Budget::unlimited().with_time_limit(Duration::ZERO), Budget::unlimited().with_cancel(flag)]
}

/// Checks that the value, the bound and the claim are valid.
fn check<P: Problem>(name: &str, input: &P::Input, outcome: &Outcome<P>, best: Option<P::Value>) {
    let value = outcome.solution.as_ref().map(|solution| P::value(input, solution));
    assert_eq!(value, outcome.value, "{name}");
    if let Some(solution) = &outcome.solution {
        assert!(P::check(input, solution).is_empty(), "{name}");
    }
    let bound = outcome.lower_bound.value;
    assert!(best.is_none_or(|best| bound <= best), "{name}: bound {bound} above {best:?}");
    assert!(outcome.claim != Claim::Optimal || value == Some(bound), "{name}");
    assert!(outcome.claim != Claim::Infeasible, "{name}");
}

/// Solves with exhausted budgets and with few nodes, and checks the outcomes against the best value found
/// with many nodes.
fn compare<P: Problem>(entries: &[Entry<P>], input: &P::Input) {
    let solve = |entry: &Entry<P>, budget: &mut Budget| {
        let solver = (entry.build)(Setup::default());
        match solver.supports(input).and_then(|()| solver.solve(input, budget, &mut Silent)) {
            Err(SolveError::Unsupported { .. }) => None,
            outcome => Some(outcome.unwrap()),
        }
    };
    let best =
        entries.iter().filter_map(|entry| solve(entry, &mut Budget::unlimited().with_node_limit(50_000)));
    let best = best.filter_map(|outcome| outcome.value).min();
    for entry in entries {
        for mut budget in ended() {
            let Some(outcome) = solve(entry, &mut budget) else { continue };
            check::<P>(entry.name, input, &outcome, best);
            let settled = outcome.claim == Claim::Optimal;
            assert!(settled || outcome.stop != Stop::Completed || outcome.value.is_some(), "{}", entry.name);
            assert!(budget.nodes() < 1_000, "{} counts {} nodes", entry.name, budget.nodes());
        }
        let mut budget = Budget::unlimited().with_node_limit(3);
        if let Some(outcome) = solve(entry, &mut budget) {
            check::<P>(entry.name, input, &outcome, best);
        }
    }
}

#[test]
fn what_is_known_at_the_end_of_the_time_holds() {
    for seed in 0..12 {
        let params = SmallParams { max_size: 50, steps: 12, ..SmallParams::with_features(14, seed % 16) };
        let instance = small_instance(params, seed).with_capacity(None);
        compare(OFFSETS, &instance);
        compare(SPLIT_BUFFERS, &instance);
        compare(SHARED_OBJECTS, &instance);
        let capacity = Bytes::new(instance.total_size().get() / 2 + 60);
        if let Ok(problem) = SpillProblem::written_and_read(instance.with_capacity(Some(capacity))) {
            compare(SPILLING, &problem);
        }
    }
    for seed in 0..12 {
        let problem = small_order_problem(SmallOrderParams::with_features(7, seed), seed);
        compare(ORDERS, &problem);
        let joint = JointProblem::new(problem, Bytes::new(1)).unwrap();
        compare(JOINT, &joint);
    }
}

/// Solves with exhausted budgets, and checks that a valid solution is found nevertheless.
fn has_solution<P: InstanceProblem>(entries: &[Entry<P>], names: &[&str], instance: &Instance) {
    for entry in entries.iter().filter(|entry| names.contains(&entry.name)) {
        for mut budget in ended() {
            let solver = (entry.build)(Setup::default());
            let outcome = solver.solve(instance, &mut budget, &mut Silent).unwrap();
            let solution = outcome.solution.unwrap_or_else(|| panic!("{} finds nothing", entry.name));
            assert!(P::check(instance, &solution).is_empty(), "{}", entry.name);
        }
    }
}

#[test]
fn a_layout_needs_no_time() {
    for seed in 0..32 {
        let instance = small_instance(SmallParams::with_features(12, seed % 16), seed).with_capacity(None);
        if instance.contradiction().is_none() {
            has_solution(OFFSETS, &["exact", "search"], &instance);
            has_solution(SPLIT_BUFFERS, &["exact"], &instance);
        }
    }
}

#[test]
fn buffers_that_must_stay_are_kept_in_no_time() {
    for seed in 0..32 {
        let instance = small_instance(SmallParams::with_features(12, seed % 16), seed);
        let Some(widest) = instance.buffers().iter().map(|b| b.size().get()).max() else { continue };
        // The buffer that must stay has an alignment of at most 8 bytes and no fixed offset.
        let Some(must) = instance.ids().find(|&id| instance.buffer(id).fixed().is_none()) else { continue };
        let instance = instance.with_capacity(Some(Bytes::new(widest)));
        let traffic = instance.ids().map(|id| (id != must).then_some(Bytes::new(5))).collect();
        let problem = SpillProblem::new(instance, traffic).unwrap();
        for entry in SPILLING.iter().filter(|entry| entry.name == "exact") {
            for mut budget in ended() {
                let solver = (entry.build)(Setup::default());
                let outcome = solver.solve(&problem, &mut budget, &mut Silent).unwrap();
                let spill = outcome.solution.expect("the buffer that must stay fits alone");
                assert!(Spilling::check(&problem, &spill).is_empty(), "seed {seed}");
            }
        }
    }
}

/// Returns an instance whose buffers are all live at one step. The first two form an exclusion, so they may
/// share addresses.
fn wide(buffers: u64) -> Instance {
    let span = Lifespan::single(0, 1).unwrap();
    let all = (0..buffers).map(|at| Buffer::new(at.to_string(), 1 + at % 7, span.clone()));
    InstanceBuilder::new("wide").buffers(all).exclude(0, 1).build().unwrap()
}

#[test]
fn bounds_and_graphs_end_with_the_time() {
    let instance = wide(60);
    for budget in ended() {
        let over = || budget.clone();
        assert_eq!(ConflictGraph::within(&instance, &mut over()), None);
        assert!(sections_within(&instance, &mut over()).is_empty());
        assert_eq!(clique_bound(&instance, &mut over()).value, Bytes::ZERO);
        let bound = quick_bound(&instance, &mut over());
        assert!(plimsoll_model::verify_bound(&instance, &bound).is_ok());
        let weights: Vec<u64> = instance.buffers().iter().map(|b| b.size().get()).collect();
        let clique = heaviest_clique(&ConflictGraph::of(&instance), &weights, &mut over());
        assert!(
            !clique.proved && clique.weight <= clique_bound(&instance, &mut Budget::unlimited()).value.get()
        );
    }
    let graph = ConflictGraph::within(&instance, &mut Budget::unlimited());
    assert_eq!(graph, Some(ConflictGraph::of(&instance)));
}
