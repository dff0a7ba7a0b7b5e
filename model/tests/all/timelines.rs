//! The timeline checker finds every planted violation, instructions are replayed, and the segments of a
//! program follow the regions of its graph.

use plimsoll_model::graph::{Control, GraphBuilder, LivenessOptions, Operator, Role, Tensor};
use plimsoll_model::orders::Order;
use plimsoll_model::timelines::{
    Dma, Instruction, Machine, OverlapOptions, OverlapProgram, Piece, RegionOrder, ReplayError, Slot, Span,
    Time, TimedOperator, Timeline, TimelineProblem, TimelineViolation as Violation, Transfer, check_timeline,
    replay, write_instructions,
};
use plimsoll_model::{Bytes, OperatorId, RegionId};

fn span(start: u64, end: u64) -> Span {
    Span { start: Time::new(start), end: Time::new(end) }
}

/// Creates a problem with three operators, whose weights have 10, 0 and 20 bytes. The transfer of a byte
/// takes one picosecond, and the setup latency is one picosecond.
fn problem() -> TimelineProblem {
    let one = |name: &str, compute, weights, activations| TimedOperator {
        name: name.into(),
        compute: Time::new(compute),
        weights: Bytes::new(weights),
        activations: Bytes::new(activations),
    };
    let operators = vec![one("a", 5, 10, 8), one("b", 5, 0, 16), one("c", 5, 20, 4)];
    let dma = Dma { channels: 2, startup: Time::new(1), bandwidth: 1_000_000_000_000 };
    TimelineProblem::new("p", operators, dma, Bytes::new(64), Bytes::new(4)).unwrap()
}

fn transfer(operator: u32, channel: u32, bytes: u64, at: (u64, u64), offset: u64) -> Transfer {
    let (operator, bytes, offset) = (OperatorId::new(operator), Bytes::new(bytes), Bytes::new(offset));
    let size = bytes.align_up(Bytes::new(4)).unwrap();
    Transfer { operator, channel: Some(channel), bytes, span: span(at.0, at.1), offset, size }
}

/// Creates a valid timeline. All times are in picoseconds. The weights of `a` are fetched between 0 and 11.
/// Operator `a` then runs until 16, and `b` until 21. The weights of `c` are fetched between 11 and 32.
fn valid() -> Timeline {
    Timeline {
        transfers: vec![transfer(0, 0, 10, (0, 11), 52), transfer(2, 0, 20, (11, 32), 20)],
        computations: vec![span(11, 16), span(16, 21), span(32, 37)],
        slots: vec![],
    }
}

/// Returns the violations found after a change to the valid timeline.
fn found(change: impl FnOnce(&mut Timeline)) -> Vec<Violation> {
    let mut timeline = valid();
    change(&mut timeline);
    check_timeline(&problem(), &timeline)
}

#[test]
fn a_valid_timeline_passes_and_is_measured() {
    assert_eq!(found(|_| ()), []);
    let (p, t) = (problem(), valid());
    assert_eq!(t.makespan(), Time::new(37));
    let occupancy: Vec<_> = t.occupancy(&p).iter().map(|&(time, bytes)| (time.get(), bytes.get())).collect();
    assert_eq!(occupancy, [(0, 20), (11, 40), (16, 36), (21, 24), (37, 0)]);
    assert_eq!(t.peak(&p), Bytes::new(40));
    // The weights of c may be fetched at the same time on the other channel, into a buffer inside a slot.
    let more = found(|t| {
        t.transfers[1] = transfer(2, 1, 20, (0, 21), 20);
        t.slots.push(Slot { offset: Bytes::new(20), size: Bytes::new(24) });
    });
    assert_eq!(more, []);
}

#[test]
fn order_and_times_are_checked() {
    assert!(matches!(
        found(|t| t.computations.truncate(2))[..],
        [Violation::Count { given: 2, expected: 3 }]
    ));
    assert!(matches!(found(|t| t.computations[2] = span(32, 36))[..], [Violation::ComputeTime { .. }]));
    assert!(matches!(found(|t| t.computations[1] = span(15, 20))[..], [Violation::Precedence { .. }]));
    assert!(matches!(found(|t| t.computations[2] = span(31, 36))[..], [Violation::Late { .. }]));
    let longer = found(|t| t.transfers[0].span = span(0, 10));
    assert!(matches!(longer[..], [Violation::TransferTime { expected, .. }] if expected == Time::new(11)));
    assert_eq!(longer[0].to_string(), "transfer 0 of 10 bytes runs from 0 ps to 10 ps, but must take 11 ps");
    let backwards = found(|t| t.computations[0] = Span { start: Time::MAX, end: Time::new(4) });
    assert!(matches!(backwards[..], [Violation::ComputeTime { .. }, ..]));
}

