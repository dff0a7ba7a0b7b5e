//! Benchmarks of the checker, every heuristic and `search` on generated instances. All instances
//! except the large ones resemble the MiniMalloc instances A to K. They have a few hundred buffers, and their
//! live bytes equal the load at every step.
//!
//! `make bench` runs all benchmarks. `cargo bench -p plimsoll-lab --bench algorithms -- checker` runs the
//! benchmarks whose names contain `checker`.

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use plimsoll::datasets::{Family, Packing, PackingParams, perfect_packing};
use plimsoll::heuristics::offsets::{Ejection, ValleyWeights, valley_fit};
use plimsoll::model::{
    Budget, Entry, InstanceProblem, Kind, Setup, Silent, check_layout, check_shared_objects, load,
};
use std::hint::black_box;
use std::time::Duration;

/// The smallest, a medium and the largest number of buffers of A to K.
const SIZES: [u64; 3] = [154, 300, 454];
/// Node limit of iterated heuristics, so that each run does a fixed amount of work.
const HEURISTIC_NODES: u64 = 200;
/// Node limit of searches that would otherwise run for a long time.
const SEARCH_NODES: u64 = 20_000;
/// Number of buffers of a large instance.
const LARGE_BUFFERS: u64 = 30_000;
/// Node limit of the ejection search on a large instance. A node is one placement.
const LARGE_PUTS: u64 = 2_000;

fn packing(buffers: u64) -> Packing {
    perfect_packing(PackingParams::with_buffers(buffers), 1).expect("the parameters are valid")
}

fn checker(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("checker");
    for buffers in SIZES.into_iter().chain([4000]) {
        let Packing { instance, layout, .. } = packing(buffers);
        group.bench_function(BenchmarkId::new("layout", buffers), |bencher| {
            bencher.iter(|| check_layout(black_box(&instance), black_box(&layout)));
        });
        let alone = (0..instance.len()).map(plimsoll::model::PoolId::at).collect();
        let plan = plimsoll::model::PoolPlan::fitted(&instance, alone, plimsoll::model::Bytes::new(1));
        group.bench_function(BenchmarkId::new("shared-objects", buffers), |bencher| {
            bencher.iter(|| check_shared_objects(black_box(&instance), black_box(&plan)));
        });
    }
    group.finish();
}

fn time<P: InstanceProblem>(
    criterion: &mut Criterion,
    group: &str,
    entry: &Entry<P>,
    buffers: u64,
    nodes: u64,
) {
    let instance = packing(buffers).instance;
    let solver = (entry.build)(Setup::default());
    let id = format!("{group}/{}/{}/{buffers}", P::NAME, entry.name);
    criterion.bench_function(&id, |bencher| {
        bencher.iter_batched_ref(
            || Budget::unlimited().with_node_limit(nodes),
            |budget| solver.solve(black_box(&instance), budget, &mut Silent),
            BatchSize::SmallInput,
        );
    });
}

fn heuristics(criterion: &mut Criterion) {
    let registry = plimsoll::registry();
    let middle = SIZES[1];
    for entry in registry.offsets.iter().filter(|entry| entry.kind == Kind::Heuristic) {
        time(criterion, "heuristic", entry, middle, HEURISTIC_NODES);
    }
    for entry in &registry.split_buffers {
        time(criterion, "heuristic", entry, middle, HEURISTIC_NODES);
    }
    for entry in registry.shared_objects.iter().filter(|entry| entry.kind == Kind::Heuristic) {
        time(criterion, "heuristic", entry, middle, HEURISTIC_NODES);
    }
}

fn search(criterion: &mut Criterion) {
    let registry = plimsoll::registry();
    for entry in registry.offsets.iter().filter(|entry| entry.name == "search") {
        for buffers in SIZES {
            time(criterion, "search", entry, buffers, SEARCH_NODES);
        }
    }
}

/// Times the algorithms for large instances: the checker, valley-fit, and a fixed number of placements by
/// the ejection search.
fn large(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("large");
    group.sample_size(10);
    for family in ["uniform", "stack", "training", "packing"] {
        let family = Family::named(family).expect("a family");
        let instance = family.make(LARGE_BUFFERS, 1).expect("the parameters are in range");
        let fill = || valley_fit(black_box(&instance), ValleyWeights::default(), &mut Budget::unlimited());
        group.bench_function(BenchmarkId::new("valley-fit", family.name), |bencher| bencher.iter(fill));
        let layout = fill().expect("no limit");
        group.bench_function(BenchmarkId::new("checker", family.name), |bencher| {
            bencher.iter(|| check_layout(black_box(&instance), black_box(&layout)));
        });
        let bound = load(&instance).0;
        group.bench_function(BenchmarkId::new("ejection-search", family.name), |bencher| {
            bencher.iter(|| {
                let mut budget = Budget::unlimited().with_node_limit(LARGE_PUTS);
                Ejection::new(black_box(&instance), &layout, 0).run(bound, &mut budget, |_, _| {})
            });
        });
    }
    group.finish();
}

fn settings() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
}

criterion_group!(name = benches; config = settings(); targets = checker, heuristics, search, large);
criterion_main!(benches);
