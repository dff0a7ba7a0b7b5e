mod random;
mod swap;

use super::*;
use crate::graph::{AliasKind, Graph, GraphBuilder, Handover, Moment, Operator, Role, Tensor};
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use std::collections::HashMap;

/// Builds graphs from text. The first occurrence of a tensor may state its size: `x:8` has 8 bytes. The
/// default is 4 bytes.
struct Net {
    graph: GraphBuilder,
    ids: HashMap<String, TensorId>,
}

impl Net {
    fn new() -> Self {
        Self { graph: GraphBuilder::new("net"), ids: HashMap::new() }
    }

    fn tensor(&mut self, text: &str) -> TensorId {
        let (name, bytes) = text.split_once(':').unwrap_or((text, "4"));
        let (graph, bytes) = (&mut self.graph, bytes.parse::<u64>().unwrap());
        *self
            .ids
            .entry(name.into())
            .or_insert_with(|| graph.tensor(Tensor::new(name, bytes, Role::Activation)))
    }

    fn tensors(&mut self, text: &str) -> Vec<TensorId> {
        text.split_whitespace().map(|name| self.tensor(name)).collect()
    }

    fn role(&mut self, name: &str, role: Role) {
        let id = self.tensor(name);
        self.graph.tensor_mut(id).role = role;
    }

    /// Adds an operator `name Kind: inputs -> outputs`, modified by `change`.
    fn with(
        &mut self,
        region: RegionId,
        text: &str,
        change: impl FnOnce(&mut Self, Operator) -> Operator,
    ) -> OperatorId {
        let (head, rest) = text.split_once(':').unwrap();
        let (name, kind) = head.split_once(' ').unwrap();
        let (inputs, outputs) = rest.split_once("->").unwrap();
        let operator = Operator::new(name, kind).reads(self.tensors(inputs)).makes(self.tensors(outputs));
        let operator = change(self, operator);
        self.graph.operator(region, operator)
    }

    fn op(&mut self, region: RegionId, text: &str) -> OperatorId {
        self.with(region, text, |_, operator| operator)
    }

    /// Sets the interface `inputs -> outputs` of a region.
    fn interface(&mut self, region: RegionId, text: &str) {
        let (given, wanted) = text.split_once("->").unwrap();
        let (given, wanted) = (self.tensors(given), self.tensors(wanted));
        self.graph.interface(region, given, wanted);
    }

    fn region(&mut self, owner: OperatorId, name: &str, interface: &str) -> RegionId {
        let region = self.graph.region(owner, name);
        self.interface(region, interface);
        region
    }

    fn handed(&mut self, when: Moment, text: &str) -> Handover {
        let part = text.contains('~');
        let (from, to) = text.split_once(['>', '~']).unwrap();
        Handover { when, from: self.tensor(from), to: self.tensor(to), part }
    }

    fn build(self, interface: &str) -> Graph {
        let mut net = self;
        net.interface(BODY, interface);
        net.graph.build().unwrap()
    }
}

const BODY: RegionId = Graph::BODY;

fn orders(graph: &Graph) -> Vec<Vec<OperatorId>> {
    (0..graph.regions().len()).map(|at| graph.file_order(RegionId::at(at))).collect()
}

