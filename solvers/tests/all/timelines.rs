//! Tests exact timelines against exhaustive search.

use plimsoll_heuristics::timelines::ENTRIES as HEURISTICS;
use plimsoll_model::timelines::{Dma, Time, TimedOperator, TimelineProblem, check_timeline, time_bound};
use plimsoll_model::{Budget, Bytes, Claim, Setup, Silent, Solver, Stop};
use plimsoll_solvers::timelines::ExactTimeline;
#[cfg(feature = "ilp")]
use plimsoll_solvers::timelines::TimelineIlp;

/// A pseudorandom generator that gives the same numbers on every machine.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// The distribution of random problems.
#[derive(Clone, Copy)]
struct Kind {
    /// Exclusive upper limit of computing times and activations, and inclusive upper limit of weights.
    most: u64,
    channels: u64,
    /// Weights are multiples of this number of bytes, so that some are equal.
    step: u64,
    /// Inclusive upper limit of the on-chip bytes in excess of what the most demanding operator requires.
    space: u64,
    /// Alignment of buffers in bytes.
    alignment: u64,
    /// Bytes per second.
    bandwidth: u64,
}

/// The bandwidth at which one byte takes one picosecond.
const BYTE: u64 = 1_000_000_000_000;

const PLAIN: Kind = Kind { most: 5, channels: 2, step: 1, space: 12, alignment: 1, bandwidth: BYTE };

fn drawn(draw: &mut Draw, count: u64, kind: Kind) -> TimelineProblem {
    let Kind { most, channels, step, space, alignment, bandwidth } = kind;
    let operators: Vec<TimedOperator> = (0..count)
        .map(|at| TimedOperator {
            name: format!("o{at}"),
            compute: Time::new(draw.below(most)),
            weights: Bytes::new(if draw.below(5) == 0 { 0 } else { (draw.below(most / step) + 1) * step }),
            activations: Bytes::new(draw.below(most)),
        })
        .collect();
    let up = |bytes: u64| bytes.next_multiple_of(alignment);
    let needed = operators.iter().map(|one| up(one.weights.get()) + up(one.activations.get())).max();
    let channels = draw.below(channels) as u32 + 1;
    let dma = Dma { channels, startup: Time::new(draw.below(4)), bandwidth };
    let capacity = Bytes::new(needed.unwrap_or(0) + draw.below(space + 1));
    TimelineProblem::new("p", operators, dma, capacity, Bytes::new(alignment)).unwrap()
}

/// Returns the start and the end of every operator, as early as possible for the given starts of transfers.
fn computed(problem: &TimelineProblem, starts: &[(usize, u64)]) -> Vec<(u64, u64)> {
    let mut end = 0;
    let operators = problem.operators().iter().enumerate().map(|(at, one)| {
        let fetched = starts.iter().find(|(other, _)| *other == at);
        let fetched = fetched.map_or(0, |&(_, start)| start + problem.load(at).unwrap().get());
        let start = fetched.max(end);
        end = start + one.compute.get();
        (start, end)
    });
    operators.collect()
}

/// Returns true if the remaining buffers can be placed beside the first ones, whose addresses are in
/// `placed`. Tries all addresses. A buffer is given by the first operator during which it is live and the
/// operator that needs its contents.
fn finds_addresses(problem: &TimelineProblem, buffers: &[(usize, usize)], placed: &mut Vec<u64>) -> bool {
    let Some(&(first, at)) = buffers.get(placed.len()) else { return true };
    let size = problem.buffer(at).get();
    let floor = problem.operators()[first..=at].iter().map(|one| one.activations.get()).max().unwrap();
    (floor..=problem.capacity().get() - size)
        .filter(|offset| offset.is_multiple_of(problem.alignment().get()))
        .any(|offset| {
            let free = buffers.iter().zip(placed.iter()).all(|(&(from, other), &below)| {
                let meet = from <= at && first <= other;
                !meet || below + problem.buffer(other).get() <= offset || offset + size <= below
            });
            placed.push(offset);
            let found = free && finds_addresses(problem, buffers, placed);
            placed.pop();
            found
        })
}

