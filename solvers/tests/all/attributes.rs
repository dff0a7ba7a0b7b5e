//! Tests that instances with constraints of every kind get the optimum that brute force finds.

use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_model::{
    Budget, Buffer, BufferId, Bytes, Instance, InstanceBuilder, Offsets, Outcome, Problem, Setup, Silent,
    Solver,
};
use plimsoll_solvers::offsets::ENTRIES as OFFSETS;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

fn solver(name: &str, seed: u64) -> Box<dyn Solver<Offsets>> {
    let (own, parameters) = name.split_once(':').unwrap_or((name, ""));
    let entry = OFFSETS.iter().find(|entry| entry.name == own).unwrap();
    let entry = if parameters.is_empty() { entry } else { entry.with(parameters).unwrap() };
    (entry.build)(Setup { seed, ..Setup::default() })
}

fn solved(name: &str, instance: &Instance, seed: u64) -> Outcome<Offsets> {
    solver(name, seed).solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap()
}

/// Draws an instance with a random mixture of constraints. Often all alignments are equal and do not divide
/// the sizes, some sizes are 0, or sizes are multiples of a large number. Returns `None` if the constraints
/// exclude each other.
fn draw(seed: u64) -> Option<Instance> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (steps, max_size) = (rng.random_range(1..10), [2, 5, 9, 40][rng.random_range(0..4)]);
    let (buffers, mask) = (rng.random_range(1..8), rng.random_range(0..16));
    // Brute force tries every order of all buffers if there are groups.
    let features = if seed.is_multiple_of(3) {
        SmallParams::with_groups(buffers.min(6), mask)
    } else {
        SmallParams::with_features(buffers, mask)
    };
    let params = SmallParams { steps, max_size, ..features };
    let small = small_instance(params, seed);
    let common = [1, 1, 4, 6][rng.random_range(0..4)];
    let factor = [1, 1, 3, 8][rng.random_range(0..4)];
    let empty = rng.random_bool(0.2);
    let buffers = small.buffers().iter().map(|b| {
        let size = if empty && rng.random_bool(0.2) { 0 } else { b.size().get() * factor };
        let scaled = Buffer::new(b.name(), size, b.lifespan().clone());
        let scaled = scaled.aligned(b.alignment().get() * common);
        match b.fixed() {
            Some(at) => scaled.fixed_at(at.get() * factor * common),
            None => scaled,
        }
    });
    let builder = InstanceBuilder::new("drawn").buffers(buffers.collect::<Vec<_>>());
    let pairs = small.separations().iter().map(|(a, b)| (a.index(), b.index()));
    let builder = pairs.fold(builder, |builder, (a, b)| builder.separate(a, b));
    let pairs = small.exclusions().iter().map(|(a, b)| (a.index(), b.index()));
    let builder = pairs.fold(builder, |builder, (a, b)| builder.exclude(a, b));
    let above = |id: BufferId| small.above(id).map(|(lower, distance)| (id, lower, distance));
    let above = small.ids().filter_map(above);
    let scale = factor * common;
    let builder = above.fold(builder, |builder, (upper, lower, distance)| {
        builder.above(upper.index(), lower.index(), distance.get() * scale)
    });
    builder.build().ok()
}

/// Compares the optima, and the decisions at the optimum and one byte below it.
fn compare(seed: u64, names: &[&str]) {
    let Some(instance) = draw(seed).filter(|instance| instance.contradiction().is_none()) else { return };
    let reference = solved("brute-force", &instance, 0);
    let best = reference.value.unwrap();
    for name in names {
        let outcome = solved(name, &instance, seed);
        assert_eq!((outcome.claim, outcome.value), (reference.claim, Some(best)), "{name}, seed {seed}");
        assert_eq!(Offsets::check(&instance, &outcome.solution.unwrap()), [], "{name}, seed {seed}");
        let within =
            |capacity: u64| solved(name, &instance.clone().with_capacity(Some(Bytes::new(capacity))), seed);
        assert_eq!(within(best.get()).value, Some(best), "{name}, seed {seed}");
        if let Some(below) = best.get().checked_sub(1) {
            let refuted = within(below);
            assert!(refuted.lower_bound.value >= best, "{name}, seed {seed}: {refuted:?}");
        }
    }
}

#[test]
fn optima_agree_with_brute_force() {
    for seed in (0..600).chain([5_664, 14_087]) {
        compare(seed, &["exact", "search", "search:branching=cliques"]);
    }
}

#[test]
#[ignore = "takes minutes"]
fn optima_agree_with_brute_force_on_100_000_instances() {
    for seed in 1_000..101_000 {
        compare(seed, &["exact", "search:branching=cliques"]);
    }
}
