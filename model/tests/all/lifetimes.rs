//! Tests that order problems, programs and the definition agree on the lifespans of tensors in small graphs.

use crate::common::Draw;
use plimsoll_model::execution::{ExecutionOptions, check_execution};
use plimsoll_model::graph::{
    AliasKind, Boundary, Graph, GraphBuilder, LivenessOptions, Operator, Role, Tensor,
};
use plimsoll_model::orders::{Order, OrderProblem, Storage, around_bound};
use plimsoll_model::program::{Program, ProgramOptions};
use plimsoll_model::{Bytes, Layout, OperatorId, RegionId, TensorId, Witness, check_layout, load};

/// Builds a random graph with unread inputs, inputs that are outputs, unused states and weights, and tensors
/// of zero bytes. There may be operators without inputs or outputs, or no operators at all. If `idle` is
/// true, the graph has an additional branch without operators, which changes no lifespan.
fn random(seed: u64, idle: bool) -> Graph {
    let mut draw = Draw(seed * 7919 + 3);
    let mut g = GraphBuilder::new(format!("g{seed}"));
    let body = g.body();
    let size = |draw: &mut Draw| if draw.one_in(6) { 0 } else { 1 + draw.below(20) };
    let mut known = Vec::new();
    let mut inputs = Vec::new();
    for (count, role) in [(3, Role::Input), (2, Role::State), (2, Role::Weight)] {
        for at in 0..draw.below(count + 1) {
            let one = g.tensor(Tensor::new(format!("{role}{at}"), size(&mut draw), role));
            known.push(one);
            if role == Role::Input {
                inputs.push(one);
            }
        }
    }
    let mut made = Vec::new();
    for at in 0..draw.below(6) {
        let reads: Vec<TensorId> = known.iter().copied().filter(|_| draw.one_in(3)).collect();
        let mut operator = Operator::new(format!("o{at}"), "F").reads(reads.iter().copied());
        operator.scratch = Bytes::new(if draw.one_in(3) { draw.below(9) } else { 0 });
        for out in 0..draw.below(3) {
            let bytes = size(&mut draw);
            let one = g.tensor(Tensor::new(format!("t{at}.{out}"), bytes, Role::Activation));
            operator = operator.makes([one]);
            if let (Some(&read), true) = (reads.first(), draw.one_in(3)) {
                let inside = bytes <= g.tensor_mut(read).bytes.get();
                let kind = if inside && draw.one_in(2) { AliasKind::View } else { AliasKind::InPlace };
                operator = operator.alias(read, one, kind);
            }
            known.push(one);
            made.push(one);
        }
        g.operator(body, operator);
    }
    let wanted: Vec<TensorId> = made.iter().chain(&inputs).copied().filter(|_| draw.one_in(3)).collect();
    if idle {
        let branch = g.operator(body, Operator::new("idle", "If"));
        g.region(branch, "then");
    }
    g.interface(body, inputs, wanted);
    g.build().unwrap()
}

fn options(seed: u64) -> LivenessOptions {
    use Boundary::{Arena, Held, Outside, Persistent};
    LivenessOptions {
        boundary: [Arena, Held, Persistent, Outside, Arena][(seed % 5) as usize],
        weights: seed % 3 == 1,
        states: seed % 4 != 1,
        views: seed.is_multiple_of(2),
        captured: seed % 5 < 3,
        in_place: seed % 7 < 3,
        file_order: seed % 13 < 4,
        align: Bytes::new([1, 4][(seed % 11 / 6) as usize]),
    }
}

