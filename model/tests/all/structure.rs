//! Tests the conflicts derived from structure against all orders and all executions of small graphs.

use crate::common::Draw;
use plimsoll_model::graph::{AliasKind, Graph, GraphBuilder, LivenessOptions, Operator, Role, Tensor};
use plimsoll_model::orders::{Order, OrderProblem, Storage};
use plimsoll_model::structure::{Conflicts, Relation, Structure, StructureError};
use plimsoll_model::{Budget, Bytes, OperatorId, Piece, check_layout, races};
use std::collections::BTreeSet;

/// Creates a random problem of `n` operators with storages of every kind. Also returns the producers of each
/// storage.
fn problem(n: u32, seed: u64) -> (OrderProblem, Vec<Vec<OperatorId>>) {
    let mut draw = Draw(seed * 7919 + 1);
    for _ in 0..5 {
        draw.below(2);
    }
    let density = 2 + draw.below(4);
    let (mut edges, mut storages, mut makers) = (Vec::new(), Vec::new(), Vec::new());
    for a in 0..n {
        for b in a + 1..n {
            if draw.one_in(density * 2) {
                edges.push((a, b));
            }
        }
    }
    let mut add = |users: Vec<u32>, own: Vec<u32>, from_start: bool, to_end: bool| {
        let name = format!("s{}", storages.len());
        let users = users.into_iter().map(OperatorId::new).collect();
        storages.push(Storage { name, size: Bytes::new(1), users, from_start, to_end });
        makers.push(own.into_iter().map(OperatorId::new).collect());
    };
    for first in 0..n {
        let mut users = vec![first];
        users.extend((first + 1..n).filter(|_| draw.one_in(density)));
        edges.extend(users[1..].iter().map(|&user| (first, user)));
        let mut own = vec![first];
        if let (Some(&second), true) = (users.get(1), draw.one_in(4)) {
            own.push(second);
            edges.extend(users[2..].iter().map(|&user| (second, user)));
        }
        add(users, own, false, draw.one_in(8));
    }
    if draw.one_in(2) {
        let users: Vec<u32> = (0..n).filter(|_| draw.one_in(3)).collect();
        add(users, Vec::new(), true, draw.one_in(5));
    }
    if draw.one_in(3) {
        add(Vec::new(), Vec::new(), true, false);
    }
    let scratch = (0..n).map(|_| Bytes::new(u64::from(draw.one_in(4)))).collect();
    let names = (0..n).map(|at| format!("o{at}")).collect();
    let edges = edges.into_iter().map(|(a, b)| (OperatorId::new(a), OperatorId::new(b)));
    (OrderProblem::new(format!("p{seed}"), names, edges, storages, scratch).unwrap(), makers)
}

/// Returns the first and the last moment at which each allocation is held if operators run at the given
/// levels. Moment 0 precedes all operators.
fn spans(problem: &OrderProblem, levels: &[usize]) -> Vec<(usize, usize)> {
    let held = problem.storages().iter().map(|storage| {
        let own = storage.users.iter().map(|user| levels[user.index()] + 1);
        let lower = if storage.from_start { 0 } else { own.clone().min().unwrap() };
        (lower, if storage.to_end { usize::MAX } else { own.max().unwrap_or(0) })
    });
    let scratch = problem.ids().filter(|&id| problem.scratch(id) > Bytes::ZERO);
    held.chain(scratch.map(|id| (levels[id.index()] + 1, levels[id.index()] + 1))).collect()
}

