//! Tests the execution checker on random graphs.

use super::*;
use crate::execution::decisions::Random;

/// Places each memory user in its own slot. The slots lie end to end.
fn apart<'a>(graph: &'a Graph, orders: &'a [Vec<OperatorId>]) -> Placed<'a> {
    let mut end = 0;
    let mut slots = Vec::new();
    let mut place = |size: Bytes| {
        slots.push(Slot { offset: Bytes::new(end), size });
        end += size.get();
        Some(slots.len() - 1)
    };
    let seat = |slot: Option<usize>| slot.map(|slot| Seat { slot, offset: Bytes::ZERO });
    let tensors = graph.tensors().iter().map(|t| seat(place(t.bytes))).collect();
    let scratch = graph.operators().iter().map(|o| place(o.scratch)).collect();
    Placed { graph, orders, slots, tensors, scratch }
}

/// Adds random operators to a region. The operators may read the tensors in `seen`. Returns the tensors that
/// later operators may read.
fn grow(
    net: &mut Net,
    random: &mut Random,
    region: RegionId,
    mut seen: Vec<String>,
    depth: usize,
) -> Vec<String> {
    for _ in 0..=random.below(4) {
        let next = net.ids.len();
        let name = format!("t{next}:{}", 1 + random.below(9));
        let (a, b) = (seen[random.below(seen.len())].clone(), seen[random.below(seen.len())].clone());
        let kinds = ["F", "If", "for", "While", "Call"];
        let kind = kinds[if depth == 0 { 0 } else { random.below(kinds.len()) }];
        let stacked = kind == "for" && random.below(2) == 0;
        let outputs = if stacked { format!("{name} u{next}:8") } else { name };
        let scratch = Bytes::new(random.below(3) as u64);
        let alias = [None, Some(AliasKind::View), Some(AliasKind::InPlace)][random.below(3)];
        let owner = net.with(region, &format!("o{next} {kind}: {a} {b} -> {outputs}"), |net, mut o| {
            o.scratch = scratch;
            let (input, output) = (net.tensor(&a), net.tensor(&format!("t{next}")));
            alias.into_iter().fold(o, |o, kind| o.alias(input, output, kind))
        });
        let (count, given) = match kind {
            "F" => (0, 0),
            "If" => (2, 0),
            "While" => (2, 1),
            _ => (1, 1),
        };
        for at in 0..count {
            let inner = net.graph.region(owner, format!("r{at}"));
            let input = if given > 0 { format!("g{next}r{at}") } else { String::new() };
            net.tensors(&input);
            let sees = if given > 0 { [seen.clone(), vec![input.clone()]].concat() } else { seen.clone() };
            let sees = grow(net, random, inner, sees, depth - 1);
            let mut one = || sees[random.below(sees.len())].clone();
            let also = if stacked { one() } else { String::new() };
            let first = one();
            net.interface(inner, &format!("{input} -> {first} {also}"));
        }
        seen.push(format!("t{next}"));
    }
    seen
}

#[test]
fn separate_slots_never_fail() {
    let mut random = Random::new(3);
    let (mut decided, mut found, mut ran) = (0, 0, 0);
    for case in 0..300 {
        let mut net = Net::new();
        let seen = grow(&mut net, &mut random, BODY, vec!["x".into(), "c".into()], case % 4);
        let graph = net.build(&format!("x c -> {}", seen[random.below(seen.len())]));
        let orders = orders(&graph);
        let mut placed = apart(&graph, &orders);
        let few = ExecutionOptions { runs: 20, trips: 2, ..all() };
        for swap in [false, true] {
            let options = ExecutionOptions { swap, ..few };
            let report = check_execution(&placed, &options).unwrap();
            assert_eq!(report.violations, []);
            decided += usize::from(report.runs > 1);
            ran += report.runs;
        }
        // Dead data may be overwritten, and live data may not. Moving two slots to the same address is
        // therefore often a violation.
        let (a, b) = (random.below(graph.tensors().len()), random.below(graph.tensors().len()));
        placed.slots[b].offset = placed.slots[a].offset;
        found += usize::from(!check_execution(&placed, &few).unwrap().violations.is_empty());
    }
    assert!(decided > 300 && found > 50 && ran > 1000, "{decided} {found} {ran}");
}

/// Computes from the definition at which steps a tensor of a graph without regions must not be overwritten.
fn live(graph: &Graph, order: &[OperatorId], tensor: TensorId) -> std::ops::RangeInclusive<usize> {
    let at = |id: OperatorId| order.iter().position(|&one| one == id).unwrap() + 1;
    let body = graph.region(BODY);
    let first = graph.producer(tensor).map_or(0, at);
    let last = graph.consumers(tensor).iter().map(|&id| at(id)).max().unwrap_or(first);
    first..=if body.outputs.contains(&tensor) { order.len() + 1 } else { last }
}

#[test]
fn straight_graphs_fail_exactly_where_lifetimes_and_addresses_overlap() {
    let mut random = Random::new(11);
    let mut valid = 0;
    for _ in 0..2000 {
        let mut net = Net::new();
        let seen = grow(&mut net, &mut random, BODY, vec!["x".into(), "c".into()], 0);
        let graph = net.build(&format!("x c -> {}", seen[random.below(seen.len())]));
        let orders = orders(&graph);
        let mut placed = apart(&graph, &orders);
        placed.scratch.fill(None);
        placed.slots.iter_mut().for_each(|slot| slot.offset = Bytes::new(random.below(40) as u64));
        let ids: Vec<TensorId> = (0..graph.tensors().len()).map(TensorId::at).collect();
        let meet = |a: TensorId, b: TensorId| {
            let (one, two) = (live(&graph, &orders[0], a), live(&graph, &orders[0], b));
            let (p, q) = (placed.slots[a.index()], placed.slots[b.index()]);
            let below = |p: Slot, q: Slot| p.offset.get() + p.size.get() <= q.offset.get();
            one.start() <= two.end() && two.start() <= one.end() && !below(p, q) && !below(q, p)
        };
        let bad = ids.iter().any(|&a| ids.iter().any(|&b| a < b && meet(a, b)));
        valid += usize::from(!bad);
        let report = check_execution(&placed, &all()).unwrap();
        assert_eq!(!report.violations.is_empty(), bad, "{:?}", report.violations);
    }
    assert!((200..1800).contains(&valid), "{valid}");
}
