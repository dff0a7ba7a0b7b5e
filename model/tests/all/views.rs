//! Executes random graphs with slices, splits, concatenations and operators that overwrite their inputs,
//! wholly or partly, on an array of bytes, at the addresses of a layout.

use crate::common::Draw;
use plimsoll_model::graph::{
    Alias, AliasKind, Boundary, Graph, GraphBuilder, LivenessOptions, Member, Operator, Role, Storages,
    Tensor,
};
use plimsoll_model::orders::{Order, OrderError};
use plimsoll_model::{Buffer, Bytes, Instance, OperatorId, TensorId, check_layout};

const BODY: plimsoll_model::RegionId = Graph::BODY;

/// Builds a random straight graph. Slices and splits are views, and so are some concatenations. The others
/// are optional parts.
fn random(seed: u64) -> Graph {
    let mut draw = Draw(seed * 6151 + 11);
    let mut g = GraphBuilder::new(format!("views{seed}"));
    let inputs: Vec<TensorId> = (0..=draw.below(2))
        .map(|at| g.tensor(Tensor::new(format!("x{at}"), 1 + draw.below(12), Role::Input)))
        .collect();
    let mut known: Vec<(TensorId, u64)> = Vec::new();
    for &input in &inputs {
        known.push((input, g.tensor_mut(input).bytes.get()));
    }
    let mut made = Vec::new();
    for at in 0..2 + draw.below(9) {
        let mut name = 0;
        let mut new = |g: &mut GraphBuilder, bytes: u64| {
            name += 1;
            g.tensor(Tensor::new(format!("t{at}.{name}"), bytes, Role::Activation))
        };
        let recent =
            |draw: &mut Draw| known[known.len() - 1 - draw.below(known.len().min(5) as u64) as usize];
        let (one, bytes) = recent(&mut draw);
        let mut outputs = Vec::new();
        let operator = match draw.below(8) {
            0 if bytes > 1 => {
                let start = draw.below(bytes);
                let length = 1 + draw.below(bytes - start);
                let out = new(&mut g, length);
                outputs.push((out, length));
                Operator::new(format!("o{at}"), "Slice").reads([one]).alias_at(
                    one,
                    out,
                    AliasKind::View,
                    start,
                )
            }
            1 if bytes > 1 => {
                let middle = 1 + draw.below(bytes - 1);
                let mut operator = Operator::new(format!("o{at}"), "Split").reads([one]);
                for (start, length) in [(0, middle), (middle, bytes - middle)] {
                    let out = new(&mut g, length);
                    outputs.push((out, length));
                    operator = operator.alias_at(one, out, AliasKind::View, start);
                }
                operator
            }
            2 | 3 => {
                let parts: Vec<(TensorId, u64)> =
                    (0..=1 + draw.below(2)).map(|_| recent(&mut draw)).collect();
                let kind = if draw.one_in(4) { AliasKind::View } else { AliasKind::Part };
                let total = parts.iter().map(|part| part.1).sum();
                let out = new(&mut g, total);
                outputs.push((out, total));
                let mut operator =
                    Operator::new(format!("o{at}"), "Concat").reads(parts.iter().map(|part| part.0));
                let (mut start, mut seen) = (0, Vec::new());
                for (part, bytes) in parts {
                    if !seen.contains(&part) {
                        operator = operator.alias_at(part, out, kind, start);
                    }
                    seen.push(part);
                    start += bytes;
                }
                operator
            }
            4 => {
                let out = new(&mut g, bytes);
                outputs.push((out, bytes));
                Operator::new(format!("o{at}"), "Relu").reads([one]).alias(one, out, AliasKind::InPlace)
            }
            5 | 6 => {
                let (other, _) = recent(&mut draw);
                let length = (bytes + draw.below(4)).saturating_sub(draw.below(4)).max(1);
                let before = draw.below(length.min(4));
                let out = new(&mut g, length);
                outputs.push((out, length));
                let operator = Operator::new(format!("o{at}"), "Conv").reads([one, other]);
                operator.alias_at(one, out, AliasKind::InPlace, before)
            }
            _ => {
                let (other, _) = recent(&mut draw);
                let bytes = 1 + draw.below(12);
                let out = new(&mut g, bytes);
                outputs.push((out, bytes));
                Operator::new(format!("o{at}"), "F").reads([one, other])
            }
        };
        g.operator(BODY, operator.makes(outputs.iter().map(|out| out.0)));
        known.extend(&outputs);
        made.extend(outputs.iter().map(|out| out.0));
    }
    let wanted: Vec<TensorId> = made.into_iter().filter(|_| draw.one_in(5)).collect();
    g.interface(BODY, inputs, wanted);
    g.build().unwrap()
}