/// Returns the pairs of allocations that are held simultaneously in some execution. Operators run level by
/// level. At each level, any set of ready operators runs, or only one operator if `one_at_a_time` is true.
fn held_together(
    problem: &OrderProblem,
    added: &[(OperatorId, OperatorId)],
    one_at_a_time: bool,
) -> BTreeSet<(usize, usize)> {
    let n = problem.len();
    let mut before = vec![0u32; n];
    for id in problem.ids() {
        for b in problem.predecessors(id) {
            before[id.index()] |= 1 << b.index();
        }
    }
    for (a, b) in added {
        before[b.index()] |= 1 << a.index();
    }
    let mut found = BTreeSet::new();
    let mut todo = vec![(0u32, vec![0usize; n], 0)];
    while let Some((done, levels, level)) = todo.pop() {
        if done.count_ones() as usize == n {
            let spans = spans(problem, &levels);
            for a in 0..spans.len() {
                for b in a + 1..spans.len() {
                    if spans[a].0 <= spans[b].1 && spans[b].0 <= spans[a].1 {
                        found.insert((a, b));
                    }
                }
            }
            continue;
        }
        let ready = (0..n).filter(|&at| done >> at & 1 == 0 && before[at] & !done == 0);
        let ready = ready.fold(0u32, |set, at| set | 1 << at);
        for set in 1..1u32 << n {
            if set & !ready == 0 && (!one_at_a_time || set.is_power_of_two()) {
                let mut levels = levels.clone();
                (0..n).filter(|at| set >> at & 1 == 1).for_each(|at| levels[at] = level);
                todo.push((done | set, levels, level + 1));
            }
        }
    }
    found
}

fn pairs(conflicts: &Conflicts) -> BTreeSet<(usize, usize)> {
    conflicts.iter().collect()
}

/// Returns a random topological order.
fn order(problem: &OrderProblem, seed: u64) -> Order {
    let mut draw = Draw(seed + 77);
    let mut waiting: Vec<usize> = problem.ids().map(|id| problem.predecessors(id).len()).collect();
    let mut order = Vec::new();
    while order.len() < problem.len() {
        let ready: Vec<OperatorId> =
            problem.ids().filter(|id| waiting[id.index()] == 0 && !order.contains(id)).collect();
        let id = ready[draw.below(ready.len() as u64) as usize];
        for next in problem.successors(id) {
            waiting[next.index()] -= 1;
        }
        order.push(id);
    }
    Order::new(order)
}

#[test]
fn reachable_and_streams_agree_with_all_executions() {
    for seed in 0..120 {
        let (problem, makers) = problem(3 + seed as u32 % 3, seed);
        let order = order(&problem, seed);
        let structure = Structure::new(&problem, makers, &order).unwrap();
        for relation in [Relation::Reachable, Relation::Streams(2), Relation::Schedule, Relation::Streams(3)]
        {
            let added = structure.added(relation);
            let found = pairs(&structure.conflicts(relation, &mut Budget::unlimited()).unwrap());
            assert_eq!(found, held_together(&problem, &added, false), "seed {seed} {relation}");
        }
        // If one operator runs at a time, the pairs are the same, with one exception: two allocations that
        // each have a single user are never held together if these two users are independent.
        let sequential = held_together(&problem, &[], true);
        let single = |at: usize| match problem.storages().get(at) {
            Some(storage) => storage.users.len() == 1 && !storage.from_start && !storage.to_end,
            None => true,
        };
        let mut concurrent =
            pairs(&structure.conflicts(Relation::Reachable, &mut Budget::unlimited()).unwrap());
        assert!(sequential.is_subset(&concurrent));
        concurrent.retain(|&(a, b)| sequential.contains(&(a, b)) || !single(a) || !single(b));
        assert_eq!(concurrent, sequential, "seed {seed}");
    }
}

