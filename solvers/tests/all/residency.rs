//! Tests the choice of resident weights against exhaustive enumeration of sets.

use plimsoll_heuristics::timelines::{Worth, resident_sets, residents};
use plimsoll_model::graph::{Control, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::orders::Order;
use plimsoll_model::timelines::{
    Machine, OverlapOptions, OverlapProgram, RegionOrder, Time, Timelines, residency_bound,
};
use plimsoll_model::{
    Budget, Bytes, Claim, RegionId, Setup, Silent, Solver, TensorId, graph::LivenessOptions, graph::Storages,
};
use plimsoll_solvers::timelines::ENTRIES as TIMELINES;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn exact() -> Box<dyn Solver<Timelines>> {
    let entry = TIMELINES.iter().find(|entry| entry.name == "exact").unwrap();
    (entry.build)(Setup::default())
}

/// Returns the program of a chain of operators, each of which reads one of five weights or none.
fn chain(rng: &mut StdRng, machine: &Machine) -> OverlapProgram {
    let mut builder = GraphBuilder::new("chain");
    let body = builder.body();
    let weights: Vec<_> = (0..5)
        .map(|at| builder.tensor(Tensor::new(format!("w{at}"), rng.random_range(1..40u64), Role::Weight)))
        .collect();
    let mut last = builder.tensor(Tensor::new("x", rng.random_range(1..10u64), Role::Input));
    let input = last;
    let length = rng.random_range(2..6);
    for at in 0..length {
        let role = if at + 1 == length { Role::Output } else { Role::Activation };
        let next = builder.tensor(Tensor::new(format!("t{at}"), rng.random_range(1..10u64), role));
        let mut operator = Operator::new(format!("o{at}"), "F").reads([last]).makes([next]);
        if rng.random_bool(0.8) {
            operator = operator.reads([weights[rng.random_range(0..weights.len())]]);
        }
        operator.cost = Some(rng.random_range(0..40));
        builder.operator(body, operator);
        last = next;
    }
    builder.interface(body, [input], [last]);
    let graph = builder.build().unwrap();
    let storages: Storages = graph
        .storages(plimsoll_model::RegionId::new(0), &LivenessOptions::default(), |_| Bytes::ZERO)
        .unwrap();
    let order: Order = storages.problem.as_in_file();
    let regions = [RegionOrder { storages: &storages, order: &order }];
    OverlapProgram::new(&graph, &regions, machine, OverlapOptions::default()).unwrap()
}

/// Returns a program with a branch or a loop between operators. Each operator reads one of four weights or
/// none.
fn regions(rng: &mut StdRng, machine: &Machine) -> OverlapProgram {
    let mut draw = Draw { builder: GraphBuilder::new("regions"), weights: Vec::new(), made: 0 };
    let weight = |draw: &mut Draw, at, bytes: u64| {
        draw.builder.tensor(Tensor::new(format!("w{at}"), bytes, Role::Weight))
    };
    draw.weights = (0..4).map(|at| weight(&mut draw, at, rng.random_range(1..30))).collect();
    let body = draw.builder.body();
    let input = draw.builder.tensor(Tensor::new("x", 3, Role::Input));
    let count = rng.random_range(0..3);
    let last = draw.chain(rng, body, input, count, Role::Activation);
    let joined = draw.builder.tensor(Tensor::new("joined", 4, Role::Activation));
    if rng.random_bool(0.5) {
        let choose = draw.builder.operator(body, Operator::new("choose", "If").reads([last]).makes([joined]));
        for name in ["then", "else"] {
            let region = draw.builder.region(choose, name);
            let count = rng.random_range(0..3);
            let inner = draw.chain(rng, region, last, count, Role::Activation);
            draw.builder.interface(region, [], [inner]);
        }
    } else {
        let mut again = Operator::new("again", "Again").reads([last]).makes([joined]);
        again.control = Some(Control::Loop);
        let again = draw.builder.operator(body, again);
        let region = draw.builder.region(again, "trip");
        let given = draw.builder.tensor(Tensor::new("given", 4, Role::Activation));
        let count = rng.random_range(1..3);
        let inner = draw.chain(rng, region, given, count, Role::Activation);
        draw.builder.interface(region, [given], [inner]);
    }
    let output = draw.chain(rng, body, joined, 1, Role::Output);
    draw.builder.interface(body, [input], [output]);
    let graph = draw.builder.build().unwrap();
    let storages: Vec<Storages> = (0..graph.regions().len())
        .map(|at| {
            let inner = |id| Bytes::new(if graph.operator(id).regions.is_empty() { 0 } else { 8 });
            graph.storages(RegionId::at(at), &LivenessOptions::default(), inner).unwrap()
        })
        .collect();
    let orders: Vec<Order> = storages.iter().map(|one| one.problem.as_in_file()).collect();
    let regions: Vec<RegionOrder<'_>> =
        storages.iter().zip(&orders).map(|(storages, order)| RegionOrder { storages, order }).collect();
    let options = OverlapOptions { trips: rng.random_range(0..4), ..OverlapOptions::default() };
    OverlapProgram::new(&graph, &regions, machine, options).unwrap()
}

/// A graph under construction.
struct Draw {
    builder: GraphBuilder,
    weights: Vec<TensorId>,
    made: usize,
}

impl Draw {
    /// Appends a chain of `count` operators and returns the last tensor, which has the given role.
    fn chain(
        &mut self,
        rng: &mut StdRng,
        region: RegionId,
        from: TensorId,
        count: usize,
        role: Role,
    ) -> TensorId {
        let mut last = from;
        for at in 0..count {
            self.made += 1;
            let role = if at + 1 == count { role } else { Role::Activation };
            let next =
                self.builder.tensor(Tensor::new(format!("t{}", self.made), rng.random_range(1..8u64), role));
            let mut operator = Operator::new(format!("o{}", self.made), "F").reads([last]).makes([next]);
            if rng.random_bool(0.8) {
                operator = operator.reads([self.weights[rng.random_range(0..self.weights.len())]]);
            }
            operator.cost = Some(rng.random_range(0..30));
            self.builder.operator(region, operator);
            last = next;
        }
        last
    }
}

/// Returns the minimum makespan if the blocks in `set` are resident, or `None` if the program does not fit.
fn least(program: &OverlapProgram, machine: &Machine, set: &[usize]) -> Option<Time> {
    let program = program.with_resident(machine, set).ok()?;
    let mut times = Vec::new();
    for segment in program.segments() {
        let outcome = exact().solve(&segment.problem, &mut Budget::unlimited(), &mut Silent).unwrap();
        if outcome.claim == Claim::Infeasible {
            return None;
        }
        assert!(machine.copy.is_some() || outcome.claim == Claim::Optimal, "{:?}", segment.problem);
        times.push(outcome.value?);
    }
    program.longest(&|at| times[at])
}

#[test]
fn no_set_beats_the_bound_and_sets_fit() {
    let mut rng = StdRng::seed_from_u64(5);
    let (mut met, mut cases) = (0, 0);
    for case in 0..1000 {
        let (capacity, channels) = (rng.random_range(60..160u64), rng.random_range(1..4u32));
        let align = if rng.random_bool(0.3) { 4 } else { 1 };
        let stays = rng.random_bool(0.7);
        let copy = if rng.random_bool(0.2) { "[copy]\nbandwidth = 5e11\n" } else { "" };
        let text = format!(
            "name = \"m\"\n[memory]\ncapacity = {capacity}\nalignment = {align}\nresident_weights = {stays}\n\
             [dma]\nchannels = {channels}\nstartup = {}e-12\nbandwidth = 1e12\n\
             {copy}[compute]\nmacs_per_second = 1e12\nbytes_per_second = 1e12\n",
            rng.random_range(0..20)
        );
        let machine = Machine::parse("m.toml", &text).unwrap();
        let program = if case < 400 { chain(&mut rng, &machine) } else { regions(&mut rng, &machine) };
        let blocks = program.blocks().len();
        let sets = (0..1usize << blocks)
            .map(|mask| (0..blocks).filter(|at| mask >> at & 1 == 1).collect::<Vec<usize>>());
        let Some(best) = sets.filter_map(|set| least(&program, &machine, &set)).min() else { continue };
        let bound = residency_bound(&program, &machine).unwrap();
        assert!(bound <= best, "case {case}: bound {bound:?} above {best:?}");
        (met, cases) = (met + usize::from(bound == best), cases + 1);
        for worth in Worth::ALL {
            let order = residents(&program, worth, stays);
            for set in resident_sets(&program, &order, machine.capacity, machine.alignment, &[4, 8]) {
                let with = program.with_resident(&machine, &set).unwrap();
                let used: u64 = set.iter().map(|&at| program.blocks()[at].bytes.get()).sum();
                assert!(used <= with.residency().bytes.get());
                assert!(least(&program, &machine, &set).is_none_or(|time| time >= best));
            }
        }
    }
    assert!(cases > 800 && met * 2 > cases, "{met} of {cases}");
}