#[test]
fn transfers_and_channels_are_checked() {
    assert!(matches!(
        found(|t| t.transfers[1].channel = Some(2))[..],
        [Violation::NoSuchChannel { channel: 2, .. }]
    ));
    let missing = found(|t| t.transfers[1].operator = OperatorId::new(3));
    assert!(matches!(missing[..], [Violation::NoSuchOperator { transfer: 1, .. }]));
    assert!(matches!(found(|t| t.transfers.truncate(1))[..], [Violation::Carried { given: 0, .. }]));
    let part = found(|t| t.transfers[1] = transfer(2, 0, 12, (11, 24), 20));
    assert!(matches!(part[..], [Violation::Carried { given: 12, .. }]));
    let twice = found(|t| t.transfers.push(transfer(2, 1, 4, (11, 16), 40)));
    assert!(matches!(
        twice[..],
        [Violation::Twice { first: 1, second: 2, .. }, Violation::Carried { given: 24, .. }]
    ));
    let busy = found(|t| t.transfers[1].span = span(10, 31));
    assert!(matches!(busy[..], [Violation::ChannelBusy { first: 0, second: 1, channel: 0, .. }]));
    assert_eq!(found(|t| (t.transfers[1].channel, t.transfers[1].span) = (Some(1), span(10, 31))), []);
}

/// Creates a problem and a timeline in which the processor copies two bytes per picosecond. It copies the
/// weights of `a` until 5, runs `a` until 10 and `b` until 15, and then copies the weights of `c` until 25.
/// All times are in picoseconds.
fn copied() -> (TimelineProblem, Timeline) {
    let p = problem().with_copy(2_000_000_000_000).unwrap();
    let mut timeline = Timeline {
        transfers: vec![transfer(0, 0, 10, (0, 5), 52), transfer(2, 0, 20, (15, 25), 44)],
        computations: vec![span(5, 10), span(10, 15), span(25, 30)],
        slots: vec![],
    };
    for one in &mut timeline.transfers {
        one.channel = None;
    }
    (p, timeline)
}

#[test]
fn copies_take_the_processor() {
    let (p, valid) = copied();
    assert_eq!(check_timeline(&p, &valid), []);
    let found = |change: &dyn Fn(&mut Timeline)| {
        let mut timeline = valid.clone();
        change(&mut timeline);
        check_timeline(&p, &timeline)
    };
    // The copy for c overlaps the computation of b. The buffer of c is moved, so that nothing else is wrong.
    let early = found(&|t| (t.transfers[1].span, t.transfers[1].offset) = (span(12, 22), Bytes::new(24)));
    assert!(
        matches!(early[..], [Violation::ProcessorBusy { transfer: 1, what: "computes operator", position: 1, time }]
        if time == Time::new(12)),
        "{early:?}"
    );
    let twice = found(&|t| {
        t.transfers[1] = Transfer { span: span(3, 13), offset: Bytes::new(24), ..t.transfers[1] };
        t.computations = vec![span(13, 18), span(18, 23), span(23, 28)];
    });
    assert!(matches!(
        twice[..],
        [Violation::ProcessorBusy { transfer: 0, what: "copies transfer", position: 1, .. }]
    ));
    let long = found(&|t| t.transfers[0].span = span(0, 4));
    assert!(matches!(long[..], [Violation::TransferTime { expected, .. }] if expected == Time::new(5)));
    // A DMA transfer of the weights of c takes 21 picoseconds, and the processor may compute meanwhile.
    let fetched = found(&|t| {
        t.transfers[1] =
            Transfer { channel: Some(1), span: span(5, 26), offset: Bytes::new(24), ..t.transfers[1] };
        t.computations[2] = span(26, 31);
    });
    assert_eq!(fetched, []);
    let refused = check_timeline(&problem(), &valid);
    assert!(matches!(refused[..], [Violation::NoCopy { transfer: 0 }, Violation::NoCopy { transfer: 1 }]));
}