#[test]
fn relations_contain_each_other_as_documented() {
    let (mut overlooked, mut beyond) = (0, 0);
    for seed in 0..400 {
        let (problem, makers) = problem(2 + seed as u32 % 9, seed);
        let order = order(&problem, seed);
        let structure = Structure::new(&problem, makers, &order).unwrap();
        let of = |relation| pairs(&structure.conflicts(relation, &mut Budget::unlimited()).unwrap());
        let (schedule, reachable) = (of(Relation::Schedule), of(Relation::Reachable));
        assert_eq!(of(Relation::Streams(1)), schedule, "seed {seed}");
        assert_eq!(of(Relation::Streams(problem.len() as u32)), reachable, "seed {seed}");
        assert_eq!(of(Relation::Streams(u32::MAX)), reachable, "seed {seed}");
        for streams in 2..5 {
            let between = of(Relation::Streams(streams));
            assert!(schedule.is_subset(&between) && between.is_subset(&reachable), "seed {seed}");
        }
        let mutex = of(Relation::Mutex);
        assert!(mutex.is_subset(&reachable), "seed {seed}: {mutex:?} in {reachable:?}");
        overlooked += usize::from(!schedule.is_subset(&mutex));
        beyond += usize::from(!mutex.is_subset(&schedule));
    }
    assert!(overlooked > 50 && beyond > 50, "{overlooked} {beyond}");
}

#[test]
fn instances_have_exactly_the_relation() {
    for seed in 0..60 {
        let (problem, makers) = problem(7, seed);
        let order = order(&problem, seed);
        let structure = Structure::new(&problem, makers, &order).unwrap();
        for relation in [
            Relation::Schedule,
            Relation::Streams(2),
            Relation::Reachable,
            Relation::Mutex,
            Relation::Streams(1),
        ] {
            let instance = structure.instance(relation, Bytes::new(4), &mut Budget::unlimited()).unwrap();
            let conflicts = structure.conflicts(relation, &mut Budget::unlimited()).unwrap();
            assert_eq!(conflicts.count(), conflicts.iter().count() as u64);
            for a in instance.ids() {
                assert_eq!(instance.buffer(a).alignment(), Bytes::new(4));
                for b in instance.ids() {
                    let expected = conflicts.contains(a.index(), b.index());
                    assert_eq!(instance.conflict(a, b), expected, "seed {seed} {relation} {a} {b}");
                }
            }
        }
    }
}

/// Compares the race checker, which follows precedences, with the conflict matrices. All allocations are
/// placed at address 0.
#[test]
fn races_are_the_conflicts_that_share_addresses() {
    for seed in 0..150 {
        let (problem, makers) = problem(7, seed);
        let order = order(&problem, seed);
        let structure = Structure::new(&problem, makers, &order).unwrap();
        let piece = Piece { start: Bytes::ZERO, length: Bytes::new(3) };
        let pieces = vec![vec![piece]; structure.len()];
        for relation in [Relation::Schedule, Relation::Streams(2), Relation::Reachable] {
            let found = races(&problem, &structure.added(relation), &pieces);
            let sorted = |a: usize, b: usize| (a.min(b), a.max(b));
            let shared: BTreeSet<_> = found.iter().map(|race| sorted(race.victim, race.intruder)).collect();
            assert_eq!(
                shared,
                pairs(&structure.conflicts(relation, &mut Budget::unlimited()).unwrap()),
                "seed {seed} {relation}"
            );
            for race in &found {
                assert!(race.reader.is_some() || race.writer.is_none() || race.to_string().contains("end"));
                assert!(race.to_string().contains("share 3 bytes"), "{race}");
            }
        }
    }
}

/// Builds a residual block: `x` is added to a result computed from it. The relation `mutex` allows `b` to
/// overwrite `x`.
fn residual() -> Graph {
    let mut graph = GraphBuilder::new("residual");
    let mut tensor = |name: &str, role| graph.tensor(Tensor::new(name, 8, role));
    let (i, x) = (tensor("in", Role::Input), tensor("x", Role::Activation));
    let (a, b) = (tensor("a", Role::Activation), tensor("b", Role::Activation));
    let y = tensor("y", Role::Output);
    let body = graph.body();
    graph.operator(body, Operator::new("stem", "Conv").reads([i]).makes([x]));
    graph.operator(body, Operator::new("first", "Conv").reads([x]).makes([a]));
    graph.operator(body, Operator::new("second", "Conv").reads([a]).makes([b]));
    graph
        .operator(body, Operator::new("add", "Add").reads([x, b]).makes([y]).alias(x, y, AliasKind::InPlace));
    graph.interface(body, [i], [y]);
    graph.build().unwrap()
}

