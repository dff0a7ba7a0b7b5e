//! Tests the contract of every order heuristic on small random problems with every feature.

use plimsoll_datasets::graphs::{GRAPH_FAMILIES, SmallOrderParams, min_peak_brute, small_order_problem};
use plimsoll_heuristics::orders::ENTRIES as ORDERS;
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::orders::{OrderProblem, Storage, check_order, confirm_order_bound};
use plimsoll_model::{
    Budget, Bytes, Claim, Entry, Observer, OperatorId, Orders, Problem, Setup, Silent, Solver, Stop,
};
use std::collections::BTreeMap;
use std::time::Duration;

const SEED: Setup = Setup { seed: 7, threads: 1, buffers: 3, parameters: &[] };

#[derive(Default)]
struct Listener {
    values: Vec<Bytes>,
}

impl Observer<Orders> for Listener {
    fn incumbent(&mut self, _: &<Orders as Problem>::Solution, value: Bytes) {
        self.values.push(value);
    }
}

/// Runs an entry twice, checks its outcome and returns its value.
fn conforms(entry: &Entry<Orders>, problem: &OrderProblem) -> Bytes {
    let solver: Box<dyn Solver<Orders>> = (entry.build)(SEED);
    assert!(solver.supports(problem).is_ok(), "{}", entry.name);
    let mut listener = Listener::default();
    let outcome = solver.solve(problem, &mut Budget::unlimited(), &mut listener).unwrap();
    let (name, order) = (entry.name, outcome.solution.clone().expect("an order"));
    assert_eq!(check_order(problem, &order), [], "{name} on {problem:?}");
    let value = Orders::value(problem, &order);
    assert_eq!(outcome.value, Some(value), "{name}");
    assert!(value >= outcome.lower_bound.value, "{name}");
    assert_eq!(outcome.claim == Claim::Optimal, value == outcome.lower_bound.value, "{name}");
    assert_eq!(confirm_order_bound(problem, &outcome.lower_bound), Ok(()), "{name}");
    assert_eq!(outcome.stop, Stop::Completed, "{name}");
    assert!(listener.values.is_sorted_by(|a, b| a > b), "{name}");
    assert_eq!(listener.values.last(), Some(&value), "{name}");
    let again = (entry.build)(SEED).solve(problem, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!(again.solution, Some(order), "{name} twice");
    assert_eq!(again.stats.nodes, outcome.stats.nodes, "{name} twice");
    value
}

#[test]
fn every_entry_conforms() {
    for seed in 0..160 {
        let params = SmallOrderParams::with_features(1 + seed as usize % 11, seed % 32);
        let problem = small_order_problem(params, seed);
        let best = min_peak_brute(&problem);
        for entry in ORDERS {
            assert!(conforms(entry, &problem) >= best, "{} on seed {seed}", entry.name);
        }
    }
}

#[test]
fn every_entry_respects_limits() {
    for seed in 0..16 {
        let problem = small_order_problem(SmallOrderParams::with_features(9, seed), seed);
        for entry in ORDERS {
            let full = (entry.build)(SEED).solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
            let limits = [
                (Budget::unlimited().with_time_limit(Duration::ZERO), Stop::TimeLimit),
                (Budget::unlimited().with_node_limit(0), Stop::NodeLimit),
            ];
            for (mut budget, stop) in limits {
                let outcome = (entry.build)(SEED).solve(&problem, &mut budget, &mut Silent).unwrap();
                assert_eq!(outcome.stop, stop, "{}", entry.name);
                assert_eq!(outcome.claim, Claim::Unknown, "{}", entry.name);
                assert!(outcome.solution.is_none(), "{}", entry.name);
                assert_eq!(outcome.lower_bound, full.lower_bound, "{}", entry.name);
            }
        }
    }
}

/// If a node limit ends a run, the best order found so far is returned.
#[test]
fn limits_during_a_run_leave_valid_answers() {
    let problem = small_order_problem(SmallOrderParams::with_features(12, 15), 5);
    for entry in ORDERS {
        for nodes in [1, 5, 13, 40, 200, 3000] {
            let mut budget = Budget::unlimited().with_node_limit(nodes);
            let outcome = (entry.build)(SEED).solve(&problem, &mut budget, &mut Silent).unwrap();
            if let Some(order) = outcome.solution {
                assert_eq!(check_order(&problem, &order), [], "{}", entry.name);
                assert_eq!(outcome.value, Some(Orders::value(&problem, &order)), "{}", entry.name);
            }
        }
    }
}

#[test]
fn every_entry_supports_every_family() {
    for family in GRAPH_FAMILIES {
        let graph = family.generate(1, &BTreeMap::new()).unwrap();
        for (in_place, weights) in [(false, false), (true, true)] {
            let options = LivenessOptions { in_place, weights, ..LivenessOptions::default() };
            let problem = graph.storages(Graph::BODY, &options, |_| Bytes::ZERO).unwrap().problem;
            for entry in ORDERS {
                let mut budget = Budget::unlimited().with_node_limit(20_000);
                let outcome = (entry.build)(SEED).solve(&problem, &mut budget, &mut Silent).unwrap();
                let order = outcome.solution.expect("an order");
                assert_eq!(check_order(&problem, &order), [], "{} on {}", entry.name, family.name);
                assert_eq!(outcome.value, Some(order.peak(&problem)), "{} on {}", entry.name, family.name);
                assert_eq!(confirm_order_bound(&problem, &outcome.lower_bound), Ok(()), "{}", entry.name);
            }
        }
    }
}

#[test]
fn empty_graph_needs_only_held_storages() {
    let held = Storage {
        name: "w".to_owned(),
        size: Bytes::new(5),
        users: Vec::new(),
        from_start: true,
        to_end: true,
    };
    let empty = OrderProblem::new("empty", Vec::new(), [], vec![held], Vec::new()).unwrap();
    for entry in ORDERS {
        let mut budget = Budget::unlimited().with_time_limit(Duration::ZERO);
        let outcome = (entry.build)(SEED).solve(&empty, &mut budget, &mut Silent).unwrap();
        assert_eq!((outcome.value, outcome.claim), (Some(Bytes::new(5)), Claim::Optimal), "{}", entry.name);
    }
}

#[test]
fn names_are_unique_and_match_the_solvers() {
    let mut names: Vec<&str> = ORDERS.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    for entry in ORDERS {
        assert_eq!((entry.build)(SEED).name(), entry.name);
        assert!(!entry.about.is_empty() && !entry.source.is_empty());
        assert!(entry.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
    }
}

fn steps(entry: &str, problem: &OrderProblem) -> (String, u64) {
    let entry = ORDERS.iter().find(|one| one.name == entry).unwrap();
    let outcome = (entry.build)(SEED).solve(problem, &mut Budget::unlimited(), &mut Silent).unwrap();
    let order = outcome.solution.unwrap();
    let names = order.operators().iter().map(|&id| problem.operator(id)).collect();
    (names, outcome.value.unwrap().get())
}

/// Returns the network drawn in the CANN whitepaper. The sizes are not from the paper. B and C read the
/// output of A. C, D and E form a chain. F reads the outputs of B and E. If `constant` is set, B does not
/// read the output of A.
fn drawn(constant: bool) -> OrderProblem {
    let names = ["A", "B", "C", "D", "E", "F"].map(str::to_owned).to_vec();
    let id = OperatorId::new;
    let edges = if constant {
        vec![(2, 3), (3, 4), (1, 5), (4, 5), (0, 2)]
    } else {
        vec![(0, 1), (0, 2), (2, 3), (3, 4), (1, 5), (4, 5)]
    };
    let edges = edges.into_iter().map(|(a, b)| (id(a), id(b)));
    let users: [&[u32]; 6] =
        [if constant { &[0, 2] } else { &[0, 1, 2] }, &[1, 5], &[2, 3], &[3, 4], &[4, 5], &[5]];
    let sizes = [1, 6, 4, 4, 2, 1];
    let storage = |at: usize| Storage {
        name: names[at].clone(),
        size: Bytes::new(sizes[at]),
        users: users[at].iter().map(|&user| id(user)).collect(),
        from_start: false,
        to_end: at == 5,
    };
    let storages = (0..6).map(storage).collect();
    OrderProblem::new("drawn", names.clone(), edges, storages, vec![Bytes::ZERO; 6]).unwrap()
}

/// If the left branch runs first, the lifespan of the tensor of B is [2,6]. If the right branch runs first,
/// it is [5,6], and the lifespan of the tensor of A becomes [1,5].
#[test]
fn the_drawn_network_has_the_printed_lifespans() {
    let problem = drawn(false);
    let lifespans = |entry: &str| {
        let (names, _) = steps(entry, &problem);
        let at = |name: char| names.find(name).unwrap() + 1;
        [(at('A'), at('B').max(at('C'))), (at('B'), at('F'))]
    };
    assert_eq!(steps("dfs-left", &problem).0, "ABCDEF");
    assert_eq!(lifespans("dfs-left"), [(1, 3), (2, 6)]);
    assert_eq!(steps("dfs-right", &problem).0, "ACDEBF");
    assert_eq!(lifespans("dfs-right"), [(1, 5), (5, 6)]);
    // The live bytes are 1, 7, 11, 14, 12, 9 with the left branch first, and 1, 5, 9, 7, 9, 9 with the right
    // branch first.
    assert_eq!(steps("dfs-left", &problem).1, 14);
    assert_eq!(steps("dfs-right", &problem).1, 9);
    // The lifespan of the tensor of A ends at C (step 3), before F (step 6), and A is not a constant.
    // Therefore, neither rule moves B.
    assert_eq!(steps("ge", &problem).0, "ABCDEF");
}

/// B reads a constant instead of the tensor of A, so B moves to just before its consumer F.
#[test]
fn the_fixed_rule_moves_readers_of_constants() {
    let problem = drawn(true);
    assert_eq!(steps("dfs-left", &problem), ("ACDEBF".to_owned(), 9));
    assert_eq!(steps("bfs", &problem), ("ABCDEF".to_owned(), 14));
    assert_eq!(steps("as-in-file", &problem), ("ABCDEF".to_owned(), 14));
    assert_eq!(steps("ge-bfs", &problem), ("ACDEBF".to_owned(), 9));
    assert_eq!(steps("ge-as-in-file", &problem).1, 9);
}

/// In addition to the operators of the drawn network, there is an operator G, which reads the tensor of A at
/// step 7 (L1). The output of B is first used by F at step 6 (L2). L1 > L2, so B moves to just before F. The
/// rule also holds for C, but C already runs just before its first consumer.
#[test]
fn the_dynamic_rule_moves_readers_of_long_lifespans() {
    let names = ["A", "B", "C", "D", "E", "F", "G"].map(str::to_owned).to_vec();
    let id = OperatorId::new;
    let edges = [(0, 1), (0, 2), (2, 3), (3, 4), (1, 5), (4, 5), (5, 6), (0, 6)];
    let users: [&[u32]; 7] = [&[0, 1, 2, 6], &[1, 5], &[2, 3], &[3, 4], &[4, 5], &[5, 6], &[6]];
    let sizes = [1, 6, 4, 4, 2, 1, 1];
    let storage = |at: usize| Storage {
        name: names[at].clone(),
        size: Bytes::new(sizes[at]),
        users: users[at].iter().map(|&user| id(user)).collect(),
        from_start: false,
        to_end: at == 6,
    };
    let storages = (0..7).map(storage).collect();
    let edges = edges.map(|(a, b)| (id(a), id(b)));
    let problem = OrderProblem::new("long", names.clone(), edges, storages, vec![Bytes::ZERO; 7]).unwrap();
    assert_eq!(steps("dfs-left", &problem), ("ABCDEFG".to_owned(), 15));
    assert_eq!(steps("ge-fixed", &problem), ("ABCDEFG".to_owned(), 15));
    // The live bytes are 1, 5, 9, 7, 9, 10, 3.
    assert_eq!(steps("ge-dynamic", &problem), ("ACDEBFG".to_owned(), 10));
    assert_eq!(steps("ge", &problem), ("ACDEBFG".to_owned(), 10));
}