/// Checks the execution of a graph. `x@8` places x at address 8, `y=x` places y in the slot of x, and `op!8`
/// places the scratch of `op` at address 8. All other tensors are outside the memory.
fn report(graph: &Graph, places: &str, options: &ExecutionOptions) -> ExecutionReport {
    let find = |name: &str| graph.tensors().iter().position(|t| t.name == name).unwrap();
    let orders = orders(graph);
    let mut placed = Placed {
        graph,
        orders: &orders,
        slots: Vec::new(),
        tensors: vec![None; graph.tensors().len()],
        scratch: vec![None; graph.operators().len()],
    };
    for place in places.split_whitespace() {
        let slot = placed.slots.len();
        let lies = |offset: &str, size| Slot { offset: Bytes::new(offset.parse().unwrap()), size };
        if let Some((name, offset)) = place.split_once('@') {
            let tensor = find(name);
            placed.tensors[tensor] = Some(Seat { slot, offset: Bytes::ZERO });
            placed.slots.push(lies(offset, graph.tensors()[tensor].bytes));
        } else if let Some((name, other)) = place.split_once('=') {
            placed.tensors[find(name)] = placed.tensors[find(other)];
        } else if let Some((name, offset)) = place.split_once('!') {
            let operator = graph.operators().iter().position(|o| o.name == name).unwrap();
            placed.scratch[operator] = Some(slot);
            placed.slots.push(lies(offset, graph.operators()[operator].scratch));
        }
    }
    check_execution(&placed, options).unwrap()
}

/// Lists each violation: the lost tensor, the reader and stage, the overwriting tensor, and the run.
fn lost(graph: &Graph, places: &str, options: &ExecutionOptions) -> Vec<String> {
    let show = |violation: &ExecutionViolation| match violation {
        ExecutionViolation::Lost { name, place, stage, address, by, run, .. } => {
            let by = by.as_deref().unwrap_or("nothing");
            format!("{name} for {place} {stage}: {by} at {address}; {run}")
        }
        other => other.to_string(),
    };
    report(graph, places, options).violations.iter().map(show).collect()
}

fn trips(trips: usize) -> ExecutionOptions {
    ExecutionOptions { trips, ..ExecutionOptions::default() }
}

fn all() -> ExecutionOptions {
    ExecutionOptions::default()
}

const SWAP: fn(usize) -> ExecutionOptions = |count| ExecutionOptions { swap: true, ..trips(count) };

/// Builds the graph x -f-> a -g-> b -h(a, b)-> y.
fn straight() -> Graph {
    let mut net = Net::new();
    net.op(BODY, "f F: x -> a");
    net.with(BODY, "g G: a -> b", |_, mut g| {
        g.scratch = Bytes::new(2);
        g
    });
    net.op(BODY, "h H: a b -> y");
    net.build("x -> y")
}

#[test]
fn data_that_is_read_later_must_not_be_overwritten() {
    let graph = straight();
    assert_eq!(lost(&graph, "x@0 a@4 b@0 y@8 g!8", &all()), [""; 0]);
    let report = report(&graph, "x@0 a@4 b@0 y@8 g!8", &all());
    assert!((report.runs, report.complete) == (1, true));
    // g reads a while it writes.
    assert_eq!(
        lost(&graph, "x@0 a@4 b@6 y@12", &all()),
        ["'a' for g when it writes: 'b' at 6; none", "'a' for h when it reads: 'b' at 6; none"]
    );
    assert_eq!(
        lost(&graph, "x@0 a@4 b@0 y@8 g!2", &all())[0],
        "'b' for g when it writes: the scratch of g at 2; none"
    );
    let found = lost(&graph, "x@0 a@4 b@0 y@1", &all());
    let lost_by_y = |name: &str, at: usize| format!("'{name}' for h when it writes: 'y' at {at}; none");
    assert_eq!(found, [lost_by_y("a", 4), lost_by_y("b", 1)]);
    // If two tensors share a slot without an alias, the second overwrites the first.
    assert!(lost(&graph, "x@0 a@4 b=a y@8", &all())[0].starts_with("'a' for g when it writes"));
}