/// Returns the peak of the file order, computed tensor by tensor from the definition. Tensors share no
/// memory.
fn by_definition(graph: &Graph, options: &LivenessOptions) -> u64 {
    let order = graph.file_order(Graph::BODY);
    let body = graph.region(Graph::BODY);
    // Moment 0 is before the first operator.
    let held = |id: TensorId| -> Option<(usize, usize)> {
        let (tensor, last) = (graph.tensor(id), order.len());
        let uses = order.iter().enumerate().filter(|&(_, &one)| {
            let operator = graph.operator(one);
            operator.inputs.contains(&id) || operator.outputs.contains(&id)
        });
        let uses: Vec<usize> = uses.map(|(at, _)| at + 1).collect();
        let (given, wanted) = (body.inputs.contains(&id), body.outputs.contains(&id));
        match tensor.role {
            Role::Weight => return options.weights.then_some((0, last)),
            Role::State => return options.states.then_some((0, last)),
            _ => {}
        }
        let (mut from, mut to) = (if given { 0 } else { *uses.first()? }, uses.last().copied().unwrap_or(0));
        if wanted {
            to = last;
        }
        match options.boundary {
            Boundary::Outside if given || wanted => return None,
            Boundary::Persistent if given || wanted => (from, to) = (0, last),
            Boundary::Held if given => to = last,
            _ => {}
        }
        Some((from, to))
    };
    let rounded = |bytes: Bytes| bytes.align_up(options.align).unwrap().get();
    let at = |moment: usize| -> u64 {
        let tensors = (0..graph.tensors().len()).map(TensorId::at);
        let here = tensors.filter(|&id| held(id).is_some_and(|(from, to)| from <= moment && moment <= to));
        let scratch = moment.checked_sub(1).map_or(0, |at| rounded(graph.operator(order[at]).scratch));
        here.map(|id| rounded(graph.tensor(id).bytes)).sum::<u64>() + scratch
    };
    (0..=order.len()).map(at).max().unwrap_or(0)
}

#[test]
fn straight_line_and_program_agree_with_the_definition() {
    let mut unread = 0;
    for seed in 0..1500 {
        let options = options(seed);
        let mut peak = |graph: &Graph| {
            let made = graph.storages(Graph::BODY, &options, |_| Bytes::ZERO).unwrap();
            unread += made.problem.lead();
            let order = made.problem.as_in_file();
            let instance = made.problem.instance(&order, options.align).unwrap();
            assert_eq!(load(&instance).0, order.peak(&made.problem), "{seed} {graph:?}");
            assert!(around_bound(&made.problem).value <= order.peak(&made.problem), "{seed}");
            order.peak(&made.problem)
        };
        let (plain, idle) = (random(seed, false), random(seed, true));
        let straight = peak(&plain);
        assert_eq!(peak(&idle), straight, "{seed} {options:?}");
        for graph in [&plain, &idle] {
            let orders = (0..graph.regions().len()).map(|at| graph.file_order(RegionId::at(at)));
            let program = ProgramOptions { liveness: options, ..ProgramOptions::default() };
            let program = Program::new(graph, orders.collect(), program).unwrap();
            assert_eq!(load(program.instance()).0, straight, "{seed} {options:?} {graph:?}");
        }
        if !options.views && !options.in_place {
            assert_eq!(by_definition(&plain, &options), straight.get(), "{seed} {options:?} {plain:?}");
        }
    }
    assert!(unread > 300, "{unread}");
}

/// Builds a graph with two inputs. Only `x` is read.
fn unread(idle: bool) -> Graph {
    let mut g = GraphBuilder::new("unread");
    let [u, x] = ["u", "x"].map(|name| g.tensor(Tensor::new(name, 100, Role::Input)));
    let (a, y) =
        (g.tensor(Tensor::new("a", 120, Role::Activation)), g.tensor(Tensor::new("y", 90, Role::Output)));
    let body = g.body();
    g.operator(body, Operator::new("f", "F").reads([x]).makes([a]));
    g.operator(body, Operator::new("g", "F").reads([a]).makes([y]));
    if idle {
        let branch = g.operator(body, Operator::new("idle", "If"));
        g.region(branch, "then");
    }
    g.interface(body, [u, x], [y]);
    g.build().unwrap()
}

