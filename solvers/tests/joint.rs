//! Order and offsets together, against every order of small problems laid out one by one.

use plimsoll_model::order::{Order, OrderProblem, Storage};
use plimsoll_model::{
    Budget, Bytes, Claim, Joint, JointProblem, OperatorId, Problem, Setup, Silent, Solver, Witness,
};
use plimsoll_solvers::{Exact, JOINT};

/// A small graph: every operator makes one storage, read by some later ones; sizes from 1 to 9, scratch now and then.
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
    let scratch = (0..n).map(|_| Bytes::new(if random(4) == 0 { 1 + random(5) } else { 0 })).collect();
    let names = (0..n).map(|at| format!("o{at}")).collect();
    let orders = OrderProblem::new(format!("small-{seed}"), names, edges, storages, scratch).unwrap();
    JointProblem { orders, align: Bytes::new([1, 1, 1, 2, 4][random(5) as usize]) }
}

/// All topological orders.
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
    orders(&problem.orders).iter().map(place).min().unwrap_or(Bytes::ZERO)
}

#[test]
fn every_joint_solver_finds_the_optimum_of_small_problems() {
    let mut above_load = 0;
    for seed in 0..150 {
        let problem = small(seed);
        let optimum = optimum(&problem);
        for entry in JOINT {
            // The integer program takes its time; a third of the problems will do.
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
    assert!(above_load > 10, "only {above_load} proofs rest on more than what is alive");
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