#[test]
fn copies_are_replayed() {
    let (p, valid) = copied();
    let stream = valid.instructions();
    assert_eq!(replay(&p, &stream).unwrap(), valid);
    assert_eq!(replay(&problem(), &stream), Err(ReplayError::Unknown { at: 0 }));
    let mut text = Vec::new();
    write_instructions([(&p, stream)], &mut text).unwrap();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "segment,instruction,operator,name,channel,bytes,offset,size\np,Copy,0,a,,10,52,12\np,Compute,0,a,,,,\n\
         p,Compute,1,b,,,,\np,Copy,2,c,,20,44,20\np,Compute,2,c,,,,\n"
    );
    // A transfer that starts while the processor copies is queued before the copy. Its replay therefore
    // starts earlier.
    let mut mixed = valid;
    mixed.transfers[1] =
        Transfer { channel: Some(0), span: span(3, 24), offset: Bytes::new(24), ..mixed.transfers[1] };
    mixed.computations[2] = span(24, 29);
    assert_eq!(check_timeline(&p, &mixed), []);
    let again = replay(&p, &mixed.instructions()).unwrap();
    assert_eq!(check_timeline(&p, &again), []);
    assert_eq!(again.transfers[0].span, span(0, 21));
}

#[test]
fn memory_is_checked() {
    assert!(matches!(found(|t| t.transfers[1].size = Bytes::new(16))[..], [Violation::BufferSize { .. }]));
    assert!(matches!(found(|t| t.transfers[1].offset = Bytes::new(22))[..], [Violation::Misaligned { .. }]));
    assert!(matches!(
        found(|t| t.transfers[0].offset = Bytes::new(56))[..],
        [Violation::OverCapacity { end: 68, .. }]
    ));
    let overlap = found(|t| t.transfers[1].offset = Bytes::new(36));
    assert!(matches!(overlap[..], [Violation::Overlap { offset, time, .. }]
        if offset == Bytes::new(52) && time == Time::new(11)));
    // The buffer of c is occupied while b runs with 16 bytes of activations, but not while a runs.
    let low = found(|t| t.transfers[1].offset = Bytes::new(8));
    assert!(matches!(low[..], [Violation::Activations { operator, .. }] if operator == OperatorId::new(1)));
    let later = found(|t| {
        (t.transfers[1].offset, t.transfers[1].span) = (Bytes::new(8), span(21, 42));
        t.computations[2] = span(42, 47);
    });
    assert_eq!(later, []);
    let ragged = found(|t| t.transfers[0].size = Bytes::new(10));
    assert!(matches!(ragged[..], [Violation::Ragged { what: "transfer", position: 0, .. }]));
    assert_eq!(ragged[0].to_string(), "transfer 0 occupies 10 bytes, which is not a multiple of 4");
    let far = found(|t| {
        (t.transfers[0].offset, t.transfers[0].size) = (Bytes::new(u64::MAX - 3), Bytes::new(u64::MAX - 3));
    });
    assert!(matches!(far[..], [Violation::OverCapacity { .. }]));
}

#[test]
fn slots_are_checked() {
    let slot = |offset, size| Slot { offset: Bytes::new(offset), size: Bytes::new(size) };
    assert!(matches!(
        found(|t| t.slots.push(slot(44, 12)))[..],
        [Violation::SlotOverlap { what: "transfer", .. }]
    ));
    let two = found(|t| t.slots.extend([slot(20, 20), slot(20, 24)]));
    assert!(matches!(two[..], [Violation::SlotOverlap { what: "slot", .. }]));
    assert!(matches!(
        found(|t| t.slots.push(slot(12, 4)))[..],
        [Violation::Activations { what: "slot", .. }]
    ));
    assert!(matches!(found(|t| t.slots.push(slot(41, 4)))[..], [Violation::Misaligned { what: "slot", .. }]));
    assert!(matches!(found(|t| t.slots.push(slot(40, 3)))[..], [Violation::Ragged { what: "slot", .. }]));
    assert!(matches!(
        found(|t| t.slots.push(slot(64, 4)))[..],
        [Violation::OverCapacity { what: "slot", .. }]
    ));
}

#[test]
fn activations_above_the_capacity_are_reported() {
    let p = problem();
    let small =
        TimelineProblem::new("p", p.operators().to_vec(), p.dma(), Bytes::new(15), Bytes::new(1)).unwrap();
    let found = check_timeline(&small, &valid());
    assert!(found.iter().any(|one| matches!(one, Violation::TooLarge { .. })), "{found:?}");
}

#[test]
fn instructions_are_those_of_the_timeline() {
    let (p, t) = (problem(), valid());
    let stream = t.instructions();
    let mut csv = Vec::new();
    write_instructions([(&p, stream.clone())], &mut csv).unwrap();
    assert_eq!(
        String::from_utf8(csv).unwrap(),
        "segment,instruction,operator,name,channel,bytes,offset,size\np,DMAStart,0,a,0,10,52,12\np,DMAWait,0,a,,,,\n\
         p,DMAStart,2,c,0,20,20,20\np,Compute,0,a,,,,\np,Compute,1,b,,,,\np,DMAWait,2,c,,,,\np,Compute,2,c,,,,\n"
    );
    assert_eq!(replay(&p, &stream).unwrap(), t);
    let compute = |raw| Instruction::Compute { operator: OperatorId::new(raw) };
    assert!(matches!(replay(&p, &[compute(1)]), Err(ReplayError::Order { at: 0, expected: 0, .. })));
    let wait = Instruction::DmaWait { operator: OperatorId::new(9) };
    assert_eq!(replay(&p, &[wait]), Err(ReplayError::Unknown { at: 0 }));
}

