//! Tests that algorithms see instances in normal form, and that their answers hold for the original
//! instances.

use plimsoll_datasets::{SmallParams, small_instance};
use plimsoll_model::{
    Budget, Buffer, Bytes, Instance, InstanceBuilder, Interval, Layout, Lifespan, LowerBound, Observer,
    Offsets, Outcome, Problem, Setup, Silent, SolveError, Solver, Stats, Stop, guarded, verify_bound,
};
use plimsoll_solvers::offsets::{BruteForce, Exact};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Records the instance that an algorithm receives. Its layout lays the buffers end to end, in reverse order,
/// each after an empty space of one byte.
struct Spy(Arc<Mutex<Option<Instance>>>);

impl Solver<Offsets> for Spy {
    fn name(&self) -> &'static str {
        "spy"
    }

    fn solve(
        &self,
        instance: &Instance,
        _: &mut Budget,
        _: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        *self.0.lock().unwrap() = Some(instance.clone());
        let pinned = |b: &Buffer| b.fixed().map(|at| at.get() + b.size().get());
        let mut top = instance.buffers().iter().filter_map(pinned).max().unwrap_or(0);
        let mut offsets = vec![Bytes::ZERO; instance.len()];
        for id in instance.ids().rev() {
            let b = instance.buffer(id);
            let at = b.fixed().unwrap_or_else(|| Bytes::new((top + 1).next_multiple_of(b.alignment().get())));
            top = top.max(at.get() + b.size().get());
            offsets[id.index()] = at;
        }
        let (layout, stats) = (Layout::new(offsets), Stats::default());
        Ok(Outcome::of(instance, Some(layout), LowerBound::trivial(), Stop::Completed, stats))
    }
}

/// Returns the instance that algorithms receive, and the layout of [`Spy`] for the original.
fn seen(instance: &Instance) -> (Instance, Layout) {
    let seen = Arc::new(Mutex::new(None));
    let outcome = guarded(Spy(Arc::clone(&seen))).solve(instance, &mut Budget::unlimited(), &mut Silent);
    let normal = seen.lock().unwrap().take().unwrap();
    (normal, outcome.unwrap().solution.unwrap())
}

/// Multiplies all sizes, fixed offsets and some alignments.
fn scaled(instance: &Instance, factor: u64) -> Instance {
    let buffers = instance.buffers().iter().enumerate().map(|(at, b)| {
        let scaled = Buffer::new(b.name(), b.size().get() * factor, b.lifespan().clone());
        let alignment = b.alignment().get() * if at % 2 == 0 { factor } else { 1 };
        let scaled = scaled.aligned(alignment);
        match b.fixed() {
            Some(offset) => scaled.fixed_at(offset.get() * factor),
            None => scaled,
        }
    });
    let pairs = instance.separations().iter().map(|(a, b)| (a.index(), b.index()));
    let builder = InstanceBuilder::new("scaled").buffers(buffers);
    let builder = pairs.fold(builder, |builder, (a, b)| builder.separate(a, b));
    let pairs = instance.exclusions().iter().map(|(a, b)| (a.index(), b.index()));
    pairs.fold(builder, |builder, (a, b)| builder.exclude(a, b)).build().unwrap()
}

fn optimum(solver: &dyn Solver<Offsets>, instance: &Instance) -> Outcome<Offsets> {
    solver.solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn the_normal_form_has_the_same_conflicts_and_optimum(
        buffers in 0usize..7, features in 0u64..16, seed in any::<u64>(), factor in 1u64..13, steps in 2u64..9,
    ) {
        let params = SmallParams { steps, ..SmallParams::with_features(buffers, features) };
        let instance = scaled(&small_instance(params, seed), factor);
        let (normal, layout) = seen(&instance);
        prop_assert_eq!(Offsets::check(&instance, &layout), []);
        for a in instance.ids() {
            for b in instance.ids() {
                prop_assert_eq!(instance.conflict(a, b), normal.conflict(a, b));
            }
        }
        let (original, reduced) = (optimum(&BruteForce, &instance), optimum(&BruteForce, &normal));
        prop_assert_eq!((original.claim, original.value), (reduced.claim, reduced.value));
        let exact = optimum(&*guarded(Exact::new(Setup::default())), &instance);
        prop_assert_eq!((exact.claim, exact.value), (original.claim, original.value));
        prop_assert_eq!(Offsets::check(&instance, &exact.solution.unwrap()), []);
        if exact.lower_bound.witness.solver().is_none() {
            verify_bound(&instance, &exact.lower_bound).unwrap();
        }
    }
}

fn life(lower: u64, upper: u64, gaps: &[(u64, u64)]) -> Lifespan {
    let gaps = gaps.iter().map(|&(from, to)| Interval::new(from, to));
    Lifespan::with_gaps(Interval::new(lower, upper), gaps).unwrap()
}

#[test]
fn constraints_without_effect_are_removed() {
    let buffer = |name: &str, size: u64, life: Lifespan| Buffer::new(name, size, life);
    let instance = InstanceBuilder::new("t")
        .buffer(buffer("a", 96, life(0, 9, &[(2, 4)])).aligned(32))
        .buffer(buffer("b", 192, life(0, 3, &[])).aligned(3))
        .buffer(buffer("c", 960, life(5, 9, &[])).fixed_at(480_u64).aligned(5))
        .separate(0, 1)
        .exclude(1, 2)
        .build()
        .unwrap();
    let (normal, _) = seen(&instance);
    assert!(normal.is_interval() && !normal.has_alignment() && normal.has_fixed());
}

#[test]
fn constraints_with_effect_remain() {
    let buffer = |name: &str, size: u64, life: Lifespan| Buffer::new(name, size, life);
    let instance = InstanceBuilder::new("t")
        .buffer(buffer("a", 96, life(0, 9, &[(2, 4), (5, 7)])).aligned(64))
        .buffer(buffer("b", 48, life(2, 4, &[])).aligned(16))
        .buffer(buffer("c", 48, life(7, 9, &[])))
        .separate(1, 2)
        .exclude(0, 2)
        .build()
        .unwrap();
    let (normal, _) = seen(&instance);
    // The second gap is idle. 16 divides all sizes and 64.
    assert_eq!(normal.buffers()[0].lifespan(), &life(0, 9, &[(2, 4)]));
    assert_eq!(normal.buffers()[0].alignment().get(), 64);
    assert_eq!(normal.buffers()[1].alignment().get(), 1);
    assert_eq!((normal.separations().iter().count(), normal.exclusions().iter().count()), (1, 1));
}

#[test]
fn a_load_in_a_filled_gap_becomes_a_clique() {
    let buffer = |name: &str, life: Lifespan| Buffer::new(name, 10_u64, life);
    // The gap of `a` is filled: `b` conflicts with `a` at step 0, and `c` at step 9.
    let instance = InstanceBuilder::new("t")
        .buffer(buffer("a", life(0, 10, &[(1, 9)])))
        .buffer(buffer("b", life(0, 5, &[])))
        .buffer(buffer("c", life(4, 10, &[])))
        .build()
        .unwrap();
    let outcome = optimum(&*guarded(Exact::new(Setup::default())), &instance);
    assert_eq!(outcome.value, Some(Bytes::new(30)));
    assert!(verify_bound(&instance, &outcome.lower_bound).is_ok(), "{:?}", outcome.lower_bound);
}