#[test]
fn inconsistent_inputs_are_not_run() {
    let graph = straight();
    let mut orders = orders(&graph);
    let slot = |offset, size| Slot { offset: Bytes::new(offset), size: Bytes::new(size) };
    let seat = |slot| Some(Seat { slot, offset: Bytes::ZERO });
    let slots = vec![slot(0, 3), slot(u64::MAX, 1)];
    let scratch = vec![None; 3];
    let placed = Placed {
        graph: &graph,
        orders: &orders,
        slots,
        tensors: vec![seat(0), None, seat(7), None],
        scratch,
    };
    let found = check_execution(&placed, &all()).unwrap();
    let found: Vec<String> = found.violations.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "slot 1 of 1 bytes at 18446744073709551615 exceeds the address space",
            "'x' has 4 bytes, but its slot 0 has only 3",
            "'b' is in slot 7, but there are only 2 slots"
        ]
    );
    let placed = Placed { slots: Vec::new(), tensors: vec![None; 3], ..placed };
    let found = check_execution(&placed, &all()).unwrap().violations;
    assert_eq!(found[0].to_string(), "expected 4 placements of tensors, found 3");
    orders[0].swap(0, 1);
    let placed = Placed {
        graph: &graph,
        orders: &orders,
        slots: Vec::new(),
        tensors: vec![None; 4],
        scratch: vec![None; 3],
    };
    let found = check_execution(&placed, &all()).unwrap().violations;
    assert_eq!(found[0].to_string(), "g when it reads: 'a' has not been written; decisions: none");
    let fewer = vec![orders[0][1..].to_vec()];
    let placed = Placed { orders: &fewer, ..placed };
    let found = check_execution(&placed, &all()).unwrap().violations;
    assert_eq!(
        found[0].to_string(),
        "the order of region 'body' does not contain each of its operators exactly once"
    );
}

#[test]
fn views_take_over_and_in_place_overwrites() {
    let graph = |kind, also: &str| {
        let mut net = Net::new();
        net.op(BODY, "f F: x -> a");
        net.with(BODY, "v V: a -> b", |net, v| v.alias(net.tensor("a"), net.tensor("b"), kind));
        net.op(BODY, &format!("g G: b {also} -> y"));
        net.build("x -> y")
    };
    let view = graph(AliasKind::View, "a");
    assert_eq!(lost(&view, "x@0 a@4 b=a y@8", &all()), [""; 0]);
    // A view outside the slot of its input is a copy, which must not overlap the input.
    assert!(lost(&view, "x@0 a@4 b@4 y@8", &all())[0].starts_with("'a' for v when it writes: 'b' at 4"));
    assert_eq!(lost(&graph(AliasKind::InPlace, ""), "x@0 a@4 b=a y@8", &all()), [""; 0]);
    let read = lost(&graph(AliasKind::InPlace, "a"), "x@0 a@4 b=a y@8", &all());
    assert_eq!(read, ["'a' for g when it reads: 'b' at 4; none"]);
}

#[test]
fn states_and_weights_stay() {
    let mut net = Net::new();
    net.role("s", Role::State);
    net.role("w", Role::Weight);
    net.op(BODY, "f F: x s w -> a");
    net.op(BODY, "g G: a -> y");
    let graph = net.build("x -> y");
    assert_eq!(lost(&graph, "x@0 s@4 w@8 a@12 y@0", &all()), [""; 0]);
    let found = lost(&graph, "x@0 s@4 w@8 a@12 y@4", &all());
    assert_eq!(found, ["'s' for net at the end: 'y' at 4; none"]);
    assert_eq!(lost(&graph, "x@0 s@4 w@8 a@12 y@8", &all()).len(), 1);
    assert!(lost(&graph, "x@0 s@0 a@12 y@8", &all())[0].contains("at the start"));
}

/// Builds a branch `If`: c -> y, followed by m, which computes z from y and the tensors in `also`. The region
/// "then" computes r = g(f(x)), and the region "else" computes t = k(h()).
fn choice(also: &str) -> Graph {
    let mut net = Net::new();
    let choose = net.op(BODY, "if If: c -> y");
    net.op(BODY, &format!("m M: y {also} -> z"));
    let then = net.region(choose, "then", " -> r");
    net.op(then, "f F: x -> p");
    net.op(then, "g G: p -> r");
    let other = net.region(choose, "else", " -> t");
    net.op(other, "h H: -> q");
    net.op(other, "k K: q -> t");
    net.build("c x -> z")
}

