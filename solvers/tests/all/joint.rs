//! Tests the joint optimisation of order and offsets against optimal layouts of all orders of small problems.

use plimsoll_datasets::{AboveLoadParams, hard_above_load};
use plimsoll_model::orders::{Order, OrderProblem, Storage};
use plimsoll_model::{
    Budget, BufferId, Bytes, Claim, Instance, Joint, JointProblem, OperatorId, Problem, Setup, Silent,
    Solver, Stop, Witness, load,
};
use plimsoll_solvers::joint::{ENTRIES as JOINT, JointExact};
use plimsoll_solvers::offsets::Exact;

/// Returns a small random graph. Every operator produces one storage, which some later operators read. Sizes
/// are 1 to 9, and some operators need scratch memory.
fn small(seed: u64) -> JointProblem {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let n = 3 + random(4) as usize;
    let mut edges = Vec::new();
    let mut storages = Vec::new();
    for maker in 0..n {
        let mut users = vec![OperatorId::at(maker)];
        for user in maker + 1..n {
            if random(3) == 0 {
                users.push(OperatorId::at(user));
                edges.push((OperatorId::at(maker), OperatorId::at(user)));
            }
        }
        let (from_start, to_end) = (random(8) == 0, random(6) == 0);
        let (name, size) = (format!("s{maker}"), Bytes::new(1 + random(9)));
        storages.push(Storage { name, size, users, from_start, to_end });
    }
    if random(3) == 0 {
        let (name, size) = ("unused".to_owned(), Bytes::new(1 + random(20)));
        storages.push(Storage { name, size, users: Vec::new(), from_start: true, to_end: false });
    }
    let scratch = (0..n).map(|_| Bytes::new(if random(4) == 0 { 1 + random(5) } else { 0 })).collect();
    let names = (0..n).map(|at| format!("o{at}")).collect();
    let orders = OrderProblem::new(format!("small-{seed}"), names, edges, storages, scratch).unwrap();
    JointProblem::new(orders, Bytes::new([1, 1, 1, 2, 4][random(5) as usize])).unwrap()
}

/// Returns all topological orders.
fn orders(problem: &OrderProblem) -> Vec<Order> {
    fn extend(problem: &OrderProblem, order: &mut Vec<OperatorId>, found: &mut Vec<Order>) {
        if order.len() == problem.len() {
            found.push(Order::new(order.clone()));
        }
        for id in problem.ids() {
            let ready = problem.predecessors(id).iter().all(|before| order.contains(before));
            if ready && !order.contains(&id) {
                order.push(id);
                extend(problem, order, found);
                order.pop();
            }
        }
    }
    let mut found = Vec::new();
    extend(problem, &mut Vec::new(), &mut found);
    found
}

fn optimum(problem: &JointProblem) -> Bytes {
    let place = |order: &Order| {
        let instance = problem.instance(order);
        let outcome = Exact::new(Setup::default()).solve(&instance, &mut Budget::unlimited(), &mut Silent);
        outcome.unwrap().value.unwrap_or(Bytes::ZERO)
    };
    orders(problem.orders()).iter().map(place).min().unwrap_or(Bytes::ZERO)
}

#[test]
fn every_joint_solver_finds_the_optimum_of_small_problems() {
    let mut above_load = 0;
    for seed in 0..150 {
        let problem = small(seed);
        let optimum = optimum(&problem);
        for entry in JOINT {
            // The integer program is slow, so it runs on a third of the problems.
            if entry.name == "ilp" && seed % 3 > 0 {
                continue;
            }
            let solver = (entry.build)(Setup::default());
            let outcome = solver.solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
            let name = entry.name;
            assert_eq!(outcome.claim, Claim::Optimal, "{name} on seed {seed}: {outcome:?}");
            assert_eq!(outcome.value, Some(optimum), "{name} on seed {seed}");
            assert_eq!(Joint::check(&problem, &outcome.solution.unwrap()), [], "{name} on seed {seed}");
            above_load += u64::from(matches!(outcome.lower_bound.witness, Witness::Search { .. }));
        }
    }
    assert!(above_load > 10, "only {above_load} proofs exceed the live bytes");
}

#[test]
fn limits_prove_nothing() {
    for seed in 0..30 {
        let problem = small(seed);
        let optimum = optimum(&problem);
        for entry in JOINT {
            for nodes in [0, 1, 5] {
                let solver = (entry.build)(Setup::default());
                let mut budget = Budget::unlimited().with_node_limit(nodes);
                let outcome = solver.solve(&problem, &mut budget, &mut Silent).unwrap();
                assert!(outcome.lower_bound.value <= optimum, "{} on seed {seed}", entry.name);
                assert!(outcome.value.is_none_or(|value| value >= optimum), "{} on seed {seed}", entry.name);
            }
        }
    }
}

/// Returns a joint problem with only one order. The problem has forty more operators than the instance has
/// steps.
fn chain(instance: &Instance) -> JointProblem {
    let hull = |at: BufferId| instance.buffer(at).lifespan().hull();
    let n = 40 + instance.ids().map(|at| hull(at).upper.get()).max().unwrap_or(0) as usize;
    let storages = instance.buffers().iter().map(|buffer| {
        let hull = buffer.lifespan().hull();
        let ends = [hull.lower.get(), hull.upper.get() - 1].map(|step| OperatorId::at(step as usize));
        let (name, size) = (buffer.name().to_owned(), buffer.size());
        Storage { name, size, users: ends.to_vec(), from_start: false, to_end: false }
    });
    let edges = (1..n).map(|at| (OperatorId::at(at - 1), OperatorId::at(at)));
    let names = vec![String::new(); n];
    let orders = OrderProblem::new("chain", names, edges, storages.collect(), vec![Bytes::ZERO; n]).unwrap();
    JointProblem::new(orders, Bytes::new(1)).unwrap()
}

#[test]
fn where_there_is_one_order_its_layout_settles_it() {
    let mut above = 0;
    for seed in 0..30 {
        let params = AboveLoadParams { buffers: 30, live: 5, bytes: 100, unit: 1, turnover: 3 };
        let instance = hard_above_load(params, seed).unwrap().instance;
        let exact = Exact::new(Setup::default());
        let optimum = exact.solve(&instance, &mut Budget::unlimited(), &mut Silent).unwrap().value;
        above += usize::from(optimum > Some(load(&instance).0));
        let joint = JointExact::new(Setup::default());
        for mut budget in [Budget::unlimited(), Budget::unlimited().with_node_limit(1_000_000)] {
            let outcome = joint.solve(&chain(&instance), &mut budget, &mut Silent).unwrap();
            assert_eq!((outcome.claim, outcome.value), (Claim::Optimal, optimum), "seed {seed}");
            assert!(outcome.stats.nodes < 1_000_000, "seed {seed}: walked although there is only one order");
        }
    }
    assert!(above > 3, "{above}");
}

#[test]
fn a_target_ends_the_enumeration() {
    let mut ended = 0;
    for seed in 0..150 {
        let problem = small(seed);
        let target = optimum(&problem);
        let mut budget = Budget::unlimited().with_target(target);
        let joint = JointExact::new(Setup::default());
        let outcome = joint.solve(&problem, &mut budget, &mut Silent).unwrap();
        assert_eq!(outcome.value, Some(target), "seed {seed}");
        ended += usize::from(outcome.stop == Stop::Target && outcome.stats.counters.iter().any(|c| *c.1 > 1));
    }
    assert!(ended > 0);
}
