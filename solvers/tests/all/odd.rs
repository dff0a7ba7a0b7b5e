//! Tests that optimal orders are found for unusual graphs. These have empty or unread tensors, states,
//! aliases, repeated reads, isolated operators, and equal or huge sizes. Problems too large for brute force
//! are compared with a search without any reduction.

use plimsoll_datasets::graphs::{SmallOrderParams, small_order_problem};
use plimsoll_model::graph::{
    AliasKind, Boundary, Graph, GraphBuilder, LivenessOptions, Operator, Role, Tensor,
};
use plimsoll_model::orders::{OrderError, OrderProblem};
use plimsoll_model::{Budget, Bytes, Claim, Orders, Problem, RegionId, Setup, Silent, Solver, TensorId};
use plimsoll_solvers::orders::{
    Method, OrderBrute, OrderParams, OrderRules, OrderSolver, Reductions, Settling,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// A builder of random graphs with a bounded number of operators.
struct Draw {
    rng: Xoshiro256PlusPlus,
    sizes: &'static [u64],
    builder: GraphBuilder,
    made: Vec<TensorId>,
    inputs: Vec<TensorId>,
    outputs: Vec<TensorId>,
}

impl Draw {
    fn new(seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let sizes: [&[u64]; 5] = [
            &[1],
            &[0, 1, 2],
            &[0, 1, 5, 9, 40, 100],
            // About thirty of these sizes add up to less than 2^63.
            &[1 << 57, (1 << 57) - 1, 1, 0, 1 << 56],
            &[3, 4, 5, 6, 7],
        ];
        let sizes = sizes[rng.random_range(0..sizes.len())];
        let builder = GraphBuilder::new(format!("odd-{seed}"));
        let (made, inputs, outputs) = (Vec::new(), Vec::new(), Vec::new());
        Self { rng, sizes, builder, made, inputs, outputs }
    }

    fn size(&mut self) -> Bytes {
        Bytes::new(self.sizes[self.rng.random_range(0..self.sizes.len())])
    }

    fn tensor(&mut self, role: Role) -> TensorId {
        let (size, at) = (self.size(), self.made.len());
        let id = self.builder.tensor(Tensor::new(format!("t{at}"), size, role));
        match role {
            Role::Input => self.inputs.push(id),
            Role::Output => self.outputs.push(id),
            _ => {}
        }
        self.made.push(id);
        id
    }

    fn operator(&mut self, body: RegionId, local: usize) {
        let mut reads = Vec::new();
        for _ in 0..self.rng.random_range(0..4) {
            let from = self.made.len().saturating_sub(local);
            if let Some(&read) = self.made[from..].get(self.rng.random_range(0..local)) {
                let times = if self.rng.random_bool(0.15) { 2 } else { 1 };
                reads.extend(std::iter::repeat_n(read, times));
            }
        }
        let count = [0, 1, 1, 1, 1, 2, 3][self.rng.random_range(0..7)];
        // With more tensors, huge sizes would add up to 2^63 bytes or more.
        let count = if self.made.len() > 28 { 0 } else { count };
        let role = |rng: &mut Xoshiro256PlusPlus| {
            if rng.random_bool(0.1) { Role::Output } else { Role::Activation }
        };
        let makes: Vec<TensorId> = (0..count)
            .map(|_| {
                let role = role(&mut self.rng);
                self.tensor(role)
            })
            .collect();
        let name = format!("o{}", self.made.len());
        let mut operator = Operator::new(name, "X").reads(reads.clone()).makes(makes.clone());
        if let (Some(&input), Some(&output), true) = (reads.first(), makes.first(), self.rng.random_bool(0.4))
        {
            let kind = [AliasKind::View, AliasKind::InPlace][self.rng.random_range(0..2)];
            operator = operator.alias(input, output, kind);
        }
        if self.rng.random_bool(0.2) {
            operator.scratch = self.size();
        }
        self.builder.operator(body, operator);
    }
}

fn odd(seed: u64, most: usize) -> OrderProblem {
    let mut draw = Draw::new(seed);
    let body = draw.builder.body();
    for _ in 0..draw.rng.random_range(0..3) {
        let role = [Role::Input, Role::Weight, Role::State][draw.rng.random_range(0..3)];
        draw.tensor(role);
    }
    let local = draw.rng.random_range(2..8usize);
    for _ in 0..draw.rng.random_range(0..=most) {
        draw.operator(body, local);
    }
    draw.builder.interface(body, draw.inputs, draw.outputs);
    let options = LivenessOptions {
        boundary: [Boundary::Arena, Boundary::Persistent, Boundary::Outside][(seed % 3) as usize],
        weights: seed.is_multiple_of(5),
        states: !seed.is_multiple_of(7),
        views: seed.is_multiple_of(2),
        in_place: seed % 4 < 3,
        ..LivenessOptions::default()
    };
    let graph = draw.builder.build().unwrap();
    let problem =
        |options| graph.storages(Graph::BODY, &options, |_| Bytes::ZERO).map(|storages| storages.problem);
    // Views that are larger than their inputs may contradict each other.
    match problem(options) {
        Err(OrderError::Views { .. }) => problem(LivenessOptions { views: false, ..options }).unwrap(),
        other => other.unwrap(),
    }
}

fn solver(method: Method, reductions: Reductions, rules: OrderRules) -> OrderSolver {
    OrderSolver::new(Setup::default(), method).with_params(OrderParams { method, reductions, rules })
}

const NONE: Reductions =
    Reductions { fuse: false, lazy: false, divide: false, narrow: false, hills: false, relax: false };

/// Checks that every method, with different reductions, finds and proves the optimum, and that values and
/// bounds are valid under low node limits.
fn agree(problem: &OrderProblem, optimum: Bytes) {
    let (all, rules) = (Reductions::default(), OrderRules::default());
    for method in [Method::Paths, Method::Search, Method::Staged] {
        let variants = [
            (all, rules),
            (Reductions { fuse: true, lazy: true, ..NONE }, rules),
            (Reductions { narrow: true, lazy: true, ..NONE }, rules),
            (Reductions { fuse: false, ..all }, rules),
            (all, OrderRules { jump: 2_000, ..rules }),
        ];
        for (reductions, rules) in variants {
            let solver = solver(method, reductions, rules);
            let outcome = solver.solve(problem, &mut Budget::unlimited(), &mut Silent).unwrap();
            let name = problem.name();
            assert_eq!(Orders::check(problem, outcome.solution.as_ref().unwrap()), [], "{name}");
            let found = (outcome.value, outcome.lower_bound.value);
            assert_eq!(found, (Some(optimum), optimum), "{name}, {method:?}, {reductions:?}");
        }
    }
    for nodes in [0, 1, 3, 10, 60] {
        let mut budget = Budget::unlimited().with_node_limit(nodes);
        let outcome = solver(Method::Staged, all, rules).solve(problem, &mut budget, &mut Silent).unwrap();
        assert!(outcome.lower_bound.value <= optimum && outcome.value >= Some(optimum), "{}", problem.name());
    }
}

#[test]
fn odd_graphs_agree_with_brute_force() {
    for seed in 0..4_000 {
        let problem = odd(seed, 11);
        let reference = OrderBrute.solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
        agree(&problem, reference.value.unwrap());
    }
}

#[test]
fn larger_problems_agree_with_a_search_without_reductions() {
    let rules =
        OrderRules { settling: Settling { free: false, chain: 0 }, ahead: false, ..OrderRules::default() };
    let mut solved = 0;
    for seed in 0..400 {
        let params = SmallOrderParams::with_features(12 + seed as usize % 12, seed % 32);
        let problem = if seed % 2 == 0 { odd(seed, 40) } else { small_order_problem(params, seed) };
        let mut budget = Budget::unlimited().with_node_limit(20_000);
        let reference = solver(Method::Paths, NONE, rules).solve(&problem, &mut budget, &mut Silent).unwrap();
        if reference.claim == Claim::Optimal {
            solved += 1;
            agree(&problem, reference.value.unwrap());
        }
    }
    assert!(solved > 300, "{solved}");
}