#[test]
fn branches_share_memory() {
    let graph = choice("");
    let both = "c@0 x@4 p@8 r@12 q@8 t@12 y@16 z@0";
    assert_eq!(lost(&graph, both, &all()), [""; 0]);
    assert!(
        (2, true) == {
            let r = report(&graph, both, &all());
            (r.runs, r.complete)
        }
    );
    // The region "else" may use the memory of x, unless x is read afterwards.
    let reused = "c@0 x@4 p@8 r@12 q@4 t@12 y@16 z@20";
    assert_eq!(lost(&graph, reused, &all()), [""; 0]);
    let found = lost(&choice("x"), reused, &all());
    assert_eq!(found, ["'x' for m when it reads: 'q' at 4; if: else"]);
    // The result of a region must be intact while it is copied.
    let found = lost(&graph, "c@0 x@4 p@8 r@12 q@8 t@12 y@14 z@0", &all());
    let when = |k: usize| format!("for if when region {k} has ended: 'y' at 14;");
    assert_eq!(found, [format!("'r' {} if: then", when(0)), format!("'t' {} if: else", when(1))]);
    assert_eq!(lost(&graph, "c@0 x@4 p@8 r@12 q@8 t=r y=r z@0", &all()), [""; 0]);
}

#[test]
fn scratch_is_held_while_regions_run() {
    let mut net = Net::new();
    let call = net.with(BODY, "call Call: x -> y", |_, mut call| {
        call.scratch = Bytes::new(4);
        call
    });
    let body = net.region(call, "body", "a -> b");
    net.op(body, "f F: a -> b");
    let graph = net.build("x -> y");
    assert_eq!(lost(&graph, "x@0 a@4 b@8 y@12 call!16", &all()), [""; 0]);
    let found = lost(&graph, "x@0 a@4 b@8 y@12 call!8", &all());
    assert_eq!(found, ["the scratch of call for call when it exits: 'b' at 8; none"]);
}

/// Builds a loop `for`: x -> y. Its body computes u from its state s, and then n from the tensors in
/// `second`.
fn repeat(second: &str) -> Graph {
    let mut net = Net::new();
    let repeat = net.op(BODY, "for for: x -> y");
    net.op(BODY, "end E: y -> z");
    let body = net.region(repeat, "body", "s -> n");
    net.op(body, "f F: s -> u");
    net.op(body, &format!("g G: {second} -> n"));
    net.build("x o -> z")
}

#[test]
fn carried_data_must_last_until_the_next_trip() {
    let graph = repeat("u o");
    assert_eq!(
        lost(&graph, "x@0 o@4 s@8 u@12 n@8 y@0 z@4", &all())[0],
        "'n' for for when region 0 has ended: 's' at 8; for: 1 iteration"
    );
    assert_eq!(lost(&graph, "x@0 o@4 s@8 u@12 n=s y@0 z@4", &all()), [""; 0]);
    // In the first graph, nothing reads o, so u may use the memory of o. In the second graph, the body reads
    // o in every iteration, and n overwrites o while g still reads it.
    let graph = repeat("u");
    assert_eq!(lost(&graph, "x@0 o@12 s@8 u@12 n=s y@0 z@4", &all()), [""; 0]);
    let graph = repeat("o u");
    let reused = "x@0 o@4 s@8 u@12 n@4 y@0 z@16";
    assert!(lost(&graph, reused, &trips(0)).is_empty());
    assert_eq!(lost(&graph, reused, &trips(1)), ["'o' for g when it writes: 'n' at 4; for: 1 iteration"]);
}

