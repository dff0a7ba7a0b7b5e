//! Exact timelines against trying everything.

use plimsoll_heuristics::SCHEDULES as HEURISTICS;
use plimsoll_model::overlap::{
    Dma, ScheduleSetup, Scheduler, Time, TimedOperator, TimelineProblem, check_timeline, time_bound,
};
use plimsoll_model::{Budget, Bytes, Claim, Stop};
use plimsoll_solvers::overlap::ExactTimeline;

/// The same numbers on any machine.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Operators with numbers below `most`; one byte takes one picosecond.
fn drawn(draw: &mut Draw, count: u64, most: u64) -> TimelineProblem {
    let operators: Vec<TimedOperator> = (0..count)
        .map(|at| TimedOperator {
            name: format!("o{at}"),
            compute: Time::new(draw.below(most) + 1),
            weights: Bytes::new(if draw.below(4) == 0 { 0 } else { draw.below(most) + 1 }),
            activations: Bytes::new(draw.below(most)),
        })
        .collect();
    let needed = operators.iter().map(|one| one.weights.get() + one.activations.get()).max().unwrap_or(0);
    let channels = draw.below(2) as u32 + 1;
    let dma = Dma { channels, startup: Time::new(draw.below(4)), bandwidth: 1_000_000_000_000 };
    let capacity = Bytes::new(needed + draw.below(3 * most));
    TimelineProblem::new("p", operators, dma, capacity, Bytes::new(1)).unwrap()
}

/// The least makespan with whole numbers as starting times, one transfer each, by trying all of them; memory is counted,
/// not placed, which can only be faster.
fn least(problem: &TimelineProblem, horizon: u64) -> u64 {
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
    fn fits(problem: &TimelineProblem, starts: &[(usize, u64)], spans: &[(u64, u64)]) -> bool {
        let moments = starts.iter().map(|&(_, start)| start).chain(spans.iter().map(|span| span.0));
        let room = moments.collect::<Vec<_>>().into_iter().all(|now| {
            let held = starts.iter().filter(|&&(at, start)| start <= now && now < spans[at].1);
            let held: u64 = held.map(|&(at, _)| problem.buffer(at).get()).sum();
            let active = spans.iter().position(|&(start, end)| start <= now && now < end);
            held + active.map_or(0, |at| problem.operators()[at].activations.get())
                <= problem.capacity().get()
        });
        let load = |at: usize| problem.load(at).unwrap().get();
        room && starts.iter().all(|&(_, start)| {
            let busy = starts.iter().filter(|&&(other, from)| from <= start && start < from + load(other));
            busy.count() <= problem.dma().channels as usize
        })
    }
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

#[test]
fn exact_equals_the_least_makespan() {
    let mut draw = Draw(7);
    let (mut optimal, mut searched) = (0, 0);
    for round in 0..1500 {
        let count = 1 + draw.below(3);
        let p = drawn(&mut draw, count, 5);
        let found = ExactTimeline.solve(&p, &mut Budget::unlimited()).unwrap();
        let makespan = found.makespan.unwrap();
        assert_eq!(check_timeline(&p, found.timeline.as_ref().unwrap()), []);
        let least = least(&p, makespan.get());
        let bound = time_bound(&p).value.get();
        assert!(bound <= least, "round {round}: {bound} above {least} of {p:?}");
        assert_eq!(found.stop, Stop::Completed);
        assert_eq!(found.lower_bound.value.get(), least.min(makespan.get()), "round {round}: {p:?}");
        optimal += u32::from(found.claim == Claim::Optimal);
        searched += u32::from(found.lower_bound.value.get() > bound);
    }
    assert!(optimal >= 1450 && searched >= 10, "{optimal} optimal, {searched} by search");
}

/// The least makespan where every operator's weights come by DMA or by a copy, with whole numbers as starting times, by
/// trying all; memory is counted.
fn least_with_copies(problem: &TimelineProblem, horizon: u64) -> u64 {
    /// Operator, whether copied, start, end.
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
    for round in 0..700 {
        let count = 1 + draw.below(3);
        let rate = [500_000_000_000, 1_000_000_000_000, 2_000_000_000_000][draw.below(3) as usize];
        let p = drawn(&mut draw, count, 4).with_copy(rate).unwrap();
        let found = ExactTimeline.solve(&p, &mut Budget::unlimited()).unwrap();
        let makespan = found.makespan.unwrap().get();
        assert_eq!(check_timeline(&p, found.timeline.as_ref().unwrap()), []);
        // One more, so that what is found lies within.
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
        let p = drawn(&mut draw, count, 40);
        let found = ExactTimeline.solve(&p, &mut Budget::unlimited().with_node_limit(20_000)).unwrap();
        let makespan = found.makespan.unwrap();
        assert_eq!(check_timeline(&p, found.timeline.as_ref().unwrap()), [], "round {round}");
        assert!(found.lower_bound.value <= makespan);
        let mut best = Time::MAX;
        for entry in HEURISTICS {
            let other = (entry.build)(ScheduleSetup::default()).solve(&p, &mut Budget::unlimited());
            if let Some(time) = other.ok().and_then(|outcome| outcome.makespan) {
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
fn limits_end_the_search_and_too_little_memory_is_told() {
    let mut draw = Draw(11);
    let p = drawn(&mut draw, 40, 60);
    let found = ExactTimeline.solve(&p, &mut Budget::unlimited().with_node_limit(3)).unwrap();
    assert!(found.makespan.is_some() && found.lower_bound == time_bound(&p));
    let one = p.operators().to_vec();
    let small = TimelineProblem::new("p", one, p.dma(), Bytes::new(1), Bytes::new(1)).unwrap();
    let found = ExactTimeline.solve(&small, &mut Budget::unlimited()).unwrap();
    assert_eq!((found.claim, found.timeline), (Claim::Infeasible, None));
}
