//! Tests the contract of every registry entry on small random instances with every feature.

use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_heuristics::offsets::ENTRIES as OFFSETS;
use plimsoll_heuristics::shared_objects::ENTRIES as SHARED_OBJECTS;
use plimsoll_heuristics::split_buffers::ENTRIES as SPLIT_BUFFERS;
use plimsoll_model::{
    Budget, Bytes, Claim, Entry, Instance, InstanceBuilder, InstanceProblem, Observer, Parameter, Problem,
    Setup, Silent, SolveError, Stop, verify_bound,
};
use proptest::prelude::*;
use std::time::Duration;

const SEED: Setup = Setup { seed: 7, threads: 1, buffers: 3, parameters: &[] };

#[derive(Default)]
struct Listener {
    values: Vec<Bytes>,
}

impl<P: InstanceProblem> Observer<P> for Listener {
    fn incumbent(&mut self, _: &P::Solution, value: Bytes) {
        self.values.push(value);
    }
}

/// Runs an entry twice and checks its outcome. Returns false if it does not support the instance.
fn conforms<P: InstanceProblem>(entry: &Entry<P>, instance: &Instance) -> bool
where
    P::Solution: PartialEq,
{
    let solver = (entry.build)(SEED);
    if let Err(declined) = solver.supports(instance) {
        assert!(matches!(declined, SolveError::Unsupported { .. }), "{}", entry.name);
        return false;
    }
    let mut listener = Listener::default();
    let outcome = solver.solve(instance, &mut Budget::unlimited(), &mut listener).unwrap();
    let (name, solution) = (entry.name, outcome.solution.clone().expect("a solution"));
    assert_eq!(P::check(instance, &solution), vec![], "{name} on {instance:?}");
    let value = P::value(instance, &solution);
    assert_eq!(outcome.value, Some(value), "{name}");
    assert!(value >= outcome.lower_bound.value, "{name}");
    assert_eq!(outcome.claim == Claim::Optimal, value == outcome.lower_bound.value, "{name}");
    assert_eq!(verify_bound(instance, &outcome.lower_bound), Ok(()), "{name}");
    assert_eq!(outcome.stop, Stop::Completed, "{name}");
    assert!(listener.values.is_sorted_by(|a, b| a > b), "{name}");
    assert_eq!(listener.values.last(), Some(&value), "{name}");
    let again = (entry.build)(SEED).solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!(again.solution, Some(solution), "{name} twice");
    assert_eq!(again.stats.nodes, outcome.stats.nodes, "{name} twice");
    true
}

/// Checks that limits of zero end the run at once with a valid solution, and do not change the bound.
fn stops<P: InstanceProblem>(entry: &Entry<P>, instance: &Instance) {
    let limits = [
        (Budget::unlimited().with_time_limit(Duration::ZERO), Stop::TimeLimit),
        (Budget::unlimited().with_node_limit(0), Stop::NodeLimit),
    ];
    let full = (entry.build)(SEED).solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    for (mut budget, stop) in limits {
        let outcome = (entry.build)(SEED).solve(instance, &mut budget, &mut Silent).unwrap();
        assert_eq!(outcome.stop, stop, "{}", entry.name);
        assert_ne!(outcome.claim, Claim::Infeasible, "{}", entry.name);
        let solution = outcome.solution.expect("the simplest solution needs no search");
        assert_eq!(P::check_unlimited(instance, &solution), vec![], "{}", entry.name);
        assert_eq!(outcome.lower_bound, full.lower_bound, "{}", entry.name);
    }
}