/// Returns true if transfers at these times use at most the number of channels, and their buffers have
/// addresses.
fn fits(problem: &TimelineProblem, starts: &[(usize, u64)], spans: &[(u64, u64)]) -> bool {
    let load = |at: usize| problem.load(at).unwrap().get();
    let channels = starts.iter().all(|&(_, start)| {
        let busy = starts.iter().filter(|&&(other, from)| from <= start && start < from + load(other));
        busy.count() <= problem.dma().channels as usize
    });
    let buffers = starts
        .iter()
        .map(|&(at, start)| (spans.iter().position(|span| span.1 > start).unwrap_or(at).min(at), at));
    let buffers: Vec<(usize, usize)> = buffers.collect();
    channels && {
        // Counted bytes are checked first because this is fast.
        let counted = (0..problem.len()).all(|at| {
            let held = buffers.iter().filter(|&&(first, last)| first <= at && at <= last);
            let held: u64 = held.map(|&(_, last)| problem.buffer(last).get()).sum();
            held + problem.operators()[at].activations.get() <= problem.capacity().get()
        });
        counted && finds_addresses(problem, &buffers, &mut Vec::new())
    }
}

/// Returns the minimum makespan over all integer start times below `horizon` and all addresses, or `u64::MAX`
/// if no choice of them is feasible.
fn least(problem: &TimelineProblem, horizon: u64) -> u64 {
    fn all(
        problem: &TimelineProblem,
        left: &[usize],
        starts: &mut Vec<(usize, u64)>,
        best: &mut u64,
        horizon: u64,
    ) {
        let Some((&next, rest)) = left.split_first() else {
            let spans = computed(problem, starts);
            let end = spans.last().map_or(0, |span| span.1);
            if end < *best && fits(problem, starts, &spans) {
                *best = end;
            }
            return;
        };
        for start in 0..horizon {
            starts.push((next, start));
            all(problem, rest, starts, best, horizon);
            starts.pop();
        }
    }
    let mut best = u64::MAX;
    all(problem, &problem.weighted(), &mut Vec::new(), &mut best, horizon);
    best
}

/// Whether the bytes of buffers are only counted, or the buffers are placed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addresses {
    Counted,
    Assigned,
}

/// Lowers `best` to the minimum makespan over all orders of transfers. Each transfer uses the channel that is
/// free first. If addresses are only counted, it starts as soon as enough bytes are free. If they are
/// assigned, it also starts at the end of every later operator, because the addresses may then suit better.
/// No other start is needed: until the channel is free or an operator ends, an earlier start changes no buffer.
fn ordered(problem: &TimelineProblem, addresses: Addresses, starts: &mut Vec<(usize, u64)>, best: &mut u64) {
    let load = |at: usize| problem.load(at).unwrap().get();
    let spans = computed(problem, starts);
    if starts.len() == problem.weighted().len() {
        let end = spans.last().map_or(0, |span| span.1);
        if end < *best && (addresses == Addresses::Counted || fits(problem, starts, &spans)) {
            *best = end;
        }
        return;
    }
    let mut free = vec![0; problem.dma().channels as usize];
    for &(at, start) in starts.iter() {
        *free.iter_mut().min().unwrap() = start + load(at);
    }
    let now = starts.last().map_or(0, |one| one.1).max(*free.iter().min().unwrap());
    // The times of the operators are known up to the first operator whose transfer has not started.
    let known = starts.clone();
    let fetched = |at: usize| problem.load(at).is_none() || known.iter().any(|one| one.0 == at);
    let timed = (0..problem.len()).take_while(|&at| fetched(at)).count();
    let unknown = problem.operators()[timed..].iter().map(|one| one.compute.get()).sum::<u64>();
    if timed.checked_sub(1).map_or(0, |last| spans[last].1) + unknown >= *best {
        return;
    }
    for at in problem.weighted() {
        if fetched(at) {
            continue;
        }
        let ends = spans[..timed].iter().map(|span| span.1).filter(|&end| end > now);
        let fitting = std::iter::once(now).chain(ends).filter(|&start| {
            let first = spans[..timed].iter().position(|span| span.1 > start).unwrap_or(timed).min(at);
            (first..at).all(|beside| {
                let ended = |end: usize, start: u64| end < timed && spans[end].1 <= start;
                let held = known.iter().filter(|&&(other, from)| other >= beside && !ended(beside, from));
                let held: u64 = held.map(|&(other, _)| problem.buffer(other).get()).sum();
                let own = if fetched(beside) { 0 } else { problem.buffer(beside).get() };
                let needed =
                    held + own + problem.buffer(at).get() + problem.operators()[beside].activations.get();
                needed <= problem.capacity().get()
            })
        });
        let tried = if addresses == Addresses::Counted { 1 } else { usize::MAX };
        for start in fitting.take(tried).collect::<Vec<_>>() {
            starts.push((at, start));
            ordered(problem, addresses, starts, best);
            starts.pop();
        }
    }
}

