use super::*;
use crate::offsets::BruteForce;
use plimsoll_datasets::{AboveLoadParams, hard_above_load};
use plimsoll_model::{Buffer, Instance, InstanceBuilder, Lifespan, Offsets, Problem, Setup, Silent, Solver};
use proptest::prelude::*;

/// Returns an instance built from rows of start, duration and size.
fn instance(rows: &[(u64, u64, u64)]) -> Instance {
    let buffer = |(at, &(start, duration, size)): (usize, &(u64, u64, u64))| {
        Buffer::new(format!("b{at}"), size, Lifespan::single(start, start + duration).unwrap())
    };
    InstanceBuilder::new("rows").buffers(rows.iter().enumerate().map(buffer)).build().unwrap()
}

/// Improves the layout in which all buffers lie on top of each other. Returns the peak in bytes after each
/// call.
fn peaks(instance: &Instance, seeds: &[u64], calls: usize, nodes: u64) -> Vec<u64> {
    let reduced = Reduced::of(instance).unwrap();
    let own = |seeds: Vec<u64>| Reorder { reduced: &reduced, seeds, searches: Vec::new() };
    let mut reorder = own(seeds.to_vec());
    let mut best: Vec<i64> =
        reduced.spans.iter().scan(0, |top, span| Some(std::mem::replace(top, *top + span.size))).collect();
    let mut peaks = Vec::new();
    for _ in 0..calls {
        let mut budget = Budget::unlimited();
        if let Some(offsets) = reorder.improve(0, &best, nodes, &mut budget) {
            best = offsets;
        }
        assert!(budget.nodes() <= nodes + seeds.len() as u64);
        let layout = reduced.layout(&best);
        assert_eq!(Offsets::check(instance, &layout), []);
        peaks.push(layout.peak(instance).get());
    }
    peaks
}