#[test]
fn mutex_overlooks_a_skip_that_the_race_checker_finds() {
    let graph = residual();
    let storages = graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
    let order = storages.problem.as_in_file();
    let structure = Structure::of(&graph, &storages, &order).unwrap();
    let names = |pairs: Conflicts| -> Vec<String> {
        pairs.iter().map(|(a, b)| format!("{}-{}", structure.name(a), structure.name(b))).collect()
    };
    let of = |relation| structure.conflicts(relation, &mut Budget::unlimited()).unwrap();
    assert_eq!(names(of(Relation::Schedule).without(&of(Relation::Mutex))), ["x-b"]);
    assert_eq!(names(of(Relation::Reachable).without(&of(Relation::Schedule))), [""; 0]);
    let instance = structure.instance(Relation::Mutex, Bytes::new(1), &mut Budget::unlimited()).unwrap();
    let layout = plimsoll_model::Layout::from_raw([8, 0, 8, 0, 8]);
    assert_eq!(check_layout(&instance, &layout), []);
    let at = |offset: &Bytes| vec![Piece { start: *offset, length: Bytes::new(8) }];
    let pieces: Vec<_> = layout.offsets().iter().map(at).collect();
    let found = races(&storages.problem, &structure.added(Relation::Schedule), &pieces);
    let text: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(text, ["'x' and 'b' share 8 bytes: 'add' needs 'x', but 'second' need not wait for 'add'"]);
}

#[test]
fn odd_problems_have_relations_too() {
    let empty = OrderProblem::new("empty", vec![], [], vec![], vec![]).unwrap();
    let order = empty.as_in_file();
    let structure = Structure::new(&empty, vec![], &order).unwrap();
    assert!(
        structure.is_empty()
            && structure.conflicts(Relation::Reachable, &mut Budget::unlimited()).unwrap().is_empty()
    );
    for relation in [Relation::Schedule, Relation::Streams(4), Relation::Reachable, Relation::Mutex] {
        assert!(structure.instance(relation, Bytes::new(1), &mut Budget::unlimited()).unwrap().is_empty());
    }
    assert_eq!(races(&empty, &[], &[]), []);
    let storage = Storage {
        name: "held".into(),
        size: Bytes::new(1 << 60),
        users: vec![],
        from_start: true,
        to_end: true,
    };
    let scratch = vec![Bytes::new(1 << 60)];
    let alone = OrderProblem::new("one", vec!["o".into()], [], vec![storage], scratch).unwrap();
    let order = alone.as_in_file();
    let structure = Structure::new(&alone, vec![vec![]], &order).unwrap();
    for relation in [Relation::Schedule, Relation::Streams(4), Relation::Reachable, Relation::Mutex] {
        assert_eq!(structure.conflicts(relation, &mut Budget::unlimited()).unwrap().count(), 1, "{relation}");
    }
    assert!(matches!(Structure::new(&alone, vec![], &order), Err(StructureError::Makers { .. })));
    let wide = 20_001;
    let names = (0..wide).map(|at| at.to_string()).collect();
    let wide = OrderProblem::new("wide", names, [], vec![], vec![Bytes::ZERO; wide]).unwrap();
    let order = wide.as_in_file();
    let refused = Structure::new(&wide, vec![], &order).unwrap_err().to_string();
    assert_eq!(refused, "'wide' has 20001 operators; conflict relations support at most 20000");
}

#[test]
fn relations_have_names() {
    for word in ["schedule", "streams=3", "reachable", "mutex"] {
        assert_eq!(word.parse::<Relation>().unwrap().to_string(), word);
    }
    for bad in ["streams=0", "streams=", "streams", "mutx", "streams=-1"] {
        assert!(bad.parse::<Relation>().is_err(), "{bad}");
    }
}
