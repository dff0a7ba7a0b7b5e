//! The ILP and SMT formulations against brute force, on perfect packings, and under limits.

use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_model::{
    Budget, Buffer, BufferId, Bytes, Claim, Instance, InstanceBuilder, Lifespan, Offsets, Problem, Setup,
    Silent, Solver, Stop, Witness, simple_bound,
};
use plimsoll_solvers::ilp::Ilp;
use plimsoll_solvers::smt::Smt;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::time::Duration;

/// The exact solvers under test.
fn solvers() -> Vec<Box<dyn Solver<Offsets>>> {
    vec![Box::new(Ilp::new(Setup::default())), Box::new(Smt::new(Setup::default()))]
}

/// A rectangle of `width` steps and `height` bytes, cut edge to edge into `n` pieces: the optimum is `height`.
fn guillotine(width: u64, height: u64, n: usize, seed: u64) -> Instance {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut pieces = vec![(0u64, width, height)];
    while pieces.len() < n {
        let at = rng.random_range(0..pieces.len());
        let (x, w, h) = pieces[at];
        let across = rng.random_bool(0.5);
        if (if across { w } else { h }) < 2 {
            continue;
        }
        if across {
            let cut = rng.random_range(1..w);
            pieces[at] = (x, cut, h);
            pieces.push((x + cut, w - cut, h));
        } else {
            let cut = rng.random_range(1..h);
            pieces[at] = (x, w, cut);
            pieces.push((x, w, h - cut));
        }
    }
    let buffers = pieces.iter().enumerate().map(|(i, &(x, w, h))| {
        Buffer::new(format!("b{i}"), h, Lifespan::single(x, x + w).expect("pieces are not empty"))
    });
    InstanceBuilder::new(format!("guillotine-{n}-{seed}")).buffers(buffers).build().expect("valid")
}

/// The lowest peak over all orders of the buffers from the bottom up, each pushed down onto those before it.
fn brute_force(instance: &Instance) -> Option<u64> {
    fn extend(instance: &Instance, placed: &mut Vec<(usize, u64)>, peak: u64, best: &mut Option<u64>) {
        if best.is_some_and(|best| peak >= best) {
            return;
        }
        if placed.len() == instance.len() {
            *best = Some(peak);
            return;
        }
        for id in instance.ids() {
            if placed.iter().any(|&(other, _)| other == id.index()) {
                continue;
            }
            let buffer = instance.buffer(id);
            let below = placed.iter().filter(|&&(o, _)| instance.conflict(id, BufferId::at(o)));
            let floor = below.map(|&(_, end)| end).max().unwrap_or(0);
            let offset = match buffer.fixed() {
                Some(fixed) if fixed.get() < floor => continue,
                Some(fixed) => fixed.get(),
                None => floor.next_multiple_of(buffer.alignment().get()),
            };
            let end = offset + buffer.size().get();
            placed.push((id.index(), end));
            extend(instance, placed, peak.max(end), best);
            placed.pop();
        }
    }
    let mut best = None;
    extend(instance, &mut Vec::new(), 0, &mut best);
    best
}

#[test]
fn agrees_with_brute_force_on_small_instances_with_all_features() {
    for seed in 0..200 {
        let n = 3 + (seed % 6) as usize;
        let instance = small_instance(SmallParams::with_features(n, seed / 2), seed);
        let optimum = brute_force(&instance);
        for solver in solvers() {
            let name = solver.name();
            let mut budget = Budget::unlimited();
            let outcome = solver.solve(&instance, &mut budget, &mut Silent).expect("works");
            let peak = outcome.value.map(Bytes::get);
            assert_eq!((outcome.claim, peak), (Claim::Optimal, optimum), "{name} on seed {seed}");
            let layout = outcome.solution.expect("optimal outcomes have one");
            assert_eq!(Offsets::check(&instance, &layout), [], "{name} on seed {seed}");
            assert_eq!(outcome.stop, Stop::Completed);
        }
    }
}

#[test]
fn capacity_is_met_or_refuted() {
    for seed in 0..60 {
        let instance = small_instance(SmallParams::with_features(6, seed), 1000 + seed);
        let optimum = brute_force(&instance).expect("without capacity there is a layout");
        for capacity in [optimum - 1, optimum, optimum + 3] {
            let instance = instance.clone().with_capacity(Some(Bytes::new(capacity)));
            for solver in solvers() {
                let outcome = solver.solve(&instance, &mut Budget::unlimited(), &mut Silent).expect("works");
                if capacity < optimum {
                    assert_eq!(outcome.claim, Claim::Infeasible, "{} on seed {seed}", solver.name());
                } else {
                    assert_eq!(outcome.claim, Claim::Optimal, "{} on seed {seed}", solver.name());
                    assert_eq!(outcome.value.map(Bytes::get), Some(optimum));
                    let layout = outcome.solution.expect("optimal outcomes have one");
                    assert_eq!(Offsets::check(&instance, &layout), []);
                }
            }
        }
    }
}

#[test]
fn a_target_ends_the_run() {
    for seed in 0..20 {
        let instance = guillotine(20, 100, 14, seed);
        for solver in solvers() {
            let mut budget = Budget::unlimited().with_target(Bytes::new(110));
            let outcome = solver.solve(&instance, &mut budget, &mut Silent).expect("works");
            let value = outcome.value.expect("there is a layout at 100").get();
            assert!(value <= 110, "{} on seed {seed}", solver.name());
            assert_eq!(outcome.stop, if value == 100 { Stop::Completed } else { Stop::Target });
            let mut budget = Budget::unlimited().with_target(Bytes::new(90));
            let outcome = solver.solve(&instance, &mut budget, &mut Silent).expect("works");
            assert_eq!(outcome.claim, Claim::Optimal, "an impossible target is no obstacle");
        }
    }
}

#[test]
fn limits_move_no_bound_and_prove_nothing() {
    for seed in 0..6 {
        let instance = guillotine(60, 100_000, 120, seed);
        let bound = simple_bound(&instance);
        for solver in solvers() {
            for budget in [
                Budget::unlimited().with_time_limit(Duration::ZERO),
                Budget::unlimited().with_node_limit(0),
                Budget::unlimited().with_time_limit(Duration::from_millis(1)),
                Budget::unlimited().with_time_limit(Duration::from_millis(7)),
            ] {
                let mut budget = budget;
                let outcome = solver.solve(&instance, &mut budget, &mut Silent).expect("works");
                let value = outcome.value.expect("the start is a layout");
                assert_eq!(outcome.claim == Claim::Optimal, value == bound.value, "{}", solver.name());
                assert_eq!(outcome.lower_bound.value, bound.value);
                assert!(!matches!(outcome.lower_bound.witness, Witness::Search { .. }));
                assert!(value == bound.value || matches!(outcome.stop, Stop::TimeLimit | Stop::NodeLimit));
            }
        }
    }
}

#[test]
fn perfect_packings_are_proved() {
    for seed in 0..4 {
        for solver in solvers() {
            let instance = guillotine(40, 1000, 30, seed);
            let mut budget = Budget::unlimited().with_time_limit(Duration::from_secs(60));
            let outcome = solver.solve(&instance, &mut budget, &mut Silent).expect("works");
            assert_eq!((outcome.claim, outcome.value), (Claim::Optimal, Some(Bytes::new(1000))));
        }
    }
}
