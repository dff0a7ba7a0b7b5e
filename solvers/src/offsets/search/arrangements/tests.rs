use super::refute::{Found, Refuter};
use super::steps::Steps;
use super::*;
use crate::offsets::Exact;
use crate::offsets::search::valley::Reduced;
use crate::offsets::search::{Search, SearchParams};
use plimsoll_model::{
    Budget, Buffer, Claim, Instance, InstanceBuilder, Layout, Lifespan, Offsets, Problem, Setup, Silent,
    Solver, Witness, load,
};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};

/// Returns a random instance with the same load at every step. The number of live buffers at the first step
/// is `live`. At every following step, each live buffer remains live with probability `stay`, and the total
/// size of the others is divided randomly into new buffers.
pub(crate) fn flat(live: usize, steps: u64, stay: f64, sizes: (u64, u64), seed: u64) -> Instance {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut now: Vec<(u64, u64)> = (0..live).map(|_| (rng.random_range(sizes.0..=sizes.1), 0)).collect();
    let mut done: Vec<(u64, u64, u64)> = Vec::new();
    for t in 1..steps {
        let (on, ended): (Vec<_>, Vec<_>) = now.iter().copied().partition(|_| rng.random_bool(stay));
        let total: u64 = ended.iter().map(|b| b.0).sum();
        done.extend(ended.iter().map(|&(size, start)| (size, start, t)));
        now = on;
        if total > 0 {
            let pieces = (ended.len() + rng.random_range(0..3)).saturating_sub(1).clamp(1, total as usize);
            let mut cuts: Vec<u64> = sample(&mut rng, total as usize - 1, pieces - 1)
                .into_iter()
                .map(|at| at as u64 + 1)
                .collect();
            cuts.extend([0, total]);
            cuts.sort_unstable();
            now.extend(cuts.windows(2).map(|cut| (cut[1] - cut[0], t)));
        }
    }
    done.extend(now.iter().map(|&(size, start)| (size, start, steps)));
    let life = |lower, upper| Lifespan::single(lower, upper).unwrap();
    let buffers = done
        .iter()
        .enumerate()
        .map(|(i, &(size, lower, upper))| Buffer::new(format!("b{i}"), size, life(lower, upper)));
    InstanceBuilder::new("flat").buffers(buffers).build().unwrap()
}

/// Returns the optimum in bytes, found without sweeps over arrangements.
fn optimum(instance: &Instance) -> u64 {
    let params = SearchParams { arrangements: None, ..SearchParams::default() };
    let search = Search::new(Setup::default()).with_params(params);
    let outcome = search.solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!(outcome.claim, Claim::Optimal);
    outcome.value.unwrap().get()
}

/// Returns the greatest lower bound that sweeps prove, in bytes. Asserts that every layout that they find is
/// valid.
fn swept(instance: &Instance, rules: ArrangementRules) -> u64 {
    let reduced = Reduced::of(instance).unwrap();
    let mut refuter = Refuter::new(&reduced, rules);
    let mut capacity = reduced.highest_load();
    loop {
        match refuter.refute(capacity, u64::MAX, &mut Budget::unlimited().with_node_limit(200_000)) {
            Some(Found::Refuted((from, to))) => assert!(from < to && to <= reduced.sections),
            Some(Found::Layout(offsets)) => {
                assert_fits(instance, &reduced.layout(&offsets), capacity as u64 * reduced.grain);
                break;
            }
            None => break,
        }
        capacity += 1;
    }
    capacity as u64 * reduced.grain
}

fn assert_fits(instance: &Instance, layout: &Layout, capacity: u64) {
    assert_eq!(Offsets::check(instance, layout), []);
    assert!(layout.peak(instance).get() <= capacity);
}

/// Compares sweeps with a search that does not use them, on small random instances. Returns how often the
/// optimum is above the load, and in how many of these cases sweeps proved the optimum.
fn agree(cases: u64) -> (u32, u32) {
    let mut rng = StdRng::seed_from_u64(cases);
    let (mut above, mut proved) = (0, 0);
    for seed in 0..cases {
        let (live, steps) = (rng.random_range(3..8), rng.random_range(3..9));
        let low = rng.random_range(1..4);
        let sizes = (low, low + rng.random_range(1..14));
        let instance = flat(live, steps, rng.random_range(0.3..0.8), sizes, seed);
        let (best, bound) = (optimum(&instance), swept(&instance, ArrangementRules::default()));
        assert!(bound <= best, "seed {seed}: bound {bound}, optimum {best}");
        let is_above = best > load(&instance).0.get();
        above += u32::from(is_above);
        proved += u32::from(is_above && bound == best);
    }
    (above, proved)
}

