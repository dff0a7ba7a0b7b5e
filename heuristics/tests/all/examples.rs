//! Tests worked examples from the documents whose algorithms are implemented.

use plimsoll_heuristics::offsets::{ENTRIES as OFFSETS, Order};
use plimsoll_heuristics::shared_objects::{Classes, ENTRIES as SHARED_OBJECTS, PoolChoice, PoolGreedy};
use plimsoll_heuristics::split_buffers::ENTRIES as SPLIT_BUFFERS;
use plimsoll_model::{
    Budget, Buffer, Bytes, Entry, Instance, InstanceBuilder, InstanceProblem, Layout, Lifespan, Outcome,
    Setup, Silent, load,
};

fn solve<P: InstanceProblem>(entries: &'static [Entry<P>], name: &str, instance: &Instance) -> Outcome<P> {
    let (own, parameters) = name.split_once(':').unwrap_or((name, ""));
    let entry = entries.iter().find(|entry| entry.name == own).expect(name);
    let entry = if parameters.is_empty() { entry } else { entry.with(parameters).unwrap() };
    let outcome =
        (entry.build)(Setup::default()).solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!(P::check(instance, outcome.solution.as_ref().unwrap()), vec![]);
    outcome
}

/// Builds an instance from rows of name, size and inclusive lifespan.
fn inclusive(rows: &[(&str, u64, u64, u64)]) -> Instance {
    let buffers = rows.iter().map(|&(name, size, first, last)| {
        Buffer::new(name, size, Lifespan::single(first, last + 1).unwrap())
    });
    InstanceBuilder::new("example").buffers(buffers).build().unwrap()
}

/// Returns the example of the memory-planning patent, with the operators 1 to 8 and their mutex table.
fn patent() -> Instance {
    let sizes = [5, 10, 8, 20, 2, 6, 15, 3];
    let table: [&[usize]; 8] = [
        &[2],
        &[1, 3, 4, 5],
        &[2, 4, 5, 6],
        &[2, 3, 5, 6, 7],
        &[2, 3, 4, 6, 7, 8],
        &[3, 4, 5, 7],
        &[4, 5, 6, 8],
        &[5, 7],
    ];
    let buffers = (1u32..).zip(sizes).map(|(name, size)| (name.to_string(), Bytes::new(size)));
    let edges = table.iter().enumerate().flat_map(|(a, list)| list.iter().map(move |&b| (a, b - 1)));
    Instance::from_conflicts("patent", buffers, edges).unwrap()
}

#[test]
fn patent_descending_gives_the_printed_layout() {
    let outcome = solve(OFFSETS, "reuse-by-size", &patent());
    assert_eq!(outcome.solution, Some(Layout::from_raw([0, 20, 30, 0, 44, 38, 20, 5])));
    assert_eq!(outcome.value, Some(Bytes::new(46)));
}

#[test]
fn patent_split_buffers_and_search() {
    assert_eq!(solve(SPLIT_BUFFERS, "split-by-size", &patent()).value, Some(Bytes::new(46)));
    assert_eq!(solve(OFFSETS, "naive", &patent()).value, Some(Bytes::new(69)));
    // 43 is the weight of the clique {4, 5, 6, 7}.
    assert_eq!(solve(OFFSETS, "iterated-search", &patent()).value, Some(Bytes::new(43)));
}

/// Returns the example of the CANN whitepaper, an instance with five tensors.
fn cann() -> Instance {
    inclusive(&[("A", 1024, 1, 2), ("B", 2048, 2, 4), ("C", 1024, 3, 4), ("D", 512, 4, 5), ("E", 4096, 5, 6)])
}

/// The block sizes in the text of the whitepaper.
const RANGE: &[Bytes] = &[Bytes::new(1024), Bytes::new(2048), Bytes::new(4096)];

#[test]
fn graph_engine_blocks() {
    let instance = cann();
    assert_eq!(load(&instance).0.get(), 4608);
    assert_eq!(solve(OFFSETS, "naive", &instance).value, Some(Bytes::new(8704)));
    let two_level = solve(OFFSETS, "ge-two-level", &instance);
    assert_eq!(two_level.solution, Some(Layout::from_raw([2048, 0, 2048, 4096, 0])));
    assert_eq!(two_level.value, Some(Bytes::new(4608)));
    let max_block = solve(SHARED_OBJECTS, "max-block", &instance).solution.unwrap();
    assert_eq!(max_block.total().get(), 6656);
    let pools: Vec<usize> = max_block.assignment().iter().map(|pool| pool.index()).collect();
    assert_eq!(pools, [0, 1, 0, 2, 0]);
    assert_eq!(max_block.sizes().iter().map(|size| size.get()).collect::<Vec<_>>(), [4096, 2048, 512]);
    // The classes are 1024, 2048 and 4096, as in the text. The blocks are {A, C}, {B}, {E}, and D alone in a
    // block of the smallest class.
    let binary_block = PoolGreedy {
        order: Order::Start,
        choice: PoolChoice::First,
        classes: Classes::Listed(RANGE),
        alignment: Bytes::new(512),
    };
    let plan = binary_block
        .solver("binary-block", Setup::default())
        .solve(&instance, &mut Budget::unlimited(), &mut Silent)
        .unwrap()
        .solution
        .unwrap();
    assert_eq!(plan.total().get(), 1024 + 2048 + 512 + 4096);
}

#[test]
fn eight_tensors() {
    let instance = inclusive(&[
        ("0", 32, 0, 1),
        ("1", 28, 1, 4),
        ("2", 36, 2, 5),
        ("3", 16, 3, 5),
        ("4", 8, 4, 5),
        ("5", 64, 5, 7),
        ("6", 10, 6, 8),
        ("7", 40, 7, 8),
    ]);
    let peak = |name| solve(OFFSETS, name, &instance).value.unwrap().get();
    assert_eq!(load(&instance).0.get(), 124);
    assert_eq!(peak("naive"), 234);
    assert_eq!(peak("iterated-search"), 124);
    assert_eq!(peak("greedy-by-size"), 124);
    assert_eq!(peak("greedy-by-breadth"), 124);
}

/// The example in the Mini-Infer report is a chain of tensors. At most two of them are simultaneously live.
#[test]
fn colouring_reuses_two_objects_along_a_chain() {
    let kib = 1024;
    let chain = inclusive(&[
        ("a", 1024 * kib, 1, 2),
        ("b", 512 * kib - 3, 2, 3),
        ("c", 1024 * kib, 3, 4),
        ("d", 512 * kib, 4, 5),
    ]);
    let plan = solve(SHARED_OBJECTS, "mini-infer", &chain).solution.unwrap();
    assert_eq!(plan.total().get(), 1536 * kib);
    let odd = inclusive(&[("a", 1000, 1, 2), ("b", 300, 2, 3)]);
    assert_eq!(solve(SHARED_OBJECTS, "mini-infer", &odd).value, Some(Bytes::new(1024 + 512)));
    assert_eq!(solve(SHARED_OBJECTS, "mini-infer:-rounding", &odd).value, Some(Bytes::new(1300)));
}
