//! Tests the ILP and SMT formulations against brute force, on perfect packings, and under limits.

use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_model::{
    Budget, Buffer, BufferId, Bytes, Claim, Instance, InstanceBuilder, Lifespan, Offsets, Problem, Setup,
    SharedObjects, Silent, Solver, Stop, Witness, simple_bound,
};
use plimsoll_solvers::offsets::ilp::{Formulation, Ilp};
use plimsoll_solvers::offsets::smt::Smt;
use plimsoll_solvers::shared_objects::PoolIlp;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::time::Duration;

/// Returns the solvers under test.
fn solvers() -> Vec<Box<dyn Solver<Offsets>>> {
    vec![Box::new(Ilp::new(Setup::default())), Box::new(Smt::new(Setup::default()))]
}

/// Returns an instance that is a rectangle of `width` steps and `height` bytes, divided into `n` pieces by
/// guillotine cuts. The optimum is `height`.
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

/// Returns the lowest peak over all orders of the buffers, where each buffer is placed directly above the
/// conflicting buffers that precede it. Returns `None` if no order gives a layout.
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
            let layout = outcome.solution.expect("optimal outcomes have a solution");
            assert_eq!(Offsets::check(&instance, &layout), [], "{name} on seed {seed}");
            assert_eq!(outcome.stop, Stop::Completed);
        }
    }
}

#[test]
fn formulations_agree_beyond_brute_force() {
    let mut above_simple = 0;
    for seed in 0..48 {
        let n = 10 + (seed % 6) as usize;
        let instance = small_instance(SmallParams::with_features(n, seed), 9000 + seed);
        let outcomes: Vec<_> = solvers()
            .iter()
            .map(|solver| solver.solve(&instance, &mut Budget::unlimited(), &mut Silent).expect("works"))
            .collect();
        assert!(outcomes.iter().all(|outcome| outcome.claim == Claim::Optimal), "seed {seed}");
        assert_eq!(outcomes[0].value, outcomes[1].value, "seed {seed}");
        above_simple += usize::from(outcomes[0].value != Some(simple_bound(&instance).value));
    }
    assert!(above_simple > 5, "some optima are above the simple bound: {above_simple}");
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
                    let layout = outcome.solution.expect("optimal outcomes have a solution");
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
            let outcome = solver.solve(&instance, &mut Budget::unlimited(), &mut Silent).expect("works");
            assert_eq!((outcome.claim, outcome.value), (Claim::Optimal, Some(Bytes::new(1000))));
        }
    }
}

/// Returns the minimum total size of objects over all assignments of buffers to objects.
fn brute_force_pools(instance: &Instance) -> u64 {
    fn extend(instance: &Instance, at: usize, pools: &mut Vec<(u64, Vec<BufferId>)>, best: &mut u64) {
        let total: u64 = pools.iter().map(|pool| pool.0).sum();
        if total >= *best {
            return;
        }
        if at == instance.len() {
            *best = total;
            return;
        }
        let (id, size) = (BufferId::at(at), instance.buffers()[at].size().get());
        for p in 0..pools.len() {
            if pools[p].1.iter().any(|&other| instance.conflict(id, other)) {
                continue;
            }
            let before = pools[p].0;
            pools[p].0 = before.max(size);
            pools[p].1.push(id);
            extend(instance, at + 1, pools, best);
            pools[p].1.pop();
            pools[p].0 = before;
        }
        pools.push((size, vec![id]));
        extend(instance, at + 1, pools, best);
        pools.pop();
    }
    let mut best = u64::MAX;
    extend(instance, 0, &mut Vec::new(), &mut best);
    best
}

