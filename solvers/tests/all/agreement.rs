//! Tests that every exact solver agrees with brute force on small random instances with all features of the
//! model.

use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_model::{
    Budget, Buffer, Claim, Instance, Lifespan, Offsets, Outcome, Problem, Setup, Silent, Solver,
};
use plimsoll_solvers::offsets::{BruteForce, ENTRIES as OFFSETS};

/// Number of instances per test. Two tests together cover 2,000 instances.
const INSTANCES: u64 = 1_000;

fn checked(instance: &Instance, solver: &dyn Solver<Offsets>, seed: u64) -> Outcome<Offsets> {
    let outcome = solver.solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    if let (Claim::Optimal | Claim::Feasible, Some(layout)) = (outcome.claim, &outcome.solution) {
        assert_eq!(Offsets::check(instance, layout), [], "{} on seed {seed}", solver.name());
    }
    outcome
}

fn agree(seeds: impl Iterator<Item = u64>) {
    let mut above_load = 0;
    for seed in seeds {
        // The instances have 3 to 7 buffers and every combination of gaps, alignments, fixed offsets, and
        // separations with exclusions.
        let params = SmallParams::with_features(3 + (seed / 16 % 5) as usize, seed % 16);
        let mut instance = small_instance(params, seed);
        let reference = checked(&instance, &BruteForce, seed);
        let optimum = reference.value.expect("without a capacity there is a layout");
        above_load += usize::from(optimum > plimsoll_model::load(&instance).0);
        // Two thirds of the instances have a capacity, which is the optimum or one byte less.
        if seed % 3 > 0 {
            instance = instance.with_capacity(Some((optimum.get() - (seed % 3 - 1)).into()));
        }
        let expected = if seed % 3 == 2 { Claim::Infeasible } else { Claim::Optimal };
        for entry in OFFSETS {
            let solver = (entry.build)(Setup { seed, threads: 1, ..Setup::default() });
            let outcome = checked(&instance, &*solver, seed);
            assert_eq!(outcome.claim, expected, "{} on seed {seed}: {outcome:?}", entry.name);
            if expected == Claim::Optimal {
                assert_eq!(outcome.value, Some(optimum), "{} on seed {seed}", entry.name);
            }
        }
    }
    assert!(above_load > 0, "some optima lie above the load");
}

/// Tests instances that consist of several independent parts. The peak of a part may be far below the bound
/// of the whole instance, and solvers must not treat this as a contradiction.
#[test]
fn all_exact_solvers_agree_where_the_instance_falls_apart() {
    for seed in 0..150 {
        let parts = (0..3).map(|part| {
            let params = SmallParams { max_size: 3 + 5 * part, ..SmallParams::with_features(2, 2) };
            small_instance(params, 3 * seed + part)
        });
        let mut builder = plimsoll_model::InstanceBuilder::new("parts");
        for (part, instance) in (0..).zip(parts) {
            for b in instance.buffers() {
                let hull = b.lifespan().hull();
                let shift = 10 * part;
                let lifespan = Lifespan::single(hull.lower.get() + shift, hull.upper.get() + shift).unwrap();
                let buffer = Buffer::new(format!("{part}-{}", b.name()), b.size(), lifespan);
                builder = builder.buffer(buffer.aligned(b.alignment()));
            }
        }
        let instance = builder.build().unwrap();
        let optimum = checked(&instance, &BruteForce, seed).value;
        for entry in OFFSETS {
            let outcome =
                checked(&instance, &*(entry.build)(Setup { seed, threads: 2, ..Setup::default() }), seed);
            assert_eq!(
                (outcome.claim, outcome.value),
                (Claim::Optimal, optimum),
                "{} on seed {seed}",
                entry.name
            );
        }
    }
}

#[test]
fn all_exact_solvers_agree_on_even_seeds() {
    agree((0..INSTANCES).map(|i| 2 * i));
}

#[test]
fn all_exact_solvers_agree_on_odd_seeds() {
    agree((0..INSTANCES).map(|i| 2 * i + 1));
}

/// Products of sizes and steps exceed 64 bits, and sums of a few sizes come close to 2^63.
#[test]
fn our_own_solvers_agree_on_huge_sizes() {
    for seed in 0..300 {
        let max_size = 1 << (28 + seed % 31);
        // Fixed offsets are omitted because sums would exceed the limit.
        let features = [0, 1, 2, 8, 11][seed as usize % 5];
        let params =
            SmallParams { max_size, ..SmallParams::with_features(3 + (seed / 5 % 5) as usize, features) };
        let instance = small_instance(params, seed);
        let optimum = checked(&instance, &BruteForce, seed).value;
        for name in ["exact", "search"] {
            let entry = OFFSETS.iter().find(|entry| entry.name == name).expect("it is registered");
            let outcome =
                checked(&instance, &*(entry.build)(Setup { seed, threads: 1, ..Setup::default() }), seed);
            assert_eq!((outcome.claim, outcome.value), (Claim::Optimal, optimum), "{name} on seed {seed}");
        }
    }
}

#[test]
fn worked_examples_have_the_known_optima() {
    for worked in plimsoll_datasets::worked_examples() {
        let optimum = worked.optimum.expect("every worked example is small");
        for entry in OFFSETS {
            let solver = (entry.build)(Setup::default());
            if solver.supports(&worked.instance).is_err() {
                continue;
            }
            let outcome = checked(&worked.instance, &*solver, 0);
            assert_eq!(
                (outcome.claim, outcome.value),
                (Claim::Optimal, Some(optimum)),
                "{} {}",
                worked.name,
                entry.name
            );
        }
    }
}

/// The optimum is known by construction. The bound of a stopped run must not exceed it, and an optimal claim
/// requires that the value and the bound equal it.
#[test]
fn a_short_limit_proves_nothing_it_should_not() {
    let params = plimsoll_datasets::PackingParams::with_buffers(60);
    let packing = plimsoll_datasets::guillotine(params, 7).unwrap();
    for entry in OFFSETS {
        let solver = (entry.build)(Setup::default());
        if solver.supports(&packing.instance).is_err() {
            continue;
        }
        for milliseconds in [0, 1, 5, 20] {
            let limit = std::time::Duration::from_millis(milliseconds);
            let budget = &mut Budget::unlimited().with_time_limit(limit);
            let outcome = solver.solve(&packing.instance, budget, &mut Silent).unwrap();
            assert!(outcome.lower_bound.value <= packing.optimum, "{} {milliseconds} ms", entry.name);
            let met = outcome.value == Some(packing.optimum);
            assert_eq!(outcome.claim == Claim::Optimal, met, "{} {milliseconds} ms", entry.name);
            assert_ne!(outcome.claim, Claim::Infeasible, "{} {milliseconds} ms", entry.name);
        }
    }
}
