//! Tests schedules. Makespans are compared with values computed by hand, and the checker, the bounds and the
//! instructions are tested.

use plimsoll_heuristics::timelines::ENTRIES as TIMELINES;
use plimsoll_model::timelines::{
    Dma, Time, TimedOperator, Timeline, TimelineProblem, Timelines, check_timeline, compute_bound,
    memory_bound, replay, time_bound, transfer_bound,
};
use plimsoll_model::{Budget, Bytes, Claim, Outcome, Setup, Silent};

/// Builds a problem from operators (compute, weights, activations). A transfer takes one picosecond per byte
/// in addition to the setup latency.
fn problem_on(
    channels: u32,
    startup: u64,
    capacity: u64,
    alignment: u64,
    list: &[(u64, u64, u64)],
) -> TimelineProblem {
    let dma = Dma { channels, startup: Time::new(startup), bandwidth: 1_000_000_000_000 };
    let operators = list.iter().enumerate().map(|(at, &(compute, weights, activations))| TimedOperator {
        name: format!("o{at}"),
        compute: Time::new(compute),
        weights: Bytes::new(weights),
        activations: Bytes::new(activations),
    });
    TimelineProblem::new("p", operators.collect(), dma, Bytes::new(capacity), Bytes::new(alignment)).unwrap()
}

/// Builds a problem with one channel, no alignment and plenty of memory.
fn ample(startup: u64, list: &[(u64, u64)]) -> TimelineProblem {
    let list: Vec<_> = list.iter().map(|&(compute, weights)| (compute, weights, 1)).collect();
    problem_on(1, startup, 1 << 40, 1, &list)
}

fn outcome(name: &str, problem: &TimelineProblem) -> Option<Outcome<Timelines>> {
    let entry = TIMELINES.iter().find(|entry| entry.name == name).unwrap();
    let scheduler = (entry.build)(Setup::default());
    assert_eq!(scheduler.name(), name);
    scheduler.solve(problem, &mut Budget::unlimited(), &mut Silent).ok()
}

fn timeline(name: &str, problem: &TimelineProblem) -> Option<Timeline> {
    let timeline = outcome(name, problem)?.solution?;
    let violations = check_timeline(problem, &timeline);
    assert!(violations.is_empty(), "{name}: {violations:?} in {problem:?}");
    let again = replay(problem, &timeline.instructions()).unwrap();
    assert_eq!(again.computations, timeline.computations, "{name}: {problem:?}");
    let spans = |one: &Timeline| {
        let mut spans: Vec<_> =
            one.transfers.iter().map(|t| (t.span.start, t.operator, t.span.end)).collect();
        spans.sort_unstable();
        spans
    };
    assert_eq!(spans(&again), spans(&timeline), "{name}");
    Some(timeline)
}

/// Returns the makespans of all schedules in the order of the registry, or 0 for a schedule without a
/// timeline.
fn makespans(problem: &TimelineProblem) -> Vec<u64> {
    let of = |name| timeline(name, problem).map_or(0, |timeline| timeline.makespan().get());
    TIMELINES.iter().map(|entry| of(entry.name)).collect()
}

#[test]
fn equal_compute_and_transfer() {
    // `synchronous` alternates loads and computations (l c l c ...). The other schedules run l, then c and l
    // in parallel, and then c.
    let p = ample(0, &[(10, 10); 4]);
    assert_eq!(makespans(&p), [80, 50, 50, 50, 50, 50]);
    assert_eq!(time_bound(&p).value, Time::new(50));
    assert_eq!(outcome("ping-pong", &p).unwrap().claim, Claim::Optimal);
    assert_eq!(outcome("synchronous", &p).unwrap().claim, Claim::Feasible);
}

#[test]
fn compute_bound_and_transfer_bound() {
    // The first load is followed by all computations: 3 + 3 * 10.
    let p = ample(0, &[(10, 3); 3]);
    assert_eq!(makespans(&p), [39, 33, 33, 33, 33, 33]);
    assert_eq!(transfer_bound(&p).unwrap().value, Time::new(33));
    assert_eq!(compute_bound(&p).value, Time::new(30));
    // All loads are followed by the last computation: 3 * 10 + 3.
    let p = ample(0, &[(3, 10); 3]);
    assert_eq!(makespans(&p), [39, 33, 33, 33, 33, 33]);
    assert_eq!(transfer_bound(&p).unwrap().value, Time::new(33));
}