proptest! {
    /// On small instances, the search finds the optimum, every layout is valid, and interrupted searches
    /// resume.
    #[test]
    fn small_optima_are_found(
        rows in proptest::collection::vec((0u64..6, 1u64..5, 1u64..9), 1..7), seed: u64, calls in 1usize..5,
    ) {
        let instance = instance(&rows);
        let optimum = BruteForce.solve(&instance, &mut Budget::unlimited(), &mut Silent).unwrap().value.unwrap();
        let peaks = peaks(&instance, &[seed], calls, 3000 / calls as u64);
        prop_assert!(peaks.windows(2).all(|pair| pair[1] <= pair[0]));
        prop_assert_eq!(*peaks.last().unwrap(), optimum.get());
    }

    #[test]
    fn layouts_of_larger_instances_are_valid_and_repeatable(
        rows in proptest::collection::vec((0u64..40, 1u64..20, 1u64..99), 30..60), seed: u64, threads in 1usize..4,
    ) {
        let instance = instance(&rows);
        let seeds: Vec<u64> = (0..threads as u64).map(|at| seed ^ at).collect();
        prop_assert_eq!(peaks(&instance, &seeds, 3, 600), peaks(&instance, &seeds, 3, 600));
    }

    /// A new descent keeps the best layout, and its first target is at least the best peak.
    #[test]
    fn descents_keep_the_best_layout(
        rows in proptest::collection::vec((0u64..6, 1u64..4, 1u64..9), 8..30), seed: u64,
    ) {
        let reduced = Reduced::of(&instance(&rows)).unwrap();
        let low = reduced.highest_load() as i32;
        let stacked = random_layout(&reduced, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let peak = |offsets: &[i32]| {
            offsets.iter().zip(&reduced.spans).map(|(offset, span)| offset + span.size as i32).max().unwrap()
        };
        let mut search = Search { long: false, ..Search::new(&reduced, seed) };
        search.adopt(&stacked, peak(&stacked));
        search.run(low, &mut Budget::unlimited().part(Some(200), None));
        let best = (search.best.clone(), search.peak);
        search.disturb(low);
        prop_assert!(search.begun && search.partial.target >= best.1 && search.height > best.1);
        prop_assert_eq!((&search.best, search.peak), (&best.0, best.1));
        search.run(low, &mut Budget::unlimited().part(Some(200), None));
        prop_assert!(search.peak <= best.1 && search.peak <= search.height);
        prop_assert_eq!(peak(&search.best), search.peak);
    }
}

#[test]
fn most_optima_of_long_instances_are_found() {
    let mut found = 0;
    for seed in 0..6 {
        let params = AboveLoadParams { buffers: 120, live: 3, bytes: 16, unit: 1, turnover: 3 };
        let instance = hard_above_load(params, seed).unwrap().instance;
        let reduced = Reduced::of(&instance).unwrap();
        assert!(Search::new(&reduced, seed).long);
        let exact = crate::offsets::Exact::new(Setup::default());
        let optimum = exact.solve(&instance, &mut Budget::unlimited(), &mut Silent).unwrap().value.unwrap();
        found += u32::from(peaks(&instance, &[seed], 2, 20_000).last() == Some(&optimum.get()));
    }
    assert!(found >= 4, "only {found} optima of 6 were found");
}

proptest! {
    /// Recomputing only the buffers that a change can reach gives the same neighbours, floors and ceilings as
    /// placing all buffers again.
    #[test]
    fn offsets_are_up_to_date(
        rows in proptest::collection::vec((0u64..30, 1u64..12, 1u64..50), 5..40), seed: u64,
    ) {
        let reduced = Reduced::of(&instance(&rows)).unwrap();
        let mut partial = Partial::new(reduced.spans.as_slice().into());
        partial.target = (reduced.load.iter().max().unwrap() + 20) as i32;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut pending: Vec<u32> = (0..reduced.len() as u32).collect();
        for _ in 0..200 {
            if pending.is_empty() {
                break;
            }
            let b = pending.swap_remove(rng.random_range(0..pending.len()));
            partial.insert(b, |_| 1.0, &mut rng, &mut pending);
            prop_assert!(partial.is_up_to_date());
            if rng.random_ratio(1, 4) {
                partial.remove(b);
                pending.push(b);
                prop_assert!(partial.is_up_to_date());
            }
            prop_assert!(partial.peak() <= partial.target);
        }
    }
}

/// A buffer of size 1 fits below one of size 3 that outlives it, and next to one of size 2 that ends with it.
/// Next to the latter, it adds no hole.
#[test]
fn the_offset_with_the_fewest_holes_is_chosen() {
    let instance = instance(&[(0, 4, 3), (0, 2, 2), (0, 2, 1), (2, 2, 3)]);
    let reduced = Reduced::of(&instance).unwrap();
    let offset = |span: &Span| match (span.start, span.size) {
        (0, 3) => 0,
        (0, 1) => 5,
        _ => 3,
    };
    let mut partial = Partial::new(reduced.spans.as_slice().into());
    partial.target = 20;
    partial.restore(&reduced.spans.iter().map(offset).collect::<Vec<i32>>());
    let buffer = |size: i64| reduced.spans.iter().position(|span| span.size == size).unwrap() as u32;
    partial.remove(buffer(1));
    let mut removed = Vec::new();
    partial.insert(buffer(1), |_| 1.0, &mut Xoshiro256PlusPlus::seed_from_u64(0), &mut removed);
    assert!(removed.is_empty() && partial.is_up_to_date());
    let floor = |size: i64| partial.floors().nth(buffer(size) as usize).unwrap();
    assert_eq!((floor(1), floor(2)), (3, 4));
}

/// Inserts buffers in random order. Returns the lowest offset of each.
fn random_layout(reduced: &Reduced, rng: &mut Xoshiro256PlusPlus) -> Vec<i32> {
    let mut partial = Partial::new(reduced.spans.as_slice().into());
    partial.target = i32::MAX / 4;
    let mut pending: Vec<u32> = (0..reduced.len() as u32).collect();
    let mut none = Vec::new();
    while !pending.is_empty() {
        let b = pending.swap_remove(rng.random_range(0..pending.len()));
        partial.insert(b, |_| 1.0, rng, &mut none);
    }
    partial.floors().collect()
}

proptest! {
    /// Every buffer is in one cluster, which its buffers fill, and clusters are sorted by start. Placing the
    /// clusters gives the layout again.
    #[test]
    fn clusters_are_full_rectangles(
        rows in proptest::collection::vec((0u64..6, 1u64..4, 1u64..3), 1..30), seed: u64, chance in 0.0..=1.0,
    ) {
        let reduced = Reduced::of(&instance(&rows)).unwrap();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let offsets = random_layout(&reduced, &mut rng);
        let clusters = coarsen(&reduced.spans, &offsets, chance, &mut rng);
        prop_assert!(clusters.is_sorted_by_key(|cluster| cluster.span.start));
        let mut parts = clusters.iter().flat_map(|cluster| &cluster.parts).map(|part| part.0).collect::<Vec<u32>>();
        parts.sort_unstable();
        prop_assert_eq!(parts, (0..reduced.len() as u32).collect::<Vec<u32>>());
        let area = |span: &Span| span.size * i64::from(span.end - span.start);
        for cluster in &clusters {
            let spans = cluster.parts.iter().map(|&(b, distance)| (&reduced.spans[b as usize], distance, b));
            for (span, distance, b) in spans.clone() {
                prop_assert!(cluster.span.start <= span.start && span.end <= cluster.span.end);
                prop_assert!(distance >= 0 && i64::from(distance) + span.size <= cluster.span.size);
                prop_assert_eq!(offsets[b as usize], cluster.offset(&offsets) + distance);
            }
            prop_assert_eq!(spans.map(|(span, ..)| area(span)).sum::<i64>(), area(&cluster.span));
        }
        let mut partial = Partial::new(clusters.iter().map(|cluster| cluster.span).collect());
        let whole: Vec<i32> = clusters.iter().map(|cluster| cluster.offset(&offsets)).collect();
        partial.restore(&whole);
        prop_assert_eq!(partial.floors().collect::<Vec<i32>>(), whole);
    }
}

/// Two buffers of one size follow each other above a third that lasts as long as both.
#[test]
fn nested_rectangles_become_one_cluster() {
    let instance = instance(&[(0, 4, 3), (0, 2, 2), (2, 2, 2), (4, 2, 5)]);
    let reduced = Reduced::of(&instance).unwrap();
    let offsets: Vec<i32> = reduced.spans.iter().map(|span| if span.size == 2 { 3 } else { 0 }).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let clusters = coarsen(&reduced.spans, &offsets, 1.0, &mut rng);
    assert_eq!(clusters.len(), 1);
    assert_eq!(clusters[0].span, Span { start: 0, end: 3, size: 5 });
    assert_eq!(coarsen(&reduced.spans, &offsets, 0.0, &mut rng).len(), 4);
}
