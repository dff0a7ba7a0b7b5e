//! Tests spilling against exhaustive enumeration of choices, and irreducible sets by removing each buffer.

use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_model::{
    Budget, Buffer, BufferId, Bytes, Claim, Instance, InstanceBuilder, Lifespan, Setup, Silent, Solver as _,
    SpillProblem, Spilling, Stop, check_spill, load,
};
use plimsoll_solvers::offsets::BruteForce;
use plimsoll_solvers::spilling::{ENTRIES as SPILLING, Fits, fits, irreducible};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::time::Duration;

/// Returns a small problem with unusual features and a capacity that usually does not suffice.
fn small(seed: u64) -> SpillProblem {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5111);
    let instance = small_instance(SmallParams::with_features(rng.random_range(1..8), seed), seed);
    let (load, sum) = (load(&instance).0.get(), instance.total_size().get());
    let capacity = match rng.random_range(0..6) {
        0 => 0,
        1 => sum,
        _ => rng.random_range(load / 3..=load.max(1)),
    };
    let traffic = instance.buffers().iter().map(|b| match rng.random_range(0..8) {
        0 => None,
        1 => Some(Bytes::ZERO),
        2 => Some(Bytes::new(rng.random_range(0..100))),
        _ => Some(Bytes::new(b.size().get() * rng.random_range(1..4))),
    });
    let traffic = traffic.collect();
    SpillProblem::new(instance.with_capacity(Some(Bytes::new(capacity))), traffic).unwrap()
}

/// Returns true if some layout is within the capacity. Tries all placement orders.
fn fits_by_brute_force(instance: &Instance) -> bool {
    let outcome = BruteForce.solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!(outcome.stop, Stop::Completed);
    matches!(outcome.claim, Claim::Optimal | Claim::Feasible)
}

fn chosen(instance: &Instance, mask: u32) -> Vec<BufferId> {
    instance.ids().filter(|id| mask >> id.index() & 1 == 1).collect()
}

/// Returns the minimum traffic over all choices of buffers that stay, or `None` if no choice is feasible.
fn least(problem: &SpillProblem) -> Option<Bytes> {
    let instance = problem.instance();
    let mut best = None;
    for mask in 0..1u32 << instance.len() {
        let kept = chosen(instance, mask);
        let gone = instance.ids().filter(|id| !kept.contains(id));
        let Some(traffic) = gone.map(|id| problem.traffic(id).map(Bytes::get)).sum::<Option<u64>>() else {
            continue;
        };
        if best.is_none_or(|best| traffic < best) && fits_by_brute_force(&instance.induced(&kept)) {
            best = Some(traffic);
        }
    }
    best.map(Bytes::new)
}

#[test]
fn exact_equals_trying_every_choice() {
    let (mut spilled, mut impossible, mut rows) = (0, 0, 0);
    for seed in 0..400 {
        let problem = small(seed);
        let expected = least(&problem);
        for entry in SPILLING {
            let solver = (entry.build)(Setup::default());
            let outcome = solver.solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
            assert_eq!(outcome.value, expected, "{} on {seed}", entry.name);
            let claim = if expected.is_some() { Claim::Optimal } else { Claim::Infeasible };
            assert_eq!(outcome.claim, claim, "{} on {seed}", entry.name);
            if let Some(spill) = &outcome.solution {
                assert_eq!(check_spill(&problem, spill), [], "{} on {seed}", entry.name);
            }
            rows += outcome.stats.counters.get("sets that do not fit").copied().unwrap_or(0);
        }
        spilled += usize::from(expected.is_some_and(|traffic| traffic > Bytes::ZERO));
        impossible += usize::from(expected.is_none());
    }
    assert!(spilled > 150 && impossible > 30 && rows > 20, "{spilled} {impossible} {rows}");
}

#[test]
fn heuristics_are_valid_and_never_below_the_optimum() {
    for seed in 400..700 {
        let problem = small(seed);
        let exact = (SPILLING[0].build)(Setup::default());
        let best = exact.solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
        for entry in plimsoll_heuristics::spilling::ENTRIES {
            let solver = (entry.build)(Setup::default());
            let outcome = solver.solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
            let Some(spill) = &outcome.solution else { continue };
            assert_eq!(check_spill(&problem, spill), [], "{} on {seed}", entry.name);
            assert!(outcome.value >= best.value && best.value.is_some(), "{} on {seed}", entry.name);
            assert!(outcome.lower_bound.value <= best.value.unwrap(), "{} on {seed}", entry.name);
        }
    }
}

/// Checks from the definition that a set does not fit, but fits once any one of its buffers is removed.
fn assert_irreducible(instance: &Instance, set: &[BufferId]) {
    assert!(!fits_by_brute_force(&instance.induced(set)), "{set:?} fits");
    for gone in set {
        let rest: Vec<BufferId> = set.iter().copied().filter(|id| id != gone).collect();
        assert!(fits_by_brute_force(&instance.induced(&rest)), "{set:?} does not need {gone}");
    }
}

