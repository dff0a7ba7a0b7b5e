//! Tests that exact orders agree with brute force on thousands of small problems, and that optima are proved
//! on graphs with the shape of real models.

use crate::graphs::{
    Wiring, cells, densenet, inception, llama, probed, randwire, resnet, shufflenet, small, unet,
};
use plimsoll_model::OperatorId;
use plimsoll_model::orders::{OrderProblem, Storage};
use plimsoll_model::{Budget, Bytes, Claim, Orders, Outcome, Problem, Setup, Silent, Solver};
use plimsoll_solvers::orders::{
    ENTRIES as ORDERS, Method, OrderBrute, OrderParams, OrderRules, OrderSolver, Reductions, Settling,
};

fn checked(problem: &OrderProblem, solver: &dyn Solver<Orders>, budget: &mut Budget) -> Outcome<Orders> {
    let outcome = solver.solve(problem, budget, &mut Silent).unwrap();
    if let Some(order) = &outcome.solution {
        assert_eq!(Orders::check(problem, order), [], "{} on {}", solver.name(), problem.name());
        assert_eq!(Some(Orders::value(problem, order)), outcome.value);
    }
    if let Err(doubt) = Orders::confirm(problem, &outcome.lower_bound) {
        assert!(matches!(doubt, plimsoll_model::BoundError::NotCheckable(_)), "{doubt}");
    }
    outcome
}

fn params(method: Method, change: fn(&mut OrderParams)) -> OrderSolver {
    let (reductions, rules) = (Reductions::default(), OrderRules::default());
    let mut params = OrderParams { method, reductions, rules };
    change(&mut params);
    OrderSolver::new(Setup::default(), method).with_params(params)
}

/// No reductions.
const NONE: Reductions =
    Reductions { fuse: false, lazy: false, divide: false, narrow: false, hills: false, relax: false };

/// A modification of the parameters.
type Change = fn(&mut OrderParams);

/// Every method finds the same optimum as brute force, even if individual reductions and rules are switched
/// on or off.
#[test]
fn all_methods_agree_with_brute_force() {
    let changes: [Change; 11] = [
        |_| {},
        |p| p.reductions = NONE,
        |p| p.reductions = Reductions { fuse: true, ..NONE },
        |p| p.reductions = Reductions { lazy: true, ..NONE },
        |p| p.reductions = Reductions { divide: true, ..NONE },
        |p| p.reductions = Reductions { narrow: true, ..NONE },
        |p| p.reductions = Reductions { hills: true, ..NONE },
        |p| p.rules.settling = Settling { free: false, chain: 0 },
        |p| p.rules.settling = Settling { free: false, chain: 6 },
        |p| (p.rules.jump, p.rules.memo) = (0, false),
        |p| (p.rules.ahead, p.rules.jump) = (false, 1000),
    ];
    for seed in 0..3000 {
        let problem = small(1 + seed as usize % 11, seed);
        let reference = checked(&problem, &OrderBrute, &mut Budget::unlimited());
        assert_eq!(reference.claim, Claim::Optimal);
        for method in [Method::Paths, Method::Search, Method::Staged] {
            for (at, change) in changes.iter().enumerate() {
                let outcome = checked(&problem, &params(method, *change), &mut Budget::unlimited());
                let found = (outcome.claim, outcome.value, outcome.lower_bound.value);
                let wanted = (reference.claim, reference.value, reference.lower_bound.value);
                assert_eq!(found, wanted, "seed {seed}, {method:?}, change {at}");
            }
        }
    }
}

/// Returns a problem that consists of independent problems.
fn side_by_side(parts: &[OrderProblem]) -> OrderProblem {
    let (mut names, mut edges, mut storages, mut scratch) = (vec![], vec![], vec![], vec![]);
    for part in parts {
        let from = names.len() as u32;
        let moved = |id: OperatorId| OperatorId::new(id.get() + from);
        for id in part.ids() {
            names.push(format!("o{}", names.len()));
            edges.extend(part.predecessors(id).iter().map(|&before| (moved(before), moved(id))));
            scratch.push(part.scratch(id));
        }
        for storage in part.storages() {
            let users = storage.users.iter().copied().map(moved).collect();
            storages.push(Storage { name: format!("s{}", storages.len()), users, ..storage.clone() });
        }
    }
    OrderProblem::new("forest", names, edges, storages, scratch).unwrap()
}