const KINDS: [Kind; 9] = [
    PLAIN,
    Kind { channels: 3, space: 3, ..PLAIN },
    Kind { most: 4, step: 2, space: 6, ..PLAIN },
    Kind { most: 6, channels: 1, step: 3, space: 4, ..PLAIN },
    Kind { most: 6, channels: 3, step: 2, space: 30, ..PLAIN },
    Kind { channels: 1, space: 6, ..PLAIN },
    Kind { most: 6, space: 8, alignment: 4, ..PLAIN },
    Kind { most: 6, space: 6, bandwidth: 700_000_000_000, ..PLAIN },
    Kind { channels: 1, space: 4, alignment: 2, bandwidth: 3_000_000_000_000, ..PLAIN },
];

#[test]
fn exact_equals_the_least_makespan() {
    let mut draw = Draw(7);
    let mut searched = 0;
    for round in 0..3000 {
        let count = 1 + draw.below(3);
        let p = drawn(&mut draw, count, KINDS[round % KINDS.len()]);
        let found = ExactTimeline.solve(&p, &mut Budget::unlimited(), &mut Silent).unwrap();
        let makespan = found.value.unwrap();
        assert_eq!(check_timeline(&p, found.solution.as_ref().unwrap()), []);
        let least = least(&p, makespan.get());
        let bound = time_bound(&p).value.get();
        assert!(bound <= least, "round {round}: {bound} above {least} of {p:?}");
        assert_eq!((found.stop, found.claim), (Stop::Completed, Claim::Optimal), "round {round}: {p:?}");
        assert_eq!(makespan.get(), least.min(makespan.get()), "round {round}: {p:?}");
        searched += u32::from(makespan.get() > bound);
    }
    assert!(searched >= 40, "{searched} by search");
}

#[test]
fn exact_equals_the_best_of_all_orders() {
    let mut draw = Draw(5);
    let (mut searched, mut unplaced) = (0, 0);
    for round in 0..3000 {
        let count = 4 + draw.below(3);
        let kind = KINDS[round % KINDS.len()];
        let p = drawn(&mut draw, count, Kind { most: kind.most * 2, space: kind.space * 2, ..kind });
        let found = ExactTimeline.solve(&p, &mut Budget::unlimited(), &mut Silent).unwrap();
        let makespan = found.value.unwrap().get();
        assert_eq!(check_timeline(&p, found.solution.as_ref().unwrap()), []);
        assert_eq!((found.stop, found.claim), (Stop::Completed, Claim::Optimal), "round {round}: {p:?}");
        let mut least = u64::MAX;
        ordered(&p, Addresses::Counted, &mut Vec::new(), &mut least);
        assert!(least <= makespan, "round {round}: {makespan} below {least} of {p:?}");
        let bound = time_bound(&p).value.get();
        assert!(bound <= least, "round {round}: {bound} above {least} of {p:?}");
        searched += u32::from(makespan > bound);
        if least < makespan {
            unplaced += 1;
            let mut placed = makespan + 1;
            ordered(&p, Addresses::Assigned, &mut Vec::new(), &mut placed);
            assert_eq!(placed, makespan, "round {round}: {p:?}");
        }
    }
    assert!(searched >= 300 && unplaced >= 50, "{searched} by search, {unplaced} without addresses");
}

