//! Tests that claims are correct and that nothing overflows for timelines with unusual capacities and huge
//! numbers.

use plimsoll_model::timelines::{
    Dma, Span, Time, TimedOperator, Timeline, TimelineProblem, TimelineViolation, Transfer, check_timeline,
    replay,
};
use plimsoll_model::{Budget, Bytes, Claim, OperatorId, Silent, Solver};
use plimsoll_solvers::timelines::ExactTimeline;

/// One byte per picosecond.
const BANDWIDTH: u64 = 1_000_000_000_000;

/// Builds a problem from operators (computing time in picoseconds, bytes of weights, bytes of activations).
fn problem(
    list: &[(u64, u64, u64)],
    (channels, bandwidth): (u32, u64),
    capacity: u64,
    alignment: u64,
) -> TimelineProblem {
    let one = |(at, &(compute, weights, activations)): (usize, &(u64, u64, u64))| TimedOperator {
        name: format!("o{at}"),
        compute: Time::new(compute),
        weights: Bytes::new(weights),
        activations: Bytes::new(activations),
    };
    let dma = Dma { channels, startup: Time::ZERO, bandwidth };
    let operators = list.iter().enumerate().map(one).collect();
    TimelineProblem::new("p", operators, dma, Bytes::new(capacity), Bytes::new(alignment)).unwrap()
}

/// Solves a problem, checks that the timeline is valid and its makespan is not below the bound, and returns
/// the claim.
fn claim(problem: &TimelineProblem) -> Claim {
    let outcome =
        ExactTimeline.solve(problem, &mut Budget::unlimited().with_node_limit(10_000), &mut Silent).unwrap();
    if let Some(timeline) = &outcome.solution {
        assert_eq!(check_timeline(problem, timeline), []);
        assert!(outcome.lower_bound.value <= timeline.makespan(), "{:?}", outcome.lower_bound);
    }
    outcome.claim
}

#[test]
fn activations_alone_may_end_off_the_alignment() {
    assert_eq!(claim(&problem(&[(5, 0, 115)], (1, BANDWIDTH), 120, 16)), Claim::Optimal);
    assert_eq!(claim(&problem(&[(5, 0, 121)], (1, BANDWIDTH), 120, 16)), Claim::Infeasible);
    assert_eq!(claim(&problem(&[(5, 1, 105)], (1, BANDWIDTH), 120, 16)), Claim::Infeasible);
    // While the first operator runs, no weights fit.
    assert_eq!(claim(&problem(&[(5, 0, 115), (5, 16, 0)], (1, BANDWIDTH), 120, 16)), Claim::Optimal);
}

#[test]
fn capacities_may_be_as_large_as_numbers_go() {
    for capacity in [i64::MAX as u64 - 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
        assert_eq!(claim(&problem(&[(5, 0, 0), (5, 10, 0)], (1, BANDWIDTH), capacity, 1)), Claim::Optimal);
    }
    // At most one channel per transfer is used, however many channels there are.
    assert_eq!(claim(&problem(&[(5, 10, 0), (5, 10, 0)], (u32::MAX, BANDWIDTH), 1000, 1)), Claim::Optimal);
}

#[test]
fn transfers_may_take_as_long_as_times_go() {
    let second = 1_000_000_000_000;
    for alignment in [1 << 10, 1 << 23, 1 << 24, 1 << 25] {
        let list = [(10 * second, 0, 0), (second, 1, 0), (second, 1, 0)];
        assert_eq!(claim(&problem(&list, (1, 1), alignment, alignment)), Claim::Optimal);
    }
    let list = [(1, 6_285_780, 20), (1_188_496, 647_661, 2), (2_742_136, 45, 0), (6199, 11_857_045_221, 0)];
    let copying = problem(&list, (2, 1335), 11_857_050_812, 4).with_copy(3_215_008_143).unwrap();
    assert_ne!(claim(&copying), Claim::Infeasible);
}

#[test]
fn nothing_computes_within_a_copy_not_even_for_a_moment() {
    let copying = problem(&[(0, 5, 0), (5, 3, 0), (5, 10, 0)], (1, BANDWIDTH), 100, 1);
    let copying = copying.with_copy(BANDWIDTH).unwrap();
    let span = |start, end| Span { start: Time::new(start), end: Time::new(end) };
    let transfer = |operator, channel, bytes, span, offset| Transfer {
        operator: OperatorId::new(operator),
        channel,
        bytes: Bytes::new(bytes),
        span,
        offset: Bytes::new(offset),
        size: Bytes::new(bytes),
    };
    let mut timeline = Timeline {
        transfers: vec![
            transfer(0, Some(0), 5, span(0, 5), 0),
            transfer(1, Some(0), 3, span(7, 10), 0),
            transfer(2, None, 10, span(0, 10), 10),
        ],
        computations: vec![span(5, 5), span(10, 15), span(15, 20)],
        slots: vec![],
    };
    let found = check_timeline(&copying, &timeline);
    assert!(
        matches!(found[..], [TimelineViolation::ProcessorBusy { transfer: 2, position: 0, .. }]),
        "{found:?}"
    );
    // The computation is allowed once the copy has ended.
    timeline.computations[0] = span(10, 10);
    timeline.transfers[1].offset = Bytes::new(50);
    assert_eq!(check_timeline(&copying, &timeline), []);
    let again = replay(&copying, &timeline.instructions()).unwrap();
    assert_eq!(check_timeline(&copying, &again), []);
    assert!(again.makespan() <= timeline.makespan());
}