/// Returns the entries, and each entry with each of its parameters.
fn with_parameters<P: Problem>(entries: &'static [Entry<P>]) -> impl Iterator<Item = &'static Entry<P>> {
    entries.iter().flat_map(|entry| {
        let changed = move |parameter: Parameter| entry.with(parameter.name).unwrap();
        std::iter::once(entry).chain(entry.parameters().into_iter().map(changed))
    })
}

fn each_on<P: InstanceProblem>(entries: &'static [Entry<P>], instance: &Instance)
where
    P::Solution: PartialEq,
{
    for entry in with_parameters(entries) {
        conforms(entry, instance);
    }
}

#[test]
fn every_entry_conforms() {
    for seed in 0..320 {
        let instance = small_instance(SmallParams::with_features(2 + seed as usize % 9, seed % 16), seed);
        each_on(OFFSETS, &instance);
        each_on(SPLIT_BUFFERS, &instance);
        each_on(SHARED_OBJECTS, &instance);
    }
}

#[test]
fn every_entry_supports_every_feature() {
    for mask in 0..16 {
        let instance = small_instance(SmallParams::with_features(6, mask), mask);
        for entry in OFFSETS {
            assert!((entry.build)(SEED).supports(&instance).is_ok(), "{} on mask {mask}", entry.name);
        }
    }
}

#[test]
fn every_entry_respects_limits() {
    for seed in 0..16 {
        let instance = small_instance(SmallParams::with_features(8, seed), seed);
        for entry in OFFSETS {
            stops(entry, &instance);
        }
        for entry in SPLIT_BUFFERS {
            stops(entry, &instance);
        }
        for entry in with_parameters(SHARED_OBJECTS) {
            stops(entry, &instance);
        }
    }
}

fn zero<P: InstanceProblem>(entries: &'static [Entry<P>], empty: &Instance) {
    for entry in with_parameters(entries) {
        let mut budget = Budget::unlimited().with_time_limit(Duration::ZERO);
        let outcome = (entry.build)(SEED).solve(empty, &mut budget, &mut Silent).unwrap();
        assert_eq!(outcome.value, Some(Bytes::ZERO), "{}", entry.name);
        assert_eq!(outcome.claim, Claim::Optimal, "{}", entry.name);
    }
}

#[test]
fn empty_instance_needs_no_memory() {
    let empty = InstanceBuilder::new("empty").build().unwrap();
    zero(OFFSETS, &empty);
    zero(SPLIT_BUFFERS, &empty);
    zero(SHARED_OBJECTS, &empty);
}

#[test]
fn capacity_decides_the_claim() {
    for seed in 0..32 {
        let instance = small_instance(SmallParams::with_features(6, seed % 16), seed);
        for entry in OFFSETS {
            let solve = |instance: &Instance| {
                (entry.build)(SEED).solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap()
            };
            let free = solve(&instance);
            let (value, bound) = (free.value.unwrap(), free.lower_bound.value);
            let tight = solve(&instance.clone().with_capacity(Some(value)));
            assert!(matches!(tight.claim, Claim::Optimal | Claim::Feasible), "{}", entry.name);
            let below = solve(&instance.clone().with_capacity(Some(Bytes::new(bound.get() - 1))));
            assert_eq!(below.claim, Claim::Infeasible, "{}", entry.name);
        }
    }
}

#[test]
fn names_are_unique_and_match_the_solvers() {
    fn names<P: Problem>(entries: &[Entry<P>]) {
        let mut names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for entry in entries {
            assert_eq!((entry.build)(SEED).name(), entry.name);
            assert!(!entry.about.is_empty() && !entry.source.is_empty());
            assert!(entry.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        }
    }
    names(OFFSETS);
    names(SPLIT_BUFFERS);
    names(SHARED_OBJECTS);
}

/// Generates instances that shrink to fewer buffers and smaller numbers.
fn instances() -> impl Strategy<Value = Instance> {
    use plimsoll_model::{Buffer, Interval, Lifespan};
    let buffer = (1u64..40, 0u64..20, 1u64..12, 0u64..4, 0u64..3, prop::option::weighted(0.1, 0u64..30));
    let pairs = prop::collection::vec((0usize..14, 0usize..14, any::<bool>()), 0..8);
    (prop::collection::vec(buffer, 1..14), pairs).prop_filter_map("an instance", |(raw, pairs)| {
        let count = raw.len();
        let mut builder = InstanceBuilder::new("random");
        for (at, (size, lower, steps, gap, alignment, fixed)) in raw.into_iter().enumerate() {
            let hull = Interval::new(lower, lower + steps);
            let gaps = (gap > 0 && steps > gap + 1).then(|| Interval::new(lower + 1, lower + 1 + gap));
            let lifespan = Lifespan::with_gaps(hull, gaps).ok()?;
            let alignment = 1u64 << (2 * alignment);
            let mut buffer = Buffer::new(at.to_string(), size, lifespan).aligned(alignment);
            if let Some(fixed) = fixed {
                buffer = buffer.fixed_at(fixed / alignment * alignment);
            }
            builder = builder.buffer(buffer);
        }
        for (a, b, separate) in pairs.into_iter().filter(|&(a, b, _)| a < count && b < count) {
            builder = if separate { builder.separate(a, b) } else { builder.exclude(a, b) };
        }
        builder.build().ok().filter(|instance| instance.contradiction().is_none())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_answer_passes_the_checker(instance in instances()) {
        each_on(OFFSETS, &instance);
        each_on(SPLIT_BUFFERS, &instance);
        each_on(SHARED_OBJECTS, &instance);
    }
}
