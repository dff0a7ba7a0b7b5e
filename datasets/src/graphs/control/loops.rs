//! Graphs in which `Loop` and `WHILE` operators alternate.

use super::maker::{MOST_OPERATORS, Maker, operators};
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::graph::{Graph, Role};
use plimsoll_model::{RegionId, TensorId};
use rand::RngExt;

/// The size of an iteration number in bytes.
const TRIP: u64 = 8;
const CONDITION: u64 = 1;

struct Counts {
    operators: u64,
    rows: u64,
    trips: u64,
}

/// Generates `loops` loops. `Loop` and `WHILE` operators alternate, and the first kind is random. Each
/// carries `carried` values, reads `captured` tensors produced before the first loop, and has `operators`
/// operators with temporaries in its body. A `Loop` reads captured tensors directly and has `rows` scan
/// outputs over `trips` iterations. A `WHILE` receives copies of the captured tensors and passes them on
/// unchanged.
pub(in crate::graphs) fn loops(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let operators = operators(params)?;
    for name in ["loops", "carried", "captured", "rows"] {
        params.at_most(name, MOST_OPERATORS)?;
    }
    let (loops, carried) = (params.at_least("loops", 1)?, params.at_least("carried", 1)?);
    let counts = Counts { operators, rows: params.get("rows"), trips: params.at_least("trips", 1)? };
    let mut maker = Maker::new(params, seed)?;
    let body = maker.graph.body();
    let bytes = maker.size();
    let x = maker.input(bytes);
    let make = |maker: &mut Maker, count| -> Vec<TensorId> {
        (0..count).map(|_| drawn(maker, body, &[x])).collect()
    };
    let captured = make(&mut maker, params.get("captured"));
    let mut state = make(&mut maker, carried);
    let mut wanted = Vec::new();
    let first = maker.rng.random_range(0..2);
    for at in 0..loops {
        if at % 2 == first {
            state = counted(&mut maker, &counts, &captured, &state, &mut wanted);
        } else {
            state = conditioned(&mut maker, &counts, &captured, &state);
        }
    }
    wanted.extend(&state);
    maker.finish(&wanted)
}

fn drawn(maker: &mut Maker, region: RegionId, reads: &[TensorId]) -> TensorId {
    let bytes = maker.size();
    maker.step(region, "Any", reads, bytes)
}

/// Adds one input of a region for each of the given tensors, with the same size.
fn given(maker: &mut Maker, like: &[TensorId]) -> Vec<TensorId> {
    like.iter()
        .map(|&id| {
            let bytes = maker.bytes(id);
            maker.tensor(bytes, Role::Input)
        })
        .collect()
}

/// Adds a chain of operators that produce temporaries. The first operator reads one state tensor, and each
/// captured tensor is read by one operator of the chain. Then adds the operators that compute the next state.
/// Returns the last temporary and the next state.
fn trip(
    maker: &mut Maker,
    region: RegionId,
    counts: &Counts,
    captured: &[TensorId],
    state: &[TensorId],
) -> (TensorId, Vec<TensorId>) {
    let mut last = maker.pick(state);
    for at in 0..counts.operators {
        let mut reads = vec![last];
        let place = |one: &usize| *one as u64 % counts.operators == at;
        reads.extend((0..captured.len()).filter(place).map(|one| captured[one]));
        last = drawn(maker, region, &reads);
    }
    let next = state
        .iter()
        .map(|&one| {
            let bytes = maker.bytes(one);
            maker.step(region, "Any", &[one, last], bytes)
        })
        .collect();
    (last, next)
}

/// Adds an ONNX `Loop`. Returns its final carried values, and appends its scan outputs to `wanted`.
fn counted(
    maker: &mut Maker,
    counts: &Counts,
    captured: &[TensorId],
    state: &[TensorId],
    wanted: &mut Vec<TensorId>,
) -> Vec<TensorId> {
    let body = maker.graph.body();
    let trips = maker.tensor(TRIP, Role::Weight);
    let go = maker.step(body, "Any", &[state[0]], CONDITION);
    let mut made: Vec<TensorId> = Vec::new();
    for &one in state {
        let bytes = maker.bytes(one);
        made.push(maker.made(bytes));
    }
    let rows: Vec<u64> = (0..counts.rows).map(|_| maker.size()).collect();
    let stacked: Vec<TensorId> =
        rows.iter().map(|row| maker.made(row.saturating_mul(counts.trips))).collect();
    let (reads, makes) = ([&[trips, go], state].concat(), [made.as_slice(), &stacked].concat());
    let owner = maker.owner(body, "Loop", &reads, &makes);
    let region = maker.graph.region(owner, "body");
    let ahead = [maker.tensor(TRIP, Role::Input), maker.tensor(CONDITION, Role::Input)];
    let carried = given(maker, state);
    let (last, next) = trip(maker, region, counts, captured, &carried);
    // About half of these loops return the condition that they received, so they run for their full number of
    // iterations.
    let go = if maker.percent(50) { ahead[1] } else { maker.step(region, "Any", &[last], CONDITION) };
    let mut outputs = vec![go];
    outputs.extend(&next);
    for bytes in rows {
        outputs.push(maker.step(region, "Any", &[last, ahead[0]], bytes));
    }
    maker.close(region, &[ahead.as_slice(), &carried].concat(), &outputs, &outputs);
    wanted.extend(stacked);
    made
}

/// Adds a `TFLite` loop. Everything that it reads is passed to its regions. Its body returns the captured
/// tensors unchanged, followed by the next state. Returns the final carried values.
fn conditioned(
    maker: &mut Maker,
    counts: &Counts,
    captured: &[TensorId],
    state: &[TensorId],
) -> Vec<TensorId> {
    let body = maker.graph.body();
    let reads = [captured, state].concat();
    let mut made: Vec<TensorId> = Vec::new();
    for &one in &reads {
        let bytes = maker.bytes(one);
        made.push(maker.made(bytes));
    }
    let owner = maker.owner(body, "WHILE", &reads, &made);
    let region = maker.graph.region(owner, "cond");
    let inputs = given(maker, &reads);
    let tested = maker.pick(&inputs);
    let go = maker.step(region, "Any", &[tested], CONDITION);
    maker.close(region, &inputs, &[go], &[go]);
    let region = maker.graph.region(owner, "body");
    let inputs = given(maker, &reads);
    let (same, carried) = inputs.split_at(captured.len());
    let (_, next) = trip(maker, region, counts, same, carried);
    maker.close(region, &inputs, &[same, next.as_slice()].concat(), &next);
    made.split_off(captured.len())
}