#[test]
#[ignore = "takes minutes"]
fn fifty_thousand_instances_agree() {
    let (above, proved) = agree(50_000);
    assert!(above > 100 && proved * 100 >= above * 99, "{proved} of {above}");
}

/// Within this node limit, branching alone proves no bound above the load.
#[test]
fn exact_raises_the_bound_of_flat_instances_above_the_load() {
    let mut above = 0;
    for seed in 0..6 {
        let instance = flat(14, 24, 0.75, (3, 17), seed);
        let mut budget = Budget::unlimited().with_node_limit(150_000);
        let outcome = Exact::new(Setup::default()).solve(&instance, &mut budget, &mut Silent).unwrap();
        if outcome.lower_bound.value > load(&instance).0 {
            assert!(matches!(outcome.lower_bound.witness, Witness::Window { .. } | Witness::Search { .. }));
            above += 1;
        }
    }
    assert!(above >= 4, "only {above} bounds are above the load");
}

/// Beams alone find the optimum of most small instances.
#[test]
fn beams_find_layouts() {
    let mut found = 0;
    for seed in 0..40 {
        let instance = flat(7, 10, 0.6, (2, 12), seed);
        let reduced = Reduced::of(&instance).unwrap();
        let best = optimum(&instance) / reduced.grain;
        let load = load(&instance).0.get() / reduced.grain;
        for capacity in load..best + 2 {
            let mut beam = beam::Beam::new(&reduced, capacity as i64, ArrangementRules::default());
            let mut budget = Budget::unlimited().with_node_limit(200_000);
            let Some(offsets) = beam.search(&reduced, u64::MAX, &mut budget) else { continue };
            assert!(capacity >= best);
            assert_fits(&instance, &reduced.layout(&offsets), capacity * reduced.grain);
            found += u32::from(capacity == best);
        }
    }
    assert!(found >= 36, "only {found} optima of 40 were found");
}

/// With large sizes, optima lie many units above the load.
#[test]
fn bounds_many_units_above_the_load_are_right() {
    let mut far = 0;
    for seed in 0..50 {
        let instance = flat(4 + seed as usize % 4, 12, 0.5, (30, 500), seed);
        let (best, bound) = (optimum(&instance), swept(&instance, ArrangementRules::default()));
        assert!(bound <= best, "seed {seed}: bound {bound}, optimum {best}");
        let units = |bytes: u64| bytes / instance.grain().get();
        far += u32::from(units(bound) > units(load(&instance).0.get()) + 12);
    }
    assert!(far >= 3, "only {far} bounds are more than 12 units above the load");
}

/// With few leaves, no sweep passes the steps where too many buffers end and begin.
#[test]
fn sweeps_over_parts_refute_no_capacity_that_has_a_layout() {
    let mut refuted = 0;
    for seed in 0..200 {
        let instance = flat(5 + seed as usize % 4, 14, 0.55, (1, 14), seed);
        let rules = ArrangementRules { leaves: 8 + seed as usize % 4, ..Default::default() };
        let (best, bound) = (optimum(&instance), swept(&instance, rules));
        assert!(bound <= best, "seed {seed}: bound {bound}, optimum {best}");
        let (reduced, load) = (Reduced::of(&instance).unwrap(), load(&instance).0.get());
        let steps = Steps::of(&reduced, (load / reduced.grain) as i64, (rules.leaves, 0), true).unwrap();
        refuted += u32::from(bound > load && !steps.is_connected());
    }
    assert!(refuted >= 10, "only {refuted} capacities were refuted by sweeps over parts");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_refuted_capacity_has_a_layout(
        live in 3usize..8, steps in 3u64..9, stay in 0.3f64..0.8, low in 1u64..4, more in 1u64..14, seed: u64,
    ) {
        let instance = flat(live, steps, stay, (low, low + more), seed);
        let best = optimum(&instance);
        let bound = swept(&instance, ArrangementRules::default());
        prop_assert!(bound <= best, "{} above {}", bound, best);
    }

    /// If sweeps may keep only a few states, most refutations come from comparing sweeps in both directions.
    #[test]
    fn no_capacity_refuted_by_meeting_has_a_layout(
        live in 3usize..8, steps in 6u64..11, stay in 0.3f64..0.8, low in 1u64..4, more in 1u64..14, seed: u64,
        most in 1usize..9,
    ) {
        let instance = flat(live, steps, stay, (low, low + more), seed);
        let best = optimum(&instance);
        let bound = swept(&instance, ArrangementRules { first: most, last: most, ..Default::default() });
        prop_assert!(bound <= best, "{} above {}", bound, best);
    }
}