#[test]
fn sets_that_do_not_fit_are_irreducible() {
    let (mut found, mut above_load) = (0, 0);
    for seed in 0..500 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x1115);
        let instance = small_instance(SmallParams::with_features(rng.random_range(1..9), seed), seed);
        let exact = BruteForce.solve(&instance, &mut Budget::unlimited(), &mut Silent).unwrap();
        let optimum = exact.value.unwrap().get();
        for capacity in [optimum.saturating_sub(1), optimum / 2, optimum] {
            let instance = instance.clone().with_capacity(Some(Bytes::new(capacity)));
            let mut budget = Budget::unlimited();
            match fits(&instance, Setup::default(), &mut budget).unwrap() {
                Fits::Layout(layout) => {
                    assert!(capacity >= optimum && layout.peak(&instance).get() <= capacity, "{seed}");
                }
                Fits::Never(reason) => {
                    assert!(capacity < optimum, "{seed}");
                    let all: Vec<BufferId> = instance.ids().collect();
                    let core =
                        irreducible(&instance, &all, &reason, None, Setup::default(), &mut budget).unwrap();
                    assert_eq!(core.doubtful, [], "{seed}");
                    assert!(core.bound.value.get() > capacity, "{seed}");
                    assert_irreducible(&instance, &core.buffers);
                    found += 1;
                    above_load += usize::from(load(&instance.induced(&core.buffers)).0.get() <= capacity);
                }
                Fits::Unknown(stop) => panic!("{seed}: {stop:?} without a limit"),
            }
        }
    }
    assert!(found > 800 && above_load > 50, "{found} {above_load}");
}

#[test]
fn limits_leave_a_bound() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let buffers = (0..300).map(|at| {
        let lower = rng.random_range(0..100u64);
        let lifespan = Lifespan::single(lower, lower + rng.random_range(1..60)).unwrap();
        Buffer::new(format!("b{at}"), rng.random_range(1..1_000_000), lifespan)
    });
    let buffers: Vec<Buffer> = buffers.collect();
    let instance = InstanceBuilder::new("wide").buffers(buffers).build().unwrap();
    let capacity = Bytes::new(load(&instance).0.get() * 2 / 3);
    let problem = SpillProblem::written_and_read(instance.with_capacity(Some(capacity))).unwrap();
    let mut last: Option<(Option<Bytes>, Bytes)> = None;
    for nodes in [0, 1, 1000, 100_000] {
        for entry in plimsoll_heuristics::spilling::ENTRIES.iter().chain(SPILLING) {
            if entry.name == "ilp" && nodes > 0 {
                continue;
            }
            let solver = (entry.build)(Setup::default());
            let mut budget = Budget::unlimited().with_node_limit(nodes);
            let outcome = solver.solve(&problem, &mut budget, &mut Silent).unwrap();
            if let Some(spill) = &outcome.solution {
                assert_eq!(check_spill(&problem, spill), [], "{} with {nodes}", entry.name);
            }
            if entry.name == "exact" {
                let (value, bound) = (outcome.value, outcome.lower_bound.value);
                assert!(value.is_none_or(|value| bound <= value) && (nodes == 0 || bound > Bytes::ZERO));
                if let Some((before, below)) = last.replace((value, bound)) {
                    let is_no_worse = bound >= below && before.is_none_or(|before| value <= Some(before));
                    assert!(is_no_worse, "{nodes}: {value:?}, {bound} after {before:?}, {below}");
                }
            }
        }
    }
}

#[test]
fn empty_and_enormous_problems_are_answered() {
    let empty = InstanceBuilder::new("empty").capacity(Bytes::ZERO).build().unwrap();
    let huge =
        |at: u64| Buffer::new(format!("h{at}"), (1 << 60) - at, Lifespan::single(at / 2, at + 2).unwrap());
    let large = InstanceBuilder::new("large").buffers((0..3).map(huge)).capacity(Bytes::new(1 << 60));
    let large = large.build().unwrap();
    for problem in [
        SpillProblem::written_and_read(empty).unwrap(),
        SpillProblem::new(large.clone(), (0..3).map(|at| Some(Bytes::new((1 << 60) + at))).collect())
            .unwrap(),
        SpillProblem::new(large.clone(), vec![None; 3]).unwrap(),
    ] {
        let expected = least(&problem);
        for entry in SPILLING {
            // An integer program in floating point cannot prove bounds of this size.
            if entry.name == "ilp" && problem.total().get() > 1 << 40 {
                continue;
            }
            let solver = (entry.build)(Setup::default());
            let outcome = solver.solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
            assert_eq!(outcome.value, expected, "{}", entry.name);
        }
    }
    let over = SpillProblem::new(large, vec![Some(Bytes::new(1 << 62)); 3]);
    assert_eq!(over.unwrap_err().to_string(), "the traffic of all buffers adds up to 2^63 - 1 bytes or more");
    assert_eq!(<Spilling as plimsoll_model::Problem>::NAME, "spilling");
}