#[test]
fn only_the_second_trip_misses_data_overwritten_by_the_first() {
    // The loop reads a in every iteration. In each of them, w uses the memory of a after a has been read.
    let mut net = Net::new();
    let repeat = net.op(BODY, "for for: a x -> y");
    let body = net.region(repeat, "body", "s -> n");
    net.op(body, "f F: a s -> u");
    net.op(body, "g G: u -> w");
    net.op(body, "h H: w -> n");
    let graph = net.build("a x -> y");
    let reused = "a@0 x@4 s@8 u@12 w@0 n@16 y@20";
    assert_eq!(lost(&graph, reused, &trips(0)), [""; 0]);
    assert_eq!(lost(&graph, reused, &trips(1)), [""; 0]);
    assert_eq!(lost(&graph, reused, &trips(2)), ["'a' for f when it reads: 'w' at 0; for: 2 iterations"]);
    // A temporary overwrites the state after the state was read. Nothing is lost, because the next
    // iteration receives a new state.
    assert_eq!(lost(&graph, "a@0 x@4 s@8 u@12 w@8 n@16 y@20", &all()), [""; 0]);
    // A state that receives no handover at the end of an iteration is lost.
    let mut net = Net::new();
    let repeat = net.with(BODY, "for for: x -> y", |net, mut repeat| {
        let (enter, exit) = (net.handed(Moment::Enter, "x>s"), net.handed(Moment::Exit, "x>y"));
        repeat.handovers = Some(vec![enter, exit]);
        repeat
    });
    let body = net.region(repeat, "body", "s -> n");
    net.op(body, "f F: s -> u");
    net.op(body, "g G: u -> n");
    let graph = net.build("x -> y");
    let reused = "x@0 s@4 u@8 n@4 y@12";
    assert_eq!(lost(&graph, reused, &trips(1)), [""; 0]);
    assert_eq!(lost(&graph, reused, &trips(2)), ["'s' for f when it reads: 'n' at 4; for: 2 iterations"]);
}

#[test]
fn conditions_run_once_more_than_bodies() {
    let mut net = Net::new();
    let repeat = net.op(BODY, "while While: x -> y");
    let ask = net.region(repeat, "ask", "s -> c");
    net.op(ask, "less L: s k -> c");
    let body = net.region(repeat, "body", "b -> n");
    net.op(body, "f F: b -> n");
    let graph = net.build("x k -> y");
    assert_eq!(
        lost(&graph, "x@0 k@4 s@8 c@12 b=s n=s y=s", &all())[0],
        "'b' for f when it writes: 'n' at 8; while: 1 iteration"
    );
    assert_eq!(lost(&graph, "x@0 k@4 s@8 c@12 b=s n@12 y@0", &all()), [""; 0]);
    // n uses the memory of an input of the condition, which runs once more after the last iteration.
    let found = lost(&graph, "x@0 k@4 s@8 c@12 b=s n@4 y@0", &trips(1));
    assert_eq!(found, ["'k' for less when it reads: 'n' at 4; while: 1 iteration"]);
    assert_eq!(lost(&graph, "x@0 k@4 s@8 c@4 b=s n@12 y@0", &trips(0)).len(), 1);
}

/// Builds a loop `Scan` with state s, which splits x into rows and stacks the results o in y.
fn scan() -> Graph {
    let mut net = Net::new();
    let scan = net.with(BODY, "scan Scan: i x:16 -> j y:16", |net, mut scan| {
        let end = Moment::End(0);
        let listed = [(Moment::Enter, "i>s"), (Moment::Begin(0), "x~row"), (end, "n>s"), (end, "o~y")];
        let mut listed: Vec<Handover> = listed.iter().map(|&(when, text)| net.handed(when, text)).collect();
        listed.push(net.handed(Moment::Exit, "s>j"));
        scan.handovers = Some(listed);
        scan
    });
    let body = net.region(scan, "body", "s row -> n o");
    net.op(body, "f F: s row -> n o");
    net.build("i x -> j y")
}

