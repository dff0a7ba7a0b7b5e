//! Tests layouts of split buffers against all colourings of small instances.

use plimsoll_datasets::{SmallParams, patent, small_instance};
use plimsoll_model::structure::{Relation, Structure};
use plimsoll_model::{
    Budget, BufferId, Bytes, Claim, ConflictGraph, Instance, InstanceBuilder, Outcome, Problem, Silent,
    Solver, SplitBuffers, Witness,
};
use plimsoll_solvers::clique::heaviest_clique;
use plimsoll_solvers::offsets::bounds::clique_bound;
use plimsoll_solvers::split_buffers::SplitExact;
use std::collections::HashMap;

/// Returns the minimum number of stable sets that cover the remaining demands.
fn least(left: Vec<u64>, stable: &[u32], known: &mut HashMap<Vec<u64>, u64>) -> u64 {
    let Some(first) = left.iter().position(|&units| units > 0) else { return 0 };
    if let Some(&found) = known.get(&left) {
        return found;
    }
    let sets = stable.iter().filter(|set| *set >> first & 1 == 1);
    let best = sets.map(|set| {
        let served = left.iter().enumerate();
        let served = served.map(|(at, &units)| units.saturating_sub(u64::from(set >> at & 1)));
        1 + least(served.collect(), stable, known)
    });
    let best = best.min().expect("a single buffer is stable");
    known.insert(left, best);
    best
}

/// Returns the minimum number of addresses. Adds one stable set at a time, which always contains the first
/// buffer with remaining demand.
fn brute(instance: &Instance) -> u64 {
    let n = instance.len();
    let conflict = |a: usize, b: usize| instance.conflict(BufferId::at(a), BufferId::at(b));
    let stable: Vec<u32> = (1u32..1 << n)
        .filter(|set| {
            let inside = |at: usize| set >> at & 1 == 1;
            (0..n).all(|a| !inside(a) || (0..a).all(|b| !inside(b) || !conflict(a, b)))
        })
        .collect();
    let sizes = instance.buffers().iter().map(|b| b.size().get()).collect();
    least(sizes, &stable, &mut HashMap::new())
}

fn solve(instance: &Instance) -> Outcome<SplitBuffers> {
    let outcome = SplitExact::default().solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    let layout = outcome.solution.as_ref().expect("without a capacity there is a layout");
    assert_eq!(SplitBuffers::check(instance, layout), [], "{}", instance.name());
    assert_eq!(SplitBuffers::value(instance, layout), outcome.value.unwrap());
    assert!(outcome.lower_bound.value <= outcome.value.unwrap());
    let confirmed = SplitBuffers::confirm(instance, &outcome.lower_bound);
    assert!(confirmed.is_ok() || matches!(outcome.lower_bound.witness, Witness::Search { .. }));
    outcome
}

#[test]
fn agrees_with_all_colourings() {
    let (mut proved, mut beyond_cliques) = (0, 0);
    for seed in 0..600 {
        // The instances have gaps, separations and exclusions, but no alignments or fixed offsets.
        let mask = [0, 1, 8, 9][seed as usize % 4];
        let params =
            SmallParams { max_size: 4, ..SmallParams::with_features(3 + seed as usize / 4 % 5, mask) };
        let instance = small_instance(params, seed);
        let optimum = brute(&instance);
        let outcome = solve(&instance);
        let (value, bound) = (outcome.value.unwrap().get(), outcome.lower_bound.value.get());
        assert!(bound <= optimum && optimum <= value, "seed {seed}: {bound} {optimum} {value}");
        proved += usize::from(outcome.claim == Claim::Optimal);
        beyond_cliques += usize::from(matches!(outcome.lower_bound.witness, Witness::Search { .. }));
        assert!(mask != 0 || outcome.claim == Claim::Optimal, "seed {seed}");
    }
    println!("{proved} of 600 proved, {beyond_cliques} beyond cliques");
    assert!(proved >= 590, "{proved}");
}

/// If the conflicts are derived from an order problem, compatibility is a partial order. One maximum flow
/// then settles each instance, and a clique proves the optimum.
#[test]
fn conflicts_from_structure_are_settled_by_cliques() {
    for seed in 0..60 {
        let problem = crate::graphs::small(4 + seed as usize % 16, seed);
        let makers = (0..problem.storages().len()).map(|at| problem.first(at).into_iter().collect());
        let order = problem.as_in_file();
        let structure = Structure::new(&problem, makers.collect(), &order).unwrap();
        for relation in [Relation::Schedule, Relation::Streams(2), Relation::Streams(3), Relation::Reachable]
        {
            let instance = structure.instance(relation, Bytes::new(1), &mut Budget::unlimited()).unwrap();
            let outcome = solve(&instance);
            assert_eq!(outcome.claim, Claim::Optimal, "seed {seed} {relation}");
            assert!(SplitBuffers::confirm(&instance, &outcome.lower_bound).is_ok());
            let weights: Vec<u64> = instance.buffers().iter().map(|b| b.size().get()).collect();
            let clique = heaviest_clique(
                &ConflictGraph::of(&instance),
                &weights,
                &mut Budget::unlimited().with_node_limit(1_000_000),
            );
            assert!(clique.proved && Some(Bytes::new(clique.weight)) == outcome.value, "seed {seed}");
            assert_eq!(clique_bound(&instance, &mut Budget::unlimited()).value.get(), clique.weight);
        }
        let mutex = structure.instance(Relation::Mutex, Bytes::new(1), &mut Budget::unlimited()).unwrap();
        solve(&mutex);
        let aligned =
            structure.instance(Relation::Reachable, Bytes::new(4), &mut Budget::unlimited()).unwrap();
        solve(&aligned);
    }
}