#[test]
fn pools_agree_with_brute_force() {
    for seed in 0..200 {
        let n = 3 + (seed % 7) as usize;
        let instance = small_instance(SmallParams::with_features(n, seed / 2), 5000 + seed);
        let optimum = brute_force_pools(&instance);
        let solver = PoolIlp::new(Setup::default());
        for capacity in [None, Some(optimum), Some(optimum - 1)] {
            let instance = instance.clone().with_capacity(capacity.map(Bytes::new));
            let outcome = solver.solve(&instance, &mut Budget::unlimited(), &mut Silent).expect("works");
            if capacity == Some(optimum - 1) {
                assert_eq!(outcome.claim, Claim::Infeasible, "seed {seed}");
                continue;
            }
            let value = outcome.value.map(Bytes::get);
            assert_eq!((outcome.claim, value), (Claim::Optimal, Some(optimum)), "seed {seed}");
            assert_eq!(SharedObjects::check(&instance, &outcome.solution.expect("has one")), []);
        }
    }
}

#[test]
fn pool_limits_move_no_bound() {
    let mut unsettled = 0;
    for seed in 0..6 {
        let instance = small_instance(SmallParams { steps: 60, ..SmallParams::with_features(80, 0) }, seed);
        for limit in [Duration::ZERO, Duration::from_millis(1)] {
            let mut budget = Budget::unlimited().with_time_limit(limit);
            let outcome =
                PoolIlp::new(Setup::default()).solve(&instance, &mut budget, &mut Silent).expect("works");
            let value = outcome.value.expect("the start is a plan");
            assert_eq!(outcome.claim == Claim::Optimal, value == outcome.lower_bound.value);
            assert!(!matches!(outcome.lower_bound.witness, Witness::Search { .. }));
            unsettled += usize::from(outcome.claim == Claim::Feasible);
        }
    }
    assert!(unsettled > 0, "some start is not optimal");
}

#[test]
fn thread_numbers_may_differ_in_one_process() {
    for threads in [1, 2, 1, 3] {
        let instance = guillotine(40, 1000, 40, 3);
        let solver = Ilp::new(Setup { seed: 7, threads, ..Setup::default() });
        let outcome = solver.solve(&instance, &mut Budget::unlimited(), &mut Silent).expect("works");
        assert_eq!(outcome.claim, Claim::Optimal);
    }
}

/// Regression test: the peak was once an integer variable. The optimum of a relaxation was a millionth above
/// 100000, and `HiGHS` rounded it up to 100001.
#[test]
fn no_bound_passes_the_optimum_by_rounding() {
    let instance = guillotine(16, 100_000, 60, 5);
    let formulation = Formulation { decide: false, ..Formulation::default() };
    let solver = Ilp::new(Setup::default()).with_formulation(formulation);
    let mut budget = Budget::unlimited().with_time_limit(Duration::from_secs(4));
    let outcome = solver.solve(&instance, &mut budget, &mut Silent).expect("works");
    assert_eq!(outcome.lower_bound.value, Bytes::new(100_000));
}

#[test]
fn the_same_seed_gives_the_same_answer() {
    let instance = guillotine(40, 1000, 40, 3);
    for (a, b) in solvers().into_iter().zip(solvers()) {
        let solve = |solver: Box<dyn Solver<Offsets>>| {
            let mut budget = Budget::unlimited().with_node_limit(1_000_000);
            solver.solve(&instance, &mut budget, &mut Silent).expect("works")
        };
        let (a, b) = (solve(a), solve(b));
        assert_eq!((a.solution, a.lower_bound, a.stats.nodes), (b.solution, b.lower_bound, b.stats.nodes));
    }
}

#[test]
fn node_limits_are_kept() {
    for seed in 0..4 {
        let instance = guillotine(40, 1000, 45, seed);
        for solver in solvers() {
            let mut budget = Budget::unlimited().with_node_limit(3);
            let outcome = solver.solve(&instance, &mut budget, &mut Silent).expect("works");
            assert!(outcome.claim == Claim::Optimal || outcome.stop == Stop::NodeLimit, "{}", solver.name());
            assert!(outcome.stats.nodes <= 20, "{}: {}", solver.name(), outcome.stats.nodes);
        }
    }
}