/// Returns the minimum makespan over all integer start times below `horizon` if the weights of each operator
/// arrive either by DMA or by a copy. Bytes are counted, and addresses are ignored.
fn least_with_copies(problem: &TimelineProblem, horizon: u64) -> u64 {
    /// An operator, whether its weights are copied, and the start and the end of fetching.
    type Fetch = (usize, bool, u64, u64);
    fn computed(problem: &TimelineProblem, fetches: &[Fetch]) -> Vec<(u64, u64)> {
        let mut end = 0;
        let operators = problem.operators().iter().enumerate().map(|(at, one)| {
            let fetched = fetches.iter().find(|fetch| fetch.0 == at).map_or(0, |fetch| fetch.3);
            let mut start = fetched.max(end);
            let compute = one.compute.get();
            while let Some(copy) = fetches.iter().find(|f| f.1 && f.2 < start + compute && start < f.3) {
                start = copy.3;
            }
            end = start + compute;
            (start, end)
        });
        operators.collect()
    }
    fn fits(problem: &TimelineProblem, fetches: &[Fetch], spans: &[(u64, u64)]) -> bool {
        let moments = fetches.iter().map(|fetch| fetch.2).chain(spans.iter().map(|span| span.0));
        moments.collect::<Vec<_>>().into_iter().all(|now| {
            let held = fetches.iter().filter(|fetch| fetch.2 <= now && now < spans[fetch.0].1);
            let held: u64 = held.map(|fetch| problem.buffer(fetch.0).get()).sum();
            let active = spans.iter().position(|&(start, end)| start <= now && now < end);
            let on =
                |copied| fetches.iter().filter(move |f| f.1 == copied && f.2 <= now && now < f.3).count();
            held + active.map_or(0, |at| problem.operators()[at].activations.get())
                <= problem.capacity().get()
                && on(false) <= problem.dma().channels as usize
                && on(true) + usize::from(active.is_some()) <= 1
        })
    }
    fn all(p: &TimelineProblem, left: &[usize], fetches: &mut Vec<Fetch>, best: &mut u64, horizon: u64) {
        let Some((&next, rest)) = left.split_first() else {
            let spans = computed(p, fetches);
            let end = spans.last().map_or(0, |span| span.1);
            if end < *best && fits(p, fetches, &spans) {
                *best = end;
            }
            return;
        };
        for start in 0..horizon {
            for (copied, takes) in [(false, p.load(next)), (true, p.copy(next))] {
                fetches.push((next, copied, start, start + takes.unwrap().get()));
                all(p, rest, fetches, best, horizon);
                fetches.pop();
            }
        }
    }
    let mut best = u64::MAX;
    all(problem, &problem.weighted(), &mut Vec::new(), &mut best, horizon);
    best
}

#[test]
fn bounds_allow_for_copies() {
    let mut draw = Draw(5);
    let (mut met, mut mixed) = (0, 0);
    for round in 0..1400 {
        let count = 1 + draw.below(3);
        let rate = [500_000_000_000, 1_000_000_000_000, 2_000_000_000_000][draw.below(3) as usize];
        let p = drawn(&mut draw, count, Kind { most: 4, channels: 2, step: 1, space: 12, ..PLAIN })
            .with_copy(rate)
            .unwrap();
        // The exhaustive search checks memory while operators compute, so every operator must take time.
        if p.operators().iter().any(|one| one.compute == Time::ZERO) {
            continue;
        }
        let found = ExactTimeline.solve(&p, &mut Budget::unlimited(), &mut Silent).unwrap();
        let makespan = found.value.unwrap().get();
        assert_eq!(check_timeline(&p, found.solution.as_ref().unwrap()), []);
        // The range must include the makespan found, so one is added.
        let least = least_with_copies(&p, makespan + 1);
        let bound = time_bound(&p).value.get();
        assert!(bound <= least && least <= makespan, "round {round}: {bound}, {least}, {makespan} of {p:?}");
        assert!(found.lower_bound.value.get() <= least, "round {round}: {p:?}");
        met += u32::from(bound == least);
        mixed += u32::from(least < makespan);
    }
    assert!(met >= 100 && mixed >= 5, "{met} met, {mixed} mixed");
}

#[test]
fn exact_is_no_worse_than_any_schedule() {
    let mut draw = Draw(3);
    let mut better = 0;
    for round in 0..60 {
        let count = 1 + draw.below(12);
        let p = drawn(&mut draw, count, Kind { most: 40, channels: 3, step: 1, space: 120, ..PLAIN });
        let found =
            ExactTimeline.solve(&p, &mut Budget::unlimited().with_node_limit(20_000), &mut Silent).unwrap();
        let makespan = found.value.unwrap();
        assert_eq!(check_timeline(&p, found.solution.as_ref().unwrap()), [], "round {round}");
        assert!(found.lower_bound.value <= makespan);
        let mut best = Time::MAX;
        for entry in HEURISTICS {
            let other = (entry.build)(Setup::default()).solve(&p, &mut Budget::unlimited(), &mut Silent);
            if let Some(time) = other.ok().and_then(|outcome| outcome.value) {
                assert!(makespan <= time, "round {round}: {} has {time}", entry.name);
                assert!(found.lower_bound.value <= time);
                best = best.min(time);
            }
        }
        better += u32::from(makespan < best);
    }
    assert!(better >= 5, "better only {better} times");
}