/// In an odd cycle of five or more buffers, the cliques do not determine the optimum.
#[test]
fn odd_cycles_need_more_than_their_cliques() {
    for (n, size, expected) in
        [(5, 1, 3), (5, 2, 5), (5, 1000, 2500), (7, 2, 5), (7, 3, 7), (9, 4, 9), (9, 3, 7)]
    {
        let buffers = (0..n).map(|at: usize| (at.to_string(), Bytes::new(size)));
        let edges = (0..n).map(|at| (at, (at + 1) % n));
        let instance = Instance::from_conflicts(format!("cycle {n}"), buffers, edges).unwrap();
        let outcome = solve(&instance);
        assert_eq!(
            (outcome.claim, outcome.value),
            (Claim::Optimal, Some(Bytes::new(expected))),
            "{n} {size}"
        );
    }
}

/// Conflict tables have no time order, and clique bounds are often not tight on them.
#[test]
fn agrees_with_all_colourings_of_tables() {
    let (mut proved, mut beyond_cliques, mut raw) = (0, 0, 1u64);
    let mut below = |n: u64| {
        raw = raw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (raw >> 33) % n
    };
    for round in 0..150 {
        let n = 5 + round % 3;
        let buffers: Vec<_> = (0..n).map(|at| (at.to_string(), Bytes::new(2 + below(2)))).collect();
        // The graph is a cycle with a few chords, so it is usually not perfect.
        let mut edges: Vec<(usize, usize)> = (0..n).map(|at| (at, (at + 1) % n)).collect();
        for a in 0..n {
            for b in a + 2..n {
                if below(9) == 0 {
                    edges.push((a, b));
                }
            }
        }
        let instance = Instance::from_conflicts(format!("table {round}"), buffers, edges).unwrap();
        let (optimum, outcome) = (brute(&instance), solve(&instance));
        let (value, bound) = (outcome.value.unwrap().get(), outcome.lower_bound.value.get());
        assert!(bound <= optimum && optimum <= value, "round {round}: {bound} {optimum} {value}");
        assert!(value <= optimum + 1, "round {round}");
        proved += usize::from(outcome.claim == Claim::Optimal);
        beyond_cliques += usize::from(matches!(outcome.lower_bound.witness, Witness::Search { .. }));
    }
    println!("{proved} of 150 proved, {beyond_cliques} beyond cliques");
    assert!(proved >= 145 && beyond_cliques >= 10, "{proved} {beyond_cliques}");
}

#[test]
fn every_feature_is_answered() {
    for seed in 0..320 {
        let instance = small_instance(SmallParams::with_features(3 + seed as usize % 6, seed / 2 % 16), seed);
        let outcome = solve(&instance);
        let again = solve(&instance);
        assert_eq!(outcome.solution, again.solution);
        // Solve again, first with the value as the capacity, and then with one byte less.
        let value = outcome.value.unwrap();
        let fits = instance.clone().with_capacity(Some(value));
        let found = SplitExact::default().solve(&fits, &mut Budget::unlimited(), &mut Silent).unwrap();
        assert_eq!(found.claim, outcome.claim);
        if outcome.claim == Claim::Optimal && value > Bytes::new(1) {
            let tight = instance.with_capacity(Some(Bytes::new(value.get() - 1)));
            let found = SplitExact::default().solve(&tight, &mut Budget::unlimited(), &mut Silent).unwrap();
            assert_eq!(found.claim, Claim::Infeasible, "seed {seed}");
        }
    }
}

#[test]
fn the_patent_s_table_takes_43_if_split() {
    let outcome = solve(&patent().instance);
    assert_eq!((outcome.claim, outcome.value), (Claim::Optimal, Some(Bytes::new(43))));
    assert!(matches!(outcome.lower_bound.witness, Witness::Clique { .. } | Witness::AlignedClique { .. }));
}

#[test]
fn nothing_and_the_largest_are_answered() {
    let empty = InstanceBuilder::new("empty").build().unwrap();
    let outcome = SplitExact::default().solve(&empty, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!((outcome.claim, outcome.value), (Claim::Optimal, Some(Bytes::ZERO)));
    let buffers = (0..5).map(|at| (at.to_string(), Bytes::new(1 << 60)));
    let huge = Instance::from_conflicts("huge", buffers, (0..5).map(|at| (at, (at + 1) % 5))).unwrap();
    let outcome = solve(&huge);
    assert_eq!((outcome.claim, outcome.value), (Claim::Optimal, Some(Bytes::new(5 << 59))));
    let none = Budget::unlimited().with_node_limit(0);
    let hurried = SplitExact::default().solve(&huge, &mut none.clone(), &mut Silent).unwrap();
    assert!(hurried.lower_bound.value <= Bytes::new(5 << 59));
}