fn options(seed: u64) -> LivenessOptions {
    LivenessOptions {
        boundary: [Boundary::Arena, Boundary::Held, Boundary::Outside][(seed % 3) as usize],
        views: !seed.is_multiple_of(11),
        in_place: seed % 5 < 3,
        file_order: seed % 7 < 2,
        align: Bytes::new([1, 1, 4][(seed % 17 % 3) as usize]),
        ..LivenessOptions::default()
    }
}

/// Places each buffer at the lowest offset at which it collides with no earlier buffer.
fn first_fit(instance: &Instance) -> plimsoll_model::Layout {
    let mut placed: Vec<(u64, &Buffer)> = Vec::new();
    for buffer in instance.buffers() {
        let align = buffer.alignment().get();
        let mut ends: Vec<u64> = placed.iter().map(|(start, one)| start + one.size().get()).collect();
        ends.push(0);
        ends.sort_unstable();
        let free = |&start: &u64| {
            placed.iter().all(|(other, one)| {
                start + buffer.size().get() <= *other
                    || other + one.size().get() <= start
                    || !one.lifespan().intersects(buffer.lifespan())
            })
        };
        let start = ends.into_iter().map(|end| end.next_multiple_of(align)).find(free).unwrap();
        placed.push((start, buffer));
    }
    plimsoll_model::Layout::from_raw(placed.into_iter().map(|(start, _)| start))
}

/// The bytes that every tensor should contain, computed without sharing.
fn expected(graph: &Graph) -> Vec<Vec<u8>> {
    let fill = |id: TensorId| {
        let bytes = graph.tensor(id).bytes.get();
        (0..bytes).map(|at| (id.get() * 37 + at as u32 * 11 + 5) as u8).collect::<Vec<u8>>()
    };
    let mut values: Vec<Vec<u8>> = (0..graph.tensors().len()).map(|at| fill(TensorId::at(at))).collect();
    for id in graph.file_order(BODY) {
        let operator = graph.operator(id);
        match operator.kind.as_str() {
            "Slice" | "Split" => {
                for alias in &operator.aliases {
                    let (start, length) = (alias.offset.get() as usize, values[alias.output.index()].len());
                    values[alias.output.index()] =
                        values[alias.input.index()][start..start + length].to_vec();
                }
            }
            "Concat" => {
                let whole = operator.inputs.iter().flat_map(|input| values[input.index()].clone()).collect();
                values[operator.outputs[0].index()] = whole;
            }
            _ => {}
        }
    }
    values
}