#[test]
fn startup_dominated() {
    // Loads take 101, and computations take 2.
    let p = ample(100, &[(2, 1); 5]);
    assert_eq!(makespans(&p), [515, 507, 507, 507, 507, 507]);
}

#[test]
fn single_operator_and_no_weights() {
    assert_eq!(makespans(&ample(5, &[(7, 4)])), [16; 6]);
    assert_eq!(makespans(&ample(5, &[(7, 0), (1, 0)])), [8; 6]);
    assert_eq!(makespans(&ample(5, &[])), [0; 6]);
    assert_eq!(time_bound(&ample(5, &[(7, 0), (1, 0)])).value, Time::new(8));
}

#[test]
fn schedules_differ_as_expected() {
    // The first computation is long. `ping-pong` fetches the weights of only one operator ahead. With three
    // buffers, the weights of two operators are fetched ahead, and `prefetch` fetches the weights of all
    // operators ahead.
    let p = ample(0, &[(30, 5), (1, 10), (1, 10), (1, 10)]);
    // `ping-pong` takes 5 + 30 + 2 * max(1, 10) + 1. With `eager`, the third load runs from 35 to 45, and the
    // fourth from 45 to 55, although its buffer is already free at 36.
    assert_eq!(makespans(&p), [5 + 30 + 11 * 3, 56, 56, 56, 46, 38]);
    // The numbering matters if an operator without weights is between two operators with weights.
    let p = ample(0, &[(10, 4), (1, 0), (10, 8)]);
    // If all operators are numbered, the load of the third operator starts with the second one, at 14.
    // Otherwise, it starts with the first one, at 4.
    assert_eq!(makespans(&p), [4 + 10 + 1 + 8 + 10, 14 + 8 + 10, 25, 25, 25, 25]);
}

#[test]
fn the_processor_copies_if_there_is_a_copy_rate() {
    // Copies take two picoseconds per byte, which gives 3 * (10 + 2 * 4). A transfer takes 5 + 4.
    let p = ample(5, &[(10, 4); 3]).with_copy(500_000_000_000).unwrap();
    assert_eq!(makespans(&p), [54, 39, 39, 39, 39, 39]);
    assert!(timeline("synchronous", &p).unwrap().transfers.iter().all(|one| one.channel.is_none()));
    // A copy takes 1 and a transfer 101, so prefetching is slower. The bound allows for copies.
    let p = ample(100, &[(2, 1); 5]).with_copy(1_000_000_000_000).unwrap();
    assert_eq!(makespans(&p), [15, 507, 507, 507, 507, 507]);
    assert!(time_bound(&p).value <= Time::new(15));
}

#[test]
fn two_channels_fetch_at_once() {
    let list = [(1, 10, 0), (1, 10, 0), (1, 10, 0)];
    let p = problem_on(2, 0, 1000, 1, &list);
    // Two loads run from 0 to 10. The third starts at 10, or at 11 with two buffers.
    assert_eq!(timeline("prefetch", &p).unwrap().makespan(), Time::new(21));
    assert_eq!(timeline("eager", &p).unwrap().makespan(), Time::new(22));
    // The bound is the time of 30 bytes on two channels plus one computation.
    assert_eq!(time_bound(&p).value, Time::new(16));
}

#[test]
fn little_memory_delays_transfers() {
    // Activations occupy 4 of the 20 bytes, and two buffers of weights occupy 8 bytes each.
    let list = [(10, 8, 4), (10, 8, 4), (10, 8, 4)];
    let p = problem_on(1, 0, 20, 1, &list);
    assert_eq!(makespans(&p), [54, 38, 38, 38, 0, 38]);
    // With one byte less, nothing can be prefetched, and the bound reflects this.
    let p = problem_on(1, 0, 19, 1, &list);
    assert_eq!(makespans(&p), [54, 0, 0, 0, 0, 54]);
    assert_eq!(memory_bound(&p).value, Time::new(54));
    assert_eq!(outcome("prefetch", &p).unwrap().claim, Claim::Optimal);
    // The capacity is too small for one operator.
    let p = problem_on(1, 0, 11, 1, &list);
    for entry in TIMELINES {
        assert_eq!(outcome(entry.name, &p).unwrap().claim, Claim::Infeasible, "{}", entry.name);
    }
}