/// In floating point, a capacity constraint could lose the sizes of small buffers beside that of a large one.
#[test]
fn small_numbers_beside_large_ones_are_not_lost() {
    let buffer = |name: String, size: u64, (lower, upper): (u64, u64)| {
        Buffer::new(name, size, Lifespan::single(lower, upper).unwrap())
    };
    // One buffer is large and expensive to spill. Another one is as large as all small ones together and
    // costs one byte to spill. The small ones cost nothing. The optimum keeps only the large buffer.
    let (large, small, count) = (10_000_000_000_000u64, 2_000u64, 600u64);
    let capacity = large;
    let mut buffers =
        vec![buffer("large".into(), large, (0, 2)), buffer("next".into(), small * count, (0, 2))];
    buffers.extend((0..count).map(|at| buffer(format!("s{at}"), small, (0, 2))));
    let instance =
        InstanceBuilder::new("beside").buffers(buffers).capacity(Bytes::new(capacity)).build().unwrap();
    let mut traffic = vec![Some(Bytes::new(1000)), Some(Bytes::new(1))];
    traffic.extend((0..count).map(|_| Some(Bytes::ZERO)));
    let problem = SpillProblem::new(instance, traffic).unwrap();
    for entry in SPILLING {
        let solver = (entry.build)(Setup::default());
        let mut budget = Budget::unlimited().with_node_limit(2_000_000);
        let outcome = solver.solve(&problem, &mut budget, &mut Silent).unwrap();
        assert!(outcome.lower_bound.value <= Bytes::new(1), "{}: {:?}", entry.name, outcome.lower_bound);
        assert_eq!(outcome.value, Some(Bytes::new(1)), "{}", entry.name);
    }
}

/// Returns buffers with random sizes and traffic. All are live at one step if `steps` is 1.
fn random(count: u64, steps: u64, rng: &mut Xoshiro256PlusPlus) -> (Instance, Vec<Option<Bytes>>) {
    let mut builder = InstanceBuilder::new("random");
    let mut traffic = Vec::new();
    for at in 0..count {
        let lower = rng.random_range(0..steps);
        let upper = rng.random_range(lower + 1..=steps);
        let size: u64 = rng.random_range(1..200);
        builder =
            builder.buffer(Buffer::new(format!("b{at}"), size, Lifespan::single(lower, upper).unwrap()));
        traffic.push(rng.random_bool(0.95).then(|| Bytes::new(rng.random_range(0..1_000_000))));
    }
    (builder.build().unwrap(), traffic)
}

/// Returns the least traffic of buffers that are all live at one step, by dynamic programming.
fn least_at_one_step(problem: &SpillProblem) -> u64 {
    let capacity = problem.capacity().get() as usize;
    let mut best: Vec<Option<u64>> = vec![Some(0); capacity + 1];
    for (id, buffer) in problem.instance().ids().zip(problem.instance().buffers()) {
        let size = buffer.size().get() as usize;
        let before = best.clone();
        for (space, best) in best.iter_mut().enumerate() {
            let goes = before[space].and_then(|cost| Some(cost + problem.traffic(id)?.get()));
            let stays = space.checked_sub(size).and_then(|space| before[space]);
            *best = goes.into_iter().chain(stays).min();
        }
    }
    best[capacity].unwrap_or(problem.total().get() + 1)
}

/// If all buffers are live at one step, the problem is a knapsack problem. It takes few nodes, and a time
/// limit changes nothing.
#[test]
fn buffers_live_at_one_step_are_a_knapsack() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(60);
    for count in (1..70).chain([324, 1000]) {
        let (instance, traffic) = random(count, 1, &mut rng);
        let capacity = instance.total_size().get() * rng.random_range(10..90) / 100;
        let instance = instance.with_capacity(Some(Bytes::new(capacity)));
        let problem = SpillProblem::new(instance, traffic).unwrap();
        let least = least_at_one_step(&problem);
        let limits = [Budget::unlimited(), Budget::unlimited().with_time_limit(Duration::from_secs(20))];
        for mut budget in limits {
            let outcome =
                (SPILLING[0].build)(Setup::default()).solve(&problem, &mut budget, &mut Silent).unwrap();
            assert_eq!(outcome.lower_bound.value.get(), least, "{count} buffers");
            let value = outcome.value.map_or(problem.total().get() + 1, Bytes::get);
            assert_eq!(value, least, "{count} buffers");
            assert!(outcome.stats.nodes < 100_000, "{count} buffers: {} nodes", outcome.stats.nodes);
        }
    }
}

/// Bounds of runs that a node limit ends are at most the optimum.
#[test]
fn bounds_of_limited_runs_hold() {
    for seed in 0..300 {
        let problem = small(seed);
        let least = least(&problem).map_or(problem.total().get() + 1, Bytes::get);
        for limit in [1, 10, 100, 1000] {
            let mut budget = Budget::unlimited().with_node_limit(limit);
            let outcome =
                (SPILLING[0].build)(Setup::default()).solve(&problem, &mut budget, &mut Silent).unwrap();
            assert!(outcome.lower_bound.value.get() <= least, "seed {seed}, limit {limit}");
            assert!(outcome.value.is_none_or(|value| value.get() >= least), "seed {seed}, limit {limit}");
        }
    }
}