/// The program is: first; if { t1; t2 } else { }; loop { b }; last.
#[test]
fn segments_follow_the_regions() {
    let mut g = GraphBuilder::new("g");
    let x = g.tensor(Tensor::new("x", 8, Role::Input));
    let [a, y, z, p, q, s, o] = [("a", 16), ("y", 8), ("z", 8), ("p", 100), ("q", 8), ("s", 8), ("o", 8)]
        .map(|(name, bytes)| {
            g.tensor(Tensor::new(name, bytes, if name == "o" { Role::Output } else { Role::Activation }))
        });
    let w = g.tensor(Tensor::new("w", 40, Role::Weight));
    let body = g.body();
    g.operator(body, Operator::new("first", "F").reads([x, w]).makes([a]));
    let choose = g.operator(body, Operator::new("choose", "If").reads([a]).makes([y]));
    let then = g.region(choose, "then");
    g.operator(then, Operator::new("t1", "F").reads([a, w]).makes([p]));
    g.operator(then, Operator::new("t2", "F").reads([p]).makes([q]));
    g.interface(then, [], [q]);
    let other = g.region(choose, "else");
    g.interface(other, [], [a]);
    let mut repeat = Operator::new("repeat", "Again").reads([y]).makes([z]);
    repeat.control = Some(Control::Loop);
    let repeat = g.operator(body, repeat);
    let given = g.tensor(Tensor::new("given", 8, Role::Activation));
    let trip = g.region(repeat, "trip");
    g.operator(trip, Operator::new("b", "F").reads([given, w]).makes([s]));
    g.interface(trip, [given], [s]);
    g.operator(body, Operator::new("last", "F").reads([z]).makes([o]));
    g.interface(body, [x], [o]);
    let g = g.build().unwrap();

    let storages: Vec<_> = (0..g.regions().len())
        .map(|at| {
            let inner = |id: OperatorId| Bytes::new(if g.operator(id).name == "choose" { 108 } else { 0 });
            g.storages(RegionId::at(at), &LivenessOptions::default(), inner).unwrap()
        })
        .collect();
    let orders: Vec<Order> = storages.iter().map(|one| one.problem.as_in_file()).collect();
    let regions: Vec<_> =
        storages.iter().zip(&orders).map(|(storages, order)| RegionOrder { storages, order }).collect();
    let machine = Machine::find("luna").unwrap();
    let options = OverlapOptions { trips: 3, ..OverlapOptions::default() };
    let program = OverlapProgram::new(&g, &regions, &machine, options).unwrap();
    let names: Vec<Vec<&str>> = program
        .segments()
        .iter()
        .map(|segment| segment.problem.operators().iter().map(|one| one.name.as_str()).collect())
        .collect();
    assert_eq!(names, [vec!["first"], vec!["t1", "t2"], vec!["b"], vec!["last"]]);
    let [
        Piece::Segment(0),
        Piece::Branch { control_trees: branches, .. },
        Piece::Loop { condition, body, trips: 3 },
        Piece::Segment(3),
    ] = &program.control_tree()[..]
    else {
        panic!("{:?}", program.control_tree());
    };
    assert_eq!((branches.len(), branches[1].len(), condition.len()), (2, 0, 0));
    assert_eq!(body[..], [Piece::Segment(2)]);
    // Tensors a (16 bytes) and y (8 bytes) are held while the branch runs. Inside the branch, p and q are
    // live.
    let t1 = &program.segments()[1].problem.operators()[0];
    assert_eq!((t1.activations, t1.weights), (Bytes::new(24 + 100), Bytes::new(40)));
    let time = |at: usize| Time::new([1, 20, 300, 4000][at]);
    assert_eq!(program.longest(&time), Some(Time::new(1 + 20 + 900 + 4000)));
    assert_eq!(program.path(&time, 100), [0, 1, 2, 2, 2, 3]);
    assert_eq!(program.path(&time, 2), [0, 1]);
    assert_eq!(program.longest(&|_| Time::MAX), None);
    // All segments share the two ping-pong buffers.
    assert!(program.segments().iter().all(|one| one.problem.parity() == [Bytes::new(64), Bytes::ZERO]));
}