#[test]
fn bounds_hold_if_rates_do_not_divide() {
    // The transfer of 3 bytes takes one microsecond, and that of 4 bytes a third more, rounded up. 12 bytes
    // fit into memory and can be fetched during the first operator. `prefetch` uses this time for three
    // transfers of 4 bytes. The other transfers take 2 ps less than if it had used the time for four
    // transfers of 3 bytes.
    let dma = Dma { channels: 1, startup: Time::ZERO, bandwidth: 3_000_000 };
    let weights = [0, 4, 4, 4, 3, 3, 3, 3, 4];
    let operators = weights.iter().map(|&weights| TimedOperator {
        name: "o".into(),
        compute: Time::new(if weights == 0 { 100_000_000 } else { 0 }),
        weights: Bytes::new(weights),
        activations: Bytes::ZERO,
    });
    let p = TimelineProblem::new("p", operators.collect(), dma, Bytes::new(12), Bytes::new(1)).unwrap();
    assert_eq!(timeline("prefetch", &p).unwrap().makespan(), Time::new(100_000_000 + 5_333_334));
    let bound = memory_bound(&p).value.get() - 100_000_000;
    assert!((5_333_325..=5_333_334).contains(&bound), "{bound}");
}

#[test]
fn ping_pong_buffers_are_sized_by_parity() {
    let p = problem_on(1, 0, 1000, 16, &[(1, 100, 50), (1, 10, 20), (1, 30, 0), (1, 17, 0)]);
    let t = timeline("ping-pong", &p).unwrap();
    assert_eq!(t.slots.iter().map(|slot| slot.size.get()).collect::<Vec<_>>(), [112, 32]);
    assert_eq!(t.peak(&p), Bytes::new(112 + 32 + 50));
    assert_eq!(timeline("synchronous", &p).unwrap().peak(&p), Bytes::new(162));
}

/// A generator of pseudo-random numbers that are the same on every machine.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn drawn(draw: &mut Draw, count: u64, most: u64) -> TimelineProblem {
    let list: Vec<_> = (0..count)
        .map(|_| {
            let weights = if draw.below(4) == 0 { 0 } else { draw.below(most) + 1 };
            (draw.below(most), weights, draw.below(most))
        })
        .collect();
    let needed = list.iter().map(|&(_, weights, activations)| weights + activations).max().unwrap_or(1);
    let (startup, spare) = (draw.below(4), draw.below(3 * most));
    problem_on(draw.below(2) as u32 + 1, startup, needed + spare, 1, &list)
}

#[test]
fn schedules_are_valid_and_no_better_than_the_bounds() {
    let mut draw = Draw(1);
    for round in 0..400 {
        let count = 1 + draw.below(30);
        let mut p = drawn(&mut draw, count, 50);
        let copies = round % 3 == 0;
        if copies {
            p = p.with_copy((draw.below(40) + 1) * 100_000_000_000).unwrap();
        }
        let bound = time_bound(&p).value;
        let mut found = Vec::new();
        for entry in TIMELINES {
            if let Some(timeline) = timeline(entry.name, &p) {
                assert!(timeline.makespan() >= bound, "{} in round {round}: {p:?}", entry.name);
                found.push((entry.name, timeline.makespan()));
            }
        }
        let of = |name| found.iter().find(|(other, _)| *other == name).map(|&(_, time)| time);
        if copies {
            continue;
        }
        assert!(of("prefetch") <= of("synchronous").or(Some(Time::MAX)), "round {round}: {found:?}");
        for (better, worse) in [("ping-pong", "synchronous"), ("eager", "ping-pong-weighted")] {
            if let (Some(better), Some(worse)) = (of(better), of(worse)) {
                assert!(better <= worse, "round {round}: {found:?}");
            }
        }
    }
}