#[test]
fn outputs_are_stacked_from_the_entry_on() {
    let graph = scan();
    let good = "i@0 x@4 y@20 s@36 row@40 n@44 o@48 j@0";
    assert_eq!(lost(&graph, good, &all()), [""; 0]);
    // The stacked output y is written at the entry, while x is still needed.
    let found = lost(&graph, "i@0 x@4 y@4 s@36 row@40 n@44 o@48 j@0", &all());
    assert_eq!(found[0], "'x' for scan when region 0 begins: 'y' at 4; scan: 1 iteration");
    // The stacked output must be intact when the next part is written and at the end.
    let found = lost(&graph, "i@0 x@4 y@20 s@36 row@32 n@44 o@48 j@0", &all());
    assert_eq!(found[0], "'y' for scan when region 0 has ended: 'row' at 32; scan: 1 iteration");
    let found = lost(&graph, "i@0 x@4 y@20 s@36 row@40 n@44 o@48 j@20", &trips(0));
    assert_eq!(found[0], "'y' for scan when it exits: 'j' at 20; none");
    // Parts are copied even if they share a slot with the whole tensor.
    for places in ["i@0 x@4 y@20 s@36 row=x n@44 o@48 j@0", "i@0 x@4 y@20 s@36 row@40 n@44 o=y j@0"] {
        assert!(!lost(&graph, places, &trips(1)).is_empty());
    }
    // The initial state may be in memory that the stacked output overwrites.
    assert_eq!(lost(&graph, "i@20 x@4 y@20 s@36 row@40 n@44 o@48 j@0", &all()), [""; 0]);
}

/// Builds `count` binary decisions, either in sequence or as a complete binary tree.
fn ifs(count: usize, nested: bool) -> Graph {
    fn add(net: &mut Net, region: RegionId, path: &str, left: usize) {
        let choose = net.op(region, &format!("if{path} If: c -> y{path}"));
        for side in ["l", "r"] {
            let at = format!("{path}{side}");
            let inner = net.region(choose, side, &format!("-> y{at}"));
            if left > 1 {
                add(net, inner, &at, left - 1);
            } else {
                net.op(inner, &format!("f{at} F: -> y{at}"));
            }
        }
    }
    let mut net = Net::new();
    if nested {
        add(&mut net, BODY, "", count);
    } else {
        (0..count).for_each(|at| add(&mut net, BODY, &at.to_string(), 1));
    }
    net.build("c ->")
}

#[test]
fn all_combinations_are_run_or_as_many_drawn() {
    let options = ExecutionOptions { runs: 100, ..all() };
    let run = |graph: &Graph, options: &ExecutionOptions| {
        let report = report(graph, "c@0", options);
        (report.runs, report.complete, report.violations.len())
    };
    assert_eq!(run(&ifs(3, true), &options), (8, true, 0));
    assert_eq!(run(&ifs(3, false), &options), (8, true, 0));
    assert_eq!(run(&ifs(20, false), &options), (200, false, 0));
    assert_eq!(run(&ifs(3, true), &ExecutionOptions { runs: 8, ..all() }), (8, true, 0));
    assert_eq!(run(&ifs(3, true), &ExecutionOptions { runs: 7, ..all() }), (14, false, 0));
    // Random runs find violations that only rare combinations of decisions cause: the enumeration changes
    // the first decision only after the first hundred runs.
    let graph = ifs(20, false);
    let found = lost(&graph, "c@0 y0r@2", &options);
    assert!(
        found.iter().any(|one| one.starts_with("'c' for if1 when it reads: 'y0r' at 2; if0: r")),
        "{found:?}"
    );
    assert_eq!(found, lost(&graph, "c@0 y0r@2", &options));
}

#[test]
fn nested_loops_end() {
    let mut net = Net::new();
    let mut region = BODY;
    for depth in 0..24 {
        let repeat = net.op(region, &format!("l{depth} for: -> "));
        region = net.region(repeat, "body", "->");
    }
    net.op(region, "f F: x -> y");
    let graph = net.build("x ->");
    let options = ExecutionOptions { runs: 20, steps: 1000, ..all() };
    let report = report(&graph, "x@0", &options);
    assert_eq!((report.runs, report.complete, report.violations.len()), (40, false, 0));
}