/// Hills and valleys give the optimum of independent problems.
#[test]
fn independent_parts_are_merged_optimally() {
    for seed in 0..2000u64 {
        let count = 2 + seed as usize % 4;
        let part = |at: usize| small(1 + (seed as usize + at) % (14 / count), seed * 7 + at as u64);
        let problem = side_by_side(&(0..count).map(part).collect::<Vec<_>>());
        let reference = checked(&problem, &OrderBrute, &mut Budget::unlimited());
        let hills = |p: &mut OrderParams| p.reductions = Reductions { hills: true, ..NONE };
        for solver in [params(Method::Staged, hills), params(Method::Staged, |_| {})] {
            let outcome = checked(&problem, &solver, &mut Budget::unlimited());
            assert_eq!(outcome.claim, Claim::Optimal);
            assert_eq!(outcome.value, reference.value, "seed {seed}");
        }
    }
    // Without merging, the number of interleavings makes this problem hard.
    let forest = side_by_side(&(0..100).map(|seed| small(11, seed)).collect::<Vec<_>>());
    let outcome =
        checked(&forest, &params(Method::Staged, |_| {}), &mut Budget::unlimited().with_node_limit(100_000));
    assert_eq!(outcome.claim, Claim::Optimal);
}

/// Small graph outputs on every tensor multiply the number of downsets, but they hardly weaken the bound: it
/// is at least the optimum without them.
#[test]
fn probes_on_every_tensor_keep_the_bound() {
    let relaxed = params(Method::Staged, |_| {});
    let whole = params(Method::Staged, |p| p.reductions.relax = false);
    let mut raised = 0;
    for seed in 0..2 {
        let plain = randwire(Wiring::Ws(32, 4, 0.75), 3, true, seed);
        let probed = probed(&plain, 10_000, 1);
        let best = checked(&plain, &relaxed, &mut Budget::unlimited());
        assert_eq!(best.claim, Claim::Optimal);
        let least = 10_000 * best.value.unwrap().get();
        let limited = || Budget::unlimited().with_node_limit(20_000);
        let outcome = checked(&probed, &relaxed, &mut limited());
        assert!(outcome.lower_bound.value.get() >= least, "seed {seed}");
        let most = least + (probed.len() - plain.len()) as u64;
        assert!(outcome.value.unwrap().get() <= most, "seed {seed}");
        raised += usize::from(checked(&probed, &whole, &mut limited()).lower_bound.value.get() < least);
    }
    assert!(raised > 0);
}

/// Checks that the default solver proves an optimal order without limits.
fn proved(problem: &OrderProblem) {
    let solver = (ORDERS[0].build)(Setup::default());
    let outcome = checked(problem, &*solver, &mut Budget::unlimited());
    assert_eq!(outcome.claim, Claim::Optimal, "{}", problem.name());
}

#[test]
fn graphs_like_real_models_are_proved() {
    proved(&densenet(&[6, 12, 24, 16], 32));
    proved(&inception(9, false));
    proved(&inception(10, true));
    proved(&resnet(&[3, 4, 6, 3]));
    proved(&shufflenet(&[4, 8, 4]));
    proved(&unet(4));
    for seed in 0..4 {
        proved(&cells(20, seed % 2 == 1, seed));
    }
    proved(&llama(40, false));
    proved(&llama(40, true));
}

