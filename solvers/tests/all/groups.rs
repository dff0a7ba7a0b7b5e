//! Tests of rigid groups: all solvers that support them agree with brute force, and brute force agrees with
//! an enumeration of all offsets.

use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_model::{
    Budget, Buffer, Bytes, Claim, Instance, InstanceBuilder, Kind, Lifespan, Offsets, Outcome, Problem,
    Setup, Silent, Solver, guarded, verify_bound,
};
use plimsoll_solvers::offsets::{BruteForce, ENTRIES as OFFSETS};

fn solved(instance: &Instance, solver: &dyn Solver<Offsets>, seed: u64) -> Outcome<Offsets> {
    let outcome = solver.solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    if let (Claim::Optimal | Claim::Feasible, Some(layout)) = (outcome.claim, &outcome.solution) {
        assert_eq!(Offsets::check(instance, layout), [], "{} on seed {seed}: {instance:?}", solver.name());
    }
    outcome
}

fn instance_of(seed: u64, buffers: usize) -> Instance {
    small_instance(SmallParams::with_groups(buffers, seed % 32), seed)
}

/// Returns true if there is a layout with a peak of at most `peak`. Tries all offsets of all buffers.
fn fits(instance: &Instance, peak: u64, offsets: &mut Vec<Bytes>) -> bool {
    let Some(id) = instance.ids().nth(offsets.len()) else { return true };
    let b = instance.buffer(id);
    let most = if b.is_empty() { 80 } else { peak.saturating_sub(b.size().get()) };
    for offset in (0..=most).filter(|_| b.size().get() <= peak) {
        offsets.push(Bytes::new(offset));
        let kept: Vec<_> = instance.ids().take(offsets.len()).collect();
        let end = |id: plimsoll_model::BufferId| offsets[id.index()].get() + instance.buffer(id).size().get();
        let apart = |other: &plimsoll_model::BufferId| {
            !instance.conflict(id, *other) || end(id) <= offsets[other.index()].get() || end(*other) <= offset
        };
        let tied = instance.ids().filter_map(|upper| {
            let (lower, distance) = instance.above(upper)?;
            let (upper, lower) = (offsets.get(upper.index())?, offsets.get(lower.index())?);
            Some(upper.get() == lower.get() + distance.get())
        });
        let tied = tied.collect::<Vec<_>>();
        let valid = offset % b.alignment().get() == 0
            && b.fixed().is_none_or(|fixed| fixed.get() == offset)
            && kept.iter().filter(|&&other| other != id).all(apart)
            && tied.into_iter().all(|one| one);
        if valid && fits(instance, peak, offsets) {
            return true;
        }
        offsets.pop();
    }
    false
}

#[test]
fn brute_force_agrees_with_all_offsets() {
    let mut grouped = 0;
    for seed in 0..200 {
        let params = SmallParams { max_size: 4, steps: 4, ..SmallParams::with_groups(4, seed % 32) };
        let instance = small_instance(params, seed);
        grouped += usize::from(instance.has_groups());
        let brute = guarded(BruteForce);
        let optimum = solved(&instance, &*brute, seed).value.unwrap().get();
        assert!(fits(&instance, optimum, &mut Vec::new()), "seed {seed}: {instance:?}");
        assert!(optimum == 0 || !fits(&instance, optimum - 1, &mut Vec::new()), "seed {seed}: {instance:?}");
    }
    assert!(grouped > 80, "{grouped}");
}

#[test]
fn solvers_that_support_groups_agree_with_brute_force() {
    let (mut tried, mut grouped) = (0, 0);
    for seed in 0..400 {
        let mut instance = instance_of(seed, 3 + (seed / 32 % 4) as usize);
        let brute = guarded(BruteForce);
        let optimum = solved(&instance, &*brute, seed).value.expect("without a capacity there is a layout");
        grouped += usize::from(instance.has_groups());
        if seed % 3 > 0 && optimum.get() > 0 {
            instance = instance.with_capacity(Some(Bytes::new(optimum.get() - (seed % 3 - 1))));
        }
        let expected = if seed % 3 == 2 && optimum.get() > 0 { Claim::Infeasible } else { Claim::Optimal };
        for entry in OFFSETS {
            let solver = (entry.build)(Setup { seed, threads: 1, ..Setup::default() });
            if solver.supports(&instance).is_err() {
                continue;
            }
            tried += usize::from(instance.has_groups());
            let outcome = solved(&instance, &*solver, seed);
            assert_eq!(outcome.claim, expected, "{} on seed {seed}: {instance:?} {outcome:?}", entry.name);
            if expected == Claim::Optimal {
                assert_eq!(outcome.value, Some(optimum), "{} on seed {seed}", entry.name);
            }
        }
    }
    assert!(grouped > 100 && tried >= grouped, "{grouped} {tried}");
}

#[test]
fn heuristics_respect_groups() {
    let supported: Vec<_> = plimsoll_heuristics::offsets::ENTRIES
        .iter()
        .filter(|entry| (entry.build)(Setup::default()).supports_groups())
        .map(|entry| entry.name)
        .collect();
    assert!(supported.len() >= 16, "{supported:?}");
    for seed in 0..150 {
        let instance = instance_of(seed, 8);
        for entry in plimsoll_heuristics::offsets::ENTRIES {
            assert_eq!(entry.kind, Kind::Heuristic);
            let solver = (entry.build)(Setup { seed, ..Setup::default() });
            if solver.supports(&instance).is_ok() {
                let outcome = solved(&instance, &*solver, seed);
                assert!(outcome.value.unwrap() >= outcome.lower_bound.value, "{}", entry.name);
                assert_eq!(verify_bound(&instance, &outcome.lower_bound), Ok(()), "{}", entry.name);
            }
        }
    }
}

#[test]
fn gradients_of_one_all_reduce_are_contiguous() {
    let buffer = |name: &str, lower, upper, size: u64| {
        Buffer::new(name, size, Lifespan::single(lower, upper).unwrap())
    };
    let builder = InstanceBuilder::new("grads")
        .buffer(buffer("a0", 0, 9, 100))
        .buffer(buffer("g1", 1, 10, 40))
        .buffer(buffer("g2", 3, 10, 24))
        .buffer(buffer("g3", 5, 10, 36))
        .buffer(buffer("t1", 1, 3, 50))
        .buffer(buffer("t2", 3, 5, 60));
    let instance = builder.above(2, 1, 40u64).above(3, 2, 24u64).build().unwrap();
    for entry in OFFSETS {
        let solver = (entry.build)(Setup::default());
        if solver.supports(&instance).is_ok() {
            let outcome = solved(&instance, &*solver, 0);
            assert_eq!(
                (outcome.claim, outcome.value.unwrap().get()),
                (Claim::Optimal, 224),
                "{}",
                entry.name
            );
        }
    }
}
