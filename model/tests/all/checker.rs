//! Compares the checker with a second definition of validity, which paints the cells of a grid of steps and
//! addresses.

use plimsoll_model::{
    Buffer, BufferId, Bytes, ConflictGraph, Instance, InstanceBuilder, Layout, Lifespan, LoadProfile, Piece,
    PoolId, PoolPlan, SplitLayout, Step, Violation, check_layout, check_shared_objects, check_split_buffers,
    load, simple_bound, verify_bound,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const STEPS: u64 = 8;
const MAX_SIZE: u64 = 6;

/// Returns the pairs of buffers that share a cell although they must not.
///
/// A cell is an address at a step. At every step, a live buffer paints the cells of its addresses. Two
/// buffers that paint the same cell clash unless the pair is excluded. Separated buffers clash if they paint
/// the same address, whatever the steps.
fn painted(instance: &Instance, layout: &Layout) -> BTreeSet<(usize, usize)> {
    let mut cells: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    let mut addresses: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for (i, b) in instance.buffers().iter().enumerate() {
        let offset = layout.offsets()[i].get();
        for address in offset..offset + b.size().get() {
            addresses.entry(address).or_default().insert(i);
            for step in (0..STEPS).filter(|&step| b.lifespan().contains(Step::new(step))) {
                cells.entry((step, address)).or_default().push(i);
            }
        }
    }
    let mut clashes = BTreeSet::new();
    let together = |a: usize, b: usize| {
        let live = |i: usize, step| instance.buffers()[i].lifespan().contains(Step::new(step));
        (0..STEPS).any(|step| live(a, step) && live(b, step))
    };
    for met in cells.values() {
        for (at, &a) in met.iter().enumerate() {
            for &b in &met[at + 1..] {
                if !instance.exclusions().contains(BufferId::at(a), BufferId::at(b)) {
                    clashes.insert((a.min(b), a.max(b)));
                }
            }
        }
    }
    for met in addresses.values() {
        for &a in met {
            for &b in met.range(a + 1..) {
                if instance.separations().contains(BufferId::at(a), BufferId::at(b)) && !together(a, b) {
                    clashes.insert((a, b));
                }
            }
        }
    }
    clashes
}

fn problem() -> impl Strategy<Value = (Instance, Layout)> {
    let capacity = proptest::option::of(0..20u64);
    let offsets = proptest::collection::vec(0..16u64, 7);
    (crate::common::instance(7, STEPS, MAX_SIZE, "[a-z]{2}"), offsets, capacity).prop_map(
        |(instance, offsets, capacity)| {
            let instance = instance.with_capacity(capacity.map(Bytes::new));
            let layout = Layout::from_raw(offsets.into_iter().take(instance.len()));
            (instance, layout)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_checker_agrees_with_painting((instance, layout) in problem()) {
        let found = check_layout(&instance, &layout);
        let mut overlaps = BTreeSet::new();
        let (mut misaligned, mut moved, mut high) = (0, 0, 0);
        for violation in &found {
            match violation {
                Violation::Overlap { a, b, shared, .. } => {
                    let (low_a, low_b) = (layout.offset(*a).get(), layout.offset(*b).get());
                    let ends = |id: BufferId, low: u64| low + instance.buffer(id).size().get();
                    let common = (0..40).filter(|at| {
                        (low_a..ends(*a, low_a)).contains(at) && (low_b..ends(*b, low_b)).contains(at)
                    });
                    prop_assert_eq!(shared.get() as usize, common.count());
                    prop_assert!(overlaps.insert((a.index(), b.index())), "each pair once");
                }
                Violation::Misaligned { .. } => misaligned += 1,
                Violation::Moved { .. } => moved += 1,
                Violation::OverCapacity { .. } => high += 1,
                other => prop_assert!(false, "not possible here: {other}"),
            }
        }
        prop_assert_eq!(&overlaps, &painted(&instance, &layout));
        let with = |test: &dyn Fn(&plimsoll_model::Buffer, u64) -> bool| {
            let pairs = instance.buffers().iter().zip(layout.offsets());
            pairs.filter(|(b, offset)| test(b, offset.get())).count()
        };
        prop_assert_eq!(misaligned, with(&|b, offset| offset % b.alignment().get() != 0));
        prop_assert_eq!(moved, with(&|b, offset| b.fixed().is_some_and(|fixed| fixed.get() != offset)));
        let capacity = instance.capacity().map_or(u64::MAX, Bytes::get);
        prop_assert_eq!(high, with(&|b, offset| offset + b.size().get() > capacity));
        prop_assert_eq!(layout.peak(&instance).get() > capacity, high > 0);
    }

    #[test]
    fn valid_layouts_are_above_every_bound((instance, _) in problem()) {
        // Laying all buffers end to end gives a valid layout if there are no fixed offsets and no capacity.
        prop_assume!(!instance.has_fixed());
        let instance = instance.with_capacity(None);
        let mut top = 0u64;
        let offsets = instance.buffers().iter().map(|b| {
            let offset = top.next_multiple_of(b.alignment().get());
            top = offset + b.size().get();
            offset
        });
        let layout = Layout::from_raw(offsets.collect::<Vec<_>>());
        prop_assert_eq!(check_layout(&instance, &layout), []);
        prop_assert!(layout.peak(&instance) <= instance.ceiling());
        let bound = simple_bound(&instance);
        prop_assert_eq!(verify_bound(&instance, &bound), Ok(()));
        prop_assert!(bound.value <= layout.peak(&instance));
    }

    #[test]
    fn load_and_conflicts_agree_with_the_steps((instance, _) in problem()) {
        let at = |step: u64| -> u64 {
            let live = instance.buffers().iter().filter(|b| b.lifespan().contains(Step::new(step)));
            live.map(|b| b.size().get()).sum()
        };
        let profile = LoadProfile::of(&instance);
        for step in 0..STEPS + 2 {
            prop_assert_eq!(profile.at(Step::new(step)).get(), at(step));
        }
        prop_assert_eq!(load(&instance).0.get(), (0..STEPS).map(at).max().unwrap_or(0));
        for pieces in profile.pieces().windows(2) {
            prop_assert!(pieces[0].0.upper < pieces[1].0.lower || pieces[0].1 != pieces[1].1);
        }
        let graph = ConflictGraph::of(&instance);
        for a in instance.ids() {
            for b in instance.ids().filter(|&b| b != a) {
                let zero = Layout::from_raw(vec![0; instance.len()]);
                let clash = painted(&instance, &zero).contains(&(a.index().min(b.index()), a.index().max(b.index())));
                prop_assert_eq!(instance.conflict(a, b), clash);
                prop_assert_eq!(graph.conflict(a, b), clash);
            }
        }
    }
}

/// Creates buffers that begin two steps apart and are live for three steps, so that only neighbours overlap.
fn staggered(buffers: u64) -> Instance {
    let buffer = |at: u64| Buffer::new(at.to_string(), 4, Lifespan::single(2 * at, 2 * at + 3).unwrap());
    InstanceBuilder::new("staggered").buffers((0..buffers).map(buffer)).build().unwrap()
}

#[test]
fn violations_among_many_buffers_are_found() {
    let instance = staggered(5_000);
    // Neighbours in time alternate between two objects, or two offsets.
    let object = |at: usize| PoolId::at(at % 2);
    let mut assignment: Vec<PoolId> = (0..5_000).map(object).collect();
    let plan = |assignment: &[PoolId]| PoolPlan::fitted(&instance, assignment.to_vec(), Bytes::new(1));
    assert_eq!(check_shared_objects(&instance, &plan(&assignment)), []);
    assignment[4_321] = PoolId::at(0);
    let found = check_shared_objects(&instance, &plan(&assignment));
    let pairs = found.iter().map(|violation| match violation {
        Violation::PoolConflict { a, b, .. } => (a.index(), b.index()),
        other => panic!("{other}"),
    });
    assert_eq!(pairs.collect::<Vec<_>>(), [(4_320, 4_321), (4_321, 4_322)]);

    let piece = |start: u64, length: u64| Piece { start: Bytes::new(start), length: Bytes::new(length) };
    let place = |at: usize| vec![piece((at as u64 % 2) * 2, 2), piece(4 + (at as u64 % 2) * 2, 2)];
    let mut pieces: Vec<Vec<Piece>> = (0..5_000).map(place).collect();
    let layout = |pieces: &[Vec<Piece>]| SplitLayout::new(pieces.to_vec());
    assert_eq!(check_split_buffers(&instance, &layout(&pieces)), []);
    pieces[4_321] = vec![piece(20, 1), piece(5, 3)];
    let found = check_split_buffers(&instance, &layout(&pieces));
    let pairs = found.iter().map(|violation| match violation {
        Violation::Overlap { a, b, shared, .. } => (a.index(), b.index(), shared.get()),
        other => panic!("{other}"),
    });
    assert_eq!(pairs.collect::<Vec<_>>(), [(4_320, 4_321, 1), (4_321, 4_322, 1)]);
}