#[test]
fn random_wirings_are_proved() {
    for wiring in [Wiring::Ws(32, 4, 0.75), Wiring::Er(32, 0.2), Wiring::Ba(32, 5)] {
        for ops in 1..=3 {
            for varied in [false, true] {
                for seed in 0..3 {
                    proved(&randwire(wiring, ops, varied, seed));
                }
            }
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn larger_graphs_are_proved() {
    for (n, p) in [(48, 0.15), (64, 0.1)] {
        for wiring in [Wiring::Ws(n, 4, 0.75), Wiring::Er(n, p), Wiring::Ba(n, 5)] {
            for varied in [false, true] {
                for seed in 0..2 {
                    proved(&randwire(wiring, 3, varied, seed));
                }
            }
        }
    }
    proved(&llama(200, true));
    proved(&cells(400, true, 1));
    proved(&densenet(&[100, 200, 400, 100], 32));
}

/// Covers every entry of the registry, including the integer program, on fewer problems.
#[test]
fn the_registry_agrees_with_brute_force() {
    for seed in 0..150 {
        let problem = small(1 + seed as usize % 9, seed + 10_000);
        let reference = checked(&problem, &OrderBrute, &mut Budget::unlimited());
        for entry in ORDERS {
            let solver = (entry.build)(Setup { seed, threads: 1, ..Setup::default() });
            assert_eq!(solver.name(), entry.name);
            let outcome = checked(&problem, &*solver, &mut Budget::unlimited());
            let found = (outcome.claim, outcome.value, outcome.lower_bound.value);
            assert_eq!(
                found,
                (Claim::Optimal, reference.value, reference.lower_bound.value),
                "{} {seed}",
                entry.name
            );
        }
    }
}

#[test]
fn limits_prove_nothing_false_and_are_reproducible() {
    for seed in 0..12 {
        let problem = randwire(Wiring::Er(24, 0.2), 2, seed % 2 == 1, seed);
        let exact = |method, budget: &mut Budget| {
            checked(&problem, &OrderSolver::new(Setup::default(), method), budget)
        };
        let best = exact(Method::Staged, &mut Budget::unlimited());
        assert_eq!(best.claim, Claim::Optimal);
        let optimum = best.value.unwrap();
        for method in [Method::Paths, Method::Search, Method::Staged] {
            for nodes in [0, 1, 10, 50, 200, 1000] {
                let run = || exact(method, &mut Budget::unlimited().with_node_limit(nodes));
                let outcome = run();
                assert!(outcome.lower_bound.value <= optimum);
                assert_eq!(outcome.claim == Claim::Optimal, outcome.value == Some(outcome.lower_bound.value));
                let again = run();
                assert_eq!((&outcome.solution, &outcome.lower_bound), (&again.solution, &again.lower_bound));
                assert_eq!((outcome.stop, outcome.stats.nodes), (again.stop, again.stats.nodes));
            }
            let target = Bytes::new(optimum.get() + optimum.get() / 4);
            let outcome = exact(method, &mut Budget::unlimited().with_target(target));
            assert!(outcome.value.unwrap() <= target);
        }
    }
}

#[test]
fn little_memory_ends_the_memo_but_not_the_truth() {
    let problem = randwire(Wiring::Er(32, 0.2), 1, false, 3);
    let best = checked(&problem, &params(Method::Staged, |_| {}), &mut Budget::unlimited());
    for method in [Method::Paths, Method::Search] {
        let poor = params(method, |p| p.rules.memo_bytes = 20_000);
        let outcome = checked(&problem, &poor, &mut Budget::unlimited().with_node_limit(100_000));
        assert!(outcome.lower_bound.value <= best.value.unwrap() && best.value <= outcome.value);
    }
}

#[test]
fn nothing_to_order_is_proved_too() {
    let storage = plimsoll_model::orders::Storage {
        name: "state".to_owned(),
        size: Bytes::new(7),
        users: Vec::new(),
        from_start: true,
        to_end: true,
    };
    let problem = OrderProblem::new("empty", Vec::new(), [], vec![storage], Vec::new()).unwrap();
    for entry in ORDERS {
        let outcome = checked(&problem, &*(entry.build)(Setup::default()), &mut Budget::unlimited());
        assert_eq!((outcome.claim, outcome.value), (Claim::Optimal, Some(Bytes::new(7))), "{}", entry.name);
    }
}