#[test]
fn limits_end_the_search_and_too_little_memory_is_reported() {
    let mut draw = Draw(11);
    let p = drawn(&mut draw, 40, Kind { most: 60, channels: 2, step: 1, space: 180, ..PLAIN });
    let found = ExactTimeline.solve(&p, &mut Budget::unlimited().with_node_limit(3), &mut Silent).unwrap();
    assert!(found.value.is_some() && found.lower_bound.value >= time_bound(&p).value);
    let one = p.operators().to_vec();
    let small = TimelineProblem::new("p", one, p.dma(), Bytes::new(1), Bytes::new(1)).unwrap();
    let found = ExactTimeline.solve(&small, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!((found.claim, found.solution), (Claim::Infeasible, None));
}

#[cfg(feature = "ilp")]
#[test]
fn the_integer_program_agrees() {
    let mut draw = Draw(13);
    let mut searched = 0;
    for round in 0..120 {
        let count = 2 + draw.below(4);
        let kind = KINDS[round % KINDS.len()];
        let p = drawn(&mut draw, count, Kind { most: kind.most * 2, space: kind.space * 2, ..kind });
        let exact = ExactTimeline.solve(&p, &mut Budget::unlimited(), &mut Silent).unwrap();
        let found = TimelineIlp.solve(&p, &mut Budget::unlimited(), &mut Silent).unwrap();
        assert_eq!(check_timeline(&p, found.solution.as_ref().unwrap()), []);
        assert_eq!(
            found.claim,
            Claim::Optimal,
            "round {round}: {:?} {:?} {p:?}",
            found.value,
            found.lower_bound
        );
        assert_eq!(found.value, exact.value, "round {round}: {p:?}");
        searched += u32::from(found.lower_bound.value > time_bound(&p).value);
    }
    assert!(searched >= 5, "{searched} by HiGHS");
    // With long times, the bound uses coarser units. It must not exceed the minimum makespan.
    for round in 0..30 {
        let p = drawn(&mut draw, 4, Kind { most: 1 << 40, channels: 2, step: 1, space: 1 << 40, ..PLAIN });
        let exact = ExactTimeline.solve(&p, &mut Budget::unlimited(), &mut Silent).unwrap();
        let found = TimelineIlp.solve(&p, &mut Budget::unlimited(), &mut Silent).unwrap();
        assert!(found.lower_bound.value <= exact.value.unwrap(), "round {round}: {p:?}");
        assert!(found.value >= exact.value, "round {round}: {p:?}");
    }
    let p = drawn(&mut draw, 60, KINDS[0]);
    assert!(matches!(
        TimelineIlp.solve(&p, &mut Budget::unlimited(), &mut Silent),
        Err(plimsoll_model::SolveError::Unsupported { .. })
    ));
}

/// Uses one or two channels, and times so long that sums are rounded to coarser units.
#[test]
fn long_times_are_searched_exactly() {
    let mut draw = Draw(17);
    let mut searched = 0;
    for round in 0..30 {
        let count = 4 + draw.below(3);
        let kind = Kind { most: 1 << 30, channels: 2, step: 1, space: 1 << 20, ..PLAIN };
        // In even rounds, memory is ample, so all orders have addresses.
        let p = drawn(
            &mut draw,
            count,
            Kind { space: if round % 2 == 0 { 1 << 31 } else { kind.space }, ..kind },
        );
        let found = ExactTimeline.solve(&p, &mut Budget::unlimited(), &mut Silent).unwrap();
        assert_eq!(check_timeline(&p, found.solution.as_ref().unwrap()), []);
        assert_eq!(found.claim, Claim::Optimal, "round {round}: {p:?}");
        let (mut least, makespan) = (u64::MAX, found.value.unwrap().get());
        ordered(&p, Addresses::Counted, &mut Vec::new(), &mut least);
        assert!(least <= makespan, "round {round}: {makespan} below {least} of {p:?}");
        let holds = p.capacity().get()
            >= p.activations().get() + p.weighted().iter().map(|&at| p.buffer(at).get()).sum::<u64>();
        assert!(!holds || least == makespan, "round {round}: {makespan} above {least} of {p:?}");
        searched += u32::from(makespan > time_bound(&p).value.get());
    }
    assert!(searched >= 3, "{searched} by search");
}
