//! Tests the audits of problems whose values are not in bytes, and of wasteful layouts.

use plimsoll_model::fusion::{
    FusionProblem, FusionWitness, Fusions, Patterns, UnitRule, Units, fusion_bound,
};
use plimsoll_model::graph::{Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::run::audit;
use plimsoll_model::timelines::{
    Dma, Span, Time, TimeWitness, TimedOperator, Timeline, TimelineProblem, Timelines, Transfer,
    compute_bound, fitting_bound, time_bound,
};
use plimsoll_model::{
    Buffer, Bytes, Claim, Instance, InstanceBuilder, Layout, Lifespan, LowerBound, Offsets, OperatorId,
    Outcome, Piece, Problem, Relations, SplitBuffers, SplitLayout, Stats, Stop, Value, simple_bound,
};

/// Creates a problem with two operators and one channel. The transfer of a byte takes one picosecond.
fn timed(capacity: u64) -> TimelineProblem {
    let one = |name: &str, weights| TimedOperator {
        name: name.into(),
        compute: Time::new(5),
        weights: Bytes::new(weights),
        activations: Bytes::new(8),
    };
    let dma = Dma { channels: 1, startup: Time::ZERO, bandwidth: 1_000_000_000_000 };
    let operators = vec![one("a", 10), one("b", 20)];
    TimelineProblem::new("p", operators, dma, Bytes::new(capacity), Bytes::new(1)).unwrap()
}

fn timeline() -> Timeline {
    let span = |start, end| Span { start: Time::new(start), end: Time::new(end) };
    let transfer = |operator, bytes, span, offset| Transfer {
        operator: OperatorId::new(operator),
        channel: Some(0),
        bytes: Bytes::new(bytes),
        span,
        offset: Bytes::new(offset),
        size: Bytes::new(bytes),
    };
    Timeline {
        transfers: vec![transfer(0, 10, span(0, 10), 54), transfer(1, 20, span(10, 30), 34)],
        computations: vec![span(10, 15), span(30, 35)],
        slots: vec![],
    }
}

/// Returns the first reason why the audit rejects the outcome, or an empty string.
fn reason<P: Problem>(input: &P::Input, outcome: &Outcome<P>) -> String {
    audit::<P>(input, outcome).into_iter().next().unwrap_or_default()
}

#[test]
fn timelines_are_audited() {
    let problem = timed(64);
    let conclude = |bound| {
        Outcome::<Timelines>::of(&problem, Some(timeline()), bound, Stop::Completed, Stats::default())
    };
    let correct = conclude(time_bound(&problem));
    assert_eq!((correct.claim, correct.value), (Claim::Optimal, Some(Time::new(35))));
    assert_eq!(reason(&problem, &correct), "");
    let overstated = LowerBound::new(compute_bound(&problem).value + Time::new(1), TimeWitness::Compute);
    assert_eq!(
        reason(&problem, &conclude(overstated)),
        "lower bound: the witness shows only 10 ps, but the bound is 11 ps"
    );
    let mut slower = correct.clone();
    slower.value = Some(Time::new(36));
    assert!(reason(&problem, &slower).starts_with("the answer states the value"));
    let mut early = timeline();
    early.computations[1] = Span { start: Time::new(29), end: Time::new(34) };
    let mut wrong = correct;
    wrong.solution = Some(early);
    assert_ne!(reason(&problem, &wrong), "");
}

#[test]
fn operators_that_fit_nowhere_give_a_bound_above_any_limit() {
    let none = |problem: &TimelineProblem, bound| {
        Outcome::<Timelines>::of(problem, None, bound, Stop::Completed, Stats::default())
    };
    let small = timed(20);
    let bound = fitting_bound(&small);
    assert_eq!(bound.witness, TimeWitness::TooLarge { operator: OperatorId::new(1) });
    let outcome = none(&small, bound.clone());
    assert_eq!(outcome.claim, Claim::Infeasible);
    assert_eq!(reason(&small, &outcome), "");
    // The same bound proves nothing if the operator fits or does not exist.
    let wrong = none(&timed(64), bound);
    assert_eq!(
        reason(&timed(64), &wrong),
        "lower bound: the witness states that an operator or a tensor is too large, but it fits"
    );
    let missing = LowerBound::new(Time::MAX, TimeWitness::TooLarge { operator: OperatorId::new(7) });
    assert!(reason(&small, &none(&small, missing)).contains("refers to operator 7"));
}

/// Creates the problem of the chain x -A-> y -B-> z -C-> w with the patterns A B and B C.
fn chain() -> FusionProblem {
    let mut g = GraphBuilder::new("g");
    let mut last = g.tensor(Tensor::new("x", 4, Role::Input));
    let input = last;
    for kind in ["A", "B", "C"] {
        let made = g.tensor(Tensor::new("", 4, Role::Activation));
        g.operator(Graph::BODY, Operator::new("", kind).reads([last]).makes([made]));
        last = made;
    }
    g.interface(Graph::BODY, [input], [last]);
    let graph = g.build().unwrap();
    let patterns = Patterns::parse("p", "ab = A B\nbc = B C\n").unwrap();
    let units = Units::one("cpu").assign(&graph, Graph::BODY).unwrap();
    FusionProblem::new(&graph, Graph::BODY, &patterns, &units, UnitRule::Any).unwrap()
}

#[test]
fn fusions_are_audited() {
    let problem = chain();
    let conclude = |chosen: &[usize], bound| {
        Outcome::<Fusions>::of(&problem, Some(chosen.to_vec()), bound, Stop::Completed, Stats::default())
    };
    let bound = fusion_bound(&problem);
    let correct = conclude(&[0], bound.clone());
    assert_eq!((correct.claim, correct.value), (Claim::Optimal, Some(Relations::new(1))));
    assert_eq!(reason(&problem, &correct), "");
    let search =
        |count| LowerBound::new(Relations::new(count), FusionWitness::Search { solver: "exact".to_owned() });
    assert_eq!(reason(&problem, &conclude(&[0, 1], search(2))), "matches 0 and 1 share an operator");
    assert!(reason(&problem, &conclude(&[5], search(2))).contains("there are only 2 matches"));
    assert_eq!(reason(&problem, &conclude(&[], search(0))), "");
    // A bound of fewer relations than a solution optimises is rejected.
    let mut strong = correct;
    strong.lower_bound = LowerBound { value: Relations::new(0), ..bound };
    assert_eq!(reason(&problem, &strong), "the bound 0 relations excludes the value 1 relations");
    assert!(Relations::new(0) > Relations::new(1) && Relations::new(1).with_unit() == "1 relations");
}

/// Creates an instance of buffers that are live at the same step.
fn together(sizes: &[u64], capacity: Option<u64>) -> Instance {
    let buffer =
        |(at, &size): (usize, &u64)| Buffer::new(at.to_string(), size, Lifespan::single(0, 1).unwrap());
    let buffers = sizes.iter().enumerate().map(buffer);
    InstanceBuilder::new("t").buffers(buffers).capacity(capacity.map(Bytes::new)).build().unwrap()
}

#[test]
fn a_valid_layout_above_all_buffers_laid_end_to_end_is_feasible() {
    for (sizes, offsets) in [
        (&[100, 200, 50][..], &[0, 4096, 8192][..]),
        (&[70, 9, 1], &[96, 1_000_000, 1_000_064]),
        (&[5], &[u64::MAX >> 3]),
    ] {
        for capacity in [None, Some(1 << 62)] {
            let input = together(sizes, capacity);
            let (layout, bound) = (Layout::from_raw(offsets.to_vec()), simple_bound(&input));
            assert!(layout.peak(&input) > input.ceiling());
            let pieces = layout.offsets().iter().zip(input.buffers());
            let pieces = pieces.map(|(&start, b)| vec![Piece { start, length: b.size() }]);
            let split = SplitLayout::new(pieces.collect());
            let (stop, stats) = (Stop::Completed, Stats::default());
            let whole = Outcome::<Offsets>::of(&input, Some(layout), bound.clone(), stop, stats.clone());
            assert_eq!((whole.claim, audit::<Offsets>(&input, &whole)), (Claim::Feasible, vec![]));
            let split = Outcome::<SplitBuffers>::of(&input, Some(split), bound, stop, stats);
            assert_eq!((split.claim, audit::<SplitBuffers>(&input, &split)), (Claim::Feasible, vec![]));
        }
    }
}