/// Runs an order on bytes and returns true if every read and every output of the graph is as expected.
fn runs(graph: &Graph, made: &Storages, order: &Order, align: Bytes) -> bool {
    let instance = made.problem.instance(order, align).unwrap();
    let layout = first_fit(&instance);
    assert_eq!(check_layout(&instance, &layout), []);
    let mut address: Vec<Option<usize>> = vec![None; graph.tensors().len()];
    for (members, offset) in made.tensors.iter().zip(layout.offsets()) {
        for one in members {
            address[one.tensor.index()] = Some((offset.get() + one.offset.get()) as usize);
        }
    }
    let values = expected(graph);
    let mut memory = vec![0u8; layout.peak(&instance).get() as usize];
    let holds = |memory: &[u8], id: TensorId| {
        let value = &values[id.index()];
        address[id.index()].is_none_or(|at| memory[at..at + value.len()] == value[..])
    };
    let put = |memory: &mut [u8], id: TensorId, from: usize, to: usize| {
        if let Some(at) = address[id.index()] {
            memory[at + from..at + to].copy_from_slice(&values[id.index()][from..to]);
        }
    };
    // An operator that overwrites an input reads one of its bytes before each byte that it writes.
    let reads_byte = |memory: &[u8], alias: &Alias, at: usize| {
        let Some(byte) = at.checked_sub(alias.offset.get() as usize) else { return true };
        let (address, value) = (address[alias.input.index()], values[alias.input.index()].get(byte));
        address.zip(value).is_none_or(|(address, &value)| memory[address + byte] == value)
    };
    for &id in &graph.region(BODY).inputs {
        put(&mut memory, id, 0, values[id.index()].len());
    }
    for &step in order.operators() {
        let operator = graph.operator(made.operators[step.index()]);
        if !operator.inputs.iter().all(|&input| holds(&memory, input)) {
            return false;
        }
        for &output in &operator.outputs {
            let (mut from, bytes) = (0, values[output.index()].len());
            let stays = |input: TensorId, distance: i64| {
                let (Some(a), Some(b)) = (address[input.index()], address[output.index()]) else {
                    return false;
                };
                b as i64 - a as i64 == distance
            };
            match operator.kind.as_str() {
                "Slice" | "Split" => {
                    let alias = operator.aliases.iter().find(|alias| alias.output == output).unwrap();
                    if !stays(alias.input, alias.offset.get() as i64) {
                        put(&mut memory, output, 0, bytes);
                    }
                }
                "Concat" => {
                    for &input in &operator.inputs {
                        let to = from + values[input.index()].len();
                        if !stays(input, -(from as i64)) {
                            put(&mut memory, output, from, to);
                        }
                        from = to;
                    }
                }
                _ => {
                    for at in 0..bytes {
                        if !operator.aliases.iter().all(|alias| reads_byte(&memory, alias, at)) {
                            return false;
                        }
                        put(&mut memory, output, at, at + 1);
                    }
                    let mut others = operator
                        .inputs
                        .iter()
                        .filter(|&&input| !operator.aliases.iter().any(|alias| alias.input == input));
                    if !others.all(|&other| holds(&memory, other)) {
                        return false;
                    }
                }
            }
        }
        if !operator.outputs.iter().all(|&output| holds(&memory, output)) {
            return false;
        }
    }
    graph.region(BODY).outputs.iter().all(|&output| holds(&memory, output))
}

/// Returns a random topological order.
fn any_order(made: &Storages, draw: &mut Draw) -> Order {
    let mut order: Vec<OperatorId> = Vec::new();
    while order.len() < made.problem.len() {
        let ready = made.problem.ids().filter(|id| {
            !order.contains(id) && made.problem.predecessors(*id).iter().all(|before| order.contains(before))
        });
        let ready: Vec<OperatorId> = ready.collect();
        order.push(ready[draw.below(ready.len() as u64) as usize]);
    }
    Order::new(order)
}

#[test]
fn views_lie_where_their_bytes_are() {
    let (mut inside, mut saved, mut refused, mut overlapped) = (0, 0, 0, 0);
    for seed in 0..3000 {
        let (graph, options) = (random(seed), options(seed));
        let made = match graph.storages(BODY, &options, |_| Bytes::ZERO) {
            Err(OrderError::Views { .. }) => {
                refused += 1;
                continue;
            }
            made => made.unwrap(),
        };
        let mut draw = Draw(seed + 1);
        for order in [made.problem.as_in_file(), any_order(&made, &mut draw), any_order(&made, &mut draw)] {
            assert!(runs(&graph, &made, &order, options.align), "{seed} {options:?} {graph:?} {order:?}");
        }
        inside += made.tensors.iter().flatten().filter(|one| one.offset > Bytes::ZERO).count();
        let partial = |alias: &&Alias| {
            alias.kind == AliasKind::InPlace && {
                let both = |members: &&Vec<Member>| {
                    [alias.input, alias.output].iter().all(|id| members.iter().any(|one| one.tensor == *id))
                };
                alias.offset > Bytes::ZERO && made.tensors.iter().any(|members| both(&members))
            }
        };
        overlapped += graph.operators().iter().flat_map(|one| &one.aliases).filter(partial).count();
        saved += made.tensors.iter().filter(|members| members.len() > 1).count();
    }
    assert!(inside > 2000 && saved > 2000, "{inside} {saved}");
    assert!(overlapped > 200, "{overlapped}");
    assert!((10..600).contains(&refused), "{refused}");
}