#[test]
fn an_unread_input_is_dead_when_the_first_operator_runs() {
    let spans = |boundary: Boundary, graph: &Graph| {
        let options = LivenessOptions { boundary, ..LivenessOptions::default() };
        let made = graph.storages(Graph::BODY, &options, |_| Bytes::ZERO).unwrap();
        let instance = made.problem.instance(&made.problem.as_in_file(), Bytes::new(1)).unwrap();
        let span = |buffer: &plimsoll_model::Buffer| {
            let hull = buffer.lifespan().hull();
            format!("{} {}-{}", buffer.name(), hull.lower.get(), hull.upper.get())
        };
        (load(&instance).0.get(), instance.buffers().iter().map(span).collect::<Vec<_>>().join(", "))
    };
    let graph = unread(false);
    let arena = spans(Boundary::Arena, &graph);
    assert_eq!(arena, (220, "u 0-1, x 0-2, a 1-3, y 2-3".to_owned()));
    // If unread inputs are held to the end or lie outside the arena, there is no step before the first
    // operator.
    assert_eq!(spans(Boundary::Held, &graph), (410, "u 0-2, x 0-2, a 0-2, y 1-2".to_owned()));
    assert_eq!(spans(Boundary::Outside, &graph), (120, "a 0-2".to_owned()));
}

#[test]
fn kept_inputs_are_checked_at_the_end() {
    let graph = unread(true);
    let orders: Vec<_> = (0..2).map(|at| graph.file_order(RegionId::at(at))).collect();
    let program = Program::new(&graph, orders, ProgramOptions::default()).unwrap();
    // `a` is placed at the address of `u`.
    let layout = Layout::from_raw([0, 120, 0, 120]);
    assert!(check_layout(program.instance(), &layout).is_empty());
    let run = |keep_inputs| {
        let options = ExecutionOptions { keep_inputs, ..ExecutionOptions::default() };
        check_execution(&program.placed(&layout), &options).unwrap().violations.len()
    };
    assert_eq!((run(false), run(true)), (0, 2));
}

#[test]
fn unread_inputs_bound_every_order() {
    let id = OperatorId::new;
    let storage = |name: &str, size: u64, users: &[u32], from_start: bool| {
        let users = users.iter().copied().map(id).collect();
        Storage { name: name.to_owned(), size: Bytes::new(size), users, from_start, to_end: false }
    };
    let storages =
        vec![storage("u", 9, &[], true), storage("x", 2, &[0], true), storage("a", 3, &[0], false)];
    let problem = OrderProblem::new("p", vec!["f".to_owned()], [], storages, vec![Bytes::ZERO]).unwrap();
    let order = Order::new(vec![id(0)]);
    assert_eq!(order.profile(&problem), [Bytes::new(5)]);
    assert_eq!(
        (order.peak(&problem), problem.at_start(), problem.at_first_step()),
        (Bytes::new(11), Bytes::new(11), Bytes::new(2))
    );
    let bound = around_bound(&problem);
    assert_eq!((bound.value, bound.witness), (Bytes::new(11), Witness::Start));
    assert_eq!(load(&problem.instance(&order, Bytes::new(1)).unwrap()).0, Bytes::new(11));
}

#[test]
fn unused_states_count_and_empty_views_share_nothing() {
    let mut g = GraphBuilder::new("kept");
    let x = g.tensor(Tensor::new("x", 100, Role::Input));
    g.tensor(Tensor::new("s", 50, Role::State));
    let [empty, a] =
        [("v", 0), ("a", 10)].map(|(name, bytes)| g.tensor(Tensor::new(name, bytes, Role::Activation)));
    let (b, y) =
        (g.tensor(Tensor::new("b", 100, Role::Activation)), g.tensor(Tensor::new("y", 10, Role::Output)));
    let body = g.body();
    g.operator(body, Operator::new("v", "Slice").reads([x]).makes([empty]).alias(x, empty, AliasKind::View));
    g.operator(body, Operator::new("f", "F").reads([x]).makes([a]));
    g.operator(body, Operator::new("g", "F").reads([a]).makes([b]));
    g.operator(body, Operator::new("h", "F").reads([b, empty]).makes([y]));
    g.interface(body, [x], [y]);
    let graph = g.build().unwrap();
    let peak = |options: LivenessOptions| {
        let made = graph.storages(Graph::BODY, &options, |_| Bytes::ZERO).unwrap();
        made.problem.as_in_file().peak(&made.problem).get()
    };
    let plain = LivenessOptions::default();
    assert_eq!(peak(plain), 160);
    assert_eq!(peak(LivenessOptions { views: false, ..plain }), 160);
    assert_eq!(peak(LivenessOptions { states: false, ..plain }), 110);
    assert_eq!(peak(LivenessOptions { weights: true, ..plain }), 160);
}
